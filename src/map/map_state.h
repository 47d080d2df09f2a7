/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_state.h - private to this module: routes and their counts, and what each step of a judgement
 * hands to the next.
 */
#ifndef SOFTMRC_MAP_MAP_STATE_H
#define SOFTMRC_MAP_MAP_STATE_H

#include "map/map.h"

/* Findings that are kept: what a judgement says, and what was sick lately. */
#define MM_FOUND_MAX 64u
#define MM_TRACKED_MAX 256u
/* Parts that one judgement weighs; a plane that is dead has more, and is found among these. */
#define MM_SUSPECTS_MAX 4096u
/* Hosts that are heard about one part: more do not make it surer. */
#define MM_WATCHERS_MAX 64u
/* Of these is known what each saw since its last bad packet. */
#define MM_VOICES_MAX 16u
#define MM_STRAYS_MAX 64u
#define MM_LOOPS_MAX 64u
#define MM_PPM 1000000u
/* Rates are never taken for certain, or one good packet would outweigh everything. */
#define MM_RATE_MAX_PPM 990000u

/*
 * A window is two halves: the one that fills, and the one before. So a count is between half a
 * window and a whole one old when it goes, and a route needs no list of its packets.
 */
struct mm_half {
	uint16_t known[MM_SYMPTOMS];
	uint16_t bad[MM_SYMPTOMS];
};

struct mm_route {
	struct mm_route_of of;
	uint32_t next[MM_ROUTE_LINKS]; /* route of the same link, or MM_NO_ROUTE */
	uint32_t half_of[MM_WINDOWS];  /* which half fills, by time */
	struct mm_half half[MM_WINDOWS][2];
	uint64_t heard_ns;
	uint64_t bad_ns; /* when something was bad, one more; 0: never */
	uint32_t stamp;	 /* of the last walk that came by */
	uint16_t streak; /* packets that were lost since one came back */
	bool used;
	bool explained; /* by a part that was found, in this judgement */
};

/* Sums of a route, or of several, in one window for one symptom. */
struct mm_sum {
	uint64_t known, bad;
};

/* What speaks for a part. */
struct mm_fit {
	int64_t rank; /* bits << 16 by which the part explains better than chance */
	bool accused; /* by enough hosts */
	bool open;    /* neither that nor contradicted: too little is known yet */
	uint32_t rate_ppm;
	uint32_t for_it, watchers;
	bool all_gone; /* nothing has come back over any of its routes lately */
};

struct mm_found {
	struct mm_part part;
	enum mm_symptom symptom;
	uint32_t window;
	struct mm_fit fit;
	bool direction_known;
};

/* What is counted since the last bad packet over a part, by all or by one of its watchers. */
struct mm_voice {
	uint32_t host;	    /* one more; 0: nobody */
	struct mm_sum last; /* of the longest window, in the last judgement; known 0: not known */
	uint64_t good;	    /* packets since the last bad one, */
	uint64_t bad_ns;    /* and when that was */
};

struct mm_tracked {
	struct mm_sick sick;
	enum mm_symptom symptom;
	uint32_t window;
	uint64_t found_ns;    /* when last */
	uint64_t onset_ns[3]; /* of the last three times, newest first; 0: none */
	bool active, was_dead;
	uint32_t least_ppm; /* share in which it was found, since it began */
	struct mm_voice all;
	struct mm_voice but[2]; /* what did not cross one direction: out, in */
	struct mm_voice voice[MM_VOICES_MAX];
	uint32_t unheard; /* routes of watchers that there is no room for */
	bool covered;	  /* what is bad about it was explained otherwise in the last judgement */
};

/* What explains a symptom best, be it too little to accuse it, and since when without a break. */
struct mm_lead {
	struct mm_part part;
	uint64_t since_ns; /* one more; 0: nothing does */
	bool seen;	   /* in this judgement */
};

struct mm_stray {
	uint32_t witness, of_host, plane;
	uint64_t at_ns;
};

/* Between which T0s a plain packet went round; t0[0] is that of the host that sent it. */
struct mm_loop {
	uint32_t t0[2], plane;
	uint64_t at_ns;
};

