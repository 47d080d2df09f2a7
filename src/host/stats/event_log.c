/* SPDX-License-Identifier: BSD-2-Clause */
/* event_log.c - messages of what happens to EVs and ports, for those who ask for them. */
#include "host/stats/stats.h"

static void log_ev(const struct mt_event *event)
{
	char peer[MH_ADDR_TEXT_MAX];

	mh_log(MRC_LOG_DEBUG, "EV 0x%x of port %u to %s is %s: %s", event->ev.value, event->ev.port,
	       mh_addr_text(event->peer.b, peer),
	       mt_ev_state_name((enum mt_ev_state)event->ev_state),
	       mt_ev_cause_name((enum mt_ev_cause)event->ev_cause));
}

/* A port of ours is the business of those who watch it, and they have said so by a warning. */
static void log_peer_port(const struct mt_event *event)
{
	char peer[MH_ADDR_TEXT_MAX];

	mh_log(MRC_LOG_DEBUG, "port %u of %s is %s", event->ev.port,
	       mh_addr_text(event->peer.b, peer), event->port_up ? "up" : "down");
}

void mh_event_log(const struct mt_event *event)
{
	if (!mh_log_wants(MRC_LOG_DEBUG))
		return;
	if (event->type == MT_EVENT_EV)
		log_ev(event);
	else if (event->port_of_peer)
		log_peer_port(event);
}
