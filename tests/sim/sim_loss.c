/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_loss.c - how losses are noticed and made good: holes, tails, lost answers, trims, corruption,
 * and what must not be taken for a loss.
 */
#include "case.h"

/* Loses chosen transmissions, counted over the packets that `wanted` picks. */
struct loser {
	uint8_t opcode;	  /* 0: data */
	uint64_t from, n; /* loses the packets from .. from + n - 1 */
	uint64_t every;	  /* and then every nth; 0: none */
	uint64_t seen, lost;
	enum mt_trim trim; /* cut them instead */
};

static bool lose(void *ctx, struct net_packet *p)
{
	struct loser *l = ctx;
	uint64_t i;

	if (l->opcode ? p->pkt.bth.opcode != l->opcode : !p->data)
		return true;
	i = l->seen++;
	if (!(i >= l->from && i < l->from + l->n) && !(l->every && i % l->every == 0))
		return true;
	l->lost++;
	if (l->trim == MT_TRIM_NONE)
		return false;
	net_packet_trim(p, l->trim, 40);
	return true;
}

static struct sim_world *open_with(struct loser *l, uint32_t n_planes, uint32_t n_paths)
{
	struct sim_world_cfg cfg = case_cfg(n_planes, n_paths);
	struct sim_world *w = case_open(&cfg);

	w->net.filter = lose;
	w->net.filter_ctx = l;
	return w;
}

/* The nth transmission, from 0, of the packet with this PSN. */
static const struct net_seen *sending(struct sim_world *w, uint32_t psn, uint64_t n)
{
	const struct net_seen *s;

	for (CASE_EACH(w, s))
		if (s->src == 0 && case_is_data(s) && s->pkt.bth.psn == psn && n-- == 0)
			return s;
	sim_explain(w);
	fail_msg("PSN %u was not sent that often", psn);
	return NULL;
}

/* REQ(req.rtx.other-ev) REQ(req.rtx.flag) REQ(req.rtx.selective) */
TEST(sim_loss, a_hole_is_resent_once_on_another_ev)
{
	struct loser l = {.from = 20, .n = 1};
	struct sim_world *w = open_with(&l, 2, 16);
	struct sim_qp *qp = sim_connect_default(w);
	const struct net_seen *first, *again;

	/* A packet a microsecond: the reorder window passes long before the message ends. */
	for (uint32_t port = 0; port < 2; port++)
		w->net.egress[0][port].bps = UINT64_C(16000000000);
	sim_post(qp, 4096 * 200, 0);
	sim_run_done(w, 10 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 1);
	first = sending(w, 20, 0);
	again = sending(w, 20, 1);
	CASE_TRUE(w, first->ev != again->ev || first->port != again->port);
	CASE_TRUE(w, again->pkt.bth.rtx);
	CASE_EQ(w, again->tclass, MW_DSCP_TRIMMABLE_RETX);
	CASE_EQ(w, again->pkt.data.reth.va, first->pkt.data.reth.va);
	CASE_EQ(w, case_stats(w, 0).lost_inferred, 1);
	CASE_EQ(w, case_stats(w, 0).timeouts, 0);
	/*
	 * Reported at the latest when a packet sent one reorder window later is answered. Packets
	 * leave 16 at a time, which is a spread of 33 us and the grain of what is sent later.
	 */
	CASE_BETWEEN(w, again->at_ns - first->at_ns, 10 * SIM_US, 10 * SIM_US + 45 * SIM_US);
	case_done(w);
}

/* REQ(req.rtx.oldest-first) */
TEST(sim_loss, several_holes_are_resent_oldest_first)
{
	struct loser l = {.from = 30, .n = 5};
	struct sim_world *w = open_with(&l, 2, 16);
	struct sim_qp *qp = sim_connect_default(w);
	const struct net_seen *s, *last = NULL;

	sim_post(qp, 4096 * 300, 0);
	sim_run_done(w, 10 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 5);
	for (CASE_EACH(w, s))
		if (s->src == 0 && case_is_data(s) && s->pkt.bth.rtx) {
			/* What is known to be lost later goes later. */
			CASE_TRUE(w, !last || last->at_ns < s->at_ns ||
					     last->pkt.bth.psn < s->pkt.bth.psn);
			CASE_BETWEEN(w, s->pkt.bth.psn, 30, 34);
			last = s;
		}
	case_done(w);
}

