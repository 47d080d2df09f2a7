/* SPDX-License-Identifier: BSD-2-Clause */
/* conform_world.c - see conform_world.h. */
#include "conform_world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLIGHT_NS 5000u
#define DATA_GAP_NS 70000u
#define REGION_VA 0x100000u
#define KIT_VA 0x10000u
#define KIT_KEY 0x1234u
#define KEY 0x77u
#define MPR_PSNS 1024u

void conform_result(struct conform_results *r, int status, uint32_t imm)
{
	if (r->n == 2 * CONFORM_OPS)
		return;
	r->status[r->n] = status;
	r->imm[r->n++] = imm;
}

const char *conform_fault_name(enum conform_fault fault)
{
	static const char *const names[] = {
#define CONFORM_FAULT_TEXT(name) #name,
		CONFORM_FAULTS(CONFORM_FAULT_TEXT)
#undef CONFORM_FAULT_TEXT
	};

	return names[fault];
}

/* ---- packets ---- */

/* Takes what the peer sends on its way to the kit. */
static void carry(struct conform_world *w)
{
	struct peer_frame f;
	struct peer_packet p;
	const char *why;

	while (w->open && w->tail - w->head < CONFORM_FRAMES && peer_tx(&w->peer, w->now_ns, &f)) {
		struct conform_frame *to = &w->frames[w->tail % CONFORM_FRAMES];

		if (peer_packet_decode(&f, false, &p, &why) != PEER_OK)
			abort();
		/* The kit has all that is sent. */
		peer_delivered(&w->peer, &p, true);
		if (!conform_fault_out(w, &p))
			continue;
		peer_packet_encode(&p, &f);
		conform_fault_frame(w, &p, &f);
		to->at_ns = w->now_ns + FLIGHT_NS;
		to->f.len = f.len;
		memcpy(to->f.bytes, f.bytes, f.len);
		w->tail++;
		/* So far apart that a later one tells that an earlier one is lost. */
		if (peer_opcode_is_data(p.opcode))
			w->now_ns += DATA_GAP_NS;
	}
}

static int send_frame(void *context, const struct cf_frame *from)
{
	struct conform_world *w = context;
	struct peer_frame f = {.len = from->len};

	if (!w->open || from->len > sizeof(f.bytes))
		return 0;
	memcpy(f.bytes, from->bytes, from->len);
	w->now_ns += FLIGHT_NS;
	if (conform_fault_in(w, &f))
		peer_rx(&w->peer, w->now_ns, &f);
	carry(w);
	return 0;
}

static int receive_frame(void *context, uint64_t until_ns, struct cf_frame *f)
{
	struct conform_world *w = context;

	for (;;) {
		uint64_t next_ns = until_ns;

		carry(w);
		if (w->head < w->tail) {
			struct conform_frame *first = &w->frames[w->head % CONFORM_FRAMES];

			if (first->at_ns <= w->now_ns) {
				*f = first->f;
				w->head++;
				return 1;
			}
			if (first->at_ns < next_ns)
				next_ns = first->at_ns;
		}
		if (w->now_ns >= until_ns)
			return 0;
		if (w->open && peer_is_busy(&w->peer)) {
			if (w->next_tick_ns <= w->now_ns) {
				peer_tick(&w->peer, w->now_ns);
				w->next_tick_ns = w->now_ns + PEER_TICK_NS;
			}
			if (w->next_tick_ns < next_ns)
				next_ns = w->next_tick_ns;
		}
		w->now_ns = next_ns > w->now_ns ? next_ns : w->now_ns + 1;
	}
}

static uint64_t now_ns(void *context)
{
	return ((struct conform_world *)context)->now_ns;
}

/* ---- the program beside the target ---- */

static void completes(void *user, struct peer_op *op)
{
	struct conform_world *w = user;

	if (w->fault != FAULT_SACK_COMPLETES)
		conform_result(&w->sends, op->status == PEER_SUCCESS ? 0 : 1, 0);
}

static void receives(void *user, size_t n, const struct peer_received *got)
{
	struct conform_world *w = user;

	(void)n;
	conform_result(&w->recvs, 0, got->word);
}

