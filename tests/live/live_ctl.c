/* SPDX-License-Identifier: BSD-2-Clause */
/* live_ctl.c - the controller API: limits, ports, and how what is not there says so. */
#include "live/live_fixture.h"

#include <errno.h>
#include <mrc_ctl.h>

TEST(mrc_ctl_query_version, tells_the_header)
{
	uint32_t current, oldest, vendor, vendor_oldest;

	mrc_ctl_query_version(&current, &oldest, &vendor, &vendor_oldest);
	assert_u_eq(current, MRC_CTL_API_CURRENT_VERSION);
	assert_u_eq(oldest, MRC_CTL_API_LAST_SUPPORTED_VERSION);
	assert_u_eq(vendor, MRC_CTL_VENDOR_API_CURRENT_VERSION);
	assert_u_eq(vendor_oldest, MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION);
	mrc_ctl_query_version(NULL, NULL, NULL, NULL);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_query_device, tells_limits)
{
	struct fixture *r = *state;
	struct mrc_ctl_device_attr attr, attr_ex;
	int supported = 0;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &attr), 0);
	assert_int_equal(mrc_ctl_query_device_ex(r->verbs, r->ctx, &attr_ex, &supported), 0);
	assert_int_equal(supported, 1);
	assert_memory_equal(&attr, &attr_ex, sizeof(attr));
	assert_true(attr.mrc_ctl_protocol_version & MRC_CTL_PROTOCOL_VERSION_1);
	assert_true(attr.phy_port_mask & 2);
	assert_false(attr.phy_port_mask & 1);
	assert_u_eq(attr.ev.ev_count_align, 1);
	assert_u_eq(attr.ev.ev_fmt_mode_mask, MRC_CTL_EV_FMT_MODE_UDP);
	assert_u_eq(attr.ev.ev_max_width, 16);
	assert_u_eq(attr.ev.ev_max_profiles, 16);
	assert_u_eq(attr.ev.ev_free_count, attr.ev.ev_max_count);
	assert_true(attr.opt_attr & MRC_CTL_OPT_CAP_EP_OP_EV_PROBE);
	assert_string_equal(attr.cc.algorithms[0], "uet-1.0-nscc");
	assert_null(attr.cc.algorithms[1]);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_query_device, foreign_context)
{
	struct fixture *r = *state;
	struct ibv_context foreign = {0};
	struct mrc_ctl_device_attr attr;
	int supported = 1;

	assert_minus_one(mrc_ctl_query_device(&foreign, &attr), EOPNOTSUPP);
	assert_int_equal(mrc_ctl_query_device_ex(&foreign, NULL, &attr, &supported), 0);
	assert_int_equal(supported, 0);
	assert_minus_one(mrc_ctl_query_device_ex(&foreign, r->ctx, &attr, &supported), EINVAL);
	assert_minus_one(mrc_ctl_query_device(NULL, &attr), EINVAL);
	assert_minus_one(mrc_ctl_query_device(r->verbs, NULL), EINVAL);
}

static int stev_setup(void **state)
{
	setenv("MRC_PORTS", "::1", 1);
	setenv("MRC_EV_FORMAT", "stev", 1);
	return fixture_setup(state);
}

static int stev_teardown(void **state)
{
	int err = fixture_teardown(state);

	unsetenv("MRC_PORTS");
	unsetenv("MRC_EV_FORMAT");
	return err;
}

TEST_WITH(stev_setup, stev_teardown, mrc_ctl_query_device, tells_the_format_of_its_evs)
{
	struct mrc_ctl_ev_fmt_profile_attr fmt = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
						  .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_SRV6};
	struct fixture *r = *state;
	struct mrc_ctl_device_attr attr;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &attr), 0);
	assert_u_eq(attr.ev.ev_fmt_mode_mask, MRC_CTL_EV_FMT_MODE_STEV);
	assert_u_eq(attr.ev.ev_max_width, 32);
	/* A format that it has not is no format of a profile. */
	assert_minus_one(mrc_ctl_modify_ev_fmt_profile(r->ctx, 1, &fmt,
						       MRC_CTL_EV_FMT_PROFILE_STATE |
							       MRC_CTL_EV_FMT_PROFILE_MODE),
			 EINVAL);
}

