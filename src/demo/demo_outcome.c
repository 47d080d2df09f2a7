/* SPDX-License-Identifier: BSD-2-Clause */
/* What both runs add up to: see demo_run.h. */
#include "demo/demo_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void add_check(struct demo_outcome *o, bool pass,
							    const char *format, ...)
{
	struct demo_check *check = &o->check[o->checks];
	va_list args;

	if (o->checks == DEMO_CHECKS_MAX)
		return;
	o->checks++;
	check->pass = pass;
	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
	o->pass = o->pass && pass;
}

static void judge_runs(struct demo_outcome *o, const struct demo_facts *f)
{
	if (f->healthy_done)
		add_check(o, f->healthy_agree, "fault-free run: all ranks ended with %s weights",
			  f->healthy_agree ? "the same" : "different");
	else
		add_check(o, false, "fault-free run: %s", f->healthy_trouble);
	if (f->faulty_done)
		add_check(o, f->faulty_agree, "run with faults: all ranks ended with %s weights",
			  f->faulty_agree ? "the same" : "different");
	else
		add_check(o, false, "run with faults: %s", f->faulty_trouble);
}

static void judge_digests(struct demo_outcome *o, const struct demo_facts *f)
{
	bool same = strcmp(f->healthy_sha256, f->faulty_sha256) == 0;

	add_check(o, same, "weights with and without faults are %s",
		  same ? "equal, bit for bit" : "different");
	add_check(o, f->final_loss < f->bigram_bits,
		  "final loss %.3f bits per byte, bigram entropy of the text %.3f", f->final_loss,
		  f->bigram_bits);
}

/* TCP need not finish; what it did must be right, or the two rings did not do the same work. */
static void judge_tcp(struct demo_outcome *o, const struct demo_facts *f)
{
	if (f->tcp_done)
		add_check(o, f->tcp_agree && strcmp(f->tcp_sha256, f->healthy_sha256) == 0,
			  "TCP finished all steps, and its weights are %s",
			  strcmp(f->tcp_sha256, f->healthy_sha256) == 0 ? "equal too"
									: "different");
	else if (f->tcp_steps)
		add_check(o, f->tcp_steps_equal == f->tcp_steps,
			  "TCP finished %u steps, %u of them with the loss of the fault-free run",
			  f->tcp_steps, f->tcp_steps_equal);
}

/*
 * On a busy machine the few EVs over what breaks may be out already, for answers that came late;
 * and where several destinations are lost at once, a host leaves its port, and no EV.
 */
static void judge_retired(struct demo_outcome *o, const struct demo_fault *f,
			  const struct demo_fault_figures *n)
{
	uint64_t retired = n->counters.evs_retired, ports = n->counters.uplinks_left;

	if (retired > 0 || ports + n->out_before == 0)
		add_check(o, retired > 0, "%s: %" PRIu64 " EVs retired", f->brief, retired);
	else
		add_check(o, true,
			  "%s: no EV retired; %" PRIu64 " EVs or ports were out before, %" PRIu64
			  " ports were left",
			  f->brief, n->out_before, ports);
}

static void judge_fault(struct demo_outcome *o, const struct demo_fault *f,
			const struct demo_fault_figures *n, bool lost_counted)
{
	if ((f->signs & DEMO_SIGN_LOST) && lost_counted)
		add_check(o, n->lost > 0, "%s: %" PRIu64 " data packets destroyed", f->brief,
			  n->lost);
	if (f->signs & DEMO_SIGN_ICRC)
		add_check(o, n->counters.drop_icrc > 0, "%s: %" PRIu64 " packets refused by ICRC",
			  f->brief, n->counters.drop_icrc);
	if (f->signs & DEMO_SIGN_RETIRED)
		judge_retired(o, f, n);
	/* A host that loses carrier on a port reports it: senders may leave before any loss. */
	if (f->signs & DEMO_SIGN_AVOIDED)
		add_check(o, n->counters.evs_retired + n->counters.peer_ports_abandoned > 0,
			  "%s: %" PRIu64 " EVs retired, %" PRIu64
			  " planes left for a peer's port that is down",
			  f->brief, n->counters.evs_retired, n->counters.peer_ports_abandoned);
	if (f->signs & DEMO_SIGN_QUEUES)
		add_check(o, n->trimmed > 0, "%s: %" PRIu64 " packets trimmed", f->brief,
			  n->trimmed);
}

