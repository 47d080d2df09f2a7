/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_ev.c - the life of an EV: skipped for a mark, retired for a loss, probed, revived, denied;
 * the floor and the backups.
 */
#include "case.h"

/* The index that mt_qp_ev_info gives to an EV. */
static uint32_t ev_index(const struct sim_qp *qp, uint32_t plane, uint32_t path)
{
	struct mt_ev_info info;

	for (uint32_t i = 0; mt_qp_ev_info(qp->qp, i, &info); i++)
		if (info.ev.port == plane &&
		    engine_net_path_of(&qp->node->w->net, info.ev.value) == path)
			return i;
	fail_msg("no EV leads over path %u of plane %u", path, plane);
	return 0;
}

static struct mt_ev_info ev_of(const struct sim_qp *qp, uint32_t plane, uint32_t path)
{
	struct mt_ev_info info;

	assert_true(mt_qp_ev_info(qp->qp, ev_index(qp, plane, path), &info));
	return info;
}

static bool on_path(const struct sim_world *w, const struct net_seen *s, uint32_t plane,
		    uint32_t path)
{
	return s->src == 0 && s->port == plane && engine_net_path_of(&w->net, s->ev) == path;
}

/* Data that node 0 sent over a path at or after a time. */
static uint64_t data_on(struct sim_world *w, uint32_t plane, uint32_t path, uint64_t since_ns)
{
	const struct net_seen *s;
	uint64_t n = 0;

	for (CASE_EACH(w, s))
		n += case_is_data(s) && s->at_ns >= since_ns && on_path(w, s, plane, path);
	return n;
}

static uint64_t last_data_on(struct sim_world *w, uint32_t plane, uint32_t path)
{
	const struct net_seen *s;
	uint64_t last = 0;

	for (CASE_EACH(w, s))
		if (case_is_data(s) && on_path(w, s, plane, path))
			last = s->at_ns;
	return last;
}

/* 4096 byte packets leave each port one a microsecond. */
static void pace(struct sim_world *w)
{
	case_pace(w, 0, UINT64_C(33800000000));
}

static bool mark_once(void *ctx, struct net_packet *p)
{
	uint64_t *left = ctx;

	if (p->data && *left && p->meta.port == 0 && p->meta.ev == 0xC003) {
		p->meta.ecn_ce = true;
		--*left;
	}
	return true;
}

/* REQ(rsp.sack.trigger.ecn) REQ(rsp.sack.mark) REQ(req.ev.skip-on-ecn) REQ(req.ev.skip-once) */
TEST(sim_ev, a_marked_ev_sits_out_exactly_one_turn)
{
	struct sim_world_cfg cfg = case_cfg(1, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t marks = 1, marked = 0;
	const struct net_seen *s;

	w->net.filter = mark_once;
	w->net.filter_ctx = &marks;
	/* A round at a time, and after it all answers; the second round is one EV shorter. */
	for (uint32_t pass_no = 0; pass_no < 4; pass_no++) {
		sim_post(qp, 4096 * (pass_no == 1 ? 7 : 8), 0);
		sim_run_done(w, SIM_MS);
		CASE_EQ(w, data_on(w, 0, 3, 0), pass_no == 0 ? 1 : pass_no);
	}
	for (CASE_EACH(w, s))
		marked += s->pkt.bth.opcode == MW_SACK && s->pkt.seth.m == MW_MARK_SKIP_ONCE &&
			  s->pkt.seth.entropy == 0xC003;
	CASE_EQ(w, marked, 1);
	CASE_EQ(w, case_stats(w, 0).evs_skipped, 1);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}

/* Each PSN that was dropped has been sent again as often as that, and no other PSN at all. */
static void check_resent_are_swallowed(struct sim_world *w, uint64_t n_psns)
{
	int8_t *missing = calloc(n_psns, sizeof(*missing));
	const struct net_seen *s;

	assert_non_null(missing);
	for (CASE_EACH(w, s)) {
		if (!case_is_data(s) || s->src != 0)
			continue;
		assert_true(s->pkt.bth.psn < n_psns);
		missing[s->pkt.bth.psn] = (int8_t)(missing[s->pkt.bth.psn] +
						   (s->fate == NET_BLACKHOLED) - s->pkt.bth.rtx);
	}
	for (uint64_t psn = 0; psn < n_psns; psn++)
		CASE_TRUE(w, missing[psn] == 0);
	free(missing);
}

/*
 * REQ(req.ev.one-loss) REQ(req.rtx.selective): a path that drops everything silently is left after
 * its first losses, what it dropped is sent again, and nothing else is.
 */
static void blackhole_one(uint32_t n_planes, uint32_t n_paths, uint64_t spread_ns)
{
	struct sim_world_cfg cfg = case_cfg(n_planes, n_paths);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t died, dropped = 0, window;
	const struct net_seen *s;

	pace(w);
	for (uint32_t plane = 0; plane < n_planes; plane++)
		for (uint32_t k = 0; k < n_paths; k++)
			engine_net_path(&w->net, 1, 0, plane, k)->latency_ns +=
				spread_ns * k / n_paths;
	case_keep_busy(qp, 4096 * 100, w->net.now_ns + 3 * SIM_MS);
	sim_run_for(w, SIM_MS);
	died = w->net.now_ns;
	window = case_info(qp).reorder_window_ns;
	case_kill(w, 0, 1, 0, 3, true);
	sim_run_done(w, 10 * SIM_MS);
	for (CASE_EACH(w, s))
		dropped += case_is_data(s) && s->fate == NET_BLACKHOLED;
	CASE_BETWEEN(w, dropped, 1, 100);
	CASE_EQ(w, case_resent(w, 0), dropped);
	check_resent_are_swallowed(w, qp->out.sent);
	CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_ASSUMED_BAD);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 1);
	/* One RTT for the report, one window to be sure; a round until the path is first used. */
	CASE_BETWEEN(w, last_data_on(w, 0, 3), died,
		     died + 10 * SIM_US + spread_ns + window + n_paths * SIM_US + 2 * SIM_US);
	case_done(w);
}

