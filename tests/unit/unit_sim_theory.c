/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel against what theory says, to the picosecond where theory is exact. */
#include "sim_net_fixture.h"

#include <math.h>
#include <stdio.h>

#define S 4000u /* bytes of a packet */

/* From the last bit sent to the decision at the next node. */
#define TO_SWITCH FIXTURE_NS(800)
#define TO_HOST FIXTURE_NS(500)

TEST(ms_net, a_lone_packet_takes_its_time)
{
	struct fixture b;

	fixture_init(&b, 2);
	fixture_send(&b, FIXTURE_NS(7), 0, 1, MW_DSCP_TRIMMABLE, S);
	fixture_send(&b, FIXTURE_NS(100000), 0, 3, MW_DSCP_TRIMMABLE, S);
	fixture_open(&b);
	fixture_run(&b);
	assert_u_eq(b.got[0].t_ps, FIXTURE_NS(7) + 2 * fixture_wire(S) + TO_SWITCH + TO_HOST);
	assert_u_eq(b.got[1].t_ps,
		    FIXTURE_NS(100000) + 4 * fixture_wire(S) + 3 * TO_SWITCH + TO_HOST);
	fixture_close(&b);
}

TEST(ms_net, a_lone_flow_is_a_pipeline)
{
	struct fixture b;

	fixture_init(&b, 2);
	for (uint32_t i = 0; i < 500; i++)
		fixture_send(&b, 0, 0, 3, MW_DSCP_TRIMMABLE, S);
	fixture_open(&b);
	fixture_run(&b);
	for (uint32_t i = 0; i < 500; i++)
		assert_u_eq(b.got[i].t_ps, (i + 4) * fixture_wire(S) + 3 * TO_SWITCH + TO_HOST);
	fixture_close(&b);
}

TEST(ms_net, an_incast_takes_n_s_over_b)
{
	const uint32_t n = 7, each = 50;
	struct fixture b;

	fixture_init(&b, 8);
	for (uint32_t host = 0; host < n; host++)
		for (uint32_t i = 0; i < each; i++)
			fixture_send(&b, 0, host, n, MW_DSCP_TRIMMABLE, S);
	fixture_open(&b);
	fixture_run(&b);
	/* The receiver's link is never idle from the first packet on. */
	assert_u_eq(b.n_got, n * each);
	assert_u_eq(b.got[n * each - 1].t_ps,
		    (1 + n * each) * fixture_wire(S) + TO_SWITCH + TO_HOST);
	fixture_close(&b);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Many hosts send to one, at times of their own; a wait is what Lindley says, packet by packet. */
TEST(ms_net, waits_are_lindleys_recursion)
{
	enum { SENDERS = 15, EACH = 200, ALL = SENDERS * EACH };
	uint64_t *arrival = calloc(ALL, sizeof(*arrival)), free_ps = 0;
	struct fixture b;

	assert_non_null(arrival);
	fixture_init(&b, SENDERS + 1);
	for (uint32_t host = 0, k = 0; host < SENDERS; host++) {
		uint64_t t = test_rand_below(FIXTURE_NS(4000));

		for (uint32_t i = 0; i < EACH; i++, k++) {
			fixture_send(&b, t, host, SENDERS, MW_DSCP_TRIMMABLE, S);
			arrival[k] = t + fixture_wire(S) + TO_SWITCH;
			t += fixture_wire(S) + test_rand_below(FIXTURE_NS(9000));
		}
	}
	fixture_open(&b);
	fixture_run(&b);
	qsort(arrival, ALL, sizeof(*arrival), by_time);
	for (uint32_t i = 0; i < ALL; i++) {
		free_ps = (arrival[i] > free_ps ? arrival[i] : free_ps) + fixture_wire(S);
		assert_u_eq(b.got[i].t_ps, free_ps + TO_HOST);
	}
	fixture_close(&b);
	free(arrival);
}

/* A random time between Poisson's events. */
static uint64_t exponential(double mean_ps)
{
	return (uint64_t)(-mean_ps * log(((double)(test_rand() >> 11) + 1) / 9007199254740993.0));
}

/* Mean wait of M/D/1 is rho / (2 (1 - rho)) services. */
TEST(ms_net, mean_wait_is_that_of_m_d_1)
{
	enum { SENDERS = 63, EACH = 1000, ALL = SENDERS * EACH };
	const double rho = 0.8, service = (double)fixture_wire(S);
	double wait = 0;
	struct fixture b;

	fixture_init(&b, SENDERS + 1);
	for (uint32_t host = 0; host < SENDERS; host++) {
		uint64_t t = 0;

		for (uint32_t i = 0; i < EACH; i++) {
			t += exponential(service * SENDERS / rho);
			fixture_send(&b, t, host, SENDERS, MW_DSCP_TRIMMABLE, S);
			b.send[b.n_send - 1].p.body[1] = t;
		}
	}
	fixture_open(&b);
	fixture_run(&b);
	assert_u_eq(b.n_got, ALL);
	for (uint32_t i = 0; i < ALL; i++)
		wait += (double)(b.got[i].t_ps - b.got[i].p.body[1]) -
			(2 * service + (double)(TO_SWITCH + TO_HOST));
	wait /= ALL * service;
	printf("# mean wait %.3f services, M/D/1 %.3f\n", wait, rho / (2 * (1 - rho)));
	assert_true(fabs(wait - rho / (2 * (1 - rho))) < 0.15 * rho / (2 * (1 - rho)));
	fixture_close(&b);
}
