/* SPDX-License-Identifier: BSD-2-Clause */
/* map_report.c - what came of an hour: see map_report.h. */
#include "study/map_report.h"

#include "sim/kernel/common.h"
#include "sim/run/step_model.h"
#include "sim/scenario/scenario_keys.h"
#include "study/study.h"

#include <stdlib.h>

#define MINUTE_NS UINT64_C(60000000000)
/* What is over sooner nobody has to name. */
#define SHORT_NS UINT64_C(500000000)

/* ---- JSON ---- */

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Times to the name of a class's faults, sorted; returns how many were named. */
static uint32_t times_of(const struct study_map_result *r, uint32_t class, uint64_t *time)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_faults; i++)
		if (r->fault[i].class == class && r->fault[i].named_ns)
			time[n++] = r->fault[i].named_ns - r->fault[i].at_ns;
	if (n)
		qsort(time, n, sizeof(*time), by_size);
	return n;
}

static json_t *ms_or_null(const uint64_t *time, uint32_t n, uint32_t per_mille)
{
	return n ? json_real((double)ms_percentile(time, n, per_mille) / 1e6) : json_null();
}

static json_t *class_json(const struct study_map_cfg *cfg, const struct study_map_result *r,
			  uint32_t class, uint64_t *time)
{
	const struct study_map_class *k = &cfg->classes[class];
	uint32_t faults = 0, over = 0, missed = 0, n = times_of(r, class, time);

	for (uint32_t i = 0; i < r->n_faults; i++) {
		const struct study_map_fault *f = &r->fault[i];
		uint64_t end = f->until_ns < r->passed_ns ? f->until_ns : r->passed_ns;

		if (f->class != class || f->at_ns >= r->passed_ns)
			continue;
		faults++;
		if (!f->named_ns && end - f->at_ns < SHORT_NS)
			over++;
		else if (!f->named_ns)
			missed++;
	}
	return json_pack("{s:s,s:s,s:f,s:s,s:i,s:i,s:i,s:i,s:o,s:o,s:o,s:f,s:f}", "name", k->name,
			 "of", ms_class_names[k->of], "loss", k->loss_ppm / 1e6, "source",
			 k->source, "faults", (int)faults, "named", (int)n, "over_before",
			 (int)over, "missed", (int)missed, "name_ms_p50", ms_or_null(time, n, 500),
			 "name_ms_p99", ms_or_null(time, n, 990), "name_ms_max",
			 ms_or_null(time, n, 1000), "slow", (double)k->slow / MS_STEPS_ONE,
			 "denied_slow", (double)k->denied_slow / MS_STEPS_ONE);
}

static json_t *classes_json(const struct study_map_cfg *cfg, const struct study_map_result *r)
{
	uint64_t *time = malloc((r->n_faults + (size_t)1) * sizeof(*time));
	json_t *classes = time ? json_array() : NULL;

	for (uint32_t c = 0; classes && c < cfg->n_classes; c++)
		json_array_append_new(classes, class_json(cfg, r, c, time));
	free(time);
	return classes;
}

/* Parts that were denied, or those among them that were not at fault. */
static uint32_t count_denials(const struct study_map_result *r, enum study_map_policy policy,
			      bool wrong)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_denials; i++)
		n += r->denial[i].policy == policy && (!wrong || r->denial[i].fault == UINT32_MAX);
	return n;
}

static json_t *policies_json(const struct study_map_cfg *cfg, const struct study_map_result *r)
{
	json_t *policies = json_array();

	for (enum study_map_policy p = 0; p < STUDY_MAP_POLICIES; p++) {
		json_t *minutes = json_array();
		uint64_t at = 0;

		for (; at + MINUTE_NS <= r->passed_ns; at += MINUTE_NS)
			json_array_append_new(
				minutes, json_real(study_map_pace(cfg, r, p, at, at + MINUTE_NS)));
		json_array_append_new(
			policies,
			json_pack("{s:s,s:f,s:i,s:i,s:o}", "name", study_map_policy_names[p],
				  "pace",
				  r->passed_ns ? study_map_pace(cfg, r, p, 0, r->passed_ns) : 1,
				  "denials", (int)count_denials(r, p, false), "wrong_denials",
				  (int)count_denials(r, p, true), "minutes", minutes));
	}
	return policies;
}

static json_t *probes_json(const struct study_map_cfg *cfg, const struct study_map_result *r)
{
	struct mm_plan_cfg plan = {
		.watchers = cfg->watchers,
		.interval_ns = MM_PROBE_STEP_NS,
		.bytes = MM_PROBE_PAIR * MM_PROBE_WIRE_BYTES +
			 (cfg->t->cfg.mtu - MM_PROBE_WIRE_BYTES) / MM_PROBE_FULL_EVERY,
		.bit_s_max = UINT64_MAX / 1000000000,
	};
	struct mm_plan_load most = mm_plan_load_of(&plan, r->routes_most);
	double mean = (double)r->routes / cfg->t->n_hosts;

	return json_pack("{s:I,s:f,s:I,s:I,s:f,s:i,s:I,s:I}", "routes", (json_int_t)r->routes,
			 "host_routes_mean", mean, "host_routes_most", (json_int_t)r->routes_most,
			 "host_probes_s_most", (json_int_t)(MM_PROBE_PAIR * most.probes_s),
			 "host_bit_s_most", (double)most.bit_s, "background_ppb",
			 (int)cfg->background_ppb, "reports", (json_int_t)r->reports, "judgements",
			 (json_int_t)r->judgements);
}

