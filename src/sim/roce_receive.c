/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_receive.c - a QP that receives: what is expected is taken, anything else thrown away; ACKs,
 * one NAK for a gap, CNPs.
 *
 * The checker takes each packet for an interval of the flow's bytes. Of a QP each begins where the
 * one before ended, or behind. If the ends of all of them, hashed and added without carry, come to
 * the two ends of the flow, and their lengths to its length, they cover it, each byte once: ends
 * between two neighbours cancel out.
 */
#include "sim/roce_state.h"

static void answer(struct ms_rhost *h, struct ms_lane *lane, const struct ms_packet *to,
		   uint32_t peer_slot, uint32_t ev, enum ms_roce_kind kind, uint64_t expected)
{
	uint32_t headers = MS_ROCE_BTH + (kind == MS_ROCE_CNP_KIND ? MS_ROCE_CNP : MS_ROCE_AETH);
	struct ms_packet p = {
		.src = h->number & (MS_HOSTS_MAX - 1),
		.plane = to->plane,
		.dst = to->src,
		.ecmp = 1,
		.roce = 1,
		.cls = MW_DSCP_CONTROL,
		.ev = ev,
		.head = kind & 0xFF,
		.bytes = (uint16_t)(headers + h->r->cfg.frame_bytes),
		.body = {ms_rbody(peer_slot, ms_rbody_index(to), kind), expected},
	};
	struct ms_roce_stats *s = &h->lane->sums.stats;

	h->lane->sums.sent++;
	s->tx_acks += kind == MS_ROCE_ACK;
	s->tx_naks += kind == MS_ROCE_NAK;
	s->tx_cnps += kind == MS_ROCE_CNP_KIND;
	ms_send(lane, &p);
}

static void acknowledge(struct ms_rhost *h, struct ms_lane *lane, const struct ms_packet *to,
			const struct ms_rconn *c, struct ms_rrx *x)
{
	x->unanswered = 0;
	answer(h, lane, to, c->peer_slot, x->ev, MS_ROCE_ACK, x->expected);
}

/* ---- what is taken ---- */

/* REQ(sim.roce.once) */
static void check(struct ms_rhost *h, struct ms_rconn *c, struct ms_rrx *x,
		  const struct ms_packet *p)
{
	uint64_t from = p->body[MS_RBODY_OFFSET], bytes = p->body[MS_RBODY_BYTES];

	if (from < x->from || from + bytes > c->cut.bytes)
		ms_roce_complain(h->lane, "flow %u: %llu bytes came for %llu, behind %llu of %llu",
				 c->flow, (unsigned long long)bytes, (unsigned long long)from,
				 (unsigned long long)x->from, (unsigned long long)c->cut.bytes);
	x->from = from + bytes;
	c->bytes += bytes;
	c->ends ^= ms_mix(from + 1) ^ ms_mix(x->from + 1);
}

static bool all_placed(const struct ms_rconn *c)
{
	return c->bytes == c->cut.bytes && c->ends == (ms_mix(1) ^ ms_mix(c->cut.bytes + 1));
}

static uint32_t passed_everywhere(const struct ms_rconn *c)
{
	uint32_t passed = c->passed;

	for (; passed < c->cut.messages; passed++)
		for (uint32_t i = 0; i < c->cut.qps; i++)
			if (c->rx[i].expected < ms_rcut_end(&c->cut, i, passed + 1))
				return passed;
	return passed;
}

/* Messages may have arrived now. */
static void pass(struct ms_rhost *h, struct ms_rconn *c, uint64_t now_ps)
{
	uint32_t passed = passed_everywhere(c);

	if (passed == c->passed)
		return;
	c->passed = passed;
	if (passed == c->cut.messages) {
		if (!all_placed(c))
			ms_roce_complain(h->lane, "flow %u: %llu bytes placed of %llu, or twice",
					 c->flow, (unsigned long long)c->bytes,
					 (unsigned long long)c->cut.bytes);
		h->r->end_ns[c->flow] = now_ps / MS_PS_PER_NS;
		h->lane->sums.arrived++;
	} else if (c->bytes < passed * c->cut.message_bytes) {
		ms_roce_complain(h->lane, "flow %u: message %u came without all its bytes", c->flow,
				 passed - 1);
	}
	ms_rconn_let_go(h, c->flow, MS_RECEIVED, now_ps);
}

/* The packet that is expected. REQ(sim.roce.ack) */
static void take(struct ms_rhost *h, struct ms_lane *lane, struct ms_rconn *c, struct ms_rrx *x,
		 const struct ms_packet *p, uint64_t now_ps)
{
	check(h, c, x, p);
	h->lane->sums.stats.rx_data_packets++;
	x->expected++;
	x->nak_sent = false;
	x->unanswered++;
	if (x->unanswered >= h->r->cfg.ack_every ||
	    x->expected == ms_rcut_end(&c->cut, ms_rbody_index(p),
				       (uint32_t)p->body[MS_RBODY_MESSAGE] + 1))
		acknowledge(h, lane, p, c, x);
	pass(h, c, now_ps);
}

/* A marked packet, whatever becomes of it. REQ(sim.dcqcn.cnp) */
static void marked(struct ms_rhost *h, struct ms_lane *lane, const struct ms_rconn *c,
		   struct ms_rrx *x, const struct ms_packet *p, uint64_t now_ps)
{
	if (now_ps < x->cnp_ps)
		return;
	x->cnp_ps = now_ps + h->r->cfg.dcqcn.cnp_interval_ns * MS_PS_PER_NS;
	answer(h, lane, p, c->peer_slot, x->ev, MS_ROCE_CNP_KIND, 0);
}

/* REQ(sim.roce.go-back) */
void ms_rrx_data(struct ms_rhost *h, struct ms_lane *lane, const struct ms_packet *p,
		 uint64_t now_ps)
{
	uint32_t slot = ms_rbody_slot(p), i = ms_rbody_index(p);
	uint64_t number = p->body[MS_RBODY_NUMBER];
	struct ms_rconn *c;
	struct ms_rrx *x;

	c = slot >= h->outgoing && slot < h->n_slots ? h->conns[slot] : NULL;
	if (!c && slot >= h->outgoing && slot < h->n_slots)
		c = ms_rconn_accept(h, slot);
	if (!c || i >= c->cut.qps) {
		ms_roce_complain(h->lane, "host %u: a packet for slot %u, QP %u", h->number, slot,
				 i);
		return;
	}
	x = &c->rx[i];
	if (p->ce && h->r->cfg.congestion_control)
		marked(h, lane, c, x, p, now_ps);
	if (number == x->expected) {
		take(h, lane, c, x, p, now_ps);
	} else if (number < x->expected) {
		h->lane->sums.stats.rx_duplicates++;
		acknowledge(h, lane, p, c, x);
	} else {
		h->lane->sums.stats.rx_out_of_order++;
		if (!x->nak_sent)
			answer(h, lane, p, c->peer_slot, x->ev, MS_ROCE_NAK, x->expected);
		x->nak_sent = true;
	}
}
