/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue pair's life but for its states: making, posting, silence, failing. */
#include "base/bits.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define CASE(function, name) TEST_WITH(defaults, close_node, function, name)

/* ---- making ---- */

#define SIZE_WITH(field, value) (cap = opts.cap, cap.field = (value), mt_qp_size(&cap))

CASE(mt_qp_size, ranges)
{
	struct mt_qp_cap cap;

	assert_u_eq(SIZE_WITH(sq_depth, 0), 0);
	assert_u_eq(SIZE_WITH(sq_depth, 32769), 0);
	assert_u_eq(SIZE_WITH(rq_depth, 32769), 0);
	assert_u_eq(SIZE_WITH(max_sge, 0), 0);
	assert_u_eq(SIZE_WITH(max_sge, RD_SGE_MAX + 1), 0);
	assert_true(SIZE_WITH(sq_depth, 1) >= sizeof(struct mt_qp) + sizeof(struct mt_wqe));
	assert_true(SIZE_WITH(sq_depth, 32768) >= 32768 * sizeof(struct mt_wqe));
	assert_true(SIZE_WITH(rq_depth, 0) > 0);
	assert_true(SIZE_WITH(rq_depth, 32768) >= 32768 * sizeof(struct mt_rqe));
	assert_true(SIZE_WITH(max_sge, RD_SGE_MAX) >= 64 * RD_SGE_MAX * sizeof(struct rd_sge));
}

/* REQ(ext.free) */
CASE(mt_qp_size, extensions_cost_only_who_has_them)
{
	struct mt_qp_cap cap;
	size_t plain = mt_qp_size(&opts.cap);

	assert_u_eq(SIZE_WITH(extensions, 0x80), 0);
	assert_u_eq(SIZE_WITH(max_recv_sge, 1), 0);
	assert_true(SIZE_WITH(extensions, MW_EXT_SEND) > plain);
	cap.max_recv_sge = RD_SGE_MAX + 1;
	assert_u_eq(mt_qp_size(&cap), 0);
	cap.max_recv_sge = 2;
	cap.rq_depth = 64;
	assert_true(mt_qp_size(&cap) >=
		    plain + sizeof(struct mt_qp_ext) + 64 * 2 * sizeof(struct rd_sge));
}

/* REQ(mem.qp-size) */
CASE(mt_qp_size, each_part_counts_once)
{
	struct mt_qp_cap cap;
	size_t plain = mt_qp_size(&opts.cap);

	assert_u_eq(SIZE_WITH(extensions, MW_EXT_SEND), plain + sizeof(struct mt_qp_ext));
	assert_u_eq(SIZE_WITH(extensions, MW_EXT_ATOMIC),
		    plain + sizeof(struct mt_qp_ext) +
			    opts.cap.sq_depth * sizeof(struct mt_operands));
	plain = SIZE_WITH(rq_depth, 0);
	assert_u_eq(plain, SIZE_WITH(rq_depth, 1));
}

/* A receive of the SRQ must fit into the QP's own queue, where it is copied to. */
CASE(mt_qp_cap_check, receives_of_an_srq)
{
	struct mt_srq_cap srq_cap = {.depth = 4, .max_sge = 3};
	struct mt_qp_cap cap = opts.cap;
	struct mt_range_error error;
	struct mt_srq *srq;

	node_open(&n, &opts, 0);
	assert_i_eq(mt_srq_init(n.engine, engine_node_block(&n.base, mt_srq_size(&srq_cap)),
				&srq_cap, NULL, &srq),
		    MT_OK);
	cap.extensions = MW_EXT_SEND;
	cap.srq = srq;
	cap.max_recv_sge = 2;
	assert_false(mt_qp_cap_check(&cap, &error));
	assert_string_equal(error.field, "max_recv_sge");
	assert_u_eq(error.value, 2);
	assert_u_eq(error.low, 3);
	assert_u_eq(error.high, RD_SGE_MAX);
	assert_u_eq(mt_qp_size(&cap), 0);
	cap.max_recv_sge = 3;
	assert_true(mt_qp_cap_check(&cap, &error));
	assert_true(mt_qp_size(&cap) > 0);
}

