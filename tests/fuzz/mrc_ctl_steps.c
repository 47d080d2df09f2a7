/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_ctl_steps.c - the controller's calls of fuzz_mrc. What is asked about EVs and ports fits
 * together; what the device does not offer is refused whatever is asked for; requests to the other
 * device are each answered once at most.
 */
#include <errno.h>
#include <mrc_ctl.h>
#include <stdlib.h>

#include "base/assert.h"
#include "fuzz_mrc.h"
#include "libmrc/libmrc.h"

#define EVS_ROOM 64
#define REQUESTS 8
#define TIMEOUT_NS 50000000u
#define ROUND_NS UINT64_C(1000000)

/* Nothing sleeps in this world: it goes on until what was posted has ended. */
static struct world *waits_in;

void __wrap_mh_ep_batch_wait(struct mh_ep_batch *b, bool more);

void __wrap_mh_ep_batch_wait(struct mh_ep_batch *b, bool more)
{
	if (more)
		world_run(waits_in, 1, ROUND_NS);
	for (uint32_t i = 0; b->ended < b->posted; i++) {
		mb_assert(i < 2 * TIMEOUT_NS / ROUND_NS);
		world_run(waits_in, 1, ROUND_NS);
	}
}

/* all_evs fills in the EVs that the device has, and returns how many. */
static int all_evs(const struct mrc_side *ms, struct mrc_ctl_ev_op_entry entries[EVS_ROOM])
{
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY}};

	/* Without room the call says how much it wants. */
	mb_assert(mrc_ctl_query_ev_profile(ms->context, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP) == -1);
	mb_assert(errno == E2BIG);
	mb_assert(attr.ev_op.entry_count > 0 && attr.ev_op.entry_count <= EVS_ROOM);
	attr.ev_op.entries = entries;
	mb_assert(mrc_ctl_query_ev_profile(ms->context, 0, &attr,
					   MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_COUNT) ==
		  0);
	mb_assert(attr.ev_count == (uint32_t)attr.ev_op.entry_count);
	return attr.ev_op.entry_count;
}

/* ---- the device, its ports and profiles ---- */

static void step_device(struct mrc *m, uint32_t side, uint8_t how)
{
	struct mrc_side *ms = &m->of[side];
	struct mrc_ctl_device_attr attr;
	uint8_t port = how >> 3;
	int supported, mask = how & 3;
	struct mrc_ctl_port_attr p = {.port_admin_state = 77};
	bool is_port, known = !(mask & ~MRC_CTL_PORT_ADMIN_STATE);

	mb_assert(mrc_ctl_query_device_ex(m->w.side[1 - side].context, ms->context, &attr,
					  &supported) == -1 &&
		  errno == EINVAL);
	mb_assert(mrc_ctl_query_device(m->w.side[side].context, &attr) == 0);
	is_port = attr.phy_port_mask >> port & 1;
	mb_assert((mrc_ctl_query_port(ms->context, port, &p, mask) == 0) == (is_port && known));
	mb_assert((p.port_admin_state == 77) == !(is_port && known && mask));
	/* To what it is. */
	mb_assert((mrc_ctl_modify_port(ms->context, port, &p, mask) == 0) == (is_port && known));
}

/* The state of any EV can be asked for, and of nothing else. */
static void step_evs(struct mrc *m, uint32_t side, uint8_t how)
{
	struct mrc_side *ms = &m->of[side];
	struct mrc_ctl_ev_op_entry entries[EVS_ROOM] = {0};
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_STATE, .entries = entries}};
	int n = all_evs(ms, entries), bad = how % (2 * n);

	attr.ev_op.entry_count = n;
	if (bad < n)
		entries[bad].ev.val[how & 1 ? 0 : MRC_CTL_EV_MAX_BYTES - 1] ^= 0x80;
	if (mrc_ctl_query_ev_profile(ms->context, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP) == 0) {
		mb_assert(bad >= n);
		return;
	}
	mb_assert(bad < n && errno == ENOENT);
}

static void expect_known(int result)
{
	mb_assert(result == 0 || (result == -1 && (errno == EINVAL || errno == E2BIG)));
}

