/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_shards_alone.c - a device of three shards by itself: what QPs of several shards share, what
 * controllers decide, and frames of nobody.
 */
#include "live/live.h"

#include <errno.h>
#include <mrc/log.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/node/node.h"
#include "host/state/shards.h"
#include "support/test.h"
#include "wire/packet.h"

/* As a text below, too. */
#define ALONE_EV_BASE 12000u

static int alone_setup(void **state)
{
	static struct live_side s;

	(void)state;
	setenv("MRC_PORTS", "127.0.0.1", 1);
	setenv("MRC_PORT_PREFIX", "24", 1);
	setenv("MRC_SHARDS", "3", 1);
	setenv("MRC_EV_BASE", "12000", 1);
	*state = &s;
	return mh_device_open(0, NULL, &s.dev) || mh_pd_create(s.dev, NULL, &s.pd);
}

static int alone_teardown(void **state)
{
	struct live_side *s = *state;
	int err = mh_pd_destroy(s->pd) || mh_device_close(s->dev);

	unsetenv("MRC_PORTS");
	unsetenv("MRC_PORT_PREFIX");
	unsetenv("MRC_SHARDS");
	unsetenv("MRC_EV_BASE");
	return err;
}

#define ALONE_TEST(function, name) TEST_WITH(alone_setup, alone_teardown, function, name)

static struct mh_qp *make_qp(struct live_side *s, struct mh_cq *cq, struct mh_srq *srq)
{
	struct mh_qp_init init = {.pd = s->pd,
				  .send_cq = cq,
				  .recv_cq = cq,
				  .srq = srq,
				  .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1},
				  .extended = true};
	struct mh_qp *qp;

	assert_i_eq(mh_qp_create(&init, &qp), 0);
	return qp;
}

