/* SPDX-License-Identifier: BSD-2-Clause */
/* An engine's life: configurations, memory, profiles, timers, events, looking in. */
#include "core/endpoint/endpoint.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"
#include "unit/panic.h"

#define CASE(function, name) TEST_WITH(defaults, close_node, function, name)

/* ---- configuration ---- */

/* Sets one field to a value and says whether the configuration is still valid. */
#define ACCEPTS(field, value) \
	((bool)(cfg = opts.cfg, cfg.field = (value), mt_engine_size(&cfg) > 0))

CASE(mt_engine_size, counts_and_their_ranges)
{
	struct mt_engine_cfg cfg;

	assert_false(ACCEPTS(n_ports, 0));
	assert_true(ACCEPTS(n_ports, 1));
	assert_true(ACCEPTS(n_ports, 32));
	assert_false(ACCEPTS(n_ports, 33));
	assert_false(ACCEPTS(max_qps, 0));
	assert_true(ACCEPTS(max_qps, 1));
	assert_false(ACCEPTS(max_qps, 3));
	assert_true(ACCEPTS(max_qps, 1 << 20));
	assert_false(ACCEPTS(max_qps, 1 << 21));
	assert_false(ACCEPTS(max_mrs, 0));
	assert_true(ACCEPTS(max_mrs, (1 << 24) - 1));
	assert_false(ACCEPTS(max_mrs, 1 << 24));
	assert_false(ACCEPTS(max_profiles, 0));
	assert_true(ACCEPTS(max_profiles, 1024));
	assert_false(ACCEPTS(max_profiles, 1025));
}

CASE(mt_engine_size, rings)
{
	struct mt_engine_cfg cfg;

	assert_false(ACCEPTS(control_ring, 0));
	assert_true(ACCEPTS(control_ring, 8));
	assert_false(ACCEPTS(control_ring, 12));
	assert_true(ACCEPTS(control_ring, 1 << 16));
	assert_false(ACCEPTS(control_ring, 1 << 17));
	assert_false(ACCEPTS(event_ring, 0));
	assert_true(ACCEPTS(event_ring, 8));
	assert_false(ACCEPTS(event_ring, 9));
	assert_false(ACCEPTS(event_ring, 1 << 17));
}

CASE(mt_engine_size, times)
{
	struct mt_engine_cfg cfg;
	const uint64_t longest = UINT64_C(1) << 36;

	assert_true(ACCEPTS(ts_shift, 20));
	assert_false(ACCEPTS(ts_shift, 21));
	assert_true(ACCEPTS(timing.reorder_min_ns, opts.cfg.timing.reorder_max_ns));
	assert_false(ACCEPTS(timing.reorder_min_ns, opts.cfg.timing.reorder_max_ns + 1));
	assert_true(ACCEPTS(timing.reorder_max_ns, longest));
	assert_false(ACCEPTS(timing.reorder_max_ns, longest + 1));
	assert_false(ACCEPTS(timing.tail_probe_min_ns, 0));
	assert_true(ACCEPTS(timing.tail_probe_min_ns, longest));
	assert_false(ACCEPTS(timing.tail_probe_min_ns, longest + 1));
	assert_true(ACCEPTS(timing.port_hold_ns, longest));
	assert_false(ACCEPTS(timing.port_hold_ns, longest + 1));
	assert_true(ACCEPTS(timing.rto_min_ns, 0));
	assert_false(ACCEPTS(timing.rto_min_ns, longest + 1));
}

/* The ends of a range that begins at `least`, and what lies beyond its end. */
#define REACHES(field, least, most)                       \
	do {                                              \
		assert_true(ACCEPTS(field, least));       \
		assert_true(ACCEPTS(field, most));        \
		assert_false(ACCEPTS(field, (most) + 1)); \
	} while (0)

