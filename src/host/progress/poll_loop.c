/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll_loop.c - what the owner of the engine runs. It reads the ports, runs timers, lets packets go
 * and delivers events.
 *
 * A post does not run it for a program that polls: it rings, and the next poll that finds its CQ
 * empty sends all that was posted since, together. So SENDs of a few packets share a run and a
 * system call. In the same way a poll that has completions for the program leaves to the next one
 * what is to be answered: an acknowledgement goes with the answer of the program, if it has one.
 * If the program polls no more, what was rung leaves when the progress thread looks, within its
 * longest nap of a millisecond, and its next posts do not wait.
 */
#include "host/progress/progress.h"

#include "host/datapath/datapath.h"
#include "host/stats/stats.h"

/* Timers are judged at the latest after this many bursts, drained sockets or not. */
#define RX_BURSTS_MAX 8u
/*
 * Posts gather until there is enough for the longest run. With more nothing is won, and the wire
 * would be idle meanwhile.
 */
#define GATHER_BYTES 65536u
/*
 * Nothing holds a program back that posts datagrams, or one message after the other, and does not
 * poll between them: what arrives meanwhile is read after so many WRs, far fewer than a receive
 * buffer has room for.
 */
#define WRS_PER_RX 32u

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A device has one port towards programs, which is up while any plane is: the loss of a plane only
 * is no event to them.
 */
static void raise_port_event(struct mh_nic *nic)
{
	bool up = mh_ports_up(&nic->ports) != 0;

	if (up == nic->was_up)
		return;
	nic->was_up = up;
	for (struct mb_link *l = nic->devices.next; l != &nic->devices; l = l->next) {
		struct mh_device *dev = mb_container_of(l, struct mh_device, link);

		mh_event_raise(&dev->events, up ? &dev->port_up : &dev->port_down, true);
	}
}

void mh_loop_report_ports(struct mh_nic *nic, uint64_t now_ns)
{
	mh_engine_report_ports(nic, now_ns);
	raise_port_event(nic);
}

/* ---- what was rung ---- */

uint64_t mh_loop_rung_due(const struct mh_nic *nic)
{
	uint64_t rung = atomic_load(&nic->progress.rung_ns);

	return rung ? rung + RUNG_WAIT_NS : UINT64_MAX;
}

/* ring notes that there is something to be sent, if there was not. */
static void ring(struct mh_nic *nic, uint64_t now_ns)
{
	if (atomic_load_explicit(&nic->progress.rung_ns, memory_order_relaxed) != 0)
		return;
	atomic_store(&nic->progress.rung_ns, now_ns);
}

static void take_rung(struct mh_nic *nic)
{
	if (atomic_load_explicit(&nic->progress.rung_ns, memory_order_relaxed) != 0)
		atomic_store(&nic->progress.rung_ns, 0);
	nic->progress.rung_bytes = 0;
}

bool mh_loop_gather(struct mh_nic *nic, uint64_t now_ns, uint64_t bytes, bool polling)
{
	struct mh_progress *p = &nic->progress;

	p->rung_bytes += bytes;
	if (!polling || p->rung_bytes >= GATHER_BYTES || now_ns >= mh_loop_rung_due(nic))
		return false;
	ring(nic, now_ns);
	return true;
}

/* ---- the loop ---- */

/* tell_time: frames may have had later stamps than now_ns, read before they were taken. */
static void tell_time(struct mh_nic *nic, uint64_t now_ns)
{
	if (now_ns > nic->engine_ns)
		nic->engine_ns = now_ns;
}

uint32_t mh_loop_tx(struct mh_nic *nic, uint64_t now_ns)
{
	uint32_t work;

	take_rung(nic);
	tell_time(nic, now_ns);
	work = mh_tx_run(nic, now_ns);
	work += mu_run(nic->ud, mh_ports_up(&nic->ports), now_ns);
	mh_engine_fail_marked_qps(nic, now_ns);
	for (uint32_t i = 0; i < nic->ports.n; i++)
		if (mio_port_deadline(nic->ports.port[i].io) <= now_ns)
			mio_port_tick(nic->ports.port[i].io, now_ns);
	if (mh_ports_check_errors(&nic->ports, now_ns))
		mh_loop_report_ports(nic, now_ns);
	return work + mh_engine_events_drain(nic, now_ns);
}

/*
 * loop_rx reads the ports and answers, burst by burst, and returns how many frames there were and
 * events they made. With `hold` it ends at the first events and leaves the answers to the next run,
 * unless a timer is due: a program that finds something with each poll must not keep timers from
 * running. *held says so.
 */
static uint32_t loop_rx(struct mh_nic *nic, uint64_t *now_ns, bool hold, bool *held)
{
	uint32_t work = 0, events;
	bool more = true;

	for (uint32_t round = 0; more && round < RX_BURSTS_MAX; round++) {
		uint32_t got = mh_rx_poll(nic, *now_ns, &more);

		nic->progress.frames += got;
		if (got == 0)
			break;
		tell_time(nic, *now_ns);
		events = mh_engine_events_drain(nic, *now_ns);
		work += got + events;
		*held = hold && events > 0 && mt_engine_deadline(nic->engine) > *now_ns;
		if (*held) {
			ring(nic, *now_ns);
			break;
		}
		work += mh_loop_tx(nic, *now_ns);
		*now_ns = mh_now_ns();
	}
	nic->rx_pending = more && !*held;
	return work;
}

/*
 * What waits in the sockets is read before timers are judged: a process that was not scheduled for
 * a while finds there the acknowledgements whose absence the timers are about. What was posted goes
 * before either.
 */
uint32_t mh_loop_run(struct mh_nic *nic, uint64_t now_ns, bool hold)
{
	bool held = false;
	uint32_t work = 0;

	/* Polls read the clock before they try the lock; the thread that had it may be ahead. */
	if (now_ns < nic->engine_ns)
		now_ns = nic->engine_ns;
	nic->progress.wrs_since_rx = 0;
	nic->progress.frames = 0;
	if (atomic_load_explicit(&nic->progress.rung_ns, memory_order_relaxed) != 0)
		work += mh_loop_tx(nic, now_ns);
	work += loop_rx(nic, &now_ns, hold, &held);
	if (held)
		return work;
	if (mt_engine_deadline(nic->engine) <= now_ns) {
		mt_engine_tick(nic->engine, now_ns);
		work++;
	}
	/* A receive window found no memory: its sender was told to try again. */
	if (mt_engine_memory_wanted(nic->engine) > 0 && mh_engine_grow(nic))
		work++;
	return work + mh_loop_tx(nic, now_ns);
}

uint32_t mh_loop_posted(struct mh_nic *nic, uint64_t now_ns, uint32_t wrs)
{
	nic->progress.wrs_since_rx += wrs;
	if (nic->progress.wrs_since_rx >= WRS_PER_RX)
		return mh_loop_run(nic, mh_now_ns(), false);
	mh_loop_tx(nic, now_ns);
	return 0;
}

uint64_t mh_loop_deadline(const struct mh_nic *nic)
{
	uint64_t at = earlier(mt_engine_deadline(nic->engine), mh_tx_deadline(nic));

	if (nic->rx_pending)
		return 0;
	at = earlier(at, mh_loop_rung_due(nic));
	for (uint32_t i = 0; i < nic->ports.n; i++)
		at = earlier(at, mio_port_deadline(nic->ports.port[i].io));
	return earlier(at, nic->ports.links_due_ns);
}

uint64_t mh_loop_thread_deadline(const struct mh_nic *nic)
{
	return earlier(mh_loop_deadline(nic), mh_segment_deadline(nic->segment));
}
