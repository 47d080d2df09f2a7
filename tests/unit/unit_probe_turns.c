/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose turn it is to send a train over what may be slow: src/prober/probe_turns.h. */
#include "fabric_fixture.h"

#include "prober/probe_spare.h"
#include "prober/probe_turns.h"

#define HOSTS_MAX 64u

static struct mf_topology t;
static struct probe_host_cfg cfg[HOSTS_MAX];
static struct probe_streams streams[HOSTS_MAX];
static uint32_t next[HOSTS_MAX][PROBE_TURN_KINDS];
static struct probe_common common;
static uint32_t taken[HOSTS_MAX]; /* streams, one more; 0: none */
static uint32_t sent[HOSTS_MAX]
		    [PROBE_TURN_KINDS]; /* of those that tell of the first host's cable */

static void begin_in(const struct mf_topology *of)
{
	static bool live[HOSTS_MAX];

	t = *of;
	assert_true(t.n_hosts <= HOSTS_MAX);
	memset(live, 1, sizeof(live));
	memset(next, 0, sizeof(next));
	memset(sent, 0, sizeof(sent));
	common = (struct probe_common){0};
	for (uint32_t host = 0; host < t.n_hosts; host++) {
		cfg[host] = (struct probe_host_cfg){.t = &t,
						    .host = host,
						    .share = PROBE_SHARE_USUAL,
						    .rate_bit_s = PROBE_RATE_USUAL,
						    .link_bit_s = 100000000};
		assert_i_eq(probe_streams_init(&streams[host], &cfg[host]), 0);
		assert_i_eq(probe_streams_plan(&streams[host], &cfg[host], live), 0);
	}
}

static void begin(const char *preset)
{
	const struct mf_topology of = fabric(preset);

	begin_in(&of);
}

static void end(void)
{
	for (uint32_t host = 0; host < t.n_hosts; host++)
		probe_streams_fini(&streams[host]);
}

static bool crosses(const struct mm_route_of *of, uint32_t link)
{
	for (uint32_t i = 0; i < of->links; i++)
		if (of->link[i] == link)
			return true;
	return false;
}

static struct mm_route_of train_of(uint32_t host)
{
	return probe_train_of(&streams[host].stream[taken[host] - 1]);
}

static enum probe_turn_kind kind_of(const struct mm_route_of *of)
{
	if (of->peer != MM_NO_HOST)
		return PROBE_TURN_PEER;
	return probe_spare_is_short(of) ? PROBE_TURN_SHORT : PROBE_TURN_ROUND;
}

/* Trains that meet hold each other up, and a link that is well would seem slow. */
static void check_that_none_meet(uint64_t step)
{
	static uint64_t last[4096]; /* by link: the step in which a train came over it */

	assert_true(t.n_links <= sizeof(last) / sizeof(last[0]));
	if (step == 1)
		memset(last, 0, sizeof(last));
	for (uint32_t host = 0; host < t.n_hosts; host++) {
		const struct mm_route_of of =
			taken[host] ? train_of(host) : (struct mm_route_of){0};

		for (uint32_t i = 0; i < of.links; i++) {
			if (last[of.link[i]] == step)
				fail_msg("%u hosts, %u T0s, %u T1s: two trains meet in step %d",
					 t.cfg.hosts_per_t0, t.n_t0s, t.cfg.t1s, (int)step);
			last[of.link[i]] = step;
		}
	}
}

static void take(uint64_t step)
{
	for (uint32_t host = 0; host < t.n_hosts; host++) {
		const struct probe_stream *s =
			probe_turns_take(next[host], &cfg[host], &streams[host], &common, step);

		taken[host] = s ? (uint32_t)(s - streams[host].stream) + 1 : 0;
	}
}

/* A cable, or one direction of it, is slow: what a train tells is in doubt or is not any more. */
static void tell(uint32_t out, uint32_t in, uint64_t step)
{
	for (uint32_t host = 0; host < t.n_hosts; host++) {
		struct mm_route_of of;

		if (!taken[host])
			continue;
		of = train_of(host);
		if (crosses(&of, out) || crosses(&of, in)) {
			sent[host][kind_of(&of)]++;
			mm_doubts_add(&common.doubts, &of, MM_DOUBT_SLOW, step,
				      step + PROBE_DOUBT_STEPS);
		} else {
			mm_doubts_not_slow(&common.doubts, &of, step, step + PROBE_DOUBT_STEPS);
		}
	}
}

static void run(uint32_t out, uint32_t in, uint32_t steps)
{
	for (uint64_t step = 1; step <= steps; step++) {
		take(step);
		check_that_none_meet(step);
		tell(out, in, step);
	}
}

/* All ways of a host are in doubt, as when each had a train. */
static void doubt_all_of(uint32_t host)
{
	for (uint32_t i = 0; i < streams[host].room; i++)
		if (streams[host].stream[i].kind == PROBE_ROUTE &&
		    streams[host].stream[i].plane == 0) {
			const struct mm_route_of of = probe_train_of(&streams[host].stream[i]);

			mm_doubts_add(&common.doubts, &of, MM_DOUBT_SLOW, 0, PROBE_DOUBT_STEPS);
		}
}

