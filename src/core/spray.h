/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spray.h - a QP's place in the rotation over its paths.
 *
 * One packet, one EV. Ports take turns, so that planes carry equal shares; within a port the
 * active EVs come in laps, each EV once a lap, in an order that a random number XORs anew every
 * lap so that QPs with the same profile do not march in step. The choice is made when a packet is
 * about to leave, among the ports with room. REQ(req.spray.rotation) REQ(req.spray.last-moment)
 */
#ifndef SOFTMRC_CORE_SPRAY_H
#define SOFTMRC_CORE_SPRAY_H

#include "base/prng.h"
#include "core/path_set.h"

struct mt_spray_port {
	uint16_t cursor; /* steps taken in this lap */
	uint16_t order;	 /* XORed with the cursor */
};

struct mt_spray {
	struct mb_prng prng;
	uint8_t next_port;
	struct mt_spray_port ports[MT_PORTS_MAX];
};

void mt_spray_init(struct mt_spray *sp, uint64_t seed);
/*
 * mt_spray_data returns the path for the next data packet among the ports in port_mask, or
 * MT_PATH_NONE when no usable path leaves from one. `avoid` is not returned while there is another:
 * a lost packet must not go where it was lost. *skipped counts paths whose turn was skipped.
 */
uint16_t mt_spray_data(struct mt_spray *sp, struct mt_path_set *s, uint32_t port_mask,
		       uint16_t avoid, uint32_t *skipped);
/*
 * mt_spray_control returns a path for a control packet, from `port` if it has a usable one, else
 * from any, else (all bad) still from `port`: a SACK that may get lost is better than none.
 */
uint16_t mt_spray_control(struct mt_spray *sp, const struct mt_path_set *s, uint8_t port);

#endif