CASE(mt_engine_size, every_range_to_its_ends)
{
	struct mt_engine_cfg cfg;
	const uint64_t longest = UINT64_C(1) << 36;

	REACHES(max_mrs, 1, (1 << 24) - 1);
	REACHES(max_profiles, 1, 1024);
	REACHES(control_ring, 1, 1 << 16);
	REACHES(event_ring, 1, 1 << 16);
	REACHES(ep_requests, 1, 1 << 16);
	assert_false(ACCEPTS(ep_requests, 0));
	assert_false(ACCEPTS(ep_requests, 1 << 17));
	REACHES(endpoint, 0, 1023);
	REACHES(qpn_index_bits, 14, 24);
	assert_false(ACCEPTS(qpn_index_bits, 13));
	REACHES(max_run, 1, 64);
	REACHES(max_buffered, 1, 1 << 20);
	assert_false(ACCEPTS(max_run, 0));
	REACHES(ts_shift, 0, 20);
	REACHES(timing.port_hold_ns, 0, longest);
	REACHES(timing.tail_probe_min_ns, 1, longest);
	REACHES(timing.rto_min_ns, 0, longest);
	REACHES(timing.backpressure_ns, 1, longest);
	assert_false(ACCEPTS(timing.backpressure_ns, 0));
	REACHES(timing.ep_quarantine_ns, 0, longest);
	REACHES(timing.port_notice_ns, 0, longest);
	REACHES(timing.no_port_ns, 0, longest);
	REACHES(timing.revival_gap_ns, 1, UINT32_MAX);
}

CASE(mt_engine_size, grows_with_what_it_holds)
{
	struct mt_engine_cfg cfg = opts.cfg;
	size_t size = mt_engine_size(&cfg);

	assert_u_eq(size % 64, 0);
	cfg.max_qps *= 1024;
	assert_true(mt_engine_size(&cfg) >= size + 4000 * sizeof(void *));
	cfg = opts.cfg;
	cfg.max_mrs += 1000;
	assert_true(mt_engine_size(&cfg) >= size + 1000 * sizeof(struct mt_mr));
}

CASE(mt_engine_init, misuse_trips)
{
	struct mt_env env = {0};
	uint8_t *mem;

	start();
	mem = engine_node_block(&n.base, mt_engine_size(&opts.cfg) + 64);
	expect_assert_failure(mt_engine_init(mem + 8, &opts.cfg, &env, 0));
	opts.cfg.n_ports = 0;
	expect_assert_failure(mt_engine_init(mem, &opts.cfg, &env, 0));
}

CASE(mt_engine_init, an_idle_engine_wants_nothing)
{
	struct mt_event ev;
	struct mt_tx_desc d;
	struct mt_stats zero = {0}, stats;

	start();
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
	assert_u_eq(node_tx(&n, 0, &d, 1), 0);
	assert_u_eq(mt_engine_poll(n.engine, &ev, 1), 0);
	mt_engine_tick(n.engine, UINT64_MAX - 1);
	stats = node_stats(&n);
	assert_memory_equal(&stats, &zero, sizeof(stats));
}

/* The order in which a new QP uses its EVs, as their numbers. */
static void first_evs(uint64_t seed, char order[9])
{
	struct mt_tx_desc d[8];

	opts.cfg.seed = seed;
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 8 * MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, d, 8), 8);
	for (int i = 0; i < 8; i++)
		order[i] = (char)('0' + d[i].ev - opts.evs[0].value);
	order[8] = 0;
}

CASE(mt_engine_init, the_seed_chooses_what_is_random)
{
	char one[9], again[9], other[9];

	first_evs(1, one);
	node_close(&n);
	first_evs(1, again);
	node_close(&n);
	first_evs(2, other);
	assert_string_equal(again, one);
	assert_string_not_equal(other, one);
}

/* REQ(req.probe.bounded) */
CASE(mt_engine_init, a_probe_is_remembered_for_four_of_the_shortest_waits)
{
	start();
	assert_u_eq(n.engine->probes.life_ns, 4 * opts.cfg.timing.tail_probe_min_ns);
	assert_u_eq(n.engine->probes.mask + 1, 128); /* at least, and more with more QPs */
	node_close(&n);
	opts.cfg.max_qps = 64;
	start();
	assert_u_eq(n.engine->probes.mask + 1, 4 * 64);
}

