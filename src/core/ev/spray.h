/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spray.h - a QP's place in the rotation over its paths.
 *
 * One packet, one EV; or a run of several where the driver sends those as one, which is cheaper.
 * Ports take turns, so that planes carry equal shares; within a port the
 * active EVs come in laps, each EV once a lap, in an order that a random number XORs again every
 * lap so that QPs with the same profile do not march in step. The choice is made when a packet is
 * about to leave, among the ports with room. REQ(req.spray.rotation) REQ(req.spray.last-moment)
 *
 * A lap is no wider than it does good: a QP that has few packets in flight hears of an EV once a
 * window at most, and would use hundreds of EVs on stale news. So it takes one to two windows of
 * packets worth of EVs, the same ones each lap (`base`, its own random part of the active places),
 * at least one a port; what its window is it says between laps. REQ(req.spray.width)
 */
#ifndef SOFTMRC_CORE_EV_SPRAY_H
#define SOFTMRC_CORE_EV_SPRAY_H

#include "base/prng.h"
#include "core/ev/ev_set.h"

struct mt_spray_port {
	uint16_t cursor;    /* steps taken in this lap */
	uint16_t order;	    /* XORed with the cursor */
	uint16_t base;	    /* random; the lap begins there, modulo the active places */
	uint16_t width;	    /* EVs of this lap; 0 before the first */
	uint16_t round_len; /* steps of this lap: width, rounded up to a power of two */
};

struct mt_spray {
	struct mb_prng prng;
	struct mt_spray_port *ports; /* one for each port; NULL: not attached */
	uint8_t next_port;
	bool round_began; /* on some port: mt_spray_set_width may be asked for the laps to come */
	uint16_t width;	  /* EVs of a port in the laps to come */
	uint8_t run_left; /* packets that may still go on run_path */
	uint16_t run_ev;
};

/* mt_spray_init begins without a place in the rotation, which only data packets need. */
void mt_spray_init(struct mt_spray *sp, uint64_t seed);
/* mt_spray_attach gives it mt_spray_size bytes for it, at a random place that is the QP's own. */
void mt_spray_attach(struct mt_spray *sp, void *mem, uint32_t n_ports);
static inline size_t mt_spray_size(uint32_t n_ports)
{
	return n_ports * sizeof(struct mt_spray_port);
}
/* mt_spray_set_width makes the laps to come wide enough for a window of so many packets on
 * n_ports. */
void mt_spray_set_width(struct mt_spray *sp, uint64_t window, uint32_t n_ports);
/*
 * mt_spray_pick returns the path for the next data packet among the ports in port_mask, or
 * MT_EV_NONE when no usable path leaves from one. `avoid`, or another EV of the same path, is not
 * returned while there is another: a lost packet must not go where it was lost. *skipped counts
 * paths whose turn was skipped.
 */
uint16_t mt_spray_pick(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid,
		       uint32_t *skipped);
/*
 * mt_spray_pick_run returns the path for the next new data packet: that of the run under way while
 * it is GOOD and has room, else as mt_spray_pick, with which a run of up to max_run begins.
 */
uint16_t mt_spray_pick_run(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask,
			   uint32_t max_run, uint32_t *skipped);
/*
 * mt_spray_pick_control returns a path for a control packet, from `port` if it has a usable one,
 * the one known to have reached the peer lately before any other, else
 * from any, else (all bad) still from `port`: a SACK that may get lost is better than none. Ports
 * that may not be used are passed over; MT_EV_NONE: the set has no path on any other.
 */
uint16_t mt_spray_pick_control(struct mt_spray *sp, const struct mt_ev_set *s, uint8_t port);

/* mt_spray_pick_probe returns a path of the port, usable if there is one; MT_EV_NONE: it has
 * none. */
uint16_t mt_spray_pick_probe(const struct mt_ev_set *s, uint32_t port, uint16_t from);

#endif
