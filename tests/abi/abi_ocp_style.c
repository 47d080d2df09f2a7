/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi_ocp_style.c - the API used as the Open Compute Project's QP walk-through and benchmark use
 * it, call for call and mask for mask: masks that name classic attributes which MRC does not have,
 * a vattr full of classic values, a capability mask alone on the way to RTR, profile ids from the
 * environment. Two processes, one WRITE with immediate each way.
 *
 * The walk-through leaves out the peer's address; where it would stand, this has what the benchmark
 * does. Every step returns a different number on failure, so that the exit status tells which.
 */
#include "support/test.h"

#include <arpa/inet.h>
#include <mrc.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 100000
#define DEPTH 128

struct wire {
	union ibv_gid gid;
	uint64_t vaddr;
	uint32_t qpn, psn, rkey;
};

struct program {
	struct ibv_context *ibv_ctx;
	struct ibv_pd *pd;
	struct mrc_context *mrc_ctx;
	struct mrc_cq *cq;
	struct mrc_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buffer; /* first half sent, second half received */
	struct wire me, peer;
};

static int find_and_open(struct program *p)
{
	struct ibv_device **dev_list = ibv_get_device_list(NULL);

	if (!dev_list || !dev_list[0])
		return 1;
	p->ibv_ctx = ibv_open_device(dev_list[0]);
	ibv_free_device_list(dev_list);
	return p->ibv_ctx ? 0 : 2;
}

static int query(struct program *p)
{
	struct mrc_device_attr attr = {0};
	int supported = 0;

	if (mrc_query_device(p->ibv_ctx, &attr, &supported) != 0 || !supported)
		return 3;
	return attr.wimm_attr.max_wimm >= DEPTH && attr.mpr_attr.max_mpr >= 8 ? 0 : 4;
}

/* The benchmark passes a protocol version where the API version belongs. */
static int create_context(struct program *p)
{
	struct mrc_context_attr walk = {.mrc_api_version_used = MRC_API_CURRENT_VERSION};
	struct mrc_context_attr bench = {.mrc_api_version_used = MRC_PROTOCOL_VERSION_1};

	p->mrc_ctx = mrc_create_context(p->ibv_ctx, &bench);
	if (!p->mrc_ctx || mrc_destroy_context(p->mrc_ctx))
		return 5;
	p->mrc_ctx = mrc_create_context(p->ibv_ctx, &walk);
	return p->mrc_ctx ? 0 : 6;
}

static int create_qp(struct program *p)
{
	struct mrc_qp_init_attr attr;

	p->cq = mrc_create_cq(p->mrc_ctx, 2 * DEPTH, NULL, NULL, 0);
	if (!p->cq)
		return 7;
	attr = (struct mrc_qp_init_attr){
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.pd = p->pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
	};
	p->qp = mrc_create_qp(p->mrc_ctx, &attr);
	return p->qp && attr.cap.max_send_wr >= DEPTH ? 0 : 8;
}

static int register_memory(struct program *p)
{
	p->buffer = calloc(2, BYTES);
	if (!p->buffer)
		return 9;
	p->mr = ibv_reg_mr(p->pd, p->buffer, 2 * BYTES,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_RELAXED_ORDERING);
	return p->mr ? 0 : 10;
}

static uint64_t profile_from_environment(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

static int to_init(struct program *p)
{
	struct ibv_qp_attr vattr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = 0,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	};
	struct mrc_qp_attr attr = {
		.profile.ev_profile_id = profile_from_environment("MRC_QP_EV_PROFILE_ID"),
		.profile.cc_profile_id = profile_from_environment("MRC_QP_CC_PROFILE_ID"),
		.qp_hint = NULL,
	};

	return mrc_modify_qp(p->qp, &vattr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
			     &attr, MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID | MRC_QP_HINT)
		       ? 11
		       : 0;
}

/* A comma where an `or` was meant leaves the last bit alone in the walk-through's mask. */
static int to_rtr(struct program *p)
{
	struct ibv_qp_attr vattr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.ah_attr = {.is_global = 1,
			    .grh = {.dgid = p->peer.gid, .sgid_index = 0},
			    .port_num = 1},
		.dest_qp_num = p->peer.qpn,
		.rq_psn = p->peer.psn,
	};
	struct mrc_qp_attr attr = {
		.mpr = {.mpr = 8, .mpr_dest = 8},
		.wimm = {.max_wimm = DEPTH, .max_wimm_dest = DEPTH},
		.cap = MRC_QP_CAP_DYNAMIC_MPR,
	};

	return mrc_modify_qp(p->qp, &vattr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_PATH_MTU,
			     &attr, MRC_QP_CAP)
		       ? 12
		       : 0;
}

static int to_rts(struct program *p)
{
	struct ibv_qp_attr vattr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = p->me.psn,
		.timeout = 7,
		.retry_cnt = 14,
		.rnr_retry = 14,
	};
	struct mrc_qp_attr attr = {
		.mpr.mpr = 8,
		.wimm.max_wimm = DEPTH,
		.timeout = 8,
		.retry = {.linear_cnt = 7, .exp_cnt = 25},
	};

	return mrc_modify_qp(p->qp, &vattr,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_TIMEOUT,
			     &attr,
			     MRC_QP_MPR | MRC_QP_MAX_WIMM | MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT)
		       ? 13
		       : 0;
}

