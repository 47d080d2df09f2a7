/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ep_probe_engine.c - what the engine is asked for when a program probes paths, and what comes
 * of its answers: src/host/verbs/ep_probe.c. The engine's part is the test's.
 */
#include "unit/nic_fixture.h"

#include <errno.h>

#include "host/progress/progress.h"
#include "wire/dscp.h"

#define PROBES 4u
#define MINUTE UINT64_C(60000000000)

static struct {
	enum mt_result result[2 * PROBES]; /* of the requests in turn */
	struct mt_ep_request request[2 * PROBES];
	uint64_t unanswered; /* a bit for each request that is not */
	uint32_t requests, flushes, takeovers;
} t;

__typeof__(mt_engine_ep_request) __real_mt_engine_ep_request, __wrap_mt_engine_ep_request;
int __wrap_mt_engine_ep_request(struct mt_engine *e, uint64_t now_ns,
				const struct mt_ep_request *req, uint16_t *id)
{
	struct mt_event event = {.type = MT_EVENT_ENDPOINT, .wr_id = req->user};
	uint32_t i = t.requests++;

	(void)e;
	(void)now_ns;
	(void)id;
	assert_true(i < 2 * PROBES);
	t.request[i] = *req;
	if (t.result[i] != MT_OK)
		return t.result[i];
	event.ep_status = t.unanswered >> i & 1 ? MT_EP_TIMED_OUT : MT_EP_ANSWERED;
	event.ep_port = req->ev.port;
	mh_ep_batch_deliver(&event);
	return MT_OK;
}

/* The progress thread asks for neither. */
__typeof__(mh_progress_flush) __real_mh_progress_flush, __wrap_mh_progress_flush;
void __wrap_mh_progress_flush(struct mh_nic *nic, uint64_t now_ns)
{
	t.flushes++;
	__real_mh_progress_flush(nic, now_ns);
}

__typeof__(mh_progress_end_backoff) __real_mh_progress_end_backoff, __wrap_mh_progress_end_backoff;
void __wrap_mh_progress_end_backoff(struct mh_nic *nic, const struct mh_channel *channel)
{
	assert_null(channel);
	t.takeovers++;
	__real_mh_progress_end_backoff(nic, channel);
}

static int probe_setup(void **state)
{
	int err = fixture_setup(state);

	memset(&t, 0, sizeof(t));
	return err;
}

#define PROBE_TEST(function, name) TEST_WITH(probe_setup, fixture_teardown, function, name)

static struct mh_probe probe_of(uint32_t i)
{
	struct mh_probe probe = {.plane = i % FIXTURE_PLANES,
				 .ev = FIXTURE_EV_BASE + i,
				 .endpoint = (uint16_t)(i + 1),
				 .tells_ports = i == 1,
				 .ports_up = 2 + i};
	struct mio_addr peer = fixture_addr(0, (uint8_t)(9 + i), 0);

	memcpy(probe.dest.b, peer.ip, sizeof(probe.dest.b));
	return probe;
}

static struct mh_probe_answer answers[PROBES];

static int probe_all(struct nic_fixture *fixture, uint8_t dscp, uint32_t n, uint32_t *answered)
{
	struct mh_probe probes[PROBES];
	int err;

	for (uint32_t i = 0; i < PROBES; i++)
		probes[i] = probe_of(i);
	err = mh_endpoint_probe(fixture->dev, dscp, probes, n, MINUTE, answers, answered);
	assert_i_eq(mh_cancel_disable(), PTHREAD_CANCEL_ENABLE);
	mh_cancel_restore(PTHREAD_CANCEL_ENABLE);
	return err;
}

PROBE_TEST(mh_endpoint_probe, each_request_is_its_probe)
{
	struct nic_fixture *fixture = *state;
	uint32_t n = 0;

	assert_i_eq(probe_all(fixture, 0, PROBES, &n), 0);
	assert_u_eq(n, PROBES);
	assert_u_eq(t.requests, PROBES);
	/* Once, for there is nothing to wait for. */
	assert_u_eq(t.flushes, 1);
	assert_u_eq(t.takeovers, 1);
	for (uint32_t i = 0; i < PROBES; i++) {
		const struct mt_ep_request *r = &t.request[i];
		struct mh_probe probe = probe_of(i);

		assert_u_eq(answers[i].index, i);
		assert_bytes_eq(r->dst.b, probe.dest.b, 16);
		assert_u_eq(r->endpoint, i + 1);
		assert_u_eq(r->ev.value, FIXTURE_EV_BASE + i);
		assert_u_eq(r->ev.port, i % FIXTURE_PLANES);
		assert_u_eq(r->op, i == 1 ? MW_EP_PORT_STATUS : MW_EP_EV_PROBE);
		assert_u_eq(r->port_mask, 2 + i);
		assert_u_eq(r->tclass, MW_DSCP_CONTROL);
		assert_u_between(r->timeout_ns, 1, MINUTE);
	}
}

