/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_fault.c - what [[fault]] and [[random]] come to: spans on links, and these to
 * changes. */
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/random.h"
#include "sim/scenario/scenario_build.h"
#include "sim/scenario/scenario_keys.h"

#define NO_KIND UINT32_MAX
/* A process that is faster than this is a mistake of units. */
#define RANDOM_MAX 1000000u

static const uint8_t net_kinds[MF_FAULTS_SIMULATED] = {
	[MF_FAULT_DOWN] = MS_FAULT_DOWN,       [MF_FAULT_BLACKHOLE] = MS_FAULT_BLACKHOLE,
	[MF_FAULT_STALL] = MS_FAULT_BLACKHOLE, [MF_FAULT_LOSS] = MS_FAULT_LOSS,
	[MF_FAULT_CORRUPT] = MS_FAULT_CORRUPT, [MF_FAULT_SLOW] = MS_FAULT_RATE,
	[MF_FAULT_FLAP] = MS_FAULT_DOWN,
};

void ms_scenario_fault_defaults(struct ms_scenario_fault *f)
{
	f->kind = NO_KIND;
	f->of = NO_KIND;
}

/* A fault that is being made, and all of them. */
struct faults {
	struct ms_scenario *s;
	struct ms_fault_spans *spans;
};

static bool set_fault_error(const struct faults *f, const struct ms_scenario_fault *fault,
			    const char *what)
{
	return ms_scenario_refuse(f->s, fault->line, "%s: %s",
				  fault->kind < MF_FAULTS_SIMULATED
					  ? mf_fault_name((enum mf_fault_kind)fault->kind)
					  : "fault",
				  what);
}

static bool needs_share(const struct ms_scenario_fault *f)
{
	return f->kind == MF_FAULT_LOSS || f->kind == MF_FAULT_CORRUPT || f->kind == MF_FAULT_SLOW;
}

static bool check_fault(const struct faults *f, const struct ms_scenario_fault *fault)
{
	if (fault->kind == NO_KIND)
		return set_fault_error(f, fault,
				       "has no kind; expected kind = \"down\" or another one");
	if (needs_share(fault) != (fault->share > 0))
		return set_fault_error(
			f, fault,
			fault->share ? "has a share; expected none with this kind"
				     : "has no share; expected one, such as share = 0.01");
	if ((fault->kind == MF_FAULT_FLAP) != (fault->period_ns > 0))
		return set_fault_error(f, fault,
				       fault->period_ns
					       ? "has a period; expected none with this kind"
					       : "has no period; expected one, such as \"1ms\"");
	return true;
}

static struct ms_fault_span span_of(const struct ms_scenario_fault *f)
{
	return (struct ms_fault_span){
		.from_ps = f->at_ns * MS_PS_PER_NS,
		.until_ps = f->for_ns ? (f->at_ns + f->for_ns) * MS_PS_PER_NS : UINT64_MAX,
		.value = needs_share(f)						? f->share
			 : f->kind == MF_FAULT_DOWN || f->kind == MF_FAULT_FLAP ? 0
										: 1,
		.kind = net_kinds[f->kind],
	};
}

/* Adds a span for every port of a target. */
static bool add_span(struct faults *f, struct ms_fault_span span, const struct mf_target *target,
		     enum mf_direction direction)
{
	for (uint32_t i = 0; i < target->links; i++) {
		span.link = mf_target_link(&f->s->fabric, target, i);
		if (!ms_fault_spans_link(f->spans, span, direction))
			return ms_scenario_refuse(
				f->s, 0,
				"there is not enough memory for its faults, or they are more than "
				"%u",
				MS_SPANS_MAX);
	}
	return true;
}

/* add_flap adds the first half of each period. */
static bool add_flap(struct faults *f, const struct ms_scenario_fault *fault,
		     struct ms_fault_span span, const struct mf_target *target)
{
	uint64_t period = fault->period_ns * MS_PS_PER_NS, until = span.until_ps;

	if (until > f->s->run.end_ps)
		until = f->s->run.end_ps;
	if (until == MS_NEVER || (until - span.from_ps) / period > RANDOM_MAX)
		return set_fault_error(
			f, fault,
			"expected a `for`, or an `end` of the run, of at most a million periods");
	for (uint64_t at = span.from_ps; at < until; at += period) {
		span.from_ps = at;
		span.until_ps = at + period / 2 < until ? at + period / 2 : until;
		if (!add_span(f, span, target, (enum mf_direction)fault->direction))
			return false;
	}
	return true;
}

static bool find_target(struct faults *f, const struct ms_scenario_fault *fault,
			struct mf_target *target)
{
	struct mf_error wrong;

	if (!mf_target_find(&f->s->fabric, fault->target, target, &wrong))
		return ms_scenario_refuse(f->s, fault->line, "target = %s: %s", fault->target,
					  wrong.what);
	return mf_fault_check((enum mf_fault_kind)fault->kind, fault->target, target, &wrong) ||
	       set_fault_error(f, fault, "expected a switch or a plane as target");
}

static bool add_fault(struct faults *f, const struct ms_scenario_fault *fault,
		      const struct mf_target *target)
{
	struct ms_fault_span span = span_of(fault);

	return fault->kind == MF_FAULT_FLAP
		       ? add_flap(f, fault, span, target)
		       : add_span(f, span, target, (enum mf_direction)fault->direction);
}

/* ---- classes ---- */

uint32_t ms_class_size(const struct mf_topology *t, uint32_t of)
{
	const uint32_t sizes[MS_CLASSES] = {
		[MS_CLASS_HOST_T0] = t->first_t0_cable,
		[MS_CLASS_T0_T1] = t->first_t1_cable - t->first_t0_cable,
		[MS_CLASS_T1_T2] = t->plane_cables - t->first_t1_cable,
		[MS_CLASS_T0] = t->n_t0s,
		[MS_CLASS_T1] = t->n_t1s,
		[MS_CLASS_T2] = t->n_t2s,
	};

	return sizes[of];
}

