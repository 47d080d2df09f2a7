/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_killed.c - programs that are killed somewhere in their life.
 *
 * In each round two programs write into each other's memory through the verbs device, and one gets
 * SIGKILL at a random moment: before it has opened the device, while it connects, in the midst of
 * it, or after. The survivor must get error completions for all that it had posted, and not have to
 * wait for them for long. Meanwhile an heir takes the place of the dead: the same address, the same
 * port, objects made in the same order, a QP towards the survivor. What the survivor still sends to
 * the dead must not be found in the heir's memory.
 */
#include "support/test.h"

#include <infiniband/verbs.h>

#include <dirent.h>
#include <fcntl.h>
#include <mrc/stats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15u /* of make check; make torture has fifty times as many */
#define BYTES 16384u
#define DEPTH 16u
#define CANARY 0x5a
#define PSN 0x1234u
/* 4.096 us x 2^13 is 34 ms; with three retries the peer is known to be dead after 0.2 s. */
#define TIMEOUT 13
#define RETRIES 3
#define DEAD_S 60 /* until all must have failed, on a machine that has other things to do */
#define LIFE_MS 300
#define ACCESS ((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))

struct card {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t qpn, rkey;
};

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t *memory; /* what the peer writes, and behind it what is sent */
	struct card mine, peer;
	uint32_t posted, done;
};

static const char *dir; /* of statistics */
/* Of all rounds, in memory that all processes share. */
static struct tally {
	uint32_t met;	     /* rounds in which something had been written when the peer died */
	uint64_t longest_ns; /* from the last success to the first error */
} * tally;

/* ---- in the processes ---- */

#define check(cond) ((cond) ? (void)0 : fail_here(__LINE__, #cond))

_Noreturn static void fail_here(int line, const char *what)
{
	fprintf(stderr, "# %d: live_killed.c:%d: %s\n", (int)getpid(), line, what);
	_exit(1);
}

static void end_open(struct end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_wr = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	*e = (struct end){0};
	check(list && list[0]);
	e->ctx = ibv_open_device(list[0]);
	check(e->ctx);
	ibv_free_device_list(list);
	e->pd = ibv_alloc_pd(e->ctx);
	e->memory = malloc(2 * BYTES);
	check(e->pd && e->memory);
	memset(e->memory, CANARY, 2 * BYTES);
	e->mr = ibv_reg_mr(e->pd, e->memory, 2 * BYTES, ACCESS);
	e->cq = ibv_create_cq(e->ctx, 2 * DEPTH, NULL, NULL, 0);
	check(e->mr && e->cq);
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &init);
	check(e->qp);
	e->mine = (struct card){
		.addr = (uintptr_t)e->memory, .qpn = e->qp->qp_num, .rkey = e->mr->rkey};
	check(ibv_query_gid(e->ctx, 1, 0, &e->mine.gid) == 0);
}

