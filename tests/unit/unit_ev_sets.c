/* SPDX-License-Identifier: BSD-2-Clause */
/* Path sets of an engine: who shares one, when it goes, who probes for it. */
#include "core/endpoint/endpoint.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

static struct mt_qp *other;

/* A node whose second QP goes to the same destination. */
static int two_qps(void **state)
{
	connected(state);
	other = node_add_qp(&n, n.qpn + 1, n.peer_qpn + 1, &other);
	return 0;
}

#define CASE(function, name) TEST_WITH(two_qps, close_node, function, name)

static void to(struct mt_qp *qp, enum rd_qp_state state)
{
	struct rd_qp_attr a = {.state = state};

	assert_i_eq(node_modify(&n, qp, &a, RD_QP_STATE), MT_OK);
}

/* Connects a QP that is in RESET to a peer of its own, or with another profile. */
static void connect(struct mt_qp *qp, uint8_t peer, uint32_t profile)
{
	struct rd_qp_attr a = opts.attr;

	to(qp, RD_QPS_INIT);
	a.state = RD_QPS_RTR;
	a.dest.b[0] = peer;
	a.dest_qpn = 9;
	a.ev_profile = profile;
	assert_i_eq(node_modify(&n, qp, &a, UINT32_MAX >> 16), MT_OK);
}

CASE(mt_ev_sets_acquire, qps_to_one_destination_share_what_they_learn)
{
	struct mt_ev_info info;

	assert_ptr_equal(other->ev_set, n.qp->ev_set);
	assert_u_eq(n.qp->ev_set->refs, 2);
	mt_qp_retire_ev_group(n.qp, 3, 0, MT_EV_BY_LOSS);
	assert_true(mt_qp_ev_info(other, 3, &info));
	assert_u_eq(info.state, MT_EV_ASSUMED_BAD);
	assert_u_eq(info.retired, 1);
}

CASE(mt_ev_sets_acquire, another_destination_or_profile_is_another_set)
{
	struct mt_ev_profile_cfg profile = opts.ev_profile;

	profile.evs = opts.evs;
	profile.n_evs = profile.n_active = 4;
	while (mt_ev_profile_set(n.engine, 1, &profile) == MT_ERR_MEMORY)
		mt_engine_add_memory(n.engine, engine_node_block(&n.base, 64), 64);
	to(other, RD_QPS_RESET);
	connect(other, 77, 0);
	assert_ptr_not_equal(other->ev_set, n.qp->ev_set);
	assert_u_eq(other->ev_set->peer.b[0], 77);
	to(other, RD_QPS_RESET);
	connect(other, n.peer.b[0], 1);
	assert_ptr_not_equal(other->ev_set, n.qp->ev_set);
	assert_u_eq(other->ev_set->n_evs, 4);
}

#define MANY 4096u

static struct mb_link users[MANY];

static struct rd_gid address(uint32_t i)
{
	return (struct rd_gid){{0xFD, [14] = (uint8_t)(i >> 8), [15] = (uint8_t)i}};
}

static struct mt_ev_set *acquire(uint32_t i)
{
	struct rd_gid peer = address(i);
	struct mt_ev_set *s;

	mb_link_init(&users[i]);
	while (!(s = mt_ev_sets_acquire(n.engine, 0, &peer, &users[i])))
		engine_node_grow(&n.base);
	return s;
}

static int many_qps(void **state)
{
	defaults(state);
	opts.cfg.max_qps = MANY;
	opts.ev_profile.n_evs = opts.ev_profile.n_active = 2;
	start();
	return 0;
}

/* Takes many sets; returns the length of the longest chain, and the chain. */
static uint32_t acquire_many(struct mt_ev_set **chain)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < MANY; i++)
		acquire(i);
	for (uint32_t b = 0; b < MANY; b++) {
		uint32_t length = 0;

		for (struct mt_ev_set *s = n.engine->ev_set_buckets[b]; s; s = s->chain)
			length++;
		if (length > longest)
			*chain = n.engine->ev_set_buckets[b];
		longest = length > longest ? length : longest;
	}
	return longest;
}

