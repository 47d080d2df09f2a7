/* SPDX-License-Identifier: BSD-2-Clause */
/* result_summary.c - a result for eyes, and what all results share that are shown. */
#include "study/study.h"
#include "study/study_verbs.h"

#include "base/printable.h"
#include "ui/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double sim_number_at(const json_t *result, const char *path)
{
	double value = 0;

	return sim_result_figure(result, path, &value) ? value : 0;
}

const char *sim_text_at(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

json_t *sim_text_json(const char *bytes)
{
	json_t *text = json_string(bytes);
	char *copy;

	if (text)
		return text;
	copy = strdup(bytes);
	if (!copy)
		return NULL;
	text = json_string(mb_printable(copy, strlen(copy) + 1));
	free(copy);
	return text;
}

json_t *sim_number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

void sim_time_cell(struct ui_table *t, size_t row, size_t column, double ns)
{
	char text[UI_UNITS_MAX];

	ui_table_cell(t, row, column, "%s", ui_units_time(text, (uint64_t)(ns + 0.5)));
}

int sim_write_result(const char *who, const json_t *result, const char *json,
		     void (*show)(const json_t *result, struct ui_text *out))
{
	const size_t how = JSON_INDENT(2) | JSON_REAL_PRECISION(12);
	const bool file = json && json[0];
	struct ui_text text = {0};

	if (!result) {
		fprintf(stderr, "%s: no memory for the result\n", who);
		return SIM_EXIT_FAILED;
	}
	if (!json || file) {
		show(result, &text);
		ui_text_print(&text, stdout);
	}
	errno = EIO; /* jansson leaves it where it has none of its own */
	if (file ? json_dump_file(result, json, how) : json && json_dumpf(result, stdout, how)) {
		fprintf(stderr, "%s: %s: cannot be written: %s\n", who, file ? json : "the result",
			strerror(errno));
		return SIM_EXIT_FAILED;
	}
	if (json && !file)
		putchar('\n');
	return SIM_EXIT_GOOD;
}

static void add_head(const json_t *r, struct ui_text *out)
{
	char rate[UI_UNITS_MAX], rss[UI_UNITS_MAX], hops[UI_UNITS_MAX], cpu[UI_UNITS_MAX];

	ui_text_add(out, "%s: %s\n", sim_text_at(r, "scenario"), sim_text_at(r, "state"));
	ui_text_add(out, "%.0f hosts on %.0f planes, seed %.0f; %.3f us simulated in %.2f s\n",
		    sim_number_at(r, "hosts"), sim_number_at(r, "planes"), sim_number_at(r, "seed"),
		    sim_number_at(r, "simulated_us"), sim_number_at(r, "wall_s"));
	ui_text_add(out, "%s hops, %s hops/s on %.0f thread%s (%s a second of CPU), %s\n",
		    ui_units_count(hops, sim_number_at(r, "hops")),
		    ui_units_count(rate, sim_number_at(r, "hops_per_s")),
		    sim_number_at(r, "threads"), sim_number_at(r, "threads") > 1 ? "s" : "",
		    ui_units_count(cpu, sim_number_at(r, "hops_per_cpu_s")),
		    ui_units_bytes(rss, (uint64_t)sim_number_at(r, "peak_rss_bytes")));
}

static void add_flows(const json_t *r, struct ui_text *out)
{
	ui_text_add(out, "%.0f flows, %.0f unfinished", sim_number_at(r, "flows"),
		    sim_number_at(r, "flows_unfinished"));
	ui_text_add(out, "; completion p50 %.3f us, p99 %.3f us, slowest %.3f us",
		    sim_number_at(r, "fct_us.p50"), sim_number_at(r, "fct_us.p99"),
		    sim_number_at(r, "fct_us.p100"));
	if (sim_number_at(r, "ideal_us") > 0)
		ui_text_add(out, "; ideal %.3f us, over it %.3f", sim_number_at(r, "ideal_us"),
			    sim_number_at(r, "over_ideal"));
	ui_text_add(out,
		    "\n%.0f packets: %.0f data, %.0f sent again, %.0f marked, %.0f cut, %.0f "
		    "dropped\n",
		    sim_number_at(r, "packets"), sim_number_at(r, "data_packets"),
		    sim_number_at(r, "retransmits"), sim_number_at(r, "ecn_marks"),
		    sim_number_at(r, "trims"), sim_number_at(r, "drops"));
}

/* add_roce shows what RoCE alone does. */
static void add_roce(const json_t *r, struct ui_text *out)
{
	if (!json_object_get(r, "roce"))
		return;
	ui_text_add(out,
		    "RoCE: %.0f ACKs, %.0f NAKs, %.0f CNPs, %.0f timeouts, %.0f QPs dead; %.0f "
		    "flows failed\n",
		    sim_number_at(r, "roce.tx_acks"), sim_number_at(r, "roce.tx_naks"),
		    sim_number_at(r, "roce.tx_cnps"), sim_number_at(r, "roce.timeouts"),
		    sim_number_at(r, "roce.qps_dead"), sim_number_at(r, "flows_failed"));
}

static void add_pfc(const json_t *r, struct ui_text *out)
{
	if (json_object_get(r, "pfc"))
		ui_text_add(out, "PFC: %.0f pauses, %.0f ports paused, together for %.3f us\n",
			    sim_number_at(r, "pfc.pauses"), sim_number_at(r, "pfc.ports_paused"),
			    sim_number_at(r, "pfc.paused_us"));
}

/* add_parts shows the parts of a workload that has several. */
static void add_parts(const json_t *r, struct ui_text *out)
{
	const json_t *parts = json_object_get(r, "parts");
	struct ui_table table = {0};

	if (json_array_size(parts) < 2)
		return;
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *p = json_array_get(parts, i);

		ui_table_cell(&table, i, 0, "%s", sim_text_at(p, "kind"));
		ui_table_cell(&table, i, 1, "%.0f flows", sim_number_at(p, "flows"));
		ui_table_cell(&table, i, 2, "p50 %.3f us", sim_number_at(p, "fct_us.p50"));
		ui_table_cell(&table, i, 3, "slowest %.3f us", sim_number_at(p, "fct_us.p100"));
		ui_table_cell(&table, i, 4, "%.1f %% of line rate on average",
			      100 * sim_number_at(p, "rate_share.mean"));
		if (sim_number_at(p, "graph_us") > 0)
			ui_table_cell(&table, i, 5, "all over at %.3f us",
				      sim_number_at(p, "graph_us"));
	}
	ui_table_render(&table, out);
}

void sim_result_text(const json_t *result, struct ui_text *out)
{
	const json_t *waiting = json_object_get(result, "waiting");

	add_head(result, out);
	add_flows(result, out);
	add_roce(result, out);
	add_pfc(result, out);
	add_parts(result, out);
	sim_jobs_text(result, out);
	for (size_t i = 0; i < json_array_size(waiting); i++)
		ui_text_add(out, "%s\n", json_string_value(json_array_get(waiting, i)));
	if (sim_text_at(result, "violation")[0])
		ui_text_add(out, "the checker: %s\n", sim_text_at(result, "violation"));
	if (!json_is_true(json_object_get(result, "packets_accounted_for")))
		ui_text_add(out, "the checker: packets are not accounted for\n");
}
