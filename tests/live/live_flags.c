/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_flags.c - round after round of data and then a flag, over four planes that lose, delay and
 * repeat packets: who sees the flag in memory, or the SEND behind the data, sees all of the data.
 *
 * Rounds go through a ring of slots, and come in four kinds. The target says how far it has read by
 * a word that it writes into the initiator's memory, which is a flag, too.
 */
#include "live.h"
#include "support/test.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 20000u /* of make check; make torture has fifty times as many */
#define LIMIT_S 3600u /* who hangs is ended by LIVE's own timeouts and ctest's, long before */
#define SLOTS 64u
#define DATA_MAX 12288u
#define SLOT_BYTES (DATA_MAX + 64u)
#define FLAG_AT (SLOT_BYTES - 8u)
#define READ_AT ((size_t)SLOTS * SLOT_BYTES) /* how far the target has read */
#define BUFFER_BYTES (READ_AT + 64u)
/* Rounds whose completion is awaited; a round takes four places of the send queue at most. */
#define AHEAD 24u
#define READ_EVERY 8u
#define STUCK_S 60

enum kind {
	FLAG_BEHIND,	/* WRITE of data, WRITE of the flag */
	FLAG_AT_END,	/* one WRITE whose last word is the flag */
	FLAG_OF_PIECES, /* three WRITEs of data, WRITE of the flag */
	SEND_BEHIND,	/* WRITE of data, SEND */
	KINDS
};

static size_t rounds;

static enum kind kind_of(uint64_t k)
{
	return (enum kind)(k * 2654435761u >> 7 & 3);
}

/* Mostly small, sometimes of several packets; a multiple of 8. */
static uint32_t len_of(uint64_t k)
{
	uint64_t r = k * 0x9e3779b97f4a7c15u >> 20;

	return (uint32_t)(r % (k % 8 ? 1500 : DATA_MAX - 24) + 24) & ~7u;
}

static size_t slot_of(uint64_t k)
{
	return k % SLOTS * SLOT_BYTES;
}

/* ---- waiting ---- */

