/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_node.c - what a controller decides, as it is seen on the wire: the source port of each
 * frame that a QP sends is its EV.
 */
#include "unit/nic_evs_fixture.h"

#include <errno.h>

#include "host/node/node.h"

/* Each packet on an EV of its own. */
static int node_setup(void **state)
{
	setenv("MRC_RUN", "1", 1);
	return fixture_setup(state);
}

#define NODE_TEST(name) TEST_WITH(node_setup, fixture_teardown, mh_node_change, name)

/* One change of one EV, or of one profile, or of a port. */
struct step {
	uint64_t profile;
	const struct mn_ev_op *op;
	const struct mn_ev_change *ev;
	const struct mn_fmt_change *fmt;
	const struct mn_cc_change *cc;
	uint32_t port;
	enum mn_port_admin admin;
};

static int take_step(struct mn_state *s, const struct mn_device *d, void *ctx)
{
	const struct step *step = ctx;

	if (step->op)
		return mn_ev_modify(s, d, step->profile, step->op);
	if (step->ev)
		return mn_ev_profile_modify(s, d, step->profile, step->ev);
	if (step->fmt)
		return mn_fmt_modify(s, d, step->profile, step->fmt);
	if (step->cc)
		return mn_cc_modify(s, d, step->profile, step->cc);
	return mn_port_modify(s, d, step->port, step->admin);
}

static int take(struct nic_fixture *fixture, struct step step)
{
	return mh_node_change(fixture->dev, take_step, &step, NULL);
}

static struct mn_ev ev_of(uint32_t value, uint8_t port)
{
	struct mn_ev ev = {.port = port};

	memcpy(ev.val, &value, sizeof(value));
	return ev;
}

static int deny(struct nic_fixture *fixture, uint64_t profile, uint32_t value, uint8_t port,
		bool denied)
{
	struct mn_ev_op op = {.ev = ev_of(value, port), .denied = denied};

	return take(fixture, (struct step){.profile = profile, .op = &op});
}

static int move_profile(struct nic_fixture *fixture, uint64_t profile, uint32_t state)
{
	struct mn_ev_change c = {.mask = MN_EV_STATE, .state = state};

	return take(fixture, (struct step){.profile = profile, .ev = &c});
}

/* A profile of these EVs, which QPs may use. */
static void add_explicit(struct nic_fixture *fixture, uint64_t profile, const struct mn_ev *evs,
			 uint32_t n)
{
	struct mn_fmt_change fmt = {.mask = MN_FMT_STATE | MN_FMT_FORMAT | MN_FMT_FIELDS,
				    .state = MN_OFFLINE,
				    .format = MN_FORMAT_UDP,
				    .width = (const uint8_t[]){16},
				    .n_fields = 1};
	struct mn_ev_change c = {.mask = MN_EV_STATE | MN_EV_MODE | MN_EV_FMT | MN_EV_COUNT,
				 .state = MN_OFFLINE,
				 .mode = MN_MODE_EXPLICIT,
				 .fmt = 5,
				 .count = n};

	assert_i_eq(take(fixture, (struct step){.profile = 5, .fmt = &fmt}), 0);
	fmt = (struct mn_fmt_change){.mask = MN_FMT_STATE, .state = MN_ONLINE};
	assert_i_eq(take(fixture, (struct step){.profile = 5, .fmt = &fmt}), 0);
	assert_i_eq(take(fixture, (struct step){.profile = profile, .ev = &c}), 0);
	for (uint32_t i = 0; i < n; i++) {
		struct mn_ev_op op = {.replaces = true, .with = evs[i]};

		assert_i_eq(take(fixture, (struct step){.profile = profile, .op = &op}), 0);
	}
	assert_i_eq(move_profile(fixture, profile, MN_ONLINE), 0);
}

/* REQ(ctl.ev-denied) */
NODE_TEST(a_denied_ev_is_left_at_once)
{
	struct nic_fixture *fixture = *state;
	struct seen seen;

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE + 1, 2, true), 0);
	seen = send_some(fixture);
	assert_u_eq(seen.on[1][1], 0);
	assert_true(seen.on[0][1] > 0 && seen.on[1][0] > 0);
}

