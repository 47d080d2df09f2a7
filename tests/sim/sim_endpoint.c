/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_endpoint.c - trouble of an endpoint, which is not trouble of paths: one that stops, one that
 * gets little processor time and empties its sockets one after the other, one that overflows. And
 * its counterpart: a direction of a plane that dies, of which only its own EVs may suffer.
 */
#include "case.h"
#include <stdio.h>

#define PLANES 4u
#define PATHS 8u

/* 4096 byte packets leave each port one in 2 us. */
static void pace(struct sim_world *w)
{
	case_pace(w, 0, UINT64_C(16900000000));
	case_pace(w, 1, UINT64_C(16900000000));
}

/* Of the worlds that come, where a case must hold for more than one. */
static uint64_t net_seed = 1;

/* Two nodes that empty their sockets one after the other, a packet every 200 ns. */
static struct sim_world *open_busy(const struct mt_timing *timing)
{
	struct sim_world_cfg cfg = case_cfg(PLANES, PATHS);
	struct sim_world *w;

	cfg.net.seed = net_seed;
	if (timing)
		cfg.engine.timing = *timing;
	w = case_open(&cfg);
	pace(w);
	w->nodes[0].service_ns = w->nodes[1].service_ns = 200;
	return w;
}

/* What a software NIC on a shared machine is given. */
static struct mt_timing patient(void)
{
	struct sim_world_cfg cfg;

	sim_world_cfg_default(&cfg);
	cfg.engine.timing.reorder_min_ns = 3 * SIM_MS;
	cfg.engine.timing.reorder_max_ns = 10 * SIM_MS;
	cfg.engine.timing.tail_probe_min_ns = 6 * SIM_MS;
	cfg.engine.timing.rto_min_ns = 20 * SIM_MS;
	return cfg.engine.timing;
}

/* No EV was retired, at most 1 % resent. */
static void check_unharmed(struct sim_world *w)
{
	for (uint32_t node = 0; node < 2; node++) {
		CASE_EQ(w, case_stats(w, node).evs_retired, 0);
		CASE_BETWEEN(w, case_resent(w, node) * 100, 0,
			     w->nodes[node].traffic.sent[SIM_DATA]);
	}
}

/* Stops a node for a second in the middle of its work, both directions busy. */
static void stop_for_a_second(uint32_t node, const struct mt_timing *timing)
{
	struct sim_world *w = open_busy(timing);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t done;

	case_keep_busy(qp, 4096 * 50, w->net.now_ns + SIM_S + 6 * SIM_MS);
	sim_run_for(w, SIM_MS);
	sim_node_stop(&w->nodes[node], SIM_S, false);
	sim_run_for(w, SIM_S);
	done = w->nodes[0].traffic.sent[SIM_DATA];
	sim_run_for(w, 5 * SIM_MS);
	/* It goes on: two packets a microsecond, less what the window holds. */
	CASE_BETWEEN(w, w->nodes[0].traffic.sent[SIM_DATA] - done, 5000, 10500);
	sim_run_done(w, 20 * SIM_MS);
	check_unharmed(w);
	case_done(w);
}

/* REQ(req.ev.endpoint) */
TEST(sim_endpoint, a_peer_stopped_for_a_second)
{
	stop_for_a_second(1, NULL);
}

TEST(sim_endpoint, a_peer_stopped_for_a_second_patient_timing)
{
	struct mt_timing t = patient();

	stop_for_a_second(1, &t);
}

/* REQ(req.retry.own-stop) */
TEST(sim_endpoint, ourselves_stopped_for_a_second)
{
	stop_for_a_second(0, NULL);
}

TEST(sim_endpoint, ourselves_stopped_for_a_second_patient_timing)
{
	struct mt_timing t = patient();

	stop_for_a_second(0, &t);
}

static void stop_again(void *ctx, uint64_t arg)
{
	struct sim_node *node = ctx;
	struct engine_net *net = &node->w->net;
	uint64_t off = rng_between(&net->rng, 4 * SIM_MS, 8 * SIM_MS);
	uint64_t on = rng_between(&net->rng, 4 * SIM_MS, 8 * SIM_MS);

	if (net->now_ns >= arg)
		return;
	sim_node_stop(node, off, false);
	engine_net_at(net, net->now_ns + off + on, stop_again, node, arg);
}

/* A node that runs in slices of 4 to 8 ms and is off for as long between them. */
static void starve(uint32_t node, const struct mt_timing *timing)
{
	struct sim_world *w = open_busy(timing);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t end = w->net.now_ns + 60 * SIM_MS;

	case_keep_busy(qp, 4096 * 50, end);
	sim_run_for(w, SIM_MS);
	stop_again(&w->nodes[node], end);
	sim_run_done(w, 200 * SIM_MS);
	/* It ran for about half of the time. */
	CASE_BETWEEN(w, w->nodes[0].traffic.sent[SIM_DATA], 40000, 90000);
	check_unharmed(w);
	case_done(w);
}