/* A port that is down takes no request, and one is not answered: the others are. */
PROBE_TEST(mh_endpoint_probe, some_are_answered)
{
	struct nic_fixture *fixture = *state;
	uint32_t n = 0;

	t.result[1] = MT_ERR_STATE;
	t.unanswered = 1u << 2;
	assert_i_eq(probe_all(fixture, 0, PROBES, &n), ETIMEDOUT);
	assert_u_eq(n, 2);
	assert_u_eq(answers[0].index, 0);
	assert_u_eq(answers[1].index, 3);
}

/* The engine has no id for a while. */
PROBE_TEST(mh_endpoint_probe, what_finds_no_id_is_tried_again)
{
	struct nic_fixture *fixture = *state;
	uint32_t n = 0;

	t.result[2] = t.result[3] = MT_ERR_FULL;
	assert_i_eq(probe_all(fixture, 0, PROBES, &n), 0);
	assert_u_eq(n, PROBES);
	assert_u_eq(t.requests, PROBES + 2);
	for (uint32_t i = 2; i < 5; i++)
		assert_u_eq(t.request[i].endpoint, 3);
	assert_u_eq(t.flushes, 3);
	assert_u_eq(t.takeovers, 3);
}

PROBE_TEST(mh_endpoint_probe, what_the_engine_refuses_ends_the_batch)
{
	struct nic_fixture *fixture = *state;
	uint32_t n = 0;

	t.result[1] = MT_ERR_INVALID;
	assert_i_eq(probe_all(fixture, 0, PROBES, &n), EINVAL);
	assert_u_eq(n, 1);
	assert_u_eq(t.requests, 2);
}

/* As data goes or as control, and in no other way. */
PROBE_TEST(mh_endpoint_probe, classes)
{
	struct nic_fixture *fixture = *state;
	const struct mw_dscp_map *map = &fixture->dev->nic->env.dscp;

	for (enum mw_dscp_class cls = 0; cls < MW_DSCP_CLASSES; cls++) {
		bool good = cls == MW_DSCP_TRIMMABLE || cls == MW_DSCP_TRIMMABLE_RETX ||
			    cls == MW_DSCP_CONTROL;
		uint8_t dscp = mw_dscp_encode(map, cls);
		uint32_t n = 77;

		if (dscp == 0)
			continue; /* which asks for control */
		memset(&t, 0, sizeof(t));
		assert_i_eq(probe_all(fixture, dscp, 1, &n), good ? 0 : EINVAL);
		assert_u_eq(t.requests, good);
		assert_u_eq(n, good);
		if (good)
			assert_u_eq(t.request[0].tclass, cls);
	}
}

/* Bounds, of which the engine is not even asked. */
PROBE_TEST(mh_endpoint_probe, to_its_bounds)
{
	struct nic_fixture *fixture = *state;
	struct mh_probe probe = probe_of(0), bad = probe;
	uint32_t n;

	probe.endpoint = MT_ENDPOINTS_MAX - 1;
	assert_i_eq(
		mh_endpoint_probe(fixture->dev, 0, &probe, 1, MH_PROBE_TIMEOUT_MAX_NS, answers, &n),
		0);
	assert_u_eq(t.requests, 1);
	bad.plane = FIXTURE_PLANES;
	assert_i_eq(mh_endpoint_probe(fixture->dev, 0, &bad, 1, MINUTE, answers, &n), EINVAL);
	bad = probe;
	bad.endpoint = MT_ENDPOINTS_MAX;
	assert_i_eq(mh_endpoint_probe(fixture->dev, 0, &bad, 1, MINUTE, answers, &n), EINVAL);
	assert_u_eq(t.requests, 1);
}

static char said[512];

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	(void)context;
	(void)level;
	snprintf(said, sizeof(said), "%s", text);
}

/* Where paths are rows, a host that is in none is named. */
PROBE_TEST(mh_endpoint_probe, says_whom_no_row_holds)
{
	struct nic_fixture *fixture = *state;
	struct mh_env *env = &fixture->dev->nic->env;
	struct mh_probe good = probe_of(0), bad = good;
	uint32_t n;

	bad.dest.b[0] = 0xfd;
	assert_i_eq(mrc_log_set(MRC_LOG_ERROR, hear, NULL), 0);
	env->srv6.n_rows = 1;
	assert_i_eq(mh_endpoint_probe(fixture->dev, 0, &good, 1, MINUTE, answers, &n), 0);
	assert_string_equal(said, "");
	assert_i_eq(mh_endpoint_probe(fixture->dev, 0, &bad, 1, MINUTE, answers, &n), EINVAL);
	env->srv6.n_rows = 0;
	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL), 0);
	assert_non_null(strstr(said, "no SRv6 path leads to fd00::"));
}

PROBE_TEST(mh_device_query_ev, of_the_planes_there_are)
{
	struct nic_fixture *fixture = *state;
	uint32_t ev = 0;

	assert_i_eq(mh_device_query_ev(fixture->dev, FIXTURE_PLANES - 1, 1, &ev), 0);
	assert_u_eq(ev, FIXTURE_EV_BASE + 1);
	assert_i_eq(mh_device_query_ev(fixture->dev, FIXTURE_PLANES, 1, &ev), EINVAL);
}
