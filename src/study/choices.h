/* SPDX-License-Identifier: BSD-2-Clause */
/* choices.h - words that several verbs take. */
#ifndef SOFTMRC_STUDY_CHOICES_H
#define SOFTMRC_STUDY_CHOICES_H

#include "ui/verb.h"

/* TOPOLOGY: the presets of fabrics. */
extern const struct ui_choices study_topologies;
/* SCENARIO: those of the simulator that are built in. */
extern const struct ui_choices study_scenarios;

#endif
