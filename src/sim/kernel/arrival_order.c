/* SPDX-License-Identifier: BSD-2-Clause */
/* arrival_order.c - a radix sort of what comes to a unit; see worker.h. */
#include "sim/kernel/worker.h"

#include <string.h>

#include "base/bits.h"

/* Below this many keys the buckets cost more than they save. */
#define FEW 24u

static void insertion_sort(struct ms_key *keys, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct ms_key k = keys[i];
		uint32_t j = i;

		for (; j > 0 && keys[j - 1].key > k.key; j--)
			keys[j] = keys[j - 1];
		keys[j] = k;
	}
}

struct ms_key *ms_order(struct ms_key *keys, struct ms_key *other, uint32_t n, uint64_t span,
			uint32_t *counts)
{
	uint32_t buckets = MS_ORDER_BUCKETS, sum = 0;
	uint64_t scale;

	if (n <= FEW) {
		insertion_sort(keys, n);
		return keys;
	}
	if (n < buckets / 2)
		buckets = mb_pow2_ceil(n) * 2;
	/* when * scale / 2^32 is below buckets, and rises with when. */
	scale = ((uint64_t)buckets << 32) / span;
	memset(counts, 0, (buckets + 1) * sizeof(*counts));
	for (uint32_t i = 0; i < n; i++)
		counts[(uint32_t)((keys[i].key >> 32) * scale >> 32)]++;
	for (uint32_t b = 0; b < buckets; b++) {
		uint32_t here = counts[b];

		counts[b] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < n; i++)
		other[counts[(uint32_t)((keys[i].key >> 32) * scale >> 32)]++] = keys[i];
	insertion_sort(other, n);
	return other;
}
