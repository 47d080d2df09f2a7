/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic.c - puts the NIC together from its parts, and takes it apart.
 *
 * Both run under the lock of the process's table (nic_device.c), so a NIC is never half made to
 * another thread. The progress thread starts last and ends first; in between everything below is
 * used under nic->lock only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "host/datapath/datapath.h"
#include "host/node/node.h"
#include "host/platform/platform.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"
#include "host/stats/stats.h"
#include "host/verbs/verbs.h"

/* "MRC" behind the bit that says: this number was made up locally. */
#define NIC_GUID_PREFIX UINT64_C(0x024D524300000000)
/* Devices may share an address. */
#define NIC_GUID_DEVICE_SHIFT 58u
/* Those of node/node_state.h. */
#define NIC_PROFILES MN_EV_PROFILES
#define NIC_WIMM_MAX 1024u

/*
 * The attributes follow from the settings alone: listing devices opens no sockets. The GUID is made
 * of the address of the first plane, so that it is the same in all processes of a host.
 */
void mh_nic_fill_attr(const struct mh_env *env, struct mh_device_attr *attr)
{
	*attr = (struct mh_device_attr){
		.guid = (NIC_GUID_PREFIX | (uint64_t)env->device << NIC_GUID_DEVICE_SHIFT) |
			(mb_load_be32(env->port[0].ip + 12) ^ mb_load_be32(env->port[0].ip + 4)),
		.planes = env->n_ports,
		.evs = mh_engine_n_evs(env),
		.min_active = mh_engine_min_active(mh_engine_n_evs(env)),
		.ev_format = env->ev_format == MW_EV_STEV ? MH_EV_STEV : MH_EV_UDP,
		.max_mtu = env->mtu,
		.max_qp = env->shards * (MH_QPN_INDEX_MASK + 1 - MH_QP_INDEX_FIRST),
		.max_send_wr = MH_WR_MAX,
		.max_recv_wr = MH_WR_MAX,
		.max_sge = RD_SGE_MAX,
		.max_inline = MH_INLINE_MAX,
		.max_cqe = MH_CQE_MAX,
		.max_cq = UINT16_MAX,
		.max_mr = MH_MRS_MAX,
		.max_mw = env->shards == 1 ? MH_MRS_MAX : 0,
		.max_pd = UINT16_MAX,
		.max_mr_bytes = UINT64_C(1) << 47,
		.max_msg_bytes = UINT32_MAX,
		.max_mpr = RD_MPR_MAX,
		.mpr_resolution = 1,
		.max_wimm = NIC_WIMM_MAX,
		.max_wimm_dest = NIC_WIMM_MAX,
		.max_rd_atomic = RD_ATOMIC_MAX,
		.max_ev_profiles = NIC_PROFILES,
		.max_cc_profiles = NIC_PROFILES,
		.nscc = env->cc == MT_CC_NSCC,
		.trim_nack = true,
		.dynamic_mpr = true,
		.svc_time = env->svc_time,
	};
	snprintf(attr->name, sizeof(attr->name), "mrc%u", env->device);
	memcpy(attr->gid.b, env->port[0].ip, sizeof(attr->gid.b));
}

