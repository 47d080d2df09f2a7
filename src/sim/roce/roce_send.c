/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_send.c - a QP that sends: go-back-N, its rate, the order of QPs.
 *
 * The QPs of a plane that have something to send are in a leftist heap by the time at which their
 * rates allow it, and by the order in which they came where that is the same: round robin at line
 * rate.
 */
#include "base/bits.h"
#include "sim/roce/roce_state.h"

#define PS_PER_BYTE_AT_1_BPS UINT64_C(8000000000000)

/* ---- the order of QPs ---- */

static bool is_qp_earlier(const struct ms_rqp *a, const struct ms_rqp *b)
{
	return a->due_ps != b->due_ps ? a->due_ps < b->due_ps : a->order < b->order;
}

static uint32_t rank_of(const struct ms_rqp *q)
{
	return q ? q->rank : 0;
}

static struct ms_rqp *merge_heaps(struct ms_rqp *a, struct ms_rqp *b)
{
	struct ms_rqp *other;

	if (!a || !b)
		return a ? a : b;
	if (is_qp_earlier(b, a)) {
		other = a;
		a = b;
		b = other;
	}
	a->right = merge_heaps(a->right, b);
	if (rank_of(a->left) < rank_of(a->right)) {
		other = a->left;
		a->left = a->right;
		a->right = other;
	}
	a->rank = rank_of(a->right) + 1;
	return a;
}

static void enqueue_qp(struct ms_rhost *h, struct ms_rqp *q)
{
	if (q->queued || q->next == q->end || q->conn->end.failed)
		return;
	q->queued = true;
	q->conn->queued++;
	q->left = q->right = NULL;
	q->rank = 1;
	q->order = h->order++;
	h->heap[q->plane] = merge_heaps(h->heap[q->plane], q);
}

static struct ms_rqp *dequeue_qp(struct ms_rhost *h, uint32_t plane)
{
	struct ms_rqp *q = h->heap[plane];

	h->heap[plane] = merge_heaps(q->left, q->right);
	q->queued = false;
	q->conn->queued--;
	return q;
}

/* The next QP of a plane that has something to send; the others go. NULL: none. */
static struct ms_rqp *first_of(struct ms_rhost *h, uint32_t plane)
{
	while (h->heap[plane]) {
		struct ms_rqp *q = h->heap[plane];

		if (!q->conn->end.failed && !q->conn->over && q->next < q->end)
			return q;
		dequeue_qp(h, plane);
		ms_rconn_free(h, q->conn);
	}
	return NULL;
}

/* ---- the ACK timeout ---- */

static void timer_stop(struct ms_rqp *q)
{
	mb_link_remove(&q->timer);
}

static void timer_restart(struct ms_rhost *h, struct ms_rqp *q, uint64_t now_ps)
{
	timer_stop(q);
	q->timer_ns = now_ps / MS_PS_PER_NS + h->r->timeout_ns;
	mb_list_push(&h->timers, &q->timer);
}

/* ---- going back, and dying ---- */

static void fail_qp(struct ms_rhost *h, struct ms_rqp *q)
{
	struct ms_rconn *c = q->conn;

	h->stats->qps_dead++;
	for (uint32_t i = 0; i < c->cut.qps; i++)
		timer_stop(&c->qp[i]);
	ms_nic_flow_failed(&h->nic, &c->end);
	h->nic.set->nics->source[c->end.flow].retransmits = c->end.retransmits;
}

/* REQ(sim.roce.retry) */
static void go_back(struct ms_rhost *h, struct ms_rqp *q, uint64_t now_ps)
{
	if (q->retries == h->r->cfg.retry_cnt) {
		fail_qp(h, q);
		return;
	}
	q->retries++;
	q->next = q->una;
	q->at = q->conn->end.passed;
	timer_restart(h, q, now_ps);
	enqueue_qp(h, q);
}

void ms_rqp_timeouts(struct ms_rhost *h, uint64_t now_ps)
{
	while (!mb_link_is_empty(&h->timers)) {
		struct ms_rqp *q = mb_container_of(h->timers.next, struct ms_rqp, timer);

		if (q->timer_ns * MS_PS_PER_NS > now_ps)
			return;
		timer_stop(q);
		h->stats->timeouts++;
		go_back(h, q, now_ps);
	}
}

