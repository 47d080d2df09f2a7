/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_spare.c - see probe_spare.h. */
#include "prober/probe_spare.h"

/* Half a second. */
#define SAVED_PART 2u
/* Of a link's rate, for what is in doubt. */
#define LINK_PART 4u
/* Most that a short route gets, beside the pair of the plan: these tell one cable from another. */
#define SHORT_PAIRS (PROBE_PAIRS_MAX - 1)
/*
 * A route that goes round by way of another T0 crosses many cables and tells directions apart; over
 * a directed link there are four of them for each of its watchers, of hosts of both T0s.
 */
#define ROUND_PAIRS 4u
#define ROUNDS_EACH 4u
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

static uint32_t watchers_of(const struct probe_host_cfg *cfg)
{
	uint32_t hosts = cfg->t->cfg.hosts_per_t0;

	return cfg->share < hosts ? cfg->share : hosts;
}

bool probe_spare_is_short(const struct mm_route_of *of)
{
	return of->links <= 4 && of->peer == MM_NO_HOST;
}

static uint32_t least(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

uint32_t probe_spare_pairs(const struct probe_host_cfg *cfg, const struct mm_route_of *of)
{
	uint64_t pair_bits = UINT64_C(8) * PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES);
	/* Of a watcher over one link. */
	uint64_t fit = SHORT_PAIRS + UINT64_C(2) * ROUND_PAIRS * ROUNDS_EACH;
	uint32_t rounds;

	if (cfg->link_bit_s)
		fit = cfg->link_bit_s / LINK_PART * PROBE_STEP_NS / PROBE_NS_PER_S /
		      (pair_bits * watchers_of(cfg));
	rounds = least(fit / (UINT64_C(2) * ROUNDS_EACH), ROUND_PAIRS);
	if (of->peer != MM_NO_HOST)
		return least(fit, PEER_PAIRS);
	if (!probe_spare_is_short(of))
		return rounds;
	return least(fit - (uint64_t)rounds * ROUNDS_EACH, SHORT_PAIRS);
}

uint32_t probe_spare_turn(const struct probe_host_cfg *cfg)
{
	return 2 * watchers_of(cfg);
}
