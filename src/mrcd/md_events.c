/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_events.c - what processes logged about EVs and ports in their statistics, for those who
 * follow: see md_serve.h. Nothing is read while nobody does, and who begins to follow hears of what
 * comes from then on.
 */
#include "mrcd/md_serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mrcd/md_log.h"

#define LOOK_NS UINT64_C(100000000)

int md_events_open(struct md_events *events)
{
	*events = (struct md_events){.stats = calloc(1, sizeof(*events->stats))};
	if (!events->stats)
		return ENOMEM;
	stats_reader_open(events->stats, NULL, 0);
	return 0;
}

void md_events_close(struct md_events *events)
{
	stats_reader_close(events->stats);
	free(events->stats);
}

static json_t *event_of(const struct stats_process *p, const struct mrc_stats_event *e)
{
	static const char *const causes[] = {"loss",	 "mark", "probe", "floor",
					     "operator", "port", "late"};
	static const char *const states[] = {"good", "skip", "bad", "denied"};
	struct mn_ev ev = {.port = (uint8_t)(e->port % MN_PORTS_MAX + 1)};
	char peer[INET6_ADDRSTRLEN], text[MD_EV_TEXT];

	inet_ntop(AF_INET6, e->peer, peer, sizeof(peer));
	memcpy(ev.val, &e->ev, sizeof(e->ev));
	switch (e->kind) {
	case MRC_STATS_EVENT_EV:
		return json_pack("{s:s, s:i, s:I, s:i, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I}",
				 "event", "ev", "pid", (int)p->pid, "uid", (json_int_t)p->uid,
				 "device", (int)p->device, "ev", md_ev_write(&ev, text), "state",
				 states[e->state % 4u], "cause", causes[e->cause % 7u], "peer",
				 peer, "profile", e->ev_profile, "index", e->ev_index, "port",
				 ev.port, "number", (json_int_t)e->ev);
	case MRC_STATS_EVENT_PORT:
		return json_pack("{s:s, s:i, s:I, s:i, s:b}", "event", "port", "pid", (int)p->pid,
				 "uid", (json_int_t)p->uid, "port", (int)ev.port, "up",
				 e->state == 1);
	case MRC_STATS_EVENT_PEER_PORT:
		return json_pack("{s:s, s:i, s:I, s:i, s:b, s:s}", "event", "peer-port", "pid",
				 (int)p->pid, "uid", (json_int_t)p->uid, "port", (int)ev.port, "up",
				 e->state == 1, "peer", peer);
	default:
		return NULL;
	}
}

static void tell(void *ctx, const struct stats_process *p, const struct mrc_stats_event *e)
{
	struct md_door *door = ctx;
	json_t *event = event_of(p, e);

	if (event)
		md_door_tell(door, event, p->uid);
	json_decref(event);
}

static void forget(void *ctx, const struct stats_process *p, const struct mrc_stats_event *e)
{
	(void)ctx;
	(void)p;
	(void)e;
}

void md_events_tell(struct md_events *events, struct md_door *door, uint64_t now_ns)
{
	bool followed = md_door_is_followed(door);
	uint64_t lost = 0;

	if (!followed && events->were_followed)
		stats_reader_close(events->stats);
	if (!followed || now_ns < events->next_ns) {
		events->were_followed &= followed;
		return;
	}
	events->next_ns = now_ns + LOOK_NS;
	stats_reader_follow(events->stats, events->were_followed ? tell : forget, door, &lost);
	if (events->were_followed)
		door->node->counts.events_dropped += lost;
	events->were_followed = true;
}
