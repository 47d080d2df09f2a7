/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.c - who runs the poll loop of poll_loop.c, and when: a program that polls an empty CQ,
 * the progress thread, a program that posts and does not poll, or one that waits for an event
 * (serve.c). The thread leaves the work to a program that polls or serves, and backs off meanwhile.
 */
#include "host/progress/progress.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/assert.h"
#include "host/node/node.h"
#include "host/platform/platform.h"
#include "host/state/shards.h"
#include "host/stats/stats.h"

#define NS_PER_S UINT64_C(1000000000)
/*
 * A program that polls does so again at once. One whose last call is so long ago when a backoff
 * ends has other things to do, such as to watch its memory for what a peer writes, and for a while
 * the thread does not leave the work to it. One that is met so this often, and not once at its
 * polling, is one that watches its memory: then the thread goes before it.
 */
#define POLL_GAP_NS UINT64_C(10000)
#define MISSED_POLLS_BEFORE_RAISE 2u
/*
 * A program that once did not poll again, see look_after_due, sends with each post for so long: it
 * loses a hundredth of its time at most.
 */
#define UNPOLLED_HOLDS_NS UINT64_C(100000000)
#define YIELDS_MAX 10u
/*
 * After a run that did something the thread sleeps no longer than this, which is less than the
 * timers of a request take: a post soon afterwards, as in a ping-pong, then need not wake it.
 */
#define SLEEP_AFTER_WORK_MAX_NS UINT64_C(5000000)
/*
 * Two polls that find nothing follow each other at once. This long between them, half a tick, says
 * that the machine is short of cores.
 */
#define OVERSUBSCRIBED_GAP_NS UINT64_C(2000000)

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A kick is a system call of a microsecond and more, as much as a post takes. So the thread says
 * until when it sleeps, and is kicked only for something that is due before; sleeps_until_ns is
 * lowered at once, so that the next post does not kick again.
 */
void mh_progress_kick_if_late(struct mh_nic *nic)
{
	uint64_t at;

	/* Of all that is due the program takes care; if it does not, the nap ends soon. */
	if (atomic_load(&nic->progress.backing_off))
		return;
	at = mh_loop_thread_deadline(nic);
	if (at >= nic->progress.sleeps_until_ns)
		return;
	nic->progress.sleeps_until_ns = at;
	mh_nic_kick(nic);
}

/*
 * is_app_about_to_block says whether a program asked for an event a moment ago. Such a one polls
 * only until it blocks, and were the thread to backoff meanwhile, what comes then would have to
 * wait.
 */
static bool is_app_about_to_block(struct mh_nic *nic, uint64_t now_ns)
{
	uint64_t armed = atomic_load_explicit(&nic->progress.event_armed_ns, memory_order_relaxed);

	return now_ns < armed + BACKOFF_MAX_NS;
}

/*
 * record_app_progress notes that a thread of the program ran the poll loop, and its work. What a
 * post finds does not count as a poll's unless it read the ports: a program that only posts does
 * not look after what arrives, and the thread must not back off for it.
 */
static void record_app_progress(struct mh_nic *nic, uint32_t work, uint64_t now_ns)
{
	atomic_store_explicit(&nic->progress.app_called_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&nic->progress.lock_busy_since_ns, 0, memory_order_relaxed);
	if (work > 0 && !is_app_about_to_block(nic, now_ns))
		atomic_store_explicit(&nic->progress.app_found_work_ns, now_ns,
				      memory_order_relaxed);
}

/* is_app_serving says whether a program served lately, see serve.c, and will again. */
static bool is_app_serving(struct mh_nic *nic, uint64_t now_ns)
{
	struct mh_progress *p = &nic->progress;

	return now_ns < atomic_load(&p->app_served_ns) + SCHEDULING_HOLDS_NS &&
	       now_ns >= atomic_load(&p->no_serving_until_ns);
}

/* may_wait says whether what is to be sent may wait for the program's next poll. */
static bool may_wait(struct mh_nic *nic, uint64_t now_ns)
{
	return now_ns >= nic->progress.no_gather_until_ns && !is_app_about_to_block(nic, now_ns);
}

/* is_polling says whether the program polled a moment ago, and so will again. */
static bool is_polling(struct mh_nic *nic, uint64_t now_ns)
{
	uint64_t polled = atomic_load_explicit(&nic->progress.app_polled_ns, memory_order_relaxed);

	/* What was rung keeps it so, until it is due: posts take time, too. */
	return now_ns < polled + POLL_GAP_NS || mh_loop_rung_due(nic) != UINT64_MAX;
}

