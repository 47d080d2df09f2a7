/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_fault.c - trouble beyond a single path: a whole plane, one direction only, a peer that stops,
 * a network all but dead, an adapter whose timers come late.
 */
#include "case.h"

static void pace(struct sim_world *w)
{
	case_pace(w, 0, UINT64_C(33800000000));
	case_pace(w, 1, UINT64_C(33800000000));
}

/* REQ(ep.port.survive) REQ(ep.port.return) */
TEST(sim_fault, a_lost_plane_is_carried_by_the_others_and_comes_back)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t since;

	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 12 * SIM_MS);
	sim_run_for(w, 500 * SIM_US);
	case_kill_both(w, 2, NET_NO_NODE, true);
	sim_run_for(w, 2 * SIM_MS);
	CASE_EQ(w, case_info(qp).evs_bad, 8);
	since = w->net.now_ns;
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, case_data_of_plane(w, 0, 2, since), 0);
	/* A packet a microsecond on each of three planes. */
	CASE_BETWEEN(w, case_data_of_plane(w, 0, 0, since), 950, 1050);
	case_kill_both(w, 2, NET_NO_NODE, false);
	sim_run_for(w, 5 * SIM_MS);
	CASE_EQ(w, case_info(qp).evs_bad, 0);
	since = w->net.now_ns;
	sim_run_for(w, SIM_MS);
	CASE_BETWEEN(w, case_data_of_plane(w, 0, 2, since), 950, 1050);
	case_done(w);
}

/* REQ(req.ev.forward-evidence): what arrives is well, whichever way the news of it takes. */
TEST(sim_fault, a_dead_way_back_retires_no_way_there)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 5 * SIM_MS);
	sim_run_for(w, 500 * SIM_US);
	case_kill(w, 1, 0, 2, NET_NO_NODE, true);
	sim_run_done(w, 20 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	CASE_EQ(w, case_resent(w, 0), 0);
	case_done(w);
}

/* Both nodes send, and one direction of one plane dies: only the EVs of that direction go. */
TEST(sim_fault, only_the_direction_that_died_is_given_up)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	pace(w);
	w->nodes[1].tx_batch = 1;
	case_kill(w, 1, 0, 2, NET_NO_NODE, true);
	for (int i = 0; i < 40; i++) {
		sim_post(qp, 4096 * 50, 0);
		sim_post(qp->peer, 4096 * 50, 0);
		sim_run_for(w, 30 * SIM_US);
	}
	sim_run_done(w, 20 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	CASE_EQ(w, case_info(qp->peer).evs_bad, 8);
	case_done(w);
}

static void silent_peer(uint64_t ns, bool deaf, uint64_t resent_max)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp_cfg def;
	struct sim_qp *qp;

	sim_qp_cfg_default(&def);
	def.attr.timeout = 10;
	def.attr.retry_linear = 7;
	def.attr.retry_exp = 10;
	qp = sim_connect(w, 0, 1, &def, &def);
	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 500 * SIM_US);
	sim_run_for(w, 200 * SIM_US);
	sim_node_stop(&w->nodes[1], ns, deaf);
	sim_run_done(w, ns + 200 * SIM_MS);
	CASE_BETWEEN(w, case_resent(w, 0), 0, resent_max);
	if (!deaf)
		CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}

/* The peer did not run; what came meanwhile waited in its buffer. */
TEST(sim_fault, a_peer_that_stops_for_50_ms_costs_no_ev)
{
	silent_peer(50 * SIM_MS, false, 20);
}

TEST(sim_fault, a_peer_that_stops_for_a_second_costs_no_ev)
{
	silent_peer(SIM_S, false, 30);
}

/* The peer's buffer went too: what was in flight, a window at most, goes again. */
TEST(sim_fault, a_peer_that_is_deaf_for_50_ms_is_served_again)
{
	silent_peer(50 * SIM_MS, true, 1100);
}

TEST(sim_fault, a_sender_that_stops_for_50_ms_goes_on)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 500 * SIM_US);
	sim_run_for(w, 200 * SIM_US);
	sim_node_stop(&w->nodes[0], 50 * SIM_MS, false);
	sim_run_done(w, 100 * SIM_MS);
	/* The answers were all there; one late tick is one step of the timeout at most. */
	CASE_BETWEEN(w, case_resent(w, 0), 0, 1);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}

