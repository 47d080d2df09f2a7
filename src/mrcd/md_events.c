/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_events.c - what processes logged about EVs and ports in their statistics, for those who
 * follow: see md_serve.h; and for processes that come later, which is not as urgent: md_hints.h.
 * Who begins to follow hears of what comes from then on.
 */
#include "mrcd/md_serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mrcd/md_log.h"

#define LOOK_NS UINT64_C(100000000)
/* While nobody follows. */
#define LOOK_FOR_HINTS_NS UINT64_C(500000000)

int md_events_open(struct md_events *events, const struct md_config *config)
{
	*events = (struct md_events){.stats = calloc(1, sizeof(*events->stats))};
	if (!events->stats)
		return ENOMEM;
	stats_reader_open(events->stats, NULL, 0);
	md_hints_open(&events->hints, config);
	return 0;
}

void md_events_close(struct md_events *events)
{
	stats_reader_close(events->stats);
	free(events->stats);
	md_hints_close(&events->hints);
}

static json_t *event_of(const struct stats_process *p, const struct mrc_stats_event *e)
{
	static const char *const causes[] = {"loss",	 "mark", "probe", "floor",
					     "operator", "port", "late",  "hint"};
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
				 states[e->state % 4u], "cause", causes[e->cause % 8u], "peer",
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

/* One look: who is told. */
struct look {
	struct md_events *events;
	struct md_door *door; /* NULL: nobody */
	uint64_t now_ns;
};

static void hear(void *ctx, const struct stats_process *p, const struct mrc_stats_event *e)
{
	const struct look *look = ctx;
	json_t *event = look->door ? event_of(p, e) : NULL;

	if (event)
		md_door_tell(look->door, event, p->uid);
	json_decref(event);
	md_hints_hear(&look->events->hints, p, e, look->now_ns);
}

void md_events_tell(struct md_events *events, struct md_door *door, uint64_t now_ns)
{
	bool followed = md_door_is_followed(door), begins = followed && !events->were_followed;
	struct look look = {events, followed && !begins ? door : NULL, now_ns};
	uint64_t lost = 0;

	events->were_followed = followed;
	if (now_ns < events->next_ns && !begins)
		return;
	events->next_ns = now_ns + (followed ? LOOK_NS : LOOK_FOR_HINTS_NS);
	stats_reader_follow(events->stats, hear, &look, &lost);
	if (look.door)
		door->node->counts.events_dropped += lost;
	md_hints_save(&events->hints, now_ns);
}
