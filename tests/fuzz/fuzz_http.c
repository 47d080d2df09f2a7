/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what a client sends to `mrc stat --listen`, in pieces. What is said of
 * a request depends on its bytes alone: never on how many of them came at once, and once it is
 * judged not on those behind it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "exporter/exporter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum stat_http judge(const uint8_t *data, size_t len, struct stat_request *request)
{
	/* A copy of its size, so that a byte beyond it is found. */
	char *bytes = malloc(len ? len : 1);
	enum stat_http kind;

	mb_assert(bytes);
	memcpy(bytes, data, len);
	kind = stat_http_read(bytes, len, request);
	free(bytes);
	mb_assert(kind <= STAT_HTTP_BAD);
	return kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stat_request whole, part;
	enum stat_http kind = judge(data, size, &whole), before = STAT_HTTP_MORE;
	size_t step = 1 + size / 16;

	for (size_t len = 0; len < size && before == STAT_HTTP_MORE; len += step)
		before = judge(data, len, &part);
	if (before == STAT_HTTP_MORE)
		return 0;
	mb_assert(kind == before && whole.head == part.head &&
		  whole.openmetrics == part.openmetrics);
	return 0;
}