static void connect_peer(struct conform_world *w, const struct cf_qp_wish *wish)
{
	static const struct peer_options options;
	struct peer_connection c = {
		.qpn = w->qpn,
		.other_qpn = wish->qpn,
		.first_psn = wish->peer_psn == UINT32_MAX ? 5000 : wish->peer_psn,
		.other_first_psn = wish->psn,
		.mtu = wish->mtu,
		.p_key = 0xFFFF,
		.window = MPR_PSNS,
		.other_window = w->fault == FAULT_SENT_BEYOND ? 4 * MPR_PSNS : MPR_PSNS,
		.max_wimm = 32,
		.other_wimm = 32,
		.region_va = REGION_VA,
		.other_region_va = KIT_VA,
		.region_bytes = CONFORM_MEMORY,
		.rkey = KEY,
		.timeout_ns = UINT64_C(1024) << wish->timeout,
	};

	memcpy(c.self, w->link.theirs, 16);
	memcpy(c.other, wish->gid, 16);
	for (c.n_evs = 0; c.n_evs < 8; c.n_evs++)
		c.evs[c.n_evs] = (0xC000u + c.n_evs) << 16;
	peer_init(&w->peer, &options, &c, w->qpn);
	w->peer.memory = w->memory;
	w->peer.ops = w->ops;
	w->peer.receives = w->receives;
	w->peer.receive_bytes = w->receive_bytes;
	w->peer.user = w;
	w->peer.on_complete = completes;
	w->peer.on_receive = receives;
}

static int make_qp(void *context, const struct cf_qp_wish *wish, struct cf_qp *qp,
		   char why[CF_SAY_MAX])
{
	struct conform_world *w = context;

	(void)why;
	if (w->open)
		peer_fini(&w->peer);
	w->open = true;
	w->qpn += 4;
	w->head = w->tail = 0;
	memset(w->memory, 0, sizeof(w->memory));
	memset(w->ops, 0, sizeof(w->ops));
	w->ended = false;
	memset(w->came, 0, sizeof(w->came));
	memset(w->has_left, 0, sizeof(w->has_left));
	w->sends = w->recvs = (struct conform_results){.n = 0};
	connect_peer(w, wish);
	*qp = (struct cf_qp){.qpn = w->qpn,
			     .psn = w->peer.c.first_psn,
			     .rkey = KEY,
			     .mtu = wish->mtu,
			     .va = REGION_VA,
			     .length = CONFORM_MEMORY};
	memcpy(qp->gid, w->link.theirs, 16);
	return 0;
}

static int post_write(void *context, uint32_t bytes, bool has_imm, uint32_t imm,
		      char why[CF_SAY_MAX])
{
	struct conform_world *w = context;

	if (w->peer.n_ops == CONFORM_OPS) {
		snprintf(why, CF_SAY_MAX, "no place for another WRITE");
		return -1;
	}
	w->ops[w->peer.n_ops++] = (struct peer_op){.kind = PEER_OP_WRITE,
						   .has_imm = has_imm,
						   .imm = imm,
						   .bytes = bytes,
						   .rkey = KIT_KEY,
						   .post_at_ns = w->now_ns};
	w->next_tick_ns = w->now_ns;
	return 0;
}

static int post_recv(void *context, uint32_t n, char why[CF_SAY_MAX])
{
	struct conform_world *w = context;

	(void)why;
	w->peer.receives_posted += n;
	return 0;
}

static int take_result(struct conform_results *r, int *status, uint32_t *imm)
{
	*status = r->taken < r->n ? r->status[r->taken] : 2;
	if (imm && r->taken < r->n)
		*imm = r->imm[r->taken];
	r->taken += r->taken < r->n;
	return 0;
}

static int completion(void *context, uint32_t wait_ms, int *status, char why[CF_SAY_MAX])
{
	struct conform_world *w = context;

	(void)wait_ms;
	(void)why;
	return take_result(&w->sends, status, NULL);
}

static int received(void *context, uint32_t wait_ms, int *status, uint32_t *imm,
		    char why[CF_SAY_MAX])
{
	struct conform_world *w = context;

	(void)wait_ms;
	(void)why;
	return take_result(&w->recvs, status, imm);
}

static int memory(void *context, uint64_t offset, uint32_t len, uint8_t *bytes,
		  char why[CF_SAY_MAX])
{
	struct conform_world *w = context;

	(void)why;
	memcpy(bytes, w->memory + offset, len);
	return 0;
}

struct conform_world *conform_world_open(enum conform_fault fault)
{
	struct conform_world *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	w->fault = fault;
	w->qpn = 100;
	w->now_ns = 1000000;
	w->link = (struct cf_link){.context = w,
				   .ours = {0xFD, [15] = 2},
				   .theirs = {0xFD, [15] = 1},
				   .our_port = CF_UDP_PORT,
				   .their_port = CF_UDP_PORT,
				   .first_qpn = 0x1000,
				   .send = send_frame,
				   .receive = receive_frame,
				   .now_ns = now_ns};
	for (unsigned i = 0; i < CF_EVS; i++)
		w->link.ev[i] = (uint16_t)(40000 + i);
	w->server =
		(struct cf_server){w, make_qp, post_write, post_recv, completion, received, memory};
	w->frames = calloc(CONFORM_FRAMES, sizeof(*w->frames));
	if (!w->frames)
		abort();
	return w;
}

void conform_world_close(struct conform_world *w)
{
	if (w->open)
		peer_fini(&w->peer);
	free(w->frames);
	free(w);
}
