/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_threads.c - four threads post on one QP and poll one CQ, or on their own, while a fifth
 * makes and destroys other objects. Run under TSan this shows that any thread may call anything.
 */
#include "live/live.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/nic_counters.h"
#include "support/test.h"

#define THREADS 4u
#define PIECE 8192u
#define PIECES 512u /* of all threads */

struct workers {
	struct live_side *s;
	atomic_uint next;  /* piece to post */
	atomic_uint done;  /* completions seen by anybody */
	atomic_uint wrong; /* of them not as they should be */
	atomic_uint made;  /* rounds of the maker */
};

/* workers_poll takes what there is. */
static void workers_poll(struct workers *workers)
{
	struct mh_wc wc[4];
	int n = mh_cq_poll(workers->s->cq, 4, wc);

	live_check(n >= 0);
	for (int i = 0; i < n; i++) {
		workers->wrong += wc[i].status != RD_WC_SUCCESS || wc[i].opcode != RD_WC_WRITE;
		workers->done++;
	}
	if (n == 0)
		sched_yield();
}

static void workers_post(struct workers *workers, uint32_t piece)
{
	struct live_side *s = workers->s;
	size_t at = (size_t)piece * PIECE;
	struct rd_sge sge = {(uintptr_t)s->buffer + at, PIECE, mh_mr_lkey(s->mr)};
	struct rd_send_wr wr = {.wr_id = piece,
				.sge = &sge,
				.n_sge = 1,
				.flags = RD_SEND_SIGNALED,
				.rkey = s->peer.rkey,
				.remote_addr = s->peer.addr + at};
	int err;

	while ((err = mh_qp_post_send(s->qp, &wr, 1, NULL)) == ENOMEM)
		workers_poll(workers);
	live_check(err == 0);
}

static void *workers_worker(void *arg)
{
	struct workers *workers = arg;
	uint32_t piece;

	while ((piece = workers->next++) < PIECES)
		workers_post(workers, piece);
	while (workers->done < PIECES)
		workers_poll(workers);
	return NULL;
}

static void *workers_maker(void *arg)
{
	struct workers *workers = arg;
	struct live_side *s = workers->s;
	uint8_t bytes[64];

	while (workers->done < PIECES) {
		struct mh_qp_init init = {.cap = {.max_send_wr = 4, .max_send_sge = 1}};
		struct mh_counter counters[MH_COUNTERS_MAX];
		struct mh_device *dev;
		struct mh_cq *cq;
		struct mh_qp *qp;
		struct mh_mr *mr;

		live_check(mh_device_open(0, workers, &dev) == 0);
		live_check(mh_device_find(workers) == dev);
		live_check(mh_mr_reg(s->pd, bytes, 64, 0, 0, &mr) == 0);
		live_check(mh_cq_create(dev, 16, NULL, NULL, &cq) == 0);
		init.pd = s->pd;
		init.send_cq = init.recv_cq = cq;
		live_check(mh_qp_create(&init, &qp) == 0);
		live_check(nic_counters(dev, counters) > 0);
		live_check(mh_qp_destroy(qp) == 0);
		live_check(mh_cq_destroy(cq) == 0);
		live_check(mh_mr_dereg(mr) == 0);
		live_check(mh_device_close(dev) == 0);
		workers->made++;
	}
	return NULL;
}

