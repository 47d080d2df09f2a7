/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.h - which part of a fabric is sick, from what hosts saw of their own packets.
 *
 * Evidence is counts of packets over one route: a probe that goes out through T0s and T1s and comes
 * back to its own host, or packets of an EV of real traffic. The map keeps what each route counted
 * lately, looks for the parts of the fabric that explain the bad counts best, and says for each
 * what is wrong with it, since when, and who saw it. It knows neither clock nor socket; `mrc map
 * check` feeds it what the hosts of a lab saw.
 *
 * 	map = mm_map_init(memory, &cfg, topology);		memory of mm_map_bytes
 * 	route = mm_map_route(map, &(struct mm_route_of){...}, now);
 * 	mm_map_add(map, route, witness, &counts, now);		whenever a host reports
 * 	n = mm_map_judge(map, now, sick, max);			every 10 ms or so
 *
 * How sure. A part is accused when most of the hosts that watch it (the lower median of their own
 * rates) saw it fail, and together saw it so often that chance is out of question. So up to
 * (watchers - 1) / 2 hosts that lie about a part change nothing about it, neither way; more of them
 * can accuse it or hide it, and nothing else. A part of which a cable works is not what is bad, so
 * that most of those who come to a switch by one cable can hide it, and two hosts a transceiver
 * that both have a port in. Where one host alone watches a part its word is taken and marked so. A
 * host that says nothing is no evidence. Times are only those of the caller's clock; hosts report
 * counts, and durations that each measured on its own clock.
 *
 * Nothing here allocates, blocks or is shared: one map, one thread at a time. All is integer
 * arithmetic, so the same calls give the same answers on every machine.
 */
#ifndef SOFTMRC_MAP_MAP_H
#define SOFTMRC_MAP_MAP_H

#include "fabric/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Links of the longest route: up and down through two T1s of another T0, and a bit. */
#define MM_ROUTE_LINKS 8u
#define MM_NO_HOST UINT32_MAX
#define MM_NO_ROUTE UINT32_MAX

/* What can be wrong with a packet, seen by the one that waits for it. */
enum mm_symptom {
	MM_LOST,
	MM_CORRUPTED,
	MM_DUPLICATED,
	MM_REORDERED,
	MM_SLOWED, /* packets that left together came further apart than links make them */
	MM_SYMPTOMS
};

/* What a route is: who watches, which directed links in order, and who else has to take part. */
struct mm_route_of {
	uint32_t witness; /* host that sends and waits */
	uint32_t peer;	  /* host that has to answer, or MM_NO_HOST */
	uint32_t links;	  /* 1 .. MM_ROUTE_LINKS */
	uint32_t link[MM_ROUTE_LINKS];
};

/*
 * Packets of a route since the last report. Of each symptom: of how many packets it is known
 * whether they had it, and how many did. Lost packets are not known to be anything else.
 */
struct mm_counts {
	uint32_t known[MM_SYMPTOMS];
	uint32_t bad[MM_SYMPTOMS];
};

/* Windows over which a route counts, shortest first: dead links need little, a small loss a lot. */
#define MM_WINDOWS 3u

struct mm_cfg {
	uint32_t routes;		/* room for so many */
	uint64_t window_ns[MM_WINDOWS]; /* each longer than the one before */
	/* Shares that are usual where nothing is wrong, in parts per million; at least 1. */
	uint32_t usual_ppm[MM_SYMPTOMS];
	/* Shares below which no part is accused, by however many packets. */
	uint32_t least_ppm[MM_SYMPTOMS];
	/* How unlikely chance must be, in bits: of 2^bits such findings one is false. */
	uint32_t bits;
	uint64_t settle_ns; /* a finding is kept to itself so long */
	uint64_t flap_ns;   /* three onsets within this are a flap */
	uint64_t forget_ns; /* a route that reports nothing so long may give way to another */
};

/* mm_cfg_default returns what suits probes each `probe_ns` on a fabric of so many links. */
struct mm_cfg mm_cfg_default(const struct mf_topology *t, uint32_t routes, uint64_t probe_ns);

/* A part of the fabric. Of parts that the evidence cannot tell apart the first kind is named. */
enum mm_part_kind {
	MM_CABLE,	/* id: cable, the number of either link / 2; of a host its NIC port too */
	MM_SWITCH,	/* id: node */
	MM_TRANSCEIVER, /* id: node, index: which of its groups of MF_TRANSCEIVER_PORTS ports */
	MM_HOST,	/* id: host: all its ports, or itself */
	MM_PLANE,	/* id: plane */
	MM_WITNESS,	/* id: host whose word stands alone; never among what is sick */
};

/*
 * Directions are seen from the lower end of a cable, and from the node of a transceiver. Switches
 * and planes have none: what comes in goes out. That of a host which is dead is told by questions
 * of neighbours that still come to it, or its own that still come to them; other faults of hosts
 * have none, for what a host sends comes back to it.
 */
struct mm_part {
	enum mm_part_kind kind;
	uint32_t id;
	uint32_t index;
	enum mf_direction direction;
};

/* What is wrong with it. */
enum mm_kind {
	MM_DEAD,
	MM_LOSSY,
	MM_CORRUPTING,
	MM_DUPLICATING,
	MM_REORDERING,
	MM_SLOW,
	MM_FLAPPING,
	MM_WRONG_CABLE,
	MM_KINDS
};

