/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endpoint.h - an endpoint: a QP and all that it needs, opened by one call and closed by one.
 *
 * Before a QP can be made, a program opens a device and makes a PD, an MR, an MRC context and a CQ.
 * Where it has no wishes of its own, that is always the same:
 *
 *	mrc_endpoint_open(&ep, &attr)                a QP in RESET
 *	mrc_meet(ep.qp, ep.mr, fd, fd, ms, &peer)    in RTS (mrc/meet.h)
 *	mrc_post_send(ep.qp, ...), mrc_poll_cq(ep.cq, ...)
 *	mrc_endpoint_close(&ep)
 *
 * What is in an endpoint is the same as if the program had made it by itself, and it may go on from
 * there: further QPs on ep.context, with ep.pd and ep.cq, further MRs of ep.pd.
 *
 * Both calls are inline, and no part of an ABI. In libmrc.so.1 they could not be: libibverbs.so.1,
 * which has the device, stands upon libmrc.so.1, and which libibverbs.so.1 is loaded is the
 * program's choice.
 */
#ifndef MRC_ENDPOINT_H
#define MRC_ENDPOINT_H

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include <mrc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an endpoint is to be. All zero but qp.cap is a good choice where no memory is wanted. */
struct mrc_endpoint_attr {
	/* Name of the verbs device, such as "mrc0"; NULL: the first that speaks MRC and opens. */
	const char *device;
	/* Memory to register, of the program's own, for the QP to send from and for the peer to
	 * write to; it stays until the endpoint is closed. NULL: no MR; length is not read. */
	void *addr;
	size_t length; /* of it, in bytes, 1 or more */
	/* As of mrc_create_qp; its pd, send_cq and recv_cq are the endpoint's, and not read. */
	struct mrc_qp_init_attr qp;
	/* Completions that the CQ holds, as of mrc_create_cq; 0: as many as the QP has WRs. More
	 * is needed where further QPs complete there. */
	int cqe;
	/* Not 0: the CQ has a completion channel, through which it wakes a program that sleeps. */
	int with_channel;
};

/* An endpoint. What is NULL is not there; a program may destroy something earlier and set it so. */
struct mrc_endpoint {
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr; /* of attr.addr; for local use and for WRITEs of the peer */
	struct mrc_context *context;
	struct mrc_comp_channel *channel;
	struct mrc_cq *cq; /* of sends and receives */
	struct mrc_qp *qp;
	/* After an error the name of the call that failed, such as "ibv_reg_mr"; else NULL. */
	const char *failed;
};

/* ---------------------------------------------------------------- open and close */

/*
 * mrc_endpoint_open opens a device and makes a QP with all that it needs. The QP is in RESET.
 *
 * ep    out: the endpoint, which the caller closes by mrc_endpoint_close. After an error nothing is
 *       open, and all of it is NULL but ep->failed, which says of which call the error is
 * attr  what it is to be; read during the call
 *
 * It may be called from any thread; an endpoint is the caller's own structure, and two threads may
 * not open or close the same one at once. It does not block. Each endpoint has its own PD and
 * context: QPs that share memory or a CQ are made from one endpoint. Returns 0 or an errno value,
 * and sets errno to it:
 * EINVAL      ep or attr is NULL, and ep->failed is not set; length, cqe or qp is out of range; a
 *             setting of the device is none, which a line on stderr names
 * ENODEV      there is no device of that name, or none that speaks MRC: `mrc doctor` says why
 * EOPNOTSUPP  the device of that name does not speak MRC
 * ENOMEM      no memory
 * EMFILE      and others, of the call that ep->failed names: its page says what to do
 */
static inline int mrc_endpoint_open(struct mrc_endpoint *ep, const struct mrc_endpoint_attr *attr);

/*
 * mrc_endpoint_close destroys what is in an endpoint: QP, CQ, channel, context, MR, PD, device, in
 * this order. What is destroyed is NULL afterwards, so an endpoint may be closed again; the program
 * owns the memory as before.
 *
 * ep  as mrc_endpoint_open left it, or all zero
 *
 * It BLOCKS until completion and asynchronous events of the CQ and the QP are acknowledged. Returns
 * 0 or an errno value, and sets errno to it. What could not be destroyed, and what it was made
 * from, is still there, and ep->failed says which call that was:
 * EINVAL   ep is NULL
 * EBUSY    something that the program has made from it still exists; destroy it, and close again
 * ENODEV   the process is a child of the one that opened it, which alone can close it
 */
static inline int mrc_endpoint_close(struct mrc_endpoint *ep);

/* ---------------------------------------------------------------- how they do it */

/* Notes an error and the call that had it. Returns the error. */
static inline int mrc_endpoint_note_(struct mrc_endpoint *ep, const char *call, int err)
{
	if (err) {
		ep->failed = call;
		errno = err;
	}
	return err;
}

/* The same of a call that tells its error by errno. */
static inline int mrc_endpoint_note_errno_(struct mrc_endpoint *ep, const char *call, int good)
{
	return good ? 0 : mrc_endpoint_note_(ep, call, errno ? errno : EIO);
}

