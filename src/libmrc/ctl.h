/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl.h - what the files of the controller API share. Private to src/libmrc. */
#ifndef SOFTMRC_LIBMRC_CTL_H
#define SOFTMRC_LIBMRC_CTL_H

#include "libmrc/libmrc.h"

#pragma GCC visibility push(default)
#include <mrc_ctl.h>
#pragma GCC visibility pop

#endif
