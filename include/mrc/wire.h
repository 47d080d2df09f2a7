/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.h - the packets of MRC as bytes: encoders, decoders, ICRC, where an EV is in the
 * carrying headers, DSCP, uSIDs of SRv6, and packets as text.
 *
 * An adapter of the engine (mrc/engine.h) needs mw_packet_encode for what it sends; for what it
 * receives, mt_engine_rx_bytes decodes. Tools that look at packets need no engine. All functions
 * are pure: any thread may call them at any time. Link libmrc-core (pkg-config mrc-core).
 */
#ifndef MRC_WIRE_H
#define MRC_WIRE_H

#ifdef __cplusplus
extern "C" {
#endif

#include "wire/carrier.h"
#include "wire/datagram.h"
#include "wire/dscp.h"
#include "wire/ev_fmt.h"
#include "wire/icrc.h"
#include "wire/ip_udp.h"
#include "wire/packet.h"
#include "wire/print.h"
#include "wire/srv6.h"

#ifdef __cplusplus
}
#endif

#endif
