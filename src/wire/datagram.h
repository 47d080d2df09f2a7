/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * datagram.h - the packets of UD and UC QPs, which are those of RoCEv2's UD and no part of MRC:
 *
 *     BTH    12  see headers.h; the byte of MRC's marks holds RoCE's, of which none matters here
 *     DETH    8  q_key (32), reserved (8), source QPN (24)
 *     ImmDt   4  in the opcode with immediate data
 *     payload, pad
 *
 * A message is one packet. Their opcodes have 0b011 in the high three bits, so that neither kind of
 * packet is mistaken for the other by its first byte. REQ(ud.opcodes)
 */
#ifndef SOFTMRC_WIRE_DATAGRAM_H
#define SOFTMRC_WIRE_DATAGRAM_H

#include "wire/packet.h"

#define MW_UD_SEND_ONLY 0x64u
#define MW_UD_SEND_ONLY_IMM 0x65u

#define MW_DETH_BYTES 8u
/* The longest BTH plus DETH plus ImmDt. */
#define MW_DATAGRAM_HEADERS_MAX 24u
/* A Q_Key with this bit in a WR stands for that of the sending QP. */
#define MW_Q_KEY_CONTROLLED 0x80000000u
/* The Q_Key of what UC QPs send; no WR can name it. REQ(uc.carrier) */
#define MW_Q_KEY_UC 0x80005543u

struct mw_datagram {
	bool se;	   /* solicited event */
	bool with_imm;	   /* imm is valid */
	uint8_t pad;	   /* pad bytes after the payload, 0..3 */
	uint16_t p_key;	   /* as in struct mw_bth, as are the next two */
	uint32_t dqp, psn; /* 24 bits */
	uint32_t q_key;
	uint32_t src_qpn; /* 24 bits */
	uint32_t imm;	  /* the 4 bytes as a big-endian number */
	uint32_t payload_len;
};

/* mw_is_datagram says by its first byte whether a packet is one of these. */
static inline bool mw_is_datagram(uint8_t opcode)
{
	return (opcode & 0xFEu) == MW_UD_SEND_ONLY;
}

/*
 * mw_datagram_decode reads the headers and the payload's length from bytes[0..len), which is what
 * follows the UDP header, without the ICRC. On MW_OK *dg is complete and *headers_len is where the
 * payload begins; on any other verdict *dg is unspecified. Reserved bits are ignored. Never reads
 * outside of bytes[0..len); len is at most UINT32_MAX (asserted). Pure; any thread. REQ(ud.decode)
 */
enum mw_verdict mw_datagram_decode(const uint8_t *bytes, size_t len, struct mw_datagram *dg,
				   size_t *headers_len);

/*
 * mw_datagram_encode writes the headers to out, which has room for MW_DATAGRAM_HEADERS_MAX bytes,
 * and returns how many. Fields must fit (asserted). Payload, pad and ICRC follow and are the
 * caller's. Pure; any thread.
 */
size_t mw_datagram_encode(const struct mw_datagram *dg, uint8_t *out);

#endif
