/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_rx.c - takes frames from the ports, checks their ICRC and hands them to the engine.
 *
 * A process that did not run for a while finds much in the sockets of all planes. Frames are taken
 * in the order in which the system got them, whatever plane they came by: read port by port, what
 * was sent one after the other over several planes would come in an order that no network makes,
 * and programs that keep order themselves over datagrams take that for loss. REQ(ud.order)
 *
 * Whatever arrives, the worst outcome is a counter. A trimmed frame has lost its ICRC; all its
 * bytes are headers and a piece of payload, and the engine never places payload of such a frame.
 */
#include "host/datapath/datapath.h"
#include "host/state/shards.h"

#include <poll.h>
#include <string.h>

#include "wire/datagram.h"
#include "wire/dscp.h"
#include "wire/ev_fmt.h"
#include "wire/headers.h"
#include "wire/icrc.h"

#define RX_ECN_MASK 3u
#define RX_ECN_CE 3u

/* A table of all 64 code points, so that a packet costs one load and not a walk through the map. */
void mh_rx_init(struct mh_nic *nic)
{
	for (size_t i = 0; i < sizeof(nic->trim_of_dscp); i++) {
		enum mw_dscp_class class = mw_dscp_decode(&nic->env.dscp, (uint8_t)i);

		nic->trim_of_dscp[i] = class == MW_DSCP_TRIMMED		  ? MT_TRIM_MIDPATH
				       : class == MW_DSCP_TRIMMED_LASTHOP ? MT_TRIM_LASTHOP
									  : MT_TRIM_NONE;
	}
}

/* Where a frame came in: the port, and the slot whose UDP port it was sent to. */
struct rx_at {
	uint32_t port;
	uint32_t slot;
};

/*
 * The headers around the frame are made again from the socket's addresses: a driver hands on what
 * the kernel left of a packet, without them. Both ends compute over the same fields, so those that
 * a path may change are masked.
 */
static bool rx_icrc_ok(const struct mh_nic *nic, struct rx_at at, const struct mio_rx *frame,
		       size_t body)
{
	const uint8_t *b = frame->bytes;
	struct mh_addr_datagram datagram = {
		.src = frame->src.ip,
		.dst = mh_addr_icrc_local(&nic->ports.map, at.port),
		.sport = frame->src.udp_port,
		.dport = mh_ports_udp_of_slot(&nic->ports, at.slot),
		.len = frame->len,
	};
	struct mw_icrc_carrier carrier = mh_addr_icrc_carrier(&datagram);
	mw_crc32_fn crc_fn = nic->crc32;
	uint8_t want[MW_ICRC_BYTES];
	uint32_t crc;

	crc = mw_icrc_start(crc_fn, &carrier, b);
	crc = crc_fn(crc, b + MW_BTH_BYTES, body - MW_BTH_BYTES);
	mw_icrc_finish(crc, want);
	return memcmp(want, b + body, sizeof(want)) == 0;
}

/*
 * The ICRC of a whole frame costs as much as the rest of it, and anybody may send whole frames: it
 * is computed only for a frame that somebody here waits for.
 */
static bool rx_is_expected(struct mh_nic *nic, const struct mt_rx_meta *meta, const uint8_t *frame,
			   size_t body)
{
	uint32_t qpn = mw_bth_dqp(frame);

	if (mw_is_datagram(frame[0]))
		return mu_receive_expected(nic->ud, qpn);
	return mt_engine_rx_expected(nic->engine, meta, qpn, frame[0], body);
}

/* rx_source finds the GID of who sent a frame; false: nobody of this network, which is counted. */
static bool rx_source(struct mh_nic *nic, uint32_t port, const struct mio_rx *frame,
		      uint8_t gid[16])
{
	if (mh_addr_gid_of(&nic->ports.map, port, frame->src.ip, gid) &&
	    mh_addr_is_carrier_of(&nic->ports.map, port, frame->outer_src, gid))
		return true;
	nic->counts.rx_outside_subnet++;
	return false;
}

