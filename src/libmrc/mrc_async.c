/* SPDX-License-Identifier: BSD-2-Clause */
/* async.c - asynchronous events of an MRC context. REQ(api.async) */
#include "libmrc/libmrc.h"

#include "base/assert.h"

/* The device shows one port, whatever the number of its planes. */
#define PORT_NUM 1

static void event_from_nic(const struct mh_async_event *nic, struct mrc_async_event *event)
{
	*event = (struct mrc_async_event){0};
	switch (nic->type) {
	case MH_ASYNC_CQ_ERR:
		event->event_type = IBV_EVENT_CQ_ERR;
		event->element.cq = nic->owner;
		break;
	case MH_ASYNC_QP_FATAL:
		event->event_type = iv_qp_event(nic->status);
		event->element.qp = nic->owner;
		break;
	case MH_ASYNC_SQ_DRAINED:
		event->event_type = IBV_EVENT_SQ_DRAINED;
		event->element.qp = nic->owner;
		break;
	case MH_ASYNC_LAST_WQE:
	case MH_ASYNC_SRQ_LIMIT:
		mb_unreachable(); /* QPs of MRC have no SRQ */
	case MH_ASYNC_PORT_DOWN:
		event->event_type = IBV_EVENT_PORT_ERR;
		event->element.port_num = PORT_NUM;
		break;
	case MH_ASYNC_PORT_UP:
		event->event_type = IBV_EVENT_PORT_ACTIVE;
		event->element.port_num = PORT_NUM;
		break;
	}
}

int mrc_get_async_event(struct mrc_context *mrc_ctx, struct mrc_async_event *event)
{
	struct mh_async_event nic;
	int err;

	if (!mrc_ctx || !event)
		return ma_minus_one(EINVAL);
	err = mh_async_get(mrc_ctx->dev, &nic);
	while (!err && iv_event_is_reported(&nic)) {
		mh_async_ack(mrc_ctx->dev, &nic);
		err = mh_async_get(mrc_ctx->dev, &nic);
	}
	if (err)
		return ma_minus_one(err);
	event_from_nic(&nic, event);
	return 0;
}

/* Events of the port name no object that waits for an acknowledgement. */
void mrc_ack_async_event(struct mrc_async_event *event)
{
	struct mh_async_event nic = {0};

	if (!event)
		return;
	if (iv_is_qp_event(event->event_type)) {
		nic.type = iv_qp_event_to_nic(event->event_type);
		nic.owner = event->element.qp;
		nic.qp = event->element.qp->nic;
		mh_async_ack(event->element.qp->ctx->dev, &nic);
	} else if (event->event_type == IBV_EVENT_CQ_ERR) {
		nic.type = MH_ASYNC_CQ_ERR;
		nic.owner = event->element.cq;
		nic.cq = event->element.cq->nic;
		mh_async_ack(event->element.cq->ctx->dev, &nic);
	}
}
