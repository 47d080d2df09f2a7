/* SPDX-License-Identifier: BSD-2-Clause */
/* The endpoint: what it answers, what it asks, and what it makes of answers. */
#include "unit/node_fixture.h"

static struct mt_tx_desc d;
static struct mt_event ev;

static int opened(void **state)
{
	defaults(state);
	opts.cfg.ep_requests = 8;
	opts.cfg.ts_shift = 7;
	node_open(&n, &opts, 0);
	return 0;
}

#define CASE(function, name) TEST_WITH(opened, close_node, function, name)

static void reopen(void)
{
	node_close(&n);
	node_open(&n, &opts, 0);
}

static struct mw_packet request(uint8_t op, uint32_t psn)
{
	return (struct mw_packet){
		.bth = {.opcode = MW_EP_REQUEST, .p_key = 0xFFFF, .dqp = 2, .psn = psn},
		.erth = {.op = op, .ts = {.tx_timestamp = 0x5678, .ftype = 1}},
	};
}

static struct mt_ep_request probe(void)
{
	return (struct mt_ep_request){
		.dst = n.peer,
		.ev = {0xE5, 1},
		.op = MW_EP_EV_PROBE,
		.tclass = MW_DSCP_TRIMMABLE,
		.timeout_ns = 10000,
		.user = 0x1122334455667788,
	};
}

static struct mw_packet response_to(const struct mt_tx_desc *sent)
{
	return (struct mw_packet){
		.bth = {.opcode = MW_EP_RESPONSE,
			.p_key = 0xFFFF,
			.dqp = 2,
			.psn = sent->pkt.bth.psn},
		.eeth = {.op = sent->pkt.erth.op, .tx_timestamp = sent->pkt.erth.ts.tx_timestamp},
	};
}

/* REQ(ep.probe.answer) REQ(ep.probe.connectionless) */
CASE(mt_endpoint_rx, answers_anybody_and_needs_no_qp)
{
	struct mw_packet pkt = request(MW_EP_EV_PROBE, 0x1234);
	struct mt_rx_meta meta = node_meta(&n);

	meta.src.b[15] = 99;
	meta.port = 1;
	node_rx_meta(&n, 0, &meta, &pkt);
	assert_u_eq(node_tx(&n, 500000, &d, 1), 1);
	assert_u_eq(d.pkt.bth.opcode, MW_EP_RESPONSE);
	assert_u_eq(d.pkt.bth.dqp, 2);
	assert_u_eq(d.pkt.bth.psn, 0x1234);
	assert_u_eq(d.pkt.eeth.op, MW_EP_EV_PROBE);
	assert_u_eq(d.pkt.eeth.tx_timestamp, 0x5678);
	assert_u_eq(d.dst.b[15], 99);
	assert_u_eq(d.endpoint, 0);
	assert_u_eq(d.port, 1);
	assert_u_eq(d.ev, meta.ev);
	assert_u_eq(d.tclass, MW_DSCP_CONTROL);
	assert_null(d.qp_user);
	assert_u_eq(d.n_sge, 0);
}

CASE(mt_endpoint_rx, answers_a_port_status_update)
{
	struct mw_packet pkt = request(MW_EP_PORT_STATUS, 1);

	node_rx(&n, 0, &pkt);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.pkt.eeth.op, MW_EP_PORT_STATUS);
	assert_u_eq(node_stats(&n).rx_ep_requests, 1);
	assert_u_eq(node_stats(&n).tx_ep_responses, 1);
}

/* REQ(ep.endpoint-number) */
CASE(mt_endpoint_rx, the_answer_goes_to_the_engine_that_asked)
{
	struct mw_packet pkt = request(MW_EP_EV_PROBE, 0x830042);

	pkt.erth.vendor_info = 0x21;
	node_rx(&n, 0, &pkt);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.endpoint, 0x321);
	assert_u_eq(d.pkt.bth.psn & 0xFFFF, 0x42);
	for (pkt.bth.psn = 0x42; pkt.bth.psn < 0x44; pkt.bth.psn++) { /* a vendor's own byte */
		node_rx(&n, 0, &pkt);
		assert_u_eq(node_tx(&n, 0, &d, 1), 1);
		assert_u_eq(d.endpoint, 0);
	}
}

