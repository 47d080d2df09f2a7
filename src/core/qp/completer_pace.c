/* SPDX-License-Identifier: BSD-2-Clause */
/* completer_pace.c - what the peer's answers say of the gap between our packets: see cc/pace.h. */
#include "core/qp/halves.h"

/*
 * A packet that was sent more than twice gives no sample: it has waited for long, and its QP goes
 * sooner next time. REQ(cc.pace.shorter)
 */
void mt_completer_shorten_gap(struct mt_qp *qp, uint64_t rtt_ns)
{
	uint64_t least_ns = qp->req.rtt.min_ns, base_ns = qp->req.cc.nscc.base_rtt_ns;

	if (least_ns == UINT64_MAX)
		return;
	if (base_ns == 0 || base_ns > least_ns)
		base_ns = least_ns;
	mt_pace_arrived(&qp->req.pace, rtt_ns > base_ns ? rtt_ns - base_ns : 0, base_ns);
}

/*
 * A QP that sends no faster than its part, and less than half of what its window lets it, is held
 * back by its own NIC, as in an all-to-all: what was trimmed met others by chance. A gap takes
 * the place of the window, so that nothing would make the queue shorter. Packets leave a NIC in
 * quanta of a QP, for a moment several times as fast as its part. REQ(cc.pace.own-part)
 */
#define QUANTA 4u

static bool keeps_to_its_part(const struct mt_requester *req, uint64_t gap_ns)
{
	return req->pace.gap_ns == 0 && req->cc.cwnd / 2 > (uint64_t)req->cc.inflight &&
	       req->window.outstanding * gap_ns < QUANTA * req->rtt.smoothed_ns;
}

/*
 * The receiver says how far apart packets are to be: what was trimmed goes again in its turn, with
 * no other wait. A peer slows its own QP only, and no further than timeouts bear. Senders that were
 * cut together are on the same plane, and each goes on at one of its own. REQ(cc.pace.gap)
 */
bool mt_completer_set_gap(struct mt_qp *qp, const struct mw_neth *neth, uint64_t now_ns)
{
	struct mb_prng *prng = &qp->req.spray.prng;
	uint64_t gap_ns = mt_pace_decode(neth->vendor_info), most = mt_qp_longest_wait_ns(qp);

	if (neth->reason != MW_NACK_TRIMMED_LASTHOP || gap_ns == 0 ||
	    keeps_to_its_part(&qp->req, gap_ns))
		return false;
	mt_pace_set(&qp->req.pace, now_ns, (uint32_t)(gap_ns < most ? gap_ns : most),
		    (uint32_t)mb_prng_u64(prng));
	mt_spray_go_to_port(&qp->req.spray, mb_prng_below(prng, qp->ev_set->n_ports));
	return true;
}
