/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask.c - READs and atomics: posting them, the flow of their answers, and the words that atomics
 * change.
 *
 * Memory for WRITEs and READs is a pattern; words are real. Each node has a region of them for each
 * protection domain. The first is shared by all QPs, which only add to it; every QP has one more of
 * its own, of which a naive model tells what each of its atomics finds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "node.h"

#define WORDS (2 * SIM_QPS_MAX)

/* An atomic of a life that the QP is no longer in, or not yet, is not executed. */
static bool is_of_now(const struct sim_node *node, uint64_t offset)
{
	for (uint32_t i = 0; i < node->n_qps; i++) {
		struct sim_qp *peer = node->qps[i]->peer;
		struct sim_flow *f = sim_flow_of_life(&peer->out, node->qps[i]->life);

		if (f && f->word_at == offset)
			return true;
	}
	return false;
}

bool sim_atomic_run(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
		    uint64_t *original)
{
	struct sim_node *node = ctx;
	struct sim_mr *mr = mr_user;
	uint64_t *word;

	if (mr->node != node->id || !mr->words || offset % 8 || offset / 8 >= WORDS) {
		sim_fail(&node->w->check, "node %u: atomic at %" PRIu64 " of MR %u/%u", node->id,
			 offset, mr->node, mr->index);
		return false;
	}
	if (offset && !is_of_now(node, offset))
		sim_fail(&node->w->check, "node %u: atomic at %" PRIu64 " of MR %u of another life",
			 node->id, offset, mr->index);
	mr->atomics++;
	word = &mr->words[offset / 8];
	*original = *word;
	if (op->stores)
		*word = op->swap_add;
	else if (!op->swaps)
		*word += op->swap_add;
	else if (*word == op->compare)
		*word = op->swap_add;
	return true;
}

void sim_make_answers(struct sim_qp *qp)
{
	struct sim_flow *f = &qp->answers;
	uint32_t mpr = qp->peer->cfg.attr.mpr_dest < 8 ? qp->peer->cfg.attr.mpr_dest : 8;

	*f = (struct sim_flow){
		.check = &qp->node->w->check,
		.life = qp->out.life,
		.dst_life = &qp->peer->life,
		.answers = true,
		.src = qp->node->id,
		.dst = qp->peer->node->id,
		.dst_qpn = qp->peer->qpn,
		.mtu = qp->cfg.attr.path_mtu,
		.first_psn = qp->peer->cfg.attr.sq_psn,
		.window = (uint64_t)mpr * MT_MPR_UNIT,
		.p_key = qp->cfg.attr.p_key,
		.trimmable = qp->cfg.attr.trim_nack_dest,
	};
	snprintf(f->name, sizeof(f->name), "node %u qp %u answers", f->src, qp->qpn);
}

/* ---- words ---- */

static struct sim_mr *words_of(struct sim_node *node, uint32_t pd)
{
	struct sim_mr *mr;

	for (uint32_t i = 0; i < node->n_mrs; i++)
		if (node->mrs[i].pd == pd && node->mrs[i].words)
			return &node->mrs[i];
	mr = sim_mr_add(node, pd, (uint64_t)(node->id + 1) << 36 | (uint64_t)(pd + 1) << 33,
			WORDS * sizeof(uint64_t),
			RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_ATOMIC);
	mr->words = calloc(WORDS, sizeof(*mr->words));
	mr->taken = sizeof(*mr->words); /* the shared one */
	if (!mr->words)
		abort();
	return mr;
}

static void check_word(struct sim_qp *qp, uint64_t got, uint64_t want, const char *which)
{
	if (got != want)
		sim_fail(&qp->node->w->check, "%s: %s word holds %" PRIu64 ", want %" PRIu64,
			 qp->out.name, which, got, want);
}

void sim_check_words(struct sim_world *w)
{
	for (uint32_t i = 0; i < w->n_qps; i++) {
		struct sim_qp *qp = w->qps[i];
		uint64_t added = 0;
		struct sim_mr *mr;

		if (qp->word_at == 0)
			continue;
		mr = words_of(qp->peer->node, qp->peer->cfg.cap.pd);
		check_word(qp, mr->words[qp->word_at / 8], qp->word, "its");
		for (uint32_t k = 0; k < w->n_qps; k++)
			if (w->qps[k]->peer->node == qp->peer->node &&
			    w->qps[k]->peer->cfg.cap.pd == qp->peer->cfg.cap.pd)
				added += w->qps[k]->added;
		check_word(qp, mr->words[0], added, "the shared");
	}
}

/* ---- posting ---- */

/* Where an atomic goes, and what it will find if that can be known. REQ(ext.atomic.once) */
static void aim(struct sim_qp *qp, const struct sim_wr *wr, struct sim_msg *m)
{
	struct sim_mr *mr = wr->mr ? wr->mr : words_of(qp->peer->node, qp->peer->cfg.cap.pd);

	if (qp->word_at == 0)
		qp->word_at = sim_mr_take(words_of(qp->peer->node, qp->peer->cfg.cap.pd), 8);
	qp->out.word_at = qp->word_at;
	m->rkey = wr->rkey ? wr->rkey : mr->key;
	m->remote_addr = mr->start + (wr->shared ? 0 : qp->word_at) + wr->beyond;
	m->known = !wr->shared;
	m->original = qp->word;
	m->swap_add = rng_below(&qp->node->w->net.rng, UINT64_MAX);
	if (wr->opcode == RD_WR_ATOMIC_WRITE)
		sim_pattern(qp->node->id, m->sge[0].addr, (uint8_t *)&m->swap_add, 8);
	if (wr->nowhere)
		m->remote_addr = wr->nowhere;
	m->compare = wr->misses ? qp->word + 1 : qp->word;
}

