/* SPDX-License-Identifier: BSD-2-Clause */
/* What `mrc stat` prints for eyes, and the catalogue: see stat.h. */
#include "cli/stat/stat.h"

#include "cli/gid_text.h"
#include "ui/verb.h"

#include <inttypes.h>
#include <string.h>

static uint64_t number_of(const struct stat_view *view, const struct stats_process *p,
			  const struct stats_metric *m, struct stats_metric_index index)
{
	uint64_t now = 0, before = 0;

	if (!stats_metric_read(m, p->now, index, &now))
		return 0;
	if (view->growth && m->type == STATS_COUNTER &&
	    stats_metric_read(m, p->before, index, &before) && before <= now)
		now -= before;
	return now;
}

/* Shown with the unit that suits it. */
static bool is_time(const struct stats_metric *m)
{
	return m->per_unit != 1 && m->type == STATS_GAUGE;
}

static void put_number(struct ui_table *t, size_t row, size_t column, const struct stats_metric *m,
		       uint64_t value)
{
	char text[UI_UNITS_MAX];

	if (m->per_unit == 1)
		ui_table_cell(t, row, column, "%" PRIu64, value);
	else if (is_time(m))
		ui_table_cell(t, row, column, "%s", value ? ui_units_time(text, value) : "-");
	else
		ui_table_cell(t, row, column, "%.3f", (double)value / (double)m->per_unit);
}

static void put_counters(const struct stat_view *view, const struct stats_process *p,
			 struct ui_text *out)
{
	struct ui_table t = {.left = 1u << 2};
	const struct stats_metric *m;
	struct ui_text lines = {0};
	const char *line;
	size_t row = 0;

	for (size_t i = 0; (m = stats_metric(i)); i++) {
		uint64_t value = number_of(view, p, m, (struct stats_metric_index){0, 0});

		if (m->of != STATS_OF_PROCESS || (value == 0 && !view->zeros))
			continue;
		ui_table_cell(&t, row, 0, "%s", m->name);
		put_number(&t, row, 1, m, value);
		ui_table_cell(&t, row++, 2, "%s", is_time(m) ? "" : stats_metric_unit(m));
	}
	/* The meanings are longer than a cell. */
	ui_table_render(&t, &lines);
	line = row ? lines.data : "";
	for (size_t i = 0; (m = stats_metric(i)) && *line; i++) {
		uint64_t value = number_of(view, p, m, (struct stats_metric_index){0, 0});
		size_t n = strcspn(line, "\n");

		if (m->of != STATS_OF_PROCESS || (value == 0 && !view->zeros))
			continue;
		ui_text_add(out, "  %.*s  %s\n", (int)n, line, m->meaning);
		line += n + (line[n] == '\n');
	}
	ui_text_fini(&lines);
}

static void put_qps(const struct stats_process *p, struct ui_text *out)
{
	const struct mrc_stats_qps *qps = &p->now->qps;
	const char *between = "";
	uint64_t all = 0;

	ui_text_add(out, "  QPs: ");
	for (uint32_t i = 0; i < STATS_QP_STATES; i++) {
		all += qps->of_state[i];
		if (!qps->of_state[i])
			continue;
		ui_text_add(out, "%s%u %s", between, qps->of_state[i], stats_qp_state_name(i));
		between = ", ";
	}
	ui_text_add(out, all ? "" : "none");
	if (all > qps->shown)
		ui_text_add(out, "; details of %u only (mrc top)", qps->shown);
	ui_text_add(out, "\n");
}

static void put_plane(struct ui_table *t, const struct stat_view *view,
		      const struct stats_process *p, uint32_t plane)
{
	static const char *const columns[] = {"plane_tx_packets",	"plane_rx_packets",
					      "plane_rx_overruns",	"plane_tx_refused",
					      "plane_evs_retired",	"plane_evs_revived",
					      "plane_ev_outage_seconds"};
	const struct mrc_stats_port *port = &p->now->port[plane];
	char address[CLI_PORT_MAX];
	size_t row = plane + 1;

	ui_table_cell(t, row, 0, "%u", plane);
	ui_table_cell(t, row, 1, "%s", cli_address_port(address, port->address, port->interface));
	ui_table_cell(t, row, 2, "%s", port->up ? "up" : "DOWN");
	for (size_t i = 0; i < UI_COUNT(columns); i++) {
		const struct stats_metric *m = stats_metric_find(columns[i]);

		put_number(t, row, 3 + i, m,
			   number_of(view, p, m, (struct stats_metric_index){plane, 0}));
	}
	for (uint32_t state = 0; state < STATS_EV_STATES; state++)
		ui_table_cell(t, row, 3 + UI_COUNT(columns) + state, "%u", port->evs[state]);
}

