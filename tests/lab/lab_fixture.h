/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_fixture.h - a lab for a test, and one process that is on all of its hosts at once: a socket
 * stays in the namespace in which it was made.
 *
 * Packets are UDP to the carrier, without UDP checksum, as the unprivileged form of MRC sends them.
 * Each says from where, to where, by which EV, and has a number.
 */
#ifndef LAB_LAB_FIXTURE_H
#define LAB_LAB_FIXTURE_H

#include "lab/lab.h"
#include "support/test.h"

#define FIXTURE_PORT 9791u /* not where MRC listens */

struct fixture {
	char name[ML_LAB_NAME_MAX];
	struct ml_lab *lab;
	const struct mf_topology *t;
	int *sock; /* of each host */
	bool programs;
};

/* What is in a packet. */
struct fixture_packet {
	uint32_t src, dst, ev, number;
	uint8_t rest[48];
};

/* What came with one. */
struct fixture_arrival {
	struct fixture_packet packet;
	uint32_t host, plane; /* where it came in */
	int hop_limit;
	bool whole; /* as it was sent */
};

/* fixture_able skips the test where labs are not possible; afterwards they are, rootless
 * perhaps. */
void fixture_able(void);
/* fixture_open makes a lab with a name of this process's own. pace 0: unshaped. */
void fixture_open(struct fixture *r, const char *topology, uint64_t pace_bps, bool programs);
void fixture_close(struct fixture *r);

/* fixture_fault adds a fault by its words, "loss 1% in"; fixture_lift lifts all. They have to
 * work. */
void fixture_fault(struct fixture *r, const char *target, const char *words);
void fixture_lift(struct fixture *r);

/* fixture_send sends n packets by an EV; an error of the system fails the test. */
void fixture_send(const struct fixture *r, uint32_t src, uint32_t dst, uint32_t ev, uint32_t n);
/*
 * fixture_receive waits for the next packet at any host, up to 200 ms of silence. False: there is
 * none.
 */
bool fixture_receive(const struct fixture *r, struct fixture_arrival *a);
/* fixture_drain throws away what still comes, and returns how many that were. */
uint32_t fixture_drain(const struct fixture *r);
/* fixture_count sends n packets and returns how many came in at dst, unharmed. */
uint32_t fixture_count(const struct fixture *r, uint32_t src, uint32_t dst, uint32_t ev,
		       uint32_t n);
/* fixture_whole checks that every pair of hosts can talk by every path. */
void fixture_whole(const struct fixture *r);

/* fixture_leftover returns how many namespaces of the lab's name are there. */
size_t fixture_leftover(const char *name);

/* fixture_inside calls fn(context) on a thread in the namespace of a node. */
void fixture_inside(const struct fixture *r, uint32_t node, void (*fn)(void *context),
		    void *context);

#endif
