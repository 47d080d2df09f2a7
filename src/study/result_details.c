/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run was: see study.h. */
#include "study/study.h"

#include "sim/scenario/scenario_keys.h"
#include "sim/workload/graph.h"

#include <stdio.h>
#include <string.h>

/* ---- parameters ---- */

/* value_json returns a value with its unit, as a number or text; NULL: an empty text. */
static json_t *value_json(const struct ms_key *k, const void *base)
{
	const char *at = (const char *)base + k->offset;
	uint64_t n;

	if (k->kind == MS_KEY_TEXT || k->kind == MS_KEY_LIST)
		return *at ? json_string(at) : NULL;
	if (k->kind == MS_KEY_BOOLEAN)
		return json_boolean(ms_key_number(k, base));
	if (k->kind == MS_KEY_REAL)
		return NULL; /* only what is expected has these */
	n = ms_key_number(k, base);
	if (k->kind == MS_KEY_WORD)
		return json_string(k->words[n]);
	if (k->kind == MS_KEY_SHARE)
		return json_real((double)n / MS_SHARE_ONE);
	if (k->kind == MS_KEY_TIME)
		return json_sprintf("%.10g us", (double)n / 1000);
	return json_integer((json_int_t)n);
}

/* is_said leaves out what is said elsewhere: outputs, expectations, faults. */
static bool is_said(const char *table)
{
	static const char *const others[] = {"output", "expect", "fault", "random", "topology"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(table, others[i]) == 0)
			return false;
	return true;
}

static void add_element(json_t *all, const struct ms_table *t, const struct ms_scenario *s,
			uint32_t element)
{
	const char *base = (const char *)s + t->offset + t->stride * element;

	for (size_t i = 0; i < t->n_keys; i++) {
		json_t *value = value_json(&t->keys[i], base);
		char name[96];

		if (t->max)
			snprintf(name, sizeof(name), "%s.%u.%s", t->name, element, t->keys[i].name);
		else
			snprintf(name, sizeof(name), "%s%s%s", t->name, t->name[0] ? "." : "",
				 t->keys[i].name);
		if (value)
			json_object_set_new(all, name, value);
	}
}

static void add_fabric(json_t *all, const struct mf_topology *t)
{
	const struct {
		const char *name;
		uint64_t value;
	} field[] = {{"topology.hosts", t->n_hosts},
		     {"topology.planes", t->cfg.planes},
		     {"topology.tiers", t->cfg.tiers},
		     {"topology.hosts_per_t0", t->cfg.hosts_per_t0},
		     {"topology.t0s", t->cfg.t0s},
		     {"topology.t1s", t->cfg.t1s},
		     {"links.host_t0.bit_s", t->cfg.links[MF_HOST_T0].bit_s},
		     {"links.t0_t1.bit_s", t->cfg.links[MF_T0_T1].bit_s},
		     {"topology.switch_ns", t->cfg.switch_ns}};

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		json_object_set_new(all, field[i].name, json_integer((json_int_t)field[i].value));
}

json_t *sim_details_parameters(const struct ms_scenario *s)
{
	json_t *all = json_object();
	size_t n;
	const struct ms_table *t = ms_scenario_tables(&n);

	add_fabric(all, &s->fabric);
	for (size_t i = 0; i < n; i++) {
		uint32_t elements = 1;

		if (!is_said(t[i].name))
			continue;
		if (t[i].max)
			memcpy(&elements, (const char *)s + t[i].count_offset, sizeof(elements));
		for (uint32_t k = 0; k < elements; k++)
			add_element(all, &t[i], s, k);
	}
	return all;
}

/* ---- faults ---- */

static json_t *fault_json(const struct ms_scenario_fault *f, bool random)
{
	json_t *one = json_pack("{s:s,s:s,s:f}", "kind", mf_fault_name((enum mf_fault_kind)f->kind),
				"target", f->target[0] ? f->target : ms_class_names[f->of], "at_us",
				(double)f->at_ns / 1000);

	if (f->for_ns)
		json_object_set_new(one, "for_us", json_real((double)f->for_ns / 1000));
	if (f->share)
		json_object_set_new(one, "share", json_real((double)f->share / MS_SHARE_ONE));
	if (f->period_ns)
		json_object_set_new(one, "period_us", json_real((double)f->period_ns / 1000));
	if (random)
		json_object_set_new(one, "between_us", json_real((double)f->between_ns / 1000));
	return one;
}

json_t *sim_details_faults(const struct ms_scenario *s)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < s->n_faults; i++)
		json_array_append_new(all, fault_json(&s->fault[i], false));
	for (uint32_t i = 0; i < s->n_randoms; i++)
		json_array_append_new(all, fault_json(&s->random[i], true));
	return all;
}

/* ---- completion times ---- */

static void add_point(json_t *share, json_t *us, const uint64_t *sorted_ns, uint32_t n,
		      uint32_t per_mille)
{
	json_array_append_new(share, json_real(per_mille / 1000.0));
	json_array_append_new(us, json_real((double)ms_percentile(sorted_ns, n, per_mille) / 1000));
}

json_t *sim_details_cdf(const uint64_t *sorted_ns, uint32_t n)
{
	json_t *share = json_array(), *us = json_array();

	for (uint32_t p = 0; n > 0 && p < 990; p += 10)
		add_point(share, us, sorted_ns, n, p);
	for (uint32_t p = 990; n > 0 && p <= 1000; p++)
		add_point(share, us, sorted_ns, n, p);
	return json_pack("{s:o,s:o}", "share", share, "us", us);
}