/* Both of those who can see it soon have three trains over a host's cable, by ways that decide. */
TEST(probe_turns_take, gives_turns_to_all_that_tell_of_a_hosts_cable)
{
	uint32_t out, in, by_neighbours = 0;

	begin("tiny");
	out = mf_link_host_t0(&t, 0, 0, false);
	in = mf_link_host_t0(&t, 0, 0, true);
	doubt_all_of(0);
	run(out, in, 16);
	for (uint32_t host = 1; host < t.n_hosts; host++)
		by_neighbours += sent[host][PROBE_TURN_PEER];
	assert_true(sent[0][PROBE_TURN_SHORT] >= 1);
	assert_true(sent[0][PROBE_TURN_PEER] >= 3);
	assert_true(by_neighbours >= 3);
	end();
}

/* Of a cable of switches those that tell it from others, and those that tell its directions. */
TEST(probe_turns_take, gives_turns_to_each_kind)
{
	uint32_t link;

	begin("tiny");
	link = mf_link_t0_t1(&t, 0, 0, 0, false);
	doubt_all_of(0);
	doubt_all_of(1);
	run(link, mf_link_reverse(link), 48);
	for (uint32_t host = 0; host < 2; host++)
		assert_true(sent[host][PROBE_TURN_SHORT] >= 2 && sent[host][PROBE_TURN_ROUND] >= 2);
	end();
}

/* Half a dozen trains decide, some to a switch and some in each direction: of hosts at once. */
TEST(probe_turns_take, decides_soon_about_a_cable_of_switches)
{
	uint32_t out, in, ways[2] = {0}, shorts = 0;

	begin("tiny");
	out = mf_link_t0_t1(&t, 0, 1, 1, false);
	in = mf_link_reverse(out);
	doubt_all_of(2);
	for (uint64_t step = 1; step <= 6; step++) {
		take(step);
		check_that_none_meet(step);
		tell(out, in, step);
		for (uint32_t host = 0; host < t.n_hosts; host++) {
			const struct mm_route_of of =
				taken[host] ? train_of(host) : (struct mm_route_of){0};

			shorts += crosses(&of, out) && crosses(&of, in);
			ways[0] += crosses(&of, out) && !crosses(&of, in);
			ways[1] += crosses(&of, in) && !crosses(&of, out);
		}
	}
	assert_true(shorts >= 2 && ways[0] >= 2 && ways[1] >= 2);
	end();
}

static void check_link(const struct mf_topology *of, uint32_t out, uint32_t in)
{
	uint32_t all = 0;

	begin_in(of);
	for (uint32_t host = 0; host < t.n_hosts; host++) {
		doubt_all_of(host);
		/* Each goes on from where it came to before. */
		for (uint32_t k = 0; k < PROBE_TURN_KINDS; k++)
			next[host][k] = (uint32_t)test_rand_below(streams[host].room);
	}
	run(out, in, 60);
	for (uint32_t host = 0; host < t.n_hosts; host++)
		all += sent[host][PROBE_TURN_SHORT] + sent[host][PROBE_TURN_PEER];
	assert_true(all > 0 || mf_link_plane(&t, out) > 0);
	end();
}

/*
 * In each fabric, of each cable and direction: nobody is held up by another, and the cable is
 * looked at.
 */
TEST(probe_turns_take, lets_no_two_trains_meet)
{
	static const char *const presets[] = {"tiny", "lab"};

	for (uint32_t p = 0; p < sizeof(presets) / sizeof(presets[0]); p++) {
		const struct mf_topology of = fabric(presets[p]);

		for (uint32_t link = 0; link < of.n_links; link++) {
			check_link(&of, link, link);
			check_link(&of, link, link ^ 1);
		}
	}
}

/* Of a cable of a host and one above a T0; what is above T1s is not for trains to switches. */
static void check_some_links(const struct mf_topology *of, uint32_t direction)
{
	uint32_t hosts = of->first_t0_cable, up = of->first_t1_cable - hosts;
	uint32_t cables[] = {(uint32_t)test_rand_below(hosts),
			     hosts + (uint32_t)test_rand_below(up)};

	for (uint32_t i = 0; i < 2; i++)
		check_link(of, 2 * cables[i], 2 * cables[i] + direction);
}

/* So it is where a T0 has more hosts than share in a link, and T2s above its T1s. */
TEST(probe_turns_take, lets_no_two_trains_meet_in_larger_fabrics)
{
	const struct mf_topology small3 = fabric("small3");
	struct mf_topology_cfg cfg_of = mf_preset_cfg("tiny");

	for (uint32_t i = 0; i < 6; i++)
		check_some_links(&small3, i & 1);
	memset(cfg_of.radix, 0, sizeof(cfg_of.radix));
	for (cfg_of.t0s = 2; cfg_of.t0s <= 5; cfg_of.t0s++)
		for (cfg_of.t1s = 1; cfg_of.t1s <= 4; cfg_of.t1s++)
			for (cfg_of.hosts_per_t0 = 1; cfg_of.hosts_per_t0 <= 7;
			     cfg_of.hosts_per_t0 += 3) {
				struct mf_topology of = fabric_of(&cfg_of);

				check_some_links(&of, 1);
			}
}

/* Nobody sends a train for nothing. */
TEST(probe_turns_take, takes_nothing_where_nothing_is_in_doubt)
{
	begin("tiny");
	mm_doubts_add(&common.doubts,
		      &(struct mm_route_of){.peer = MM_NO_HOST, .links = 2, .link = {0, 1}},
		      MM_DOUBT_BAD, 0, 100);
	for (uint64_t step = 0; step < 50; step++) {
		take(step);
		for (uint32_t host = 0; host < t.n_hosts; host++)
			assert_u_eq(taken[host], 0);
	}
	end();
}
