/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window_loop.c - window after window, on all workers.
 *
 * In a window each worker runs its units; between two windows one thread of each rank exchanges
 * remote_packets with other ranks, finds the next window in which anything is to be done, and calls
 * the owner at edges. Workers wait for each other twice a window.
 */
#include "sim/kernel/worker.h"

#include <pthread.h>
#include <string.h>

static void run_units(struct ms_worker *worker)
{
	struct ms_net *net = worker->net;
	size_t first = (size_t)worker->slot * net->mark_words;

	for (uint32_t w = 0; w < net->mark_words; w++) {
		uint64_t bits = worker->now_marks[w];

		if (!worker->mine[w])
			continue;
		for (uint32_t i = 0; i < net->threads; i++)
			bits |= net->worker[i]->marks[first + w];
		worker->now_marks[w] = 0;
		bits &= worker->mine[w];
		for (; bits; bits &= bits - 1) {
			uint32_t unit = w * 64 + (uint32_t)__builtin_ctzll(bits);

			if (bits & (bits - 1))
				ms_prefetch_arrivals(worker, w * 64 + (uint32_t)__builtin_ctzll(
									      bits & (bits - 1)));
			if (unit < net->units.n_groups)
				ms_group_run(worker, unit);
			else
				ms_switch_run(worker, unit);
		}
	}
}

static uint64_t next_of(const struct ms_worker *worker)
{
	uint64_t by_box = ms_calendar_next(worker), by_time = ms_wheel_next(worker);

	return by_box < by_time ? by_box : by_time;
}

static void run_window(struct ms_worker *worker)
{
	ms_calendar_begin(worker);
	ms_wheel_advance(worker);
	if (worker->net->now_faults.n)
		ms_faults_post(worker);
	run_units(worker);
	worker->next_window = next_of(worker);
}

/* What other ranks have sent is put into worker 0's inboxes, as if worker 0 had sent it. */
static void receive_remote_packets(struct ms_net *net, const struct ms_bytes *in)
{
	struct ms_worker *worker = net->worker[0];

	for (uint32_t r = 0; r < net->ranks; r++) {
		for (size_t i = 0; i + sizeof(struct ms_remote_packet) <= in[r].n;
		     i += sizeof(struct ms_remote_packet)) {
			struct ms_remote_packet remote;

			memcpy(&remote, (const uint8_t *)in[r].at + i, sizeof(remote));
			*ms_schedule_arrival_at(worker, remote.unit, net->window + remote.ahead,
						0) = remote.p;
		}
	}
	worker->next_window = next_of(worker);
}

/* All remote_packets of a rank go as one: those of the other workers are moved behind those of
 * worker 0. */
static bool join_remote_packets(struct ms_net *net, uint32_t rank)
{
	struct ms_remote_packets *all = &net->worker[0]->remote_packets[rank];

	for (uint32_t i = 1; i < net->threads; i++) {
		struct ms_remote_packets *part = &net->worker[i]->remote_packets[rank];

		for (size_t k = 0; k < part->list.n; k++)
			if (!ms_grow_add(&all->list, &part->list.at[k]))
				return false;
		part->list.n = 0;
	}
	return true;
}

static void exchange_remote_packets(struct ms_net *net)
{
	struct ms_bytes out[MS_RANKS_MAX] = {0}, in[MS_RANKS_MAX] = {0};

	for (uint32_t r = 0; r < net->ranks; r++) {
		struct ms_remote_packets *all = &net->worker[0]->remote_packets[r];

		if (!join_remote_packets(net, r))
			atomic_store(&net->no_memory, true);
		out[r] = (struct ms_bytes){all->list.at, all->list.n * sizeof(*all->list.at)};
	}
	if (!net->cfg.ranks->exchange(net->cfg.ranks->ctx, out, in)) {
		net->ranks_lost = true;
		return;
	}
	for (uint32_t r = 0; r < net->ranks; r++)
		net->worker[0]->remote_packets[r].list.n = 0;
	receive_remote_packets(net, in);
}

/* The next window with anything to do on any rank; and whether a rank wants to end the run. */
static uint64_t next_window(struct ms_net *net)
{
	uint64_t numbers[3] = {net->woken, !net->stop, !atomic_load(&net->no_memory)};

	for (uint32_t i = 0; i < net->threads; i++)
		if (net->worker[i]->next_window < numbers[0])
			numbers[0] = net->worker[i]->next_window;
	if (net->faults.n)
		numbers[0] = ms_min(numbers[0], net->faults.at[0].when.key / net->window_ps);
	if (net->ranks > 1 && !net->ranks_lost &&
	    !net->cfg.ranks->least(net->cfg.ranks->ctx, numbers, 3))
		net->ranks_lost = true;
	net->stop = !numbers[1];
	if (!numbers[2])
		atomic_store(&net->no_memory, true);
	return numbers[0];
}