/* REQ(req.probe.tail) */
TEST(sim_loss, a_lost_tail_is_found_by_a_probe_before_the_timeout)
{
	struct loser l = {.from = 9, .n = 1};
	struct sim_world *w = open_with(&l, 2, 4);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t begin = w->net.now_ns;

	sim_post(qp, 4096 * 10, 0);
	sim_run_done(w, 10 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 1);
	CASE_EQ(w, case_stats(w, 0).timeouts, 0);
	CASE_BETWEEN(w, case_stats(w, 0).tail_probes, 1, 3);
	/* The ACK timeout would be 262 us. */
	CASE_BETWEEN(w, w->net.now_ns - begin, 30 * SIM_US, 120 * SIM_US);
	case_done(w);
}

TEST(sim_loss, a_lost_lone_packet_is_found)
{
	struct loser l = {.n = 1};
	struct sim_world *w = open_with(&l, 1, 2);
	struct sim_qp *qp = sim_connect_default(w);

	sim_post(qp, 0, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 1);
	case_done(w);
}

/* Loses the first `n` transmissions of one PSN. */
struct psn_loser {
	uint32_t psn;
	uint64_t n;
};

static bool lose_psn(void *ctx, struct net_packet *p)
{
	struct psn_loser *l = ctx;

	if (!p->data || p->pkt.bth.psn != l->psn || l->n == 0)
		return true;
	l->n--;
	return false;
}

TEST(sim_loss, a_resent_packet_may_be_lost_too)
{
	struct psn_loser l = {.psn = 3, .n = 4};
	struct sim_world_cfg cfg = case_cfg(2, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	w->net.filter = lose_psn;
	w->net.filter_ctx = &l;
	sim_post(qp, 4096 * 10, 0);
	sim_run_done(w, 20 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 4);
	/* Each loss took an EV of its own. REQ(req.ev.one-loss) */
	CASE_BETWEEN(w, case_stats(w, 0).evs_retired, 3, 4);
	case_done(w);
}

/* A SACK carries state: whichever are lost, the next tells all. REQ(req.loss.accumulate) */
TEST(sim_loss, lost_sacks_make_no_losses)
{
	struct loser l = {.opcode = MW_SACK, .every = 2};
	struct sim_world *w = open_with(&l, 2, 16);
	struct sim_qp *qp = sim_connect_default(w);

	for (uint32_t port = 0; port < 2; port++)
		w->net.egress[0][port].bps = UINT64_C(100000000000);
	case_post(qp, 100, 65536, 0);
	sim_run_done(w, 10 * SIM_MS);
	CASE_BETWEEN(w, l.lost, 50, 10000);
	CASE_EQ(w, case_resent(w, 0), 0);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}

/* REQ(rsp.ack.transport) */
TEST(sim_loss, lost_transport_acks_are_repeated)
{
	struct loser l = {.opcode = MW_ACK, .every = 2};
	struct sim_world *w = open_with(&l, 2, 4);
	struct sim_qp *qp = sim_connect_default(w);

	case_recvs(qp->peer, 20);
	for (int i = 0; i < 20; i++) {
		sim_post(qp, 5000, i & 1 ? RD_SEND_IMM : 0);
		sim_run_done(w, 5 * SIM_MS);
	}
	CASE_BETWEEN(w, l.lost, 10, 40);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	/* A probe brings the ACK back, not data. */
	CASE_EQ(w, case_resent(w, 0), 0);
	case_done(w);
}

TEST(sim_loss, lost_probes_are_followed_by_the_timeout)
{
	struct loser l = {.opcode = MW_PROBE, .n = 1000};
	struct sim_world *w = open_with(&l, 2, 4);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t begin = w->net.now_ns;

	w->net.filter = NULL;
	sim_run_for(w, SIM_US);
	case_silence(w, true);
	sim_post(qp, 1000, 0);
	case_silence(w, false);
	w->net.filter = lose;
	sim_run_done(w, 10 * SIM_MS);
	CASE_BETWEEN(w, l.lost, 1, 10);
	CASE_EQ(w, case_stats(w, 0).timeouts, 1);
	CASE_EQ(w, case_resent(w, 0), 1);
	CASE_BETWEEN(w, w->net.now_ns - begin, 262 * SIM_US, 300 * SIM_US);
	case_done(w);
}

/* REQ(rsp.nack.trim) REQ(req.loss.nack) REQ(req.ev.trim-skips) */
TEST(sim_loss, a_trimmed_packet_is_resent_at_once_and_its_ev_kept)
{
	struct loser l = {.from = 5, .n = 1, .trim = MT_TRIM_MIDPATH};
	struct sim_world *w = open_with(&l, 2, 8);
	struct sim_qp *qp = sim_connect_default(w);
	const struct net_seen *nack, *again;

	sim_post(qp, 4096 * 40, 0);
	sim_run_done(w, SIM_MS);
	nack = case_nth(w, 1, MW_NACK, 0);
	again = sending(w, 5, 1);
	CASE_EQ(w, nack->pkt.neth.reason, MW_NACK_TRIMMED);
	CASE_EQ(w, nack->pkt.neth.nack_psn, 5);
	CASE_EQ(w, nack->pkt.neth.entropy, sending(w, 5, 0)->ev);
	CASE_EQ(w, nack->pkt.bth.psn, 5);
	CASE_EQ(w, again->at_ns, sending(w, 5, 0)->at_ns + 10 * SIM_US);
	CASE_TRUE(w, again->ev != sending(w, 5, 0)->ev || again->port != sending(w, 5, 0)->port);
	CASE_EQ(w, case_resent(w, 0), 1);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}

/* REQ(rsp.nack.trim-last-hop) REQ(req.ev.last-hop-trim) */
TEST(sim_loss, a_trim_at_the_last_hop_says_nothing_of_the_path)
{
	struct loser l = {.from = 5, .n = 3, .trim = MT_TRIM_LASTHOP};
	struct sim_world *w = open_with(&l, 2, 8);
	struct sim_qp *qp = sim_connect_default(w);

	sim_post(qp, 4096 * 40, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_nth(w, 1, MW_NACK, 0)->pkt.neth.reason, MW_NACK_TRIMMED_LASTHOP);
	CASE_EQ(w, case_resent(w, 0), 3);
	sim_post(qp, 4096 * 100, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_stats(w, 0).evs_skipped, 0);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}

TEST(sim_loss, a_lost_nack_only_delays)
{
	struct loser l = {.opcode = MW_NACK, .n = 1};
	struct sim_world *w = open_with(&l, 2, 8);
	struct sim_qp *qp = sim_connect_default(w);

	engine_net_path(&w->net, 0, 1, 0, 0)->trim_ppm = 1000000;
	sim_post(qp, 4096 * 16, 0);
	sim_run_for(w, SIM_US);
	engine_net_path(&w->net, 0, 1, 0, 0)->trim_ppm = 0;
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, l.lost, 1);
	CASE_EQ(w, case_resent(w, 0), 1);
	case_done(w);
}

