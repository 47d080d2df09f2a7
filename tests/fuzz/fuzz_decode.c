/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what follows a UDP header. It is decoded as a whole and as a cut
 * packet; what is accepted is encoded again, compared with the input but for reserved bits, and
 * printed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "support/packet.h"
#include "wire/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_in_exact_memory(const struct mw_packet *pkt)
{
	size_t len = mw_packet_print(pkt, NULL, 0);
	char *line = malloc(len + 1);

	mb_assert(line && len < MW_PRINT_BYTES);
	mb_assert(mw_packet_print(pkt, line, len + 1) == len && strlen(line) == len);
	free(line);
}

static void check_encoding(const struct mw_packet *pkt, const uint8_t *data, size_t headers_len)
{
	uint8_t out[MW_HEADERS_MAX];
	uint8_t used[MW_HEADERS_MAX];

	mb_assert(mw_packet_encode(pkt, out) == headers_len);
	packet_used_bits(pkt->bth.opcode, pkt->bth.ts, used);
	for (size_t i = 0; i < headers_len; i++)
		mb_assert(out[i] == (data[i] & used[i]));
}

static void check_whole(const uint8_t *data, size_t size)
{
	struct mw_packet pkt;
	size_t headers_len;

	if (mw_packet_decode(data, size, false, &pkt, &headers_len) != MW_OK)
		return;
	mb_assert(headers_len == packet_headers_len(pkt.bth.opcode, pkt.bth.ts));
	mb_assert(headers_len + pkt.payload_len + pkt.bth.pad == size);
	check_encoding(&pkt, data, headers_len);
	print_in_exact_memory(&pkt);
}

static void check_cut(const uint8_t *data, size_t size)
{
	struct mw_packet pkt;
	size_t headers_len;
	size_t whole;

	if (mw_packet_decode(data, size, true, &pkt, &headers_len) != MW_OK)
		return;
	whole = packet_headers_len(pkt.bth.opcode, pkt.bth.ts);
	mb_assert(headers_len == (size < whole ? size : whole));
	mb_assert(headers_len + pkt.payload_len == size);
	if (headers_len == whole)
		check_encoding(&pkt, data, headers_len);
	print_in_exact_memory(&pkt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_whole(data, size);
	check_cut(data, size);
	return 0;
}
