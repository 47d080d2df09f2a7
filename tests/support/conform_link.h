/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conform_link.h - the way of `mrc conform` to a target that is the test's: time is virtual, and
 * the test says what comes when the kit waits.
 */
#ifndef SUPPORT_CONFORM_LINK_H
#define SUPPORT_CONFORM_LINK_H

#include "conform/run.h"

struct conform_link {
	struct cf_link link; /* the kit's end */
	uint64_t now_ns;
	/*
	 * The next packet, or what else came: 1, with a frame; 0, nothing until then; -1 with
	 * errno. NULL: nothing ever comes.
	 */
	int (*next)(struct conform_link *l, uint64_t until_ns, struct cf_frame *f);
	void *user;
	int send_error;	       /* what a packet that is sent comes to */
	struct cf_packet sent; /* the last one, without its payload */
	unsigned n_sent;
};

void conform_link_init(struct conform_link *l);

/* conform_link_packet begins a packet of the target to a QP of the kit. */
void conform_link_packet(const struct conform_link *l, enum cf_kind kind, uint32_t qpn,
			 struct cf_packet *p);

/* conform_link_answer makes the answer that the last packet asks for: ack, an ACK for a WRITE. */
void conform_link_answer(const struct conform_link *l, const struct cf_run *r, bool ack,
			 struct cf_packet *p);

#endif
