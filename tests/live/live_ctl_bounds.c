/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_ctl_bounds.c - the controller API at its bounds: room for just what is written, the first id
 * that is none, more than a profile can have, fields that nobody named, a program of 1.0.0, and a
 * child.
 *
 * What is written or read beyond an array of the test's is for the sanitizers to see.
 */
#include "live/ctl_format.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE(function, name) TEST_WITH(fixture_setup, fixture_teardown, function, name)
#define FMT 3
#define PROFILE 5
#define CC 7
#define EVS 8
#define EVS_MOST 1024
#define FIELDS_MOST 32
/* More than any room for fields has. */
#define FIELDS_MANY (2 * FIELDS_MOST)

static int modify_ev(const struct fixture *r, struct mrc_ctl_ev_profile_attr *attr, int mask)
{
	return mrc_ctl_modify_ev_profile(r->ctx, PROFILE, attr, mask);
}

static int query_ev(const struct fixture *r, struct mrc_ctl_ev_profile_attr *attr, int mask)
{
	return mrc_ctl_query_ev_profile(r->ctx, PROFILE, attr, mask);
}

#define MADE_WITH                                                                         \
	(MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID | \
	 MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK)

static struct mrc_ctl_ev_profile_attr offline(enum mrc_ctl_ev_mode mode, uint32_t evs)
{
	return (struct mrc_ctl_ev_profile_attr){.profile_state = MRC_CTL_PROFILE_OFFLINE,
						.ev_mode = mode,
						.ev_fmt_profile_id = FMT,
						.ev_count = evs,
						.ev_min_active = 1,
						.ev_event_mask = (int)MRC_CTL_EV_GOOD |
								 (int)MRC_CTL_EV_ASSUMED_BAD};
}

/* Puts n EVs into the places of a profile that are empty: those of the device's own, which sockets
 * carry as they are, and others behind them. */
static void fill_in(const struct fixture *r, struct mrc_ctl_ev_op_entry *entries, int n)
{
	struct mrc_ctl_ev_op_entry own[EVS_MOST];
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY,
							 .entries = own,
							 .entry_count = EVS_MOST}};

	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	for (int i = 0; i < n; i++) {
		const uint16_t value = (uint16_t)(1000 + i);

		entries[i] = (struct mrc_ctl_ev_op_entry){.ev = MRC_CTL_EV_UNPOPULATED,
							  .ev_new = {.port = 1}};
		memcpy(entries[i].ev_new.val, &value, sizeof(value));
		if (i < attr.ev_op.entry_count)
			entries[i].ev_new = own[i].ev;
	}
}

/* In one call: a profile is made before its EVs are put into it. */
static void make_explicit(const struct fixture *r, struct mrc_ctl_ev_op_entry *entries, int n)
{
	struct mrc_ctl_ev_profile_attr attr = offline(MRC_CTL_EV_MODE_EXP, (uint32_t)n);

	ctl_make_udp_format(r, FMT);
	fill_in(r, entries, n);
	attr.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
	attr.ev_op.entries = entries;
	attr.ev_op.entry_count = n;
	assert_int_equal(modify_ev(r, &attr, MADE_WITH | MRC_CTL_EV_PROFILE_EV_OP), 0);
	assert_int_equal(attr.ev_op.entry_count, n);
}

/* ---- what the masks name ---- */

CASE(mrc_ctl_query_ev_fmt_profile, fills_in_what_the_mask_names)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_fmt_profile_attr attr;

	ctl_make_udp_format(r, FMT);
	memset(&attr, 0x5A, sizeof(attr));
	assert_int_equal(mrc_ctl_query_ev_fmt_profile(r->ctx, FMT, &attr, 0), 0);
	for (size_t i = 0; i < sizeof(attr); i++)
		assert_u_eq(((const uint8_t *)&attr)[i], 0x5A);
	assert_int_equal(
		mrc_ctl_query_ev_fmt_profile(r->ctx, FMT, &attr, MRC_CTL_EV_FMT_PROFILE_CUR_STATE),
		0);
	assert_int_equal(attr.cur_profile_state, MRC_CTL_PROFILE_ONLINE);
	assert_int_equal(attr.profile_state, 0x5A5A5A5A);
}