void mh_progress_ring(struct mh_nic *nic, uint64_t now_ns, uint32_t wrs, uint64_t bytes)
{
	uint32_t read_work = 0;

	if (!mh_loop_gather(nic, now_ns, bytes, is_polling(nic, now_ns) && may_wait(nic, now_ns)))
		read_work = mh_loop_posted(nic, now_ns, wrs);
	mh_progress_kick_if_late(nic);
	record_app_progress(nic, read_work, now_ns);
}

void mh_progress_flush(struct mh_nic *nic, uint64_t now_ns)
{
	mh_loop_tx(nic, now_ns);
	mh_progress_kick_if_late(nic);
	record_app_progress(nic, 0, now_ns);
}

/*
 * The order of the store and the load is half of an agreement with is_app_working: either the
 * thread sees here that it must not back off, or this sees that it does, and kicks it. Default
 * (sequentially consistent) order is what that takes.
 */
void mh_progress_take_over(struct mh_nic *nic)
{
	atomic_store(&nic->progress.app_found_work_ns, 0);
	if (atomic_load(&nic->progress.backing_off))
		mh_nic_kick(nic);
}

/*
 * A program with one channel that served when it waited for its last event will do so again, and
 * the thread stays away. With several channels one thread's work may be another's to wait for: who
 * has taken an event might not come back before that is done.
 */
void mh_progress_end_backoff(struct mh_nic *nic, const struct mh_channel *channel)
{
	struct mh_progress *p = &nic->progress;
	uint64_t now = mh_now_ns();
	const struct mh_channel *before = atomic_exchange(&p->armed_channel, channel);

	atomic_store(&p->event_armed_ns, now);
	if (before && before != channel)
		atomic_store(&p->no_serving_until_ns, now + UNPOLLED_HOLDS_NS);
	if (!is_app_serving(nic, now))
		mh_progress_take_over(nic);
}

void mh_progress_forget_channel(struct mh_nic *first, const struct mh_channel *channel)
{
	for (uint32_t i = 0; i < first->n_shards; i++) {
		const struct mh_channel *armed = channel;

		atomic_compare_exchange_strong(&first->shard[i]->progress.armed_channel, &armed,
					       NULL);
	}
}

/* The thread's naps, one after the other. */
struct progress_backoff {
	uint64_t ns;		      /* of the last one; 0: the thread was awake since */
	uint64_t no_backoff_until_ns; /* no naps before */
	uint32_t missed_polls;	      /* times in a row that a backoff ended so */
	struct mh_priority priority;
};

/*
 * is_app_working says whether the program did the work a moment ago, or serves. What programs do
 * not do is to keep the statistics fresh.
 */
static bool is_app_working(struct mh_nic *nic, uint64_t now_ns)
{
	struct mh_progress *p = &nic->progress;
	uint64_t found;

	/* In this order, for mh_progress_take_over: it sees the backoff, or the backoff is not
	 * begun. */
	atomic_store(&p->backing_off, true);
	found = atomic_load(&p->app_found_work_ns);
	return found != 0 && (now_ns < found + BACKOFF_MAX_NS || atomic_load(&p->serving)) &&
	       now_ns < mh_segment_deadline(nic->segment);
}

/*
 * is_app_present says whether the program is at its polling: inside, with the lock, or a moment
 * ago; or serves.
 */
static bool is_app_present(struct mh_nic *nic, uint64_t now_ns)
{
	uint64_t called = atomic_load_explicit(&nic->progress.app_called_ns, memory_order_relaxed);

	if (now_ns < called + POLL_GAP_NS || atomic_load(&nic->progress.serving) ||
	    pthread_mutex_trylock(&nic->lock) != 0)
		return true;
	pthread_mutex_unlock(&nic->lock);
	return false;
}

/*
 * suspend_backoff has the thread do the work for a while. Its priority is raised only after several
 * misses in a row: every program that ends a phase of polling misses once.
 */
static void suspend_backoff(struct progress_backoff *backoff, uint64_t now_ns)
{
	backoff->no_backoff_until_ns = now_ns + SCHEDULING_HOLDS_NS;
	if (++backoff->missed_polls >= MISSED_POLLS_BEFORE_RAISE)
		mh_priority_raise(&backoff->priority, true);
}

