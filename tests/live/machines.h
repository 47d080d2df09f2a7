/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machines.h - two network namespaces with two cables between them, like two machines with two NICs
 * each, for the sides of live.h.
 */
#ifndef LIVE_MACHINES_H
#define LIVE_MACHINES_H

#include "live/live.h"

#include <stdio.h>
#include <sys/types.h>

#include "support/netns.h"
#include "support/test.h"

#define BYTES (2u << 20)
#define PIECE (128u << 10)
#define PIECES (BYTES / PIECE)

/* machines_setup skips the case where the system has no namespaces for it. */
int machines_setup(void **state);

#define machines_ip(...)                                     \
	do {                                                 \
		char text_[120];                             \
		snprintf(text_, sizeof(text_), __VA_ARGS__); \
		test_ip(text_);                              \
	} while (0)

/* ---- cabling; what the sides call at the same time, before they open the device ---- */

/* machines_enter gives each side a namespace; returns the process that the other's belongs to. */
pid_t machines_enter(struct live_side *s);
/* machines_plug joins e<i> of both sides; only host 1 can, host 2 waits. */
void machines_plug(struct live_side *s, uint32_t host, uint32_t i);
/* machines_cable gives each side a namespace, and e0 and e1 in it, joined with the other's. */
void machines_cable(struct live_side *s, uint32_t host);
/* machines_route leads to the other side's one address through e<i>. */
void machines_route(uint32_t host, uint32_t i);
/* enter_subnets: e<i> of host h has 10.9.i.h. enter_one_address: all of them have 10.9.0.h. */
void enter_subnets(struct live_side *s, uint32_t host);
void enter_one_address(struct live_side *s, uint32_t host);

/* ---- traffic ---- */

/* write_all writes the buffer once. */
void write_all(struct live_side *s);
/* plain_initiator fills and writes the buffer, which plain_target compares at the end. */
void plain_initiator(struct live_side *s);
void plain_target(struct live_side *s);
/* wait_plane waits until a plane is up, or down. */
void wait_plane(struct live_side *s, uint32_t plane, bool up);

#endif