/* QPs with an SRQ are where it is, and SRQs are in different shards. */
ALONE_TEST(mh_srq_create, each_in_the_next_shard_with_its_qps)
{
	struct mh_srq_cap cap = {.max_wr = 8, .max_sge = 1};
	struct live_side *s = *state;
	struct mh_srq *srq[4];
	struct mh_qp *qp[8];
	struct mh_cq *cq;

	assert_i_eq(mh_cq_create(s->dev, 16, NULL, NULL, &cq), 0);
	for (uint32_t i = 0; i < 4; i++) {
		assert_i_eq(mh_srq_create(s->pd, &cap, NULL, &srq[i]), 0);
		assert_ptr_equal(srq[i]->nic, s->dev->nic->shard[i % 3]);
	}
	for (uint32_t i = 0; i < 8; i++) {
		qp[i] = make_qp(s, cq, srq[i % 4]);
		assert_ptr_equal(qp[i]->nic, srq[i % 4]->nic);
	}
	assert_i_eq(mh_srq_destroy(srq[1]), EBUSY);
	for (uint32_t i = 0; i < 8; i++)
		assert_i_eq(mh_qp_destroy(qp[i]), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_i_eq(mh_srq_destroy(srq[i]), 0);
	assert_i_eq(mh_cq_destroy(cq), 0);
}

static enum rd_qp_state state_of(struct mh_qp *qp)
{
	struct rd_qp_attr attr;

	mh_qp_query(qp, &attr);
	return attr.state;
}

/*
 * QPs of three shards share a CQ of two places. Receives of one of them are flushed into it, more
 * than it holds; then the others fail, too, though nothing happens to them.
 */
ALONE_TEST(mh_cq_poll, an_overrun_fails_the_qps_of_all_shards)
{
	struct rd_qp_attr attr;
	struct live_side *s = *state;
	time_t begin = time(NULL);
	struct mh_qp *qp[3];
	struct mh_cq *cq;

	assert_i_eq(mh_cq_create(s->dev, 2, NULL, NULL, &cq), 0);
	mh_qp_attr_default(&attr);
	attr.state = RD_QPS_INIT;
	for (uint32_t i = 0; i < 3; i++) {
		qp[i] = make_qp(s, cq, NULL);
		assert_ptr_equal(qp[i]->nic, s->dev->nic->shard[i]);
		assert_i_eq(mh_qp_modify(qp[i], &attr, RD_QP_STATE), 0);
	}
	for (uint64_t i = 0; i < 3; i++)
		assert_i_eq(mh_qp_post_recv(qp[1], &(struct rd_recv_wr){.wr_id = i}, 1, NULL), 0);
	attr.state = RD_QPS_ERR;
	assert_i_eq(mh_qp_modify(qp[1], &attr, RD_QP_STATE), 0);
	while (state_of(qp[0]) != RD_QPS_ERR || state_of(qp[2]) != RD_QPS_ERR)
		assert_true(time(NULL) < begin + 60);
	for (uint32_t i = 0; i < 3; i++)
		assert_i_eq(mh_qp_destroy(qp[i]), 0);
	assert_i_eq(mh_cq_destroy(cq), 0);
}

/* An MR is in the tables of all engines, or in none. */
ALONE_TEST(mh_mr_reg, in_all_shards)
{
	struct live_side *s = *state;
	struct mh_nic *first = s->dev->nic;
	static uint8_t bytes[64];
	struct mh_mr *mr;
	uint32_t index;

	assert_i_eq(mh_mr_reg(s->pd, bytes, sizeof(bytes), 0, 0, &mr), 0);
	index = mh_mr_key_index(mh_mr_lkey(mr));
	assert_i_eq(mh_pd_destroy(s->pd), EBUSY);
	mh_shards_lock(first);
	for (uint32_t i = 0; i < first->n_shards; i++) {
		assert_i_eq(mt_mr_add(first->shard[i]->engine, mh_mr_lkey(mr), 1, 0, 1, 0, bytes),
			    MT_ERR_EXISTS);
	}
	mh_shards_unlock(first);
	assert_i_eq(mh_mr_dereg(mr), 0);
	/* Afterwards it is in none. */
	mh_shards_lock(first);
	for (uint32_t i = 0; i < first->n_shards; i++) {
		assert_i_eq(mt_mr_add(first->shard[i]->engine, index << 8, 1, 0, 1, 0, bytes),
			    MT_OK);
		assert_i_eq(mt_mr_remove(first->shard[i]->engine, index), MT_OK);
	}
	mh_shards_unlock(first);
}

/* Where one engine has no room, the MR is in none, and its key is free. */
ALONE_TEST(mh_mr_reg, taken_back_where_one_shard_has_no_room)
{
	struct live_side *s = *state;
	struct mh_nic *first = s->dev->nic;
	struct mt_engine *last = first->shard[2]->engine;
	static uint8_t bytes[64];
	struct mh_mr *mr;

	mh_shards_lock(first);
	for (uint32_t index = 1; index <= MH_MRS_MAX; index++)
		assert_i_eq(mt_mr_add(last, index << 8, 1, 0, 1, 0, bytes), MT_OK);
	mh_shards_unlock(first);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(mh_mr_reg(s->pd, bytes, sizeof(bytes), 0, 0, &mr) != 0);
	mh_shards_lock(first);
	assert_u_eq(first->mr_indices.n_free, MH_MRS_MAX);
	for (uint32_t index = 1; index <= MH_MRS_MAX; index++) {
		assert_i_eq(mt_mr_remove(last, index), MT_OK);
		for (uint32_t i = 0; i < 2; i++)
			assert_true(mt_mr_remove(first->shard[i]->engine, index) != MT_OK);
	}
	mh_shards_unlock(first);
	assert_i_eq(mh_mr_reg(s->pd, bytes, sizeof(bytes), 0, 0, &mr), 0);
	assert_i_eq(mh_mr_dereg(mr), 0);
}

/* ---- frames of nobody ---- */

static uint64_t count_outside(struct mh_nic *first, uint32_t shard)
{
	uint64_t n;

	mh_nic_lock(first->shard[shard]);
	n = first->shard[shard]->counts.rx_outside_subnet;
	mh_nic_unlock(first->shard[shard]);
	return n;
}

/* What comes from elsewhere is dropped where it arrives, and no other shard's lock is taken. */
ALONE_TEST(mh_rx_poll, foreign_frames_are_not_handed_over)
{
	struct live_side *s = *state;
	struct mh_nic *first = s->dev->nic;
	uint32_t slot = first->shard[2]->ports.slot;
	uint8_t frame[64] = {MW_WRITE_ONLY, [5] = (uint8_t)(slot >> 2), [6] = (uint8_t)(slot << 6),
			     [7] = MH_QP_INDEX_FIRST};
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {htonl(0x7F000309)}};
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)(MH_UDP_PORT + first->ports.slot)),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	time_t begin = time(NULL);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_i_eq(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_i_eq(sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)),
		    (int64_t)sizeof(frame));
	while (count_outside(first, 0) + count_outside(first, 2) == 0)
		assert_true(time(NULL) < begin + 60);
	assert_u_eq(count_outside(first, 0), 1);
	assert_u_eq(first->counts.rx_other_shard, 0);
	close(fd);
}

/* ---- what is said ---- */

