/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_async.c - asynchronous events of an MRC context. REQ(api.async) */
#include "libmrc/libmrc.h"

/* The device shows one port, whatever the number of its planes. */
#define PORT_NUM 1

int mrc_get_async_event(struct mrc_context *mrc_ctx, struct mrc_async_event *event)
{
	struct mh_async_event nic;
	int err;

	if (!mrc_ctx || !event)
		return iv_minus_one(EINVAL);
	err = iv_get_async_event(mrc_ctx->dev, &nic);
	if (err)
		return iv_minus_one(err);
	*event = (struct mrc_async_event){.event_type = iv_event_type(&nic)};
	if (nic.cq)
		event->element.cq = nic.owner;
	else if (nic.qp)
		event->element.qp = nic.owner;
	else
		event->element.port_num = PORT_NUM;
	return 0;
}

/* Events of the port name no object that waits for an acknowledgement. */
void mrc_ack_async_event(struct mrc_async_event *event)
{
	if (!event)
		return;
	if (iv_is_qp_event(event->event_type)) {
		const struct mrc_qp *qp = event->element.qp;

		iv_ack_qp_event(qp->ctx->dev, event->event_type, qp->nic);
	} else if (event->event_type == IBV_EVENT_CQ_ERR) {
		const struct mrc_cq *cq = event->element.cq;
		struct mh_async_event nic = {.type = MH_ASYNC_CQ_ERR, .cq = cq->nic};

		mh_async_ack(cq->ctx->dev, &nic);
	}
}
