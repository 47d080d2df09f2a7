/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_set.h - the EVs that lead to one destination, their health, and the ports of both ends, on
 * which it depends. Whether the peer is there is in liveness.h.
 *
 * Health is a fact about an EV and a destination, not about a QP: what one QP learns, every QP to
 * that destination (with the same EV profile) uses. A QP keeps only its place in the rotation
 * (spray.h). See docs/design/0001-ev-health.md.
 *
 * What all sets of a profile have in common is in ev_shared.h. A set has four bits of each EV, and
 * a record only of those in trouble.
 *
 * The EVs of a port (plane) are in `order`, the active ones first: those take part in the rotation,
 * the rest are backups. An active EV that goes bad changes places with a GOOD backup of
 * its own port, so that planes stay equal. REQ(req.spray.equal-planes)
 *
 * EVs over the same links are a group (config.h): they are bad together and come back together;
 * DENIED belongs to one EV. Of a group at most one EV takes part in the rotation, since a
 * second one would load the same links twice. REQ(req.ev.same-path)
 *
 *	GOOD --- loss, ALWAYS_SKIP ---> ASSUMED_BAD --- enough probes answered ---> GOOD
 *	any --- operator ---> DENIED --- operator ---> GOOD
 *
 * SKIP is a state of an EV for one QP alone, whose peer said so: see spray.h.
 */
#ifndef SOFTMRC_CORE_EV_EV_SET_H
#define SOFTMRC_CORE_EV_EV_SET_H

#include "base/bits.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/timer.h"
#include "core/config.h"
#include "core/ev/ev_shared.h"
#include "core/ev/reorder.h"

/*
 * Ports of the peer: what it says of them, and what of it is true.
 *
 *	OPEN --- the peer says it is down ---> SUSPECT --- probes unanswered ---> ABANDONED
 *	SUSPECT, ABANDONED --- something sent on the plane was answered ---> OPEN
 *	SUSPECT --- the peer says it is up ---> OPEN
 *
 * A port status may be forged, so it is only a reason to probe that plane at once. The plane is in
 * use until a few probes in a row have stayed unanswered. While it is abandoned probes go on, ever
 * more rarely; a status that it is up makes the next one leave at once. Whatever the peer says, a
 * plane is probed for it no more often than once an interval.
 * REQ(ep.port.peer-down) REQ(ep.port.suspicion) REQ(ep.port.word-limit)
 */

#define MT_PLANE_NONE UINT8_MAX

struct mt_peer_port {
	uint64_t since_ns;	   /* in this state since */
	uint64_t restored_ns;	   /* when it was last found to be up after it was abandoned */
	uint64_t holdoff_until_ns; /* what the peer says is ignored before */
	uint64_t probe_due_ns;	   /* the next probe */
	uint8_t probes;		   /* unanswered, stops at 255 */
};

struct mt_peer_ports {
	uint32_t suspect, abandoned; /* a plane in neither is OPEN */
	uint32_t n;
	struct mt_peer_port *port;
};

/* How long to wait for what. */
struct mt_peer_port_timing {
	uint64_t answer_ns;	  /* an answer that has not come in this time will not come */
	uint64_t interval_ns;	  /* between statuses that count, and between probes of a plane */
	uint64_t interval_max_ns; /* that is abandoned, doubling up to this */
};

/* mt_peer_ports_init makes n planes, all open; the array is the caller's. */
void mt_peer_ports_init(struct mt_peer_ports *p, struct mt_peer_port *planes, uint32_t n);
/* mt_peer_ports_status takes the peer's status; bit set: the port is up. Planes beyond n are not
 * there. */
void mt_peer_ports_status(struct mt_peer_ports *p, uint32_t up, const struct mt_peer_port_timing *w,
			  uint64_t now_ns);
/* mt_peer_ports_deadline returns when a probe is due, UINT64_MAX for never. */
uint64_t mt_peer_ports_deadline(const struct mt_peer_ports *p);
/*
 * mt_peer_ports_next_probe returns a plane to be probed now, or MT_PLANE_NONE. *leave says that its
 * probes stayed unanswered for long enough.
 */
