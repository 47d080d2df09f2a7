/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a program on verbs, a byte an operation: two devices of one process
 * with two pairs of QPs between them, whose packets get lost, doubled and late; objects are
 * destroyed and made again, states change in any order, memory is deregistered, CQs are resized,
 * windows bound.
 *
 * A model beside it knows what must come of it: each WR completes at most once, in order, and none
 * of before a reset; what has users is not destroyed; what is reported as received, read or written
 * is what was sent; an atomic happens once. At the end all can be taken down.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/progress/progress.h"
#include "libibverbs/real_library.h"
#include "support/fuzz_input.h"
#include "support/virtual_nic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 250u
#define START_NS UINT64_C(1000000000)
#define SIDES 2u
#define PAIRS 2u
#define DEPTH 8u
#define SLOT_BYTES 1024u
#define BYTES (PAIRS * DEPTH * SLOT_BYTES)
#define CQE 32
#define ACCESS_ALL                                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

static const char settings[] = "MRC_PORTS=10.1.0.1,10.1.1.1,10.1.0.2,10.1.1.2\nMRC_DEVICES=2\n"
			       "MRC_MTU=1024\nMRC_REAL_IBVERBS=off";

/* SOURCE never changes; TARGET is written and read into, a byte from the same place of SOURCE. */
enum memory { SOURCE, TARGET, RECEIVED, COUNTER, MEMORIES };

/* One queue of a QP: WRs are numbered in turn, and complete so. */
struct queue {
	uint32_t posted, done;
};

struct pair_end {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct queue queue[2]; /* sends, receives */
	uint32_t life;	       /* goes up with each reset: no WR of before it completes */
	bool signaled[DEPTH];
};

struct side {
	struct virtual_nic *v;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr[MEMORIES];
	struct ibv_mw *mw;
	uint8_t *memory[MEMORIES];
	struct pair_end end[PAIRS];
};

struct world {
	struct fuzz_input in;
	struct side side[SIDES];
	uint8_t loss; /* a bit for each of the next frames */
	uint64_t adds_posted, adds_done;
};

/* There is no real library here, and none of a vendor. */
void mv_private_bind(void *library, int node)
{
	(void)library;
	(void)node;
}

void mv_private_sync_drivers(void)
{
}

static uint8_t pattern(size_t at)
{
	return (uint8_t)(at * 7 + at / 251) | 1;
}

/* ---- the network ---- */

struct sender {
	struct world *w;
	uint32_t side;
};

static struct sender senders[SIDES];

static void carry(void *ctx, uint32_t port, const struct mio_tx *tx)
{
	const struct sender *from = ctx;
	struct side *to = &from->w->side[1 - from->side];
	uint8_t bytes[MIO_FRAME_MAX], fate = from->w->loss & 3;
	struct mio_rx rx = {.bytes = bytes,
			    .len = tx->len,
			    .src.udp_port = tx->sport,
			    .flow_label = tx->flow_label,
			    .tos = tx->tos};

	from->w->loss >>= 2;
	if (fate == 1 || !mio_tx_gather(tx, bytes))
		return;
	memcpy(rx.src.ip, virtual_nic_of(from->w->side[from->side].v)->env.port[port].ip, 16);
	virtual_nic_give(to->v, port, &rx);
	if (fate == 2)
		virtual_nic_give(to->v, port, &rx);
}

static void run(struct world *w, uint32_t rounds, uint64_t ns)
{
	for (uint32_t i = 0; i < rounds; i++) {
		virtual_time_set(virtual_time() + ns);
		for (uint32_t s = 0; s < SIDES; s++)
			mh_progress_poll(virtual_nic_of(w->side[s].v));
	}
}

/* ---- objects ---- */

static void open_memory(struct side *s, enum memory m)
{
	s->mr[m] = ibv_reg_mr(s->pd, s->memory[m], BYTES, ACCESS_ALL);
	mb_assert(s->mr[m]);
}