/* What one packet of an unknown sender costs does not grow with the number of destinations. */
TEST_WITH(many_qps, close_node, mt_ev_sets_next, few_steps_among_many_destinations)
{
	struct mt_ev_set *chain, *s;
	struct rd_gid peer;

	assert_u_between(acquire_many(&chain), 1, 12);
	for (uint32_t i = 0; i < MANY; i++) {
		peer = address(i);
		s = mt_ev_sets_next(n.engine, &peer, NULL);
		assert_non_null(s);
		assert_null(mt_ev_sets_next(n.engine, &peer, s));
		mt_ev_sets_release(n.engine, s, &users[i]);
		assert_null(mt_ev_sets_next(n.engine, &peer, NULL));
	}
}

/* Addresses that one engine has in one chain another one has in several. */
TEST_WITH(many_qps, close_node, mt_ev_sets_acquire, chains_depend_on_a_key)
{
	struct mt_ev_set *chain;
	struct rd_gid peers[2];
	uint32_t together = 0;

	assert_true(acquire_many(&chain) >= 2);
	peers[0] = chain->peer;
	peers[1] = chain->chain->peer;
	node_close(&n);
	opts.cfg.seed++;
	start();
	acquire_many(&chain);
	for (struct mt_ev_set *s = mt_ev_sets_next(n.engine, &peers[0], NULL); s; s = s->chain)
		together += memcmp(&s->peer, &peers[1], sizeof(s->peer)) == 0;
	for (struct mt_ev_set *s = mt_ev_sets_next(n.engine, &peers[1], NULL); s; s = s->chain)
		together += memcmp(&s->peer, &peers[0], sizeof(s->peer)) == 0;
	assert_u_eq(together, 0);
}

/* Those that are connected keep the EVs that they have. */
CASE(mt_ev_profile_set, counts_for_qps_connected_from_now_on)
{
	struct mt_ev_profile_cfg profile = opts.ev_profile;
	struct mt_ev_set *old = n.qp->ev_set;

	profile.evs = opts.evs;
	profile.n_evs = profile.n_active = 4;
	while (mt_ev_profile_set(n.engine, 0, &profile) == MT_ERR_MEMORY)
		mt_engine_add_memory(n.engine, engine_node_block(&n.base, 64), 64);
	to(other, RD_QPS_RESET);
	connect(other, n.peer.b[0], 0);
	assert_u_eq(other->ev_set->n_evs, 4);
	assert_ptr_equal(n.qp->ev_set, old);
	assert_u_eq(old->n_evs, 8);
	to(n.qp, RD_QPS_RESET);
	connect(n.qp, n.peer.b[0], 0);
	assert_ptr_equal(n.qp->ev_set, other->ev_set);
}

CASE(mt_ev_sets_release, the_last_one_frees_the_set)
{
	size_t with = n.engine->pool.in_use;

	to(other, RD_QPS_RESET);
	assert_u_eq(n.qp->ev_set->refs, 1);
	mt_qp_retire_ev_group(n.qp, 3, 0, MT_EV_BY_LOSS);
	assert_true(mt_engine_deadline(n.engine) != UINT64_MAX);
	to(n.qp, RD_QPS_RESET);
	assert_true(mb_link_is_empty(&n.engine->ev_sets));
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
	assert_true(n.engine->pool.in_use < with);
	connect(n.qp, n.peer.b[0], 0); /* a set that knows nothing */
	assert_u_eq(mt_ev_state_of(n.qp->ev_set, 3), MT_EV_GOOD);
}

/* REQ(req.ev.revive) */
CASE(mt_ev_sets_tick, qps_take_turns_in_probing)
{
	uint64_t now = 0;
	struct mt_tx_desc d;
	uint32_t last = 0;

	mt_qp_retire_ev_group(n.qp, 3, now, MT_EV_BY_LOSS);
	for (int i = 0; i < 4; i++) {
		now = mt_engine_deadline(n.engine);
		mt_engine_tick(n.engine, now);
		assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
		assert_u_eq(d.ev, opts.evs[3].value);
		assert_true(d.pkt.bth.dqp != last);
		last = d.pkt.bth.dqp;
	}
}

CASE(mt_ev_sets_tick, only_a_qp_that_may_send_probes)
{
	uint64_t now = 0;
	struct mt_tx_desc d;

	mt_qp_retire_ev_group(n.qp, 3, now, MT_EV_BY_LOSS);
	to(other, RD_QPS_ERR);
	for (int i = 0; i < 3; i++) {
		now = mt_engine_deadline(n.engine);
		mt_engine_tick(n.engine, now);
		assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
		assert_u_eq(d.pkt.bth.dqp, n.peer_qpn);
	}
	to(n.qp, RD_QPS_ERR);
	now = mt_engine_deadline(n.engine);
	mt_engine_tick(n.engine, now);
	assert_false(node_tx_opcode(&n, now, MW_PROBE, &d));
	assert_true(mt_engine_deadline(n.engine) > now); /* and it does not spin */
}

