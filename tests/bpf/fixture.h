/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fixture.h - one switch port in a namespace of its own: a veth pair, the program on one end, and
 * two ways to put frames through it.
 *
 * fixture_run hands a frame to the program alone (BPF_PROG_TEST_RUN) and shows what it made of it
 * and what it wants done. fixture_send puts a frame on the port for real, and fixture_take takes
 * what comes out of the other end; this way packets are sent on, duplicated and held back.
 */
#ifndef BPF_FIXTURE_H
#define BPF_FIXTURE_H

#include <stdint.h>

#include "bpf/frame.h"
#include "switchq/switchq.h"

/* Longest frame that BPF_PROG_TEST_RUN takes: a page less what the kernel keeps beside it. */
#define FIXTURE_RUN_MAX 3500u

/* What the program wants done with a packet, as the kernel numbers it. */
enum fixture_verdict {
	FIXTURE_OK = 0,
	FIXTURE_SHOT = 2,
	FIXTURE_STOLEN = 4,
	FIXTURE_REDIRECT = 7,
};

struct fixture {
	struct mswq *swq;
	uint32_t ifindex; /* of the port */
	struct mswq_port port;
	int prog;	   /* the program once more, for fixture_run */
	int send, receive; /* sockets on both ends */
	uint32_t priority; /* what the last fixture_run left in the packet */
	uint32_t mark;
	uint32_t ingress; /* where fixture_run's frames came in; 0: this host made them */
};

/*
 * fixture_setup and fixture_teardown are cmocka fixtures. *state is a fixture whose port has no
 * queue yet; where the machine does not allow one, it is NULL, and the case begins with
 * fixture_of(state), which then skips it with the reason.
 */
int fixture_setup(void **state);
int fixture_teardown(void **state);
struct fixture *fixture_of(void **state);

/*
 * fixture_slow sets the port to a rate at which nothing drains during a test (800 bit/s), with a
 * data limit and a control limit in bytes, trimming to 128 bytes with DSCP 12, no ECN.
 */
void fixture_slow(struct fixture *r, uint32_t limit, uint32_t control_limit);
/* fixture_set gives the port r->port, fixture_fault these faults; both fail the test when
 * refused. */
void fixture_set(struct fixture *r);
void fixture_fault(struct fixture *r, const struct mswq_faults *faults);
/* fixture_read returns the counters and checks that they add up. */
struct mswq_counters fixture_read(struct fixture *r);

/* fixture_run runs the program on f, which becomes what the program made of it. */
enum fixture_verdict fixture_run(struct fixture *r, struct frame *f);

/* fixture_send sends a frame out of the port. fixture_take waits for one, at most a second; 0: none
 * came. */
void fixture_send(struct fixture *r, const struct frame *f);
size_t fixture_take(struct fixture *r, struct frame *out);
/* fixture_pass sends a frame and takes what comes out. fixture_none says that nothing more is
 * there. */
size_t fixture_pass(struct fixture *r, const struct frame *f, struct frame *out);
bool fixture_none(struct fixture *r);

#endif