CASE(mt_endpoint_rx, a_peer_of_our_qps_is_answered_on_an_ev_of_ours)
{
	struct mw_packet pkt = request(MW_EP_EV_PROBE, 1);
	struct mt_rx_meta meta = node_meta(&n);
	uint32_t seen = 0;

	node_connect(&n);
	meta.port = 1;
	for (uint32_t i = 0; i < 100; i++) {
		pkt.bth.psn = i;
		node_rx_meta(&n, 0, &meta, &pkt);
		assert_u_eq(node_tx(&n, 0, &d, 1), 1);
		assert_u_eq(d.port, 1);
		assert_u_eq(d.ev, opts.evs[d.ev & 0xFF].value);
		seen |= 1u << (d.ev & 0xFF);
	}
	assert_u_eq(seen, 0xAA);
}

/* Answers that leave at once: a request of each of n unknown senders, 1 ns after the other. */
static void ask_as_unknown_senders(uint32_t count, uint64_t now_ns)
{
	struct mw_packet pkt = request(MW_EP_EV_PROBE, 1);
	struct mt_rx_meta meta = node_meta(&n);

	for (uint32_t i = 0; i < count; i++) {
		meta.src.b[13] = (uint8_t)(1 + i % 200);
		node_rx_meta(&n, now_ns + i, &meta, &pkt);
		node_tx(&n, now_ns + i, &d, 1);
	}
}

/* REQ(ep.unknown-limit) */
CASE(mt_endpoint_rx, unknown_senders_are_answered_at_a_limited_rate)
{
	ask_as_unknown_senders(3000, 0);
	assert_u_eq(node_stats(&n).tx_ep_responses, 1024);
	assert_u_eq(node_stats(&n).drop_unknown_sender, 3000 - 1024);
	/* Every 10 us one more may ask, and after a while as many at once as before. */
	ask_as_unknown_senders(10, 50000);
	assert_u_eq(node_stats(&n).tx_ep_responses, 1024 + 5);
	ask_as_unknown_senders(2000, 100000000);
	assert_u_eq(node_stats(&n).tx_ep_responses, 2 * 1024 + 5);
}

/* REQ(ep.unknown-limit) */
CASE(mt_endpoint_rx, a_burst_of_unknown_senders_and_one_more_each_10_us)
{
	for (unsigned i = 0; i < 1100; i++)
		ask_as_unknown_senders(1, 0);
	assert_u_eq(node_stats(&n).tx_ep_responses, 1024);
	ask_as_unknown_senders(1, 9999);
	assert_u_eq(node_stats(&n).tx_ep_responses, 1024);
	ask_as_unknown_senders(1, 10000);
	ask_as_unknown_senders(1, 10000);
	assert_u_eq(node_stats(&n).tx_ep_responses, 1024 + 1);
}

/* REQ(ep.unknown-limit) */
CASE(mt_endpoint_rx, a_peer_of_our_qps_is_no_unknown_sender)
{
	struct mw_packet pkt = request(MW_EP_EV_PROBE, 1);

	node_connect(&n);
	ask_as_unknown_senders(3000, 0);
	for (uint32_t i = 0; i < 2000; i++) {
		node_rx(&n, 0, &pkt);
		assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	}
	assert_u_eq(node_stats(&n).drop_unknown_sender, 3000 - 1024);
}

CASE(mt_endpoint_rx, on_another_port_when_its_own_went_down)
{
	struct mw_packet pkt = request(MW_EP_EV_PROBE, 1);

	node_rx(&n, 0, &pkt);
	assert_i_eq(mt_engine_port_set(n.engine, 0, 0, false), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.port, 1);
}

CASE(mt_endpoint_rx, what_is_not_an_operation)
{
	struct mw_packet pkt = request(2, 1);

	node_rx(&n, 0, &pkt);
	pkt = request(MW_EP_EV_PROBE, 1);
	pkt.bth.dqp = 3;
	node_rx(&n, 0, &pkt);
	assert_u_eq(node_stats(&n).drop_endpoint, 2);
	pkt.bth.dqp = 2;
	pkt.bth.opcode = MW_EP_RESPONSE;
	node_rx(&n, 0, &pkt);
	assert_u_eq(node_stats(&n).drop_ep_response, 1);
	assert_u_eq(node_drain(&n, 0), 0);
	assert_false(node_poll(&n, &ev));
}

