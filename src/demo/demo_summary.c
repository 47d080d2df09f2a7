/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of the demo in words: see demo_run.h. */
#include "demo/demo_run.h"

#include "ui/text.h"

#include <inttypes.h>
#include <stdio.h>

enum column { FAULT, BEFORE, DURING, AFTER, IDEAL, LOST, RESENT, RETIRED, REVIVED, TCP };

/* Milliseconds with so many digits behind the point, or what is there instead of them. */
static void put_ms(struct ui_table *t, size_t row, size_t column, int digits, uint64_t ns,
		   const char *instead)
{
	if (instead)
		ui_table_cell(t, row, column, "%s", instead);
	else
		ui_table_cell(t, row, column, "%.*f", digits, (double)ns / 1e6);
}

static void put_step(struct ui_table *t, size_t row, enum column c, const struct demo_figure *f)
{
	put_ms(t, row, c, 0, f->step_ns, f->n ? NULL : "none");
}

static void put_tcp(struct ui_table *t, size_t row, const struct demo_fault_figures *n,
		    const struct demo_fault_log *log)
{
	if (!log->tcp_connections_hit && n->tcp_during.n)
		ui_table_cell(t, row, TCP, "(%.0f)", (double)n->tcp_during.step_ns / 1e6);
	else if (!n->tcp_during.n && !n->tcp_before.n)
		ui_table_cell(t, row, TCP, "late");
	else
		put_step(t, row, TCP, &n->tcp_during);
}

void demo_summary_table(const struct demo_outcome *o, const struct demo_script *script,
			const struct demo_fault_log *log, bool with_tcp, struct ui_text *out)
{
	struct ui_table t = {0};

	ui_table_head(&t, with_tcp ? "fault|before|during|after|ideal|lost|resent|EVs-|EVs+|TCP"
				   : "fault|before|during|after|ideal|lost|resent|EVs-|EVs+");
	for (uint32_t i = 0; i < script->n; i++) {
		const struct demo_fault_figures *n = &o->fault[i];
		size_t row = i + 1;

		ui_table_cell(&t, row, FAULT, "%s", script->fault[i].brief);
		if (log[i].phase == DEMO_PENDING) {
			ui_table_cell(&t, row, BEFORE, "no run");
			continue;
		}
		put_step(&t, row, BEFORE, &n->before);
		put_step(&t, row, DURING, &n->during);
		put_step(&t, row, AFTER, &n->after);
		put_ms(&t, row, IDEAL, 0, n->expect_ns, n->expect_ns ? NULL : "-");
		ui_table_cell(&t, row, LOST, "%" PRIu64, n->lost);
		ui_table_cell(&t, row, RESENT, "%" PRIu64, n->counters.tx_retransmits);
		ui_table_cell(&t, row, RETIRED, "%" PRIu64, n->counters.evs_retired);
		ui_table_cell(&t, row, REVIVED, "%" PRIu64, n->counters.evs_revived);
		if (with_tcp)
			put_tcp(&t, row, n, &log[i]);
	}
	ui_table_render(&t, out);
}

void demo_summary_times(const struct demo_script *script, const struct demo_fault_log *log,
			struct ui_text *out)
{
	struct ui_table t = {0};

	ui_table_head(&t, "fault|found|left|back|all back");
	for (uint32_t i = 0; i < script->n; i++) {
		if (log[i].phase == DEMO_PENDING)
			continue;
		ui_table_cell(&t, t.rows, 0, "%s", script->fault[i].brief);
		for (size_t c = 0; c < 4; c++) {
			const struct demo_times *times = &log[i].times;
			const uint64_t ns[] = {times->found_ns, times->left_ns,
					       times->first_good_ns, times->all_good_ns};

			put_ms(&t, t.rows - 1, c + 1, 1, ns[c], ns[c] == DEMO_NEVER ? "-" : NULL);
		}
	}
	ui_table_render(&t, out);
}

static void put_times(const struct demo_run *faulty, struct ui_text *out)
{
	ui_text_add(out, "\n");
	demo_summary_times(faulty->cfg.script, faulty->fault, out);
	ui_text_add(
		out,
		"\nIn ms. found: from the strike to the first EV retired; left: to the last "
		"data\npacket that the fault took, where it takes all (flapping: the longest "
		"time). back,\nall back: from its end until one, and all, of the EVs were good. "
		"Threads of this\nmachine were woken %.1f ms late on average, %.0f at most; that "
		"is in these times.\n",
		(double)demo_lateness_mean(&faulty->late) / 1e6, (double)faulty->late.max_ns / 1e6);
}

