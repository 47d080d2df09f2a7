/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl.h - what the files of the controller API share. Private to src/api. */
#ifndef SOFTMRC_API_CTL_H
#define SOFTMRC_API_CTL_H

#include "api/api.h"

#pragma GCC visibility push(default)
#include <mrc_ctl.h>
#pragma GCC visibility pop

#endif
