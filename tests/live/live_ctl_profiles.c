/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_ctl_profiles.c - a controller and its device in one process: the walks through explicit and
 * generated EVs, congestion control and EV events that come with the controller API, in our words.
 */
#include "live/live_fixture.h"

#include <errno.h>
#include <mrc_ctl.h>
#include <poll.h>

#define CASE(function, name) TEST_WITH(fixture_setup, fixture_teardown, function, name)
#define FMT 13
#define PROFILE 1
#define EVS 8

static int set_format(struct fixture *r, enum mrc_ctl_profile_state to)
{
	struct mrc_ctl_ev_fmt_field field[1] = {{16}};
	struct mrc_ctl_ev_fmt_profile_attr attr = {
		.profile_state = to,
		.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
		.ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS,
			      .fmt_fields = field,
			      .fmt_field_count = 1}};
	int mask = MRC_CTL_EV_FMT_PROFILE_STATE;

	if (to == MRC_CTL_PROFILE_OFFLINE)
		mask |= MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP;
	return mrc_ctl_modify_ev_fmt_profile(r->ctx, FMT, &attr, mask);
}

static int move_profile(struct fixture *r, enum mrc_ctl_profile_state to)
{
	struct mrc_ctl_ev_profile_attr attr = {.profile_state = to};

	return mrc_ctl_modify_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_STATE);
}

static int make_profile(struct fixture *r, enum mrc_ctl_ev_mode mode)
{
	struct mrc_ctl_ev_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
					       .ev_mode = mode,
					       .ev_fmt_profile_id = FMT,
					       .ev_count = EVS,
					       .ev_min_active = 2,
					       .ev_event_mask = (int)MRC_CTL_EV_GOOD |
								(int)MRC_CTL_EV_ASSUMED_BAD};

	assert_int_equal(set_format(r, MRC_CTL_PROFILE_OFFLINE), 0);
	assert_int_equal(set_format(r, MRC_CTL_PROFILE_ONLINE), 0);
	return mrc_ctl_modify_ev_profile(
		r->ctx, PROFILE, &attr,
		MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
			MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
			MRC_CTL_EV_PROFILE_EVENT_MASK);
}

/* EVs of the device's own, so that sockets carry them as they are. */
static void own_evs(struct fixture *r, struct mrc_ctl_ev *evs)
{
	struct mrc_ctl_ev_op_entry entries[256];
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY,
							 .entries = entries,
							 .entry_count = 256}};

	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	assert_true(attr.ev_op.entry_count >= EVS);
	for (int i = 0; i < EVS; i++)
		evs[i] = entries[i].ev;
}

static int ev_op(struct fixture *r, enum mrc_ctl_ev_op op, struct mrc_ctl_ev_op_entry *entries,
		 int *n)
{
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_op = {.op = op, .entries = entries, .entry_count = *n}};
	int err;

	if (op == MRC_CTL_EV_OP_QUERY_EV_ARRAY || op == MRC_CTL_EV_OP_QUERY_EV_STATE)
		err = mrc_ctl_query_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_EV_OP);
	else
		err = mrc_ctl_modify_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_EV_OP);
	*n = attr.ev_op.entry_count;
	return err;
}

static void make_explicit(struct fixture *r, struct mrc_ctl_ev *evs)
{
	struct mrc_ctl_ev_op_entry entries[EVS] = {0};
	int n = EVS;

	own_evs(r, evs);
	assert_int_equal(make_profile(r, MRC_CTL_EV_MODE_EXP), 0);
	for (int i = 0; i < EVS; i++) {
		entries[i].ev = MRC_CTL_EV_UNPOPULATED;
		entries[i].ev_new = evs[i];
		entries[i].state = MRC_CTL_EV_GOOD;
	}
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_REPLACE_EV, entries, &n), 0);
	assert_int_equal(n, EVS);
	assert_int_equal(move_profile(r, MRC_CTL_PROFILE_ONLINE), 0);
}

/* Connects the two QPs to each other with a profile of each kind. */
static void connect_with(struct fixture *r, uint64_t ev_profile, uint64_t cc_profile)
{
	for (int i = 0; i < FIXTURE_QPS; i++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
		struct mrc_qp_attr mrc = {.profile = {ev_profile, cc_profile}};

		assert_int_equal(mrc_modify_qp(r->qp[i], &attr, IBV_QP_STATE, &mrc,
					       MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID),
				 0);
		fixture_connect(r, i, &r->end[1 - i]);
	}
}

