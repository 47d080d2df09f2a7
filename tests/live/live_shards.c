/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_shards.c - devices of several shards: WRITEs, SENDs and READs of many QPs on one CQ arrive
 * whole, with a plane that dies on the way and with peers that have another number of shards; what
 * QPs share works for those of all shards; and frames that come to the port of the wrong one.
 */
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/node/node.h"
#include "host/state/shards.h"
#include "support/test.h"

#define QPS 16u
#define ROUNDS 4u
#define PIECE 65536u
#define PIECES 3u /* of a QP: written, sent and read */
#define WRITE_BYTES 61440u
#define SEND_BYTES 9000u
#define READ_BYTES 40000u
#define DEAD_PLANE 1u

/* MRC_SHARDS of each host; read in the processes that live_run makes. */
static const char *shards_of[3];

static void enter(struct live_side *s, uint32_t host)
{
	(void)s;
	setenv("MRC_SHARDS", shards_of[host], 1);
}

static const struct live_setup many = {.bytes = (size_t)QPS * PIECES * PIECE,
				       .enter = enter,
				       .extended = true,
				       .reads = true,
				       .one_cq = true,
				       .retry_exp = 25};

static uint32_t shards_here(const struct live_side *s)
{
	return s->dev->nic->n_shards;
}

static uint32_t slot_of(const struct mh_qp *qp)
{
	return mh_qp_number(qp) >> MH_QPN_INDEX_BITS;
}

/*
 * What a peer wrote was placed under the lock of a shard. Having had all locks makes it visible
 * here by the rules of the language.
 */
static void hear_all(struct live_side *s)
{
	live_barrier(s);
	mh_shards_lock(s->dev->nic);
	mh_shards_unlock(s->dev->nic);
}

/* ---- QPs on one CQ ---- */

static void open_all(struct live_side *s, struct live_side qp[QPS])
{
	qp[0] = *s;
	for (uint32_t i = 1; i < QPS; i++)
		live_more(s, &qp[i]);
}

static void close_all(struct live_side qp[QPS])
{
	for (uint32_t i = 1; i < QPS; i++)
		live_less(&qp[i]);
}

/* QPs are dealt evenly, and those of a shard have its slot in their numbers. */
static void check_spread(const struct live_side qp[QPS])
{
	struct mh_nic *first = qp[0].dev->nic;

	live_check(shards_here(qp) == (uint32_t)atoi(getenv("MRC_SHARDS")));
	for (uint32_t i = 0; i < first->n_shards; i++)
		live_check(first->shard[i]->n_qps == QPS / first->n_shards);
	for (uint32_t i = 0; i < QPS; i++)
		live_check(qp[i].qp->nic == first->shard[i % first->n_shards] &&
			   slot_of(qp[i].qp) == qp[i].qp->nic->ports.slot);
}

static uint8_t *piece_of(const struct live_side *s, uint32_t qp, uint32_t piece)
{
	return s->buffer + ((size_t)qp * PIECES + piece) * PIECE;
}

static uint64_t seed_of(uint32_t round, uint32_t qp, uint32_t piece)
{
	return ((uint64_t)round * QPS + qp) * PIECES + piece + 1;
}

static void post(struct live_side *qp, uint32_t i, uint32_t piece, uint32_t len,
		 enum rd_wr_opcode opcode)
{
	size_t at = (size_t)(piece_of(qp, i, piece) - qp->buffer);
	struct rd_sge sge = {(uintptr_t)qp->buffer + at, len, mh_mr_lkey(qp->mr)};
	struct rd_send_wr wr = {.wr_id = i * PIECES + piece,
				.sge = &sge,
				.n_sge = 1,
				.flags = RD_SEND_SIGNALED,
				.opcode = opcode,
				.rkey = qp->peer.rkey,
				.remote_addr = qp->peer.addr + at};

	live_check(mh_qp_post_send(qp->qp, &wr, 1, NULL) == 0);
}

/* Every other round the program polls, and sleeps on the channel in the others. */
static void take(struct live_side *s, struct mh_wc *wc, bool polls)
{
	time_t begin = time(NULL);
	int n = 0;

	if (!polls) {
		live_wait(s, wc, 1);
		return;
	}
	while (n == 0) {
		n = mh_cq_poll(s->cq, 1, wc);
		live_check(n >= 0 && time(NULL) < begin + 60);
	}
}

