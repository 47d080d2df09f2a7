/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Send WRs with and without packets in random mixes, against a list that is walked from its
 * beginning after every step.
 */
#include "unit/windows_fixture.h"

#include "wire/packet.h"

#define WRS 600u
#define STEPS 3000u
#define WINDOWS 2u

struct wr {
	bool local, fence, signaled, reads;
	bool sent, answered, done; /* of local ones: done */
	uint32_t window;	   /* of local ones: which, ... */
	uint32_t key;		   /* ... and its key then; 0: none */
};

static struct wr list[WRS];
static uint32_t posted, told, sent, acked, answers;
static uint32_t keys[WINDOWS];	   /* as the list has them by now */
static uint32_t last_key[WINDOWS]; /* as posted: 0 for none */
static uint8_t tag[WINDOWS];
static struct rd_sge sge = {.addr = NODE_MR_START, .lkey = NODE_KEY};

static struct wr *message(uint32_t msn)
{
	for (uint32_t i = 0; i < posted; i++)
		if (!list[i].local && msn-- == 0)
			return &list[i];
	fail_msg("message %u was never posted", msn);
	return NULL;
}

static void post_message(void)
{
	bool reads = test_rand_chance(1, 3);
	struct rd_send_wr wr = {.wr_id = posted,
				.sge = &sge,
				.n_sge = 1,
				.rkey = 1,
				.opcode = reads ? RD_WR_READ : RD_WR_WRITE};
	struct wr new = {.reads = reads, .signaled = test_rand_chance(1, 2)};

	sge.length = 8 + (reads ? 0 : (uint32_t)test_rand_below(3 * NODE_MTU));
	wr.flags = (new.signaled ? RD_SEND_SIGNALED : 0) |
		   (test_rand_chance(1, 5) ? (uint32_t)RD_SEND_FENCE : 0);
	if (mt_qp_post_send(n.qp, 1000, &wr) != MT_OK)
		return;
	list[posted++] = new;
}

/* Of type 1 one key after another; of type 2 one is taken back before the next. */
static void post_local_wr(void)
{
	uint32_t i = (uint32_t)test_rand_below(WINDOWS), index = i == 0 ? MW_1 : MW_2;
	bool inv = i == 1 && last_key[i] != 0;
	struct mt_local_wr wr = inv ? invalidate_of(last_key[i]) : bind_of(index, ++tag[i]);
	struct wr new = {.local = true,
			 .window = i,
			 .key = inv ? 0 : wr.rkey,
			 .fence = test_rand_chance(1, 3),
			 .signaled = test_rand_chance(1, 2)};

	if (n.qp->ext->local_sq &&
	    n.qp->ext->local_sq->tail - n.qp->ext->local_sq->head >= n.opts.cap.sq_depth / 2) {
		tag[i] = (uint8_t)(tag[i] - !inv);
		return;
	}
	wr.flags =
		(new.signaled ? RD_SEND_SIGNALED : 0) | (new.fence ? (uint32_t)RD_SEND_FENCE : 0);
	list[posted] = new;
	last_key[i] = new.key;
	assert_i_eq(post(wr, posted++), MT_OK);
}

/* MSNs are those of messages. */
static void send_at_most(uint32_t most)
{
	struct mt_tx_desc d;

	while (most-- > 0 && node_tx(&n, 2000, &d, 1) == 1) {
		uint32_t flags = mw_opcode_info(d.pkt.bth.opcode)->flags;

		if (!(flags & MW_OP_DATA))
			continue;
		assert_u_eq(d.pkt.data.meth.msn, sent & 0xFFFF);
		if (flags & MW_OP_END)
			message(sent++)->sent = true;
	}
}

static void ack_some(void)
{
	struct mw_packet p;

	if (sent == acked)
		return;
	acked += 1 + (uint32_t)test_rand_below(sent - acked);
	p = node_ack(&n, MW_SYNDROME_ACK << MW_SYNDROME_KIND_SHIFT, acked & 0xFFFFFF);
	node_rx(&n, 3000, &p);
}

static void answer_one(void)
{
	struct mw_packet p = node_write(&n, MW_READ_RESPONSE_ONLY, 0, 0, 8, 8);

	for (uint32_t msn = 0; msn < sent; msn++) {
		struct wr *wr = message(msn);

		if (!wr->reads || wr->answered)
			continue;
		wr->answered = true;
		p.bth.psn = (n.opts.attr.sq_psn + answers) & 0xFFFFFF;
		p.data.meth.msn = (uint16_t)answers++;
		p.data.reth.va = 0;
		if (acked <= msn)
			acked = msn + 1; /* it says that, too */
		node_rx(&n, 4000, &p);
		return;
	}
}

/* Executes what has its turn, as the rules say it. REQ(ext.local.turn) REQ(ext.local.fence) */
static void walk(void)
{
	bool all_answered = true;

	for (uint32_t i = 0; i < posted; i++) {
		struct wr *wr = &list[i];

		if (!wr->local && !wr->sent)
			return;
		if (wr->local && !wr->done) {
			if (wr->fence && !all_answered)
				return;
			wr->done = true;
			keys[wr->window] = wr->key;
		}
		all_answered = all_answered && (!wr->reads || wr->answered);
	}
}

static bool finished(const struct wr *wr, uint32_t msn)
{
	if (wr->local)
		return wr->done;
	return msn < acked && (!wr->reads || wr->answered);
}

/* REQ(ext.local.order) */
static void check_completions(void)
{
	struct mt_event ev;
	uint32_t msn = 0, i;

	for (i = 0; i < told; i++)
		msn += !list[i].local;
	for (; told < posted && finished(&list[told], msn); told++) {
		msn += !list[told].local;
		if (!list[told].signaled)
			continue;
		assert_true(node_poll(&n, &ev));
		assert_u_eq(ev.wr_id, told);
		assert_u_eq(ev.status, RD_WC_SUCCESS);
	}
	assert_false(node_poll(&n, &ev));
}

static void check_windows(void)
{
	const uint64_t addr = MR_START + MR_LENGTH / 2;

	for (uint32_t i = 0; i < WINDOWS; i++)
		for (uint32_t t = 0; t < 256; t++) {
			uint32_t key = (i == 0 ? MW_1 : MW_2) << 8 | t;

			assert_u_eq(peer_may(key, addr, 1, RD_ACCESS_REMOTE_READ), key == keys[i]);
		}
}

FIXTURE_TEST(mt_local_wr_execute, random_mixes)
{
	assert_i_eq(mt_qp_post_send(n.qp, 1000, &(struct rd_send_wr){.opcode = RD_WR_WRITE}),
		    MT_OK);
	list[posted++] = (struct wr){0};

	agree();
	tag[0] = tag[1] = 1;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t what = test_rand_below(10);

		if (what < 2 && posted < WRS)
			post_message();
		else if (what < 4 && posted < WRS)
			post_local_wr();
		else if (what < 7)
			send_at_most((uint32_t)test_rand_below(6));
		else if (what < 9)
			ack_some();
		else
			answer_one();
		if (!test_rand_chance(1, 4))
			continue;
		send_at_most(UINT32_MAX); /* what has its turn has been executed then */
		walk();
		check_windows();
		check_completions();
	}
	assert_true(told > 100);
}