/* ---- memory ---- */

CASE(mt_engine_memory_wanted, enough_for_the_call_that_failed)
{
	struct mt_ev_profile_cfg profile = opts.ev_profile;
	struct mt_ev evs[100] = {{0, 0}};
	size_t wanted;

	start();
	profile.evs = evs;
	profile.n_evs = 100;
	node_exhaust(&n);
	assert_i_eq(mt_ev_profile_set(n.engine, 1, &profile), MT_ERR_MEMORY);
	wanted = mt_engine_memory_wanted(n.engine);
	assert_true(wanted >= sizeof(evs));
	mt_engine_add_memory(n.engine, engine_node_block(&n.base, wanted), wanted);
	assert_i_eq(mt_ev_profile_set(n.engine, 1, &profile), MT_OK);
	assert_i_eq(mt_ev_profile_set(n.engine, 2, &profile), MT_ERR_MEMORY);
}

CASE(mt_engine_memory_wanted, a_replaced_profile_gives_its_memory_back)
{
	struct mt_ev_profile_cfg profile = opts.ev_profile;
	size_t in_use;

	start();
	in_use = n.engine->pool.in_use;
	profile.evs = opts.evs;
	for (int i = 0; i < 10; i++)
		while (mt_ev_profile_set(n.engine, 0, &profile) == MT_ERR_MEMORY)
			mt_engine_add_memory(n.engine, engine_node_block(&n.base, 64), 64);
	assert_u_eq(n.engine->pool.in_use, in_use);
	assert_true(n.base.n_blocks < 1024);
}

CASE(mt_ev_profile_set, arrays_that_stay_are_not_copied)
{
	struct mt_ev_profile_cfg profile = opts.ev_profile;
	size_t in_use;

	start();
	in_use = n.engine->pool.in_use;
	profile.evs = opts.evs;
	profile.is_static = true;
	assert_i_eq(mt_ev_profile_set(n.engine, 0, &profile), MT_OK);
	assert_true(n.engine->pool.in_use < in_use); /* what it had before */
	assert_ptr_equal(n.engine->ev_profiles[0].cfg.evs, opts.evs);
	in_use = n.engine->pool.in_use;
	assert_i_eq(mt_ev_profile_set(n.engine, 1, &profile), MT_OK);
	assert_u_eq(n.engine->pool.in_use, in_use);
}

/* ---- profiles ---- */

#undef ACCEPTS
#define ACCEPTS(field, value)                                                               \
	((bool)(profile = opts.ev_profile, profile.evs = opts.evs, profile.field = (value), \
		mt_ev_profile_set(n.engine, 0, &profile) != MT_ERR_INVALID))

/* REQ(req.ev.set-size) */
CASE(mt_ev_profile_set, counts_and_their_ranges)
{
	struct mt_ev_profile_cfg profile;

	start();
	assert_false(ACCEPTS(evs, NULL));
	assert_false(ACCEPTS(n_evs, 0));
	assert_false(ACCEPTS(n_evs, 7)); /* fewer than the active ones */
	assert_false(ACCEPTS(n_evs, MT_EVS_MAX + 1));
	assert_false(ACCEPTS(n_active, 0));
	assert_true(ACCEPTS(n_active, 1));
	assert_false(ACCEPTS(n_active, 9));
	assert_false(ACCEPTS(min_active, 0));
	assert_true(ACCEPTS(min_active, 8));
	assert_false(ACCEPTS(min_active, 9));
	assert_false(ACCEPTS(revive_probes, 0));
	assert_true(ACCEPTS(revive_probes, 16));
	assert_false(ACCEPTS(revive_probes, 17));
}