TEST(sim_fault, late_timers_do_no_harm)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	w->nodes[0].late_ns = w->nodes[1].late_ns = 10 * SIM_MS;
	for (uint32_t plane = 0; plane < 2; plane++)
		for (uint32_t k = 0; k < 4; k++)
			engine_net_path(&w->net, 0, 1, plane, k)->loss_ppm = 20000;
	case_recvs(qp->peer, 50);
	for (int i = 0; i < 50; i++)
		sim_post(qp, 20000, i & 1 ? RD_SEND_IMM : 0);
	sim_run_done(w, 2 * SIM_S);
	case_done(w);
}

/* One good path of 32: every other one dead on the way there, the return path in order. */
TEST(sim_fault, one_good_way_of_32_is_found)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	for (uint32_t i = 0; i < 32; i++)
		if (i != 13)
			case_kill(w, 0, 1, i / 8, i % 8, true);
	case_post(qp, 10, 4096 * 20, 0);
	sim_run_done(w, 50 * SIM_MS);
	case_done(w);
}

/*
 * One good path of 32 in both directions, the same one: a single cable. To look for a way there and
 * for another one back, each by itself, once took longer than all retries with every tenth seed.
 * REQ(req.reverse.unheard)
 */
TEST(sim_fault, one_good_cable_of_32_is_found)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct sim_world_cfg cfg = case_cfg(4, 8);
		struct sim_world *w;
		struct sim_qp *qp;

		cfg.net.seed = seed;
		w = case_open(&cfg);
		qp = sim_connect_default(w);
		for (uint32_t i = 0; i < 32; i++)
			if (i != 13)
				case_kill_both(w, i / 8, i % 8, true);
		case_post(qp, 10, 4096 * 20, 0);
		sim_run_done(w, 5 * SIM_S);
		case_done(w);
	}
}

static bool lose_first_data(void *ctx, struct net_packet *p)
{
	uint64_t *left = ctx;

	if (!p->data || *left == 0)
		return true;
	--*left;
	return false;
}

/*
 * One plane: the path of the EV that is known to reach the peer dies, and the last packet is lost,
 * too. The probes of that EV are lost with it; the second round has another EV besides, whose
 * answer says what is missing. REQ(req.probe.tail)
 */
TEST(sim_fault, the_known_path_of_the_only_plane_dies)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct sim_world_cfg cfg = case_cfg(1, 8);
		struct sim_world *w;
		struct sim_qp *qp;
		uint64_t lose = 1, begin_ns;

		cfg.net.seed = cfg.engine.seed = seed;
		w = case_open(&cfg);
		qp = sim_connect_default(w);
		case_post(qp, 1, 4096, 0);
		sim_run_done(w, SIM_MS);
		case_kill(w, 0, 1, 0, engine_net_path_of(&w->net, case_nth(w, 0, 0, 0)->ev), true);
		w->net.filter = lose_first_data;
		w->net.filter_ctx = &lose;
		begin_ns = w->net.now_ns;
		case_post(qp, 1, 4096, 0);
		sim_run_done(w, 50 * SIM_MS);
		CASE_EQ(w, lose, 0);
		CASE_EQ(w, case_stats(w, 0).timeouts, 0);
		CASE_EQ(w, case_stats(w, 0).tail_probes, 3);
		/* Two RTTs of silence, as long again twice over, and the answer. */
		CASE_BETWEEN(w, w->net.now_ns - begin_ns, 0, 150 * SIM_US);
		case_done(w);
	}
}

/*
 * Two planes, each alive in one direction only: what arrives on one is answered on the other, or
 * nothing is ever heard.
 */
TEST(sim_fault, each_plane_alive_one_way_only)
{
	struct sim_world_cfg cfg = case_cfg(2, 1);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	case_kill(w, 0, 1, 0, NET_NO_NODE, true);
	case_kill(w, 1, 0, 1, NET_NO_NODE, true);
	case_post(qp, 10, 4096 * 20, 0);
	case_post(qp->peer, 10, 4096 * 20, 0);
	sim_run_done(w, 500 * SIM_MS);
	case_done(w);
}

/* A SACK and an ACK that come in pairs once kept to one path each, and one of them was dead. */
TEST(sim_fault, one_of_two_ways_back_dead)
{
	struct sim_world_cfg cfg = case_cfg(1, 2);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	for (uint32_t k = 0; k < 2; k++) {
		case_kill(w, 1, 0, 0, k, true);
		case_kill(w, 1, 0, 0, 1 - k, false);
		for (int i = 0; i < 10; i++) {
			sim_post(qp, 3000, 0);
			sim_run_done(w, 50 * SIM_MS);
		}
	}
	case_done(w);
}

