/* SPDX-License-Identifier: BSD-2-Clause */
/* goodput_text.c - the long horizon for eyes. */
#include "study/study.h"

#include "ui/text.h"

static void add_packets(const json_t *r, struct ui_text *out)
{
	char step[UI_UNITS_MAX], exposed[UI_UNITS_MAX], said[UI_UNITS_MAX], was[UI_UNITS_MAX];

	ui_text_add(out, "%s: %s\n", sim_text_at(r, "scenario"), sim_text_at(r, "title"));
	ui_text_add(
		out, "packets: %.0f ranks, %.0f steps of %s, of which %s exposed\n",
		sim_number_at(r, "packets.ranks"), sim_number_at(r, "packets.steps"),
		ui_units_time(step, (uint64_t)(sim_number_at(r, "packets.step_us") * 1e3)),
		ui_units_time(exposed, (uint64_t)(sim_number_at(r, "packets.exposed_us") * 1e3)));
	if (sim_number_at(r, "packets.checked_faults") > 0)
		ui_text_add(
			out,
			"the model against packets: %.0f other faults, %s by the model, %s "
			"in packets: %+.2f %%\n",
			sim_number_at(r, "packets.checked_faults"),
			ui_units_time(said,
				      (uint64_t)(sim_number_at(r, "packets.predicted_us") * 1e3)),
			ui_units_time(was,
				      (uint64_t)(sim_number_at(r, "packets.checked_us") * 1e3)),
			100 * sim_number_at(r, "packets.error_share"));
}

static void add_rate(struct ui_table *t, size_t row, const json_t *r)
{
	ui_table_cell(t, row, 0, "%s", sim_text_at(r, "name"));
	ui_table_cell(t, row, 1, "%.3f", sim_number_at(r, "per_gpu"));
	ui_table_cell(t, row, 2, "%.3g h", sim_number_at(r, "mtbf_h"));
	sim_time_cell(t, row, 3, sim_number_at(r, "repair_s") * 1e9);
	if (!json_object_get(r, "slow") || json_is_true(json_object_get(r, "interrupts"))) {
		ui_table_cell(t, row, 4, "%s",
			      json_object_get(r, "slow") ? "interrupts" : sim_text_at(r, "effect"));
		return;
	}
	if (json_is_true(json_object_get(r, "stops")))
		ui_table_cell(t, row, 4, "stand still");
	else
		ui_table_cell(t, row, 4, "x %.4f", sim_number_at(r, "slow"));
	sim_time_cell(t, row, 5, sim_number_at(r, "onset_us") * 1e3);
	sim_time_cell(t, row, 6, sim_number_at(r, "recovery_us") * 1e3);
}

static void add_rates(const json_t *r, struct ui_text *out)
{
	const json_t *rates = json_object_get(r, "rates");
	struct ui_table t = {0};

	if (json_array_size(rates) == 0)
		return;
	ui_table_head(&t, "fault|of a GPU|mtbf|lasts|steps meanwhile|once|and after");
	for (size_t i = 0; i < json_array_size(rates); i++)
		add_rate(&t, i + 1, json_array_get(rates, i));
	ui_text_add(out, "\n");
	ui_table_render(&t, out);
}

static void add_point(struct ui_table *t, size_t row, const json_t *p)
{
	static const char *const shares[] = {"shares.stalled", "shares.slow", "shares.checkpoints",
					     "shares.lost", "shares.restarts"};

	ui_table_cell(t, row, 0, "%.0f", sim_number_at(p, "gpus"));
	if (json_is_null(json_object_get(p, "reconverge_s")))
		ui_table_cell(t, row, 1, "measured");
	else
		sim_time_cell(t, row, 1, sim_number_at(p, "reconverge_s") * 1e9);
	ui_table_cell(t, row, 2, "%.1f", sim_number_at(p, "faults_per_day"));
	ui_table_cell(t, row, 3, "%.2f", sim_number_at(p, "interruptions_per_day"));
	ui_table_cell(t, row, 4, "%.2f h", sim_number_at(p, "mtbi_h"));
	ui_table_cell(t, row, 5, "%.2f %%", 100 * sim_number_at(p, "goodput"));
	ui_table_cell(t, row, 6, "%.2f", 100 * sim_number_at(p, "goodput_error"));
	for (size_t i = 0; i < MS_COUNT(shares); i++)
		ui_table_cell(t, row, 7 + i, "%.2f %%", 100 * sim_number_at(p, shares[i]));
}

static void add_points(const json_t *r, struct ui_text *out)
{
	const json_t *points = json_object_get(r, "points");
	struct ui_table t = {0};

	ui_table_head(
		&t, "GPUs|round "
		    "it|faults/day|stops/day|between|goodput|+-|stalled|slow|saving|lost|restarts");
	for (size_t i = 0; i < json_array_size(points); i++)
		add_point(&t, i + 1, json_array_get(points, i));
	ui_text_add(out,
		    "\nstep-level model, fed by these packet runs: %.0f days, checkpoints of "
		    "%.0f s, restarts of %.0f s\n",
		    sim_number_at(r, "horizon_days"), sim_number_at(r, "checkpoint_s"),
		    sim_number_at(r, "restart_s"));
	ui_table_render(&t, out);
}

void sim_goodput_text(const json_t *result, struct ui_text *out)
{
	add_packets(result, out);
	add_rates(result, out);
	add_points(result, out);
	if (json_is_true(json_object_get(result, "partial")))
		ui_text_add(out, "interrupted: not all points have run\n");
}
