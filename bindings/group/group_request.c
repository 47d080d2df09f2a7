/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_request.c - messages between two ranks, by tag.
 *
 * A send is announced; when a receive of its tag is there, it is told to go, and its bytes come
 * in slots that are taken at once. So a message for which nobody waits is an announcement and no
 * more, and holds up none that comes after it.
 *
 * A receive of which no sender is known yet, and a send that was not told to go, may be given up
 * without harm: who is told to go too late refuses. With bytes under way the group breaks.
 */
#include "group/group_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Announcements of a peer that no receive fits are kept, and refusals until it takes them; more are
 * no program's intention. */
#define ANNOUNCEMENTS_MAX 16384u

enum state {
	SEND_NEW,
	SEND_ANNOUNCED,
	SEND_GOES,
	SEND_SENT, /* all is in slots, not yet acknowledged */
	RECEIVE_NEW,
	RECEIVE_MATCHED, /* the sender is to be told */
	RECEIVE_COMES,
};

#define LENGTH_LATE UINT64_MAX /* in MESSAGE_REFUSE: the sender gave up */

size_t mg_requests_pending(const struct mg_group *g)
{
	return g->pending;
}

static void append(struct mg_request **list, struct mg_request *r)
{
	while (*list)
		list = &(*list)->next;
	r->next = NULL;
	*list = r;
}

static void unlink_from(struct mg_request **list, const struct mg_request *r)
{
	while (*list && *list != r)
		list = &(*list)->next;
	if (*list)
		*list = r->next;
}

/* The request is not the group's any more. */
static void finish(struct mg_group *g, struct mg_request **list, struct mg_request *r,
		   const char *error)
{
	unlink_from(list, r);
	g->pending--;
	r->done(r, error);
}

static bool send_message(struct mg_link *link, enum mg_message message, uint32_t tag, uint64_t id,
			 uint64_t total)
{
	struct mg_slot *slot = mg_link_room(link);

	if (!slot)
		return false;
	slot->header = (struct mg_header){
		.message = (uint16_t)message, .what = tag, .number = id, .total = total};
	mg_link_send(link);
	return true;
}

/* ---- matching ---- */

static bool fits(const struct mg_request *receive, uint32_t peer, const struct mg_announcement *a)
{
	return (receive->peer == MG_ANY || receive->peer == peer) && receive->tag == a->tag;
}

static void refuse(struct mg_group *g, struct mg_link *link, struct mg_announcement *a,
		   uint64_t wanted)
{
	g->refusals++;
	link->refusals++;
	a->total = wanted;
	a->next = link->refused;
	link->refused = a;
}

/* Takes the announcement, which is in no list. */
static void match(struct mg_group *g, struct mg_link *link, struct mg_request *r,
		  struct mg_announcement *a)
{
	char error[MG_TEXT_MAX];

	if (a->total != r->bytes) {
		snprintf(error, sizeof(error),
			 "rank %u sends %" PRIu64 " bytes with tag %u, the receive is of %zu",
			 link->peer, a->total, a->tag, r->bytes);
		refuse(g, link, a, r->bytes);
		r->peer = link->peer;
		finish(g, &g->receives, r, error);
		return;
	}
	unlink_from(&g->receives, r);
	r->peer = link->peer;
	r->id = a->id;
	r->state = RECEIVE_MATCHED;
	append(&link->matched, r);
	free(a);
}

static bool match_announced(struct mg_group *g, struct mg_link *link, struct mg_request *r)
{
	for (struct mg_announcement **at = &link->announced; *at; at = &(*at)->next) {
		struct mg_announcement *a = *at;

		if (!fits(r, link->peer, a))
			continue;
		*at = a->next;
		link->announcements--;
		match(g, link, r, a);
		return true;
	}
	return false;
}

static void keep(struct mg_link *link, struct mg_announcement *a)
{
	struct mg_announcement **at = &link->announced;

	if (++link->announcements > ANNOUNCEMENTS_MAX)
		mg_link_fail(link, "rank %u announces more than %u messages that nobody receives",
			     link->peer, ANNOUNCEMENTS_MAX);
	while (*at)
		at = &(*at)->next;
	*at = a;
}

static void take_announcement(struct mg_group *g, struct mg_link *link, const struct mg_header *h)
{
	struct mg_announcement *a = malloc(sizeof(*a));

	if (!a) {
		mg_link_fail(link, "no memory for a message of rank %u", link->peer);
		return;
	}
	*a = (struct mg_announcement){.id = h->number, .total = h->total, .tag = h->what};
	for (struct mg_request *r = g->receives; r; r = r->next)
		if (fits(r, link->peer, a)) {
			match(g, link, r, a);
			return;
		}
	keep(link, a);
}

/* ---- what comes ---- */

static struct mg_request *find(struct mg_request *list, uint64_t id)
{
	while (list && list->id != id)
		list = list->next;
	return list;
}

