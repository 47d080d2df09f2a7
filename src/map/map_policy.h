/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_policy.h - what a host is to go without, from what its map says is sick: which parts it
 * denies itself, when, and when it takes them up again.
 *
 * A choice is what an EV chooses: a plane, an uplink of the host's T0 in it and, in three tiers, an
 * uplink of that T1 (mf_ev_nth counts them). A part touches a choice when the host's own packets
 * cross it on their way up, whatever their destination: the host's cable, its T0, an uplink, a T1,
 * what is above it. What is on the way down is somebody's end of the fabric, or another T0's: the
 * transport leaves the EVs of those destinations alone by itself, and to deny them would cost all
 * others.
 *
 * Hysteresis: a part is denied when it has been sick without a break for deny_after_ns, and is
 * given back when it has been well for return_after_ns, twice as long after each return, up to 16
 * times; returns are forgotten when it has been well for as long as that.
 *
 * The cap: a denial leaves of each plane's choices all but share_percent, but one uplink, or takes
 * a plane whole, of which the same holds; never all of them. What others took out counts. A part is
 * denied whole or not at all, the worst first; one that would exceed the cap is held back until
 * there is room. What is denied is not given back to make room.
 *
 * 	mm_policy_see(&p, sick, n, false, now);			what the map says
 * 	while ((part = mm_policy_due(&p, out, now)))		out[]: choices that nobody may use
 * 		mm_policy_done(&p, part, try(part), now);
 *
 * Pure; nothing allocates or blocks; one thread at a time.
 */
#ifndef SOFTMRC_MAP_MAP_POLICY_H
#define SOFTMRC_MAP_MAP_POLICY_H

#include "map/map.h"

/* Parts that touch a host's choices and are remembered; further ones wait until there is room. */
#define MM_POLICY_PARTS 64u
/* Half of a tier at most: more would cost more than what a sick part does. */
#define MM_POLICY_SHARE_MAX 50u
/* What map.deny_after, map.return_after and map.deny_share are where nobody says otherwise. */
#define MM_POLICY_DENY_AFTER_USUAL_NS UINT64_C(1000000000)
#define MM_POLICY_RETURN_AFTER_USUAL_NS UINT64_C(60000000000)
#define MM_POLICY_SHARE_USUAL 25u

struct mm_policy_cfg {
	uint32_t host;
	uint64_t deny_after_ns, return_after_ns;
	uint32_t share_percent; /* 1 .. MM_POLICY_SHARE_MAX */
};

enum mm_policy_state {
	MM_POLICY_WATCHED,
	MM_POLICY_HELD, /* is to be denied, and cannot be: the cap, or the caller could not */
	MM_POLICY_DENIED,
	MM_POLICY_OVERRULED, /* somebody gave back what was denied: left alone until it is well */
	MM_POLICY_STATES,
};

struct mm_policy_part {
	struct mm_sick sick; /* as the map said last */
	enum mm_policy_state state;
	bool is_sick;
	uint64_t since_ns; /* that it is sick, or well */
	uint32_t returns;  /* so far: each doubles the wait for the next */
	bool told;	   /* the caller's own; false at first */
};

struct mm_policy {
	struct mm_policy_cfg cfg;
	const struct mf_topology *t;
	uint32_t n_parts;
	struct mm_policy_part part[MM_POLICY_PARTS];
};

/* mm_policy_init begins with nothing denied. The topology must outlive it. */
void mm_policy_init(struct mm_policy *p, const struct mf_topology *t,
		    const struct mm_policy_cfg *cfg);

/*
 * mm_policy_see takes up a judgement of the map. `cut`: more may be sick than there was room for,
 * so that of what is not in the list nothing is known: it is denied and given back no sooner than
 * after as long again. The time must not go back.
 */
void mm_policy_see(struct mm_policy *p, const struct mm_sick *sick, size_t n, bool cut,
		   uint64_t now_ns);

/*
 * mm_policy_due returns a part that is to be denied now, or, if it is DENIED, given back; NULL:
 * there is none. out[n] says of each choice, n below mf_ev_count, whether it is out of use by
 * anybody's decision. The caller does it and calls mm_policy_done before it asks again.
 */
struct mm_policy_part *mm_policy_due(struct mm_policy *p, const uint8_t *out, uint64_t now_ns);
/* mm_policy_done says whether the caller has done it; a denial that it could not make is HELD until
 * the caller calls mm_policy_see again. */
void mm_policy_done(struct mm_policy *p, struct mm_policy_part *part, bool made, uint64_t now_ns);

/* mm_policy_overrule says that somebody else gave back what a part took. */
void mm_policy_overrule(struct mm_policy_part *part);
/*
 * mm_policy_restore says that a part is denied since before this policy began. False: it touches no
 * choice of the host, or there is no room.
 */
bool mm_policy_restore(struct mm_policy *p, const struct mm_part *part, uint64_t now_ns);

/* mm_policy_touches says whether a part is on the way up of a choice, as mf_ev_nth returns it. */
bool mm_policy_touches(const struct mm_policy *p, const struct mm_part *part, uint32_t ev);
/* mm_policy_takes_plane says so of all choices of a plane: of EVs that choose no uplink. */
bool mm_policy_takes_plane(const struct mm_policy *p, const struct mm_part *part, uint32_t plane);

/* mm_policy_state_name returns "watched", "held", "denied" or "overruled"; a constant. */
const char *mm_policy_state_name(enum mm_policy_state state);

#endif
