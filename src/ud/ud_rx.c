/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_rx.c - receives datagrams.
 *
 * Everyone who knows a UD QP's number and Q_Key may send to it, to a UC QP its peer alone, and what
 * does not fit is dropped as if the network had lost it: no unknown sender ends a QP or uses up its
 * receives.
 */
#include <string.h>

#include "base/bytes.h"
#include "ud/ud_private.h"

#define P_KEY_PARTITION 0x7FFFu
#define P_KEY_FULL 0x8000u
/* Of the GRH: IBTA's number for what follows, and a distance that says nothing. */
#define GRH_IPV6 0x60000000u
#define GRH_NEXT_BTH 0x1Bu
#define GRH_HOPS 64u
#define GRH_SGID_AT 8u
#define GRH_DGID_AT 24u

/* What a receive is filled with. */
struct arrived {
	const struct mw_datagram *dg;
	uint8_t grh[MU_GRH_BYTES];
	const uint8_t *payload;
};

/*
 * make_grh writes the header that InfiniBand would have had. RoCE v2 has an IPv4 header in the last
 * 20 bytes instead; a mapped GID puts the peer's address where that has ours and ours where either
 * kind of reader looks for it. REQ(ud.grh)
 */
static void make_grh(const struct mu_engine *e, const struct mt_rx_meta *meta, uint8_t tos,
		     size_t len, uint8_t grh[MU_GRH_BYTES])
{
	mb_store_be32(grh, GRH_IPV6 | (uint32_t)tos << 20);
	mb_store_be16(grh + 4, (uint16_t)len);
	grh[6] = GRH_NEXT_BTH;
	grh[7] = GRH_HOPS;
	memcpy(grh + GRH_SGID_AT, meta->src.b, sizeof(meta->src.b));
	memcpy(grh + GRH_DGID_AT, e->cfg.gid.b, sizeof(e->cfg.gid.b));
}

static bool can_receive(const struct mu_qp *qp)
{
	return qp->attr.state == RD_QPS_RTR || qp->attr.state == RD_QPS_RTS ||
	       qp->attr.state == RD_QPS_SQD;
}

/* The same partition, and not a limited member at both ends. */
static bool is_p_key_match(uint16_t ours, uint16_t theirs)
{
	return ((ours ^ theirs) & P_KEY_PARTITION) == 0 && ((ours | theirs) & P_KEY_FULL);
}

/*
 * is_addressed_well says whether a datagram may come to a QP: a UD QP's has its Q_Key, a UC QP's
 * comes from the host and QP that are its peer. REQ(ud.qkey) REQ(uc.peer)
 */
static bool is_addressed_well(const struct mu_qp *qp, const struct arrived *in)
{
	if (!is_p_key_match(qp->attr.p_key, in->dg->p_key))
		return false;
	if (!qp->is_uc)
		return in->dg->q_key == qp->attr.q_key;
	return in->dg->q_key == MW_Q_KEY_UC && in->dg->src_qpn == qp->attr.dest_qpn &&
	       memcmp(in->grh + GRH_SGID_AT, qp->attr.dest.b, sizeof(qp->attr.dest.b)) == 0;
}

/* grh_bytes returns how much of a receive the GRH takes. REQ(ud.grh) */
static uint32_t grh_bytes(const struct mu_qp *qp)
{
	return qp->is_uc ? 0 : MU_GRH_BYTES;
}

/* recv_length returns how many bytes a receive holds. */
static uint64_t recv_length(const struct rd_recv_wr *wr)
{
	uint64_t room = 0;

	for (uint32_t i = 0; i < wr->n_sge; i++)
		room += wr->sge[i].length;
	return room;
}

/* scatter fills a receive with len bytes behind its first `skip`; false: memory is gone. */
static bool scatter(const struct mu_qp *qp, const struct rd_recv_wr *recv, uint32_t skip,
		    const uint8_t *from, uint32_t len)
{
	const struct mu_env *env = &qp->e->env;
	struct rd_sge_walk walk = rd_sge_walk(recv->sge, recv->n_sge, skip, len);
	struct mt_mr_part part;
	struct rd_sge piece;

	for (; rd_sge_next(&walk, &piece); from += piece.length)
		if (!mu_find_mr(qp->e, qp->recv_pd, RD_ACCESS_LOCAL_WRITE, &piece, &part) ||
		    !env->place(env->ctx, part.mr_user, part.offset, from, piece.length))
			return false;
	return true;
}