/* Each names what is wrong: the field, its value and what is allowed. */
CASE(mt_qp_cap_check, names_the_field)
{
	struct mt_qp_cap cap = opts.cap;
	struct mt_range_error error;

	assert_true(mt_qp_cap_check(&cap, &error));
	cap.rq_depth = 32769;
	assert_false(mt_qp_cap_check(&cap, &error));
	assert_string_equal(error.field, "rq_depth");
	assert_u_eq(error.value, 32769);
	assert_u_eq(error.high, 32768);
	cap.rq_depth = 1;
	cap.in_order = true;
	assert_false(mt_qp_cap_check(&cap, &error));
	assert_string_equal(error.field, "extensions");
	assert_u_eq(error.value, 0);
	assert_u_eq(error.low, 1);
}

CASE(mt_qp_init, numbers)
{
	struct mt_qp *qp = NULL;
	void *mem;

	node_open(&n, &opts, 0);
	mem = engine_node_block(&n.base, mt_qp_size(&opts.cap));
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		assert_i_eq(mt_qp_init(n.engine, mem, &opts.cap, qpn, NULL, &qp), MT_ERR_INVALID);
	assert_i_eq(mt_qp_init(n.engine, mem, &opts.cap, 1 << 24, NULL, &qp), MT_ERR_INVALID);
	assert_i_eq(mt_qp_init(n.engine, mem, &opts.cap, n.qpn + 4, NULL, &qp), MT_ERR_EXISTS);
	assert_null(qp);
	assert_i_eq(mt_qp_init(n.engine, mem, &opts.cap, 0xFFFFFF, NULL, &qp), MT_OK);
	assert_ptr_equal(qp, mem);
	mt_qp_fini(qp);
	assert_i_eq(mt_qp_init(n.engine, mem, &opts.cap, MW_QPN_FIRST, NULL, &qp), MT_OK);
	opts.cap.sq_depth = 0;
	assert_i_eq(mt_qp_init(n.engine, mem, &opts.cap, 8, NULL, &qp), MT_ERR_INVALID);
}

CASE(mt_qp_fini, its_number_is_free_again)
{
	struct mw_packet pkt;
	void *mem;

	start();
	mem = n.qp;
	assert_i_eq(node_post(&n, n.qp, 1, 10, 0), MT_OK);
	node_drain(&n, 1000);
	mt_qp_fini(n.qp);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
	pkt = node_write(&n, MW_WRITE_ONLY, 0, 0, 4, 4);
	node_rx(&n, 2000, &pkt);
	assert_u_eq(node_stats(&n).drop_no_qp, 1);
	assert_i_eq(mt_qp_init(n.engine, mem, &opts.cap, n.qpn, NULL, &n.qp), MT_OK);
}

/* ---- posting ---- */

static struct rd_sge sges[RD_SGE_MAX];

static int post_sges(uint32_t n_sge, uint32_t flags)
{
	struct rd_send_wr wr = {.wr_id = 5, .sge = sges, .n_sge = n_sge, .flags = flags};

	return mt_qp_post_send(n.qp, 0, &wr);
}

/* The SGEs of all cases below: the whole MR, the first byte, nothing, adapter memory. */
static void set_sges(void)
{
	sges[0] = (struct rd_sge){NODE_MR_START, NODE_MR_BYTES, NODE_KEY};
	sges[1] = (struct rd_sge){NODE_MR_START, 1, NODE_KEY};
	sges[2] = (struct rd_sge){12345, 0, 99}; /* of nothing, no key is asked for */
	sges[3] = (struct rd_sge){12345, 7, MT_LKEY_ADAPTER};
	while (node_post(&n, n.qp, 1, 1, 0) != MT_OK) /* so that memory for the window is there */
		abort();
}

