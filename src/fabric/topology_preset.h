/* SPDX-License-Identifier: BSD-2-Clause */
/* topology_preset.h - the fabrics that have a name. */
#ifndef SOFTMRC_FABRIC_TOPOLOGY_PRESET_H
#define SOFTMRC_FABRIC_TOPOLOGY_PRESET_H

#include <stddef.h>

#include "fabric/topology.h"

struct mf_preset {
	const char *name;
	const char *about; /* one line */
	struct mf_topology_cfg cfg;
};

/* mf_preset_find returns the preset of a name, NULL: there is none. Constant, for ever valid. */
const struct mf_preset *mf_preset_find(const char *name);

/* mf_preset_near returns the name of the preset nearest to a wrong name, or NULL. */
const char *mf_preset_near(const char *name);

/* mf_preset_at returns preset number n, smaller fabrics first; NULL: there are fewer. */
const struct mf_preset *mf_preset_at(size_t n);

#endif