uint8_t mt_peer_ports_next_probe(struct mt_peer_ports *p, const struct mt_peer_port_timing *w,
				 uint64_t now_ns, bool *leave);
/* mt_peer_ports_postpone takes that probe back, which could not be sent, until then. */
void mt_peer_ports_postpone(struct mt_peer_ports *p, uint32_t plane, uint64_t until_ns);
/* mt_peer_ports_abandon moves a SUSPECT plane to ABANDONED. */
void mt_peer_ports_abandon(struct mt_peer_ports *p, uint32_t plane, uint64_t now_ns);
/* mt_peer_ports_answered: what was sent then on the plane was answered; says whether it was
 * ABANDONED. */
bool mt_peer_ports_answered(struct mt_peer_ports *p, uint32_t plane, uint64_t sent_ns,
			    uint64_t now_ns);
/* mt_peer_ports_may_have_lost says whether what was sent then may have been lost with the peer's
 * port. */
bool mt_peer_ports_may_have_lost(const struct mt_peer_ports *p, uint32_t plane, uint64_t sent_ns);

/*
 * Local ports: which are up, and since when.
 *
 * A port that goes down takes with it what it has not sent, which says nothing about any EV: a loss
 * counts against an EV only when its port has been up without a break since the packet left.
 * REQ(ep.port.not-attributed)
 */

struct mt_local_ports {
	uint32_t up;
	uint32_t suspect; /* of these: nothing sent on them is answered, see endpoint/uplink.c */
	uint32_t n;
	uint64_t since_ns[MT_PORTS_MAX]; /* up, down or no longer suspect since then */
	bool were_gone;			 /* all of them, once ... */
	uint64_t back_ns;		 /* ... and when the first came back after that */
};

/* mt_local_ports_init makes n ports, all up. */
void mt_local_ports_init(struct mt_local_ports *p, uint32_t n, uint64_t now_ns);
/* mt_local_ports_set says whether a port's state changed. */
bool mt_local_ports_set(struct mt_local_ports *p, uint32_t port, bool up, uint64_t now_ns);
/* mt_local_ports_may_have_lost says whether a packet sent then on this port may have been lost with
 * it. */
bool mt_local_ports_may_have_lost(const struct mt_local_ports *p, uint32_t port, uint64_t sent_ns);
/* mt_local_ports_down_ns returns for how long no port has been up; none may be. */
uint64_t mt_local_ports_down_ns(const struct mt_local_ports *p, uint64_t now_ns);
/* mt_local_ports_settle says whether the first of them came back, when all were down, less than so
 * long ago. */
bool mt_local_ports_settle(const struct mt_local_ports *p, uint64_t settle_ns, uint64_t now_ns);
/* mt_local_ports_nearest returns `port` if it is open, else the next that is; one must be up. */
uint8_t mt_local_ports_nearest(const struct mt_local_ports *p, uint32_t port);

/* mt_local_ports_set_suspect changes whether a port that is up is suspect. */
void mt_local_ports_set_suspect(struct mt_local_ports *p, uint32_t port, bool suspect,
				uint64_t now_ns);

static inline bool mt_local_port_is_suspect(const struct mt_local_ports *p, uint32_t port)
{
	return p->suspect >> port & 1;
}

/* mt_local_ports_open returns the ports to be used: those that are up, suspect ones if need be. */
static inline uint32_t mt_local_ports_open(const struct mt_local_ports *p)
{
	return p->up & ~p->suspect ? p->up & ~p->suspect : p->up;
}

static inline bool mt_local_port_is_up(const struct mt_local_ports *p, uint32_t port)
{
	return p->up >> port & 1;
}

/* ---- the set ---- */

/* Probes of bad EVs that one interval may see. */
#define MT_EV_PROBES_PER_INTERVAL 32u
/* A trial that is on offer is refused to so many packets less one for being too small. */
#define MT_EV_TRIAL_PATIENCE 1024u
/* No EV: what a search returns when there is none, and what avoids nothing. */
#define MT_EV_NONE UINT16_MAX

