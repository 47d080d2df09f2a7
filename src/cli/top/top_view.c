/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen of `mrc top`: see top.h. */
#include "cli/top/top.h"

#include "cli/gid_text.h"
#include "ui/text.h"

#include <inttypes.h>
#include <string.h>

static double counter_rate(const struct stats_process *p, const char *counter)
{
	return stats_per_second(p, stats_counter(p->now, counter),
				stats_counter(p->before, counter));
}

static void put_count(struct ui_table *t, size_t row, size_t column, double n)
{
	char text[UI_UNITS_MAX];

	ui_table_cell(t, row, column, "%s", ui_units_count(text, n));
}

static void put_bits(struct ui_table *t, size_t row, size_t column, double bytes_per_s)
{
	char text[UI_UNITS_MAX];

	ui_table_cell(t, row, column, "%s", ui_units_bits(text, bytes_per_s * 8));
}

static uint32_t count_qps(const struct mrc_stats_segment *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MRC_STATS_QP_STATES; i++)
		n += s->qps.of_state[i];
	return n;
}

static void put_processes(const struct stats_reader *stats, struct ui_text *out)
{
	struct ui_table t = {.left = 1u << 1};

	ui_table_head(&t, "PID|COMMAND|QPS|SENT|RECEIVED|RETX/s|LOST/s|TRIM/s|TMO/s");
	if (stats->all)
		ui_table_cell(&t, 0, 9, "USER");
	for (uint32_t i = 0; i < stats->n; i++) {
		const struct stats_process *p = &stats->process[i];
		size_t row = i + 1;

		ui_table_cell(&t, row, 0, "%u", p->pid);
		ui_table_cell(&t, row, 1, "%s%s", p->command, p->gone ? " (ended)" : "");
		ui_table_cell(&t, row, 2, "%u", count_qps(p->now));
		put_bits(&t, row, 3, counter_rate(p, "tx_data_bytes"));
		put_bits(&t, row, 4, counter_rate(p, "rx_data_bytes"));
		put_count(&t, row, 5, counter_rate(p, "tx_retransmits"));
		put_count(&t, row, 6,
			  counter_rate(p, "lost_inferred") + counter_rate(p, "lost_timeout"));
		put_count(&t, row, 7, counter_rate(p, "rx_trimmed") + counter_rate(p, "rx_nacks"));
		put_count(&t, row, 8, counter_rate(p, "timeouts"));
		if (stats->all)
			ui_table_cell(&t, row, 9, "%u", p->uid);
	}
	ui_table_render(&t, out);
}

static void put_plane(struct ui_table *t, size_t row, const struct stats_process *p, uint32_t plane)
{
	const struct mrc_stats_port *now = &p->now->port[plane], *before = &p->before->port[plane];
	struct top_evs evs = top_evs_of_plane(p->now, plane);
	char address[CLI_PORT_MAX];

	ui_table_cell(t, row, 0, "%u", p->pid);
	ui_table_cell(t, row, 1, "%u", plane);
	ui_table_cell(t, row, 2, "%s", cli_address_port(address, now->address, now->interface));
	ui_table_cell(t, row, 3, "%s", now->up ? "up" : "DOWN");
	put_bits(t, row, 4, stats_per_second(p, now->tx_bytes, before->tx_bytes));
	put_bits(t, row, 5, stats_per_second(p, now->rx_bytes, before->rx_bytes));
	ui_table_cell(t, row, 6, "%u", evs.good);
	ui_table_cell(t, row, 7, "%u", evs.skip);
	ui_table_cell(t, row, 8, "%u", evs.bad + evs.denied);
	put_count(t, row, 9, stats_per_second(p, now->rx_overruns, before->rx_overruns));
}

static void put_planes(const struct stats_reader *stats, struct ui_text *out)
{
	struct ui_table t = {.left = 1u << 2 | 1u << 3};
	size_t row = 1;

	ui_table_head(&t, "PID|PLANE|ADDRESS||SENT|RECEIVED|GOOD|SKIP|BAD|DROP/s");
	for (uint32_t i = 0; i < stats->n; i++)
		for (uint32_t plane = 0; plane < stats->process[i].now->ports; plane++)
			put_plane(&t, row++, &stats->process[i], plane);
	ui_table_render(&t, out);
}

/* The same QP in the reading before, NULL when it is new: rows move when a QP goes. */
static const struct mrc_stats_qp *same_before(const struct stats_process *p, uint32_t qpn)
{
	for (uint32_t q = 0; q < MRC_STATS_QPS; q++)
		if (p->before->qp[q].qpn == qpn)
			return &p->before->qp[q];
	return NULL;
}

static void put_qp(struct ui_table *t, size_t row, const struct stats_process *p,
		   const struct mrc_stats_qp *qp)
{
	const struct mrc_stats_qp *before = same_before(p, qp->qpn);
	char address[CLI_ADDRESS_MAX], text[UI_UNITS_MAX];
	uint64_t psn = before ? before->psn_next : qp->psn_next;

	ui_table_cell(t, row, 0, "%u", p->pid);
	ui_table_cell(t, row, 1, "0x%06x", qp->qpn);
	ui_table_cell(t, row, 2, "%s", qp->dest_qpn ? cli_address_write(address, qp->dest) : "-");
	ui_table_cell(t, row, 3, "%s", qp->state);
	put_count(t, row, 4, stats_per_second(p, qp->psn_next, psn));
	if (qp->cwnd_bytes == UINT64_MAX)
		ui_table_cell(t, row, 5, "none");
	else
		put_count(t, row, 5, (double)qp->cwnd_bytes);
	put_count(t, row, 6, qp->inflight_bytes > 0 ? (double)qp->inflight_bytes : 0);
	ui_table_cell(t, row, 7, "%s", qp->srtt_ns ? ui_units_time(text, qp->srtt_ns) : "-");
	put_count(t, row, 8, qp->lost_pending);
	ui_table_cell(t, row, 9, "%u/%u", qp->evs_good, qp->evs_all);
}