/* What follows once an atomic is posted that will succeed. */
static void apply(struct sim_qp *qp, const struct sim_wr *wr, const struct sim_msg *m)
{
	if (m->want != RD_WC_SUCCESS || m->opcode == RD_WR_READ)
		return;
	if (wr->shared)
		qp->added += m->swap_add;
	else if (m->opcode == RD_WR_FETCH_ADD)
		qp->word += m->swap_add;
	else if (!wr->misses) /* ATOMIC_WRITE never does */
		qp->word = m->swap_add;
}

static struct sim_msg *through_window(struct sim_qp *qp, const struct sim_wr *wr, struct sim_msg *m)
{
	sim_mw_aim(wr->mw, wr->len, m);
	wr->mw->last_use = qp->out.n + 1;
	return sim_flow_add(&qp->out, m, NULL);
}

static struct sim_msg *describe(struct sim_qp *qp, const struct sim_wr *wr)
{
	struct sim_msg m = {
		.wr_id = sim_flow_wr_id(&qp->out, UINT64_C(0x1000000) * qp->qpn + qp->out.n),
		.flags = wr->flags,
		.opcode = wr->opcode,
		.want = wr->want};
	struct sim_mr *mr = wr->mr ? wr->mr : qp->peer->mr;

	if (wr->opcode != RD_WR_READ) {
		m.n_sge = 1;
		sim_make_sges(qp->node, qp->mr, 8, m.sge, 1);
		aim(qp, wr, &m);
		return sim_flow_add(&qp->out, &m, NULL);
	}
	m.asks = wr->len;
	m.n_sge = wr->n_sge ? wr->n_sge : wr->len > 0;
	sim_make_sges(qp->node, qp->mr, wr->len, m.sge, m.n_sge);
	if (wr->mw)
		return through_window(qp, wr, &m);
	m.mr_offset = sim_mr_take(mr, wr->len + 5);
	m.remote_addr = wr->nowhere ? wr->nowhere : mr->start + m.mr_offset + wr->beyond;
	m.rkey = wr->rkey ? wr->rkey : mr->key;
	return sim_flow_add(&qp->out, &m, NULL);
}

/* The message that answers a request, and where its bytes belong. */
static void expect_answer(struct sim_qp *qp, struct sim_msg *m)
{
	struct sim_msg answer = {
		.opcode = m->opcode,
		.len = m->opcode == RD_WR_READ ? m->asks : 8,
		.sge = {{.addr = m->key ? qp->peer->mr->start + m->mr_offset : m->remote_addr,
			 .length = m->asks}},
		.n_sge = 1,
		.original = m->original,
		.known = m->known,
	};
	uint64_t at = 0;

	if (m->want != RD_WC_SUCCESS)
		return;
	if (m->opcode == RD_WR_ATOMIC_WRITE)
		answer.len = 0; /* what was there goes nowhere */
	m->answer = sim_flow_add(&qp->peer->answers, &answer, NULL);
	for (uint32_t i = 0; answer.len && i < m->n_sge; at += m->sge[i++].length)
		if (m->sge[i].length)
			sim_flow_place(m->answer, qp->mr, m->sge[i].addr - qp->mr->start, at,
				       m->sge[i].length);
}

struct sim_msg *sim_ask(struct sim_qp *qp, const struct sim_wr *wr, int *result)
{
	uint64_t taken = qp->mr->taken, mw_taken = wr->mw ? wr->mw->taken : 0;
	struct sim_msg *m = describe(qp, wr);
	bool swaps = m->opcode == RD_WR_COMPARE_SWAP;
	struct rd_send_wr post = {.wr_id = m->wr_id,
				  .sge = m->sge,
				  .n_sge = m->n_sge,
				  .flags = m->flags,
				  .rkey = m->rkey,
				  .opcode = m->opcode,
				  .remote_addr = m->remote_addr,
				  .compare_add = swaps ? m->compare : m->swap_add,
				  .swap = m->swap_add};

	*result = engine_node_post(&qp->node->base, qp->qp, sim_node_now(qp->node), &post);
	if (*result != MT_OK) {
		sim_flow_drop_last(&qp->out, NULL);
		qp->mr->taken = taken;
		if (wr->mw)
			wr->mw->taken = mw_taken;
		return NULL;
	}
	expect_answer(qp, m);
	apply(qp, wr, m);
	return m;
}

static struct sim_msg *must_ask(struct sim_qp *qp, const struct sim_wr *wr)
{
	int result;
	struct sim_msg *m = sim_ask(qp, wr, &result);

	if (!m)
		sim_fail(&qp->node->w->check, "mt_qp_post_send: error %d", result);
	sim_node_run(qp->node);
	return m;
}

struct sim_msg *sim_read(struct sim_qp *qp, uint32_t len, uint32_t flags)
{
	struct sim_wr wr = {.opcode = RD_WR_READ, .len = len, .flags = flags};

	return must_ask(qp, &wr);
}

struct sim_msg *sim_atomic(struct sim_qp *qp, enum rd_wr_opcode opcode, uint32_t flags)
{
	struct sim_wr wr = {.opcode = opcode, .flags = flags};

	return must_ask(qp, &wr);
}