/*
 * start_backoff says whether the thread may back off, and how long. One that serves when it waits
 * does other things between, and then the thread is there, but for the rest of a nap.
 */
static bool start_backoff(struct mh_nic *nic, struct progress_backoff *backoff, uint64_t now_ns)
{
	bool was_backing_off = backoff->ns > 0;
	bool working = is_app_working(nic, now_ns);
	bool serving = is_app_serving(nic, now_ns);

	backoff->ns = was_backing_off ? earlier(2 * backoff->ns, BACKOFF_MAX_NS) : RUNG_WAIT_NS;
	if (working && now_ns >= backoff->no_backoff_until_ns) {
		if (!was_backing_off && !serving)
			return true;
		if (is_app_present(nic, now_ns)) {
			backoff->missed_polls = 0;
			if (backoff->ns == BACKOFF_MAX_NS)
				mh_priority_raise(&backoff->priority, false);
			return true;
		}
		if (!serving)
			suspend_backoff(backoff, now_ns);
	}
	backoff->ns = 0;
	return false;
}

/* What the thread sleeps on: kicks, links, and unless it naps the sockets of ports that are up. */
enum {
	FD_KICK,
	FD_LINKS,
	FD_NODE,
	FD_PORTS,
};

struct progress_fds {
	struct pollfd fd[FD_PORTS + MT_PORTS_MAX];
	nfds_t n;
};

nfds_t mh_progress_collect_fds(const struct mh_nic *nic, struct pollfd fd[MT_PORTS_MAX])
{
	nfds_t n = 0;

	for (uint32_t i = 0; i < nic->ports.n; i++)
		if (mh_ports_receives(&nic->ports.port[i]))
			fd[n++] = (struct pollfd){nic->ports.port[i].io->status->fd, POLLIN, 0};
	return n;
}

static void collect_fds(const struct mh_nic *nic, struct progress_fds *fds)
{
	fds->n = FD_PORTS + mh_progress_collect_fds(nic, fds->fd + FD_PORTS);
}

/*
 * is_cpu_oversubscribed says whether there are more threads that want to run than cores. A thread
 * that polls and does not run for ticks while it finds nothing was put aside for others; one that
 * goes on spinning is put aside again just when what it waits for arrives.
 */
static bool is_cpu_oversubscribed(struct mh_progress *p, uint64_t now_ns)
{
	if (p->last_empty_poll_ns != 0 && now_ns - p->last_empty_poll_ns >= OVERSUBSCRIBED_GAP_NS)
		p->oversubscribed_until_ns = now_ns + SCHEDULING_HOLDS_NS;
	return now_ns < p->oversubscribed_until_ns;
}

/* wait_for_frame leaves the core to others until a frame arrives, for a moment at most. */
static void wait_for_frame(struct progress_fds *fds)
{
	const struct timespec idle_wait = {0, (long)RUNG_WAIT_NS};
	int cancel_state = mh_cancel_disable(); /* callers may hold locks of their own */

	if (ppoll(fds->fd + FD_PORTS, fds->n - FD_PORTS, &idle_wait, NULL) < 0)
		sched_yield();
	mh_cancel_restore(cancel_state);
}

/*
 * yield_to_lock_holder: the lock is taken. A thread that holds it for longer than one run of the
 * poll loop takes was preempted, perhaps by this one, and is let run.
 */
static void yield_to_lock_holder(struct mh_progress *p, uint64_t now_ns)
{
	uint64_t since = atomic_load_explicit(&p->lock_busy_since_ns, memory_order_relaxed);

	if (since == 0)
		atomic_store_explicit(&p->lock_busy_since_ns, now_ns, memory_order_relaxed);
	else if (now_ns > since + RUNG_WAIT_NS)
		sched_yield();
}

