/* SPDX-License-Identifier: BSD-2-Clause */
/* What a host probes, and how that changes when a neighbour leaves: src/prober/probe_streams.h. */
#include "fabric_fixture.h"

#include "prober/probe_streams.h"

static struct mf_topology t;
static struct probe_streams streams;
static struct probe_host_cfg cfg;
static bool live[64];

static void begin(uint32_t share)
{
	t = fabric("lab");
	cfg = (struct probe_host_cfg){.t = &t,
				      .host = 1,
				      .share = share,
				      .rate_bit_s = PROBE_RATE_USUAL,
				      .asks_who_lives = true};
	assert_true(t.n_hosts <= 64);
	memset(live, 1, sizeof(live));
	assert_int_equal(probe_streams_init(&streams, &cfg), 0);
	assert_int_equal(probe_streams_plan(&streams, &cfg, live), 0);
}

static uint32_t count(enum probe_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < streams.room; i++)
		n += streams.stream[i].kind == kind;
	return n;
}

/* Routes that need no neighbour. */
static uint32_t count_own(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < streams.room; i++)
		n += streams.stream[i].kind == PROBE_ROUTE &&
		     streams.stream[i].of.peer == MM_NO_HOST;
	return n;
}

TEST(probe_streams_plan, has_routes_plain_packets_and_neighbours)
{
	begin(2);
	assert_u_eq(count(PROBE_ROUTE), streams.routes);
	assert_u_eq(count(PROBE_PLAIN), t.cfg.planes);
	assert_u_eq(count(PROBE_HELLO), t.cfg.hosts_per_t0 - 1);
	assert_u_eq(streams.left_out, 0);
	assert_true(streams.bit_s <= cfg.rate_bit_s);
	cfg.rate_bit_s = PROBE_RATE_MIN;
	assert_int_equal(probe_streams_plan(&streams, &cfg, live), 0);
	assert_true(streams.bit_s <= PROBE_RATE_MIN && streams.round_steps > 1);
	probe_streams_fini(&streams);
}

/* Many neighbours and a low rate: questions are a part of it, and leave some for routes. */
TEST(probe_streams_plan, asks_many_neighbours_seldom)
{
	static bool all[1024];

	begin(2);
	assert_u_eq(streams.hello_steps, PROBE_HELLO_STEPS);
	probe_streams_fini(&streams);
	t = fabric("pod");
	assert_true(t.n_hosts <= 1024 && t.cfg.hosts_per_t0 == 32);
	memset(all, 1, sizeof(all));
	cfg.rate_bit_s = PROBE_RATE_MIN;
	assert_int_equal(probe_streams_init(&streams, &cfg), 0);
	assert_int_equal(probe_streams_plan(&streams, &cfg, all), 0);
	/* Two packets of 176 bytes to each of 31. */
	assert_true(31 * 2 * 176 * 8 * 100 / streams.hello_steps <= PROBE_RATE_MIN / 4);
	assert_true(streams.bit_s <= PROBE_RATE_MIN);
	probe_streams_fini(&streams);
}

/* What was probed before goes on where it was, with what is under way; the rest is new. */
TEST(probe_streams_plan, takes_over_the_share_of_who_is_gone)
{
	struct probe_stream before[512];
	uint32_t kept = 0, routes, own;

	begin(1);
	routes = streams.routes;
	own = count_own();
	assert_true(streams.room <= 512);
	for (uint32_t i = 0; i < streams.room; i++) {
		streams.stream[i].memo = 1000 + i;
		before[i] = streams.stream[i];
	}
	for (uint32_t h = 0; h < t.cfg.hosts_per_t0; h++)
		live[h] = h == cfg.host;
	assert_int_equal(probe_streams_plan(&streams, &cfg, live), 0);
	assert_true(count_own() > own);
	assert_u_eq(count_own(), streams.routes);
	assert_u_eq(count(PROBE_ROUTE), streams.routes);
	for (uint32_t i = 0; i < streams.room; i++) {
		const struct probe_stream *s = &streams.stream[i];

		if (s->kind != PROBE_ROUTE || s->memo == MM_NO_ROUTE)
			continue;
		assert_u_eq(s->memo, 1000 + i);
		assert_memory_equal(&s->of, &before[i].of, sizeof(s->of));
		kept++;
	}
	assert_true(kept > 0);
	memset(live, 1, sizeof(live));
	assert_int_equal(probe_streams_plan(&streams, &cfg, live), 0);
	assert_u_eq(streams.routes, routes);
	assert_u_eq(count(PROBE_ROUTE), routes);
	probe_streams_fini(&streams);
}
