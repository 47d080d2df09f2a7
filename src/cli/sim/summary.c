/* SPDX-License-Identifier: BSD-2-Clause */
/* summary.c - a result for eyes. */
#include "cli/sim/result.h"

#include "cli/sim/job.h"
#include "cli/table.h"
#include "cli/units.h"

#include <string.h>

static double number(const json_t *result, const char *path)
{
	double value = 0;

	return sim_result_figure(result, path, &value) ? value : 0;
}

static const char *text(const json_t *result, const char *name)
{
	const char *value = json_string_value(json_object_get(result, name));

	return value ? value : "";
}

static void add_head(const json_t *r, struct cli_text *out)
{
	char rate[CLI_UNITS_MAX], rss[CLI_UNITS_MAX], hops[CLI_UNITS_MAX], cpu[CLI_UNITS_MAX];

	cli_text_add(out, "%s: %s\n", text(r, "scenario"), text(r, "state"));
	cli_text_add(out, "%.0f hosts on %.0f planes, seed %.0f; %.3f us simulated in %.2f s\n",
		     number(r, "hosts"), number(r, "planes"), number(r, "seed"),
		     number(r, "simulated_us"), number(r, "wall_s"));
	cli_text_add(out, "%s hops, %s hops/s on %.0f thread%s (%s a second of CPU), %s\n",
		     cli_units_count(hops, number(r, "hops")),
		     cli_units_count(rate, number(r, "hops_per_s")), number(r, "threads"),
		     number(r, "threads") > 1 ? "s" : "",
		     cli_units_count(cpu, number(r, "hops_per_cpu_s")),
		     cli_units_bytes(rss, (uint64_t)number(r, "peak_rss_bytes")));
}

static void add_flows(const json_t *r, struct cli_text *out)
{
	cli_text_add(out, "%.0f flows, %.0f unfinished", number(r, "flows"),
		     number(r, "flows_unfinished"));
	cli_text_add(out, "; completion p50 %.3f us, p99 %.3f us, slowest %.3f us",
		     number(r, "fct_us.p50"), number(r, "fct_us.p99"), number(r, "fct_us.p100"));
	if (number(r, "ideal_us") > 0)
		cli_text_add(out, "; ideal %.3f us, over it %.3f", number(r, "ideal_us"),
			     number(r, "over_ideal"));
	cli_text_add(out,
		     "\n%.0f packets: %.0f data, %.0f sent again, %.0f marked, %.0f cut, %.0f "
		     "dropped\n",
		     number(r, "packets"), number(r, "data_packets"), number(r, "retransmits"),
		     number(r, "ecn_marks"), number(r, "trims"), number(r, "drops"));
}

/* add_roce shows what RoCE alone does. */
static void add_roce(const json_t *r, struct cli_text *out)
{
	if (!json_object_get(r, "roce"))
		return;
	cli_text_add(out,
		     "RoCE: %.0f ACKs, %.0f NAKs, %.0f CNPs, %.0f timeouts, %.0f QPs dead; %.0f "
		     "flows failed\n",
		     number(r, "roce.tx_acks"), number(r, "roce.tx_naks"),
		     number(r, "roce.tx_cnps"), number(r, "roce.timeouts"),
		     number(r, "roce.qps_dead"), number(r, "flows_failed"));
}

static void add_pfc(const json_t *r, struct cli_text *out)
{
	if (json_object_get(r, "pfc"))
		cli_text_add(out, "PFC: %.0f pauses, %.0f ports paused, together for %.3f us\n",
			     number(r, "pfc.pauses"), number(r, "pfc.ports_paused"),
			     number(r, "pfc.paused_us"));
}

/* add_parts shows the parts of a workload that has several. */
static void add_parts(const json_t *r, struct cli_text *out)
{
	const json_t *parts = json_object_get(r, "parts");
	struct cli_table table = {0};

	if (json_array_size(parts) < 2)
		return;
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *p = json_array_get(parts, i);

		cli_table_cell(&table, i, 0, "%s", text(p, "kind"));
		cli_table_cell(&table, i, 1, "%.0f flows", number(p, "flows"));
		cli_table_cell(&table, i, 2, "p50 %.3f us", number(p, "fct_us.p50"));
		cli_table_cell(&table, i, 3, "slowest %.3f us", number(p, "fct_us.p100"));
		cli_table_cell(&table, i, 4, "%.1f %% of line rate on average",
			       100 * number(p, "rate_share.mean"));
		if (number(p, "graph_us") > 0)
			cli_table_cell(&table, i, 5, "all over at %.3f us", number(p, "graph_us"));
	}
	cli_table_render(&table, out);
	cli_table_fini(&table);
}

void sim_result_text(const json_t *result, struct cli_text *out)
{
	const json_t *waiting = json_object_get(result, "waiting");

	add_head(result, out);
	add_flows(result, out);
	add_roce(result, out);
	add_pfc(result, out);
	add_parts(result, out);
	sim_jobs_text(result, out);
	for (size_t i = 0; i < json_array_size(waiting); i++)
		cli_text_add(out, "%s\n", json_string_value(json_array_get(waiting, i)));
	if (text(result, "complaint")[0])
		cli_text_add(out, "the checker: %s\n", text(result, "complaint"));
	if (!json_is_true(json_object_get(result, "packets_accounted_for")))
		cli_text_add(out, "the checker: packets are not accounted for\n");
}
