/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_node.c - what follows when the state of a NIC changes, and which EV events it wants:
 * src/host/node/node.c. Engines, links and the progress thread are the test's.
 */
#include "support/noted_calls.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#include "base/list.h"
#include "host/node/profiles.h"
#include "host/state/shards.h"

#define SHARDS 2u
#define PORTS 2u
#define NOW_NS UINT64_C(9000)
/* What an engine was told already. */
#define LATER_NS UINT64_C(9500)

static struct {
	struct mh_nic nic[SHARDS];
	struct mh_node node[SHARDS];
	uint8_t engine[SHARDS];
	struct mh_cq cq;
	struct noted_calls calls;
	/* What ports, engines and profiles answer. */
	bool ports_change[SHARDS];
	int cc_result, ev_err[SHARDS];
	struct mh_ev_event heard;
	uint32_t events;
} t;

static uint32_t shard_of(const struct mh_nic *nic)
{
	return (uint32_t)(nic - t.nic);
}

static uint32_t shard_of_engine(const struct mt_engine *e)
{
	return (uint32_t)((const uint8_t *)e - t.engine);
}

__typeof__(mh_ports_update_links) __real_mh_ports_update_links, __wrap_mh_ports_update_links;
bool __wrap_mh_ports_update_links(struct mh_ports *ports, const struct mh_env *env, uint64_t now_ns)
{
	uint32_t shard = ports == &t.nic[0].ports ? 0 : 1;

	assert_ptr_equal(env, &t.nic[shard].env);
	assert_u_eq(now_ns, shard ? LATER_NS : NOW_NS);
	note_text(&t.calls, "links of %u; ", shard);
	return t.ports_change[shard];
}

__typeof__(mh_engine_report_ports) __real_mh_engine_report_ports, __wrap_mh_engine_report_ports;
void __wrap_mh_engine_report_ports(struct mh_nic *nic, uint64_t now_ns)
{
	assert_u_eq(now_ns, LATER_NS);
	note_text(&t.calls, "ports of %u; ", shard_of(nic));
}

__typeof__(mh_nic_kick) __real_mh_nic_kick, __wrap_mh_nic_kick;
void __wrap_mh_nic_kick(struct mh_nic *nic)
{
	note_text(&t.calls, "kick %u; ", shard_of(nic));
}

__typeof__(mh_ev_profile_apply) __real_mh_ev_profile_apply, __wrap_mh_ev_profile_apply;
int __wrap_mh_ev_profile_apply(struct mh_nic *nic, uint32_t id, const struct mn_state *now,
			       const struct mn_state *next)
{
	uint32_t shard = shard_of(nic);

	assert_true(id < MN_EV_PROFILES);
	assert_ptr_equal(now, &t.node[shard].now);
	assert_ptr_equal(next, &t.node[shard].next);
	if (now->ev[id].min_active != next->ev[id].min_active)
		note_text(&t.calls, "EV profile %u of %u; ", id, shard);
	return id == 0 ? t.ev_err[shard] : 0;
}

__typeof__(mt_cc_profile_set) __real_mt_cc_profile_set, __wrap_mt_cc_profile_set;
int __wrap_mt_cc_profile_set(struct mt_engine *e, uint32_t id, const struct mt_cc_profile_cfg *cfg)
{
	assert_u_eq(cfg->kind, MT_CC_NSCC);
	note_text(&t.calls, "CC profile %u of %u; ", id, shard_of_engine(e));
	return t.cc_result;
}

__typeof__(mt_cc_profile_clear) __real_mt_cc_profile_clear, __wrap_mt_cc_profile_clear;
void __wrap_mt_cc_profile_clear(struct mt_engine *e, uint32_t id)
{
	note_text(&t.calls, "no CC profile %u of %u; ", id, shard_of_engine(e));
}

