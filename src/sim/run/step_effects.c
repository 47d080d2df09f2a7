/* SPDX-License-Identifier: BSD-2-Clause */
/* step_effects.c - see step_model.h. Times of steps are counted from the job's start. */
#include "sim/run/step_model.h"

struct span {
	uint64_t from, to;
};

static uint64_t span_overlap(struct span a, struct span b)
{
	uint64_t from = a.from > b.from ? a.from : b.from, to = a.to < b.to ? a.to : b.to;

	return to > from ? to - from : 0;
}

static uint64_t first_step_ns(const struct ms_job_result *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->steps; i++)
		sum += r->step_ns[i];
	return r->end_ns > sum ? r->end_ns - sum : 0;
}

/* Mean pace of the steps that lie inside; counts them. */
static uint32_t pace_during_fault(const struct ms_job_result *without,
				  const struct ms_job_result *with, struct span fault,
				  uint32_t *steps)
{
	uint64_t from = first_step_ns(with), plain = 0, slow = 0;

	*steps = 0;
	for (uint32_t i = 0; i < with->steps; i++) {
		struct span step = {from, from + with->step_ns[i]};

		from = step.to;
		if (step.from < fault.from || step.to > fault.to)
			continue;
		/* The first one that is whole may still be recovering from the onset. */
		if ((*steps)++ == 0)
			continue;
		plain += without->step_ns[i];
		slow += with->step_ns[i];
	}
	if (plain == 0 || slow <= plain)
		return MS_STEPS_ONE;
	return (uint32_t)((double)slow / (double)plain * MS_STEPS_ONE + 0.5);
}

/* A fault inside a single step, which took at least as long: nothing moved meanwhile. */
static bool time_stopped(const struct ms_job_result *without, const struct ms_job_result *with,
			 struct span fault, struct ms_effect *e)
{
	uint64_t from = first_step_ns(with), lasted = fault.to - fault.from;

	for (uint32_t i = 0; i < with->steps; i++) {
		struct span step = {from, from + with->step_ns[i]};
		uint64_t more = with->step_ns[i] > without->step_ns[i]
					? with->step_ns[i] - without->step_ns[i]
					: 0;

		from = step.to;
		if (span_overlap(step, fault) < lasted / 10 * 9 || more < lasted / 2)
			continue;
		e->stops = true;
		e->recovery_ns = more > lasted ? more - lasted : 0;
		return true;
	}
	return false;
}

/* What a step took longer than the pace while the fault lasted explains; negative: less. */
static double time_beyond(uint64_t plain, uint64_t took, uint64_t inside, uint32_t slow)
{
	return (double)took - (double)plain - (double)inside * (1 - (double)MS_STEPS_ONE / slow);
}

static uint64_t above_zero(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

bool ms_effect_measure(const struct ms_job_result *without, const struct ms_job_result *with,
		       const struct ms_fault_time *fault, struct ms_effect *e)
{
	struct span span = {fault->at_ns, fault->at_ns + fault->for_ns};
	uint64_t from = first_step_ns(with);
	bool before = span.from > from;
	double onset = 0, recovery = 0;

	*e = (struct ms_effect){.slow = MS_STEPS_ONE};
	if (with->steps < without->steps) {
		e->interrupts = true;
		return true;
	}
	e->slow = pace_during_fault(without, with, span, &e->steps_inside);
	if (before && e->steps_inside == 0 && time_stopped(without, with, span, e))
		return true;
	if (e->steps_inside < 2 || !before)
		return false;
	for (uint32_t i = 0; i < with->steps; i++) {
		struct span step = {from, from + with->step_ns[i]};
		double more = time_beyond(without->step_ns[i], with->step_ns[i],
					  span_overlap(step, span), e->slow);

		from = step.to;
		/* The end of a fault is felt in its step and in the next. */
		if (step.to > span.to && step.from < span.to + without->mean_ns)
			recovery += more;
		else if (step.to > span.from && step.to <= span.to)
			onset += more;
	}
	e->onset_ns = above_zero(onset);
	e->recovery_ns = above_zero(recovery);
	return true;
}

/* REQ(sim.steps.error) */
uint64_t ms_effect_predict(const struct ms_job_result *without, const struct ms_fault_time *fault,
			   const struct ms_effect *effect, uint32_t n)
{
	double more = 0;

	for (uint32_t i = 0; i < n; i++)
		more += (double)fault[i].for_ns *
				(effect[i].stops ? 1 : 1 - (double)MS_STEPS_ONE / effect[i].slow) +
			(double)effect[i].onset_ns + (double)effect[i].recovery_ns;
	return without->end_ns + (uint64_t)(more + 0.5);
}
