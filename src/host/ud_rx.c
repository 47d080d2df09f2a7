/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_rx.c - receives datagrams.
 *
 * Anybody who knows a QP's number and Q_Key may send to it, and what does not fit is dropped as if
 * the network had lost it: no unknown sender ends a QP or uses up its receives.
 */
#include "base/bytes.h"
#include "host/engine_events.h"
#include "host/engine_host.h"
#include "host/mem_guard.h"
#include "host/nic_cq.h"
#include "host/nic_srq.h"
#include "host/place_payload.h"
#include "host/ud.h"
#include "wire/datagram.h"

#define P_KEY_PARTITION 0x7FFFu
#define P_KEY_FULL 0x8000u
/* Of the GRH: IBTA's number for what follows, and a distance that says nothing. */
#define GRH_IPV6 0x60000000u
#define GRH_NEXT_BTH 0x1Bu
#define GRH_HOPS 64u
#define GRH_SGID_AT 8u
#define GRH_DGID_AT 24u

/* What a receive is filled with. */
struct ud_arrived {
	const struct mw_datagram *dg;
	uint8_t grh[MH_GRH_BYTES];
	const uint8_t *payload;
};

/*
 * ud_make_grh writes the header that InfiniBand would have had. RoCE v2 has an IPv4 header in the
 * last 20 bytes instead; a mapped GID puts the peer's address where that has ours and ours where
 * either kind of reader looks for it. REQ(ud.grh)
 */
static void ud_make_grh(const struct mh_nic *nic, const struct mt_rx_meta *meta,
			const struct mio_rx *frame, uint8_t grh[MH_GRH_BYTES])
{
	mb_store_be32(grh, GRH_IPV6 | (uint32_t)frame->tos << 20);
	mb_store_be16(grh + 4, (uint16_t)frame->len);
	grh[6] = GRH_NEXT_BTH;
	grh[7] = GRH_HOPS;
	memcpy(grh + GRH_SGID_AT, meta->src.b, sizeof(meta->src.b));
	memcpy(grh + GRH_DGID_AT, nic->attr.gid.b, sizeof(nic->attr.gid.b));
}

static struct mh_ud *ud_find(const struct mh_nic *nic, uint32_t qpn)
{
	struct mh_qp *qp = nic->qp_by_index[qpn & MH_QPN_INDEX_MASK];

	return qp && qp->number == qpn ? qp->ud : NULL;
}

static bool ud_can_receive(const struct mh_ud *ud)
{
	return ud->state == RD_QPS_RTR || ud->state == RD_QPS_RTS || ud->state == RD_QPS_SQD;
}

/* The same partition, and not a limited member at both ends. */
static bool ud_is_p_key_match(uint16_t ours, uint16_t theirs)
{
	return ((ours ^ theirs) & P_KEY_PARTITION) == 0 && ((ours | theirs) & P_KEY_FULL);
}

/* ud_recv_length returns how many bytes the oldest receive holds. */
static uint64_t ud_recv_length(const struct rd_sge *sge, uint32_t n)
{
	uint64_t room = 0;

	while (n > 0)
		room += sge[--n].length;
	return room;
}

struct ud_copy {
	uint8_t *to;
	const uint8_t *from;
	uint32_t len;
};

static void ud_copy(void *ctx)
{
	const struct ud_copy *copy = ctx;

	mh_place_payload(copy->to, copy->from, copy->len);
}

/* ud_write_sge copies len bytes into the SGE behind those that `at` counts; false: memory is
 * gone. */
static bool ud_write_sge(const struct mh_qp *qp, const struct rd_sge *sge, uint32_t skip,
			 const uint8_t *from, uint32_t len)
{
	const struct mh_pd *pd = qp->init.srq ? qp->init.srq->pd : qp->init.pd;
	struct ud_copy copy = {.from = from, .len = len};

	copy.to = mh_engine_find_mr(qp->dev->nic, pd, RD_ACCESS_LOCAL_WRITE, sge, skip, len);
	return copy.to && mh_guard_run(copy.to, len, ud_copy, &copy);
}

/* ud_scatter fills the pieces of a receive with len bytes behind its first `skip`. */
static bool ud_scatter(const struct mh_qp *qp, const struct rd_sge *sge, uint32_t skip,
		       const uint8_t *from, uint32_t len)
{
	for (; len > 0; sge++) {
		uint32_t part;

		if (skip >= sge->length) {
			skip -= sge->length;
			continue;
		}
		part = sge->length - skip < len ? sge->length - skip : len;
		if (!ud_write_sge(qp, sge, skip, from, part))
			return false;
		from += part;
		len -= part;
		skip = 0;
	}
	return true;
}

