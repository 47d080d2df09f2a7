/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - faults of a fabric: kinds, their values, directions, and their text form.
 *
 * 	down | blackhole | stall | loss 1% | corrupt 0.3% | slow 20M | duplicate 1% | reorder 1% |
 * 	swap plane0.t0-1.t1-0 | reboot,  each perhaps with `out` or `in`
 *
 * The lab, the simulator and the demo know faults by these words; each does those that it can.
 */
#ifndef SOFTMRC_FABRIC_FAULT_H
#define SOFTMRC_FABRIC_FAULT_H

#include "fabric/fabric_node.h"

#include <stddef.h>

/*
 * What faults happen to: the parts of a fabric by name.
 *
 * 	host3                      a host, all its NIC ports
 * 	host3.plane0               one NIC port and its cable
 * 	plane0                     every switch of a plane
 * 	plane0.t0-1                a switch
 * 	plane0.t0-1.t1-0           a cable, named from one of its ends
 * 	plane0.t0-1.host3          the same for one that leads to a host
 * 	plane0.t0-1.transceiver0   four neighbouring ports of a switch, 0 to 3
 *
 * A cable may also be named by its port, plane0.t0-1.u0 and host3.e0, as in fabric_node.h. A port
 * is known by the directed link that it sends on (fabric_node.h).
 */

/* Ports that one optical module serves: 800G as 8 x 100G is two such, 4 x 200G one. */
#define MF_TRANSCEIVER_PORTS 4u

enum mf_target_kind {
	MF_TARGET_HOST,
	MF_TARGET_SWITCH,
	MF_TARGET_PLANE,
	MF_TARGET_CABLE,
	MF_TARGET_TRANSCEIVER,
};

/* What a name means: a set of ports. mf_target_link returns them one by one. */
struct mf_target {
	enum mf_target_kind kind;
	uint32_t node;	/* whose ports: of a cable the end named first; of a plane unused */
	uint32_t port;	/* the first of them */
	uint32_t plane; /* of a plane */
	uint32_t links; /* how many ports */
};

/* mf_cable_name names the cable of a link from the end that sends on it. */
char *mf_cable_name(const struct mf_topology *t, uint32_t link, char out[MF_LINK_NAME_BYTES]);

/*
 * mf_target_find reads a name. False: there is no such part; *error has the name as value and says
 * which names are near it, or in a large fabric which numbers there are. Allocates nothing.
 */
bool mf_target_find(const struct mf_topology *t, const char *name, struct mf_target *target,
		    struct mf_error *error);

/*
 * mf_target_link returns the link that port i of a target sends on, i from 0 to links - 1. A plane
 * has the ports of its switches, not those of hosts.
 */
uint32_t mf_target_link(const struct mf_topology *t, const struct mf_target *target, uint32_t i);

/* Room for the text form, without the target. */
#define MF_FAULT_TEXT_BYTES 96u
#define MF_SHARE_ONE_PPM 1000000u

/* Kinds; the simulator does the first MF_FAULTS_SIMULATED of them. */
enum mf_fault_kind {
	MF_FAULT_DOWN,	    /* the port is switched off; the far end loses its carrier */
	MF_FAULT_BLACKHOLE, /* packets vanish, carrier stays */
	MF_FAULT_STALL,	    /* a switch forwards nothing, its links stay up */
	MF_FAULT_LOSS,	    /* a share of the packets vanishes */
	MF_FAULT_CORRUPT,   /* a share of them has a bit flipped */
	MF_FAULT_SLOW,	    /* the rate is lower */
	MF_FAULT_FLAP,	    /* down and up again, repeatedly: takes times, has no text form */
	MF_FAULTS_SIMULATED,
	MF_FAULT_DUPLICATE = MF_FAULTS_SIMULATED, /* a share of them arrives twice */
	MF_FAULT_REORDER,			  /* a share of them is overtaken by the next one */
	MF_FAULT_SWAP,	 /* two cables are plugged in the wrong way round */
	MF_FAULT_REBOOT, /* a switch goes off, and comes back with empty tables */
	MF_FAULT_KINDS
};

/* The words for the kinds, in the order of the enum, for tables of constants. */
#define MF_FAULT_SIMULATED_NAMES "down", "blackhole", "stall", "loss", "corrupt", "slow", "flap"

/* Seen from the target: which direction suffers. mf_direction_names ends with NULL. */
enum mf_direction { MF_DIRECTION_BOTH, MF_DIRECTION_OUT, MF_DIRECTION_IN };

extern const char *const mf_direction_names[];

struct mf_fault {
	char target[MF_LINK_NAME_BYTES];
	enum mf_fault_kind kind;
	enum mf_direction direction;
	uint64_t value;			/* shares: parts per million; slow: bits per second */
	char other[MF_LINK_NAME_BYTES]; /* swap: the other cable */
};

/* mf_fault_name returns the word for a kind; a constant. */
const char *mf_fault_name(enum mf_fault_kind kind);
/* mf_fault_kind_find returns the kind that a word means, or MF_FAULT_KINDS. */
enum mf_fault_kind mf_fault_kind_find(const char *word);
/* mf_fault_help returns one line about the kind, and its value's form in *value ("" for none). */
const char *mf_fault_help(enum mf_fault_kind kind, const char **value);

/*
 * mf_fault_check says whether the kind can happen to a target; else *error says to what it can.
 * The value of *error is the name of the target.
 */
bool mf_fault_check(enum mf_fault_kind kind, const char *name, const struct mf_target *target,
		    struct mf_error *error);

/*
 * mf_fault_read reads what follows the target: a kind, its value, and `out` or `in` for one
 * direction only. The target is looked up. False: *error has the word that is wrong as value and
 * says what is allowed.
 */
bool mf_fault_read(const struct mf_topology *t, const char *target, const char *const *word,
		   size_t words, struct mf_fault *f, struct mf_error *error);

/* mf_fault_text is mf_fault_read for words with blanks between, "loss 1% out". */
bool mf_fault_text(const struct mf_topology *t, const char *target, const char *text,
		   struct mf_fault *f, struct mf_error *error);

/* mf_fault_write writes a fault as it is read, without the target. */
char *mf_fault_write(const struct mf_fault *f, char out[MF_FAULT_TEXT_BYTES]);

#endif
