/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h - what makes the NIC move: a pump, driven by a thread and by whoever posts or polls.
 *
 * Everybody who holds nic->lock may turn the pump, so that a program that posts and polls does the
 * work in its own thread without a switch; the progress thread serves the others: passive targets,
 * programs blocked on a channel, and every timer. It sleeps in ppoll until a frame arrives or the
 * next deadline; with more threads than cores, spinning would cost a tick of 4 ms at each turn.
 * While a polling program finds work by itself, the thread naps and leaves the sockets alone. A
 * polling thread that is kept from its core by others rests on the sockets instead of spinning.
 */
#ifndef SOFTMRC_HOST_PROGRESS_H
#define SOFTMRC_HOST_PROGRESS_H

#include "host/nic_context.h"

/* mh_progress_start starts the thread of a complete NIC; errno values of eventfd and threads. */
int mh_progress_start(struct mh_nic *nic);
void mh_progress_stop(struct mh_nic *nic);
/* mh_progress_close_inherited closes the descriptors in a forked child, which has no such
 * thread. */
void mh_progress_close_inherited(struct mh_nic *nic);
/* mh_progress_poll turns the pump once, unless somebody else holds the lock. */
void mh_progress_poll(struct mh_nic *nic);
/*
 * mh_progress_after_post sends and delivers what a post or a change of state made possible, and
 * sees to it that the thread wakes in time for new deadlines. Under nic->lock.
 */
void mh_progress_after_post(struct mh_nic *nic, uint64_t now_ns);
/* mh_progress_end_backoff ends a nap: somebody is going to block instead of polling. */
void mh_progress_end_backoff(struct mh_nic *nic);

#endif
