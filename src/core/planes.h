/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * planes.h - what a peer says of its ports, and what of it is true.
 *
 *	OPEN --- the peer says it is down ---> SUSPECT --- probes unanswered ---> LEFT
 *	SUSPECT, LEFT --- something sent on the plane was answered ---> OPEN
 *	SUSPECT --- the peer says it is up ---> OPEN
 *
 * A word about a port may be forged, so it is only a reason to look: a probe goes out on that plane
 * at once. The plane is in use until a few probes in a row have stayed unanswered. While it is left
 * probes go on, ever more rarely; a word that it is up makes the next one leave at once. Whatever
 * words come, a plane is looked at no more often than once an interval.
 * REQ(ep.port.peer-down) REQ(ep.port.suspicion) REQ(ep.port.word-limit)
 */
#ifndef SOFTMRC_CORE_PLANES_H
#define SOFTMRC_CORE_PLANES_H

#include <stdbool.h>
#include <stdint.h>

#define MT_PLANE_NONE UINT8_MAX

struct mt_plane {
	uint64_t since_ns; /* in this state since */
	uint64_t back_ns;  /* when it was last found to be up after it was left */
	uint64_t calm_ns;  /* words are not listened to before */
	uint64_t due_ns;   /* the next probe */
	uint8_t probes;	   /* unanswered, stops at 255 */
};

struct mt_planes {
	uint32_t suspect, left; /* a plane in neither is OPEN */
	uint32_t n;
	struct mt_plane *plane;
};

/* How long to wait for what. */
struct mt_planes_wait {
	uint64_t answer_ns; /* an answer that has not come in this time will not come */
	uint64_t
		interval_ns; /* between words that are listened to, and between probes of a plane */
	uint64_t interval_max_ns; /* that is left, doubling up to this */
};

/* mt_planes_init makes n planes, all open; the array is the caller's. */
void mt_planes_init(struct mt_planes *p, struct mt_plane *planes, uint32_t n);
/* mt_planes_told takes the peer's word: bit set: the port is up. Planes beyond n are not there. */
void mt_planes_told(struct mt_planes *p, uint32_t up, const struct mt_planes_wait *w,
		    uint64_t now_ns);
/* mt_planes_deadline returns when a probe is due, UINT64_MAX for never. */
uint64_t mt_planes_deadline(const struct mt_planes *p);
/*
 * mt_planes_next_probe returns a plane to be probed now, or MT_PLANE_NONE. *leave says that its
 * probes stayed unanswered for long enough.
 */
uint8_t mt_planes_next_probe(struct mt_planes *p, const struct mt_planes_wait *w, uint64_t now_ns,
			     bool *leave);
/* mt_planes_postpone takes that probe back, which could not be sent, until then. */
void mt_planes_postpone(struct mt_planes *p, uint32_t plane, uint64_t until_ns);
/* mt_planes_leave moves a SUSPECT plane to LEFT. */
void mt_planes_leave(struct mt_planes *p, uint32_t plane, uint64_t now_ns);
/* mt_planes_alive: what was sent then on the plane was answered; says whether it was LEFT. */
bool mt_planes_alive(struct mt_planes *p, uint32_t plane, uint64_t sent_ns, uint64_t now_ns);
/* mt_planes_blameless says whether what was sent then may have been lost with the peer's port. */
bool mt_planes_blameless(const struct mt_planes *p, uint32_t plane, uint64_t sent_ns);

#endif