/* REQ(svc.message-size) */
CASE(mt_qp_post_send, sges_in_their_order)
{
	struct mt_tx_desc d;

	start();
	set_sges();
	node_drain(&n, 0);
	assert_i_eq(post_sges(4, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.n_sge, 4);
	assert_memory_equal(d.sge, sges, 4 * sizeof(sges[0]));
	assert_u_eq(d.pkt.data.reth.dmalen, NODE_MR_BYTES + 8);
}

/* REQ(api.post-send.lkey) */
CASE(mt_qp_post_send, refusals)
{
	start();
	set_sges();
	assert_i_eq(post_sges(5, 0), MT_ERR_INVALID);
	assert_i_eq(post_sges(1, 8), MT_ERR_INVALID);
	sges[1].lkey ^= 1;
	assert_i_eq(post_sges(2, 0), MT_ERR_ACCESS);
	set_sges();
	sges[1].addr = NODE_MR_START + NODE_MR_BYTES;
	assert_i_eq(post_sges(2, 0), MT_ERR_ACCESS);
	for (int i = 0; i < 2; i++)
		sges[i] = (struct rd_sge){0, 0x80000000, MT_LKEY_ADAPTER};
	assert_i_eq(post_sges(2, 0), MT_ERR_INVALID); /* 2^32 bytes */
	sges[1].length--;
	assert_u_eq(n.qp->req.sq.tail, 2);
	assert_i_eq(post_sges(2, 0), MT_OK);
	assert_u_eq(n.qp->req.post_psn, node_psn(2 + (1 << 24)));
}

CASE(mt_qp_post_send, only_of_its_protection_domain)
{
	start();
	set_sges();
	assert_i_eq(mt_mr_remove(n.engine, NODE_MR_INDEX), MT_OK);
	assert_i_eq(
		mt_mr_add(n.engine, NODE_KEY, NODE_PD + 1, NODE_MR_START, NODE_MR_BYTES, 0, NULL),
		MT_OK);
	assert_i_eq(post_sges(1, 0), MT_ERR_ACCESS);
}

/* What is sent is read, and nobody need be allowed to write it. REQ(api.post-send.lkey) */
CASE(mt_qp_post_send, memory_that_may_only_be_read)
{
	start();
	set_sges();
	assert_i_eq(mt_mr_remove(n.engine, NODE_MR_INDEX), MT_OK);
	assert_i_eq(mt_mr_add(n.engine, NODE_KEY, NODE_PD, NODE_MR_START, NODE_MR_BYTES, 0, NULL),
		    MT_OK);
	assert_i_eq(post_sges(1, 0), MT_OK);
}

/* REQ(api.post-send.full) */
CASE(mt_qp_post_send, full_until_polled)
{
	struct mw_packet ack;
	struct mt_event ev;

	opts.cap.sq_depth = 3;
	start();
	for (uint64_t id = 0; id < 3; id++)
		assert_i_eq(node_post(&n, n.qp, id, 1, RD_SEND_SIGNALED), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 3, 1, 0), MT_ERR_FULL);
	node_drain(&n, 0);
	ack = node_ack(&n, 0x1F, 3);
	node_rx(&n, 10, &ack);
	assert_i_eq(node_post(&n, n.qp, 3, 1, 0), MT_ERR_FULL);
	assert_true(node_poll(&n, &ev));
	assert_i_eq(node_post(&n, n.qp, 3, 1, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 4, 1, 0), MT_ERR_FULL);
}

CASE(mt_qp_post_send, memory_for_the_window_once)
{
	struct rd_send_wr wr = {.wr_id = 1};

	start();
	node_exhaust(&n);
	assert_i_eq(mt_qp_post_send(n.qp, 0, &wr), MT_ERR_MEMORY);
	assert_u_eq(n.qp->req.sq.tail, 0);
	assert_true(mt_engine_memory_wanted(n.engine) >= 128 * sizeof(struct mt_tx_rec));
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_i_eq(mt_qp_post_send(n.qp, 0, &wr), MT_OK);
}

CASE(mt_qp_post_send, in_error_it_is_flushed)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};
	struct mt_event ev;

	start();
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 8, 1, 0), MT_OK);
	assert_u_eq(node_drain(&n, 0), 0);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.wr_id, 8);
	assert_u_eq(ev.status, RD_WC_WR_FLUSH_ERR);
	assert_i_eq(mt_qp_post_recv(n.qp, 9), MT_OK);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.wr_id, 9);
	assert_u_eq(ev.status, RD_WC_WR_FLUSH_ERR);
	assert_false(ev.imm_valid);
	assert_false(node_poll(&n, &ev));
}

