/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c - the pump and the progress thread. */
#include "host/progress.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/assert.h"
#include "host/async.h"
#include "host/engine_host.h"
#include "host/events.h"
#include "host/links.h"
#include "host/priority.h"
#include "host/qp.h"
#include "host/rx.h"
#include "host/stats_segment.h"
#include "host/tx.h"
#include "host/ud.h"

#define NS_PER_S UINT64_C(1000000000)
/* Timers are judged at the latest after this many bursts, drained sockets or not. */
#define PUMP_RX_ROUNDS 8u
/*
 * A program that found work within this time is polling; the thread then sleeps, shortly at first
 * and for as long as this in the end.
 */
#define NAP_NS UINT64_C(1000000)
#define NAP_FIRST_NS UINT64_C(50000)
/*
 * A program that polls does so again at once. One whose last call is so long ago when a nap ends
 * has other things to do, such as to watch its memory for what a peer writes, and for a while the
 * thread does not leave the work to it. One that is met so this often, and not once at its polling,
 * is one that watches its memory: then the thread goes before it.
 */
#define POLL_GAP_NS UINT64_C(10000)
#define NEEDED_NS UINT64_C(10000000)
#define NEEDED_RAISES 2u
#define YIELDS_MAX 10u
/*
 * After a turn that did something the thread sleeps no longer than this, which is less than the
 * timers of a request take: a post soon afterwards, as in a ping-pong, then need not wake it.
 */
#define LINGER_NS UINT64_C(5000000)
/*
 * Two polls that find nothing follow each other at once. This long between them, half a tick, says
 * that the machine is short of cores, and for a while that it stays so.
 */
#define CROWDED_GAP_NS UINT64_C(2000000)
#define CROWDED_NS UINT64_C(20000000)
#define POLL_REST_NS 100000
/*
 * Nothing holds a program back that posts datagrams, and while it holds the lock nobody reads. So
 * it reads itself after so many, far fewer than a receive buffer has room for.
 */
#define UD_UNREAD_MAX 32u
/*
 * Likewise a program that posts one message after the other and does not poll between them: the
 * acknowledgements come meanwhile, and the progress thread, which would wake for them, wants the
 * lock just as often as the program.
 */
#define POSTS_UNREAD_MAX 16u
/*
 * Whoever holds the lock for longer than a turn of the pump takes was put aside, perhaps for the
 * very thread that polls.
 */
#define HELD_NS UINT64_C(50000)

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ports_changed tells those who care of ports that went down or came back. */
static void ports_changed(struct mh_nic *nic, uint64_t now_ns)
{
	mh_engine_tell_ports(nic, now_ns);
	mh_async_ports_changed(nic);
}

/* pump_out lets go what may leave: packets, held frames, events. */
static uint32_t pump_out(struct mh_nic *nic, uint64_t now_ns)
{
	uint32_t work;

	if (now_ns > nic->engine_ns)
		nic->engine_ns = now_ns;
	work = mh_tx_pump(nic, now_ns);
	if (!mb_link_alone(&nic->ud_senders))
		work += mh_ud_pump(nic, now_ns);
	mh_qp_fail_marked(nic, now_ns);
	for (uint32_t i = 0; i < nic->ports.n; i++)
		if (mio_port_deadline(nic->ports.port[i].io) <= now_ns)
			mio_port_tick(nic->ports.port[i].io, now_ns);
	if (mh_ports_watch(&nic->ports))
		ports_changed(nic, now_ns);
	return work + mh_events_drain(nic, now_ns);
}

/*
 * pump does everything that is to be done now and returns how much that was. What waits in the
 * sockets is read before timers are judged: a process that was not scheduled for a while finds
 * there the acknowledgements whose absence the timers are about.
 */
static uint32_t pump(struct mh_nic *nic, uint64_t now_ns)
{
	uint32_t work = 0;
	bool more = true;

	nic->progress.posts_unread = 0;
	for (uint32_t round = 0; more && round < PUMP_RX_ROUNDS; round++) {
		uint32_t got = mh_rx_pump(nic, now_ns, &more);

		work += got;
		if (got == 0)
			break;
		work += pump_out(nic, now_ns);
		now_ns = mh_now_ns();
	}
	if (mt_engine_deadline(nic->engine) <= now_ns) {
		mt_engine_tick(nic->engine, now_ns);
		work++;
	}
	nic->rx_left = more;
	/* A receive window found no memory: its sender was told to try again. */
	if (mt_engine_memory_wanted(nic->engine) > 0 && mh_engine_grow(nic))
		work++;
	return work + pump_out(nic, now_ns);
}

