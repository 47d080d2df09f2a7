/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.c - a thread of the program that waits for an event runs the poll loop itself, and sleeps
 * on the sockets as well as on the event.
 *
 * Were that left to the progress thread, each message would wake two threads, one after the other:
 * that one for the frame, the program's for the event. The progress thread backs off as it does for
 * a program that polls. What is to be answered leaves before the program has its event: an ACK that
 * came behind the program's reply would find a peer whose send queue holds one message with no room
 * for the next.
 *
 * One thread serves at a time; not in bulk, nor while packets wait until a port has room for them:
 * there the progress thread is better, which sleeps exactly and need not leave again for an event.
 */
#include "host/progress/progress.h"

#include <errno.h>
#include <signal.h>

#include "host/datapath/datapath.h"

#define NS_PER_S UINT64_C(1000000000)
/*
 * Signals and cancellation wait for a thread that serves, and the progress thread naps. After so
 * long, some ticks, it waits without serving: it may have waited for a core all that time.
 */
#define SERVE_MAX_NS UINT64_C(10000000)

/* The event, then the sockets. */
struct serve_fds {
	struct pollfd fd[1 + MT_PORTS_MAX];
	nfds_t n;
};

/*
 * ppoll(2) ends after any handler, where the read(2) that follows goes on after one that was
 * installed with SA_RESTART. So signals wait meanwhile, all but those that a thread causes itself,
 * and it is seen afterwards which came.
 */
static void hold_signals(sigset_t *before)
{
	static const int of_thread[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
	sigset_t held;

	sigfillset(&held);
	for (size_t i = 0; i < sizeof(of_thread) / sizeof(of_thread[0]); i++)
		sigdelset(&held, of_thread[i]);
	pthread_sigmask(SIG_BLOCK, &held, before);
}

static bool ends_wait(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && !(action.sa_flags & SA_RESTART) &&
	       action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/* is_interrupted says whether a signal waits whose handler ends a wait. */
static bool is_interrupted(const sigset_t *before)
{
	bool ends = false;
	sigset_t held;

	sigpending(&held);
	for (int s = 1; s < NSIG; s++)
		ends |= sigismember(&held, s) == 1 && sigismember(before, s) == 0 && ends_wait(s);
	return ends;
}

/*
 * serve_run does what is to be done, and says until when to sleep on what; false: not to go on, for
 * ports that have no room are waited for, or it is bulk.
 */
static bool serve_run(struct mh_nic *nic, bool came, struct serve_fds *fds, uint64_t *due_ns)
{
	struct mh_progress *p = &nic->progress;
	uint64_t now;
	bool more;

	mh_nic_lock(nic);
	now = mh_now_ns();
	p->frames = 0;
	/* What a poll before this wait held back leaves now, not when it is overdue. */
	if (came || mh_loop_deadline(nic) <= now || mh_loop_rung_due(nic) != UINT64_MAX)
		mh_loop_run(nic, now, false);
	mh_progress_kick_if_late(nic);
	*due_ns = mh_loop_deadline(nic);
	more = p->frames < BULK_FRAMES && mh_tx_deadline(nic) == UINT64_MAX;
	fds->n = 1 + mh_progress_collect_fds(nic, fds->fd + 1);
	mh_nic_unlock(nic);
	return more;
}

/* serve_sleep sleeps until there is an event, a frame, or it is time. */
static void serve_sleep(struct serve_fds *fds, uint64_t until_ns)
{
	uint64_t now = mh_now_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec ts = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};

	/* Out of memory for a moment, it waits in read(2). */
	if (ppoll(fds->fd, fds->n, &ts, NULL) < 0)
		fds->fd[0].revents = POLLERR;
}

/* true: there is an event; false: the progress thread is to go on. */
static bool serve(struct mh_nic *nic, struct mh_event_queue *q)
{
	uint64_t end = mh_now_ns() + SERVE_MAX_NS, due;
	struct serve_fds fds = {.fd[0] = {q->own, POLLIN, 0}};
	bool came = false;

	while (fds.fd[0].revents == 0 && mh_now_ns() < end) {
		bool more = serve_run(nic, came, &fds, &due);

		if (mh_event_is_waiting(q))
			return true;
		if (!more) {
			atomic_store(&nic->progress.no_serving_until_ns,
				     mh_now_ns() + SCHEDULING_HOLDS_NS);
			return false;
		}
		serve_sleep(&fds, due < end ? due : end);
		came = true;
	}
	return fds.fd[0].revents == POLLIN;
}

/* Even if the progress thread was first with the event, it is to back off for the next one. */
static void end_serving(struct mh_nic *nic, bool event)
{
	struct mh_progress *p = &nic->progress;
	uint64_t now = mh_now_ns();

	atomic_store(&p->app_called_ns, now);
	atomic_store(&p->app_served_ns, event ? now : 0);
	atomic_store(&p->serving, false);
	if (event && now >= atomic_load(&p->no_serving_until_ns))
		atomic_store(&p->app_found_work_ns, now);
	else
		mh_progress_take_over(nic);
}

int mh_progress_serve(struct mh_nic *nic, struct mh_event_queue *q)
{
	struct mh_progress *p = &nic->progress;
	bool event = false, interrupted;
	int cancel_state;
	sigset_t before;

	if (nic->n_shards > 1 || mh_now_ns() < atomic_load(&p->no_serving_until_ns))
		return 0;
	hold_signals(&before);
	cancel_state = mh_cancel_disable();
	if (!atomic_exchange(&p->serving, true)) {
		event = serve(nic, q);
		end_serving(nic, event);
	}
	/* In this order: a handler may leave by siglongjmp(3). */
	mh_cancel_restore(cancel_state);
	interrupted = !event && is_interrupted(&before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return interrupted ? EINTR : 0;
}
