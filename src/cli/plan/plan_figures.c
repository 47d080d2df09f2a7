/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan as a list of numbers: see plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "fabric/plan.h"

#include <string.h>

static void add_figure(struct plan_figures *all, const char *section, const char *key,
		       const char *label, enum plan_unit unit, double value)
{
	bool per_nic =
		unit == PLAN_PIECES || unit == PLAN_USD || unit == PLAN_WATTS || unit == PLAN_A_DAY;

	if (all->n < PLAN_FIGURES_MAX)
		all->figure[all->n++] =
			(struct plan_figure){section, key, label, unit, per_nic, value};
}

/* A count that says nothing when divided by the number of NICs. */
static void add_plain(struct plan_figures *all, const char *section, const char *key,
		      const char *label, double value)
{
	add_figure(all, section, key, label, PLAN_PIECES, value);
	all->figure[all->n - 1].per_nic = false;
}

static void add_size(struct plan_figures *all, const struct mf_topology *t,
		     const struct mf_plan_pieces *p)
{
	const char *const s = "Size";

	add_plain(all, s, "nics", "NICs", (double)p->nics);
	add_plain(all, s, "nodes", "nodes that they are in", (double)p->nics / t->cfg.rails);
	add_plain(all, s, "planes", "planes", t->cfg.planes);
	add_plain(all, s, "tiers", "tiers of switches", t->cfg.tiers);
	add_figure(all, s, "t0_switches", "T0 switches", PLAN_PIECES, (double)p->switches[0]);
	add_figure(all, s, "t1_switches", "T1 switches", PLAN_PIECES, (double)p->switches[1]);
	add_figure(all, s, "t2_switches", "T2 switches", PLAN_PIECES, (double)p->switches[2]);
	add_figure(all, s, "switches", "switches", PLAN_PIECES, (double)p->switches_all);
	add_figure(all, s, "free_switch_ports", "free ports of switches", PLAN_PIECES,
		   (double)p->switch_ports_free);
	add_figure(all, s, "nic_t0_links", "NIC-T0 links", PLAN_PIECES,
		   (double)p->cables[MF_HOST_T0]);
	add_figure(all, s, "t0_t1_links", "T0-T1 links", PLAN_PIECES, (double)p->cables[MF_T0_T1]);
	add_figure(all, s, "t1_t2_links", "T1-T2 links", PLAN_PIECES, (double)p->cables[MF_T1_T2]);
}

static void add_bill(struct plan_figures *all, const struct mf_plan_pieces *p,
		     const struct mf_plan_cost *c)
{
	static const char *const key[MF_MODULE_PLACES] = {"modules_nic",   "modules_t0_down",
							  "modules_t0_up", "modules_t1_down",
							  "modules_t1_up", "modules_t2_down"};
	static const char *const label[MF_MODULE_PLACES] = {
		"transceivers, NICs",	   "transceivers, T0 to NICs", "transceivers, T0 to T1s",
		"transceivers, T1 to T0s", "transceivers, T1 to T2s",  "transceivers, T2 to T1s"};
	const char *const s = "Bill of material";

	for (int i = 0; i < MF_MODULE_PLACES; i++)
		add_figure(all, s, key[i], label[i], PLAN_PIECES, (double)p->modules[i]);
	add_figure(all, s, "modules", "transceivers", PLAN_PIECES, (double)p->modules_all);
	add_figure(all, s, "module_equivalents", "the same by bandwidth", PLAN_PIECES,
		   p->module_equivalents);
	add_figure(all, s, "cables", "raw cables", PLAN_PIECES, (double)p->cables_all);
	add_figure(all, s, "switch_usd", "switches, US$", PLAN_USD, c->switch_usd);
	add_figure(all, s, "module_usd", "transceivers, US$", PLAN_USD, c->module_usd);
	add_figure(all, s, "cable_usd", "cables, US$", PLAN_USD, c->cable_usd);
	add_figure(all, s, "usd", "together, US$", PLAN_USD, c->all_usd);
	add_figure(all, "Power", "switch_watts", "switches", PLAN_WATTS, c->switch_w);
	add_figure(all, "Power", "module_watts", "transceivers", PLAN_WATTS, c->module_w);
	add_figure(all, "Power", "watts", "together, without NICs", PLAN_WATTS, c->all_w);
}

static void add_ways(struct plan_figures *all, const struct mf_topology *t)
{
	struct mf_plan_path path = mf_plan_path(t);
	struct mf_plan_capacity c = mf_plan_capacity(t);
	const char *const s = "Paths and capacity";

	add_plain(all, s, "path_switches", "switches on the longest path", path.switches);
	add_plain(all, s, "path_links", "links on it", path.links);
	add_figure(all, s, "path_latency_ns", "its one-way latency", PLAN_NS,
		   (double)path.latency_ns);
	add_plain(all, s, "paths", "different paths of that length", (double)path.paths);
	add_plain(all, s, "nics_one_switch", "NICs behind one switch", path.nics_one_switch);
	add_figure(all, s, "nic_bit_s", "bandwidth of a NIC", PLAN_BITS, (double)c.nic_bit_s);
	add_figure(all, s, "bisection_bit_s", "bisection, one direction", PLAN_BITS,
		   c.bisection_bit_s);
	add_figure(all, s, "bisection_share", "of full bisection", PLAN_SHARE, c.bisection_share);
}

static void add_failures(struct plan_figures *all, const struct mf_plan_failures *f)
{
	const char *const s = "Expected failures a day (a NIC: a year)";

	add_figure(all, s, "t0_failures", "T0 switches", PLAN_A_DAY, f->switches[0]);
	add_figure(all, s, "t1_failures", "T1 switches", PLAN_A_DAY, f->switches[1]);
	add_figure(all, s, "t2_failures", "T2 switches", PLAN_A_DAY, f->switches[2]);
	add_figure(all, s, "module_failures", "transceivers of switches", PLAN_A_DAY, f->modules);
	add_figure(all, s, "nic_module_failures", "transceivers of NICs", PLAN_A_DAY,
		   f->nic_modules);
	add_figure(all, s, "nic_failures", "NICs", PLAN_A_DAY, f->nics);
	add_figure(all, s, "failures", "in all: that need a repair", PLAN_A_DAY, f->all);
	add_figure(all, s, "flaps", "link flaps: recover by themselves", PLAN_A_DAY, f->flaps);
	add_figure(all, s, "job_visible", "seen by a job on all NICs", PLAN_A_DAY, f->job_visible);
	add_figure(all, s, "job_visible_days", "mean time between these", PLAN_DAYS,
		   f->job_visible_days);
	add_figure(all, s, "nic_years", "a NIC is cut off once in", PLAN_YEARS, f->nic_years);
}

void plan_figures_make(struct plan_figures *out, const struct mf_topology *t,
		       const struct mf_rates *r)
{
	struct mf_plan_pieces pieces = mf_plan_pieces(t, r);
	struct mf_plan_cost cost = mf_plan_cost(t, r);
	struct mf_plan_failures failures = mf_plan_failures(t, r);

	out->n = 0;
	add_size(out, t, &pieces);
	add_bill(out, &pieces, &cost);
	add_ways(out, t);
	add_failures(out, &failures);
}
