/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud.h - UD and UC queue pairs: datagrams beside the MRC engine, which does not know of them.
 *
 * A NIC has one UD engine. It holds WRs, chooses EVs, writes and reads headers, and asks
 * the MRC engine to send the probes by which it finds EVs that do not work. The adapter (the
 * software NIC) provides ports, memory and CQs through struct mu_env. docs/protocol.md has the
 * packets, docs/design the reasons. A UC QP is a UD QP that has one peer: its datagrams go there,
 * and it takes none of anybody else.
 *
 * Nothing here locks or blocks: all calls on one UD engine and its QPs need one lock of the
 * adapter, and the functions of struct mu_env are called under it.
 */
#ifndef SOFTMRC_UD_UD_H
#define SOFTMRC_UD_UD_H

#include "core/engine.h"
#include "rdma/qp_attr.h"
#include "ud/ud_counts.h"
#include "wire/datagram.h"

/* Before the payload in each receive: an IPv6 header with the GIDs; byte_len includes it. */
#define MU_GRH_BYTES 40u

struct mu_engine;
struct mu_qp;

enum mu_qp_type {
	MU_QPT_UD,
	MU_QPT_UC,
};

/* A WR that is complete. */
struct mu_completion {
	uint64_t wr_id;
	uint64_t wr; /* WRs of its queue below this number are complete; 0: a receive of an SRQ */
	enum rd_wc_status status;
	uint32_t byte_len;
	uint32_t flags; /* enum rd_wc_flags */
	uint32_t imm;
	uint32_t src_qpn;
	bool is_recv;
};

/* What the adapter does for a UD engine. */
struct mu_env {
	void *ctx;
	/* tx_budget returns how many datagrams a port may send now. */
	uint32_t (*tx_budget)(void *ctx, uint32_t port, uint64_t now_ns);
	/*
	 * tx puts a datagram into the burst of its port, within tx_budget; the memory that it names
	 * stays as it is until tx_flush sends the burst. d->pkt has of its headers what they share
	 * with those of MRC. false: the memory is gone, and nothing is sent.
	 */
	bool (*tx)(void *ctx, const struct mt_tx_desc *d, const struct mw_datagram *headers,
		   uint8_t traffic_class);
	void (*tx_flush)(void *ctx, uint32_t port, uint64_t now_ns);
	/* tx_probes sends what the MRC engine has to send. */
	void (*tx_probes)(void *ctx, uint64_t now_ns);
	/* place: as that of struct mt_env; mr_user is not NULL. */
	bool (*place)(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len);
	/* find_qp returns the UD or UC QP with a number, or NULL. */
	struct mu_qp *(*find_qp)(void *ctx, uint32_t qpn);
	/* complete takes the completion of a WR, also of a send that is not signalled. */
	void (*complete)(void *qp_user, const struct mu_completion *c);
	/* last_wqe hears that a QP in ERR takes no more receives of its SRQ. */
	void (*last_wqe)(void *qp_user);
};

struct mu_cfg {
	struct mt_engine *engine; /* sends the probes, and has the MRs */
	struct rd_gid gid;
	uint32_t mtu;		 /* payload of a datagram at most */
	uint32_t qpn_index_bits; /* of a peer's QPN; those above name the engine at its address */
	const struct mt_ev *evs; /* copied; port by port in turn */
	uint16_t n_evs;		 /* 1 .. MT_EVS_MAX, a multiple of n_ports */
	uint32_t n_ports;
	uint64_t seed; /* of the order in which EVs are taken */
};

/* mu_create makes the UD engine of a NIC; NULL: no memory. */
struct mu_engine *mu_create(const struct mu_cfg *cfg, const struct mu_env *env);
/* mu_destroy frees one that has no QPs any more; NULL is allowed. */
void mu_destroy(struct mu_engine *e);
const struct mu_counts *mu_counts(const struct mu_engine *e);

/*
 * mu_path_deny keeps all datagrams from EV i of the cfg, or no longer does. false: it is the last
 * one that they may take, and stays so.
 */
bool mu_path_deny(struct mu_engine *e, uint16_t i, bool deny);

/*
 * mu_run sends what ports have room for and returns how many datagrams that were. `up`: the ports
 * that are up, a mask.
 */
uint32_t mu_run(struct mu_engine *e, uint32_t up, uint64_t now_ns);
/* mu_wanted_ports returns the ports of `up` on any of which datagrams could leave that wait. */
uint32_t mu_wanted_ports(const struct mu_engine *e, uint32_t up);
/*
 * mu_receive_expected says, of a datagram whose ICRC is still to be computed, whether there is a QP
 * of this number that receives. If not, it is dropped and counted already.
 */
bool mu_receive_expected(struct mu_engine *e, uint32_t qpn);
/*
 * mu_receive takes a frame whose first byte says that it is a datagram: len bytes, of which the
 * first `body` come before the ICRC. Whatever is in it, the worst outcome is a counter.
 */
void mu_receive(struct mu_engine *e, const struct mt_rx_meta *meta, uint8_t tos,
		const uint8_t *frame, size_t len, size_t body);
/* mu_deliver_probe takes an event of type ENDPOINT if it is the end of a probe made here. */
bool mu_deliver_probe(struct mu_engine *e, const struct mt_event *event, uint64_t now_ns);

/*
 * mu_qp_create makes a QP in RESET; `user` comes back in completions. Of cap it takes depths, SGEs,
 * PD and SRQ; memory of receives belongs to recv_pd. NULL: no memory.
 */
struct mu_qp *mu_qp_create(struct mu_engine *e, const struct mt_qp_cap *cap, uint32_t recv_pd,
			   uint32_t number, enum mu_qp_type type, void *user);
void mu_qp_destroy(struct mu_qp *qp);
/*
 * mu_qp_modify sets state, P_Key, SQ_PSN and, of a UD QP, the Q_Key, of a UC QP the peer, path MTU,
 * RQ_PSN and access, as far as mask names them. false, and nothing has changed: the move or a value
 * is invalid, RTR without a peer, or a peer or path MTU for a QP that is in RTR or behind it.
 */
bool mu_qp_modify(struct mu_qp *qp, const struct rd_qp_attr *attr, uint32_t mask);
void mu_qp_query(const struct mu_qp *qp, struct rd_qp_attr *attr);
/* mu_qp_to_err flushes what is posted, unless the QP is in RESET. */
void mu_qp_to_err(struct mu_qp *qp);
/*
 * mu_qp_post_send and mu_qp_post_recv queue one WR, for which the adapter knows a free place; SGEs
 * are not empty, and those of a send have fewer than 2^32 bytes. Inline bytes are an SGE with
 * MT_LKEY_ADAPTER and RD_SEND_INLINE. false: the WR is invalid, longer than a UC QP's path MTU, or
 * the QP's state does not take it. Of a UC QP's WR wr->ud is not looked at.
 */
bool mu_qp_post_send(struct mu_qp *qp, const struct rd_send_wr *wr);
bool mu_qp_post_recv(struct mu_qp *qp, const struct rd_recv_wr *wr);

#endif