static void keep_line(void *context, enum mrc_log_level level, const char *text)
{
	char *line = context;

	if (level == MRC_LOG_INFO && strstr(text, "is open"))
		snprintf(line, 256, "%s", text);
}

/* Peers may be told of any of the ports. */
TEST(mh_device_open, names_the_ports_of_all_shards)
{
	char line[256] = "", ports[64];
	const struct mh_nic *first;
	void *opened;

	assert_i_eq(mrc_log_set(MRC_LOG_INFO, keep_line, line), 0);
	assert_i_eq(alone_setup(&opened), 0);
	first = ((struct live_side *)opened)->dev->nic;
	snprintf(ports, sizeof(ports), "UDP ports %u %u %u,", MH_UDP_PORT + first->ports.slot,
		 MH_UDP_PORT + first->shard[1]->ports.slot,
		 MH_UDP_PORT + first->shard[2]->ports.slot);
	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL), 0);
	assert_non_null(strstr(line, ports));
	assert_i_eq(alone_teardown(&opened), 0);
}

/* ---- what controllers decide ---- */

struct decision {
	enum mn_port_admin port;
	bool denied;
};

static int decide(struct mn_state *state, const struct mn_device *d, void *ctx)
{
	const struct decision *decision = ctx;
	struct mn_ev_op op = {.ev = {.port = 1}, .denied = decision->denied};
	uint32_t ev = ALONE_EV_BASE + 1;
	int err;

	memcpy(op.ev.val, &ev, sizeof(ev));
	err = mn_ev_modify(state, d, 0, &op);
	return err ? err : mn_port_modify(state, d, 1, decision->port);
}

static void check_decision(struct mh_nic *nic, const struct decision *decision)
{
	uint8_t evs[MT_EVS_MAX];
	uint32_t n;
	bool up;

	mh_nic_lock(nic);
	up = nic->ports.port[0].up;
	n = mt_ev_profile_states(nic->engine, 0, evs);
	mh_nic_unlock(nic);
	assert_true(up == (decision->port == MN_PORT_ENABLED));
	assert_true(n > 1 && evs[0] != MT_EV_DENIED);
	assert_true((evs[1] == MT_EV_DENIED) == decision->denied);
}

static void check_decisions(struct mh_nic *first, const struct decision *decision)
{
	for (uint32_t i = 0; i < first->n_shards; i++)
		check_decision(first->shard[i], decision);
}

ALONE_TEST(mh_node_change, reaches_all_shards)
{
	struct decision out = {MN_PORT_SUSPENDED, true}, back = {MN_PORT_ENABLED, false};
	struct live_side *s = *state;

	check_decisions(s->dev->nic, &back);
	assert_i_eq(mh_node_change(s->dev, decide, &out, NULL), 0);
	check_decisions(s->dev->nic, &out);
	assert_i_eq(mh_node_change(s->dev, decide, &back, NULL), 0);
	check_decisions(s->dev->nic, &back);
}

/* The locks of all shards are nobody's in a child: none may be waited for there. */
static bool is_of_no_use(struct mh_qp *const qp[3], struct mh_cq *cq)
{
	const struct rd_recv_wr wr = {.wr_id = 1};
	struct mh_wc wc;
	bool none = mh_cq_poll(cq, 1, &wc) == -ENODEV;

	for (uint32_t i = 0; i < 3; i++)
		none &= mh_qp_post_recv(qp[i], &wr, 1, NULL) == ENODEV &&
			state_of(qp[i]) == RD_QPS_ERR && mh_qp_destroy(qp[i]) == ENODEV;
	return none;
}

ALONE_TEST(fork, a_child_has_none_of_the_shards)
{
	struct live_side *s = *state;
	struct mh_qp *qp[3];
	struct mh_cq *cq;
	int status;
	pid_t pid;

	assert_i_eq(mh_cq_create(s->dev, 2, NULL, NULL, &cq), 0);
	for (uint32_t i = 0; i < 3; i++)
		qp[i] = make_qp(s, cq, NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(is_of_no_use(qp, cq) ? 0 : 1);
	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_i_eq(status, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_i_eq(mh_qp_destroy(qp[i]), 0);
	assert_i_eq(mh_cq_destroy(cq), 0);
}

/* A window is bound by one engine, and peers may come by another. */
ALONE_TEST(mh_mw_alloc, not_with_several_shards)
{
	struct mh_device_attr attr;
	struct live_side *s = *state;
	struct mh_mw *mw;

	mh_device_query(s->dev, &attr);
	assert_u_eq(attr.max_mw, 0);
	assert_i_eq(mh_mw_alloc(s->pd, RD_MW_TYPE_2, &mw), EOPNOTSUPP);
}
