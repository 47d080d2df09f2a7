/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_time.c - how long a compute takes: jitter and stragglers on top of the configured time. The
 * random part follows from seed, rank, step and operation, so the order of asking does not matter.
 */
#include "base/prng.h"
#include "sim/kernel/random.h"
#include "sim/workload/workload_state.h"

/* One rank alone. REQ(sim.same-bits) */
static uint64_t own_time(const struct ms_job_cfg *c, uint32_t rank, uint32_t step, enum job_op op,
			 uint32_t n, uint64_t ns)
{
	uint64_t who = ms_mix(c->seed ^ ms_mix(rank + UINT64_C(1)));
	uint64_t what = (uint64_t)step << 34 | (uint64_t)op << 32 | n;
	struct mb_prng r;

	if (c->stragglers > 0 && (who >> 32) * MS_JOB_ONE >> 32 < c->stragglers)
		ns += ns * c->slowdown / MS_JOB_ONE;
	if (c->jitter == 0)
		return ns;
	mb_prng_init(&r, ms_mix(who + what));
	return ns + ms_exponential(&r, ns * c->jitter / MS_JOB_ONE);
}

uint64_t ms_job_time(const struct ms_job_cfg *c, uint32_t rank, uint32_t step, enum job_op op,
		     uint32_t n, uint64_t ns)
{
	uint32_t first = rank - rank % c->tp;
	uint64_t longest = 0;

	if (c->tp_network)
		return own_time(c, rank, step, op, n, ns);
	for (uint32_t t = 0; t < c->tp; t++) {
		uint64_t own = own_time(c, first + t, step, op, n, ns);

		longest = own > longest ? own : longest;
	}
	return longest;
}
