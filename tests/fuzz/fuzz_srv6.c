/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is an IPv6 destination and the routing header behind it. The destination
 * is read as a list of uSIDs, and the path is walked as its nodes would.
 */
#include <string.h>

#include "base/assert.h"
#include "support/carrier_step.h"
#include "wire/srv6.h"

/* Where the first segment of a routing header stands. */
#define SEGMENT_AT (MW_SRV6_ADDR_BYTES + 8u)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_walk(const uint8_t *dst, const uint8_t *segment)
{
	struct mw_usids list, rest;
	struct mw_carrier c;
	bool whole;

	memcpy(c.dst, dst, sizeof(c.dst));
	c.has_segment = segment != NULL;
	memset(c.segment, 0, sizeof(c.segment));
	if (segment)
		memcpy(c.segment, segment, sizeof(c.segment));
	whole = mw_usids_decode(dst, &list);
	for (uint32_t i = 0; i < list.n; i++)
		mb_assert(carrier_step(&c) == list.usid[i]);
	if (whole && !segment)
		mb_assert(carrier_step(&c) == 0 && mw_usids_decode(c.dst, &rest) && rest.n == 0);
}

static void check_again(const uint8_t *dst)
{
	uint8_t again[MW_SRV6_ADDR_BYTES];
	struct mw_usids list;

	if (!mw_usids_decode(dst, &list))
		return;
	mw_usids_encode(&list, again);
	mb_assert(memcmp(again, dst, sizeof(again)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < MW_SRV6_ADDR_BYTES)
		return 0;
	check_again(data);
	check_walk(data, NULL);
	if (size >= SEGMENT_AT + MW_SRV6_ADDR_BYTES)
		check_walk(data, data + SEGMENT_AT);
	return 0;
}