CASE(mt_qp_post_recv, states_and_depth)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};

	opts.cap.rq_depth = 2;
	node_open(&n, &opts, 0);
	assert_i_eq(mt_qp_post_recv(n.qp, 1), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 2), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 3), MT_ERR_FULL);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 1), MT_ERR_STATE);
}

CASE(mt_qp_post_recv, no_receive_queue_at_all)
{
	opts.cap.rq_depth = 0;
	start();
	assert_i_eq(mt_qp_post_recv(n.qp, 1), MT_ERR_FULL);
}

/* ---- silence ---- */

/* Lets time run to the next deadline and counts what is sent there. */
static void tick(uint64_t *now, unsigned *probes, unsigned *data)
{
	struct mt_tx_desc d;

	*probes = *data = 0;
	*now = mt_engine_deadline(n.engine);
	mt_engine_tick(n.engine, *now);
	while (node_tx(&n, *now, &d, 1) == 1) {
		*probes += d.pkt.bth.opcode == MW_PROBE;
		*data += d.pkt.bth.rtx;
	}
}

/* REQ(req.probe.tail) REQ(req.loss.timeout) */
CASE(mt_qp_tick, probes_widen_then_the_oldest_goes_again)
{
	const uint64_t wait = opts.cfg.timing.tail_probe_min_ns;
	uint64_t now, begin = 1000;
	unsigned probes, data, oldest = 0;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 4 * NODE_MTU, 0), MT_OK);
	node_drain(&n, begin);
	for (unsigned i = 0; i < 3; i++) {
		tick(&now, &probes, &data);
		assert_u_eq(now, begin + wait * ((2u << i) - 1));
		assert_u_eq(probes, 1u << i);
		assert_u_eq(data, 0);
	}
	while (oldest == 0)
		tick(&now, &probes, &oldest);
	assert_u_eq(now, begin + (UINT64_C(1024) << opts.attr.timeout));
	assert_u_eq(oldest, 1);
	assert_u_eq(mt_tx_rec(&n.qp->req.window, node_psn(0))->tries, 1);
	assert_u_eq(node_stats(&n).timeouts, 1);
	assert_u_eq(node_stats(&n).lost_timeout, 1);
	assert_u_eq(node_stats(&n).tail_probes, 7);
	assert_u_eq(node_stats(&n).evs_retired, 0); /* silence is no evidence against a path */
}

/* The EVs that probes leave on now, each of which has one. */
static uint64_t probed_evs(uint64_t *now, uint16_t *first)
{
	struct mt_tx_desc d;
	uint64_t evs = 0;

	*now = mt_engine_deadline(n.engine);
	mt_engine_tick(n.engine, *now);
	while (node_tx_opcode(&n, *now, MW_PROBE, &d)) {
		uint32_t ev = 0;

		while (opts.evs[ev].value != d.ev)
			ev++;
		if (evs == 0)
			*first = (uint16_t)ev;
		assert_false(evs >> ev & 1);
		evs |= UINT64_C(1) << ev;
	}
	return evs;
}

/*
 * One plane, of which one EV is known to reach the peer: it is probed each time, and more and more
 * others besides. REQ(req.probe.tail)
 */
CASE(mt_qp_tick, probes_take_different_evs)
{
	uint64_t now, all = 0;
	uint16_t first = 0;

	opts.cfg.n_ports = 1;
	opts.ev_profile.n_evs = opts.ev_profile.n_active = 32;
	for (uint32_t i = 0; i < 32; i++)
		opts.evs[i] = (struct mt_ev){.value = 100 + i};
	opts.attr.timeout = 8;
	start();
	mt_reverse_ev_set(n.qp->ev_set, 11, 0);
	assert_i_eq(node_post(&n, n.qp, 1, 8, 0), MT_OK);
	node_drain(&n, 1000);
	for (uint32_t want = 1; want <= 16;) {
		uint64_t evs = probed_evs(&now, &first);

		if (evs == 0)
			continue; /* the timeout came first */
		assert_u_eq(mb_popcount64(evs), want);
		assert_u_eq(first, 11);
		all |= evs;
		want *= 2;
	}
	assert_u_between(mb_popcount64(all), 17, 31);
}

