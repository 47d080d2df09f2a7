/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_world.c - two devices, their memory and the network between them. See verbs_world.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/progress/progress.h"
#include "libibverbs/real_library.h"
#include "verbs_world.h"
#include "wire/datagram.h"

#define START_NS UINT64_C(1000000000)
#define PSN_FIRST 0xFFFFF8u
#define PSN_STEP 0x10000u
#define PSN_MASK 0xFFFFFFu

static const char settings[] = "MRC_PORTS=10.1.0.1,10.1.1.1,10.1.0.2,10.1.1.2\nMRC_DEVICES=2\n"
			       "MRC_MTU=1024\nMRC_REAL_IBVERBS=off";

/* There is no real library here, and none of a vendor. */
void mv_private_bind(void *library, int node)
{
	(void)library;
	(void)node;
}

void mv_private_sync_drivers(void)
{
}

static uint8_t pattern(size_t at)
{
	return (uint8_t)(at * 7 + at / 251) | 1;
}

void world_check_bytes(const uint8_t *bytes, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mb_assert(bytes[i] == pattern(from + i));
}

/* ---- the network ---- */

struct sender {
	struct world *w;
	uint32_t side;
};

static struct sender senders[SIDES];

/* The frame that was held back arrives. */
static void release_late(struct world *w, uint32_t side)
{
	struct late *late = &w->late[side];

	if (late->rx.len > 0)
		virtual_nic_give(w->side[1 - side].v, late->port, &late->rx);
	late->rx.len = 0;
}

static void hold_back(struct world *w, uint32_t side, uint32_t port, const struct mio_rx *rx)
{
	struct late *late = &w->late[side];

	release_late(w, side);
	late->rx = *rx;
	late->rx.bytes = late->bytes;
	memcpy(late->bytes, rx->bytes, rx->len);
	late->port = port;
}

/* Nothing at the receiver knows a doubled datagram, as it knows a doubled packet of a QP. */
static void carry(void *ctx, uint32_t port, const struct mio_tx *tx)
{
	const struct sender *from = ctx;
	struct world *w = from->w;
	struct virtual_nic *to = w->side[1 - from->side].v;
	enum fate fate = w->loss & 3;
	uint8_t bytes[MIO_FRAME_MAX];
	struct mio_rx rx = {.bytes = bytes,
			    .len = tx->len,
			    .src.udp_port = tx->sport,
			    .flow_label = tx->flow_label,
			    .tos = tx->tos};

	w->loss >>= 2;
	if (fate == LOST || !mio_tx_gather(tx, bytes))
		return;
	memcpy(rx.src.ip, virtual_nic_of(w->side[from->side].v)->env.port[port].ip, 16);
	if (fate == LATE) {
		hold_back(w, from->side, port, &rx);
		return;
	}
	virtual_nic_give(to, port, &rx);
	if (fate != DOUBLED)
		return;
	virtual_nic_give(to, port, &rx);
	w->doubled[from->side] += mw_is_datagram(bytes[0]);
}

void world_run(struct world *w, uint32_t rounds, uint64_t ns)
{
	for (uint32_t i = 0; i < rounds; i++) {
		virtual_time_set(virtual_time() + ns);
		for (uint32_t s = 0; s < SIDES; s++)
			mh_progress_poll(virtual_nic_of(w->side[s].v), true);
	}
}

void world_settle(struct world *w)
{
	w->loss = 0;
	for (uint32_t s = 0; s < SIDES; s++)
		release_late(w, s);
	world_run(w, 20, 10000000);
}

uint32_t world_next_psn(struct world *w)
{
	return (PSN_FIRST + w->n_connected++ * PSN_STEP) & PSN_MASK;
}

/* ---- memory ---- */

size_t world_bytes_of(enum memory m)
{
	return m == RECEIVED ? SLOTS * SLOT_BYTES : m == COUNTER ? COUNTER_BYTES : PATTERN_BYTES;
}

void world_register(struct side *s, enum memory m)
{
	s->mr[m] = ibv_reg_mr(s->pd, s->memory[m], world_bytes_of(m), ACCESS_ALL);
	mb_assert(s->mr[m]);
}

int world_deregister(struct side *s, enum memory m)
{
	int err = ibv_dereg_mr(s->mr[m]);

	if (!err)
		s->mr[m] = NULL;
	return err;
}

uint32_t world_key(const struct side *s, enum memory m)
{
	/* A region of this library has one key. */
	return s->mr[m] ? s->mr[m]->lkey : 1;
}

uint8_t *world_slot(const struct side *s, uint32_t slot)
{
	mb_assert(slot < SLOTS);
	return s->memory[RECEIVED] + slot * SLOT_BYTES;
}

/* ---- life ---- */

static void open_side(struct world *w, uint32_t i, const struct mh_env *env, struct ibv_device *dev)
{
	struct side *s = &w->side[i];

	senders[i] = (struct sender){w, i};
	s->v = virtual_nic_open(env, carry, &senders[i]);
	s->context = ibv_open_device(dev);
	mb_assert(s->context);
	mb_assert(fcntl(s->context->async_fd, F_SETFL, O_NONBLOCK) == 0);
	mb_assert(ibv_query_gid(s->context, 1, 0, &s->gid) == 0);
	s->pd = ibv_alloc_pd(s->context);
	mb_assert(s->pd);
	for (enum memory m = SOURCE; m < MEMORIES; m++) {
		s->memory[m] = calloc(1, world_bytes_of(m));
		mb_assert(s->memory[m]);
		world_register(s, m);
	}
	for (size_t at = 0; at < PATTERN_BYTES; at++)
		s->memory[SOURCE][at] = pattern(at);
}

void world_open(struct world *w, const uint8_t *data, size_t size)
{
	static struct mh_env env[SIDES];
	static struct ibv_device **list;

	if (!list) {
		for (uint32_t s = 0; s < SIDES; s++)
			virtual_nic_env(settings, s, &env[s]);
		virtual_nic_settings(settings, true);
		list = ibv_get_device_list(NULL);
		mb_assert(list && list[0] && list[1]);
	}
	w->in = (struct fuzz_input){data, size};
	virtual_time_set(START_NS);
	for (uint32_t s = 0; s < SIDES; s++)
		open_side(w, s, &env[s], list[s]);
}

static void close_side(struct side *s)
{
	for (enum memory m = SOURCE; m < MEMORIES; m++)
		mb_assert(!s->mr[m] || ibv_dereg_mr(s->mr[m]) == 0);
	mb_assert(ibv_dealloc_pd(s->pd) == 0 && ibv_close_device(s->context) == 0);
	virtual_nic_close(s->v);
	world_check_bytes(s->memory[SOURCE], 0, PATTERN_BYTES);
	for (size_t at = 0; at < PATTERN_BYTES; at++)
		mb_assert(s->memory[TARGET][at] == 0 || s->memory[TARGET][at] == pattern(at));
	for (enum memory m = SOURCE; m < MEMORIES; m++)
		free(s->memory[m]);
}

void world_close(struct world *w)
{
	for (uint32_t s = 0; s < SIDES; s++)
		close_side(&w->side[s]);
	virtual_time_set(0);
}
