/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs.h - what the files behind nic.h call of each other. Each entry point takes nic->lock, calls
 * the engine and asks progress.h for a run; nothing below calls up here.
 */
#ifndef SOFTMRC_HOST_VERBS_VERBS_H
#define SOFTMRC_HOST_VERBS_VERBS_H

#include "host/state/nic_context.h"

/*
 * mh_nic_create makes the NIC that env describes, with all its shards, and returns the first; text
 * says what went wrong. What follows is called with the first, too.
 */
int mh_nic_create(const struct mh_env *env, struct mh_nic **nic, struct mio_error *error);
void mh_nic_destroy(struct mh_nic *nic);
/* mh_nic_close_inherited closes a forked child's copies of all descriptors; the memory stays. */
void mh_nic_close_inherited(struct mh_nic *nic);
/* mh_nic_fill_attr fills in the constant attributes of a NIC with this configuration. */
void mh_nic_fill_attr(const struct mh_env *env, struct mh_device_attr *attr);

/*
 * mh_mw_post_bind queues the bind of a WR on a QP; mh_mw_post_invalidate a LOCAL_INV. Under
 * nic->lock. Errors as mh_qp_post_send.
 */
int mh_mw_post_bind(struct mh_qp *qp, const struct rd_send_wr *wr);
int mh_mw_post_invalidate(struct mh_qp *qp, const struct rd_send_wr *wr);

#endif
