/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - the poll loop of the NIC, run by a thread and by programs that post or poll.
 *
 * A thread that holds nic->lock may run the loop, so that a program that polls does the work in its
 * own thread without a switch, posts included; the progress thread serves the others: passive
 * targets, programs blocked on a channel, and every timer. It sleeps in ppoll until a frame arrives
 * or the next deadline; with more threads than cores, spinning would cost a tick of 4 ms each time.
 * While a program finds work by itself, polling or in its wait for an event (serve.c), the thread
 * backs off and leaves the sockets alone.
 * A polling thread waits on the sockets instead of spinning while other threads need its core.
 */
#ifndef SOFTMRC_HOST_PROGRESS_PROGRESS_H
#define SOFTMRC_HOST_PROGRESS_PROGRESS_H

#include <poll.h>

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
/*
 * mh_progress_end_backoff ends the thread's back-off: a program asked for an event of this channel,
 * or of something else (NULL), and is going to block, not to poll. One that served when it waited
 * for its last event will do so again, and the thread stays away; one that waits for a second
 * channel does not serve for a while. Any thread.
 */
void mh_progress_end_backoff(struct mh_nic *nic, const struct mh_channel *channel);
/*
 * mh_progress_forget_channel says, of all shards, that a channel is no longer there to wait for: it
 * is being destroyed. Any thread.
 */
void mh_progress_forget_channel(struct mh_nic *first, const struct mh_channel *channel);
/*
 * mh_progress_serve runs the poll loop for a thread of the program that waits for an event of a
 * queue, and sleeps meanwhile. It returns when there is one, and gives up after some milliseconds
 * or where the progress thread does better. Without nic->lock; no cancellation point. EINTR: a
 * signal came whose handler is to end such a wait; else 0, and the caller takes the event or goes
 * on waiting for it.
 */
int mh_progress_serve(struct mh_nic *nic, struct mh_event_queue *q);

/* ---- what progress.c and serve.c share ---- */

/*
 * A program that found work within this time is polling or serving; the thread then naps, at first
 * for as long as what was rung may wait, and for this long in the end.
 */
#define BACKOFF_MAX_NS UINT64_C(1000000)
/*
 * What was seen of how threads are scheduled is taken to hold for so long, some ticks: that a
 * program does not poll, or that the machine is short of cores.
 */
#define SCHEDULING_HOLDS_NS UINT64_C(10000000)
/*
 * So many frames in one run are bulk: more have come while these were looked at, and the thread
 * looks again at once. One that slept on its sockets would be woken for each run by the sender.
 */
#define BULK_FRAMES 32u

/*
 * mh_progress_collect_fds writes the sockets of the ports that receive to fd, and returns how many
 * there are. Under nic->lock; a port may be opened again afterwards, and a stale descriptor costs a
 * wake-up.
 */
nfds_t mh_progress_collect_fds(const struct mh_nic *nic, struct pollfd fd[MT_PORTS_MAX]);
/* mh_progress_kick_if_late wakes the thread if it would sleep past a deadline. Under nic->lock. */
void mh_progress_kick_if_late(struct mh_nic *nic);
/* mh_progress_take_over has the thread look after the sockets at once. Any thread. */
void mh_progress_take_over(struct mh_nic *nic);

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
/* mh_loop_thread_deadline is that of the progress thread, which keeps the statistics fresh, too. */
uint64_t mh_loop_thread_deadline(const struct mh_nic *nic);
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
