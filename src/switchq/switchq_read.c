/* SPDX-License-Identifier: BSD-2-Clause */
/* switchq_read.c - counters and backlog of a port. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "bpf/map.h"
#include "switchq/switchq_handle.h"

/* The clock that the program reads. */
static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static __u64 drain_backlog(__u64 *backlog_ps, __u64 ps)
{
	__u64 done = ps < *backlog_ps ? ps : *backlog_ps;

	*backlog_ps -= done;
	return ps - done;
}

/* The state is as the last packet left it; the wire has worked on since, control first. */
static void read_backlog(struct swq_state *st, struct mswq_reading *out)
{
	uint64_t now = now_ns(), ns = now > st->last_ns ? now - st->last_ns : 0;
	__u64 ps = ns < UINT64_MAX / 1000 ? ns * 1000 : UINT64_MAX;

	ps = drain_backlog(&st->control_ps, ps);
	drain_backlog(&st->data_ps, ps);
	out->control_bytes = st->ps_per_byte ? st->control_ps / st->ps_per_byte : 0;
	out->data_bytes = st->ps_per_byte ? st->data_ps / st->ps_per_byte : 0;
}

int mswq_read(const struct mswq *swq, uint32_t ifindex, struct mswq_reading *out,
	      struct mswq_error *error)
{
	struct swq_state st;
	int code = mswq_sys_map_get(swq->map[MSWQ_STATES], &ifindex, &st, BPF_F_LOCK);

	if (code == ENOENT)
		return mswq_fail(error, code, "port %u has no queue: set it up first", ifindex);
	if (code)
		return mswq_fail(error, code, "port %u: %s", ifindex, strerror(code));
	out->count = (struct mswq_counters){
		.offered = st.count.offered,
		.offered_bytes = st.count.offered_bytes,
		.duplicated = st.count.duplicated,
		.sent_bytes = st.count.sent_bytes,
		.full = st.count.full,
		.control = st.count.control,
		.trimmed = st.count.trimmed,
		.whole = st.count.whole,
		.dropped = st.count.dropped,
		.trim_dropped = st.count.trim_dropped,
		.control_dropped = st.count.control_dropped,
		.marked = st.count.marked,
		.blackholed = st.count.blackholed,
		.lost = st.count.lost,
		.held = st.count.held,
		.corrupted = st.count.corrupted,
		.reordered = st.count.reordered,
	};
	read_backlog(&st, out);
	return 0;
}
