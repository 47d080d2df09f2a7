/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_receive.c - a QP that receives: what is expected is taken, anything else thrown away; ACKs,
 * one NAK for a gap, CNPs.
 *
 * The checker takes each packet for an interval of its message's bytes. Of a QP each begins where
 * the one before ended, or a message begins. If the ends of all of them, hashed and added without
 * carry, come to the two ends of every message, and their lengths to its length, they cover it,
 * each byte once: ends between two neighbours cancel out.
 */
#include "sim/roce/roce_state.h"

static void send_response(struct ms_rhost *h, struct ms_worker *worker, const struct ms_packet *to,
			  uint32_t peer_slot, uint32_t ev, enum ms_roce_kind kind,
			  uint64_t expected)
{
	uint32_t headers = MS_ROCE_BTH + (kind == MS_ROCE_CNP_KIND ? MS_ROCE_CNP : MS_ROCE_AETH);
	struct ms_packet p = {
		.src = h->nic.number & (MS_HOSTS_MAX - 1),
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
	struct ms_roce_stats *s = h->stats;

	h->nic.worker->sums.sent++;
	s->tx_acks += kind == MS_ROCE_ACK;
	s->tx_naks += kind == MS_ROCE_NAK;
	s->tx_cnps += kind == MS_ROCE_CNP_KIND;
	ms_send(worker, &p);
}

static void send_ack(struct ms_rhost *h, struct ms_worker *worker, const struct ms_packet *to,
		     const struct ms_rconn *c, struct ms_rrx *x)
{
	x->unanswered = 0;
	send_response(h, worker, to, c->peer_slot, x->ev, MS_ROCE_ACK, x->expected);
}

/* ---- what is taken ---- */

/* REQ(sim.roce.once) */
static void check_packet(struct ms_rhost *h, struct ms_rconn *c, struct ms_rrx *x,
			 const struct ms_packet *p)
{
	uint64_t from = p->body[MS_RBODY_OFFSET], bytes = p->body[MS_RBODY_BYTES];
	uint64_t k = p->body[MS_RBODY_MESSAGE], base = k * c->end.message_bytes;
	bool first = p->body[0] & MS_RBODY_FIRST;

	if (k >= c->end.messages || from < base || (!first && from != x->from) ||
	    from + bytes > base + ms_flow_end_message_bytes(&c->end, (uint32_t)k))
		ms_nic_report_violation(
			h->nic.worker,
			"flow %u: %llu bytes came for %llu of message %llu, not for %llu",
			c->end.flow, (unsigned long long)bytes, (unsigned long long)from,
			(unsigned long long)k, (unsigned long long)x->from);
	x->from = from + bytes;
	c->end.placed_bytes += bytes;
	c->ends_seen ^= ms_mix(from + 1) ^ ms_mix(x->from + 1);
}

static bool all_placed(const struct ms_rconn *c)
{
	uint64_t ends = 0;

	for (uint32_t k = 0; k < c->end.messages; k++)
		ends ^= ms_mix(k * c->end.message_bytes + 1) ^
			ms_mix(k * c->end.message_bytes + ms_flow_end_message_bytes(&c->end, k) +
			       1);
	return c->end.placed_bytes == c->end.bytes && c->ends_seen == ends;
}

static void complete_message(struct ms_rhost *h, const struct ms_rconn *c, uint64_t now_ps)
{
	if (!all_placed(c))
		ms_nic_report_violation(
			h->nic.worker, "flow %u: %llu bytes placed of %llu, or twice", c->end.flow,
			(unsigned long long)c->end.placed_bytes, (unsigned long long)c->end.bytes);
	ms_nic_flow_arrived(&h->nic, &c->end, now_ps);
}

/* Messages may have arrived now. */
static void complete_messages_in_order(struct ms_rhost *h, struct ms_rconn *c, uint64_t now_ps)
{
	uint32_t passed = ms_rconn_passed(c, &c->rx->expected, sizeof(*c->rx));

	while (c->end.passed < passed) {
		uint32_t k = c->message[c->end.passed % c->end.depth];

		c->end.passed++;
		if (c->end.passed == c->end.messages)
			complete_message(h, c, now_ps);
		ms_app_message_done(&h->nic.set->app, &h->nic.app, c->end.flow, k, MS_RECEIVED,
				    now_ps);
	}
}

/* The first QP sends of every message: its packets tell which one stands at the next position. */
static void learn_peer(struct ms_rhost *h, struct ms_rconn *c, const struct ms_packet *p)
{
	uint32_t k = (uint32_t)p->body[MS_RBODY_MESSAGE];

	if (c->end.posted == c->end.messages || c->end.posted - c->end.passed == c->end.depth ||
	    k >= c->end.messages || (!c->end.sizes && k != c->end.posted)) {
		ms_nic_report_violation(h->nic.worker,
					"flow %u: message %u came in the place of %u", c->end.flow,
					k, c->end.posted);
		return;
	}
	ms_rconn_place(c, k, &c->rx->known, sizeof(*c->rx));
	for (uint32_t i = 0; i < c->cut.qps; i++)
		c->rx[i].known = ms_rconn_end(c, c->end.posted - 1, i);
}

/* The packet that is expected. REQ(sim.roce.ack) */
static void accept_packet(struct ms_rhost *h, struct ms_worker *worker, struct ms_rconn *c,
			  struct ms_rrx *x, const struct ms_packet *p, uint64_t now_ps)
{
	if (x == c->rx && p->body[0] & MS_RBODY_FIRST)
		learn_peer(h, c, p);
	check_packet(h, c, x, p);
	h->stats->rx_data_packets++;
	h->stats->rx_data_bytes += p->body[MS_RBODY_BYTES];
	x->expected++;
	x->nak_sent = false;
	x->unanswered++;
	if (x->unanswered >= h->r->cfg.ack_every || p->body[0] & MS_RBODY_LAST)
		send_ack(h, worker, p, c, x);
	complete_messages_in_order(h, c, now_ps);
}

/* A marked packet, whatever becomes of it. REQ(sim.dcqcn.cnp) */
static void handle_ecn_mark(struct ms_rhost *h, struct ms_worker *worker, const struct ms_rconn *c,
			    struct ms_rrx *x, const struct ms_packet *p, uint64_t now_ps)
{
	if (now_ps < x->cnp_ps)
		return;
	x->cnp_ps = now_ps + h->r->cfg.dcqcn.cnp_interval_ns * MS_PS_PER_NS;
	send_response(h, worker, p, c->peer_slot, x->ev, MS_ROCE_CNP_KIND, 0);
}

/* REQ(sim.roce.go-back) */
void ms_rrx_receive_data(struct ms_rhost *h, struct ms_worker *worker, const struct ms_packet *p,
			 uint64_t now_ps)
{
	uint32_t slot = ms_rbody_slot(p), i = ms_rbody_index(p);
	bool valid = slot >= h->nic.outgoing && slot < h->nic.n_slots;
	struct ms_rconn *c = valid ? (struct ms_rconn *)h->nic.ends[slot] : NULL;
	uint64_t number = p->body[MS_RBODY_NUMBER];
	struct ms_rrx *x;

	if (!c && valid)
		c = ms_rconn_accept(h, slot);
	if (!c || i >= c->cut.qps) {
		ms_nic_report_violation(h->nic.worker, "host %u: a packet for slot %u, QP %u",
					h->nic.number, slot, i);
		return;
	}
	x = &c->rx[i];
	if (p->ce && h->r->cfg.congestion_control)
		handle_ecn_mark(h, worker, c, x, p, now_ps);
	if (number == x->expected) {
		accept_packet(h, worker, c, x, p, now_ps);
	} else if (number < x->expected) {
		h->stats->rx_duplicates++;
		send_ack(h, worker, p, c, x);
	} else {
		h->stats->rx_out_of_order++;
		if (!x->nak_sent)
			send_response(h, worker, p, c->peer_slot, x->ev, MS_ROCE_NAK, x->expected);
		x->nak_sent = true;
	}
}
