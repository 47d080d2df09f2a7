/* SPDX-License-Identifier: BSD-2-Clause */
/* What a QP waits for while ports have enough in flight. REQ(req.spray.flight) */
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define PORT_0 1u
#define PORT_1 2u

static struct mt_tx_desc sent[256];

#define CASE(function, name) TEST_WITH(connected, close_node, function, name)

#define RTT 1000u

static void sample(uint32_t port, uint64_t rtt_ns, uint32_t times)
{
	while (times-- > 0) {
		mt_spray_sample_rtt(&n.qp->req.spray, n.qp->ev_set, port, rtt_ns);
		mt_qp_flight_judge(n.qp, port);
	}
}

/* Of a QP that has found out that its planes are unlike. */
static void post(uint32_t packets)
{
	assert_i_eq(node_post(&n, n.qp, 0, packets * MTU, 0), MT_OK);
	sample(0, RTT, MT_SPRAY_SAMPLES);
	sample(1, 3 * RTT, MT_SPRAY_SAMPLES);
	assert_true(n.qp->req.spray.counts);
}

static struct mt_flight *flight(uint32_t port)
{
	return &mt_spray_flights(&n.qp->req.spray, n.qp->ev_set)->port[port];
}

static uint32_t full_ports(void)
{
	return mt_spray_flights(&n.qp->req.spray, n.qp->ev_set)->full;
}

/* Packets leave by a port until it has so many in flight, and may have no more. */
static void fill(uint32_t port, uint32_t packets)
{
	uint32_t more = packets - flight(port)->packets;

	flight(port)->most = (uint16_t)packets;
	assert_u_eq(mt_engine_tx(n.engine, 0, 1u << port, sent, more), more);
	assert_u_eq(flight(port)->packets, packets);
}

static bool counts(void)
{
	return n.qp->req.spray.counts;
}

/* Nothing of it costs a packet anything where planes are alike, or within a factor of two. */
CASE(mt_qp_flight_judge, alike_planes_are_not_counted)
{
	assert_i_eq(node_post(&n, n.qp, 0, MTU, 0), MT_OK);
	for (uint32_t i = 0; i < 1000; i++) {
		sample(0, RTT, 1);
		sample(1, RTT * 19 / 10, 1);
	}
	assert_false(counts());
	assert_u_eq(n.engine->n_counting, 0);
}

/* Where packets come in any order, of a few some are always long under way. */
CASE(mt_spray_sample_rtt, a_few_samples_are_no_mean)
{
	assert_i_eq(node_post(&n, n.qp, 0, MTU, 0), MT_OK);
	sample(0, RTT, MT_SPRAY_SAMPLES - 1);
	sample(1, 4 * RTT, MT_SPRAY_SAMPLES);
	assert_false(counts());
	sample(0, RTT, 1);
	sample(1, 4 * RTT, 1);
	assert_true(counts());
}

CASE(mt_spray_sample_rtt, a_few_samples_are_no_measure)
{
	assert_i_eq(node_post(&n, n.qp, 0, MTU, 0), MT_OK);
	sample(1, 4 * RTT, MT_SPRAY_SAMPLES - 1);
	sample(0, RTT, MT_SPRAY_SAMPLES);
	assert_false(counts());
	sample(1, 4 * RTT, 1);
	assert_true(counts());
}

/* Each of the first samples has the same weight, whichever comes first. */
CASE(mt_spray_sample_rtt, the_first_sample_is_one_of_fifteen)
{
	assert_i_eq(node_post(&n, n.qp, 0, MTU, 0), MT_OK);
	sample(0, RTT, MT_SPRAY_SAMPLES);
	sample(1, 1024 * RTT, 1);
	sample(1, RTT, MT_SPRAY_SAMPLES - 1);
	assert_false(counts());
}

/* Else the mean would begin again at nothing where it no longer fits. */
CASE(mt_spray_sample_rtt, no_rtt_is_too_long_for_a_mean)
{
	assert_i_eq(node_post(&n, n.qp, 0, MTU, 0), MT_OK);
	sample(0, UINT64_C(2000000000), MT_SPRAY_SAMPLES);
	sample(1, UINT64_MAX, MT_SPRAY_SAMPLES);
	assert_true(mt_spray_rtts(&n.qp->req.spray, n.qp->ev_set)[1].log == MT_SPRAY_LOG_MAX);
	assert_true(counts());
}

