/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop that measures bandwidth: see perf.h. */
#include "cli/perf/perf.h"

#include "ui/terminal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define POLL_BATCH 32

/* How often the loop looks at the other connection, and how often it tells how far it is. */
#define LOOK_NS UINT64_C(1000000)
#define TICK_NS UINT64_C(200000000)

struct flow {
	struct perf_measure *m;
	bool sending, told, peer_done;
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
	f->told = true;
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
	return !f->told && perf_link_is_closed(f->m->link) ? set_error(f->m, "the peer has gone")
							   : 0;
}

static int run_flow_once(struct flow *f)
{
	uint64_t now = ui_clock_ns();

	if (f->sending && now < f->end_ns && fill_send_queue(f, now))
		return -1;
	if (reap_completions(f))
		return -1;
	if (!f->told && (!f->sending || (now >= f->end_ns && f->done == f->posted)) &&
	    send_totals(f))
		return -1;
	if (now >= f->look_ns) {
		f->look_ns = now + LOOK_NS;
		if (f->peer_done ? watch_link(f) : poll_flow(f, 0))
			return -1;
	}
	if (f->m->tick && !f->told && now >= f->tick_ns) {
		f->tick_ns = now + TICK_NS;
		f->m->out = (struct perf_figure){.messages = f->done, .ns = now - f->begin_ns};
		f->m->tick(f->m->context, f->m, now - f->begin_ns);
	}
	return 0;
}

/* The peer's last immediates may be in the CQ when its word is here already. */
static bool is_over(const struct flow *f)
{
	return f->told && f->peer_done &&
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
