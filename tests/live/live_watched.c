/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_watched.c - mrc.h as plugins for NCCL use it: a sender that polls no CQ but watches
 * memory, into which the receiver writes what may be sent where.
 *
 * The receiver registers buffers, posts receives without memory and describes up to eight buffers
 * in as many records of 64 bytes, which one plain WRITE brings into a FIFO of the sender. The
 * sender looks at the last word of each, nothing else, and takes the rest for granted: so a
 * record must appear from its beginning to its end. Then it posts a chain: a WRITE for each
 * buffer and a WRITE with immediate that says how much it was, of several buffers by an array of
 * sizes. Some of what has come is flushed by a READ through an RC QP that is its own peer, on the
 * same device and PD. Packets are lost, damaged, delayed and repeated all the while.
 */
#include "support/test.h"
#include "unit/loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <mrc.h>
#include <mrc/fault.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define GROUPS 1500u
#define SLOTS 64u
#define GROUP_MAX 8u
#define AHEAD 8u
#define QPS 2u
#define PIECE_MAX 20000u
#define AREA_BYTES ((size_t)SLOTS * GROUP_MAX * PIECE_MAX)
#define AN_OFFER UINT64_MAX
#define PATIENCE_S 60
#define PLANES 4u

/* What the receiver writes; the sender waits for idx. */
struct offer {
	uint64_t addr, size;
	uint32_t rkey[4], count, tag;
	uint64_t idx;
	uint8_t padding[16];
};

/* What each tells the other beside the network. */
struct card {
	union ibv_gid gid;
	uint32_t qpn[QPS];
	uint64_t fifo, sizes;
	uint32_t fifo_rkey, sizes_rkey;
};

struct side {
	int sock;
	uint32_t device;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct mrc_context *ctx;
	struct mrc_cq *cq;
	struct mrc_qp *qp[QPS];
	struct mrc_qp_hint *hint[QPS];
	struct ibv_cq *flush_cq;
	struct ibv_qp *flush_qp;
	uint32_t flushed;
	struct offer fifo[SLOTS][GROUP_MAX];
	uint32_t sizes[SLOTS][GROUP_MAX];
	uint8_t *area;
	struct ibv_mr *fifo_mr, *sizes_mr, *area_mr, *flushed_mr;
	struct card mine, peer;
	bool done[SLOTS];
};

#define check(cond) ((cond) ? (void)0 : fail_here(__LINE__, #cond))

_Noreturn static void fail_here(int line, const char *what)
{
	fprintf(stderr, "# %d: live_watched.c:%d: %s (errno %d)\n", (int)getpid(), line, what,
		errno);
	_exit(1);
}

/* ---- what group k is ---- */