/* The EV of what the next timeout sends again. */
static uint16_t resent_on(void)
{
	struct mt_tx_desc d;

	for (;;) {
		uint64_t now = mt_engine_deadline(n.engine);

		mt_engine_tick(n.engine, now);
		while (node_tx(&n, now, &d, 1) == 1)
			for (uint16_t ev = 0; d.pkt.bth.rtx && ev < opts.ev_profile.n_evs; ev++)
				if (opts.evs[ev].value == d.ev)
					return ev;
	}
}

/* The EV has lost a large packet again, and its probes are answered. */
static void offer_trial(uint16_t ev)
{
	while (mt_ev_state_of(n.qp->ev_set, ev) == MT_EV_GOOD) {
		mt_qp_retire_ev_group(n.qp, ev, 1000, MT_EV_BY_LOSS);
		engine_node_grow_if_wanted(&n.base);
	}
	mt_ev_note_lost_bytes(n.qp->ev_set, ev, 4000);
	n.qp->ev_set->trial = ev;
}

/*
 * The usable EVs may be those that are dead: one whose probes are answered and that waits for a
 * packet takes what there is. REQ(req.ev.trial)
 */
CASE(mt_qp_tick, every_second_timeout_tries_an_ev_that_awaits_its_trial)
{
	const uint16_t ev = 3;

	opts.attr.retry_exp = RD_RETRY_EXP_FOREVER;
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 8, 0), MT_OK);
	node_drain(&n, 1000);
	offer_trial(ev);
	for (unsigned timeouts = 1; timeouts <= 6; timeouts++) {
		n.qp->ev_set->trial = ev; /* its probes were answered again */
		if (timeouts % 2)
			assert_true(resent_on() != ev);
		else
			assert_u_eq(resent_on(), ev);
		assert_u_eq(node_stats(&n).timeouts, timeouts);
	}
}

/* REQ(req.ev.trial) */
CASE(mt_requester_next, what_is_sent_again_before_any_timeout_takes_no_trial)
{
	struct mt_tx_desc d;
	struct mw_packet nack;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 8, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
	offer_trial(3);
	nack = node_nack(&n, &d, MW_NACK_TRIMMED);
	node_rx(&n, 2000, &nack);
	assert_u_eq(node_tx(&n, 2000, &d, 1), 1);
	assert_true(d.pkt.bth.rtx);
	assert_u_eq(n.qp->ev_set->trial, 3);
}

CASE(mt_qp_tick, the_timeout_has_a_floor)
{
	uint64_t now;
	unsigned probes, data = 0;

	opts.attr.timeout = 0;
	opts.cfg.timing.rto_min_ns = 5000000;
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	while (data == 0)
		tick(&now, &probes, &data);
	assert_u_eq(now, 1000 + 5000000);
}

/* REQ(req.retry.timeout) */
CASE(mt_qp_tick, the_timeout_of_each_exponent)
{
	unsigned probes, data;

	opts.cfg.timing.tail_probe_min_ns = UINT64_C(1) << 36;
	for (uint8_t t = 0; t <= RD_TIMEOUT_MAX; t++) {
		uint64_t now;

		opts.attr.timeout = t;
		start();
		assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
		node_drain(&n, 1000);
		tick(&now, &probes, &data);
		assert_u_eq(now, 1000 + (UINT64_C(1024) << t));
		assert_u_eq(data, 1);
		node_close(&n);
	}
}

/* REQ(req.retry.exhausted) REQ(req.error.flush) */
/* ---- a peer without room ---- */

CASE(mt_qp_nack_backoff_ns, two_round_trips_but_no_more_than_a_quarter_of_the_timeout)
{
	uint64_t timeout_ns = UINT64_C(1024) << opts.attr.timeout;

	start();
	n.qp->req.rtt = (struct mt_rtt){.smoothed_ns = 50000};
	assert_u_eq(mt_qp_nack_backoff_ns(n.qp), 100000);
	n.qp->req.rtt.smoothed_ns = timeout_ns;
	assert_u_eq(mt_qp_nack_backoff_ns(n.qp), timeout_ns / 4);
}

