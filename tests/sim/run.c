/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c - running worlds, judging them when they are through, and explaining failures. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "core/state/engine_state.h"
#include "node.h"

/* ---- time ---- */

/* Whether all EVs that leave from the set's open ports are denied: then none may be used. */
static bool all_denied(const struct mt_ev_set *s)
{
	for (uint16_t i = 0; i < s->n_evs; i++)
		if (mt_ev_is_open(s, i) && mt_ev_state_of(s, i) != MT_EV_DENIED)
			return false;
	return true;
}

/* Looks into the engine, because it must hold between any two events. REQ(req.ev.min-active) */
static void check_usable(struct sim_node *node)
{
	const struct mb_link *sets = &node->engine->ev_sets;

	for (const struct mb_link *l = sets->next; l != sets; l = l->next) {
		const struct mt_ev_set *s = mb_container_of(l, struct mt_ev_set, link);

		if (mt_ev_set_count_usable(s) == 0 && !all_denied(s))
			sim_fail(&node->w->check, "node %u: no EV to node address %u is usable",
				 node->id, s->peer.b[15]);
	}
}

bool sim_step(struct sim_world *w, uint64_t limit)
{
	uint64_t when = engine_net_next(&w->net);
	struct sim_node *node = NULL;

	if (w->check.failed)
		return false;
	/* What arrives at the very moment a timer is due comes before the timer. */
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++) {
		uint64_t due = sim_node_due(&w->nodes[i]);

		if (due < when) {
			when = due;
			node = &w->nodes[i];
		}
	}
	if (when > limit || when == NET_NEVER)
		return false;
	if (!node) {
		engine_net_step(&w->net);
	} else {
		if (when > w->net.now_ns)
			w->net.now_ns = when;
		sim_node_tick(node);
	}
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++) {
		check_usable(&w->nodes[i]);
		if (w->nodes[i].srq)
			sim_srq_check(w->nodes[i].srq);
	}
	return !w->check.failed;
}

void sim_run_for(struct sim_world *w, uint64_t ns)
{
	uint64_t limit = w->net.now_ns + ns;

	while (sim_step(w, limit))
		;
	if (!w->check.failed)
		w->net.now_ns = limit;
}

static bool acknowledged(const struct sim_qp *qp)
{
	struct mt_qp_info info;

	mt_qp_info(qp->qp, &info);
	return info.psn_una == info.psn_next && info.responses == 0;
}

bool sim_qp_done(const struct sim_qp *qp)
{
	return sim_flow_done(&qp->out) && sim_flow_done(&qp->peer->answers) && acknowledged(qp) &&
	       qp->locals.n == 0;
}

bool sim_done(const struct sim_world *w)
{
	for (uint32_t i = 0; i < w->n_qps; i++)
		if (!sim_qp_done(w->qps[i]))
			return false;
	return true;
}

void sim_run_done(struct sim_world *w, uint64_t ns)
{
	uint64_t limit = w->net.now_ns + ns;

	while (!sim_done(w)) {
		if (sim_step(w, limit))
			continue;
		sim_fail(&w->check, "not done after %.3f ms, %s", (double)ns / 1e6,
			 engine_net_next(&w->net) == NET_NEVER ? "and the network is empty"
							       : "and packets are flying");
		return;
	}
}

/* ---- judgement ---- */

/*
 * When all is done only the probing of bad EVs goes on, at its own pace: one EV probed at the
 * shortest interval takes a timer, a packet and its answer.
 */
void sim_check_quiet(struct sim_world *w, uint64_t ns)
{
	uint64_t data = 0, ticks = 0, bound;
	uint64_t evs = (uint64_t)w->cfg.evs * w->cfg.net.n_planes * w->n_qps;

	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++) {
		data += w->nodes[i].traffic.sent[SIM_DATA];
		ticks += w->nodes[i].ticks;
	}
	sim_run_for(w, ns);
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++) {
		data -= w->nodes[i].traffic.sent[SIM_DATA];
		ticks -= w->nodes[i].ticks;
	}
	bound = 4 * w->n_qps + 2 * evs * (ns / w->cfg.probe_interval_ns + 1);
	if (data != 0)
		sim_fail(&w->check, "%" PRIu64 " data packets sent when all was done", -data);
	else if (-ticks > bound)
		sim_fail(&w->check, "%" PRIu64 " ticks in %.3f ms of rest", -ticks,
			 (double)ns / 1e6);
}

struct expectation {
	const char *what;
	uint64_t got, want;
};

