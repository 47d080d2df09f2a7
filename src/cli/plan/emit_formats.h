/* SPDX-License-Identifier: BSD-2-Clause */
/* emit_formats.h - what `mrc plan --emit` can write. */
#ifndef SOFTMRC_CLI_PLAN_EMIT_FORMATS_H
#define SOFTMRC_CLI_PLAN_EMIT_FORMATS_H

#include "fabric/emit.h"

/* Whose files there are. */
enum plan_format_of {
	PLAN_OF_FABRIC, /* one file for all */
	PLAN_OF_SWITCHES,
	PLAN_OF_HOSTS,
	PLAN_OF_NODES, /* both */
};

struct plan_emission {
	struct mf_emit_options emit;
	const char *sid_device; /* kind of link that SIDs hang on, Linux only */
};

struct plan_format {
	const char *name;
	const char *suffix; /* of its files */
	const char *about;
	enum plan_format_of of;
	/* Writes one file; node has no meaning for the fabric's. */
	void (*write)(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct plan_emission *how);
};

/* plan_format_at returns format number n, NULL: there are fewer. */
const struct plan_format *plan_format_at(size_t n);

/* plan_format_find returns a format by its name; NULL, after a message that begins with `who`. */
const struct plan_format *plan_format_find(const char *name, const char *who);

/* plan_format_fits says whether a node has a file of the format. */
bool plan_format_fits(const struct plan_format *f, const struct mf_topology *t, uint32_t node);

#endif
