/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_plan.c - draws a world from its seed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_world.h"

#define POST_LATE_MAX_NS 1500000u
#define SILENT_MAX_NS 20000000u
#define DEAD_MAX_NS 4000000u
#define LEFT_OVER 8192u /* of a memory: it is full, for a plan */

static const struct {
	const char *name;
	size_t offset;
	uint8_t values;
} option_list[] = {
#define OPTION_ROW(name, values, text) {#name, offsetof(struct peer_options, name), values},
	PEER_OPTIONS(OPTION_ROW)
#undef OPTION_ROW
};

#define OPTION_COUNT (sizeof(option_list) / sizeof(option_list[0]))

static uint8_t *option(struct peer_options *o, size_t i)
{
	return (uint8_t *)o + option_list[i].offset;
}

/* ---- options ---- */

static void set_option(struct world *w, const char *name, size_t len, const char *value)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"no_faults", &w->no_faults},
		{"trace", &w->trace},
	};

	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (strlen(option_list[i].name) == len &&
		    memcmp(option_list[i].name, name, len) == 0) {
			*option(&w->options, i) =
				(uint8_t)(strtoul(value, NULL, 0) % option_list[i].values);
			return;
		}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strlen(flags[i].name) == len && memcmp(flags[i].name, name, len) == 0) {
			*flags[i].flag = true;
			return;
		}
	fprintf(stderr, "MRC_PEER: no option %.*s\n", (int)len, name);
	exit(2);
}

static void draw_options(struct world *w, const char *overrides)
{
	/* Half of the options of a world are as in ours, so that the others are seen alone, too. */
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		uint8_t value = (uint8_t)world_below(w, option_list[i].values);

		*option(&w->options, i) = world_below(w, 2) ? value : 0;
	}
	if (w->options.extension == 0) /* it has the most to go wrong */
		w->options.extension = world_below(w, 2) ? 1 : 0;
	while (overrides && *overrides) {
		size_t len = strcspn(overrides, "=,");

		set_option(w, overrides, len, overrides[len] == '=' ? overrides + len + 1 : "0");
		overrides += strcspn(overrides, ",");
		overrides += *overrides == ',';
	}
}

void world_print(const struct world *w)
{
	struct peer_options o = w->options;

	printf("# this world again: MRC_SEED=0x%016" PRIx64 " MRC_SEEDS=1; planes %u, EVs %u, MTU "
	       "%u\n#",
	       w->seed, w->n_planes, w->n_evs, w->connection.mtu);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (*option(&o, i))
			printf(" %s=%u", option_list[i].name, *option(&o, i));
	if (w->shares_receives)
		printf(" (an SRQ)");
	printf("\n");
}

/* ---- what both ends are told ---- */

static void draw_addresses(struct world *w)
{
	struct peer_connection *c = &w->connection;

	for (size_t i = 0; i < 16; i++) {
		c->self[i] = (uint8_t)(0xB0 + i);
		c->other[i] = (uint8_t)(0xE0 + i);
	}
	c->qpn = 0x100 + world_below(w, 0xFFFE00);
	c->other_qpn = 0x100 + world_below(w, 0xFFFE00);
	/* Half of all PSNs begin a little before they wrap. */
	c->first_psn =
		world_below(w, 2) ? PEER_PSN_MASK - world_below(w, 40) : world_below(w, 1u << 24);
	c->other_first_psn =
		world_below(w, 2) ? PEER_PSN_MASK - world_below(w, 40) : world_below(w, 1u << 24);
	c->p_key = 0xFFFF;
	c->region_va = UINT64_C(0x5000) + world_below(w, 1u << 30) * UINT64_C(8);
	c->rkey = 0x00C0FFEE;
	c->other_region_va = w->ends[ENGINE].region_va;
}

