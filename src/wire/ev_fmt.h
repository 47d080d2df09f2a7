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

#endif
