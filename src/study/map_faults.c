/* SPDX-License-Identifier: BSD-2-Clause */
/* map_faults.c - the faults of an hour: see map_hour.h. */
#include "study/map_hour.h"

#include "sim/kernel/random.h"

#include <errno.h>
#include <stdlib.h>

static struct mm_part part_of(const struct mf_topology *t, uint32_t of, uint32_t i)
{
	uint32_t plane = i % t->cfg.planes, at = i / t->cfg.planes;

	switch (of) {
	case MS_CLASS_HOST_T0:
		return (struct mm_part){.kind = MM_CABLE,
					.id = mf_link_host_t0(t, plane, at, false) >> 1};
	case MS_CLASS_T0_T1:
		return (struct mm_part){
			.kind = MM_CABLE,
			.id = mf_link_t0_t1(t, plane, at / t->cfg.t1s, at % t->cfg.t1s, false) >>
			      1};
	case MS_CLASS_T0:
		return (struct mm_part){.kind = MM_SWITCH,
					.id = mf_node_switch(t, MF_T0, plane, at)};
	default:
		return (struct mm_part){.kind = MM_SWITCH,
					.id = mf_node_switch(t, MF_T1, plane, at)};
	}
}

static bool add(struct study_map_result *r, uint32_t *room, const struct study_map_fault *f)
{
	if (r->n_faults == *room) {
		uint32_t more = *room ? 2 * *room : 64;
		struct study_map_fault *grown = realloc(r->fault, more * sizeof(*grown));

		if (!grown)
			return false;
		r->fault = grown;
		*room = more;
	}
	r->fault[r->n_faults++] = *f;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct study_map_fault *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* Exponential; a mean may be longer than 64 bits have nanoseconds for, what it draws is not. */
static uint64_t draw_gap(struct mb_prng *chance, double mean_ns, uint64_t horizon_ns)
{
	double gap = mean_ns * ((double)ms_exponential_unit(chance) / 4294967296.0);

	return gap < (double)horizon_ns ? (uint64_t)gap : horizon_ns;
}

int study_map_faults(const struct study_map_cfg *cfg, struct study_map_result *r)
{
	uint32_t room = 0;

	for (uint32_t c = 0; c < cfg->n_classes; c++) {
		const struct study_map_class *k = &cfg->classes[c];
		uint32_t n = ms_class_size(cfg->t, k->of) * cfg->t->cfg.planes;
		double between_ns = k->mtbf_ns / n;
		struct mb_prng chance;

		mb_prng_init(&chance, ms_mix(cfg->seed + c));
		for (uint64_t at = draw_gap(&chance, between_ns, cfg->horizon_ns);
		     at < cfg->horizon_ns;
		     at += 1 + draw_gap(&chance, between_ns, cfg->horizon_ns)) {
			struct study_map_fault f = {.class = c, .at_ns = at};

			if (r->n_faults == STUDY_MAP_FAULTS_MAX)
				return E2BIG;
			f.part = part_of(cfg->t, k->of, mb_prng_below(&chance, n));
			f.until_ns = at + 1 + ms_exponential(&chance, k->repair_ns);
			if (!add(r, &room, &f))
				return ENOMEM;
		}
	}
	if (r->n_faults)
		qsort(r->fault, r->n_faults, sizeof(*r->fault), by_time);
	return 0;
}

uint32_t study_map_plane(const struct mf_topology *t, const struct mm_part *part)
{
	return part->kind == MM_CABLE ? mf_link_plane(t, part->id << 1)
				      : mf_node_at(t, part->id).plane;
}
