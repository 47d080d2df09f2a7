/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_nccl.c - the drop-in as NCCL's network transport over verbs uses it: loaded with dlopen,
 * each function looked up under the version that NCCL names, and then its sequence of calls.
 *
 * A connection has four QPs on one CQ. The receiver registers buffers, posts receives without
 * memory and writes into a FIFO in the sender's memory what may be sent where. The sender watches
 * that FIFO, writes the data, and ends with a WRITE with immediate that says how much it was; of
 * several buffers at once it writes the sizes, with that last WR, into memory of the receiver. Of
 * some messages the receiver READs a word through a QP that is connected to itself, as NCCL flushes
 * what has come for a GPU. A thread waits for asynchronous events all the while.
 *
 * Argument: the drop-in libibverbs.so.1.
 */
#include "support/test.h"

#include <infiniband/verbs.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES 3000u
#define REQUESTS 32u /* under way */
/*
 * Slots of the FIFO, of which one a round is signaled. NCCL has eight for each request under way,
 * and an SQ of two rounds. A peer that has been preempted between placing offers and acknowledging
 * them may have answered all it placed, which is all that is under way: with as many slots as
 * requests the SQ would be full before it empties.
 */
#define SLOTS (8u * REQUESTS)
#define QPS 4u
#define GROUP_MAX 4u /* buffers of one message */
#define PIECE_MAX 40000u
#define PATIENCE_S 60

/* ---- the library ---- */

/* Those without which NCCL does not use a library; all of version 1.1. */
#define MANDATORY(X)                                                                              \
	X(get_device_list, struct ibv_device **, (int *))                                         \
	X(free_device_list, void, (struct ibv_device **))                                         \
	X(get_device_name, const char *, (struct ibv_device *))                                   \
	X(open_device, struct ibv_context *, (struct ibv_device *))                               \
	X(close_device, int, (struct ibv_context *))                                              \
	X(get_async_event, int, (struct ibv_context *, struct ibv_async_event *))                 \
	X(ack_async_event, void, (struct ibv_async_event *))                                      \
	X(query_device, int, (struct ibv_context *, struct ibv_device_attr *))                    \
	X(query_port, int, (struct ibv_context *, uint8_t, struct ibv_port_attr *))               \
	X(query_gid, int, (struct ibv_context *, uint8_t, int, union ibv_gid *))                  \
	X(query_qp, int, (struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *)) \
	X(alloc_pd, struct ibv_pd *, (struct ibv_context *))                                      \
	X(dealloc_pd, int, (struct ibv_pd *))                                                     \
	X(reg_mr, struct ibv_mr *, (struct ibv_pd *, void *, size_t, int))                        \
	X(dereg_mr, int, (struct ibv_mr *))                                                       \
	X(create_cq, struct ibv_cq *,                                                             \
	  (struct ibv_context *, int, void *, struct ibv_comp_channel *, int))                    \
	X(destroy_cq, int, (struct ibv_cq *))                                                     \
	X(create_qp, struct ibv_qp *, (struct ibv_pd *, struct ibv_qp_init_attr *))               \
	X(modify_qp, int, (struct ibv_qp *, struct ibv_qp_attr *, int))                           \
	X(destroy_qp, int, (struct ibv_qp *))                                                     \
	X(fork_init, int, (void))                                                                 \
	X(event_type_str, const char *, (enum ibv_event_type))

/* The names have no ibv_, which the header has macros for. */
static struct {
#define MEMBER(name, result, arguments) result(*name) arguments;
	MANDATORY(MEMBER)
#undef MEMBER
	struct ibv_mr *(*reg_mr_iova2)(struct ibv_pd *, void *, size_t, uint64_t, unsigned int);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int);
	int (*query_ece)(struct ibv_qp *, struct ibv_ece *);
	int (*set_ece)(struct ibv_qp *, struct ibv_ece *);
} lib;

#define check(cond) ((cond) ? (void)0 : fail_here(__LINE__, #cond))

