/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_unequal.c - planes and paths that are not alike: one that is slower, one of another rate, one
 * that was dark and returns, one that repeats every packet, one that large packets do not pass.
 *
 * Most worlds have the rates and times of a fabric in software: four ports of 100 Mb/s that are
 * paced at half of that, two paths each, and the timers of the software NIC.
 */
#include "case.h"

#define PLANES 4u
#define LINK_BPS UINT64_C(100000000)
#define PACE_BPS (LINK_BPS / 2)
#define MESSAGE (1u << 18)
#define DUPLICATES_PPM 1000u

static struct sim_world *open_lab(void)
{
	struct sim_world_cfg cfg = case_cfg(PLANES, 2);
	struct mt_timing *t = &cfg.engine.timing;
	struct sim_world *w;

	t->reorder_min_ns = 3 * SIM_MS;
	t->reorder_max_ns = 27 * SIM_MS;
	t->tail_probe_min_ns = 6 * SIM_MS;
	t->rto_min_ns = 20 * SIM_MS;
	t->backpressure_ns = 2 * SIM_MS;
	t->idle_ns = 100 * SIM_MS;
	cfg.net.path.latency_ns = 100 * SIM_US;
	cfg.probe_interval_ns = 20 * SIM_MS;
	cfg.probe_interval_max_ns = 200 * SIM_MS;
	cfg.link_bps = PLANES * PACE_BPS;
	cfg.base_rtt_ns = cfg.base_rtt_min_ns = 5 * SIM_MS;
	w = case_open(&cfg);
	/* What is handed to a port cannot be taken back, and waits there. */
	w->net.egress_room_ns = 50 * SIM_MS;
	for (uint32_t port = 0; port < PLANES; port++) {
		w->net.egress[0][port].bps = LINK_BPS;
		mh_pace_init(&w->nodes[0].pace[port], PACE_BPS, 4096 + MW_HEADERS_MAX,
			     w->net.now_ns);
	}
	w->nodes[0].tx_batch = 1;
	return w;
}

static struct sim_qp *connect_with(struct sim_world *w, uint32_t cc_profile)
{
	struct sim_qp_cfg def;

	sim_qp_cfg_default(&def);
	def.attr.cc_profile = cc_profile;
	return sim_connect(w, 0, 1, &def, &def);
}

/* What happened in a span of time. */
struct span {
	uint64_t sent, resent, bytes, duplicates, retired;
};

static struct span run_span(struct sim_world *w, uint64_t ns)
{
	struct mt_stats tx = case_stats(w, 0), rx = case_stats(w, 1);
	struct span s;

	sim_run_for(w, ns);
	s = (struct span){
		.sent = case_stats(w, 0).tx_data_packets - tx.tx_data_packets,
		.resent = case_stats(w, 0).tx_retransmits - tx.tx_retransmits,
		.retired = case_stats(w, 0).evs_retired - tx.evs_retired,
		.bytes = case_stats(w, 1).rx_data_bytes - rx.rx_data_bytes,
		.duplicates = case_stats(w, 1).rx_duplicates - rx.rx_duplicates,
	};
	return s;
}

static void check_few_duplicates(struct sim_world *w, const struct span *s)
{
	CASE_BETWEEN(w, s->duplicates, 0, s->sent * DUPLICATES_PPM / 1000000);
}

/* At least 95 hundredths of `planes` of the planes that brought `usual` bytes in `of` ns. */
static void check_goodput(struct sim_world *w, const struct span *s, uint64_t ns, uint64_t usual,
			  uint64_t of, uint32_t planes)
{
	CASE_BETWEEN(w, s->bytes, usual * (ns / of) * planes / PLANES * 95 / 100, UINT64_MAX);
}

static void set_latency(struct sim_world *w, uint32_t plane, uint64_t ns)
{
	for (uint32_t k = 0; k < w->cfg.net.n_paths; k++)
		engine_net_path(&w->net, 0, 1, plane, k)->latency_ns = ns;
}

