/* SPDX-License-Identifier: BSD-2-Clause */
/* pd.c - protection domains. */
#include "verbs/verbs.h"

#include <stdlib.h>

/* REQ(api.verbs-objects) */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct mv_pd *pd;
	int err;

	if (!context)
		return mv_null(EINVAL);
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return mv_null(ENOMEM);
	pd->ibv.context = context;
	err = mh_pd_create(mv_context(context)->nic, &pd->ibv, &pd->nic);
	if (err) {
		free(pd);
		return mv_null(err);
	}
	return &pd->ibv;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int err;

	if (!pd)
		return EINVAL;
	err = mh_pd_destroy(mv_pd(pd)->nic);
	if (!err)
		free(mv_pd(pd));
	return err;
}
