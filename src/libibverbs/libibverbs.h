/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libibverbs.h - what the objects of libibverbs are inside the drop-in: their public structure
 * first, the NIC's object behind it. Private to src/libibverbs; its functions begin with mv_.
 *
 * The layouts are an ABI that programs reach into through inline functions:
 * - A context is handed out as the last field of a struct verbs_context, whose size is stored in
 *   `sz`: programs subtract, look whether the operation they know lies inside, and whether it is
 *   set. So what is left NULL is EOPNOTSUPP to them.
 * - context.ops is called without a look: poll_cq, req_notify_cq, post_send, post_recv,
 *   post_srq_recv, alloc_mw, bind_mw, dealloc_mw are always filled.
 */
#ifndef SOFTMRC_LIBIBVERBS_LIBIBVERBS_H
#define SOFTMRC_LIBIBVERBS_LIBIBVERBS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library is compiled with hidden symbols; what libibverbs.map lists must not be. */
#pragma GCC visibility push(default)
#include <infiniband/verbs.h>
#pragma GCC visibility pop

#include "host/nic.h"
#include "ibv/ibv_to_nic.h"

/* libibverbs.h wraps these in macros; here they are defined. */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* The device shows one port, whatever the number of its planes. */
#define MV_PORT 1
#define MV_P_KEY 0xffff

/* The locks of what a process has once, in the order in which they may be taken. */
enum mv_lock {
	MV_LOCK_LOADING, /* loading the system's library */
	MV_LOCK_DEVICES, /* the table of our devices, while it is filled in */
	MV_LOCK_LISTS,	 /* the lists that programs have */
	MV_LOCK_DRIVERS, /* drivers that have come before the system's library */
	MV_LOCKS,
};

/*
 * mv_lock and mv_unlock take and release one. Before those of the NIC; the process does not fork
 * meanwhile.
 */
void mv_lock(enum mv_lock which);
void mv_unlock(enum mv_lock which);

struct mv_context {
	struct verbs_context verbs; /* ends with the struct ibv_context that programs hold */
	struct mh_device *nic;
	int no_kernel_fd; /* what programs see as the kernel's: they copy it, and nothing answers */
};

struct mv_pd {
	struct ibv_pd ibv;
	struct mh_pd *nic;
	struct mv_pd *parent; /* of a parent domain: the PD that it stands for, with the same nic */
	struct mv_td *td;     /* that it was made with, or NULL */
	atomic_uint n_domains; /* parent domains that stand for it */
};

struct mv_td {
	struct ibv_td ibv;
	atomic_uint n_domains;
};

struct mv_ah {
	struct ibv_ah ibv;
	struct rd_ah nic;
};

struct mv_mr {
	struct ibv_mr ibv;
	struct mh_mr *nic;
};

struct mv_mw {
	struct ibv_mw ibv;
	struct mh_mw *nic;
};

struct mv_channel {
	struct ibv_comp_channel ibv;
	struct mh_channel *nic;
};

struct mv_cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex; /* begins as the other */
	};
	struct mh_cq *nic;
	atomic_uint unacked; /* events taken and not acknowledged */
	/* See verbs_cq_ex.c. */
	bool single_threaded;
	pthread_mutex_t polling;
	struct mh_wc now; /* the completion that is read, ... */
	struct ibv_wc wc; /* ... and the same as verbs has it */
};

struct mv_srq {
	struct ibv_srq ibv;
	struct mh_srq *nic;
};

struct mv_batch;

struct mv_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex; /* begins as the other */
	};
	struct mh_qp *nic;
	struct ibv_qp_cap cap;	 /* as granted */
	struct ibv_qp_attr kept; /* what of the attributes only verbs knows; under ibv.mutex */
	bool signal_all;
	struct mv_batch *batch; /* see verbs_qp_ex.c; NULL: WRs are only posted */
};

static inline struct mv_context *mv_context(struct ibv_context *context)
{
	return (struct mv_context *)((char *)context - offsetof(struct mv_context, verbs.context));
}

/*
 * mv_is_inherited says whether a forked child asks, which has no device and to which mutexes of its
 * objects may be locked for ever.
 */
static inline bool mv_is_inherited(struct ibv_context *context)
{
	return mh_device_is_inherited(mv_context(context)->nic);
}

