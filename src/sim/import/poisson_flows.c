/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poisson_flows.c - flows of a Poisson process. Times are added up in integers, so that all
 * machines agree.
 */
#include "sim/import/flow_files.h"

#include "sim/kernel/random.h"

__extension__ typedef unsigned __int128 wide;

/* Times are kept in parts of a nanosecond while they are added up. */
#define PARTS_OF_NS 1000000u

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
