/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_crew.c - four processes of one host, on the same addresses, write to each other without end.
 * One is killed with SIGKILL in the middle of it: the others go on as if nothing had been, and a
 * new process gets its slot. Before that, an endpoint request from each reaches each of the others.
 */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/nic.h"
#include "support/test.h"
#include "unit/loopback.h"

#define CREW_MAX 8u
#define NOBODY CREW_MAX
#define BYTES (64u << 10)
#define MEMORY (2 * CREW_MAX * BYTES)
#define WRITES 40u
#define ROUNDS_TO_EVEN_OUT 16u
#define LIFE_S 180u
#define CREW_PLANES 2u
#define CREW_EVS 4u
/* The upper bits of a QPN are the slot of its process. */
#define SLOT_SHIFT 14
#define PROBE_TIMEOUT_NS UINT64_C(60000000000)

/* What a process tells another so that it can connect. */
struct card {
	struct rd_gid gid;
	uint32_t qpn, rkey;
	uint64_t addr;
};

/* Shared by all. card[i][k]: of process i, for k. */
struct board {
	uint32_t crew;	 /* processes, 2 .. CREW_MAX */
	uint32_t victim; /* who will be killed, or NOBODY */
	bool ring;	 /* each writes to the next only, not to all */
	struct card card[CREW_MAX][CREW_MAX];
	atomic_uint ready;
	atomic_uint done[CREW_MAX][CREW_MAX]; /* writes of i to k that were acknowledged */
	atomic_uint stop, stopped, checked;
	atomic_uint slot[CREW_MAX], newcomer;
};

struct member {
	struct board *board;
	uint32_t me;
	struct mh_device *dev;
	struct mh_pd *pd;
	struct mh_cq *cq;
	struct mh_mr *mr;
	struct mh_qp *qp[CREW_MAX];
	uint8_t *out, *in; /* BYTES for each process */
};

#define check(cond) ((cond) ? (void)0 : member_fail(__LINE__, #cond))

static void member_fail(int line, const char *what)
{
	fprintf(stderr, "live_crew.c:%d: %s\n", line, what);
	_exit(1);
}

static uint8_t member_byte(uint32_t from, uint32_t to, size_t at)
{
	return (uint8_t)(from * 64 + to * 16 + at * 7 + 1);
}

static bool board_writes(const struct board *board, uint32_t from, uint32_t to)
{
	return board->ring ? to == (from + 1) % board->crew : from != to;
}

static void member_open(struct member *m)
{
	struct mh_qp_init init = {.cap = {.max_send_wr = 4, .max_send_sge = 1}};
	uint32_t access = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE;
	struct mh_device_attr attr;
	struct mh_plane_attr plane;

	m->out = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(m->out != MAP_FAILED);
	m->in = m->out + CREW_MAX * BYTES;
	check(mh_device_open(0, m, &m->dev) == 0);
	check(mh_device_query_plane(m->dev, 0, &plane) == 0);
	m->board->slot[m->me] = plane.udp_port;
	mh_device_query(m->dev, &attr);
	check(mh_pd_create(m->dev, NULL, &m->pd) == 0);
	check(mh_cq_create(m->dev, 64, NULL, NULL, &m->cq) == 0);
	check(mh_mr_reg(m->pd, m->out, MEMORY, (uintptr_t)m->out, access, &m->mr) == 0);
	init.pd = m->pd;
	init.send_cq = init.recv_cq = m->cq;
	init.signal_all = true;
	for (uint32_t k = 0; k < m->board->crew; k++) {
		check(mh_qp_create(&init, &m->qp[k]) == 0);
		m->board->card[m->me][k] = (struct card){
			.gid = attr.gid,
			.qpn = mh_qp_number(m->qp[k]),
			.rkey = mh_mr_rkey(m->mr),
			.addr = (uintptr_t)(m->in + (size_t)k * BYTES),
		};
		for (size_t at = 0; at < BYTES; at++)
			m->out[k * BYTES + at] = member_byte(m->me, k, at);
	}
}

static void member_meet(atomic_uint *count, uint32_t n)
{
	for (++*count; *count < n;)
		poll(NULL, 0, 1);
}