/* Everything at once, and what was set comes back. */
static int query_all(struct program *p)
{
	struct mrc_qp_init_attr init;
	struct ibv_qp_attr vattr;
	struct mrc_qp_attr attr;
	int mask = MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR | MRC_QP_MPR_DEST |
		   MRC_QP_TIMEOUT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID | MRC_QP_HINT |
		   MRC_QP_RETRY_CNT | MRC_QP_CAP | MRC_QP_VENDOR_CFG;

	if (mrc_query_qp(p->qp, &vattr, IBV_QP_STATE, &attr, mask, &init) != 0)
		return 14;
	if (vattr.qp_state != IBV_QPS_RTS || attr.mpr.mpr != 8 || attr.timeout != 8)
		return 15;
	if (attr.cap != MRC_QP_CAP_DYNAMIC_MPR || attr.retry.exp_cnt != 25 || attr.qp_hint)
		return 16;
	return init.send_cq == p->cq && init.pd == p->pd ? 0 : 17;
}

static int wire_info(struct program *p)
{
	if (mrc_get_qpn(p->qp, &p->me.qpn) || ibv_query_gid(p->ibv_ctx, 1, 0, &p->me.gid))
		return 18;
	p->me.rkey = p->mr->rkey;
	p->me.vaddr = (uintptr_t)p->buffer;
	p->me.psn = (uint32_t)getpid() & 0xffffff;
	return 0;
}

static int swap(int fd, const void *mine, void *theirs, size_t size)
{
	if (write(fd, mine, size) != (ssize_t)size)
		return 19;
	return recv(fd, theirs, size, MSG_WAITALL) == (ssize_t)size ? 0 : 20;
}

static int post(struct program *p)
{
	struct ibv_sge sge = {.addr = (uintptr_t)p->buffer, .length = BYTES, .lkey = p->mr->lkey};
	struct ibv_send_wr *bad = NULL, wr = {
						.wr_id = 0xffffffff,
						.sg_list = &sge,
						.num_sge = 1,
						.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
						.send_flags = IBV_SEND_SIGNALED,
						.imm_data = htonl(BYTES),
						.wr.rdma = {.remote_addr = p->peer.vaddr + BYTES,
							    .rkey = p->peer.rkey},
					};

	for (size_t i = 0; i < BYTES; i++)
		p->buffer[i] = (uint8_t)(i & 0xff);
	return mrc_post_send(p->qp, &wr, &bad) ? 21 : 0;
}

/* The benchmark posts receives with an empty SGE list and a foreign lkey. */
static int post_receive(struct program *p)
{
	struct ibv_recv_wr *bad = NULL, wr = {.wr_id = 0x1000, .sg_list = NULL, .num_sge = 0};

	return mrc_post_recv(p->qp, &wr, &bad) ? 22 : 0;
}

static int poll_both(struct program *p)
{
	struct ibv_wc wc;
	int n;

	for (int left = 2; left; left--) {
		do {
			n = mrc_poll_cq(p->cq, 1, &wc);
		} while (n == 0);
		if (n < 0 || wc.status != IBV_WC_SUCCESS)
			return 23;
		if (wc.wr_id == 0x1000 &&
		    (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || ntohl(wc.imm_data) != BYTES))
			return 24;
	}
	for (size_t i = 0; i < BYTES; i++)
		if (p->buffer[BYTES + i] != (uint8_t)(i & 0xff))
			return 25;
	return 0;
}

static int destroy(struct program *p)
{
	if (mrc_destroy_qp(p->qp) || mrc_destroy_cq(p->cq) || mrc_destroy_context(p->mrc_ctx))
		return 26;
	if (ibv_dereg_mr(p->mr) || ibv_dealloc_pd(p->pd) || ibv_close_device(p->ibv_ctx))
		return 27;
	free(p->buffer);
	return 0;
}

static int set_up(struct program *p)
{
	int rc = find_and_open(p);

	if (!rc)
		rc = query(p);
	if (rc)
		return rc;
	p->pd = ibv_alloc_pd(p->ibv_ctx);
	if (!p->pd)
		return 28;
	rc = create_context(p);
	if (!rc)
		rc = create_qp(p);
	if (!rc)
		rc = register_memory(p);
	if (!rc)
		rc = wire_info(p);
	return rc;
}

static int run(int fd)
{
	struct program p = {0};
	char ready = 0;
	int rc = set_up(&p);

	if (!rc)
		rc = to_init(&p);
	if (!rc)
		rc = swap(fd, &p.me, &p.peer, sizeof(p.me));
	if (!rc)
		rc = to_rtr(&p);
	if (!rc)
		rc = to_rts(&p);
	if (!rc)
		rc = query_all(&p);
	if (!rc)
		rc = post_receive(&p);
	if (!rc)
		rc = swap(fd, &ready, &ready, 1);
	if (!rc)
		rc = post(&p);
	if (!rc)
		rc = poll_both(&p);
	if (!rc)
		rc = swap(fd, &ready, &ready, 1);
	return rc ? rc : destroy(&p);
}

/* REQ(api.qp.modify.init) REQ(api.qp.modify.rtr) REQ(api.qp.modify.rts) REQ(api.profile-ids)
 * REQ(api.verbs-objects) */
TEST(ocp_walk_through, runs_unchanged)
{
	int fds[2], status;
	pid_t children[2];

	/* It asks for the largest MTU, which loopback has and the default interface may not. */
	assert_int_equal(setenv("MRC_PORTS", "127.0.0.1", 1), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0) {
			close(fds[!i]);
			_exit(run(fds[i]));
		}
	}
	close(fds[0]);
	close(fds[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}
