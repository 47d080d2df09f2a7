/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a run is: see study.h. */
#include "study/study.h"

#include "ui/text.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
/* A line on a terminal lives a fifth of a second, one in a log file stands for ten. */
#define TERMINAL_NS (SECOND_NS / 5)
#define LOG_NS (10 * SECOND_NS)
/* Adding up what NICs count means touching each; the share of time that may take. */
#define LOOK_SHARE 50u

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

void sim_progress_begin(struct sim_progress *p, const struct ms_run *run, bool quiet)
{
	const struct ms_workload *w = run->workload;

	*p = (struct sim_progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1};
	for (uint32_t id = 0; !quiet && id < ms_workload_flows(w); id++) {
		struct ms_flow flow;

		ms_workload_flow(w, id, &flow);
		p->bytes += flow.bytes;
	}
	p->began_ns = clock_ns();
	p->shown_ns = p->began_ns;
	p->hops_ns = p->began_ns;
}

void sim_progress_line(const struct sim_progress_now *n, struct ui_text *out)
{
	char time[UI_UNITS_MAX], hops[UI_UNITS_MAX], left[UI_UNITS_MAX];

	ui_text_add(out, "%s simulated, %s hops/s, %u of %u flows left",
		    ui_units_time(time, n->now_ps / MS_PS_PER_NS),
		    ui_units_count(hops, n->hops_per_s), n->flows - n->flows_done, n->flows);
	if (n->done > 0.001 && n->done < 1)
		ui_text_add(out, ", %.0f %%, about %s to go", 100 * n->done,
			    ui_units_time(left, (uint64_t)(n->elapsed_s * 1e9 * (1 - n->done) /
							   n->done)));
}

/* update_progress adds up what was placed, if that was not done just now. */
static void update_progress(struct sim_progress *p, struct ms_run *run, uint64_t now_ns)
{
	struct ms_roce_stats roce;
	struct mt_stats core;
	uint64_t took;

	if (now_ns < p->looked_ns || p->bytes == 0)
		return;
	ms_run_stats(run, &core, &roce);
	p->done = (double)(core.rx_data_bytes + roce.rx_data_bytes) / (double)p->bytes;
	took = clock_ns() - now_ns;
	p->looked_ns = now_ns + took * LOOK_SHARE;
}

void sim_progress_show(struct sim_progress *p, struct ms_run *run)
{
	uint64_t now_ns = p->quiet ? 0 : clock_ns();
	struct sim_progress_now n = {0};
	struct ui_text line = {0};

	if (p->quiet || now_ns - p->shown_ns < (p->terminal ? TERMINAL_NS : LOG_NS))
		return;
	update_progress(p, run, now_ns);
	n.now_ps = ms_net_now_ps(run->net);
	n.hops = ms_net_hops(run->net);
	n.flows = ms_workload_flows(run->workload);
	n.flows_done = ms_nics_arrived(run->nics);
	n.done = p->done;
	n.elapsed_s = (double)(now_ns - p->began_ns) / 1e9;
	n.hops_per_s = (double)(n.hops - p->hops_before) * 1e9 / (double)(now_ns - p->hops_ns);
	p->hops_before = n.hops;
	p->hops_ns = now_ns;
	p->shown_ns = now_ns;
	sim_progress_line(&n, &line);
	if (p->terminal)
		fprintf(stderr, "\r\033[K%s", line.data);
	else
		fprintf(stderr, "%s\n", line.data);
	ui_text_fini(&line);
}

double sim_progress_end(struct sim_progress *p)
{
	if (!p->quiet && p->terminal)
		fprintf(stderr, "\r\033[K");
	return (double)(clock_ns() - p->began_ns) / 1e9;
}