static void open_qp(struct side *s, struct pair_end *e)
{
	struct ibv_qp_init_attr init = {.send_cq = e->cq,
					.recv_cq = e->cq,
					.cap = {DEPTH, DEPTH, 2, 2, 64},
					.qp_type = IBV_QPT_RC};

	e->qp = ibv_create_qp(s->pd, &init);
	mb_assert(e->qp || errno == ENOMEM);
}

/* forget: no WR of the QP's life until now may complete any more. */
static void forget(struct pair_end *e)
{
	memset(e->queue, 0, sizeof(e->queue));
	e->life++;
}

static void open_side(struct world *w, uint32_t i, const struct mh_env *env, struct ibv_device *dev)
{
	struct side *s = &w->side[i];

	senders[i] = (struct sender){w, i};
	s->v = virtual_nic_open(env, carry, &senders[i]);
	s->context = ibv_open_device(dev);
	mb_assert(s->context);
	mb_assert(fcntl(s->context->async_fd, F_SETFL, O_NONBLOCK) == 0);
	s->pd = ibv_alloc_pd(s->context);
	mb_assert(s->pd);
	for (enum memory m = SOURCE; m < MEMORIES; m++) {
		s->memory[m] = calloc(1, BYTES);
		mb_assert(s->memory[m]);
		open_memory(s, m);
	}
	for (size_t at = 0; at < BYTES; at++)
		s->memory[SOURCE][at] = pattern(at);
	s->mw = ibv_alloc_mw(s->pd, IBV_MW_TYPE_2);
	mb_assert(s->mw);
	for (uint32_t p = 0; p < PAIRS; p++) {
		s->end[p].cq = ibv_create_cq(s->context, CQE, NULL, NULL, 0);
		mb_assert(s->end[p].cq);
		open_qp(s, &s->end[p]);
	}
}

static int to_state(struct pair_end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1};
	int err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);

	if (!err && state == IBV_QPS_RESET)
		forget(e);
	return err;
}

