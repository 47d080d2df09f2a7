/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - one switch port in a namespace of its own: a veth pair, the program on one end, and two
 * ways to put frames through it.
 *
 * rig_run hands a frame to the program alone (BPF_PROG_TEST_RUN) and shows what it made of it and
 * what it wants done. rig_send puts a frame on the port for real, and rig_take takes what comes out
 * of the other end; this way packets are sent on, duplicated and held back.
 */
#ifndef BPF_RIG_H
#define BPF_RIG_H

#include <stdint.h>

#include "bpf/frame.h"
#include "vq/vq.h"

/* Longest frame that BPF_PROG_TEST_RUN takes: a page less what the kernel keeps beside it. */
#define RIG_RUN_MAX 3500u

/* What the program wants done with a packet, as the kernel numbers it. */
enum rig_verdict {
	RIG_OK = 0,
	RIG_SHOT = 2,
	RIG_STOLEN = 4,
	RIG_REDIRECT = 7,
};

struct rig {
	struct mvq *vq;
	uint32_t ifindex; /* of the port */
	struct mvq_port port;
	int prog;	   /* the program once more, for rig_run */
	int send, receive; /* sockets on both ends */
	uint32_t priority; /* what the last rig_run left in the packet */
	uint32_t mark;
	uint32_t ingress; /* where rig_run's frames came in; 0: this host made them */
};

/*
 * rig_setup and rig_teardown are cmocka fixtures. *state is a rig whose port has no queue yet;
 * where the machine does not allow one, it is NULL, and the case begins with rig_of(state), which
 * then skips it with the reason.
 */
int rig_setup(void **state);
int rig_teardown(void **state);
struct rig *rig_of(void **state);

/*
 * rig_slow sets the port to a rate at which nothing drains during a test (800 bit/s), with a data
 * limit and a control limit in bytes, trimming to 128 bytes with DSCP 12, no ECN.
 */
void rig_slow(struct rig *r, uint32_t limit, uint32_t control_limit);
/* rig_set gives the port r->port, rig_fault these faults; both fail the test when refused. */
void rig_set(struct rig *r);
void rig_fault(struct rig *r, const struct mvq_faults *faults);
/* rig_read returns the counters and checks that they add up. */
struct mvq_counters rig_read(struct rig *r);

/* rig_run runs the program on f, which becomes what the program made of it. */
enum rig_verdict rig_run(struct rig *r, struct frame *f);

/* rig_send sends a frame out of the port. rig_take waits for one, at most a second; 0: none
 * came. */
void rig_send(struct rig *r, const struct frame *f);
size_t rig_take(struct rig *r, struct frame *out);
/* rig_pass sends a frame and takes what comes out. rig_none says that nothing more is there. */
size_t rig_pass(struct rig *r, const struct frame *f, struct frame *out);
bool rig_none(struct rig *r);

#endif