CASE(mt_ev_profile_set, every_range_to_its_ends)
{
	static struct mt_ev many[MT_EVS_MAX + 1];
	struct mt_ev_profile_cfg profile;

	start();
	REACHES(revive_probes, 1, 16);
	assert_true(ACCEPTS(probe_interval_ns, 1));
	REACHES(probe_interval_max_ns, opts.ev_profile.probe_interval_ns, UINT64_C(1) << 36);
	REACHES(ignores, 0, MT_EV_IGNORES_END - 1);
	assert_true(ACCEPTS(min_active, 1));
	profile = opts.ev_profile;
	profile.evs = many;
	profile.n_evs = MT_EVS_MAX;
	assert_i_eq(mt_ev_profile_set(n.engine, 0, &profile), MT_OK);
	profile.n_evs++;
	assert_i_eq(mt_ev_profile_set(n.engine, 0, &profile), MT_ERR_INVALID);
	opts.evs[0].port = 2;
	assert_false(ACCEPTS(n_evs, 8));
}

CASE(mt_ev_profile_set, intervals_ports_and_numbers)
{
	struct mt_ev_profile_cfg profile;

	start();
	assert_false(ACCEPTS(probe_interval_ns, 0));
	assert_true(ACCEPTS(probe_interval_ns, opts.ev_profile.probe_interval_max_ns));
	assert_false(ACCEPTS(probe_interval_ns, opts.ev_profile.probe_interval_max_ns + 1));
	assert_false(ACCEPTS(probe_interval_max_ns, (UINT64_C(1) << 36) + 1));
	opts.evs[7].port = 2;
	assert_false(ACCEPTS(n_evs, 8));
	opts.evs[7].port = 1;
	profile = opts.ev_profile;
	profile.evs = opts.evs;
	assert_i_eq(mt_ev_profile_set(n.engine, opts.cfg.max_profiles, &profile), MT_ERR_INVALID);
}

/* REQ(req.ev.same-path) */
CASE(mt_ev_profile_set, path_ids_are_copied_and_below_the_count)
{
	uint16_t ids[4] = {0, 1, 3, 3};
	const struct mt_ev_profile_cfg *kept;
	struct mt_ev_profile_cfg profile;

	start();
	mt_engine_add_memory(n.engine, engine_node_block(&n.base, 4096), 4096);
	opts.ev_profile.n_evs = opts.ev_profile.n_active = 4;
	assert_true(ACCEPTS(group_ids, ids));
	kept = &n.engine->ev_profiles[0].cfg;
	assert_ptr_not_equal(kept->group_ids, ids);
	assert_memory_equal(kept->group_ids, ids, sizeof(ids));
	assert_memory_equal(kept->evs, opts.evs, sizeof(*opts.evs) * 4);
	ids[3] = 4;
	assert_false(ACCEPTS(group_ids, ids));
	ids[3] = 1;
	assert_true(ACCEPTS(group_ids, NULL));
	assert_null(n.engine->ev_profiles[0].cfg.group_ids);
}

/* unit_cc_profile.c has the ranges of the fields. */
CASE(mt_cc_profile_set, ranges)
{
	struct mt_cc_profile_cfg c = {.kind = MT_CC_NSCC, .link_bps = 1000000, .base_rtt_ns = 100};

	start();
	assert_i_eq(mt_cc_profile_set(n.engine, 3, &c), MT_OK);
	assert_i_eq(mt_cc_profile_set(n.engine, 4, &c), MT_ERR_INVALID);
	c.base_rtt_ns = 99;
	assert_i_eq(mt_cc_profile_set(n.engine, 3, &c), MT_ERR_INVALID);
	assert_u_eq(n.engine->cc_profiles[3].cfg.base_rtt_ns, 100);
	c.kind = MT_CC_NONE; /* which looks at none of them */
	assert_i_eq(mt_cc_profile_set(n.engine, 3, &c), MT_OK);
}

/* ---- timers ---- */