void demo_outcome_evaluate(struct demo_outcome *o, const struct demo_facts *facts,
			   const struct demo_script *script)
{
	o->pass = true;
	o->checks = 0;
	judge_runs(o, facts);
	/* A run that was not finished has failed; nothing more can be asked of it. */
	if (!facts->healthy_done || !facts->faulty_done)
		return;
	judge_digests(o, facts);
	judge_tcp(o, facts);
	for (uint32_t i = 0; i < script->n; i++)
		judge_fault(o, &script->fault[i], &o->fault[i], facts->lost_counted);
}

/* Where the calm before fault i began: the first step, which begins cold, does not count. */
static uint64_t calm_since(const struct demo_run *run, const struct demo_report *r, uint32_t i)
{
	if (i)
		return run->fault[i - 1].clear_ns;
	return r->n ? r->steps[0].end_ns : run->start_ns;
}

static uint64_t calm_until(const struct demo_run *run, uint32_t i)
{
	bool last = i + 1 == run->cfg.script->n || run->fault[i + 1].phase == DEMO_PENDING;

	return last ? run->end_ns : run->fault[i + 1].strike_ns;
}

static void count_fault(struct demo_fault_figures *n, const struct demo_run *run, uint32_t i)
{
	const struct demo_fault *f = &run->cfg.script->fault[i];
	const struct demo_fault_log *log = &run->fault[i];
	const struct demo_report *r = &run->job.report, *t = &run->tcp.report;

	if (log->phase == DEMO_PENDING)
		return;
	n->before = demo_figures_between(r->steps, r->n, calm_since(run, r, i), log->strike_ns);
	n->expect_ns = demo_figures_expect(&n->before, f->slower_num, f->slower_den);
	n->tcp_before = demo_figures_between(t->steps, t->n, calm_since(run, t, i), log->strike_ns);
	n->lost = log->hits.data;
	n->trimmed = log->fabric_at_end.trimmed - log->fabric_at_strike.trimmed;
	n->lost_control = log->hits.control;
	n->counters = demo_counters_difference(&log->at_end, &log->at_strike);
	n->out_before = log->out_at_strike;
	if (log->phase != DEMO_CLEARED)
		return;
	n->during = demo_figures_between(r->steps, r->n, log->strike_ns, log->clear_ns);
	n->after = demo_figures_between(r->steps, r->n, log->clear_ns, calm_until(run, i));
	n->tcp_during = demo_figures_between(t->steps, t->n, log->strike_ns, log->clear_ns);
}

static uint32_t count_equal_steps(const struct demo_report *a, const struct demo_report *b,
				  uint32_t n)
{
	uint32_t equal = 0;

	for (uint32_t i = 0; i < n && i < a->n && i < b->n; i++)
		equal += a->steps[i].loss == b->steps[i].loss;
	return equal;
}

void demo_outcome_make(struct demo_outcome *o, const struct demo_run *healthy,
		       const struct demo_run *faulty)
{
	const struct demo_report *h = &healthy->job.report, *f = &faulty->job.report;
	struct demo_facts facts = {
		.lost_counted = healthy->cfg.stage && healthy->cfg.stage->counts,
		.healthy_done = healthy->job.state == DEMO_JOB_DONE && h->ended,
		.faulty_done = faulty->job.state == DEMO_JOB_DONE && f->ended,
		.healthy_trouble = healthy->error[0] ? healthy->error : "was not finished",
		.faulty_trouble = faulty->error[0] ? faulty->error : "was not finished",
		.healthy_agree = healthy->digests_agree,
		.faulty_agree = faulty->digests_agree,
		.healthy_sha256 = h->sha256,
		.faulty_sha256 = f->sha256,
		.final_loss = f->final_loss,
		.bigram_bits = f->bigram_bits,
		.tcp_done = faulty->tcp.state == DEMO_JOB_DONE && faulty->tcp.report.ended,
		.tcp_agree = faulty->tcp_digests_agree,
		.tcp_sha256 = faulty->tcp.report.sha256,
		.tcp_steps = faulty->tcp_steps,
	};

	*o = (struct demo_outcome){0};
	facts.tcp_steps_equal = count_equal_steps(h, &faulty->tcp.report, faulty->tcp_steps);
	o->tcp_steps_equal = facts.tcp_steps_equal;
	for (uint32_t i = 0; faulty->cfg.script && i < faulty->cfg.script->n; i++)
		count_fault(&o->fault[i], faulty, i);
	demo_outcome_evaluate(o, &facts, healthy->cfg.script);
}
