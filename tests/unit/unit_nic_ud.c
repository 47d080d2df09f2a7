/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_ud.c - what the NIC does for its UD engine, which is the test's:
 * src/host/datapath/nic_ud.c.
 */
#include "support/test.h"

#include <errno.h>

#include "host/datapath/datapath.h"

#define NOW_NS UINT64_C(9000)
#define NUMBER 0x54321u
#define DEPTH 4u

static struct {
	struct mh_nic nic;
	struct mh_device dev;
	struct mh_qp qp;
	struct mh_cq send_cq, recv_cq;
	uint8_t signaled[DEPTH], ud;
	bool no_memory;
	struct mu_env env;
	struct mu_cfg cfg;
	struct mh_cqe cqe;
	const struct mh_cq *cq;
	uint32_t pushes, runs, last_wqes;
} t;

__typeof__(mu_create) __real_mu_create, __wrap_mu_create;
struct mu_engine *__wrap_mu_create(const struct mu_cfg *cfg, const struct mu_env *env)
{
	t.cfg = *cfg;
	t.env = *env;
	return t.no_memory ? NULL : (struct mu_engine *)(void *)&t.ud;
}

__typeof__(mh_completion_push) __real_mh_completion_push, __wrap_mh_completion_push;
void __wrap_mh_completion_push(struct mh_nic *nic, struct mh_cq *cq, const struct mh_cqe *cqe)
{
	assert_ptr_equal(nic, &t.nic);
	t.cq = cq;
	t.cqe = *cqe;
	t.pushes++;
}

__typeof__(mh_tx_run) __real_mh_tx_run, __wrap_mh_tx_run;
uint32_t __wrap_mh_tx_run(struct mh_nic *nic, uint64_t now_ns)
{
	assert_ptr_equal(nic, &t.nic);
	assert_u_eq(now_ns, NOW_NS);
	t.runs++;
	return 0;
}

__typeof__(mh_event_raise) __real_mh_event_raise, __wrap_mh_event_raise;
void __wrap_mh_event_raise(struct mh_event_queue *q, struct mh_event_source *s, bool once)
{
	assert_ptr_equal(q, &t.dev.events);
	assert_ptr_equal(s, &t.qp.last_wqe);
	assert_true(once);
	t.last_wqes++;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nic.env = (struct mh_env){.n_ports = 2, .evs = 3, .ev_base = 50000, .mtu = 4096};
	t.nic.ports.n = 2;
	t.qp.nic = &t.nic;
	t.qp.dev = &t.dev;
	t.qp.number = NUMBER;
	t.qp.ud = (struct mu_qp *)(void *)&t.ud;
	t.qp.signaled = t.signaled;
	t.qp.init.cap.max_send_wr = DEPTH;
	t.qp.init.send_cq = &t.send_cq;
	t.qp.init.recv_cq = &t.recv_cq;
	t.qp.init.owner = &t;
	t.nic.qp_by_index[NUMBER & MH_QPN_INDEX_MASK] = &t.qp;
	return mh_nic_create_ud(&t.nic);
}

#define UD_TEST(name) TEST_WITH(setup, NULL, mh_nic_create_ud, name)

UD_TEST(with_all_evs)
{
	assert_ptr_equal(t.nic.ud, &t.ud);
	assert_ptr_equal(t.env.ctx, &t.nic);
	assert_u_eq(t.cfg.n_evs, 6);
	assert_u_eq(t.cfg.n_ports, 2);
	assert_u_eq(t.cfg.mtu, 4096);
	t.no_memory = true;
	assert_i_eq(mh_nic_create_ud(&t.nic), ENOMEM);
}

/* Another QP may have had the index of this one. */
UD_TEST(which_finds_qps_by_their_number)
{
	assert_ptr_equal(t.env.find_qp(&t.nic, NUMBER), &t.ud);
	assert_null(t.env.find_qp(&t.nic, NUMBER ^ (MH_QPN_INDEX_MASK + 1)));
	assert_null(t.env.find_qp(&t.nic, NUMBER ^ 1));
}

static void complete(bool is_recv, enum rd_wc_status status, uint32_t wr)
{
	const struct mu_completion c = {
		.is_recv = is_recv, .status = status, .wr = wr, .wr_id = 7, .byte_len = 100};

	t.pushes = 0;
	t.env.complete(&t.qp, &c);
}

UD_TEST(whose_receives_complete)
{
	complete(true, RD_WC_SUCCESS, 1);
	assert_u_eq(t.pushes, 1);
	assert_ptr_equal(t.cq, &t.recv_cq);
	assert_u_eq(t.cqe.wc.opcode, RD_WC_RECV);
	assert_u_eq(t.cqe.wc.byte_len, 100);
	assert_u_eq(t.cqe.wc.qpn, NUMBER);
	assert_ptr_equal(t.cqe.wc.qp_owner, &t);
	complete(true, RD_WC_LOC_PROT_ERR, 1);
	assert_u_eq(t.pushes, 1);
	assert_u_eq(t.nic.counts.tx_mr_gone, 0);
}

/* One that is not signalled succeeds silently, and fails as any other. */
UD_TEST(whose_sends_complete_as_asked)
{
	t.signaled[2] = true;
	for (uint32_t wr = 1; wr <= 2 * DEPTH; wr++) {
		complete(false, RD_WC_SUCCESS, wr);
		assert_u_eq(t.pushes, (wr - 1) % DEPTH == 2);
	}
	assert_ptr_equal(t.cq, &t.send_cq);
	assert_u_eq(t.cqe.wc.opcode, RD_WC_SEND);
	assert_u_eq(t.cqe.wr, 7);
	complete(false, RD_WC_WR_FLUSH_ERR, 1);
	assert_u_eq(t.pushes, 1);
	assert_u_eq(t.nic.counts.tx_mr_gone, 0);
	complete(false, RD_WC_LOC_PROT_ERR, 1);
	assert_u_eq(t.pushes, 1);
	assert_u_eq(t.cqe.wc.status, RD_WC_LOC_PROT_ERR);
	assert_u_eq(t.nic.counts.tx_mr_gone, 1);
}

/* Probes are requests of the MRC engine. */
UD_TEST(whose_probes_leave)
{
	t.env.tx_probes(&t.nic, NOW_NS);
	assert_u_eq(t.runs, 1);
	t.env.last_wqe(&t.qp);
	assert_u_eq(t.last_wqes, 1);
}
