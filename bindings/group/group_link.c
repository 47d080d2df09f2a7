/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_link.c - messages over the QPs: slots, credits, completions.
 *
 * The immediate of a WRITE says what it is: the count of a slot, a credit with how many slots are
 * taken, that the writer's group broke and has written why, or that the writer leaves and which
 * slots came to it. Counts are 30 bits of 32-bit ones; ends are never more than SLOTS apart.
 */
#include "group/group_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define POLL_BATCH 16

enum imm_kind { IMM_SLOT, IMM_CREDIT, IMM_BROKEN, IMM_LEAVE };

#define IMM_COUNT_BITS 30
#define IMM_COUNT ((1u << IMM_COUNT_BITS) - 1)

/* wr_id of a send: the link with one of these in the bits that its alignment leaves. A receive's
 * has none. */
enum work { WORK_RECEIVE = 0, WORK_SLOT = 1, WORK_CONTROL = 2, WORK_PING = 3 };

#define WORK_BITS 3u
_Static_assert(_Alignof(struct mg_link) > WORK_BITS, "a link's address has room for enum work");

void mg_link_fail(struct mg_link *link, const char *format, ...)
{
	va_list args;

	if (link->failed[0])
		return;
	va_start(args, format);
	vsnprintf(link->failed, sizeof(link->failed), format, args);
	va_end(args);
}

static int post(struct mg_link *link, enum work work, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->wr_id = (uintptr_t)link | work;
	return mrc_post_send(link->qp, wr, &bad);
}

/* Control WRs that find no place are not sent: credits come again with the next slot taken. */
static bool post_control(struct mg_link *link, enum imm_kind kind, uint32_t count, const char *text)
{
	struct ibv_sge sge = {.addr = (uintptr_t)text, .length = MG_TEXT_MAX, .lkey = link->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = text ? 1 : 0,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(((uint32_t)kind << IMM_COUNT_BITS) | (count & IMM_COUNT)),
		.wr.rdma = {.remote_addr = link->remote + offsetof(struct mg_inbox, why),
			    .rkey = link->rkey},
	};

	if (link->failed[0] || link->control >= CONTROL_MAX || post(link, WORK_CONTROL, &wr))
		return false;
	link->control++;
	return true;
}

struct mg_slot *mg_link_room(const struct mg_link *link)
{
	if (link->failed[0] || link->sent - link->acked >= SLOTS ||
	    link->sent - link->credited >= SLOTS)
		return NULL;
	return &link->outbox->slots[link->sent % SLOTS];
}

void mg_link_send(struct mg_link *link)
{
	uint32_t at = link->sent % SLOTS;
	struct mg_slot *slot = &link->outbox->slots[at];
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot,
		.length = (uint32_t)(sizeof(slot->header) + slot->header.bytes),
		.lkey = link->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(link->sent & IMM_COUNT),
		.wr.rdma = {.remote_addr = link->remote + at * sizeof(*slot), .rkey = link->rkey},
	};
	int rc;

	slot->header.magic = HEADER_MAGIC;
	rc = post(link, WORK_SLOT, &wr);
	if (rc)
		mg_link_fail(link, "a write to rank %u: %s", link->peer, strerror(rc));
	else
		link->sent++;
}

const struct mg_slot *mg_link_front(const struct mg_link *link)
{
	/* What came before a link failed is whole. */
	if (link->taken == link->arrived)
		return NULL;
	return &link->inbox->slots[link->taken % SLOTS];
}

static void give_credit(struct mg_link *link)
{
	if (link->taken - link->returned >= CREDIT_EVERY &&
	    post_control(link, IMM_CREDIT, link->taken, NULL))
		link->returned = link->taken;
}

void mg_link_take(struct mg_link *link)
{
	link->taken++;
	give_credit(link);
}

void mg_link_ping(struct mg_link *link)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = link->remote, .rkey = link->rkey},
	};

	if (link->failed[0] || link->pinging || link->control >= CONTROL_MAX)
		return;
	if (post(link, WORK_PING, &wr) == 0) {
		link->control++;
		link->pinging = true;
	}
}