/* REQ(wire.icrc.trimmed) REQ(rsp.trim.by-dscp) */
static void rx_frame(struct mh_nic *nic, struct rx_at at, const struct mio_rx *frame)
{
	uint32_t port = at.port;
	struct mt_rx_meta meta = {
		.ev = mw_ev_decode(nic->env.ev_format,
				   (struct mw_ev_bits){frame->src.udp_port, frame->flow_label}),
		.port = (uint8_t)port,
		.trim = nic->trim_of_dscp[frame->tos >> 2],
		.ecn_ce = (frame->tos & RX_ECN_MASK) == RX_ECN_CE,
		.icrc_ok = !nic->env.icrc,
	};
	size_t body = frame->len;

	if (!rx_source(nic, port, frame, meta.src.b))
		return;
	/* A frame too short for BTH and ICRC goes on as it is: the decoder says what it lacks. */
	if (meta.trim == MT_TRIM_NONE && body >= MW_BTH_BYTES + MW_ICRC_BYTES) {
		body -= MW_ICRC_BYTES;
		if (nic->env.icrc && !rx_is_expected(nic, &meta, frame->bytes, body))
			return;
		meta.icrc_ok = !nic->env.icrc || rx_icrc_ok(nic, at, frame, body);
		if (!meta.icrc_ok)
			mh_ports_note_icrc(&nic->ports, port, frame->src.ip, frame->time_ns);
		else if (nic->ports.port[port].icrc_wrong > 0)
			nic->ports.port[port].icrc_wrong = 0;
	}
	if (body > 0 && mw_is_datagram(frame->bytes[0])) {
		mu_receive(nic->ud, &meta, frame->tos, frame->bytes, frame->len, body);
		return;
	}
	/* Stamps of different ports are not in order; the engine's time is. */
	if (frame->time_ns > nic->engine_ns)
		nic->engine_ns = frame->time_ns;
	mt_engine_rx_bytes(nic->engine, nic->engine_ns, &meta, frame->bytes, body);
}

/* ---- shards ---- */

/*
 * rx_owner returns the shard whose QP a frame is for; the one that has it if it is for none, or for
 * a number that means something else.
 */
static struct mh_nic *rx_owner(struct mh_nic *nic, const struct mio_rx *frame)
{
	const struct mh_nic *first = nic->first;
	uint32_t qpn = frame->len >= MW_BTH_BYTES ? mw_bth_dqp(frame->bytes) : 0;
	uint32_t slot = qpn >> MH_QPN_INDEX_BITS;

	if (slot == nic->ports.slot || (qpn & MH_QPN_INDEX_MASK) < MH_QP_INDEX_FIRST)
		return nic;
	for (uint32_t i = 0; i < first->n_shards; i++)
		if (first->shard[i]->ports.slot == slot)
			return first->shard[i];
	return nic;
}

/*
 * rx_for_shard takes a frame of a NIC that is one of several. Peers find the UDP port of a shard in
 * the number of its QP. One that knows only the registered port sends all to the shard that has it,
 * and what is not this one's is handed over: correct, but under two locks. These are taken in the
 * order of the shards, so that what would have to go the other way is dropped. *handed is a mask of
 * those that got something. REQ(api.shards)
 */
static void rx_for_shard(struct mh_nic *nic, uint32_t port, const struct mio_rx *frame,
			 uint32_t *handed)
{
	struct rx_at at = {port, nic->ports.slot};
	struct mh_nic *owner = rx_owner(nic, frame);
	struct rd_gid source;

	if (owner == nic) {
		rx_frame(nic, at, frame);
	} else if (!rx_source(nic, port, frame, source.b)) {
		return; /* nobody from elsewhere has this take a second lock */
	} else if (owner->env.shard < nic->env.shard) {
		nic->counts.rx_wrong_shard++;
	} else {
		nic->counts.rx_other_shard++;
		*handed |= UINT32_C(1) << owner->env.shard;
		mh_nic_lock(owner);
		rx_frame(owner, at, frame);
		mh_nic_unlock(owner);
	}
}

/* rx_wake has the threads of shards answer what they were handed. */
static void rx_wake(const struct mh_nic *first, uint32_t handed)
{
	for (uint32_t i = 0; handed >> i; i++)
		if (handed >> i & 1)
			mh_nic_kick(first->shard[i]);
}

