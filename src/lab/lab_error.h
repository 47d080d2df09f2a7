/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_error.h - what went wrong, in one sentence that names the thing, its value and what is
 * allowed. */
#ifndef SOFTMRC_LAB_LAB_ERROR_H
#define SOFTMRC_LAB_LAB_ERROR_H

#include <stddef.h>

#define ML_ERROR_MAX 640u

struct ml_error {
	char text[ML_ERROR_MAX];
};

/* ml_error_set writes the sentence, cut where it is too long, and returns -1. */
__attribute__((format(printf, 2, 3))) int ml_error_set(struct ml_error *e, const char *format, ...);

#endif
