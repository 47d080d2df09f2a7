/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.h - what several kinds of wire tests need: comparing packets field by field, making random
 * ones, knowing which bits of a packet are reserved.
 *
 * Lengths and layouts are written down here once more, not taken from the code under test.
 */
#ifndef SUPPORT_PACKET_H
#define SUPPORT_PACKET_H

#include "wire/packet.h"

#define PACKET_OPCODES 33u

/* The opcodes of MRC and of its extension, each once. */
extern const uint8_t packet_opcodes[PACKET_OPCODES];

/* packet_is_data says whether an opcode is a WRITE or a SEND, packet_has_imm one with immediate. */
bool packet_is_data(uint8_t opcode);
bool packet_has_imm(uint8_t opcode);

/* packet_headers_len returns the bytes of BTH and extension headers of an MRC opcode. */
size_t packet_headers_len(uint8_t opcode, bool ts);

/*
 * packet_difference returns the name of the first field that is on the wire and differs, or NULL.
 * payload_len counts as a field.
 */
const char *packet_difference(const struct mw_packet *a, const struct mw_packet *b);

/* packet_random fills a packet of an MRC opcode with random fields that can be encoded. */
void packet_random(struct mw_packet *pkt, uint8_t opcode);

/* packet_used_bits sets the bits of mask that mean something in the headers of such a packet. */
void packet_used_bits(uint8_t opcode, bool ts, uint8_t mask[MW_HEADERS_MAX]);

/* packet_decode_exact decodes from a heap copy of exactly len bytes, where reading on is caught. */
enum mw_verdict packet_decode_exact(const uint8_t *bytes, size_t len, bool cut,
				    struct mw_packet *pkt, size_t *headers_len);

#endif
