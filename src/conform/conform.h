/* SPDX-License-Identifier: BSD-2-Clause */
/* conform.h - the verb `mrc conform`: a black-box test of any MRC endpoint over the wire. */
#ifndef SOFTMRC_CONFORM_CONFORM_H
#define SOFTMRC_CONFORM_CONFORM_H

#include "ui/verb.h"

/* 0 all that ran passed, 1 something failed, 2 wrong usage or no target. */
extern const struct ui_verb conform_verb;

#endif
