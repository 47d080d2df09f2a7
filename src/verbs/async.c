/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.c - asynchronous events of a verbs context: of its port, its CQs and its QPs. MRC's own QPs
 * and CQs report to their own MRC context. REQ(api.async)
 */
#include "verbs/verbs.h"

static void event_from_nic(const struct mh_async_event *nic, struct ibv_async_event *event)
{
	*event = (struct ibv_async_event){0};
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
		event->event_type = IBV_EVENT_QP_LAST_WQE_REACHED;
		event->element.qp = nic->owner;
		break;
	case MH_ASYNC_SRQ_LIMIT:
		event->event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
		event->element.srq = nic->owner;
		break;
	case MH_ASYNC_PORT_DOWN:
		event->event_type = IBV_EVENT_PORT_ERR;
		event->element.port_num = MV_PORT;
		break;
	case MH_ASYNC_PORT_UP:
		event->event_type = IBV_EVENT_PORT_ACTIVE;
		event->element.port_num = MV_PORT;
		break;
	}
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct mh_async_event nic;
	int err;

	if (!context || !event)
		return mv_minus_one(EINVAL);
	err = mh_async_get(mv_context(context)->nic, &nic);
	while (!err && iv_event_is_told(&nic)) {
		mh_async_ack(mv_context(context)->nic, &nic);
		err = mh_async_get(mv_context(context)->nic, &nic);
	}
	if (err)
		return mv_minus_one(err);
	event_from_nic(&nic, event);
	return 0;
}

/* Events of the port name no object whose destruction waits for an acknowledgement. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct mh_async_event nic = {0};

	if (!event)
		return;
	if (iv_event_is_of_qp(event->event_type)) {
		nic.type = iv_event_of_qp_to_nic(event->event_type);
		nic.owner = event->element.qp;
		nic.qp = mv_qp(event->element.qp)->nic;
		mh_async_ack(mv_context(event->element.qp->context)->nic, &nic);
	} else if (event->event_type == IBV_EVENT_CQ_ERR) {
		nic.type = MH_ASYNC_CQ_ERR;
		nic.owner = event->element.cq;
		nic.cq = mv_cq(event->element.cq)->nic;
		mh_async_ack(mv_context(event->element.cq->context)->nic, &nic);
	} else if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
		nic.type = MH_ASYNC_SRQ_LIMIT;
		nic.owner = event->element.srq;
		nic.srq = mv_srq(event->element.srq)->nic;
		mh_async_ack(mv_context(event->element.srq->context)->nic, &nic);
	}
}