/* What is kept of each EV, of 64 at a time. */
struct mt_ev_bits {
	uint64_t usable; /* GOOD */
	uint64_t denied; /* DENIED; in neither: ASSUMED_BAD */
	uint64_t heard;	 /* something sent on it has reached the peer */
	uint64_t fault;	 /* it has a record */
};

/* What only an EV in trouble needs. Once it has been well for long its record may go, with it the
 * counts. */
struct mt_ev_fault {
	uint64_t bad_since_ns;
	uint64_t next_probe_ns;
	uint64_t revived_ns;
	uint64_t overload_next_ns; /* losses of what was sent before do not count */
	uint32_t retired, revived;
	uint16_t ev;
	uint16_t lost_bytes;	 /* of the largest packet that it lost, nominal */
	bool probe_unanswered;	 /* one was sent, and nothing has come since */
	bool on_trial;		 /* a packet is on its way by which it may come back */
	uint8_t answered;	 /* probes in a row */
	uint8_t backoff;	 /* flaps and failures in a row, as a shift of the interval */
	uint8_t flaps;		 /* it was retired soon after it was revived: backoff begins here */
	uint8_t overload_losses; /* while the peer was overloaded, since a packet last arrived */
};

struct mt_ev_set_port {
	uint16_t usable;     /* GOOD EVs */
	uint16_t reverse_ev; /* known to have reached the peer lately, or MT_EV_NONE; spray.h */
};

struct mt_peer;

struct mt_ev_set {
	/* What every packet looks at; behind the end of the structure are the bits. */
	struct mt_ev_shared *shared;
	const uint16_t *order;	      /* places, as in mt_ev_shared: those, or own_places */
	struct mt_ev_set_port *ports; /* behind the bits ... */
	uint64_t *proved_ns;	      /* ... with, by port, when its reverse_ev was proved last */
	uint32_t open_ports;	      /* neither down here nor abandoned because of the peer */
	uint16_t n_evs;
	uint16_t n_usable;
	uint16_t trial;		/* an EV that is to be sent one packet, or MT_EV_NONE */
	uint16_t trial_refused; /* packets that were too small for it */
	uint16_t n_unheard;	/* EVs on which nothing is known to have reached the peer */
	uint8_t n_ports;
	uint8_t reverse_ev_plane;    /* a plane of which one was tested */
	uint64_t reverse_ev_next_ns; /* when the next return path is to be tested */
	struct mt_reorder reorder;
	uint64_t probe_rtt_ns; /* about the longest that answers took lately */
	struct mb_link peers;  /* engines behind `peer` that get our port status; port_notify.c */
	struct mb_link link;   /* on the engine's list */
	struct mb_link users;  /* QPs that send on it */
	struct mb_link probe_turn; /* on one of the engine, while its probes wait */
	struct mt_ev_set *chain;   /* with the same hash of `peer` */
	struct mb_pool *pool;
	struct rd_gid peer;
	struct mb_timer timer;
	uint32_t refs;
	uint16_t probe_from; /* where the search for a due probe goes on */
	uint16_t probes;     /* since probes_since_ns */
	uint64_t probes_since_ns;
	struct mt_ev_fault *faults; /* n_faults, see mt_ev_fault */
	uint16_t n_faults, faults_room;
	uint8_t stretch; /* of probe intervals, while nothing is sent there; endpoint/ev_probes.c */
	bool has_spare_peer;  /* the memory for a peer behind the set is not in use */
	uint16_t *own_places; /* NULL: all EVs are where the profile has them */
	struct mt_peer_ports peer_ports;
	struct mt_ev_bits bits[];
};

/* A change of an EV's state that a controller hears of; put into the engine's event ring. */
struct mt_ev_change {
	uint16_t ev;
	uint8_t state;
	uint8_t cause;
};

static inline uint32_t mt_ev_value(const struct mt_ev_set *s, uint16_t ev)
{
	return s->shared->evs[ev].value;
}

static inline uint8_t mt_ev_port(const struct mt_ev_set *s, uint16_t ev)
{
	return s->shared->evs[ev].port;
}

