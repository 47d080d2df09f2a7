/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poisson.c - an exponential distribution without logarithms, after von Neumann (1951): draw
 * numbers from 0 to 1 as long as they fall. That x falls n times in a row has the chance x^n / n!,
 * so that the row is of even length with the chance e^-x. If so the first number is the fraction of
 * the result; if not 1 is added and all is drawn again.
 */
#include "sim/import/poisson_flows.h"

__extension__ typedef unsigned __int128 wide;

/* Times are kept in parts of a nanosecond while they are added up. */
#define PARTS_OF_NS 1000000u

uint64_t ms_poisson_gap(struct mb_prng *r)
{
	for (uint64_t whole = 0;; whole++) {
		uint32_t first = (uint32_t)(mb_prng_u64(r) >> 32), before = first, now;
		uint32_t drawn = 1;

		for (;;) {
			now = (uint32_t)(mb_prng_u64(r) >> 32);
			drawn++;
			if (now > before)
				break;
			before = now;
		}
		if (drawn % 2 == 0)
			return whole << 32 | first;
	}
}

uint64_t ms_exponential(struct mb_prng *r, uint64_t mean)
{
	return (uint64_t)((wide)mean * ms_poisson_gap(r) >> 32);
}

/* mean_gap returns the mean time between two flows of the whole fabric, in parts of a ns. */
static uint64_t mean_gap(const struct ms_poisson_cfg *cfg, const struct ms_cdf *cdf)
{
	wide bits = (wide)ms_cdf_mean(cdf) * 8 * MS_LOAD_ONE * PARTS_OF_NS * 1000000000u;
	wide gap = bits / cfg->bit_s / cfg->load / cfg->hosts;

	if (gap > UINT64_MAX >> 8)
		return UINT64_MAX >> 8;
	return gap > 0 ? (uint64_t)gap : 1;
}

uint64_t ms_poisson_expected(const struct ms_poisson_cfg *cfg, const struct ms_cdf *cdf)
{
	wide n = (wide)cfg->for_ns * PARTS_OF_NS / mean_gap(cfg, cdf);

	return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

bool ms_poisson_flows(const struct ms_poisson_cfg *cfg, const struct ms_cdf *cdf,
		      struct ms_flow_list *list)
{
	uint64_t gap = mean_gap(cfg, cdf);
	wide at = 0, end = (wide)cfg->for_ns * PARTS_OF_NS;
	struct mb_prng r;

	mb_prng_init(&r, cfg->seed);
	for (;;) {
		struct ms_list_flow flow = {0};

		at += ms_exponential(&r, gap);
		if (at >= end)
			return true;
		flow.start_ns = cfg->start_ns + (uint64_t)(at / PARTS_OF_NS);
		flow.src = mb_prng_below(&r, cfg->hosts);
		flow.dst = mb_prng_below(&r, cfg->hosts - 1);
		flow.dst += flow.dst >= flow.src;
		flow.bytes = ms_cdf_bytes(cdf, mb_prng_below(&r, MS_CDF_ONE));
		if (list->n == MS_LIST_MAX || !ms_flow_list_add(list, &flow))
			return false;
	}
}