/* What another process lists as its second EV is the second one here. REQ(ctl.ev-denied) */
NODE_TEST(evs_of_another_process_are_those_of_the_same_place)
{
	struct nic_fixture *fixture = *state;
	struct seen seen;

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(deny(fixture, 0, MH_EV_BASE + 1, 2, true), 0);
	seen = send_some(fixture);
	assert_u_eq(seen.on[1][1], 0);
	assert_true(seen.on[1][0] > 0);
}

/* REQ(ctl.ev-denied) */
NODE_TEST(the_last_ev_stays)
{
	struct nic_fixture *fixture = *state;
	uint32_t denied = 0;

	assert_i_eq(fixture_connect(fixture), 0);
	for (uint32_t i = 0; i < FIXTURE_PLANES * FIXTURE_EVS; i++)
		denied += deny(fixture, 0, FIXTURE_EV_BASE + i / FIXTURE_PLANES,
			       (uint8_t)(i % FIXTURE_PLANES + 1), true) == 0;
	assert_u_eq(denied, FIXTURE_PLANES * FIXTURE_EVS - 1);
	assert_u_eq(send_some(fixture).on[1][3], 16);
}

static int connect_with(struct nic_fixture *fixture, uint32_t ev_profile, uint32_t cc_profile)
{
	struct rd_qp_attr attr;
	int err;

	mh_qp_attr_default(&attr);
	attr.state = RD_QPS_INIT;
	attr.ev_profile = ev_profile;
	attr.cc_profile = cc_profile;
	err = mh_qp_modify(fixture->qp, &attr, RD_QP_STATE | RD_QP_EV_PROFILE | RD_QP_CC_PROFILE);
	return err ? err : fixture_connect(fixture);
}

/* REQ(api.profile-ids) REQ(ctl.profile-states) */
NODE_TEST(qps_use_the_profile_that_they_name)
{
	struct nic_fixture *fixture = *state;
	const struct mn_ev evs[] = {ev_of(FIXTURE_EV_BASE + 2, 1), ev_of(FIXTURE_EV_BASE + 3, 2)};
	struct seen seen;

	assert_i_eq(connect_with(fixture, 1, 0), EINVAL);
	add_explicit(fixture, 1, evs, 2);
	assert_i_eq(connect_with(fixture, 1, 0), 0);
	seen = send_some(fixture);
	assert_u_eq(seen.on[0][2] + seen.on[1][3], seen.all);
	assert_true(seen.on[0][2] > 0 && seen.on[1][3] > 0);
	assert_i_eq(move_profile(fixture, 1, MN_OFFLINE), EBUSY);
}

/* REQ(ctl.ev-ops) */
NODE_TEST(a_running_qp_takes_another_ev)
{
	struct nic_fixture *fixture = *state;
	const struct mn_ev evs[] = {ev_of(FIXTURE_EV_BASE + 2, 1), ev_of(FIXTURE_EV_BASE + 3, 2)};
	struct mn_ev_op op = {
		.ev = evs[0], .replaces = true, .with = ev_of(FIXTURE_EV_BASE + 1, 1)};
	struct seen seen;

	add_explicit(fixture, 1, evs, 2);
	assert_i_eq(connect_with(fixture, 1, 0), 0);
	assert_i_eq(take(fixture, (struct step){.profile = 1, .op = &op}), 0);
	seen = send_some(fixture);
	assert_u_eq(seen.on[0][2], 0);
	assert_true(seen.on[0][1] > 0);
	assert_i_eq(deny(fixture, 1, FIXTURE_EV_BASE + 1, 1, true), 0);
	assert_u_eq(send_some(fixture).on[1][3], 16);
}