static void end_connect(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ACCESS,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = e->peer.qpn,
		.rq_psn = PSN,
		.sq_psn = PSN,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = e->peer.gid}},
		.timeout = TIMEOUT,
		.retry_cnt = RETRIES,
		.rnr_retry = 7,
	};

	check(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	check(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	check(!ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void end_write(struct end *e)
{
	struct ibv_sge sge = {(uintptr_t)e->memory + BYTES, BYTES, e->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = e->posted,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE},
			   *bad;

	wr.wr.rdma.remote_addr = e->peer.addr;
	wr.wr.rdma.rkey = e->peer.rkey;
	check(ibv_post_send(e->qp, &wr, &bad) == 0);
	e->posted++;
}

static void end_close(struct end *e)
{
	check(ibv_destroy_qp(e->qp) == 0 && ibv_destroy_cq(e->cq) == 0);
	check(ibv_dereg_mr(e->mr) == 0 && ibv_dealloc_pd(e->pd) == 0);
	check(ibv_close_device(e->ctx) == 0);
	free(e->memory);
}

static void sleep_ns(long ns)
{
	const struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

/* The next completion, in order; of who is to live it must come in time. */
static enum ibv_wc_status end_poll(struct end *e, time_t last)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0) {
		check(time(NULL) < last);
		sleep_ns(50000);
	}
	check(n == 1 && wc.wr_id == e->done);
	e->done++;
	return wc.status;
}

/* False: the peer has died before. */
static bool end_meet(struct end *e, int sock)
{
	return send(sock, &e->mine, sizeof(e->mine), MSG_NOSIGNAL) == sizeof(e->mine) &&
	       recv(sock, &e->peer, sizeof(e->peer), MSG_WAITALL) == sizeof(e->peer);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note(const struct end *e, uint64_t since_ns)
{
	uint64_t ns = now_ns() - since_ns;

	tally->met += e->done > 1;
	if (ns > tally->longest_ns)
		tally->longest_ns = ns;
}

/* Writes until the peer is dead, and sees what becomes of all that was posted. */
static int survive(int sock, int to_heir)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	time_t last = time(NULL) + DEAD_S;
	uint64_t since_ns = 0;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct end e;

	end_open(&e);
	if (end_meet(&e, sock)) {
		check(write(to_heir, &e.mine, sizeof(e.mine)) == sizeof(e.mine));
		end_connect(&e);
		while (status == IBV_WC_SUCCESS) {
			since_ns = now_ns();
			while (e.posted - e.done < DEPTH)
				end_write(&e);
			status = end_poll(&e, last);
		}
		check(status == IBV_WC_RETRY_EXC_ERR);
		note(&e, since_ns);
		while (e.done < e.posted)
			check(end_poll(&e, last) == IBV_WC_WR_FLUSH_ERR);
		check(ibv_query_qp(e.qp, &attr, IBV_QP_STATE, &init) == 0);
		check(attr.qp_state == IBV_QPS_ERR);
	}
	end_close(&e);
	return 0;
}

/* Does the same; when its time is over it ends in order, if it still can. */
static int be_killed(int sock, long life_ms)
{
	struct end e;

	end_open(&e);
	if (!end_meet(&e, sock))
		return 0;
	end_connect(&e);
	for (long ms = 0; ms < life_ms; ms++) {
		struct ibv_wc wc;

		while (e.posted - e.done < DEPTH)
			end_write(&e);
		while (ibv_poll_cq(e.cq, 1, &wc) == 1)
			e.done++;
		sleep_ns(1000000);
	}
	end_close(&e);
	return 0;
}

static uint32_t own_slot(void)
{
	static struct mrc_stats_segment s;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d" MRC_STATS_SUFFIX, dir, (int)getpid());
	f = fopen(path, "re");
	check(f && fread(&s, sizeof(s), 1, f) == 1);
	fclose(f);
	return s.port[0].slot;
}

/* Takes the place of the dead, and sees that nothing of theirs comes in. */
static int inherit(int from_survivor, int until)
{
	struct end e;
	char byte;

	end_open(&e);
	check(own_slot() <= 1); /* the survivor has one, and the dead none */
	if (read(from_survivor, &e.peer, sizeof(e.peer)) == sizeof(e.peer))
		end_connect(&e);
	check(read(until, &byte, 1) == 0); /* the survivor has ended */
	for (uint32_t i = 0; i < 2 * BYTES; i++)
		check(e.memory[i] == CANARY);
	end_close(&e);
	return 0;
}

/* ---- rounds ---- */

static void reap(pid_t pid, const char *who)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the %s: status %x", who, (unsigned)status);
}

enum { SURVIVOR, VICTIM, HEIR };

struct round {
	int meet[2];  /* survivor and victim */
	int cards[2]; /* from the survivor to the heir */
	int alive[2]; /* the writing end is the survivor's alone */
	long life_ms;
};

static int live(struct round *r, int who)
{
	close(r->meet[who == SURVIVOR ? 1 : 0]);
	if (who != SURVIVOR)
		close(r->alive[1]);
	if (who != SURVIVOR)
		close(r->cards[1]);
	alarm(3 * DEAD_S);
	switch (who) {
	case SURVIVOR:
		return survive(r->meet[0], r->cards[1]);
	case VICTIM:
		return be_killed(r->meet[1], r->life_ms);
	default:
		close(r->meet[1]);
		return inherit(r->cards[0], r->alive[0]);
	}
}

static pid_t start(struct round *r, int who)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		exit(live(r, who));
	return pid;
}

/* Who is killed is started first or second, as chance has it. */
static void play(void)
{
	struct round r = {.life_ms = (long)test_rand_below(LIFE_MS)};
	bool first = test_rand_chance(1, 2);
	long kill_ns = (long)test_rand_below((LIFE_MS + 100) * UINT64_C(1000000));
	pid_t victim, survivor, heir;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, r.meet), 0);
	assert_int_equal(pipe(r.cards) | pipe(r.alive), 0);
	victim = first ? start(&r, VICTIM) : 0;
	survivor = start(&r, SURVIVOR);
	if (!first)
		victim = start(&r, VICTIM);
	close(r.meet[0]);
	close(r.meet[1]);
	sleep_ns(kill_ns);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	r.meet[0] = r.meet[1] = -1;
	heir = start(&r, HEIR);
	close(r.cards[0]);
	close(r.cards[1]);
	close(r.alive[0]);
	close(r.alive[1]);
	reap(survivor, "survivor");
	reap(heir, "heir");
}

/* An address of this process's own on the loopback, so that slots are its own, too. */
static int open_place(void **state)
{
	static char folder[] = "/tmp/softmrc-killed-XXXXXX";
	char address[32];
	int pid = (int)getpid();

	(void)state;
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	dir = mkdtemp(folder);
	snprintf(address, sizeof(address), "127.%d.%d.%d", 100 + (pid >> 16) % 100, pid >> 8 & 0xff,
		 pid & 0xff ? pid & 0xff : 1);
	return tally == MAP_FAILED || !dir || setenv("MRC_PORTS", address, 1) ||
	       setenv("MRC_STATS_DIR", dir, 1);
}

static int close_place(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

TEST_WITH(open_place, close_place, verbs_program, killed_anywhere)
{
	size_t rounds = test_rounds(ROUNDS);

	for (size_t i = 0; i < rounds; i++)
		play();
	print_message("# %u of %zu had met; the longest silence before an error was %llu ms\n",
		      tally->met, rounds, (unsigned long long)(tally->longest_ns / 1000000));
	assert_true(tally->met > 0);
}