/* mt_ev_slot returns the place of an EV: its index in s->order. */
static inline uint16_t mt_ev_slot(const struct mt_ev_set *s, uint16_t ev)
{
	return s->order[s->n_evs + ev];
}

static inline bool mt_ev_is_usable(const struct mt_ev_set *s, uint16_t ev)
{
	return s->bits[ev / 64].usable >> ev % 64u & 1;
}

static inline enum mt_ev_state mt_ev_state_of(const struct mt_ev_set *s, uint16_t ev)
{
	if (mt_ev_is_usable(s, ev))
		return MT_EV_GOOD;
	return s->bits[ev / 64].denied >> ev % 64u & 1 ? MT_EV_DENIED : MT_EV_ASSUMED_BAD;
}

/* mt_ev_was_heard says whether something sent on this EV is known to have reached the peer. */
static inline bool mt_ev_was_heard(const struct mt_ev_set *s, uint16_t ev)
{
	return s->bits[ev / 64].heard >> ev % 64u & 1;
}

/* mt_ev_note_heard notes that it has; true: for the first time. */
static inline bool mt_ev_note_heard(struct mt_ev_set *s, uint16_t ev)
{
	if (mt_ev_was_heard(s, ev))
		return false;
	s->bits[ev / 64].heard |= UINT64_C(1) << ev % 64u;
	s->n_unheard--;
	return true;
}

/* mt_ev_fault_rank returns how many EVs with a record come before this one. */
static inline uint32_t mt_ev_fault_rank(const struct mt_ev_set *s, uint16_t ev)
{
	uint32_t rank = 0;

	for (uint32_t word = 0; word < ev / 64u; word++)
		rank += mb_popcount64(s->bits[word].fault);
	return rank + mb_popcount64(s->bits[ev / 64].fault & ((UINT64_C(1) << ev % 64u) - 1));
}

/* mt_ev_fault returns the record of an EV; NULL: it has none. One that is ASSUMED_BAD has. */
static inline struct mt_ev_fault *mt_ev_fault(const struct mt_ev_set *s, uint16_t ev)
{
	return s->bits[ev / 64].fault >> ev % 64u & 1 ? &s->faults[mt_ev_fault_rank(s, ev)] : NULL;
}

/* mt_ev_forget_overload notes that a packet on this EV has reached a peer that is overloaded. */
static inline void mt_ev_forget_overload(struct mt_ev_set *s, uint16_t ev)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	if (f)
		f->overload_losses = 0;
}

/* mt_ev_set_has_one_peer says whether QPs talk to one engine only at the set's destination. */
static inline bool mt_ev_set_has_one_peer(const struct mt_ev_set *s)
{
	return s->peers.next == s->peers.prev;
}

/* mt_ev_is_open says whether an EV leaves from a port that may be used. */
static inline bool mt_ev_is_open(const struct mt_ev_set *s, uint16_t ev)
{
	return s->open_ports >> mt_ev_port(s, ev) & 1;
}

/* mt_ev_set_useful_ports returns the open ports with a usable EV. */
static inline uint32_t mt_ev_set_useful_ports(const struct mt_ev_set *s)
{
	uint32_t useful = 0;

	for (uint32_t p = 0; p < s->n_ports; p++)
		useful |= (uint32_t)(s->ports[p].usable > 0) << p;
	return useful & s->open_ports;
}

/* mt_ev_set_is_reachable says whether any of its EVs leaves from such a port. */
static inline bool mt_ev_set_is_reachable(const struct mt_ev_set *s)
{
	return (s->open_ports & s->shared->own_ports) != 0;
}

/* mt_ev_set_size returns the bytes of a set of n_evs on n_ports ports. */
size_t mt_ev_set_size(uint16_t n_evs, uint32_t n_ports);
/*
 * mt_ev_set_init builds a set with all EVs GOOD in mem, which uses `shared` until mt_ev_set_fini.
 * The set takes memory from the pool for each EV that is in trouble, and for places of its own.
 * Where there is none the EV stays in use. mt_ev_set_fini gives that memory back; mem is the
 * caller's. REQ(mem.path-trouble)
 */
