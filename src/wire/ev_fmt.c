/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_fmt.c - the EV in UDP source port and flow label.
 *
 * The sources disagree which half of a STEV is the source port; here it is the high one. Only the
 * low 16 of the 20 flow label bits belong to the EV: the encoder leaves the other four zero, the
 * decoder ignores them.
 */
#include "wire/ev_fmt.h"

#include "base/assert.h"

bool mw_ev_valid(enum mw_ev_format fmt, uint32_t ev)
{
	switch (fmt) {
	case MW_EV_UDP:
		return ev <= UINT16_MAX;
	case MW_EV_STEV:
		return true;
	}
	return false;
}

struct mw_ev_bits mw_ev_encode(enum mw_ev_format fmt, uint32_t ev)
{
	mb_assert(mw_ev_valid(fmt, ev));
	if (fmt == MW_EV_UDP)
		return (struct mw_ev_bits){.udp_sport = (uint16_t)ev};
	/* REQ(wire.ev.halves) */
	return (struct mw_ev_bits){.udp_sport = (uint16_t)(ev >> 16), .flow_label = ev & 0xFFFF};
}

uint32_t mw_ev_decode(enum mw_ev_format fmt, struct mw_ev_bits bits)
{
	mb_assert(mw_ev_valid(fmt, 0));
	if (fmt == MW_EV_UDP)
		return bits.udp_sport;
	return (uint32_t)bits.udp_sport << 16 | (bits.flow_label & 0xFFFF);
}
