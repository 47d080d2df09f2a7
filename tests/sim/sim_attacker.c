/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_attacker.c - a host that is not on the path: it knows the addresses, ports and P_Key of two
 * hosts, and sends packets with a right ICRC from the address of one to the other. It sees none of
 * theirs.
 *
 * What it cannot know it must guess: QPN, PSN, EV, key. SECURITY.md says with what probability a
 * packet reaches a goal: the product over what must be guessed. That is measured here, scaled down:
 * the attacker is told all but GUESSED_BITS bits of QPN and PSN, and some parts entirely. A goal
 * must not be reached more often than by the arithmetic; and an attacker who is told everything
 * must reach it, or the measurement would mean nothing.
 */
#include <stdio.h>

#include "case.h"

#define GUESSED_BITS 12u
#define GUESSED_MASK ((1u << GUESSED_BITS) - 1)
#define EVS 4u
/* Neither the window nor what is outstanding leaves the block that the guesses are from. */
#define FIRST_PSN 0x5A5400u
#define WINDOW 1024u
#define OUTSTANDING 32u
#define MESSAGES 4u
/* A measurement ends after so many packets, or when about so many goals can be expected. */
#define PACKETS_MAX 5000u
#define GOALS_WANTED 30u

enum guess {
	QPN = 1,
	PSN = 2,
	EV = 4,
	KEY = 8,   /* the low 8 bits of a key, of which the rest is told */
	PEER = 16, /* the peer's QPN, of which SACKs and NACKs name the low 16 bits */
	MSN = 32,
	GUESSES_END = 64,
};

/* QPs of nodes 0 and 1 whose packets have stopped to arrive; node 2 is the attacker's. */
struct victim {
	struct sim_world *w;
	struct sim_qp *qp; /* of node 0, OUTSTANDING packets of 4 messages are on their way */
	struct mt_qp_info before, peer_before;
	struct mt_stats stats_before;
};

struct attack {
	uint32_t node;
	void (*forge)(const struct victim *v, struct mw_packet *p);
	bool (*succeeded)(const struct victim *v);
	uint32_t psns, msns; /* with which it succeeds, at most */
	bool young;	     /* the QP has heard no ACK yet */
	unsigned guesses;
};

static struct victim open_victim(bool young)
{
	struct sim_world_cfg cfg = case_cfg(2, EVS);
	struct sim_qp_cfg ends;
	struct victim v;

	cfg.net.n_nodes = 3;
	cfg.net.log_room = 64;
	v.w = case_open(&cfg);
	if (young)
		sim_qp_cfg_default(&ends); /* one that asks waits for an answer first */
	else
		sim_qp_cfg_asking(&ends);
	ends.cap.in_order = false;
	ends.attr.sq_psn = FIRST_PSN;
	ends.attr.mpr = ends.attr.mpr_dest = WINDOW / MT_MPR_UNIT;
	v.qp = sim_connect(v.w, 0, 1, &ends, &ends);
	v.qp->may_fail = v.qp->peer->may_fail = true;
	if (!young) {
		case_post(v.qp, 1, 4096, 0);
		sim_run_done(v.w, SIM_MS);
	}
	assert_false(v.w->check.failed);
	case_silence(v.w, true);
	case_post(v.qp, MESSAGES, OUTSTANDING / MESSAGES * 4096, 0);
	sim_run_for(v.w, SIM_US);
	v.before = case_info(v.qp);
	v.peer_before = case_info(v.qp->peer);
	v.stats_before = case_stats(v.w, 1);
	assert_u_eq(v.before.psn_next - v.before.psn_una, OUTSTANDING);
	return v;
}

/* ---- packets of one who knows everything ---- */

static struct mw_packet to_node(const struct victim *v, uint32_t node, uint8_t opcode, uint64_t psn)
{
	return (struct mw_packet){.bth = {.opcode = opcode,
					  .p_key = 0xFFFF,
					  .dqp = node == 0 ? v->qp->qpn : v->qp->peer->qpn,
					  .psn = (uint32_t)psn & 0xFFFFFF}};
}

