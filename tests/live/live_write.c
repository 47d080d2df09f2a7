/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_write.c - WRITE and WRITE_WITH_IMM between two processes over four loopback planes, on a
 * good network and on a bad one.
 */
#include "live/live.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

#define MIB (1u << 20)
#define BULK_BYTES (64 * MIB)
#define BULK_PIECE_MAX 131072u

static void pause_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

/* ---- bulk: the whole buffer in pieces of random size, every fourth with immediate data ---- */

struct bulk {
	uint32_t posted, done, imms;
	size_t offset;
};

static void bulk_post(struct live_side *s, struct bulk *b)
{
	uint32_t len = 1 + (uint32_t)test_rand_below(BULK_PIECE_MAX);
	bool imm = b->posted % 4 == 3;

	if (len > s->setup->bytes - b->offset)
		len = (uint32_t)(s->setup->bytes - b->offset);
	live_write(s, b->posted, b->offset, len,
		   (uint32_t)RD_SEND_SIGNALED | (imm ? (uint32_t)RD_SEND_IMM : 0), b->imms);
	b->imms += imm;
	b->posted++;
	b->offset += len;
}

/* bulk_send writes the buffer up to `until` bytes and waits for all completions, in order. */
static void bulk_send(struct live_side *s, struct bulk *b, size_t until)
{
	struct mh_wc wc;

	while (b->offset < until || b->done < b->posted) {
		while (b->offset < until && b->posted - b->done < LIVE_DEPTH)
			bulk_post(s, b);
		live_wait(s, &wc, 1);
		live_expect(&wc, b->done, RD_WC_SUCCESS);
		live_check(wc.opcode == RD_WC_WRITE);
		b->done++;
	}
}

/* bulk_receive takes immediate data until the initiator says how many there were. */
static void bulk_receive(struct live_side *s)
{
	struct pollfd pfd = {s->sock, POLLIN, 0};
	uint32_t got = 0;
	uint32_t all = UINT32_MAX;
	struct rd_recv_wr zero = {0};
	struct mh_wc wc;

	while (got < all) {
		int n = mh_cq_poll(s->cq, 1, &wc);

		live_check(n >= 0);
		if (n == 0 && all == UINT32_MAX && poll(&pfd, 1, 1) == 1)
			live_hear(s, &all, sizeof(all));
		if (n == 0)
			continue;
		live_check(wc.status == RD_WC_SUCCESS && wc.opcode == RD_WC_RECV_IMM);
		live_check((wc.flags & RD_WC_WITH_IMM) && wc.imm == got);
		live_check(wc.qpn == mh_qp_number(s->qp));
		got++;
		live_check(mh_qp_post_recv(s->qp, &zero, 1, NULL) == 0);
	}
	live_check(live_compare(s->buffer, s->setup->bytes, 1));
}

static void bulk_target(struct live_side *s)
{
	live_post_recv(s, 256);
	live_barrier(s);
	bulk_receive(s);
}

static void bulk_initiator(struct live_side *s)
{
	struct bulk b = {0};

	live_fill(s->buffer, s->setup->bytes, 1);
	live_barrier(s);
	bulk_send(s, &b, s->setup->bytes);
	live_tell(s, &b.imms, sizeof(b.imms));
	live_check(live_counter(s, "tx_data_bytes") >= s->setup->bytes);
}

TEST(live_write, bulk_over_four_planes)
{
	struct live_setup setup = {.bytes = BULK_BYTES};

	live_run(&setup, bulk_initiator, bulk_target);
}

TEST(live_write, bulk_with_paced_ports)
{
	struct live_setup setup = {.bytes = 8 * MIB, .pace = "200M"};

	live_run(&setup, bulk_initiator, bulk_target);
}

TEST(live_write, bulk_without_icrc)
{
	struct live_setup setup = {.bytes = 8 * MIB, .icrc = "off"};

	live_run(&setup, bulk_initiator, bulk_target);
}

/* ---- one fault at a time, then all together ---- */