static void member_connect(struct member *m, uint32_t k)
{
	const struct card *peer = &m->board->card[k][m->me];
	struct rd_qp_attr attr;

	mh_qp_attr_default(&attr);
	attr.access = RD_ACCESS_REMOTE_WRITE;
	attr.state = RD_QPS_INIT;
	check(mh_qp_modify(m->qp[k], &attr, RD_QP_STATE | RD_QP_ACCESS) == 0);
	attr.dest = peer->gid;
	attr.dest_qpn = peer->qpn;
	attr.path_mtu = 4096;
	attr.state = RD_QPS_RTR;
	check(mh_qp_modify(m->qp[k], &attr, RD_QP_STATE | RD_QP_DEST | RD_QP_PATH_MTU) == 0);
	attr.timeout = 14;
	attr.retry_linear = 7;
	attr.retry_exp = 7;
	attr.state = RD_QPS_RTS;
	check(mh_qp_modify(m->qp[k], &attr, RD_QP_STATE | RD_QP_TIMEOUT | RD_QP_RETRY) == 0);
}

/*
 * member_probe asks each process, itself too, for an answer on each path: on one address their
 * slots tell them apart. REQ(ep.probe.answer)
 */
static void member_probe(struct member *m)
{
	struct mh_probe probes[CREW_MAX * CREW_PLANES * CREW_EVS];
	struct mh_probe_answer answers[CREW_MAX * CREW_PLANES * CREW_EVS];
	uint32_t n = 0, answered;

	for (uint32_t k = 0; k < m->board->crew; k++)
		for (uint32_t path = 0; path < CREW_PLANES * CREW_EVS; path++) {
			struct mh_probe *p = &probes[n++];

			*p = (struct mh_probe){
				.dest = m->board->card[k][m->me].gid,
				.endpoint = (uint16_t)(m->board->card[k][m->me].qpn >> SLOT_SHIFT),
				.plane = path % CREW_PLANES,
			};
			check(mh_device_query_ev(m->dev, p->plane, path / CREW_PLANES, &p->ev) ==
			      0);
		}
	check(mh_endpoint_probe(m->dev, 0, probes, n, PROBE_TIMEOUT_NS, answers, &answered) == 0);
	check(answered == n);
}

static void member_write(struct member *m, uint32_t k)
{
	const struct card *peer = &m->board->card[k][m->me];
	struct rd_sge sge = {(uintptr_t)(m->out + k * BYTES), BYTES, mh_mr_lkey(m->mr)};
	struct rd_send_wr wr = {
		.wr_id = k,
		.sge = &sge,
		.n_sge = 1,
		.rkey = peer->rkey,
		.remote_addr = peer->addr,
	};

	check(mh_qp_post_send(m->qp[k], &wr, 1, NULL) == 0);
}

/* member_run writes to everybody until told to stop; only what goes to the victim may fail. */
static void member_run(struct member *m)
{
	uint32_t pending = 0;

	for (uint32_t k = 0; k < m->board->crew; k++) {
		if (!board_writes(m->board, m->me, k))
			continue;
		member_write(m, k);
		pending++;
	}
	while (pending > 0) {
		struct mh_wc wc;

		if (mh_cq_poll(m->cq, 1, &wc) != 1) {
			poll(NULL, 0, 1);
			if (m->board->stop && pending == 1 && m->board->victim != NOBODY)
				break; /* the victim's, whose QP has not given up yet */
			continue;
		}
		check(wc.status == RD_WC_SUCCESS || wc.wr_id == m->board->victim);
		pending--;
		if (wc.status != RD_WC_SUCCESS)
			continue;
		m->board->done[m->me][wc.wr_id]++;
		if (m->board->stop && wc.wr_id != m->board->victim)
			continue;
		member_write(m, (uint32_t)wc.wr_id);
		pending++;
	}
}

static void member_check(struct member *m)
{
	/* By the lock under which it was placed, what was written is visible here. */
	check(mh_device_is_up(m->dev));
	for (uint32_t k = 0; k < m->board->crew; k++)
		for (size_t at = 0; at < BYTES; at++)
			check(!board_writes(m->board, k, m->me) || k == m->board->victim ||
			      m->in[k * BYTES + at] == member_byte(k, m->me, at));
}

static void member_main(struct board *board, uint32_t me)
{
	struct member m = {.board = board, .me = me};

	alarm(LIFE_S);
	member_open(&m);
	member_meet(&board->ready, board->crew);
	for (uint32_t k = 0; k < board->crew; k++)
		if (k != me)
			member_connect(&m, k);
	member_meet(&board->ready, 2 * board->crew);
	member_probe(&m);
	member_meet(&board->ready, 3 * board->crew);
	member_run(&m);
	/* A peer's last acknowledgements are ours to give: nobody leaves before all are done. */
	member_meet(&board->stopped, board->crew - (board->victim != NOBODY));
	member_check(&m);
	for (uint32_t k = 0; k < board->crew; k++)
		check(mh_qp_destroy(m.qp[k]) == 0);
	check(mh_mr_dereg(m.mr) == 0 && mh_cq_destroy(m.cq) == 0);
	check(mh_pd_destroy(m.pd) == 0 && mh_device_close(m.dev) == 0);
	munmap(m.out, MEMORY);
	exit(0);
}