CASE(mt_qp_probe_after_ns, never_while_all_that_is_missing_waits_for_room)
{
	uint64_t least_ns = opts.cfg.timing.tail_probe_min_ns;
	struct mt_tx_desc d[2];
	struct mw_packet nack;

	start();
	assert_u_eq(mt_qp_probe_after_ns(n.qp), least_ns); /* nothing is missing at all */
	assert_i_eq(node_post(&n, n.qp, 1, 2 * MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, d, 2), 2);
	node_drain(&n, 1000);
	assert_u_eq(mt_qp_probe_after_ns(n.qp), least_ns);
	nack = node_nack(&n, &d[0], MW_NACK_NO_PKT_BUFFER);
	node_rx(&n, 1000, &nack);
	assert_u_eq(mt_qp_probe_after_ns(n.qp), least_ns); /* the other may be lost */
	nack = node_nack(&n, &d[1], MW_NACK_NO_PKT_BUFFER);
	node_rx(&n, 1000, &nack);
	assert_u_eq(mt_qp_probe_after_ns(n.qp), MT_RTO_NO_PROBE);
}

CASE(mt_qp_probe_after_ns, never_for_a_single_packet_that_waits_for_room)
{
	struct mt_tx_desc d;
	struct mw_packet nack;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
	node_drain(&n, 1000);
	nack = node_nack(&n, &d, MW_NACK_NO_PKT_BUFFER);
	node_rx(&n, 1000, &nack);
	assert_u_eq(mt_qp_probe_after_ns(n.qp), MT_RTO_NO_PROBE);
}

CASE(mt_qp_tick, gives_up_when_retries_are_used_up)
{
	uint64_t now = 0;
	unsigned probes, data;
	struct mt_event ev;

	opts.attr.retry_linear = 1;
	opts.attr.retry_exp = 2;
	start();
	assert_i_eq(node_post(&n, n.qp, 31, 1, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 32, 1, 0), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 33), MT_OK);
	node_drain(&n, 0);
	while (n.qp->state == RD_QPS_RTS)
		tick(&now, &probes, &data);
	assert_u_eq(now, (1 + 1 + 2 + 4) * (UINT64_C(1024) << opts.attr.timeout));
	assert_u_eq(node_stats(&n).timeouts, 3);
	assert_true(node_poll(&n, &ev) && ev.wr_id == 31 && ev.status == RD_WC_RETRY_EXC_ERR);
	assert_true(node_poll(&n, &ev) && ev.wr_id == 32 && ev.status == RD_WC_WR_FLUSH_ERR);
	assert_true(node_poll(&n, &ev) && ev.wr_id == 33 && ev.status == RD_WC_WR_FLUSH_ERR);
	assert_true(node_poll(&n, &ev) && ev.type == MT_EVENT_QP);
	assert_u_eq(ev.status, RD_WC_RETRY_EXC_ERR);
	assert_false(node_poll(&n, &ev));
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

/* REQ(req.retry.forever) */
CASE(mt_qp_tick, never_gives_up_when_told_so)
{
	uint64_t now = 0;
	unsigned probes, data, sent = 0;

	opts.attr.retry_linear = 0;
	opts.attr.retry_exp = RD_RETRY_EXP_FOREVER;
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 0);
	while (sent < 40) {
		tick(&now, &probes, &data);
		sent += data;
	}
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/* Lets the next retry come, with ports that have no room, and says when. */
static uint64_t retry_without_room(void)
{
	uint64_t now = mt_engine_deadline(n.engine);
	struct mt_tx_desc d;

	mt_engine_tick(n.engine, now);
	while (mt_engine_tx(n.engine, now, 0, &d, 1) == 1)
		assert_u_eq(d.pkt.bth.opcode, MW_PROBE);
	return now;
}

