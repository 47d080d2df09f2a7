/* SPDX-License-Identifier: BSD-2-Clause */
/* long_text.c - the long horizon for eyes. */
#include "cli/sim/long.h"

#include "cli/sim/result.h"
#include "cli/table.h"
#include "cli/units.h"

static double number(const json_t *at, const char *path)
{
	double value = 0;

	return sim_result_figure(at, path, &value) ? value : 0;
}

static const char *word(const json_t *at, const char *name)
{
	const char *text = json_string_value(json_object_get(at, name));

	return text ? text : "";
}

static void time_cell(struct cli_table *t, size_t row, size_t column, double ns)
{
	char text[CLI_UNITS_MAX];

	cli_table_cell(t, row, column, "%s", cli_units_time(text, (uint64_t)(ns + 0.5)));
}

static void heads(struct cli_table *t, const char *const *head, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cli_table_cell(t, 0, i, "%s", head[i]);
}

static void add_packets(const json_t *r, struct cli_text *out)
{
	char step[CLI_UNITS_MAX], exposed[CLI_UNITS_MAX], said[CLI_UNITS_MAX], was[CLI_UNITS_MAX];

	cli_text_add(out, "%s: %s\n", word(r, "scenario"), word(r, "title"));
	cli_text_add(out, "packets: %.0f ranks, %.0f steps of %s, of which %s exposed\n",
		     number(r, "packets.ranks"), number(r, "packets.steps"),
		     cli_units_time(step, (uint64_t)(number(r, "packets.step_us") * 1e3)),
		     cli_units_time(exposed, (uint64_t)(number(r, "packets.exposed_us") * 1e3)));
	if (number(r, "packets.checked_faults") > 0)
		cli_text_add(
			out,
			"the model against packets: %.0f other faults, %s by the model, %s "
			"in packets: %+.2f %%\n",
			number(r, "packets.checked_faults"),
			cli_units_time(said, (uint64_t)(number(r, "packets.predicted_us") * 1e3)),
			cli_units_time(was, (uint64_t)(number(r, "packets.checked_us") * 1e3)),
			100 * number(r, "packets.error_share"));
}

static void add_rate(struct cli_table *t, size_t row, const json_t *r)
{
	cli_table_cell(t, row, 0, "%s", word(r, "name"));
	cli_table_cell(t, row, 1, "%.3f", number(r, "per_gpu"));
	cli_table_cell(t, row, 2, "%.3g h", number(r, "mtbf_h"));
	time_cell(t, row, 3, number(r, "repair_s") * 1e9);
	if (!json_object_get(r, "slow") || json_is_true(json_object_get(r, "interrupts"))) {
		cli_table_cell(t, row, 4, "%s",
			       json_object_get(r, "slow") ? "interrupts" : word(r, "effect"));
		return;
	}
	if (json_is_true(json_object_get(r, "stops")))
		cli_table_cell(t, row, 4, "stand still");
	else
		cli_table_cell(t, row, 4, "x %.4f", number(r, "slow"));
	time_cell(t, row, 5, number(r, "onset_us") * 1e3);
	time_cell(t, row, 6, number(r, "recovery_us") * 1e3);
}

static void add_rates(const json_t *r, struct cli_text *out)
{
	static const char *const head[] = {"fault",	      "of a GPU", "mtbf",     "lasts",
					   "steps meanwhile", "once",	  "and after"};
	const json_t *rates = json_object_get(r, "rates");
	struct cli_table t = {0};

	if (json_array_size(rates) == 0)
		return;
	heads(&t, head, sizeof(head) / sizeof(head[0]));
	for (size_t i = 0; i < json_array_size(rates); i++)
		add_rate(&t, i + 1, json_array_get(rates, i));
	cli_text_add(out, "\n");
	cli_table_render(&t, out);
	cli_table_fini(&t);
}

static void add_point(struct cli_table *t, size_t row, const json_t *p)
{
	static const char *const shares[] = {"shares.stalled", "shares.slow", "shares.checkpoints",
					     "shares.lost", "shares.restarts"};

	cli_table_cell(t, row, 0, "%.0f", number(p, "gpus"));
	if (json_is_null(json_object_get(p, "reconverge_s")))
		cli_table_cell(t, row, 1, "measured");
	else
		time_cell(t, row, 1, number(p, "reconverge_s") * 1e9);
	cli_table_cell(t, row, 2, "%.1f", number(p, "faults_per_day"));
	cli_table_cell(t, row, 3, "%.2f", number(p, "interruptions_per_day"));
	cli_table_cell(t, row, 4, "%.2f h", number(p, "mtbi_h"));
	cli_table_cell(t, row, 5, "%.2f %%", 100 * number(p, "goodput"));
	cli_table_cell(t, row, 6, "%.2f", 100 * number(p, "goodput_error"));
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		cli_table_cell(t, row, 7 + i, "%.2f %%", 100 * number(p, shares[i]));
}

static void add_points(const json_t *r, struct cli_text *out)
{
	static const char *const head[] = {"GPUs",    "round it", "faults/day", "stops/day",
					   "between", "goodput",  "+-",		"stalled",
					   "slow",    "saving",	  "lost",	"restarts"};
	const json_t *points = json_object_get(r, "points");
	struct cli_table t = {0};

	heads(&t, head, sizeof(head) / sizeof(head[0]));
	for (size_t i = 0; i < json_array_size(points); i++)
		add_point(&t, i + 1, json_array_get(points, i));
	cli_text_add(out,
		     "\nstep-level model, fed by these packet runs: %.0f days, checkpoints of "
		     "%.0f s, restarts of %.0f s\n",
		     number(r, "horizon_days"), number(r, "checkpoint_s"), number(r, "restart_s"));
	cli_table_render(&t, out);
	cli_table_fini(&t);
}

void sim_long_text(const json_t *result, struct cli_text *out)
{
	add_packets(result, out);
	add_rates(result, out);
	add_points(result, out);
	if (json_is_true(json_object_get(result, "partial")))
		cli_text_add(out, "broken off: not all points are there\n");
}