CASE(mt_engine_deadline, earliest_of_qps_and_paths)
{
	struct mt_ev_change changes[2];
	uint64_t qp_due;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	qp_due = mt_engine_deadline(n.engine);
	assert_u_eq(qp_due, 1000 + opts.cfg.timing.tail_probe_min_ns);
	mt_ev_retire(n.qp->ev_set, 0, 2000, MT_EV_BY_LOSS, changes);
	mt_ev_sets_arm_probes(n.engine, n.qp->ev_set);
	assert_u_eq(mt_engine_deadline(n.engine), 2000 + opts.ev_profile.probe_interval_ns);
	mt_ev_retire(n.qp->ev_set, 1, qp_due, MT_EV_BY_LOSS, changes);
	mt_ev_deny(n.qp->ev_set, 0, true);
	mt_ev_sets_arm_probes(n.engine, n.qp->ev_set);
	assert_u_eq(mt_engine_deadline(n.engine), qp_due);
}

CASE(mt_engine_tick, everything_that_is_due)
{
	struct mt_ev_change changes[2];
	unsigned probes = 0;
	struct mt_tx_desc d;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	mt_ev_retire(n.qp->ev_set, 0, 10000, MT_EV_BY_LOSS, changes);
	mt_ev_sets_arm_probes(n.engine, n.qp->ev_set);
	mt_engine_tick(n.engine, 19999);
	assert_u_eq(node_drain(&n, 19999), 0);
	mt_engine_tick(n.engine, 21000);
	while (node_tx(&n, 21000, &d, 1) == 1)
		probes += d.pkt.bth.opcode == MW_PROBE;
	assert_u_eq(probes, 2); /* one for the bad EV, one because of the silence */
	assert_true(mt_engine_deadline(n.engine) > 21000);
}

/* REQ(req.retry.own-stop) */
CASE(mt_engine_tick, after_a_stop_of_our_own_what_waits_goes_first)
{
	const uint64_t due = 21000, late = due + 5001; /* by more than reorder_min_ns */

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	assert_u_eq(mt_engine_deadline(n.engine), due);
	mt_engine_tick(n.engine, late);
	assert_u_eq(node_drain(&n, late), 0);
	assert_u_eq(mt_engine_deadline(n.engine), late + 5000);
	mt_engine_tick(n.engine, late + 4999);
	assert_u_eq(node_drain(&n, late), 0);
	/* Late again: once is enough. */
	mt_engine_tick(n.engine, late + 20000);
	assert_u_eq(node_drain(&n, late + 20000), 1);
	assert_u_eq(node_stats(&n).tail_probes, 1);
}

CASE(mt_engine_tick, a_timer_a_little_late_is_judged_at_once)
{
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	mt_engine_tick(n.engine, 26000);
	assert_u_eq(node_stats(&n).tail_probes, 1);
}

CASE(mt_engine_tick, each_stop_has_its_own_grace)
{
	const uint64_t due = 21000, late = due + 5001;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	n.engine->grace_ns = due; /* of an earlier stop, which was over when the timer was due */
	mt_engine_tick(n.engine, late);
	assert_u_eq(mt_engine_deadline(n.engine), late + 5000);
	mt_engine_tick(n.engine, late + 4999);
	assert_u_eq(node_stats(&n).tail_probes, 0);
	mt_engine_tick(n.engine, late + 5000);
	assert_u_eq(node_stats(&n).tail_probes, 1);
}

CASE(mt_engine_tick, a_timer_has_one_grace)
{
	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	node_drain(&n, 1000);
	n.engine->grace_ns = 21001; /* it was due at 21000 */
	mt_engine_tick(n.engine, 21000 + 5001);
	assert_u_eq(node_stats(&n).tail_probes, 1);
}

/* ---- events ---- */