/* REQ(ep.probe.rtt) */
CASE(mt_engine_ep_request, goes_out_and_its_answer_is_an_event)
{
	struct mt_ep_request req = probe();
	struct mw_packet pkt;
	uint16_t id = 0xFFFF;

	assert_i_eq(mt_engine_ep_request(n.engine, 1000, &req, &id), MT_OK);
	assert_u_eq(id, 0);
	assert_u_eq(node_tx(&n, 1280, &d, 1), 1);
	assert_u_eq(d.pkt.bth.opcode, MW_EP_REQUEST);
	assert_u_eq(d.pkt.bth.dqp, 2);
	assert_u_eq(d.pkt.bth.psn, id);
	assert_u_eq(d.pkt.erth.op, MW_EP_EV_PROBE);
	assert_u_eq(d.pkt.erth.ts.tx_timestamp, 10);
	assert_u_eq(d.pkt.erth.ts.ftype, 1);
	assert_u_eq(d.ev, 0xE5);
	assert_u_eq(d.port, 1);
	assert_u_eq(d.tclass, MW_DSCP_TRIMMABLE);
	assert_null(d.qp_user);
	pkt = response_to(&d);
	node_rx(&n, 2280, &pkt);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_ENDPOINT);
	assert_u_eq(ev.ep_status, MT_EP_ANSWERED);
	assert_u_eq(ev.ep_id, id);
	assert_u_eq(ev.rtt_ns, 1000);
	assert_u_eq(ev.wr_id, 0x1122334455667788);
	assert_u_eq(ev.ev.value, 0xE5);
	assert_false(ev.svc_time_subtracted);
	assert_u_eq(node_stats(&n).rx_ep_responses, 1);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
	node_rx(&n, 2300, &pkt); /* a duplicate */
	assert_false(node_poll(&n, &ev));
	assert_u_eq(node_stats(&n).drop_ep_response, 1);
}

CASE(mt_engine_ep_request, carries_the_mask_of_a_port_status_update)
{
	struct mt_ep_request req = probe();

	req.op = MW_EP_PORT_STATUS;
	req.port_mask = 0xA5;
	req.tclass = MW_DSCP_CONTROL;
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.pkt.erth.port_status_mask, 0xA5);
}

/* REQ(ep.endpoint-number) */
CASE(mt_engine_ep_request, names_the_engine_that_asks)
{
	struct mt_ep_request req = probe();

	opts.cfg.endpoint = 0x3FE;
	reopen();
	req.endpoint = 17;
	req.id_given = true;
	req.id = 0x4321;
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.pkt.bth.psn, 0x834321);
	req.id++;
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.pkt.bth.psn, 0x834322);
	assert_u_eq(d.pkt.erth.vendor_info, 0xFE);
	assert_u_eq(d.endpoint, 17);
}

CASE(mt_engine_ep_request, silence_is_an_event_too)
{
	struct mt_ep_request req = probe();
	struct mw_packet pkt;

	assert_i_eq(mt_engine_ep_request(n.engine, 5, &req, NULL), MT_OK);
	assert_u_eq(node_tx(&n, 5, &d, 1), 1);
	assert_u_eq(mt_engine_deadline(n.engine), 10005);
	mt_engine_tick(n.engine, 10004);
	assert_false(node_poll(&n, &ev));
	mt_engine_tick(n.engine, 10005);
	pkt = response_to(&d);
	node_rx(&n, 10006, &pkt);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.ep_status, MT_EP_TIMED_OUT);
	assert_u_eq(ev.rtt_ns, 0);
	assert_false(node_poll(&n, &ev));
	assert_u_eq(node_stats(&n).ep_timeouts, 1);
	assert_u_eq(node_stats(&n).rx_ep_responses, 0);
	assert_u_eq(node_stats(&n).drop_ep_response, 1);
}