static uint32_t mix(uint64_t k, uint32_t r)
{
	return (uint32_t)((k * 16 + r + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 33);
}

static uint32_t count_of(uint64_t k)
{
	return k % 3 == 0 ? GROUP_MAX : 1 + mix(k, 15) % GROUP_MAX;
}

static uint32_t bytes_of(uint64_t k, uint32_t r)
{
	uint32_t x = mix(k, r);

	return x % 8 == 0 ? 0 : x % 8 < 6 ? x / 8 % 1000 : x / 8 % PIECE_MAX;
}

static uint8_t *piece_of(struct side *s, uint64_t k, uint32_t r)
{
	return s->area + (k % SLOTS * GROUP_MAX + r) * PIECE_MAX;
}

static uint8_t byte_of(uint64_t k, uint32_t r, uint32_t i)
{
	return (uint8_t)(k * 31 + r * 7 + i * 13 + (i >> 8) + 1);
}

/* ---- opening and connecting ---- */

static struct ibv_mr *reg(struct side *s, void *addr, size_t bytes, unsigned int more)
{
	struct ibv_mr *mr =
		ibv_reg_mr_iova2(s->pd, addr, bytes, (uintptr_t)addr,
				 (unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						IBV_ACCESS_REMOTE_READ) |
					 more);

	check(mr);
	return mr;
}

static void open_device(struct side *s)
{
	struct mrc_context_attr versions = {MRC_API_CURRENT_VERSION, 0};
	struct ibv_device **list;
	int count = 0;

	list = ibv_get_device_list(&count);
	check(list && (uint32_t)count > s->device);
	s->verbs = ibv_open_device(list[s->device]);
	check(s->verbs);
	ibv_free_device_list(list);
	s->pd = ibv_alloc_pd(s->verbs);
	s->ctx = mrc_create_context(s->verbs, &versions);
	check(s->pd && s->ctx);
	s->area = calloc(1, AREA_BYTES);
	check(s->area && ibv_query_gid(s->verbs, 1, 0, &s->mine.gid) == 0);
	s->fifo_mr = reg(s, s->fifo, sizeof(s->fifo), 0);
	s->sizes_mr = reg(s, s->sizes, sizeof(s->sizes), 0);
	s->area_mr = reg(s, s->area, AREA_BYTES, IBV_ACCESS_RELAXED_ORDERING);
	s->flushed_mr = reg(s, &s->flushed, sizeof(s->flushed), 0);
	s->mine.fifo = (uintptr_t)s->fifo;
	s->mine.fifo_rkey = s->fifo_mr->rkey;
	s->mine.sizes = (uintptr_t)s->sizes;
	s->mine.sizes_rkey = s->sizes_mr->rkey;
}

/* On the way to INIT a QP gets a hint, with bytes for a vendor in it. */
static void make_qp(struct side *s, uint32_t i)
{
	struct mrc_qp_init_attr init = {.send_cq = s->cq,
					.recv_cq = s->cq,
					.pd = s->pd,
					.cap = {2 * SLOTS, SLOTS, 1, 1, 0}};
	struct mrc_qp_hint_init_attr hint = {
		.attr = {.num_qps_per_peer = QPS, .num_send_peers = 1, .vendor_cfg = {1}}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct mrc_qp_attr more = {0};

	s->hint[i] = more.qp_hint = mrc_create_qp_hint(s->ctx, &hint);
	s->qp[i] = mrc_create_qp(s->ctx, &init);
	check(s->hint[i] && s->qp[i] && mrc_get_qpn(s->qp[i], &s->mine.qpn[i]) == 0);
	check(mrc_modify_qp(s->qp[i], &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
			    &more, MRC_QP_HINT) == 0);
}

static struct ibv_qp_attr to_rtr(const union ibv_gid *gid, uint32_t qpn)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = *gid, .hop_limit = 255}},
	};
}

static void connect_qp(struct side *s, uint32_t i)
{
	struct ibv_qp_attr rtr = to_rtr(&s->peer.gid, s->peer.qpn[i]);
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 20, .retry_cnt = 7, .rnr_retry = 7};
	struct mrc_qp_attr more = {.timeout = 20};

	check(mrc_modify_qp(s->qp[i], &rtr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_PATH_MTU,
			    &more, 0) == 0);
	check(mrc_modify_qp(s->qp[i], &rts,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY,
			    &more, MRC_QP_TIMEOUT) == 0);
}