/* What programs hold of an object is its first member. */
#define MV_OBJECT(name, verbs)                                     \
	static inline struct mv_##name *mv_##name(struct verbs *o) \
	{                                                          \
		return (struct mv_##name *)o;                      \
	}
MV_OBJECT(pd, ibv_pd)
MV_OBJECT(ah, ibv_ah)
MV_OBJECT(mr, ibv_mr)
MV_OBJECT(mw, ibv_mw)
MV_OBJECT(channel, ibv_comp_channel)
MV_OBJECT(cq, ibv_cq)
MV_OBJECT(srq, ibv_srq)
MV_OBJECT(qp, ibv_qp)

/* The operations that inline verbs call. */
int mv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int mv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int mv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int mv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int mv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
struct ibv_mr *mv_alloc_null_mr(struct ibv_pd *pd);
struct ibv_mw *mv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int mv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
int mv_dealloc_mw(struct ibv_mw *mw);
/* mv_bind_to_nic is what a bind asks for; EINVAL: access flags that no window has. */
int mv_bind_to_nic(struct ibv_mw *mw, const struct ibv_mw_bind_info *info, struct rd_bind *out);
/* mv_access_of_peers is what of these flags peers may do, as enum rd_access. */
uint32_t mv_access_of_peers(unsigned int access);
/* mv_send_flags_to_nic translates the flags of a send WR; EINVAL: an unknown one. */
int mv_send_flags_to_nic(unsigned int send_flags, uint32_t *out);
/* mv_port_bps is the rate of the port: the paces of all planes together. */
uint64_t mv_port_bps(struct ibv_context *context);
/* The operations of struct verbs_context that the device has; arguments as libibverbs.h says. */
int mv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr,
		  size_t port_attr_len);
int mv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t attr_size);
struct ibv_td *mv_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int mv_dealloc_td(struct ibv_td *td);
struct ibv_pd *mv_alloc_parent_domain(struct ibv_context *context,
				      struct ibv_parent_domain_init_attr *attr);
int mv_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
struct ibv_cq_ex *mv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_qp *mv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* mv_qp_ex_end frees what an extended QP has more than others; nothing for those. */
void mv_qp_ex_end(struct mv_qp *qp);
struct ibv_srq *mv_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);

/*
 * The exported functions that Debian 12's <infiniband/verbs.h> does not declare: what it keeps for
 * itself, and what is newer (nodes 1.15 to 1.18). Types that it does not know are not named here.
 */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);
void *ibv_alloc_dmah(struct ibv_context *context, void *attr);
int ibv_dealloc_dmah(void *dmah);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, void *mr_init_attr);
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, void *buf);
void ibv_free_buf(void *buf);
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, void *buf, void *addr, size_t length, int access);
int ibv_export_buf_dmabuf_fd(void *buf);
int _ibv_query_comp_cntr_caps(struct ibv_context *context, void *caps, size_t caps_size);
void *ibv_create_comp_cntr(struct ibv_context *context, void *cc_attr);
int ibv_destroy_comp_cntr(void *comp_cntr);
int ibv_set_comp_cntr(void *comp_cntr, uint64_t value);
int ibv_set_err_comp_cntr(void *comp_cntr, uint64_t value);
int ibv_inc_comp_cntr(void *comp_cntr, uint64_t amount);
int ibv_inc_err_comp_cntr(void *comp_cntr, uint64_t amount);
int ibv_read_comp_cntr(void *comp_cntr, uint64_t *value);
int ibv_read_err_comp_cntr(void *comp_cntr, uint64_t *value);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, void *comp_cntr, void *attr);

/*
 * mv_device_probe fills in our devices, the first time; their kernel names are numbered from
 * `first` on. 0 and their number in *n, or an errno value.
 */
int mv_device_probe(uint32_t first, uint32_t *n);
/* mv_device_nth returns our i-th device. */
struct ibv_device *mv_device_nth(uint32_t i);

/*
 * mv_qp_check_transition says whether a QP of this type may go from one state to another with these
 * attributes: all that the move requires, none that it does not know. EINVAL otherwise, also when
 * the move does not exist. IBTA's table of QP state transitions.
 */
int mv_qp_check_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			   int attr_mask);

/*
 * mv_qp_attr_to_nic translates what of the attributes concerns the NIC, and adds to *mask. EINVAL
 * names none: a value is outside of its range.
 */
int mv_qp_attr_to_nic(const struct ibv_qp_attr *attr, int attr_mask, struct rd_qp_attr *nic,
		      uint32_t *mask);

/*
 * mv_qp_attr_keep copies those of the attributes that verbs wants to see again and the NIC does not
 * keep.
 */
void mv_qp_attr_keep(struct ibv_qp_attr *kept, const struct ibv_qp_attr *attr, int attr_mask);

#endif
