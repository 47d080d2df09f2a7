/* SPDX-License-Identifier: BSD-2-Clause */
/* choices.h - words that several verbs take. */
#ifndef SOFTMRC_CLI_CHOICES_H
#define SOFTMRC_CLI_CHOICES_H

#include "cli/verb.h"

/* TOPOLOGY: the presets of fabrics. */
extern const struct cli_choices cli_topologies;
/* SCENARIO: those of the simulator that are built in. */
extern const struct cli_choices cli_scenarios;

#endif
