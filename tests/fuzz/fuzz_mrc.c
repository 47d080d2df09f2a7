/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a program on mrc.h, a byte an operation: two devices of one process
 * with two pairs of MRC QPs between them, whose packets get lost, doubled and late; QPs and hints
 * are destroyed and made again, states and attributes change in any order, events are asked for, a
 * controller asks about EVs and the other device's endpoint.
 *
 * A model beside it knows what must come of it: each WR completes at most once, in order, and none
 * of before a reset; what is reported as written is there, and with an immediate all that was
 * written before it; immediates come once, in order; a call that fails has changed nothing; what
 * has users is not destroyed; a completion that was waited for wakes, once. At the end all can be
 * taken down.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/assert.h"
#include "fuzz_mrc.h"
#include "libmrc/libmrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An immediate is the number of the message above its place in SOURCE. */
#define PLACE_BITS 8
/* How a WRITE is posted. */
#define HOW_IMM 1u
#define HOW_UNSIGNALED 2u
#define HOW_INLINE 4u
#define HOW_INLINE_MAX 64u
#define HOW_SOLICITED 8u
#define HOW_FENCE 16u
#define HOW_OTHER_OP 32u /* that MRC has not */
#define HOW_NO_KEY 64u

/* ---- set-up ---- */

static void open_side(struct mrc *m, uint32_t side)
{
	struct mrc_side *ms = &m->of[side];
	struct mrc_context_attr attr = {.mrc_api_version_used = MRC_API_VER_USED};
	int fd;

	ms->context = mrc_create_context(m->w.side[side].context, &attr);
	mb_assert(ms->context);
	mb_assert(mrc_create_comp_channel(ms->context, &ms->channel) == 0);
	mb_assert(mrc_get_comp_channel_fd(ms->channel, &fd) == 0);
	mb_assert(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	/* mrc.h has no descriptor of its own for these. */
	mb_assert(fcntl(mh_async_fd(ms->context->dev), F_SETFL, O_NONBLOCK) == 0);
	for (uint32_t p = 0; p < PAIRS; p++) {
		struct mrc_end *e = &ms->end[p];

		e->cq = mrc_create_cq(ms->context, CQE, e, ms->channel, 0);
		mb_assert(e->cq);
		model_open(&e->model, &m->w.side[side], &m->w.side[1 - side]);
	}
}

static void close_side(struct mrc_side *ms)
{
	for (uint32_t p = 0; p < PAIRS; p++) {
		if (ms->end[p].qp)
			mrc_end_destroy(&ms->end[p]);
		mb_assert(mrc_destroy_comp_channel(ms->channel) == EBUSY);
		mb_assert(mrc_destroy_cq(ms->end[p].cq) == 0);
	}
	mb_assert(mrc_destroy_comp_channel(ms->channel) == 0);
	for (uint32_t h = 0; h < HINTS; h++)
		mb_assert(!ms->hint[h] || mrc_destroy_qp_hint(ms->hint[h]) == 0);
	mb_assert(mrc_destroy_context(ms->context) == 0);
}

/* ---- completions and events ---- */

/* is_solicited: a message of which the sender is still what it was says so. */
static bool is_solicited(const struct mrc_end *e, const struct ibv_wc *wc)
{
	const struct model_end *peer = e->model.peer;

	if (!model_is_recv(wc) || !peer || peer->life != e->model.peer_life)
		return false;
	return mb_container_of(peer, struct mrc_end, model)
		->solicited[peer->takes[ntohl(wc->imm_data) >> PLACE_BITS]];
}

/* wakes: whether the completion ends what was asked for. */
static bool wakes(const struct mrc_end *e, const struct ibv_wc *wc)
{
	return e->asked == ASKED_ANY || (e->asked == ASKED_SOLICITED &&
					 (wc->status != IBV_WC_SUCCESS || is_solicited(e, wc)));
}

/* take_event takes the event of a CQ that has one, and says which. */
static struct mrc_end *take_event(struct mrc_side *ms)
{
	struct mrc_end *e;
	struct mrc_cq *cq;
	void *context;

	if (mrc_get_cq_event(ms->channel, &cq, &context)) {
		mb_assert(errno == EAGAIN);
		return NULL;
	}
	e = context;
	mb_assert(e->cq == cq && e->asked != ASKED_NOT);
	e->asked = ASKED_NOT;
	mrc_ack_cq_events(cq, 1);
	return e;
}

static void check_completion(struct mrc_end *e, const struct ibv_wc *wc)
{
	uint32_t qpn;

	mb_assert(e->qp && mrc_get_qpn(e->qp, &qpn) == 0 && wc->qp_num == qpn);
	if (!model_is_recv(wc)) {
		model_send_done(&e->model, wc);
		mb_assert(wc->status != IBV_WC_SUCCESS || wc->opcode == IBV_WC_RDMA_WRITE);
		return;
	}
	model_recv_done(&e->model, wc);
	if (wc->status != IBV_WC_SUCCESS)
		return;
	mb_assert(wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc->wc_flags == IBV_WC_WITH_IMM);
	model_received(&e->model, wc, NULL);
}

/*
 * poll returns how many completions there were. One that was waited for came after it was asked
 * for, since the CQ was empty then, so its event is there.
 */
static int poll(struct mrc *m, uint32_t side, uint32_t p, int n)
{
	struct mrc_end *e = &m->of[side].end[p];
	bool woken = false;
	struct ibv_wc wc[16];
	int got = mrc_poll_cq(e->cq, n, wc);

	mb_assert(got >= 0 && got <= n);
	for (int i = 0; i < got; i++) {
		woken |= wakes(e, &wc[i]);
		check_completion(e, &wc[i]);
	}
	while (take_event(&m->of[side]))
		continue;
	mb_assert(!woken || e->asked == ASKED_NOT);
	return got;
}

static void poll_all(struct mrc *m, uint32_t side, uint32_t p)
{
	while (poll(m, side, p, 16) > 0)
		continue;
}

static void take_async_events(struct mrc_side *ms)
{
	struct mrc_async_event event;

	while (mrc_get_async_event(ms->context, &event) == 0) {
		mb_assert(event.event_type != IBV_EVENT_CQ_ERR);
		mb_assert(event.element.qp == ms->end[0].qp || event.element.qp == ms->end[1].qp);
		mrc_ack_async_event(&event);
	}
	mb_assert(errno == EAGAIN);
}

/* A request for any completion outlives one for those that are solicited. */
static void step_ask(struct mrc *m, uint32_t side, uint32_t p, bool solicited_only)
{
	struct mrc_end *e = &m->of[side].end[p];

	poll_all(m, side, p);
	mb_assert(mrc_req_notify_cq(e->cq, solicited_only) == 0);
	if (e->asked != ASKED_ANY)
		e->asked = solicited_only ? ASKED_SOLICITED : ASKED_ANY;
}

/* ---- WRs ---- */

static void step_send(struct mrc *m, uint32_t side, uint32_t p)
{
	const struct side *s = &m->w.side[side], *far = &m->w.side[1 - side];
	struct mrc_end *e = &m->of[side].end[p];
	uint8_t how = fuzz_u8(&m->w.in);
	uint32_t place = fuzz_u8(&m->w.in), at = place * PLACE_BYTES;
	struct model_wr model = {.kind = how & HOW_IMM ? MODEL_WRITE_IMM : MODEL_WRITE,
				 .signaled = !(how & HOW_UNSIGNALED),
				 .place = place,
				 .len = fuzz_u8(&m->w.in) * 4u};
	struct ibv_sge sge = {(uintptr_t)s->memory[SOURCE] + at, model.len, world_key(s, SOURCE)};
	struct ibv_send_wr wr = {
		.wr_id = model_send_id(&e->model),
		.sg_list = &sge,
		.num_sge = model.len ? 1 : 0,
		.opcode = how & HOW_IMM ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = (model.signaled ? IBV_SEND_SIGNALED : 0) |
			      (how & HOW_FENCE ? IBV_SEND_FENCE : 0),
		.imm_data = model_imm(&e->model, &model),
		.wr.rdma = {.remote_addr = (uintptr_t)far->memory[TARGET] + at,
			    .rkey = how & HOW_NO_KEY ? 1 : world_key(far, TARGET)}};
	struct ibv_send_wr *bad = NULL;
	bool solicited = how & HOW_SOLICITED && how & HOW_IMM;

	if (!e->qp)
		return;
	wr.send_flags |= solicited ? IBV_SEND_SOLICITED : 0;
	if (how & HOW_INLINE && model.len <= HOW_INLINE_MAX)
		wr.send_flags |= IBV_SEND_INLINE;
	if (how & HOW_OTHER_OP)
		wr.opcode = how & HOW_IMM ? IBV_WR_SEND : IBV_WR_RDMA_READ;
	if (mrc_post_send(e->qp, &wr, &bad)) {
		mb_assert(bad == &wr && (errno == EINVAL || errno == ENOMEM));
		return;
	}
	mb_assert(!(how & HOW_OTHER_OP) && mrc_end_state(e) >= IBV_QPS_RTS);
	e->solicited[e->model.send.posted] = solicited;
	model_sent(&e->model, &model);
}

/* A receive needs no memory. */
static void step_recv(struct mrc *m, uint32_t side, uint32_t p)
{
	struct mrc_end *e = &m->of[side].end[p];
	struct ibv_recv_wr wr = {.wr_id = model_recv_id(&e->model)};
	struct ibv_recv_wr *bad = NULL;

	if (!e->qp)
		return;
	if (mrc_post_recv(e->qp, &wr, &bad)) {
		mb_assert(bad == &wr);
		mb_assert(errno == (mrc_end_state(e) == IBV_QPS_RESET ? EINVAL : ENOMEM));
		return;
	}
	model_recv_posted(&e->model);
}

/* ---- hints ---- */

static uint32_t users_of(const struct mrc_side *ms, const struct mrc_qp_hint *hint)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < PAIRS; p++)
		n += ms->end[p].hint == hint;
	return n;
}

