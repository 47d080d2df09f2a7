/* SPDX-License-Identifier: BSD-2-Clause */
/* The long horizon of a job: see study.h. */
#include "study/study.h"

#include "sim/kernel/random.h"
#include "sim/scenario/scenario_keys.h"
#include "ui/terminal.h"

#include <math.h>

#define HOUR_NS 3600e9
#define DAY_NS 86400e9

/* ---- trials ---- */

static struct ms_steps_class class_of(const struct sim_packets *packets, uint32_t i,
				      uint64_t outage_ns)
{
	const struct ms_scenario_rate *r = &packets->scenario->rate[i];
	const struct ms_effect *e = &packets->effect[i];
	struct ms_steps_class c = {.per_gpu = r->per_gpu,
				   .mtbf_ns = r->mtbf_ns,
				   .repair_ns = r->repair_ns,
				   .slow = MS_STEPS_ONE};
	bool cuts = r->kind == MF_FAULT_DOWN || r->kind == MF_FAULT_BLACKHOLE ||
		    r->kind == MF_FAULT_STALL;

	c.interrupts = r->effect == MS_EFFECT_INTERRUPT;
	if (r->effect != MS_EFFECT_MEASURE)
		return c;
	c.interrupts = e->interrupts;
	c.slow = e->slow;
	c.onset_ns = e->onset_ns;
	c.recovery_ns = e->recovery_ns;
	c.outage_ns = e->stops ? UINT64_MAX / 2 : cuts ? outage_ns : 0;
	c.dies_ns = packets->scenario->goodput.dies_after_ns;
	return c;
}

static void add_up(struct ms_steps_result *sum, const struct ms_steps_result *r)
{
	sum->horizon_ns += r->horizon_ns;
	sum->useful_ns += r->useful_ns;
	sum->slow_ns += r->slow_ns;
	sum->stalled_ns += r->stalled_ns;
	sum->saving_ns += r->saving_ns;
	sum->lost_ns += r->lost_ns;
	sum->restarting_ns += r->restarting_ns;
	sum->faults += r->faults;
	sum->interruptions += r->interruptions;
}

static void take_mean(struct sim_goodput_point *p, double squares)
{
	double n = p->trials;

	p->goodput = (double)p->sum.useful_ns / (double)p->sum.horizon_ns;
	if (p->trials > 1 && squares / n > p->goodput * p->goodput)
		p->goodput_error = sqrt((squares / n - p->goodput * p->goodput) / (n - 1));
}

bool sim_goodput_point(const struct sim_packets *packets, uint32_t gpus, uint64_t outage_ns,
		       struct sim_goodput_point *p)
{
	const struct ms_scenario *s = packets->scenario;
	struct ms_steps_class classes[MS_STEPS_CLASSES];
	struct ms_steps_cfg c = {
		.gpus = gpus,
		.horizon_ns = s->goodput.horizon_ns,
		.checkpoint_every_ns = s->goodput.checkpoint_every_ns,
		.checkpoint_ns = s->goodput.checkpoint_ns,
		.restart_ns = s->goodput.restart_ns,
		.classes = classes,
		.n_classes = s->n_rates,
	};
	double squares = 0;

	*p = (struct sim_goodput_point){.gpus = gpus, .outage_ns = outage_ns};
	for (uint32_t i = 0; i < s->n_rates; i++)
		classes[i] = class_of(packets, i, outage_ns);
	p->daly = ms_steps_daly(&c);
	p->mtbi_formula_h = ms_steps_mtbi_ns(&c) / HOUR_NS;
	p->checkpoint_every_s =
		(double)(c.checkpoint_every_ns ? c.checkpoint_every_ns : ms_steps_best_ns(&c)) /
		1e9;
	for (; p->trials < s->goodput.trials && !ui_term_caught(); p->trials++) {
		struct ms_steps_result r;

		/* Sizes and ways share their seeds, so that differences are not chance alone. */
		c.seed = ms_mix(s->head.seed + p->trials);
		if (!ms_steps_run(&c, &r)) {
			p->trials = 0;
			return false;
		}
		add_up(&p->sum, &r);
		squares += (double)r.useful_ns * (double)r.useful_ns / (double)r.horizon_ns /
			   (double)r.horizon_ns;
	}
	if (p->trials > 0)
		take_mean(p, squares);
	return p->trials == s->goodput.trials;
}

/* ---- JSON ---- */