static void take_go(struct mg_group *g, struct mg_link *link, const struct mg_header *h)
{
	struct mg_request *r = find(link->sends, h->number);
	struct mg_announcement *late;

	if (r && r->state == SEND_ANNOUNCED) {
		r->state = SEND_GOES;
		return;
	}
	late = r || link->refusals >= ANNOUNCEMENTS_MAX ? NULL : malloc(sizeof(*late));
	if (!late) {
		mg_link_fail(link, "rank %u asks for a message that it was not told of",
			     link->peer);
		return;
	}
	*late = (struct mg_announcement){.id = h->number};
	refuse(g, link, late, LENGTH_LATE);
}

static void take_data(struct mg_group *g, struct mg_link *link, const struct mg_header *h,
		      const uint8_t *payload)
{
	struct mg_request *r = find(link->matched, h->number);

	if (!r || r->state != RECEIVE_COMES || h->offset != r->moved ||
	    h->bytes > r->bytes - r->moved || h->bytes > PAYLOAD_MAX) {
		mg_link_fail(link, "rank %u sends bytes that nobody asked for", link->peer);
		return;
	}
	memcpy((uint8_t *)r->data + r->moved, payload, h->bytes);
	r->moved += h->bytes;
	if (r->moved == r->bytes)
		finish(g, &link->matched, r, NULL);
}

/* Of a send: its receive is of another length. Of a receive: its send was given up. */
static void take_refusal(struct mg_group *g, struct mg_link *link, const struct mg_header *h)
{
	struct mg_request *send = find(link->sends, h->number);
	struct mg_request *receive = find(link->matched, h->number);
	char error[MG_TEXT_MAX];

	if (h->total == LENGTH_LATE && receive) {
		snprintf(error, sizeof(error), "rank %u gave its send up before", link->peer);
		finish(g, &link->matched, receive, error);
	} else if (send && send->state == SEND_ANNOUNCED) {
		snprintf(error, sizeof(error),
			 "rank %u receives %" PRIu64 " bytes with tag %u, the send is of %zu",
			 link->peer, h->total, send->tag, send->bytes);
		finish(g, &link->sends, send, error);
	}
}

static void take_message(struct mg_group *g, struct mg_link *link, const struct mg_slot *slot)
{
	/* The peer can still write to the slot: what is looked at and what is used must be one. */
	const struct mg_header h = slot->header;

	switch (h.message) {
	case MESSAGE_ANNOUNCE:
		take_announcement(g, link, &h);
		break;
	case MESSAGE_GO:
		take_go(g, link, &h);
		break;
	case MESSAGE_DATA:
		take_data(g, link, &h, slot->payload);
		break;
	case MESSAGE_REFUSE:
		take_refusal(g, link, &h);
		break;
	default:
		mg_link_fail(link, "rank %u sent message %u", link->peer, h.message);
	}
}

/* ---- what goes ---- */

static void push_refusals(struct mg_group *g, struct mg_link *link)
{
	struct mg_announcement *a;

	while ((a = link->refused) && send_message(link, MESSAGE_REFUSE, a->tag, a->id, a->total)) {
		link->refused = a->next;
		g->refusals--;
		link->refusals--;
		free(a);
	}
}

static void push_bytes(struct mg_link *link, struct mg_request *r)
{
	struct mg_slot *slot;

	while (r->state == SEND_GOES && (slot = mg_link_room(link))) {
		size_t left = r->bytes - r->moved;
		size_t n = left < PAYLOAD_MAX ? left : PAYLOAD_MAX;

		slot->header = (struct mg_header){.message = MESSAGE_DATA,
						  .what = r->tag,
						  .number = r->id,
						  .total = r->bytes,
						  .offset = r->moved,
						  .bytes = (uint32_t)n};
		if (n)
			memcpy(slot->payload, (const uint8_t *)r->data + r->moved, n);
		r->moved += n;
		mg_link_send(link);
		if (r->moved == r->bytes) {
			r->state = SEND_SENT;
			r->last_slot = link->sent;
		}
	}
}

static void push_sends(struct mg_group *g, struct mg_link *link)
{
	struct mg_request *r, *next;

	for (r = link->sends; r; r = next) {
		next = r->next;
		if (r->state == SEND_NEW &&
		    send_message(link, MESSAGE_ANNOUNCE, r->tag, r->id, r->bytes))
			r->state = SEND_ANNOUNCED;
		push_bytes(link, r);
		if (r->state == SEND_SENT && (int32_t)(link->acked - r->last_slot) >= 0)
			finish(g, &link->sends, r, NULL);
	}
}

static void push_all(struct mg_group *g, struct mg_link *link)
{
	push_refusals(g, link);
	for (struct mg_request *r = link->matched; r; r = r->next)
		if (r->state == RECEIVE_MATCHED &&
		    send_message(link, MESSAGE_GO, r->tag, r->id, r->bytes))
			r->state = RECEIVE_COMES;
	push_sends(g, link);
}