CASE(mrc_ctl_query_cc_profile, fills_in_what_the_mask_names)
{
	struct fixture *r = *state;
	struct mrc_ctl_cc_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE};

	assert_int_equal(
		mrc_ctl_modify_cc_profile(r->ctx, CC, &attr,
					  MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM),
		0);
	memset(&attr, 0x5A, sizeof(attr));
	assert_int_equal(mrc_ctl_query_cc_profile(r->ctx, CC, &attr, 0), 0);
	for (size_t i = 0; i < sizeof(attr); i++)
		assert_u_eq(((const uint8_t *)&attr)[i], 0x5A);
	assert_int_equal(mrc_ctl_query_cc_profile(r->ctx, CC, &attr, MRC_CTL_CC_PROFILE_STATE), 0);
	assert_int_equal(attr.profile_state, MRC_CTL_PROFILE_OFFLINE);
	assert_int_equal(attr.cur_profile_state, 0x5A5A5A5A);
}

/* ---- ids and numbers just beyond ---- */

CASE(mrc_ctl_query_profile, no_id_beyond_the_last)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_op_entry entry = {.state = MRC_CTL_EV_DENIED};
	struct mrc_ctl_ev_profile_attr ev = {.ev_op = {.op = MRC_CTL_EV_OP_MODIFY_EV_STATE,
						       .entries = &entry,
						       .entry_count = 1}};
	struct mrc_ctl_ev_fmt_profile_attr fmt;
	struct mrc_ctl_cc_profile_attr cc;
	struct mrc_ctl_device_attr device;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &device), 0);
	assert_minus_one(
		mrc_ctl_query_ev_fmt_profile(r->ctx, device.ev.ev_max_fmt_profiles, &fmt, 0),
		EINVAL);
	assert_minus_one(mrc_ctl_query_cc_profile(r->ctx, device.cc.cc_max_profiles, &cc, 0),
			 EINVAL);
	assert_minus_one(mrc_ctl_modify_ev_profile(r->ctx, device.ev.ev_max_profiles, &ev,
						   MRC_CTL_EV_PROFILE_EV_OP),
			 EINVAL);
}

/* A number of fields is nothing without fields, and no fields are none. */
CASE(mrc_ctl_modify_profile, fields_that_are_not_there)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_fmt_profile_attr fmt = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
		.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
		.ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, .fmt_field_count = 1}};
	struct mrc_ctl_ev_profile_attr ev = offline(MRC_CTL_EV_MODE_GEN, EVS);
	const int fmt_mask = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE |
			     MRC_CTL_EV_FMT_PROFILE_OP;
	const int fields = MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

	assert_minus_one(mrc_ctl_modify_ev_fmt_profile(r->ctx, FMT, &fmt, fmt_mask), EINVAL);
	ctl_make_udp_format(r, FMT);
	ev.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS;
	assert_int_equal(modify_ev(r, &ev, MADE_WITH | fields), 0);
	ev.ev_fields_op.field_count = 1;
	assert_minus_one(modify_ev(r, &ev, fields), EINVAL);
}

