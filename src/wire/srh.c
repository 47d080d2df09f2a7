/* SPDX-License-Identifier: BSD-2-Clause */
/* srh.c - the segment routing header as bytes. */
#include "wire/srh.h"

#include <string.h>

#include "base/bytes.h"

#define AT_LENGTH 1u
#define AT_TYPE 2u
#define AT_LEFT 3u
#define AT_LAST 4u
#define AT_FLAGS 5u
#define AT_TAG 6u
#define UNIT_BYTES 8u

size_t mw_srh_encode(uint8_t next, const uint8_t segment[MW_SRH_SEGMENT_BYTES],
		     uint8_t out[MW_SRH_BYTES])
{
	memset(out, 0, MW_SRH_FIXED_BYTES);
	out[0] = next;
	out[AT_LENGTH] = MW_SRH_SEGMENT_BYTES / UNIT_BYTES; /* without the first unit */
	out[AT_TYPE] = MW_SRH_TYPE;
	out[AT_LEFT] = 1;
	memcpy(out + MW_SRH_FIXED_BYTES, segment, MW_SRH_SEGMENT_BYTES);
	return MW_SRH_BYTES;
}

enum mw_srh_verdict mw_srh_decode(const uint8_t *bytes, size_t size, struct mw_srh *srh)
{
	*srh = (struct mw_srh){.next = 0};
	if (size < MW_SRH_FIXED_BYTES)
		return MW_SRH_SHORT;
	srh->next = bytes[0];
	srh->bytes = (uint16_t)((bytes[AT_LENGTH] + 1u) * UNIT_BYTES);
	srh->left = bytes[AT_LEFT];
	if (size < srh->bytes)
		return MW_SRH_SHORT;
	if (bytes[AT_TYPE] != MW_SRH_TYPE)
		return MW_SRH_NOT_TYPE;
	/* The last entry's number fits a byte; the list must fit the header. */
	if (MW_SRH_FIXED_BYTES + (bytes[AT_LAST] + 1u) * MW_SRH_SEGMENT_BYTES > srh->bytes)
		return MW_SRH_LIST;
	srh->n = (uint8_t)(bytes[AT_LAST] + 1);
	srh->flags = bytes[AT_FLAGS];
	srh->tag = mb_load_be16(bytes + AT_TAG);
	srh->segments = bytes + MW_SRH_FIXED_BYTES;
	/* Reduced: the first of the path is not in the list, so all of the list may be left. */
	return srh->left > srh->n ? MW_SRH_LEFT : MW_SRH_OK;
}

const char *mw_srh_verdict_name(enum mw_srh_verdict verdict)
{
	static const char *const names[] = {
		[MW_SRH_OK] = "ok",
		[MW_SRH_SHORT] = "the packet ends before the routing header does",
		[MW_SRH_NOT_TYPE] = "not a segment routing header",
		[MW_SRH_LIST] = "the list of segments is longer than the header",
		[MW_SRH_LEFT] = "more segments left than there are",
	};

	return names[verdict];
}