void mu_complete_recv(struct mu_qp *qp, struct mu_completion *c)
{
	struct rd_recv_wr wr;

	mt_srq_pop(qp->recvs, &wr);
	c->wr = qp->own_recvs ? ++qp->recvs_done : 0;
	qp->e->env.complete(qp->user, c);
	mt_srq_polled(qp->recvs);
}

/* deliver fills the oldest receive, which is long enough, and completes it. */
static void deliver(struct mu_qp *qp, const struct rd_recv_wr *recv, const struct arrived *in)
{
	uint32_t grh = grh_bytes(qp);
	bool whole = scatter(qp, recv, 0, in->grh, grh) &&
		     scatter(qp, recv, grh, in->payload, in->dg->payload_len);
	struct mu_completion c = {
		.wr_id = recv->wr_id,
		.status = whole ? RD_WC_SUCCESS : RD_WC_LOC_PROT_ERR,
		.byte_len = grh + in->dg->payload_len,
		.imm = in->dg->imm,
		.flags = (grh ? (uint32_t)RD_WC_GRH : 0) |
			 (in->dg->with_imm ? (uint32_t)RD_WC_WITH_IMM : 0) |
			 (in->dg->se ? (uint32_t)RD_WC_SOLICITED : 0),
		.src_qpn = in->dg->src_qpn,
		.is_recv = true,
	};

	mu_complete_recv(qp, &c);
	if (whole) {
		qp->e->counts.ud_rx++;
		qp->e->counts.ud_rx_bytes += in->dg->payload_len;
	} else {
		mu_qp_to_err(qp);
	}
}

/* find_receiver returns the QP of this number if it receives datagrams, or NULL. */
static struct mu_qp *find_receiver(struct mu_engine *e, uint32_t qpn)
{
	struct mu_qp *qp = e->env.find_qp(e->env.ctx, qpn);

	return qp && can_receive(qp) ? qp : NULL;
}

bool mu_receive_expected(struct mu_engine *e, uint32_t qpn)
{
	if (find_receiver(e, qpn))
		return true;
	e->counts.ud_drop_no_qp++;
	return false;
}

/* dispatch gives a datagram to the QP that it is for, or returns what it is counted as. */
static uint64_t *dispatch(struct mu_engine *e, struct arrived *in)
{
	const struct mw_datagram *dg = in->dg;
	struct mu_qp *qp = find_receiver(e, dg->dqp);
	struct rd_recv_wr recv;

	if (!qp)
		return &e->counts.ud_drop_no_qp;
	if (!is_addressed_well(qp, in))
		return &e->counts.ud_drop_key;
	if (!mt_srq_peek(qp->recvs, &recv))
		return &e->counts.ud_drop_no_recv;
	if (recv_length(&recv) < grh_bytes(qp) + (uint64_t)dg->payload_len)
		return &e->counts.ud_drop_recv_too_short;
	deliver(qp, &recv, in);
	return NULL;
}

/* REQ(ud.drop) */
void mu_receive(struct mu_engine *e, const struct mt_rx_meta *meta, uint8_t tos,
		const uint8_t *frame, size_t len, size_t body)
{
	struct mw_datagram dg;
	struct arrived in = {.dg = &dg};
	uint64_t *dropped;
	size_t headers;

	if (meta->trim != MT_TRIM_NONE || !meta->icrc_ok) {
		e->counts.ud_drop_corrupt++;
		return;
	}
	if (mw_datagram_decode(frame, body, &dg, &headers) != MW_OK ||
	    dg.payload_len > e->cfg.mtu) {
		e->counts.ud_drop_malformed++;
		return;
	}
	in.payload = frame + headers;
	make_grh(e, meta, tos, len, in.grh);
	dropped = dispatch(e, &in);
	if (dropped)
		(*dropped)++;
}