CASE(mt_ev_sets_tick, all_bad_ones_that_are_due)
{
	uint64_t now = opts.ev_profile.probe_interval_ns;
	struct mt_tx_desc d;
	uint32_t seen = 0;

	mt_qp_retire_ev_group(n.qp, 1, 0, MT_EV_BY_LOSS);
	mt_qp_retire_ev_group(n.qp, 4, 0, MT_EV_BY_LOSS);
	mt_engine_tick(n.engine, now);
	while (node_tx_opcode(&n, now, MW_PROBE, &d))
		seen |= 1u << (d.ev & 0xFF);
	assert_u_eq(seen, 1u << 1 | 1u << 4);
}

/* Addresses may differ in their first half only, as those of several networks do. */
TEST_WITH(many_qps, close_node, mt_ev_sets_next, few_steps_whichever_half_differs)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		struct rd_gid peer = {{0xFD, (uint8_t)(i >> 8), (uint8_t)i, [15] = 1}};

		mb_link_init(&users[i]);
		while (!mt_ev_sets_acquire(n.engine, 0, &peer, &users[i]))
			engine_node_grow(&n.base);
	}
	for (uint32_t b = 0; b < MANY; b++) {
		uint32_t length = 0;

		for (struct mt_ev_set *s = n.engine->ev_set_buckets[b]; s; s = s->chain)
			length++;
		longest = length > longest ? length : longest;
	}
	assert_u_between(longest, 1, 12);
}

static int one_qp(void **state)
{
	defaults(state);
	opts.cfg.max_qps = 1;
	start();
	return 0;
}

TEST_WITH(one_qp, close_node, mt_ev_sets_next, one_chain_for_one_qp)
{
	assert_ptr_equal(n.engine->ev_set_buckets[0], n.qp->ev_set);
	assert_ptr_equal(mt_ev_sets_next(n.engine, &n.peer, NULL), n.qp->ev_set);
}

/* With any number of EVs, grouped or not, and with what failed of them. */
CASE(mt_ev_sets_release, gives_back_what_was_taken)
{
	static const uint16_t ids[NODE_EVS_MAX];
	struct mt_ev_profile_cfg profile = opts.ev_profile;
	struct mt_ev_change changes[2];

	mt_engine_add_memory(n.engine, engine_node_block(&n.base, 1 << 16), 1 << 16);
	profile.evs = opts.evs;
	profile.is_static = true;
	profile.min_active = 1;
	for (uint16_t count = 2; count <= NODE_EVS_MAX; count++)
		for (int grouped = 0; grouped < 2; grouped++) {
			size_t in_use = n.engine->pool.in_use;
			struct mt_ev_set *s;

			profile.n_evs = profile.n_active = count;
			profile.group_ids = grouped ? ids : NULL;
			assert_i_eq(mt_ev_profile_set(n.engine, 1, &profile), MT_OK);
			mb_link_init(&users[0]);
			s = mt_ev_sets_acquire(n.engine, 1, &n.peer, &users[0]);
			assert_true(n.engine->pool.in_use - in_use >=
				    mt_ev_set_size(count, opts.cfg.n_ports));
			if (!grouped)
				assert_u_eq(mt_ev_retire(s, 0, 0, MT_EV_BY_LOSS, changes), 1);
			mt_ev_sets_release(n.engine, s, &users[0]);
			assert_u_eq(n.engine->pool.in_use, in_use);
		}
}

CASE(mt_ev_sets_acquire, a_new_set_uses_the_ports_that_are_up)
{
	struct rd_gid peer = {{0xFD, [15] = 7}};

	mt_engine_add_memory(n.engine, engine_node_block(&n.base, 4096), 4096);
	mt_engine_port_set(n.engine, 0, 1, false);
	mb_link_init(&users[0]);
	assert_u_eq(mt_ev_sets_acquire(n.engine, 0, &peer, &users[0])->open_ports, 1);
}