static void write_and_wait(struct fixture *r)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 100000), *bad;

	assert_int_equal(mrc_post_send(r->qp[0], &wr, &bad), 0);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
}

/* REQ(ctl.profile-states) REQ(ctl.ev-modes) REQ(ctl.ev-ops) REQ(api.profile-ids) */
CASE(mrc_ctl_ev_profile, explicit_evs)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_op_entry entries[EVS];
	struct mrc_ctl_ev evs[EVS];
	int n = EVS;

	make_explicit(r, evs);
	connect_with(r, PROFILE, 0);
	write_and_wait(r);
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, &n), 0);
	assert_int_equal(n, EVS);
	for (int i = 0; i < EVS; i++) {
		assert_memory_equal(&entries[i].ev, &evs[i], sizeof(evs[i]));
		assert_int_equal(entries[i].state, MRC_CTL_EV_GOOD);
	}
	assert_minus_one(move_profile(r, MRC_CTL_PROFILE_OFFLINE), EBUSY);
}

/* Entry by entry; what fails ends the call, and what was done before stays.
 * REQ(ctl.ev-ops) REQ(ctl.ev-denied) */
CASE(mrc_ctl_ev_profile, a_batch_succeeds_in_part)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_op_entry entries[EVS] = {0};
	struct mrc_ctl_ev evs[EVS];
	int n = 3;

	make_explicit(r, evs);
	connect_with(r, PROFILE, 0);
	for (int i = 0; i < EVS; i++) {
		entries[i].ev = evs[i];
		entries[i].state = MRC_CTL_EV_DENIED;
	}
	entries[2].ev.port = 200;
	assert_minus_one(ev_op(r, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n), EINVAL);
	assert_int_equal(n, 2);
	entries[2].ev = evs[2];
	n = EVS;
	/* Two stay, for the profile is to have two that are active. */
	assert_minus_one(ev_op(r, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n), EBUSY);
	assert_int_equal(n, EVS - 2);
	write_and_wait(r);
	n = EVS;
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_QUERY_EV_STATE, entries, &n), 0);
	for (int i = 0; i < EVS; i++)
		assert_int_equal(entries[i].state,
				 i < EVS - 2 ? MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD);
	entries[0].ev.val[3] = 9;
	assert_minus_one(ev_op(r, MRC_CTL_EV_OP_QUERY_EV_STATE, entries, &n), ENOENT);
	assert_int_equal(n, 0);
}

/* REQ(ctl.ev-ops) */
CASE(mrc_ctl_ev_profile, evs_change_under_a_running_qp)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_op_entry entry = {.state = MRC_CTL_EV_GOOD};
	struct mrc_ctl_ev evs[EVS];
	int n = 1;

	make_explicit(r, evs);
	connect_with(r, PROFILE, 0);
	write_and_wait(r);
	entry.ev = evs[0];
	entry.ev_new = evs[0];
	entry.ev_new.val[0] ^= 1;
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_REPLACE_EV, &entry, &n), 0);
	write_and_wait(r);
	assert_minus_one(ev_op(r, MRC_CTL_EV_OP_REPLACE_EV, &entry, &n), ENOENT);
	entry.flags = 2;
	n = 1;
	assert_minus_one(ev_op(r, MRC_CTL_EV_OP_REPLACE_EV, &entry, &n), EINVAL);
}

static const struct mrc_ctl_ev_field sixteen = {16, 0, 1, 0xFFFF, 0xFFFF};

static int set_fields(struct fixture *r, const struct mrc_ctl_ev_field *fields, int n)
{
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_fields_op = {.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS,
				 .fields = (struct mrc_ctl_ev_field *)(uintptr_t)fields,
				 .field_count = n}};

	return mrc_ctl_modify_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_EV_FIELDS_OP);
}

