/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is an IPv6 destination and the routing header behind it. The header is
 * decoded and, when it is one of ours, encoded again; then the path is walked as its nodes would.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "wire/srh.h"
#include "wire/srv6.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_header(const uint8_t *bytes, size_t size)
{
	enum mw_srh_verdict verdict;
	uint8_t again[MW_SRH_BYTES];
	struct mw_srh srh;

	verdict = mw_srh_decode(bytes, size, &srh);
	mb_assert(strlen(mw_srh_verdict_name(verdict)) > 0);
	if (verdict == MW_SRH_SHORT)
		return;
	mb_assert(srh.bytes <= size && srh.bytes % 8 == 0);
	if (verdict != MW_SRH_OK)
		return;
	mb_assert(srh.n >= 1 && srh.left <= srh.n);
	mb_assert(srh.segments + (size_t)srh.n * MW_SRH_SEGMENT_BYTES <= bytes + srh.bytes);
	if (srh.bytes != MW_SRH_BYTES || srh.left != 1 || srh.flags || srh.tag)
		return;
	mb_assert(mw_srh_encode(srh.next, srh.segments, again) == sizeof(again));
	mb_assert(memcmp(again, bytes, sizeof(again)) == 0);
}

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
		mb_assert(mw_carrier_step(&c) == list.usid[i]);
	if (whole && !segment)
		mb_assert(mw_carrier_step(&c) == 0 && mw_usids_decode(c.dst, &rest) && rest.n == 0);
}

/* In memory of exactly this size, so that a read past its end is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size < MW_SRV6_ADDR_BYTES)
		return 0;
	copy = malloc(size == MW_SRV6_ADDR_BYTES ? 1 : size - MW_SRV6_ADDR_BYTES);
	mb_assert(copy);
	memcpy(copy, data + MW_SRV6_ADDR_BYTES, size - MW_SRV6_ADDR_BYTES);
	check_header(copy, size - MW_SRV6_ADDR_BYTES);
	free(copy);
	check_walk(data, NULL);
	if (size >= MW_SRV6_ADDR_BYTES + MW_SRH_BYTES)
		check_walk(data, data + MW_SRV6_ADDR_BYTES + MW_SRH_FIXED_BYTES);
	return 0;
}