CASE(mrc_ctl_modify_profile, more_fields_than_there_can_be)
{
	struct fixture *r = *state;
	struct mrc_ctl_ev_fmt_field widths[FIELDS_MANY] = {{1}};
	struct mrc_ctl_ev_field fields[FIELDS_MANY] = {{1, 0, 0, 1, 1}};
	struct mrc_ctl_ev_fmt_profile_attr fmt = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
		.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
		.ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS,
			      .fmt_fields = widths,
			      .fmt_field_count = FIELDS_MANY}};
	struct mrc_ctl_ev_profile_attr ev = offline(MRC_CTL_EV_MODE_GEN, EVS);

	assert_minus_one(mrc_ctl_modify_ev_fmt_profile(r->ctx, FMT, &fmt,
						       MRC_CTL_EV_FMT_PROFILE_STATE |
							       MRC_CTL_EV_FMT_PROFILE_MODE |
							       MRC_CTL_EV_FMT_PROFILE_OP),
			 E2BIG);
	ctl_make_udp_format(r, FMT);
	assert_int_equal(modify_ev(r, &ev, MADE_WITH), 0);
	ev.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS;
	ev.ev_fields_op.fields = fields;
	ev.ev_fields_op.field_count = FIELDS_MANY;
	assert_minus_one(modify_ev(r, &ev, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), E2BIG);
}

/* So many are looked at; one more is too many. */
CASE(mrc_ctl_ep_batch_send_wait, the_most_requests)
{
	const int most = 65535;
	struct mrc_ctl_ep_req *req = calloc((size_t)most + 1, sizeof(*req));
	struct mrc_ctl_ep_rsp rsp;
	struct fixture *r = *state;
	int got = -1;

	assert_non_null(req);
	for (int i = 0; i <= most; i++)
		req[i] = (struct mrc_ctl_ep_req){.req_id = (uint16_t)i,
						 .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_SRV6};
	assert_minus_one(mrc_ctl_ep_batch_send_wait(r->ctx, 0, MRC_CTL_EP_OP_EV_PROBE, req, most, 1,
						    &rsp, &got),
			 ENOTSUP);
	assert_minus_one(mrc_ctl_ep_batch_send_wait(r->ctx, 0, MRC_CTL_EP_OP_EV_PROBE, req,
						    most + 1, 1, &rsp, &got),
			 EINVAL);
	free(req);
}

/* ---- room ---- */

CASE(mrc_ctl_query_profile, in_room_for_just_all_fields)
{
	struct fixture *r = *state;
	const struct mrc_ctl_ev_field sixteen = {16, 0, 1, 0xFFFF, 0xFFFF};
	struct mrc_ctl_ev_fmt_field *width = malloc(sizeof(*width));
	struct mrc_ctl_ev_field *field = malloc(sizeof(*field));
	struct mrc_ctl_ev_profile_attr ev = offline(MRC_CTL_EV_MODE_GEN, EVS);
	struct mrc_ctl_ev_fmt_profile_attr fmt = {
		.ev_fmt_op = {MRC_CTL_EV_FMT_OP_QUERY_FIELDS, width, 1}};

	ctl_make_udp_format(r, FMT);
	*field = sixteen;
	ev.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS;
	ev.ev_fields_op.fields = field;
	ev.ev_fields_op.field_count = 1;
	assert_int_equal(modify_ev(r, &ev, MADE_WITH | MRC_CTL_EV_PROFILE_EV_FIELDS_OP), 0);
	memset(field, 0, sizeof(*field));
	ev.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS;
	assert_int_equal(query_ev(r, &ev, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), 0);
	assert_bytes_eq(field, &sixteen, sizeof(sixteen));
	assert_int_equal(mrc_ctl_query_ev_fmt_profile(r->ctx, FMT, &fmt, MRC_CTL_EV_FMT_PROFILE_OP),
			 0);
	assert_int_equal(width->width, 16);
	free(width);
	free(field);
}

