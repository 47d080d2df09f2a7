/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_port.h - what a peer says of its ports, and what of it is true.
 *
 *	OPEN --- the peer says it is down ---> SUSPECT --- probes unanswered ---> ABANDONED
 *	SUSPECT, ABANDONED --- something sent on the plane was answered ---> OPEN
 *	SUSPECT --- the peer says it is up ---> OPEN
 *
 * A word about a port may be forged, so it is only a reason to look: a probe goes out on that plane
 * at once. The plane is in use until a few probes in a row have stayed unanswered. While it is left
 * probes go on, ever more rarely; a word that it is up makes the next one leave at once. Whatever
 * words come, a plane is looked at no more often than once an interval.
 * REQ(ep.port.peer-down) REQ(ep.port.suspicion) REQ(ep.port.word-limit)
 */
#ifndef SOFTMRC_CORE_EV_PEER_PORT_H
#define SOFTMRC_CORE_EV_PEER_PORT_H

#include <stdbool.h>
#include <stdint.h>

#define MT_PLANE_NONE UINT8_MAX

struct mt_peer_port {
	uint64_t since_ns;	   /* in this state since */
	uint64_t restored_ns;	   /* when it was last found to be up after it was left */
	uint64_t holdoff_until_ns; /* words are not listened to before */
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
	uint64_t answer_ns; /* an answer that has not come in this time will not come */
	uint64_t
		interval_ns; /* between words that are listened to, and between probes of a plane */
	uint64_t interval_max_ns; /* that is left, doubling up to this */
};

/* mt_peer_ports_init makes n planes, all open; the array is the caller's. */
void mt_peer_ports_init(struct mt_peer_ports *p, struct mt_peer_port *planes, uint32_t n);
/* mt_peer_ports_status takes the peer's word: bit set: the port is up. Planes beyond n are not
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

#endif