/* REQ(ctl.ev-modes) REQ(srv6.ev-expansion) */
CASE(mrc_ctl_ev_profile, generated_evs)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_field fields[2] = {sixteen, sixteen}, got[2];
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_fields_op = {.op = MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS, .fields = got}};
	struct mrc_ctl_ev_op_entry entries[EVS];
	int n = EVS;

	assert_int_equal(make_profile(r, MRC_CTL_EV_MODE_GEN), 0);
	assert_minus_one(set_fields(r, fields, 2), E2BIG);
	assert_int_equal(set_fields(r, &sixteen, 1), 0);
	assert_int_equal(move_profile(r, MRC_CTL_PROFILE_ONLINE), 0);
	assert_minus_one(
		mrc_ctl_query_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_EV_FIELDS_OP),
		E2BIG);
	assert_int_equal(attr.ev_fields_op.field_count, 1);
	assert_int_equal(
		mrc_ctl_query_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_EV_FIELDS_OP),
		0);
	assert_memory_equal(got, &sixteen, sizeof(sixteen));
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, &n), 0);
	assert_int_equal(n, EVS);
	connect_with(r, PROFILE, 0);
	write_and_wait(r);
}

CASE(mrc_ctl_ev_profile, profiles_begin_empty)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_profile_attr attr = {0};
	struct ibv_qp_attr qp = {.qp_state = IBV_QPS_INIT};
	struct mrc_qp_attr mrc = {.profile = {PROFILE, 0}};
	const int all =
		MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_CUR_STATE | MRC_CTL_EV_PROFILE_COUNT;

	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, PROFILE, &attr, all), 0);
	assert_int_equal(attr.cur_profile_state, MRC_CTL_PROFILE_INIT);
	assert_int_equal(attr.ev_count, 0);
	assert_int_equal(mrc_modify_qp(r->qp[0], &qp, IBV_QP_STATE, &mrc, MRC_QP_EV_PROFILE_ID),
			 EINVAL);
	mrc.profile = (__typeof__(mrc.profile)){0, PROFILE};
	assert_int_equal(mrc_modify_qp(r->qp[0], &qp, IBV_QP_STATE, &mrc, MRC_QP_CC_PROFILE_ID),
			 EINVAL);
}

CASE(mrc_ctl_modify_ev_profile, refusals)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_profile_attr attr = {.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY};
	const int op = MRC_CTL_EV_PROFILE_EV_OP, fields = MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

#define MODIFY(id, mask) mrc_ctl_modify_ev_profile(r->ctx, (id), &attr, (mask))
	assert_minus_one(MODIFY(PROFILE, op | fields), EINVAL);
	assert_minus_one(MODIFY(PROFILE, op), EINVAL); /* a query */
	assert_minus_one(MODIFY(PROFILE, MRC_CTL_EV_PROFILE_CUR_STATE), EINVAL);
	assert_minus_one(MODIFY(PROFILE, 1 << 20), EINVAL);
	assert_minus_one(MODIFY(99, MRC_CTL_EV_PROFILE_STATE), EINVAL);
	attr.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
	attr.ev_op.entry_count = 1;
	assert_minus_one(MODIFY(PROFILE, op), EINVAL); /* no entries */
	attr.ev_op.entry_count = -1;
	assert_minus_one(MODIFY(PROFILE, op), EINVAL);
	attr.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS;
	assert_minus_one(MODIFY(PROFILE, fields), EINVAL);
	assert_minus_one(mrc_ctl_modify_ev_profile(NULL, PROFILE, &attr, 0), EINVAL);
	assert_minus_one(mrc_ctl_modify_ev_profile(r->ctx, PROFILE, NULL, 0), EINVAL);
#undef MODIFY
}

/* The device's own EVs may be denied, and are told from those that it has not.
 * REQ(ctl.ev-denied) */
CASE(mrc_ctl_ev_profile, the_devices_own_evs)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_op_entry entry = {.state = MRC_CTL_EV_DENIED};
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_MODIFY_EV_STATE,
							 .entries = &entry,
							 .entry_count = 1}};
	struct mrc_ctl_ev evs[EVS];
	const int op = MRC_CTL_EV_PROFILE_EV_OP;

	own_evs(r, evs);
	entry.ev = evs[1];
	fixture_connect(r, 0, &r->end[1]);
	fixture_connect(r, 1, &r->end[0]);
	assert_int_equal(mrc_ctl_modify_ev_profile(r->ctx, 0, &attr, op), 0);
	write_and_wait(r);
	attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_STATE;
	entry.state = MRC_CTL_EV_GOOD;
	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, op), 0);
	assert_int_equal(entry.state, MRC_CTL_EV_DENIED);
	entry.ev.val[0] ^= 0x80;
	attr.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
	assert_minus_one(mrc_ctl_modify_ev_profile(r->ctx, 0, &attr, op), ENOENT);
	entry.state = MRC_CTL_EV_ASSUMED_BAD;
	attr.ev_op.entry_count = 1;
	assert_minus_one(mrc_ctl_modify_ev_profile(r->ctx, 0, &attr, op), EINVAL);
}