/* As many as a profile can have; the device tells how many are left. */
CASE(mrc_ctl_ev_profile, the_most_evs)
{
	struct mrc_ctl_ev_op_entry entries[EVS_MOST];
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_STATE,
							 .entries = entries,
							 .entry_count = 1}};
	struct mrc_ctl_device_attr device;
	struct fixture *r = *state;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &device), 0);
	assert_u_eq(device.ev.ev_max_count_profile, EVS_MOST);
	make_explicit(r, entries, EVS_MOST);
	assert_int_equal(mrc_ctl_query_device(r->verbs, &device), 0);
	assert_u_eq(device.ev.ev_free_count, device.ev.ev_max_count - EVS_MOST);
	entries[0].ev = (struct mrc_ctl_ev){.val = {1}, .port = 1};
	assert_minus_one(query_ev(r, &attr, MRC_CTL_EV_PROFILE_EV_OP), ENOENT);
	attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY;
	attr.ev_op.entry_count = EVS_MOST;
	assert_int_equal(query_ev(r, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	assert_int_equal(attr.ev_op.entry_count, EVS_MOST);
	for (int i = 0; i < EVS_MOST; i++)
		assert_int_equal(entries[i].state, MRC_CTL_EV_UNKNOWN);
}

/* ---- attributes and EVs in one call ---- */

/* EVs are put in before a profile goes ONLINE with them; of a refused change nothing is done. */
CASE(mrc_ctl_modify_ev_profile, evs_and_state_in_one_call)
{
	struct mrc_ctl_ev_op_entry entries[EVS];
	struct mrc_ctl_ev_profile_attr attr = offline(MRC_CTL_EV_MODE_EXP, EVS);
	struct fixture *r = *state;
	const int op = MRC_CTL_EV_PROFILE_EV_OP;

	ctl_make_udp_format(r, FMT);
	fill_in(r, entries, EVS);
	attr.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
	attr.ev_op.entries = entries;
	attr.ev_op.entry_count = EVS;
	attr.ev_min_active = EVS + 1;
	assert_minus_one(modify_ev(r, &attr, MADE_WITH | op), EINVAL);
	assert_int_equal(attr.ev_op.entry_count, 0);
	attr.ev_min_active = 1;
	assert_int_equal(modify_ev(r, &attr, MADE_WITH), 0);
	attr.profile_state = MRC_CTL_PROFILE_ONLINE;
	attr.ev_op.entry_count = EVS;
	assert_int_equal(modify_ev(r, &attr, MRC_CTL_EV_PROFILE_STATE | op), 0);
	assert_int_equal(attr.ev_op.entry_count, EVS);
}

/* ---- the device's own ---- */

/* A call that leaves something out would find what another one has left on the stack. */
static void spoil_stack(void)
{
	volatile uint8_t bytes[8192];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0x5A;
}

static void assert_own(const char *name, const char *value, const char *algorithm,
		       enum mrc_ctl_ev_fmt_mode mode, int n_fields)
{
	struct mrc_ctl_ev_fmt_field width[FIELDS_MOST];
	struct mrc_ctl_ev_fmt_profile_attr fmt = {
		.ev_fmt_op = {MRC_CTL_EV_FMT_OP_QUERY_FIELDS, width, FIELDS_MOST}};
	struct mrc_ctl_cc_profile_attr cc = {.algorithm = "another"};
	struct fixture r;

	setenv(name, value, 1);
	fixture_open(&r);
	spoil_stack();
	assert_int_equal(mrc_ctl_query_cc_profile(r.ctx, 0, &cc, MRC_CTL_CC_PROFILE_ALGORITHM), 0);
	assert_int_equal(!cc.algorithm, !algorithm);
	if (algorithm)
		assert_string_equal(cc.algorithm, algorithm);
	spoil_stack();
	assert_int_equal(mrc_ctl_query_ev_fmt_profile(r.ctx, 0, &fmt,
						      MRC_CTL_EV_FMT_PROFILE_MODE |
							      MRC_CTL_EV_FMT_PROFILE_OP),
			 0);
	assert_int_equal(fmt.ev_fmt_mode, mode);
	assert_int_equal(fmt.ev_fmt_op.fmt_field_count, n_fields);
	for (int i = 0; i < n_fields; i++)
		assert_int_equal(width[i].width, 16);
	fixture_close(&r);
	unsetenv(name);
}

TEST(mrc_ctl_query_profile, the_devices_own)
{
	setenv("MRC_PORTS", "::1", 1);
	assert_own("MRC_CC", "none", NULL, MRC_CTL_EV_FMT_MODE_UDP, 1);
	setenv("MRC_PACE", "1G", 1);
	assert_own("MRC_CC", "nscc", "uet-1.0-nscc", MRC_CTL_EV_FMT_MODE_UDP, 1);
	unsetenv("MRC_PACE");
	assert_own("MRC_EV_FORMAT", "stev", NULL, MRC_CTL_EV_FMT_MODE_STEV, 2);
	unsetenv("MRC_PORTS");
}

/* ---- events ---- */

static void connect_both(const struct fixture *r)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct mrc_qp_attr profile = {.profile = {PROFILE, 0}};

	for (int i = 0; i < FIXTURE_QPS; i++) {
		assert_int_equal(mrc_modify_qp(r->qp[i], &attr, IBV_QP_STATE, &profile,
					       MRC_QP_EV_PROFILE_ID),
				 0);
		fixture_connect((struct fixture *)(uintptr_t)r, i, &r->end[!i]);
	}
}