static uint64_t load(const uint8_t *at)
{
	return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

/* Lets others run now and then, and fails when nothing has happened for long. */
static void rest(uint32_t *turns, time_t *since)
{
	if (++*turns % 64)
		return;
	sched_yield();
	if (*turns == 64)
		*since = time(NULL);
	live_check(time(NULL) < *since + STUCK_S);
}

static void wait_for_word(const uint8_t *at, uint64_t least)
{
	uint32_t turns = 0;
	time_t since = 0;

	while (load(at) < least)
		rest(&turns, &since);
}

/* Completions taken, of what was sent and of what was received. */
struct taken {
	uint64_t sends, recvs;
};

static void take(struct live_side *s, struct taken *t)
{
	struct mh_wc wc[16];
	int n = mh_cq_poll(s->cq, 16, wc);

	live_check(n >= 0);
	for (int i = 0; i < n; i++) {
		live_check(wc[i].status == RD_WC_SUCCESS);
		t->sends += wc[i].opcode == RD_WC_WRITE || wc[i].opcode == RD_WC_SEND;
		t->recvs += wc[i].opcode == RD_WC_RECV;
	}
}

static void take_until(struct live_side *s, struct taken *t, const uint64_t *count, uint64_t want)
{
	uint32_t turns = 0;
	time_t since = 0;

	while (*count < want) {
		take(s, t);
		rest(&turns, &since);
	}
}

/* ---- the initiator ---- */

static void post_send(struct live_side *s, uint64_t k)
{
	struct rd_send_wr wr = {.wr_id = k, .flags = RD_SEND_SIGNALED, .opcode = RD_WR_SEND};

	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
}

static void write_flag(struct live_side *s, uint64_t k, size_t at)
{
	uint64_t flag = k + 1;

	memcpy(s->buffer + at, &flag, sizeof(flag));
	live_write(s, k, at, sizeof(flag), RD_SEND_SIGNALED, 0);
}

static void send_round(struct live_side *s, uint64_t k)
{
	size_t slot = slot_of(k);
	uint32_t len = len_of(k), third = len / 3 & ~7u;
	uint64_t flag = k + 1;

	live_fill(s->buffer + slot, len, k);
	switch (kind_of(k)) {
	case FLAG_BEHIND:
		live_write(s, k, slot, len, 0, 0);
		write_flag(s, k, slot + FLAG_AT);
		break;
	case FLAG_AT_END:
		memcpy(s->buffer + slot + len, &flag, sizeof(flag));
		live_write(s, k, slot, len + 8, RD_SEND_SIGNALED, 0);
		break;
	case FLAG_OF_PIECES:
		live_write(s, k, slot, third, 0, 0);
		live_write(s, k, slot + third, third, 0, 0);
		live_write(s, k, slot + 2 * third, len - 2 * third, 0, 0);
		write_flag(s, k, slot + FLAG_AT);
		break;
	case SEND_BEHIND:
	case KINDS:
		live_write(s, k, slot, len, 0, 0);
		post_send(s, k);
		break;
	}
}

static void spoil(struct live_side *s)
{
	live_rule(s, 0, MRC_FAULT_DROP, 2000);
	live_rule(s, 1, MRC_FAULT_CORRUPT, 500);
	live_rule(s, 2, MRC_FAULT_DELAY, 50000)->jitter_us = 300;
	live_rule(s, 3, MRC_FAULT_DUPLICATE, 5000);
}

static void initiator(struct live_side *s)
{
	struct taken t = {0};

	spoil(s);
	live_barrier(s);
	for (uint64_t k = 0; k < rounds; k++) {
		if (k >= SLOTS)
			wait_for_word(s->buffer + READ_AT, k - SLOTS + 1);
		if (k >= AHEAD)
			take_until(s, &t, &t.sends, k - AHEAD + 1);
		send_round(s, k);
	}
	take_until(s, &t, &t.sends, rounds);
	live_check(live_counter(s, "tx_retransmits") > 0);
	live_barrier(s);
}

/* ---- the target ---- */

static void say_read(struct live_side *s, uint64_t k, struct taken *t)
{
	uint64_t read = k + 1;

	/* The word under way is not to be changed. */
	take_until(s, t, &t->sends, read / READ_EVERY - 1);
	memcpy(s->buffer + READ_AT, &read, sizeof(read));
	live_write(s, k, READ_AT, sizeof(read), RD_SEND_SIGNALED, 0);
}

static void read_round(struct live_side *s, uint64_t k, struct taken *t, uint64_t *sends)
{
	const uint8_t *slot = s->buffer + slot_of(k);
	uint32_t len = len_of(k);

	switch (kind_of(k)) {
	case FLAG_AT_END:
		wait_for_word(slot + len, k + 1);
		live_check(load(slot + len) == k + 1);
		break;
	case SEND_BEHIND:
	case KINDS:
		take_until(s, t, &t->recvs, ++*sends);
		live_post_recv(s, 1);
		break;
	case FLAG_BEHIND:
	case FLAG_OF_PIECES:
		wait_for_word(slot + FLAG_AT, k + 1);
		live_check(load(slot + FLAG_AT) == k + 1);
		break;
	}
	live_check(live_compare(slot, len, k));
	/* What stays must be no flag of a later round. */
	memset(s->buffer + slot_of(k), 0, SLOT_BYTES);
}

static void target(struct live_side *s)
{
	struct taken t = {0};
	uint64_t sends = 0;

	live_post_recv(s, SLOTS);
	live_barrier(s);
	for (uint64_t k = 0; k < rounds; k++) {
		read_round(s, k, &t, &sends);
		if ((k + 1) % READ_EVERY == 0)
			say_read(s, k, &t);
	}
	live_barrier(s);
}

/* REQ(ext.order.wait) REQ(ext.recv.match) */
TEST(mh_qp_post_send, a_flag_is_seen_behind_its_data)
{
	static const struct live_setup strict = {.bytes = BUFFER_BYTES,
						 .retry_linear = 7,
						 .retry_exp = 25,
						 .extended = true,
						 .limit_s = LIMIT_S};

	rounds = test_rounds(ROUNDS);
	live_run(&strict, initiator, target);
}

/* ---- order=relaxed ---- */

#define LOOKS 200u
#define SLOW_US 5000u
#define LOOK_BYTES 6000u

/* Each has a place of its own, so that the target clears nothing that is still written. */
static size_t look_at(uint64_t k)
{
	return k * (LOOK_BYTES + 8);
}

static size_t look_flag(uint64_t k)
{
	return look_at(k) + LOOK_BYTES;
}

/* Three planes of four are slow; who comes by the fourth overtakes what was sent before. */
static void relaxed_initiator(struct live_side *s)
{
	struct mrc_fault_rule *rule = live_rule(s, 0, MRC_FAULT_DELAY, 1000000);
	struct taken t = {0};

	rule->port_mask = 0x7;
	rule->delay_us = SLOW_US;
	live_barrier(s);
	for (uint64_t k = 0; k < LOOKS; k++) {
		live_fill(s->buffer + look_at(k), LOOK_BYTES, k);
		live_write(s, k, look_at(k), LOOK_BYTES, 0, 0);
		write_flag(s, k, look_flag(k));
		take_until(s, &t, &t.sends, k + 1);
	}
	live_barrier(s);
}

/* Every packet by another EV than the one before it. */
static void packet_by_packet(struct live_side *s, uint32_t host)
{
	(void)s;
	(void)host;
	setenv("MRC_RUN", "1", 1);
}

static uint32_t early; /* flags that came before their data */

static void relaxed_target(struct live_side *s)
{
	live_barrier(s);
	for (uint64_t k = 0; k < LOOKS; k++) {
		wait_for_word(s->buffer + look_flag(k), k + 1);
		/*
		 * What may still be written is looked at in one load: the last word of a packet is
		 * one store.
		 */
		if (s->setup->order)
			early += load(s->buffer + look_flag(k) - 8) == 0;
		else
			early += !live_compare(s->buffer + look_at(k), LOOK_BYTES, k);
	}
	live_check(s->setup->order ? early > 0 : early == 0);
	live_barrier(s);
}

/* REQ(ext.order.relaxed) */
TEST(mh_qp_post_send, order_relaxed_places_as_it_comes)
{
	static const struct live_setup relaxed = {.bytes = LOOKS * (LOOK_BYTES + 8),
						  .retry_linear = 7,
						  .extended = true,
						  .enter = packet_by_packet,
						  .order = "relaxed"};

	live_run(&relaxed, relaxed_initiator, relaxed_target);
}

TEST(mh_qp_post_send, order_strict_waits_for_slow_planes)
{
	static const struct live_setup strict = {.bytes = LOOKS * (LOOK_BYTES + 8),
						 .retry_linear = 7,
						 .extended = true,
						 .enter = packet_by_packet};

	live_run(&strict, relaxed_initiator, relaxed_target);
}