/* Those that the profile has; what is denied of them reads so, whichever state the profile is in.
 * REQ(ctl.ev-denied) */
CASE(mrc_ctl_ev_profile, some_of_the_devices_own_evs)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
					       .ev_mode = MRC_CTL_EV_MODE_AUTO,
					       .ev_count = 4,
					       .ev_min_active = 3};
	struct mrc_ctl_ev_op_entry entries[EVS] = {{.state = MRC_CTL_EV_DENIED}};
	struct mrc_ctl_ev evs[EVS];
	int n = 1;

	own_evs(r, evs);
	assert_int_equal(mrc_ctl_modify_ev_profile(
				 r->ctx, PROFILE, &attr,
				 MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
					 MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE),
			 0);
	entries[0].ev = evs[4];
	assert_minus_one(ev_op(r, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n), ENOENT);
	entries[0].ev = evs[3];
	n = 1;
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n), 0);
	n = EVS;
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(entries[3].state, MRC_CTL_EV_DENIED);
	assert_int_equal(entries[2].state, MRC_CTL_EV_UNKNOWN);
	assert_int_equal(move_profile(r, MRC_CTL_PROFILE_ONLINE), 0);
	connect_with(r, PROFILE, 0);
	write_and_wait(r);
	entries[0].state = MRC_CTL_EV_DENIED;
	n = 1;
	assert_minus_one(ev_op(r, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n), EBUSY);
}

CASE(mrc_ctl_ev_fmt_profile, made_and_read)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_fmt_field field[4];
	struct mrc_ctl_ev_fmt_profile_attr attr = {
		.ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS, .fmt_fields = field}};
	const int all = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE |
			MRC_CTL_EV_FMT_PROFILE_OP;

	assert_int_equal(set_format(r, MRC_CTL_PROFILE_OFFLINE), 0);
	assert_minus_one(mrc_ctl_query_ev_fmt_profile(r->ctx, FMT, &attr, all), E2BIG);
	assert_int_equal(attr.ev_fmt_op.fmt_field_count, 1);
	assert_int_equal(mrc_ctl_query_ev_fmt_profile(r->ctx, FMT, &attr, all), 0);
	assert_int_equal(attr.profile_state, MRC_CTL_PROFILE_OFFLINE);
	assert_int_equal(attr.ev_fmt_mode, MRC_CTL_EV_FMT_MODE_UDP);
	assert_int_equal(field[0].width, 16);
	/* The device's own, which is read only. */
	assert_int_equal(mrc_ctl_query_ev_fmt_profile(r->ctx, 0, &attr, all), 0);
	assert_int_equal(attr.profile_state, MRC_CTL_PROFILE_ONLINE);
	assert_minus_one(
		mrc_ctl_modify_ev_fmt_profile(r->ctx, 0, &attr, MRC_CTL_EV_FMT_PROFILE_STATE),
		EINVAL);
	assert_minus_one(mrc_ctl_modify_ev_fmt_profile(r->ctx, FMT, &attr, all), EINVAL);
	assert_minus_one(mrc_ctl_query_ev_fmt_profile(r->ctx, 99, &attr, 0), EINVAL);
	assert_minus_one(mrc_ctl_query_ev_fmt_profile(r->ctx, FMT, NULL, 0), EINVAL);
}

/* REQ(ctl.cc-profile) */
CASE(mrc_ctl_cc_profile, nscc_with_all_its_parameters)
{
	struct fixture *r = *state;
	struct mrc_ctl_cc_nscc_cfg cfg = {.disable_qa = 1,
					  .adjust_bytes_threshold = 32768,
					  .adjust_period_threshold = 15000,
					  .base_rtt = 20000,
					  .eta = 0.15f,
					  .fi = 5.0f,
					  .fi_scale = 0.25f,
					  .gamma = 0.8f,
					  .max_md_jump = 0.5f,
					  .max_cwnd = 1 << 20,
					  .qa_gate = 3,
					  .qa_threshold = 80000,
					  .target_delay = 15000},
				   got;
	struct mrc_ctl_cc_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
					       .algorithm = "uet-1.0-nscc",
					       .cc_config = &cfg};
	const int state_bit = MRC_CTL_CC_PROFILE_STATE, config = MRC_CTL_CC_PROFILE_CONFIG;

