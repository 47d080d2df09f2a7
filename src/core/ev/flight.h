/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flight.h - how many packets of a QP are in flight on each port, and how many may be.
 *
 * Planes that carry the same get the same. One that is slow and not dead, behind the port where
 * nobody says so, would fill the window with packets that wait: all planes together then carry no
 * more than it does, times their number. So a port whose packets take much longer than those of the
 * others is passed over in the rotation while it has enough in flight. What is enough follows from
 * what SACKs say has arrived by it: as many packets as arrive in two mean round trips of the QP.
 *
 * A plane may be longer instead, and then needs more in flight. What tells is the RTT while little
 * is in flight, `base_ns`: as many packets as arrive in that time and a quarter of it are enough,
 * too, so that the number grows by a quarter in each round as long as more arrive. Where the RTT
 * has been above that for some rounds, one round is played with the least number to see it again.
 *
 * A round of a port ends when a packet arrives by it that was sent since it began. Nothing here is
 * a timer, and a port that is idle keeps its number.
 *
 * Where planes are alike none of this does anything, and it would cost each packet at both ends of
 * its way. So a QP counts only from when the RTTs of its planes are far apart on, and until they
 * agree and no port was passed over for long. See qp/qp_flight.c.
 */
#ifndef SOFTMRC_CORE_EV_FLIGHT_H
#define SOFTMRC_CORE_EV_FLIGHT_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_flight {
	uint16_t packets;  /* in flight */
	uint16_t most;	   /* that may be in flight while another port has room for more */
	uint32_t arrived;  /* packets in this round */
	uint64_t round_ns; /* when this round began; 0: nothing arrived since the port was idle */
	uint32_t least_ns; /* the shortest RTT of this round ... */
	uint32_t base_ns;  /* ... and of rounds with little in flight; 0: not known */
	uint32_t gap_ns;   /* between arrivals; 0: not known */
	uint8_t age;	   /* rounds in a row whose RTTs were all longer than base_ns */
	uint8_t unlike;	   /* so many rounds say nothing of the rate: less was sent than might be */
};
_Static_assert(sizeof(struct mt_flight) == 32, "two ports in a cache line");

/* What a QP counts while its planes are unlike. */
struct mt_flights {
	uint32_t full; /* the ports that have enough in flight */
	uint32_t calm; /* RTT samples since planes were last unlike, or a port full */
	struct mt_flight port[];
};

static inline size_t mt_flights_size(uint32_t n_ports)
{
	return sizeof(struct mt_flights) + n_ports * sizeof(struct mt_flight);
}

/* What a port's number follows from at the end of a round, of its QP. */
struct mt_flight_bounds {
	uint64_t smoothed_ns; /* mean RTT; 0: not known */
	uint32_t least;	      /* packets that any port may have in flight */
	uint32_t share;	      /* of the window: no port needs more while others want it */
};

/* mt_flight_init begins with no limit. */
static inline void mt_flight_init(struct mt_flight *f)
{
	*f = (struct mt_flight){.most = UINT16_MAX, .least_ns = UINT32_MAX};
}

static inline bool mt_flight_is_enough(const struct mt_flight *f)
{
	return f->packets >= f->most;
}

/* mt_flight_sent takes that a packet leaves by the port. */
static inline void mt_flight_sent(struct mt_flight *f)
{
	if (f->packets++ == 0)
		f->round_ns = 0;
}

/* mt_flight_left takes that one is in flight no more, and did not arrive as far as is known. */
static inline void mt_flight_left(struct mt_flight *f)
{
	mb_assert(f->packets > 0);
	f->packets--;
}

/* mt_flight_begin_round forgets what arrived before; a part of what follows. */
static inline void mt_flight_begin_round(struct mt_flight *f, uint64_t now_ns)
{
	f->round_ns = now_ns;
	f->arrived = 0;
	f->least_ns = UINT32_MAX;
}

/*
 * mt_flight_arrived takes that one arrived that was sent at sent_ns; now_ns 0: when is not known.
 * True: the round is over, and the caller calls mt_flight_end_round. REQ(req.spray.flight)
 */
static inline bool mt_flight_arrived(struct mt_flight *f, uint64_t sent_ns, uint64_t now_ns)
{
	uint64_t rtt_ns = now_ns - sent_ns;

	mt_flight_left(f);
	f->arrived++;
	if (now_ns == 0)
		return false;
	if ((int64_t)rtt_ns < 0)
		rtt_ns = 0;
	if (f->round_ns == 0) {
		mt_flight_begin_round(f, now_ns);
		return false;
	}
	if (rtt_ns < f->least_ns)
		f->least_ns = (uint32_t)rtt_ns;
	return sent_ns >= f->round_ns;
}

void mt_flight_end_round(struct mt_flight *f, uint64_t now_ns, const struct mt_flight_bounds *b);

#endif
