/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_port.c - ports that go down and come back, what peers are told of them and what they believe,
 * and requests from endpoint to endpoint.
 */
#include "case.h"

static void pace(struct sim_world *w)
{
	case_pace(w, 0, UINT64_C(33800000000));
	case_pace(w, 1, UINT64_C(33800000000));
}

/* The link of a node's port: its packets die in both directions, and the node knows `known` or
 * not. */
static void set_port(struct sim_world *w, uint32_t node, uint32_t port, bool up, bool known)
{
	case_kill_both(w, port, NET_NO_NODE, !up);
	if (!known)
		return;
	assert_i_eq(mt_engine_port_set(w->nodes[node].engine, w->net.now_ns, port, up), MT_OK);
	sim_node_run(&w->nodes[node]);
}

static uint32_t port_events(const struct sim_world *w, uint32_t node, bool of_peer, bool up)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_port_events; i++)
		n += w->port_events[i].node == node && w->port_events[i].ev.type == MT_EVENT_PORT &&
		     w->port_events[i].ev.port_of_peer == of_peer &&
		     w->port_events[i].ev.port_up == up;
	return n;
}

/* REQ(ep.port.local-down) REQ(ep.port.not-attributed) REQ(ep.port.return) */
TEST(sim_port, a_port_that_goes_down_under_traffic_costs_its_share_and_no_ev)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t since;

	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 6 * SIM_MS);
	sim_run_for(w, 500 * SIM_US);
	set_port(w, 0, 2, false, false);
	sim_run_for(w, 8 * SIM_US); /* the news takes less time than a SACK */
	set_port(w, 0, 2, false, true);
	since = w->net.now_ns + 1;
	sim_run_for(w, 2 * SIM_MS);
	CASE_EQ(w, case_data_of_plane(w, 0, 2, since), 0);
	CASE_BETWEEN(w, case_data_of_plane(w, 0, 1, since), 1900, 2050);
	CASE_TRUE(w, case_stats(w, 0).lost_inferred > 0);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	CASE_EQ(w, case_stats(w, 0).timeouts, 0);
	set_port(w, 0, 2, true, true);
	since = w->net.now_ns;
	sim_run_for(w, SIM_MS);
	CASE_BETWEEN(w, case_data_of_plane(w, 0, 2, since), 950, 1050);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	CASE_EQ(w, port_events(w, 0, false, false), 1);
	CASE_EQ(w, port_events(w, 0, false, true), 1);
	case_done(w);
}

/* REQ(ep.port.status-update) REQ(ep.port.peer-down) REQ(ep.port.return) */
TEST(sim_port, the_peer_is_told_and_leaves_the_plane_until_it_is_back)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t since;

	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 6 * SIM_MS);
	sim_run_for(w, 500 * SIM_US);
	set_port(w, 1, 2, false, true);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, case_stats(w, 0).peer_ports_abandoned, 1);
	CASE_EQ(w, port_events(w, 0, true, false), 1);
	since = w->net.now_ns;
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, case_data_of_plane(w, 0, 2, since), 0);
	CASE_TRUE(w, case_count(w, 1, MW_EP_REQUEST) <= 2);
	set_port(w, 1, 2, true, true);
	sim_run_for(w, 100 * SIM_US);
	CASE_EQ(w, case_stats(w, 0).peer_ports_restored, 1);
	since = w->net.now_ns;
	sim_run_for(w, SIM_MS);
	CASE_BETWEEN(w, case_data_of_plane(w, 0, 2, since), 900, 1050);
	case_done(w);
}

/* REQ(ep.port.not-attributed): the news of a dead link takes a millisecond, as it may in a
 * kernel. */
TEST(sim_port, evs_lost_before_the_news_come_back_with_the_port)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w), *back;
	uint64_t since;

	back = qp->peer;
	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 8 * SIM_MS);
	sim_run_for(w, 500 * SIM_US);
	set_port(w, 0, 2, false, false);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, case_info(qp).evs_bad, 8);
	set_port(w, 0, 2, false, true);
	sim_run_for(w, 3 * SIM_MS);
	set_port(w, 0, 2, true, true);
	CASE_EQ(w, case_info(qp).evs_bad, 0);
	since = w->net.now_ns;
	sim_run_for(w, SIM_MS);
	CASE_BETWEEN(w, case_data_of_plane(w, 0, 2, since), 950, 1050);
	CASE_EQ(w, case_info(back).evs_bad, 0);
	case_done(w);
}

static bool lose_updates(void *ctx, struct net_packet *p)
{
	uint64_t *left = ctx;

	if ((p->pkt.bth.opcode != MW_EP_REQUEST && p->pkt.bth.opcode != MW_EP_RESPONSE) ||
	    *left == 0)
		return true;
	--*left;
	return false;
}