static void draw_evs(struct world *w)
{
	uint32_t each = 2 + world_below(w, 6);

	w->n_planes = 1 + world_below(w, WORLD_PLANES_MAX);
	w->n_evs = each * w->n_planes;
	w->connection.n_evs = w->n_evs;
	for (uint32_t i = 0; i < w->n_evs; i++) {
		uint32_t plane = i % w->n_planes;

		/* Both ends' EVs are of a plane if they are so modulo its number. */
		w->evs[i].value = (world_below(w, 0xFFFFFF) * 128 + i) / 4 * 4 + plane;
		w->evs[i].port = (uint8_t)plane;
		w->connection.evs[i] = (world_below(w, 0xFFFFFF) * 128 + i) / 4 * 4 + plane;
	}
}

static uint8_t draw_extension(struct world *w)
{
	return (uint8_t)(PEER_EXT_VERSION | (world_below(w, 4) ? PEER_EXT_SEND : 0) |
			 (world_below(w, 4) ? PEER_EXT_READ : 0) |
			 (world_below(w, 4) ? PEER_EXT_ATOMIC : 0) |
			 (world_below(w, 4) ? PEER_EXT_INV : 0) |
			 (world_below(w, 4) ? PEER_EXT_ATOMIC_WRITE : 0));
}

static void draw_connection(struct world *w)
{
	static const uint32_t mtus[] = {256, 256, 512, 1024, 2048, 4096};
	struct peer_connection *c = &w->connection;

	draw_addresses(w);
	draw_evs(w);
	c->mtu = mtus[world_below(w, 6)];
	c->window = 128 * (1 + world_below(w, 4));
	c->other_window = 128 * (1 + world_below(w, 4));
	c->max_wimm = 1 + world_below(w, 32);
	c->other_wimm = 1 + world_below(w, 32);
	c->max_requests = 1 + world_below(w, 16);
	c->other_requests = 1 + world_below(w, 16);
	if (w->options.extension == 1 || w->options.extension == 3)
		c->extension = draw_extension(w);
}

/* The same, as our engine is told it. */
static void set_attributes(struct world *w)
{
	const struct peer_connection *c = &w->connection;
	struct rd_qp_attr *a = &w->attr;
	uint8_t extension = 0;

	if (w->options.extension == 1 || w->options.extension == 2)
		extension = draw_extension(w) & 0x1F;
	mt_qp_attr_default(a);
	memcpy(a->dest.b, c->self, 16);
	a->dest_qpn = c->qpn;
	a->rq_psn = c->first_psn;
	a->sq_psn = c->other_first_psn;
	a->path_mtu = c->mtu;
	a->mpr = (uint8_t)(c->window / 128);
	a->mpr_dest = (uint8_t)(c->other_window / 128);
	a->max_wimm = (uint16_t)c->max_wimm;
	a->max_wimm_dest = (uint16_t)c->other_wimm;
	a->timeout = (uint8_t)(6 + world_below(w, 5));
	a->retry_exp = RD_RETRY_EXP_FOREVER;
	a->rnr_retry = RD_RNR_RETRY_MAX;
	a->min_rnr_timer = (uint8_t)(1 + world_below(w, 12));
	a->dynamic_mpr = w->options.dynamic_mpr;
	a->max_rd_atomic = (uint8_t)c->max_requests;
	a->max_dest_rd_atomic = (uint8_t)c->other_requests;
	a->access = RD_QP_ACCESS_ALL;
	w->cap = (struct mt_qp_cap){.sq_depth = 8 + world_below(w, 60),
				    .rq_depth = WORLD_OPS_MAX,
				    .max_sge = 4,
				    .extensions = extension,
				    .in_order = extension && world_below(w, 2),
				    .max_recv_sge = extension ? 1 : 0,
				    .pd = 7};
	w->shares_receives = extension && world_below(w, 2);
	w->cc = (struct mt_cc_profile_cfg){.kind = MT_CC_NONE};
	if (world_below(w, 2))
		w->cc = (struct mt_cc_profile_cfg){.kind = MT_CC_NSCC,
						   .trimming = w->trim_bytes > 0,
						   .link_bps = 25000000000u * w->n_planes,
						   .base_rtt_ns = 20000};
}

/* ---- planes ---- */

static uint32_t draw_chance(struct world *w, uint32_t most)
{
	return world_below(w, 2) ? world_below(w, most) : 0;
}