static void open_hint(struct mrc_side *ms, uint32_t h, int number)
{
	struct mrc_qp_hint_init_attr init = {.attr = {.num_qps_per_peer = number}};

	ms->hint[h] = mrc_create_qp_hint(ms->context, &init);
	mb_assert(!ms->hint[h] == (number < 0));
	ms->hint_attr[h] = init.attr;
}

static void destroy_hint(struct mrc_side *ms, uint32_t h)
{
	int err = mrc_destroy_qp_hint(ms->hint[h]);

	if (users_of(ms, ms->hint[h])) {
		mb_assert(err == -1 && errno == EBUSY);
		return;
	}
	mb_assert(err == 0);
	ms->hint[h] = NULL;
}

/* A number that is negative, or a bit that is none, and nothing changes. */
static void modify_hint(struct mrc_side *ms, uint32_t h, int number)
{
	const int known = MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS |
			  MRC_QP_HINT_NUM_REMOTE_RECV_PEERS;
	struct mrc_qp_hint_attr now, wanted = {number, number / 2, number / 4, {0}};
	struct mrc_qp_hint_attr *known_attr = &ms->hint_attr[h];
	int mask = number & 15, err = mrc_modify_qp_hint(ms->hint[h], &wanted, mask);

	mb_assert(!err || errno == EINVAL);
	mb_assert(!err == (!(mask & ~known) && (number >= 0 || mask == 0)));
	if (!err && mask & MRC_QP_HINT_NUM_QPS_PER_PEER)
		known_attr->num_qps_per_peer = wanted.num_qps_per_peer;
	if (!err && mask & MRC_QP_HINT_NUM_SEND_PEERS)
		known_attr->num_send_peers = wanted.num_send_peers;
	if (!err && mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS)
		known_attr->num_remote_recv_peers = wanted.num_remote_recv_peers;
	mb_assert(mrc_query_qp_hint(ms->hint[h], &now, known) == 0);
	mb_assert(now.num_qps_per_peer == known_attr->num_qps_per_peer &&
		  now.num_send_peers == known_attr->num_send_peers &&
		  now.num_remote_recv_peers == known_attr->num_remote_recv_peers);
}