static void slower_plane(uint64_t later_ns, uint32_t planes, uint32_t cc_profile)
{
	struct sim_world *w = open_lab();
	struct sim_qp *qp = connect_with(w, cc_profile);
	struct span before, during, after;

	case_keep_busy(qp, MESSAGE, w->net.now_ns + 20 * SIM_S);
	sim_run_for(w, 500 * SIM_MS);
	before = run_span(w, SIM_S);
	set_latency(w, 0, 100 * SIM_US + later_ns);
	during = run_span(w, 6 * SIM_S);
	check_goodput(w, &during, 6 * SIM_S, before.bytes, SIM_S, planes);
	check_few_duplicates(w, &during);
	set_latency(w, 0, 100 * SIM_US);
	sim_run_for(w, SIM_S);
	after = run_span(w, 2 * SIM_S);
	CASE_EQ(w, after.retired, 0);
	CASE_EQ(w, after.resent, 0);
	case_close(w);
}

/* REQ(req.loss.late) */
TEST(sim_unequal, a_plane_5_ms_slower_is_used_in_full)
{
	slower_plane(5 * SIM_MS, PLANES, 0);
}

TEST(sim_unequal, a_plane_10_ms_slower_is_used_in_full)
{
	slower_plane(10 * SIM_MS, PLANES, 0);
}

/* More than the reorder window may ever be: the plane is left, and comes back when it is in time.
 */
TEST(sim_unequal, a_plane_30_ms_slower_is_left)
{
	slower_plane(30 * SIM_MS, PLANES - 1, 0);
}

/* Late is better than never: all others are gone. */
TEST(sim_unequal, a_plane_30_ms_slower_is_used_when_it_is_the_last)
{
	struct sim_world *w = open_lab();
	struct sim_qp *qp = connect_with(w, 0);

	case_keep_busy(qp, MESSAGE, w->net.now_ns + 3 * SIM_S);
	sim_run_for(w, 500 * SIM_MS);
	set_latency(w, 0, 30 * SIM_MS);
	sim_run_for(w, SIM_S);
	for (uint32_t plane = 1; plane < PLANES; plane++)
		case_kill(w, 0, 1, plane, NET_NO_NODE, true);
	sim_run_for(w, 1500 * SIM_MS);
	sim_run_done(w, 20 * SIM_S);
	case_close(w);
}

/* A plane of half the rate: how far apart packets of one moment arrive grows to the queue of it. */
TEST(sim_unequal, a_port_of_half_the_rate_loses_nothing)
{
	struct sim_world *w = open_lab();
	struct sim_qp *qp = connect_with(w, 0);
	struct span all;

	mh_pace_init(&w->nodes[0].pace[3], PACE_BPS / 2, 4096 + MW_HEADERS_MAX, w->net.now_ns);
	w->net.egress[0][3].bps = LINK_BPS / 2;
	case_keep_busy(qp, MESSAGE, w->net.now_ns + 20 * SIM_S);
	all = run_span(w, 4 * SIM_S);
	CASE_BETWEEN(w, all.bytes, 4 * 7 * PACE_BPS / 16 * 95 / 100, UINT64_MAX);
	CASE_EQ(w, all.resent, 0);
	CASE_EQ(w, all.retired, 0);
	case_close(w);
}

static void dark_plane(uint32_t cc_profile)
{
	struct sim_world *w = open_lab();
	struct sim_qp *qp = connect_with(w, cc_profile);
	struct span before, during, after;

	case_keep_busy(qp, MESSAGE, w->net.now_ns + 20 * SIM_S);
	sim_run_for(w, 500 * SIM_MS);
	before = run_span(w, SIM_S);
	case_kill_both(w, 0, NET_NO_NODE, true);
	during = run_span(w, SIM_S);
	check_goodput(w, &during, SIM_S, before.bytes, SIM_S, PLANES - 1);
	case_kill_both(w, 0, NET_NO_NODE, false);
	after = run_span(w, SIM_S);
	CASE_EQ(w, after.retired, 0);
	CASE_EQ(w, after.duplicates, 0);
	after = run_span(w, SIM_S);
	check_goodput(w, &after, SIM_S, before.bytes, SIM_S, PLANES);
	case_close(w);
}