TEST(sim_ev, one_dead_path_of_32_is_left_at_once)
{
	blackhole_one(4, 8, 0);
}

TEST(sim_ev, one_dead_path_of_256_is_left_at_once)
{
	blackhole_one(8, 32, 0);
}

TEST(sim_ev, one_dead_path_of_256_with_sacks_out_of_order)
{
	blackhole_one(8, 32, 4000);
}

/* REQ(req.ev.revive) */
TEST(sim_ev, a_dead_path_is_probed_more_and_more_rarely_and_comes_back)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t probes[16], n = 0, healed;
	const struct net_seen *s;

	case_kill(w, 0, 1, 0, 3, true);
	sim_post(qp, 4096 * 64, 0);
	sim_run_for(w, 20 * SIM_MS);
	CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_ASSUMED_BAD);
	for (CASE_EACH(w, s))
		if (s->pkt.bth.opcode == MW_PROBE && on_path(w, s, 0, 3) && n < 16)
			probes[n++] = s->at_ns;
	/* 100 us, 200, 400, 800, then 1600 for good. */
	CASE_BETWEEN(w, n, 12, 16);
	for (uint64_t i = 2; i + 1 < n; i++)
		CASE_BETWEEN(w, probes[i + 1] - probes[i], probes[i] - probes[i - 1],
			     1601 * SIM_US);
	CASE_BETWEEN(w, probes[n - 1] - probes[n - 2], 1599 * SIM_US, 1601 * SIM_US);
	healed = w->net.now_ns;
	case_kill(w, 0, 1, 0, 3, false);
	sim_run_for(w, 2 * SIM_MS);
	CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_GOOD);
	CASE_EQ(w, ev_of(qp, 0, 3).revived, 1);
	CASE_EQ(w, case_stats(w, 0).evs_revived, 1);
	sim_post(qp, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	CASE_BETWEEN(w, data_on(w, 0, 3, healed), 1, 3);
	case_done(w);
}

static bool lose_every_other_probe(void *ctx, struct net_packet *p)
{
	uint64_t *seen = ctx;

	return p->pkt.bth.opcode != MW_PROBE || (*seen)++ % 2 == 0;
}

/* The successes must come in a row. */
TEST(sim_ev, a_flapping_path_does_not_come_back)
{
	struct sim_world_cfg cfg = case_cfg(2, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t seen = 0;

	case_kill(w, 0, 1, 0, 3, true);
	sim_post(qp, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	case_kill(w, 0, 1, 0, 3, false);
	w->net.filter = lose_every_other_probe;
	w->net.filter_ctx = &seen;
	sim_run_for(w, 10 * SIM_MS);
	CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_ASSUMED_BAD);
	CASE_BETWEEN(w, seen, 10, 200);
	w->net.filter = NULL;
	sim_run_for(w, 5 * SIM_MS);
	CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_GOOD);
	case_done(w);
}

/* An RTT longer than the interval between probes is no reason to call them failed. */
TEST(sim_ev, a_far_away_path_comes_back_too)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w;
	struct sim_qp *qp;

	cfg.net.path.latency_ns = 250 * SIM_US;
	cfg.revive_probes = 3;
	w = case_open(&cfg);
	qp = sim_connect_default(w);
	case_kill(w, 0, 1, 0, 3, true);
	case_post(qp, 4, 4096 * 64, 0);
	sim_run_done(w, 20 * SIM_MS);
	CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_ASSUMED_BAD);
	case_kill(w, 0, 1, 0, 3, false);
	sim_run_for(w, 20 * SIM_MS);
	CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_GOOD);
	case_done(w);
}

