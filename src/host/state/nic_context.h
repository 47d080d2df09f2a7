/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_context.h - a NIC of the process, all in one struct, and the table of those there are.
 * Private to host.
 *
 * Locks, in the order in which they may be taken:
 *	process->lock   the table of NICs: opening and closing them, forking
 *	nic->lock       the engine, ports, MR table, lists of objects: everything not said otherwise
 *			(of several shards the first's before the others', see shards.h)
 *	cq->lock        the ring of one CQ
 *	queue->lock     one event queue
 *	the log's lock  a message on its way (platform/log.c)
 * A thread that polls never waits for nic->lock: it tries, and leaves the work to the holder.
 */
#ifndef SOFTMRC_HOST_STATE_NIC_CONTEXT_H
#define SOFTMRC_HOST_STATE_NIC_CONTEXT_H

#include "base/list.h"
#include "core/engine.h"
#include "host/config/env.h"
#include "host/nic.h"
#include "host/port/nic_ports.h"
#include "stats/host_counters.h"
#include "ud/ud.h"
#include "wire/icrc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* ---- event queues, of completion channels and of asynchronous events: event_queue.c ---- */

/*
 * Events are not allocated: whatever can raise one (a CQ, a QP, a device) contains a source, and
 * the queue holds sources that have events pending. The descriptor is an eventfd used as a
 * semaphore, one unit an event, so a blocking get is a read(2) and costs nothing while it waits.
 * Programs get a descriptor of it that they may close by mistake, and whose number may then be that
 * of a file of theirs; what is written goes to another one that they do not know.
 *
 * A thread that takes an event acknowledges it; a source can be taken out of its queue only when
 * all its taken events are acknowledged, so no thread keeps a pointer to something destroyed.
 */

struct mh_event_queue {
	int fd;	 /* the program's */
	int own; /* the same eventfd, for all that we do with it */
	pthread_mutex_t lock;
	pthread_cond_t acked;
	struct mb_link waiting; /* sources with events pending, longest waiting first */
};

struct mh_event_source {
	struct mb_link link;
	uint32_t pending; /* raised, not taken */
	uint32_t unacked; /* taken, not acknowledged */
	uint32_t kind;	  /* the owner's: what the event says */
	void *object;	  /* the owner's: what contains the source */
};

/* mh_event_open makes an empty queue; EMFILE and the like from eventfd(2). */
int mh_event_open(struct mh_event_queue *q);
/* mh_event_close ends a queue without sources. */
void mh_event_close(struct mh_event_queue *q);
void mh_event_source_init(struct mh_event_source *s, uint32_t kind, void *object);
/* mh_event_raise adds an event; if `once`, only when none of this source is pending. */
void mh_event_raise(struct mh_event_queue *q, struct mh_event_source *s, bool once);
/* mh_event_is_waiting says whether there is an event to be taken. */
bool mh_event_is_waiting(struct mh_event_queue *q);
/* mh_event_get takes the oldest; blocks as the descriptor does. EAGAIN, EINTR. */
int mh_event_get(struct mh_event_queue *q, struct mh_event_source **s);
/* mh_event_ack acknowledges n events of s; n at most those taken (asserted). */
void mh_event_ack(struct mh_event_queue *q, struct mh_event_source *s, uint32_t n);
/* mh_event_discard drops what is pending and blocks until what was taken is acknowledged. */
void mh_event_discard(struct mh_event_queue *q, struct mh_event_source *s);

/* ---- numbers that are hard to guess: numbers.c ---- */

/*
 * QPNs and keys are all that keeps an attacker out, so the next number is drawn among all that are
 * free: who knows any number of those in use knows no more than that the next is another. Guarded
 * by the NIC's lock, as are keys.
 */

#define MH_NUMBERS_END (1u << 14)

struct mh_numbers {
	uint32_t n_free;
	uint16_t free[MH_NUMBERS_END];
};

