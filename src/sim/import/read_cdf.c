/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of flow sizes: see flow_files.h. */
#include "sim/import/flow_files.h"

#include "sim/import/input.h"
#include "sim/workload/workload.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

struct cdf_reader {
	const char *file;
	struct ms_file_error *error;
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
		return ms_file_set_error(r->error, r->file, r->words.line,
					 "has %u words; expected a size and a share", r->words.n);
	if (n == MS_CDF_POINTS_MAX)
		return ms_file_set_error(r->error, r->file, r->words.line,
					 "expected at most %u lines", MS_CDF_POINTS_MAX);
	if (!ms_word_parts(&r->words.word[0], 0, &bytes) || bytes > MS_LIST_BYTES_MAX ||
	    (n > 0 && bytes < r->cdf->point[n - 1].bytes))
		return ms_file_set_error(r->error, r->file, r->words.line,
					 "%s: expected bytes, no less than in the line before",
					 ms_word_copy(&r->words.word[0], text));
	if (!ms_word_parts(&r->words.word[last], 9, &share) || share > 100ull * MS_CDF_ONE ||
	    (n > 0 && share < r->share[n - 1]))
		return ms_file_set_error(r->error, r->file, r->words.line,
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
		return ms_file_set_error(r->error, r->file, 0,
					 "has no line; expected sizes and shares");
	one = r->share[n - 1] == 100ull * MS_CDF_ONE ? 100 : 1;
	if (r->share[n - 1] != one * MS_CDF_ONE)
		return ms_file_set_error(r->error, r->file, r->line[n - 1],
					 "the last share is neither 1 nor 100 (percent)");
	if (r->cdf->point[n - 1].bytes == 0)
		return ms_file_set_error(r->error, r->file, r->line[n - 1],
					 "all flows are empty; expected a size above 0");
	for (uint32_t i = 0; i < n; i++)
		r->cdf->point[i].share = (uint32_t)(r->share[i] / one);
	return true;
}

bool ms_cdf_read(struct ms_cdf *cdf, const char *file, const char *text,
		 struct ms_file_error *error)
{
	struct cdf_reader r;

	r.file = file;
	r.error = error;
	r.cdf = cdf;
	cdf->n = 0;
	ms_words_init(&r.words, text, ' ');
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
