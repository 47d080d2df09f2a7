/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.c - asynchronous events of a verbs context, which are those of its port. MRC's QPs and CQs
 * report to their own MRC context.
 */
#include "verbs/verbs.h"

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct mh_async_event nic;
	int err;

	if (!context || !event)
		return mv_minus_one(EINVAL);
	err = mh_async_get(mv_context(context)->nic, &nic);
	if (err)
		return mv_minus_one(err);
	*event = (struct ibv_async_event){
		.element.port_num = MV_PORT,
		.event_type =
			nic.type == MH_ASYNC_PORT_UP ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR,
	};
	/* No object's destruction waits for it. */
	mh_async_ack(mv_context(context)->nic, &nic);
	return 0;
}

/* Nothing that these events name can be destroyed, so there is nothing to count. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
