/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spray.h - a QP's place in the rotation over its EVs, and the EVs on which answers return.
 *
 * One packet, one EV; or a run of several where the driver sends those as one, which is cheaper.
 * Packets go to one port after the other, so that planes carry equal shares; where their RTTs are
 * far apart, one that carries less is passed over while it has enough in flight, see flight.h.
 * Within a port the active EVs come in rounds, each EV once a round, in an order that a random
 * number XORs again every round so that QPs with the same profile do not use the same EV at the
 * same time. The choice is made when a packet is about to leave, among the ports with room.
 * REQ(req.spray.rotation)
 * REQ(req.spray.last-moment)
 *
 * A QP that has few packets in flight hears of an EV once a window at most, and would use hundreds
 * of EVs on stale news. So a round has as many EVs as one to two windows have packets, the same
 * ones each round (`base`, a random part of the active places for each QP), at least one a port;
 * the width changes only between rounds. REQ(req.spray.width)
 */
#ifndef SOFTMRC_CORE_EV_SPRAY_H
#define SOFTMRC_CORE_EV_SPRAY_H

#include "base/prng.h"
#include "core/ev/ev_set.h"
#include "core/ev/flight.h"

struct mt_spray_port {
	uint16_t cursor;    /* steps taken in this round */
	uint16_t order;	    /* XORed with the cursor */
	uint16_t base;	    /* random; narrow rounds begin there, modulo the active places */
	uint16_t first;	    /* of this round */
	uint16_t width;	    /* EVs of this round; 0 before the first */
	uint16_t round_len; /* steps of this round: width, rounded up to a power of two */
};

/*
 * The mean RTT of packets by a port, as a logarithm: of the first samples, then of some of the
 * latest. It says nothing before MT_SPRAY_SAMPLES have come: where packets come in any order, one
 * of a few samples is always twice another.
 */
struct mt_spray_rtt {
	uint16_t log : 12;
	uint16_t samples : 4;
};
#define MT_SPRAY_SAMPLES 15u
#define MT_SPRAY_LOG_MAX 0xfffu

struct mt_spray {
	struct mb_prng prng;
	/*
	 * One a port, NULL: not attached; before them a bit for each EV: to be skipped once; behind
	 * them the mean RTT of each port, and what is counted while `counts`.
	 */
	struct mt_spray_port *ports;
	uint8_t next_port;
	uint8_t run_left;  /* packets that may still go on run_ev */
	bool round_began;  /* on some port: mt_spray_set_width may be asked for the next rounds */
	bool in_order : 1; /* this QP has heard of no queue, see mt_spray_leave_order */
	bool counts : 1;   /* planes are unlike: it passes over ports with enough in flight */
	uint8_t fast : 5;  /* the port with the shortest mean RTT, or one that had it lately */
	uint16_t width;	   /* EVs of a port in the next rounds */
	uint16_t run_ev;
	uint64_t doubted_ns; /* an EV that was proved before is not taken, see mt_spray_doubt */
};

/* mt_spray_init begins without a place in the rotation, which only data packets need. */
void mt_spray_init(struct mt_spray *sp, uint64_t seed);
/*
 * mt_spray_attach gives it mt_spray_size bytes, 8-byte aligned, for its place, a random one that is
 * the QP's own, and for what it skips, at first nothing. mt_spray_detach returns them.
 */
void mt_spray_attach(struct mt_spray *sp, void *mem, uint32_t n_ports, uint16_t n_evs);
void *mt_spray_detach(struct mt_spray *sp, uint16_t n_evs);
static inline size_t mt_spray_skips_size(uint16_t n_evs)
{
	return (n_evs + 63u) / 64u * sizeof(uint64_t);
}
static inline size_t mt_spray_ports_size(uint32_t n_ports)
{
	return (n_ports * (sizeof(struct mt_spray_port) + sizeof(struct mt_spray_rtt)) + 7) &
	       ~(size_t)7;
}
static inline size_t mt_spray_size(uint32_t n_ports, uint16_t n_evs)
{
	return mt_spray_skips_size(n_evs) + mt_spray_ports_size(n_ports) + mt_flights_size(n_ports);
}
/* mt_spray_rtts returns the mean RTT of each port. */
static inline struct mt_spray_rtt *mt_spray_rtts(const struct mt_spray *sp,
						 const struct mt_ev_set *s)
{
	return (struct mt_spray_rtt *)(sp->ports + s->n_ports);
}
/* mt_spray_flights returns what it counts, once attached and while it does. */
static inline struct mt_flights *mt_spray_flights(const struct mt_spray *sp,
						  const struct mt_ev_set *s)
{
	uint8_t *ports = (uint8_t *)sp->ports;

	return (struct mt_flights *)(void *)(ports + mt_spray_ports_size(s->n_ports));
}
/*
 * mt_spray_not_full returns of these ports those by which new data may leave, while it counts: all
 * but those that have enough in flight; all of them where no other port of the rotation may be
 * used. REQ(req.spray.flight)
 */
