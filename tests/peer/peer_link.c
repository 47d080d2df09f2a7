/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_link.c - planes that delay, lose, double, damage, mark, trim and reorder frames. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_world.h"

#define QUEUE_MARK_NS 20000u
#define QUEUE_FULL_NS 60000u
#define ECT 2u

static bool happens(struct world *w, uint32_t in_thousand)
{
	return !w->no_faults && world_below(w, 1000) < in_thousand;
}

static void add(struct world *w, enum world_side to, uint8_t plane, uint64_t at_ns,
		const struct peer_frame *frame)
{
	struct world_flight *f = &w->flights[w->n_flights];

	if (w->n_flights == WORLD_FLIGHTS_MAX)
		return; /* lost */
	f->frame = malloc(sizeof(*f->frame));
	if (!f->frame)
		abort();
	f->frame->len = frame->len;
	memcpy(f->frame->bytes, frame->bytes, frame->len);
	f->at_ns = at_ns;
	f->number = w->frames++;
	f->to = to;
	f->plane = plane;
	w->n_flights++;
}

void world_put_off(struct world *w, const struct world_flight *flight, uint64_t at_ns)
{
	w->flights[w->n_flights] = *flight;
	w->flights[w->n_flights++].at_ns = at_ns;
}

static uint8_t dscp_of(const struct peer_frame *f)
{
	return (uint8_t)((f->bytes[0] & 0x0F) << 2 | f->bytes[1] >> 6);
}

static void set_dscp(struct peer_frame *f, uint8_t dscp)
{
	f->bytes[0] = (uint8_t)(0x60 | dscp >> 2);
	f->bytes[1] = (uint8_t)((f->bytes[1] & 0x3F) | (dscp & 3) << 6);
}

static bool is_trimmable(const struct peer_frame *f)
{
	return dscp_of(f) == PEER_DSCP_TRIMMABLE || dscp_of(f) == PEER_DSCP_RETX;
}

/* REQ(switch.trim.cut): what is short already goes on as it is, marked or not. */
static void trim(struct world *w, struct peer_frame *f)
{
	if (f->len <= w->trim_bytes) {
		if (!w->trims_last_hop)
			return;
	} else {
		f->len = w->trim_bytes;
	}
	set_dscp(f, w->trims_last_hop && world_below(w, 2) ? PEER_DSCP_TRIMMED_LASTHOP
							   : PEER_DSCP_TRIMMED);
	f->bytes[4] = (uint8_t)((f->len - 40) >> 8);
	f->bytes[5] = (uint8_t)(f->len - 40);
}

static void mark(struct peer_frame *f)
{
	if ((f->bytes[1] >> 4 & 3) == ECT)
		f->bytes[1] |= 0x30;
}

static uint32_t ev_of(const struct peer_frame *f)
{
	return (uint32_t)f->bytes[40] << 24 | (uint32_t)f->bytes[41] << 16 |
	       (uint32_t)f->bytes[2] << 8 | f->bytes[3];
}

static bool is_dead(const struct world *w, enum world_side from, const struct peer_frame *f)
{
	if (w->now_ns >= w->dead_until_ns || w->no_faults)
		return false;
	for (unsigned i = 0; i < WORLD_DEAD_MAX; i++)
		if (w->dead_evs[from][i] == ev_of(f))
			return true;
	return false;
}

bool world_is_down(const struct world *w, uint8_t plane)
{
	return plane == w->down_plane && w->now_ns >= w->down_ns && w->now_ns < w->up_ns;
}

/* Returns how long a frame waits before it is on the plane; false: it did not fit. */
static bool queue(struct world *w, struct world_link *l, struct peer_frame *f, uint64_t *wait_ns)
{
	bool control = dscp_of(f) == PEER_DSCP_CONTROL;

	if (l->free_at_ns < w->now_ns)
		l->free_at_ns = w->now_ns;
	*wait_ns = control ? 0 : l->free_at_ns - w->now_ns;
	if (*wait_ns > QUEUE_FULL_NS || (is_trimmable(f) && happens(w, l->trimmed))) {
		if (!is_trimmable(f) || w->trim_bytes == 0)
			return false;
		trim(w, f);
		*wait_ns = 0;
		return true;
	}
	if (!control && (*wait_ns > QUEUE_MARK_NS || happens(w, l->marked)))
		mark(f);
	l->free_at_ns += (uint64_t)f->len * l->ns_a_kib / 1024;
	*wait_ns += (uint64_t)f->len * l->ns_a_kib / 1024;
	return true;
}

