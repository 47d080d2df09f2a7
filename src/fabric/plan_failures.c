/* SPDX-License-Identifier: BSD-2-Clause */
/* Expected failures: see plan.h. */
#include "fabric/plan.h"

#define DAYS_A_YEAR 365.0
#define YEAR_NS (DAYS_A_YEAR * 86400e9)

/* Times a year that n things are all down at once; each fails `rate` times and is down `share`. */
static double overlap_probability(uint32_t n, double rate, double share)
{
	double times = n * rate;

	for (uint32_t i = 1; i < n; i++)
		times *= share;
	return times;
}

/* How often, in a year, and how many NICs, times a year, are cut off. */
struct cut {
	double events, nics;
};

static void add_failure(struct cut *c, double times_a_year, double places, double nics_each)
{
	c->events += times_a_year * places;
	c->nics += times_a_year * places * nics_each;
}

/*
 * The T0s with one number, one in each plane, serve the same NICs; so do the modules with one
 * number in them. So it is enough to ask for each number whether all planes are down at once:
 * because of the T0s alone, or with modules among the reasons.
 */
static void cut_by_planes(const struct mf_topology *t, const struct mf_rates *r, struct cut *c)
{
	uint32_t modules = mf_module_count(t, r, MF_HOST_T0, t->cfg.hosts_per_t0);
	double switch_down = r->switch_failures * (double)r->switch_repair_ns / YEAR_NS;
	double module_down = r->module_failures * (double)r->module_repair_ns / YEAR_NS;
	double by_t0s = overlap_probability(t->cfg.planes, r->switch_failures, switch_down);
	double by_any = overlap_probability(t->cfg.planes, r->switch_failures + r->module_failures,
					    switch_down + module_down);

	add_failure(c, by_t0s, t->n_t0s, t->cfg.hosts_per_t0);
	if (modules)
		add_failure(c, by_any - by_t0s, (double)t->n_t0s * modules,
			    (double)t->cfg.hosts_per_t0 / modules);
}

static void cut_by_nics(const struct mf_topology *t, const struct mf_rates *r, struct cut *c)
{
	uint32_t modules = mf_module_count(t, r, MF_HOST_T0, t->cfg.planes);
	double module_down = r->module_failures * (double)r->module_repair_ns / YEAR_NS;

	add_failure(c, r->nic_failures, t->n_hosts, 1);
	if (modules)
		add_failure(c, overlap_probability(modules, r->module_failures, module_down),
			    t->n_hosts, 1);
}

struct mf_plan_failures mf_plan_failures(const struct mf_topology *t, const struct mf_rates *r)
{
	struct mf_plan_pieces p = mf_plan_pieces(t, r);
	struct mf_plan_failures f = {0};
	struct cut cut = {0};

	for (int i = 0; i < 3; i++) {
		f.switches[i] = (double)p.switches[i] * r->switch_failures / DAYS_A_YEAR;
		f.all += f.switches[i];
	}
	f.nic_modules = (double)p.modules[MF_MODULE_HOST] * r->module_failures / DAYS_A_YEAR;
	f.modules = (double)(p.modules_all - p.modules[MF_MODULE_HOST]) * r->module_failures /
		    DAYS_A_YEAR;
	f.nics = (double)p.nics * r->nic_failures / DAYS_A_YEAR;
	f.all += f.nic_modules + f.modules + f.nics;
	f.flaps = (double)p.cables_all * r->link_flaps / DAYS_A_YEAR;
	cut_by_planes(t, r, &cut);
	cut_by_nics(t, r, &cut);
	f.job_visible = cut.events / DAYS_A_YEAR;
	f.job_visible_days = f.job_visible > 0 ? 1 / f.job_visible : 0;
	f.nic_years = cut.nics > 0 ? t->n_hosts / cut.nics : 0;
	return f;
}