TEST(sim_endpoint, a_starved_peer)
{
	starve(1, NULL);
}

TEST(sim_endpoint, a_starved_peer_patient_timing)
{
	struct mt_timing t = patient();

	starve(1, &t);
}

TEST(sim_endpoint, ourselves_starved)
{
	starve(0, NULL);
}

TEST(sim_endpoint, ourselves_starved_patient_timing)
{
	struct mt_timing t = patient();

	starve(0, &t);
}

/* One path that died while the peer was stopped is found by what is sent on it afterwards. */
static void stop_and_a_dead_path(void)
{
	struct sim_world *w = open_busy(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 60 * SIM_MS);
	sim_run_for(w, SIM_MS);
	sim_node_stop(&w->nodes[1], 50 * SIM_MS, false);
	sim_run_for(w, 100 * SIM_US);
	case_kill(w, 0, 1, 2, 5, true);
	sim_run_done(w, 100 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 1);
	CASE_EQ(w, case_info(qp).evs_bad, 1);
	case_done(w);
}

TEST(sim_endpoint, a_path_that_dies_during_the_stop_is_found)
{
	for (net_seed = 1; net_seed <= 8; net_seed++)
		stop_and_a_dead_path();
	net_seed = 1;
}

/*
 * Nodes 2 and 3 are two engines of one host. While one of them stops, the other one goes on, and
 * answers over the same EVs. REQ(req.ev.endpoint)
 */
TEST(sim_endpoint, one_of_two_engines_at_an_address_stops)
{
	struct sim_world_cfg cfg = case_cfg(PLANES, PATHS);
	struct sim_world *w;
	struct sim_qp *live, *stopped;
	struct sim_qp_cfg qp;
	uint64_t done;

	cfg.net.n_nodes = 4;
	cfg.net.nodes_per_host = 2;
	w = case_open(&cfg);
	case_pace(w, 0, UINT64_C(16900000000));
	for (uint32_t i = 0; i < 4; i++)
		w->nodes[i].service_ns = 200;
	sim_qp_cfg_default(&qp);
	live = sim_connect(w, 0, 2, &qp, &qp);
	stopped = sim_connect(w, 0, 3, &qp, &qp);
	assert_memory_equal(&w->nodes[2].addr, &w->nodes[3].addr, sizeof(struct rd_gid));
	case_keep_busy(live, 4096 * 50, w->net.now_ns + 110 * SIM_MS);
	case_post(stopped, 200, 4096 * 50, 0);
	sim_run_for(w, SIM_MS);
	sim_node_stop(&w->nodes[3], 100 * SIM_MS, false);
	sim_run_for(w, SIM_MS);
	done = live->out.sent;
	sim_run_for(w, 50 * SIM_MS);
	/* All that the ports can carry, two packets a microsecond. */
	CASE_BETWEEN(w, live->out.sent - done, 99000, 101000);
	sim_run_done(w, 200 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	CASE_BETWEEN(w, case_resent(w, 0) * 100, 0, w->nodes[0].traffic.sent[SIM_DATA]);
	case_done(w);
}

/* ---- pauses that are longer than the timeout ---- */

#define PAUSED_QPS 16u
#define PAUSED_PORT_BPS UINT64_C(25000000)

static void pause_again(void *ctx, uint64_t arg)
{
	struct sim_node *node = ctx;
	struct engine_net *net = &node->w->net;
	uint64_t off = rng_between(&net->rng, 60 * SIM_MS, 80 * SIM_MS);
	uint64_t on = rng_between(&net->rng, 150 * SIM_MS, 250 * SIM_MS);

	sim_node_stop(node, off, false);
	engine_net_at(net, net->now_ns + off + on, pause_again, node, arg);
}

/* Many QPs to a process that does not get a core for three or four timeouts now and then. */
static struct sim_world *open_paused(void)
{
	struct sim_world_cfg cfg = case_cfg(PLANES, PATHS);
	struct sim_qp_cfg def;
	struct sim_world *w;

	cfg.engine.timing = patient();
	cfg.engine.timing.reorder_max_ns = 27 * SIM_MS;
	w = case_open(&cfg);
	case_pace(w, 0, PAUSED_PORT_BPS);
	case_pace(w, 1, PAUSED_PORT_BPS);
	sim_qp_cfg_default(&def);
	for (uint32_t i = 0; i < PAUSED_QPS; i++)
		case_post(sim_connect(w, 0, 1, &def, &def), 80, 1 << 16, 0);
	sim_run_for(w, 100 * SIM_MS);
	return w;
}

/*
 * The first pauses teach how long this peer may take. After them it is given that time: nearly
 * nothing goes again that had arrived. REQ(req.retry.slow-peer)
 */
TEST(sim_endpoint, a_peer_paused_for_longer_than_the_timeout)
{
	struct sim_world *w = open_paused();
	struct mt_stats tx, rx;
	uint64_t sent;

	pause_again(&w->nodes[1], 0);
	sim_run_for(w, SIM_S);
	CASE_BETWEEN(w, case_stats(w, 1).rx_duplicates, 1, UINT64_MAX);
	tx = case_stats(w, 0);
	rx = case_stats(w, 1);
	sim_run_for(w, 5 * SIM_S);
	sent = case_stats(w, 0).tx_data_packets - tx.tx_data_packets;
	CASE_BETWEEN(w, sent, 5000, UINT64_MAX);
	CASE_BETWEEN(w, (case_stats(w, 1).rx_duplicates - rx.rx_duplicates) * 1000, 0, sent);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_close(w);
}

/* ---- overflow ---- */

/* Node 1 receives half as fast as node 0 sends, and its buffer holds `room` packets. */
static struct sim_world *open_slow(uint32_t room)
{
	struct mt_timing t = patient();
	struct sim_world *w;

	t.reorder_min_ns = 300 * SIM_US;
	t.reorder_max_ns = SIM_MS;
	t.tail_probe_min_ns = 600 * SIM_US;
	t.rto_min_ns = 2 * SIM_MS;
	t.backpressure_ns = 300 * SIM_US;
	w = open_busy(&t);

	w->nodes[0].service_ns = w->nodes[1].service_ns = 0;
	w->nodes[1].rx_packet_ns = 1000;
	w->nodes[1].rx_room = room;
	return w;
}

/* REQ(req.ev.overloaded) */
TEST(sim_endpoint, overflow_at_the_receiver_retires_no_ev)
{
	for (uint32_t room = 20; room <= 200; room += 60) {
		struct sim_world *w = open_slow(room);
		struct sim_qp *qp = sim_connect_default(w);

		case_post(qp, 60, 4096 * 200, 0);
		sim_run_done(w, SIM_S);
		CASE_BETWEEN(w, w->nodes[1].overflows, 50, 10000);
		CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
		case_done(w);
	}
}

/*
 * Long enough for eight losses: while the peer asks for little, the window is small, and the
 * rotation as narrow, so that a path may hardly be used. REQ(req.ev.overloaded)
 */
static void overflow_and_a_dead_path(void)
{
	struct sim_world *w = open_slow(50);
	struct sim_qp *qp = sim_connect_default(w);

	case_post(qp, 240, 4096 * 200, 0);
	sim_run_for(w, SIM_MS);
	case_kill(w, 0, 1, 2, 5, true);
	sim_run_done(w, SIM_S);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 1);
	CASE_EQ(w, case_info(qp).evs_bad, 1);
	case_done(w);
}