/* Port n of the controller is port n of verbs, but that port 1 is the whole device there. */
TEST_WITH(fixture_setup, fixture_teardown, ibv_query_port, every_port_of_the_controller)
{
	struct fixture *r = *state;
	struct mrc_ctl_device_attr attr;
	struct ibv_port_attr port;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &attr), 0);
	for (uint8_t n = 1; n < 32; n++) {
		if (!(attr.phy_port_mask >> n & 1)) {
			assert_int_equal(ibv_query_port(r->verbs, n, &port), EINVAL);
			continue;
		}
		assert_int_equal(ibv_query_port(r->verbs, n, &port), 0);
		assert_int_equal(port.state, IBV_PORT_ACTIVE);
	}
	assert_int_equal(ibv_query_port(r->verbs, 0, &port), EINVAL);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_query_port, enabled_from_one_on)
{
	struct fixture *r = *state;
	struct mrc_ctl_port_attr attr = {.port_admin_state = MRC_CTL_PORT_ADMIN_DISABLED};
	const int mask = MRC_CTL_PORT_ADMIN_STATE;

	assert_int_equal(mrc_ctl_query_port(r->ctx, 1, &attr, 0), 0);
	assert_int_equal(attr.port_admin_state, MRC_CTL_PORT_ADMIN_DISABLED);
	assert_int_equal(mrc_ctl_query_port(r->ctx, 1, &attr, mask), 0);
	assert_int_equal(attr.port_admin_state, MRC_CTL_PORT_ADMIN_ENABLED);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 0, &attr, mask), EINVAL);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 255, &attr, mask), EINVAL);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 1, &attr, mask | 2), EINVAL);
	assert_minus_one(mrc_ctl_query_port(NULL, 1, &attr, mask), EINVAL);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 1, NULL, mask), EINVAL);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_ev_events, refusals)
{
	struct fixture *r = *state;
	struct mrc_cq *cq = mrc_create_cq(r->ctx, 1, NULL, NULL, 0);
	struct mrc_context *other = mrc_create_context(r->verbs, NULL);
	struct mrc_ctl_ev_event event;

	assert_non_null(cq);
	errno = 0;
	assert_null(mrc_ctl_create_ev_event_cq(r->ctx, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(mrc_ctl_create_ev_event_cq(other, 1, NULL, r->channel, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(mrc_destroy_context(other), 0);
	assert_int_equal(mrc_ctl_poll_ev_event(cq, 0, &event), -EINVAL);
	assert_int_equal(mrc_ctl_poll_ev_event(cq, 1, &event), -EINVAL);
	assert_int_equal(mrc_ctl_poll_ev_event(cq, -1, &event), -EINVAL);
	assert_int_equal(mrc_ctl_poll_ev_event(NULL, 1, &event), -EINVAL);
	assert_int_equal(mrc_destroy_cq(cq), 0);
}

/* All EVs of the device; how many. */
static int read_evs(struct fixture *r, struct mrc_ctl_ev_op_entry *entries, int room)
{
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY,
							 .entries = entries,
							 .entry_count = room}};

	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	return attr.ev_op.entry_count;
}

#define EVS_ROOM 2048

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_query_ev_profile, the_devices_own)
{
	static struct mrc_ctl_ev_op_entry entries[EVS_ROOM];
	struct fixture *r = *state;
	struct mrc_ctl_ev_profile_attr attr = {0};
	int n = read_evs(r, entries, EVS_ROOM);

	assert_true(n > 0);
	assert_int_equal(entries[0].ev.port, 1);
	assert_int_equal(entries[0].state, MRC_CTL_EV_UNKNOWN);
	assert_int_equal(mrc_ctl_query_ev_profile(
				 r->ctx, 0, &attr,
				 MRC_CTL_EV_PROFILE_CUR_STATE | MRC_CTL_EV_PROFILE_MODE |
					 MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE),
			 0);
	assert_true(attr.ev_min_active >= 1 && attr.ev_min_active <= attr.ev_count);
	assert_int_equal(attr.cur_profile_state, MRC_CTL_PROFILE_ONLINE);
	assert_int_equal(attr.ev_mode, MRC_CTL_EV_MODE_AUTO);
	assert_i_eq(attr.ev_count, n);
	/* The state of some of them. */
	attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_STATE;
	attr.ev_op.entries = entries + n - 1;
	attr.ev_op.entry_count = 1;
	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	entries[n - 1].ev.port = 200;
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP),
			 ENOENT);
}

