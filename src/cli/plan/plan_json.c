/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan for programs: see plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "fabric/plan.h"

static json_t *figures_json(const struct plan_figures *all, double nics)
{
	json_t *out = json_object(), *per_nic = json_object();

	for (size_t i = 0; i < all->n; i++) {
		const struct plan_figure *f = &all->figure[i];
		bool whole = f->unit == PLAN_PIECES && f->value == (double)(json_int_t)f->value;

		json_object_set_new(out, f->key,
				    whole ? json_integer((json_int_t)f->value)
					  : json_real(f->value));
		if (f->per_nic)
			json_object_set_new(per_nic, f->key, json_real(f->value / nics));
	}
	json_object_set_new(out, "per_nic", per_nic);
	return out;
}

static json_t *losses_json(const struct mf_topology *t, const struct mf_rates *r)
{
	json_t *all = json_array();

	for (int i = 0; i < MF_COMPONENTS; i++) {
		struct mf_plan_loss loss = mf_plan_loss(t, r, (enum mf_component)i);

		if (loss.present)
			json_array_append_new(
				all, json_pack("{s:s,s:I,s:I,s:f,s:f,s:b}", "component",
					       mf_component_name((enum mf_component)i), "count",
					       (json_int_t)loss.count, "nics_hit",
					       (json_int_t)loss.nics, "loss", loss.bare, "held_to",
					       loss.held, "cut_off", loss.cut_off));
	}
	return all;
}

static json_t *fabric_json(const struct mf_topology *t, const struct mf_rates *r)
{
	struct plan_figures figures;
	json_t *out;

	plan_figures_make(&figures, t, r);
	out = figures_json(&figures, t->n_hosts);
	json_object_set_new(out, "name", json_string(t->cfg.name));
	json_object_set_new(out, "losses", losses_json(t, r));
	return out;
}

static json_t *rates_json(const struct mf_rates *r)
{
	json_t *all = json_array();
	char value[MF_RATE_TEXT];

	for (size_t i = 0; i < mf_rates_count(); i++) {
		struct mf_rate_about about = mf_rates_about(r, i, value);

		json_array_append_new(all, json_pack("{s:s,s:s,s:s,s:s,s:b}", "key", about.key,
						     "value", value, "what", about.what, "source",
						     about.source, "assumed", about.assumed));
	}
	return all;
}

json_t *plan_report_json(const struct mf_topology *t, const struct mf_topology *against,
			 const struct mf_rates *r)
{
	json_t *out = json_pack("{s:i,s:o,s:o}", "version", 1, "plan", fabric_json(t, r), "rates",
				rates_json(r));

	if (against)
		json_object_set_new(out, "against", fabric_json(against, r));
	return out;
}