static void faulty_initiator(struct live_side *s, uint32_t kind, uint32_t chance, const char *mine)
{
	struct mrc_fault_rule *rule = live_rule(s, 0, (enum mrc_fault_kind)kind, chance);

	rule->delay_us = 100;
	rule->jitter_us = 3000;
	bulk_initiator(s);
	live_check(rule->hit_data > 0);
	if (mine)
		live_check(live_counter(s, mine) > 0);
}

static void loss_initiator(struct live_side *s)
{
	faulty_initiator(s, MRC_FAULT_DROP, 10000, "tx_retransmits");
}

TEST(live_write, survives_loss)
{
	struct live_setup setup = {.bytes = 16 * MIB};

	live_run(&setup, loss_initiator, bulk_target);
}

static void trim_initiator(struct live_side *s)
{
	faulty_initiator(s, MRC_FAULT_TRIM, 10000, "rx_nacks");
}

static void trim_target(struct live_side *s)
{
	bulk_target(s);
	live_check(live_counter(s, "rx_trimmed") > 0);
	live_check(live_counter(s, "tx_nacks") > 0);
}

TEST(live_write, survives_trimming)
{
	struct live_setup setup = {.bytes = 16 * MIB};

	live_run(&setup, trim_initiator, trim_target);
}

static void corrupt_initiator(struct live_side *s)
{
	faulty_initiator(s, MRC_FAULT_CORRUPT, 10000, "tx_retransmits");
}

static void corrupt_target(struct live_side *s)
{
	bulk_target(s);
	live_check(live_counter(s, "drop_icrc") > 0);
}

TEST(live_write, survives_corruption)
{
	struct live_setup setup = {.bytes = 16 * MIB};

	live_run(&setup, corrupt_initiator, corrupt_target);
}

static void delay_initiator(struct live_side *s)
{
	faulty_initiator(s, MRC_FAULT_DELAY, 100000, NULL);
}

TEST(live_write, survives_delay_and_reordering)
{
	struct live_setup setup = {.bytes = 16 * MIB};

	live_run(&setup, delay_initiator, bulk_target);
}

static void duplicate_initiator(struct live_side *s)
{
	faulty_initiator(s, MRC_FAULT_DUPLICATE, 100000, NULL);
}

static void duplicate_target(struct live_side *s)
{
	bulk_target(s);
	live_check(live_counter(s, "rx_duplicates") > 0);
}

TEST(live_write, survives_duplicates)
{
	struct live_setup setup = {.bytes = 16 * MIB};

	live_run(&setup, duplicate_initiator, duplicate_target);
}

static void mark_initiator(struct live_side *s)
{
	faulty_initiator(s, MRC_FAULT_MARK, 100000, NULL);
}

static void mark_target(struct live_side *s)
{
	bulk_target(s);
	live_check(live_counter(s, "rx_ecn") > 0);
}

TEST(live_write, survives_congestion_marks)
{
	struct live_setup setup = {.bytes = 8 * MIB, .pace = "200M", .cc = "nscc"};

	live_run(&setup, mark_initiator, mark_target);
}

/* blackhole_evs counts EVs in a state; of those on holes, or of the others. */
static uint32_t blackhole_evs(struct live_side *s, bool on_hole, uint32_t state)
{
	const struct mrc_stats_qp *qp = &live_stats(s)->qp[0];
	uint32_t n = 0;

	for (uint32_t i = 0; i < qp->evs; i++) {
		uint32_t path = qp->ev[i].value % LIVE_EVS;
		bool hole = qp->ev[i].port == 3 || (qp->ev[i].port < 2 && (path == 2 || path == 5));

		n += hole == on_hole && qp->ev[i].state == state;
	}
	return n;
}

/*
 * blackhole_settles sends until `bad` EVs on holes and none elsewhere are retired. On a busy
 * machine a good EV is retired now and then because its packet came late; probes bring it back.
 */