/* Nothing comes of profiles that are asked for with zeros, whatever bits say that these count. */
static void step_empty(struct mrc *m, uint32_t side)
{
	struct mrc_context *context = m->of[side].context;
	int mask = fuzz_u16(&m->w.in);
	uint64_t id = fuzz_u8(&m->w.in);
	struct mrc_ctl_ev_fmt_profile_attr format = {0};
	struct mrc_ctl_ev_profile_attr evs = {0};
	struct mrc_ctl_cc_profile_attr cc = {0};
	struct mrc_ctl_ev_event event;

	expect_known(mrc_ctl_modify_ev_fmt_profile(context, id, &format, mask));
	expect_known(mrc_ctl_query_ev_fmt_profile(context, id, &format, mask));
	expect_known(mrc_ctl_modify_ev_profile(context, id, &evs, mask));
	expect_known(mrc_ctl_modify_cc_profile(context, id, &cc, mask));
	expect_known(mrc_ctl_query_cc_profile(context, id, &cc, mask));
	if (mrc_ctl_query_ev_profile(context, id, &evs, mask & ~MRC_CTL_EV_PROFILE_EV_OP))
		expect_known(-1);
	else
		mb_assert(id < 16);
	mb_assert(!mrc_ctl_create_ev_event_cq(context, (int)id, NULL, m->of[1 - side].channel, 0));
	mb_assert(errno == EINVAL);
	mb_assert(mrc_ctl_poll_ev_event(m->of[side].end[0].cq, (int)id, &event) == -EINVAL);
}

/* ---- requests to the other device ---- */

/* What may be wrong with a request, or with all of them. */
enum wrong { NOT_WRONG, SAME_ID, NO_PORT, NO_EV, FOREIGN_SGID, FOREIGN_DGID, NO_TIME, WRONG_CLASS };

static void spoil(enum wrong wrong, struct mrc_ctl_ep_req *req)
{
	static const union ibv_gid nowhere = {.raw = {0x20, 1, 0xD, 0xB8, [15] = 1}};

	if (wrong == SAME_ID)
		req[1].req_id = req[0].req_id;
	if (wrong == NO_PORT)
		req->req_ev.port = 0;
	if (wrong == NO_EV)
		req->req_ev.val[2] = 1; /* of more than 16 bits */
	if (wrong == FOREIGN_SGID)
		req->sgid = nowhere;
	if (wrong == FOREIGN_DGID)
		req->dgid = nowhere;
}

/* Each answer is that of a request, and of none twice. */
static void check_answers(const struct mrc_ctl_ep_req *req, const struct mrc_ctl_ep_rsp *rsp, int n)
{
	uint32_t seen = 0;

	for (int i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < REQUESTS && req[k].req_id != rsp[i].req_id)
			k++;
		mb_assert(k < REQUESTS && !(seen >> k & 1) && rsp[i].port == req[k].req_ev.port);
		seen |= 1u << k;
	}
}

static void step_requests(struct mrc *m, uint32_t side, uint8_t how)
{
	struct mrc_side *ms = &m->of[side];
	struct mrc_ctl_ev_op_entry entries[EVS_ROOM] = {0};
	struct mrc_ctl_ep_req req[REQUESTS] = {0};
	struct mrc_ctl_ep_rsp rsp[REQUESTS];
	enum wrong wrong = how & 7;
	int n_evs = all_evs(ms, entries), n = REQUESTS, err;

	for (uint32_t i = 0; i < REQUESTS; i++)
		req[i] = (struct mrc_ctl_ep_req){.req_id = (uint16_t)(how + i * 7),
						 .dgid = m->w.side[1 - side].gid,
						 .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
						 .req_ev = entries[(how + i) % (uint32_t)n_evs].ev};
	spoil(wrong, req);
	err = mrc_ctl_ep_batch_send_wait(ms->context, wrong == WRONG_CLASS ? 63 : 0,
					 MRC_CTL_EP_OP_EV_PROBE, req, REQUESTS,
					 wrong == NO_TIME ? 0 : TIMEOUT_NS, rsp, &n);
	if (wrong != NOT_WRONG) {
		mb_assert(err == -1 && errno == EINVAL && n == 0);
		return;
	}
	/* EAGAIN: there were many lately. */
	mb_assert(err == 0 ? n == REQUESTS
			   : (errno == ETIMEDOUT || errno == EAGAIN) && n < REQUESTS);
	check_answers(req, rsp, n);
}

void mrc_ctl_step(struct mrc *m, uint32_t side)
{
	uint8_t what = fuzz_u8(&m->w.in), how = fuzz_u8(&m->w.in);

	waits_in = &m->w;
	switch (what & 3) {
	case 0:
		step_device(m, side, how);
		return;
	case 1:
		step_evs(m, side, how);
		return;
	case 2:
		step_empty(m, side);
		return;
	default:
		step_requests(m, side, how);
	}
}
