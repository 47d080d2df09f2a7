/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_path.h - what the 32 bits of an EV say when it is a path through a source-routed fabric:
 *
 *	 0 ..  7  uplink of the sender's T0
 *	 8 .. 15  uplink of the T1 behind it (three tiers of switches)
 *	16 .. 19  plane, which is the port of the sender
 *	20 .. 31  free: EVs that differ only here take the same links
 *
 * With the halves of ev_fmt.h the choices of switches are in the flow label, and the UDP source
 * port is the free bits and the plane: one port number for all paths of a plane, so that a plain
 * socket can send on all of them.
 */
#ifndef SOFTMRC_WIRE_EV_PATH_H
#define SOFTMRC_WIRE_EV_PATH_H

#include <stdint.h>

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
