/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_shares.c - planes that carry less than the others, behind ports that do not know it: what
 * arrives is nearly what all planes together can carry, each plane has a steady share, and a plane
 * that recovers is used again. REQ(req.spray.flight)
 *
 * Ports of 100 Mb/s that are paced at half of that, and the timers of a lab, whose window is so
 * small that what waits in one plane would be missing in the others.
 */
#include "case.h"

#define LINK_BPS UINT64_C(100000000)
#define PACE_BPS (LINK_BPS / 2)
#define SLOW_BPS (PACE_BPS / 5)
#define MESSAGE (1u << 18)
#define SPANS 10u
#define SPAN (100 * SIM_MS)

/* What a world is like before a plane is changed. */
struct lab {
	uint32_t planes;
	uint32_t cc_profile;
	uint64_t base_rtt_ns;
	bool trims; /* queues of 12 ms that mark and trim; else endless ones */
};

static struct sim_world *open_lab(const struct lab *lab)
{
	struct sim_world_cfg cfg = case_cfg(lab->planes, 2);
	struct mt_timing *t = &cfg.engine.timing;
	struct sim_world *w;

	t->reorder_min_ns = 3 * SIM_MS;
	t->reorder_max_ns = 27 * SIM_MS;
	t->tail_probe_min_ns = 6 * SIM_MS;
	t->rto_min_ns = 20 * SIM_MS;
	cfg.net.path.latency_ns = 100 * SIM_US;
	cfg.probe_interval_ns = 20 * SIM_MS;
	cfg.probe_interval_max_ns = 200 * SIM_MS;
	cfg.link_bps = lab->planes * PACE_BPS;
	cfg.base_rtt_ns = cfg.base_rtt_min_ns = lab->base_rtt_ns;
	cfg.trimming = lab->trims;
	w = case_open(&cfg);
	w->net.egress_room_ns = 50 * SIM_MS;
	for (uint32_t port = 0; port < lab->planes; port++) {
		w->net.egress[0][port].bps = LINK_BPS;
		w->net.lasthop[1][port] =
			(struct net_queue){.bps = LINK_BPS,
					   .ecn_ns = lab->trims ? 4 * SIM_MS : 0,
					   .full_ns = lab->trims ? 12 * SIM_MS : 0,
					   .trims = lab->trims};
		mh_pace_init(&w->nodes[0].pace[port], PACE_BPS, 4096 + MW_HEADERS_MAX,
			     w->net.now_ns);
	}
	w->nodes[0].tx_batch = 1;
	return w;
}

/* A QP that is busy all the time, half a second after it began. */
static void keep_busy(struct sim_world *w, const struct lab *lab)
{
	struct sim_qp_cfg def;

	sim_qp_cfg_default(&def);
	def.attr.cc_profile = lab->cc_profile;
	case_keep_busy(sim_connect(w, 0, 1, &def, &def), MESSAGE, w->net.now_ns + 60 * SIM_S);
	sim_run_for(w, 500 * SIM_MS);
}

/* Plane 0 carries only that, on two links one after the other, in both directions. */
static void set_rate(struct sim_world *w, uint64_t bps)
{
	for (uint32_t k = 0; k < w->cfg.net.n_paths; k++) {
		engine_net_path(&w->net, 0, 1, 0, k)->queue.bps = bps;
		engine_net_path(&w->net, 1, 0, 0, k)->queue.bps = bps;
	}
	w->net.lasthop[1][0].bps = bps;
}

static void set_later(struct sim_world *w, uint64_t later_ns)
{
	for (uint32_t k = 0; k < w->cfg.net.n_paths; k++)
		engine_net_path(&w->net, 0, 1, 0, k)->latency_ns = 100 * SIM_US + later_ns;
}

/* What arrived in SPANS spans, and of plane 0 the least and the most packets sent in one. */
struct seen {
	uint64_t bytes, least, most;
};

static struct seen watch(struct sim_world *w)
{
	uint64_t before = case_stats(w, 1).rx_data_bytes;
	struct seen s = {.least = UINT64_MAX};

	for (uint32_t i = 0; i < SPANS; i++) {
		uint64_t since_ns = w->net.now_ns, sent;

		sim_run_for(w, SPAN);
		sent = case_data_of_plane(w, 0, 0, since_ns);
		s.least = sent < s.least ? sent : s.least;
		s.most = sent > s.most ? sent : s.most;
	}
	s.bytes = case_stats(w, 1).rx_data_bytes - before;
	return s;
}