static void to_rts(struct side *s, struct pair_end *e, const struct side *far, uint32_t p)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = ACCESS_ALL & ~IBV_ACCESS_MW_BIND,
				.path_mtu = IBV_MTU_256,
				.dest_qp_num = far->end[p].qp->qp_num,
				.rq_psn = 5,
				.sq_psn = 5,
				.max_rd_atomic = 4,
				.max_dest_rd_atomic = 4,
				.min_rnr_timer = 1,
				.timeout = 6,
				.retry_cnt = 7,
				.rnr_retry = 6,
				.ah_attr = {.is_global = 1, .port_num = 1}};

	(void)s;
	mb_assert(ibv_query_gid(far->context, 1, 0, &a.ah_attr.grh.dgid) == 0);
	mb_assert(ibv_modify_qp(e->qp, &a,
				IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					IBV_QP_ACCESS_FLAGS) == 0);
	a.qp_state = IBV_QPS_RTR;
	mb_assert(ibv_modify_qp(e->qp, &a,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER) == 0);
	a.qp_state = IBV_QPS_RTS;
	mb_assert(ibv_modify_qp(e->qp, &a,
				IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* connect_pair resets both QPs, which is always possible, and connects them. */
static void connect_pair(struct world *w, uint32_t p)
{
	for (uint32_t s = 0; s < SIDES; s++) {
		if (!w->side[s].end[p].qp)
			open_qp(&w->side[s], &w->side[s].end[p]);
		if (!w->side[s].end[p].qp)
			return;
		mb_assert(to_state(&w->side[s].end[p], IBV_QPS_RESET) == 0);
	}
	for (uint32_t s = 0; s < SIDES; s++)
		to_rts(&w->side[s], &w->side[s].end[p], &w->side[1 - s], p);
}

/* ---- completions ---- */

static uint64_t make_id(const struct pair_end *e, uint32_t receives)
{
	return (uint64_t)e->life << 32 | (uint64_t)receives << 31 | e->queue[receives].posted;
}

static void check_bytes(const uint8_t *bytes, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mb_assert(bytes[i] == pattern(from + i));
}

/* slot_of returns where the receive of this number has its bytes. */
static uint8_t *slot_of(const struct side *s, const struct pair_end *e, uint32_t number)
{
	uint32_t pair = (uint32_t)(e - s->end);

	return s->memory[RECEIVED] + (pair * DEPTH + number % DEPTH) * SLOT_BYTES;
}

/* The sender puts into the immediate where in SOURCE the message begins. */
static void check_received(const struct side *s, const struct pair_end *e, const struct ibv_wc *wc,
			   uint32_t number)
{
	uint32_t from = ntohl(wc->imm_data);

	mb_assert(wc->wc_flags & IBV_WC_WITH_IMM && wc->byte_len <= SLOT_BYTES);
	mb_assert(from + wc->byte_len <= BYTES);
	if (wc->opcode == IBV_WC_RECV)
		check_bytes(slot_of(s, e, number), from, wc->byte_len);
	else
		check_bytes(s->memory[TARGET] + from, from, wc->byte_len);
}

/* Sends that are not signalled complete with those behind them, or with an error. */
static void check_completion(struct world *w, struct side *s, struct pair_end *e,
			     const struct ibv_wc *wc)
{
	uint32_t receives = wc->wr_id >> 31 & 1, number = wc->wr_id & 0x7FFFFFFF;
	struct queue *q = &e->queue[receives];

	mb_assert(e->qp && wc->qp_num == e->qp->qp_num && wc->wr_id >> 32 == e->life);
	mb_assert(number >= q->done && number < q->posted);
	for (; q->done < number; q->done++)
		mb_assert(!receives && !e->signaled[q->done % DEPTH]);
	q->done++;
	if (wc->status != IBV_WC_SUCCESS)
		return;
	mb_assert(receives || e->signaled[number % DEPTH]);
	if (receives)
		check_received(s, e, wc, number);
	w->adds_done += !receives && wc->opcode == IBV_WC_FETCH_ADD;
}

static void poll_cq(struct world *w, uint32_t side, uint32_t p, int n)
{
	struct pair_end *e = &w->side[side].end[p];
	struct ibv_wc wc[16];
	int got = ibv_poll_cq(e->cq, n, wc);

	mb_assert(got >= 0 && got <= n);
	for (int i = 0; i < got; i++)
		check_completion(w, &w->side[side], e, &wc[i]);
}

static void take_events(struct side *s)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(s->context, &event) == 0)
		ibv_ack_async_event(&event);
}

/* ---- steps ---- */

