/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_deny.h - private to map_hour: what hosts deny themselves, by the policy that mrcd has
 * (map/map_policy.h), of what the maps say.
 *
 * A fabric has too many hosts to have a policy of each, and those below a part that see the same
 * decide alike. So of each part that is named one host below it decides, for all of them; one that
 * has several such parts above it decides of all, under its one cap.
 */
#ifndef SOFTMRC_STUDY_MAP_DENY_H
#define SOFTMRC_STUDY_MAP_DENY_H

#include "map/map_policy.h"
#include "study/map_hour.h"

/* As often as mrcd looks. */
#define STUDY_MAP_DENY_STEPS 10u

struct study_map_denier {
	uint32_t host;
	struct mm_policy policy[STUDY_MAP_POLICIES];
};

struct study_map_deny {
	const struct mf_topology *t;
	struct study_map_denier **denier; /* those that have something to decide */
	uint32_t n, room;
	uint8_t *out; /* by choice, of the policy that is asked */
};

/* study_map_deny_init: 0 or ENOMEM. The topology must outlive it. */
int study_map_deny_init(struct study_map_deny *d, const struct mf_topology *t);
void study_map_deny_fini(struct study_map_deny *d);

/* What is sick at a time, and where denials are listed. */
struct study_map_look {
	const struct mm_sick *sick;
	size_t n_sick;
	bool cut; /* there may be more */
	uint64_t now_ns;
	struct study_map_result *r;
	/* Which fault a part is named for; UINT32_MAX: none. */
	uint32_t (*fault_of)(const void *ctx, const struct mm_part *part);
	const void *ctx;
};

/* study_map_deny_see has every policy look, and lists denials and returns. 0 or ENOMEM. */
int study_map_deny_see(struct study_map_deny *d, const struct study_map_look *look);

#endif