/* When a question last came to a host, and when one of its own came to a neighbour; 0: never. */
struct mm_asked {
	uint64_t in_ns, out_ns;
};

/* Packets by plain routes of a plane's hosts, in halves of the middle window. */
struct mm_plain {
	uint64_t half_of;
	uint32_t sent[2], lost[2];
};

struct mm_map {
	struct mm_cfg cfg;
	const struct mf_topology *t;
	uint32_t *head;		/* n_links: first route over it */
	uint64_t *heard_ns;	/* n_hosts: 0 never */
	struct mm_asked *asked; /* n_hosts */
	bool hears_questions;	/* some were told */
	struct mm_plain *plain; /* plane * n_t0s + T0 */
	struct mm_route *route;
	uint32_t routes; /* slots that were ever used */
	uint32_t look;	 /* where to look next for one that is silent */
	uint32_t stamp;
	/* In which round of mm_suspects_of a part was seen. */
	uint32_t *plane_seen, *node_seen, *cable_seen, *witness_seen;
	uint32_t *module_seen; /* by the link that the first port of a transceiver sends on */
	uint32_t round;
	uint32_t *bad; /* routes with a bad count, in this judgement */
	uint32_t n_bad;
	struct mm_part *suspect; /* MM_SUSPECTS_MAX */
	uint32_t n_suspects;
	struct mm_lead lead[MM_SYMPTOMS];
	struct mm_found found[MM_FOUND_MAX];
	uint32_t n_found;
	struct mm_tracked tracked[MM_TRACKED_MAX];
	uint32_t n_tracked;
	bool full; /* the last judgement found as much as there is room for */
	struct mm_stray stray[MM_STRAYS_MAX];
	struct mm_loop loop[MM_LOOPS_MAX];
};

/* ---- evidence: map_evidence.c ---- */

/* mm_route_sum returns what a route counted in a window, now. */
struct mm_sum mm_route_sum(const struct mm_map *map, const struct mm_route *r, uint32_t window,
			   enum mm_symptom symptom, uint64_t now_ns);
/* mm_route_absolve forgets that anything was bad in that way. */
void mm_route_absolve(struct mm_route *r, enum mm_symptom symptom);

/* ---- parts: map_part.c ---- */

struct mm_walk {
	struct mm_map *map;
	struct mm_part part;
	uint32_t at;	/* which of its links comes next */
	uint32_t link;	/* the one before that */
	uint32_t route; /* the next of that link's */
};

/* mm_walk_begin begins a walk over the routes that cross a part, each once. */
void mm_walk_begin(struct mm_walk *w, struct mm_map *map, const struct mm_part *part);
/* mm_walk_next returns the next one, or NULL. One walk at a time. */
struct mm_route *mm_walk_next(struct mm_walk *w);
/* mm_part_bits returns how much less likely it is beforehand that such a part fails, in bits. */
uint32_t mm_part_bits(const struct mm_part *part);
/* mm_suspects_of collects every part that a bad route crosses into map->suspect, in order. */
void mm_suspects_of(struct mm_map *map);

/* ---- likelihood: map_fit.c ---- */

/* mm_log2 returns log2(x) << 16, x at least 1, rounded down. */
int64_t mm_log2(uint64_t x);
/* mm_part_fit weighs a part by the routes that are not explained yet. */
struct mm_fit mm_part_fit(struct mm_map *map, const struct mm_part *part, uint32_t window,
			  enum mm_symptom symptom, uint64_t now_ns);

/* mm_likelihood returns log2 of that at a rate over that at the usual one, << 16. */
int64_t mm_likelihood(const struct mm_sum *sum, uint32_t rate_ppm, uint32_t usual_ppm);

/* ---- one judgement: map_judge.c; what follows from it: map_track.c ---- */

/* mm_judge_find fills map->found. */
void mm_judge_find(struct mm_map *map, uint64_t now_ns);
/*
 * mm_cables_exchanged makes wrong cables of dead ones where that explains more: map_cable.c. It
 * returns how many are sick then, up to max.
 */
size_t mm_cables_exchanged(struct mm_map *map, struct mm_sick *sick, size_t n, size_t max,
			   uint64_t now_ns);

#endif
