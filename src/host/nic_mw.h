/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_mw.h - memory windows inside host. */
#ifndef SOFTMRC_HOST_NIC_MW_H
#define SOFTMRC_HOST_NIC_MW_H

#include "host/nic_context.h"

struct mh_mw {
	struct mh_pd *pd;
	uint32_t key; /* of the bind that was posted last */
	enum rd_mw_type type;
};

/*
 * mh_mw_post_bind queues the bind of a WR on a QP; mh_mw_post_invalidate a LOCAL_INV. Under
 * nic->lock. Errors as mh_qp_post_send.
 */
int mh_mw_post_bind(struct mh_qp *qp, const struct rd_send_wr *wr);
int mh_mw_post_invalidate(struct mh_qp *qp, const struct rd_send_wr *wr);

#endif
