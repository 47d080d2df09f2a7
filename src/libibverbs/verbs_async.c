/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_async.c - asynchronous events of a verbs context: of its port, its CQs and its QPs. MRC's
 * own QPs and CQs report to their own MRC context. REQ(api.async)
 */
#include "libibverbs/real_library.h"

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct mh_async_event nic;
	int err;

	MV_TO_REAL(mv_real_of_context(context), ibv_get_async_event, (context, event));
	if (!context || !event)
		return iv_minus_one(EINVAL);
	err = iv_get_async_event(mv_context(context)->nic, &nic);
	if (err)
		return iv_minus_one(err);
	*event = (struct ibv_async_event){.event_type = iv_event_type(&nic)};
	if (nic.cq)
		event->element.cq = nic.owner;
	else if (nic.qp)
		event->element.qp = nic.owner;
	else if (nic.srq)
		event->element.srq = nic.owner;
	else
		event->element.port_num = MV_PORT;
	return 0;
}

/* The object that an event names, NULL for those of a port or a device: acknowledged they are
 * done. */
static const void *named(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return event->element.srq;
	case IBV_EVENT_WQ_FATAL:
		return event->element.wq;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return event->element.qp;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		break;
	}
	return NULL;
}

/* Events of the port name no object whose destruction waits for an acknowledgement. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct mh_async_event nic = {0};

	if (!event)
		return;
	MV_TO_REAL_VOID(mv_real_of(named(event)), ibv_ack_async_event, (event));
	if (iv_is_qp_event(event->event_type)) {
		struct ibv_qp *qp = event->element.qp;

		iv_ack_qp_event(mv_context(qp->context)->nic, event->event_type, mv_qp(qp)->nic);
	} else if (event->event_type == IBV_EVENT_CQ_ERR) {
		nic.type = MH_ASYNC_CQ_ERR;
		nic.cq = mv_cq(event->element.cq)->nic;
		mh_async_ack(mv_context(event->element.cq->context)->nic, &nic);
	} else if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
		nic.type = MH_ASYNC_SRQ_LIMIT;
		nic.srq = mv_srq(event->element.srq)->nic;
		mh_async_ack(mv_context(event->element.srq->context)->nic, &nic);
	}
}
