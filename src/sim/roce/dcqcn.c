/* SPDX-License-Identifier: BSD-2-Clause */
/* dcqcn.c - see roce_nic.h. */
#include "sim/roce/roce_nic.h"

#define MBPS UINT64_C(1000000)
/* The rate for which the paper publishes its numbers. */
#define PUBLISHED_BPS (40000 * MBPS)
#define RATE_MIN MBPS
#define RATE_MAX (UINT64_C(10000000) * MBPS)
#define G_SHIFT_MAX 16u
/* A rate this close to the line's is the line's: halves of a way never end. */
#define NEAR_BPS MBPS

static uint64_t in_proportion(uint64_t published, uint64_t line_bps)
{
	uint64_t scaled = published * (line_bps / MBPS) / (PUBLISHED_BPS / MBPS);

	return scaled ? scaled : 1;
}

void ms_dcqcn_defaults(struct ms_dcqcn_cfg *cfg, uint64_t line_bps)
{
	*cfg = (struct ms_dcqcn_cfg){
		.line_bps = line_bps,
		.min_bps = in_proportion(10 * MBPS, line_bps),
		.rate_ai_bps = in_proportion(40 * MBPS, line_bps),
		.rate_hai_bps = in_proportion(400 * MBPS, line_bps),
		.alpha_timer_ns = 55000,
		.rate_timer_ns = 55000,
		.byte_counter = in_proportion(10000000, line_bps),
		.cnp_interval_ns = 50000,
		.fast_rounds = 5,
		.g_shift = 8,
	};
}

bool ms_dcqcn_valid(const struct ms_dcqcn_cfg *c)
{
	return c->line_bps >= RATE_MIN && c->line_bps <= RATE_MAX && c->min_bps > 0 &&
	       c->min_bps <= c->line_bps && c->rate_ai_bps <= RATE_MAX &&
	       c->rate_hai_bps <= RATE_MAX && c->alpha_timer_ns > 0 && c->rate_timer_ns > 0 &&
	       c->byte_counter > 0 && c->g_shift >= 1 && c->g_shift <= G_SHIFT_MAX;
}

void ms_dcqcn_init(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg)
{
	*c = (struct ms_dcqcn){
		.rate_bps = cfg->line_bps,
		.target_bps = cfg->line_bps,
		.alpha = MS_DCQCN_ONE,
	};
}

/* REQ(sim.dcqcn.increase) */
static void increase_rate(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg)
{
	uint32_t most = c->timer_rounds > c->byte_rounds ? c->timer_rounds : c->byte_rounds;
	uint32_t least = c->timer_rounds < c->byte_rounds ? c->timer_rounds : c->byte_rounds;

	if (least > cfg->fast_rounds)
		c->target_bps += (least - cfg->fast_rounds) * cfg->rate_hai_bps;
	else if (most > cfg->fast_rounds)
		c->target_bps += cfg->rate_ai_bps;
	if (c->target_bps > cfg->line_bps)
		c->target_bps = cfg->line_bps;
	c->rate_bps = (c->rate_bps + c->target_bps) / 2;
	if (c->rate_bps + NEAR_BPS >= cfg->line_bps)
		c->rate_bps = cfg->line_bps;
}

/* What timers have done up to now, the earlier one first. */
static void catch_up(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns)
{
	while (c->limited) {
		bool by_alpha = c->alpha_next_ns <= c->rate_next_ns;

		if ((by_alpha ? c->alpha_next_ns : c->rate_next_ns) > now_ns)
			return;
		if (by_alpha) {
			/* Rounded up, so that it comes to nothing in the end. */
			c->alpha -= (c->alpha + (1u << cfg->g_shift) - 1) >> cfg->g_shift;
			c->alpha_next_ns += cfg->alpha_timer_ns;
		} else {
			c->timer_rounds++;
			increase_rate(c, cfg);
			c->rate_next_ns += cfg->rate_timer_ns;
		}
		c->limited = c->rate_bps < cfg->line_bps || c->alpha > 0;
	}
}

/* REQ(sim.dcqcn.cut) */
void ms_dcqcn_cnp(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns)
{
	catch_up(c, cfg, now_ns);
	c->target_bps = c->rate_bps;
	c->rate_bps -= (c->rate_bps >> 1) * c->alpha / MS_DCQCN_ONE;
	if (c->rate_bps < cfg->min_bps)
		c->rate_bps = cfg->min_bps;
	c->alpha += (MS_DCQCN_ONE - c->alpha) >> cfg->g_shift;
	c->alpha_next_ns = now_ns + cfg->alpha_timer_ns;
	c->rate_next_ns = now_ns + cfg->rate_timer_ns;
	c->timer_rounds = c->byte_rounds = 0;
	c->bytes = 0;
	c->limited = true;
}

void ms_dcqcn_sent(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns,
		   uint32_t bytes)
{
	catch_up(c, cfg, now_ns);
	if (!c->limited)
		return;
	c->bytes += bytes;
	if (c->bytes < cfg->byte_counter)
		return;
	c->bytes -= cfg->byte_counter;
	c->byte_rounds++;
	increase_rate(c, cfg);
}

uint64_t ms_dcqcn_rate(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns)
{
	catch_up(c, cfg, now_ns);
	return c->rate_bps;
}
