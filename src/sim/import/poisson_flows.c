/* SPDX-License-Identifier: BSD-2-Clause */
/* poisson_flows.c - sizes of flows from a distribution, times of a Poisson process. */
#include <string.h>

#include "sim/import/flow_files.h"
#include "sim/kernel/random.h"
#include "sim/workload/workload.h"

/* ---- sizes ---- */

__extension__ typedef unsigned __int128 wide;

struct cdf_reader {
	struct ms_words words;
	struct ms_cdf *cdf;
	uint64_t share[MS_CDF_POINTS_MAX]; /* in billionths of what the file counts in */
	uint32_t line[MS_CDF_POINTS_MAX];
};

static bool cdf_line(struct cdf_reader *r)
{
	uint32_t n = r->cdf->n, last = r->words.n - 1;
	char text[MS_WORD_BYTES];
	uint64_t bytes, share;

	if (r->words.n != 2 && r->words.n != 3)
		return ms_words_refuse(&r->words, "has %u words; expected a size and a share",
				       r->words.n);
	if (n == MS_CDF_POINTS_MAX)
		return ms_words_refuse(&r->words, "expected at most %u lines", MS_CDF_POINTS_MAX);
	if (!ms_word_parts(&r->words.word[0], 0, &bytes) || bytes > MS_LIST_BYTES_MAX ||
	    (n > 0 && bytes < r->cdf->point[n - 1].bytes))
		return ms_words_refuse(&r->words,
				       "%s: expected bytes, no less than in the line before",
				       ms_word_copy(&r->words.word[0], text));
	if (!ms_word_parts(&r->words.word[last], 9, &share) || share > 100ull * MS_CDF_ONE ||
	    (n > 0 && share < r->share[n - 1]))
		return ms_words_refuse(&r->words,
				       "%s: expected a share, no less than in the line before",
				       ms_word_copy(&r->words.word[last], text));
	r->cdf->point[n].bytes = bytes;
	r->share[n] = share;
	r->line[n] = r->words.line;
	r->cdf->n++;
	return true;
}

static bool cdf_scale(struct cdf_reader *r)
{
	uint32_t n = r->cdf->n;
	uint64_t one;

	if (n == 0)
		return ms_file_set_error(r->words.error, r->words.file, 0,
					 "has no line; expected sizes and shares");
	one = r->share[n - 1] == 100ull * MS_CDF_ONE ? 100 : 1;
	if (r->share[n - 1] != one * MS_CDF_ONE)
		return ms_file_set_error(r->words.error, r->words.file, r->line[n - 1],
					 "the last share is neither 1 nor 100 (percent)");
	if (r->cdf->point[n - 1].bytes == 0)
		return ms_file_set_error(r->words.error, r->words.file, r->line[n - 1],
					 "all flows are empty; expected a size above 0");
	for (uint32_t i = 0; i < n; i++)
		r->cdf->point[i].share = (uint32_t)(r->share[i] / one);
	return true;
}

bool ms_cdf_read(struct ms_cdf *cdf, const char *file, const char *text,
		 struct ms_file_error *error)
{
	struct cdf_reader r;

	r.cdf = cdf;
	cdf->n = 0;
	ms_words_init(&r.words, file, text, ' ', error);
	while (ms_words_next(&r.words))
		if (!cdf_line(&r))
			return false;
	return cdf_scale(&r);
}

uint64_t ms_cdf_bytes(const struct ms_cdf *cdf, uint32_t share)
{
	const struct ms_cdf_point *p = cdf->point;
	uint32_t low = 0, high = cdf->n - 1;

	/* The first point whose share is above. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p[middle].share > share)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return p[0].bytes;
	return p[low - 1].bytes +
	       (uint64_t)((wide)(p[low].bytes - p[low - 1].bytes) * (share - p[low - 1].share) /
			  (p[low].share - p[low - 1].share));
}

uint64_t ms_cdf_mean(const struct ms_cdf *cdf)
{
	const struct ms_cdf_point *p = cdf->point;
	wide twice = (wide)p[0].bytes * 2 * p[0].share;
	uint64_t mean;

	for (uint32_t i = 1; i < cdf->n; i++)
		twice += (wide)(p[i].bytes + p[i - 1].bytes) * (p[i].share - p[i - 1].share);
	mean = (uint64_t)((twice + MS_CDF_ONE) / ((wide)2 * MS_CDF_ONE));
	return mean > 0 ? mean : 1;
}

/* ---- flows; times are added up in integers, so that all machines agree ---- */

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