/* Numbers that were given back and are not free yet: a ring, in the order of their times. */
struct mh_rests {
	uint32_t begin, end; /* run freely */
	uint16_t number[MH_NUMBERS_END];
	uint64_t until_ns[MH_NUMBERS_END];
};

/* mh_numbers_init makes first .. end - 1 free, with 0 < first < end <= MH_NUMBERS_END. */
void mh_numbers_init(struct mh_numbers *n, uint32_t first, uint32_t end);
/* mh_numbers_take draws one of the free numbers by 32 fresh random bits; 0: none is free. */
uint32_t mh_numbers_take(struct mh_numbers *n, uint32_t random);
/* mh_numbers_return makes a number that was taken free again. */
void mh_numbers_return(struct mh_numbers *n, uint32_t number);
/* mh_rests_begin notes a number that was taken; until_ns does not decrease from call to call. */
void mh_rests_begin(struct mh_rests *r, uint32_t number, uint64_t until_ns);
/* mh_rests_end makes those free that have rested until now_ns. */
void mh_rests_end(struct mh_rests *r, uint64_t now_ns, struct mh_numbers *n);

/* ---- the keys of MRs and memory windows: mr_keys.c ---- */

/*
 * A key is 10 random bits, the index of its MR or window in the engine's table and 8 random bits,
 * from the top: of a window the program chooses these 8. The index is drawn, too, so that all 32
 * bits are to be guessed. Nothing is pinned.
 */

#define MH_MR_INDEX_BITS 14u
/* MRs and windows together; 0 is no index. */
#define MH_MRS_MAX ((1u << MH_MR_INDEX_BITS) - 1)

/*
 * mh_mr_keys_alloc returns a key whose index is free; 0: all are in use. `random` is of 64 fresh
 * random bits.
 */
uint32_t mh_mr_keys_alloc(struct mh_numbers *indices, uint64_t random);
/* mh_mr_keys_free makes the index of a key free. */
void mh_mr_keys_free(struct mh_numbers *indices, uint32_t key);
/* mh_mr_key_index returns the index that is part of any key. */
uint32_t mh_mr_key_index(uint32_t key);

/* ---- the NIC and its openings ---- */

struct mh_channel;
struct mh_tx;
struct mh_segment;
struct mh_node;

/* A piece of memory that the engine was given. */
struct mh_chunk {
	struct mh_chunk *next;
	void *bytes;
};

/* What the host counts beside the engine and the ports. */
struct mh_nic_counts {
#define MH_NIC_COUNTS_FIELD(name, text) uint64_t name;
	STATS_NIC_COUNTS(MH_NIC_COUNTS_FIELD)
#undef MH_NIC_COUNTS_FIELD
};

/* The progress thread, see progress.h. */
struct mh_progress {
	pthread_t thread;
	int kick_fd;
	int links_fd; /* see platform.h; -1: none */
	atomic_bool stop;
	atomic_uint waiters;		    /* threads that wait for nic->lock */
	_Atomic uint64_t app_found_work_ns; /* when a thread last found work that polls or serves */
	_Atomic uint64_t app_called_ns;	    /* when one last posted, polled or served */
	_Atomic uint64_t app_polled_ns;	    /* when one last polled an empty CQ */
	_Atomic uint64_t event_armed_ns;    /* when a program last asked for an event of a CQ */
	_Atomic uint64_t
		lock_busy_since_ns; /* when polls began to find the lock taken; 0: they do not */
	atomic_bool backing_off;    /* it sleeps, or is about to, and leaves the sockets alone */
	/* A thread of the program that waits for an event runs the poll loop, see serve.c. */
	atomic_bool serving;
	_Atomic uint64_t
		app_served_ns; /* when one last had its event so; 0: it is not to be expected */
	_Atomic uint64_t no_serving_until_ns; /* it is bulk, or there is a second channel */
	_Atomic(const struct mh_channel *) armed_channel; /* for which an event was last asked */
	/* Since when something waits for the next run of poll_loop.c; 0: nothing does. */
	_Atomic uint64_t rung_ns;
	/* Guarded by nic->lock, as are those below. */
	uint64_t sleeps_until_ns; /* unless it is kicked or a frame wakes it; not of a nap */
	uint64_t rung_bytes;
	uint64_t no_gather_until_ns; /* a program let wait what was rung; its posts leave at once */
	uint32_t frames;	     /* that the last run of the poll loop read */
	uint32_t wrs_since_rx;	     /* WRs that were posted since the ports were last read */
	uint64_t last_empty_poll_ns; /* the last poll, if it found nothing; 0 */
	uint64_t oversubscribed_until_ns; /* until then polls rest when they find nothing */
	bool started;
};

