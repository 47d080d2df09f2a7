/* SPDX-License-Identifier: BSD-2-Clause */
/* map_verbs.h - the verbs of `mrc map`. */
#ifndef SOFTMRC_CLI_MAP_MAP_VERBS_H
#define SOFTMRC_CLI_MAP_MAP_VERBS_H

#include "ui/verb.h"

extern const struct ui_verb map_check_verb;
extern const struct ui_verb map_watch_verb;

#endif