static void trace(const struct world *w, const char *what, enum world_side from,
		  const struct peer_frame *f)
{
	struct peer_packet p;
	const char *why;

	peer_packet_decode(f, true, &p, &why);
	printf("%10" PRIu64 " %s %s EV %08" PRIx32 "%s %02x psn %06" PRIx32 "%s%s", w->now_ns,
	       from == ENGINE ? "engine" : "  peer", what, p.ev, is_dead(w, from, f) ? " dead" : "",
	       p.opcode, p.psn, p.ack_request ? " a" : "", p.rtx ? " rtx" : "");
	if (peer_opcode_is_data(p.opcode))
		printf(" msn %u rqmsn %u va %" PRIx64 " rkey %" PRIx32 " len %u of %u", p.msn,
		       p.rqmsn, p.va, p.rkey, p.payload_len, p.dmalen);
	else if ((p.opcode & ~PEER_RESPONSE_BIT) == PEER_ACK)
		printf(" syndrome %02x msn %u", p.syndrome, p.ack_msn);
	else if ((p.opcode & ~PEER_RESPONSE_BIT) == PEER_SACK)
		printf(" cack %06" PRIx32 " map %+d %" PRIx64 " m %u pr %d mpr %u trigger %+d",
		       p.cack_psn, p.sack_offset, p.bitmap, p.m, p.pr, p.mpr, p.ack_psn_offset);
	else if ((p.opcode & ~PEER_RESPONSE_BIT) == PEER_NACK)
		printf(" nack %06" PRIx32 " reason %02x vendor %u", p.nack_psn, p.reason, p.vendor);
	printf("\n");
}

void world_send(struct world *w, enum world_side from, uint8_t plane,
		const struct peer_frame *frame)
{
	struct world_link *l = &w->links[from][plane];
	struct peer_frame f;
	uint64_t wait_ns;

	if (w->trace)
		trace(w, "sends", from, frame);
	f.len = frame->len;
	memcpy(f.bytes, frame->bytes, frame->len);
	if (!queue(w, l, &f, &wait_ns) || happens(w, l->lost) || is_dead(w, from, frame) ||
	    world_is_down(w, plane))
		return;
	if (happens(w, l->late))
		wait_ns += world_below(w, 2000000);
	/* What was cut has no ICRC that would tell. */
	if (dscp_of(&f) == dscp_of(frame) && happens(w, l->damaged))
		f.bytes[PEER_CARRIER_BYTES +
			world_below(w, (uint32_t)(f.len - PEER_CARRIER_BYTES))] ^=
			(uint8_t)(1u << world_below(w, 8));
	for (int copies = happens(w, l->doubled) ? 2 : 1; copies > 0; copies--)
		add(w, from == ENGINE ? PEER : ENGINE, plane,
		    w->now_ns + wait_ns + l->delay_ns +
			    (l->jitter_ns ? world_below(w, l->jitter_ns) : 0),
		    &f);
}

static size_t first(const struct world *w)
{
	size_t best = 0;

	for (size_t i = 1; i < w->n_flights; i++)
		if (w->flights[i].at_ns < w->flights[best].at_ns ||
		    (w->flights[i].at_ns == w->flights[best].at_ns &&
		     w->flights[i].number < w->flights[best].number))
			best = i;
	return best;
}

uint64_t world_arrival(const struct world *w)
{
	return w->n_flights ? w->flights[first(w)].at_ns : UINT64_MAX;
}

struct world_flight world_take(struct world *w)
{
	size_t i = first(w);
	struct world_flight f = w->flights[i];

	w->flights[i] = w->flights[--w->n_flights];
	if (w->trace)
		trace(w, "gets ", f.to, f.frame);
	return f;
}
