/* SPDX-License-Identifier: BSD-2-Clause */
/* Telling peers of our ports: whom, what, how often, until when. */
#include "core/endpoint/endpoint.h"
#include "core/state/peer.h"
#include "unit/node_fixture.h"

static struct mt_tx_desc d;

static int connected_to_engine_0(void **state)
{
	defaults(state);
	opts.cfg.qpn_index_bits = 20; /* the peer's QPs are of its engine 0 */
	start();
	return 0;
}

#define CASE(function, name) TEST_WITH(connected_to_engine_0, close_node, function, name)

/* What is sent next to an endpoint, at its time; false when nothing is. */
static bool next_update(uint64_t *now, uint64_t until)
{
	while (*now <= until) {
		mt_engine_tick(n.engine, *now);
		if (node_tx_opcode(&n, *now, MW_EP_REQUEST, &d))
			return true;
		if (mt_engine_deadline(n.engine) > until)
			return false;
		*now = mt_engine_deadline(n.engine);
	}
	return false;
}

static void answer(uint64_t now)
{
	struct mw_packet pkt = {
		.bth = {.opcode = MW_EP_RESPONSE, .p_key = 0xFFFF, .dqp = 2, .psn = d.pkt.bth.psn},
		.eeth = {.op = MW_EP_PORT_STATUS, .tx_timestamp = d.pkt.erth.ts.tx_timestamp},
	};

	node_rx(&n, now, &pkt);
}

/* REQ(ep.port.status-update) */
CASE(mt_peers_notify, over_a_port_that_is_up_until_it_is_answered)
{
	uint64_t now = 1000;
	unsigned sent = 0;

	mt_engine_port_set(n.engine, now, 1, false);
	for (; sent < 3; sent++) {
		assert_true(next_update(&now, 1000000));
		assert_u_eq(d.pkt.erth.op, MW_EP_PORT_STATUS);
		assert_u_eq(d.pkt.erth.port_status_mask, 1);
		assert_u_eq(d.port, 0);
		assert_u_eq(d.endpoint, 0);
		assert_u_eq(d.tclass, MW_DSCP_CONTROL);
		assert_memory_equal(&d.dst, &n.peer, sizeof(n.peer));
	}
	answer(now);
	assert_false(next_update(&now, UINT64_MAX - 1));
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

CASE(mt_peers_notify, gives_up_in_the_end)
{
	uint64_t now = 1000, last = 1000, gap = 0;
	unsigned sent = 0;

	mt_engine_port_set(n.engine, now, 1, false);
	while (next_update(&now, UINT64_MAX - 1)) {
		if (sent > 1)
			assert_true(now - last == 2 * gap); /* after twice the wait */
		gap = now - last;
		last = now;
		sent++;
	}
	assert_u_eq(sent, 10);
}

/* Four of the shortest waits for an answer, or two round trips where these are longer. */
CASE(mt_peers_notify, how_long_an_answer_may_take)
{
	uint64_t now = 1000, least_ns = 4 * opts.cfg.timing.tail_probe_min_ns;

	mt_engine_port_set(n.engine, now, 1, false);
	assert_true(next_update(&now, 1000));
	assert_u_eq(mt_engine_deadline(n.engine), 1000 + least_ns);
	n.qp->ev_set->probe_rtt_ns = 3 * least_ns;
	mt_engine_port_set(n.engine, now, 1, true);
	assert_true(next_update(&now, 1000));
	assert_u_eq(mt_engine_deadline(n.engine), 1000 + 2 * 3 * least_ns);
}

CASE(mt_peers_notify, a_port_that_is_back_before_anybody_was_told)
{
	uint64_t now = 1000;

	mt_engine_port_set(n.engine, now, 1, false);
	mt_engine_port_set(n.engine, now, 1, true);
	assert_false(next_update(&now, UINT64_MAX - 1));
	assert_u_eq(node_stats(&n).tx_ep_requests, 0);
}

CASE(mt_peers_notify, only_the_newest)
{
	uint64_t now = 1000;

	mt_engine_port_set(n.engine, now, 1, false);
	assert_true(next_update(&now, 1000));
	mt_engine_port_set(n.engine, now, 1, true);
	answer(now); /* to what is no longer so */
	assert_u_eq(node_stats(&n).drop_ep_response, 1);
	/* It may have believed the first one. */
	assert_true(next_update(&now, 1000));
	assert_u_eq(d.pkt.erth.port_status_mask, 3);
	answer(now);
	assert_false(next_update(&now, UINT64_MAX - 1));
}

CASE(mt_peer_join, who_comes_later_is_told_too)
{
	uint64_t now = 0;
	struct mt_qp *other;

	mt_engine_port_set(n.engine, now, 0, false);
	assert_true(next_update(&now, 1000));
	answer(now);
	other = node_add_qp(&n, n.qpn + 1, 5u << 20 | 9, &other); /* engine 5 behind that address */
	assert_true(next_update(&now, 1000));
	assert_u_eq(d.endpoint, 5);
	assert_u_eq(d.pkt.erth.port_status_mask, 2);
	answer(now);
	other = node_add_qp(&n, n.qpn + 2, 5u << 20 | 10, &other);
	assert_false(next_update(&now, UINT64_MAX - 1)); /* it knows */
}

/* Behind most addresses is one engine, for which there is room behind each set. */
CASE(mt_peer_join, the_first_is_in_the_block_of_the_set)
{
	struct mt_engine *e = n.engine;
	uint32_t endpoint = 1u << opts.cfg.qpn_index_bits;
	struct mb_link user;
	struct mt_peer *first, *second, *third;
	struct mt_ev_set *s;
	size_t in_use;

	assert_true(mb_pool_block_size(mt_ev_sets_bytes(256, 8)) <= 1024);
	mb_link_init(&user);
	while (!(s = mt_ev_sets_acquire(e, 0, &(struct rd_gid){{7}}, &user)))
		engine_node_grow(&n.base);
	in_use = e->pool.in_use;
	first = mt_peer_join(e, s, 1, 0);
	assert_non_null(first);
	assert_u_eq(e->pool.in_use, in_use);
	while (!(second = mt_peer_join(e, s, endpoint + 1, 0)))
		engine_node_grow(&n.base);
	assert_true(e->pool.in_use > in_use);
	mt_peer_leave(e, second);
	assert_u_eq(e->pool.in_use, in_use);
	mt_peer_leave(e, first);
	third = mt_peer_join(e, s, 2 * endpoint + 1, 0);
	assert_ptr_equal(third, first);
	assert_u_eq(e->pool.in_use, in_use);
	mt_peer_leave(e, third);
	mt_ev_sets_release(e, s, &user);
}

CASE(mt_peer_leave, nobody_tells_who_is_gone)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	uint64_t now = 1000;

	mt_engine_port_set(n.engine, now, 1, false);
	assert_true(next_update(&now, 1000));
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	answer(now);
	assert_u_eq(node_stats(&n).drop_ep_response, 1);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

CASE(mt_peer_leave, before_anything_was_sent)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};

	mt_engine_port_set(n.engine, 1000, 1, false);
	assert_u_eq(mt_engine_deadline(n.engine), 1000);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