/* Two EVs are denied and allowed again, of which a CQ of a context hears. */
static void assert_hears(const struct fixture *r, uint32_t version, size_t bytes)
{
	struct mrc_context_attr says = {.mrc_api_version_used = version};
	struct mrc_context *ctx = mrc_create_context(r->verbs, &says);
	struct mrc_cq *cq = mrc_ctl_create_ev_event_cq(ctx, 2, NULL, NULL, 0);
	struct mrc_ctl_ev_op_entry entries[EVS] = {0}; /* no flags: a query writes none */
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY,
							 .entries = entries,
							 .entry_count = EVS}};
	uint8_t *events = malloc(2 * bytes);
	struct mrc_ctl_ev_event event = {0};

	assert_non_null(cq);
	assert_int_equal(query_ev(r, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	attr.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
	for (int i = 0; i < 2; i++) {
		entries[0].state = entries[1].state = i ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED;
		attr.ev_op.entry_count = 2;
		assert_int_equal(modify_ev(r, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	}
	assert_int_equal(mrc_ctl_poll_ev_event(cq, 2, (struct mrc_ctl_ev_event *)(void *)events),
			 2);
	for (int i = 0; i < 2; i++) {
		memcpy(&event, events + (size_t)i * bytes, bytes);
		assert_u_eq(event.profile_id, PROFILE);
		assert_bytes_eq(&event.ev, &entries[i].ev, sizeof(event.ev));
	}
	free(events);
	assert_int_equal(mrc_destroy_cq(cq), 0);
	assert_int_equal(mrc_destroy_context(ctx), 0);
}

/* REQ(ctl.event-queue) */
CASE(mrc_ctl_poll_ev_event, events_are_as_long_as_the_programs)
{
	const size_t short_bytes = offsetof(struct mrc_ctl_ev_event, state);
	struct mrc_ctl_ev_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_ONLINE};
	struct mrc_ctl_ev_op_entry entries[EVS];
	struct fixture *r = *state;

	make_explicit(r, entries, EVS);
	assert_int_equal(modify_ev(r, &attr, MRC_CTL_EV_PROFILE_STATE), 0);
	connect_both(r);
	assert_hears(r, MRC_API_VER(1, 0, 0), short_bytes);
	assert_hears(r, MRC_API_VER(1, 0, 1), sizeof(struct mrc_ctl_ev_event));
	assert_hears(r, (uint32_t)MRC_API_VER_LATEST, sizeof(struct mrc_ctl_ev_event));
}

CASE(mrc_ctl_create_ev_event_cq, of_one_event)
{
	struct fixture *r = *state;
	struct mrc_cq *cq = mrc_ctl_create_ev_event_cq(r->ctx, 1, NULL, NULL, 0);

	assert_non_null(cq);
	assert_int_equal(mrc_destroy_cq(cq), 0);
}

/* ---- what an endpoint is told ---- */

/* The request that comes to a socket of ours: its operation, and the ports that it says are up. */
static void receive_request(int fd, int *op, uint32_t *ports)
{
	uint8_t bytes[256];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

	/* BTH, ERTH and ICRC, as docs/protocol.md has them. */
	assert_int_equal(n, 12 + 16 + 4);
	*op = bytes[12 + 1] & 3;
	memcpy(ports, bytes + 12 + 4, sizeof(*ports));
	*ports = ntohl(*ports);
}

static void tell(const struct fixture *r, const struct sockaddr_in *to, enum mrc_ctl_ep_op_type op)
{
	struct mrc_ctl_ep_req req = {.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
				     .req_ev = {.port = 1},
				     .dgid.raw = {[10] = 0xff, [11] = 0xff},
				     .op.port_status_update.port_status = 0x16};
	struct mrc_ctl_ep_rsp rsp;
	int got, err;

	memcpy(req.dgid.raw + 12, &to->sin_addr, 4);
	/* EAGAIN: on a busy machine the time was over before it was sent. */
	do
		err = mrc_ctl_ep_batch_send_wait(r->ctx, 0, op, &req, 1, 1000000, &rsp, &got);
	while (err == -1 && errno == EAGAIN);
	assert_int_equal(err, -1);
	assert_int_equal(errno, ETIMEDOUT);
}

/* Which ports are up is told by one kind of request alone. REQ(ctl.endpoint-batch) */
TEST(mrc_ctl_ep_batch_send_wait, tells_ports_where_it_is_to)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(4791)};
	struct timeval patience = {.tv_sec = 60};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), op[2];
	struct fixture r;
	uint32_t ports;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 76);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	setenv("MRC_PORTS", "127.0.0.1", 1);
	fixture_open(&r);
	tell(&r, &at, MRC_CTL_EP_OP_EV_PROBE);
	receive_request(fd, &op[0], &ports);
	assert_u_eq(ports, 0);
	tell(&r, &at, MRC_CTL_EP_OP_PORT_STATUS_UPDATE);
	receive_request(fd, &op[1], &ports);
	assert_u_eq(ports, 0x16 >> 1); /* they count from 0 there */
	assert_true(op[0] != op[1]);
	fixture_close(&r);
	unsetenv("MRC_PORTS");
	close(fd);
}