static void nic_init_lock(struct mh_nic *nic)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef __GLIBC__
	/* Spinning a little before sleeping pays: the lock is held for microseconds. */
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(&nic->lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

/* nic_draw_seed draws what no peer may guess. */
static int nic_draw_seed(struct mh_nic *nic, struct mio_error *error)
{
	int err = mh_entropy(&nic->seed);

	if (err)
		snprintf(error->text, sizeof(error->text),
			 "getrandom(2): %s: without random numbers from the kernel keys could be "
			 "guessed%s",
			 strerror(err), err == EAGAIN ? "; try again, it is early at boot" : "");
	return err;
}

static int say_no_memory(struct mio_error *error)
{
	snprintf(error->text, sizeof(error->text), "no memory for the NIC");
	return ENOMEM;
}

/* nic_open makes the parts of a shard; on an error the caller takes apart what there is. */
static int nic_open(struct mh_nic *nic, struct mio_error *error)
{
	uint64_t now = mh_now_ns();
	int err = nic_draw_seed(nic, error);

	if (!err)
		err = mh_ports_open(&nic->ports, &nic->env, now, error);
	if (err)
		return err;
	mh_ports_first_links(&nic->ports, &nic->env, now);
	err = say_no_memory(error); /* so it is whatever fails from here on */
	nic->tx = mh_tx_create(nic->ports.n, &nic->env.dscp);
	if (!nic->tx)
		return err;
	err = mh_engine_create(nic, now);
	if (!err)
		err = mh_nic_create_ud(nic);
	return err ? err : mh_node_create(nic);
}

/* nic_open_device makes what all shards share. */
static int nic_open_device(struct mh_nic *first, struct mio_error *error)
{
	int err;

	mh_node_store_open(first, mh_now_ns());
	first->was_up = mh_ports_up(&first->ports) != 0;
	err = mh_segment_create(first, error);
	if (!err)
		mh_node_store_show(first);
	return err;
}

/*
 * nic_start starts the threads, when all is there that they use. A thread that runs already waits
 * for its lock before it kicks one that is only being made.
 */
static int nic_start(struct mh_nic *first, struct mio_error *error)
{
	int err = 0;

	mh_shards_lock(first);
	for (uint32_t i = 0; i < first->n_shards && !err; i++)
		err = mh_progress_start(first->shard[i]);
	mh_shards_unlock(first);
	if (err)
		snprintf(error->text, sizeof(error->text), "the progress thread: %s%s",
			 strerror(err),
			 err == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
	return err;
}

/* nic_alloc makes a NIC without parts, the first of its device; NULL: no memory. */
static struct mh_nic *nic_alloc(const struct mh_env *env, uint32_t shard)
{
	struct mh_nic *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	mh_shards_begin(n);
	mh_env_of_shard(env, shard, &n->env);
	n->progress.kick_fd = -1;
	n->crc32 = mh_crc32_best();
	n->next_pd = 1;
	mh_numbers_init(&n->qp_indices, MH_QP_INDEX_FIRST, MH_QPN_INDEX_MASK + 1);
	mh_numbers_init(&n->mr_indices, 1, MH_MRS_MAX + 1);
	mb_link_init(&n->qps);
	mb_link_init(&n->failed);
	mb_link_init(&n->devices);
	mb_link_init(&n->ev_cqs);
	mh_nic_fill_attr(env, &n->attr);
	mh_rx_init(n);
	nic_init_lock(n);
	mh_guard_open();
	return n;
}

/*
 * nic_open_shards makes the shards behind the first, each from what the first has found: the base
 * of its EVs may have moved. One that fails is among those that the caller takes apart.
 */
static int nic_open_shards(struct mh_nic *first, struct mio_error *error)
{
	int err = nic_open(first, error);

	for (uint32_t i = 1; i < first->env.shards && !err; i++) {
		struct mh_nic *n = nic_alloc(&first->env, i);

		if (!n)
			return say_no_memory(error);
		mh_shards_add(first, n);
		err = nic_open(n, error);
	}
	return err;
}

int mh_nic_create(const struct mh_env *env, struct mh_nic **nic, struct mio_error *error)
{
	struct mh_nic *n = nic_alloc(env, 0);
	int err;

	if (!n)
		return say_no_memory(error);
	err = nic_open_shards(n, error);
	if (!err)
		err = nic_open_device(n, error);
	if (!err)
		err = nic_start(n, error);
	if (err)
		mh_nic_destroy(n);
	else
		*nic = n;
	return err;
}

/*
 * Only descriptors and mappings are closed: the lock and the thread are the parent's. Memory stays:
 * handles of the program point to it, and a child may not call free(3) before its allocator has
 * seen to its own locks, which not every allocator does.
 */
void mh_nic_close_inherited(struct mh_nic *first)
{
	for (uint32_t i = 0; i < first->n_shards; i++) {
		struct mh_nic *nic = first->shard[i];

		atomic_store(&nic->inherited, true);
		mh_ports_close_inherited(&nic->ports);
		mh_progress_close_inherited(nic);
	}
	mh_node_store_close(first);
	for (struct mb_link *l = first->ev_cqs.next; l != &first->ev_cqs; l = l->next)
		mh_ev_listener_close_inherited(mb_container_of(l, struct mh_cq, ev_link)->listener);
	mh_segment_close_inherited(first->segment);
	first->segment = NULL;
}

static void nic_free(struct mh_nic *nic)
{
	if (nic->engine)
		mh_engine_destroy(nic);
	if (nic->node)
		mh_node_store_close(nic);
	mh_node_destroy(nic);
	mu_destroy(nic->ud);
	free(nic->tx);
	mh_ports_close(&nic->ports);
	mh_guard_close();
	pthread_mutex_destroy(&nic->lock);
	free(nic);
}

/*
 * The threads end first, for they use all the rest. It also takes apart what was made before
 * something failed.
 */
void mh_nic_destroy(struct mh_nic *first)
{
	for (uint32_t i = 0; i < first->n_shards; i++)
		mh_progress_stop(first->shard[i]);
	mh_segment_finish(first);
	mh_segment_destroy(first->segment);
	for (uint32_t i = first->n_shards; i-- > 0;)
		nic_free(first->shard[i]);
}
