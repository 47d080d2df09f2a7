/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet runs for the long horizon: see study.h.
 *
 * A fault is measured where the job is: on the first port, T0 or path of its first rank. It comes
 * after a third of the steps and lasts for another third and a step; samples differ in the moment
 * of the step at which it comes, and their mean is taken. The model is checked with faults of
 * another rank and another plane, at other moments.
 */
#include "study/study.h"

#include "sim/scenario/scenario_keys.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_PS UINT64_C(1000000000)
/* A run that takes so much longer than the one without faults will not end. */
#define PATIENCE 20u

struct place {
	uint32_t rank, plane, nth;
};

/* ---- one run ---- */

static enum sim_packets_end run_packets(struct sim_packets *p, struct ms_scenario *s,
					struct ms_job_result *steps)
{
	char why[MS_WHY_BYTES];
	struct ms_run *run;
	struct sim_progress progress;
	enum ms_run_state state = MS_RUN_RUNNING;

	if (p->plain->steps > 0 && s->run.end_ps == MS_NEVER)
		s->run.end_ps = p->plain->end_ns * MS_PS_PER_NS * PATIENCE;
	run = ms_run_create(&s->run, why);
	if (!run) {
		ms_file_set_error(&p->error, s->name, 0, "%s", why);
		return SIM_PACKETS_WRONG;
	}
	sim_progress_begin(&progress, run, p->quiet);
	while (state == MS_RUN_RUNNING && !ui_term_caught()) {
		state = ms_run_step(run, STEP_PS);
		sim_progress_show(&progress, run);
	}
	sim_progress_end(&progress);
	if (state == MS_RUN_MEMORY || ms_nics_violation(run->nics) ||
	    !ms_job_measure(s->made[0], (ms_nics_graph_exec(run->nics, s->n_workloads))->times,
			    s->job[0].start_ns, steps)) {
		ms_file_set_error(&p->error, s->name, 0, "a packet run failed: %s",
				  ms_nics_violation(run->nics) ? ms_nics_violation(run->nics)
							       : "no memory");
		state = MS_RUN_MEMORY;
	}
	ms_run_destroy(run);
	if (ui_term_caught())
		return SIM_PACKETS_CAUGHT;
	return state == MS_RUN_MEMORY ? SIM_PACKETS_WRONG : SIM_PACKETS_GOOD;
}

/* run_more runs the scenario with some more text. */
static enum sim_packets_end run_more(struct sim_packets *p, const char *more,
				     struct ms_job_result *steps)
{
	struct ms_scenario *s = sim_source_read_more(p->name, more, p->changes, &p->error);
	enum sim_packets_end end;

	if (!s)
		return SIM_PACKETS_WRONG;
	end = run_packets(p, s, steps);
	ms_scenario_destroy(s);
	return end;
}

/* ---- faults ---- */

/* add_fault writes a [[fault]] of the kind that a rate has, where a rank is. */
static void add_fault(const struct sim_packets *p, const struct ms_scenario_rate *r,
		      const struct place *at, const struct ms_fault_time *t, struct ui_text *out)
{
	const struct mf_topology *f = &p->scenario->fabric;
	uint32_t host = p->scenario->made[0]->host[at->rank];
	uint32_t plane = at->plane % f->cfg.planes, t0 = host / f->cfg.hosts_per_t0;
	uint32_t t1 = t0 / f->cfg.t0s * f->cfg.t1s + at->nth % f->cfg.t1s;

	ui_text_add(out, "\n[[fault]]\nkind = \"%s\"\nat = \"%lluns\"\nfor = \"%lluns\"\n",
		    mf_fault_name((enum mf_fault_kind)r->kind), (unsigned long long)t->at_ns,
		    (unsigned long long)t->for_ns);
	if (r->share > 0)
		ui_text_add(out, "share = %.6f\n", (double)r->share / MS_SHARE_ONE);
	if (r->of == MS_CLASS_HOST_T0)
		ui_text_add(out, "target = \"host%u.e%u\"\n", host, plane);
	else if (r->of == MS_CLASS_T0_T1)
		ui_text_add(out, "target = \"plane%u.t0-%u.u%u\"\n", plane, t0,
			    at->nth % f->cfg.t1s);
	else if (r->of == MS_CLASS_T1_T2)
		ui_text_add(out, "target = \"plane%u.t1-%u.u0\"\n", plane, t1);
	else if (r->of == MS_CLASS_T0)
		ui_text_add(out, "target = \"plane%u.t0-%u\"\n", plane, t0);
	else if (r->of == MS_CLASS_T1)
		ui_text_add(out, "target = \"plane%u.t1-%u\"\n", plane, t1);
	else if (r->of == MS_CLASS_T2)
		ui_text_add(out, "target = \"plane%u.t2-%u\"\n", plane, at->nth % f->n_t2s);
	else
		ui_text_add(out, "target = \"host%u\"\n", host);
}

/* The beginning of a step without faults, since the run's start. */
static uint64_t step_begins(const struct ms_job_result *r, uint32_t step)
{
	uint64_t at = r->end_ns;

	for (uint32_t i = step; i < r->steps; i++)
		at -= r->step_ns[i];
	return at;
}

static struct ms_fault_time sample_time(const struct sim_packets *p, uint32_t sample,
					uint32_t samples)
{
	uint32_t third = p->plain->steps / 3;

	return (struct ms_fault_time){
		.at_ns = step_begins(p->plain, third) + p->plain->step_ns[third] *
								(UINT64_C(2) * sample + 1) /
								(UINT64_C(2) * samples),
		.for_ns = p->plain->mean_ns * (third + 1),
	};
}