struct mm_sick {
	struct mm_part part;
	struct mm_part other; /* wrong cable: the one at whose place it is; itself: not known */
	enum mm_kind kind;
	uint64_t since_ns;    /* by the clock of the caller */
	uint32_t rate_ppm;    /* of the packets */
	uint32_t for_it;      /* hosts that saw it */
	uint32_t watchers;    /* hosts that could have */
	bool direction_known; /* else no route crossed one direction alone */
};

/*
 * mm_part_has says whether a link is one of a part's, in a direction that is the part's. A host or
 * a switch has what goes in and out there.
 */
bool mm_part_has(const struct mf_topology *t, const struct mm_part *part, uint32_t link);
/* mm_part_same says whether two are the same part, directions apart. */
bool mm_part_same(const struct mm_part *a, const struct mm_part *b);

struct mm_map;

/* mm_map_bytes returns how much memory a map takes; mm_map_init wants it aligned as by malloc. */
size_t mm_map_bytes(const struct mm_cfg *cfg, const struct mf_topology *t);

/* mm_map_init makes an empty map in the memory. The topology must outlive it. */
struct mm_map *mm_map_init(void *memory, const struct mm_cfg *cfg, const struct mf_topology *t);

/*
 * mm_map_route returns the number of a route, a new one if there is none like it. MM_NO_ROUTE: its
 * hosts or links are not of this fabric, or there is no room and no route that has been silent for
 * forget_ns.
 */
uint32_t mm_map_route(struct mm_map *map, const struct mm_route_of *of, uint64_t now_ns);

/*
 * mm_map_is_route says whether a number that mm_map_route returned is that route's still: one that
 * was silent for forget_ns may have given way to another.
 */
bool mm_map_is_route(const struct mm_map *map, uint32_t route, const struct mm_route_of *of);

/*
 * mm_map_add adds what the witness of a route counted. False, and nothing is added: the route is
 * not the witness's, or more was bad than known.
 */
bool mm_map_add(struct mm_map *map, uint32_t route, uint32_t witness,
		const struct mm_counts *counts, uint64_t now_ns);

/*
 * mm_map_stray adds that a host saw, on its port in a plane, a probe that was to come back to
 * another host: at most one report counts for each pair. False: no such hosts or plane.
 */
bool mm_map_stray(struct mm_map *map, uint32_t witness, uint32_t plane, uint32_t of_host,
		  uint64_t now_ns);

/*
 * mm_map_loop adds that a T0 said to a host below it that a plain packet to another host had used
 * up its hop limit: it went round. At most one report counts for each pair of T0s. False: no such
 * hosts or plane, or both are on one T0.
 */
bool mm_map_loop(struct mm_map *map, uint32_t witness, uint32_t plane, uint32_t to,
		 uint64_t now_ns);

/*
 * mm_map_asked adds that a question of one host came to its neighbour. False: no such hosts, or
 * they are one.
 */
bool mm_map_asked(struct mm_map *map, uint32_t witness, uint32_t by, uint64_t now_ns);

/*
 * mm_map_plain adds packets that a host sent by plain routes, which every switch of the plane
 * forwards whatever cable they came by: those arrive over exchanged cables, and not over dead ones.
 */
bool mm_map_plain(struct mm_map *map, uint32_t witness, uint32_t plane, uint32_t sent,
		  uint32_t lost, uint64_t now_ns);

/*
 * mm_map_judge says what is sick now: writes up to max of them, worst first, wrong cables among
 * what is dead, which they seemed, or at the end, and returns how many. The time must not go back.
 */
size_t mm_map_judge(struct mm_map *map, uint64_t now_ns, struct mm_sick *sick, size_t max);
/* mm_map_is_full says whether that found as much as there is room for: more may be sick. */
bool mm_map_is_full(const struct mm_map *map);

/* mm_map_silent returns how many hosts have not been heard of for the middle window. */
uint32_t mm_map_silent(const struct mm_map *map, uint64_t now_ns);

/* ---- words ---- */

#define MM_PART_NAME_BYTES (2 * MF_LINK_NAME_BYTES + 8)
#define MM_SICK_TEXT_BYTES 512u

/* mm_kind_name returns "dead", "lossy" and so on; a constant. */
const char *mm_kind_name(enum mm_kind kind);
/* mm_part_name writes the name of a part as docs/lab.md names targets of faults. */
char *mm_part_name(const struct mf_topology *t, const struct mm_part *part,
		   char out[MM_PART_NAME_BYTES]);
/*
 * mm_part_find reads such a name. False: there is no such part; *error says which there are.
 */
bool mm_part_find(const struct mf_topology *t, const char *name, struct mm_part *part,
		  struct mf_error *error);
/*
 * mm_part_link returns the directed link number i of a cable, transceiver, switch or host;
 * MF_LINK_NONE: it has no more.
 */
uint32_t mm_part_link(const struct mf_topology *t, const struct mm_part *part, uint32_t i);
/* mm_sick_has_other says whether it is a wrong cable, and which one it was taken for is known. */
bool mm_sick_has_other(const struct mm_sick *sick);
/* mm_sick_text writes one line: the part, what is wrong, since when, who saw it, what to touch. */
char *mm_sick_text(const struct mf_topology *t, const struct mm_sick *sick, uint64_t now_ns,
		   char out[MM_SICK_TEXT_BYTES]);

#endif