__typeof__(mh_cq_add_ev_event) __real_mh_cq_add_ev_event, __wrap_mh_cq_add_ev_event;
void __wrap_mh_cq_add_ev_event(struct mh_cq *cq, const struct mh_ev_event *event)
{
	assert_ptr_equal(cq, &t.cq);
	t.heard = *event;
	t.events++;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	for (uint32_t i = 0; i < SHARDS; i++) {
		struct mh_nic *nic = &t.nic[i];

		nic->first = &t.nic[0];
		t.nic[0].shard[i] = nic;
		nic->node = &t.node[i];
		nic->engine = (struct mt_engine *)(void *)&t.engine[i];
		nic->env = (struct mh_env){.n_ports = PORTS, .shards = SHARDS, .mtu = 4096};
		nic->env.base_rtt_ns = 20000;
		nic->ports.n = PORTS;
		pthread_mutex_init(&nic->lock, NULL);
		mn_state_init(&t.node[i].now);
		mn_state_init(&t.node[i].next);
	}
	t.nic[0].n_shards = SHARDS;
	t.nic[1].engine_ns = LATER_NS;
	mb_link_init(&t.nic[0].ev_cqs);
	mb_link_init(&t.cq.ev_link);
	mb_list_push(&t.nic[0].ev_cqs, &t.cq.ev_link);
	return 0;
}

#define NODE_TEST(function, name) TEST_WITH(setup, NULL, function, name)

static void expect(int err, bool ports_changed, const char *asked)
{
	bool changed = !ports_changed;

	t.calls.steps[0] = '\0';
	assert_i_eq(mh_node_apply(&t.nic[0], NOW_NS, &changed), err);
	assert_string_equal(t.calls.steps, asked);
	assert_true(changed == ports_changed);
	for (uint32_t i = 0; i < SHARDS; i++) {
		assert_memory_equal(&t.node[i].now, &t.node[0].next,
				    mn_state_bytes(&t.node[0].next));
		assert_i_eq(pthread_mutex_trylock(&t.nic[i].lock), 0);
		pthread_mutex_unlock(&t.nic[i].lock);
	}
}

/* A shard that sleeps is woken in any case. */
NODE_TEST(mh_node_apply, what_changes_nothing)
{
	expect(0, false, "kick 1; ");
}

/* Others are told of ports that are up or down now; what is behind the last port is none. */
NODE_TEST(mh_node_apply, of_ports)
{
	struct mn_state *next = &t.node[0].next;

	next->port_admin[PORTS] = MN_PORT_DOWN;
	expect(0, false, "kick 1; ");
	assert_u_eq(t.nic[0].ports.port[PORTS].admin, MN_PORT_ENABLED);
	next->port_admin[1] = MN_PORT_SUSPENDED;
	expect(0, false, "links of 0; links of 1; kick 1; ");
	assert_u_eq(t.nic[0].ports.port[1].admin, MN_PORT_SUSPENDED);
	assert_u_eq(t.nic[1].ports.port[1].admin, MN_PORT_SUSPENDED);
	next->port_admin[0] = MN_PORT_DOWN;
	t.ports_change[0] = true;
	expect(0, true, "links of 0; links of 1; kick 1; ");
	next->port_admin[0] = MN_PORT_ENABLED;
	t.ports_change[0] = false;
	t.ports_change[1] = true;
	expect(0, false, "links of 0; links of 1; ports of 1; kick 1; ");
}

static void set_cc(uint32_t id, uint8_t state)
{
	t.node[0].next.cc[id] = (struct mn_cc_profile){.state = state, .algorithm = MN_CC_NSCC};
}

NODE_TEST(mh_node_apply, of_profiles)
{
	set_cc(1, MN_ONLINE);
	t.node[0].next.ev[MN_EV_PROFILES - 1].min_active = 2;
	expect(0, false,
	       "CC profile 1 of 0; EV profile 15 of 0; CC profile 1 of 1; EV profile 15 of 1; kick "
	       "1; ");
	set_cc(1, MN_OFFLINE);
	set_cc(MN_CC_PROFILES - 1, MN_ONLINE);
	expect(0, false,
	       "no CC profile 1 of 0; CC profile 15 of 0; no CC profile 1 of 1; CC profile 15 of "
	       "1; kick 1; ");
}

/* QPs are not to name it; all else is done all the same, and the first error counts. */
NODE_TEST(mh_node_apply, of_what_cannot_be)
{
	static const char asked[] =
		"CC profile 1 of 0; no CC profile 1 of 0; CC profile 1 of 1; no CC profile 1 of 1; "
		"kick 1; ";

	set_cc(1, MN_ONLINE);
	t.cc_result = MT_ERR_INVALID;
	t.ev_err[0] = t.ev_err[1] = ENOMEM;
	expect(EINVAL, false, asked);
	expect(ENOMEM, false, "kick 1; ");
	t.ev_err[0] = 0;
	expect(ENOMEM, false, "kick 1; ");
	t.ev_err[1] = 0;
	expect(0, false, "kick 1; ");
}