/* The bucket of its port has filled meanwhile, and is not to be emptied in a row. */
TEST(sim_unequal, a_plane_that_returns_is_not_retired_by_its_own_burst)
{
	dark_plane(0);
}

TEST(sim_unequal, a_plane_that_returns_is_not_retired_with_nscc)
{
	dark_plane(1);
}

/* One path of a plane makes three copies of each packet, in both directions. */
static void repeat_path(struct sim_world *w, bool on)
{
	for (uint32_t dst = 0; dst < 2; dst++) {
		struct net_path *path = engine_net_path(&w->net, 1 - dst, dst, 0, 0);

		path->dup_ppm = on ? 1000000 : 0;
		path->copies = 3;
	}
}

/* They fill the last link of the plane, which has room for twice its pace. */
TEST(sim_unequal, a_path_that_repeats_everything_costs_no_more_than_its_plane)
{
	struct sim_world *w = open_lab();
	struct sim_qp *qp = connect_with(w, 1);
	struct span before, during, after;

	for (uint32_t port = 0; port < PLANES; port++)
		w->net.lasthop[1][port] = (struct net_queue){.bps = LINK_BPS,
							     .ecn_ns = 4 * SIM_MS,
							     .full_ns = 12 * SIM_MS,
							     .trims = true};
	case_keep_busy(qp, MESSAGE, w->net.now_ns + 20 * SIM_S);
	sim_run_for(w, 500 * SIM_MS);
	before = run_span(w, SIM_S);
	repeat_path(w, true);
	during = run_span(w, 6 * SIM_S);
	check_goodput(w, &during, 6 * SIM_S, before.bytes, SIM_S, PLANES - 1);
	repeat_path(w, false);
	sim_run_for(w, SIM_S);
	after = run_span(w, SIM_S);
	CASE_EQ(w, after.retired, 0);
	check_goodput(w, &after, SIM_S, before.bytes, SIM_S, PLANES);
	case_close(w);
}

/* REQ(req.ev.trial): probes are small and come back by it. */
TEST(sim_unequal, a_path_that_large_packets_do_not_pass_is_left)
{
	struct sim_world *w = open_lab();
	struct sim_qp *qp = connect_with(w, 0);
	struct span before, during, after;

	case_keep_busy(qp, MESSAGE, w->net.now_ns + 20 * SIM_S);
	sim_run_for(w, 500 * SIM_MS);
	before = run_span(w, SIM_S);
	engine_net_path(&w->net, 0, 1, 0, 0)->lost_above = 1400;
	during = run_span(w, 6 * SIM_S);
	check_goodput(w, &during, 6 * SIM_S, before.bytes, SIM_S, PLANES);
	CASE_BETWEEN(w, during.resent, 1, during.sent / 1000);
	check_few_duplicates(w, &during);
	engine_net_path(&w->net, 0, 1, 0, 0)->lost_above = 0;
	sim_run_for(w, SIM_S);
	after = run_span(w, 2 * SIM_S);
	CASE_EQ(w, after.retired, 0);
	CASE_EQ(w, case_info(qp).evs_bad, 0);
	case_close(w);
}

/* REQ(req.loss.unknown-ev): at the rates of a NIC, from the first packet on. */
TEST(sim_unequal, a_path_20_us_slower_than_31_others)
{
	struct sim_world_cfg cfg = case_cfg(PLANES, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w), *second = sim_connect_default(w);

	engine_net_path(&w->net, 0, 1, 2, 3)->latency_ns += 20 * SIM_US;
	case_pace(w, 0, UINT64_C(100000000000));
	case_keep_busy(qp, MESSAGE, w->net.now_ns + SIM_MS);
	sim_run_for(w, SIM_MS);
	case_post(second, 4, MESSAGE, 0);
	sim_run_done(w, 10 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 0);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}
