/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_rig.h - a lab for a test, and one process that is on all of its hosts at once: a socket stays
 * in the namespace in which it was made.
 *
 * Packets are UDP to the carrier, without UDP checksum, as the unprivileged form of MRC sends them.
 * Each says from where, to where, by which EV, and has a number.
 */
#ifndef LAB_LAB_RIG_H
#define LAB_LAB_RIG_H

#include "lab/lab.h"
#include "support/test.h"

#define RIG_PORT 9791u /* not where MRC listens */

struct rig {
	char name[ML_LAB_NAME_MAX];
	struct ml_lab *lab;
	const struct mf_topology *t;
	int *sock; /* of each host */
	bool programs;
};

/* What is in a packet. */
struct rig_packet {
	uint32_t src, dst, ev, number;
	uint8_t rest[48];
};

/* What came with one. */
struct rig_arrival {
	struct rig_packet packet;
	uint32_t host, plane; /* where it came in */
	int hop_limit;
	bool whole; /* as it was sent */
};

/* rig_able skips the test where labs are not possible; afterwards they are, rootless perhaps. */
void rig_able(void);
/* rig_open makes a lab with a name of this process's own. pace 0: unshaped. */
void rig_open(struct rig *r, const char *topology, uint64_t pace_bps, bool programs);
void rig_close(struct rig *r);

/* rig_fault adds a fault by its words, "loss 1% in"; rig_lift lifts all. They have to work. */
void rig_fault(struct rig *r, const char *target, const char *words);
void rig_lift(struct rig *r);

/* rig_send sends n packets by an EV; an error of the system fails the test. */
void rig_send(const struct rig *r, uint32_t src, uint32_t dst, uint32_t ev, uint32_t n);
/*
 * rig_receive waits for the next packet at any host, up to 200 ms of silence. False: there is none.
 */
bool rig_receive(const struct rig *r, struct rig_arrival *a);
/* rig_drain throws away what still comes, and returns how many that were. */
uint32_t rig_drain(const struct rig *r);
/* rig_count sends n packets and returns how many came in at dst, unharmed. */
uint32_t rig_count(const struct rig *r, uint32_t src, uint32_t dst, uint32_t ev, uint32_t n);
/* rig_whole checks that every pair of hosts can talk by every path. */
void rig_whole(const struct rig *r);

/* rig_leftover returns how many namespaces of the lab's name are there. */
size_t rig_leftover(const char *name);

/* rig_inside calls fn(context) on a thread in the namespace of a node. */
void rig_inside(const struct rig *r, uint32_t node, void (*fn)(void *context), void *context);

#endif