/* REQ(ep.port.status-update) */
TEST(sim_port, updates_and_answers_that_get_lost_are_repeated)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t left = 3;

	sim_post(qp, 4096, 0);
	sim_run_done(w, SIM_MS);
	w->net.filter = lose_updates;
	w->net.filter_ctx = &left;
	set_port(w, 1, 1, false, true);
	sim_run_for(w, 10 * SIM_MS);
	CASE_EQ(w, left, 0);
	CASE_EQ(w, case_stats(w, 1).tx_ep_requests, 4);
	CASE_EQ(w, case_stats(w, 1).rx_ep_responses, 1);
	set_port(w, 1, 1, true, true);
	sim_run_for(w, 10 * SIM_MS);
	CASE_EQ(w, case_stats(w, 1).rx_ep_responses, 2);
	CASE_EQ(w, case_stats(w, 0).peer_ports_abandoned - case_stats(w, 0).peer_ports_restored, 0);
	case_done(w);
}

/* Each plane of each end in turn is reported down by somebody who uses the peer's address. */
static void forge(struct sim_world *w, uint32_t up)
{
	struct mt_rx_meta meta = case_meta(w, 1);
	struct mw_packet pkt = {
		.bth = {.opcode = MW_EP_REQUEST, .p_key = 0xFFFF, .dqp = 2, .psn = 7},
		.erth = {.op = MW_EP_PORT_STATUS,
			 .port_status_mask = up,
			 .ts = {.ftype = MW_FTYPE_TIMESTAMP}},
	};

	case_give(w, 0, &meta, &pkt);
}

/* REQ(ep.port.suspicion) REQ(ep.port.word-limit) */
TEST(sim_port, forged_updates_cost_a_probe_a_plane_and_interval)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t from = w->net.now_ns, since;

	pace(w);
	case_keep_busy(qp, 4096 * 50, from + 3 * SIM_MS);
	while (w->net.now_ns < from + 2 * SIM_MS) {
		sim_run_for(w, 2 * SIM_US);
		forge(w, 0);
	}
	CASE_EQ(w, case_stats(w, 0).peer_ports_abandoned, 0);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	/* 2 ms are twenty intervals of 100 us. */
	CASE_TRUE(w, case_stats(w, 0).tx_probes <= 4 * 21);
	since = w->net.now_ns;
	sim_run_for(w, 500 * SIM_US);
	for (uint32_t plane = 0; plane < 4; plane++)
		CASE_BETWEEN(w, case_data_of_plane(w, 0, plane, since), 450, 550);
	case_done(w);
}

/* REQ(ep.port.last-plane) */
TEST(sim_port, a_peer_that_says_all_is_down_keeps_a_plane)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	case_silence(w, true);
	sim_post(qp, 4096, 0);
	forge(w, 0);
	sim_run_for(w, 5 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).peer_ports_abandoned, 1);
	case_silence(w, false);
	sim_run_done(w, SIM_S);
	case_done(w);
}

/* REQ(ep.port.survive) */
TEST(sim_port, all_ports_down_and_up_again)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t sent;

	case_post(qp, 4, 4096 * 64, 0);
	sim_run_for(w, 20 * SIM_US);
	set_port(w, 0, 0, false, true);
	set_port(w, 0, 1, false, true);
	sent = w->net.counts.sent;
	sim_run_for(w, 3 * SIM_MS);
	CASE_EQ(w, w->net.counts.sent - sent, case_stats(w, 1).tx_ep_requests);
	set_port(w, 0, 0, true, true);
	set_port(w, 0, 1, true, true);
	sim_run_done(w, 100 * SIM_MS);
	case_done(w);
}

/*
 * Plane 1 lost a packet on each of its EVs and works again, which no probe has shown yet. Now it is
 * the only one. REQ(req.ev.min-active)
 */
TEST(sim_port, bad_evs_are_used_when_only_their_port_is_left)
{
	struct sim_world_cfg cfg = case_cfg(2, 2);
	struct sim_world *w;
	struct sim_qp *qp;

	cfg.probe_interval_ns = cfg.probe_interval_max_ns = 100 * SIM_MS;
	w = case_open(&cfg);
	qp = sim_connect_default(w);
	case_kill(w, 0, 1, 1, NET_NO_NODE, true);
	/* What the first loses goes by a proved EV; the second leaves the plane's last EV. */
	for (int i = 0; i < 2; i++) {
		sim_post(qp, 4096 * 16, 0);
		sim_run_done(w, SIM_MS);
	}
	CASE_EQ(w, case_info(qp).evs_bad, 2);
	case_kill(w, 0, 1, 1, NET_NO_NODE, false);
	set_port(w, 0, 0, false, true);
	sim_post(qp, 4096 * 16, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_info(qp).evs_bad, 1);
	CASE_EQ(w, w->ev_events[2].ev.ev_cause, MT_EV_BY_FLOOR);
	case_done(w);
}

static bool sack_on(const struct net_seen *s, uint32_t plane, uint32_t path)
{
	return s->src == 1 && s->pkt.bth.opcode == MW_SACK && !s->pkt.seth.pr && s->port == plane &&
	       s->ev == 0xC000 + path;
}