/* progress_deadline returns when somebody must turn the pump even if nothing arrives. */
static uint64_t progress_deadline(const struct mh_nic *nic)
{
	uint64_t at = earlier(mt_engine_deadline(nic->engine), mh_tx_next(nic));

	if (nic->rx_left)
		return 0;
	for (uint32_t i = 0; i < nic->ports.n; i++)
		at = earlier(at, mio_port_deadline(nic->ports.port[i].io));
	at = earlier(at, mh_ud_next(nic));
	return earlier(at, mh_segment_due(nic->segment));
}

static void progress_kick(struct mh_nic *nic)
{
	uint64_t one = 1;

	/* EAGAIN: it is full of kicks. If the program closed it, the thread looks on its own. */
	if (write(nic->progress.kick_fd, &one, sizeof(one)) < 0)
		mb_assert(errno == EAGAIN || errno == EBADF || errno == EINVAL);
}

/* progress_kick_if_late wakes the thread if it would sleep past the next deadline. */
static void progress_kick_if_late(struct mh_nic *nic)
{
	uint64_t at = progress_deadline(nic);

	if (at >= nic->progress.sleeps_until_ns)
		return;
	nic->progress.sleeps_until_ns = at;
	progress_kick(nic);
}

/*
 * progress_blocks says whether a program asked for an event a moment ago. Such a one polls only
 * until it blocks, and were the thread to nap meanwhile, what comes then would have to wait.
 */
static bool progress_blocks(struct mh_nic *nic, uint64_t now_ns)
{
	uint64_t armed = atomic_load_explicit(&nic->progress.armed_ns, memory_order_relaxed);

	return now_ns < armed + NAP_NS;
}

/* progress_by_app notes that a thread of the program turned the pump: with this success. */
static void progress_by_app(struct mh_nic *nic, uint32_t work, uint64_t now_ns)
{
	atomic_store_explicit(&nic->progress.app_called_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&nic->progress.refused_ns, 0, memory_order_relaxed);
	if (work > 0 && !progress_blocks(nic, now_ns))
		atomic_store_explicit(&nic->progress.app_served_ns, now_ns, memory_order_relaxed);
}

void mh_progress_pump_out(struct mh_nic *nic, uint64_t now_ns)
{
	uint32_t read_work = 0;

	nic->progress.posts_unread++;
	if (nic->ud_unread >= UD_UNREAD_MAX || nic->progress.posts_unread >= POSTS_UNREAD_MAX)
		read_work = pump(nic, mh_now_ns());
	else
		pump_out(nic, now_ns);
	progress_kick_if_late(nic);
	progress_by_app(nic, read_work, now_ns);
}

void mh_progress_wake_up(struct mh_nic *nic)
{
	atomic_store(&nic->progress.armed_ns, mh_now_ns());
	atomic_store(&nic->progress.app_served_ns, 0);
	if (atomic_load(&nic->progress.naps))
		progress_kick(nic);
}

/* The thread's naps, one after the other. */
struct progress_nap {
	uint64_t ns;		  /* of the last one; 0: the thread was awake since */
	uint64_t needed_until_ns; /* no naps before */
	uint32_t needed;	  /* times in a row that a nap ended so */
	struct mh_priority priority;
};

/*
 * progress_served says whether a polling program did the work a moment ago. What programs do not
 * do is to keep the statistics fresh.
 */
static bool progress_served(struct mh_nic *nic, uint64_t now_ns)
{
	uint64_t served;

	/* In this order, for mh_progress_wake_up: it sees the nap, or the nap is not begun. */
	atomic_store(&nic->progress.naps, true);
	served = atomic_load(&nic->progress.app_served_ns);
	return served != 0 && now_ns < served + NAP_NS && now_ns < mh_segment_due(nic->segment);
}

/*
 * progress_polls says whether the program is at its polling: inside, with the lock, or a moment
 * ago.
 */
static bool progress_polls(struct mh_nic *nic, uint64_t now_ns)
{
	uint64_t called = atomic_load_explicit(&nic->progress.app_called_ns, memory_order_relaxed);

	if (now_ns < called + POLL_GAP_NS || pthread_mutex_trylock(&nic->lock) != 0)
		return true;
	pthread_mutex_unlock(&nic->lock);
	return false;
}