static void run_round(struct live_side qp[QPS], uint32_t round)
{
	bool done[QPS * PIECES] = {false};
	struct mh_wc wc;

	for (uint32_t i = 0; i < QPS; i++) {
		live_fill(piece_of(qp, i, 0), WRITE_BYTES, seed_of(round, i, 0));
		live_fill(piece_of(qp, i, 1), SEND_BYTES, seed_of(round, i, 1));
		post(&qp[i], i, 0, WRITE_BYTES, RD_WR_WRITE);
		post(&qp[i], i, 1, SEND_BYTES, RD_WR_SEND);
		post(&qp[i], i, 2, READ_BYTES, RD_WR_READ);
	}
	for (uint32_t n = 0; n < QPS * PIECES; n++) {
		take(qp, &wc, round % 2);
		live_check(wc.status == RD_WC_SUCCESS && wc.wr_id < QPS * PIECES);
		live_check(!done[wc.wr_id] && wc.qpn == mh_qp_number(qp[wc.wr_id / PIECES].qp));
		done[wc.wr_id] = true;
	}
	for (uint32_t i = 0; i < QPS; i++)
		live_check(live_compare(piece_of(qp, i, 2), READ_BYTES, seed_of(round, i, 2)));
}

static void set_up(struct mh_nic *nic, uint32_t port, bool up)
{
	mh_nic_lock(nic);
	nic->ports.port[port].up = up;
	mh_nic_unlock(nic);
}

/* A port that the last shard alone cannot use is not up. */
static void check_up(struct live_side *s)
{
	struct mh_nic *first = s->dev->nic, *last = first->shard[first->n_shards - 1];
	const struct mrc_stats_segment *stats = live_stats(s);
	time_t begin = time(NULL);

	live_check(stats->port[0].up == 1);
	set_up(last, 0, false);
	while (__atomic_load_n(&stats->port[0].up, __ATOMIC_RELAXED) == 1)
		live_check(time(NULL) < begin + 60);
	set_up(last, 0, true);
}

/* The statistics are of all shards. */
static void check_statistics(struct live_side *s)
{
	const struct mrc_stats_segment *stats = live_stats(s);
	time_t begin = time(NULL);
	uint64_t frames;

	do {
		frames = 0;
		for (uint32_t i = 0; i < LIVE_PLANES; i++)
			frames += stats->port[i].rx_packets;
		live_check(time(NULL) < begin + 60);
	} while (frames < live_counter(s, "port_rx_frames") || stats->qps.shown != QPS ||
		 stats->qps.of_state[MRC_STATS_QP_RTS] != QPS);
	for (uint32_t i = 0; i < shards_here(s); i++)
		live_check(s->dev->nic->shard[i]->ports.port[0].io->status->rx_frames > 0);
	check_up(s);
}

static void many_initiator(struct live_side *s)
{
	struct live_side qp[QPS];
	struct mrc_fault_rule *rule;

	open_all(s, qp);
	check_spread(qp);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		live_barrier(s);
		if (round == ROUNDS / 2) {
			rule = live_rule(s, 0, MRC_FAULT_DROP, 1000000);
			rule->port_mask = 1u << DEAD_PLANE;
		}
		run_round(qp, round);
		live_barrier(s);
	}
	check_statistics(s);
	live_check(live_counter(s, "rx_other_shard") + live_counter(s, "rx_wrong_shard") == 0);
	live_barrier(s);
	close_all(qp);
}

static void prepare_round(struct live_side qp[QPS], uint32_t round)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct rd_sge sge = {(uintptr_t)piece_of(qp, i, 1), PIECE, mh_mr_lkey(qp->mr)};
		struct rd_recv_wr wr = {.wr_id = i, .sge = &sge, .n_sge = 1};

		live_fill(piece_of(qp, i, 2), READ_BYTES, seed_of(round, i, 2));
		live_check(mh_qp_post_recv(qp[i].qp, &wr, 1, NULL) == 0);
	}
}