/* What the segment has sums of, but no details. */
static void put_not_shown(const struct stats_process *p, struct ui_text *out)
{
	uint32_t all = count_qps(p->now);

	if (all > p->now->qps.shown)
		ui_text_add(out, "%u: %u QPs more, which are in the sums only\n", p->pid,
			    all - p->now->qps.shown);
	for (uint32_t q = 0; q < p->now->qps.shown; q++)
		if (p->now->qp[q].evs_all > p->now->qp[q].evs)
			ui_text_add(out, "%u: QP 0x%06x has %u EVs more, which are not shown\n",
				    p->pid, p->now->qp[q].qpn,
				    p->now->qp[q].evs_all - p->now->qp[q].evs);
}

/* The table and, behind each of its lines, the EVs of that QP. */
static void put_qps(const struct top_view *view, const struct stats_reader *stats,
		    struct ui_text *out)
{
	struct ui_table t = {.left = 1u << 1 | 1u << 2 | 1u << 3};
	struct ui_text lines = {0};
	const char *line;
	size_t row = 1;

	ui_table_head(&t, "PID|QP|PEER||PKT/s|CWND|FLIGHT|RTT|LOST|EVS");
	for (uint32_t i = 0; i < stats->n; i++)
		for (uint32_t q = 0; q < MRC_STATS_QPS; q++)
			if (stats->process[i].now->qp[q].qpn)
				put_qp(&t, row++, &stats->process[i],
				       &stats->process[i].now->qp[q]);
	ui_table_render(&t, &lines);
	line = lines.data;
	line += strcspn(line, "\n") + 1;
	ui_text_add(out, "%.*s", (int)(line - lines.data), lines.data);
	for (uint32_t i = 0; i < stats->n; i++) {
		for (uint32_t q = 0; q < MRC_STATS_QPS; q++) {
			const struct mrc_stats_qp *qp = &stats->process[i].now->qp[q];
			size_t n = strcspn(line, "\n") + 1;

			if (!qp->qpn)
				continue;
			ui_text_add(out, "%.*s", (int)n, line);
			line += n;
			top_evs_render(qp, view->colour, out);
			top_evs_name(qp, stats->process[i].now->gid, view->fabric, out);
		}
	}
	ui_text_fini(&lines);
	for (uint32_t i = 0; i < stats->n; i++)
		put_not_shown(&stats->process[i], out);
}

static void put_title(const struct top_view *view, const struct stats_reader *stats,
		      struct ui_text *out)
{
	uint32_t qps = 0;

	for (uint32_t i = 0; i < stats->n; i++)
		qps += count_qps(stats->process[i].now);
	ui_text_add(out, "mrc top  %u process%s  %u QP%s", stats->n, stats->n == 1 ? "" : "es", qps,
		    qps == 1 ? "" : "s");
	if (view->clock)
		ui_text_add(out, "  %s  (q quits)", view->clock);
	ui_text_add(out, "\n");
	if (stats->unreadable)
		ui_text_add(out, "%u more of other users, which may not be read\n",
			    stats->unreadable);
	if (stats->refused)
		ui_text_add(out,
			    "%u refused: not regular files of one user in a folder for him alone\n",
			    stats->refused);
	if (stats->unseen)
		ui_text_add(out, "%u more than can be shown\n", stats->unseen);
	if (stats->other_version)
		ui_text_add(out, "%u more of another version of softmrc\n", stats->other_version);
}

/* Cuts lines to the width and the whole to the height. */
static void put_cut(const struct top_view *view, const char *text, struct ui_text *out)
{
	uint32_t left = view->height ? view->height - 1 : UINT32_MAX, more = 0;
	struct ui_text line = {0};

	while (*text) {
		size_t n = strcspn(text, "\n");

		ui_text_clear(&line);
		ui_text_add(&line, "%.*s", (int)n, text);
		if (!left) {
			more++;
		} else if (view->height && ui_text_width(line.data) > view->width) {
			ui_text_pad(out, line.data, view->width);
			ui_text_add(out, "%s\n", view->colour ? "\033[0m" : "");
			left--;
		} else {
			ui_text_add(out, "%s\n", line.data);
			left--;
		}
		text += n + (text[n] == '\n');
	}
	if (more)
		ui_text_add(out, "(%u lines more than this window has)", more);
	ui_text_fini(&line);
}

void top_view_render(const struct top_view *view, const struct stats_reader *stats,
		     struct ui_text *out)
{
	struct ui_text whole = {0};

	put_title(view, stats, &whole);
	if (!stats->n) {
		ui_text_add(&whole, "\nno process has an MRC device open (%s is empty)\n",
			    stats->all ? MRC_STATS_DIR_PREFIX "*" : stats->dir);
	} else {
		ui_text_add(&whole, "\n");
		put_processes(stats, &whole);
		ui_text_add(&whole, "\n");
		put_planes(stats, &whole);
		ui_text_add(&whole, "\n");
		put_qps(view, stats, &whole);
	}
	put_cut(view, whole.data, out);
	ui_text_fini(&whole);
}