json_t *study_map_json(const struct ms_scenario *s, const struct study_map_cfg *cfg,
		       const struct study_map_result *r)
{
	return json_pack(
		"{s:s,s:s,s:s,s:I,s:I,s:f,s:b,s:o,s:i,s:i,s:o,s:o}", "scenario", s->name, "title",
		s->head.title, "model",
		"outcomes of probes are drawn, no packets; effects on a job by packet runs", "seed",
		(json_int_t)cfg->seed, "nics", (json_int_t)cfg->t->n_hosts, "seconds",
		(double)r->passed_ns / 1e9, "partial",
		r->passed_ns + MM_PROBE_STEP_NS < cfg->horizon_ns, "probes", probes_json(cfg, r),
		"misnamed", (int)r->misnamed, "false_accusations", (int)r->false_accusations,
		"classes", classes_json(cfg, r), "policies", policies_json(cfg, r));
}

/* ---- for eyes ---- */

static void ms_cell(struct ui_table *t, size_t row, size_t column, const json_t *c, const char *key)
{
	if (!json_is_null(json_object_get(c, key)))
		sim_time_cell(t, row, column, sim_number_at(c, key) * 1e6);
}

static void add_class(struct ui_table *t, size_t row, const json_t *c)
{
	ui_table_cell(t, row, 0, "%s", sim_text_at(c, "name"));
	ui_table_cell(t, row, 1, "%.0f", sim_number_at(c, "faults"));
	ui_table_cell(t, row, 2, "%.0f", sim_number_at(c, "named"));
	ui_table_cell(t, row, 3, "%.0f", sim_number_at(c, "over_before"));
	ui_table_cell(t, row, 4, "%.0f", sim_number_at(c, "missed"));
	ms_cell(t, row, 5, c, "name_ms_p50");
	ms_cell(t, row, 6, c, "name_ms_p99");
	ms_cell(t, row, 7, c, "name_ms_max");
	ui_table_cell(t, row, 8, "x %.4f", sim_number_at(c, "slow"));
	ui_table_cell(t, row, 9, "x %.4f", sim_number_at(c, "denied_slow"));
}

static void add_policies(const json_t *result, struct ui_text *out)
{
	const json_t *policies = json_object_get(result, "policies");
	struct ui_table t = {0};

	ui_table_head(&t, "what is done|pace of a job|denials|wrong ones");
	for (size_t i = 0; i < json_array_size(policies); i++) {
		const json_t *p = json_array_get(policies, i);

		ui_table_cell(&t, i + 1, 0, "%s", sim_text_at(p, "name"));
		ui_table_cell(&t, i + 1, 1, "%.2f %%", 100 * sim_number_at(p, "pace"));
		ui_table_cell(&t, i + 1, 2, "%.0f", sim_number_at(p, "denials"));
		ui_table_cell(&t, i + 1, 3, "%.0f", sim_number_at(p, "wrong_denials"));
	}
	ui_text_add(out, "\n");
	ui_table_render(&t, out);
}

void study_map_text(const json_t *r, struct ui_text *out)
{
	const json_t *classes = json_object_get(r, "classes");
	char rate[UI_UNITS_MAX];
	struct ui_table t = {0};

	ui_text_add(out, "%s: %s\n", sim_text_at(r, "scenario"), sim_text_at(r, "title"));
	ui_text_add(out,
		    "%.0f NICs, %.0f s; %.0f routes, at most %.0f of a NIC, each two probes in "
		    "10 ms: %.0f probes/s, %s\n",
		    sim_number_at(r, "nics"), sim_number_at(r, "seconds"),
		    sim_number_at(r, "probes.routes"), sim_number_at(r, "probes.host_routes_most"),
		    sim_number_at(r, "probes.host_probes_s_most"),
		    ui_units_bits(rate, sim_number_at(r, "probes.host_bit_s_most")));
	ui_text_add(out,
		    "false accusations: %.0f; another part named beside one at fault: %.0f\n\n",
		    sim_number_at(r, "false_accusations"), sim_number_at(r, "misnamed"));
	ui_table_head(&t, "faults|came|named|over before|missed|named after|99 %|at most|steps "
			  "meanwhile|when denied");
	for (size_t i = 0; i < json_array_size(classes); i++)
		add_class(&t, i + 1, json_array_get(classes, i));
	ui_table_render(&t, out);
	add_policies(r, out);
	if (json_is_true(json_object_get(r, "partial")))
		ui_text_add(out, "interrupted: the hour is not over\n");
}
