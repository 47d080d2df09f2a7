/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_endpoint.c - requests to other endpoints. The device reports that it sends none. */
#include "api/ctl.h"

int mrc_ctl_ep_batch_send_wait(struct mrc_context *mrc_ctx, uint8_t req_tc,
			       enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req *req,
			       int num_req, uint32_t rsp_timeout, struct mrc_ctl_ep_rsp *rsp,
			       int *num_rsp)
{
	(void)req_tc;
	(void)op_type;
	(void)rsp_timeout;
	if (!mrc_ctx || !req || num_req < 1 || !rsp || !num_rsp)
		return ma_minus_one(EINVAL);
	*num_rsp = 0;
	return ma_minus_one(ENOTSUP);
}
