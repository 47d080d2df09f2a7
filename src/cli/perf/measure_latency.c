/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop that measures latency: one WRITE_WITH_IMM to and fro on the first QP. See
 * perf.h. */
#include "cli/perf/perf.h"

#include "ui/terminal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* The immediate of the last round: both ends stop behind it. */
#define LAST 0xffffffffu
#define NEXT 0u

#define POLL_BATCH 8
#define LOOK_NS UINT64_C(1000000)
/* Longer than a retransmission takes. */
#define DRAIN_NS UINT64_C(10000000000)
/* Fewer rounds than this say nothing, however long they take. */
#define ROUNDS_MIN 4u

static int set_error(struct perf_measure *m, const char *text)
{
	snprintf(m->error, sizeof(m->error), "%s", text);
	return -1;
}

static int send_one(struct perf_measure *m, uint32_t value)
{
	m->conn->qp[0].posted++;
	return perf_connection_write(m->conn, 0, m->size, true, value)
		       ? set_error(m, m->conn->error)
		       : 0;
}

/* Nothing is to come over the other connection now, other than its end. */
static int poll_completions(struct perf_measure *m)
{
	bool nothing;
	json_t *json = perf_link_receive(m->link, 0, &nothing);

	if (ui_term_caught()) {
		json_decref(json);
		return set_error(m, "interrupted");
	}
	if (json) {
		json_decref(json);
		return set_error(m, "the peer breaks off");
	}
	return nothing ? 0 : set_error(m, m->link->error);
}

/* Waits for the peer's immediate; all else that completes is counted. */
static int receive_one(struct perf_measure *m, uint32_t *value)
{
	uint64_t look_ns = ui_clock_ns() + LOOK_NS;
	struct ibv_wc wc[POLL_BATCH];
	bool came = false;

	while (!came) {
		int n = perf_connection_poll(m->conn, wc, POLL_BATCH);

		if (n < 0)
			return set_error(m, m->conn->error);
		for (int i = 0; i < n; i++) {
			switch ((enum perf_wr)(wc[i].wr_id & ((1u << PERF_WR_BITS) - 1))) {
			case PERF_WR_DATA:
				m->conn->qp[0].done++;
				break;
			case PERF_WR_CREDIT:
				if (perf_connection_credited(m->conn, 0))
					return set_error(m, m->conn->error);
				break;
			case PERF_WR_RECV:
				*value = ntohl(wc[i].imm_data);
				came = true;
				if (perf_connection_received(m->conn, 0))
					return set_error(m, m->conn->error);
				break;
			}
		}
		if (n == 0 && ui_clock_ns() >= look_ns) {
			look_ns = ui_clock_ns() + LOOK_NS;
			if (poll_completions(m))
				return -1;
		}
	}
	return 0;
}

static int run_requester(struct perf_measure *m)
{
	uint64_t begin = ui_clock_ns(), end = begin + m->conn->plan->duration_ns;
	uint32_t value;
	bool last = false;

	while (!last) {
		uint64_t sent = ui_clock_ns();

		last = sent >= end && m->out.messages >= ROUNDS_MIN;
		if (send_one(m, last ? LAST : NEXT) || receive_one(m, &value))
			return -1;
		perf_histogram_add(&m->times, (ui_clock_ns() - sent) / 2);
		m->out.messages++;
	}
	m->out.ns = ui_clock_ns() - begin;
	return 0;
}

static int run_responder(struct perf_measure *m)
{
	uint32_t value = NEXT;

	while (value != LAST)
		if (receive_one(m, &value) || send_one(m, value))
			return -1;
	return 0;
}

/* The last answer is acknowledged while nobody waits for it any more. */
static int drain_completions(struct perf_measure *m)
{
	uint64_t end = ui_clock_ns() + DRAIN_NS;
	struct perf_qp *q = &m->conn->qp[0];
	struct ibv_wc wc[POLL_BATCH];

	while (q->done < q->posted) {
		int n = perf_connection_poll(m->conn, wc, POLL_BATCH);

		if (n < 0)
			return set_error(m, m->conn->error);
		for (int i = 0; i < n; i++) {
			if ((wc[i].wr_id & ((1u << PERF_WR_BITS) - 1)) == PERF_WR_DATA)
				q->done++;
			else if (perf_connection_credited(m->conn, 0))
				return set_error(m, m->conn->error);
		}
		if (n == 0 && ui_clock_ns() >= end)
			return set_error(m, "the last answer was not acknowledged");
	}
	return 0;
}

int perf_measure_latency(struct perf_measure *m)
{
	memset(&m->times, 0, sizeof(m->times));
	m->out = m->in = (struct perf_figure){0};
	if (m->client ? run_requester(m) : run_responder(m))
		return -1;
	return drain_completions(m);
}
