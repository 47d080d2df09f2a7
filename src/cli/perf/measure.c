/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops that measure bandwidth and latency, and times in buckets: see perf.h. */
#include "cli/perf/perf.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ui/terminal.h"

#define POLL_BATCH 32

/* How often the loop looks at the other connection, and how often it tells how far it is. */
#define LOOK_NS UINT64_C(1000000)
#define TICK_NS UINT64_C(200000000)

struct flow {
	struct perf_measure *m;
	bool sending, totals_sent, peer_done;
	uint64_t begin_ns, end_ns, look_ns, tick_ns;
	uint64_t posted, done;
	uint64_t received; /* immediates */
};

static int set_error(struct perf_measure *m, const char *text)
{
	snprintf(m->error, sizeof(m->error), "%s", text);
	return -1;
}

/*
 * Large messages fill every pipe with few of them, and what is in flight at the end must still be
 * waited for.
 */
#define FLIGHT_BYTES (UINT64_C(128) << 20)
#define FLIGHT_LEAST 2u

static uint64_t flight_of(uint64_t size)
{
	uint64_t n = FLIGHT_BYTES / size;

	return n < FLIGHT_LEAST ? FLIGHT_LEAST : n;
}

/* Posts on QP after QP as long as there is room. */
static int fill_send_queue(struct flow *f, uint64_t now)
{
	struct perf_connection *r = f->m->conn;
	uint64_t flight = flight_of(f->m->size);

	for (uint32_t i = 0; i < r->plan->qps; i++) {
		struct perf_qp *q = &r->qp[i];

		while (q->posted - q->done < flight &&
		       perf_connection_can_write(r, i, r->plan->imm)) {
			q->posted_ns[q->posted % r->plan->depth] = now;
			if (perf_connection_write(r, i, f->m->size, r->plan->imm, 0))
				return set_error(f->m, r->error);
			q->posted++;
			f->posted++;
		}
	}
	return 0;
}

static int handle_completion(struct flow *f, const struct ibv_wc *wc, uint64_t now)
{
	struct perf_connection *r = f->m->conn;
	uint32_t i = (uint32_t)(wc->wr_id >> PERF_WR_BITS);
	struct perf_qp *q = &r->qp[i];

	switch ((enum perf_wr)(wc->wr_id & ((1u << PERF_WR_BITS) - 1))) {
	case PERF_WR_DATA:
		perf_histogram_add(&f->m->times, now - q->posted_ns[q->done % r->plan->depth]);
		q->done++;
		f->done++;
		return 0;
	case PERF_WR_CREDIT:
		return perf_connection_credited(r, i) ? set_error(f->m, r->error) : 0;
	case PERF_WR_RECV:
		f->received++;
		return perf_connection_received(r, i) ? set_error(f->m, r->error) : 0;
	}
	return 0;
}

static int reap_completions(struct flow *f)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = perf_connection_poll(f->m->conn, wc, POLL_BATCH);
	uint64_t now = n > 0 ? ui_clock_ns() : 0;

	if (n < 0)
		return set_error(f->m, f->m->conn->error);
	for (int i = 0; i < n; i++)
		if (handle_completion(f, &wc[i], now))
			return -1;
	return 0;
}

/* When all that was sent is acknowledged, the peer hears how much it was. */
static int send_totals(struct flow *f)
{
	struct perf_measure *m = f->m;

	m->out = (struct perf_figure){.messages = f->done,
				      .ns = f->sending ? ui_clock_ns() - f->begin_ns : 0};
	f->totals_sent = true;
	if (perf_link_send(m->link, json_pack("{s:I,s:I}", "messages", (json_int_t)m->out.messages,
					      "ns", (json_int_t)m->out.ns)))
		return set_error(m, m->link->error);
	return 0;
}

static int poll_flow(struct flow *f, int timeout_ms)
{
	json_int_t messages, ns;
	bool nothing;
	json_t *json = perf_link_receive(f->m->link, timeout_ms, &nothing);

	if (ui_term_caught()) {
		json_decref(json);
		return set_error(f->m, "interrupted");
	}
	if (!json)
		return nothing ? 0 : set_error(f->m, f->m->link->error);
	if (json_unpack(json, "{s:I,s:I}", "messages", &messages, "ns", &ns) || messages < 0 ||
	    ns < 0) {
		json_decref(json);
		return set_error(f->m, "the peer's figures make no sense");
	}
	f->m->in = (struct perf_figure){.messages = (uint64_t)messages, .ns = (uint64_t)ns};
	f->peer_done = true;
	json_decref(json);
	return 0;
}