static uint64_t windows_to(const struct ms_net *net, uint64_t ps)
{
	return ps / net->window_ps + (ps % net->window_ps != 0);
}

/*
 * Edges between now and the next window. An edge may make a nearer window the next, by a fault or a
 * wake-up, so each is followed by another look.
 */
static uint64_t run_edges(struct ms_net *net, uint64_t next, uint64_t until)
{
	const struct ms_hosts *hosts = &net->cfg.hosts;

	while (hosts->edge && next != MS_NEVER && net->next_edge_ps != MS_NEVER) {
		uint64_t window = windows_to(net, net->next_edge_ps);

		if (window > next || window > until)
			break;
		net->window = window;
		for (uint32_t i = 0; i < net->threads; i++)
			net->worker[i]->window = window - 1;
		net->next_edge_ps += net->cfg.edge_ps;
		if (!hosts->edge(hosts->ctx, window * net->window_ps))
			net->stop = true;
		next = next_window(net);
		if (net->stop)
			break;
	}
	return next;
}

/* Decides what comes after the windows that were run; true: the run is over. */
static bool decide_next_window(struct ms_net *net)
{
	uint64_t until = windows_to(net, net->until_ps), next;

	net->stop = false;
	next = run_edges(net, next_window(net), until);
	if (net->ranks_lost)
		net->end = MS_END_RANKS;
	else if (atomic_load(&net->no_memory))
		net->end = MS_END_MEMORY;
	else if (net->stop)
		net->end = MS_END_STOPPED;
	else if (next == MS_NEVER)
		net->end = MS_END_IDLE;
	else if (next >= until)
		net->end = MS_END_TIME;
	else {
		net->window = next;
		net->woken = MS_NEVER;
		net->round++;
		ms_faults_begin(net);
		ms_routing_apply_changes(net);
		return false;
	}
	/* Time goes on to the end of the run, or stands where the last thing happened. */
	if (net->end == MS_END_TIME)
		net->window = until;
	for (uint32_t i = 0; i < net->threads; i++)
		net->worker[i]->window = net->window - 1;
	return true;
}

static void run_worker(struct ms_worker *worker)
{
	struct ms_net *net = worker->net;

	for (;;) {
		run_window(worker);
		ms_barrier_wait(&net->barrier);
		ms_calendar_end(worker);
		if (worker->number == 0) {
			if (net->ranks > 1)
				exchange_remote_packets(net);
			net->window++;
			net->over = net->ranks_lost ? (net->end = MS_END_RANKS, true)
						    : decide_next_window(net);
		}
		ms_barrier_wait(&net->barrier);
		if (net->over)
			return;
	}
}

/* Threads begin when all of them are there, or go when one of them cannot be had. */
static void *thread_main(void *arg)
{
	struct ms_worker *worker = arg;
	enum ms_gate gate;

	while ((gate = atomic_load_explicit(&worker->net->gate, memory_order_acquire)) ==
	       MS_GATE_CLOSED)
		sched_yield();
	if (gate == MS_GATE_OPEN)
		run_worker(worker);
	return NULL;
}

enum ms_net_end ms_net_run(struct ms_net *net, uint64_t until_ps)
{
	pthread_t thread[MS_THREADS_MAX];
	uint32_t started = 1;

	net->until_ps = until_ps;
	for (uint32_t i = 0; i < net->threads; i++)
		net->worker[i]->next_window = next_of(net->worker[i]);
	if (until_ps <= ms_net_now_ps(net) || decide_next_window(net))
		return until_ps <= ms_net_now_ps(net) ? MS_END_TIME : net->end;
	ms_barrier_init(&net->barrier, net->threads);
	atomic_store(&net->gate, MS_GATE_CLOSED);
	while (started < net->threads &&
	       pthread_create(&thread[started], NULL, thread_main, net->worker[started]) == 0)
		started++;
	if (started < net->threads)
		net->end = MS_END_MEMORY;
	atomic_store_explicit(&net->gate, started < net->threads ? MS_GATE_ABORTED : MS_GATE_OPEN,
			      memory_order_release);
	if (started == net->threads)
		run_worker(net->worker[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(thread[i], NULL);
	return net->end;
}

void ms_net_wake(struct ms_net *net, uint32_t host, uint64_t at_ps)
{
	uint64_t now_ps = ms_net_now_ps(net);

	if (!ms_net_host_is_local(net, host))
		return;
	if (at_ps < now_ps)
		at_ps = now_ps;
	net->wake_ps[host] = at_ps + 1;
	ms_wheel_insert(net->worker[ms_worker_of(net, host)], host);
	if (at_ps / net->window_ps < net->woken)
		net->woken = at_ps / net->window_ps;
}
