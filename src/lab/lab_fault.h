/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - faults as a list, and what the list as a whole means for each port.
 *
 * A fault is a target (names.h), a kind and perhaps a value. Nothing else is remembered: what a
 * port has to do follows from all faults that are in force, so lifting one never disturbs another.
 */
#ifndef SOFTMRC_LAB_LAB_FAULT_H
#define SOFTMRC_LAB_LAB_FAULT_H

#include "lab/lab_names.h"

#define ML_FAULTS_MAX 256u
#define ML_VALUE_MAX 48u

enum ml_fault_kind {
	ML_FAULT_DOWN,	    /* the port is switched off; the far end loses its carrier */
	ML_FAULT_BLACKHOLE, /* packets vanish, carrier stays */
	ML_FAULT_STALL,	    /* a switch forwards nothing, its links stay up */
	ML_FAULT_LOSS,	    /* a share of the packets vanishes */
	ML_FAULT_CORRUPT,   /* a share of them has a bit flipped */
	ML_FAULT_DUPLICATE, /* a share of them arrives twice */
	ML_FAULT_REORDER,   /* a share of them is overtaken by the next one */
	ML_FAULT_SLOW,	    /* the rate is lower */
	ML_FAULT_SWAP,	    /* two cables are plugged in the wrong way round */
	ML_FAULT_KINDS
};

/* Seen from the target: which way packets suffer. */
enum ml_direction { ML_DIRECTION_BOTH, ML_DIRECTION_OUT, ML_DIRECTION_IN };

struct ml_fault {
	char target[ML_NAME_MAX];
	enum ml_fault_kind kind;
	enum ml_direction way;
	uint64_t value;		 /* shares: parts per million; slow: bits per second */
	char other[ML_NAME_MAX]; /* swap: the other cable */
};

const char *ml_fault_name(enum ml_fault_kind kind);
/* ml_fault_help returns one line about the kind, and its value's form in *value ("" for none). */
const char *ml_fault_help(enum ml_fault_kind kind, const char **value);

/*
 * ml_fault_read reads what follows the target on a command line: a kind, its value, and `out` or
 * `in` for one way only. The target is looked up. 0; -1 with a sentence.
 */
int ml_fault_read(const struct mf_topology *t, const char *target, const char *const *word,
		  size_t words, struct ml_fault *f, struct ml_error *e);

/* ml_fault_write writes it as it is read, without the target; out[2 * ML_VALUE_MAX]. */
char *ml_fault_write(const struct ml_fault *f, char *out);

/* ml_fault_same_target says whether two are about the same thing: the later one replaces the earlier. */
bool ml_fault_same_target(const struct ml_fault *a, const struct ml_fault *b);

/* ---- what they mean ---- */

/* What a port does to what it sends. */
struct ml_port_state {
	bool down, blackhole;
	uint32_t loss_ppm, corrupt_ppm, duplicate_ppm, reorder_ppm;
	uint64_t rate_bps; /* 0: as the topology says */
	uint32_t peer;	   /* the link whose port is at the other end of the cable */
};

/*
 * ml_faults_apply computes port[0 .. n_links - 1], by link sent on, from all faults. The targets
 * are known to exist.
 */
void ml_faults_apply(const struct mf_topology *t, const struct ml_fault *fault, size_t n,
		     struct ml_port_state *port);

/* ml_fault_needs_bpf says whether only the switch program can do it. */
bool ml_fault_needs_bpf(enum ml_fault_kind kind);

#endif