CASE(mt_ev_sets_share, each_user_is_on_the_list)
{
	struct mt_ev_set *s = n.qp->ev_set;

	mb_link_init(&users[0]);
	mt_ev_sets_share(s, &users[0]);
	assert_u_eq(s->refs, 3);
	assert_false(mb_link_is_empty(&users[0]));
	mt_ev_sets_release(n.engine, s, &users[0]);
	assert_true(mb_link_is_empty(&users[0]));
}

/* Evidence about any port, the first one as well, goes with the set. */
CASE(mt_ev_sets_release, is_no_evidence_any_more)
{
	struct rd_gid peer = {{0xFD, [15] = 7}};
	struct mt_ev_set *s;

	mt_engine_add_memory(n.engine, engine_node_block(&n.base, 4096), 4096);
	mb_link_init(&users[0]);
	s = mt_ev_sets_acquire(n.engine, 0, &peer, &users[0]);
	for (uint32_t port = 0; port < 2; port++) {
		mt_uplink_note_loss(n.engine, s, port, 100, 200);
		assert_u_eq(n.engine->uplinks[port].n_lost, 1);
	}
	mt_ev_sets_release(n.engine, s, &users[0]);
	for (uint32_t port = 0; port < 2; port++)
		assert_u_eq(n.engine->uplinks[port].n_lost, 0);
}

/* REQ(req.ev.hint) REQ(req.ev.events) */
CASE(mt_qp_ev_suspect, is_probed_before_it_is_used)
{
	struct mt_event event;
	struct mt_tx_desc d;

	node_drain(&n, 1000);
	assert_true(mt_qp_ev_suspect(n.qp, 2000, 3));
	assert_false(mt_qp_ev_suspect(n.qp, 2000, 3));
	assert_false(mt_qp_ev_suspect(n.qp, 2000, n.qp->ev_set->n_evs));
	assert_u_eq(n.engine->stats.evs_hinted, 1);
	assert_u_eq(mt_engine_poll(n.engine, &event, 1), 1);
	assert_u_eq(event.type, MT_EVENT_EV);
	assert_u_eq(event.ev_index, 3);
	assert_u_eq(event.ev_state, MT_EV_ASSUMED_BAD);
	assert_u_eq(event.ev_cause, MT_EV_BY_HINT);
	mt_engine_tick(n.engine, 2000);
	assert_true(node_tx_opcode(&n, 2000, MW_PROBE, &d));
	assert_u_eq(d.ev, mt_ev_value(n.qp->ev_set, 3));
	to(other, RD_QPS_RESET);
	assert_false(mt_qp_ev_suspect(other, 2000, 2));
}

/* REQ(ep.port.not-attributed) */
CASE(mt_ev_sets_port_restored, the_first_ev_and_from_the_beginning)
{
	mt_qp_retire_ev_group(n.qp, 0, 0, MT_EV_BY_LOSS);
	mt_ev_sets_port_restored(n.engine, n.qp->ev_set, 0, opts.cfg.timing.port_notice_ns / 2);
	assert_u_eq(mt_ev_state_of(n.qp->ev_set, 0), MT_EV_GOOD);
}

/* What a peer that is heard again is asked on which planes. REQ(req.ev.endpoint) */
CASE(mt_peer_resume, each_open_plane_with_a_usable_ev_is_probed)
{
	struct mt_liveness *p = &n.qp->peer->liveness;
	struct mt_tx_desc d;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t planes = 0, want = i == 0 ? 3 : i == 1 ? 1 : 2;

		if (i == 1)
			mt_engine_port_set(n.engine, 0, 1, false);
		if (i == 2) {
			mt_engine_port_set(n.engine, 0, 1, true);
			for (uint16_t ev = 0; ev < 8; ev += 2)
				mt_ev_deny(n.qp->ev_set, ev, true);
			for (uint16_t ev = 1; ev < 7; ev += 2)
				mt_ev_deny(n.qp->ev_set, ev, true); /* one is left */
		}
		node_drain(&n, 1000);
		mt_liveness_silence(p);
		mt_liveness_heard(p);
		mt_peer_resume(n.engine, n.qp->peer, 1000);
		assert_u_eq(p->planes, want);
		while (node_tx_opcode(&n, 1000, MW_PROBE, &d))
			planes |= 1u << d.port;
		assert_u_eq(planes, want);
	}
}