/* ---- ends ---- */

static void fail_all(struct mg_group *g, struct mg_request **list, const char *error)
{
	while (*list)
		finish(g, list, *list, error);
}

static bool all_left(const struct mg_group *g)
{
	for (uint32_t peer = 0; peer < g->cfg.ranks; peer++)
		if (peer != g->cfg.rank && !mg_link_of(g, peer, CHANNEL_REQUESTS)->left)
			return false;
	return true;
}

/* From any rank: who has left is none of them, unless all have; who is gone may have been meant. */
static void fail_link(struct mg_group *g, struct mg_link *link)
{
	bool any = !link->left || all_left(g);
	struct mg_request *r, *next;

	fail_all(g, &link->sends, link->failed);
	fail_all(g, &link->matched, link->failed);
	for (r = g->receives; r; r = next) {
		next = r->next;
		if (r->peer == link->peer || (any && r->peer == MG_ANY))
			finish(g, &g->receives, r, link->failed);
	}
}

/* Returns whether the request has been ended or the group broke. */
static bool end_if_late(struct mg_group *g, struct mg_request **list, struct mg_request *r,
			uint64_t now_ns)
{
	char error[MG_TEXT_MAX];
	bool harmless =
		r->state == SEND_NEW || r->state == SEND_ANNOUNCED || r->state == RECEIVE_NEW;

	if (now_ns < r->deadline_ns)
		return false;
	if (r->peer == MG_ANY)
		snprintf(error, sizeof(error), "receive from any rank, tag %u: not done in time",
			 r->tag);
	else
		snprintf(error, sizeof(error), "%s rank %u, tag %u: not done in time",
			 r->kind == MG_SEND ? "send to" : "receive from", r->peer, r->tag);
	if (harmless)
		finish(g, list, r, error);
	else
		mg_break(g, error);
	return true;
}

static void end_late(struct mg_group *g, struct mg_request **list, uint64_t now_ns)
{
	struct mg_request *r, *next;

	for (r = *list; r && !g->broken; r = next) {
		next = r->next;
		(void)end_if_late(g, list, r, now_ns);
	}
}

static void end_everything(struct mg_group *g)
{
	for (uint32_t peer = 0; peer < g->cfg.ranks; peer++) {
		struct mg_link *link = mg_link_of(g, peer, CHANNEL_REQUESTS);

		fail_all(g, &link->sends, g->why);
		fail_all(g, &link->matched, g->why);
	}
	fail_all(g, &g->receives, g->why);
}

static void progress_link(struct mg_group *g, struct mg_link *link, uint64_t now_ns)
{
	const struct mg_slot *slot;

	while ((slot = mg_link_front(link))) {
		take_message(g, link, slot);
		mg_link_take(link);
	}
	push_all(g, link);
	if (link->failed[0]) {
		fail_link(g, link);
		return;
	}
	end_late(g, &link->sends, now_ns);
	end_late(g, &link->matched, now_ns);
}

void mg_requests_progress(struct mg_group *g)
{
	uint64_t now_ns;

	/* Without requests of its own, too: a peer may ask for a send that was given up. */
	if (!g->pending && !g->refusals && !g->requests_came)
		return;
	g->requests_came = false;
	now_ns = mg_now_ns();
	for (uint32_t peer = 0; peer < g->cfg.ranks && !g->broken; peer++)
		if (peer != g->cfg.rank)
			progress_link(g, mg_link_of(g, peer, CHANNEL_REQUESTS), now_ns);
	if (!g->broken)
		end_late(g, &g->receives, now_ns);
	if (g->broken)
		end_everything(g);
}

static const char *fault_of(const struct mg_group *g, const struct mg_request *r)
{
	bool any = r->kind == MG_RECEIVE && r->peer == MG_ANY;

	if (g->broken)
		return g->why;
	if (!any && r->peer == g->cfg.rank)
		return "a rank sends to itself or receives from itself";
	if (!any && r->peer >= g->cfg.ranks)
		return "no such rank in the group";
	return NULL;
}

static void start_receive(struct mg_group *g, struct mg_request *r)
{
	r->state = RECEIVE_NEW;
	append(&g->receives, r);
	for (uint32_t peer = 0; peer < g->cfg.ranks; peer++)
		if ((r->peer == MG_ANY || r->peer == peer) && peer != g->cfg.rank &&
		    match_announced(g, mg_link_of(g, peer, CHANNEL_REQUESTS), r))
			return;
}

void mg_request_start(struct mg_group *g, struct mg_request *r)
{
	const char *fault = fault_of(g, r);

	r->moved = 0;
	if (fault) {
		r->done(r, fault);
		return;
	}
	g->pending++;
	if (r->kind == MG_RECEIVE) {
		start_receive(g, r);
		return;
	}
	r->state = SEND_NEW;
	r->id = ++g->last_id;
	append(&mg_link_of(g, r->peer, CHANNEL_REQUESTS)->sends, r);
}
