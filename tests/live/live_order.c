/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_order.c - extended QPs under faults: data that must be there when its flag is, and SENDs.
 */
#include "live.h"
#include "support/test.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 1500u
#define DATA 10000u
#define SLOT 10240u /* data, and the flag in the last word */
#define FLAG_AT (SLOT - 8)

static void spoil(struct live_side *s)
{
	live_rule(s, 0, MRC_FAULT_DROP, 10000);
	live_rule(s, 1, MRC_FAULT_CORRUPT, 2000);
	live_rule(s, 2, MRC_FAULT_DELAY, 50000)->jitter_us = 500;
	live_rule(s, 3, MRC_FAULT_DUPLICATE, 10000);
}

/* Of even rounds data and flag are two messages, of odd ones the flag ends the message. */
static void send_round(struct live_side *s, uint32_t k)
{
	uint64_t flag = k + 1;
	size_t at = (size_t)k * SLOT;

	live_fill(s->buffer + at, DATA, k);
	memcpy(s->buffer + at + FLAG_AT, &flag, sizeof(flag));
	if (k % 2) {
		live_write(s, k, at, SLOT, RD_SEND_SIGNALED, 0);
		return;
	}
	live_write(s, k, at, DATA, 0, 0);
	live_write(s, k, at + FLAG_AT, 8, RD_SEND_SIGNALED, 0);
}

static void flag_initiator(struct live_side *s)
{
	struct mh_wc wc;

	spoil(s);
	live_barrier(s);
	for (uint32_t k = 0, done = 0; done < ROUNDS; done++) {
		for (; k < ROUNDS && k - done < LIVE_DEPTH / 2; k++)
			send_round(s, k);
		live_wait(s, &wc, 1);
		live_expect(&wc, done, RD_WC_SUCCESS);
	}
	live_barrier(s);
}

/* It never asks its CQ: only its memory tells. */
static void flag_target(struct live_side *s)
{
	time_t begin = time(NULL);

	live_barrier(s);
	for (uint32_t k = 0; k < ROUNDS; k++) {
		const uint8_t *slot = s->buffer + (size_t)k * SLOT;
		const uint64_t *flag = (const uint64_t *)(const void *)(slot + FLAG_AT);

		while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
			live_check(time(NULL) < begin + 60);
			sched_yield();
		}
		live_check(*flag == k + 1);
		live_check(live_compare(slot, DATA, k));
	}
	live_barrier(s);
}

static const struct live_setup flags = {
	.bytes = (size_t)ROUNDS * SLOT, .retry_linear = 7, .retry_exp = 25, .extended = true};

/* REQ(ext.order.wait) */
TEST(mh_qp_post_send, the_flag_comes_behind_the_data)
{
	live_run(&flags, flag_initiator, flag_target);
}

/* ---- SENDs ---- */

#define SENDS 1000u
#define SEND_MAX 20000u
#define RING 16u

static uint32_t send_len(uint32_t k)
{
	return k * 7919u % (SEND_MAX + 1);
}

static void send_initiator(struct live_side *s)
{
	struct mh_wc wc;

	spoil(s);
	live_barrier(s);
	for (uint32_t k = 0; k < SENDS; k++) {
		uint8_t *bytes = s->buffer + (size_t)(k % RING) * SEND_MAX;
		struct rd_sge sge = {(uintptr_t)bytes, send_len(k), mh_mr_lkey(s->mr)};
		struct rd_send_wr wr = {.wr_id = k,
					.sge = &sge,
					.n_sge = 1,
					.flags = RD_SEND_SIGNALED | (k % 3 ? 0 : RD_SEND_IMM),
					.imm = k,
					.opcode = RD_WR_SEND};

		if (k >= RING) {
			live_wait(s, &wc, 1);
			live_expect(&wc, k - RING, RD_WC_SUCCESS);
			live_check(wc.opcode == RD_WC_SEND);
		}
		live_fill(bytes, send_len(k), k);
		live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
	}
	live_barrier(s);
}

static void post_room(struct live_side *s, uint32_t k)
{
	uintptr_t at = (uintptr_t)s->buffer + (size_t)(k % RING) * SEND_MAX;
	struct rd_sge sge[2] = {{at, 1000, mh_mr_lkey(s->mr)},
				{at + 1000, SEND_MAX - 1000, mh_mr_lkey(s->mr)}};
	struct rd_recv_wr wr = {.wr_id = k, .sge = sge, .n_sge = 2};

	live_check(mh_qp_post_recv(s->qp, &wr, 1, NULL) == 0);
}

/* There are fewer receives than SENDs under way, so that some must wait. */
static void send_target(struct live_side *s)
{
	uint32_t posted = 0;
	struct mh_wc wc;

	live_barrier(s);
	for (uint32_t k = 0; k < SENDS; k++) {
		for (; posted < SENDS && posted < k + RING / 2; posted++)
			post_room(s, posted);
		live_wait(s, &wc, 1);
		live_expect(&wc, k, RD_WC_SUCCESS);
		live_check(wc.opcode == RD_WC_RECV && wc.byte_len == send_len(k));
		live_check(k % 3 ? !(wc.flags & RD_WC_WITH_IMM) : wc.imm == k);
		live_check(live_compare(s->buffer + (size_t)(k % RING) * SEND_MAX, send_len(k), k));
	}
	live_check(live_counter(s, "rnr_nacks") > 0);
	live_barrier(s);
}

static const struct live_setup sends = {
	.bytes = (size_t)RING * SEND_MAX, .retry_linear = 7, .retry_exp = 25, .extended = true};

/* REQ(ext.recv.match) REQ(ext.recv.scatter) REQ(ext.rnr.nack) */
TEST(mh_qp_post_send, sends_under_faults)
{
	live_run(&sends, send_initiator, send_target);
}
