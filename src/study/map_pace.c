/* SPDX-License-Identifier: BSD-2-Clause */
/* map_pace.c - what a job gains when parts that were named are denied: see map_hour.h. */
#include "study/map_hour.h"

#include "sim/run/step_model.h"

const char *const study_map_policy_names[STUDY_MAP_POLICIES] = {
	"no map", "advice followed after a minute", "automatic denial"};

/* The pace at a time is the same until *next at least: the next edge of an interval. */
static bool is_within(uint64_t from, uint64_t to, uint64_t at, uint64_t *next)
{
	if (from > at && from < *next)
		*next = from;
	if (to > at && to < *next)
		*next = to;
	return at >= from && at < to;
}

/* Whether hosts do without what a fault is about, be it for an earlier one of the same part. */
static bool is_denied(const struct study_map_result *r, uint32_t fault,
		      enum study_map_policy policy, uint64_t at)
{
	const struct mm_part *part = &r->fault[fault].part;

	for (uint32_t i = 0; i < r->n_denials; i++) {
		const struct study_map_denial *d = &r->denial[i];

		if (d->policy == policy && d->fault != UINT32_MAX && d->part.kind == part->kind &&
		    d->part.id == part->id && at >= d->from_ns && at < d->to_ns)
			return true;
	}
	return false;
}

/* By how much steps are stretched at a time, by what is the worst of all that is so then. */
static uint32_t slow_at(const struct study_map_cfg *cfg, const struct study_map_result *r,
			enum study_map_policy policy, uint64_t at, uint64_t *next)
{
	uint32_t worst = MS_STEPS_ONE, slow;

	for (uint32_t i = 0; i < r->n_faults && r->fault[i].at_ns < *next; i++) {
		const struct study_map_fault *f = &r->fault[i];

		slow = cfg->classes[f->class].slow;
		if (is_within(f->at_ns, f->until_ns, at, next) && slow > worst &&
		    !is_denied(r, i, policy, at))
			worst = slow;
	}
	for (uint32_t i = 0; i < r->n_denials; i++) {
		const struct study_map_denial *d = &r->denial[i];

		if (d->policy != policy || d->fault == UINT32_MAX)
			continue;
		slow = cfg->classes[r->fault[d->fault].class].denied_slow;
		if (is_within(d->from_ns, d->to_ns, at, next) && slow > worst)
			worst = slow;
	}
	return worst;
}

double study_map_pace(const struct study_map_cfg *cfg, const struct study_map_result *r,
		      enum study_map_policy policy, uint64_t from_ns, uint64_t to_ns)
{
	double useful = 0;

	for (uint64_t at = from_ns, next; at < to_ns; at = next) {
		uint32_t worst;

		next = to_ns;
		worst = slow_at(cfg, r, policy, at, &next);
		useful += (double)(next - at) * MS_STEPS_ONE / worst;
	}
	for (uint32_t i = 0; i < r->n_faults; i++)
		if (r->fault[i].at_ns >= from_ns && r->fault[i].at_ns < to_ns)
			useful -= (double)cfg->classes[r->fault[i].class].once_ns;
	return useful > 0 ? useful / (double)(to_ns - from_ns) : 0;
}
