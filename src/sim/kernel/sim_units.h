/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_units.h - how the fabric is cut into pieces that are run one at a time, and its ports
 * numbered.
 *
 * A unit is a switch or a group of neighbouring hosts. In one window of time units know nothing of
 * each other, so each is run through a whole window at once and what it touches stays in the cache.
 * The ports that a unit sends from lie side by side:
 *
 *	host * planes + plane						NICs, host by host
 *	n_hosts * planes + plane by plane, T0s, T1s, T2s: downlinks, uplinks	switches
 *
 * (Links as fabric/link.h numbers them would put the 512 ports of a large T1 on 512 pages.)
 */
#ifndef SOFTMRC_SIM_KERNEL_SIM_UNITS_H
#define SOFTMRC_SIM_KERNEL_SIM_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/ev_routing.h"
#include "fabric/fabric_link.h"
#include "fabric/fabric_node.h"
#include "sim/kernel/sim_net.h"

/* A group holds at most this many hosts; one bit for each. */
#define MS_GROUP_LOG_MAX 6u

struct ms_unit {
	uint32_t index;	     /* of its tier in its plane; of a group: its first host */
	uint32_t first_port; /* that it sends from */
	uint32_t downlinks;  /* ports that lead down, which come first */
	uint32_t ports;
	uint32_t down_unit, down_step; /* where downlink i leads: down_unit + i * down_step */
	uint32_t up_unit;	       /* where uplink i leads: up_unit + i */
	uint32_t first_t0;	       /* of a T1: the T0 below downlink 0 */
	uint32_t backlog;	       /* ports with waiting packets */
	uint32_t first_word;	       /* of the bits that say which, one for each port */
	uint16_t worker;	       /* of all ranks */
	uint8_t tier;		       /* enum mf_tier; MF_HOST: a group */
	uint8_t plane;
	uint8_t up_kind, down_kind; /* enum ms_port_kind */
	bool faulty;		    /* a link that leads here is or was at fault */
};

struct ms_units {
	struct mf_topology t;
	uint32_t group_log;   /* 2^this hosts a group */
	uint32_t n_groups, n; /* n: groups and switches */
	uint32_t n_ports;
	uint32_t first_switch_port, plane_ports, t1_ports_at,
		t2_ports_at;		       /* the latter in a plane */
	uint32_t t0_ports, t1_ports, t2_ports; /* of each switch */
	uint32_t workers;
};

/* ms_units_init numbers the ports and units of a topology that `workers` threads are to run. */
void ms_units_init(struct ms_units *u, const struct mf_topology *t, uint32_t workers);
/* ms_units_fill describes unit `number`, with the worker that runs it. */
void ms_units_fill(const struct ms_units *u, uint32_t number, struct ms_unit *unit);
/* ms_units_port returns the port that sends on a link. */
uint32_t ms_units_port(const struct ms_units *u, uint32_t link);
/* ms_units_link returns the link of a port; the inverse of ms_units_port. */
uint32_t ms_units_link(const struct ms_units *u, uint32_t port);
/* ms_units_from and ms_units_to return the units at the two ends of a link. */
uint32_t ms_units_from(const struct ms_units *u, uint32_t link);
uint32_t ms_units_to(const struct ms_units *u, uint32_t link);

static inline uint32_t ms_units_of_host(const struct ms_units *u, uint32_t host)
{
	return host >> u->group_log;
}

/* ms_unit_peer returns the unit that a port leads to; port is one of the unit's, from its first. */
static inline uint32_t ms_unit_peer(const struct ms_units *u, const struct ms_unit *unit,
				    uint32_t port)
{
	if (unit->tier == MF_HOST) {
		uint32_t host = unit->index + mf_div_quotient(u->t.by_planes, port);
		uint32_t plane = mf_div_rest(u->t.by_planes, port);

		return u->n_groups + plane * u->t.plane_switches + mf_host_t0(&u->t, host);
	}
	if (port >= unit->downlinks)
		return unit->up_unit + (port - unit->downlinks);
	if (unit->tier == MF_T0)
		return (unit->index * u->t.cfg.hosts_per_t0 + port) >> u->group_log;
	return unit->down_unit + port * unit->down_step;
}

#endif