/* An RC QP beside the MRC ones, which is its own peer. */
static void make_flush(struct side *s)
{
	struct ibv_qp_init_attr init = {.cap = {2 * SLOTS, SLOTS, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags =
					   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ};

	init.send_cq = init.recv_cq = s->flush_cq =
		ibv_create_cq(s->verbs, (int)SLOTS, NULL, NULL, 0);
	check(s->flush_cq);
	s->flush_qp = ibv_create_qp(s->pd, &init);
	check(s->flush_qp);
	check(ibv_modify_qp(s->flush_qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
	      0);
	attr = to_rtr(&s->mine.gid, s->flush_qp->qp_num);
	check(ibv_modify_qp(s->flush_qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER) == 0);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .timeout = 20,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 1};
	check(ibv_modify_qp(s->flush_qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* Both stand where this is called. */
static void meet(struct side *s)
{
	check(send(s->sock, &s->mine, sizeof(s->mine), MSG_NOSIGNAL) == sizeof(s->mine));
	check(recv(s->sock, &s->peer, sizeof(s->peer), MSG_WAITALL) == sizeof(s->peer));
}

static void connect_all(struct side *s)
{
	open_device(s);
	s->cq = mrc_create_cq(s->ctx, (int)(2 * SLOTS * QPS), NULL, NULL, 0);
	check(s->cq);
	for (uint32_t i = 0; i < QPS; i++)
		make_qp(s, i);
	meet(s);
	for (uint32_t i = 0; i < QPS; i++)
		connect_qp(s, i);
	make_flush(s);
	meet(s);
}

/* The order in which such plugins close: QP, its hint, MRs, both CQs. */
static void close_all(struct side *s)
{
	meet(s);
	for (uint32_t i = 0; i < QPS; i++)
		check(mrc_destroy_qp(s->qp[i]) == 0 && mrc_destroy_qp_hint(s->hint[i]) == 0);
	check(ibv_destroy_qp(s->flush_qp) == 0);
	check(ibv_dereg_mr(s->fifo_mr) == 0 && ibv_dereg_mr(s->sizes_mr) == 0);
	check(ibv_dereg_mr(s->area_mr) == 0 && ibv_dereg_mr(s->flushed_mr) == 0);
	check(mrc_destroy_cq(s->cq) == 0 && ibv_destroy_cq(s->flush_cq) == 0);
	check(ibv_dealloc_pd(s->pd) == 0 && mrc_destroy_context(s->ctx) == 0);
	check(ibv_close_device(s->verbs) == 0);
	free(s->area);
}

/* ---- waiting ---- */

struct patience {
	time_t until;
};

static void be_patient(struct patience *p)
{
	if (!p->until)
		p->until = time(NULL) + PATIENCE_S;
	check(time(NULL) < p->until);
	sched_yield();
}

static void take(struct side *s)
{
	struct ibv_wc wc[4];
	int count = mrc_poll_cq(s->cq, 4, wc);

	check(count >= 0);
	for (int i = 0; i < count; i++) {
		check(wc[i].status == IBV_WC_SUCCESS);
		if (wc[i].wr_id == AN_OFFER)
			continue;
		check(!s->done[wc[i].wr_id % SLOTS]);
		s->done[wc[i].wr_id % SLOTS] = true;
		if (wc[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM && count_of(wc[i].wr_id) == 1)
			check(wc[i].imm_data == bytes_of(wc[i].wr_id, 0));
	}
}

static void wait_done(struct side *s, uint64_t k)
{
	struct patience p = {0};

	while (!s->done[k % SLOTS]) {
		take(s);
		be_patient(&p);
	}
	s->done[k % SLOTS] = false;
}

/* ---- the sender ---- */

static struct offer offer_of(struct side *s, uint64_t k, uint32_t r, uint64_t addr)
{
	uint32_t rkey = s->area_mr->rkey, x = mix(k, r);

	return (struct offer){.addr = addr,
			      .size = PIECE_MAX + (uint64_t)x,
			      .rkey = {rkey, x + 1, x + 2, x + 3},
			      .count = count_of(k),
			      .tag = x,
			      .idx = k + 1};
}

/* Looks at one word of memory, and at no CQ. */
static void watch(const uint64_t *word, uint64_t want)
{
	struct patience p = {0};

	for (uint32_t i = 1; __atomic_load_n(word, __ATOMIC_ACQUIRE) != want; i++)
		if (i % 16 == 0)
			be_patient(&p);
}

/* Whoever sees the last word of an offer sees all before it; nobody polls meanwhile. */
static void wait_for_offers(struct side *s, uint64_t k)
{
	const struct offer *slot = s->fifo[k % SLOTS];

	for (uint32_t r = 0; r < count_of(k); r++) {
		struct offer o, want;

		watch(&slot[r].idx, k + 1);
		o = slot[r];
		want = offer_of(s, k, r, o.addr);
		want.rkey[0] = o.rkey[0];
		check(o.addr && o.rkey[0] && memcmp(&o, &want, sizeof(o)) == 0);
	}
}

static struct ibv_send_wr data_wr(struct side *s, uint64_t k, uint32_t r, struct ibv_sge *sge)
{
	const struct offer *o = &s->fifo[k % SLOTS][r];
	struct ibv_send_wr wr = {.wr_id = k, .opcode = IBV_WR_RDMA_WRITE};

	for (uint32_t i = 0; i < bytes_of(k, r); i++)
		piece_of(s, k, r)[i] = byte_of(k, r, i);
	*sge = (struct ibv_sge){(uintptr_t)piece_of(s, k, r), bytes_of(k, r), s->area_mr->lkey};
	if (sge->length) {
		wr.sg_list = sge;
		wr.num_sge = 1;
	}
	wr.wr.rdma.remote_addr = o->addr;
	wr.wr.rdma.rkey = o->rkey[0];
	return wr;
}

/* The last of the chain tells the sizes: of several buffers it brings them along. */
static void send_group(struct side *s, uint64_t k)
{
	uint32_t count = count_of(k), slot = (uint32_t)(k % SLOTS);
	struct ibv_send_wr wr[GROUP_MAX + 1], *last, *bad;
	struct ibv_sge sge[GROUP_MAX + 1];

	for (uint32_t r = 0; r < count; r++) {
		wr[r] = data_wr(s, k, r, &sge[r]);
		wr[r].next = &wr[r + 1];
		s->sizes[slot][r] = bytes_of(k, r);
	}
	last = &wr[count == 1 ? 0 : count];
	if (count > 1) {
		sge[count] =
			(struct ibv_sge){(uintptr_t)s->sizes[slot], count * 4, s->sizes_mr->lkey};
		*last = (struct ibv_send_wr){.wr_id = k, .sg_list = &sge[count], .num_sge = 1};
		last->wr.rdma.remote_addr = s->peer.sizes + slot * sizeof(s->sizes[0]);
		last->wr.rdma.rkey = s->peer.sizes_rkey;
	}
	last->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	last->imm_data = count == 1 ? bytes_of(k, 0) : 0;
	last->send_flags = IBV_SEND_SIGNALED;
	last->next = NULL;
	check(mrc_post_send(s->qp[k % QPS], wr, &bad) == 0);
	memset(s->fifo[slot], 0, sizeof(struct offer));
}

static void be_sender(struct side *s)
{
	for (uint64_t k = 0; k < GROUPS + AHEAD; k++) {
		if (k >= AHEAD)
			wait_done(s, k - AHEAD);
		if (k < GROUPS) {
			wait_for_offers(s, k);
			send_group(s, k);
		}
	}
}

/* ---- the receiver ---- */

/* One plain WRITE of up to 512 bytes; one of a round is signaled, so that the SQ empties. */
static void post_offers(struct side *s, uint64_t k)
{
	uint32_t slot = (uint32_t)(k % SLOTS), count = count_of(k);
	struct ibv_sge sge = {(uintptr_t)s->fifo[slot], (uint32_t)(count * sizeof(struct offer)),
			      s->fifo_mr->lkey};
	struct ibv_send_wr wr = {.wr_id = AN_OFFER,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = slot == 0 ? (unsigned int)IBV_SEND_SIGNALED : 0},
			   *bad;
	struct ibv_recv_wr recv = {.wr_id = k}, *bad_recv;

	for (uint32_t r = 0; r < count; r++)
		s->fifo[slot][r] = offer_of(s, k, r, (uintptr_t)piece_of(s, k, r));
	wr.wr.rdma.remote_addr = s->peer.fifo + slot * sizeof(s->fifo[0]);
	wr.wr.rdma.rkey = s->peer.fifo_rkey;
	check(mrc_post_recv(s->qp[k % QPS], &recv, &bad_recv) == 0);
	check(mrc_post_send(s->qp[0], &wr, &bad) == 0);
}

/* READs the first word of the last piece that is not empty, which must be what is in memory. */
static void flush(struct side *s, uint64_t k)
{
	struct ibv_sge sge = {(uintptr_t)&s->flushed, sizeof(s->flushed), s->flushed_mr->lkey};
	struct ibv_send_wr wr = {.wr_id = k,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_READ,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	uint8_t *piece = piece_of(s, k, count_of(k) - 1);
	struct patience p = {0};
	struct ibv_wc wc;
	int count;

	wr.wr.rdma.remote_addr = (uintptr_t)piece;
	wr.wr.rdma.rkey = s->area_mr->rkey;
	check(ibv_post_send(s->flush_qp, &wr, &bad) == 0);
	while ((count = ibv_poll_cq(s->flush_cq, 1, &wc)) == 0)
		be_patient(&p);
	check(count == 1 && wc.status == IBV_WC_SUCCESS && wc.wr_id == k);
	check(memcmp(&s->flushed, piece, sizeof(s->flushed)) == 0);
}

static void verify(struct side *s, uint64_t k)
{
	for (uint32_t r = 0; r < count_of(k); r++) {
		uint8_t *piece = piece_of(s, k, r);
		uint32_t bytes = bytes_of(k, r);

		check(count_of(k) == 1 || s->sizes[k % SLOTS][r] == bytes);
		for (uint32_t i = 0; i < bytes; i++)
			check(piece[i] == byte_of(k, r, i));
		check(piece[bytes] == 0);
		memset(piece, 0, bytes);
	}
}

static void be_receiver(struct side *s)
{
	for (uint64_t k = 0; k < GROUPS + AHEAD; k++) {
		if (k >= AHEAD) {
			wait_done(s, k - AHEAD);
			if (k % 4 == 0)
				flush(s, k - AHEAD);
			verify(s, k - AHEAD);
		}
		if (k < GROUPS)
			post_offers(s, k);
	}
}

/* ---- both ---- */

static char faults[64];

static void write_faults(void)
{
	static struct mrc_fault_table table = {
		.magic = MRC_FAULT_MAGIC,
		.version = MRC_FAULT_VERSION,
		.rules = MRC_FAULT_RULES,
		.rule =
			{
				{.kind = MRC_FAULT_DROP, .port_mask = 15, .chance_ppm = 2000},
				{.kind = MRC_FAULT_CORRUPT, .port_mask = 15, .chance_ppm = 500},
				{.kind = MRC_FAULT_DELAY,
				 .port_mask = 15,
				 .chance_ppm = 50000,
				 .jitter_us = 300},
				{.kind = MRC_FAULT_DUPLICATE, .port_mask = 15, .chance_ppm = 5000},
			},
	};
	int fd;

	table.seed = test_rand();
	strcpy(faults, "/tmp/live-watched-XXXXXX");
	fd = mkstemp(faults);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &table, sizeof(table)), sizeof(table));
	close(fd);
	setenv("MRC_FAULTS", faults, 1);
}

static pid_t start(void (*play)(struct side *), uint32_t device, int sock, int other)
{
	static struct side s;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	close(other);
	alarm(2 * PATIENCE_S);
	s.sock = sock;
	s.device = device;
	connect_all(&s);
	play(&s);
	close_all(&s);
	_exit(0);
}

static int clean_up(void **state)
{
	(void)state;
	unsetenv("MRC_FAULTS");
	unsetenv("MRC_DEVICES");
	return unlink(faults);
}

static void exchange(uint32_t device)
{
	int pair[2], status, failed = 0;
	pid_t pid[2];

	loopback_env(PLANES);
	write_faults();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fflush(NULL);
	pid[0] = start(be_receiver, device, pair[0], pair[1]);
	pid[1] = start(be_sender, device, pair[1], pair[0]);
	close(pair[0]);
	close(pair[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	assert_int_equal(failed, 0);
}

/* REQ(api.hint) */
TEST_WITH(NULL, clean_up, mrc_post_send, a_group_of_offers_is_watched_in_memory)
{
	exchange(0);
}

TEST_WITH(NULL, clean_up, mrc_create_context, the_second_device_does_as_well)
{
	setenv("MRC_DEVICES", "2", 1);
	exchange(1);
}