static void draw_links(struct world *w)
{
	static const uint32_t trims[] = {0, 68, 84, 114, 242};

	w->trim_bytes = trims[world_below(w, 5)];
	w->trims_last_hop = world_below(w, 2);
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < w->n_planes; i++)
			w->links[side][i] = (struct world_link){
				.delay_ns = 1000 + world_below(w, 8000),
				.jitter_ns = world_below(w, 3) ? world_below(w, 4000)
							       : world_below(w, 40000),
				.ns_a_kib = 80 + world_below(w, 800),
				.lost = draw_chance(w, world_below(w, 4) ? 20 : 200),
				.doubled = draw_chance(w, 50),
				.damaged = draw_chance(w, 20),
				.marked = draw_chance(w, 150),
				.trimmed = draw_chance(w, 80),
				.late = draw_chance(w, 10),
			};
	/* At most a quarter of the EVs: two of eight or more, one of four or more. */
	for (uint32_t i = 0; i < w->n_evs / 4 && i < WORLD_DEAD_MAX && world_below(w, 2); i++) {
		w->dead_evs[ENGINE][i] = w->evs[world_below(w, w->n_evs)].value;
		w->dead_evs[PEER][i] = w->connection.evs[world_below(w, w->n_evs)];
	}
	w->down_plane = (uint8_t)w->n_planes;
	if (w->n_planes > 1 && world_below(w, 4) == 0) {
		w->down_plane = (uint8_t)world_below(w, w->n_planes);
		w->down_ns = world_below(w, 300000);
		w->up_ns = w->down_ns + world_below(w, 3000000);
	}
	w->silent_ns = world_below(w, 1000000);
	w->speaks_ns = w->silent_ns + world_below(w, world_below(w, 2) ? 500000 : SILENT_MAX_NS);
	w->idle_ns = world_below(w, 2) ? 0 : 50000 + world_below(w, 500000);
	w->dead_until_ns = world_below(w, 2) ? UINT64_MAX : world_below(w, DEAD_MAX_NS);
	w->sack_bytes = 4096u << world_below(w, 3);
	w->sack_in_order_bytes = world_below(w, 3) ? 4 * w->sack_bytes : 0;
}

/* ---- operations ---- */

static uint64_t take_bytes(struct world *w, struct world_end *e, uint32_t bytes, uint32_t align)
{
	uint64_t at = e->used + 1 + world_below(w, 40);

	at = (at + align - 1) / align * align;
	e->used = at + bytes;
	return at;
}

static uint32_t draw_length(struct world *w)
{
	uint32_t mtu = w->connection.mtu;

	switch (world_below(w, 8)) {
	case 0:
		return 0;
	case 1:
		return 1 + world_below(w, 16);
	case 2:
		return mtu * (1 + world_below(w, 4));
	case 3:
	case 4:
		return world_below(w, 40 * mtu < 24576 ? 40 * mtu : 24576);
	default:
		return 1 + world_below(w, 3 * mtu);
	}
}

static bool is_known(enum peer_op_kind kind, uint8_t extension)
{
	static const uint8_t needs[PEER_OP_KINDS] = {
		[PEER_OP_SEND] = PEER_EXT_SEND,
		[PEER_OP_READ] = PEER_EXT_READ,
		[PEER_OP_COMPARE_SWAP] = PEER_EXT_ATOMIC,
		[PEER_OP_FETCH_ADD] = PEER_EXT_ATOMIC,
		[PEER_OP_ATOMIC_WRITE] = PEER_EXT_ATOMIC_WRITE,
	};

	return (needs[kind] & ~extension) == 0;
}

static void plan_atomic(struct world *w, struct world_end *from, struct world_end *to,
			struct peer_op *op)
{
	uint64_t was, now;