/* REQ(rsp.svc-time) REQ(ep.probe.rtt) */
CASE(mt_engine_ep_request, the_service_time_is_off_the_round_trip)
{
	struct mt_ep_request req = probe();
	struct mw_packet pkt;

	opts.cfg.svc_time = true;
	reopen();
	assert_i_eq(mt_engine_ep_request(n.engine, 1000, &req, NULL), MT_OK);
	assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
	pkt = response_to(&d);
	pkt.eeth.tx_timestamp = (uint16_t)(pkt.eeth.tx_timestamp + 2); /* units of 128 ns */
	node_rx(&n, 2000, &pkt);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.rtt_ns, 1000 - 2 * 128);
	assert_true(ev.svc_time_subtracted);
}

CASE(mt_engine_ep_request, one_that_was_never_sent_ends_as_well)
{
	struct mt_ep_request req = probe();

	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_OK);
	mt_engine_port_set(n.engine, 0, 1, false);
	assert_u_eq(node_drain(&n, 0), 0);
	mt_engine_tick(n.engine, 10000);
	assert_true(node_poll(&n, &ev) && ev.type == MT_EVENT_PORT);
	assert_true(node_poll(&n, &ev) && ev.type == MT_EVENT_ENDPOINT);
	assert_u_eq(ev.ep_status, MT_EP_TIMED_OUT);
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_ERR_STATE);
}

CASE(mt_engine_ep_request, refuses_what_is_out_of_range)
{
	struct mt_ep_request req = probe();

#define REFUSED(field, value)                                                               \
	do {                                                                                \
		req = probe();                                                              \
		req.field = (value);                                                        \
		assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_ERR_INVALID); \
	} while (0)
	REFUSED(op, 2);
	REFUSED(ev.port, 2);
	REFUSED(tclass, MW_DSCP_CLASSES);
	REFUSED(endpoint, MT_ENDPOINTS_MAX);
	REFUSED(timeout_ns, 0);
	REFUSED(timeout_ns, (UINT64_C(1) << 36) + 1);
#undef REFUSED
	assert_u_eq(node_drain(&n, 0), 0);
}

CASE(mt_engine_ep_request, waits_a_nanosecond_or_a_minute)
{
	struct mt_ep_request req = probe();

	req.timeout_ns = 1;
	assert_i_eq(mt_engine_ep_request(n.engine, 1000, &req, NULL), MT_OK);
	assert_u_eq(mt_engine_deadline(n.engine), 1001);
	req.timeout_ns = UINT64_C(1) << 36;
	assert_i_eq(mt_engine_ep_request(n.engine, 1000, &req, NULL), MT_OK);
}

/* REQ(ep.probe.id-reuse) */
CASE(mt_engine_ep_request, an_id_rests_before_it_is_used_again)
{
	struct mt_ep_request req = probe();
	struct mw_packet pkt;

	req.id_given = true;
	req.id = 9;
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_OK);
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_ERR_EXISTS);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	pkt = response_to(&d);
	node_rx(&n, 100, &pkt);
	assert_true(node_poll(&n, &ev));
	assert_i_eq(
		mt_engine_ep_request(n.engine, 99 + opts.cfg.timing.ep_quarantine_ns, &req, NULL),
		MT_ERR_EXISTS);
	assert_i_eq(
		mt_engine_ep_request(n.engine, 100 + opts.cfg.timing.ep_quarantine_ns, &req, NULL),
		MT_OK);
}

CASE(mt_engine_ep_request, no_more_than_there_are_slots)
{
	struct mt_ep_request req = probe();

	for (unsigned i = 0; i < opts.cfg.ep_requests; i++)
		assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_OK);
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, NULL), MT_ERR_FULL);
}

/* REQ(rsp.svc-time) */
CASE(mt_endpoint_emit_response, the_stamp_moves_by_the_service_time)
{
	struct mw_packet pkt = request(MW_EP_EV_PROBE, 1);

	opts.cfg.svc_time = true;
	reopen();
	node_rx(&n, 10000, &pkt);
	assert_u_eq(node_tx(&n, 10000 + 3 * 128 + 127, &d, 1), 1);
	assert_u_eq(d.pkt.eeth.tx_timestamp, 0x5678 + 3);
}