static bool blackhole_settles(struct live_side *s, uint32_t bad)
{
	for (int ms = 0; ms < 60000; ms += 10) {
		struct mh_wc wc;

		live_write(s, 77, 0, BULK_PIECE_MAX, RD_SEND_SIGNALED, 0);
		live_wait(s, &wc, 1);
		live_expect(&wc, 77, RD_WC_SUCCESS);
		pause_ms(10);
		if (blackhole_evs(s, true, MRC_STATS_EV_ASSUMED_BAD) == bad &&
		    blackhole_evs(s, false, MRC_STATS_EV_ASSUMED_BAD) == 0)
			return true;
	}
	return false;
}

/* Paths 2 and 5 of planes 0 and 1, and all of plane 3, vanish in mid-flight and come back. */
static void blackhole_initiator(struct live_side *s)
{
	struct mrc_fault_rule *paths = live_rule(s, 0, MRC_FAULT_OFF, 1000000);
	struct mrc_fault_rule *plane = live_rule(s, 1, MRC_FAULT_OFF, 1000000);
	struct bulk b = {0};

	paths->port_mask = 3;
	paths->path_modulus = LIVE_EVS;
	paths->path_mask = 1u << 2 | 1u << 5;
	plane->port_mask = 1u << 3;
	live_fill(s->buffer, s->setup->bytes, 1);
	live_barrier(s);
	bulk_send(s, &b, 4 * MIB);
	live_rule_on(paths, MRC_FAULT_DROP);
	live_rule_on(plane, MRC_FAULT_DROP);
	bulk_send(s, &b, 24 * MIB);
	live_check(paths->hit_data > 0 && plane->hit_data > 0);
	live_check(live_counter(s, "evs_retired") >= 12);
	live_check(blackhole_settles(s, 12));
	live_rule_on(paths, MRC_FAULT_OFF);
	live_rule_on(plane, MRC_FAULT_OFF);
	live_check(live_wait_counter(s, "evs_revived", 12, 60000));
	live_check(blackhole_settles(s, 0));
	bulk_send(s, &b, s->setup->bytes);
	live_tell(s, &b.imms, sizeof(b.imms));
}

TEST(live_write, retires_and_revives_blackholed_paths)
{
	struct live_setup setup = {.bytes = 32 * MIB};

	live_run(&setup, blackhole_initiator, bulk_target);
}

static void storm_initiator(struct live_side *s)
{
	live_rule(s, 0, MRC_FAULT_DROP, 10000);
	live_rule(s, 1, MRC_FAULT_CORRUPT, 2000);
	live_rule(s, 2, MRC_FAULT_TRIM, 10000);
	live_rule(s, 3, MRC_FAULT_DELAY, 20000)->jitter_us = 2000;
	live_rule(s, 4, MRC_FAULT_DUPLICATE, 10000);
	live_rule(s, 5, MRC_FAULT_MARK, 10000);
	live_rule(s, 6, MRC_FAULT_DROP, 1000000)->port_mask = 1u << 2;
	bulk_initiator(s);
	for (uint32_t i = 0; i < 7; i++)
		live_check(s->faults->rule[i].hit_data > 0);
	live_check(live_counter(s, "evs_retired") > 0);
}

TEST(live_write, survives_everything_at_once)
{
	struct live_setup setup = {.bytes = 32 * MIB, .pace = "400M"};

	live_run(&setup, storm_initiator, bulk_target);
}

/* ---- single messages ---- */

static void inline_initiator(struct live_side *s)
{
	uint8_t small[64];
	struct rd_sge sge[2] = {{(uintptr_t)small, 40, 0}, {(uintptr_t)small + 40, 24, 0}};
	struct rd_send_wr wr = {.sge = sge,
				.n_sge = 2,
				.imm = 0xFEEDBEEF,
				.rkey = s->peer.rkey,
				.flags = (uint32_t)RD_SEND_INLINE | RD_SEND_IMM | RD_SEND_SIGNALED,
				.remote_addr = s->peer.addr + 100};
	struct mh_wc wc;

	live_barrier(s);
	live_fill(small, sizeof(small), 3);
	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
	memset(small, 0, sizeof(small));
	live_wait(s, &wc, 1);
	live_expect(&wc, 0, RD_WC_SUCCESS);
	wr.n_sge = 0;
	wr.wr_id = 1;
	wr.imm = 7;
	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
	live_wait(s, &wc, 1);
	live_expect(&wc, 1, RD_WC_SUCCESS);
}