	op->bytes = 8;
	op->local = take_bytes(w, from, 8, 8);
	op->remote = to->words[world_below(w, 3)];
	op->operand = world_random(w);
	memcpy(&was, to->expected + op->remote, 8);
	op->original = was;
	op->compare = world_below(w, 2) ? was : world_random(w);
	now = op->kind == PEER_OP_FETCH_ADD	 ? was + op->operand
	      : op->kind == PEER_OP_ATOMIC_WRITE ? op->operand
	      : op->compare == was		 ? op->operand
						 : was;
	memcpy(to->expected + op->remote, &now, 8);
	if (op->kind == PEER_OP_ATOMIC_WRITE) {
		memcpy(from->memory + op->local, &op->operand, 8);
		memcpy(from->expected + op->local, &op->operand, 8);
	} else {
		memcpy(from->expected + op->local, &was, 8);
	}
}

static void plan_receive(struct world *w, struct world_end *to, struct peer_op *op, bool late)
{
	uint32_t bytes = op->bytes + world_below(w, 200);
	size_t n = to->n_receives++;

	if (op->poisoned && !op->has_inv)
		bytes = op->bytes - 1;
	to->receives[n] = take_bytes(w, to, bytes, 1);
	to->receive_bytes[n] = bytes;
	to->receive_at_ns[n] = late ? world_below(w, POST_LATE_MAX_NS) : 0;
	if (n > 0 && to->receive_at_ns[n] < to->receive_at_ns[n - 1])
		to->receive_at_ns[n] = to->receive_at_ns[n - 1];
	if (op->kind == PEER_OP_SEND)
		op->remote = to->receives[n];
}

static void plan_bytes(struct world *w, struct world_end *from, struct world_end *to,
		       struct peer_op *op, bool late)
{
	op->local = take_bytes(w, from, op->bytes, 1);
	if (op->kind != PEER_OP_SEND)
		op->remote = take_bytes(w, to, op->bytes, 1);
	if (peer_op_takes_receive(op))
		plan_receive(w, to, op, late);
	if (op->poisoned && !op->has_inv)
		return; /* a wrong key is found when all has been placed */
	if (op->kind == PEER_OP_READ)
		memcpy(from->expected + op->local, to->expected + op->remote, op->bytes);
	else
		memcpy(to->expected + op->remote, from->expected + op->local, op->bytes);
}

/* Goes through the other end's window, or makes it invalid: then nothing uses it any more. */
static void use_window(struct world *w, struct world_end *to, struct peer_op *op)
{
	if (!to->window_key || to->window_is_over || world_below(w, 2))
		return;
	if (op->kind != PEER_OP_SEND) {
		op->windowed = true;
		op->rkey = to->window_key;
		return;
	}
	if (world_below(w, 4))
		return;
	op->has_imm = false;
	op->has_inv = true;
	op->imm = to->window_key;
	to->window_is_over = true;
}

/* Half of the SENDs that are to be refused would invalidate a key that is over, or never was. */
static void name_no_window(struct world *w, const struct world_end *to, struct peer_op *op)
{
	if (!to->window_key || world_below(w, 2))
		return;
	op->has_inv = true;
	op->imm = to->window_is_over ? to->window_key : to->window_key ^ 0x4000;
}

static void plan_op(struct world *w, enum world_side side, uint8_t extension, bool poisoned)
{
	struct world_end *from = &w->ends[side], *to = &w->ends[1 - side];
	struct peer_op *op = &from->ops[from->n_ops];
	bool late = (extension & PEER_EXT_SEND) && w->options.late_receives;

	do
		op->kind = (enum peer_op_kind)world_below(w, world_below(w, 2) ? PEER_OP_KINDS : 2);
	while (!is_known(op->kind, extension) ||
	       (poisoned && op->kind > PEER_OP_READ)); /* READs and what precedes them */
	op->poisoned = poisoned;
	op->rkey = to->key;
	op->bytes = poisoned ? 1 + draw_length(w) : draw_length(w);
	op->has_imm = !poisoned && op->kind <= PEER_OP_SEND && world_below(w, 3) == 0;
	op->imm = (uint32_t)world_random(w);
	if (poisoned && op->kind == PEER_OP_SEND)
		name_no_window(w, to, op);
	op->fence = extension && world_below(w, 6) == 0;
	op->solicited = op->kind <= PEER_OP_SEND && world_below(w, 4) == 0;
	op->post_at_ns = from->n_ops > 0 ? op[-1].post_at_ns : 0;
	if (world_below(w, 4) == 0)
		op->post_at_ns += world_below(w, world_below(w, 8) ? 200000 : 4000000);
	if (op->kind > PEER_OP_READ)
		plan_atomic(w, from, to, op);
	else
		plan_bytes(w, from, to, op, late);
	if (poisoned && op->kind != PEER_OP_SEND) { /* another key, or a byte beyond the end */
		/* Of several packets those that lie inside would be placed. */
		if (op->bytes > w->connection.mtu || world_below(w, 2))
			op->rkey++;
		else
			op->remote = WORLD_MEMORY - op->bytes + 1;
	}
	if (!poisoned)
		use_window(w, to, op);
	from->n_ops++;
}

