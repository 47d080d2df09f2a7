/* SPDX-License-Identifier: BSD-2-Clause */
/* endpoint.h - the endpoint as a whole: its destinations, ports and requests; for core/ only. */
#ifndef SOFTMRC_CORE_ENDPOINT_ENDPOINT_H
#define SOFTMRC_CORE_ENDPOINT_ENDPOINT_H

#include "core/state/engine_state.h"

/* ---- EV sets: one for each destination and EV profile in use ---- */

/* mt_ev_sets_acquire returns the set for a destination and profile, with one more user; NULL:
 * memory. */
struct mt_ev_set *mt_ev_sets_acquire(struct mt_engine *e, uint32_t profile,
				     const struct rd_gid *peer, struct mb_link *user);
/* mt_ev_sets_bytes returns the bytes of a set of n_evs with what follows it. */
size_t mt_ev_sets_bytes(uint16_t n_evs, uint32_t n_ports);
/* mt_ev_sets_spare_peer returns the memory for a peer behind a set; NULL: it is in use. */
struct mt_peer *mt_ev_sets_spare_peer(struct mt_ev_set *s);
/* mt_ev_sets_share gives a set that is in use one more user. */
void mt_ev_sets_share(struct mt_ev_set *s, struct mb_link *user);
void mt_ev_sets_release(struct mt_engine *e, struct mt_ev_set *s, struct mb_link *user);
/* mt_ev_sets_arm_probes sets the set's probe timer; mt_ev_sets_tick sends the probes that are
 * due. */
void mt_ev_sets_arm_probes(struct mt_engine *e, struct mt_ev_set *s);
void mt_ev_sets_tick(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);
/* mt_ev_probes_deadline returns when sets that wait for it may send probes; mt_ev_probes_tick lets
 * them. */
uint64_t mt_ev_probes_deadline(const struct mt_engine *e);
void mt_ev_probes_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_ev_sets_pick_prober returns a QP through which the destination can be probed, or NULL. */
struct mt_qp *mt_ev_sets_pick_prober(struct mt_ev_set *s, uint64_t now_ns);
/* mt_ev_sets_update_ports sets which ports an EV set may use now. */
void mt_ev_sets_update_ports(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);
/*
 * mt_ev_sets_deny sets an EV DENIED, or GOOD again, for the destination of a set. MT_ERR_MEMORY:
 * none for the places of backups.
 */
int mt_ev_sets_deny(struct mt_engine *e, struct mt_ev_set *s, uint16_t ev, bool deny);
/* mt_ev_sets_keep_floor takes bad EVs back while too few are usable on open ports. */
void mt_ev_sets_keep_floor(struct mt_engine *e, struct mt_ev_set *s);
/* mt_ev_sets_port_restored: a port of ours or of the peer's, down since then, is back. */
void mt_ev_sets_port_restored(struct mt_engine *e, struct mt_ev_set *s, uint32_t port,
			      uint64_t down_ns);
/*
 * mt_ev_sets_next returns the set of a destination that comes after `last`, of all profiles: the
 * first one for NULL; NULL: there are no more. Whoever asks for a destination that has none costs
 * few steps, however many others there are.
 */
struct mt_ev_set *mt_ev_sets_next(struct mt_engine *e, const struct rd_gid *peer,
				  const struct mt_ev_set *last);

/* ---- the peer's ports ---- */

/* mt_port_status_rx takes what a peer says of its ports. */
void mt_port_status_rx(struct mt_engine *e, const struct rd_gid *peer, uint32_t up,
		       uint64_t now_ns);
/* mt_port_status_tick sends the probes of doubtful planes that are due. */
void mt_port_status_tick(struct mt_engine *e, struct mt_ev_set *s, struct mt_qp *prober,
			 uint64_t now_ns);
/* mt_port_status_answered: what was sent then on this EV was answered. */
void mt_port_status_answered(struct mt_engine *e, struct mt_ev_set *s, uint16_t ev,
			     uint64_t sent_ns, uint64_t now_ns);

/* ---- where our ports lead ---- */

/*
 * mt_uplink_note_loss takes that a packet sent then on a port to the destination of a set was lost;
 * true: the port is left now, and the loss is that of the port.
 */
bool mt_uplink_note_loss(struct mt_engine *e, struct mt_ev_set *s, uint32_t port, uint64_t sent_ns,
			 uint64_t now_ns);
/* mt_uplink_answered takes that what was sent then on a port to such a destination was answered. */
void mt_uplink_answered(struct mt_engine *e, const struct mt_ev_set *s, uint32_t port,
			uint64_t sent_ns, uint64_t now_ns);
/* mt_uplinks_deadline returns when a probe of a port is due; mt_uplinks_tick sends those. */
uint64_t mt_uplinks_deadline(const struct mt_engine *e);
void mt_uplinks_tick(struct mt_engine *e, uint64_t now_ns);

/* ---- our port status, sent to peers ---- */

/*
 * mt_peer_join returns the engine behind the set's destination to which a QP talks, with one more
 * user: it gets our port status from now on. All QPs to it share what is known of its liveness.
 * NULL: memory.
 */
struct mt_peer *mt_peer_join(struct mt_engine *e, struct mt_ev_set *s, uint32_t dest_qpn,
			     uint64_t now_ns);
/* mt_peer_share gives a peer that is in use one more user. */
void mt_peer_share(struct mt_peer *p);
void mt_peer_leave(struct mt_engine *e, struct mt_peer *p);
/* mt_peer_resume is called when a peer is heard again after a silence; it sends each plane a
 * probe. */
void mt_peer_resume(struct mt_engine *e, struct mt_peer *p, uint64_t now_ns);
/* mt_peers_notify sends all peers of the set which ports of ours are up. */
void mt_peers_notify(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);
void mt_peers_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_peer_notify_done: its request has ended. */
void mt_peer_notify_done(struct mt_engine *e, struct mt_peer *p, const struct mt_ep_slot *slot);

/* ---- requests from endpoint to endpoint ---- */

/* mt_endpoint_rx takes a packet to or from an endpoint. */
void mt_endpoint_rx(struct mt_engine *e, uint64_t now_ns, const struct mt_rx_meta *meta,
		    const struct mw_packet *pkt);
/* mt_endpoint_emit_* make the packets of queued entries; false: the request's time has passed. */
bool mt_endpoint_emit_request(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
			      struct mt_tx_desc *d);
void mt_endpoint_emit_response(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
			       struct mt_tx_desc *d);
/* mt_endpoint_tick ends the requests whose time-out is over. */
void mt_endpoint_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_endpoint_poll takes the result of one request; false when there is none. */
bool mt_endpoint_poll(struct mt_engine *e, struct mt_event *ev);

#endif
