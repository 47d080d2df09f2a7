/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h - what a page says of results, whichever verb they are of. */
#ifndef SOFTMRC_STUDY_REPORT_H
#define SOFTMRC_STUDY_REPORT_H

#include "sim/import/input.h"

#include <jansson.h>
#include <stddef.h>

/*
 * study_report_data makes the data of a page (study.h) of n results, at least 1; `path` are the
 * files they came from, for names and messages. Results of mrc sim run may stand together, any
 * other stands alone. NULL: *error says which file is no result, or does not go with the others.
 */
json_t *study_report_data(const char *const *path, json_t *const *result, size_t n,
			  struct ms_file_error *error);

#endif
