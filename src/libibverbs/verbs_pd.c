/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_pd.c - protection domains, parent domains, thread domains. */
#include "libibverbs/real_library.h"

#include <stdlib.h>

/* REQ(api.verbs-objects) */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct mv_pd *pd;
	int err;

	MV_TO_REAL(mv_real_of_context(context), ibv_alloc_pd, (context));
	if (!context)
		return iv_null(EINVAL);
	pd = calloc(1, sizeof(*pd));
	err = pd ? mh_pd_create(mv_context(context)->nic, &pd->ibv, &pd->nic) : ENOMEM;
	if (err)
		return iv_drop(pd, err);
	pd->ibv.context = context;
	return &pd->ibv;
}

static int dealloc_parent_domain(struct mv_pd *pd)
{
	atomic_fetch_sub(&pd->parent->n_domains, 1);
	if (pd->td)
		atomic_fetch_sub(&pd->td->n_domains, 1);
	free(pd);
	return 0;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int err;

	MV_TO_REAL(mv_real_of(pd), ibv_dealloc_pd, (pd));
	if (!pd)
		return EINVAL;
	if (mv_pd(pd)->parent)
		return dealloc_parent_domain(mv_pd(pd));
	if (atomic_load(&mv_pd(pd)->n_domains) > 0)
		return EBUSY;
	err = mh_pd_destroy(mv_pd(pd)->nic);
	if (!err)
		free(mv_pd(pd));
	return err;
}

/* ---- parent domains, and the promise of a single thread ---- */

struct ibv_td *mv_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct mv_td *td;

	if (!context || !attr || attr->comp_mask)
		return iv_null(EINVAL);
	td = calloc(1, sizeof(*td));
	if (!td)
		return iv_null(ENOMEM);
	td->ibv.context = context;
	return &td->ibv;
}

int mv_dealloc_td(struct ibv_td *td)
{
	struct mv_td *own = (struct mv_td *)td;

	if (!td)
		return EINVAL;
	if (atomic_load(&own->n_domains) > 0)
		return EBUSY;
	free(own);
	return 0;
}

#define DOMAIN_MASK_KNOWN \
	((uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)

/*
 * A parent domain is its PD under another name. The queues of the device are not in memory that a
 * program could bring, so its allocators are never called; nor does a promise to use objects from
 * one thread change what they do.
 */
struct ibv_pd *mv_alloc_parent_domain(struct ibv_context *context,
				      struct ibv_parent_domain_init_attr *attr)
{
	struct mv_pd *pd;

	if (!context || !attr || attr->comp_mask & ~DOMAIN_MASK_KNOWN || !attr->pd ||
	    attr->pd->context != context || mv_pd(attr->pd)->parent ||
	    (attr->td && attr->td->context != context))
		return iv_null(EINVAL);
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return iv_null(ENOMEM);
	pd->ibv.context = context;
	pd->parent = mv_pd(attr->pd);
	pd->nic = pd->parent->nic;
	pd->td = (struct mv_td *)attr->td;
	atomic_fetch_add(&pd->parent->n_domains, 1);
	if (pd->td)
		atomic_fetch_add(&pd->td->n_domains, 1);
	return &pd->ibv;
}