uint32_t mt_spray_not_full(const struct mt_spray *sp, const struct mt_ev_set *s, uint32_t ports);
/*
 * mt_spray_sample_rtt takes how long a packet by this port took, once attached, and says whether
 * mt_spray_is_unlike is worth asking.
 */
bool mt_spray_sample_rtt(struct mt_spray *sp, const struct mt_ev_set *s, uint32_t port,
			 uint64_t rtt_ns);
/*
 * mt_spray_is_unlike says whether packets by this port take on average more than twice as long as
 * by another that may be used. By a plane that carries less than its equal share they do: what the
 * window holds waits there. REQ(req.spray.flight)
 */
bool mt_spray_is_unlike(struct mt_spray *sp, const struct mt_ev_set *s, uint32_t port);
/*
 * mt_spray_skip_once makes a GOOD EV passed over once in the rotation of this QP, once attached:
 * marks and trims are what a peer says, and no other QP has to believe it. REQ(req.ev.skip-once)
 */
void mt_spray_skip_once(struct mt_spray *sp, const struct mt_ev_set *s, uint16_t ev);
/* mt_spray_skips says whether the EV is to be skipped. */
static inline bool mt_spray_skips(const struct mt_spray *sp, uint16_t ev)
{
	const uint64_t *behind = (const void *)sp->ports;

	return behind && behind[-1 - ev / 64] >> ev % 64u & 1;
}
/*
 * mt_spray_leave_order makes all further rounds random, of a QP that heard of a queue on its path
 * or at the receiver: senders that meet in the same order every round would not come apart, and the
 * same one of them would be cut each time. Nothing for a set that is not `ordered`.
 */
static inline void mt_spray_leave_order(struct mt_spray *sp)
{
	sp->in_order = false;
}

/* mt_spray_go_to_port makes the next packet leave by this port, if it has room. */
static inline void mt_spray_go_to_port(struct mt_spray *sp, uint32_t port)
{
	sp->next_port = (uint8_t)port;
}

/* mt_spray_set_width makes the next rounds wide enough for a window of so many packets on
 * n_ports. */
void mt_spray_set_width(struct mt_spray *sp, uint64_t window, uint32_t n_ports);
/*
 * mt_spray_pick returns the EV for the next data packet among the ports in port_mask, or MT_EV_NONE
 * when no usable EV leaves from one. `avoid`, or another EV of its group, is not returned while
 * there is another: a lost packet must not go where it was lost. *skipped counts EVs that were
 * skipped once; each costs its port the turn, which the next port has. MT_EV_NONE with skips: the
 * next turn is that of a port without room; call again when that has some, or when it has been
 * waited for long enough.
 */
uint16_t mt_spray_pick(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid,
		       uint32_t *skipped);
/*
 * mt_spray_pick_run returns the EV for the next new data packet: that of the present run while it
 * is GOOD and has room, else as mt_spray_pick, with which a run of up to max_run begins.
 */
uint16_t mt_spray_pick_run(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask,
			   uint32_t max_run, uint32_t *skipped);
/*
 * mt_spray_pick_control returns an EV for a control packet, from `port` if it has a usable one, the
 * one known to have reached the peer lately before any other, else from any, else (all bad) still
 * from `port`: a SACK that may get lost is better than none. Ports that may not be used are passed
 * over; MT_EV_NONE: the set has no EV on any other.
 */
uint16_t mt_spray_pick_control(struct mt_spray *sp, const struct mt_ev_set *s, uint8_t port);

/*
 * mt_spray_pick_probe returns an EV of the port, usable if there is one; MT_EV_NONE: it has none.
 */
uint16_t mt_spray_pick_probe(const struct mt_ev_set *s, uint32_t port, uint16_t from);

