/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_options.h - what a foreign implementation of MRC may do otherwise than ours.
 *
 * Each option is a small number; 0 is the reading that docs/requirements.toml prefers. The others
 * are readings of sources that conflict, what the sources leave open, and what an implementation
 * is free to do. A world draws them all from its seed.
 */
#ifndef PEER_OPTIONS_H
#define PEER_OPTIONS_H

#include <stdint.h>

/* X(name, how many values there are, what they mean) */
#define PEER_OPTIONS(X)                                                                           \
	/* Both halves. */                                                                        \
	X(extension, 4, "extension known to: neither, both, our engine alone, the peer alone")    \
	X(context_ids, 2, "spdcid and dpdcid: low bits of the QPNs, 0")                           \
	X(reserved_bits, 2, "reserved bits are sent as: 0, 1")                                    \
	X(dynamic_mpr, 2, "dynamic MPR: not agreed, agreed")                                      \
	X(silence, 3, "silent for a while: never, and hears nothing, and hears all afterwards")   \
	/* Responder. */                                                                          \
	X(rcvd_count, 3, "rcvd_bytes counts: UDP length + 40, payload, payload of 1024 or more")  \
	X(mpr_byte, 2, "MPR of SACKs where it is not dynamic: the window, 0")                     \
	X(sack_bytes, 4, "SACK after bytes: 4096, every packet, 65536, never")                    \
	X(sack_map, 4, "bitmap: slides to the newest, from cack + 1, about the trigger, walks")   \
	X(sack_from_cack, 2, "bitmap begins: at a PSN above cack, one PSN below that")            \
	X(sack_rtx, 2, "rtx of SACKs: of the trigger, 0")                                         \
	X(sack_entropy, 3, "entropy of SACKs and NACKs: of the trigger, halves swapped, 0")       \
	X(sack_stamp, 2, "reflected time stamp: of the trigger, 0")                               \
	X(sack_ooo, 2, "ooo_count: packets above cack, 0")                                        \
	X(sack_penalty, 2, "rcv_cwnd_pen: never, now and then")                                   \
	X(always_skip, 3,                                                                         \
	  "m of SACKs: NONE or SKIP_ONCE, ALWAYS_SKIP for one EV in eight, also 3")               \
	X(ack_when, 4, "transport ACK: at once, after up to 20 us, behind the SACK, if asked")    \
	X(ack_psn, 2, "PSN of transport ACKs that are no NAKs: cack_psn, 0")                      \
	X(ack_probe, 2, "answer to a reliability probe: SACK and transport ACK, SACK alone")      \
	X(ahead, 2, "PSN ahead of the window: NACK, silence")                                     \
	X(trim, 2, "trimmed packet: NACK, silence")                                               \
	X(trim_duplicate, 2, "trimmed copy of what was received: SACK, NACK")                     \
	X(shortage, 5, "refuses packets: never, NO_BITMAP, NO_PKT_BUFFER, NO_RESOURCE, reason 8") \
	X(late_receives, 2, "extension: receives are posted: before, while SENDs come")           \
	X(endpoint_op, 3, "op of an EETH: bits 3:2, bits 5:4, endpoint requests not answered")    \
	/* Requester. */                                                                          \
	X(stamps, 3, "TSETH: in all packets, in some, in none")                                   \
	X(stamp_unit, 2, "unit of time stamps: tsr = 0, tsr = 1")                                 \
	X(ack_request, 4, "AckReq: ends of messages, all packets, none, some")                    \
	X(migration_bit, 3, "bit 6 of BTH byte 1: 0, 1, the solicited event")                     \
	X(rqmsn, 2, "RQMSN without the extension: in all packets, only where a receive is taken") \
	X(infer, 2, "loss is found: by SACKs and timer, by timer alone")                          \
	X(probes, 2, "reliability probes in silence: yes, never")                                 \
	X(flight, 3, "packets in flight: the window, 64, 4")                                      \
	X(endpoint_probes, 2, "EV probes: none, now and then")                                    \
	X(port_status, 2, "port status updates: none, wrong ones now and then")                   \
	X(interleave, 2, "control packets: before data, behind data")

struct peer_options {
#define PEER_OPTION_FIELD(name, values, text) uint8_t name;
	PEER_OPTIONS(PEER_OPTION_FIELD)
#undef PEER_OPTION_FIELD
};

#endif
