/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c - window after window, on all lanes.
 *
 * In a window each lane runs its units; between two windows one thread of each rank exchanges
 * parcels with other ranks, finds the next window in which anything is to be done, and calls the
 * owner at edges. Lanes wait for each other twice a window.
 */
#include "sim/lane.h"

#include <pthread.h>
#include <string.h>

static void run_units(struct ms_lane *lane)
{
	struct ms_net *net = lane->net;
	size_t first = (size_t)lane->slot * net->mark_words;

	for (uint32_t w = 0; w < net->mark_words; w++) {
		uint64_t bits = lane->now_marks[w];

		if (!lane->mine[w])
			continue;
		for (uint32_t i = 0; i < net->threads; i++)
			bits |= net->lane[i]->marks[first + w];
		lane->now_marks[w] = 0;
		bits &= lane->mine[w];
		for (; bits; bits &= bits - 1) {
			uint32_t unit = w * 64 + (uint32_t)__builtin_ctzll(bits);

			if (bits & (bits - 1))
				ms_gather_soon(lane, w * 64 + (uint32_t)__builtin_ctzll(
								      bits & (bits - 1)));
			if (unit < net->units.n_groups)
				ms_group_run(lane, unit);
			else
				ms_switch_run(lane, unit);
		}
	}
}

static uint64_t next_of(const struct ms_lane *lane)
{
	uint64_t by_box = ms_calendar_next(lane), by_time = ms_wheel_next(lane);

	return by_box < by_time ? by_box : by_time;
}

static void run_window(struct ms_lane *lane)
{
	ms_calendar_begin(lane);
	ms_wheel_turn(lane);
	if (lane->net->now_faults)
		ms_faults_post(lane);
	run_units(lane);
	lane->next_window = next_of(lane);
}

/* What other ranks have sent is put into lane 0's boxes, as if lane 0 had sent it. */
static void take_parcels(struct ms_net *net, const struct ms_bytes *in)
{
	struct ms_lane *lane = net->lane[0];

	for (uint32_t r = 0; r < net->ranks; r++) {
		for (size_t i = 0; i + sizeof(struct ms_parcel) <= in[r].n;
		     i += sizeof(struct ms_parcel)) {
			struct ms_parcel parcel;

			memcpy(&parcel, (const uint8_t *)in[r].at + i, sizeof(parcel));
			*ms_post_at(lane, parcel.unit, net->window + parcel.ahead, 0) = parcel.p;
		}
	}
	lane->next_window = next_of(lane);
}

/* All parcels of a rank go as one: those of the other lanes are moved behind those of lane 0. */
static bool join_parcels(struct ms_net *net, uint32_t rank)
{
	struct ms_vec *all = &net->lane[0]->parcels[rank];

	for (uint32_t i = 1; i < net->threads; i++) {
		struct ms_vec *part = &net->lane[i]->parcels[rank];

		for (size_t k = 0; k < part->n; k++) {
			struct ms_parcel *place = ms_vec_push(all, sizeof(*place));

			if (!place)
				return false;
			*place = ((struct ms_parcel *)part->at)[k];
		}
		part->n = 0;
	}
	return true;
}

static void exchange(struct ms_net *net)
{
	struct ms_bytes out[MS_RANKS_MAX] = {0}, in[MS_RANKS_MAX] = {0};

	for (uint32_t r = 0; r < net->ranks; r++) {
		struct ms_vec *v = &net->lane[0]->parcels[r];

		if (!join_parcels(net, r))
			atomic_store(&net->no_memory, true);
		out[r] = (struct ms_bytes){v->at, v->n * sizeof(struct ms_parcel)};
	}
	if (!net->cfg.ranks->exchange(net->cfg.ranks->ctx, out, in)) {
		net->ranks_lost = true;
		return;
	}
	for (uint32_t r = 0; r < net->ranks; r++)
		net->lane[0]->parcels[r].n = 0;
	take_parcels(net, in);
}

