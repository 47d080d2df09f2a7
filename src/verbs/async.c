/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.c - asynchronous events of a verbs context: of its port, its CQs and its QPs. MRC's own QPs
 * and CQs report to their own MRC context. REQ(api.async)
 */
#include "verbs/verbs.h"

/* A responder fails by what its peer asked for; IBTA has an event for each of the two cases. */
static enum ibv_event_type qp_event(enum mh_wc_status status)
{
	if (status == MH_WC_REM_ACCESS_ERR)
		return IBV_EVENT_QP_ACCESS_ERR;
	if (status == MH_WC_REM_INV_REQ_ERR)
		return IBV_EVENT_QP_REQ_ERR;
	return IBV_EVENT_QP_FATAL;
}

static void event_from_nic(const struct mh_async_event *nic, struct ibv_async_event *event)
{
	*event = (struct ibv_async_event){0};
	switch (nic->type) {
	case MH_ASYNC_CQ_ERR:
		event->event_type = IBV_EVENT_CQ_ERR;
		event->element.cq = nic->owner;
		break;
	case MH_ASYNC_QP_FATAL:
		event->event_type = qp_event(nic->status);
		event->element.qp = nic->owner;
		break;
	case MH_ASYNC_SQ_DRAINED:
		event->event_type = IBV_EVENT_SQ_DRAINED;
		event->element.qp = nic->owner;
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

/* A QP that failed as requester has said so by a completion; verbs reports no event for it. */
static bool told_by_completion(const struct mh_async_event *nic)
{
	return nic->type == MH_ASYNC_QP_FATAL && !nic->responder;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct mh_async_event nic;
	int err;

	if (!context || !event)
		return mv_minus_one(EINVAL);
	err = mh_async_get(mv_context(context)->nic, &nic);
	while (!err && told_by_completion(&nic)) {
		mh_async_ack(mv_context(context)->nic, &nic);
		err = mh_async_get(mv_context(context)->nic, &nic);
	}
	if (err)
		return mv_minus_one(err);
	event_from_nic(&nic, event);
	return 0;
}

static bool is_qp_event(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_SQ_DRAINED;
}

/* Events of the port name no object whose destruction waits for an acknowledgement. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct mh_async_event nic = {0};

	if (!event)
		return;
	if (is_qp_event(event->event_type)) {
		nic.type = event->event_type == IBV_EVENT_SQ_DRAINED ? MH_ASYNC_SQ_DRAINED
								     : MH_ASYNC_QP_FATAL;
		nic.owner = event->element.qp;
		nic.qp = mv_qp(event->element.qp)->nic;
		mh_async_ack(mv_context(event->element.qp->context)->nic, &nic);
	} else if (event->event_type == IBV_EVENT_CQ_ERR) {
		nic.type = MH_ASYNC_CQ_ERR;
		nic.owner = event->element.cq;
		nic.cq = mv_cq(event->element.cq)->nic;
		mh_async_ack(mv_context(event->element.cq->context)->nic, &nic);
	}
}