CASE(mt_qp_flight_judge, begins_with_what_is_in_flight)
{
	assert_i_eq(node_post(&n, n.qp, 0, 20 * MTU, 0), MT_OK);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 3), 3);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_1, sent, 5), 5);
	sample(0, RTT, MT_SPRAY_SAMPLES);
	sample(1, 3 * RTT, MT_SPRAY_SAMPLES);
	assert_true(counts());
	assert_u_eq(flight(0)->packets, 3);
	assert_u_eq(flight(1)->packets, 5);
	assert_u_eq(n.engine->n_counting, 1);
}

/* Its one slow sample in a hundred is no slow plane; the mean takes in a sixteenth of each. */
CASE(mt_qp_flight_judge, one_late_packet_is_no_slow_plane)
{
	assert_i_eq(node_post(&n, n.qp, 0, MTU, 0), MT_OK);
	sample(0, RTT, 100);
	sample(1, RTT, 100);
	sample(1, 1000 * RTT, 1);
	assert_false(counts());
	sample(1, 1000 * RTT, 20);
	assert_true(counts());
}

/* It counts on as long as a port is passed over, however alike the RTTs have become by that. */
CASE(mt_qp_flight_judge, ends_after_128_calm_samples)
{
	post(100);
	sample(1, RTT, 100); /* the mean is about that of the other by now */
	flight(0)->most = 1;
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 1), 1);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 1), 0);
	sample(1, RTT, 127);
	assert_true(counts());
	sample(1, RTT, 1);
	assert_false(counts());
	assert_u_eq(n.engine->n_counting, 0);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 4), 4);
}

/* Where one sample in between is of a plane that takes longer, the calm begins again. */
CASE(mt_qp_flight_judge, calm_samples_are_in_a_row)
{
	post(1);
	sample(0, RTT, 100);
	sample(1, 3 * RTT, 1);
	sample(0, RTT, 127);
	assert_true(counts());
	sample(0, RTT, 1);
	assert_false(counts());
}

/* The records are a ring, of which nothing is free then. */
CASE(mt_qp_flight_judge, begins_with_a_full_window)
{
	n.qp->req.cc.cwnd = UINT32_MAX;
	assert_i_eq(node_post(&n, n.qp, 0, 200 * MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, sent, 256), MT_MPR_UNIT);
	sample(0, RTT, MT_SPRAY_SAMPLES);
	sample(1, 3 * RTT, MT_SPRAY_SAMPLES);
	assert_true(counts());
	assert_u_eq(flight(0)->packets + flight(1)->packets, MT_MPR_UNIT);
}

/* That the fastest port may not be used any more makes no other one slow. */
CASE(mt_qp_flight_judge, a_port_that_is_left_is_no_measure)
{
	assert_i_eq(node_post(&n, n.qp, 0, MTU, 0), MT_OK);
	sample(0, RTT, 20);
	for (uint16_t i = 0; i < n.qp->ev_set->n_evs; i += 2)
		mt_qp_retire_ev_group(n.qp, i, 0, MT_EV_BY_LOSS);
	sample(1, 3 * RTT, 20);
	assert_false(counts());
}

/* The one packet of a port's round arrives after gap_ns. */
static void end_round(uint16_t port, uint64_t gap_ns)
{
	const struct mt_tx_rec rec = {.ev = port, .sent_ns = 1};

	n.qp->req.rtt.smoothed_ns = RTT;
	flight(port)->round_ns = 1;
	mt_qp_flight_arrived(n.qp, &rec, 1 + gap_ns);
}

/* How many port 0 may have in flight, of a window of so many packets, after such a round. */
static uint16_t most_after(uint32_t window, uint32_t max_run, uint64_t gap_ns)
{
	n.qp->req.cc.cwnd = window * (MTU + MT_NOMINAL_HEADER);
	n.engine->cfg.max_run = max_run;
	mt_flight_init(flight(0));
	flight(0)->packets = 1;
	end_round(0, gap_ns);
	return flight(0)->most;
}

#define SLOW (1000 * RTT)
#define QUICK 1

/* Two ports: half of the window each, or two runs and four packets, and never less than four. */
CASE(mt_qp_flight_arrived, any_port_may_have_some_in_flight)
{
	post(1);
	assert_u_eq(most_after(100, 8, SLOW), 2 * 8 + 4);
	assert_u_eq(most_after(100, 1, SLOW), 2 * 1 + 4);
	assert_u_eq(most_after(41, 8, SLOW), 20);
	assert_u_eq(most_after(38, 8, SLOW), 19);
	assert_u_eq(most_after(10, 8, SLOW), 5);
	assert_u_eq(most_after(8, 8, SLOW), 4);
	assert_u_eq(most_after(7, 8, SLOW), 4);
	assert_u_eq(most_after(2, 8, SLOW), 4);
}