/* ud_peek_recv tells the oldest receive, of the QP or of its SRQ; false: none is posted. */
static bool ud_peek_recv(const struct mh_ud *ud, struct rd_recv_wr *wr)
{
	const struct mh_qp *qp = ud->qp;
	uint64_t at;

	if (qp->init.srq)
		return mt_srq_peek(qp->init.srq->mt, wr);
	if (qp->recv.reported == qp->recv.posted)
		return false;
	at = qp->recv.reported % qp->init.cap.max_recv_wr;
	*wr = (struct rd_recv_wr){
		.wr_id = ud->recv[at].wr_id,
		.sge = ud->recv_sge + at * qp->init.cap.max_recv_sge,
		.n_sge = ud->recv[at].n_sge,
	};
	return true;
}

/* ud_complete_recv adds the completion of the oldest receive, which is used up. */
static void ud_complete_recv(struct mh_qp *qp, struct mh_cqe *cqe)
{
	struct rd_recv_wr wr;
	bool taken = qp->init.srq && mt_srq_pop(qp->init.srq->mt, &wr);

	if (!taken)
		cqe->wr = ++qp->recv.reported;
	mh_completion_push(qp->dev->nic, qp->init.recv_cq, cqe);
	if (taken)
		mt_srq_polled(qp->init.srq->mt);
}

/* ud_deliver fills the oldest receive, which is long enough, and completes it. */
static void ud_deliver(struct mh_ud *ud, const struct rd_recv_wr *recv, const struct ud_arrived *in)
{
	struct mh_qp *qp = ud->qp;
	struct mh_nic *nic = qp->dev->nic;
	struct mh_cqe cqe = {.qp = qp};
	bool whole = ud_scatter(qp, recv->sge, 0, in->grh, sizeof(in->grh)) &&
		     ud_scatter(qp, recv->sge, MH_GRH_BYTES, in->payload, in->dg->payload_len);

	cqe.wc = (struct mh_wc){
		.wr_id = recv->wr_id,
		.status = whole ? RD_WC_SUCCESS : RD_WC_LOC_PROT_ERR,
		.opcode = RD_WC_RECV,
		.byte_len = MH_GRH_BYTES + in->dg->payload_len,
		.imm = in->dg->imm,
		.qpn = qp->number,
		.flags = RD_WC_GRH | (in->dg->with_imm ? (uint32_t)RD_WC_WITH_IMM : 0) |
			 (in->dg->se ? (uint32_t)RD_WC_SOLICITED : 0),
		.src_qpn = in->dg->src_qpn,
		.qp_owner = qp->init.owner,
	};
	ud_complete_recv(qp, &cqe);
	if (whole) {
		nic->counts.ud_rx++;
		nic->counts.ud_rx_bytes += in->dg->payload_len;
	} else {
		mh_ud_to_err(ud);
	}
}

/* ud_dispatch gives a datagram to the QP that it is for, or returns what it is counted as. */
static uint64_t *ud_dispatch(struct mh_nic *nic, struct ud_arrived *in)
{
	const struct mw_datagram *dg = in->dg;
	struct mh_ud *ud = ud_find(nic, dg->dqp);
	struct rd_recv_wr recv;

	if (!ud || !ud_can_receive(ud))
		return &nic->counts.ud_drop_no_qp;
	if (dg->q_key != ud->q_key || !ud_is_p_key_match(ud->p_key, dg->p_key))
		return &nic->counts.ud_drop_key;
	if (!ud_peek_recv(ud, &recv))
		return &nic->counts.ud_drop_no_recv;
	if (ud_recv_length(recv.sge, recv.n_sge) < MH_GRH_BYTES + (uint64_t)dg->payload_len)
		return &nic->counts.ud_drop_recv_too_short;
	ud_deliver(ud, &recv, in);
	return NULL;
}

/* REQ(ud.qkey) REQ(ud.drop) */
void mh_ud_receive(struct mh_nic *nic, const struct mt_rx_meta *meta, const struct mio_rx *frame,
		   size_t body)
{
	struct mw_datagram dg;
	struct ud_arrived in = {.dg = &dg};
	uint64_t *dropped;
	size_t headers;

	if (meta->trim != MT_TRIM_NONE || !meta->icrc_ok) {
		nic->counts.ud_drop_corrupt++;
		return;
	}
	if (mw_datagram_decode(frame->bytes, body, &dg, &headers) != MW_OK ||
	    dg.payload_len > nic->env.mtu) {
		nic->counts.ud_drop_malformed++;
		return;
	}
	in.payload = frame->bytes + headers;
	ud_make_grh(nic, meta, frame, in.grh);
	dropped = ud_dispatch(nic, &in);
	if (dropped)
		(*dropped)++;
}