static void inline_target(struct live_side *s)
{
	struct mh_wc wc[2];

	live_post_recv(s, 2);
	live_barrier(s);
	live_wait(s, wc, 2);
	live_check(wc[0].imm == 0xFEEDBEEF && wc[0].byte_len == 64);
	live_check(live_compare(s->buffer + 100, 64, 3));
	live_check(wc[1].imm == 7 && wc[1].byte_len == 0);
}

TEST(live_write, inline_and_empty_messages)
{
	struct live_setup setup = {.bytes = 4096};

	live_run(&setup, inline_initiator, inline_target);
}

static void gather_initiator(struct live_side *s)
{
	uint32_t key = mh_mr_lkey(s->mr);
	uintptr_t at = (uintptr_t)s->buffer;
	struct rd_sge sge[4] = {
		{at + 10000, 5001, key}, {at, 0, key}, {at + 3, 1, key}, {at + 20000, 9000, key}};
	struct rd_send_wr wr = {.sge = sge,
				.n_sge = 4,
				.flags = RD_SEND_SIGNALED,
				.rkey = s->peer.rkey,
				.remote_addr = s->peer.addr + 1};
	uint8_t want[14002];
	struct mh_wc wc;

	live_fill(s->buffer, s->setup->bytes, 5);
	memcpy(want, s->buffer + 10000, 5001);
	want[5001] = s->buffer[3];
	memcpy(want + 5002, s->buffer + 20000, 9000);
	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
	live_wait(s, &wc, 1);
	live_expect(&wc, 0, RD_WC_SUCCESS);
	live_tell(s, want, sizeof(want));
}

static void gather_target(struct live_side *s)
{
	uint8_t want[14002];

	live_hear(s, want, sizeof(want));
	live_check(memcmp(s->buffer + 1, want, sizeof(want)) == 0);
	live_check(s->buffer[0] == 0 && s->buffer[14003] == 0);
}

TEST(live_write, gathers_from_several_pieces)
{
	struct live_setup setup = {.bytes = 65536};

	live_run(&setup, gather_initiator, gather_target);
}

/* ---- places in the queues ---- */

/*
 * A place is free when the program has polled, not when the network is done: who posts until ENOMEM
 * never overruns a CQ as deep as the queue. Every third WR is signalled and frees three places.
 */
static void places_initiator(struct live_side *s)
{
	struct rd_sge sge = {(uintptr_t)s->buffer, 8, mh_mr_lkey(s->mr)};
	struct rd_send_wr wr = {
		.sge = &sge, .n_sge = 1, .rkey = s->peer.rkey, .remote_addr = s->peer.addr};
	struct mh_wc wc;

	for (uint32_t i = 0; i < LIVE_DEPTH; i++) {
		wr.wr_id = i;
		wr.flags = i % 3 == 2 ? RD_SEND_SIGNALED : 0;
		live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
	}
	live_barrier(s);
	pause_ms(200); /* all are complete now, but on a busy machine */
	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == ENOMEM);
	for (uint32_t i = 0; i < 2; i++) {
		live_wait(s, &wc, 1);
		live_expect(&wc, 3 * i + 2, RD_WC_SUCCESS);
		for (uint32_t k = 0; k < 3; k++)
			live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
		live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == ENOMEM);
	}
}

static void places_target(struct live_side *s)
{
	live_barrier(s);
}

TEST(live_write, place_is_free_when_its_completion_is_polled)
{
	struct live_setup setup = {.bytes = 4096};

	live_run(&setup, places_initiator, places_target);
}

/* ---- what goes wrong ---- */