/* ---- the test's own process ---- */

static pid_t crew_pid[CREW_MAX];

static struct board *crew_start(uint32_t crew, uint32_t victim, bool ring)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(board != MAP_FAILED);
	board->crew = crew;
	board->victim = victim;
	board->ring = ring;
	setenv("MRC_CONFIG", "/dev/null", 1);
	loopback_env(CREW_PLANES); /* addresses of this crew alone */
	setenv("MRC_EVS", "4", 1); /* CREW_EVS */
	fflush(NULL);
	for (uint32_t i = 0; i < crew; i++) {
		crew_pid[i] = fork();
		assert_true(crew_pid[i] >= 0);
		if (crew_pid[i] == 0)
			member_main(board, i);
	}
	return board;
}

static void crew_end(pid_t pid)
{
	int status;

	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* crew_stop ends all that live and checks that each received on a UDP port of its own. */
static void crew_stop(struct board *board)
{
	board->stop = 1;
	for (uint32_t i = 0; i < board->crew; i++)
		if (i != board->victim)
			crew_end(crew_pid[i]);
	for (uint32_t i = 0; i < board->crew; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_true(board->slot[i] != board->slot[k]);
	munmap(board, sizeof(*board));
}

/* crew_wait waits until everybody has written `more` times to each of its peers. */
static void crew_wait(struct board *board, uint32_t more, bool victim_lives)
{
	uint32_t from[CREW_MAX][CREW_MAX];

	for (uint32_t i = 0; i < board->crew; i++)
		for (uint32_t k = 0; k < board->crew; k++)
			from[i][k] = board->done[i][k];
	for (uint32_t i = 0; i < board->crew; i++)
		for (uint32_t k = 0; k < board->crew; k++) {
			if (!board_writes(board, i, k) ||
			    (!victim_lives && (i == board->victim || k == board->victim)))
				continue;
			while (board->done[i][k] < from[i][k] + more) {
				assert_i_eq(waitpid(crew_pid[i], NULL, WNOHANG), 0);
				poll(NULL, 0, 1);
			}
		}
}

/* crew_newcomer opens the device and returns the UDP port of its slot. */
static uint32_t crew_newcomer(struct board *board)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct mh_plane_attr plane;
		struct mh_device *dev;

		check(mh_device_open(0, board, &dev) == 0);
		check(mh_device_query_plane(dev, 0, &plane) == 0);
		board->newcomer = plane.udp_port;
		check(mh_device_close(dev) == 0);
		exit(0);
	}
	crew_end(pid);
	return board->newcomer;
}

TEST(live_crew, kill_one_of_four_under_traffic)
{
	struct board *board = crew_start(4, 2, false);
	int status;

	crew_wait(board, WRITES, true);
	assert_i_eq(kill(crew_pid[2], SIGKILL), 0);
	assert_i_eq(waitpid(crew_pid[2], &status, 0), crew_pid[2]);
	assert_true(WIFSIGNALED(status));
	crew_wait(board, WRITES, false);
	assert_u_eq(crew_newcomer(board), board->slot[2]);
	crew_stop(board);
}

/* Jain's index of the shares: (sum x)^2 / (n sum x^2), 1 when all are equal. */
static double jain(struct board *board)
{
	double sum = 0, squares = 0, index;

	for (uint32_t i = 0; i < board->crew; i++) {
		double x = board->done[i][(i + 1) % board->crew];

		sum += x;
		squares += x * x;
	}
	index = sum * sum / (board->crew * squares);
	printf("# Jain's index of %u processes: %.3f\n", board->crew, index);
	return index;
}

/*
 * Counted when the slowest has done its part, so that it does not matter how fast the machine is.
 * Cores that others take from a process at first it gets later: what evens out was theirs.
 */
TEST(live_crew, eight_get_equal_shares)
{
	struct board *board = crew_start(8, NOBODY, true);
	uint32_t rounds = 0;

	do
		crew_wait(board, 4 * WRITES, true);
	while (jain(board) < 0.9 && ++rounds < ROUNDS_TO_EVEN_OUT);
	assert_true(rounds < ROUNDS_TO_EVEN_OUT);
	crew_stop(board);
}