#define MODIFY(mask) mrc_ctl_modify_cc_profile(r->ctx, 4, &attr, (mask))
	assert_int_equal(MODIFY(state_bit | MRC_CTL_CC_PROFILE_ALGORITHM), 0);
	attr.profile_state = MRC_CTL_PROFILE_ONLINE;
	assert_minus_one(MODIFY(state_bit), EINVAL);
	assert_int_equal(MODIFY(state_bit | config), 0);
	connect_with(r, 0, 4);
	write_and_wait(r);
	cfg.max_cwnd = 1 << 21;
	assert_int_equal(MODIFY(config), 0);
	write_and_wait(r);
	attr = (struct mrc_ctl_cc_profile_attr){.cc_config = &got};
	assert_int_equal(mrc_ctl_query_cc_profile(r->ctx, 4, &attr,
						  MRC_CTL_CC_PROFILE_CUR_STATE | config |
							  MRC_CTL_CC_PROFILE_ALGORITHM),
			 0);
	assert_int_equal(attr.cur_profile_state, MRC_CTL_PROFILE_ONLINE);
	assert_string_equal(attr.algorithm, "uet-1.0-nscc");
	assert_int_equal(got.max_cwnd, cfg.max_cwnd);
	assert_true(got.gamma > 0.79f && got.gamma < 0.81f && got.disable_qa == 1);
	attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
	assert_minus_one(MODIFY(state_bit), EBUSY);
#undef MODIFY
}

CASE(mrc_ctl_cc_profile, none_and_refusals)
{
	struct fixture *r = *state;
	struct mrc_ctl_cc_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE};
	const int both = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM;

#define MODIFY(id, mask) mrc_ctl_modify_cc_profile(r->ctx, (id), &attr, (mask))
	attr.algorithm = "swift";
	assert_minus_one(MODIFY(4, both), EINVAL);
	attr.algorithm = NULL;
	assert_minus_one(MODIFY(4, MRC_CTL_CC_PROFILE_CONFIG), EINVAL);
	assert_minus_one(MODIFY(0, both), EINVAL);
	assert_minus_one(MODIFY(4, 1 << 20), EINVAL);
	assert_int_equal(MODIFY(4, both), 0);
	attr.profile_state = MRC_CTL_PROFILE_ONLINE;
	assert_int_equal(MODIFY(4, MRC_CTL_CC_PROFILE_STATE), 0);
	connect_with(r, 0, 4);
	write_and_wait(r);
	assert_int_equal(mrc_ctl_query_cc_profile(r->ctx, 4, &attr, MRC_CTL_CC_PROFILE_ALGORITHM),
			 0);
	assert_null(attr.algorithm);
	assert_minus_one(mrc_ctl_query_cc_profile(r->ctx, 99, &attr, 0), EINVAL);
	assert_minus_one(mrc_ctl_query_cc_profile(r->ctx, 4, NULL, 0), EINVAL);
#undef MODIFY
}

/* A program that sleeps on a channel hears of an EV that is allowed again.
 * REQ(ctl.event-queue) */
CASE(mrc_ctl_ev_event, through_a_channel)
{
	struct fixture *r = *state;
	struct mrc_cq *cq = mrc_ctl_create_ev_event_cq(r->ctx, 128, r, r->channel, 0), *raised;
	struct mrc_ctl_ev_op_entry entry = {.state = MRC_CTL_EV_DENIED};
	struct mrc_ctl_ev_event event[4];
	struct mrc_ctl_ev evs[EVS];
	void *user;
	int n = 1;

	assert_non_null(cq);
	make_explicit(r, evs);
	connect_with(r, PROFILE, 0);
	assert_int_equal(mrc_req_notify_cq(cq, 0), 0);
	entry.ev = evs[3];
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_MODIFY_EV_STATE, &entry, &n), 0);
	assert_int_equal(mrc_ctl_poll_ev_event(cq, 4, event), 0);
	entry.state = MRC_CTL_EV_GOOD;
	assert_int_equal(ev_op(r, MRC_CTL_EV_OP_MODIFY_EV_STATE, &entry, &n), 0);
	assert_int_equal(mrc_get_cq_event(r->channel, &raised, &user), 0);
	assert_ptr_equal(raised, cq);
	assert_ptr_equal(user, r);
	assert_int_equal(mrc_ctl_poll_ev_event(cq, 4, event), 1);
	assert_int_equal(event[0].profile_id, PROFILE);
	assert_memory_equal(&event[0].ev, &evs[3], sizeof(evs[3]));
	assert_int_equal(event[0].state, MRC_CTL_EV_GOOD);
	assert_int_equal(event[0].drop_count, 0);
	mrc_ack_cq_events(cq, 1);
	assert_int_equal(mrc_destroy_cq(cq), 0);
}

