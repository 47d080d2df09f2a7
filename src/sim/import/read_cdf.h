/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_cdf.h - reads distributions of flow sizes, and draws from them.
 *
 *	# bytes  share of flows that are no longer
 *	1000     0
 *	10000    0.53
 *	1000000  1
 *
 * Sizes rise and shares do not fall, the last one is 1, or 100 where the file counts in percent.
 * Between two lines sizes are spread evenly. A first share above 0 is the share of flows of just
 * that size. A middle column, as some published files have it, is passed over.
 */
#ifndef SOFTMRC_SIM_IMPORT_READ_CDF_H
#define SOFTMRC_SIM_IMPORT_READ_CDF_H

#include "sim/import/file_error.h"

#define MS_CDF_POINTS_MAX 4096u
/* Shares are counted in parts of this. */
#define MS_CDF_ONE 1000000000u

struct ms_cdf_point {
	uint64_t bytes;
	uint32_t share; /* of MS_CDF_ONE */
};

struct ms_cdf {
	uint32_t n;
	struct ms_cdf_point point[MS_CDF_POINTS_MAX];
};

/* ms_cdf_read reads the text of a file; false: *error says what is wrong. */
bool ms_cdf_read(struct ms_cdf *cdf, const char *file, const char *text,
		 struct ms_file_error *error);
/* ms_cdf_bytes returns the size below which `share` (below MS_CDF_ONE) of the flows are. */
uint64_t ms_cdf_bytes(const struct ms_cdf *cdf, uint32_t share);
/* ms_cdf_mean returns the mean size, rounded, at least 1. */
uint64_t ms_cdf_mean(const struct ms_cdf *cdf);

#endif