TEST(sim_endpoint, a_dead_path_of_an_overflowing_receiver_is_found)
{
	for (net_seed = 1; net_seed <= 4; net_seed++)
		overflow_and_a_dead_path();
	net_seed = 1;
}

/* ---- one direction of one plane ---- */

static uint32_t bad_on_plane(const struct sim_qp *qp, uint32_t plane)
{
	struct mt_ev_info info;
	uint32_t n = 0;

	for (uint32_t i = 0; mt_qp_ev_info(qp->qp, i, &info); i++)
		n += info.ev.port == plane && info.state == MT_EV_ASSUMED_BAD;
	return n;
}

/* From `from` to its peer, plane by plane; both send all the time. REQ(req.ev.forward-evidence) */
static void one_direction_dies(uint32_t from)
{
	for (uint32_t plane = 0; plane < PLANES; plane++) {
		struct sim_world_cfg cfg = case_cfg(PLANES, PATHS);
		struct sim_world *w = case_open(&cfg);
		struct sim_qp *qp = sim_connect_default(w);
		const struct sim_qp *hurt = from == 0 ? qp : qp->peer;

		pace(w);
		case_post(qp, 20, 4096 * 100, 0);
		case_post(qp->peer, 20, 4096 * 100, 0);
		sim_run_for(w, 200 * SIM_US);
		case_kill(w, from, 1 - from, plane, NET_NO_NODE, true);
		sim_run_done(w, 20 * SIM_MS);
		CASE_EQ(w, bad_on_plane(hurt, plane), PATHS);
		CASE_EQ(w, case_info(hurt).evs_bad, PATHS);
		CASE_EQ(w, case_info(hurt->peer).evs_bad, 0);
		CASE_EQ(w, case_stats(w, 1 - from).evs_retired, 0);
		case_done(w);
	}
}

TEST(sim_endpoint, each_plane_dead_on_the_way_there)
{
	one_direction_dies(0);
}

TEST(sim_endpoint, each_plane_dead_on_the_way_back)
{
	one_direction_dies(1);
}