/* Not more than there is room for is written, and room for all is enough. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_query_ev_profile, in_room_for_just_all)
{
	static struct mrc_ctl_ev_op_entry many[EVS_ROOM];
	struct fixture *r = *state;
	int n = read_evs(r, many, EVS_ROOM);
	struct mrc_ctl_ev_op_entry *entries = calloc((size_t)n, sizeof(*entries));

	assert_non_null(entries);
	assert_int_equal(read_evs(r, entries, n), n);
	assert_bytes_eq(entries, many, (size_t)n * sizeof(*entries));
	free(entries);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_query_ev_profile, fills_in_what_the_mask_names)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_profile_attr attr;

	memset(&attr, 0x5A, sizeof(attr));
	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, 0), 0);
	for (size_t i = 0; i < sizeof(attr); i++)
		assert_u_eq(((const uint8_t *)&attr)[i], 0x5A);
	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr,
						  MRC_CTL_EV_PROFILE_STATE |
							  MRC_CTL_EV_PROFILE_FMT_ID |
							  MRC_CTL_EV_PROFILE_EVENT_MASK),
			 0);
	assert_int_equal(attr.profile_state, MRC_CTL_PROFILE_ONLINE);
	assert_u_eq(attr.ev_fmt_profile_id, 0);
	assert_int_equal(attr.ev_event_mask, 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_query_ev_profile, refusals)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_profile_attr attr = {.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY};
	const int op = MRC_CTL_EV_PROFILE_EV_OP, fields = MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, op), E2BIG);
	assert_true(attr.ev_op.entry_count > 0);
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, op), EINVAL);
	attr.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
	attr.ev_op.entry_count = 0;
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, op), EINVAL);
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, op | fields), EINVAL);
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, 1 << 20), EINVAL);
	attr.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS;
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, fields), EINVAL);
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 16, &attr, 0), EINVAL);
	assert_minus_one(mrc_ctl_query_ev_profile(NULL, 0, &attr, 0), EINVAL);
}

static enum mrc_ctl_ev_fmt_mode own_format(struct fixture *r)
{
	struct mrc_ctl_device_attr attr;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &attr), 0);
	return (enum mrc_ctl_ev_fmt_mode)attr.ev.ev_fmt_mode_mask;
}

static struct mrc_ctl_ep_req request_of(struct fixture *r, uint16_t id, const struct mrc_ctl_ev *ev)
{
	struct mrc_ctl_ep_req req = {.req_id = id, .ev_fmt_mode = own_format(r), .req_ev = *ev};

	assert_int_equal(ibv_query_gid(r->verbs, 1, 0, &req.sgid), 0);
	req.dgid = req.sgid;
	return req;
}

/*
 * This process, or another one of this machine that was there before, answers on every path.
 * REQ(ctl.endpoint-batch)
 */
TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_ep_batch_send_wait, every_path_of_this_machine)
{
	static struct mrc_ctl_ev_op_entry entries[EVS_ROOM];
	static struct mrc_ctl_ep_req req[EVS_ROOM];
	static struct mrc_ctl_ep_rsp rsp[EVS_ROOM];
	struct fixture *r = *state;
	int n = read_evs(r, entries, EVS_ROOM), got = -1;

	for (int i = 0; i < n; i++)
		req[i] = request_of(r, (uint16_t)(1000 + i), &entries[i].ev);
	assert_int_equal(mrc_ctl_ep_batch_send_wait(r->ctx, 0, MRC_CTL_EP_OP_EV_PROBE, req, n,
						    2000000000, rsp, &got),
			 0);
	assert_int_equal(got, n);
	for (int i = 0; i < n; i++) {
		assert_true(rsp[i].rtt > 0);
		assert_true(rsp[i].req_id >= 1000 && rsp[i].req_id < 1000 + n);
		/* This machine answers by the port that a request came in by. */
		assert_int_equal(rsp[i].port, entries[rsp[i].req_id - 1000].ev.port);
	}
}

