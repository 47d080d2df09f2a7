/* SPDX-License-Identifier: BSD-2-Clause */
/* map_pace.c - what a job gains when parts that were named are denied: see map_hour.h. */
#include "study/map_hour.h"

#include "sim/run/step_model.h"

#define S_NS UINT64_C(1000000000)
/* A part is denied for so long after it is well again. */
#define RETURN_NS (30 * S_NS)

const char *const study_map_policy_names[STUDY_MAP_POLICIES] = {
	"no map", "advice followed after a minute", "automatic denial"};

static const uint64_t hold_ns[STUDY_MAP_POLICIES] = {UINT64_MAX, 60 * S_NS, S_NS};

/* When a fault's part is denied, from *from on to *to. False: never. */
static bool denied(const struct study_map_class *k, const struct study_map_fault *f,
		   enum study_map_policy policy, uint64_t *from, uint64_t *to)
{
	/* What is dead endpoints leave by themselves. */
	if (policy == STUDY_MAP_NONE || !f->named_ns || k->loss_ppm == MS_STEPS_ONE ||
	    k->denied_slow >= k->slow)
		return false;
	*from = f->named_ns + hold_ns[policy];
	*to = f->until_ns + RETURN_NS;
	return *from < f->until_ns;
}

/* By how much a fault stretches steps at a time; *next falls to when that changes. */
static uint32_t slow_at(const struct study_map_class *k, const struct study_map_fault *f,
			enum study_map_policy policy, uint64_t at, uint64_t *next)
{
	uint64_t edge[4] = {f->at_ns, f->until_ns, 0, 0}, from, to;
	bool is_denied = denied(k, f, policy, &from, &to);

	if (is_denied) {
		edge[2] = from;
		edge[3] = to;
	}
	for (uint32_t i = 0; i < 4; i++)
		if (edge[i] > at && edge[i] < *next)
			*next = edge[i];
	if (is_denied && at >= from && at < to)
		return k->denied_slow;
	return at >= f->at_ns && at < f->until_ns ? k->slow : MS_STEPS_ONE;
}

double study_map_pace(const struct study_map_cfg *cfg, const struct study_map_result *r,
		      enum study_map_policy policy, uint64_t from_ns, uint64_t to_ns)
{
	double useful = 0;

	for (uint64_t at = from_ns, next; at < to_ns; at = next) {
		uint32_t worst = MS_STEPS_ONE;

		next = to_ns;
		for (uint32_t i = 0; i < r->n_faults && r->fault[i].at_ns < to_ns; i++) {
			uint32_t slow = slow_at(&cfg->classes[r->fault[i].class], &r->fault[i],
						policy, at, &next);

			worst = slow > worst ? slow : worst;
		}
		useful += (double)(next - at) * MS_STEPS_ONE / worst;
	}
	for (uint32_t i = 0; i < r->n_faults; i++)
		if (r->fault[i].at_ns >= from_ns && r->fault[i].at_ns < to_ns)
			useful -= (double)cfg->classes[r->fault[i].class].once_ns;
	return useful > 0 ? useful / (double)(to_ns - from_ns) : 0;
}