/* REQ(ctl.port-admin) */
static void assert_port_is_left(struct nic_fixture *fixture, enum mn_port_admin admin)
{
	struct mh_plane_attr plane;
	struct seen seen;

	assert_i_eq(take(fixture, (struct step){.port = 2, .admin = admin}), 0);
	assert_i_eq(mh_device_query_plane(fixture->dev, 1, &plane), 0);
	assert_false(plane.up);
	assert_i_eq(fixture_connect(fixture), 0);
	seen = send_some(fixture);
	for (uint32_t i = 0; i < FIXTURE_EVS; i++)
		assert_u_eq(seen.on[1][i], 0);
	assert_i_eq(take(fixture, (struct step){.port = 2, .admin = MN_PORT_ENABLED}), 0);
	seen = send_some(fixture);
	assert_true(seen.on[1][0] > 0);
}

NODE_TEST(a_port_that_is_down)
{
	assert_port_is_left(*state, MN_PORT_DOWN);
}

NODE_TEST(a_port_that_is_suspended)
{
	assert_port_is_left(*state, MN_PORT_SUSPENDED);
}

static int move_cc(struct nic_fixture *fixture, struct mn_cc_change c)
{
	return take(fixture, (struct step){.profile = 2, .cc = &c});
}

/* REQ(ctl.cc-profile) */
NODE_TEST(qps_have_the_congestion_control_that_they_name)
{
	struct nic_fixture *fixture = *state;
	struct mn_nscc nscc = {.base_rtt_ns = 20000, .max_cwnd_bytes = 9000};
	struct mt_qp_info info;

	assert_i_eq(move_cc(fixture, (struct mn_cc_change){.mask = MN_CC_STATE | MN_CC_ALGORITHM,
							   .state = MN_OFFLINE,
							   .algorithm = MN_CC_NSCC}),
		    0);
	assert_i_eq(move_cc(fixture, (struct mn_cc_change){.mask = MN_CC_STATE | MN_CC_CONFIG,
							   .state = MN_ONLINE,
							   .nscc = &nscc}),
		    0);
	assert_i_eq(connect_with(fixture, 0, 2), 0);
	mt_qp_info(fixture->qp->mt, &info);
	assert_u_eq(info.cwnd_bytes, 9000);
	assert_i_eq(
		move_cc(fixture, (struct mn_cc_change){.mask = MN_CC_STATE, .state = MN_OFFLINE}),
		EBUSY);
}

/* What no NIC of this rate can do is refused, and nothing of it stays. */
NODE_TEST(congestion_control_that_cannot_be)
{
	struct nic_fixture *fixture = *state;
	struct mn_nscc nscc = {.base_rtt_ns = 1};

	assert_i_eq(move_cc(fixture, (struct mn_cc_change){.mask = MN_CC_STATE | MN_CC_ALGORITHM,
							   .state = MN_OFFLINE,
							   .algorithm = MN_CC_NSCC}),
		    0);
	assert_i_eq(move_cc(fixture, (struct mn_cc_change){.mask = MN_CC_STATE | MN_CC_CONFIG,
							   .state = MN_ONLINE,
							   .nscc = &nscc}),
		    EINVAL);
	assert_u_eq(fixture->dev->nic->node->now.cc[2].state, MN_OFFLINE);
	assert_i_eq(connect_with(fixture, 0, 2), EINVAL);
}

/* It may be of a store whose writer knows other devices; the rest is as it was. */
NODE_TEST(congestion_control_of_others_that_does_not_fit)
{
	struct nic_fixture *fixture = *state;
	struct mh_node *node = fixture->dev->nic->node;

	node->now.cc[3] = (struct mn_cc_profile){.state = MN_ONLINE,
						 .algorithm = MN_CC_NSCC,
						 .has_config = 1,
						 .nscc = {.base_rtt_ns = 1}};
	assert_i_eq(take(fixture, (struct step){.port = 2, .admin = MN_PORT_SUSPENDED}), 0);
	assert_u_eq(node->now.port_admin[1], MN_PORT_SUSPENDED);
	assert_u_eq(node->now.cc[3].state, MN_ONLINE);
}

