/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_world.h - hosts whose UD QPs send datagrams to each other through the network of engine_net.h,
 * and what must become of each.
 *
 * What happens to a datagram is known when it arrives: it is damaged or cut, for no QP, of another
 * Q_Key or partition, without a receive or longer than it, or it fills the oldest receive. So each
 * that arrives is delivered once, unaltered, or counted by its cause; none is delivered that did
 * not arrive.
 */
#ifndef SIM_UD_WORLD_H
#define SIM_UD_WORLD_H

#include "support/engine_net.h"
#include "support/engine_node.h"
#include "support/test.h"
#include "ud/ud.h"

#define HOSTS_MAX 3u
#define QPS 3u
#define PLANES_MAX 4u
#define PATHS_MAX 3u
#define EVS_MAX (PLANES_MAX * PATHS_MAX)
#define EV_BASE 0xC000u
#define MTU 1024u
#define DEPTH 8u
#define MEMORY 65536u
#define START UINT64_C(0x40000)
#define KEY 0x177u
#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define POST_GAP_NS (2 * MS)

/* One datagram, by the number that its first bytes carry. */
struct gram {
	uint32_t from, to, qp, to_qp, bytes, imm, q_key;
	uint16_t p_key;
	bool with_imm, solicited;
};

struct recv {
	uint64_t at;
	uint32_t bytes;
};

struct host {
	struct world *w;
	uint32_t id;
	struct rd_gid gid;
	struct engine_node base;
	struct mu_engine *ud;
	struct mu_qp *qps[QPS];
	struct end {
		struct host *host;
		uint32_t i, q_key;
		uint16_t p_key;
		uint64_t sends, sent, recvs, received;
		struct recv recv[DEPTH];
	} ends[QPS];
	uint8_t memory[MEMORY];
	uint64_t used;
	uint32_t up;
	uint64_t ev_used_ns[EVS_MAX]; /* by datagrams, to any host */
	struct mu_counts want;	      /* what must be counted */
};

struct world {
	struct engine_net net;
	struct rng rng;
	uint32_t n_hosts, n_planes, n_paths;
	struct mt_ev evs[EVS_MAX];
	struct host hosts[HOSTS_MAX];
	struct gram *grams;
	size_t n_grams, room;
	const struct gram *due; /* what the datagram that is being given must be delivered as */
	uint64_t delivered;
};

/* ud_world_open makes a world; 0 hosts, planes or paths: the seed says how many. */
struct world *ud_world_open(uint64_t seed, uint32_t hosts, uint32_t planes, uint32_t paths);
void ud_world_close(struct world *w);
/* ud_world_run lets it go on for ns, with programs that do something each POST_GAP_NS. */
void ud_world_run(struct world *w, uint64_t ns);
/* ud_world_path returns the path that an EV takes from a host to another. */
struct net_path *ud_world_path(struct world *w, uint32_t src, uint32_t dst, uint32_t ev);
/* ud_world_port takes a port of a host down or up, which the host knows. */
void ud_world_port(struct host *h, uint32_t port, bool up);

#endif