static void put_legend(const struct demo_run *faulty, struct ui_text *out)
{
	bool unfelt = false;

	ui_text_add(out,
		    "\nbefore, during, after, ideal: ms a step takes (median); ideal is what the "
		    "bandwidth\nleft allows during the fault. lost, resent: data packets. EVs-, "
		    "EVs+: entropy\nvalues (a sender's paths) retired and revived.\n");
	if (!faulty->cfg.with_tcp)
		return;
	ui_text_add(out, "TCP: the same for the ring over TCP, during the fault. none: it "
			 "finished no step;\nlate: it had not yet recovered from the fault "
			 "before; in brackets: not hit, since\neach connection keeps to one "
			 "path, and none of them to one of these.\n");
	for (uint32_t i = 0; i < faulty->cfg.script->n; i++)
		unfelt = unfelt ||
			 (faulty->fault[i].phase != DEMO_PENDING && !faulty->fault[i].tcp_can_feel);
	if (unfelt)
		ui_text_add(out, "This kernel allows no filters on sockets, so TCP does not feel "
				 "faults that hit\nsome packets only: in brackets too.\n");
}

/* What the switches say, where there are any. */
static void put_fabric(const struct demo_run *faulty, struct ui_text *out)
{
	const struct demo_stage *stage = faulty->cfg.stage;
	const struct ml_counters *f = &faulty->fabric;

	if (faulty->cfg.with_tcp)
		ui_text_add(out, "TCP's setup: %s.\n", stage->tcp_text);
	if (stage->trims)
		ui_text_add(out,
			    "\nSwitches, in the second run: %" PRIu64 " packets sent on, %" PRIu64
			    " marked, %" PRIu64 " trimmed, %" PRIu64
			    " dropped\nfor want of room.\n",
			    f->packets, f->marked, f->trimmed, f->dropped);
}

static void put_weights(const struct demo_run *healthy, const struct demo_run *faulty,
			struct ui_text *out)
{
	const struct demo_report *t = &faulty->tcp.report;

	ui_text_add(out, "\nSHA-256 of the weights after %u steps\n", healthy->cfg.script->steps);
	ui_text_add(out, "  without faults  %s\n",
		    healthy->job.report.ended ? healthy->job.report.sha256 : "not finished");
	ui_text_add(out, "  with faults     %s\n",
		    faulty->job.report.ended ? faulty->job.report.sha256 : "not finished");
	if (!faulty->cfg.with_tcp)
		return;
	if (t->ended)
		ui_text_add(out, "  TCP, faults     %s\n", t->sha256);
	else
		ui_text_add(out, "  TCP, faults     %u of %u steps in the same time%s%s\n",
			    faulty->tcp_steps, healthy->cfg.script->steps,
			    faulty->tcp.state == DEMO_JOB_FAILED ? "; " : "", faulty->tcp.error);
}

void demo_summary_render(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, struct ui_text *out)
{
	const struct demo_report *r = &faulty->job.report;

	if (faulty->cfg.script) {
		ui_text_add(out, "\n");
		demo_summary_table(o, faulty->cfg.script, faulty->fault, faulty->cfg.with_tcp, out);
		put_legend(faulty, out);
		put_fabric(faulty, out);
		put_times(faulty, out);
		put_weights(healthy, faulty, out);
	}
	if (r->ended)
		ui_text_add(out,
			    "\nLoss %.3f bits per byte over the whole text, began at 8; a byte "
			    "costs %.3f bits\nto someone who knows the byte before it (bigram "
			    "entropy).\n",
			    r->final_loss, r->bigram_bits);
	ui_text_add(out, "\n");
	for (uint32_t i = 0; i < o->checks; i++)
		if (!o->check[i].pass)
			ui_text_add(out, "FAIL  %s\n", o->check[i].text);
	if (o->pass)
		ui_text_add(out,
			    "PASS  all %u checks: equal weights, loss below the bigram "
			    "entropy, every fault left its\n      marks\n",
			    o->checks);
}