/* REQ(rsp.nack.capability): each direction for itself. */
TEST(sim_loss, data_to_a_peer_that_cannot_answer_trims_are_not_to_be_trimmed)
{
	struct loser l = {.from = 5, .n = 2};
	struct sim_world *w = open_with(&l, 2, 8);
	struct sim_qp_cfg cfg, told;
	const struct net_seen *s;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	told = cfg;
	told.attr.trim_nack_dest = false;
	qp = sim_connect(w, 0, 1, &told, &cfg);
	sim_post(qp, 4096 * 40, 0);
	sim_post(qp->peer, 4096 * 40, 0);
	sim_run_done(w, SIM_MS);
	CASE_TRUE(w, case_resent(w, 0) > 0);
	for (CASE_EACH(w, s))
		if (case_is_data(s) && s->src == 0)
			CASE_EQ(w, s->tclass, MW_DSCP_NO_TRIM);
		else if (case_is_data(s))
			CASE_EQ(w, s->tclass,
				s->pkt.bth.rtx ? MW_DSCP_TRIMMABLE_RETX : MW_DSCP_TRIMMABLE);
	case_done(w);
}

/* REQ(rsp.trim.by-dscp) REQ(rsp.trim.never-placed) REQ(rsp.nack.trim-duplicate) */
TEST(sim_loss, a_packet_marked_as_trimmed_is_not_placed_even_if_whole)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 512);

	/* The checker knows of no message, so that any placement fails the world. */
	meta.trim = MT_TRIM_MIDPATH;
	case_give(w, 1, &meta, &p);
	CASE_EQ(w, case_count(w, 1, MW_NACK), 1);
	CASE_EQ(w, case_stats(w, 1).rx_data_packets, 0);
	case_close(w);
}

/* REQ(wire.icrc.bad) */
TEST(sim_loss, corrupted_packets_are_counted_and_sent_again)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	for (uint32_t plane = 0; plane < 2; plane++)
		for (uint32_t k = 0; k < 4; k++) {
			engine_net_path(&w->net, 0, 1, plane, k)->corrupt_ppm = 100000;
			engine_net_path(&w->net, 1, 0, plane, k)->corrupt_ppm = 100000;
		}
	case_recvs(qp->peer, 20);
	for (int i = 0; i < 20; i++)
		sim_post(qp, 30000, RD_SEND_IMM);
	sim_run_done(w, SIM_S);
	CASE_BETWEEN(w, case_stats(w, 1).drop_icrc, 1, 1000);
	case_done(w);
}