static void threads_initiator(struct live_side *s)
{
	struct workers workers = {.s = s};
	pthread_t worker[THREADS], maker;

	live_fill(s->buffer, s->setup->bytes, 6);
	live_check(pthread_create(&maker, NULL, workers_maker, &workers) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		live_check(pthread_create(&worker[i], NULL, workers_worker, &workers) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(worker[i], NULL);
	pthread_join(maker, NULL);
	live_check(workers.done == PIECES && workers.wrong == 0 && workers.made > 0);
	live_barrier(s);
}

static void threads_target(struct live_side *s)
{
	live_barrier(s);
	live_check(live_compare(s->buffer, s->setup->bytes, 6));
}

TEST(live_threads, share_a_qp_and_a_cq)
{
	struct live_setup setup = {.bytes = (size_t)PIECES * PIECE};

	live_run(&setup, threads_initiator, threads_target);
}

/* Each thread has a QP and a CQ of its own; two of them wait on their channels instead of
 * polling. */
struct loner {
	struct live_side side;
	uint32_t number;
};

static void *loner_worker(void *arg)
{
	struct loner *loner = arg;
	size_t at = (size_t)loner->number * PIECE;
	struct mh_wc wc = {.status = RD_WC_SUCCESS};

	for (uint32_t i = 0; i < PIECES / THREADS; i++, at += THREADS * PIECE) {
		live_write(&loner->side, i, at, PIECE, RD_SEND_SIGNALED, 0);
		if (loner->number % 2)
			live_wait(&loner->side, &wc, 1);
		else
			while (mh_cq_poll(loner->side.cq, 1, &wc) == 0)
				sched_yield();
		live_expect(&wc, i, RD_WC_SUCCESS);
	}
	return NULL;
}

static void loners_initiator(struct live_side *s)
{
	struct loner loner[THREADS];
	pthread_t worker[THREADS];

	live_fill(s->buffer, s->setup->bytes, 7);
	for (uint32_t i = 0; i < THREADS; i++) {
		loner[i].number = i;
		live_more(s, &loner[i].side);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		live_check(pthread_create(&worker[i], NULL, loner_worker, &loner[i]) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(worker[i], NULL);
	live_barrier(s);
	for (uint32_t i = 0; i < THREADS; i++)
		live_less(&loner[i].side);
}

static void loners_target(struct live_side *s)
{
	struct live_side more[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		live_more(s, &more[i]);
	live_barrier(s);
	live_check(live_compare(s->buffer, s->setup->bytes, 7));
	for (uint32_t i = 0; i < THREADS; i++)
		live_less(&more[i]);
}

TEST(live_threads, have_a_qp_and_a_cq_each)
{
	struct live_setup setup = {.bytes = (size_t)PIECES * PIECE};

	live_run(&setup, loners_initiator, loners_target);
}

/* A thread blocked on the channel while messages trickle in hears of every one. */
static void *blocked_worker(void *arg)
{
	struct workers *workers = arg;
	struct live_side *s = workers->s;

	while (workers->done < PIECES / 8) {
		struct mh_cq *cq;
		struct mh_wc wc;
		int n;

		mh_cq_req_notify(s->cq, false);
		n = mh_cq_poll(s->cq, 1, &wc);
		live_check(n >= 0);
		if (n == 1) {
			workers->done++;
			continue;
		}
		if (mh_channel_get(s->channel, &cq) == 0)
			mh_cq_ack_events(cq, 1);
	}
	return NULL;
}

static void blocked_target(struct live_side *s)
{
	struct workers workers = {.s = s};
	pthread_t worker;

	live_post_recv(s, PIECES / 8);
	live_barrier(s);
	live_check(pthread_create(&worker, NULL, blocked_worker, &workers) == 0);
	pthread_join(worker, NULL);
	live_check(workers.done == PIECES / 8);
}

static void blocked_initiator(struct live_side *s)
{
	struct mh_wc wc;

	live_barrier(s);
	for (uint32_t i = 0; i < PIECES / 8; i++) {
		live_write(s, i, 0, 64, (uint32_t)RD_SEND_SIGNALED | RD_SEND_IMM, i);
		live_wait(s, &wc, 1);
		live_expect(&wc, i, RD_WC_SUCCESS);
	}
}

TEST(live_threads, blocked_thread_misses_no_completion)
{
	struct live_setup setup = {.bytes = 4096};

	live_run(&setup, blocked_initiator, blocked_target);
}