/* progress_needed has the thread do the work for a while. */
static void progress_needed(struct progress_nap *nap, uint64_t now_ns)
{
	nap->needed_until_ns = now_ns + NEEDED_NS;
	if (++nap->needed >= NEEDED_RAISES)
		mh_priority_raise(&nap->priority, true);
}

/* progress_napping says whether the thread may nap, and how long. */
static bool progress_napping(struct mh_nic *nic, struct progress_nap *nap, uint64_t now_ns)
{
	bool napped = nap->ns > 0;

	nap->ns = napped ? earlier(2 * nap->ns, NAP_NS) : NAP_FIRST_NS;
	if (progress_served(nic, now_ns) && now_ns >= nap->needed_until_ns) {
		if (!napped)
			return true;
		if (progress_polls(nic, now_ns)) {
			nap->needed = 0;
			if (nap->ns == NAP_NS)
				mh_priority_raise(&nap->priority, false);
			return true;
		}
		progress_needed(nap, now_ns);
	}
	nap->ns = 0;
	return false;
}

/* What the thread sleeps on: kicks, links, and unless it naps the sockets of ports that are up. */
enum {
	FD_KICK,
	FD_LINKS,
	FD_PORTS,
};

struct progress_fds {
	struct pollfd fd[FD_PORTS + MT_PORTS_MAX];
	nfds_t n;
};

static void progress_collect(const struct mh_nic *nic, struct progress_fds *fds)
{
	fds->n = FD_PORTS;
	for (uint32_t i = 0; i < nic->ports.n; i++)
		if (nic->ports.port[i].up)
			fds->fd[fds->n++] =
				(struct pollfd){nic->ports.port[i].io->status->fd, POLLIN, 0};
}

/*
 * poll_crowded says whether there are more threads that want to run than cores. A thread that polls
 * and does not run for ticks while it finds nothing was put aside for others; one that goes on
 * spinning is put aside again just when what it waits for arrives.
 */
static bool poll_crowded(struct mh_progress *p, uint64_t now_ns)
{
	if (p->idle_poll_ns != 0 && now_ns - p->idle_poll_ns >= CROWDED_GAP_NS)
		p->crowded_until_ns = now_ns + CROWDED_NS;
	return now_ns < p->crowded_until_ns;
}

/* poll_rest leaves the core to others until a frame arrives, for a moment at most. */
static void poll_rest(struct progress_fds *fds)
{
	const struct timespec rest = {0, POLL_REST_NS};

	if (ppoll(fds->fd + FD_PORTS, fds->n - FD_PORTS, &rest, NULL) < 0)
		sched_yield();
}

/*
 * poll_refused: the lock is taken. Its holder is let run if he should be done by now.
 */
static void poll_refused(struct mh_progress *p, uint64_t now_ns)
{
	uint64_t since = atomic_load_explicit(&p->refused_ns, memory_order_relaxed);

	if (since == 0)
		atomic_store_explicit(&p->refused_ns, now_ns, memory_order_relaxed);
	else if (now_ns > since + HELD_NS)
		sched_yield();
}

void mh_progress_poll(struct mh_nic *nic)
{
	struct progress_fds fds;
	uint64_t polled = mh_now_ns();
	uint32_t work;
	bool rest;

	atomic_store_explicit(&nic->progress.app_called_ns, polled, memory_order_relaxed);
	if (pthread_mutex_trylock(&nic->lock) != 0) {
		poll_refused(&nic->progress, polled);
		return;
	}
	rest = poll_crowded(&nic->progress, polled);
	work = pump(nic, polled);
	if (work > 0)
		polled = mh_now_ns();
	nic->progress.idle_poll_ns = work > 0 ? 0 : polled;
	progress_by_app(nic, work, polled);
	progress_kick_if_late(nic);
	rest &= work == 0;
	if (rest) {
		progress_collect(nic, &fds);
		/* It is at its polling until then. */
		atomic_store_explicit(&nic->progress.app_called_ns, polled + POLL_REST_NS,
				      memory_order_relaxed);
	}
	pthread_mutex_unlock(&nic->lock);
	if (rest)
		poll_rest(&fds);
}