NODE_TEST(mh_node_check, of_what_is_new)
{
	struct mn_state *next = &t.node[0].next;

	set_cc(2, MN_ONLINE);
	assert_i_eq(mh_node_check(&t.nic[0]), 0);
	next->cc[2].nscc.base_rtt_ns = 1;
	assert_i_eq(mh_node_check(&t.nic[0]), EINVAL);
	t.node[0].now.cc[2] = next->cc[2];
	assert_i_eq(mh_node_check(&t.nic[0]), 0);
	set_cc(2, MN_OFFLINE);
	next->cc[2].nscc.base_rtt_ns = 1;
	assert_i_eq(mh_node_check(&t.nic[0]), 0);
	set_cc(MN_CC_PROFILES - 1, MN_ONLINE);
	next->cc[MN_CC_PROFILES - 1].nscc.base_rtt_ns = 1;
	assert_i_eq(mh_node_check(&t.nic[0]), EINVAL);
	set_cc(MN_CC_PROFILES - 1, MN_INIT);
	/* What is behind the last profile is none, though it could be one to look at. */
	next->n_evs = MN_CC_NSCC << 8 | MN_ONLINE;
	memset(next->evs, 0xFF, next->n_evs * sizeof(next->evs[0]));
	assert_i_eq(mh_node_check(&t.nic[0]), 0);
}

/* ---- events ---- */

static struct mt_event event_of(uint16_t profile, uint16_t index, enum mt_ev_state state)
{
	return (struct mt_event){.type = MT_EVENT_EV,
				 .ev_profile = profile,
				 .ev_index = index,
				 .ev = {.value = 0x01020304, .port = 1},
				 .ev_state = (uint8_t)state};
}

static void report(struct mt_event event)
{
	t.events = 0;
	mh_node_report_ev(&t.nic[1], &event);
}

/* Those of an automatic profile have no place in the state. */
NODE_TEST(mh_node_report_ev, of_an_automatic_profile)
{
	const uint32_t value = 0x01020304;

	t.nic[1].node = &t.node[0];
	report(event_of(0, 7, MT_EV_GOOD));
	assert_u_eq(t.events, 0);
	t.node[0].now.ev[0].event_mask = MN_EVENT_GOOD;
	report(event_of(0, 7, MT_EV_ASSUMED_BAD));
	assert_u_eq(t.events, 0);
	report(event_of(0, 7, MT_EV_GOOD));
	assert_u_eq(t.events, 1);
	assert_true(t.heard.good);
	assert_u_eq(t.heard.port, 2);
	assert_bytes_eq(t.heard.val, &value, sizeof(value));
	t.node[0].now.ev[0].event_mask = MN_EVENT_BAD;
	report(event_of(0, 7, MT_EV_GOOD));
	assert_u_eq(t.events, 0);
	report(event_of(0, 7, MT_EV_ASSUMED_BAD));
	assert_u_eq(t.events, 1);
	assert_false(t.heard.good);
	mb_link_remove(&t.cq.ev_link);
	report(event_of(0, 7, MT_EV_ASSUMED_BAD));
	assert_u_eq(t.events, 0);
}

/* Those of another one are named as the controller has; it may have fewer than before. */
NODE_TEST(mh_node_report_ev, of_an_explicit_profile)
{
	struct mn_state *s = &t.node[1].now;

	s->ev[3] = (struct mn_ev_profile){
		.mode = MN_MODE_EXPLICIT, .event_mask = MN_EVENT_GOOD, .first = 1, .n_evs = 2};
	s->evs[2] = (struct mn_ev){.val = {9, 8, [31] = 7}, .port = 4};
	report(event_of(3, 1, MT_EV_GOOD));
	assert_u_eq(t.events, 1);
	assert_u_eq(t.heard.profile, 3);
	assert_u_eq(t.heard.port, 4);
	assert_bytes_eq(t.heard.val, s->evs[2].val, sizeof(t.heard.val));
	report(event_of(3, 2, MT_EV_GOOD));
	assert_u_eq(t.events, 0);
}
