/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_set.h - the EVs that lead to one destination, and their health.
 *
 * A path's health is a fact about an EV and a destination, not about a QP: what one QP learns,
 * every QP to that destination (with the same EV profile) uses. A QP keeps only its place in the
 * rotation (spray.h). See docs/design/0001-ev-health.md.
 *
 * The EVs of a port (plane) stand in `order`, the active ones first: those take part in the
 * rotation, the rest are backups. An active EV that goes bad changes places with a GOOD backup of
 * its own port, so that planes stay equal. REQ(req.spray.equal-planes)
 *
 * EVs that lead over the same links are one path (config.h): they are bad together and come back
 * together; SKIP and DENIED stay with the EV. Of one path at most one EV takes part in the
 * rotation, since a second one would only load it twice. REQ(req.ev.same-path)
 *
 *	GOOD --- ECN echo, trim ---> SKIP --- its turn comes ---> GOOD
 *	GOOD, SKIP --- loss, ALWAYS_SKIP ---> ASSUMED_BAD --- enough probes answered ---> GOOD
 *	any --- operator ---> DENIED --- operator ---> GOOD
 */
#ifndef SOFTMRC_CORE_EV_EV_SET_H
#define SOFTMRC_CORE_EV_EV_SET_H

#include "base/list.h"
#include "base/pool.h"
#include "base/timer.h"
#include "core/config.h"
#include "core/ev/liveness.h"
#include "core/ev/peer_port.h"

/* Probes of bad paths that one interval may see. */
#define MT_EV_PROBES_PER_INTERVAL 32u
/* No path: what a search returns when there is none, and what "any path" is for an avoid. */
#define MT_EV_NONE UINT16_MAX

/* What every packet looks at. */
struct mt_ev_entry {
	uint32_t value;
	uint8_t port;
	uint8_t state; /* enum mt_ev_state */
	uint16_t slot; /* index in order[] */
};

/* Which EVs lead over the same links; kept only where a profile says that any do. */
struct mt_ev_group {
	uint16_t next;	   /* the next EV of the same path, in a ring */
	uint16_t head;	   /* the first EV of the same path */
	uint16_t n_active; /* of a leader: usable EVs of the path in active places */
};

/* What only a path in trouble needs, or one that was probed. */
struct mt_ev_fault {
	uint64_t bad_since_ns;
	uint64_t next_probe_ns;
	uint64_t probe_sent_ns;
	uint32_t retired, revived;
	uint64_t revived_ns;
	uint16_t probe_id;
	uint8_t probe_pending; /* sent and not answered; usable paths are probed too, see qp.c */
	uint8_t answered;      /* probes in a row */
	uint8_t backoff;       /* failures in a row, as a shift of the interval */
	uint8_t flaps;	       /* it was retired soon after it was revived: backoff begins here */
	uint64_t overload_next_ns; /* losses of what was sent before do not count */
	uint8_t overload_losses;   /* while the peer was crowded, since a packet last arrived */
};

struct mt_ev_set_port {
	uint16_t first; /* in order[] */
	uint16_t count;
	uint16_t active;
	uint16_t usable; /* GOOD or SKIP among all `count` */
	uint16_t
		reverse_ev; /* known to have reached the peer lately, or MT_EV_NONE; reverse_ev.h */
};

struct mt_ev_set {
	struct mb_link link;  /* on the engine's list */
	struct mb_link users; /* QPs that send on it */
	struct mb_timer timer;
	struct rd_gid peer;
	struct mt_liveness liveness; /* of the peer */
	uint32_t profile;
	uint32_t refs;
	uint16_t n_evs;
	uint16_t n_usable;
	uint16_t min_active;
	uint32_t own_ports;  /* from which it has paths */
	uint32_t open_ports; /* neither down here nor left because of the peer; see local_port.h */
	uint8_t n_ports;
	uint8_t revive_probes;
	uint8_t ignores;     /* enum mt_ev_ignores */
	uint8_t probe_seq;   /* 6 bits of the next probe id */
	uint16_t probe_from; /* where the search for a due probe goes on */
	uint16_t probes;     /* since probes_since_ns */
	uint64_t probes_since_ns;
	uint64_t probe_interval_ns, probe_interval_max_ns;
	uint64_t probe_rtt_ns; /* about the longest that answers took lately */
	struct mt_ev_entry *evs;
	struct mt_ev_group *groups; /* NULL: each EV is a path of its own */
	struct mt_ev_fault *faults; /* NULL: there was no trouble yet, see mt_ev_get_fault */
	struct mb_pool *pool;
	uint16_t *order;
	struct mt_ev_set_port *ports;
	struct mt_peer_ports peer_ports;
	uint64_t reverse_ev_next_ns; /* when the next return path is to be tested */
	uint8_t reverse_ev_plane;    /* a plane of which one was tested */
	struct mb_link peers; /* engines behind `peer` that are told of our ports; port_notify.c */
	struct mt_ev_set *chain; /* with the same hash of `peer` */
};

/* A change of an EV's state that a controller hears of; put into the engine's event ring. */
struct mt_ev_change {
	uint16_t ev;
	uint8_t state;
	uint8_t cause;
};

static inline bool mt_ev_is_usable(const struct mt_ev_entry *p)
{
	return p->state == MT_EV_GOOD || p->state == MT_EV_SKIP;
}

/* mt_ev_is_open says whether a path leaves from a port that may be used. */
static inline bool mt_ev_is_open(const struct mt_ev_set *s, uint16_t ev)
{
	return s->open_ports >> s->evs[ev].port & 1;
}

/* mt_ev_set_is_reachable says whether any of its paths leaves from such a port. */
static inline bool mt_ev_set_is_reachable(const struct mt_ev_set *s)
{
	return (s->open_ports & s->own_ports) != 0;
}

