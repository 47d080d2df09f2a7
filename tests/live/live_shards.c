/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_shards.c - devices of several shards: WRITEs, SENDs and READs of many QPs on one CQ arrive
 * whole, with a plane that dies on the way and with peers that have another number of shards; and
 * frames that come to the port of the wrong one.
 */
#include "live/live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
		live_check(n >= 0 && time(NULL) < begin + 150);
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
		live_check(time(NULL) < begin + 150);
	set_up(last, 0, true);
}

static bool has_received(struct mh_nic *shard)
{
	uint64_t frames;

	mh_nic_lock(shard);
	frames = shard->ports.port[0].io->status->rx_frames;
	mh_nic_unlock(shard);
	return frames > 0;
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
		live_check(time(NULL) < begin + 150);
	} while (frames < live_counter(s, "port_rx_frames") || stats->qps.shown != QPS ||
		 stats->qps.of_state[MRC_STATS_QP_RTS] != QPS);
	for (uint32_t i = 0; i < shards_here(s); i++)
		live_check(has_received(s->dev->nic->shard[i]));
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
	live_check(live_wait_counter(s, "rx_wrong_shard", 1, 60000));
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