_Noreturn static void fail_here(int line, const char *what)
{
	fprintf(stderr, "# %d: live_nccl.c:%d: %s (errno %d)\n", (int)getpid(), line, what, errno);
	_exit(1);
}

/* A pointer to a function is written through one to an object, as dlsym(3) has it. */
static void look_up(void *handle, const char *name, const char *version, void *function)
{
	void *found = dlvsym(handle, name, version);

	if (!found) {
		fprintf(stderr, "# %s@%s: %s\n", name, version, dlerror());
		_exit(1);
	}
	memcpy(function, &found, sizeof(found));
}

static void load(void)
{
	void *handle = dlopen(test_arg(0), RTLD_NOW);

	check(handle);
#define LOOK_UP(name, result, arguments) look_up(handle, "ibv_" #name, "IBVERBS_1.1", &lib.name);
	MANDATORY(LOOK_UP)
#undef LOOK_UP
	look_up(handle, "ibv_reg_mr_iova2", "IBVERBS_1.8", &lib.reg_mr_iova2);
	look_up(handle, "ibv_reg_dmabuf_mr", "IBVERBS_1.12", &lib.reg_dmabuf_mr);
	look_up(handle, "ibv_query_ece", "IBVERBS_1.10", &lib.query_ece);
	look_up(handle, "ibv_set_ece", "IBVERBS_1.10", &lib.set_ece);
}

/* ---- the device ---- */

/* What the receiver tells in the FIFO; the sender waits for idx. */
struct offer {
	uint64_t addr, size;
	uint32_t rkey, group, tag, pad;
	uint64_t idx;
	uint8_t padding[16];
};

struct card {
	union ibv_gid gid;
	uint32_t qpn[QPS];
	uint64_t fifo, sizes;
	uint32_t fifo_rkey, sizes_rkey;
	struct ibv_ece ece;
	enum ibv_mtu mtu;
};

struct nccl {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[QPS];
	struct offer fifo[SLOTS]
			 [GROUP_MAX];	  /* the sender's; the receiver's is where WRITEs begin */
	uint32_t sizes[SLOTS][GROUP_MAX]; /* the same the other way round */
	struct ibv_mr *fifo_mr, *sizes_mr, *data_mr;
	uint8_t *data; /* REQUESTS * GROUP_MAX pieces */
	struct ibv_cq *flush_cq;
	struct ibv_qp *flush_qp;
	uint32_t flushed; /* where the word goes */
	struct ibv_mr *flushed_mr;
	struct card mine, peer;
	int sock;
};

static int events; /* that came; none should */

static void *wait_for_events(void *context)
{
	struct ibv_async_event event;

	while (lib.get_async_event(context, &event) == 0) {
		fprintf(stderr, "# event: %s\n", lib.event_type_str(event.event_type));
		lib.ack_async_event(&event);
		__atomic_fetch_add(&events, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void find_port(struct nccl *n)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;

	check(lib.query_device(n->ctx, &device) == 0 && device.phys_port_cnt == 1);
	memset(&port, 0, sizeof(port));
	check(lib.query_port(n->ctx, 1, &port) == 0);
	check(port.state == IBV_PORT_ACTIVE && port.link_layer == IBV_LINK_LAYER_ETHERNET);
	check(port.gid_tbl_len > 0 && port.active_speed && port.active_width);
	check(lib.query_gid(n->ctx, 1, 0, &n->mine.gid) == 0);
	n->mine.mtu = port.active_mtu;
}

/* Whether memory of GPUs could be registered is found out with a descriptor that is none. */
static void try_dmabuf(struct nccl *n)
{
	errno = 0;
	check(!lib.reg_dmabuf_mr(n->pd, 0, 0, 0, -1, 0));
	check(errno == EOPNOTSUPP);
}

static void open_device(struct nccl *n)
{
	struct ibv_device **list;
	pthread_t thread;
	int count = 0;

	load();
	check(lib.fork_init() == 0);
	list = lib.get_device_list(&count);
	check(list && count == 1);
	check(strcmp(lib.get_device_name(list[0]), "mrc0") == 0);
	n->ctx = lib.open_device(list[0]);
	check(n->ctx);
	lib.free_device_list(list);
	find_port(n);
	check(pthread_create(&thread, NULL, wait_for_events, n->ctx) == 0);
	pthread_detach(thread); /* it waits until the process ends */
	n->pd = lib.alloc_pd(n->ctx);
	check(n->pd);
	try_dmabuf(n);
}

/* ---- the connection ---- */

static struct ibv_mr *reg(struct nccl *n, void *addr, size_t bytes, unsigned int more)
{
	struct ibv_mr *mr =
		lib.reg_mr_iova2(n->pd, addr, bytes, (uintptr_t)addr,
				 (unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						IBV_ACCESS_REMOTE_READ) |
					 more);

	check(mr);
	return mr;
}

static void make_qps(struct nccl *n)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 2 * SLOTS,
			.max_recv_wr = REQUESTS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = sizeof(struct offer)},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	n->cq = lib.create_cq(n->ctx, (int)(2 * SLOTS * QPS), NULL, NULL, 0);
	check(n->cq);
	init.send_cq = init.recv_cq = n->cq;
	for (uint32_t i = 0; i < QPS; i++) {
		n->qp[i] = lib.create_qp(n->pd, &init);
		check(n->qp[i]);
		n->mine.qpn[i] = n->qp[i]->qp_num;
		check(lib.modify_qp(n->qp[i], &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    IBV_QP_ACCESS_FLAGS) == 0);
	}
	check(lib.query_ece(n->qp[0], &n->mine.ece) == 0);
}