/* The next window with anything to do on any rank; and whether a rank wants to end the run. */
static uint64_t next_window(struct ms_net *net)
{
	uint64_t numbers[3] = {net->woken, !net->stop, !atomic_load(&net->no_memory)};

	for (uint32_t i = 0; i < net->threads; i++)
		if (net->lane[i]->next_window < numbers[0])
			numbers[0] = net->lane[i]->next_window;
	if (net->faults && net->fault[0].f.at_ps / net->window_ps < numbers[0])
		numbers[0] = net->fault[0].f.at_ps / net->window_ps;
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
static uint64_t edges(struct ms_net *net, uint64_t next, uint64_t until)
{
	const struct ms_hosts *hosts = &net->cfg.hosts;

	while (hosts->edge && next != MS_NEVER && net->next_edge_ps != MS_NEVER) {
		uint64_t window = windows_to(net, net->next_edge_ps);

		if (window > next || window > until)
			break;
		net->window = window;
		for (uint32_t i = 0; i < net->threads; i++)
			net->lane[i]->window = window - 1;
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
static bool decide(struct ms_net *net)
{
	uint64_t until = windows_to(net, net->until_ps), next;

	net->stop = false;
	next = edges(net, next_window(net), until);
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
		ms_routing_begin(net);
		return false;
	}
	/* Time goes on to the end of the run, or stands where the last thing happened. */
	if (net->end == MS_END_TIME)
		net->window = until;
	for (uint32_t i = 0; i < net->threads; i++)
		net->lane[i]->window = net->window - 1;
	return true;
}

static void run_lane(struct ms_lane *lane)
{
	struct ms_net *net = lane->net;

	for (;;) {
		run_window(lane);
		ms_barrier_wait(&net->barrier);
		ms_calendar_end(lane);
		if (lane->number == 0) {
			if (net->ranks > 1)
				exchange(net);
			net->window++;
			net->over = net->ranks_lost ? (net->end = MS_END_RANKS, true) : decide(net);
		}
		ms_barrier_wait(&net->barrier);
		if (net->over)
			return;
	}
}

/* Threads begin when all of them are there, or go when one of them cannot be had. */
static void *thread_main(void *arg)
{
	struct ms_lane *lane = arg;
	enum ms_gate gate;

	while ((gate = atomic_load_explicit(&lane->net->gate, memory_order_acquire)) ==
	       MS_GATE_SHUT)
		sched_yield();
	if (gate == MS_GATE_OPEN)
		run_lane(lane);
	return NULL;
}

enum ms_net_end ms_net_run(struct ms_net *net, uint64_t until_ps)
{
	pthread_t thread[MS_THREADS_MAX];
	uint32_t started = 1;

	net->until_ps = until_ps;
	for (uint32_t i = 0; i < net->threads; i++)
		net->lane[i]->next_window = next_of(net->lane[i]);
	if (until_ps <= ms_net_now_ps(net) || decide(net))
		return until_ps <= ms_net_now_ps(net) ? MS_END_TIME : net->end;
	ms_barrier_init(&net->barrier, net->threads);
	atomic_store(&net->gate, MS_GATE_SHUT);
	while (started < net->threads &&
	       pthread_create(&thread[started], NULL, thread_main, net->lane[started]) == 0)
		started++;
	if (started < net->threads)
		net->end = MS_END_MEMORY;
	atomic_store_explicit(&net->gate, started < net->threads ? MS_GATE_AWAY : MS_GATE_OPEN,
			      memory_order_release);
	if (started == net->threads)
		run_lane(net->lane[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(thread[i], NULL);
	return net->end;
}

uint64_t ms_net_now_ps(const struct ms_net *net)
{
	return net->window * net->window_ps;
}

uint64_t ms_net_window_ps(const struct ms_net *net)
{
	return net->window_ps;
}

void ms_net_wake(struct ms_net *net, uint32_t host, uint64_t at_ps)
{
	uint64_t now_ps = ms_net_now_ps(net);

	if (!ms_net_host_is_here(net, host))
		return;
	if (at_ps < now_ps)
		at_ps = now_ps;
	net->wake_ps[host] = at_ps + 1;
	ms_wheel_put(net->lane[ms_lane_of(net, host)], host);
	if (at_ps / net->window_ps < net->woken)
		net->woken = at_ps / net->window_ps;
}