/* A wrong key: the WR at fault says so, those behind it are flushed, both QPs are in ERR. */
static void rkey_initiator(struct live_side *s)
{
	struct rd_qp_attr attr;
	struct mh_wc wc[3];

	s->peer.rkey ^= 1;
	live_write(s, 0, 0, 4096, RD_SEND_SIGNALED, 0);
	live_write(s, 1, 0, 4096, 0, 0);
	live_wait(s, wc, 2);
	live_expect(&wc[0], 0, RD_WC_REM_ACCESS_ERR);
	live_expect(&wc[1], 1, RD_WC_WR_FLUSH_ERR);
	mh_qp_query(s->qp, &attr);
	live_check(attr.state == RD_QPS_ERR);
	live_write(s, 2, 0, 1, 0, 0);
	live_wait(s, wc, 1);
	live_expect(&wc[0], 2, RD_WC_WR_FLUSH_ERR);
}

static void rkey_target(struct live_side *s)
{
	struct pollfd pfd = {mh_async_fd(s->dev), POLLIN, 0};
	struct mh_async_event event;
	struct mh_wc wc;

	live_post_recv(s, 1);
	live_check(poll(&pfd, 1, 60000) == 1);
	live_check(mh_async_get(s->dev, &event) == 0);
	live_check(event.type == MH_ASYNC_QP_FATAL && event.qp == s->qp && event.owner == s);
	live_check(event.responder && event.status == RD_WC_REM_ACCESS_ERR);
	mh_async_ack(s->dev, &event);
	live_wait(s, &wc, 1);
	live_check(wc.status == RD_WC_WR_FLUSH_ERR && wc.opcode == RD_WC_RECV_IMM);
	live_check(live_counter(s, "rx_access_errors") > 0);
	for (size_t i = 0; i < s->setup->bytes; i++)
		live_check(s->buffer[i] == 0);
}

TEST(live_write, wrong_rkey_is_a_remote_access_error)
{
	struct live_setup setup = {.bytes = 8192};

	live_run(&setup, rkey_initiator, rkey_target);
}

/* The same for one byte behind the region. */
static void bounds_initiator(struct live_side *s)
{
	struct mh_wc wc;

	s->peer.addr += 1;
	live_write(s, 9, s->setup->bytes - 4096, 4096, RD_SEND_SIGNALED, 0);
	live_wait(s, &wc, 1);
	live_expect(&wc, 9, RD_WC_REM_ACCESS_ERR);
}

TEST(live_write, one_byte_too_far_is_a_remote_access_error)
{
	struct live_setup setup = {.bytes = 8192};

	live_run(&setup, bounds_initiator, rkey_target);
}

/* Immediate data that finds no receive WR is refused, not kept. REQ(rsp.wimm.no-receive) */
static void unexpected_initiator(struct live_side *s)
{
	struct mh_wc wc;

	live_write(s, 3, 0, 100, (uint32_t)RD_SEND_IMM | RD_SEND_SIGNALED, 1);
	live_wait(s, &wc, 1);
	live_expect(&wc, 3, RD_WC_REM_INV_REQ_ERR);
}

static void unexpected_target(struct live_side *s)
{
	struct mh_async_event event;

	live_check(mh_async_get(s->dev, &event) == 0);
	live_check(event.type == MH_ASYNC_QP_FATAL && event.responder);
	live_check(event.status == RD_WC_REM_INV_REQ_ERR);
	mh_async_ack(s->dev, &event);
}

TEST(live_write, immediate_data_without_receive_is_an_invalid_request)
{
	struct live_setup setup = {.bytes = 4096};

	live_run(&setup, unexpected_initiator, unexpected_target);
}

static void gone_initiator(struct live_side *s)
{
	struct mh_async_event event;
	struct mh_wc wc;

	live_rule(s, 0, MRC_FAULT_DROP, 1000000);
	live_write(s, 4, 0, 4096, RD_SEND_SIGNALED, 0);
	live_wait(s, &wc, 1);
	live_expect(&wc, 4, RD_WC_RETRY_EXC_ERR);
	live_check(mh_async_get(s->dev, &event) == 0);
	live_check(event.type == MH_ASYNC_QP_FATAL && !event.responder);
	mh_async_ack(s->dev, &event);
	live_rule_on(&s->faults->rule[0], MRC_FAULT_OFF);
}

static void idle_target(struct live_side *s)
{
	(void)s;
}

