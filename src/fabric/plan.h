/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h - what a fabric is made of and what it carries (pieces, price, power, longest path,
 * bisection), what a failure takes away and how often one happens. Pure arithmetic on a topology
 * and rates.
 *
 * Transceivers are counted twice. As pieces: a module serves ports of one node, of one speed and in
 * one direction; it is split into as many links as fit by speed and lanes, and a node has as many
 * modules as that takes. As equivalents: bits a second of all link ends that are optical, divided
 * by the speed of a module, whatever the modules are. REQ(plan.optics)
 */
#ifndef SOFTMRC_FABRIC_PLAN_H
#define SOFTMRC_FABRIC_PLAN_H

#include "fabric/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The input of a plan: prices, watts, how often things fail and how long a repair takes.
 *
 * Every one of them is an input with a default that names its source, or says that it is assumed.
 * docs/design tells how the model uses them.
 */

/* What joins a host and its T0. */
enum mf_host_cable {
	MF_HOST_OPTICS = 0, /* a transceiver at each end, and fibre */
	MF_HOST_COPPER,	    /* a copper cable: no transceivers */
};

struct mf_rates {
	/* US dollars apiece. */
	double switch_usd, module_usd, trunk_usd, fibre_usd, copper_usd;
	/* Watts of one at work; a switch without its transceivers. */
	double switch_w, module_w;
	/* Failures of one in a year: needs a repair. A flap does not. */
	double switch_failures, module_failures, nic_failures, link_flaps;
	/* Nanoseconds until what failed is back. */
	uint64_t switch_repair_ns, module_repair_ns;
	/* A transceiver (module): bits a second, and how many links it can be split into. */
	uint64_t module_bit_s, module_lanes;
	enum mf_host_cable host_cable;
};

/* mf_rates_defaults returns the default rates. */
struct mf_rates mf_rates_defaults(void);

/*
 * mf_rates_read takes the rates that the text of a TOML file gives into *r; the others stay as they
 * are. false: *error (error_size bytes) says `FILE:LINE: key = value: what is wrong; what is
 * allowed`, and *r is as it was. `file` is the name for that message.
 */
bool mf_rates_read(struct mf_rates *r, const char *file, const char *text, char *error,
		   size_t error_size);

/* What is known of one rate, for tables and files. */
struct mf_rate_about {
	const char *key;  /* "failures.switch" */
	const char *what; /* "failures of a switch in a year" */
	const char *source;
	bool assumed; /* the number is ours; source says why */
};

/* Long enough for every value. */
#define MF_RATE_TEXT 24u

/* mf_rates_count returns how many rates there are. */
size_t mf_rates_count(void);
/*
 * mf_rates_about tells about rate i, below mf_rates_count, and writes its value in r the way that a
 * TOML file has it into value[MF_RATE_TEXT].
 */
struct mf_rate_about mf_rates_about(const struct mf_rates *r, size_t i, char *value);

/* Where a module sits: the node's tier, and whether its links lead down. */
enum mf_module_place {
	MF_MODULE_HOST = 0,
	MF_MODULE_T0_DOWN,
	MF_MODULE_T0_UP,
	MF_MODULE_T1_DOWN,
	MF_MODULE_T1_UP,
	MF_MODULE_T2_DOWN,
	MF_MODULE_PLACES, /* how many there are */
};

struct mf_plan_pieces {
	uint64_t nics;
	uint64_t switches[3]; /* index: tier - MF_T0; all planes */
	uint64_t switches_all;
	uint64_t cables[MF_LINK_KINDS]; /* all planes; one for each link of two directions */
	uint64_t cables_all;
	uint64_t modules[MF_MODULE_PLACES]; /* pieces, in all nodes */
	uint64_t modules_all;
	double module_equivalents;
	uint64_t switch_ports; /* that the switches have, used or not */
	uint64_t switch_ports_free;
};

struct mf_plan_cost {
	double switch_usd, module_usd, cable_usd, all_usd;
	double switch_w, module_w, all_w; /* without the NICs */
};

struct mf_plan_path {
	uint32_t switches; /* on the longest path */
	uint32_t links;
	uint64_t latency_ns;	  /* one way, an empty fabric, wire and switches */
	uint64_t paths;		  /* different ones between two hosts that are farthest apart */
	uint32_t nics_one_switch; /* NICs that one switch away from a NIC are, itself included */
};