static void put_planes(const struct stat_view *view, const struct stats_process *p,
		       struct ui_text *out)
{
	struct ui_table t = {.left = 1u << 1 | 1u << 2};
	uint32_t busiest = 0, idlest = 0;
	double imbalance =
		stats_plane_imbalance(p->now, view->growth ? p->before : NULL, &busiest, &idlest);

	ui_table_head(&t, "PLANE|ADDRESS||SENT|RECEIVED|OVERRUN|REFUSED|RETIRED|REVIVED|OUTAGE s|"
			  "GOOD|SKIP|BAD|DENIED");
	for (uint32_t plane = 0; plane < p->now->ports; plane++)
		put_plane(&t, view, p, plane);
	ui_table_render(&t, out);
	if (imbalance >= 0)
		ui_text_add(out,
			    "  planes: imbalance %.1f %%: plane %u sent most, plane %u least\n",
			    100 * imbalance, busiest, idlest);
}

static void put_evs(const struct stat_view *view, const struct stats_process *p,
		    struct ui_text *out)
{
	struct stat_ev ev[STAT_EVS_MAX];
	size_t n = stat_evs_find(p->now, view->fabric, ev);
	char number[UI_UNITS_MAX];

	for (size_t i = 0; i < n && i < STAT_EVS_MAX; i++)
		ui_text_add(out, "  EV %s of plane %u is %s, of %u QP%s%s%s\n",
			    ui_units_ev(number, ev[i].ev.value), ev[i].ev.port,
			    stats_ev_state_name(ev[i].ev.state), ev[i].qps,
			    ev[i].qps == 1 ? "" : "s", ev[i].cable[0] ? ": " : "", ev[i].cable);
	if (n > STAT_EVS_MAX)
		ui_text_add(out, "  more EVs are out of use\n");
}

static void put_process(const struct stat_view *view, const struct stats_process *p,
			struct ui_text *out)
{
	ui_text_add(out, "process %u (%s), user %u, device mrc%u%s\n", p->pid, p->command, p->uid,
		    p->device, p->gone ? ": ended" : "");
	put_qps(p, out);
	put_planes(view, p, out);
	put_evs(view, p, out);
	put_counters(view, p, out);
}

void stat_text_render(const struct stat_view *view, const struct stats_reader *stats,
		      struct ui_text *out)
{
	for (uint32_t i = 0; i < stats->n; i++) {
		if (i)
			ui_text_add(out, "\n");
		put_process(view, &stats->process[i], out);
	}
	if (!stats->n)
		ui_text_add(out, "no process has an MRC device open (%s is empty)\n",
			    stats->all ? MRC_STATS_DIR_PREFIX "*" : stats->dir);
	if (stats->unreadable)
		ui_text_add(out, "%u more of other users, which may not be read\n",
			    stats->unreadable);
	if (stats->refused)
		ui_text_add(out,
			    "%u refused: not regular files of one user in a folder that only "
			    "he writes to\n",
			    stats->refused);
	if (stats->unseen)
		ui_text_add(out, "%u more than can be shown\n", stats->unseen);
	if (stats->other_version)
		ui_text_add(out, "%u more of another version of softmrc\n", stats->other_version);
}

/* ---- the catalogue ---- */

static const char *of_text(enum stats_metric_of of)
{
	static const char *const text[] = {
		[STATS_OF_PROCESS] = "process",
		[STATS_OF_PLANE] = "plane",
		[STATS_OF_EV_STATE] = "plane, state of EVs",
		[STATS_OF_QP_STATE] = "state of QPs",
	};

	return text[of];
}

void stat_catalogue_render(struct ui_text *out)
{
	const struct stats_metric *m;

	ui_text_add(out, "| name | type | unit | for each | meaning |\n|---|---|---|---|---|\n");
	for (size_t i = 0; (m = stats_metric(i)); i++)
		ui_text_add(out, "| `%s` | %s | %s | %s | %s |\n", m->name,
			    m->type == STATS_COUNTER ? "counter" : "gauge", stats_metric_unit(m),
			    of_text(m->of), m->meaning);
}