static void step_hint(struct mrc *m, uint32_t side, uint32_t h)
{
	struct mrc_side *ms = &m->of[side];
	uint8_t how = fuzz_u8(&m->w.in);
	int number = (int8_t)how;

	if (!ms->hint[h])
		open_hint(ms, h, number);
	else if (how & 0x20)
		destroy_hint(ms, h);
	else
		modify_hint(ms, h, number);
}

/* ---- other steps ---- */

/* Objects of another context of the same device are refused, and it is destroyed after them. */
static void step_context(struct mrc *m, uint32_t side)
{
	struct mrc_side *ms = &m->of[side];
	struct mrc_context *other = mrc_create_context(m->w.side[side].context, NULL);
	struct mrc_qp_init_attr init = {
		.send_cq = ms->end[0].cq, .cap = {1, 0, 1, 0, 0}, .pd = m->w.side[side].pd};
	struct mrc_device_attr attr, attr_ex;
	int supported;

	mb_assert(other);
	mb_assert(!mrc_create_cq(other, 1, NULL, ms->channel, 0) && errno == EINVAL);
	init.recv_cq = mrc_create_cq(other, 1, NULL, NULL, 0);
	mb_assert(init.recv_cq && !mrc_create_qp(ms->context, &init) && errno == EINVAL);
	mb_assert(mrc_destroy_context(other) == -1 && errno == EBUSY);
	mb_assert(mrc_destroy_cq(init.recv_cq) == 0 && mrc_destroy_context(other) == 0);
	mb_assert(mrc_query_device(m->w.side[side].context, &attr, &supported) == 0 && supported);
	mb_assert(mrc_query_device_ex(m->w.side[side].context, ms->context, &attr_ex, &supported) ==
			  0 &&
		  supported && attr.mpr_attr.max_mpr == attr_ex.mpr_attr.max_mpr);
	mb_assert(mrc_query_device_ex(m->w.side[1 - side].context, ms->context, &attr_ex,
				      &supported) == -1 &&
		  errno == EINVAL);
}

