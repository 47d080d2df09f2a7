/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ep_probe.c - probes that a program asks for: src/host/verbs/ep_probe.c. What answers them is
 * the peer's engine; here the peer is two bare ports, so what is seen is who asks how.
 */
#include "unit/nic_fixture.h"

#include <errno.h>

#define ENDPOINT_TEST(name) TEST_WITH(fixture_setup, fixture_teardown, mh_endpoint_probe, name)

static struct mh_probe probe_of(uint32_t plane, uint32_t ev)
{
	struct mh_probe probe = {.plane = plane, .ev = ev};
	struct mio_addr peer = fixture_addr(0, 9, 0);

	memcpy(probe.dest.b, peer.ip, sizeof(probe.dest.b));
	return probe;
}

#define MS UINT64_C(1000000)

ENDPOINT_TEST(nobody_answers)
{
	struct nic_fixture *fixture = *state;
	struct mh_probe probes[3] = {probe_of(0, FIXTURE_EV_BASE), probe_of(1, FIXTURE_EV_BASE + 3),
				     probe_of(1, FIXTURE_EV_BASE + 3)};
	struct mh_probe_answer answers[3];
	uint64_t begin = mh_now_ns();
	uint32_t n = 77;

	assert_i_eq(mh_endpoint_probe(fixture->dev, 0, probes, 3, 20 * MS, answers, &n), ETIMEDOUT);
	assert_u_eq(n, 0);
	assert_true(mh_now_ns() - begin >= 20 * MS);
}

/* More probes than the engine has ids, which rest besides: what has no turn counts as
 * unanswered. */
ENDPOINT_TEST(more_than_the_engine_takes)
{
	static struct mh_probe_answer answers[3000];
	static struct mh_probe probes[3000];
	struct nic_fixture *fixture = *state;
	uint32_t n = 77;

	for (uint32_t i = 0; i < 3000; i++)
		probes[i] = probe_of(i % FIXTURE_PLANES, FIXTURE_EV_BASE + i % FIXTURE_EVS);
	assert_i_eq(mh_endpoint_probe(fixture->dev, 0, probes, 3000, 30 * MS, answers, &n), EAGAIN);
	assert_u_eq(n, 0);
}

static void refuse(struct nic_fixture *fixture, uint8_t dscp, struct mh_probe probe, uint32_t n,
		   uint64_t timeout_ns)
{
	struct mh_probe_answer answer;
	uint32_t got = 77;

	assert_i_eq(mh_endpoint_probe(fixture->dev, dscp, &probe, n, timeout_ns, &answer, &got),
		    EINVAL);
	assert_u_eq(got, 0);
}

ENDPOINT_TEST(refusals)
{
	struct nic_fixture *fixture = *state;
	const struct mh_probe good = probe_of(0, FIXTURE_EV_BASE);
	struct mh_probe bad;

	refuse(fixture, 0, probe_of(FIXTURE_PLANES, FIXTURE_EV_BASE), 1, MS);
	refuse(fixture, 0, probe_of(0, 0x10000), 1, MS);
	bad = good;
	bad.endpoint = 1024;
	refuse(fixture, 0, bad, 1, MS);
	bad = good;
	bad.dest.b[0] = 0xfd;
	refuse(fixture, 0, bad, 1, MS);
	refuse(fixture, 0, good, 0, MS);
	refuse(fixture, 0, good, 1, 0);
	refuse(fixture, 0, good, 1, MH_PROBE_TIMEOUT_MAX_NS + 1);
	refuse(fixture, 63, good, 1, MS);
}

TEST_WITH(fixture_setup, fixture_teardown, mh_device_query_ev, each_of_a_plane)
{
	struct nic_fixture *fixture = *state;
	uint32_t ev = 0;

	assert_i_eq(mh_device_query_ev(fixture->dev, 0, 0, &ev), 0);
	assert_u_eq(ev, FIXTURE_EV_BASE);
	assert_i_eq(mh_device_query_ev(fixture->dev, 0, FIXTURE_EVS - 1, &ev), 0);
	assert_u_eq(ev, FIXTURE_EV_BASE + FIXTURE_EVS - 1);
	assert_i_eq(mh_device_query_ev(fixture->dev, 0, FIXTURE_EVS, &ev), EINVAL);
}
