/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - the fault table: what a test fabric does to packets, changed while they fly.
 *
 * A process of softmrc whose environment names a table (MRC_FAULTS=FILE) maps that file and puts
 * its port drivers behind a driver that applies the rules to every frame sent. Whoever writes the
 * file (`mrc demo`, a test) changes rules at any time; no privilege is needed and nothing below the
 * process is touched. Rules are meant for experiments: a production host simply has no table.
 * The file must be of the process's user or of root, and for nobody else to write; one that is cut
 * off while it is in use has no rules any more.
 *
 * A writer fills in a rule with `kind` MRC_FAULT_OFF, then stores the kind with release order, and
 * takes the rule away by storing MRC_FAULT_OFF again. Counters and
 * times only ever grow.
 */
#ifndef MRC_FAULT_H
#define MRC_FAULT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_FAULT_MAGIC "MRCFAULT"
#define MRC_FAULT_VERSION 1u
#define MRC_FAULT_RULES 32u

enum mrc_fault_kind {
	MRC_FAULT_OFF = 0,
	MRC_FAULT_DROP = 1,	 /* the frame vanishes */
	MRC_FAULT_CORRUPT = 2,	 /* one random bit behind the UDP header is inverted */
	MRC_FAULT_TRIM = 3,	 /* cut behind its headers and marked as trimmed */
	MRC_FAULT_DELAY = 4,	 /* held back for delay_us, and up to jitter_us more */
	MRC_FAULT_DUPLICATE = 5, /* sent twice */
	MRC_FAULT_MARK = 6,	 /* marked congestion-experienced */
};

enum mrc_fault_direction {
	MRC_FAULT_ANY = 0,  /* any source and destination; `host` is ignored */
	MRC_FAULT_FROM = 1, /* frames that `host` sends */
	MRC_FAULT_TO = 2,   /* frames that go to `host` */
	MRC_FAULT_BOTH = 3, /* either */
};

/* One rule; it applies to a frame when port, path and host all match. 120 bytes. */
struct mrc_fault_rule {
	uint32_t kind;	       /* enum mrc_fault_kind; read and stored atomically */
	uint32_t port_mask;    /* bit p: frames on port (plane) p */
	uint32_t path_modulus; /* 0: every path; else path = EV modulo this, at most 64 */
	uint32_t direction;    /* enum mrc_fault_direction */
	uint64_t path_mask;    /* bit k: path k */
	uint8_t host[16];      /* a GID */
	uint32_t chance_ppm;   /* of a matching frame being hit, in parts per million */
	uint32_t delay_us;
	uint32_t jitter_us;
	uint32_t data_only;   /* 1: frames with payload only */
	uint64_t hit_data;    /* counter: frames with payload that were hit; added to atomically */
	uint64_t hit_control; /* counter: other frames that were hit */
	uint64_t
		last_hit_ns; /* CLOCK_MONOTONIC: when a frame with payload was last hit; 0: never */
	uint8_t reserved[40];
};

struct mrc_fault_table {
	char magic[8]; /* MRC_FAULT_MAGIC, no terminator */
	uint32_t version;
	uint32_t rules; /* MRC_FAULT_RULES */
	uint64_t seed;	/* of every process's own random source, with its address mixed in */
	uint8_t reserved[40];
	struct mrc_fault_rule rule[MRC_FAULT_RULES];
};

#ifdef __cplusplus
}
#endif

#endif
