/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_fmt.h - where a 32-bit entropy value (EV) sits in the headers of the carrying packet.
 *
 * UDP: the EV is the UDP source port, 16 bits. STEV: 32 bits, the UDP source port holds the high
 * half and the low 16 bits of the IPv6 flow label hold the low half.
 */
#ifndef SOFTMRC_WIRE_EV_FMT_H
#define SOFTMRC_WIRE_EV_FMT_H

#include <stdbool.h>
#include <stdint.h>

enum mw_ev_format {
	MW_EV_UDP = 0,
	MW_EV_STEV = 1,
};

struct mw_ev_bits {
	uint16_t udp_sport;
	uint32_t flow_label; /* 20 bits; 0 with MW_EV_UDP */
};

/*
 * mw_ev_valid says whether an EV can be carried in the format: 16 bits with MW_EV_UDP, 32 with
 * MW_EV_STEV, none in a format that is not one of the enum. REQ(wire.ev.udp) REQ(wire.ev.stev)
 */
bool mw_ev_valid(enum mw_ev_format fmt, uint32_t ev);

/* mw_ev_encode spreads an EV over header fields; it must be valid (asserted). */
struct mw_ev_bits mw_ev_encode(enum mw_ev_format fmt, uint32_t ev);

/* mw_ev_decode gathers the EV from the header fields of a received packet. */
uint32_t mw_ev_decode(enum mw_ev_format fmt, struct mw_ev_bits bits);

/*
 * What the 32 bits of an EV say when it is a path through a source-routed fabric:
 *
 *	 0 ..  7  uplink of the sender's T0
 *	 8 .. 15  uplink of the T1 behind it (three tiers of switches)
 *	16 .. 19  plane, which is the port of the sender
 *	20 .. 31  free: EVs that differ only here take the same links
 *
 * With STEV the choices of switches are in the flow label, and the UDP source
 * port is the free bits and the plane: one port number for all paths of a plane, so that a plain
 * socket can send on all of them.
 */

#define MW_EV_UPLINK_SHIFT 0u
#define MW_EV_UPLINK_BITS 8u
#define MW_EV_T1_UPLINK_SHIFT 8u
#define MW_EV_T1_UPLINK_BITS 8u
#define MW_EV_PLANE_SHIFT 16u
#define MW_EV_PLANE_BITS 4u
#define MW_EV_FREE_SHIFT 20u
#define MW_EV_FREE_BITS 12u

/* mw_ev_path_on returns the EV with another plane in it, below 16. */
static inline uint32_t mw_ev_path_on(uint32_t ev, uint32_t plane)
{
	const uint32_t mask = ((1u << MW_EV_PLANE_BITS) - 1) << MW_EV_PLANE_SHIFT;

	return (ev & ~mask) | plane << MW_EV_PLANE_SHIFT;
}

#endif
