/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demo_size.h - how large a demo this machine carries. A job of 8 hosts at 50 Mb/s a port takes
 * about two thirds of two ordinary cores; on a slower or busier machine the pace is halved, then
 * the number of hosts. The script keeps its length in time, so the demo does not take longer.
 */
#ifndef SOFTMRC_DEMO_DEMO_SIZE_H
#define SOFTMRC_DEMO_DEMO_SIZE_H

#include "demo/demo_options.h"
#include "demo/fault_script.h"

/*
 * What a place is like: how many paths a plane usually has there, and what one data packet of a
 * paced job costs there, in datagrams that a thread passes to itself flat out: it is sent, received
 * and acknowledged by threads that sleep in between. Measured with 8 hosts on two cores.
 */
struct demo_place {
	uint32_t paths;
	uint32_t datagrams_per_packet;
};

extern const struct demo_place demo_place_lab, demo_place_loopback;

/*
 * demo_size_choose fills in the shape: what the options say, and for the rest what is usual in the
 * place and what a machine carries that moves `capacity` datagrams a second (demo_calibrate); 0:
 * not known.
 */
void demo_size_choose(struct demo_shape *shape, const struct demo_options *o,
		      const struct demo_place *place, uint64_t capacity);

/* demo_size_load returns the share of such a machine that the job takes, in percent. */
uint64_t demo_size_load(const struct demo_shape *shape, const struct demo_place *place,
			uint64_t capacity);

#endif