/* Opens a device that speaks MRC; EOPNOTSUPP: it does not. */
static inline int mrc_endpoint_try_(struct mrc_endpoint *ep, struct ibv_device *device)
{
	struct mrc_device_attr attr;
	int supported = 0;

	ep->device = ibv_open_device(device);
	if (!ep->device)
		return errno ? errno : EIO;
	if (mrc_query_device(ep->device, &attr, &supported) == 0 && supported)
		return 0;
	(void)ibv_close_device(ep->device);
	ep->device = NULL;
	return EOPNOTSUPP;
}

/* A device that nobody named and that does not speak MRC hides no error of one that does. */
static inline int mrc_endpoint_find_(struct mrc_endpoint *ep, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int err = mrc_endpoint_note_errno_(ep, "ibv_get_device_list", list != NULL);

	if (err)
		return err;
	err = mrc_endpoint_note_(ep, "ibv_get_device_list", ENODEV);
	for (int i = 0; list[i] && !ep->device; i++) {
		int one;

		if (name && strcmp(name, ibv_get_device_name(list[i])) != 0)
			continue;
		one = mrc_endpoint_try_(ep, list[i]);
		if (one == EOPNOTSUPP && !name)
			continue;
		err = mrc_endpoint_note_(
			ep, one == EOPNOTSUPP ? "mrc_query_device" : "ibv_open_device", one);
	}
	ibv_free_device_list(list);
	return err;
}

static inline int mrc_endpoint_make_cq_(struct mrc_endpoint *ep,
					const struct mrc_endpoint_attr *attr)
{
	const struct ibv_qp_cap *cap = &attr->qp.cap;
	uint64_t wrs = (uint64_t)cap->max_send_wr + cap->max_recv_wr;
	int cqe = attr->cqe ? attr->cqe : wrs < INT_MAX ? (int)wrs : INT_MAX;
	int err = 0;

	if (attr->with_channel)
		err = mrc_endpoint_note_(ep, "mrc_create_comp_channel",
					 mrc_create_comp_channel(ep->context, &ep->channel));
	if (err)
		return err;
	ep->cq = mrc_create_cq(ep->context, cqe, NULL, ep->channel, 0);
	return mrc_endpoint_note_errno_(ep, "mrc_create_cq", ep->cq != NULL);
}

/* What is made on an open device. */
static inline int mrc_endpoint_make_(struct mrc_endpoint *ep, const struct mrc_endpoint_attr *attr)
{
	struct mrc_qp_init_attr qp = attr->qp;
	int err;

	ep->pd = ibv_alloc_pd(ep->device);
	err = mrc_endpoint_note_errno_(ep, "ibv_alloc_pd", ep->pd != NULL);
	if (!err && attr->addr) {
		ep->mr = ibv_reg_mr(ep->pd, attr->addr, attr->length,
				    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		err = mrc_endpoint_note_errno_(ep, "ibv_reg_mr", ep->mr != NULL);
	}
	if (!err) {
		ep->context = mrc_create_context(ep->device, NULL);
		err = mrc_endpoint_note_errno_(ep, "mrc_create_context", ep->context != NULL);
	}
	if (!err)
		err = mrc_endpoint_make_cq_(ep, attr);
	if (err)
		return err;
	qp.pd = ep->pd;
	qp.send_cq = qp.recv_cq = ep->cq;
	ep->qp = mrc_create_qp(ep->context, &qp);
	return mrc_endpoint_note_errno_(ep, "mrc_create_qp", ep->qp != NULL);
}

static inline int mrc_endpoint_open(struct mrc_endpoint *ep, const struct mrc_endpoint_attr *attr)
{
	const char *failed;
	int err;

	if (!ep || !attr) {
		errno = EINVAL;
		return EINVAL;
	}
	memset(ep, 0, sizeof(*ep));
	errno = 0;
	err = mrc_endpoint_find_(ep, attr->device);
	if (!err)
		err = mrc_endpoint_make_(ep, attr);
	failed = err ? ep->failed : NULL;
	if (err)
		(void)mrc_endpoint_close(ep);
	ep->failed = failed;
	if (err)
		errno = err;
	return err;
}

static inline int mrc_endpoint_close(struct mrc_endpoint *ep)
{
	if (!ep) {
		errno = EINVAL;
		return EINVAL;
	}
	ep->failed = NULL;
	if (ep->qp && mrc_endpoint_note_(ep, "mrc_destroy_qp", mrc_destroy_qp(ep->qp)))
		return errno;
	ep->qp = NULL;
	if (ep->cq && mrc_endpoint_note_(ep, "mrc_destroy_cq", mrc_destroy_cq(ep->cq)))
		return errno;
	ep->cq = NULL;
	if (ep->channel && mrc_endpoint_note_(ep, "mrc_destroy_comp_channel",
					      mrc_destroy_comp_channel(ep->channel)))
		return errno;
	ep->channel = NULL;
	if (ep->context && mrc_endpoint_note_errno_(ep, "mrc_destroy_context",
						    mrc_destroy_context(ep->context) == 0))
		return errno;
	ep->context = NULL;
	if (ep->mr && mrc_endpoint_note_(ep, "ibv_dereg_mr", ibv_dereg_mr(ep->mr)))
		return errno;
	ep->mr = NULL;
	if (ep->pd && mrc_endpoint_note_(ep, "ibv_dealloc_pd", ibv_dealloc_pd(ep->pd)))
		return errno;
	ep->pd = NULL;
	if (ep->device &&
	    mrc_endpoint_note_errno_(ep, "ibv_close_device", ibv_close_device(ep->device) == 0))
		return errno;
	ep->device = NULL;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