/* All slots but one are the adapter's: who finds none waits for the end of the one update. */
CASE(mt_peers_notify, one_after_the_other_through_one_slot)
{
	struct mt_ep_request req = {.dst = n.peer, .op = MW_EP_EV_PROBE, .timeout_ns = 1 << 30};
	uint64_t now = 1000;
	struct mt_qp *other;

	assert_non_null(node_add_qp(&n, n.qpn + 1, 5u << 20 | 9, &other));
	for (uint32_t i = 1; i < opts.cfg.ep_requests; i++)
		assert_i_eq(mt_engine_ep_request(n.engine, now, &req, NULL), MT_OK);
	node_drain(&n, now);
	mt_engine_port_set(n.engine, now, 1, false);
	assert_true(next_update(&now, 1000));
	assert_false(next_update(&now, 1000));
	answer(now);
	assert_true(next_update(&now, 1000));
	answer(now);
	assert_true(mb_link_is_empty(&n.engine->peers_waiting));
}

#define PEERS 500u

static int many_peers(void **state)
{
	defaults(state);
	opts.cfg.qpn_index_bits = 14;
	opts.cfg.max_qps = 512;
	start();
	for (uint32_t i = 1; i < PEERS; i++) {
		struct mt_qp *qp;

		assert_non_null(node_add_qp(&n, n.qpn + i, i << 14 | 9, &qp));
	}
	return 0;
}

/*
 * All peers hear of a port within a few round trips, though there are slots for a few of them only.
 * REQ(ep.port.status-update)
 */