/* REQ(req.reverse.probe): half of the return paths are dead; answers find the others. */
TEST(sim_port, a_receiver_finds_ways_back_that_work)
{
	struct sim_world_cfg cfg = case_cfg(1, 8);
	struct sim_world *w;
	struct sim_qp *qp;
	const struct net_seen *s;
	uint64_t since, dead = 0, alive = 0;

	cfg.engine.timing.tail_probe_min_ns = 2 * SIM_US;
	w = case_open(&cfg);
	qp = sim_connect_default(w);
	pace(w);
	for (uint32_t path = 0; path < 4; path++)
		case_kill(w, 1, 0, 0, path, true);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 4 * SIM_MS);
	sim_run_for(w, SIM_MS);
	since = w->net.now_ns;
	sim_run_for(w, 2 * SIM_MS);
	for (CASE_EACH(w, s)) {
		if (s->at_ns < since)
			continue;
		for (uint32_t path = 0; path < 8; path++)
			*(path < 4 ? &dead : &alive) += sack_on(s, 0, path);
	}
	CASE_TRUE(w, alive > 100);
	CASE_TRUE(w, dead * 4 < alive);
	/* In 3 ms, one each 64 us. */
	CASE_BETWEEN(w, case_stats(w, 1).reverse_ev_probes, 20, 60);
	case_kill(w, 1, 0, 0, NET_NO_NODE, false);
	case_done(w);
}

/* The path of the SACK that node 1 has sent last. */
static uint32_t way_back(struct sim_world *w)
{
	const struct net_seen *s;
	uint32_t path = NET_NO_NODE;

	for (CASE_EACH(w, s))
		for (uint32_t k = 0; k < 8; k++)
			if (sack_on(s, 0, k))
				path = k;
	return path;
}

/*
 * REQ(req.reverse.doubt): the path on which all answers return dies in both directions. The next
 * test is long after that; what the peer asks and repeats shows it sooner.
 */
TEST(sim_port, a_receiver_leaves_a_way_back_that_has_died)
{
	struct sim_world_cfg cfg = case_cfg(1, 8);
	struct sim_qp_cfg ends;
	struct sim_world *w;
	struct sim_qp *qp;
	uint64_t since;

	cfg.engine.timing.tail_probe_min_ns = 60 * SIM_US;
	w = case_open(&cfg);
	sim_qp_cfg_default(&ends);
	ends.attr.mpr = ends.attr.mpr_dest = 1; /* it waits for answers soon */
	qp = sim_connect(w, 0, 1, &ends, &ends);
	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 8 * SIM_MS);
	while (case_stats(w, 1).reverse_ev_probes < 2)
		sim_run_for(w, 10 * SIM_US);
	sim_run_for(w, 100 * SIM_US);
	case_kill_both(w, 0, way_back(w), true);
	sim_run_for(w, 500 * SIM_US);
	since = w->net.now_ns;
	sim_run_for(w, 500 * SIM_US);
	CASE_EQ(w, case_stats(w, 1).reverse_ev_probes, 2);
	CASE_BETWEEN(w, case_data_of_plane(w, 0, 0, since), 480, 510);
	case_done(w);
}

/* Every request ends once, with an answer that is its own, whatever the network does. */
TEST(sim_port, endpoint_probes_over_a_bad_network_each_end_once)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w;
	uint32_t seen[200] = {0}, answered = 0;

	cfg.net.path.loss_ppm = 200000;
	cfg.net.path.dup_ppm = 200000;
	cfg.net.path.corrupt_ppm = 50000;
	cfg.net.path.jitter_ns = 60000; /* some answers come too late */
	cfg.engine.ep_requests = 256;
	w = case_open(&cfg);
	for (uint64_t i = 0; i < 200; i++) {
		struct mt_ep_request req = {
			.dst = w->nodes[1].addr,
			.ev = {0xC000 + (uint32_t)i % 4, (uint8_t)(i % 2)},
			.op = MW_EP_EV_PROBE,
			.timeout_ns = 80 * SIM_US,
			.user = i,
		};

		assert_i_eq(mt_engine_ep_request(w->nodes[0].engine, w->net.now_ns, &req, NULL),
			    MT_OK);
		sim_node_run(&w->nodes[0]);
		sim_run_for(w, SIM_US);
	}
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, w->n_port_events, 200);
	for (uint32_t i = 0; i < 200; i++) {
		const struct mt_event *ev = &w->port_events[i].ev;

		CASE_EQ(w, seen[ev->wr_id]++, 0);
		if (ev->ep_status == MT_EP_TIMED_OUT)
			continue;
		answered++;
		CASE_BETWEEN(w, ev->rtt_ns, 10 * SIM_US, 80 * SIM_US);
	}
	CASE_BETWEEN(w, answered, 40, 160);
	CASE_TRUE(w, case_stats(w, 0).drop_ep_response > 0);
	case_done(w);
}