/* A NIC of a device; of one with several shards each is such a NIC, see shards.h. */
struct mh_nic {
	struct mh_nic *first;		     /* of its device; itself, mostly */
	struct mh_nic *shard[MH_SHARDS_MAX]; /* of the first: all, from itself on */
	uint32_t n_shards;
	uint32_t next_srq;     /* of the first: which shard gets the next SRQ */
	atomic_bool inherited; /* this process is a fork of the one that made it */
	struct mh_env env;
	struct mh_device_attr attr;
	pthread_mutex_t lock;
	int cancel_state; /* of its holder, see mh_cancel_disable */
	struct mt_engine *engine;
	void *engine_memory;
	struct mh_chunk *chunks;
	uint64_t chunk_bytes; /* of all of them */
	struct mh_ports ports;
	struct mh_numbers mr_indices;
	struct mh_tx *tx;
	mw_crc32_fn crc32;	  /* for the ICRC */
	uint8_t trim_of_dscp[64]; /* enum mt_trim */
	struct mb_link qps;	  /* struct mh_qp.link */
	struct mb_link failed;	  /* struct mh_qp.failed: to be put to ERR */
	struct mu_engine *ud;
	bool rx_pending; /* the last poll left frames that no descriptor need show */
	uint32_t n_qps;
	struct mh_numbers qp_indices;
	struct mh_rests qp_rests;
	uint64_t seed; /* random, of the engines; each makes something else of it */
	struct mh_qp *qp_by_index[MH_QPN_INDEX_MASK + 1];
	uint32_t next_pd;
	atomic_bool cq_overran;	  /* a CQ of a QP here overran since the events were last drained */
	uint64_t engine_ns;	  /* the latest time that the engine was told */
	uint64_t retries_said_ns; /* when a QP's end was last said; 0: never */
	struct mb_link devices;	  /* struct mh_device.link; of the first, as the next */
	struct mb_link ev_cqs;	  /* struct mh_cq.ev_link: those that take EV events */
	struct mh_node *node;	  /* what controllers have decided */
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

/* ---- the process: process.c ---- */

/* What the process has once. Its lock guards all of it, and is held while NICs come and go. */
struct mh_process {
	pthread_mutex_t lock;
	int cancel_state; /* of its holder, see mh_cancel_disable */
	struct {
		struct mh_nic *nic;
		/* of the parent, if forked; kept for handles that point to it */
		struct mh_nic *inherited;
		uint32_t users; /* openings */
	} of[MH_DEVICES_MAX];
	char said[sizeof(struct mh_env_error)]; /* the last message of mh_log_once */
	/* Locks of a library above, and those that the thread that forks has taken. */
	_Atomic(const struct mh_fork_locks *) above;
	const struct mh_fork_locks *above_locked;
};

struct mh_process *mh_process(void);
/*
 * mh_process_find calls find(nic, owner) for each NIC of the process, under its lock, until that
 * returns something other than NULL, and returns this.
 */
void *mh_process_find(void *(*find)(struct mh_nic *nic, const void *owner), const void *owner);
/* mh_process_log_once is mh_log_once for a caller that holds p->lock. */
void mh_process_log_once(struct mh_process *p, enum mrc_log_level level, const char *text);
/* mh_log_once is mh_log, once as long as the text is the same. Takes the process's lock. */
void mh_log_once(enum mrc_log_level level, const char *text);
/* mh_log_unreachable says that no SRv6 path leads to a host, when that is why. */
void mh_log_unreachable(const struct mh_nic *nic, const uint8_t gid[16]);
/* mh_log_inherited says that handles of before a fork are of no use; returns true. */
bool mh_log_inherited(void);
/*
 * mh_nic_is_inherited says whether the NIC belongs to the parent of this process, and says so.
 * Then nothing of it may be touched, locks included: their holders do not exist here.
 */
static inline bool mh_nic_is_inherited(const struct mh_nic *nic)
{
	return atomic_load_explicit(&nic->inherited, memory_order_relaxed) && mh_log_inherited();
}

/*
 * A thread that pthread_cancel ends in a system call would keep the locks that it holds for ever.
 * So cancellation is disabled while a thread holds one and may be in a system call, or sleeps with
 * something of ours on its stack. Taking a mutex is itself no cancellation point. What waits for
 * events holds nothing, and can be cancelled: programs end their event threads so.
 */
static inline int mh_cancel_disable(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

/* mh_cancel_restore: `before` is of mh_cancel_disable, in the same thread. */
static inline void mh_cancel_restore(int before)
{
	pthread_setcancelstate(before, NULL);
}

/* mh_process_lock and mh_process_unlock take and release the lock of what a process has once. */
static inline void mh_process_lock(struct mh_process *p)
{
	pthread_mutex_lock(&p->lock);
	p->cancel_state = mh_cancel_disable();
}

static inline void mh_process_unlock(struct mh_process *p)
{
	int before = p->cancel_state;

	pthread_mutex_unlock(&p->lock);
	mh_cancel_restore(before);
}

/* mh_nic_trylock takes nic->lock unless another thread has it; false: it has. */
static inline bool mh_nic_trylock(struct mh_nic *nic)
{
	if (pthread_mutex_trylock(&nic->lock) != 0)
		return false;
	nic->cancel_state = mh_cancel_disable();
	return true;
}

/* mh_nic_lock and mh_nic_unlock: everybody but the progress thread comes in through these. */
static inline void mh_nic_lock(struct mh_nic *nic)
{
	if (mh_nic_trylock(nic))
		return;
	atomic_fetch_add(&nic->progress.waiters, 1);
	pthread_mutex_lock(&nic->lock);
	atomic_fetch_sub(&nic->progress.waiters, 1);
	nic->cancel_state = mh_cancel_disable();
}

static inline void mh_nic_unlock(struct mh_nic *nic)
{
	int before = nic->cancel_state;

	pthread_mutex_unlock(&nic->lock);
	mh_cancel_restore(before);
}

static inline uint64_t mh_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- completion channels and queues: cq_ring.c ---- */

struct mh_channel {
	struct mh_device *dev;
	struct mh_event_queue events;
	uint32_t n_cqs; /* guarded by nic->lock */
};

#define MH_CQE_MAX (1u << 20)

enum mh_cq_arm {
	MH_CQ_IDLE,
	MH_CQ_ARMED_SOLICITED,
	MH_CQ_ARMED,
};

/* A completion in the ring, and what polling it sets free. */
struct mh_cqe {
	struct mh_wc wc;
	struct mh_qp *qp; /* NULL only in tests */
	uint64_t wr;	  /* the QP's send or receive WRs below this number are dealt with */
};

struct mh_cq {
	struct mh_device *dev;
	void *owner;
	struct mh_channel *channel; /* or NULL */
	uint32_t n_qps;		    /* guarded by nic->lock; a QP that uses it twice counts twice */
	uint32_t n_qps_of[MH_SHARDS_MAX]; /* likewise, by shard */
	_Atomic uint32_t shards;	  /* a mask of those that are not 0 */
	atomic_uint next_shard;		  /* with which the next poll that finds nothing begins */

	pthread_mutex_t lock; /* of what follows */
	struct mh_cqe *ring;
	uint32_t mask;
	_Atomic uint32_t head; /* next to take; both run freely and are read without the lock */
	_Atomic uint32_t tail; /* next to fill */
	atomic_bool overran;
	enum mh_cq_arm armed;

	struct mh_ev_ring *evs; /* it takes EV events, and its ring stays empty; else NULL */
	struct mb_link ev_link; /* in nic->ev_cqs; changes under the locks of all shards */
	struct mh_ev_listener *listener; /* what hears for it of other processes, or NULL */

	struct mh_event_source completion; /* in the channel's queue */
	struct mh_event_source overrun;	   /* in the device's queue */
};

/* EV events that wait, oldest first. What finds no room is counted, so that a CQ never overruns. */
struct mh_ev_ring {
	uint32_t mask, head, tail; /* run freely */
	uint32_t dropped;	   /* since the last one that found room */
	struct mh_ev_event event[];
};

/*
 * mh_cq_add_ev_event adds an EV event to a CQ that takes such, or counts it, and raises the
 * channel's event if one was asked for. Under nic->lock. REQ(ctl.event-queue)
 */
void mh_cq_add_ev_event(struct mh_cq *cq, const struct mh_ev_event *event);
/* mh_cq_drop_ev_events counts n that were dropped before they came to the CQ. */
void mh_cq_drop_ev_events(struct mh_cq *cq, uint32_t n);
/* mh_cq_pop_ev_events takes at most n, oldest first, and returns how many. Any thread. */
uint32_t mh_cq_pop_ev_events(struct mh_cq *cq, uint32_t n, struct mh_ev_event *events);

/*
 * mh_cq_add adds a completion, of now_ns, and raises the channel's event if one was asked for.
 * false: there was no room; the CQ has overrun for good. Under nic->lock.
 */
bool mh_cq_add(struct mh_cq *cq, const struct mh_cqe *cqe, uint64_t now_ns);
/*
 * mh_completion_push adds a completion to a CQ; one that does not fit is the end of the CQ's QPs,
 * in whichever shard, when events are drained next. Under nic->lock.
 */
void mh_completion_push(struct mh_nic *nic, struct mh_cq *cq, const struct mh_cqe *cqe);
/* mh_cq_purge removes the completions of a QP. Under nic->lock. */
void mh_cq_purge(struct mh_cq *cq, uint32_t qpn);
/* mh_cq_pop takes at most n completions, oldest first, and returns how many. Any thread. */
uint32_t mh_cq_pop(struct mh_cq *cq, uint32_t n, struct mh_wc *wc);
/* mh_cq_arm notes which completion is to raise an event of the CQ's channel. Any thread. */
void mh_cq_arm(struct mh_cq *cq, bool solicited_only);
/*
 * mh_cq_replace_ring moves what the CQ holds into a ring of mask + 1 places, of which it wants cqe.
 * It takes the ring over, and frees it on an error: see mh_cq_resize. Any thread.
 */
int mh_cq_replace_ring(struct mh_cq *cq, uint32_t cqe, struct mh_cqe *ring, uint32_t mask);

/* ---- queue pairs: an engine's QP with its CQs, PD and inline data ---- */

#define MH_INLINE_MAX 1024u
#define MH_WR_MAX 32768u

struct mh_wr_count {
	uint64_t posted;
	uint64_t reported;	 /* as far as the engine's events tell */
	_Atomic uint64_t polled; /* as far as the program knows */
};

struct mh_qp {
	struct mb_link link;   /* in nic->qps */
	struct mb_link failed; /* in nic->failed, or alone */
	struct mh_device *dev;
	struct mh_nic *nic;	 /* whose engine has it */
	struct mt_qp *mt;	 /* NULL: a UD QP, which has */
	struct mu_qp *ud;	 /* this instead */
	struct mt_qp_cap mt_cap; /* with which it is made */
	void *mt_memory;
	uint32_t number;
	struct mh_qp_init init;
	/*
	 * WRs are numbered as they are posted. A place in a queue is free again when the completion
	 * of its WR, or of a later one, was polled: a program may post until ENOMEM and rely on its
	 * CQ.
	 */
	struct mh_wr_count send, recv;
	uint8_t *signaled;     /* by number modulo depth: this send WR reports success */
	uint8_t *inline_bytes; /* by number modulo depth: bytes until their WR is complete */
	bool memory_gone;      /* the next failed send is to be reported as LOC_PROT_ERR */
	bool send_failed;      /* a send completion said why the QP is in ERR */
	enum rd_wc_status why; /* of the event below */
	bool responder;
	uint64_t psn_una_sampled;     /* by the statistics, see mrc_stats_qps.stalled_ns */
	bool sqd_notify;	      /* the move to SQD asked for the event below */
	struct mh_event_source fatal; /* in the device's queue, as the next */
	struct mh_event_source drained;
	struct mh_event_source last_wqe;
};

/*
 * mh_qp_mark_failed marks the QP as to be put to ERR because local memory of a WR is gone. The poll
 * loop does that when the engine is between two calls. Under nic->lock.
 */
static inline void mh_qp_mark_failed(struct mh_qp *qp)
{
	mb_list_push(&qp->nic->failed, &qp->failed);
}

/* mh_qp_release_wrs notes that the program took a completion that sets free all WRs below `wr`. */
static inline void mh_qp_release_wrs(struct mh_qp *qp, bool recv, uint64_t wr)
{
	atomic_store_explicit(recv ? &qp->recv.polled : &qp->send.polled, wr, memory_order_relaxed);
}

/* mh_qp_raise_last_wqe raises the event that the QP takes no receive of its SRQ any more. */
static inline void mh_qp_raise_last_wqe(struct mh_qp *qp)
{
	mh_event_raise(&qp->dev->events, &qp->last_wqe, true);
}

/* mh_qp_raise_sq_drained raises the event that the QP in SQD has finished, if it was asked for. */
static inline void mh_qp_raise_sq_drained(struct mh_qp *qp)
{
	if (qp->sqd_notify)
		mh_event_raise(&qp->dev->events, &qp->drained, true);
}

/* ---- shared receive queues, memory windows ---- */

struct mh_srq {
	struct mh_device *dev;
	struct mh_nic *nic; /* whose engine has it */
	struct mh_pd *pd;
	void *owner;
	struct mt_srq *mt;
	void *mt_memory;
	void *mt_entries; /* since it was resized; NULL: in mt_memory */
	struct mh_srq_cap cap;
	uint32_t n_qps;		      /* guarded by nic->lock */
	struct mh_event_source limit; /* in the device's queue */
};

struct mh_mw {
	struct mh_pd *pd;
	uint32_t key; /* of the bind that was posted last */
	enum rd_mw_type type;
};

/* ---- endpoint requests under way together, for whose answers a thread sleeps: ep_batch.c ---- */

struct mh_ep_batch;

/* What the engine is given with a request, and names in its event. */
struct mh_ep_item {
	struct mh_ep_batch *batch;
	uint32_t index;
};

struct mh_ep_batch {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const struct mh_probe *probes;
	struct mh_ep_item *items;
	struct mh_probe_answer *answers;
	uint32_t n, posted;	  /* the caller's */
	uint32_t ended, answered; /* under lock */
};

/* mh_ep_batch_init makes the items and locks of a batch, whose other fields are set; ENOMEM. */
int mh_ep_batch_init(struct mh_ep_batch *b);
/* mh_ep_batch_fini: no request of the batch may be under way. */
void mh_ep_batch_fini(struct mh_ep_batch *b);
/* mh_ep_batch_deliver takes an event of type ENDPOINT, of whichever batch. Under nic->lock. */
void mh_ep_batch_deliver(const struct mt_event *event);
/* mh_ep_batch_end_one counts a request as ended that the engine has not taken. */
void mh_ep_batch_end_one(struct mh_ep_batch *b);
/* mh_ep_batch_wait sleeps until all that was posted has ended, or it is time to post more. */
void mh_ep_batch_wait(struct mh_ep_batch *b, bool more);

#endif
