/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what follows a UDP header of a datagram. What is accepted has a payload
 * inside the input and is encoded again, which gives the same bytes but for reserved bits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "wire/datagram.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is not reserved. Of byte 1 the migration bit is not kept. */
static const uint8_t used[MW_DATAGRAM_HEADERS_MAX] = {
	0xFF, 0xBF, 0xFF, 0xFF, 0x00, 0xFF, 0xFF, 0xFF, 0x00, 0xFF, 0xFF, 0xFF,
	0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t out[MW_DATAGRAM_HEADERS_MAX];
	struct mw_datagram dg;
	size_t headers;

	if (mw_datagram_decode(data, size, &dg, &headers) != MW_OK)
		return 0;
	mb_assert(mw_is_datagram(data[0]));
	mb_assert(headers + dg.payload_len + dg.pad == size);
	mb_assert(mw_datagram_encode(&dg, out) == headers);
	for (size_t i = 0; i < headers; i++)
		mb_assert(out[i] == (data[i] & used[i]));
	return 0;
}
