/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - the poll loop of the NIC, run by a thread and by programs that post or poll.
 *
 * A thread that holds nic->lock may run the loop, so that a program that polls does the work in its
 * own thread without a switch, posts included; the progress thread serves the others: passive
 * targets, programs blocked on a channel, and every timer. It sleeps in ppoll until a frame arrives
 * or the next deadline; with more threads than cores, spinning would cost a tick of 4 ms each time.
 * While a polling program finds work by itself, the thread backs off and leaves the sockets alone.
 * A polling thread waits on the sockets instead of spinning while other threads need its core.
 */
#ifndef SOFTMRC_HOST_PROGRESS_PROGRESS_H
#define SOFTMRC_HOST_PROGRESS_PROGRESS_H

#include "host/state/nic_context.h"

/* mh_progress_start starts the thread of a complete NIC; errno values of eventfd and threads. */
int mh_progress_start(struct mh_nic *nic);
void mh_progress_stop(struct mh_nic *nic);
/* mh_progress_close_inherited closes the descriptors in a forked child, which has no such
 * thread. */
void mh_progress_close_inherited(struct mh_nic *nic);
/*
 * mh_progress_poll runs the poll loop once, unless another thread holds the lock. `alone` says that
 * the program polls no other shard: it may be let wait for a frame of this one.
 */
void mh_progress_poll(struct mh_nic *nic, bool alone);
/*
 * mh_progress_ring: WRs were posted, with so many bytes to send. They leave now; or, for a program
 * that polls, with its next poll, with a post that makes them enough for a run, or when the thread
 * finds them overdue. Under nic->lock.
 */
void mh_progress_ring(struct mh_nic *nic, uint64_t now_ns, uint32_t wrs, uint64_t bytes);
/*
 * mh_progress_flush sends and delivers at once what a change of state made possible and what was
 * rung, and sees to it that the thread wakes in time for new deadlines. Under nic->lock.
 */
void mh_progress_flush(struct mh_nic *nic, uint64_t now_ns);
/* mh_progress_end_backoff ends the thread's back-off: a program is going to block, not to poll. */
void mh_progress_end_backoff(struct mh_nic *nic);

/* ---- the poll loop, all under nic->lock unless it says otherwise: poll_loop.c ---- */

/*
 * What was rung is overdue after this, much longer than a program that polls takes between two
 * polls; and the thread's shortest nap. Each nap costs some 5 us, so that they get longer up to
 * BACKOFF_MAX_NS while nothing is overdue.
 */
#define RUNG_WAIT_NS UINT64_C(100000)

/*
 * mh_loop_gather says whether posts with so many more bytes may wait for those behind them:
 * `polling` says that the program will poll. false: they may not, and are to be sent.
 */
bool mh_loop_gather(struct mh_nic *nic, uint64_t now_ns, uint64_t bytes, bool polling);
/* mh_loop_rung_due returns when what was rung must leave, UINT64_MAX: nothing was. Any thread. */
uint64_t mh_loop_rung_due(const struct mh_nic *nic);
/*
 * mh_loop_run does all that is to be done now and returns how much that was. With `hold` it leaves
 * what is to be answered to the next run when there are completions.
 */
uint32_t mh_loop_run(struct mh_nic *nic, uint64_t now_ns, bool hold);
/* mh_loop_tx lets go what may leave, packets, held frames, events, and returns how much. */
uint32_t mh_loop_tx(struct mh_nic *nic, uint64_t now_ns);
/*
 * mh_loop_posted sends what was posted in so many WRs, and after some of them reads the ports:
 * returns how much there was to read.
 */
uint32_t mh_loop_posted(struct mh_nic *nic, uint64_t now_ns, uint32_t wrs);
/* mh_loop_deadline returns when the poll loop must run even if nothing arrives. */
uint64_t mh_loop_deadline(const struct mh_nic *nic);
/* mh_loop_report_ports tells those who care of ports that went down or came back. */
void mh_loop_report_ports(struct mh_nic *nic, uint64_t now_ns);

/* ---- from the engine's events to CQs, channels, asynchronous events: engine_events.c ---- */

/* mh_engine_events_drain delivers what the engine has to report and returns how much. Under
 * nic->lock. */
uint32_t mh_engine_events_drain(struct mh_nic *nic, uint64_t now_ns);
/*
 * mh_report_retries says on stderr why a QP, of an RC transport, may have used up its retries; of
 * QPs that do so at about the same time of one only. Under nic->lock.
 */
void mh_report_retries(struct mh_nic *nic, const struct mh_qp *qp, uint64_t now_ns);
/* mh_engine_fail_marked_qps puts the QPs of nic->failed to ERR. Under nic->lock. */
void mh_engine_fail_marked_qps(struct mh_nic *nic, uint64_t now_ns);

#endif