/* ---- answers ---- */

/* Messages may be complete now. */
static void complete_messages_in_order(struct ms_rhost *h, struct ms_rconn *c, uint64_t now_ps)
{
	uint32_t passed = ms_rconn_passed(c, &c->qp->una, sizeof(*c->qp));

	while (c->end.passed < passed) {
		uint32_t k = c->message[c->end.passed % c->end.depth];

		ms_nic_message_acked(&h->nic, &c->end, k, now_ps);
	}
	ms_rconn_free(h, c);
}

/* All before `expected` has arrived. REQ(sim.roce.ack) */
static void handle_ack(struct ms_rhost *h, struct ms_rqp *q, uint64_t expected, uint64_t now_ps)
{
	if (expected <= q->una)
		return;
	if (expected > q->top) {
		ms_nic_report_violation(h->nic.worker,
					"flow %u: %llu packets acknowledged, %llu sent",
					q->conn->end.flow, (unsigned long long)expected,
					(unsigned long long)q->top);
		return;
	}
	q->una = expected;
	q->next = q->next < expected ? expected : q->next;
	q->retries = 0;
	if (q->una < q->top)
		timer_restart(h, q, now_ps);
	else
		timer_stop(q);
}

void ms_rqp_receive_ack(struct ms_rhost *h, const struct ms_packet *p, uint64_t now_ps)
{
	struct ms_roce_stats *s = h->stats;
	uint32_t slot = ms_rbody_slot(p), i = ms_rbody_index(p);
	struct ms_flow_end *e = slot < h->nic.outgoing ? h->nic.ends[slot] : NULL;
	struct ms_rconn *c = (struct ms_rconn *)e;
	uint64_t expected = p->body[MS_RBODY_NUMBER];
	struct ms_rqp *q;

	if (!e || e == MS_FLOW_OVER || e->failed || i >= c->cut.qps) {
		s->rx_late++;
		return;
	}
	q = &c->qp[i];
	switch (ms_rbody_kind(p)) {
	case MS_ROCE_CNP_KIND:
		s->rx_cnps++;
		if (h->r->cfg.congestion_control)
			ms_dcqcn_cnp(&q->cc, &h->r->cfg.dcqcn, now_ps / MS_PS_PER_NS);
		return;
	case MS_ROCE_NAK:
		s->rx_naks++;
		handle_ack(h, q, expected, now_ps);
		if (expected == q->una && q->una < q->top)
			go_back(h, q, now_ps);
		break;
	case MS_ROCE_ACK:
	case MS_ROCE_DATA:
		s->rx_acks++;
		handle_ack(h, q, expected, now_ps);
		break;
	}
	complete_messages_in_order(h, c, now_ps);
}

/* ---- sending ---- */

/* When the next packet may follow one of so many bytes. */
static uint64_t next_due(const struct ms_roce *r, struct ms_rqp *q, uint64_t now_ps, uint32_t bytes)
{
	uint64_t from = q->due_ps > now_ps ? q->due_ps : now_ps, rate;
	uint64_t line = bytes * r->line_rate_q >> 20;

	if (!r->cfg.congestion_control)
		return from + line;
	ms_dcqcn_sent(&q->cc, &r->cfg.dcqcn, now_ps / MS_PS_PER_NS, bytes);
	rate = ms_dcqcn_rate(&q->cc, &r->cfg.dcqcn, now_ps / MS_PS_PER_NS);
	return from + (rate == r->cfg.dcqcn.line_bps ? line : bytes * PS_PER_BYTE_AT_1_BPS / rate);
}

/* The position that the next packet belongs to; those that have passed are no more known. */
static uint32_t position_of(struct ms_rqp *q)
{
	const struct ms_rconn *c = q->conn;

	q->at = q->at < c->end.passed ? c->end.passed : q->at;
	while (q->next >= ms_rconn_end(c, q->at, q->index))
		q->at++;
	return q->at;
}

