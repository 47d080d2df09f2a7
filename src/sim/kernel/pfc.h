/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pfc.h - priority flow control: switches that hold back who sends to them instead of dropping.
 *
 * A switch counts, for each link that leads to it, the data bytes that came over it and wait in any
 * of its queues. More than xoff: the other end has to pause its data class, and goes on with
 * control packets only. No more than xon: it resumes. What still comes after a pause was
 * sent needs headroom; what comes beyond that is dropped. With PFC that is the only limit of data
 * queues. Hosts take all that comes and never send a pause, but obey.
 *
 * So a packet whose way is free waits behind one whose way is not (head-of-line blocking), and
 * pauses spread from switch to switch towards the senders.
 *
 * Counts are looked at when a window is over: queues are exact then, and a switch needs time to
 * act. A pause goes out behind the packet that is being sent on the way back, takes the time of 84
 * bytes, and is never lost; it holds until it is taken back.
 */
#ifndef SOFTMRC_SIM_KERNEL_PFC_H
#define SOFTMRC_SIM_KERNEL_PFC_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/kernel/sim_net.h"

struct ms_unit;

/* What the body of a notice of PFC says: the port that sends on the link, and whether it pauses. */
enum {
	MS_PFC_BODY_PORT,
	MS_PFC_BODY_PAUSE,
};

/* Of a link, at the end that receives. */
struct ms_ingress {
	uint32_t bytes; /* that came over it and wait */
	bool asked;	/* a pause was sent to the other end */
	bool listed;	/* is to be looked at when the window is over */
	uint64_t said_ps;
};

/* Of a link, at the end that sends. */
struct ms_paused {
	uint64_t since_ps; /* while it is paused */
	uint64_t all_ps;   /* over all pauses that are over */
	uint32_t pauses;
};

/* Of a net; NULLs without PFC. */
struct ms_pfc {
	struct ms_ingress *ingress; /* by the port that sends on the link */
	struct ms_paused *paused;   /* likewise */
	uint32_t xon_bytes, limit_bytes;
};

/* ms_pfc_open allocates what a net with cfg.pfc.on needs; false: no memory. */
bool ms_pfc_open(struct ms_net *net);
void ms_pfc_close(struct ms_net *net);
/* ms_pfc_has_room says whether a data packet that has to wait at a switch finds room. */
bool ms_pfc_has_room(const struct ms_worker *worker, const struct ms_packet *p);
/* ms_pfc_count_enqueue and ms_pfc_count_dequeue count a data packet that begins and ends to wait at
 * a switch. */
void ms_pfc_count_enqueue(struct ms_worker *worker, const struct ms_packet *p);
void ms_pfc_count_dequeue(struct ms_worker *worker, const struct ms_packet *p);
/* ms_pfc_update sends pauses, or takes them back, when a switch has come to the window's end. */
void ms_pfc_update(struct ms_worker *worker, struct ms_unit *unit);
/* ms_pfc_apply obeys what the other end of a link says. */
void ms_pfc_apply(struct ms_worker *worker, struct ms_unit *unit, uint64_t t_ps,
		  const struct ms_packet *p);
/* ms_pfc_paused_ps returns how long a port has been paused up to now_ps. */
uint64_t ms_pfc_paused_ps(const struct ms_net *net, uint32_t port, uint64_t now_ps);

#endif