/* Member i of a class in a plane. */
static struct mf_target class_member(const struct mf_topology *t, uint32_t of, uint32_t plane,
				     uint32_t i)
{
	const uint32_t first[MF_LINK_KINDS] = {0, t->first_t0_cable, t->first_t1_cable};
	struct mf_target member = {.kind = MF_TARGET_CABLE, .links = 1};

	if (of < MS_CLASS_T0) {
		struct mf_end end = mf_link_from(t, (plane * t->plane_cables + first[of] + i) << 1);

		member.node = end.node;
		member.port = end.port;
		return member;
	}
	member.kind = MF_TARGET_SWITCH;
	member.node = mf_node_switch(t, (enum mf_tier)(of - MS_CLASS_T0 + MF_T0), plane, i);
	member.links = mf_node_ports(t, mf_node_at(t, member.node).tier);
	return member;
}

static bool check_class(struct faults *f, const struct ms_scenario_fault *fault)
{
	if (fault->kind == MF_FAULT_STALL && fault->of < MS_CLASS_T0)
		return set_fault_error(f, fault,
				       "expected switches: of = \"t0\", \"t1\" or \"t2\"");
	if (ms_class_size(&f->s->fabric, fault->of) == 0)
		return set_fault_error(f, fault, "expected a fabric of three tiers, which has T2s");
	return true;
}

/* all_of adds a fault of every member of a class. */
static bool all_of(struct faults *f, const struct ms_scenario_fault *fault)
{
	const struct mf_topology *t = &f->s->fabric;
	struct mf_target member;

	if (!check_class(f, fault))
		return false;
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++)
		for (uint32_t i = 0; i < ms_class_size(t, fault->of); i++) {
			member = class_member(t, fault->of, plane, i);
			if (!add_fault(f, fault, &member))
				return false;
		}
	return true;
}

static bool one_fault(struct faults *f, const struct ms_scenario_fault *fault)
{
	struct mf_target target;

	if (!check_fault(f, fault))
		return false;
	if ((fault->of == NO_KIND) == (fault->target[0] == '\0'))
		return set_fault_error(
			f, fault, "expected a target, such as \"plane0.t1-2\", or of = \"t0-t1\"");
	if (fault->of != NO_KIND)
		return all_of(f, fault);
	return find_target(f, fault, &target) && add_fault(f, fault, &target);
}

/* ---- random faults ---- */

static bool check_random(struct faults *f, const struct ms_scenario_fault *fault)
{
	if (!check_fault(f, fault))
		return false;
	if (fault->kind == MF_FAULT_FLAP)
		return set_fault_error(f, fault,
				       "expected another kind: random repeated outages are flaps");
	if (fault->of == NO_KIND)
		return set_fault_error(f, fault,
				       "has no `of`; expected of = \"t0-t1\" or another class");
	if (!check_class(f, fault))
		return false;
	if (!fault->between_ns || !fault->for_ns)
		return set_fault_error(f, fault, "expected `between` and `for`, both mean times");
	if (f->s->run.end_ps == MS_NEVER)
		return set_fault_error(
			f, fault, "expected an `end` of the run, up to which there are faults");
	if (f->s->run.end_ps / MS_PS_PER_NS / fault->between_ns > RANDOM_MAX)
		return set_fault_error(f, fault,
				       "expected at most a million of them: a longer `between`");
	return true;
}

static bool random_faults(struct faults *f, const struct ms_scenario_fault *fault, uint32_t number)
{
	const struct mf_topology *t = &f->s->fabric;
	uint64_t at = fault->at_ns;
	struct mb_prng r;

	if (!check_random(f, fault))
		return false;
	mb_prng_init(&r, f->s->head.seed + ((uint64_t)number + 1) * UINT64_C(0x9E3779B97F4A7C15));
	for (;;) {
		struct ms_scenario_fault one = *fault;
		struct mf_target member;
		uint32_t plane;

		at += ms_exponential(&r, fault->between_ns);
		if (at * MS_PS_PER_NS >= f->s->run.end_ps)
			return true;
		one.at_ns = at;
		one.for_ns = 1 + ms_exponential(&r, fault->for_ns);
		plane = mb_prng_below(&r, t->cfg.planes);
		member = class_member(t, fault->of, plane,
				      mb_prng_below(&r, ms_class_size(t, fault->of)));
		if (!add_fault(f, &one, &member))
			return false;
	}
}

/* ---- all of them ---- */

bool ms_scenario_failure(struct ms_scenario *s, uint32_t t1, uint32_t uplink)
{
	const struct ms_fault_span span = {
		.until_ps = UINT64_MAX,
		.link = mf_link_t1_t2(&s->fabric, 0, t1, uplink, false),
		.kind = MS_FAULT_DOWN,
	};

	return ms_fault_spans_link(&s->spans, span, MF_DIRECTION_BOTH);
}

bool ms_scenario_fault_events(struct ms_scenario *s)
{
	struct faults f = {s, &s->spans};

	for (uint32_t i = 0; i < s->n_faults; i++)
		if (!one_fault(&f, &s->fault[i]))
			return false;
	for (uint32_t i = 0; i < s->n_randoms; i++)
		if (!random_faults(&f, &s->random[i], i))
			return false;
	if (!ms_fault_spans_events(&s->spans, &s->faults, &s->run.n_faults))
		return ms_file_set_no_memory(s->error, s->name);
	s->run.faults = s->faults;
	ms_fault_spans_fini(&s->spans);
	return true;
}
