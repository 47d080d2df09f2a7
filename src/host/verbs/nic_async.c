/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_async.c - asynchronous events: an event queue of each opening, with CQs, QPs and the device
 * as sources.
 *
 * An event is no copy of what happened but its source: what it says is read when it is taken. The
 * source is part of an object that cannot be destroyed before the event is acknowledged, so reading
 * it needs no lock.
 */
#include <errno.h>

#include "base/assert.h"
#include "host/state/nic_context.h"

int mh_async_fd(const struct mh_device *dev)
{
	return dev->events.fd;
}

int mh_async_get(struct mh_device *dev, struct mh_async_event *event)
{
	struct mh_event_source *source;
	int err;

	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	err = mh_event_get(&dev->events, &source);
	if (err)
		return err;
	*event = (struct mh_async_event){.type = (enum mh_async_type)source->kind};
	switch (event->type) {
	case MH_ASYNC_CQ_ERR:
		event->cq = source->object;
		event->owner = event->cq->owner;
		break;
	case MH_ASYNC_QP_FATAL:
		event->qp = source->object;
		event->owner = event->qp->init.owner;
		event->status = event->qp->why;
		event->responder = event->qp->responder;
		break;
	case MH_ASYNC_SQ_DRAINED:
	case MH_ASYNC_LAST_WQE:
		event->qp = source->object;
		event->owner = event->qp->init.owner;
		break;
	case MH_ASYNC_SRQ_LIMIT:
		event->srq = source->object;
		event->owner = event->srq->owner;
		break;
	case MH_ASYNC_PORT_DOWN:
	case MH_ASYNC_PORT_UP:
		event->owner = dev->owner;
		break;
	}
	return 0;
}

/* The sources lie in their objects, so raising an event allocates nothing. */
static struct mh_event_source *async_source(struct mh_device *dev,
					    const struct mh_async_event *event)
{
	switch (event->type) {
	case MH_ASYNC_CQ_ERR:
		return &event->cq->overrun;
	case MH_ASYNC_QP_FATAL:
		return &event->qp->fatal;
	case MH_ASYNC_SQ_DRAINED:
		return &event->qp->drained;
	case MH_ASYNC_LAST_WQE:
		return &event->qp->last_wqe;
	case MH_ASYNC_SRQ_LIMIT:
		return &event->srq->limit;
	case MH_ASYNC_PORT_DOWN:
		return &dev->port_down;
	case MH_ASYNC_PORT_UP:
		return &dev->port_up;
	}
	mb_unreachable();
}

void mh_async_ack(struct mh_device *dev, const struct mh_async_event *event)
{
	if (mh_nic_is_inherited(dev->nic))
		return;
	mh_event_ack(&dev->events, async_source(dev, event), 1);
}