static void step_send(struct world *w, uint32_t side, uint32_t p)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND_WITH_IMM,	     IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WR_RDMA_WRITE};
	struct side *s = &w->side[side], *far = &w->side[1 - side];
	struct pair_end *e = &s->end[p];
	uint8_t how = fuzz_u8(&w->in);
	uint32_t at = fuzz_u8(&w->in) * 16u, len = fuzz_u8(&w->in) * 4u;
	enum ibv_wr_opcode opcode = opcodes[how & 7];
	bool reads = opcode == IBV_WR_RDMA_READ, adds = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	enum memory local = reads ? TARGET : adds ? RECEIVED : SOURCE;
	enum memory remote = reads ? SOURCE : adds ? COUNTER : TARGET;
	struct ibv_sge sge = {(uintptr_t)s->memory[local] + at, len,
			      s->mr[local] ? s->mr[local]->lkey : 1};
	struct ibv_send_wr wr = {.wr_id = make_id(e, 0),
				 .sg_list = &sge,
				 .num_sge = len ? 1 : 0,
				 .opcode = opcode,
				 .send_flags = (how & 8 ? 0 : IBV_SEND_SIGNALED) |
					       (how & 16 ? IBV_SEND_FENCE : 0),
				 .imm_data = htonl(at)};
	struct ibv_send_wr *bad;

	if (!e->qp)
		return;
	wr.wr.rdma.remote_addr = (uintptr_t)far->memory[remote] + at;
	wr.wr.rdma.rkey = how & 0x80 ? far->mw->rkey : far->mr[remote] ? far->mr[remote]->rkey : 1;
	if (adds) {
		/* What was there goes behind the slots. */
		sge = (struct ibv_sge){(uintptr_t)s->memory[COUNTER] + BYTES - 8, 8,
				       s->mr[COUNTER]->lkey};
		wr.num_sge = 1;
		wr.wr.atomic.remote_addr = (uintptr_t)far->memory[COUNTER];
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = far->mr[COUNTER]->rkey;
	}
	if (opcode == IBV_WR_RDMA_WRITE && how & 32 && len <= 64)
		wr.send_flags |= IBV_SEND_INLINE;
	if (ibv_post_send(e->qp, &wr, &bad))
		return;
	e->signaled[e->queue[0].posted++ % DEPTH] = !(how & 8);
	mb_assert(e->queue[0].posted - e->queue[0].done <= DEPTH);
	w->adds_posted += adds;
}

static void step_recv(struct world *w, uint32_t side, uint32_t p)
{
	struct side *s = &w->side[side];
	struct pair_end *e = &s->end[p];
	struct ibv_sge sge = {(uintptr_t)slot_of(s, e, e->queue[1].posted), SLOT_BYTES,
			      s->mr[RECEIVED] ? s->mr[RECEIVED]->lkey : 1};
	struct ibv_recv_wr wr = {.wr_id = make_id(e, 1), .sg_list = &sge, .num_sge = 1}, *bad;

	if (!e->qp || ibv_post_recv(e->qp, &wr, &bad))
		return;
	e->queue[1].posted++;
	mb_assert(e->queue[1].posted - e->queue[1].done <= DEPTH);
}

static void step_bind(struct world *w, uint32_t side, uint32_t p)
{
	struct side *s = &w->side[side];
	struct pair_end *e = &s->end[p];
	struct ibv_send_wr wr = {
		.wr_id = make_id(e, 0),
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = s->mw,
			    .rkey = ibv_inc_rkey(s->mw->rkey),
			    .bind_info = {.mr = s->mr[TARGET],
					  .addr = (uintptr_t)s->memory[TARGET],
					  .length = BYTES,
					  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}}};
	struct ibv_send_wr *bad;

	if (!e->qp || !s->mr[TARGET] || ibv_post_send(e->qp, &wr, &bad))
		return;
	s->mw->rkey = wr.bind_mw.rkey;
	e->signaled[e->queue[0].posted++ % DEPTH] = true;
}

/* step_object destroys an object, or makes it again. What has users says EBUSY. */
static void step_object(struct world *w, uint32_t side, uint32_t p, uint8_t which)
{
	struct side *s = &w->side[side];
	struct pair_end *e = &s->end[p];
	enum memory m = which & 1 ? TARGET : RECEIVED;
	int err;

	switch (which >> 1 & 3) {
	case 0:
		if (e->qp) {
			mb_assert(ibv_destroy_qp(e->qp) == 0);
			e->qp = NULL;
			forget(e);
		} else {
			open_qp(s, e);
		}
		return;
	case 1:
		if (!s->mr[m]) {
			open_memory(s, m);
			return;
		}
		err = ibv_dereg_mr(s->mr[m]);
		mb_assert(err == 0 || (err == EBUSY && m == TARGET));
		s->mr[m] = err ? s->mr[m] : NULL;
		return;
	case 2:
		mb_assert(ibv_dealloc_pd(s->pd) == EBUSY);
		mb_assert(!e->qp || ibv_destroy_cq(e->cq) == EBUSY);
		return;
	default:
		mb_assert(ibv_resize_cq(e->cq, CQE + which) == 0);
	}
}