/*
 * mt_ev_set_size returns the bytes of a set of n_evs on n_ports ports, arrays included; group_ids:
 * the profile has them.
 */
size_t mt_ev_set_size(uint16_t n_evs, uint32_t n_ports, bool group_ids);
/*
 * mt_ev_set_init builds a set with all EVs GOOD in mem; the profile's EV array is copied. When a
 * path first gets into trouble the set takes memory for that from the pool. Where there is none the
 * path stays in use, and a probe on it is not recognised when it comes back, until there is.
 * mt_ev_set_fini gives that memory back; mem is the caller's. REQ(mem.path-trouble)
 */
struct mt_ev_set *mt_ev_set_init(void *mem, const struct mt_ev_profile_cfg *profile,
				 uint32_t n_ports, const struct rd_gid *peer, struct mb_pool *pool);
void mt_ev_set_fini(struct mt_ev_set *s);
/*
 * mt_ev_set_add_faults gives a set that has none the memory for EVs in trouble, of n_evs struct
 * mt_ev_fault; such a set needs no pool.
 */
void mt_ev_set_add_faults(struct mt_ev_set *s, void *mem);
/* mt_ev_get_fault returns what is kept of a path in trouble; NULL: no memory for that. */
struct mt_ev_fault *mt_ev_get_fault(struct mt_ev_set *s, uint16_t ev);

/* mt_ev_skip_once makes a GOOD EV skipped once; returns whether it did. */
bool mt_ev_skip_once(struct mt_ev_set *s, uint16_t ev);
/* mt_ev_end_skip makes a SKIP path, whose turn just passed, GOOD again. */
void mt_ev_end_skip(struct mt_ev_set *s, uint16_t ev);
/*
 * mt_ev_retire makes a path ASSUMED_BAD and schedules its first probe. Returns how many
 * changes it wrote to changes[2]: none when the path was not usable; two when the floor min_active
 * made it take back the path that has been bad longest. REQ(req.ev.one-loss) REQ(req.ev.min-active)
 */
unsigned mt_ev_retire(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause,
		      struct mt_ev_change changes[2]);
/*
 * mt_ev_group_next returns the next EV that leads over the same links, in a ring: `path` itself
 * when it is the only one. Whoever retires or restores an EV does so with all of them.
 */
static inline uint16_t mt_ev_group_next(const struct mt_ev_set *s, uint16_t ev)
{
	return s->groups ? s->groups[ev].next : ev;
}

/* mt_ev_same_group says whether two EVs lead over the same links. */
static inline bool mt_ev_same_group(const struct mt_ev_set *s, uint16_t a, uint16_t b)
{
	return s->groups ? s->groups[a].head == s->groups[b].head : a == b;
}

/* mt_ev_restore makes an ASSUMED_BAD EV GOOD because its path has proven well; says whether
 * the state changed. */
bool mt_ev_restore(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);
/* mt_ev_set_count_usable returns how many paths are usable on the ports that may be used. */
uint32_t mt_ev_set_count_usable(const struct mt_ev_set *s);
/*
 * mt_ev_restore_after_port_down makes a path GOOD that went bad at since_ns or later, because its
 * port was down then; says whether it did.
 */
bool mt_ev_restore_after_port_down(struct mt_ev_set *s, uint16_t ev, uint64_t since_ns);
/* mt_ev_set_update_ports says from which ports paths may be used from now on. */
void mt_ev_set_update_ports(struct mt_ev_set *s, uint32_t ports);
/* mt_ev_deny sets DENIED, or GOOD again; says whether the state changed. */
bool mt_ev_deny(struct mt_ev_set *s, uint16_t ev, bool deny);

/*
 * mt_ev_count_failure notes that a probe of an EV was not answered: the next one is due later each
 * time. mt_ev_count_answer notes that one was, with a mark or not; true: a bad EV is thereby in use
 * again, GOOD or SKIP. Both need s->faults. REQ(req.ev.revive)
 */
void mt_ev_count_failure(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns);
bool mt_ev_count_answer(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns, bool marked);
/* mt_ev_set_sample_rtt takes how long the answer to a probe took. */
void mt_ev_set_sample_rtt(struct mt_ev_set *s, uint64_t rtt_ns);
/*
 * mt_ev_set_next_probe returns a path whose probe is due now, having counted an unanswered one
 * as a failure and scheduled the next, two RTTs away at least, since an answer under way is none;
 * MT_EV_NONE when none is due. At
 * most MT_EV_PROBES_PER_INTERVAL are due in one probe interval, whatever the number of bad paths,
 * and paths take turns: a peer that is behind must not drown in probes.
 */
uint16_t mt_ev_set_next_probe(struct mt_ev_set *s, uint64_t now_ns);
/* mt_ev_set_probe_deadline returns when the next probe is due, MB_NEVER when no path is bad. */
uint64_t mt_ev_set_probe_deadline(const struct mt_ev_set *s);
/* mt_ev_new_probe_id gives a probe on path an id that names the path and is new. */
uint16_t mt_ev_new_probe_id(struct mt_ev_set *s, uint16_t ev);
/* mt_ev_record_probe remembers that the probe with this id is on its way. */
void mt_ev_record_probe(struct mt_ev_set *s, uint16_t ev, uint16_t id, uint64_t now_ns);
/*
 * mt_ev_set_match_probe takes the answer to probe `id`. If it is the one that a path waits
 * for, *sent_ns is when it was sent and *path which path it was, and true is returned; *revived
 * is what mt_ev_count_answer says.
 */
bool mt_ev_set_match_probe(struct mt_ev_set *s, uint16_t id, uint64_t now_ns, bool marked,
			   uint64_t *sent_ns, uint16_t *ev, bool *revived);

#endif