/* Paths of different length reorder packets and SACKs; that is no loss. */
TEST(sim_loss, paths_of_different_length_lose_nothing)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);

	for (uint32_t plane = 0; plane < 4; plane++)
		for (uint32_t k = 0; k < 8; k++) {
			engine_net_path(&w->net, 0, 1, plane, k)->latency_ns += 400 * k;
			engine_net_path(&w->net, 1, 0, plane, k)->latency_ns += 400 * (7 - k);
		}
	for (uint32_t port = 0; port < 4; port++)
		w->net.egress[0][port].bps = UINT64_C(100000000000);
	case_post(qp, 40, 1 << 18, 0);
	sim_run_done(w, 100 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 0);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}

TEST(sim_loss, doubled_packets_are_placed_once)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	for (uint32_t plane = 0; plane < 2; plane++)
		for (uint32_t k = 0; k < 4; k++) {
			engine_net_path(&w->net, 0, 1, plane, k)->dup_ppm = 1000000;
			engine_net_path(&w->net, 1, 0, plane, k)->dup_ppm = 1000000;
		}
	case_recvs(qp->peer, 10);
	case_post(qp, 10, 20000, RD_SEND_IMM);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_stats(w, 1).rx_duplicates, 50);
	CASE_EQ(w, case_resent(w, 0), 0);
	case_done(w);
}

/* With one path to a destination there is no other EV to take. */
TEST(sim_loss, the_only_ev_is_used_again)
{
	struct loser l = {.from = 2, .n = 2, .trim = MT_TRIM_LASTHOP};
	struct sim_world *w = open_with(&l, 1, 1);
	struct sim_qp *qp = sim_connect_default(w);

	sim_post(qp, 4096 * 6, 0);
	sim_run_done(w, 10 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0), 2);
	case_done(w);
}

/*
 * A packet that was found on its active EV and goes to a backup, where it is trimmed again: no EV
 * may be left in a state that only a turn in the rotation ends. Once stopped everything.
 */
TEST(sim_loss, resends_over_backups_never_run_out_of_paths)
{
	struct sim_world_cfg cfg = case_cfg(1, 4);
	struct sim_qp_cfg qp_cfg;
	struct sim_world *w;
	struct sim_qp *qp;
	struct loser l = {.from = 0, .n = 200, .trim = MT_TRIM_MIDPATH};

	sim_qp_cfg_default(&qp_cfg);
	qp_cfg.attr.timeout = 16; /* longer than a packet waits that is trimmed again and again */
	cfg.active = 1;
	w = case_open(&cfg);
	qp = sim_connect(w, 0, 1, &qp_cfg, &qp_cfg);
	w->net.filter = lose;
	w->net.filter_ctx = &l;
	sim_post(qp, 4096 * 20, 0);
	sim_run_done(w, 100 * SIM_MS);
	/* Each trim answered, each answer acted upon: no timeout was needed. */
	CASE_EQ(w, case_resent(w, 0), 200);
	CASE_EQ(w, case_stats(w, 0).timeouts, 0);
	case_done(w);
}

/*
 * Without congestion control nothing but the back-off keeps a sender from meeting each NACK with a
 * packet that is trimmed again. 160 packets over a last hop that drains one in 33 us and holds two.
 * REQ(req.loss.nack-wait)
 */
TEST(sim_loss, a_slow_last_hop_that_trims_is_not_stormed)
{
	struct sim_world_cfg cfg = case_cfg(1, 8);
	struct sim_qp_cfg qp_cfg;
	struct sim_world *w;
	struct sim_qp *qp;

	sim_qp_cfg_default(&qp_cfg);
	qp_cfg.attr.timeout = 16;
	w = case_open(&cfg);
	qp = sim_connect(w, 0, 1, &qp_cfg, &qp_cfg);
	w->net.lasthop[1][0] = (struct net_queue){
		.bps = UINT64_C(1000000000), .full_ns = 70 * SIM_US, .trims = true};
	sim_post(qp, 4096 * 160, 0);
	sim_run_done(w, 100 * SIM_MS);
	CASE_BETWEEN(w, case_resent(w, 0), 160, 1300); /* without any: 20,000 */
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	case_done(w);
}
