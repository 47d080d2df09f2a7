/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_tx.c - takes descriptors from the engine, makes frames of them and hands these to the ports.
 *
 * The engine sprays, so consecutive descriptors go to different ports and EVs. They are sorted into
 * one burst per port; a driver gets a burst when it is full or when the engine has no more. Payload
 * is never copied here: a frame is an iovec of headers, pieces of the user's memory, pad and ICRC.
 *
 * How many descriptors to ask for: each port with room must have room for all of them, so with
 * pacing the number is small and the engine is asked again until it has nothing or no port has
 * tokens. Control packets do not wait for tokens.
 */
#include "host/datapath/datapath.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/platform/platform.h"
#include "wire/dscp.h"
#include "wire/ev_fmt.h"
#include "wire/headers.h"
#include "wire/icrc.h"

#define TX_BATCH MIO_BURST_MAX
/* One run holds the NIC's lock for about this many packets at most. */
#define TX_RUN_MAX 512u
#define TX_ECT0 2u
#define TX_DSCP_MASK 0xFCu
#define TX_PAD_MAX 3u

_Static_assert(MIO_IOV_MAX >= RD_SGE_MAX + 2, "headers, SGEs, and pad with ICRC");

/* What belongs to a frame until it is sent. */
struct tx_part {
	struct iovec iov[MIO_IOV_MAX];
	uint8_t headers[MW_HEADERS_MAX];
	uint8_t tail[TX_PAD_MAX + MW_ICRC_BYTES];
};

struct tx_burst {
	uint32_t n;
	struct mio_tx frame[MIO_BURST_MAX];
	struct tx_part part[MIO_BURST_MAX];
};

struct mh_tx {
	bool more;	       /* the last run stopped before the engine had no more to send */
	uint32_t without_room; /* ports that had none when the engine had no more for the others */
	uint8_t tos_of_class[MW_DSCP_CLASSES];
	struct mt_tx_desc desc[TX_BATCH];
	struct tx_burst burst[]; /* by port */
};

static uint8_t tx_tos(const struct mw_dscp_map *map, enum mw_dscp_class class, uint32_t ecn)
{
	return (uint8_t)((uint32_t)mw_dscp_encode(map, class) << 2 | ecn);
}

/* REQ(wire.dscp.control-class) REQ(wire.dscp.data-class) REQ(wire.dscp.retransmit-class) */
struct mh_tx *mh_tx_create(uint32_t n_ports, const struct mw_dscp_map *dscp)
{
	struct mh_tx *tx = calloc(1, sizeof(*tx) + n_ports * sizeof(tx->burst[0]));

	if (!tx)
		return NULL;
	for (enum mw_dscp_class cls = 0; cls < MW_DSCP_CLASSES; cls++)
		tx->tos_of_class[cls] = tx_tos(dscp, cls, cls == MW_DSCP_CONTROL ? 0 : TX_ECT0);
	return tx;
}

/* What one packet can take of a null MR. */
#define TX_ZEROS 4096u

/* tx_resolve returns where a piece of an SGE is; NULL: its MR is gone. */
static void *tx_resolve(const struct mh_nic *nic, const struct rd_sge *piece)
{
	static const uint8_t zeros[TX_ZEROS];
	struct mt_mr_part part;

	if (piece->lkey == MT_LKEY_ADAPTER)
		return (void *)(uintptr_t)piece->addr;
	if (!mt_mr_find(nic->engine, piece->lkey, piece->addr, piece->length, &part))
		return NULL;
	if (part.mr_user)
		return (uint8_t *)part.mr_user + part.offset;
	mb_assert(piece->length <= sizeof(zeros));
	return (void *)(uintptr_t)zeros;
}

/* tx_payload adds the bytes that a descriptor names to the frame; false: an MR is gone. */
static bool tx_payload(const struct mh_nic *nic, const struct mt_tx_desc *d, struct mio_tx *frame,
		       struct tx_part *part)
{
	struct rd_sge_walk walk = rd_sge_walk(d->sge, d->n_sge, d->offset, d->pkt.payload_len);
	struct rd_sge piece;