struct mt_ev_set *mt_ev_set_init(void *mem, struct mt_ev_shared *shared, const struct rd_gid *peer,
				 struct mb_pool *pool);
void mt_ev_set_fini(struct mt_ev_set *s);
/*
 * mt_ev_set_add_faults gives a set that has no records one for each EV, in memory of n_evs struct
 * mt_ev_fault; such a set needs no pool if it has neither backups nor groups.
 */
void mt_ev_set_add_faults(struct mt_ev_set *s, void *mem);
/* mt_ev_get_fault returns the record of an EV, a new one if it has none; NULL: no memory. */
struct mt_ev_fault *mt_ev_get_fault(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);
/*
 * mt_ev_set_own_places gives a set whose EVs may change places some of its own, before the first
 * EV leaves GOOD; false: no memory.
 */
bool mt_ev_set_own_places(struct mt_ev_set *s);
/* mt_ev_may_flap says whether an EV was revived so lately that another loss is a flap. */
bool mt_ev_may_flap(const struct mt_ev_set *s, const struct mt_ev_fault *f, uint64_t now_ns);

/*
 * mt_ev_retire makes an EV ASSUMED_BAD and schedules its first probe. Returns how many changes it
 * wrote to changes[2]: none when the EV was not usable; two when the floor min_active made it take
 * back the EV that has been bad longest. REQ(req.ev.one-loss) REQ(req.ev.min-active)
 */
unsigned mt_ev_retire(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause,
		      struct mt_ev_change changes[2]);
/*
 * mt_ev_suspect makes an EV of which nothing is known ASSUMED_BAD, its first probe due now; says
 * whether it did. It does not where fewer than min_active would be left, nor in a set that
 * ignores losses. REQ(req.ev.hint)
 */
bool mt_ev_suspect(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);
/*
 * mt_ev_set_restore_to_floor follows a change of open ports, or of what is denied: where fewer than
 * min_active EVs of open ports are usable, it makes the one GOOD that has been bad longest and
 * returns it, to be called again; MT_EV_NONE: there are enough, or all the others are denied. So a
 * bad EV is used rather than none.
 */
uint16_t mt_ev_set_restore_to_floor(struct mt_ev_set *s);
/*
 * mt_ev_group_next returns the next EV of the group, in a ring: `ev` itself when it is the only
 * one. A caller that retires or restores an EV does so with all of them.
 */
static inline uint16_t mt_ev_group_next(const struct mt_ev_set *s, uint16_t ev)
{
	return s->shared->groups ? s->shared->groups[ev].next : ev;
}

/* mt_ev_same_group says whether two EVs are of one group. */
static inline bool mt_ev_same_group(const struct mt_ev_set *s, uint16_t a, uint16_t b)
{
	const struct mt_ev_group *groups = s->shared->groups;

	return groups ? groups[a].head == groups[b].head : a == b;
}

/*
 * Trials: an EV that loses again soon after its probes have revived it may lose large packets only,
 * or one in a hundred. It comes back only when its probes were answered and then one data packet,
 * as large as the largest that it has lost, has arrived; where nothing as large is sent any more,
 * one of any size. REQ(req.ev.trial)
 *
 * mt_ev_note_lost_bytes notes the size of a packet that an EV has lost. mt_ev_take_trial returns
 * the EV on which a packet of so many bytes is to be sent now, from one of these ports, or
 * MT_EV_NONE. mt_ev_pass_trial takes the arrival of what was sent on a bad EV at sent_ns; true: it
 * is GOOD thereby.
 */