static void many_target(struct live_side *s)
{
	struct live_side qp[QPS];
	struct mh_wc wc;

	open_all(s, qp);
	check_spread(qp);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		prepare_round(qp, round);
		live_barrier(s);
		for (uint32_t i = 0; i < QPS; i++) {
			take(s, &wc, round % 2);
			live_check(wc.status == RD_WC_SUCCESS && wc.opcode == RD_WC_RECV);
			live_check(wc.byte_len == SEND_BYTES &&
				   wc.qpn == mh_qp_number(qp[wc.wr_id].qp));
		}
		hear_all(s);
		for (uint32_t i = 0; i < QPS; i++) {
			live_check(
				live_compare(piece_of(s, i, 0), WRITE_BYTES, seed_of(round, i, 0)));
			live_check(
				live_compare(piece_of(s, i, 1), SEND_BYTES, seed_of(round, i, 1)));
		}
	}
	live_barrier(s);
	close_all(qp);
}

static void run_many(const char *initiator, const char *target)
{
	shards_of[1] = initiator;
	shards_of[2] = target;
	live_run(&many, many_initiator, many_target);
}

/* REQ(api.shards) */
TEST(live_shards, one)
{
	run_many("1", "1");
}

TEST(live_shards, two_and_one)
{
	run_many("2", "1");
}

TEST(live_shards, four)
{
	run_many("4", "4");
}

TEST(live_shards, eight_and_two)
{
	run_many("8", "2");
}

/* ---- frames at the wrong port ---- */

/*
 * Makes this process send what is for the UDP port of a slot to that of the slot `by` below it, and
 * believe that its own port is still the one that it has.
 */
static void aim_below(struct live_side *s, uint32_t by)
{
	struct mh_nic *nic = s->dev->nic;

	mh_nic_lock(nic);
	nic->ports.udp_port = (uint16_t)(nic->ports.udp_port - by);
	nic->ports.slot += by;
	mh_nic_unlock(nic);
}

static void wrong_initiator(struct live_side *s)
{
	struct live_side more;
	struct mh_wc wc;

	live_more(s, &more);
	live_check(s->peer.qpn >> MH_QPN_INDEX_BITS == 0);
	live_check(more.peer.qpn >> MH_QPN_INDEX_BITS == 1);
	live_fill(s->buffer, s->setup->bytes, 1);
	/* As a peer that sends all to 4791. */
	aim_below(s, 1);
	live_write(&more, 1, 0, PIECE, RD_SEND_SIGNALED, 0);
	live_wait(s, &wc, 1);
	live_expect(&wc, 1, RD_WC_SUCCESS);
	aim_below(s, UINT32_MAX);
	live_barrier(s);
	live_barrier(s); /* the target has looked at its counters */
	/* And as one that has it all wrong. */
	aim_below(s, UINT32_MAX);
	live_write(s, 2, PIECE, PIECE, RD_SEND_SIGNALED, 0);
	live_barrier(s);
	aim_below(s, 1);
	live_wait(s, &wc, 1);
	live_expect(&wc, 2, RD_WC_SUCCESS);
	live_barrier(s);
	live_less(&more);
}

static void wrong_target(struct live_side *s)
{
	struct live_side more;

	live_more(s, &more);
	live_barrier(s);
	live_check(live_counter(s, "rx_other_shard") >= PIECE / 4096);
	live_check(live_counter(s, "rx_wrong_shard") == 0);
	live_check(live_counter(s, "drop_icrc") == 0);
	live_barrier(s);
	live_check(live_wait_counter(s, "rx_wrong_shard", 1, 20000));
	live_barrier(s);
	hear_all(s);
	live_check(live_compare(s->buffer, s->setup->bytes, 1));
	live_less(&more);
}

/* REQ(api.shards) */
TEST(live_shards, frames_at_the_port_of_another_shard)
{
	struct live_setup setup = {
		.bytes = 2 * PIECE, .enter = enter, .one_cq = true, .retry_exp = 25};

	shards_of[1] = "1";
	shards_of[2] = "2";
	live_run(&setup, wrong_initiator, wrong_target);
}

/* ---- what QPs of several shards share ---- */

/* As a text below, too. */
#define ALONE_EV_BASE 12000u

static int alone_setup(void **state)
{
	static struct live_side s;

	(void)state;
	setenv("MRC_PORTS", "127.0.0.1", 1);
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
	assert_i_eq(mh_node_change(s->dev, decide, &out), 0);
	check_decisions(s->dev->nic, &out);
	assert_i_eq(mh_node_change(s->dev, decide, &back), 0);
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
