/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_codec.h - an MRC packet in the record that travels through the fabric, and back.
 *
 * The record has 42 bytes for the protocol, the longest MRC headers have 48. What the core says in
 * two places is carried once: a SACK's PSN is its cack_psn. Everything else that any packet of the
 * core may say is kept bit for bit; what no packet says (reserved bits, another version) is not.
 */
#ifndef SOFTMRC_SIM_MRC_PACKET_CODEC_H
#define SOFTMRC_SIM_MRC_PACKET_CODEC_H

#include "core/types.h"
#include "sim/kernel/sim_packet.h"

/*
 * What a frame costs on the wire in addition to MRC's headers and payload: preamble and gap (20),
 * Ethernet and its checksum (18), outer and inner IPv6 (80), UDP (8), ICRC (4).
 * REQ(wire.overhead.srv6)
 */
#define MS_FRAME_BYTES 130u

/* ms_frame_bytes returns the bytes of a packet's MRC headers, payload and pad. */
uint32_t ms_frame_bytes(const struct mw_packet *pkt);
/*
 * ms_frame_pack writes what a packet says into head and body of *to; the other fields are the
 * caller's. The packet is one that the core made (asserted).
 */
void ms_frame_pack(const struct mw_packet *pkt, struct ms_packet *to);
/* ms_frame_unpack is the way back. */
void ms_frame_unpack(const struct ms_packet *from, struct mw_packet *pkt);
/* ms_frame_dqp returns the destination QPN without unpacking the rest. */
static inline uint32_t ms_frame_dqp(const struct ms_packet *p)
{
	return (uint32_t)p->body[0] & MW_QPN_MAX;
}
#endif