CASE(mt_engine_poll, evs_first_then_completions_then_the_failure)
{
	static const uint8_t want[] = {MT_EVENT_EV, MT_EVENT_SEND, MT_EVENT_RECV, MT_EVENT_QP};
	struct mt_ev_change change = {.ev = 3, .state = MT_EV_GOOD, .cause = MT_EV_BY_PROBE};
	struct mt_event ev[8];

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_i_eq(mt_qp_post_recv(n.qp, 2), MT_OK);
	mt_qp_fail(n.qp, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
	mt_engine_report_ev(n.engine, n.qp->ev_set, &change);
	assert_u_eq(mt_engine_poll(n.engine, ev, 2), 2);
	assert_u_eq(mt_engine_poll(n.engine, ev + 2, 6), 2);
	for (int i = 0; i < 4; i++)
		assert_u_eq(ev[i].type, want[i]);
	assert_ptr_equal(ev[1].qp_user, &n);
	assert_u_eq(ev[1].status, RD_WC_FATAL_ERR);
	assert_u_eq(ev[2].status, RD_WC_WR_FLUSH_ERR);
	assert_u_eq(ev[3].status, RD_WC_FATAL_ERR);
	assert_u_eq(mt_engine_poll(n.engine, ev, 8), 0);
}

CASE(mt_engine_poll, qps_are_polled_in_rotation)
{
	struct mt_qp *other, *last = NULL;
	struct mt_event ev;

	start();
	other = node_add_qp(&n, n.qpn + 1, n.peer_qpn + 1, &other);
	for (unsigned i = 0; i < 3; i++) {
		assert_i_eq(mt_qp_post_recv(n.qp, i), MT_OK);
		assert_i_eq(mt_qp_post_recv(other, i), MT_OK);
	}
	mt_qp_fail(n.qp, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
	mt_qp_fail(other, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
	for (unsigned i = 0; i < 6; i++) {
		assert_u_eq(mt_engine_poll(n.engine, &ev, 1), 1);
		assert_true(ev.qp_user != last);
		last = ev.qp_user;
	}
}

static void move(enum rd_qp_state state)
{
	struct rd_qp_attr a = {.state = state};

	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
}

static void check_drained(void)
{
	struct mt_event ev;

	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_SQ_DRAINED);
	assert_ptr_equal(ev.qp_user, &n);
	node_check_no_event(&n);
}

/* The send queue has one slot: what was in it says nothing about what is not posted yet. */
static void begin_one(void)
{
	struct mt_tx_desc d;

	opts.cap.sq_depth = 1;
	start();
	assert_i_eq(node_post(&n, n.qp, 4, 1, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
}

static void complete_one(void)
{
	struct mw_packet ack = node_ack(&n, 0x1F, 1);

	node_rx(&n, 2000, &ack);
	node_check_completion(&n, 4, RD_WC_SUCCESS);
}

/* REQ(req.sqd.drained) */
CASE(mt_engine_poll, drained_is_told_once_a_move_behind_what_had_begun)
{
	begin_one();
	move(RD_QPS_SQD);
	node_check_no_event(&n);
	complete_one();
	check_drained();
	move(RD_QPS_RTS);
	node_check_no_event(&n);
	move(RD_QPS_SQD);
	check_drained();
}

/* REQ(req.sqd.drained) */
CASE(mt_engine_poll, what_has_not_begun_is_not_waited_for)
{
	start();
	assert_i_eq(node_post(&n, n.qp, 4, 1, 0), MT_OK);
	move(RD_QPS_SQD);
	check_drained();
}

/* REQ(req.sqd.drained) */
CASE(mt_engine_poll, a_qp_that_sends_again_is_not_drained)
{
	begin_one();
	move(RD_QPS_SQD);
	node_check_no_event(&n);
	move(RD_QPS_RTS);
	complete_one();
	node_check_no_event(&n);
}

CASE(mt_engine_report_ev, a_full_ring_drops_and_counts)
{
	struct mt_ev_change change = {.state = MT_EV_GOOD, .cause = MT_EV_BY_PROBE};
	struct mt_event ev;

	opts.cfg.event_ring = 8;
	start();
	for (uint16_t i = 0; i < 11; i++) {
		change.ev = i % 8;
		mt_engine_report_ev(n.engine, n.qp->ev_set, &change);
	}
	assert_u_eq(node_stats(&n).ev_events_dropped, 3);
	for (uint16_t i = 0; i < 8; i++) {
		assert_true(node_poll(&n, &ev));
		assert_u_eq(ev.ev.value, opts.evs[i].value);
	}
	assert_false(node_poll(&n, &ev));
}

/* ---- looking in ---- */

CASE(mt_qp_info, of_a_qp_that_does_nothing_yet)
{
	struct mt_qp_info info;
	struct mt_ev_info ev;

	node_open(&n, &opts, 0);
	mt_qp_info(n.qp, &info);
	assert_u_eq(info.state, RD_QPS_INIT);
	assert_u_eq(info.qpn, n.qpn);
	assert_u_eq(info.evs, 0);
	assert_u_eq(info.srtt_ns, 0);
	assert_u_eq(info.rtt_min_ns, 0);
	assert_u_eq(info.heard_ns, 0);
	assert_false(mt_qp_ev_info(n.qp, 0, &ev));
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 0, true), MT_ERR_STATE);
}

CASE(mt_qp_info, of_a_qp_that_sends)
{
	struct mt_ev_change changes[2];
	struct mt_tx_desc d[4];
	struct mt_qp_info info;
	struct mw_packet pkt;

	start();
	assert_i_eq(node_post(&n, n.qp, 1, 4 * NODE_MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, d, 4), 4);
	pkt = node_sack(&n, &d[0], 1);
	node_rx(&n, 7000, &pkt);
	pkt = node_nack(&n, &d[2], MW_NACK_TRIMMED);
	node_rx(&n, 7000, &pkt);
	mt_ev_retire(n.qp->ev_set, 6, 0, MT_EV_BY_LOSS, changes);
	mt_ev_deny(n.qp->ev_set, 7, true);
	mt_qp_info(n.qp, &info);
	assert_u_eq(info.psn_next, node_psn(4));
	assert_u_eq(info.psn_una, node_psn(1));
	assert_u_eq(info.psn_expected, node_psn(0));
	assert_u_eq(info.srtt_ns, 6000);
	assert_u_eq(info.rtt_min_ns, 6000);
	assert_u_eq(info.reorder_window_ns, opts.cfg.timing.reorder_min_ns);
	assert_u_eq(info.lost_pending, 1);
	assert_u_eq(info.cwnd_bytes, UINT64_MAX);
	assert_u_eq(info.evs, 8);
	assert_u_eq(info.evs_good, 6);
	assert_u_eq(info.evs_bad, 1);
	assert_u_eq(info.heard_ns, 7000);
}

/* REQ(req.ev.denied) */
CASE(mt_qp_ev_deny, sets_and_lifts)
{
	struct mt_ev_info info;
	struct mt_event ev;

	start();
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 8, true), MT_ERR_INVALID);
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 3, true), MT_OK);
	assert_true(mt_qp_ev_info(n.qp, 3, &info));
	assert_u_eq(info.ev.value, opts.evs[3].value);
	assert_u_eq(info.state, MT_EV_DENIED);
	assert_false(node_poll(&n, &ev)); /* only GOOD and ASSUMED_BAD are told */
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 3, false), MT_OK);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_EV);
	assert_u_eq(ev.ev_state, MT_EV_GOOD);
	assert_u_eq(ev.ev_cause, MT_EV_BY_OPERATOR);
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 3, false), MT_OK); /* once more changes nothing */
	assert_false(node_poll(&n, &ev));
}