/* ---- bursts ---- */

/*
 * rx_ports_ready returns the ports that may have frames, a mask. A driver that asks the system does
 * so with a system call, which costs as much for nothing as one for the descriptors of all ports
 * together. That one is spared where there is one port, and where all had frames when last asked,
 * as in the midst of bulk.
 */
static uint32_t rx_ports_ready(const struct mh_ports *ports)
{
	const struct timespec at_once = {0};
	struct pollfd fd[MT_PORTS_MAX];
	uint32_t port_of[MT_PORTS_MAX], ready = 0, n = 0;
	bool all_had = true;

	for (uint32_t i = 0; i < ports->n; i++) {
		const struct mio_status *status = ports->port[i].io->status;

		if (!mh_ports_receives(&ports->port[i]))
			continue;
		ready |= 1u << i;
		all_had &= ports->port[i].rx_n > 0;
		if (!status->rx_asks_system || status->rx_more)
			continue;
		fd[n] = (struct pollfd){status->fd, POLLIN, 0};
		port_of[n++] = i;
	}
	if (n < 2 || all_had || ppoll(fd, n, &at_once, NULL) < 0)
		return ready;
	for (uint32_t k = 0; k < n; k++)
		if (!fd[k].revents)
			ready &= ~(1u << port_of[k]);
	return ready;
}

/* rx_fetch asks the driver for a burst when all of the last one has been looked at. */
static void rx_fetch(struct mh_port *port, bool ready, uint64_t now_ns)
{
	if (port->rx_at < port->rx_n)
		return;
	port->rx_at = port->rx_n = 0;
	if (!ready)
		return;
	port->rx_n = mio_port_rx(port->io, now_ns, port->rx, MH_RX_BATCH);
}

/* rx_oldest returns the number of the port that has the oldest frame; ports.n: there is none. */
static uint32_t rx_oldest(const struct mh_ports *ports)
{
	uint64_t oldest_ns = UINT64_MAX;
	uint32_t oldest = ports->n;

	for (uint32_t i = 0; i < ports->n; i++) {
		const struct mh_port *port = &ports->port[i];

		if (!mh_ports_receives(port) || port->rx_at == port->rx_n ||
		    port->rx[port->rx_at].stamp_ns >= oldest_ns)
			continue;
		oldest_ns = port->rx[port->rx_at].stamp_ns;
		oldest = i;
	}
	return oldest;
}

/*
 * A port that went down keeps its last burst, which is not looked at and must not keep the loop
 * running.
 */
static bool rx_more(const struct mh_ports *ports)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		const struct mh_port *port = &ports->port[i];

		if (mh_ports_receives(port) &&
		    (port->rx_at < port->rx_n || port->io->status->rx_more))
			return true;
	}
	return false;
}

uint32_t mh_rx_poll(struct mh_nic *nic, uint64_t now_ns, bool *more)
{
	struct mh_ports *ports = &nic->ports;
	uint32_t ready = rx_ports_ready(ports);
	uint32_t all = 0, handed = 0, i;
	bool alone = nic->first->n_shards == 1;
	uint64_t lost;

	for (i = 0; i < ports->n; i++)
		if (mh_ports_receives(&ports->port[i]))
			rx_fetch(&ports->port[i], ready >> i & 1, now_ns);
	for (; all < ports->n * MH_RX_BATCH && (i = rx_oldest(ports)) < ports->n; all++) {
		struct mh_port *port = &ports->port[i];

		if (alone)
			rx_frame(nic, (struct rx_at){i, ports->slot}, &port->rx[port->rx_at++]);
		else
			rx_for_shard(nic, i, &port->rx[port->rx_at++], &handed);
		/* What waits behind a burst may be older than what other ports have. */
		if (port->io->status->rx_more)
			rx_fetch(port, true, now_ns);
	}
	rx_wake(nic->first, handed);
	*more = rx_more(ports);
	lost = all > 0 ? mh_ports_overruns(ports) : 0;
	if (lost > 0)
		mt_engine_rx_overflow(nic->engine, nic->engine_ns, lost);
	return all;
}