void mt_ev_note_lost_bytes(struct mt_ev_set *s, uint16_t ev, uint16_t bytes);
static inline uint16_t mt_ev_take_trial(struct mt_ev_set *s, uint32_t ports, uint32_t bytes)
{
	uint16_t ev = s->trial;
	struct mt_ev_fault *f;

	if (ev == MT_EV_NONE || !(ports & s->open_ports & UINT32_C(1) << mt_ev_port(s, ev)))
		return MT_EV_NONE;
	f = mt_ev_fault(s, ev);
	if (!f || (bytes < f->lost_bytes && ++s->trial_refused < MT_EV_TRIAL_PATIENCE))
		return MT_EV_NONE;
	s->trial = MT_EV_NONE;
	if (mt_ev_state_of(s, ev) != MT_EV_ASSUMED_BAD)
		return MT_EV_NONE;
	f->on_trial = true;
	return ev;
}
bool mt_ev_pass_trial(struct mt_ev_set *s, uint16_t ev, uint64_t sent_ns, uint64_t now_ns);
/* mt_ev_restore makes an ASSUMED_BAD EV GOOD because its links work; says whether it did. */
bool mt_ev_restore(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);
/*
 * mt_ev_clear_of_loss makes an ASSUMED_BAD EV GOOD because what it seemed to have lost has arrived;
 * says whether it did. It was never away: its next loss is no flap.
 */
bool mt_ev_clear_of_loss(struct mt_ev_set *s, uint16_t ev);
/* mt_ev_set_count_usable returns how many EVs are usable on the ports that may be used. */
uint32_t mt_ev_set_count_usable(const struct mt_ev_set *s);
/*
 * mt_ev_restore_after_port_down makes an EV GOOD that went bad at since_ns or later, because its
 * port was down then; says whether it did.
 */
bool mt_ev_restore_after_port_down(struct mt_ev_set *s, uint16_t ev, uint64_t since_ns);
/*
 * mt_ev_deny sets DENIED, or GOOD again; says whether the state changed. It does not without memory
 * for places, see mt_ev_set_own_places.
 */
bool mt_ev_deny(struct mt_ev_set *s, uint16_t ev, bool deny);

/*
 * mt_ev_count_failure notes that a probe of an EV was not answered: the next one is due later each
 * time, up to 16 times the shortest interval, or that of its flaps. What is dead may return at any
 * moment, and one answer may be lost; the budget of the engine bounds the probes of all.
 * mt_ev_count_answer notes that one was; true: a bad EV is thereby GOOD again. Both need its
 * record. REQ(req.ev.revive)
 */
void mt_ev_count_failure(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);
bool mt_ev_count_answer(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);
/* mt_ev_set_sample_rtt takes how long the answer to a probe took. */
void mt_ev_set_sample_rtt(struct mt_ev_set *s, uint64_t rtt_ns);
/*
 * mt_ev_set_next_probe returns an EV whose probe is due now, having counted an unanswered one as a
 * failure and scheduled the next, two RTTs away at least, since the answer may still come;
 * MT_EV_NONE when none is due. At most MT_EV_PROBES_PER_INTERVAL are due in one probe interval,
 * whatever the number of bad EVs, and the search goes on behind the last one: a peer that is behind
 * must not drown in probes. peer_silent: no peer that is probed answers at present, so that what it
 * leaves unanswered is no failure.
 */
uint16_t mt_ev_set_next_probe(struct mt_ev_set *s, uint64_t now_ns, bool peer_silent);
/* mt_ev_set_probe_deadline returns when the next probe is due, MB_NEVER when no EV is bad. */
uint64_t mt_ev_set_probe_deadline(const struct mt_ev_set *s);
/* mt_ev_set_hasten_probes makes those due now that wait for longer than the longest interval. */
void mt_ev_set_hasten_probes(struct mt_ev_set *s, uint64_t now_ns);
/* mt_ev_probe_sent notes that a probe left on an EV, good or bad. */
void mt_ev_probe_sent(struct mt_ev_set *s, uint16_t ev);
/*
 * mt_ev_probe_answered takes the answer to a probe that left on an EV at sent_ns. It returns what
 * mt_ev_count_answer does; what was sent before the EV went bad does not count.
 */
bool mt_ev_probe_answered(struct mt_ev_set *s, uint16_t ev, uint64_t sent_ns, uint64_t now_ns);
/*
 * mt_ev_probe_late takes the answer to a probe that was longer on its way than data may be: it is a
 * failure of a bad EV. REQ(req.ev.late)
 */
void mt_ev_probe_late(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);

#endif