static void expect_all(struct sim_node *node, const struct expectation *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (e[i].got != e[i].want)
			sim_fail(&node->w->check, "node %u: %s is %" PRIu64 ", want %" PRIu64,
				 node->id, e[i].what, e[i].got, e[i].want);
}

static void check_sent_stats(struct sim_node *node, const struct mt_stats *st)
{
	const struct sim_traffic *t = &node->traffic;
	const struct expectation e[] = {
		{"tx_data_packets", st->tx_data_packets, t->sent[SIM_DATA]},
		{"tx_data_bytes", st->tx_data_bytes, t->sent_bytes},
		{"tx_retransmits", st->tx_retransmits, t->sent_again},
		{"tx_sacks", st->tx_sacks, t->sent[SIM_SACK]},
		{"tx_acks", st->tx_acks, t->sent[SIM_ACK]},
		{"tx_nacks", st->tx_nacks, t->sent[SIM_NACK]},
		{"tx_probes", st->tx_probes, t->sent[SIM_PROBE]},
	};

	expect_all(node, e, sizeof(e) / sizeof(e[0]));
	/* A timeout also repeats a packet that arrived but whose transport ACK did not. */
	if (st->tx_retransmits > st->lost_inferred + st->lost_timeout + st->rx_nacks + st->timeouts)
		sim_fail(&node->w->check,
			 "node %u: %" PRIu64 " resent, but only %" PRIu64 " inferred, %" PRIu64
			 " + %" PRIu64 " timed out, %" PRIu64 " NACKs",
			 node->id, st->tx_retransmits, st->lost_inferred, st->lost_timeout,
			 st->timeouts, st->rx_nacks);
}

static void check_received_stats(struct sim_node *node, const struct mt_stats *st)
{
	const struct sim_traffic *t = &node->traffic;
	uint64_t packets = 0, bytes = 0;
	const struct expectation e[] = {
		{"rx_sacks", st->rx_sacks, t->given[SIM_SACK]},
		{"rx_acks", st->rx_acks, t->given[SIM_ACK]},
		{"rx_nacks", st->rx_nacks, t->given[SIM_NACK]},
		{"rx_probes", st->rx_probes, t->given[SIM_PROBE]},
		{"drop_icrc + drop_decode", st->drop_icrc + st->drop_decode, t->given_broken},
		{"rx_overflows", st->rx_overflows, node->overflows},
	};

	expect_all(node, e, sizeof(e) / sizeof(e[0]));
	for (uint32_t i = 0; i < node->n_qps; i++) {
		const struct sim_qp *peer = node->qps[i]->peer;

		packets += peer->out.n_packets + peer->answers.n_packets;
		bytes += peer->out.bytes + peer->answers.bytes;
	}
	const struct expectation all[] = {
		{"rx_data_packets", st->rx_data_packets, packets},
		{"rx_data_bytes", st->rx_data_bytes, bytes},
	};
	expect_all(node, all, 2);
	/* A trimmed packet that had arrived before counts as a duplicate. */
	if (packets + st->rx_duplicates + st->rx_trimmed + st->drop_no_memory + st->rnr_nacks !=
	    t->given[SIM_DATA] + t->given_trimmed)
		sim_fail(&node->w->check,
			 "node %u: %" PRIu64 " packets, %" PRIu64 " duplicates and %" PRIu64
			 " trimmed out of %" PRIu64 " and %" PRIu64 " trimmed",
			 node->id, packets, st->rx_duplicates, st->rx_trimmed, t->given[SIM_DATA],
			 t->given_trimmed);
}

static void check_no_drops(struct sim_node *node, const struct mt_stats *st)
{
	const struct expectation e[] = {
		{"drop_no_qp", st->drop_no_qp, 0},
		{"drop_src_mismatch", st->drop_src_mismatch, 0},
		{"drop_qp_state", st->drop_qp_state, 0},
		{"drop_p_key", st->drop_p_key, 0},
		{"drop_old_psn", st->drop_old_psn, 0},
		{"drop_far_psn", st->drop_far_psn, 0},
		{"drop_malformed", st->drop_malformed, 0},
		{"drop_bogus_ack", st->drop_bogus_ack, 0},
		{"drop_context_ids", st->drop_context_ids, 0},
		{"rx_access_errors", st->rx_access_errors, 0},
	};

	expect_all(node, e, sizeof(e) / sizeof(e[0]));
}

