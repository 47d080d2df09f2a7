/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_wait.c - how a group waits, notices that a rank is gone, and ends.
 *
 * It looks once and then sleeps: ranks compute on the same cores, and spinning would be theft. A
 * peer that owes something and says nothing for a second is asked for a sign of life, which its
 * NIC gives whatever the process does; so who is only slow is waited for until the deadline, and
 * who is gone is found out by retries that run out.
 */
#include "group/group_state.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 200
#define NS_A_MS UINT64_C(1000000)
#define PING_AFTER_NS UINT64_C(1000000000)

uint64_t mg_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

const char *mg_broken(const struct mg_group *g)
{
	return g->broken ? g->why : NULL;
}

void mg_break_quietly(struct mg_group *g, uint32_t peer, const char *why)
{
	if (g->broken)
		return;
	g->broken = true;
	if (peer == g->cfg.rank)
		snprintf(g->why, sizeof(g->why), "%s", why);
	else
		snprintf(g->why, sizeof(g->why), "rank %u: %.200s", peer, why);
}

void mg_break(struct mg_group *g, const char *why)
{
	if (g->broken)
		return;
	mg_break_quietly(g, g->cfg.rank, why);
	for (uint32_t peer = 0; peer < g->cfg.ranks; peer++) {
		struct mg_link *link = mg_link_of(g, peer, CHANNEL_CALLS);

		if (link->remote)
			mg_link_tell(link, g->why);
	}
}

void mg_break_with(struct mg_group *g, const char *format, ...)
{
	char text[MG_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mg_break(g, text);
}

void mg_wake(struct mg_group *g)
{
	uint64_t one = 1;

	/* Fails only when the count is full: then it is awake already. */
	if (write(g->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static void take_wake(struct mg_group *g)
{
	uint64_t count;

	if (read(g->wake_fd, &count, sizeof(count)) == (ssize_t)sizeof(count) && g->cfg.woken)
		g->cfg.woken(g->cfg.arg);
}

static void take_event(struct mg_group *g)
{
	struct mrc_cq *cq;
	void *context;

	if (mrc_get_cq_event(g->channel, &cq, &context) == 0)
		mrc_ack_cq_events(cq, 1);
}

static void ask_for_life(struct mg_link *link, uint64_t now_ns)
{
	if (link && now_ns - link->heard_ns > PING_AFTER_NS)
		mg_link_ping(link);
}

/* Asks for an event, looks once more (one may have come in before the request), then sleeps. */
static void sleep_for_work(struct mg_group *g, int most_ms)
{
	struct pollfd p[2] = {{.fd = g->channel_fd, .events = POLLIN},
			      {.fd = g->wake_fd, .events = POLLIN}};

	if (mrc_req_notify_cq(g->cq, 0) == 0 && mg_poll(g))
		return;
	if (poll(p, 2, most_ms) <= 0)
		return;
	if (p[0].revents)
		take_event(g);
	if (p[1].revents)
		take_wake(g);
}

static int wait_ms(uint64_t now_ns, uint64_t deadline_ns)
{
	uint64_t left_ms = (deadline_ns - now_ns) / NS_A_MS + 1;

	return left_ms < TICK_MS ? (int)left_ms : TICK_MS;
}

static const struct mg_link *failed_link(const struct mg_link *to, const struct mg_link *from)
{
	if (to && to->failed[0])
		return to;
	return from && from->failed[0] ? from : NULL;
}

bool mg_wait(struct mg_group *g, const struct mg_call *call, struct mg_link *to,
	     struct mg_link *from)
{
	const char *name = mg_kind_name(call->kind);
	const struct mg_link *failed;
	uint64_t now_ns;
	bool found = mg_poll(g) != 0;

	mg_requests_progress(g);
	/* What came with the news that a link failed is looked at before. */
	failed = found ? NULL : failed_link(to, from);
	if (failed)
		mg_break_with(g, "%s, call %llu: %s", name, (unsigned long long)call->number,
			      failed->failed);
	now_ns = mg_now_ns();
	if (now_ns >= call->deadline_ns)
		mg_break_with(g, "%s, call %llu: not done in time; rank %u waits for rank %u", name,
			      (unsigned long long)call->number, g->cfg.rank,
			      from ? from->peer
			      : to ? to->peer
				   : g->cfg.rank);
	if (g->broken || found)
		return !g->broken;
	ask_for_life(to, now_ns);
	ask_for_life(from, now_ns);
	sleep_for_work(g, wait_ms(now_ns, call->deadline_ns));
	return !g->broken;
}

/* Requests that wait for a peer are a reason to ask whether it is there. */
static void ask_all_for_life(struct mg_group *g)
{
	uint64_t now_ns = mg_now_ns();

	for (uint32_t peer = 0; peer < g->cfg.ranks; peer++) {
		struct mg_link *link = mg_link_of(g, peer, CHANNEL_REQUESTS);

		if (link->remote && (link->sends || link->matched || g->receives))
			ask_for_life(link, now_ns);
	}
}

void mg_serve(struct mg_group *g, int most_ms)
{
	bool found = mg_poll(g) != 0;
	size_t before = g->pending;

	mg_requests_progress(g);
	/* What a caller waits for may be done already. */
	if (found || g->pending != before)
		return;
	if (g->pending)
		ask_all_for_life(g);
	if ((g->pending || g->refusals) && (most_ms < 0 || most_ms > TICK_MS))
		most_ms = TICK_MS;
	sleep_for_work(g, most_ms);
}
