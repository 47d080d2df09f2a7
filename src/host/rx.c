/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rx.c - takes frames from the ports, checks their ICRC and hands them to the engine.
 *
 * Whatever arrives, the worst outcome is a counter. A trimmed frame has lost its ICRC; all its
 * bytes are headers and a piece of payload, and the engine never places payload of such a frame.
 */
#include "host/rx.h"

#include <string.h>

#include "host/ud.h"
#include "wire/bth.h"
#include "wire/datagram.h"
#include "wire/dscp.h"
#include "wire/ev_fmt.h"
#include "wire/icrc.h"

#define RX_BATCH 32u
#define RX_ECN_MASK 3u
#define RX_ECN_CE 3u

void mh_rx_init(struct mh_nic *nic)
{
	struct mw_dscp_map dscp = mw_dscp_map_default();

	for (uint8_t i = 0; i < sizeof(nic->trim_of_dscp); i++) {
		enum mw_dscp_class class = mw_dscp_decode(&dscp, i);

		nic->trim_of_dscp[i] = class == MW_DSCP_TRIMMED		  ? MT_TRIM_MIDPATH
				       : class == MW_DSCP_TRIMMED_LASTHOP ? MT_TRIM_LASTHOP
									  : MT_TRIM_NONE;
	}
}

static bool rx_icrc_ok(const struct mh_nic *nic, uint32_t port, const struct mio_rx *frame,
		       size_t body)
{
	const uint8_t *b = frame->bytes;
	struct mh_addr_datagram datagram = {
		.src = frame->src.ip,
		.dst = mh_addr_ours(&nic->ports.map, port),
		.sport = frame->src.udp_port,
		.dport = mh_ports_udp(&nic->ports, nic->ports.slot),
		.len = frame->len,
	};
	struct mw_icrc_carrier carrier = mh_addr_carrier(&datagram);
	mw_crc32_fn crc_fn = nic->crc32;
	uint8_t want[MW_ICRC_BYTES];
	uint32_t crc;

	crc = mw_icrc_start(crc_fn, &carrier, b);
	crc = crc_fn(crc, b + MW_BTH_BYTES, body - MW_BTH_BYTES);
	mw_icrc_finish(crc, want);
	return memcmp(want, b + body, sizeof(want)) == 0;
}

/* REQ(wire.icrc.trimmed) REQ(rsp.trim.by-dscp) */
static void rx_frame(struct mh_nic *nic, uint32_t port, const struct mio_rx *frame)
{
	struct mt_rx_meta meta = {
		.ev = mw_ev_decode(nic->env.ev_format,
				   (struct mw_ev_bits){frame->src.udp_port, frame->flow_label}),
		.port = (uint8_t)port,
		.trim = nic->trim_of_dscp[frame->tos >> 2],
		.ecn_ce = (frame->tos & RX_ECN_MASK) == RX_ECN_CE,
		.icrc_ok = !nic->env.icrc,
	};
	size_t body = frame->len;

	if (!mh_addr_gid_of(&nic->ports.map, port, frame->src.ip, meta.src.b)) {
		nic->counts.rx_foreign++;
		return;
	}
	/* A frame too short for BTH and ICRC goes on as it is: the decoder says what it lacks. */
	if (meta.trim == MT_TRIM_NONE && body >= MW_BTH_BYTES + MW_ICRC_BYTES) {
		body -= MW_ICRC_BYTES;
		meta.icrc_ok = !nic->env.icrc || rx_icrc_ok(nic, port, frame, body);
	}
	if (body > 0 && mw_is_datagram(frame->bytes[0])) {
		mh_ud_rx(nic, &meta, frame, body);
		return;
	}
	/* Stamps of different ports are not in order; the engine's time is. */
	if (frame->time_ns > nic->engine_ns)
		nic->engine_ns = frame->time_ns;
	mt_engine_rx_bytes(nic->engine, nic->engine_ns, &meta, frame->bytes, body);
}

uint32_t mh_rx_pump(struct mh_nic *nic, uint64_t now_ns, bool *more)
{
	struct mio_rx frames[RX_BATCH];
	uint32_t all = 0;
	uint64_t lost;

	*more = false;
	nic->ud_unread = 0;
	for (uint32_t i = 0; i < nic->ports.n; i++) {
		uint32_t n;

		if (!nic->ports.port[i].up)
			continue;
		n = mio_port_rx(nic->ports.port[i].io, now_ns, frames, RX_BATCH);
		for (uint32_t k = 0; k < n; k++)
			rx_frame(nic, i, &frames[k]);
		*more |= nic->ports.port[i].io->status->rx_more;
		all += n;
	}
	lost = all > 0 ? mh_ports_overruns(&nic->ports) : 0;
	if (lost > 0)
		mt_engine_rx_overflow(nic->engine, nic->engine_ns, lost);
	return all;
}
