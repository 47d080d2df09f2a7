/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_spare.c - see probe_spare.h. */
#include "prober/probe_spare.h"

/* Half a second. */
#define SAVED_PART 2u
/* Of a link's rate, for what is in doubt. */
#define LINK_PART 4u
/* Most that a route to a switch gets, beside the pair of the plan: these tell cables apart. */
#define SHORT_PAIRS (PROBE_PAIRS_MAX - 1)
/*
 * That to the T0 tells only a host's cable from others, and has a part of that, where there are but
 * two T1s: with more of them the uplinks have no room for what it leaves.
 */
#define NEAR_PART_OF_TWO 3u
/*
 * A route that goes round by way of another T0 crosses many cables and tells directions apart. Over
 * a directed link there are about four of them for each of its watchers, of hosts of both T0s, and
 * where there are but two T1s to go up and down by, and two T0s of which all hosts watch, two.
 */
#define ROUND_PAIRS 20u /* of a watcher over one directed link */
#define ROUNDS_EACH 5u	/* some links have more than others */
#define ROUNDS_OF_THREE 6u
#define ROUNDS_OF_TWO 2u
/* A neighbour answers no more than its own rate, to all that ask. */
#define PEER_PAIRS 2u

uint64_t probe_spare_step_bytes(uint64_t bit_s)
{
	return bit_s / 8 * PROBE_STEP_NS / PROBE_NS_PER_S;
}

static uint64_t most(const struct probe_host_cfg *cfg)
{
	uint64_t train = PROBE_TRAIN * (uint64_t)cfg->t->cfg.mtu;
	uint64_t saved = cfg->rate_bit_s / 8 / SAVED_PART;

	return saved > train ? saved : train;
}

void probe_spare_init(struct probe_spare *s, const struct probe_host_cfg *cfg)
{
	s->bytes = most(cfg);
}

void probe_spare_step(struct probe_spare *s, const struct probe_host_cfg *cfg, uint64_t plan_bit_s)
{
	uint64_t budget = probe_spare_step_bytes(cfg->rate_bit_s);
	uint64_t planned = probe_spare_step_bytes(plan_bit_s);

	s->bytes += budget > planned ? budget - planned : 0;
	if (s->bytes > most(cfg))
		s->bytes = most(cfg);
}

bool probe_spare_take(struct probe_spare *s, uint64_t bytes)
{
	if (bytes > s->bytes)
		return false;
	s->bytes -= bytes;
	return true;
}

static uint32_t least(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

static uint32_t watchers_of(const struct probe_host_cfg *cfg)
{
	uint32_t hosts = cfg->t->cfg.hosts_per_t0;

	return cfg->share < hosts ? cfg->share : hosts;
}

bool probe_spare_is_short(const struct mm_route_of *of)
{
	return of->links <= 4 && of->peer == MM_NO_HOST;
}

/* Pairs that fit into a quarter of a link in a step; where its rate is not known, any number. */
static uint64_t pairs_of_link(const struct probe_host_cfg *cfg)
{
	uint64_t bits = UINT64_C(8) * PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES);

	if (!cfg->link_bit_s)
		return UINT32_MAX;
	return cfg->link_bit_s / LINK_PART * PROBE_STEP_NS / PROBE_NS_PER_S / bits;
}

static uint32_t rounds_each(const struct probe_host_cfg *cfg)
{
	const struct mf_topology_cfg *t = &cfg->t->cfg;

	if (t->t1s <= 2 && cfg->t->n_t0s <= 2 && t->hosts_per_t0 <= cfg->share)
		return ROUNDS_OF_TWO;
	return t->t1s == 3 ? ROUNDS_OF_THREE : ROUNDS_EACH;
}

/* Of each kind: how many pairs a route gets. */
struct shares {
	uint32_t rounds, peers, shorts, nears;
};

/*
 * A link between switches has its watchers' routes, a short one each and those that go round; a
 * host's cable all routes of the host, and the answers of neighbours.
 */
static struct shares share_out(const struct probe_host_cfg *cfg)
{
	uint32_t t1s = cfg->t->cfg.t1s, each = rounds_each(cfg);
	uint64_t link = pairs_of_link(cfg), fit = link / watchers_of(cfg);
	uint64_t n_rounds = each == ROUNDS_OF_TWO ? t1s : 2 * t1s;
	uint32_t near_part = each == ROUNDS_OF_TWO ? NEAR_PART_OF_TWO : 1;
	uint64_t n_peers = 3 * (uint64_t)watchers_of(cfg); /* two of each; some have more */
	struct shares s;

	s.rounds =
		least(least(fit / 2, ROUND_PAIRS) / each, least(link / 4 / n_rounds, ROUND_PAIRS));
	s.peers = least(link / 2 / n_peers, PEER_PAIRS);
	link -= s.rounds * n_rounds + s.peers * n_peers;
	fit -= (uint64_t)s.rounds * each;
	s.shorts = least(least(near_part * link / (1 + near_part * t1s), SHORT_PAIRS),
			 least(fit, SHORT_PAIRS));
	s.nears = s.shorts / near_part;
	return s;
}

uint32_t probe_spare_pairs(const struct probe_host_cfg *cfg, const struct mm_route_of *of)
{
	const struct shares s = share_out(cfg);

	if (of->peer != MM_NO_HOST)
		return s.peers;
	if (!probe_spare_is_short(of))
		return s.rounds;
	return of->links > 2 ? s.shorts : s.nears;
}