CASE(mt_qp_ev_info, what_has_happened_to_each_ev)
{
	struct mt_ev_change changes[2];
	struct mt_ev_info info;

	start();
	assert_false(mt_qp_ev_info(n.qp, 8, &info));
	assert_true(mt_qp_ev_info(n.qp, 7, &info));
	assert_u_eq(info.retired, 0);
	assert_u_eq(info.revived, 0);
	mt_ev_retire(n.qp->ev_set, 7, 1000, MT_EV_BY_LOSS, changes);
	assert_true(mt_qp_ev_info(n.qp, 7, &info));
	assert_u_eq(info.state, MT_EV_ASSUMED_BAD);
	assert_u_eq(info.retired, 1);
	assert_u_eq(info.revived, 0);
}

/* REQ(req.ev.min-active) */
CASE(mt_qp_ev_deny, keeps_enough_evs_in_use)
{
	struct mt_event ev;

	opts.ev_profile.min_active = 7;
	start();
	mt_qp_retire_ev_group(n.qp, 2, 1000, MT_EV_BY_LOSS);
	assert_true(node_poll(&n, &ev));
	assert_i_eq(mt_qp_ev_deny(n.qp, 1000, 5, true), MT_OK);
	assert_u_eq(mt_ev_state_of(n.qp->ev_set, 2), MT_EV_GOOD);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.ev.value, opts.evs[2].value);
	assert_u_eq(ev.ev_cause, MT_EV_BY_FLOOR);
}