/* Nothing that was not asked for: each SACK, ACK and NACK answers a packet. */
static void check_control_bounds(struct sim_node *node, const struct mt_stats *st)
{
	const struct sim_traffic *t = &node->traffic;
	uint64_t heard = t->given[SIM_DATA] + t->given_trimmed + t->given[SIM_PROBE];

	if (st->tx_sacks > heard || st->tx_acks > heard || st->tx_nacks > heard)
		sim_fail(&node->w->check,
			 "node %u: heard %" PRIu64 ", sent %" PRIu64 " SACKs %" PRIu64
			 " ACKs %" PRIu64 " NACKs",
			 node->id, heard, st->tx_sacks, st->tx_acks, st->tx_nacks);
}

void sim_check_stats(struct sim_world *w)
{
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++) {
		struct mt_stats st;

		mt_engine_stats(w->nodes[i].engine, &st);
		check_sent_stats(&w->nodes[i], &st);
		check_received_stats(&w->nodes[i], &st);
		check_no_drops(&w->nodes[i], &st);
		check_control_bounds(&w->nodes[i], &st);
	}
	sim_check_words(w);
}

/* ---- explanation ---- */

static void explain_qp(const struct sim_qp *qp)
{
	const struct sim_flow *f = &qp->out;
	struct mt_qp_info info;

	mt_qp_info(qp->qp, &info);
	printf("# %s: %s mtu %u mpr %u psn 0x%06x, %zu messages, %" PRIu64 " packets: sent %" PRIu64
	       " resent %" PRIu64 " arrived below %" PRIu64 "\n",
	       f->name, mt_qp_state_name(info.state), f->mtu, qp->cfg.attr.mpr, f->first_psn, f->n,
	       f->n_packets, f->sent, f->resent, f->expected);
	printf("#   completed %zu placed %zu receives %" PRIu64 "/%" PRIu64 "; una %" PRIu64
	       " next %" PRIu64 " expects %" PRIu64 " cwnd %" PRIu64 " inflight %" PRId64
	       " srtt %" PRIu64 " window %" PRIu64 " lost %u evs %u good %u bad %u\n",
	       f->completed, f->all_placed, f->takes_received, f->takes, info.psn_una,
	       info.psn_next, info.psn_expected, info.cwnd_bytes, info.inflight_bytes, info.srtt_ns,
	       info.reorder_window_ns, info.lost_pending, info.evs, info.evs_good, info.evs_bad);
}

static void explain_stats(const struct sim_node *node)
{
	struct mt_stats st;

	mt_engine_stats(node->engine, &st);
	printf("# node %u: deadline %+.3f us, ticks %" PRIu64 ":", node->id,
	       mt_engine_deadline(node->engine) == NET_NEVER
		       ? -1.0
		       : (double)(int64_t)(mt_engine_deadline(node->engine) - sim_node_now(node)) /
				 1000,
	       node->ticks);
#define PRINT(name, text) \
	if (st.name)      \
		printf(" " #name " %" PRIu64, st.name);
	MT_STATS(PRINT)
#undef PRINT
	printf("\n");
}

void sim_explain(struct sim_world *w)
{
	const struct net_counts *c = &w->net.counts;

	printf("# world 0x%" PRIx64 ": %s\n", w->cfg.net.seed,
	       w->check.failed ? w->check.why : "no failure");
	printf("# %u nodes, %u planes of %u paths, %u EVs a plane; sent %" PRIu64 " lost %" PRIu64
	       " corrupted %" PRIu64 " trimmed %" PRIu64 " doubled %" PRIu64 " marked %" PRIu64
	       "\n",
	       w->cfg.net.n_nodes, w->cfg.net.n_planes, w->cfg.net.n_paths, w->cfg.evs, c->sent,
	       c->lost, c->corrupted, c->trimmed, c->doubled, c->marked);
	for (uint32_t i = 0; i < w->n_qps; i++)
		if (w->qps[i]->out.n)
			explain_qp(w->qps[i]);
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		explain_stats(&w->nodes[i]);
	net_log_print(&w->net, 60);
}

/* ---- panic ---- */

static struct sim_world *current;

void sim_set_current(struct sim_world *w)
{
	current = w;
}

_Noreturn void mb_panic(const char *file, int line, const char *what)
{
	struct sim_world *w = current;

	/* What is explained may be what is broken: once only. */
	current = NULL;
	printf("# %s:%d: assertion failed: %s\n", file, line, what);
	if (w)
		sim_explain(w);
	fflush(stdout);
	abort();
}