/* What has users says EBUSY. */
static void step_busy(struct mrc *m, uint32_t side, uint32_t p)
{
	struct mrc_side *ms = &m->of[side];

	mb_assert(ibv_dealloc_pd(m->w.side[side].pd) == EBUSY);
	mb_assert(mrc_destroy_context(ms->context) == -1 && errno == EBUSY);
	mb_assert(mrc_destroy_comp_channel(ms->channel) == EBUSY);
	mb_assert(!ms->end[p].qp || mrc_destroy_cq(ms->end[p].cq) == EBUSY);
}

static void step_qp(struct mrc *m, uint32_t side, uint32_t p)
{
	if (m->of[side].end[p].qp)
		mrc_end_destroy(&m->of[side].end[p]);
	else
		mrc_end_open(m, side, p);
}

static void step_memory(struct side *s)
{
	if (s->mr[TARGET])
		mb_assert(world_deregister(s, TARGET) == 0);
	else
		world_register(s, TARGET);
}

static void poll_everything(struct mrc *m)
{
	for (uint32_t s = 0; s < SIDES; s++) {
		for (uint32_t p = 0; p < PAIRS; p++)
			poll_all(m, s, p);
		take_async_events(&m->of[s]);
	}
}

/* A short way of a fuzzer to a world that went on. */
static void step_go(struct mrc *m)
{
	for (uint32_t i = 0; i < 3; i++) {
		world_run(&m->w, 4, UINT64_C(1) << 20);
		poll_everything(m);
	}
}

static void step_world(struct mrc *m, uint8_t op, uint32_t side)
{
	uint8_t how;

	switch (op >> 4 & 3) {
	case 0:
		how = fuzz_u8(&m->w.in);
		world_run(&m->w, 1 + (how >> 5), UINT64_C(1) << (how & 31) % 28);
		return;
	case 1:
		m->w.loss = fuzz_u8(&m->w.in);
		return;
	case 2:
		step_memory(&m->w.side[side]);
		return;
	default:
		step_go(m);
	}
}

static void step_end(struct mrc *m, uint8_t op, uint32_t side, uint32_t p)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPS_SQD,
						   IBV_QPS_RTS,	  IBV_QPS_RTR, IBV_QPS_INIT,
						   IBV_QPS_SQE,	  IBV_QPS_RTS};
	uint8_t which;

	switch (op & 15) {
	case 9:
		mrc_end_modify(m, side, p);
		return;
	case 10:
		which = fuzz_u8(&m->w.in) & 7;
		if (m->of[side].end[p].qp)
			mrc_end_move(&m->of[side].end[p], states[which]);
		return;
	case 11:
		mrc_end_connect(m, p, fuzz_u8(&m->w.in));
		return;
	case 12:
		step_qp(m, side, p);
		return;
	case 13:
		step_hint(m, side, p);
		return;
	case 14:
		step_busy(m, side, p);
		return;
	default:
		if (op & 0x10)
			mrc_ctl_step(m, side);
		else
			step_context(m, side);
	}
}

static void step(struct mrc *m)
{
	uint8_t op = fuzz_u8(&m->w.in);
	uint32_t side = op >> 7, p = op >> 6 & 1;

	switch (op & 15) {
	case 0:
	case 1:
	case 2:
		step_send(m, side, p);
		return;
	case 3:
	case 4:
		step_recv(m, side, p);
		return;
	case 5:
	case 6:
		step_world(m, op, side);
		return;
	case 7:
		poll(m, side, p, 1 << (op >> 4 & 3));
		take_async_events(&m->of[side]);
		return;
	case 8:
		step_ask(m, side, p, op >> 4 & 1);
		return;
	default:
		step_end(m, op, side, p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mrc *m = calloc(1, sizeof(*m));

	mb_assert(m);
	world_open(&m->w, data, size);
	for (uint32_t s = 0; s < SIDES; s++)
		open_side(m, s);
	for (uint32_t p = 0; p < PAIRS; p++)
		mrc_end_connect(m, p, 0);
	for (uint32_t k = 0; m->w.in.left > 0 && k < STEPS_MAX; k++)
		step(m);
	world_settle(&m->w);
	poll_everything(m);
	for (uint32_t s = 0; s < SIDES; s++)
		for (uint32_t p = 0; p < PAIRS; p++)
			model_check_end(&m->of[s].end[p].model);
	for (uint32_t s = 0; s < SIDES; s++)
		close_side(&m->of[s]);
	world_close(&m->w);
	free(m);
	return 0;
}