/* At least so many hundredths of what links of `bps` in all carry in the time of watch(). */
static void check_bytes(struct sim_world *w, const struct seen *s, uint64_t bps,
			uint64_t hundredths)
{
	CASE_BETWEEN(w, s->bytes, bps / 8 * hundredths / 100 * SPANS * SPAN / SIM_S, UINT64_MAX);
}

static void slow_plane(const struct lab *lab, uint64_t slow_bps)
{
	struct sim_world *w = open_lab(lab);
	struct seen s;

	keep_busy(w, lab);
	set_rate(w, slow_bps);
	sim_run_for(w, SIM_S);
	s = watch(w);
	check_bytes(w, &s, (lab->planes - 1) * PACE_BPS + slow_bps, 95);
	set_rate(w, LINK_BPS);
	sim_run_for(w, 200 * SIM_MS);
	s = watch(w);
	check_bytes(w, &s, lab->planes * PACE_BPS, 97);
	case_close(w);
}

/* Today's window of a lab: 14 packets, of which the plane took all. */
TEST(sim_shares, a_plane_at_a_fifth_of_its_rate)
{
	slow_plane(&(struct lab){4, 1, 1667 * SIM_US, false}, SLOW_BPS);
}

TEST(sim_shares, a_plane_at_a_fifth_that_trims)
{
	slow_plane(&(struct lab){4, 1, 1667 * SIM_US, true}, SLOW_BPS);
}

TEST(sim_shares, a_plane_at_a_fifth_without_congestion_control)
{
	slow_plane(&(struct lab){4, 0, 5 * SIM_MS, true}, SLOW_BPS);
}

TEST(sim_shares, a_plane_at_half_of_its_rate)
{
	slow_plane(&(struct lab){4, 1, 1667 * SIM_US, false}, PACE_BPS / 2);
}

TEST(sim_shares, one_plane_of_eight)
{
	slow_plane(&(struct lab){8, 1, 1667 * SIM_US, true}, SLOW_BPS);
}

/*
 * A share that swings would fill the plane's queue and leave it empty in turn. A span has 31 of its
 * packets.
 */
TEST(sim_shares, the_share_of_a_slow_plane_is_steady)
{
	const struct lab lab = {4, 1, 1667 * SIM_US, false};
	struct sim_world *w = open_lab(&lab);
	struct seen s;

	keep_busy(w, &lab);
	set_rate(w, SLOW_BPS);
	sim_run_for(w, SIM_S);
	s = watch(w);
	CASE_BETWEEN(w, s.least, 20, 31);
	CASE_BETWEEN(w, s.most, 29, 40);
	case_close(w);
}

/*
 * Of the window of 14 packets three planes need four and a half; the longer one has the rest, but
 * for the part that no port has, in 11 ms. With equal shares the window is open for 16.7 MB/s.
 */
TEST(sim_shares, a_plane_10_ms_longer_has_what_others_leave)
{
	const struct lab lab = {4, 1, 1667 * SIM_US, false};
	struct sim_world *w = open_lab(&lab);
	struct seen s;

	keep_busy(w, &lab);
	set_later(w, 10 * SIM_MS);
	sim_run_for(w, SIM_S);
	s = watch(w);
	check_bytes(w, &s, 3 * PACE_BPS + PACE_BPS * 6 / 10, 95);
	set_later(w, 0);
	sim_run_for(w, 200 * SIM_MS);
	s = watch(w);
	check_bytes(w, &s, 4 * PACE_BPS, 97);
	case_close(w);
}

/*
 * Later than the reorder window may wait: what is sent on it counts as lost, and the plane is left.
 * The others carry what they can.
 */
TEST(sim_shares, a_plane_30_ms_longer_costs_the_others_nothing)
{
	const struct lab lab = {4, 1, 1667 * SIM_US, false};
	struct sim_world *w = open_lab(&lab);
	struct seen s;

	keep_busy(w, &lab);
	set_later(w, 30 * SIM_MS);
	sim_run_for(w, SIM_S);
	s = watch(w);
	check_bytes(w, &s, 3 * PACE_BPS, 97);
	set_later(w, 0);
	sim_run_for(w, 500 * SIM_MS);
	s = watch(w);
	check_bytes(w, &s, 4 * PACE_BPS, 97);
	case_close(w);
}

/* Nothing is limited where nothing is unlike. */
TEST(sim_shares, equal_planes_have_equal_shares)
{
	const struct lab lab = {4, 1, 1667 * SIM_US, true};
	struct sim_world *w = open_lab(&lab);
	struct seen s;

	keep_busy(w, &lab);
	s = watch(w);
	check_bytes(w, &s, 4 * PACE_BPS, 97);
	CASE_BETWEEN(w, s.most - s.least, 0, 2);
	case_close(w);
}