/* progress_turn turns the pump once and returns until when to sleep, and on what. */
static uint64_t progress_turn(struct mh_nic *nic, struct progress_fds *fds)
{
	uint64_t now, until;
	uint32_t work;

	/* Who waits for the lock goes first; a mutex would let this thread take it again and
	 * again. */
	for (uint32_t i = 0; i < YIELDS_MAX && atomic_load(&nic->progress.waiters) > 0; i++)
		sched_yield();
	pthread_mutex_lock(&nic->lock);
	work = pump(nic, mh_now_ns());
	now = mh_now_ns();
	mh_segment_refresh(nic, now);
	until = progress_deadline(nic);
	if (work > 0)
		until = earlier(until, now + LINGER_NS);
	nic->progress.sleeps_until_ns = until;
	progress_collect(nic, fds);
	pthread_mutex_unlock(&nic->lock);
	return until;
}

/* progress_kicked takes the kicks, and keeps the thread from spinning when they have no way in. */
static void progress_kicked(struct mh_nic *nic, short revents)
{
	const struct timespec nap = {0, (long)NAP_NS};
	uint64_t kicks;

	if (revents & POLLNVAL)
		nanosleep(&nap, NULL);
	else if ((revents & POLLIN) && read(nic->progress.kick_fd, &kicks, sizeof(kicks)) < 0)
		mb_assert(errno == EAGAIN || errno == EBADF || errno == EINVAL);
}

/* progress_links looks at the ports again, for something changed with the interfaces. */
static void progress_links(struct mh_nic *nic)
{
	uint64_t now = mh_now_ns();

	if (!mh_links_heard(nic->progress.links_fd))
		return;
	mh_nic_lock(nic);
	if (mh_ports_look(&nic->ports, &nic->env, now)) {
		ports_changed(nic, now);
		pump_out(nic, now);
	}
	mh_nic_unlock(nic);
}

static void progress_woken(struct mh_nic *nic, const struct progress_fds *fds)
{
	progress_kicked(nic, fds->fd[FD_KICK].revents);
	if (fds->fd[FD_LINKS].revents)
		progress_links(nic);
}

/* progress_sleep waits for a deadline or for one of the descriptors. */
static void progress_sleep(struct mh_nic *nic, uint64_t until_ns, struct progress_fds *fds)
{
	uint64_t now = mh_now_ns();
	uint64_t left = until_ns > now ? until_ns - now : 0;
	struct timespec ts = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};

	fds->fd[FD_KICK] = (struct pollfd){nic->progress.kick_fd, POLLIN, 0};
	fds->fd[FD_LINKS] = (struct pollfd){nic->progress.links_fd, POLLIN, 0};
	if (ppoll(fds->fd, fds->n, until_ns == UINT64_MAX ? NULL : &ts, NULL) < 0)
		sched_yield(); /* out of memory for a moment: what is due is looked at again */
	else
		progress_woken(nic, fds);
}

static void *progress_main(void *arg)
{
	struct mh_nic *nic = arg;
	struct progress_nap nap = {0};

	prctl(PR_SET_NAME, "mrc-progress");
	/* The default slack of 50 us would be added to every wake-up. */
	prctl(PR_SET_TIMERSLACK, 1);
	mh_priority_init(&nap.priority, nic->env.priority);
	while (!atomic_load(&nic->progress.stop)) {
		uint64_t now = mh_now_ns();
		struct progress_fds fds = {.n = FD_PORTS};
		uint64_t until;

		if (progress_napping(nic, &nap, now)) {
			until = now + nap.ns;
		} else {
			atomic_store(&nic->progress.naps, false);
			until = progress_turn(nic, &fds);
		}
		progress_sleep(nic, until, &fds);
	}
	return NULL;
}

static void progress_close(struct mh_nic *nic)
{
	close(nic->progress.kick_fd);
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
	nic->progress.links_fd = mh_links_open();
	if (nic->progress.links_fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		err = errno;
		close(nic->progress.kick_fd);
		return err;
	}
	/* Signals are the program's; its handlers must not run in our thread. See guard.h. */
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

void mh_progress_stop(struct mh_nic *nic)
{
	if (!nic->progress.started)
		return;
	atomic_store(&nic->progress.stop, true);
	progress_kick(nic);
	pthread_join(nic->progress.thread, NULL);
	progress_close(nic);
	nic->progress.started = false;
}

void mh_progress_abandon(struct mh_nic *nic)
{
	if (nic->progress.started)
		progress_close(nic);
	nic->progress.started = false;
}