/* The EV that a packet of node 0 took, which none but its path sees. */
static uint32_t ev_of(const struct victim *v, uint32_t psn)
{
	const struct net_seen *s;

	for (CASE_EACH(v->w, s))
		if (s->src == 0 && case_is_data(s) && s->pkt.bth.psn == psn)
			return s->ev;
	fail_msg("no packet %u", psn);
	return 0;
}

static void forge_fatal_nack(const struct victim *v, struct mw_packet *p)
{
	*p = to_node(v, 0, MW_NACK, v->before.psn_una);
	p->neth = (struct mw_neth){.reason = MW_NACK_UNEXP_EVENT,
				   .cc_type = 2,
				   .nack_psn = p->bth.psn,
				   .spdcid = (uint16_t)v->qp->peer->qpn,
				   .dpdcid = (uint16_t)v->qp->qpn};
	p->neth.entropy = ev_of(v, p->bth.psn);
}

static void forge_sack(const struct victim *v, struct mw_packet *p)
{
	*p = to_node(v, 0, MW_SACK, v->before.psn_una);
	p->seth = (struct mw_seth){.cack_psn = p->bth.psn,
				   .mpr = 8,
				   .spdcid = (uint16_t)v->qp->peer->qpn,
				   .dpdcid = (uint16_t)v->qp->qpn};
}

static void forge_ack(const struct victim *v, struct mw_packet *p)
{
	*p = to_node(v, 0, MW_ACK, v->before.psn_next - 1);
	p->aeth = (struct mw_aeth){.syndrome = MW_ACK_NO_CREDIT, .msn = 5};
}

/* Refuses the oldest message that is not complete. */
static void forge_nak(const struct victim *v, struct mw_packet *p)
{
	*p = to_node(v, 0, MW_ACK, v->before.psn_una - 1);
	p->aeth = (struct mw_aeth){.syndrome = MW_NAK_REMOTE_ACCESS, .msn = 1};
}

static void forge_first_nak(const struct victim *v, struct mw_packet *p)
{
	forge_nak(v, p);
	p->aeth.msn = 0;
}

/* Of PSN 0, which some responders leave in all their ACKs, and of the first message. */
static void forge_nak_without_psn(const struct victim *v, struct mw_packet *p)
{
	*p = to_node(v, 0, MW_ACK, 0);
	p->aeth = (struct mw_aeth){.syndrome = MW_NAK_REMOTE_ACCESS, .msn = 0};
}

static void forge_write(const struct victim *v, struct mw_packet *p, uint32_t len)
{
	const struct sim_mr *mr = v->qp->peer->mr;

	*p = to_node(v, 1, MW_WRITE_ONLY, v->peer_before.psn_expected);
	p->payload_len = len;
	p->data.meth.msn = 1;
	p->data.reth = (struct mw_reth){
		.va = mr->start + mr->taken + 4096, .rkey = mr->key, .dmalen = len};
}

static void forge_right_write(const struct victim *v, struct mw_packet *p)
{
	forge_write(v, p, 64);
}

static void forge_wrong_write(const struct victim *v, struct mw_packet *p)
{
	forge_write(v, p, 64);
	p->data.reth.rkey ^= 0xFF00;
}

static void forge_empty_write(const struct victim *v, struct mw_packet *p)
{
	forge_write(v, p, 0);
	p->data.reth.rkey = 0;
}

static void forge_read(const struct victim *v, struct mw_packet *p)
{
	forge_write(v, p, 0);
	p->bth.opcode = MW_READ_REQUEST;
	p->data.imm = 64;
}

/* ---- goals ---- */

static bool qp_ended(const struct victim *v)
{
	return case_info(v->qp).state != RD_QPS_RTS || case_info(v->qp->peer).state != RD_QPS_RTS;
}

static bool falsely_completed(const struct victim *v)
{
	return v->qp->out.completed > 1;
}

/* A packet that never arrived is never sent again. */
static bool packet_withheld(const struct victim *v)
{
	return case_info(v->qp).psn_una > v->before.psn_una;
}

/* A packet that was never sent has come, and the true one will be a duplicate. */
static bool packet_replaced(const struct victim *v)
{
	return case_stats(v->w, 1).rx_data_packets > v->stats_before.rx_data_packets;
}

/* The checker objects to bytes of no message. */
static bool memory_corrupted(const struct victim *v)
{
	return v->w->check.failed && strstr(v->w->check.why, "placed");
}