	while (rd_sge_next(&walk, &piece)) {
		void *at = tx_resolve(nic, &piece);

		if (!at)
			return false;
		part->iov[frame->n_iov++] = (struct iovec){at, piece.length};
	}
	mb_assert(walk.left == 0);
	frame->len += d->pkt.payload_len;
	return true;
}

/* A piece of the user's memory, and what is done with it. */
struct tx_piece {
	mw_crc32_fn crc_fn; /* NULL: it is only looked at */
	const struct iovec *iov;
	uint32_t crc;
};

/* A page is never smaller; looking at one byte of each finds those that are gone. */
#define TX_PAGE_MIN 4096u

static void crc_payload_guarded(void *ctx)
{
	struct tx_piece *piece = ctx;
	const volatile uint8_t *bytes = piece->iov->iov_base;
	size_t len = piece->iov->iov_len;

	if (piece->crc_fn) {
		piece->crc = piece->crc_fn(piece->crc, piece->iov->iov_base, len);
		return;
	}
	for (size_t at = 0; at < len; at += TX_PAGE_MIN)
		(void)bytes[at];
	(void)bytes[len - 1];
}

/* tx_crc_payload runs the CRC over all payload; false: some of the memory is gone. */
static bool tx_crc_payload(struct tx_piece *piece, const struct mio_tx *frame,
			   const struct tx_part *part)
{
	for (uint32_t i = 1; i < frame->n_iov; i++) {
		piece->iov = &part->iov[i];
		if (!mh_guard_run(piece->iov->iov_base, piece->iov->iov_len, crc_payload_guarded,
				  piece))
			return false;
	}
	return true;
}

static void tx_set_address(const struct mh_nic *nic, const struct mt_tx_desc *d,
			   struct mio_tx *frame)
{
	/* A host that no path leads to is no QP's peer, and nothing of it is received. */
	bool reached = mh_addr_first_hop(&nic->ports.map, d->port, d->ev, d->dst.b, frame->dst.ip);

	mb_assert(reached);
	frame->dst.udp_port = d->pkt.bth.dqp == MW_QPN_ENDPOINT
				      ? mh_ports_udp_of_slot(&nic->ports, d->endpoint)
				      : mh_ports_udp_of_qpn(&nic->ports, d->pkt.bth.dqp);
	memcpy(frame->dst_gid, d->dst.b, sizeof(frame->dst_gid));
}

/*
 * tx_ev returns where the EV of a descriptor travels. An answer may carry the EV of what it
 * answers, whose source port is one of the peer's; sockets have only our own, so one of these
 * stands in. With SRv6 a port has one, and the path is in the flow label.
 */
static struct mw_ev_bits tx_ev(const struct mh_env *env, const struct mt_tx_desc *d)
{
	struct mw_ev_bits bits = mw_ev_encode(env->ev_format, d->ev);
	uint32_t i = (uint32_t)bits.udp_sport - env->ev_base;

	if (env->driver != MH_DRIVER_UDP)
		return bits;
	if (mh_env_is_srv6(env))
		bits.udp_sport = (uint16_t)(env->ev_base + d->port);
	else if (i >= env->evs)
		bits.udp_sport = (uint16_t)(env->ev_base + bits.udp_sport % env->evs);
	return bits;
}

/*
 * tx_icrc_start runs the CRC over what comes before the payload: what the ICRC takes of the headers
 * around the frame, then those in it.
 */
static uint32_t tx_icrc_start(const struct mh_nic *nic, const struct mt_tx_desc *d,
			      const struct mio_tx *frame, const struct tx_part *part)
{
	struct mh_addr_datagram datagram = {
		.src = mh_addr_icrc_local(&nic->ports.map, d->port),
		.dst = mh_addr_icrc_peer(&nic->ports.map, d->dst.b, frame->dst.ip),
		.sport = frame->sport,
		.dport = frame->dst.udp_port,
		.len = frame->len,
	};
	struct mw_icrc_carrier carrier = mh_addr_icrc_carrier(&datagram);

	return nic->crc32(mw_icrc_start(nic->crc32, &carrier, part->headers),
			  part->headers + MW_BTH_BYTES, part->iov[0].iov_len - MW_BTH_BYTES);
}

