/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world.h - engines joined by the network of engine_net.h and watched by checker.h.
 *
 * A world is opened from a configuration, connections are made, messages posted, time is run, and
 * the world says whether anything that must hold did not. A node plays the adapter's loop: packets
 * in, timers when due, packets out, events. Every packet is encoded into bytes and decoded again
 * (with `decoded` set it is handed over as a struct instead).
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "checker.h"
#include "host/port/nic_ports.h"
#include "shared.h"
#include "support/engine_net.h"
#include "support/engine_node.h"

#define SIM_QPS_MAX 64u
#define SIM_MRS_MAX 8u
#define SIM_OPCODES 6u

#define SIM_US UINT64_C(1000)
#define SIM_MS UINT64_C(1000000)
#define SIM_S UINT64_C(1000000000)

struct sim_world;

/* What one end of a connection is like. */
struct sim_qp_cfg {
	struct mt_qp_cap cap;
	struct rd_qp_attr attr; /* dest, dest_qpn and rq_psn are filled in from the other end */
	uint32_t recv_room;	/* bytes of each receive */
	uint32_t srq_depth;	/* of the SRQ of its node, if it takes receives from there; or 0 */
};

/* One end of a connection. */
struct sim_qp {
	struct sim_node *node;
	struct sim_qp *peer;
	struct mt_qp *qp;
	uint32_t qpn;
	struct sim_qp_cfg cfg;
	/*
	 * The life that the QP is in. Its flows are of the newest life of the connection, which an
	 * end that was not reset yet has not entered; the former ones hang behind them.
	 */
	uint32_t life;
	struct sim_flow out;
	struct sim_flow answers; /* to READs and atomics of the peer */
	uint64_t word;		 /* what its own word at the peer must hold */
	uint64_t word_at;	 /* offset there; 0: it has none yet */
	uint64_t added;		 /* to the word that all share */
	struct sim_mr *mr;	 /* its sources, and where its peer writes */
	bool may_fail;		 /* going to ERR is expected */
	uint32_t qp_events;
	enum rd_wc_status qp_status;
	struct sim_srq *srq; /* where its receives come from, or NULL */
	uint32_t last_wqes;  /* events that it takes no more from there */
	struct sim_mw mws[SIM_MWS];
	struct sim_locals locals;
};

/* What a node sent or was given, by kind. */
enum sim_kind {
	SIM_DATA,
	SIM_ACK,
	SIM_SACK,
	SIM_NACK,
	SIM_PROBE,
	SIM_ENDPOINT,
	SIM_KINDS,
};

struct sim_traffic {
	uint64_t sent[SIM_KINDS], given[SIM_KINDS];
	uint64_t sent_again, sent_bytes;
	uint64_t given_trimmed, given_broken;
};

/* What a node takes for the time: that of the world at first; see clock.c. */
struct sim_clock {
	uint64_t ahead_ns; /* of the world's time, modulo 2^64 */
	/* It stands still until then, since when, and what it shows. */
	uint64_t stands_until_ns, stands_since_ns, shows_ns;
};

/* One engine and what an adapter keeps for it. */
struct sim_node {
	struct sim_world *w;
	uint32_t id;
	struct rd_gid addr; /* of its host, ... */
	uint32_t endpoint;  /* ... and which of the engines there it is */
	struct engine_node base;
	struct mt_engine *engine; /* that of base */
	struct sim_mr mrs[SIM_MRS_MAX];
	uint32_t n_mrs;
	uint32_t n_mws;
	struct sim_srq *srq;
	struct sim_qp *qps[SIM_QPS_MAX];
	uint32_t n_qps;
	uint32_t tx_batch;
	uint64_t late_ns; /* how late its timers are served */
	struct sim_clock clock;
	uint32_t refused_share; /* so often, of 100, it has no memory for its engine */
	uint64_t refusals;
	uint64_t stopped_until_ns;
	bool deaf;	     /* what arrives while it is stopped is lost, else it waits */
	uint64_t wake_at_ns; /* a port has room again; NET_NEVER: nobody waits */
	/* What data each port may send, by the software NIC's own rule; rate 0: as much as fits. */
	struct mh_pace pace[MT_PORTS_MAX];
	/* A slow receiver takes a packet each rx_packet_ns, 0: at once, and rx_room may wait. */
	uint64_t rx_packet_ns, rx_room, rx_busy_until_ns;
	uint64_t overflows;
	/*
	 * Not 0: what arrives waits in a queue a port, and takes so long to receive; the node
	 * empties one queue after the other, as a busy process does with its sockets.
	 */
	uint64_t service_ns;
	struct {
		struct net_packet *first, *last;
	} inbox[MT_PORTS_MAX];
	uint32_t inbox_port; /* that is being emptied */
	bool receiving;	     /* an event is on its way */
	uint64_t ticks, ticks_at_once, last_tick_ns;
	struct sim_traffic traffic;
};

