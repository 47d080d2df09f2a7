/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - the poll loop of the NIC, run by a thread and by programs that post or poll.
 *
 * A thread that holds nic->lock may run the loop, so that a program that posts and polls does the
 * work in its own thread without a switch; the progress thread serves the others: passive targets,
 * programs blocked on a channel, and every timer. It sleeps in ppoll until a frame arrives or the
 * next deadline; with more threads than cores, spinning would cost a tick of 4 ms each time.
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
/* mh_progress_poll runs the poll loop once, unless another thread holds the lock. */
void mh_progress_poll(struct mh_nic *nic);
/*
 * mh_progress_after_post sends and delivers what a post or a change of state made possible, and
 * sees to it that the thread wakes in time for new deadlines. Under nic->lock.
 */
void mh_progress_after_post(struct mh_nic *nic, uint64_t now_ns);
/* mh_progress_end_backoff ends the thread's back-off: a program is going to block, not to poll. */
void mh_progress_end_backoff(struct mh_nic *nic);

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