/* Which of our ports are up is answered like a probe. REQ(ctl.endpoint-batch) */
TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_ep_batch_send_wait, port_status)
{
	struct mrc_ctl_ev_op_entry entries[EVS_ROOM];
	struct fixture *r = *state;
	struct mrc_ctl_ep_req req;
	struct mrc_ctl_ep_rsp rsp;
	int got = -1;

	assert_true(read_evs(r, entries, EVS_ROOM) > 0);
	req = request_of(r, 77, &entries[0].ev);
	req.op.port_status_update.port_status = 1u << 1;
	assert_int_equal(mrc_ctl_ep_batch_send_wait(r->ctx, 0, MRC_CTL_EP_OP_PORT_STATUS_UPDATE,
						    &req, 1, 2000000000, &rsp, &got),
			 0);
	assert_int_equal(got, 1);
	assert_int_equal(rsp.req_id, 77);
}

/* Not only those that the device uses itself. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_ep_batch_send_wait, any_ev)
{
	struct fixture *r = *state;
	struct mrc_ctl_ep_req req =
		request_of(r, 5, &(struct mrc_ctl_ev){.val = {0x34, 0x12}, .port = 1});
	struct mrc_ctl_ep_rsp rsp;
	int got = -1;

	assert_int_equal(mrc_ctl_ep_batch_send_wait(r->ctx, 0, MRC_CTL_EP_OP_EV_PROBE, &req, 1,
						    2000000000, &rsp, &got),
			 0);
	assert_int_equal(got, 1);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_ep_batch_send_wait, nobody_answers)
{
	struct mrc_ctl_ev_op_entry entries[EVS_ROOM];
	struct fixture *r = *state;
	struct mrc_ctl_ep_req req;
	struct mrc_ctl_ep_rsp rsp;
	int got = -1;

	assert_true(read_evs(r, entries, EVS_ROOM) > 0);
	req = request_of(r, 1, &entries[0].ev);
	req.dgid.raw[13] ^= 77; /* a loopback address where nobody listens */
	assert_minus_one(mrc_ctl_ep_batch_send_wait(r->ctx, 46, MRC_CTL_EP_OP_EV_PROBE, &req, 1,
						    50000000, &rsp, &got),
			 ETIMEDOUT);
	assert_int_equal(got, 0);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_ctl_ep_batch_send_wait, refusals)
{
	struct mrc_ctl_ev_op_entry entries[EVS_ROOM];
	struct fixture *r = *state;
	struct mrc_ctl_ep_req req[2], bad;
	struct mrc_ctl_ep_rsp rsp[2];
	int got = -1;

	assert_true(read_evs(r, entries, EVS_ROOM) > 0);
	req[0] = req[1] = request_of(r, 1, &entries[0].ev);
#define SEND(tc, op, reqs, n) \
	mrc_ctl_ep_batch_send_wait(r->ctx, (tc), (op), (reqs), (n), 1000000, rsp, &got)
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, req, 2), EINVAL);
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, req, 0), EINVAL);
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, NULL, 1), EINVAL);
	assert_minus_one(SEND(63, MRC_CTL_EP_OP_EV_PROBE, req, 1), EINVAL);
	assert_minus_one(SEND(0, (enum mrc_ctl_ep_op_type)7, req, 1), EINVAL);
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_PORT_STATUS_UPDATE, req, 65536), EINVAL);
	bad = req[0];
	bad.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_SRV6;
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, &bad, 1), ENOTSUP);
	bad.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV;
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, &bad, 1), ENOTSUP);
	bad = req[0];
	bad.req_ev.port = 0;
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, &bad, 1), EINVAL);
	bad.req_ev.port = 99;
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, &bad, 1), EINVAL);
	bad = req[0];
	bad.req_ev.val[2] = 1; /* more than 16 bits */
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, &bad, 1), EINVAL);
	bad = req[0];
	bad.sgid.raw[15] ^= 1;
	assert_minus_one(SEND(0, MRC_CTL_EP_OP_EV_PROBE, &bad, 1), EINVAL);
#undef SEND
	assert_int_equal(got, 0);
}
