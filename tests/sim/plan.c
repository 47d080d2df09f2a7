/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.c - drawing plans. */
#include "plan.h"

#include <string.h>

#include "core/types.h"
#include "support/rng.h"

static uint64_t one_of(struct rng *r, const uint64_t *values, size_t n)
{
	return values[rng_below(r, n)];
}

#define ONE_OF(r, ...)                             \
	one_of(r, (const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A number in [0, max], small ones as likely as large ones; zero half of the time. */
static uint64_t maybe(struct rng *r, uint64_t max)
{
	unsigned bits = 0;

	if (rng_below(r, 2))
		return 0;
	while (max >> bits > 1)
		bits++;
	return rng_below(r, (max >> rng_below(r, bits + 1)) + 1);
}

static void draw_shape(struct sim_plan *p, struct rng *r)
{
	p->nodes = rng_below(r, 2) ? 2 : rng_between(r, 2, 8);
	p->planes = ONE_OF(r, 1, 2, 4, 8, rng_between(r, 1, 8));
	p->paths = ONE_OF(r, 1, 4, 8, 32, rng_between(r, 1, 32));
	p->alias = rng_below(r, 4) ? 0 : rng_between(r, 1, 2);
	p->backups = ONE_OF(r, 0, 0, p->paths / 8, p->paths - 1);
	p->min_active = ONE_OF(r, 1, 1, 1, p->planes);
	p->revive = ONE_OF(r, 1, 2, 3, 16);
	p->conns = rng_between(r, 1, 8);
	p->latency_ns = ONE_OF(r, 200, 1000, 5000, 50000);
	p->spread_ns = maybe(r, 2 * p->latency_ns);
	p->jitter_ns = maybe(r, 2 * p->latency_ns);
	p->egress_mbps = ONE_OF(r, 0, 0, 1000, 100000);
	p->lasthop_mbps = ONE_OF(r, 0, 0, 0, 1000, 100000);
	p->lasthop_trims = rng_below(r, 2);
}

static void draw_load(struct sim_plan *p, struct rng *r)
{
	p->messages = rng_between(r, 1, ONE_OF(r, 4, 40, 200));
	p->one_way = rng_below(r, 2);
	p->imm_share = ONE_OF(r, 0, 10, 50, 100);
	p->big_share = ONE_OF(r, 0, 0, 20);
	p->small = rng_below(r, 3) == 0;
	p->silent_share = ONE_OF(r, 0, 50, 95);
	p->pause_ns = ONE_OF(r, 0, 0, 0, 20000, 500000);
	p->mtu = rng_below(r, 6);
	p->mpr = ONE_OF(r, 0, 1, 8);
	p->wimm = ONE_OF(r, 0, 1, 32);
	p->sq_depth = ONE_OF(r, 1, 4, 64, 512);
	p->wrap = rng_below(r, 2);
	p->cc = rng_below(r, 3);
	p->decoded = rng_below(r, 5) == 0;
	p->tx_batch = ONE_OF(r, 1, 16, 64);
	p->late_ns = ONE_OF(r, 0, 0, 1000, 100000);
}

/*
 * Most ways there may be dead, because what comes back tells which paths work. What comes back
 * gets no such answer: when most return paths are dead too, hardly anything is ever heard.
 */
static void draw_dead(struct sim_plan *p, struct rng *r)
{
	switch (rng_below(r, 5)) {
	case 0:
		p->dead_up = ONE_OF(r, 100, 500, 700);
		break;
	case 1:
		p->dead_down = ONE_OF(r, 100, 500);
		break;
	case 2:
		p->dead_up = p->dead_down = ONE_OF(r, 100, 300, 500);
		break;
	default:
		break;
	}
}

static void draw_faults(struct sim_plan *p, struct rng *r)
{
	if (rng_below(r, 8) == 0)
		return;
	p->bad_share = ONE_OF(r, 30, 250, 500, 1000);
	draw_dead(p, r);
	p->loss_ppm = maybe(r, 300000);
	p->corrupt_ppm = maybe(r, 100000);
	p->dup_ppm = maybe(r, 100000);
	p->reorder_ppm = maybe(r, 200000);
	p->reorder_ns = ONE_OF(r, 1000, 20000, 2000000);
	p->ecn_ppm = maybe(r, 500000);
	p->trim_ppm = maybe(r, 200000);
	p->trim_last_ppm = maybe(r, 200000);
	p->faults = maybe(r, 16);
	p->fault_ns = ONE_OF(r, 50000, 2000000, 50000000);
	p->stops = maybe(r, 4);
}

/* Faults of the receiving end. What came later is drawn last, so that older worlds stay the
 * same. */
static void draw_receivers(struct sim_plan *p, struct rng *r)
{
	p->deaf = rng_below(r, 2);
	p->ports = maybe(r, 4);
	if (rng_below(r, 8) == 0)
		p->service_ns = ONE_OF(r, 50, 200, 500);
	p->rx_room = 4096;
	p->dynamic_mpr = rng_below(r, 3);
	if (rng_below(r, 4))
		return;
	p->rx_packet_ns = ONE_OF(r, 50, 200, 500);
	p->rx_room = ONE_OF(r, 64, 256, 1024);
	p->rx_told = rng_below(r, 2);
}

static void draw_extension(struct sim_plan *p, struct rng *r)
{
	p->extended = ONE_OF(r, 0, 0, 1, 1, 1, 2);
	if (p->extended == 1)
		p->send_share = ONE_OF(r, 0, 10, 50, 100);
	p->recv_pause_ns = ONE_OF(r, 0, 0, 20000, 200000);
}

static void draw_asking(struct sim_plan *p, struct rng *r)
{
	if (p->extended == 1)
		p->ask_share = ONE_OF(r, 0, 10, 50, 100);
	p->rd_atomic = ONE_OF(r, 1, 4, RD_ATOMIC_MAX);
}

static void draw_clocks(struct sim_plan *p, struct rng *r)
{
	if (rng_below(r, 4))
		return;
	p->clocks = rng_between(r, 1, 8);
	p->clock_ns = ONE_OF(r, 1000000, 100000000, 10000000000);
}

/* What several QPs share, and keys that come and go. */
static void draw_shared(struct sim_plan *p, struct rng *r)
{
	p->srq_share = ONE_OF(r, 0, 50, 100);
	p->srq_depth = ONE_OF(r, 1, 3, 8, 64);
	p->srq_room = ONE_OF(r, 65536, 65536, 300);
	p->srq_changes = ONE_OF(r, 0, 5, 50);
	p->withheld = rng_below(r, 3) ? 0 : rng_between(r, 1, 2);
	if (p->withheld) { /* so that there is something to take from others */
		p->srq_share = 100;
		p->srq_depth = 8;
		p->conns = rng_between(r, 2, 8);
		p->messages = rng_between(r, 20, 100);
		p->imm_share = 50;
	}
	p->mw_share = ONE_OF(r, 0, 20, 80);
	p->mw_bytes = ONE_OF(r, 100, 10000, 200000);
	p->mw_stale = rng_below(r, 2);
	p->atomic_write = ONE_OF(r, 0, 30);
}

void sim_plan_draw(struct sim_plan *plan, uint64_t seed)
{
	struct rng r;

	rng_init(&r, seed);
	memset(plan, 0, sizeof(*plan));
	plan->seed = seed;
	plan->srq_depth = 64;
	plan->srq_room = plan->mw_bytes = 65536;
	draw_shape(plan, &r);
	draw_load(plan, &r);
	draw_faults(plan, &r);
	draw_receivers(plan, &r);
	draw_extension(plan, &r);
	draw_asking(plan, &r);
	plan->host = ONE_OF(&r, 1, 1, 1, 2);
	draw_clocks(plan, &r);
	/* Not both, where most paths are dead one QP waits for seconds, and the probes add up. */
	if (!plan->clocks)
		plan->refused = ONE_OF(&r, 0, 0, 0, 30, 95);
	if (plan->extended == 1)
		draw_shared(plan, &r);
	plan->zero_based = ONE_OF(&r, 0, 0, 1, 2);
}