/* REQ(ctl.event-queue) */
NODE_TEST(events_that_find_no_room_are_counted)
{
	struct nic_fixture *fixture = *state;
	struct mn_ev_change wants = {.mask = MN_EV_EVENT_MASK, .event_mask = MN_EVENT_GOOD};
	struct mh_ev_event events[4];
	struct mh_cq *cq;

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_ev_cq_create(fixture->dev, 2, NULL, NULL, &cq), 0);
	assert_i_eq(take(fixture, (struct step){.ev = &wants}), 0);
	for (uint32_t i = 0; i < 5; i++) {
		assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE + 1, 2, true), 0);
		assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE + 1, 2, false), 0);
	}
	assert_i_eq(mh_ev_cq_poll(cq, 4, events), 2);
	assert_u_eq(events[0].dropped + events[1].dropped, 0);
	assert_u_eq(events[1].port, 2);
	assert_true(events[1].good);
	assert_memory_equal(events[1].val, ev_of(FIXTURE_EV_BASE + 1, 2).val, 32);
	assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE + 1, 2, true), 0);
	assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE + 1, 2, false), 0);
	assert_i_eq(mh_ev_cq_poll(cq, 4, events), 1);
	assert_u_eq(events[0].dropped, 3);
	assert_i_eq(mh_ev_cq_poll(fixture->cq, 4, events), -EINVAL);
	assert_i_eq(mh_cq_destroy(cq), 0);
}

/* Events that nobody asked for are none. */
NODE_TEST(an_event_mask_of_none)
{
	struct nic_fixture *fixture = *state;
	struct mh_ev_event event;
	struct mh_cq *cq;

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_ev_cq_create(fixture->dev, 2, NULL, NULL, &cq), 0);
	assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE + 1, 2, true), 0);
	assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE + 1, 2, false), 0);
	assert_i_eq(mh_ev_cq_poll(cq, 1, &event), 0);
	assert_i_eq(mh_cq_destroy(cq), 0);
}

/* No QP completes into a CQ of EV events. */
NODE_TEST(an_event_cq_is_for_no_qp)
{
	struct nic_fixture *fixture = *state;
	struct mh_qp_init init;
	struct mh_qp *qp;

	mh_qp_init_query(fixture->qp, &init);
	assert_i_eq(mh_ev_cq_create(fixture->dev, 2, NULL, NULL, &init.recv_cq), 0);
	assert_i_eq(mh_qp_create(&init, &qp), EINVAL);
	assert_i_eq(mh_cq_destroy(init.recv_cq), 0);
	assert_i_eq(mh_ev_cq_create(fixture->dev, 0, NULL, NULL, &init.recv_cq), EINVAL);
}

NODE_TEST(states_of_evs)
{
	struct nic_fixture *fixture = *state;
	enum mh_ev_state states[MH_EVS_MAX];

	assert_u_eq(mh_ev_profile_states(fixture->dev, 1, states), 0);
	assert_u_eq(mh_ev_profile_states(fixture->dev, 0, states),
		    UINT64_C(1) * FIXTURE_PLANES * FIXTURE_EVS);
	assert_u_eq(states[0], MH_EV_UNKNOWN);
	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(deny(fixture, 0, FIXTURE_EV_BASE, 2, true), 0);
	mh_ev_profile_states(fixture->dev, 0, states);
	assert_u_eq(states[0], MH_EV_GOOD);
	assert_u_eq(states[1], MH_EV_DENIED);
}

/* What was denied is so before QPs may use the profile, too. REQ(ctl.ev-denied) */
NODE_TEST(states_of_automatic_evs_offline)
{
	struct nic_fixture *fixture = *state;
	struct mn_ev_change c = {.mask = MN_EV_STATE | MN_EV_MODE | MN_EV_COUNT,
				 .state = MN_OFFLINE,
				 .mode = MN_MODE_AUTO,
				 .count = 3};
	enum mh_ev_state states[MH_EVS_MAX];

	assert_i_eq(take(fixture, (struct step){.profile = 1, .ev = &c}), 0);
	assert_i_eq(deny(fixture, 1, FIXTURE_EV_BASE, 2, true), 0);
	assert_u_eq(mh_ev_profile_states(fixture->dev, 1, states), 3);
	assert_u_eq(states[0], MH_EV_UNKNOWN);
	assert_u_eq(states[1], MH_EV_DENIED);
	assert_u_eq(states[2], MH_EV_UNKNOWN);
}