/*
 * tx_finish_icrc writes the ICRC behind the pad. Without ICRC the payload is looked at all the
 * same: memory that is gone must end the QP here, not the system call of the driver.
 */
static bool tx_finish_icrc(const struct mh_nic *nic, const struct mt_tx_desc *d,
			   const struct mio_tx *frame, struct tx_part *part)
{
	struct tx_piece piece = {.crc_fn = nic->env.icrc ? nic->crc32 : NULL};
	uint32_t pad = d->pkt.bth.pad;

	if (piece.crc_fn)
		piece.crc = tx_icrc_start(nic, d, frame, part);
	if (!tx_crc_payload(&piece, frame, part))
		return false;
	if (piece.crc_fn)
		mw_icrc_finish(nic->crc32(piece.crc, part->tail, pad), part->tail + pad);
	return true;
}

/*
 * tx_build makes a frame of a descriptor, and of its headers in part->headers, in the burst of its
 * port; false: memory is gone.
 */
static bool tx_build(struct mh_nic *nic, const struct mt_tx_desc *d, size_t headers,
		     struct tx_burst *burst)
{
	struct mio_tx *frame = &burst->frame[burst->n];
	struct tx_part *part = &burst->part[burst->n];
	struct mw_ev_bits bits = tx_ev(&nic->env, d);
	uint32_t pad = d->pkt.bth.pad;

	frame->len = (uint32_t)headers;
	part->iov[0] = (struct iovec){part->headers, frame->len};
	frame->n_iov = 1;
	if (!tx_payload(nic, d, frame, part))
		return false;
	frame->len += pad + MW_ICRC_BYTES;
	tx_set_address(nic, d, frame);
	frame->sport = bits.udp_sport;
	memset(part->tail, 0, sizeof(part->tail));
	if (!tx_finish_icrc(nic, d, frame, part))
		return false;
	part->iov[frame->n_iov++] = (struct iovec){part->tail, pad + MW_ICRC_BYTES};
	frame->iov = part->iov;
	frame->ev = d->ev;
	frame->flow_label = bits.flow_label;
	frame->tos = nic->tx->tos_of_class[d->tclass];
	frame->is_data = d->pkt.payload_len > 0;
	frame->copy = mh_guard_copy;
	return true;
}

void mh_tx_flush(void *ctx, uint32_t port, uint64_t now_ns)
{
	struct mh_nic *nic = ctx;
	struct tx_burst *burst = &nic->tx->burst[port];

	if (burst->n > 0)
		mio_port_tx(nic->ports.port[port].io, now_ns, burst->frame, burst->n);
	burst->n = 0;
}

/* Encoded into the burst itself: the frame's iovec points there until the driver has sent it. */
static size_t tx_encode(const struct mt_tx_desc *d, struct tx_burst *burst)
{
	return mw_packet_encode(&d->pkt, burst->part[burst->n].headers);
}

/*
 * Memory that is gone fails the QP, but not here: the engine is in the midst of handing out
 * descriptors, and some behind this one may be the same QP's. They fail likewise or are sent; both
 * are harmless.
 */
static void tx_emit_packet(struct mh_nic *nic, const struct mt_tx_desc *d, uint64_t now_ns)
{
	struct tx_burst *burst = &nic->tx->burst[d->port];

	if (burst->n == MIO_BURST_MAX)
		mh_tx_flush(nic, d->port, now_ns);
	if (!tx_build(nic, d, tx_encode(d, burst), burst)) {
		nic->counts.tx_mr_gone++;
		mh_qp_mark_failed(d->qp_user);
		return;
	}
	/* Control packets are not paced: an ACK that waits behind data slows down the peer. */
	if (d->tclass != MW_DSCP_CONTROL)
		mh_pace_consume(&nic->ports.port[d->port].pace, burst->frame[burst->n].len);
	burst->n++;
}

uint32_t mh_tx_budget(void *ctx, uint32_t port, uint64_t now_ns)
{
	struct mh_nic *nic = ctx;
	struct mh_port *p = &nic->ports.port[port];
	uint32_t frames;

	if (!p->up || p->io->status->blocked)
		return 0;
	frames = mh_pace_frames(&p->pace, now_ns);
	return frames < TX_BATCH ? frames : TX_BATCH;
}