static const char *name_of(const struct ms_scenario_rate *r)
{
	return r->name[0] ? r->name : ms_rate_of_names[r->of];
}

static enum sim_packets_end run_sample(struct sim_packets *p, const struct ms_scenario_rate *r,
				       const struct ms_fault_time *t, struct ms_effect *effect)
{
	const struct place first = {0, 0, 0};
	struct ui_text more = {0};
	enum sim_packets_end end;

	add_fault(p, r, &first, t, &more);
	end = run_more(p, more.data, p->with);
	ui_text_fini(&more);
	if (end != SIM_PACKETS_GOOD)
		return end;
	if (ms_effect_measure(p->plain, p->with, t, effect))
		return SIM_PACKETS_GOOD;
	ms_file_set_error(
		&p->error, p->name, p->scenario->job[0].line,
		"job.steps = %u: expected more, so that whole steps lie before a fault and "
		"inside it (9 at least)",
		p->scenario->job[0].cfg.steps);
	return SIM_PACKETS_WRONG;
}

/* The mean of all samples. */
static enum sim_packets_end measure_rate(struct sim_packets *p, uint32_t i)
{
	const struct ms_scenario_rate *r = &p->scenario->rate[i];
	uint32_t n = p->scenario->goodput.samples;
	struct ms_effect sum = {0};
	uint64_t slow = 0;

	for (uint32_t k = 0; k < n; k++) {
		struct ms_fault_time t = sample_time(p, k, n);
		struct ms_effect one;
		enum sim_packets_end end;

		if (!p->quiet)
			fprintf(stderr, "packets: %s, sample %u of %u\n", name_of(r), k + 1, n);
		end = run_sample(p, r, &t, &one);
		if (end != SIM_PACKETS_GOOD)
			return end;
		sum.interrupts |= one.interrupts;
		sum.stops |= one.stops;
		slow += one.slow;
		sum.onset_ns += one.onset_ns;
		sum.recovery_ns += one.recovery_ns;
		sum.steps_inside += one.steps_inside;
	}
	p->effect[i] = (struct ms_effect){
		.interrupts = sum.interrupts,
		.stops = sum.stops,
		.slow = slow / n < MS_STEPS_ONE ? MS_STEPS_ONE : (uint32_t)(slow / n),
		.onset_ns = sum.onset_ns / n,
		.recovery_ns = sum.recovery_ns / n,
		.steps_inside = sum.steps_inside,
	};
	return SIM_PACKETS_GOOD;
}

/* ---- the check ---- */

/* A fault of a rate once more, elsewhere and at another moment. */
static enum sim_packets_end check_rate(struct sim_packets *p, uint32_t i)
{
	const struct ms_scenario *s = p->scenario;
	const struct place other = {ms_job_ranks(&s->job[0].cfg) / 2, 1, 1};
	/* Of many samples the first comes early in a step; none comes just then. */
	const struct ms_fault_time t = sample_time(p, 1, 8);
	struct ui_text more = {0};
	enum sim_packets_end end;

	if (!p->quiet)
		fprintf(stderr, "packets: %s, to check the model\n", name_of(&s->rate[i]));
	add_fault(p, &s->rate[i], &other, &t, &more);
	end = run_more(p, more.data, p->with);
	ui_text_fini(&more);
	if (end != SIM_PACKETS_GOOD)
		return end;
	p->checked++;
	p->checked_ns += p->with->end_ns;
	p->predicted_ns += ms_effect_predict(p->plain, &t, &p->effect[i], 1);
	return SIM_PACKETS_GOOD;
}

double sim_packets_error(const struct sim_packets *p)
{
	if (p->checked == 0)
		return 0;
	return ((double)p->predicted_ns - (double)p->checked_ns) / (double)p->checked_ns;
}

/* ---- all ---- */

enum sim_packets_end sim_packets_measure(struct sim_packets *p)
{
	const struct ms_scenario *s = p->scenario;
	enum sim_packets_end end;

	p->plain = calloc(1, sizeof(*p->plain));
	p->with = calloc(1, sizeof(*p->with));
	if (!p->plain || !p->with) {
		ms_file_set_no_memory(&p->error, p->name);
		return SIM_PACKETS_WRONG;
	}
	if (!p->quiet)
		fprintf(stderr, "packets: without faults\n");
	end = run_more(p, "", p->with);
	memcpy(p->plain, p->with, sizeof(*p->plain));
	if (end == SIM_PACKETS_GOOD && p->plain->steps < s->job[0].cfg.steps) {
		ms_file_set_error(&p->error, p->name, 0,
				  "the job does not come to its end in packets");
		end = SIM_PACKETS_WRONG;
	}
	for (uint32_t i = 0; end == SIM_PACKETS_GOOD && i < s->n_rates; i++) {
		p->effect[i] = (struct ms_effect){.slow = MS_STEPS_ONE};
		if (s->rate[i].effect == MS_EFFECT_MEASURE)
			end = measure_rate(p, i);
		if (end == SIM_PACKETS_GOOD && s->rate[i].effect == MS_EFFECT_MEASURE &&
		    !p->effect[i].interrupts)
			end = check_rate(p, i);
	}
	return end;
}

void sim_packets_fini(struct sim_packets *p)
{
	free(p->plain);
	free(p->with);
	p->plain = p->with = NULL;
}