void mh_progress_poll(struct mh_nic *nic, bool alone)
{
	struct progress_fds fds;
	uint64_t polled = mh_now_ns();
	uint32_t work;
	bool idle_wait;

	atomic_store_explicit(&nic->progress.app_called_ns, polled, memory_order_relaxed);
	if (!mh_nic_trylock(nic)) {
		yield_to_lock_holder(&nic->progress, polled);
		return;
	}
	/* Before it blocks, it rests there. */
	idle_wait = is_cpu_oversubscribed(&nic->progress, polled) &&
		    !is_app_about_to_block(nic, polled);
	work = mh_loop_run(nic, polled, may_wait(nic, polled));
	if (work > 0)
		polled = mh_now_ns();
	nic->progress.last_empty_poll_ns = work > 0 ? 0 : polled;
	record_app_progress(nic, work, polled);
	atomic_store_explicit(&nic->progress.app_polled_ns, polled, memory_order_relaxed);
	mh_progress_kick_if_late(nic);
	idle_wait &= work == 0 && alone;
	if (idle_wait) {
		collect_fds(nic, &fds);
		/* It is at its polling until then. */
		atomic_store_explicit(&nic->progress.app_called_ns, polled + RUNG_WAIT_NS,
				      memory_order_relaxed);
	}
	mh_nic_unlock(nic);
	if (idle_wait)
		wait_for_frame(&fds);
}

/*
 * run_for_app runs the poll loop in the thread. Where it finds overdue what a program left in its
 * queue at its last poll, the program did not poll again, as one does that computes between: for a
 * while its posts and answers do not wait. Under nic->lock.
 */
static uint32_t run_for_app(struct mh_nic *nic)
{
	uint64_t now = mh_now_ns();

	if (mh_loop_rung_due(nic) <= now)
		nic->progress.no_gather_until_ns = now + UNPOLLED_HOLDS_NS;
	return mh_loop_run(nic, now, false);
}

/* run_once runs the poll loop once and returns until when to sleep, and on what. */
static uint64_t run_once(struct mh_nic *nic, struct progress_fds *fds)
{
	uint64_t now, until;
	uint32_t work;

	/* Threads that wait for the lock go first; a mutex would let this thread take it again and
	 * again. */
	for (uint32_t i = 0; i < YIELDS_MAX && atomic_load(&nic->progress.waiters) > 0; i++)
		sched_yield();
	pthread_mutex_lock(&nic->lock);
	work = run_for_app(nic);
	now = mh_now_ns();
	mh_segment_refresh(nic, now);
	until = mh_loop_thread_deadline(nic);
	if (work > 0)
		until = earlier(until, now + SLEEP_AFTER_WORK_MAX_NS);
	if (nic->progress.frames >= BULK_FRAMES)
		until = now;
	collect_fds(nic, fds);
	nic->progress.sleeps_until_ns = until;
	nic->node->store.followed = nic->node->store.info.generation > 0 && mh_shards_have_qps(nic);
	pthread_mutex_unlock(&nic->lock);
	return until;
}

/*
 * look_after_due sends what a program left in its queue at its last poll and is overdue. Besides, a
 * thread that serves sleeps until what was due when it went to sleep: what other threads have
 * posted since may be due sooner.
 */
static void look_after_due(struct mh_nic *nic, struct progress_backoff *backoff, uint64_t now_ns)
{
	bool serving = atomic_load(&nic->progress.serving);

	if ((!serving && mh_loop_rung_due(nic) > now_ns) || pthread_mutex_trylock(&nic->lock) != 0)
		return;
	if (mh_loop_rung_due(nic) <= now_ns) {
		run_for_app(nic);
		backoff->ns = RUNG_WAIT_NS;
	} else if (serving && mh_loop_deadline(nic) <= now_ns) {
		mh_loop_run(nic, mh_now_ns(), false);
	}
	pthread_mutex_unlock(&nic->lock);
}

/* drain_kicks takes the kicks, and keeps the thread from spinning when they have no way in. */
static void drain_kicks(struct mh_nic *nic, short revents)
{
	const struct timespec backoff = {0, (long)BACKOFF_MAX_NS};
	uint64_t kicks;

	if (revents & (POLLNVAL | POLLERR | POLLHUP) ||
	    ((revents & POLLIN) && read(nic->progress.kick_fd, &kicks, sizeof(kicks)) < 0 &&
	     errno != EAGAIN))
		nanosleep(&backoff, NULL);
}

/*
 * update_links looks at the ports again when something changed with the interfaces, or they could
 * not be asked for the last time.
 */
static void update_links(struct mh_nic *nic)
{
	uint64_t now = mh_now_ns();

	if (!mh_link_monitor_drain(nic->progress.links_fd) && now < nic->ports.links_due_ns)
		return;
	mh_nic_lock(nic);
	if (mh_ports_update_links(&nic->ports, &nic->env, now)) {
		mh_loop_report_ports(nic, now);
		mh_loop_tx(nic, now);
	}
	mh_nic_unlock(nic);
}