/* REQ(req.ev.min-active) */
TEST(sim_ev, no_more_evs_are_given_up_than_the_floor_allows)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w;
	struct sim_qp *qp;

	cfg.min_active = 3;
	w = case_open(&cfg);
	qp = sim_connect_default(w);
	for (uint32_t k = 0; k < 4; k++)
		case_kill(w, 0, 1, 0, k, true);
	for (uint32_t k = 0; k < 3; k++)
		case_kill(w, 0, 1, 1, k, true);
	case_post(qp, 10, 4096 * 16, 0);
	sim_run_done(w, 10 * SIM_S);
	CASE_BETWEEN(w, case_info(qp).evs_good, 3, 8);
	CASE_BETWEEN(w, case_info(qp).evs_bad, 4, 5);
	case_done(w);
}

/* REQ(req.spray.backup-same-plane) */
TEST(sim_ev, a_backup_of_the_same_plane_takes_the_place)
{
	struct sim_world_cfg cfg = case_cfg(2, 8);
	struct sim_world *w;
	struct sim_qp *qp;
	uint64_t used = 0, since;

	cfg.active = 4;
	w = case_open(&cfg);
	qp = sim_connect_default(w);
	sim_post(qp, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	for (uint32_t k = 0; k < 8; k++)
		used += data_on(w, 0, k, 0) > 0;
	CASE_EQ(w, used, 4);
	for (uint32_t k = 0; k < 8; k++)
		if (data_on(w, 0, k, 0) > 0) {
			case_kill(w, 0, 1, 0, k, true);
			break;
		}
	sim_post(qp, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_info(qp).evs_bad, 1);
	since = w->net.now_ns;
	sim_post(qp, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	used = 0;
	for (uint32_t k = 0; k < 8; k++) {
		CASE_TRUE(w, data_on(w, 0, k, since) == 0 || data_on(w, 0, k, since) == 8);
		used += data_on(w, 0, k, since) > 0;
	}
	CASE_EQ(w, used, 4);
	case_done(w);
}

/* REQ(req.ev.denied) */
TEST(sim_ev, a_denied_ev_is_used_by_nobody_until_it_is_allowed)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w), *other = sim_connect_default(w);
	uint32_t i = ev_index(qp, 1, 2);
	uint64_t since;

	assert_i_eq(mt_qp_ev_deny(qp->qp, w->net.now_ns, i, true), MT_OK);
	CASE_EQ(w, ev_of(other, 1, 2).state, MT_EV_DENIED);
	case_post(qp, 10, 40000, 0);
	case_post(other, 10, 40000, 0);
	sim_run_done(w, SIM_MS);
	sim_run_for(w, 5 * SIM_MS);
	CASE_EQ(w, data_on(w, 1, 2, 0), 0);
	CASE_EQ(w, ev_of(qp, 1, 2).state, MT_EV_DENIED);
	assert_i_eq(mt_qp_ev_deny(other->qp, w->net.now_ns, i, false), MT_OK);
	since = w->net.now_ns;
	case_post(qp, 10, 40000, 0);
	sim_run_done(w, SIM_MS);
	CASE_BETWEEN(w, data_on(w, 1, 2, since), 10, 20);
	assert_i_eq(mt_qp_ev_deny(qp->qp, w->net.now_ns, 8, true), MT_ERR_INVALID);
	case_done(w);
}

static bool condemn(void *ctx, struct net_packet *p)
{
	uint64_t *left = ctx;

	if (p->pkt.bth.opcode != MW_SACK || p->pkt.seth.pr || *left == 0)
		return true;
	--*left;
	/* m is in bits 6:5 of the second byte behind the BTH. */
	p->bytes[13] = (uint8_t)((p->bytes[13] & ~0x60) | MW_MARK_ALWAYS_SKIP << 5);
	return true;
}

/* REQ(req.ev.always-skip) */
TEST(sim_ev, the_responder_may_condemn_an_ev)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t left = 1;

	w->net.filter = condemn;
	w->net.filter_ctx = &left;
	sim_post(qp, 4096 * 8, 0);
	sim_run_for(w, 50 * SIM_US);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 1);
	CASE_EQ(w, w->ev_events[0].ev.ev_cause, MT_EV_BY_MARK);
	/* Its probes are answered: it comes back. */
	sim_run_for(w, 5 * SIM_MS);
	CASE_EQ(w, case_info(qp).evs_bad, 0);
	case_done(w);
}