struct sim_world_cfg {
	struct engine_net_cfg net;
	struct mt_engine_cfg engine;
	/* The EV profile, per plane. */
	uint32_t evs, active, min_active;
	bool group_ids; /* tell the engine which EVs take the same path */
	uint8_t revive_probes;
	uint64_t probe_interval_ns, probe_interval_max_ns;
	/* Of CC profile 1, NSCC; profile 0 is none. */
	uint64_t link_bps, base_rtt_ns, base_rtt_min_ns;
	bool trimming;
	bool decoded;
	size_t memory_least; /* that an engine gets when it asks */
	/* Large MRs begin at address 0 ... */
	bool zero_based;
	bool all_addresses; /* ... and have all there are, as a null MR */
};

#define SIM_EV_EVENTS_MAX 4096u
#define SIM_PORT_EVENTS_MAX 1024u

struct sim_world {
	struct sim_check check;
	struct sim_world_cfg cfg;
	uint32_t qpn_index_bits;
	struct engine_net net;
	struct sim_node nodes[NET_NODES_MAX];
	struct sim_qp *qps[2 * SIM_QPS_MAX];
	uint32_t n_qps;
	/* EV events of all nodes, oldest first; those beyond the room are only counted. */
	struct {
		uint32_t node;
		struct mt_event ev;
	} ev_events[SIM_EV_EVENTS_MAX];
	uint32_t n_ev_events;
	/* PORT and ENDPOINT events likewise. */
	struct {
		uint32_t node;
		uint64_t at_ns;
		struct mt_event ev;
	} port_events[SIM_PORT_EVENTS_MAX];
	uint32_t n_port_events;
	/* Called after each round of a node, to post more. May be NULL. */
	void (*app)(void *ctx, struct sim_node *node);
	void *app_ctx;
};

/* sim_world_cfg_default: two nodes, 2 planes of 4 paths, 5 us each way, nothing goes wrong. */
void sim_world_cfg_default(struct sim_world_cfg *cfg);
/* sim_world_open opens a world in *w, which is all zeros: fresh from calloc. */
void sim_world_open(struct sim_world *w, const struct sim_world_cfg *cfg);
void sim_world_close(struct sim_world *w);

/* sim_qp_cfg_default: 4096 byte packets, 1024 PSNs, everything signalled, tries for ever. */
void sim_qp_cfg_default(struct sim_qp_cfg *cfg);
/* sim_qp_cfg_extended: the same with extensions, receives of 64 KiB in pieces, RNR waits of 10
 * us. */
void sim_qp_cfg_extended(struct sim_qp_cfg *cfg);
/* sim_qp_cfg_asking: that with READs and atomics, up to 4 at a time. */
void sim_qp_cfg_asking(struct sim_qp_cfg *cfg);
/* sim_connect makes a QP on each of two nodes and takes both to RTS; returns that of node a. */
struct sim_qp *sim_connect(struct sim_world *w, uint32_t a, uint32_t b,
			   const struct sim_qp_cfg *cfg_a, const struct sim_qp_cfg *cfg_b);
/* sim_connect_extended joins nodes 0 and 1 by QPs with extensions. */
struct sim_qp *sim_connect_extended(struct sim_world *w);
/* sim_connect_default does so with the defaults at both ends. */
struct sim_qp *sim_connect_default(struct sim_world *w);

/*
 * sim_life_begin begins the next life of a connection, with these first PSNs. Neither end is in it,
 * and nothing can be posted, before sim_life_enter: it resets an end and takes it to RTS. An end
 * that stays behind goes on with what it was doing.
 */
void sim_life_begin(struct sim_qp *qp, uint32_t psn, uint32_t peer_psn);
void sim_life_enter(struct sim_qp *qp);
/* sim_reconnect does so for both ends at once. */
void sim_reconnect(struct sim_qp *qp, uint32_t psn, uint32_t peer_psn);
/*
 * sim_node_restart puts a new engine in place of a node's, as when a process ends and is started
 * again: its QPs are in RESET under numbers that are new unless `same_qpns`, its keys are new.
 */