/* follow_node does what the store of the device has had changed. */
static void follow_node(struct mh_nic *nic)
{
	uint64_t now = mh_now_ns();
	bool ports_changed = false;

	if (!mh_node_store_look(nic, now))
		return;
	mh_nic_lock(nic);
	now = mh_now_ns();
	mh_node_store_take(nic, now, &ports_changed);
	if (ports_changed)
		mh_loop_report_ports(nic, now);
	mh_loop_tx(nic, now);
	mh_nic_unlock(nic);
}

static void handle_wakeup(struct mh_nic *nic, const struct progress_fds *fds)
{
	drain_kicks(nic, fds->fd[FD_KICK].revents);
	if (fds->fd[FD_LINKS].revents || nic->ports.links_due_ns != UINT64_MAX)
		update_links(nic);
	if (fds->fd[FD_NODE].revents || mh_now_ns() >= mh_node_store_due(nic))
		follow_node(nic);
}

/* progress_sleep waits for a deadline or for one of the descriptors. */
static void progress_sleep(struct mh_nic *nic, uint64_t until_ns, struct progress_fds *fds)
{
	uint64_t now = mh_now_ns();
	uint64_t due = earlier(until_ns, mh_node_store_due(nic));
	uint64_t left = due > now ? due - now : 0;
	struct timespec ts = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};

	fds->fd[FD_KICK] = (struct pollfd){nic->progress.kick_fd, POLLIN, 0};
	fds->fd[FD_LINKS] = (struct pollfd){nic->progress.links_fd, POLLIN, 0};
	fds->fd[FD_NODE] = (struct pollfd){mh_node_store_fd(nic), POLLIN, 0};
	if (ppoll(fds->fd, fds->n, due == UINT64_MAX ? NULL : &ts, NULL) < 0)
		sched_yield(); /* out of memory for a moment: what is due is looked at again */
	else
		handle_wakeup(nic, fds);
}

/*
 * While the thread backs off it sleeps on kicks and links only: a frame that arrives is the polling
 * program's, and waking for it would cost both of them a fight for the lock.
 */
static void *progress_main(void *arg)
{
	struct mh_nic *nic = arg;
	struct progress_backoff backoff = {0};

	prctl(PR_SET_NAME, "mrc-progress");
	/* The default slack of 50 us would be added to every wake-up. */
	prctl(PR_SET_TIMERSLACK, 1);
	mh_priority_init(&backoff.priority, nic->env.priority);
	while (!atomic_load(&nic->progress.stop)) {
		uint64_t now = mh_now_ns();
		struct progress_fds fds = {.n = FD_PORTS};
		uint64_t until;

		if (start_backoff(nic, &backoff, now)) {
			look_after_due(nic, &backoff, now);
			until = now + backoff.ns;
		} else {
			atomic_store(&nic->progress.backing_off, false);
			until = run_once(nic, &fds);
		}
		progress_sleep(nic, until, &fds);
	}
	return NULL;
}

/* Another shard may kick this one yet: by then the number may be that of a file of the program. */
static void progress_close(struct mh_nic *nic)
{
	close(nic->progress.kick_fd);
	nic->progress.kick_fd = -1;
	if (nic->progress.links_fd >= 0)
		close(nic->progress.links_fd);
}

int mh_progress_start(struct mh_nic *nic)
{
	sigset_t all, old;
	int err;

	nic->progress.kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (nic->progress.kick_fd < 0)
		return errno;
	/* Where there is no such socket, ports are taken to be up for ever. */
	nic->progress.links_fd = mh_link_monitor_open();
	if (nic->progress.links_fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		err = errno;
		progress_close(nic);
		return err;
	}
	/* Signals are the program's; its handlers must not run in our thread. See mem_guard.c. */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&nic->progress.thread, NULL, progress_main, nic);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		progress_close(nic);
	nic->progress.started = err == 0;
	return err;
}

/* Called without nic->lock: the thread may be waiting for that lock and could not end. */
void mh_progress_stop(struct mh_nic *nic)
{
	if (!nic->progress.started)
		return;
	atomic_store(&nic->progress.stop, true);
	mh_nic_kick(nic);
	pthread_join(nic->progress.thread, NULL);
	progress_close(nic);
	nic->progress.started = false;
}

/* The child has no such thread; joining it would wait for ever. */
void mh_progress_close_inherited(struct mh_nic *nic)
{
	if (nic->progress.started)
		progress_close(nic);
	nic->progress.started = false;
}
