/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_peers.h - where datagrams went lately, and which paths lead there (ud_health.h).
 *
 * A destination is a host and one of the engines at its address. Only sending makes one known, and
 * what is kept has a fixed size: when there is no place, a destination that was not used for long
 * gives way, and where none can all paths are taken to be good. Probes are the engine's endpoint
 * requests, which whoever has a QP of MRC or of datagrams answers without keeping anything; at most
 * MH_UD_ROUND_PROBES of them leave in MH_UD_PEERS_ROUND_NS, whatever the number of destinations.
 * All under nic->lock.
 */
#ifndef SOFTMRC_HOST_UD_PEERS_H
#define SOFTMRC_HOST_UD_PEERS_H

#include "host/nic.h"
#include "host/ud_health.h"

struct mh_nic;
struct mt_event;

/* Destinations that are kept: sets of a few, found by a hash. */
#define MH_UD_PEER_SETS 64u
#define MH_UD_PEER_WAYS 4u
#define MH_UD_PEERS_ROUND_NS UINT64_C(10000000)

struct mh_ud_peer {
	struct rd_gid dest;
	uint32_t endpoint;
	uint32_t number; /* its place in the table */
	uint64_t used_ns;
	struct mh_ud_health health;
	struct mh_ud_path_health paths[];
};

struct mh_ud_peers {
	uint64_t next_round_ns;
	bool asked; /* probes wait in the engine to be sent */
	struct mh_ud_peer *peer[MH_UD_PEER_SETS * MH_UD_PEER_WAYS];
};

/*
 * mh_ud_peers_find returns the destination of datagrams to a QP, and asks it for paths when that is
 * due; `last` is what it returned last, for a quick look, or NULL. NULL: nothing is known of it.
 */
struct mh_ud_peer *mh_ud_peers_find(struct mh_nic *nic, struct mh_ud_peer *last,
				    const struct rd_gid *dest, uint32_t qpn, uint64_t now_ns);
/* mh_ud_peer_is_path_bad says whether a path, numbered port by port in turn, does not lead
 * there. */
static inline bool mh_ud_peer_is_path_bad(const struct mh_ud_peer *peer, uint32_t path)
{
	return peer && peer->health.path[path].bad;
}
/* mh_ud_peers_flush lets the probes go that mh_ud_peers_find made. */
void mh_ud_peers_flush(struct mh_nic *nic, uint64_t now_ns);
/* mh_ud_peers_deliver takes an event of type ENDPOINT if it is the end of such a probe. */
bool mh_ud_peers_deliver(struct mh_nic *nic, const struct mt_event *event, uint64_t now_ns);
void mh_ud_peers_fini(struct mh_nic *nic);

#endif
