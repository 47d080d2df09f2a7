/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_ud.c - datagrams in random worlds: hosts whose paths lose, double, hold back, cut and damage
 * packets, die and come back, and ports that go down.
 *
 * Each datagram that arrives is delivered once, unaltered, or counted by its cause; see ud_world.h.
 * In the end all is well again, and so every path is used again.
 *
 * MRC_SEEDS=<n> says how many worlds are run, MRC_SEED=<number> where they begin.
 */
#include <stdio.h>

#include "ud_world.h"

#define WORLDS 200u
#define WORLDS_OF_SEEDS 20u /* each takes seconds of its own time */
/* Retired EVs are probed each 320 ms at least and want three answers; see docs/protocol.md. */
#define HEAL_NS (2500 * MS)

static void spoil(struct world *w, struct net_path *path)
{
	struct rng *r = &w->rng;

	path->loss_ppm = (uint32_t)rng_below(r, 50000);
	path->corrupt_ppm = (uint32_t)rng_below(r, 50000);
	path->dup_ppm = (uint32_t)rng_below(r, 50000);
	path->reorder_ppm = (uint32_t)rng_below(r, 100000);
	path->reorder_ns = 200 * US;
	path->trim_ppm = (uint32_t)rng_below(r, 50000);
	path->dead = rng_below(r, 6) == 0;
}

static void heal(struct net_path *path)
{
	path->loss_ppm = path->corrupt_ppm = path->dup_ppm = path->reorder_ppm = path->trim_ppm = 0;
	path->dead = false;
}

static void each_path(struct world *w, void (*change)(struct world *w, struct net_path *path))
{
	for (uint32_t a = 0; a < w->n_hosts; a++)
		for (uint32_t b = 0; b < w->n_hosts; b++)
			for (uint32_t ev = 0; a != b && ev < w->n_planes * w->n_paths; ev++) {
				if (change)
					change(w, ud_world_path(w, a, b, ev));
				else
					heal(ud_world_path(w, a, b, ev));
			}
}

static void trouble(struct world *w)
{
	struct host *h = &w->hosts[rng_below(&w->rng, w->n_hosts)];
	uint32_t port = (uint32_t)rng_below(&w->rng, w->n_planes);

	each_path(w, spoil);
	ud_world_run(w, rng_between(&w->rng, 1, 400) * MS);
	ud_world_port(h, port, false);
	ud_world_run(w, rng_between(&w->rng, 1, 200) * MS);
	ud_world_port(h, port, true);
	ud_world_run(w, rng_between(&w->rng, 1, 200) * MS);
}

/* REQ(ud.health.revive) REQ(ud.spray) */
static void check_all_paths_are_used(struct world *w, uint64_t since_ns)
{
	for (uint32_t k = 0; k < w->n_hosts; k++)
		for (uint32_t i = 0; i < w->n_planes * w->n_paths; i++)
			if (w->hosts[k].ev_used_ns[i] < since_ns)
				fail_msg("host %u: path %u is not used again", k, i);
}

/* A second after a path to all others has died nothing takes it any more. */
static void kill_one(struct world *w)
{
	uint32_t n = w->n_planes * w->n_paths, ev = (uint32_t)rng_below(&w->rng, n);
	uint64_t since_ns;

	if (n < 2)
		return;
	for (uint32_t a = 0; a < w->n_hosts; a++)
		for (uint32_t b = 0; b < w->n_hosts; b++)
			if (a != b)
				ud_world_path(w, a, b, ev)->dead = true;
	ud_world_run(w, 1000 * MS);
	since_ns = w->net.now_ns;
	ud_world_run(w, 100 * MS);
	for (uint32_t a = 0; a < w->n_hosts; a++)
		if (w->hosts[a].ev_used_ns[ev] >= since_ns)
			fail_msg("host %u: path %u is dead and used", a, ev);
}

static uint64_t run_world(uint64_t seed)
{
	struct world *w = ud_world_open(seed, 0, 0, 0);
	uint64_t healed_ns, delivered;

	trouble(w);
	each_path(w, NULL);
	ud_world_run(w, HEAL_NS);
	healed_ns = w->net.now_ns;
	ud_world_run(w, 300 * MS);
	check_all_paths_are_used(w, healed_ns);
	kill_one(w);
	delivered = w->delivered;
	ud_world_close(w);
	return delivered;
}

/* What is known of its EVs may be old, and there is no other way. REQ(ud.health.avoid) */
TEST(sim_ud, a_port_with_bad_evs_is_used_when_no_other_is_up)
{
	struct world *w = ud_world_open(1, 2, 2, 1);
	struct host *h = &w->hosts[0];
	uint64_t since_ns;

	ud_world_path(w, 0, 1, 1)->dead = true;
	ud_world_run(w, 1000 * MS);
	assert_true(mu_counts(h->ud)->ud_evs_retired > 0);
	ud_world_port(h, 0, false);
	since_ns = w->net.now_ns;
	ud_world_run(w, 10 * MS);
	assert_true(h->ev_used_ns[1] >= since_ns);
	ud_world_close(w);
}

TEST(sim_ud, random_worlds)
{
	const char *text = getenv("MRC_SEEDS");
	uint64_t n = text && *text ? strtoull(text, NULL, 0) : WORLDS, delivered = 0;

	n = n < WORLDS_OF_SEEDS ? 1 : n / WORLDS_OF_SEEDS;
	for (uint64_t i = 0; i < n; i++) {
		printf("# this world again: MRC_SEED=0x%016" PRIx64 " MRC_SEEDS=1\n",
		       test_seed() + i);
		delivered += run_world(test_seed() + i);
	}
	printf("# %" PRIu64 " worlds, %" PRIu64 " datagrams delivered\n", n, delivered);
	assert_true(delivered >= n);
}