TEST(live_write, unreachable_peer_exhausts_retries)
{
	struct live_setup setup = {.bytes = 4096, .timeout = 12, .retry_linear = 1, .retry_exp = 1};

	live_run(&setup, gone_initiator, idle_target);
}

/* Local memory deregistered while a WR that names it waits. REQ(api.post-send.lkey) */
static void dereg_initiator(struct live_side *s)
{
	struct mh_mr *mr;
	struct rd_sge sge;
	struct rd_send_wr wr = {.wr_id = 1,
				.sge = &sge,
				.n_sge = 1,
				.rkey = s->peer.rkey,
				.flags = RD_SEND_SIGNALED,
				.remote_addr = s->peer.addr};
	struct mh_wc wc;

	live_check(mh_mr_reg(s->pd, s->buffer, 4 * MIB, (uintptr_t)s->buffer, 0, &mr) == 0);
	sge = (struct rd_sge){(uintptr_t)s->buffer, 4 * MIB, mh_mr_lkey(mr)};
	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
	live_check(mh_mr_dereg(mr) == 0);
	live_wait(s, &wc, 1);
	live_expect(&wc, 1, RD_WC_LOC_PROT_ERR);
	live_check(live_counter(s, "tx_mr_gone") > 0);
}

TEST(live_write, deregistered_memory_is_a_local_protection_error)
{
	struct live_setup setup = {.bytes = 4 * MIB, .pace = "10M"};

	live_run(&setup, dereg_initiator, idle_target);
}

/* ---- CQ overrun ---- */

static void overrun_initiator(struct live_side *s)
{
	struct mh_async_event event;
	struct rd_qp_attr attr;
	struct mh_wc wc[8];

	for (uint32_t i = 0; i < 8; i++)
		live_write(s, i, 0, 64, RD_SEND_SIGNALED, 0);
	live_check(mh_async_get(s->dev, &event) == 0);
	live_check(event.type == MH_ASYNC_CQ_ERR && event.cq == s->cq);
	mh_async_ack(s->dev, &event);
	mh_qp_query(s->qp, &attr);
	live_check(attr.state == RD_QPS_ERR);
	live_check(mh_cq_poll(s->cq, 8, wc) == 4);
	for (uint32_t i = 0; i < 4; i++)
		live_check(wc[i].wr_id == i && wc[i].status == RD_WC_SUCCESS);
	live_check(mh_cq_poll(s->cq, 8, wc) == -EOVERFLOW);
	live_check(live_counter(s, "cq_overruns") == 4);
}

TEST(live_write, overrun_cq_raises_its_event)
{
	struct live_setup setup = {.bytes = 4096, .cqe = 4};

	live_run(&setup, overrun_initiator, idle_target);
}

/* ---- waiting costs nothing ---- */

static uint64_t cpu_us(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void sleeper_target(struct live_side *s)
{
	uint64_t before, used;
	struct mh_cq *cq;
	struct mh_wc wc;

	live_post_recv(s, 1);
	mh_cq_req_notify(s->cq, false);
	live_check(mh_cq_poll(s->cq, 1, &wc) == 0);
	live_barrier(s);
	before = cpu_us();
	live_check(mh_channel_get(s->channel, &cq) == 0);
	used = cpu_us() - before;
	mh_cq_ack_events(cq, 1);
	live_check(mh_cq_poll(s->cq, 1, &wc) == 1 && wc.imm == 1);
	live_check(used < 30000); /* of the second; also on a machine a third as fast */
}

static void sleeper_initiator(struct live_side *s)
{
	struct mh_wc wc;

	live_barrier(s);
	pause_ms(1000);
	live_write(s, 0, 0, 8, (uint32_t)RD_SEND_IMM | RD_SEND_SIGNALED, 1);
	live_wait(s, &wc, 1);
	live_expect(&wc, 0, RD_WC_SUCCESS);
}

TEST(live_write, blocked_channel_uses_no_cpu)
{
	struct live_setup setup = {.bytes = 4096};

	live_run(&setup, sleeper_initiator, sleeper_target);
}
