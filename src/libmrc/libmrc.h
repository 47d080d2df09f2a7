/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmrc.h - what the objects of mrc.h are inside libmrc: thin wrappers of the NIC's objects that
 * remember what only the API knows. Private to src/libmrc; its functions begin with ma_.
 */
#ifndef SOFTMRC_LIBMRC_LIBMRC_H
#define SOFTMRC_LIBMRC_LIBMRC_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <infiniband/verbs.h>

/* The library is compiled with hidden symbols; the calls of its two headers are what it shows. */
#pragma GCC visibility push(default)
#include <mrc.h>
#include <mrc_ctl.h>
#pragma GCC visibility pop

#include "host/nic.h"
#include "ibv/ibv_to_nic.h"
#include "node/node_state.h"

/* The device has one completion vector. */
#define MA_COMP_VECTOR 0
/* The one algorithm of congestion control, as the API names it. */
#define MA_NSCC "uet-1.0-nscc"
/* Hints cost memory only; the bound keeps a leak from growing for ever. */
#define MA_HINTS_MAX 4096u

/*
 * An MRC context is an opening of the NIC of its own, so its asynchronous events are its own too
 * and never end up with a thread that waits in ibv_get_async_event.
 */
struct mrc_context {
	struct ibv_context *verbs; /* whose PDs its QPs may use */
	struct mh_device *dev;
	uint32_t api_version; /* that the program was built with, as far as it says */
	pthread_mutex_t lock; /* hints and their users, attributes that only the API keeps */
	unsigned int n_hints;
};

struct mrc_comp_channel {
	struct mrc_context *ctx;
	struct mh_channel *nic;
};

struct mrc_cq {
	struct mrc_context *ctx;
	struct mh_cq *nic;
	void *user;
	atomic_uint unacked; /* events taken and not yet acknowledged */
};

/* ma_cq_create makes a CQ by `create`, mh_cq_create or mh_ev_cq_create. NULL and errno. */
struct mrc_cq *ma_cq_create(struct mrc_context *ctx, int cqe, void *user,
			    struct mrc_comp_channel *channel, int comp_vector,
			    __typeof__(mh_cq_create) *create);

struct mrc_qp_hint {
	struct mrc_context *ctx;
	struct mrc_qp_hint_attr attr;
	unsigned int users;
};

struct mrc_qp {
	struct mrc_context *ctx;
	struct mh_qp *nic;
	struct mrc_qp_init_attr init; /* cap as granted */
	/* Under ctx->lock: attributes that the NIC does not know. */
	struct mrc_qp_hint *hint;
	uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

/* Of the three ways of mrc.h to report an errno value, each of which sets errno, the one that
 * returns it; iv_minus_one and iv_null are the others. REQ(api.errors) */
static inline int ma_errno(int err)
{
	if (err)
		errno = err;
	return err;
}

/*
 * ma_context_lock takes ctx->lock. ENODEV, and nothing is locked: the process is a forked child of
 * the one that opened the context, and who holds the lock may not exist here.
 */
int ma_context_lock(struct mrc_context *ctx);
void ma_context_unlock(struct mrc_context *ctx);
/*
 * ma_query_device fills in attributes of the device that a context is of, or zeroes their `bytes`
 * if it is none of ours; *supported says which. EINVAL: an argument is NULL.
 */
int ma_query_device(const struct ibv_context *context, void *attr, size_t bytes, int *supported,
		    void (*fill)(const struct mh_device_attr *nic, void *attr));
/* ma_ev_call_is_valid says whether a call about an EV profile makes sense, whichever way. */
bool ma_ev_call_is_valid(const struct mrc_context *ctx, const struct mrc_ctl_ev_profile_attr *attr,
			 int mask);
struct mn_ev ma_ev_to_node(const struct mrc_ctl_ev *ev);
/* ma_own_ev fills in EV i of the device's own, where consecutive EVs are of different ports; false:
 * there are no more. */
bool ma_own_ev(const struct mh_device *dev, const struct mh_device_attr *nic, uint32_t i,
	       struct mn_ev *ev);
/* ma_ev_fmt_mode returns how the device's packets carry EVs. */
enum mrc_ctl_ev_fmt_mode ma_ev_fmt_mode(const struct mh_device_attr *nic);
/*
 * ma_vattr_to_nic and ma_mrc_attr_to_nic translate the attributes that the masks name and add the
 * NIC's mask bits for them. EINVAL: a mask bit or value that mrc_modify_qp refuses.
 */
int ma_vattr_to_nic(const struct ibv_qp_attr *vattr, int vattr_mask, struct rd_qp_attr *attr,
		    uint32_t *mask);
int ma_mrc_attr_to_nic(const struct mrc_qp_attr *mrc_attr, int mrc_attr_mask,
		       struct rd_qp_attr *attr, uint32_t *mask);
/* ma_vattr_from_nic fills in all of vattr; ma_mrc_attr_from_nic all that the NIC knows. */
void ma_vattr_from_nic(const struct rd_qp_attr *attr, struct ibv_qp_attr *vattr);
void ma_mrc_attr_from_nic(const struct rd_qp_attr *attr, struct mrc_qp_attr *mrc_attr);
/* The bits that mrc_modify_qp and mrc_query_qp know. */
extern const int ma_vattr_known;
extern const int ma_mrc_attr_known;

#endif