static void connect_qp(struct nccl *n, struct ibv_qp *qp, const struct card *to, uint32_t qpn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = n->mine.mtu < to->mtu ? n->mine.mtu : to->mtu,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = to->gid, .hop_limit = 255}},
		.timeout = 20,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	struct ibv_ece ece = to->ece;

	check(lib.set_ece(qp, &ece) == 0);
	check(lib.modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER) == 0);
	attr.qp_state = IBV_QPS_RTS;
	check(lib.modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* A QP that is its own peer. */
static void make_flush(struct nccl *n)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 2 * REQUESTS,
			.max_recv_wr = REQUESTS,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags =
					   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ};

	n->flush_cq = lib.create_cq(n->ctx, (int)REQUESTS, NULL, NULL, 0);
	check(n->flush_cq);
	init.send_cq = init.recv_cq = n->flush_cq;
	n->flush_qp = lib.create_qp(n->pd, &init);
	check(n->flush_qp);
	check(lib.modify_qp(n->flush_qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
	      0);
	connect_qp(n, n->flush_qp, &n->mine, n->flush_qp->qp_num);
	n->flushed_mr = lib.reg_mr(n->pd, &n->flushed, sizeof(n->flushed), IBV_ACCESS_LOCAL_WRITE);
	check(n->flushed_mr);
}

