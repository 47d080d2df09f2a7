/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud.h - UD queue pairs inside host: datagrams beside the engine, which does not know of them.
 *
 * A UD QP has a number, CQs, a PD and counts of WRs like any other (nic_qp.h) and, in the place of
 * the engine's half, what is here: two rings of WRs. ud.c is its life, ud_tx.c sends, ud_rx.c
 * receives. docs/protocol.md has the packets, docs/design the reasons. All under nic->lock.
 */
#ifndef SOFTMRC_HOST_UD_H
#define SOFTMRC_HOST_UD_H

#include "host/nic_qp.h"
#include "host/ud_peers.h"
#include "io/io_port.h"

/* A datagram to be sent. */
struct mh_ud_send {
	uint64_t wr_id;
	struct rd_gid dest;
	uint32_t qpn, q_key;
	uint32_t imm;
	uint32_t bytes;
	uint32_t flags; /* enum rd_send_flags */
	uint32_t n_sge;
	uint8_t traffic_class;
};

struct mh_ud_recv {
	uint64_t wr_id;
	uint32_t n_sge;
};

/* The path that datagrams take for a moment, see ud_tx.c. */
struct mh_ud_path {
	uint32_t next;	 /* number of the next one, over all EVs of all ports */
	uint32_t number; /* of this one, port by port in turn */
	uint32_t port, ev;
	uint64_t until_ns; /* it is left then in any case, */
	uint64_t used_ns;  /* and when nothing was sent on it for a while */
};

struct mh_ud {
	struct mh_qp *qp;
	struct mb_link sender; /* in nic->ud_senders while WRs wait to be sent */
	enum rd_qp_state state;
	uint32_t q_key;
	uint16_t p_key;
	uint32_t sq_psn; /* of the next datagram */
	uint64_t sent;	 /* send WRs below this number are done */
	struct mh_ud_path path;
	struct mh_ud_peer *peer; /* to which the last datagram went, or NULL */
	/* By number of the WR modulo depth; SGEs: so many for each. */
	struct mh_ud_send *send;
	struct rd_sge *send_sge;
	struct mh_ud_recv *recv;
	struct rd_sge *recv_sge;
};

/* mh_ud_create makes what a UD QP with qp->init needs in qp->ud, in RESET; false: no memory. */
bool mh_ud_create(struct mh_qp *qp);
/* mh_ud_free: NULL is allowed. */
void mh_ud_free(struct mh_ud *ud);
/* mh_ud_unlink takes the QP from the lists of the NIC. */
void mh_ud_unlink(struct mh_ud *ud);

/* mh_ud_modify and mh_ud_query: as mh_qp_modify, mask within MH_QP_UD_ALL, and mh_qp_query. */
int mh_ud_modify(struct mh_ud *ud, const struct rd_qp_attr *attr, uint32_t mask);
void mh_ud_query(const struct mh_ud *ud, struct rd_qp_attr *attr);
/* mh_ud_to_err flushes what is posted, unless the QP is in RESET. */
void mh_ud_to_err(struct mh_ud *ud);

/* mh_ud_post_send and mh_ud_post_recv queue one WR; errors as those of mh_qp_post_send. */
int mh_ud_post_send(struct mh_ud *ud, const struct rd_send_wr *wr);
int mh_ud_post_recv(struct mh_ud *ud, const struct rd_recv_wr *wr);

/* mh_ud_tx_run sends what ports have room for and returns how many datagrams that were. */
uint32_t mh_ud_tx_run(struct mh_nic *nic, uint64_t now_ns);
/* mh_ud_deadline returns when datagrams that wait for tokens may go out, UINT64_MAX if none
 * waits. */
uint64_t mh_ud_deadline(const struct mh_nic *nic);
/* mh_ud_complete_send completes the oldest send WR. */
void mh_ud_complete_send(struct mh_ud *ud, enum rd_wc_status status);

/*
 * mh_ud_receive takes a frame whose first byte says that it is a datagram: body is its length
 * without the ICRC. Whatever is in it, the worst outcome is a counter.
 */
void mh_ud_receive(struct mh_nic *nic, const struct mt_rx_meta *meta, const struct mio_rx *frame,
		   size_t body);

#endif
