/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_ev_event.c - CQs of EV events. REQ(ctl.event-queue) */
#include "libmrc/libmrc.h"

#include <stddef.h>
#include <string.h>

/* Events are copied from the NIC in such batches. */
#define BATCH 16

struct mrc_cq *mrc_ctl_create_ev_event_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
					  struct mrc_comp_channel *channel, int comp_vector)
{
	return ma_cq_create(mrc_ctx, cqe, cq_context, channel, comp_vector, mh_ev_cq_create);
}

/* Events of a program that says it is of 1.0.0 are shorter: they end before the state. */
static size_t event_bytes(const struct mrc_context *ctx)
{
	bool short_one =
		ctx->api_version >= MRC_API_VER(1, 0, 0) && ctx->api_version < MRC_API_VER(1, 0, 1);

	return short_one ? offsetof(struct mrc_ctl_ev_event, state)
			 : sizeof(struct mrc_ctl_ev_event);
}

static void write_event(const struct mh_ev_event *from, uint8_t *to, size_t bytes)
{
	struct mrc_ctl_ev_event event = {.profile_id = from->profile,
					 .ev = {.port = from->port},
					 .drop_count = from->dropped,
					 .state = from->good ? MRC_CTL_EV_GOOD
							     : MRC_CTL_EV_ASSUMED_BAD};

	memcpy(event.ev.val, from->val, sizeof(event.ev.val));
	memcpy(to, &event, bytes);
}

int mrc_ctl_poll_ev_event(struct mrc_cq *ev_cq, int num_entries, struct mrc_ctl_ev_event *ev_event)
{
	struct mh_ev_event events[BATCH];
	uint8_t *to = (uint8_t *)ev_event;
	int all = 0, got;

	if (!ev_cq || !ev_event || num_entries < 0)
		return -ma_errno(EINVAL);
	/* Whether it can be polled, which none of the batches changes. */
	got = mh_ev_cq_poll(ev_cq->nic, 0, events);
	if (got < 0)
		return -ma_errno(-got);
	do {
		int want = num_entries - all < BATCH ? num_entries - all : BATCH;

		got = mh_ev_cq_poll(ev_cq->nic, (uint32_t)want, events);
		for (int i = 0; i < got; i++, to += event_bytes(ev_cq->ctx))
			write_event(&events[i], to, event_bytes(ev_cq->ctx));
		all += got;
	} while (got == BATCH);
	return all;
}