/* One byte each way, so that both stand where this is called. */
static void meet(struct nccl *n, void *mine, void *peer, size_t bytes)
{
	check(send(n->sock, mine, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
	check(recv(n->sock, peer, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

static void connect_all(struct nccl *n)
{
	size_t bytes = (size_t)REQUESTS * GROUP_MAX * PIECE_MAX;
	char byte = 0;

	open_device(n);
	make_qps(n);
	n->data = calloc(1, bytes);
	check(n->data);
	n->fifo_mr = reg(n, n->fifo, sizeof(n->fifo), 0);
	n->sizes_mr = reg(n, n->sizes, sizeof(n->sizes), 0);
	n->data_mr = reg(n, n->data, bytes, IBV_ACCESS_RELAXED_ORDERING);
	n->mine.fifo = (uintptr_t)n->fifo;
	n->mine.fifo_rkey = n->fifo_mr->rkey;
	n->mine.sizes = (uintptr_t)n->sizes;
	n->mine.sizes_rkey = n->sizes_mr->rkey;
	meet(n, &n->mine, &n->peer, sizeof(n->mine));
	for (uint32_t i = 0; i < QPS; i++)
		connect_qp(n, n->qp[i], &n->peer, n->peer.qpn[i]);
	make_flush(n);
	meet(n, &byte, &byte, 1);
}

static void close_all(struct nccl *n)
{
	char byte = 0;

	meet(n, &byte, &byte, 1);
	check(__atomic_load_n(&events, __ATOMIC_RELAXED) == 0);
	for (uint32_t i = 0; i < QPS; i++)
		check(lib.destroy_qp(n->qp[i]) == 0);
	check(lib.destroy_qp(n->flush_qp) == 0 && lib.destroy_cq(n->flush_cq) == 0);
	check(lib.dereg_mr(n->flushed_mr) == 0 && lib.destroy_cq(n->cq) == 0);
	check(lib.dereg_mr(n->fifo_mr) == 0 && lib.dereg_mr(n->sizes_mr) == 0);
	check(lib.dereg_mr(n->data_mr) == 0 && lib.dealloc_pd(n->pd) == 0);
	free(n->data);
}

/* ---- messages: both ends know what message k is ---- */

static uint32_t mix(uint64_t k, uint32_t r)
{
	uint64_t x = (k * GROUP_MAX + r + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(x >> 33);
}

static uint32_t group_of(uint64_t k)
{
	return k % 3 ? 1 : 1 + mix(k, 9) % GROUP_MAX;
}

static uint32_t bytes_of(uint64_t k, uint32_t r)
{
	uint32_t x = mix(k, r);

	return x % 8 == 0 ? 0 : x % 8 < 5 ? x % 2000 : x % PIECE_MAX;
}

static uint8_t *piece_of(struct nccl *n, uint64_t k, uint32_t r)
{
	return n->data + ((size_t)(k % REQUESTS) * GROUP_MAX + r) * PIECE_MAX;
}

static uint8_t byte_of(uint64_t k, uint32_t r, uint32_t i)
{
	return (uint8_t)(k * 31 + r * 7 + i * 13 + (i >> 8));
}

/* Every QP in turn; every fourth message is split over all of them. */
static bool is_split(uint64_t k)
{
	return k % 4 == 3 && group_of(k) == 1;
}

/* ---- completions ---- */

struct seen {
	uint64_t sent; /* messages whose last WR is done */
	uint32_t left[REQUESTS];
};

static void take(struct nccl *n, struct seen *s)
{
	struct ibv_wc wc[4];
	int count = ibv_poll_cq(n->cq, 4, wc);

	check(count >= 0);
	for (int i = 0; i < count; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			fprintf(stderr, "# status %d\n", (int)wc[i].status);
		check(wc[i].status == IBV_WC_SUCCESS);
		if (wc[i].wr_id == UINT64_MAX) /* an offer */
			continue;
		check(s->left[wc[i].wr_id % REQUESTS]);
		s->left[wc[i].wr_id % REQUESTS]--;
		if (wc[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM && group_of(wc[i].wr_id) == 1 &&
		    !is_split(wc[i].wr_id))
			check(wc[i].imm_data == bytes_of(wc[i].wr_id, 0));
	}
}

static void wait_done(struct nccl *n, struct seen *s, uint64_t k)
{
	time_t last = time(NULL) + PATIENCE_S;

	while (s->left[k % REQUESTS]) {
		take(n, s);
		check(time(NULL) < last);
	}
}

/* ---- the sender ---- */

static void wait_for_offer(struct nccl *n, struct seen *s, uint64_t k, uint32_t group)
{
	time_t last = time(NULL) + PATIENCE_S;

	for (uint32_t r = 0; r < group; r++) {
		const struct offer *o = &n->fifo[k % SLOTS][r];

		while (__atomic_load_n(&o->idx, __ATOMIC_ACQUIRE) != k + 1) {
			take(n, s);
			check(time(NULL) < last);
		}
		/* Whoever sees the last word of an offer sees all of it. */
		check(o->group == group && o->tag == (uint32_t)k + r && o->size >= bytes_of(k, r));
		check(o->addr && o->rkey);
	}
}

/* A part of each piece: all of it, or that of one QP of several. */
static void post_part(struct nccl *n, uint64_t k, uint32_t q, uint32_t part, uint32_t parts)
{
	uint32_t group = group_of(k), slot = (uint32_t)(k % SLOTS);
	struct ibv_send_wr wr[GROUP_MAX + 1], *bad;
	struct ibv_sge sge[GROUP_MAX + 1];
	uint32_t last = group;

	memset(wr, 0, sizeof(wr));
	for (uint32_t r = 0; r < group; r++) {
		uint32_t bytes = bytes_of(k, r), step = (bytes / parts + 127) / 128 * 128;
		uint32_t from = part * step < bytes ? part * step : bytes;
		uint32_t len = part == parts - 1 || bytes - from < step ? bytes - from : step;

		sge[r] = (struct ibv_sge){(uintptr_t)piece_of(n, k, r) + from, len,
					  n->data_mr->lkey};
		wr[r] = (struct ibv_send_wr){
			.wr_id = k, .opcode = IBV_WR_RDMA_WRITE, .next = &wr[r + 1]};
		wr[r].sg_list = &sge[r];
		wr[r].num_sge = len ? 1 : 0;
		wr[r].wr.rdma.remote_addr = n->fifo[slot][r].addr + from;
		wr[r].wr.rdma.rkey = n->fifo[slot][r].rkey;
	}
	if (group > 1) { /* the sizes go with the last one */
		sge[last] =
			(struct ibv_sge){(uintptr_t)n->sizes[slot], group * 4, n->sizes_mr->lkey};
		wr[last].sg_list = &sge[last];
		wr[last].num_sge = 1;
		wr[last].wr.rdma.remote_addr = n->peer.sizes + slot * sizeof(n->sizes[0]);
		wr[last].wr.rdma.rkey = n->peer.sizes_rkey;
	} else if (k % 2) { /* data by itself, and then a WRITE of nothing */
		wr[last].wr.rdma.remote_addr = n->fifo[slot][0].addr;
		wr[last].wr.rdma.rkey = n->fifo[slot][0].rkey;
	} else {
		last = 0;
	}
	wr[last].wr_id = k;
	wr[last].opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr[last].imm_data = bytes_of(k, 0);
	wr[last].send_flags = IBV_SEND_SIGNALED;
	wr[last].next = NULL;
	check(ibv_post_send(n->qp[q], wr, &bad) == 0);
}

static void send_one(struct nccl *n, struct seen *s, uint64_t k)
{
	uint32_t group = group_of(k), parts = is_split(k) ? QPS : 1;

	if (k >= REQUESTS)
		wait_done(n, s, k);
	wait_for_offer(n, s, k, group);
	for (uint32_t r = 0; r < group; r++) {
		n->sizes[k % SLOTS][r] = bytes_of(k, r);
		for (uint32_t i = 0; i < bytes_of(k, r); i++)
			piece_of(n, k, r)[i] = byte_of(k, r, i);
	}
	s->left[k % REQUESTS] = parts;
	for (uint32_t part = 0; part < parts; part++)
		post_part(n, k, (uint32_t)(k + part) % QPS, part, parts);
}

static int be_sender(int sock)
{
	static struct nccl n;
	struct seen s = {0};

	n.sock = sock;
	connect_all(&n);
	for (uint64_t k = 0; k < MESSAGES; k++)
		send_one(&n, &s, k);
	for (uint64_t k = MESSAGES - REQUESTS; k < MESSAGES; k++)
		wait_done(&n, &s, k);
	close_all(&n);
	return 0;
}

/* ---- the receiver ---- */

/* Inline where it is one, as NCCL can be told to; signaled once a round, so that the SQ empties. */
static void post_offer(struct nccl *n, uint64_t k)
{
	uint32_t slot = (uint32_t)(k % SLOTS), group = group_of(k);
	struct ibv_sge sge = {(uintptr_t)n->fifo[slot], (uint32_t)(group * sizeof(struct offer)),
			      n->fifo_mr->lkey};
	struct ibv_send_wr wr = {.wr_id = UINT64_MAX,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE},
			   *bad;

	for (uint32_t r = 0; r < group; r++)
		n->fifo[slot][r] = (struct offer){.addr = (uintptr_t)piece_of(n, k, r),
						  .size = PIECE_MAX,
						  .rkey = n->data_mr->rkey,
						  .group = group,
						  .tag = (uint32_t)k + r,
						  .idx = k + 1};
	wr.wr.rdma.remote_addr = n->peer.fifo + slot * sizeof(n->fifo[0]);
	wr.wr.rdma.rkey = n->peer.fifo_rkey;
	wr.send_flags = (group == 1 ? (unsigned int)IBV_SEND_INLINE : 0) |
			(slot == 0 ? (unsigned int)IBV_SEND_SIGNALED : 0);
	check(ibv_post_send(n->qp[0], &wr, &bad) == 0);
}

static void post_one(struct nccl *n, struct seen *s, uint64_t k)
{
	uint32_t parts = is_split(k) ? QPS : 1;

	s->left[k % REQUESTS] = parts;
	for (uint32_t part = 0; part < parts; part++) {
		struct ibv_recv_wr wr = {.wr_id = k}, *bad;

		check(ibv_post_recv(n->qp[(k + part) % QPS], &wr, &bad) == 0);
	}
	post_offer(n, k);
}

/* READs the first word of a message, which must be what is in memory. */
static void flush(struct nccl *n, uint64_t k)
{
	const uint8_t *piece = piece_of(n, k, 0);
	struct ibv_sge sge = {(uintptr_t)&n->flushed, sizeof(n->flushed), n->flushed_mr->lkey};
	struct ibv_send_wr wr = {.wr_id = k,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_READ,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	time_t last = time(NULL) + PATIENCE_S;
	struct ibv_wc wc;
	int count;

	wr.wr.rdma.remote_addr = (uintptr_t)piece;
	wr.wr.rdma.rkey = n->data_mr->rkey;
	check(ibv_post_send(n->flush_qp, &wr, &bad) == 0);
	while ((count = ibv_poll_cq(n->flush_cq, 1, &wc)) == 0)
		check(time(NULL) < last);
	check(count == 1 && wc.status == IBV_WC_SUCCESS && wc.wr_id == k);
	check(memcmp(&n->flushed, piece, sizeof(n->flushed)) == 0);
}

static void verify(struct nccl *n, uint64_t k)
{
	uint32_t group = group_of(k);

	for (uint32_t r = 0; r < group; r++) {
		uint8_t *piece = piece_of(n, k, r);
		uint32_t bytes = bytes_of(k, r);

		check(group == 1 || n->sizes[k % SLOTS][r] == bytes);
		for (uint32_t i = 0; i < bytes; i++)
			check(piece[i] == byte_of(k, r, i));
		memset(piece, 0, bytes);
	}
}

static int be_receiver(int sock)
{
	static struct nccl n;
	struct seen s = {0};

	n.sock = sock;
	connect_all(&n);
	for (uint64_t k = 0; k < MESSAGES + REQUESTS; k++) {
		if (k >= REQUESTS) {
			wait_done(&n, &s, k - REQUESTS);
			if (k % 8 == 0)
				flush(&n, k - REQUESTS);
			verify(&n, k - REQUESTS);
		}
		if (k < MESSAGES)
			post_one(&n, &s, k);
	}
	close_all(&n);
	return 0;
}

/* ---- both ---- */

static pid_t start(int (*fn)(int sock), int sock, int other)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	close(other);
	alarm(2 * PATIENCE_S);
	/* The thread that waits for events is still there: no way out but this one. */
	_exit(fn(sock));
}

TEST(nccl, its_symbols_and_its_sequence_of_calls)
{
	int pair[2], status, failed = 0;
	pid_t pid[2];

	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fflush(NULL);
	pid[0] = start(be_receiver, pair[0], pair[1]);
	pid[1] = start(be_sender, pair[1], pair[0]);
	close(pair[0]);
	close(pair[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	assert_int_equal(failed, 0);
}