static bool read_executed(const struct victim *v)
{
	return case_stats(v->w, 1).rx_requests > v->stats_before.rx_requests;
}

/* ---- measuring ---- */

static void guess_bits(uint32_t *number)
{
	*number = (*number & ~GUESSED_MASK) | (uint32_t)test_rand_below(GUESSED_MASK + 1);
}

static void guess(struct mw_packet *p, unsigned guesses)
{
	if (guesses & QPN)
		guess_bits(&p->bth.dqp);
	if (guesses & PSN)
		guess_bits(&p->bth.psn);
	if (guesses & PSN && p->bth.opcode == MW_SACK)
		p->seth.cack_psn = p->bth.psn;
	if (guesses & PSN && p->bth.opcode == MW_NACK)
		p->neth.nack_psn = p->bth.psn;
	if (guesses & EV)
		p->neth.entropy = 0xC000 + (uint32_t)test_rand_below(EVS);
	if (p->bth.opcode == MW_SACK) {
		p->seth.dpdcid = (uint16_t)p->bth.dqp;
		p->seth.spdcid ^= guesses & PEER ? (uint16_t)test_rand_below(GUESSED_MASK + 1) : 0;
	} else if (p->bth.opcode == MW_NACK) {
		p->neth.dpdcid = (uint16_t)p->bth.dqp;
		p->neth.spdcid ^= guesses & PEER ? (uint16_t)test_rand_below(GUESSED_MASK + 1) : 0;
	}
	if (guesses & MSN && p->bth.opcode == MW_ACK)
		p->aeth.msn = (uint32_t)test_rand_below(GUESSED_MASK + 1);
	else if (guesses & MSN)
		p->data.meth.msn = (uint16_t)test_rand_below(GUESSED_MASK + 1);
	if (guesses & KEY)
		p->data.reth.rkey = (p->data.reth.rkey & ~0xFFu) | (uint32_t)test_rand_below(256);
}

static double probability(const struct attack *a, unsigned guesses)
{
	double p = 1;

	if (guesses & QPN)
		p /= 1 << GUESSED_BITS;
	if (guesses & PSN)
		p *= (double)a->psns / (1 << GUESSED_BITS);
	if (guesses & EV)
		p /= EVS;
	if (guesses & PEER)
		p /= 1 << GUESSED_BITS;
	if (guesses & MSN)
		p *= (double)a->msns / (1 << GUESSED_BITS);
	if (guesses & KEY)
		p /= 256;
	return p;
}

/* Whatever the packet does, answers go to the peer: the attacker hears nothing. */
static void assert_nothing_heard(const struct victim *v)
{
	const struct sim_traffic *t = &v->w->nodes[2].traffic;

	for (unsigned kind = 0; kind < SIM_KINDS; kind++)
		assert_u_eq(t->given[kind], 0);
}

static bool attack(const struct victim *v, const struct attack *a, unsigned guesses)
{
	struct mt_rx_meta meta = case_meta(v->w, 1 - a->node);
	struct mw_packet p;

	a->forge(v, &p);
	guess(&p, guesses);
	case_give(v->w, a->node, &meta, &p);
	return a->succeeded(v);
}

/* Sends packets of what is told and guessed, and compares successes with the arithmetic. */
static void measure(const struct attack *a, unsigned guesses)
{
	double p = probability(a, guesses), wanted = GOALS_WANTED / p, expected, beyond;
	uint32_t packets = wanted < PACKETS_MAX ? (uint32_t)wanted : PACKETS_MAX, successes = 0;
	struct victim v = open_victim(a->young);

	for (uint32_t i = 0; i < packets; i++) {
		bool success = attack(&v, a, guesses);

		successes += success;
		if (success || qp_ended(&v) || v.w->check.failed) {
			assert_nothing_heard(&v);
			v = open_victim(a->young);
		}
	}
	expected = packets * p;
	printf("# guessing%s%s%s%s%s%s: %u of %u packets, by the arithmetic %.2f\n",
	       guesses & QPN ? " QPN" : "", guesses & PSN ? " PSN" : "", guesses & EV ? " EV" : "",
	       guesses & KEY ? " key" : "", guesses & PEER ? " peer" : "",
	       guesses & MSN ? " MSN" : "", successes, packets, expected);
	/* Five standard deviations: beyond the arithmetic, not beyond chance. */
	beyond = successes - expected - 1;
	assert_true(beyond <= 0 || beyond * beyond <= 25 * expected);
}

