/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_context.h - a NIC of the process, all in one struct, and the table of those there are.
 * Private to host.
 *
 * Locks, in the order in which they may be taken:
 *	process->lock   the table of NICs: opening and closing them, forking
 *	nic->lock       the engine, ports, MR table, lists of objects: everything not said otherwise
 *	cq->lock        the ring of one CQ
 *	queue->lock     one event queue
 * A thread that polls never waits for nic->lock: it tries, and leaves the work to the holder.
 */
#ifndef SOFTMRC_HOST_NIC_CONTEXT_H
#define SOFTMRC_HOST_NIC_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/list.h"
#include "core/engine.h"
#include "host/env.h"
#include "host/event_queue.h"
#include "host/mr_keys.h"
#include "host/nic.h"
#include "host/nic_ports.h"
#include "ud/ud.h"
#include "wire/icrc.h"

struct mh_tx;
struct mh_segment;

/* A piece of memory that the engine was given. */
struct mh_chunk {
	struct mh_chunk *next;
	void *bytes;
};

/* What the host counts beside the engine and the ports. */
#define MH_NIC_COUNTS(X)                                                         \
	X(rx_outside_subnet, "frames from addresses outside the plane's subnet") \
	X(tx_mr_gone, "packets not built because memory of their MR was gone")   \
	X(cq_overruns, "completions lost because their CQ was full")

struct mh_nic_counts {
#define MH_NIC_COUNTS_FIELD(name, text) uint64_t name;
	MH_NIC_COUNTS(MH_NIC_COUNTS_FIELD)
#undef MH_NIC_COUNTS_FIELD
};

/* The progress thread, see progress.h. */
struct mh_progress {
	pthread_t thread;
	int kick_fd;
	int links_fd; /* see link_monitor.h; -1: none */
	atomic_bool stop;
	atomic_uint waiters;		    /* threads that wait for nic->lock */
	_Atomic uint64_t app_found_work_ns; /* when a polling thread last found work by itself */
	_Atomic uint64_t app_called_ns;	    /* when a thread of the program last posted or polled */
	_Atomic uint64_t event_armed_ns;    /* when a program last asked for an event of a CQ */
	_Atomic uint64_t
		lock_busy_since_ns;  /* when polls began to find the lock taken; 0: they do not */
	atomic_bool backing_off;     /* it sleeps, or is about to, and leaves the sockets alone */
	uint64_t sleeps_until_ns;    /* guarded by nic->lock, as are those below */
	uint32_t posts_since_rx;     /* posts since the ports were last read */
	uint64_t last_empty_poll_ns; /* the last poll, if it found nothing; 0 */
	uint64_t oversubscribed_until_ns; /* until then polls rest when they find nothing */
	bool started;
};

struct mh_nic {
	atomic_bool inherited; /* this process is a fork of the one that made it */
	struct mh_env env;
	struct mh_device_attr attr;
	pthread_mutex_t lock;
	struct mt_engine *engine;
	void *engine_memory;
	struct mh_chunk *chunks;
	struct mh_ports ports;
	struct mh_mr_keys mr_keys;
	struct mh_tx *tx;
	mw_crc32_fn crc32;	  /* for the ICRC */
	uint8_t trim_of_dscp[64]; /* enum mt_trim */
	struct mb_link qps;	  /* struct mh_qp.link */
	struct mb_link failed;	  /* struct mh_qp.failed: to be put to ERR */
	struct mu_engine *ud;
	uint32_t ud_sent_since_rx; /* datagrams sent since the ports were last read */
	bool rx_pending;	   /* the last poll left frames that no descriptor need show */
	uint32_t n_qps;
	uint32_t next_qp_index;
	struct mh_qp *qp_by_index[MH_QPN_INDEX_MASK + 1];
	uint64_t qp_index_freed_ns[MH_QPN_INDEX_MASK + 1]; /* when the index was last given up */
	uint32_t next_pd;
	bool cq_overran;	/* a CQ overran since the events were last drained */
	uint64_t engine_ns;	/* the latest time that the engine was told */
	struct mb_link devices; /* struct mh_device.link */
	bool was_up;
	struct mh_nic_counts counts;
	struct mh_progress progress;
	struct mh_segment *segment; /* NULL: no statistics wanted */
};