/* ---- a child ---- */

#define FAILS(call) (errno = 0, (call) == -1 && errno == ENODEV)

static bool queries_fail(const struct fixture *r, struct mrc_cq *cq)
{
	struct mrc_ctl_ev_fmt_profile_attr fmt = {0};
	struct mrc_ctl_ev_profile_attr ev = {0};
	struct mrc_ctl_cc_profile_attr cc = {0};
	struct mrc_ctl_port_attr port = {0};
	struct mrc_ctl_ev_event event;

	return FAILS(mrc_ctl_query_ev_profile(r->ctx, 0, &ev, MRC_CTL_EV_PROFILE_COUNT)) &&
	       FAILS(mrc_ctl_query_ev_fmt_profile(r->ctx, 0, &fmt, MRC_CTL_EV_FMT_PROFILE_MODE)) &&
	       FAILS(mrc_ctl_query_cc_profile(r->ctx, 0, &cc, MRC_CTL_CC_PROFILE_STATE)) &&
	       FAILS(mrc_ctl_query_port(r->ctx, 1, &port, MRC_CTL_PORT_ADMIN_STATE)) &&
	       mrc_ctl_poll_ev_event(cq, 1, &event) == -ENODEV && errno == ENODEV;
}

/* What was opened belongs to who opened it, as mrc.h says. */
CASE(mrc_ctl, fails_in_a_child)
{
	struct fixture *r = *state;
	struct mrc_cq *cq = mrc_ctl_create_ev_event_cq(r->ctx, 1, NULL, NULL, 0);
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(queries_fail(r, cq) ? 0 : 1);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(mrc_destroy_cq(cq), 0);
}