TEST_WITH(many_peers, close_node, mt_peers_notify, many_peers_share_few_slots)
{
	const uint64_t rtt = 10000, begin = 1000;
	uint64_t now = begin;
	uint32_t told[PEERS] = {0}, n_told = 0;

	mt_engine_port_set(n.engine, now, 1, false);
	while (n_told < PEERS && now < begin + 2 * opts.cfg.timing.ep_quarantine_ns) {
		struct mt_tx_desc sent[64];
		uint32_t n_sent;

		mt_engine_tick(n.engine, now);
		n_sent = node_tx(&n, now, sent, 64);
		assert_true(n_sent <= opts.cfg.ep_requests);
		now += rtt;
		for (uint32_t i = 0; i < n_sent; i++) {
			d = sent[i];
			answer(now);
			assert_true(d.endpoint < PEERS);
			n_told += told[d.endpoint]++ == 0;
		}
	}
	assert_u_eq(n_told, PEERS);
	assert_u_between(now - begin, 1, 20 * rtt);
	assert_u_eq(node_stats(&n).tx_ep_requests, PEERS);
}

static uint32_t count_waiting(void)
{
	uint32_t count = 0;

	for (struct mb_link *l = n.engine->peers_waiting.next; l != &n.engine->peers_waiting;
	     l = l->next)
		count++;
	return count;
}

/* Port 1 goes down, and as many peers are told as there are slots; the others wait. */
static void tell_the_first(void)
{
	mt_engine_port_set(n.engine, 1000, 1, false);
	mt_engine_tick(n.engine, 1000);
	assert_u_eq(count_waiting(), PEERS - opts.cfg.ep_requests);
}

TEST_WITH(many_peers, close_node, mt_peers_notify, the_end_of_one_wakes_two)
{
	tell_the_first();
	assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
	answer(2000);
	assert_u_eq(count_waiting(), PEERS - opts.cfg.ep_requests - 2);
	mt_engine_tick(n.engine, 2000); /* one of them has to wait again */
	assert_u_eq(count_waiting(), PEERS - opts.cfg.ep_requests - 1);
}

TEST_WITH(many_peers, close_node, mt_peers_notify, a_change_calls_all_that_wait)
{
	tell_the_first();
	mt_engine_port_set(n.engine, 1000, 1, true);
	assert_u_eq(count_waiting(), 0);
	mt_engine_tick(n.engine, 1000);
	assert_u_eq(node_drain(&n, 1000), opts.cfg.ep_requests); /* who was told before */
}

TEST_WITH(many_peers, close_node, mt_peer_leave, nobody_waits_who_is_gone)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};

	tell_the_first();
	for (uint32_t i = 0; i < opts.cfg.max_qps; i++) {
		struct mt_qp *qp = n.engine->qps[i];

		if (qp && qp->peer && !qp->peer->slot)
			assert_i_eq(node_modify(&n, qp, &reset, RD_QP_STATE), MT_OK);
	}
	assert_u_eq(count_waiting(), 0);
}

/* One that goes away lets the others go on. */
TEST_WITH(many_peers, close_node, mt_peer_leave, those_that_wait_are_told)
{
	uint64_t now = 1000;
	uint32_t sent = 0;

	mt_engine_port_set(n.engine, now, 1, false);
	mt_engine_tick(n.engine, now);
	while (node_tx(&n, now, &d, 1) == 1)
		sent++;
	assert_u_eq(sent, opts.cfg.ep_requests);
	for (uint32_t i = 0; i < opts.cfg.max_qps; i++) {
		struct rd_qp_attr reset = {.state = RD_QPS_RESET};
		struct mt_qp *qp = n.engine->qps[i];

		if (qp && qp->peer && qp->peer->slot)
			assert_i_eq(node_modify(&n, qp, &reset, RD_QP_STATE), MT_OK);
	}
	assert_u_eq(n.engine->port_status_requests, 0);
	assert_true(next_update(&now, 10 * opts.cfg.timing.ep_quarantine_ns));
}

CASE(mt_peers_notify, waits_while_too_many_requests_are_under_way)
{
	struct mt_ep_request req = {.dst = n.peer, .op = MW_EP_EV_PROBE, .timeout_ns = 1000};
	uint64_t now = 1000;

	while (mt_engine_ep_request(n.engine, now, &req, NULL) == MT_OK)
		;
	node_drain(&n, now);
	mt_engine_port_set(n.engine, now, 1, false);
	assert_false(next_update(&now, 2 * opts.cfg.timing.tail_probe_min_ns));
	for (struct mt_event ev; node_poll(&n, &ev);)
		;
	assert_true(next_update(&now, 2 * opts.cfg.timing.ep_quarantine_ns));
	assert_u_eq(d.pkt.erth.op, MW_EP_PORT_STATUS);
}