/* What the next packet of a QP says. */
static void make_packet(const struct ms_rhost *h, struct ms_rqp *q, struct ms_packet *p)
{
	const struct ms_rconn *c = q->conn;
	uint32_t position = position_of(q), k = c->message[position % c->end.depth];
	uint64_t end = ms_rconn_end(c, position, q->index),
		 size = ms_flow_end_message_bytes(&c->end, k);
	uint64_t n = q->next - (end - ms_roce_split_packets(&c->cut, q->index, size));
	struct ms_rpart part = ms_roce_split_packet(&c->cut, q->index, size, n);
	bool first = n == 0, last = q->next + 1 == end;

	*p = (struct ms_packet){
		.src = h->nic.number & (MS_HOSTS_MAX - 1),
		.plane = q->plane & MS_PLANE_MASK,
		.dst = c->peer & (MS_HOSTS_MAX - 1),
		.ecmp = 1,
		.roce = 1,
		.cls = MW_DSCP_NO_TRIM,
		.ev = q->ev,
		.head = MS_ROCE_DATA,
		.body = {ms_rbody(c->peer_slot, q->index, MS_ROCE_DATA), q->next,
			 k * c->end.message_bytes + part.offset, part.bytes, k},
	};
	p->body[0] |= (first ? MS_RBODY_FIRST : 0) | (last ? MS_RBODY_LAST : 0);
	p->bytes = (uint16_t)(part.bytes + MS_ROCE_BTH + (first ? MS_ROCE_RETH : 0) +
			      (last ? MS_ROCE_IMM : 0) + h->r->cfg.frame_bytes);
}

static void send_one(struct ms_rhost *h, struct ms_worker *worker, struct ms_rqp *q,
		     uint64_t now_ps)
{
	struct ms_packet p;

	make_packet(h, q, &p);
	h->nic.worker->sums.sent++;
	h->stats->tx_data_packets++;
	if (q->next < q->top) {
		h->stats->tx_retransmits++;
		q->conn->end.retransmits++;
	}
	q->next++;
	q->top = q->next > q->top ? q->next : q->top;
	if (mb_link_is_empty(&q->timer))
		timer_restart(h, q, now_ps);
	q->due_ps = next_due(h->r, q, now_ps, p.bytes);
	ms_send(worker, &p);
}

/* What a plane's port has room for; returns when to try again. REQ(sim.nic.room) */
static uint64_t send_plane(struct ms_rhost *h, struct ms_worker *worker, uint32_t plane,
			   uint64_t now_ps)
{
	struct ms_rqp *q;

	while ((q = first_of(h, plane)) != NULL) {
		uint64_t free_ps = ms_port_idle_ps(worker, plane);

		if (free_ps == MS_NEVER) /* paused: the net says when it is no more */
			return MS_NEVER;
		if (free_ps > now_ps + h->nic.set->packet_ps)
			return free_ps > q->due_ps ? free_ps : q->due_ps;
		if (q->due_ps > now_ps)
			return q->due_ps;
		dequeue_qp(h, plane);
		send_one(h, worker, q, now_ps);
		enqueue_qp(h, q);
	}
	return MS_NEVER;
}

uint64_t ms_rqp_send_all(struct ms_rhost *h, struct ms_worker *worker, uint64_t now_ps)
{
	uint64_t again = MS_NEVER;

	for (uint32_t plane = 0; plane < h->nic.set->planes; plane++) {
		uint64_t at;

		if (!h->heap[plane] || h->nic.set->dark[h->nic.number] >> plane & 1)
			continue;
		at = send_plane(h, worker, plane, now_ps);
		again = at < again ? at : again;
	}
	return again;
}

void ms_rqp_posted(struct ms_nic_host *nic, struct ms_flow_end *e, uint64_t now_ps)
{
	struct ms_rconn *c = (struct ms_rconn *)e;

	for (uint32_t i = 0; i < c->cut.qps; i++) {
		struct ms_rqp *q = &c->qp[i];

		if (q->due_ps < now_ps)
			q->due_ps = now_ps;
		enqueue_qp((struct ms_rhost *)nic, q);
	}
}