/* Everything dead for a while: the work goes on when it is over, in the time of one retry. */
TEST(sim_fault, a_network_that_dies_and_comes_back)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	pace(w);
	case_keep_busy(qp, 4096 * 50, w->net.now_ns + SIM_MS);
	sim_run_for(w, 500 * SIM_US);
	case_silence(w, true);
	sim_run_for(w, 30 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_silence(w, false);
	/* Seven timeouts of 262 us, then doubling: the last silence is no longer than all
	 * before. */
	sim_run_done(w, 70 * SIM_MS);
	case_done(w);
}

TEST(sim_fault, nscc_gets_through_loss_and_trims)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w;
	struct sim_qp_cfg def;
	struct sim_qp *qp;

	cfg.trimming = true;
	w = case_open(&cfg);
	sim_qp_cfg_default(&def);
	def.attr.cc_profile = 1;
	qp = sim_connect(w, 0, 1, &def, &def);
	for (uint32_t plane = 0; plane < 4; plane++)
		for (uint32_t k = 0; k < 8; k++) {
			struct net_path *p = engine_net_path(&w->net, 0, 1, plane, k);

			p->loss_ppm = 2000;
			p->trim_ppm = 20000;
			p->ecn_ppm = 50000;
		}
	case_post(qp, 40, 4096 * 50, 0);
	sim_run_done(w, 2 * SIM_S);
	case_done(w);
}

/* Seven senders, one receiver, one slow last hop that trims: the window must find its size. */
TEST(sim_fault, incast_with_nscc_does_not_drown_in_trims)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w;
	struct sim_qp_cfg def;
	uint64_t data = 0, again = 0;

	cfg.net.n_nodes = 8;
	cfg.trimming = true;
	cfg.link_bps = UINT64_C(20000000000);
	w = case_open(&cfg);
	sim_qp_cfg_default(&def);
	def.attr.cc_profile = 1;
	for (uint32_t port = 0; port < 2; port++)
		w->net.lasthop[0][port] = (struct net_queue){
			.bps = UINT64_C(10000000000), .full_ns = 15 * SIM_US, .trims = true};
	for (uint32_t i = 1; i < 8; i++) {
		for (uint32_t port = 0; port < 2; port++)
			w->net.egress[i][port].bps = UINT64_C(10000000000);
		case_post(sim_connect(w, i, 0, &def, &def), 10, 1 << 18, 0);
	}
	sim_run_done(w, 100 * SIM_MS);
	for (uint32_t i = 1; i < 8; i++) {
		data += w->nodes[i].traffic.sent[SIM_DATA];
		again += w->nodes[i].traffic.sent_again;
	}
	/* 18 MB at 20 Gb/s take 7.5 ms. */
	CASE_BETWEEN(w, w->net.now_ns, 7 * SIM_MS, 25 * SIM_MS);
	CASE_BETWEEN(w, again * 100 / data, 0, 50);
	case_done(w);
}

/*
 * More PSNs than a bitmap holds are sent, and not one arrives: nothing beyond the bitmap is ever
 * reported, and what is in flight for good must not keep what is known lost from being resent.
 */
static void lose_whole_window(uint32_t cc_profile)
{
	struct sim_world_cfg cfg = case_cfg(1, 4);
	struct sim_world *w;
	struct sim_qp_cfg def;
	struct sim_qp *qp;

	cfg.active = 1;
	cfg.link_bps = UINT64_C(20000000000);
	w = case_open(&cfg);
	sim_qp_cfg_default(&def);
	def.attr.path_mtu = 256;
	def.attr.cc_profile = cc_profile;
	qp = sim_connect(w, 0, 1, &def, &def);
	sim_post(qp, 1, 0);
	sim_run_done(w, SIM_MS);
	case_kill(w, 0, 1, 0, engine_net_path_of(&w->net, case_nth(w, 0, 0, 0)->ev), true);
	sim_post(qp, 256 * 500, 0);
	/* It takes probes to know, and then one round trip for what the bitmap shows at a time. */
	sim_run_done(w, 20 * SIM_MS);
	case_done(w);
}

TEST(sim_fault, a_whole_window_lost_is_sent_again)
{
	lose_whole_window(0);
}

TEST(sim_fault, a_whole_window_lost_is_sent_again_with_nscc)
{
	lose_whole_window(1);
}
