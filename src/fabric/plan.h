/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h - what a fabric is made of and what it carries: pieces, price, power, longest path,
 * bisection. Pure arithmetic on a topology and rates; see plan_loss.h and plan_failures.h for what
 * happens when pieces fail.
 *
 * Transceivers are counted twice. As pieces: a module serves ports of one node, of one speed and in
 * one direction; it is split into as many links as fit by speed and lanes, and a node has as many
 * modules as that takes. As equivalents: bits a second of all link ends that are optical, divided
 * by the speed of a module, whatever the modules are. REQ(plan.optics)
 */
#ifndef SOFTMRC_FABRIC_PLAN_H
#define SOFTMRC_FABRIC_PLAN_H

#include "fabric/plan_rates.h"
#include "fabric/topology.h"

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

/* mf_module_optical says whether links of the kind have transceivers. */
bool mf_module_optical(const struct mf_rates *r, enum mf_link_kind kind);

/* mf_module_links returns how many links of the kind share a module, 1 or more. */
uint32_t mf_module_links(const struct mf_topology *t, const struct mf_rates *r,
			 enum mf_link_kind kind);

/* mf_module_count returns how many modules `ports` links of the kind need at one node. */
uint32_t mf_module_count(const struct mf_topology *t, const struct mf_rates *r,
			 enum mf_link_kind kind, uint32_t ports);

#endif