static void step(struct world *w)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPS_SQD,
						   IBV_QPS_RTS};
	uint8_t op = fuzz_u8(&w->in);
	uint32_t side = op >> 7, p = op >> 6 & 1;

	switch (op & 7) {
	case 0:
	case 1:
		step_send(w, side, p);
		return;
	case 2:
		step_recv(w, side, p);
		return;
	case 3:
		run(w, 1 + (op >> 3 & 7), UINT64_C(1) << fuzz_u8(&w->in) % 28);
		return;
	case 4:
		poll_cq(w, side, p, 1 + (op >> 3 & 7));
		take_events(&w->side[side]);
		return;
	case 5:
		if (op & 8)
			connect_pair(w, p);
		else if (w->side[side].end[p].qp)
			to_state(&w->side[side].end[p], states[op >> 4 & 3]);
		return;
	case 6:
		step_object(w, side, p, op >> 3 & 7);
		return;
	default:
		if (op & 8)
			step_bind(w, side, p);
		else
			w->loss = fuzz_u8(&w->in);
	}
}

static void close_side(struct side *s)
{
	for (uint32_t p = 0; p < PAIRS; p++) {
		mb_assert(!s->end[p].qp || ibv_destroy_qp(s->end[p].qp) == 0);
		mb_assert(ibv_destroy_cq(s->end[p].cq) == 0);
	}
	mb_assert(ibv_dealloc_mw(s->mw) == 0);
	for (enum memory m = SOURCE; m < MEMORIES; m++)
		mb_assert(!s->mr[m] || ibv_dereg_mr(s->mr[m]) == 0);
	mb_assert(ibv_dealloc_pd(s->pd) == 0 && ibv_close_device(s->context) == 0);
	virtual_nic_close(s->v);
	check_bytes(s->memory[SOURCE], 0, BYTES);
	for (size_t at = 0; at < BYTES; at++)
		mb_assert(s->memory[TARGET][at] == 0 || s->memory[TARGET][at] == pattern(at));
	for (enum memory m = SOURCE; m < MEMORIES; m++)
		free(s->memory[m]);
}

/* Both counters together: not less than what was reported, not more than what was asked for. */
static void check_counters(const struct world *w)
{
	uint64_t sum = 0, one;

	for (uint32_t s = 0; s < SIDES; s++) {
		memcpy(&one, w->side[s].memory[COUNTER], sizeof(one));
		sum += one;
	}
	mb_assert(sum >= w->adds_done && sum <= w->adds_posted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mh_env env[SIDES];
	static struct ibv_device **list;
	struct world *w = calloc(1, sizeof(*w));

	mb_assert(w);
	if (!list) {
		for (uint32_t s = 0; s < SIDES; s++)
			virtual_nic_env(settings, s, &env[s]);
		virtual_nic_settings(settings, true);
		list = ibv_get_device_list(NULL);
		mb_assert(list && list[0] && list[1]);
	}
	w->in = (struct fuzz_input){data, size};
	virtual_time_set(START_NS);
	for (uint32_t s = 0; s < SIDES; s++)
		open_side(w, s, &env[s], list[s]);
	for (uint32_t p = 0; p < PAIRS; p++)
		connect_pair(w, p);
	for (uint32_t k = 0; w->in.left > 0 && k < STEPS_MAX; k++)
		step(w);
	w->loss = 0;
	run(w, 20, 10000000);
	for (uint32_t s = 0; s < SIDES; s++)
		for (uint32_t p = 0; p < PAIRS; p++)
			poll_cq(w, s, p, 16);
	check_counters(w);
	for (uint32_t s = 0; s < SIDES; s++)
		take_events(&w->side[s]);
	for (uint32_t s = 0; s < SIDES; s++)
		close_side(&w->side[s]);
	virtual_time_set(0);
	free(w);
	return 0;
}