static void plan_ops(struct world *w, enum world_side side, uint8_t extension)
{
	size_t n = 1 + world_below(w, world_below(w, 2) ? WORLD_OPS_MAX : 6);
	bool poison = w->poisoned;

	for (size_t i = 0; i < n; i++) {
		if (w->ends[0].used + 2 * LEFT_OVER + 24576 > WORLD_MEMORY ||
		    w->ends[1].used + 2 * LEFT_OVER + 24576 > WORLD_MEMORY)
			break;
		plan_op(w, side, extension, poison && i + 1 == n);
	}
	/* Not the last, whose completion says that all before it are complete. */
	for (size_t i = 0; i + 1 < w->ends[side].n_ops; i++)
		w->ends[side].ops[i].silent = world_below(w, 3) == 0;
}

static void make_memory(struct world *w, struct world_end *e)
{
	e->memory = malloc(WORLD_MEMORY);
	e->expected = malloc(WORLD_MEMORY);
	if (!e->memory || !e->expected)
		abort();
	for (size_t i = 0; i < WORLD_MEMORY; i += 8) {
		uint64_t bytes = world_random(w);

		memcpy(e->memory + i, &bytes, 8);
	}
	memcpy(e->expected, e->memory, WORLD_MEMORY);
	for (int i = 0; i < 3; i++)
		e->words[i] = take_bytes(w, e, 8, 8);
}

/*
 * Each end has a window over its memory, which the other may make invalid once. The low bits of the
 * engine's key are not 0: its window is made with those, and a bind must change them.
 */
static void draw_windows(struct world *w)
{
	struct peer_connection *c = &w->connection;

	c->window_key = 0x0BADCAFE;
	c->other_window_key = 0x200 | (1 + world_below(w, 255));
	c->window_va = world_below(w, 2) ? c->region_va : 0;
	c->other_window_va = world_below(w, 2) ? w->ends[ENGINE].region_va : 0;
	w->ends[PEER].window_key = c->window_key;
	w->ends[ENGINE].window_key = c->other_window_key;
}

void world_draw(struct world *w, uint64_t seed, const char *overrides)
{
	uint8_t both;

	memset(w, 0, sizeof(*w));
	w->seed = w->random = seed;
	w->ends[ENGINE].key = 0x1B7;
	w->ends[ENGINE].region_va = UINT64_C(0x7000001000);
	draw_options(w, overrides);
	draw_connection(w);
	draw_links(w);
	set_attributes(w);
	w->ends[PEER].key = w->connection.rkey;
	w->ends[PEER].region_va = w->connection.region_va;
	make_memory(w, &w->ends[ENGINE]);
	make_memory(w, &w->ends[PEER]);
	both = w->cap.extensions & w->connection.extension;
	if ((both & PEER_EXT_INV) && (both & PEER_EXT_SEND))
		draw_windows(w);
	w->poisoned = world_below(w, 10) == 0;
	if (!w->poisoned || world_below(w, 2))
		plan_ops(w, ENGINE, both);
	if (!w->poisoned || w->ends[ENGINE].n_ops == 0)
		plan_ops(w, PEER, both);
}