/* REQ(req.retry.sent) */
CASE(mt_qp_tick, a_retry_that_could_not_leave_is_not_counted)
{
	uint64_t now = 0;
	unsigned probes, data = 0;

	opts.attr.retry_linear = 2;
	opts.attr.retry_exp = 0;
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 0);
	while (now < 100 * (UINT64_C(1024) << opts.attr.timeout))
		now = retry_without_room();
	assert_u_eq(node_stats(&n).timeouts, 1);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	/* It leaves, and from then on counts. */
	assert_u_eq(node_drain(&n, now), 1);
	while (n.qp->state == RD_QPS_RTS)
		tick(&now, &probes, &data);
	assert_u_eq(node_stats(&n).timeouts, 2);
}

/* A host without a link gives up as it does when its peer is gone. */
CASE(mt_qp_tick, retries_end_without_any_port)
{
	uint64_t now = 0;

	opts.attr.retry_linear = 2;
	opts.attr.retry_exp = 0;
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 0);
	for (uint32_t port = 0; port < opts.cfg.n_ports; port++)
		assert_i_eq(mt_engine_port_set(n.engine, 1, port, false), MT_OK);
	while (n.qp->state == RD_QPS_RTS)
		now = retry_without_room();
	assert_u_eq(node_stats(&n).timeouts, 2);
	assert_u_eq(now, 3 * (UINT64_C(1024) << opts.attr.timeout));
}

CASE(mt_qp_tick, nothing_unfinished_nothing_sent)
{
	struct mw_packet ack;
	uint64_t now;
	unsigned probes, data;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	ack = node_ack(&n, 0x1F, 1);
	node_rx(&n, 2000, &ack);
	tick(&now, &probes, &data); /* what was set may fire, to no effect */
	assert_u_eq(probes + data, 0);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

/* ---- paths ---- */

CASE(mt_qp_retire_ev_group, counts_and_reports_both_changes)
{
	struct mt_event ev;

	opts.ev_profile.min_active = 7;
	start();
	mt_qp_retire_ev_group(n.qp, 2, 10, MT_EV_BY_LOSS);
	mt_qp_retire_ev_group(n.qp, 2, 20, MT_EV_BY_LOSS);
	assert_u_eq(node_stats(&n).evs_retired, 1);
	assert_true(node_poll(&n, &ev));
	assert_false(node_poll(&n, &ev));
	mt_qp_retire_ev_group(n.qp, 5, 30, MT_EV_BY_LOSS);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.ev_state, MT_EV_GOOD);
	assert_u_eq(ev.ev_cause, MT_EV_BY_FLOOR);
	assert_u_eq(ev.ev.value, opts.evs[2].value);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.ev.value, opts.evs[5].value);
	assert_u_eq(mt_engine_deadline(n.engine), 30 + opts.ev_profile.probe_interval_ns);
}

/* ---- after the end ---- */

/* REQ(req.error.flush) */
CASE(mt_qp_post_send, in_error_it_is_flushed_at_once)
{
	struct mt_event ev;

	start();
	assert_i_eq(node_post(&n, n.qp, 6, 1, 0), MT_OK);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	mt_qp_fail(n.qp, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
	assert_false(mt_engine_tx_is_blocked(n.engine)); /* by nothing that is left to send */
	node_check_completion(&n, 6, RD_WC_FATAL_ERR);
	assert_true(node_poll(&n, &ev)); /* the failure */
	node_check_no_event(&n);
	assert_i_eq(node_post(&n, n.qp, 7, 1, 0), MT_OK);
	node_check_completion(&n, 7, RD_WC_WR_FLUSH_ERR);
	node_check_no_event(&n);
	assert_i_eq(mt_qp_post_recv(n.qp, 8), MT_OK);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.wr_id, 8);
	assert_u_eq(ev.status, RD_WC_WR_FLUSH_ERR);
	assert_u_eq(node_drain(&n, 1000), 0);
}

/* Whoever asks whether something waits for room is not told of what will never leave. */
CASE(mt_qp_fail, nothing_of_it_waits_to_be_sent)
{
	start();
	assert_i_eq(node_post(&n, n.qp, 7, 1, 0), MT_OK);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	mt_qp_fail(n.qp, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
	assert_false(mt_engine_tx_is_blocked(n.engine));
}