bool mh_tx_datagram(void *ctx, const struct mt_tx_desc *d, const struct mw_datagram *headers,
		    uint8_t traffic_class)
{
	struct mh_nic *nic = ctx;
	struct tx_burst *burst = &nic->tx->burst[d->port];

	mb_assert(burst->n < MIO_BURST_MAX);
	if (!tx_build(nic, d, mw_datagram_encode(headers, burst->part[burst->n].headers), burst))
		return false;
	/* No receiver asks for less after a mark, and a datagram that was cut is of no use. */
	burst->frame[burst->n].tos = traffic_class & TX_DSCP_MASK;
	mh_pace_consume(&nic->ports.port[d->port].pace, burst->frame[burst->n].len);
	burst->n++;
	return true;
}

/* tx_port_budgets returns the ports that may send data, and in *n how many packets each of them
 * may. */
static uint32_t tx_port_budgets(struct mh_nic *nic, uint64_t now_ns, uint32_t *n)
{
	uint32_t free_ports = 0;

	*n = TX_BATCH;
	for (uint32_t i = 0; i < nic->ports.n; i++) {
		uint32_t frames = mh_tx_budget(nic, i, now_ns);

		if (frames == 0)
			continue;
		free_ports |= 1u << i;
		if (frames < *n)
			*n = frames;
	}
	return free_ports;
}

/* What waits is for ports without room: no other port saves up for it. */
static void tx_forgo(struct mh_nic *nic, uint64_t now_ns)
{
	for (uint32_t i = 0; i < nic->ports.n; i++)
		mh_pace_forgo(&nic->ports.port[i].pace, now_ns);
}

/*
 * The engine is asked again as long as it fills each batch: a batch is no larger than the least
 * room of a port. TX_RUN_MAX ends the run although there is more, so that a thread that posts does
 * not hold the lock for a whole window; `more` then makes the deadline due at once, and the
 * progress thread goes on.
 */
uint32_t mh_tx_run(struct mh_nic *nic, uint64_t now_ns)
{
	struct mt_tx_desc *desc = nic->tx->desc;
	uint32_t free_ports;
	uint32_t sent = 0;
	uint32_t want, got;

	do {
		free_ports = tx_port_budgets(nic, now_ns, &want);
		got = mt_engine_tx(nic->engine, now_ns, free_ports, desc, want);
		for (uint32_t i = 0; i < got; i++)
			tx_emit_packet(nic, &desc[i], now_ns);
		sent += got;
	} while (got == want && sent < TX_RUN_MAX);
	nic->tx->more = got == want;
	nic->tx->without_room = ~free_ports;
	if (!nic->tx->more && mt_engine_tx_is_blocked(nic->engine))
		tx_forgo(nic, now_ns);
	for (uint32_t i = 0; i < nic->ports.n; i++)
		mh_tx_flush(nic, i, now_ns);
	return sent;
}

/*
 * ports_deadline returns when the first of some ports has tokens. A blocked port has a deadline of
 * its own; one that is down never sends.
 */
static uint64_t ports_deadline(const struct mh_ports *ports, uint32_t mask)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < ports->n; i++) {
		const struct mh_port *port = &ports->port[i];
		uint64_t at;

		if (!(mask >> i & 1) || !port->up || port->io->status->blocked)
			continue;
		at = mh_pace_deadline(&port->pace);
		if (at < next)
			next = at;
	}
	return next;
}

uint64_t mh_tx_deadline(const struct mh_nic *nic)
{
	uint32_t wanted;

	if (nic->tx->more)
		return 0;
	wanted = mu_wanted_ports(nic->ud, mh_ports_up(&nic->ports));
	/*
	 * Only ports that had no room count: the others were offered, and the engine did not want
	 * them, for instance because all their paths have failed.
	 */
	if (mt_engine_tx_is_blocked(nic->engine))
		wanted |= nic->tx->without_room;
	return ports_deadline(&nic->ports, wanted);
}
