/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_state.h - what the files of a group share: its QPs as links, and how these carry messages.
 *
 * Between two ranks there are two links, one for collective calls and one for requests, so that a
 * call that a rank comes to late holds up no message. A link is a QP and, at each end, SLOTS slots
 * for what comes and as many for what goes. A message is a header and up to PAYLOAD_MAX bytes,
 * written into the receiver's next slot by WRITE with immediate; the immediate uses up a receive,
 * whose completion tells the receiver. A slot may be filled again when it has been taken, which a
 * credit says: a WRITE with immediate of no bytes, once for several slots.
 */
#ifndef BINDINGS_GROUP_STATE_H
#define BINDINGS_GROUP_STATE_H

#include "group/group.h"

#include <mrc.h>
#include <stdbool.h>

#define SLOTS 16u
#define PAYLOAD_MAX 65536u
#define CREDIT_EVERY (SLOTS / 4)
/* Credits under way: every slot taken gave one, at most; one more for why a group broke. */
#define CONTROL_MAX (SLOTS / CREDIT_EVERY + 4)
#define HEADER_MAGIC 0x4d47u

enum mg_channel { CHANNEL_CALLS, CHANNEL_REQUESTS, CHANNELS };

/* What a message is; the calls' own kinds come first. */
enum mg_message {
	MESSAGE_ANNOUNCE = MG_KINDS, /* a send: so many bytes with this tag */
	MESSAGE_GO,		     /* the receive that fits is there */
	MESSAGE_DATA,
	MESSAGE_REFUSE, /* `total` is the length that the receive has; or the sender gave up */
};

struct mg_header {
	uint16_t magic;
	uint16_t message; /* enum mg_kind or mg_message */
	uint32_t what;	  /* mg_call.what, or the tag */
	uint64_t number;  /* of the call, or id of the send */
	uint64_t total;	  /* bytes of this transfer */
	uint64_t offset;  /* in it */
	uint32_t bytes;	  /* that follow the header */
	uint32_t root;	  /* of a call that has one */
	uint32_t unused[6];
};

struct mg_slot {
	struct mg_header header;
	uint8_t payload[PAYLOAD_MAX];
};

/* What the peer of a link writes; the same layout everywhere, so a place is an offset. */
struct mg_inbox {
	struct mg_slot slots[SLOTS];
	char why[MG_TEXT_MAX]; /* from a peer whose group broke */
};

struct mg_outbox {
	struct mg_slot slots[SLOTS];
	char why[MG_TEXT_MAX];
};

struct mg_announcement {
	struct mg_announcement *next;
	uint64_t id, total;
	uint32_t tag;
};

struct mg_link {
	uint32_t peer;
	enum mg_channel channel;
	struct mrc_qp *qp;
	struct mg_inbox *inbox;
	struct ibv_mr *in_mr; /* of the inbox alone */
	struct mg_outbox *outbox;
	uint32_t lkey;	 /* of the outbox */
	uint64_t remote; /* address of the peer's inbox for this link */
	uint32_t rkey;
	/* Counts of slots since the beginning; they wrap. */
	uint32_t sent, acked, credited; /* out: credited is what the peer has taken */
	uint32_t arrived, taken, returned;
	unsigned control; /* WRs that are not slots, without completion */
	bool pinging, left;
	uint64_t heard_ns;
	char failed[MG_TEXT_MAX]; /* why nothing gets through any more */
	/* Channel of requests. */
	struct mg_request *sends;   /* not done, oldest first */
	struct mg_request *matched; /* receives that have their sender */
	struct mg_announcement *announced, *refused;
	unsigned announcements, refusals;
};

struct mg_group {
	struct mg_cfg cfg;
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *out_mr;
	struct mrc_context *context;
	struct mrc_comp_channel *channel;
	int channel_fd, wake_fd;
	struct mrc_cq *cq;
	/* Of link (peer, channel) at peer * CHANNELS + channel; this rank's own lie unused. */
	struct mg_inbox *inboxes;
	struct mg_outbox *outboxes;
	struct mg_link *links;
	struct mg_request *receives; /* not matched, oldest first */
	size_t pending;		     /* requests */
	size_t refusals;	     /* to be sent */
	bool requests_came;	     /* messages on the channel of requests, not looked at yet */
	uint64_t last_id;
	bool broken;
	char why[MG_TEXT_MAX];
};

static inline struct mg_link *mg_link_of(const struct mg_group *g, uint32_t peer,
					 enum mg_channel channel)
{
	return &g->links[peer * CHANNELS + channel];
}

static inline size_t mg_links(const struct mg_group *g)
{
	return (size_t)g->cfg.ranks * CHANNELS;
}

/* ---- group_open.c ---- */

/* mg_post_receive queues a receive of a link; a failure fails the link. */
void mg_post_receive(struct mg_link *link);

/* ---- group_link.c ---- */

/* mg_link_room is the slot to be filled next, or NULL: the peer has not taken enough yet. */
struct mg_slot *mg_link_room(const struct mg_link *link);

/* mg_link_send sends the slot that mg_link_room returned, its header filled in. */
void mg_link_send(struct mg_link *link);

/* mg_link_front is the oldest message that came and was not taken, or NULL. */
const struct mg_slot *mg_link_front(const struct mg_link *link);

/* mg_link_take lets the peer have the slot of mg_link_front again. */
void mg_link_take(struct mg_link *link);

/* mg_link_ping asks the peer's NIC for a sign of life; it answers while its process exists. */
void mg_link_ping(struct mg_link *link);

/* mg_link_tell sends why this group broke, a text of less than MG_TEXT_MAX bytes. */
void mg_link_tell(struct mg_link *link, const char *why);

/* mg_link_leave tells the peer that this rank closes its group. */
void mg_link_leave(struct mg_link *link);

/* mg_link_fail notes, once, why a link is of no use. */
void mg_link_fail(struct mg_link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* mg_poll takes what completed; returns how much that was. A CQ that is lost breaks the group. */
unsigned mg_poll(struct mg_group *g);

/* ---- group_wait.c ---- */

/*
 * mg_wait returns when something may have happened on one of two links; either may be NULL. False:
 * one of them has failed, the call's deadline is over or the group broke. Now it is broken in any
 * case, with the call named, and the others know.
 */
bool mg_wait(struct mg_group *g, const struct mg_call *call, struct mg_link *to,
	     struct mg_link *from);

void mg_break_with(struct mg_group *g, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* mg_break_quietly is for what another rank has told. */
void mg_break_quietly(struct mg_group *g, uint32_t peer, const char *why);

/* ---- group_request.c ---- */

/* mg_requests_progress moves on what can be, and ends what is late or cannot be any more. */
void mg_requests_progress(struct mg_group *g);

#endif