/*
 * mt_spray_pick_tail fills evs[] with up to n different EVs for probes of a QP that hears nothing,
 * spread over the ports that may be used: of each the one known to have reached the peer lately
 * first, then other usable ones. Where none is usable it is as mt_spray_pick_control. It returns
 * how many there are, 0 when the set has no EV on any such port. REQ(req.probe.tail)
 */
uint32_t mt_spray_pick_tail(struct mt_spray *sp, const struct mt_ev_set *s, uint32_t n,
			    uint16_t *evs);

/*
 * Reverse EVs: those on which answers return.
 *
 * An EV set keeps one EV of each plane that is known to have reached the peer: data sent on it were
 * acknowledged, or a probe on it was answered. A sender of data learns this from its SACKs. A QP
 * that only receives tests a random EV each round trip, of one plane after the other, as long as
 * something arrives; there is no timer. What one QP learns serves all that share the set. That the
 * peer seems not to hear it is what one peer says, and holds for its QP. See
 * docs/design/0013-ways-back.md.
 */

/*
 * A round trip is at least so many times the shortest wait for an answer: tests are to be few
 * compared with data, whose receiver may be busy.
 */
#define MT_REVERSE_EV_WAITS 32u

/* mt_reverse_ev_set notes that something sent on this EV has reached the peer. */
static inline void mt_reverse_ev_set(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	uint32_t port = mt_ev_port(s, ev);

	s->ports[port].reverse_ev = ev;
	s->proved_ns[port] = now_ns;
	mt_ev_note_heard(s, ev);
}

/* mt_reverse_ev_get returns that EV of a port while it may be used, else MT_EV_NONE. */
static inline uint16_t mt_reverse_ev_get(const struct mt_ev_set *s, uint32_t port)
{
	uint16_t ev = s->ports[port].reverse_ev;

	return ev != MT_EV_NONE && mt_ev_is_usable(s, ev) && mt_ev_is_open(s, ev) ? ev : MT_EV_NONE;
}

/*
 * mt_spray_doubt says that the peer of this QP seems not to hear answers that left before then, on
 * whatever plane: this QP no longer takes EVs that were proved earlier. Others do, for they need
 * not believe this peer.
 */
static inline void mt_spray_doubt(struct mt_spray *sp, uint64_t before_ns)
{
	if (before_ns > sp->doubted_ns)
		sp->doubted_ns = before_ns;
}

/* mt_spray_reverse_ev is mt_reverse_ev_get but for EVs that this QP doubts. */
static inline uint16_t mt_spray_reverse_ev(const struct mt_spray *sp, const struct mt_ev_set *s,
					   uint32_t port)
{
	return s->proved_ns[port] < sp->doubted_ns ? MT_EV_NONE : mt_reverse_ev_get(s, port);
}

/*
 * mt_reverse_ev_newest returns of these EVs, on ports of the mask, the one that was proved last,
 * but for `avoid`; MT_EV_NONE: there is none.
 */
uint16_t mt_reverse_ev_newest(const struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid);

/* mt_reverse_ev_postpone puts the next test off for a round trip, as the set or else timing knows
 * it. */
static inline void mt_reverse_ev_postpone(struct mt_ev_set *s, const struct mt_timing *t,
					  uint64_t now_ns)
{
	uint64_t wait_ns = MT_REVERSE_EV_WAITS * t->tail_probe_min_ns;

	s->reverse_ev_next_ns = now_ns + (s->probe_rtt_ns < wait_ns ? wait_ns : s->probe_rtt_ns);
}

/*
 * mt_reverse_ev_is_due_soon says whether half of the time until that test has passed: a SACK, if
 * one is asked for now, comes in time to put it off.
 */
static inline bool mt_reverse_ev_is_due_soon(const struct mt_ev_set *s, const struct mt_timing *t,
					     uint64_t now_ns)
{
	uint64_t wait_ns = MT_REVERSE_EV_WAITS * t->tail_probe_min_ns;

	wait_ns = s->probe_rtt_ns < wait_ns ? wait_ns : s->probe_rtt_ns;
	return now_ns + wait_ns / 2 >= s->reverse_ev_next_ns;
}

/* mt_reverse_ev_candidate returns a random EV of the next plane to test; MT_EV_NONE: none. */
uint16_t mt_reverse_ev_candidate(struct mt_ev_set *s, struct mb_prng *prng);

#endif
