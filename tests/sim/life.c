/* SPDX-License-Identifier: BSD-2-Clause */
/* life.c - connections that begin again, and nodes that do. */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "node.h"

static void must(struct sim_world *w, int result, const char *what)
{
	if (result != MT_OK)
		sim_fail(&w->check, "%s: error %d", what, result);
}

/* ---- lives ---- */

static void point_places(struct sim_world *w, const struct sim_flow *from, struct sim_flow *to)
{
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		for (uint32_t k = 0; k < w->nodes[i].n_mrs; k++) {
			struct sim_mr *mr = &w->nodes[i].mrs[k];

			for (size_t n = 0; n < mr->n_places; n++)
				if (mr->places[n].flow == from)
					mr->places[n].flow = to;
		}
}

/* Puts what a flow was away behind it, where its messages still name their memory. */
static void put_behind(struct sim_world *w, struct sim_flow *f)
{
	struct sim_flow *past = malloc(sizeof(*past));

	if (!past) {
		perror("sim world");
		abort();
	}
	*past = *f;
	for (size_t i = 0; i < past->n; i++)
		past->msgs[i]->flow = past;
	point_places(w, f, past);
	*f = (struct sim_flow){.before = past, .life = past->life + 1};
}

static void begin_end(struct sim_qp *qp, uint32_t psn)
{
	put_behind(qp->node->w, &qp->out);
	qp->cfg.attr.sq_psn = psn;
	sim_make_flow(qp);
	/* Nobody knows which of the former atomics were executed. */
	qp->word = qp->word_at = 0;
}

static void begin_answers(struct sim_qp *qp)
{
	struct sim_flow *past;

	put_behind(qp->node->w, &qp->answers);
	past = qp->answers.before;
	sim_make_answers(qp);
	qp->answers.before = past;
}

void sim_life_begin(struct sim_qp *qp, uint32_t psn, uint32_t peer_psn)
{
	begin_end(qp, psn);
	begin_end(qp->peer, peer_psn);
	begin_answers(qp);
	begin_answers(qp->peer);
}

static void enter(struct sim_qp *qp)
{
	struct rd_qp_attr attr = {.state = RD_QPS_RESET};

	must(qp->node->w, sim_modify(qp, &attr, RD_QP_STATE), "to RESET");
	qp->life = qp->out.life;
}

void sim_life_enter(struct sim_qp *qp)
{
	enter(qp);
	sim_to_rts(qp);
}

void sim_reconnect(struct sim_qp *qp, uint32_t psn, uint32_t peer_psn)
{
	sim_life_begin(qp, psn, peer_psn);
	enter(qp);
	enter(qp->peer);
	sim_to_rts(qp);
	sim_to_rts(qp->peer);
}

/* ---- nodes ---- */

static void register_again(struct sim_node *node, struct sim_mr *mr)
{
	uint8_t tag = (uint8_t)(mr->key + 1 + rng_below(&node->w->net.rng, 255));

	mr->key = mr->index << 8 | tag;
	must(node->w,
	     mt_mr_add(node->engine, mr->key, mr->pd, mr->start, mr->length, mr->access, mr),
	     "mt_mr_add");
}

void sim_node_restart(struct sim_node *node, bool same_qpns)
{
	for (uint32_t i = 0; i < node->n_qps; i++)
		mt_qp_fini(node->qps[i]->qp);
	engine_node_close(&node->base);
	sim_open_engine(node);
	for (uint32_t i = 0; i < node->n_mrs; i++)
		register_again(node, &node->mrs[i]);
	for (uint32_t i = 0; i < node->n_qps; i++) {
		struct sim_qp *qp = node->qps[i];

		if (!same_qpns)
			qp->qpn = sim_fresh_qpn(node, i);
		qp->qp = engine_node_qp(&node->base, &qp->cfg.cap, qp->qpn, qp);
	}
}