/* REQ(req.ev.events) */
TEST(sim_ev, retirement_and_revival_are_events)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	case_kill(w, 0, 1, 1, 2, true);
	sim_post(qp, 4096 * 32, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, w->n_ev_events, 1);
	CASE_EQ(w, w->ev_events[0].node, 0);
	CASE_EQ(w, w->ev_events[0].ev.ev_state, MT_EV_ASSUMED_BAD);
	CASE_EQ(w, w->ev_events[0].ev.ev_cause, MT_EV_BY_LOSS);
	CASE_EQ(w, w->ev_events[0].ev.ev.port, 1);
	CASE_EQ(w, w->ev_events[0].ev.ev.value, 0xC002);
	assert_memory_equal(&w->ev_events[0].ev.peer, &w->nodes[1].addr, sizeof(struct rd_gid));
	case_kill(w, 0, 1, 1, 2, false);
	sim_run_for(w, 5 * SIM_MS);
	CASE_EQ(w, w->n_ev_events, 2);
	CASE_EQ(w, w->ev_events[1].ev.ev_state, MT_EV_GOOD);
	CASE_EQ(w, w->ev_events[1].ev.ev_cause, MT_EV_BY_PROBE);
	case_done(w);
}

/* What one QP learns of a destination every QP to it knows; QPs to others do not care. */
TEST(sim_ev, health_belongs_to_the_destination)
{
	struct sim_world_cfg cfg = case_cfg(2, 8);
	struct sim_world *w;
	struct sim_qp_cfg def;
	struct sim_qp *a, *b, *c;

	cfg.net.n_nodes = 3;
	w = case_open(&cfg);
	sim_qp_cfg_default(&def);
	a = sim_connect(w, 0, 1, &def, &def);
	b = sim_connect(w, 0, 1, &def, &def);
	c = sim_connect(w, 0, 2, &def, &def);
	case_kill(w, 0, 1, 0, 5, true);
	sim_post(a, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, ev_of(a, 0, 5).state, MT_EV_ASSUMED_BAD);
	CASE_EQ(w, ev_of(b, 0, 5).state, MT_EV_ASSUMED_BAD);
	CASE_EQ(w, ev_of(c, 0, 5).state, MT_EV_GOOD);
	sim_post(b, 4096 * 64, 0);
	sim_post(c, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, b->out.resent + c->out.resent, 0);
	case_done(w);
}

/* Four EVs lead over each path, and the engine knows: one loss tells of all four. */
TEST(sim_ev, evs_of_one_path_share_its_fate)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w;
	struct sim_qp *qp;
	uint64_t evs = 0;
	const struct net_seen *s;

	cfg.evs = cfg.active = 16;
	cfg.group_ids = true;
	w = case_open(&cfg);
	qp = sim_connect_default(w);
	pace(w);
	sim_post(qp, 4096 * 64, 0);
	sim_run_done(w, SIM_MS);
	/* One EV of each path takes part. */
	for (CASE_EACH(w, s))
		if (case_is_data(s))
			evs |= UINT64_C(1) << (s->port * 16 + (s->ev - 0xC000));
	CASE_EQ(w, evs, 0x000F000F);
	case_kill(w, 0, 1, 0, 3, true);
	sim_post(qp, 4096 * 200, 0);
	sim_run_done(w, 10 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 4);
	CASE_EQ(w, case_info(qp).evs_bad, 4);
	CASE_EQ(w, w->n_ev_events, 4);
	case_kill(w, 0, 1, 0, 3, false);
	sim_run_for(w, 5 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_revived, 4);
	CASE_EQ(w, case_info(qp).evs_bad, 0);
	case_done(w);
}

/* A flapping path is back ever later: each time it has to prove itself for twice as long. */
TEST(sim_ev, a_path_that_flaps_comes_back_later_each_time)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t took[4];

	case_keep_busy(qp, 4096 * 50, w->net.now_ns + 8 * SIM_MS);
	pace(w);
	for (int i = 0; i < 4; i++) {
		uint64_t healed;

		case_kill(w, 0, 1, 0, 3, true);
		sim_run_for(w, 60 * SIM_US);
		CASE_EQ(w, ev_of(qp, 0, 3).state, MT_EV_ASSUMED_BAD);
		healed = w->net.now_ns;
		case_kill(w, 0, 1, 0, 3, false);
		while (ev_of(qp, 0, 3).state == MT_EV_ASSUMED_BAD && !w->check.failed)
			sim_run_for(w, 10 * SIM_US);
		took[i] = w->net.now_ns - healed;
	}
	for (int i = 1; i < 4; i++)
		CASE_BETWEEN(w, took[i], took[i - 1] * 3 / 2, 4 * took[i - 1]);
	case_done(w);
}