struct mf_plan_capacity {
	uint64_t nic_bit_s;	/* all ports of a NIC, one direction */
	double bisection_bit_s; /* between two halves of the NICs, one direction */
	double bisection_share; /* of what the NICs of a half can send; 1 is full bisection */
};

/* mf_plan_pieces counts what is to be bought. */
struct mf_plan_pieces mf_plan_pieces(const struct mf_topology *t, const struct mf_rates *r);

/* mf_plan_cost says what the pieces cost and what they draw. */
struct mf_plan_cost mf_plan_cost(const struct mf_topology *t, const struct mf_rates *r);

/* mf_plan_path describes the longest path. */
struct mf_plan_path mf_plan_path(const struct mf_topology *t);

/* mf_plan_capacity says what the fabric carries with nothing failed. */
struct mf_plan_capacity mf_plan_capacity(const struct mf_topology *t);

/* mf_module_links returns how many links of the kind share a module, 1 or more. */
uint32_t mf_module_links(const struct mf_topology *t, const struct mf_rates *r,
			 enum mf_link_kind kind);

/* mf_module_count returns how many modules `ports` links of the kind need at one node. */
uint32_t mf_module_count(const struct mf_topology *t, const struct mf_rates *r,
			 enum mf_link_kind kind, uint32_t ports);

/*
 * What is lost when one component fails.
 *
 * For the NICs that are hit hardest: the share of their own capacity that is gone. Two readings are
 * given. `bare` counts bits: an uplink of a T0 in one of eight planes is 1/256 of 1/8. `held` is
 * what MRC makes of it: it keeps all planes equally loaded, so a plane whose uplinks are full and
 * one uplink short holds the others down with it, and the whole NIC loses 1/256. A port that is
 * lost altogether is left out, and then both are alike. REQ(plan.loss)
 */

enum mf_component {
	MF_LOSE_NIC_PORT = 0, /* or its link to the T0 */
	MF_LOSE_NIC_MODULE,
	MF_LOSE_T0_DOWN_MODULE,
	MF_LOSE_T0_UP_MODULE,
	MF_LOSE_T0_T1_LINK,
	MF_LOSE_T1_T2_LINK,
	MF_LOSE_T0,
	MF_LOSE_T1,
	MF_LOSE_T2,
	MF_LOSE_PLANE,
	MF_COMPONENTS, /* how many there are */
};

struct mf_plan_loss {
	bool present;	/* the fabric has such components; else all below is 0 */
	uint64_t count; /* of them */
	uint64_t nics;	/* hit by the failure of one */
	double bare;	/* of the capacity of each of those NICs, 0 .. 1 */
	double held;
	bool cut_off; /* those NICs have no port left */
};

/* mf_plan_loss says what the failure of one component costs. */
struct mf_plan_loss mf_plan_loss(const struct mf_topology *t, const struct mf_rates *r,
				 enum mf_component component);

/* mf_component_name returns "T0-T1 link" and so on; a constant. */
const char *mf_component_name(enum mf_component component);

/*
 * How often something fails, and how often a job notices.
 *
 * A job notices when a NIC has no port left: nothing carries its traffic then until a repair. With
 * one plane that is any failure of its T0, or of the transceivers between. With several it is what
 * all ports share (the NIC, its only transceiver), and failures that overlap in all planes. What
 * lies above the T0s is never counted, as there is another way: this favours fabrics in which paths
 * are not chosen by the endpoint. REQ(plan.failures)
 *
 * Failures of a kind are independent and come at a constant rate L; with repairs of length R, n
 * alike things are all down at once n * L * (L * R)^(n - 1) times in a time unit, for L * R << 1.
 */

struct mf_plan_failures {
	/* Expected a day. */
	double switches[3]; /* index: tier - MF_T0 */
	double nic_modules; /* transceivers of NICs */
	double modules;	    /* all others */
	double nics;
	double all;   /* all above: what needs a repair */
	double flaps; /* of links; they recover by themselves */
	double job_visible;
	/* Days between two failures that a job on all NICs notices; 0 where none is expected. */
	double job_visible_days;
	/* Years in which one NIC is cut off once by them, on average; 0 likewise. */
	double nic_years;
};

/* mf_plan_failures expects failures. */
struct mf_plan_failures mf_plan_failures(const struct mf_topology *t, const struct mf_rates *r);

#endif