CASE(mt_qp_ev_deny, an_ev_that_is_denied_is_not_probed)
{
	start();
	mt_qp_retire_ev_group(n.qp, 2, 1000, MT_EV_BY_LOSS);
	assert_u_eq(mt_engine_deadline(n.engine), 1000 + opts.ev_profile.probe_interval_ns);
	assert_i_eq(mt_qp_ev_deny(n.qp, 1000, 2, true), MT_OK);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

CASE(mt_qp_ev_deny, what_waits_for_an_ev_leaves_when_one_is_allowed)
{
	struct mt_tx_desc d;

	start();
	for (uint32_t i = 0; i < 8; i++)
		assert_i_eq(mt_qp_ev_deny(n.qp, 0, i, true), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 0);
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 3, false), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.ev, opts.evs[3].value);
}

CASE(mt_qp_memory, the_qp_and_once_connected_its_evs)
{
	uint16_t groups[8] = {0, 0, 1, 1, 2, 2, 3, 3};
	struct mt_piece pieces[MT_QP_PIECES];
	size_t plain;

	node_open(&n, &opts, 0);
	assert_u_eq(mt_qp_memory(n.qp, pieces), 1);
	assert_ptr_equal(pieces[0].at, n.qp);
	assert_u_eq(pieces[0].size, mt_qp_size(&opts.cap));
	node_connect(&n);
	assert_u_eq(mt_qp_memory(n.qp, pieces), 2);
	assert_ptr_equal(pieces[0].at, n.qp);
	assert_ptr_equal(pieces[1].at, n.qp->ev_set);
	plain = pieces[1].size;
	assert_u_eq(plain, mt_ev_set_size(8, opts.cfg.n_ports));
	node_close(&n);
	opts.ev_profile.group_ids = groups;
	start();
	assert_u_eq(mt_qp_memory(n.qp, pieces), 2);
	assert_u_eq(pieces[1].size, plain); /* which EVs share a path is no part of it */
}

CASE(mt_qp_ev_deny, needs_memory_where_there_are_backups)
{
	struct mt_ev_info info;
	size_t wanted;

	opts.ev_profile.n_active = 4;
	start();
	node_exhaust(&n);
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 3, true), MT_ERR_MEMORY);
	assert_true(mt_qp_ev_info(n.qp, 3, &info));
	assert_u_eq(info.state, MT_EV_GOOD);
	wanted = mt_engine_memory_wanted(n.engine);
	mt_engine_add_memory(n.engine, engine_node_block(&n.base, wanted), wanted);
	assert_i_eq(mt_qp_ev_deny(n.qp, 0, 3, true), MT_OK);
	assert_true(mt_qp_ev_info(n.qp, 3, &info));
	assert_u_eq(info.state, MT_EV_DENIED);
}