/* Told everything it succeeds; then each part is guessed alone, and all of them together. */
static void measure_all(const struct attack *a)
{
	struct victim v = open_victim(a->young);

	assert_true(attack(&v, a, 0));
	for (unsigned part = QPN; part < GUESSES_END; part <<= 1)
		if (a->guesses & part)
			measure(a, part);
	measure(a, a->guesses);
}

TEST(sim_attacker, ends_a_qp_by_a_nack)
{
	measure_all(&(struct attack){.node = 0,
				     .forge = forge_fatal_nack,
				     .succeeded = qp_ended,
				     .psns = OUTSTANDING,
				     .guesses = QPN | PSN | EV | PEER});
}

TEST(sim_attacker, ends_a_qp_by_a_write_without_a_key)
{
	measure_all(&(struct attack){.node = 1,
				     .forge = forge_wrong_write,
				     .succeeded = qp_ended,
				     .psns = WINDOW,
				     .msns = WINDOW,
				     .guesses = QPN | PSN | MSN});
}

TEST(sim_attacker, makes_a_requester_forget_a_packet_by_a_sack)
{
	measure_all(&(struct attack){.node = 0,
				     .forge = forge_sack,
				     .succeeded = packet_withheld,
				     .psns = OUTSTANDING,
				     .guesses = QPN | PSN | PEER});
}

TEST(sim_attacker, completes_messages_by_an_ack)
{
	measure_all(&(struct attack){.node = 0,
				     .forge = forge_ack,
				     .succeeded = falsely_completed,
				     .psns = OUTSTANDING,
				     .msns = MESSAGES,
				     .guesses = QPN | PSN | MSN});
}

/* It names the last packet before the message, or one that was sent since. */
TEST(sim_attacker, ends_a_qp_by_a_nak)
{
	measure_all(&(struct attack){.node = 0,
				     .forge = forge_nak,
				     .succeeded = qp_ended,
				     .psns = OUTSTANDING + 1,
				     .msns = MESSAGES,
				     .guesses = QPN | PSN | MSN});
}

/* The same before any ACK has shown that the peer fills in PSNs. */
TEST(sim_attacker, ends_a_young_qp_by_a_nak)
{
	measure_all(&(struct attack){.node = 0,
				     .forge = forge_first_nak,
				     .succeeded = qp_ended,
				     .young = true,
				     .psns = OUTSTANDING + 1,
				     .msns = MESSAGES,
				     .guesses = QPN | PSN | MSN});
}

/* Until then 0 may say nothing: but not while the QP has no reason to take its peer for ended. */
TEST(sim_attacker, ends_no_young_qp_by_a_nak_without_a_psn)
{
	struct attack a = {.node = 0, .forge = forge_nak_without_psn, .succeeded = qp_ended};
	struct victim v = open_victim(true);

	assert_false(attack(&v, &a, 0));
	assert_u_eq(case_stats(v.w, 0).drop_bogus_ack, 1);
}

TEST(sim_attacker, takes_the_place_of_a_packet_by_an_empty_write)
{
	measure_all(&(struct attack){.node = 1,
				     .forge = forge_empty_write,
				     .succeeded = packet_replaced,
				     .psns = WINDOW,
				     .msns = WINDOW,
				     .guesses = QPN | PSN | MSN});
}

TEST(sim_attacker, corrupts_memory)
{
	measure_all(&(struct attack){.node = 1,
				     .forge = forge_right_write,
				     .succeeded = memory_corrupted,
				     .psns = WINDOW,
				     .msns = WINDOW,
				     .guesses = QPN | PSN | KEY | MSN});
}

/* Requests are executed in their order. The answer goes to the peer, who has not asked. */
TEST(sim_attacker, has_memory_read_but_not_sent_to_it)
{
	measure_all(&(struct attack){.node = 1,
				     .forge = forge_read,
				     .succeeded = read_executed,
				     .psns = 1,
				     .msns = 1,
				     .guesses = QPN | PSN | MSN | KEY});
}