void sim_node_restart(struct sim_node *node, bool same_qpns);

/* sim_mr_add registers an MR at a node. */
struct sim_mr *sim_mr_add(struct sim_node *node, uint32_t pd, uint64_t start, uint64_t length,
			  uint32_t access);

/* What sim_post_wr does differently from an ordinary WRITE; zero is ordinary. */
struct sim_wr {
	uint32_t len, flags, imm, n_sge;
	struct sim_mr *mr; /* to be written to instead of the peer's own */
	uint32_t rkey;	   /* instead of the right one */
	uint64_t beyond;   /* added to the remote address */
	enum rd_wc_status want;
	enum rd_wr_opcode opcode;
	bool misses;	   /* COMPARE_SWAP: what it compares with is not there */
	bool shared;	   /* FETCH_ADD to the word that all share */
	struct sim_mw *mw; /* WRITE, READ: through this window of the peer, which has room */
	uint64_t nowhere;  /* not 0: this address with `rkey`, where nothing may change */
};

/* sim_post_wr posts a WR; NULL when the engine refused it, with the reason in *result. */
struct sim_msg *sim_post_wr(struct sim_qp *qp, const struct sim_wr *wr, int *result);
/* sim_post posts a WRITE that must be taken. */
struct sim_msg *sim_post(struct sim_qp *qp, uint32_t len, uint32_t flags);
/*
 * sim_ask posts a READ or an atomic; NULL when the engine refused it. Each QP has a word of its own
 * at its peer's node, of which it is known what atomics find there. sim_read must be taken.
 */
struct sim_msg *sim_ask(struct sim_qp *qp, const struct sim_wr *wr, int *result);
struct sim_msg *sim_read(struct sim_qp *qp, uint32_t len, uint32_t flags);
struct sim_msg *sim_atomic(struct sim_qp *qp, enum rd_wr_opcode opcode, uint32_t flags);
/* sim_check_words fails when a word does not hold what all atomics together make of it. */
void sim_check_words(struct sim_world *w);
/* sim_send posts a SEND that must be taken. */
struct sim_msg *sim_send(struct sim_qp *qp, uint32_t len, uint32_t flags);
/* sim_post_recv posts a receive of recv_room bytes; wr_ids count up from 0. */
int sim_post_recv(struct sim_qp *qp);
/* sim_modify is mt_qp_modify with memory added where it is wanted. */
int sim_modify(struct sim_qp *qp, const struct rd_qp_attr *attr, uint32_t mask);

/* sim_node_run lets a node send and report what it can now. */
void sim_node_run(struct sim_node *node);
/* sim_node_stop stops a node for ns: nothing is received, sent or timed. */
void sim_node_stop(struct sim_node *node, uint64_t ns, bool deaf);
/* sim_node_now returns the time by a node's clock. */
uint64_t sim_node_now(const struct sim_node *node);
/* sim_clock_jump puts a node's clock ahead by ns, as a machine that was suspended finds it. */
void sim_clock_jump(struct sim_node *node, uint64_t ns);
/*
 * sim_clock_stand makes it stand still for ns. It goes on from there, or, if it catches up, from
 * what it would have shown.
 */
void sim_clock_stand(struct sim_node *node, uint64_t ns, bool catches_up);

/* sim_node_give hands raw bytes to an engine, as from `meta`. */
void sim_node_give(struct sim_node *node, const struct mt_rx_meta *meta, const void *bytes,
		   size_t len);

/* sim_step runs what is next up to `limit`; false when there is nothing or something failed. */
bool sim_step(struct sim_world *w, uint64_t limit);
/* sim_run_for runs the world for ns. */
void sim_run_for(struct sim_world *w, uint64_t ns);
/* sim_run_done runs until all that was posted is done; a failure when that takes longer than ns. */
void sim_run_done(struct sim_world *w, uint64_t ns);
/* sim_qp_done says so of what one end posted. */
bool sim_qp_done(const struct sim_qp *qp);
/* sim_done says whether everything posted is complete and acknowledged. */
bool sim_done(const struct sim_world *w);
/* sim_check_quiet runs ns more and fails when data moves or timers do not rest. */
void sim_check_quiet(struct sim_world *w, uint64_t ns);
/* sim_check_stats holds the engines' counters against what was seen. */
void sim_check_stats(struct sim_world *w);

/* sim_explain prints what went wrong and the state of the world, as comments. */
void sim_explain(struct sim_world *w);

#endif