/* The peer has said its word; what it says next belongs to what comes next, unless it goes. */
static int watch_link(struct flow *f)
{
	if (ui_term_caught())
		return set_error(f->m, "interrupted");
	return !f->totals_sent && perf_link_is_closed(f->m->link)
		       ? set_error(f->m, "the peer has gone")
		       : 0;
}

static int run_flow_once(struct flow *f)
{
	uint64_t now = ui_clock_ns();

	if (f->sending && now < f->end_ns && fill_send_queue(f, now))
		return -1;
	if (reap_completions(f))
		return -1;
	if (!f->totals_sent && (!f->sending || (now >= f->end_ns && f->done == f->posted)) &&
	    send_totals(f))
		return -1;
	if (now >= f->look_ns) {
		f->look_ns = now + LOOK_NS;
		if (f->peer_done ? watch_link(f) : poll_flow(f, 0))
			return -1;
	}
	if (f->m->tick && !f->totals_sent && now >= f->tick_ns) {
		f->tick_ns = now + TICK_NS;
		f->m->out = (struct perf_figure){.messages = f->done, .ns = now - f->begin_ns};
		f->m->tick(f->m->context, f->m, now - f->begin_ns);
	}
	return 0;
}

/* The peer's last immediates may be in the CQ when its word is here already. */
static bool is_over(const struct flow *f)
{
	return f->totals_sent && f->peer_done &&
	       (!f->m->conn->plan->imm || f->received >= f->m->in.messages);
}

int perf_measure_bandwidth(struct perf_measure *m)
{
	const struct perf_plan *plan = m->conn->plan;
	uint64_t now = ui_clock_ns();
	struct flow f = {
		.m = m,
		.sending = m->client || plan->bidirectional,
		.begin_ns = now,
		.end_ns = now + plan->duration_ns,
		.look_ns = now,
		.tick_ns = now + TICK_NS,
	};

	memset(&m->times, 0, sizeof(m->times));
	/* A passive target has nothing to do: the device's own thread serves it. */
	if (!f.sending && !plan->imm) {
		if (send_totals(&f))
			return -1;
		while (!f.peer_done)
			if (poll_flow(&f, 1000))
				return -1;
		return 0;
	}
	while (!is_over(&f))
		if (run_flow_once(&f))
			return -1;
	return 0;
}

/* ---- latency: one WRITE_WITH_IMM to and fro on the first QP ---- */

/* The immediate of the last round: both ends stop behind it. */
#define LAST 0xffffffffu
#define NEXT 0u

/* Longer than a retransmission takes. */
#define DRAIN_NS UINT64_C(10000000000)
/* Fewer rounds than this say nothing, however long they take. */
#define ROUNDS_MIN 4u

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

/* The last answer is acknowledged after the last receive. */
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

/* ---- times in buckets ---- */

#define SUB_BITS 5u

/* Values below 64 have buckets of their own; above, the 5 bits behind the leading one count. */
static uint32_t bucket_of(uint64_t ns)
{
	uint32_t shift;

	if (ns < UINT64_C(2) * PERF_HISTOGRAM_SUB)
		return (uint32_t)ns;
	shift = 63u - (uint32_t)__builtin_clzll(ns) - SUB_BITS;
	return shift * PERF_HISTOGRAM_SUB + (uint32_t)(ns >> shift);
}

/* The largest value that falls into the bucket. */
static uint64_t top_of(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < 2 * PERF_HISTOGRAM_SUB)
		return bucket;
	shift = bucket / PERF_HISTOGRAM_SUB - 1;
	return ((uint64_t)(bucket - shift * PERF_HISTOGRAM_SUB + 1) << shift) - 1;
}

void perf_histogram_add(struct perf_histogram *h, uint64_t ns)
{
	uint32_t b = bucket_of(ns);

	h->bucket[b < PERF_HISTOGRAM_BUCKETS ? b : PERF_HISTOGRAM_BUCKETS - 1]++;
	h->count++;
	if (ns > h->max)
		h->max = ns;
}

uint64_t perf_histogram_percentile(const struct perf_histogram *h, double percent)
{
	double want = (double)h->count * percent / 100;
	uint64_t seen = 0;

	for (uint32_t b = 0; b < PERF_HISTOGRAM_BUCKETS; b++) {
		seen += h->bucket[b];
		if (seen && (double)seen >= want)
			return top_of(b) < h->max ? top_of(b) : h->max;
	}
	return h->max;
}
