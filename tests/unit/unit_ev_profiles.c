/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ev_profiles.c - what the engine is asked for when EV profiles of a state change:
 * src/host/node/ev_profiles.c. The engine is the test's, and writes down what it is asked.
 */
#include "support/noted_calls.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#include "host/node/profiles.h"

#define PORTS 2u
#define BASE 50000u
#define ID 1u
#define VALUE 70u

static struct {
	struct mh_nic nic;
	struct mh_node node;
	struct mn_state next;
	struct noted_calls calls;
	struct mt_ev evs[MT_EVS_MAX]; /* of the profile that was set last */
	uint32_t asks, grows;
	/* What the engine answers: when asked so often, so often; and whether there is memory. */
	uint32_t short_at, shorts;
	bool no_memory, refuses;
} t;

static int answer(void)
{
	t.asks++;
	if (t.asks < t.short_at || t.shorts == 0)
		return t.refuses ? MT_ERR_INVALID : MT_OK;
	t.shorts--;
	return MT_ERR_MEMORY;
}

__typeof__(mt_ev_profile_set) __real_mt_ev_profile_set, __wrap_mt_ev_profile_set;
int __wrap_mt_ev_profile_set(struct mt_engine *e, uint32_t id, const struct mt_ev_profile_cfg *cfg)
{
	(void)e;
	assert_u_eq(cfg->n_active, cfg->n_evs);
	note_text(&t.calls, "set %u of %u, %u active; ", id, cfg->n_evs, cfg->min_active);
	memcpy(t.evs, cfg->evs, cfg->n_evs * sizeof(t.evs[0]));
	return answer();
}

__typeof__(mt_ev_profile_clear) __real_mt_ev_profile_clear, __wrap_mt_ev_profile_clear;
void __wrap_mt_ev_profile_clear(struct mt_engine *e, uint32_t id)
{
	(void)e;
	note_text(&t.calls, "clear %u; ", id);
}

__typeof__(mt_ev_profile_deny) __real_mt_ev_profile_deny, __wrap_mt_ev_profile_deny;
int __wrap_mt_ev_profile_deny(struct mt_engine *e, uint32_t id, uint32_t i, bool deny)
{
	(void)e;
	assert_true(id <= ID);
	note_text(&t.calls, "%c%u; ", deny ? '-' : '+', i);
	return answer();
}

__typeof__(mt_ev_profile_replace) __real_mt_ev_profile_replace, __wrap_mt_ev_profile_replace;
int __wrap_mt_ev_profile_replace(struct mt_engine *e, uint32_t id, uint32_t i, uint32_t value)
{
	(void)e;
	assert_u_eq(id, ID);
	note_text(&t.calls, "%u becomes %u; ", i, value);
	return MT_OK;
}

__typeof__(mu_path_deny) __real_mu_path_deny, __wrap_mu_path_deny;
bool __wrap_mu_path_deny(struct mu_engine *e, uint16_t i, bool deny)
{
	(void)e;
	note_text(&t.calls, "%c%u of UD; ", deny ? '-' : '+', i);
	return true;
}

__typeof__(mh_engine_grow) __real_mh_engine_grow, __wrap_mh_engine_grow;
bool __wrap_mh_engine_grow(struct mh_nic *nic)
{
	assert_ptr_equal(nic, &t.nic);
	t.grows++;
	return !t.no_memory;
}

static void add_ev(struct mn_state *s, uint32_t id, uint32_t value, uint8_t port)
{
	struct mn_ev *ev = &s->evs[s->n_evs++];

	*ev = (struct mn_ev){.port = port};
	memcpy(ev->val, &value, sizeof(value));
	s->ev[id].n_evs++;
	for (uint32_t other = id + 1; other < MN_EV_PROFILES; other++)
		s->ev[other].first = s->n_evs;
}

/* A state with a profile of three EVs, and one behind it. */
static void fill(struct mn_state *s)
{
	mn_state_init(s);
	s->fmt[1] = (struct mn_fmt_profile){
		.state = MN_ONLINE, .format = MN_FORMAT_UDP, .n_fields = 1, .width = {16}};
	s->ev[ID] = (struct mn_ev_profile){
		.state = MN_ONLINE, .mode = MN_MODE_EXPLICIT, .fmt = 1, .count = 3};
	for (uint32_t i = 0; i < 3; i++)
		add_ev(s, ID, VALUE + i, (uint8_t)(i % PORTS + 1));
	add_ev(s, ID + 1, VALUE, 1);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nic.node = &t.node;
	t.nic.env = (struct mh_env){.n_ports = PORTS,
				    .evs = 2,
				    .ev_base = BASE,
				    .ev_format = MW_EV_UDP,
				    .driver = MH_DRIVER_RAW41,
				    .shards = 1};
	fill(&t.node.now);
	fill(&t.next);
	return 0;
}

#define PROFILE_TEST(function, name) TEST_WITH(setup, NULL, function, name)

static struct mn_ev_profile *next_profile(void)
{
	return &t.next.ev[ID];
}

