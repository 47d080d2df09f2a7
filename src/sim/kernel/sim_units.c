/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_units.c - see worker.h. */
#include "sim/kernel/worker.h"

void ms_units_init(struct ms_units *u, const struct mf_topology *t, uint32_t workers)
{
	const struct mf_topology_cfg *c = &t->cfg;

	*u = (struct ms_units){.t = *t, .group_log = MS_GROUP_LOG_MAX, .workers = workers};
	/* Some groups for each worker, where there are hosts enough. */
	while (u->group_log > 0 && t->n_hosts >> u->group_log < 4 * workers)
		u->group_log--;
	u->n_groups = (t->n_hosts + (1u << u->group_log) - 1) >> u->group_log;
	u->n = u->n_groups + t->n_switches;
	u->t0_ports = c->hosts_per_t0 + c->t1s;
	u->t1_ports = c->t0s + c->t1_uplinks;
	u->t2_ports = c->pods;
	u->first_switch_port = t->n_hosts * c->planes;
	u->t1_ports_at = t->n_t0s * u->t0_ports;
	u->t2_ports_at = u->t1_ports_at + t->n_t1s * u->t1_ports;
	u->plane_ports = u->t2_ports_at + t->n_t2s * u->t2_ports;
	u->n_ports = u->first_switch_port + c->planes * u->plane_ports;
}

/* A share of `count` for each worker, neighbours together. */
static uint16_t worker_of(const struct ms_units *u, uint64_t i, uint64_t count)
{
	return (uint16_t)(i * u->workers / count);
}

static void fill_t0(const struct ms_units *u, uint32_t base, struct ms_unit *unit)
{
	uint32_t pod = mf_t0_pod(&u->t, unit->index);

	unit->downlinks = u->t.cfg.hosts_per_t0;
	unit->ports = u->t0_ports;
	unit->first_port += unit->index * u->t0_ports;
	unit->up_unit = base + u->t.n_t0s + pod * u->t.cfg.t1s;
	unit->up_kind = MS_PORT_T0_UP;
	unit->down_kind = MS_PORT_T0_DOWN;
	unit->worker = worker_of(u, (uint64_t)unit->plane * u->t.n_t0s + unit->index,
				 (uint64_t)u->t.cfg.planes * u->t.n_t0s);
}

static void fill_t1(const struct ms_units *u, uint32_t base, struct ms_unit *unit)
{
	uint32_t pod = mf_t1_pod(&u->t, unit->index), k = unit->index - pod * u->t.cfg.t1s;

	unit->downlinks = u->t.cfg.t0s;
	unit->ports = u->t1_ports;
	unit->first_port += u->t1_ports_at + unit->index * u->t1_ports;
	unit->first_t0 = pod * u->t.cfg.t0s;
	unit->down_unit = base + unit->first_t0;
	unit->down_step = 1;
	unit->up_unit = base + u->t.n_t0s + u->t.n_t1s + k * u->t.cfg.t1_uplinks;
	unit->up_kind = MS_PORT_T1_UP;
	unit->down_kind = MS_PORT_T1_DOWN;
	unit->worker = worker_of(u, (uint64_t)unit->plane * u->t.n_t1s + unit->index,
				 (uint64_t)u->t.cfg.planes * u->t.n_t1s);
}

static void fill_t2(const struct ms_units *u, uint32_t base, struct ms_unit *unit)
{
	unit->downlinks = u->t.cfg.pods;
	unit->ports = u->t2_ports;
	unit->first_port += u->t2_ports_at + unit->index * u->t2_ports;
	unit->down_unit = base + u->t.n_t0s + unit->index / u->t.cfg.t1_uplinks;
	unit->down_step = u->t.cfg.t1s;
	unit->up_kind = unit->down_kind = MS_PORT_T2_DOWN;
	unit->worker = worker_of(u, (uint64_t)unit->plane * u->t.n_t2s + unit->index,
				 (uint64_t)u->t.cfg.planes * u->t.n_t2s);
}

void ms_units_fill(const struct ms_units *u, uint32_t number, struct ms_unit *unit)
{
	struct mf_node node;
	uint32_t base;

	*unit = (struct ms_unit){.tier = MF_HOST};
	if (number < u->n_groups) {
		unit->index = number << u->group_log;
		unit->first_port = unit->index * u->t.cfg.planes;
		unit->ports = (1u << u->group_log) * u->t.cfg.planes;
		unit->up_kind = unit->down_kind = MS_PORT_HOST_UP;
		unit->worker = worker_of(u, number, u->n_groups);
		return;
	}
	node = mf_node_at(&u->t, u->t.n_hosts + number - u->n_groups);
	base = u->n_groups + node.plane * u->t.plane_switches;
	unit->tier = (uint8_t)node.tier;
	unit->plane = (uint8_t)node.plane;
	unit->index = node.index;
	unit->first_port = u->first_switch_port + node.plane * u->plane_ports;
	if (node.tier == MF_T0)
		fill_t0(u, base, unit);
	else if (node.tier == MF_T1)
		fill_t1(u, base, unit);
	else
		fill_t2(u, base, unit);
}

/* The number of the unit that a node is or belongs to. */
static uint32_t unit_of_node(const struct ms_units *u, uint32_t node)
{
	return node < u->t.n_hosts ? ms_units_of_host(u, node) : u->n_groups + node - u->t.n_hosts;
}

uint32_t ms_units_port(const struct ms_units *u, uint32_t link)
{
	struct mf_end from = mf_link_from(&u->t, link);
	struct ms_unit unit;

	if (from.node < u->t.n_hosts)
		return from.node * u->t.cfg.planes + from.port;
	ms_units_fill(u, unit_of_node(u, from.node), &unit);
	return unit.first_port + from.port;
}

uint32_t ms_units_link(const struct ms_units *u, uint32_t port)
{
	uint32_t plane, rest, switch_no, node;

	if (port < u->first_switch_port)
		return mf_link_out(&u->t, port / u->t.cfg.planes, port % u->t.cfg.planes);
	plane = (port - u->first_switch_port) / u->plane_ports;
	rest = (port - u->first_switch_port) % u->plane_ports;
	if (rest < u->t1_ports_at) {
		switch_no = rest / u->t0_ports;
		rest %= u->t0_ports;
	} else if (rest < u->t2_ports_at) {
		rest -= u->t1_ports_at;
		switch_no = u->t.n_t0s + rest / u->t1_ports;
		rest %= u->t1_ports;
	} else {
		rest -= u->t2_ports_at;
		switch_no = u->t.n_t0s + u->t.n_t1s + rest / u->t2_ports;
		rest %= u->t2_ports;
	}
	node = u->t.n_hosts + plane * u->t.plane_switches + switch_no;
	return mf_link_out(&u->t, node, rest);
}

uint32_t ms_units_from(const struct ms_units *u, uint32_t link)
{
	return unit_of_node(u, mf_link_from(&u->t, link).node);
}

uint32_t ms_units_to(const struct ms_units *u, uint32_t link)
{
	return unit_of_node(u, mf_link_to(&u->t, link).node);
}
