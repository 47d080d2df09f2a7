/* SPDX-License-Identifier: BSD-2-Clause */
/* What a list of faults means for each port, and sentences about failures: see lab.h. */
#include "lab/lab.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ml_error_set(struct ml_error *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return -1;
}

int ml_error_from(struct ml_error *e, const struct mf_error *why)
{
	return ml_error_set(e, "%s: %s", why->value, why->what);
}

int ml_fault_read(const struct mf_topology *t, const char *target, const char *text,
		  struct mf_fault *f, struct ml_error *e)
{
	struct mf_error why;

	return mf_fault_text(t, target, text, f, &why) ? 0 : ml_error_from(e, &why);
}

int ml_node_find(const struct mf_topology *t, const char *name, uint32_t *node, struct ml_error *e)
{
	struct mf_target target;
	struct mf_error why;

	if (!mf_target_find(t, name, &target, &why))
		return ml_error_from(e, &why);
	if (target.kind != MF_TARGET_HOST && target.kind != MF_TARGET_SWITCH)
		return ml_error_set(e, "%s: not a node; name one such as host0 or plane0.t0-0",
				    name);
	*node = target.node;
	return 0;
}

bool ml_fault_needs_bpf(enum mf_fault_kind kind)
{
	return kind == MF_FAULT_CORRUPT || kind == MF_FAULT_DUPLICATE || kind == MF_FAULT_REORDER;
}

bool ml_fault_same_target(const struct mf_fault *a, const struct mf_fault *b)
{
	return a->kind == b->kind && a->direction == b->direction &&
	       strcmp(a->target, b->target) == 0;
}

/* Two causes of loss at once: what one leaves, the other one may take. */
static void add_share(uint32_t *ppm, uint64_t more)
{
	*ppm = (uint32_t)(*ppm + more - *ppm * more / MF_SHARE_ONE_PPM);
}

static void add_to_port(struct ml_port_state *s, const struct mf_fault *f)
{
	switch (f->kind) {
	case MF_FAULT_BLACKHOLE:
	case MF_FAULT_STALL:
		s->faults.blackhole = true;
		break;
	case MF_FAULT_LOSS:
		add_share(&s->faults.loss_ppm, f->value);
		break;
	case MF_FAULT_CORRUPT:
		add_share(&s->faults.corrupt_ppm, f->value);
		break;
	case MF_FAULT_DUPLICATE:
		add_share(&s->faults.duplicate_ppm, f->value);
		break;
	case MF_FAULT_REORDER:
		add_share(&s->faults.reorder_ppm, f->value);
		break;
	case MF_FAULT_SLOW:
		if (!s->faults.slow_bits || f->value < s->faults.slow_bits)
			s->faults.slow_bits = f->value;
		break;
	case MF_FAULT_DOWN:
		s->down = true;
		break;
	case MF_FAULT_FLAP: /* done by others as downs, swaps and reboots */
	case MF_FAULT_SWAP:
	case MF_FAULT_REBOOT:
	case MF_FAULT_KINDS:
		break;
	}
}

/* a - b and c - d become a - d and c - b. */
static void swap_cables(struct ml_port_state *port, uint32_t a, uint32_t c)
{
	uint32_t b = port[a].peer, d = port[c].peer;

	if (b == c)
		return;
	port[a].peer = d;
	port[d].peer = a;
	port[c].peer = b;
	port[b].peer = c;
}

static void apply_fault(const struct mf_topology *t, const struct mf_fault *f,
			const struct mf_target *to, struct ml_port_state *port)
{
	struct mf_target other;
	struct mf_error e;

	if (f->kind == MF_FAULT_SWAP) {
		if (mf_target_find(t, f->other, &other, &e))
			swap_cables(port, mf_target_link(t, to, 0), mf_target_link(t, &other, 0));
		return;
	}
	for (uint32_t i = 0; i < to->links; i++) {
		uint32_t link = mf_target_link(t, to, i);
		bool in = f->direction != MF_DIRECTION_OUT && f->kind != MF_FAULT_DOWN;

		if (f->direction != MF_DIRECTION_IN)
			add_to_port(&port[link], f);
		/* What a stalled switch receives it throws away itself: nothing of it comes out. */
		if (in && f->kind != MF_FAULT_STALL)
			add_to_port(&port[mf_link_reverse(link)], f);
	}
}

void ml_faults_apply(const struct mf_topology *t, const struct mf_fault *fault, size_t n,
		     struct ml_port_state *port)
{
	struct mf_target target;
	struct mf_error e;

	for (uint32_t link = 0; link < t->n_links; link++)
		port[link] = (struct ml_port_state){.peer = mf_link_reverse(link)};
	for (size_t i = 0; i < n; i++)
		if (mf_target_find(t, fault[i].target, &target, &e))
			apply_fault(t, &fault[i], &target, port);
}