static struct mn_ev *next_ev(uint32_t i)
{
	return &t.next.evs[t.next.ev[ID].first + i];
}

static void expect(int err, const char *asked)
{
	t.calls.steps[0] = '\0';
	t.asks = t.grows = 0;
	assert_i_eq(mh_ev_profile_apply(&t.nic, ID, &t.node.now, &t.next), err);
	assert_string_equal(t.calls.steps, asked);
}

PROFILE_TEST(mh_ev_profile_apply, what_is_new)
{
	t.node.now.ev[ID].state = MN_OFFLINE;
	next_ev(1)->denied = 1;
	expect(0, "set 1 of 3, 1 active; +0; +2; -1; ");
	for (uint32_t i = 0; i < 3; i++) {
		assert_u_eq(t.evs[i].value, VALUE + i);
		assert_u_eq(t.evs[i].port, i % PORTS);
	}
	next_profile()->min_active = 2;
	expect(0, "set 1 of 3, 2 active; +0; +2; -1; ");
	next_profile()->min_active = 4;
	expect(0, "set 1 of 3, 3 active; +0; +2; -1; ");
}

/* It is of another device, or of no more use. */
PROFILE_TEST(mh_ev_profile_apply, what_cannot_be)
{
	t.node.now.ev[ID].state = MN_OFFLINE;
	next_ev(2)->port = PORTS + 1;
	expect(0, "clear 1; ");
	next_ev(2)->port = 0;
	expect(0, "clear 1; ");
	t.node.now.ev[ID].state = MN_ONLINE;
	expect(0, "clear 1; ");
	next_profile()->state = MN_OFFLINE;
	expect(0, "clear 1; ");
	t.node.now.ev[ID].state = MN_OFFLINE;
	expect(0, "");
}

/* What is the same is left; where EVs keep their places and ports running QPs follow. */
PROFILE_TEST(mh_ev_profile_apply, what_changes_in_place)
{
	expect(0, "");
	next_ev(0)->denied = 1;
	expect(0, "+1; +2; -0; ");
	next_ev(0)->denied = 0;
	next_ev(1)->val[0] = 99;
	expect(0, "1 becomes 99; +0; +1; +2; ");
	/* The next profile's EV is none of this one. */
	next_ev(3)->port = 2;
	expect(0, "1 becomes 99; +0; +1; +2; ");
}

/* EVs are the same numbers, but mean something else. */
PROFILE_TEST(mh_ev_profile_apply, what_becomes_of_their_fields)
{
	next_profile()->fmt = 2;
	t.next.fmt[2] = t.next.fmt[1];
	expect(0, "+0; +1; +2; ");
	next_profile()->fmt = 1;
	t.next.fmt[1].width[0] = 8;
	expect(0, "+0; +1; +2; ");
	t.next.fmt[1].width[0] = 16;
	next_profile()->field[0].mask = 1;
	expect(0, "+0; +1; +2; ");
	next_profile()->field[0] =
		(struct mn_ev_field){.width = 16, .max = UINT16_MAX, .mask = UINT16_MAX};
	next_profile()->n_fields = 1;
	t.node.now.ev[ID].field[0] = next_profile()->field[0];
	expect(0, "0 becomes 17920; 1 becomes 18176; 2 becomes 18432; +0; +1; +2; ");
}

PROFILE_TEST(mh_ev_profile_apply, what_is_of_another_shape)
{
	static const char defined[] = "set 1 of 3, 1 active; +0; +1; +2; ";

	next_ev(2)->port = 2;
	expect(0, defined);
	next_ev(2)->port = 1;
	next_profile()->min_active = 1;
	expect(0, defined);
	next_profile()->min_active = 0;
	next_profile()->count = 4;
	expect(0, defined);
	next_profile()->count = 3;
	next_profile()->mode = MN_MODE_GENERATED;
	expect(0, defined);
	/* It could not be used here before. */
	next_profile()->mode = MN_MODE_EXPLICIT;
	t.node.now.evs[t.node.now.ev[ID].first + 2].port = PORTS + 1;
	next_ev(2)->port = PORTS + 1;
	next_ev(0)->denied = 1;
	expect(0, "clear 1; ");
}

static void make_auto(struct mn_state *s)
{
	s->ev[ID].mode = MN_MODE_AUTO;
	s->ev[ID].count = 0;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t value = BASE + i;

		memcpy(s->evs[i].val, &value, sizeof(value));
		s->evs[i].denied = 1;
	}
}

/* Its EVs are the device's; its list names those that are denied, and ports count. */
PROFILE_TEST(mh_ev_profile_apply, what_is_automatic)
{
	make_auto(&t.node.now);
	make_auto(&t.next);
	expect(0, "");
	t.node.now.ev[ID].state = MN_OFFLINE;
	/* Port 1 and BASE, port 2 and BASE + 1; no EV has the third value. */
	expect(0, "set 1 of 4, 1 active; +1; +2; -0; -3; ");
	next_profile()->count = 3;
	expect(0, "set 1 of 3, 1 active; +1; +2; -0; ");
	next_profile()->count = 5;
	expect(0, "set 1 of 4, 1 active; +1; +2; -0; -3; ");
	/* The order of a list, and what ports are in it, is no shape. */
	t.node.now.ev[ID].state = MN_ONLINE;
	next_profile()->count = 0;
	next_ev(0)->port = 2;
	expect(0, "+0; +2; -1; -3; ");
	next_profile()->n_evs = 1;
	expect(0, "+0; +2; +3; -1; ");
}