/* One opening of the NIC. */
struct mh_device {
	struct mb_link link;
	struct mh_nic *nic;
	void *owner;
	struct mh_event_queue events;
	struct mh_event_source port_down, port_up;
	struct mb_link pds; /* struct mh_pd.link; guarded by nic->lock, as is the count below */
	uint32_t objects;   /* PDs, CQs and channels */
};

struct mh_pd {
	struct mb_link link; /* in dev->pds */
	struct mh_device *dev;
	void *owner;
	uint32_t number;
	uint32_t objects; /* MRs and QPs; guarded by nic->lock */
};

/* The engine has what a packet needs of it; its cookie there is `base`. */
struct mh_mr {
	struct mh_pd *pd;
	uint8_t *base; /* NULL: of no bytes; reads as zeros, and what is written is gone */
	uint64_t length;
	uint64_t iova; /* of base */
	uint32_t key;
	uint32_t access; /* enum rd_access */
};

/* What the process has once. Its lock guards all of it, and is held while NICs come and go. */
struct mh_process {
	pthread_mutex_t lock;
	struct {
		struct mh_nic *nic;
		/* of the parent, if forked; kept for handles that point to it */
		struct mh_nic *inherited;
		uint32_t users; /* openings */
	} of[MH_DEVICES_MAX];
	char said[sizeof(struct mh_env_error)]; /* the last line on stderr */
};

struct mh_process *mh_process(void);
/*
 * mh_process_find calls find(nic, owner) for each NIC of the process, under its lock, until that
 * returns something other than NULL, and returns this.
 */
void *mh_process_find(void *(*find)(struct mh_nic *nic, const void *owner), const void *owner);
/* mh_process_log_once is mh_log_once for a caller that holds p->lock. */
void mh_process_log_once(struct mh_process *p, const char *text);
/* mh_log_once writes a line to stderr, once as long as it is the same. Takes the process's lock. */
void mh_log_once(const char *text);
/* mh_log_unreachable says on stderr that no SRv6 path leads to a host, when that is why. */
void mh_log_unreachable(const struct mh_nic *nic, const uint8_t gid[16]);
/* mh_log_inherited says on stderr that handles of before a fork are of no use; returns true. */
bool mh_log_inherited(void);
/*
 * mh_nic_is_inherited says whether the NIC belongs to the parent of this process, and says so on
 * stderr. Then nothing of it may be touched, locks included: their holders do not exist here.
 */
static inline bool mh_nic_is_inherited(const struct mh_nic *nic)
{
	return atomic_load_explicit(&nic->inherited, memory_order_relaxed) && mh_log_inherited();
}

/* mh_nic_create makes the NIC that env describes; text says what went wrong. */
int mh_nic_create(const struct mh_env *env, struct mh_nic **nic, struct mio_error *error);
void mh_nic_destroy(struct mh_nic *nic);
/* mh_nic_create_ud makes nic->ud, when there is an engine; ENOMEM. */
int mh_nic_create_ud(struct mh_nic *nic);
/* mh_nic_close_inherited closes a forked child's copies of all descriptors; the memory stays. */
void mh_nic_close_inherited(struct mh_nic *nic);
/* mh_nic_fill_attr fills in the constant attributes of a NIC with this configuration. */
void mh_nic_fill_attr(const struct mh_env *env, struct mh_device_attr *attr);

/* mh_nic_lock and mh_nic_unlock: everybody but the progress thread comes in through these. */
static inline void mh_nic_lock(struct mh_nic *nic)
{
	if (pthread_mutex_trylock(&nic->lock) == 0)
		return;
	atomic_fetch_add(&nic->progress.waiters, 1);
	pthread_mutex_lock(&nic->lock);
	atomic_fetch_sub(&nic->progress.waiters, 1);
}

static inline void mh_nic_unlock(struct mh_nic *nic)
{
	pthread_mutex_unlock(&nic->lock);
}

static inline uint64_t mh_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