/* REQ(ctl.port-admin) */
CASE(mrc_ctl_modify_port, a_port_that_is_disabled_is_down)
{
	struct fixture *r = *state;
	struct mrc_ctl_port_attr attr = {.port_admin_state = MRC_CTL_PORT_ADMIN_DISABLED};
	struct ibv_port_attr port;
	const int mask = MRC_CTL_PORT_ADMIN_STATE;

	assert_int_equal(mrc_ctl_modify_port(r->ctx, 1, &attr, 0), 0);
	assert_int_equal(mrc_ctl_modify_port(r->ctx, 1, &attr, mask), 0);
	attr.port_admin_state = MRC_CTL_PORT_ADMIN_ENABLED;
	assert_int_equal(mrc_ctl_query_port(r->ctx, 1, &attr, mask), 0);
	assert_int_equal(attr.port_admin_state, MRC_CTL_PORT_ADMIN_DISABLED);
	assert_int_equal(ibv_query_port(r->verbs, 1, &port), 0); /* it is the only one */
	assert_int_equal(port.state, IBV_PORT_DOWN);
	attr.port_admin_state = MRC_CTL_PORT_ADMIN_ENABLED;
	assert_int_equal(mrc_ctl_modify_port(r->ctx, 1, &attr, mask), 0);
	assert_int_equal(ibv_query_port(r->verbs, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	fixture_connect(r, 0, &r->end[1]);
	fixture_connect(r, 1, &r->end[0]);
	write_and_wait(r);
	assert_minus_one(mrc_ctl_modify_port(r->ctx, 0, &attr, mask), EINVAL);
	attr.port_admin_state = (enum mrc_ctl_port_admin_state)2;
	assert_minus_one(mrc_ctl_modify_port(r->ctx, 1, &attr, mask), EINVAL);
}

/* They are the program's own, and come back as they were. */
CASE(mrc_ctl_profile, keeps_vendor_bytes)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_fmt_profile_attr fmt = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
						  .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP};
	struct mrc_ctl_ev_profile_attr ev = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
					     .ev_mode = MRC_CTL_EV_MODE_AUTO,
					     .ev_min_active = 1};
	struct mrc_ctl_cc_profile_attr cc = {.profile_state = MRC_CTL_PROFILE_OFFLINE};
	uint8_t bytes[sizeof(ev.vendor_cfg)];

	test_rand_bytes(bytes, sizeof(bytes));
#define ASSERT_KEEPS(kind, id, attr, made_with, vendor)                                           \
	do {                                                                                      \
		memcpy((attr).vendor_cfg, bytes, sizeof(bytes));                                  \
		assert_int_equal(mrc_ctl_modify_##kind##_profile(r->ctx, (id), &(attr),           \
								 (made_with) | (vendor)),         \
				 0);                                                              \
		memset((attr).vendor_cfg, 0, sizeof(bytes));                                      \
		assert_int_equal(mrc_ctl_query_##kind##_profile(r->ctx, (id), &(attr), (vendor)), \
				 0);                                                              \
		assert_bytes_eq((attr).vendor_cfg, bytes, sizeof(bytes));                         \
	} while (0)
	ASSERT_KEEPS(ev_fmt, FMT, fmt, MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE,
		     MRC_CTL_EV_FMT_VENDOR_CFG);
	ASSERT_KEEPS(ev, PROFILE, ev, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE,
		     MRC_CTL_EV_PROFILE_VENDOR_CFG);
	ASSERT_KEEPS(cc, 4, cc, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM,
		     MRC_CTL_CC_PROFILE_VENDOR_CFG);
#undef ASSERT_KEEPS
}