/* Datagrams have the device's own EVs. */
PROFILE_TEST(mh_ev_profile_apply, what_datagrams_have)
{
	t.next.ev[MN_OWN_PROFILE].n_evs = 1;
	t.next.evs[0].val[0] = BASE & 0xFF;
	t.next.evs[0].val[1] = BASE >> 8;
	t.node.now.ev[MN_OWN_PROFILE].state = MN_OFFLINE;
	t.calls.steps[0] = '\0';
	assert_i_eq(mh_ev_profile_apply(&t.nic, MN_OWN_PROFILE, &t.node.now, &t.next), 0);
	assert_string_equal(
		t.calls.steps,
		"set 0 of 4, 1 active; +1; +1 of UD; +2; +2 of UD; +3; +3 of UD; -0; -0 of UD; ");
}

/* The engine is given memory and asked again; else the rest is without effect. */
PROFILE_TEST(mh_ev_profile_apply, what_takes_memory)
{
	t.node.now.ev[ID].state = MN_OFFLINE;
	t.short_at = 1;
	t.shorts = 1;
	expect(0, "set 1 of 3, 1 active; set 1 of 3, 1 active; +0; +1; +2; ");
	assert_u_eq(t.grows, 1);
	t.short_at = 3;
	t.shorts = 2;
	expect(0, "set 1 of 3, 1 active; +0; +1; +1; +1; +2; ");
	assert_u_eq(t.grows, 2);
	t.no_memory = true;
	t.shorts = 1;
	expect(ENOMEM, "set 1 of 3, 1 active; +0; +1; ");
	assert_u_eq(t.grows, 1);
	t.short_at = 1;
	t.shorts = 1;
	expect(ENOMEM, "set 1 of 3, 1 active; ");
	next_ev(0)->denied = 1;
	t.short_at = 4;
	t.shorts = 1;
	expect(ENOMEM, "set 1 of 3, 1 active; +1; +2; -0; ");
}

/* The last EV that is not denied stays, which is no error; what is out of range is one. */
PROFILE_TEST(mh_ev_profile_apply, what_the_engine_refuses)
{
	t.refuses = true;
	next_ev(0)->denied = 1;
	expect(0, "+1; +2; -0; ");
	t.node.now.ev[ID].state = MN_OFFLINE;
	expect(EINVAL, "set 1 of 3, 1 active; ");
}

/* A profile that is as long as one can be; nothing is behind it. */
PROFILE_TEST(mh_ev_profile_apply, what_is_as_long_as_can_be)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct mn_state *s = k ? &t.next : &t.node.now;

		s->n_evs = s->ev[ID].n_evs = 0;
		s->ev[ID].count = MT_EVS_MAX;
		for (uint32_t i = 0; i < MT_EVS_MAX; i++)
			add_ev(s, ID, i, 1);
	}
	next_ev(MT_EVS_MAX - 1)->val[0] = 0;
	assert_i_eq(mh_ev_profile_apply(&t.nic, ID, &t.node.now, &t.next), 0);
	assert_non_null(strstr(t.calls.steps, "1023 becomes 768; +0; +1; "));
	assert_non_null(strstr(t.calls.steps, "+1023; "));
}

/* ---- which EVs of an automatic profile are denied ---- */

PROFILE_TEST(mh_node_ev_denied, by_its_list)
{
	bool denied[MT_EVS_MAX] = {false, true, true, false};

	make_auto(&t.node.now);
	assert_u_eq(mh_node_ev_denied(&t.nic, ID, denied), 4);
	assert_true(denied[0] && !denied[1] && !denied[2] && denied[3]);
	/* What is behind the last one stays. */
	t.node.now.ev[ID].count = 2;
	denied[2] = true;
	assert_u_eq(mh_node_ev_denied(&t.nic, ID, denied), 2);
	assert_true(denied[0] && !denied[1] && denied[2]);
}

/* Numbers are the host's; a plain socket sends one of its own instead. */
PROFILE_TEST(mh_node_ev_denied, as_this_process_sends_them)
{
	bool denied[MT_EVS_MAX];

	make_auto(&t.node.now);
	t.nic.env.driver = MH_DRIVER_UDP;
	t.nic.env.ev_base = 4 * MH_EV_BASE_STRIDE;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t value = MH_EV_BASE_STRIDE + i;

		memcpy(t.node.now.evs[i].val, &value, sizeof(value));
	}
	assert_u_eq(mh_node_ev_denied(&t.nic, ID, denied), 4);
	/* Port 1 and its first, port 2 and its second, port 1 and its first again. */
	assert_true(denied[0] && !denied[1] && !denied[2] && denied[3]);
}