static json_t *point_json(const struct sim_goodput_point *p)
{
	const struct ms_steps_result *r = &p->sum;
	double all = (double)r->horizon_ns, days = all / DAY_NS;
	double mtbi = r->interruptions ? all / HOUR_NS / (double)r->interruptions : INFINITY;

	return json_pack(
		"{s:I,s:o,s:I,s:f,s:f,s:f,s:f,s:f,s:o,s:o,s:f,s:{s:f,s:f,s:f,s:f,s:f,s:f}}", "gpus",
		(json_int_t)p->gpus, "reconverge_s",
		p->outage_ns ? json_real((double)p->outage_ns / 1e9) : json_null(), "trials",
		(json_int_t)p->trials, "goodput", p->goodput, "goodput_error", p->goodput_error,
		"daly", p->daly, "faults_per_day", (double)r->faults / days,
		"interruptions_per_day", (double)r->interruptions / days, "mtbi_h",
		sim_number_or_null(mtbi), "mtbi_formula_h", sim_number_or_null(p->mtbi_formula_h),
		"checkpoint_every_s", p->checkpoint_every_s, "shares", "useful",
		(double)r->useful_ns / all, "slow", (double)r->slow_ns / all, "stalled",
		(double)r->stalled_ns / all, "checkpoints", (double)r->saving_ns / all, "lost",
		(double)r->lost_ns / all, "restarts", (double)r->restarting_ns / all);
}

static json_t *rate_json(const struct sim_packets *packets, uint32_t i)
{
	const struct ms_scenario_rate *r = &packets->scenario->rate[i];
	const struct ms_effect *e = &packets->effect[i];
	json_t *one = json_pack(
		"{s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:s}", "name",
		r->name[0] ? r->name : ms_rate_of_names[r->of], "of", ms_rate_of_names[r->of],
		"kind", mf_fault_name((enum mf_fault_kind)r->kind), "effect",
		ms_rate_effect_names[r->effect], "per_gpu", r->per_gpu, "mtbf_h",
		r->mtbf_ns / HOUR_NS, "repair_s", (double)r->repair_ns / 1e9, "source", r->source);

	if (r->effect == MS_EFFECT_MEASURE) {
		json_object_set_new(one, "interrupts", json_boolean(e->interrupts));
		json_object_set_new(one, "stops", json_boolean(e->stops));
		json_object_set_new(one, "slow", json_real((double)e->slow / MS_STEPS_ONE));
		json_object_set_new(one, "onset_us", json_real((double)e->onset_ns / 1e3));
		json_object_set_new(one, "recovery_us", json_real((double)e->recovery_ns / 1e3));
		json_object_set_new(one, "steps_inside", json_integer(e->steps_inside));
	}
	return one;
}

static json_t *packets_json(const struct sim_packets *p)
{
	const struct ms_job_result *r = p->plain;

	return json_pack("{s:I,s:I,s:f,s:f,s:f,s:f,s:I,s:f,s:f,s:f}", "ranks",
			 (json_int_t)ms_job_ranks(&p->scenario->job[0].cfg), "steps",
			 (json_int_t)r->steps, "step_us", (double)r->mean_ns / 1e3, "compute_us",
			 (double)r->compute_ns / 1e3, "exposed_us", (double)r->exposed_ns / 1e3,
			 "goodput", (double)r->goodput / MS_JOB_ONE, "checked_faults",
			 (json_int_t)p->checked, "checked_us", (double)p->checked_ns / 1e3,
			 "predicted_us", (double)p->predicted_ns / 1e3, "error_share",
			 sim_packets_error(p));
}

json_t *sim_goodput_json(const struct sim_packets *packets, const struct sim_goodput_point *p,
			 size_t n, bool partial)
{
	const struct ms_scenario *s = packets->scenario;
	json_t *rates = json_array(), *points = json_array();

	for (uint32_t i = 0; i < s->n_rates; i++)
		json_array_append_new(rates, rate_json(packets, i));
	for (size_t i = 0; i < n; i++)
		if (p[i].trials > 0)
			json_array_append_new(points, point_json(&p[i]));
	return json_pack("{s:s,s:s,s:s,s:b,s:I,s:f,s:f,s:f,s:o,s:o,s:o}", "scenario", s->name,
			 "title", s->head.title, "model", "step-level, fed by packet runs",
			 "partial", partial, "seed", (json_int_t)s->head.seed, "horizon_days",
			 (double)s->goodput.horizon_ns / DAY_NS, "checkpoint_s",
			 (double)s->goodput.checkpoint_ns / 1e9, "restart_s",
			 (double)s->goodput.restart_ns / 1e9, "packets", packets_json(packets),
			 "rates", rates, "points", points);
}