/* Each has all of it then, whichever comes back. */
CASE(mt_qp_flight_arrived, no_port_may_be_used)
{
	post(1);
	n.qp->ev_set->open_ports = 0;
	assert_u_eq(most_after(10, 8, SLOW), 10);
}

CASE(mt_qp_flight_arrived, no_port_has_more_than_its_share)
{
	post(1);
	assert_u_eq(most_after(100, 8, QUICK), 50 + 50 + 25);
	assert_u_eq(most_after(6, 8, QUICK), 3 + 3 + 2);
}

/* It may have arrived the first time. */
CASE(mt_qp_flight_arrived, how_long_what_was_sent_again_took_is_not_known)
{
	const struct mt_tx_rec again = {.ev = 0, .sent_ns = 5, .tries = 1};

	post(1);
	flight(0)->packets = 2;
	flight(0)->round_ns = 1;
	mt_qp_flight_arrived(n.qp, &again, 1 + RTT);
	assert_u_eq(flight(0)->arrived, 1);
	assert_u_eq(flight(0)->least_ns, UINT32_MAX);
}

CASE(mt_qp_flight_left, a_lost_packet_is_room_for_another)
{
	post(100);
	fill(0, 8);
	assert_u_eq(full_ports(), PORT_0);
	mt_qp_flight_left(n.qp, mt_tx_rec(&n.qp->req.window, n.qp->req.window.una));
	assert_u_eq(full_ports(), 0);
}

CASE(mt_qp_modify, reset_ends_it)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};

	post(10);
	assert_u_eq(n.engine->n_counting, 1);
	assert_i_eq(mt_qp_modify(n.qp, 0, &reset, RD_QP_STATE), MT_OK);
	assert_u_eq(n.engine->n_counting, 0);
}

CASE(mt_engine_tx, a_full_port_waits_for_arrivals)
{
	post(100);
	assert_u_eq(node_tx(&n, 0, sent, 2), 2);
	fill(0, 8);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 0);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0 | PORT_1, sent, 16), 16);
	for (uint32_t i = 0; i < 16; i++)
		assert_u_eq(sent[i].port, 1);
}

/* The one port that there is may be full, and its link without room for a moment. */
CASE(mt_engine_tx, room_is_enough_where_all_are_full)
{
	post(100);
	assert_u_eq(node_tx(&n, 0, sent, 2), 2);
	fill(0, 8);
	fill(1, 8);
	assert_u_eq(mt_engine_tx(n.engine, 0, 1u << 2, sent, 16), 0);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_1, sent, 4), 4);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 4), 4);
}

/* It waits for port 1, which has none and is lost: port 0 is what is left. */
CASE(mt_engine_tx, the_other_port_is_lost)
{
	post(100);
	assert_u_eq(node_tx(&n, 0, sent, 2), 2);
	fill(0, 8);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 0);
	for (uint16_t i = 1; i < n.qp->ev_set->n_evs; i += 2)
		mt_qp_retire_ev_group(n.qp, i, 0, MT_EV_BY_LOSS);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 16);
}

/* It waits for room on port 1, which turns out to be slower still. */
CASE(mt_engine_tx, the_other_port_is_full_at_the_end_of_its_round)
{
	post(100);
	assert_u_eq(node_tx(&n, 0, sent, 2), 2);
	fill(0, 8);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_1, sent, 60), 60);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 4), 0);
	end_round(1, SLOW);
	assert_u_eq(full_ports(), PORT_0 | PORT_1);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 4), 4);
}

/* After a timeout the oldest goes again, by whatever port has room. */
CASE(mt_engine_tx, a_timeout_waits_for_no_other_port)
{
	struct mt_tx_rec *oldest;

	post(100);
	assert_u_eq(node_tx(&n, 0, sent, 2), 2);
	for (uint16_t i = 2; i < n.qp->ev_set->n_evs; i++) /* one is left on each port */
		mt_qp_retire_ev_group(n.qp, i, 0, MT_EV_BY_LOSS);
	fill(0, 8);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 0);
	oldest = mt_tx_rec(&n.qp->req.window, n.qp->req.window.una);
	mt_tx_window_lost(&n.qp->req.window, n.qp->req.window.una);
	flight(0)->most = 1;
	mt_qp_flight_left(n.qp, oldest);
	assert_u_eq(full_ports(), PORT_0);
	oldest->ev = 1;
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 1), 1);
	assert_true(sent[0].pkt.bth.rtx);
}
