/* SPDX-License-Identifier: BSD-2-Clause */
/* prefetch.h - asking for memory before it is needed. A hint: wrong or late, it only costs time. */
#ifndef SOFTMRC_BASE_PREFETCH_H
#define SOFTMRC_BASE_PREFETCH_H

#include <stddef.h>

/* mb_prefetch asks for the cache lines of `size` bytes from p on. */
static inline void mb_prefetch(const void *p, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		__builtin_prefetch((const char *)p + at);
}

#endif