void mg_link_tell(struct mg_link *link, const char *why)
{
	snprintf(link->outbox->why, sizeof(link->outbox->why), "%s", why);
	(void)post_control(link, IMM_BROKEN, 0, link->outbox->why);
}

void mg_link_leave(struct mg_link *link)
{
	(void)post_control(link, IMM_LEAVE, link->arrived, NULL);
}

/*
 * All that the peer sent has come, and it says what came to it: acknowledgements are not needed any
 * more, and in ERR nothing is sent again to who may be gone already.
 */
static void take_leave(struct mg_link *link, uint32_t count)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	uint32_t more = (count - link->acked) & IMM_COUNT;

	if (more <= link->sent - link->acked)
		link->acked += more;
	link->left = true;
	mg_link_fail(link, "rank %u has left the group", link->peer);
	/* Cannot fail in RTS. */
	(void)mrc_modify_qp(link->qp, &attr, IBV_QP_STATE, NULL, 0);
}

static bool is_well_formed(const struct mg_slot *slot, uint32_t written)
{
	return written >= sizeof(slot->header) && slot->header.magic == HEADER_MAGIC &&
	       slot->header.bytes == written - sizeof(slot->header) &&
	       slot->header.bytes <= PAYLOAD_MAX;
}

static void take_slot(struct mg_link *link, uint32_t count, uint32_t written)
{
	const struct mg_slot *slot = &link->inbox->slots[link->arrived % SLOTS];

	if (link->arrived - link->taken >= SLOTS || count != (link->arrived & IMM_COUNT) ||
	    !is_well_formed(slot, written))
		mg_link_fail(link, "rank %u sent what is no message of this version", link->peer);
	else
		link->arrived++;
}

static void take_credit(struct mg_link *link, uint32_t count)
{
	uint32_t more = (count - link->credited) & IMM_COUNT;

	if (more > link->sent - link->credited)
		mg_link_fail(link, "rank %u takes more than was sent", link->peer);
	else
		link->credited += more;
}

static void take_receive(struct mg_group *g, struct mg_link *link, const struct ibv_wc *wc)
{
	uint32_t imm = ntohl(wc->imm_data);

	mg_post_receive(link);
	switch (imm >> IMM_COUNT_BITS) {
	case IMM_SLOT:
		take_slot(link, imm & IMM_COUNT, wc->byte_len);
		g->requests_came |= link->channel == CHANNEL_REQUESTS;
		break;
	case IMM_CREDIT:
		take_credit(link, imm & IMM_COUNT);
		break;
	case IMM_BROKEN:
		link->inbox->why[MG_TEXT_MAX - 1] = '\0';
		mg_break_quietly(g, link->peer, link->inbox->why);
		break;
	default:
		take_leave(link, imm & IMM_COUNT);
	}
}

static void take_completion(struct mg_group *g, const struct ibv_wc *wc)
{
	struct mg_link *link = (struct mg_link *)((uintptr_t)wc->wr_id & ~(uintptr_t)WORK_BITS);
	enum work work = (enum work)(wc->wr_id & WORK_BITS);

	if (link->failed[0])
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		mg_link_fail(link, "rank %u is gone: %s", link->peer,
			     ibv_wc_status_str(wc->status));
		return;
	}
	link->heard_ns = mg_now_ns();
	if (work == WORK_RECEIVE) {
		take_receive(g, link, wc);
	} else if (work == WORK_SLOT) {
		link->acked++;
	} else {
		link->control--;
		link->pinging = link->pinging && work != WORK_PING;
		give_credit(link);
	}
}

unsigned mg_poll(struct mg_group *g)
{
	struct ibv_wc wc[POLL_BATCH];
	unsigned n = 0;
	int got;

	do {
		got = mrc_poll_cq(g->cq, POLL_BATCH, wc);
		for (int i = 0; i < got; i++)
			take_completion(g, &wc[i]);
		n += got > 0 ? (unsigned)got : 0;
	} while (got == POLL_BATCH);
	if (got < 0 && !g->broken)
		mg_break_with(g, "completion queue: %s", strerror(errno));
	return n;
}
