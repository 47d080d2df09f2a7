/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults and what they mean: see fault.h. */
#include "lab/lab_fault.h"
#include "base/quantity.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE_PPM 1000000u
#define SLOW_MIN_BPS UINT64_C(100000)
#define SLOW_MAX_BPS UINT64_C(1000000000000)

enum value { VALUE_NONE, VALUE_SHARE, VALUE_RATE, VALUE_CABLE };

#define TO(kind) (1u << (kind))
#define TO_ALL                                                                                   \
	(TO(ML_TARGET_HOST) | TO(ML_TARGET_SWITCH) | TO(ML_TARGET_PLANE) | TO(ML_TARGET_CABLE) | \
	 TO(ML_TARGET_TRANSCEIVER))
#define TO_SWITCH (TO(ML_TARGET_SWITCH) | TO(ML_TARGET_PLANE))

static const struct {
	const char *name;
	enum value value;
	unsigned targets;
	bool one_way, bpf;
	const char *help;
} kinds[ML_FAULT_KINDS] = {
	[ML_FAULT_DOWN] = {"down", VALUE_NONE, TO_ALL, false, false,
			   "ports switched off; the far ends lose their carrier"},
	[ML_FAULT_BLACKHOLE] = {"blackhole", VALUE_NONE, TO_ALL, true, false,
				"packets vanish silently, the carrier stays"},
	[ML_FAULT_STALL] = {"stall", VALUE_NONE, TO_SWITCH, false, false,
			    "forwards nothing while its links stay up"},
	[ML_FAULT_LOSS] = {"loss", VALUE_SHARE, TO_ALL, true, false,
			   "this share of the packets vanishes"},
	[ML_FAULT_CORRUPT] = {"corrupt", VALUE_SHARE, TO_ALL, true, true,
			      "this share of the packets has a bit flipped"},
	[ML_FAULT_DUPLICATE] = {"duplicate", VALUE_SHARE, TO_ALL, true, true,
				"this share of the packets arrives twice"},
	[ML_FAULT_REORDER] = {"reorder", VALUE_SHARE, TO_ALL, true, true,
			      "this share of the packets is overtaken by the next"},
	[ML_FAULT_SLOW] = {"slow", VALUE_RATE, TO_ALL, true, false, "the links have this rate"},
	[ML_FAULT_SWAP] = {"swap", VALUE_CABLE, TO(ML_TARGET_CABLE), false, false,
			   "the far ends of the two cables are exchanged"},
};

static const char *const value_form[] = {"", "SHARE", "RATE", "CABLE"};

const char *ml_fault_name(enum ml_fault_kind kind)
{
	return kinds[kind].name;
}

const char *ml_fault_help(enum ml_fault_kind kind, const char **value)
{
	*value = value_form[kinds[kind].value];
	return kinds[kind].help;
}

bool ml_fault_needs_bpf(enum ml_fault_kind kind)
{
	return kinds[kind].bpf;
}

bool ml_fault_same_target(const struct ml_fault *a, const struct ml_fault *b)
{
	return a->kind == b->kind && a->way == b->way && strcmp(a->target, b->target) == 0;
}

/* ---- reading ---- */

static int find_kind(const char *word, enum ml_fault_kind *kind, struct ml_error *e)
{
	const char *names[ML_FAULT_KINDS], *near;

	for (size_t i = 0; i < ML_FAULT_KINDS; i++) {
		names[i] = kinds[i].name;
		if (strcmp(word, names[i]) == 0) {
			*kind = (enum ml_fault_kind)i;
			return 0;
		}
	}
	near = mb_suggest_find(word, names, ML_FAULT_KINDS);
	ml_error_set(e, "%s: unknown fault; ", word);
	if (near)
		return ml_error_add(e, "did you mean %s?", near);
	for (size_t i = 0; i < ML_FAULT_KINDS; i++)
		ml_error_add(e, "%s%s", i ? ", " : "there are ", names[i]);
	return -1;
}

/* "1%", "0.05%": parts per million. */
static bool read_share(const char *text, uint64_t *ppm)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || strcmp(end, "%") != 0 || !(percent > 0 && percent <= 100))
		return false;
	*ppm = (uint64_t)(percent * (ONE_PPM / 100.0) + 0.5);
	return *ppm > 0;
}

static int read_cable(const struct mf_topology *t, const char *word, struct ml_fault *f,
		      struct ml_error *e)
{
	struct ml_target other;
	enum ml_target_kind kind;

	if (ml_target_find(t, word, &other, e))
		return -1;
	kind = other.kind;
	ml_target_fini(&other);
	if (kind != ML_TARGET_CABLE)
		return ml_error_set(e, "swap %s: not a cable; name one such as plane0.t0-0.t1-0",
				    word);
	if (strcmp(word, f->target) == 0)
		return ml_error_set(e, "swap %s: a cable cannot be swapped with itself", word);
	snprintf(f->other, sizeof(f->other), "%s", word);
	return 0;
}

static int read_value(const struct mf_topology *t, const char *word, struct ml_fault *f,
		      struct ml_error *e)
{
	switch (kinds[f->kind].value) {
	case VALUE_SHARE:
		if (!read_share(word, &f->value))
			return ml_error_set(e,
					    "%s %s: must be a share such as 1%% or 0.05%%, "
					    "more than 0, at most 100%%",
					    kinds[f->kind].name, word);
		return 0;
	case VALUE_RATE:
		if (!mb_quantity_read_rate(word, SLOW_MIN_BPS, SLOW_MAX_BPS, &f->value))
			return ml_error_set(e,
					    "%s %s: must be " MB_QUANTITY_RATE_FORM ", 100k to 1T",
					    kinds[f->kind].name, word);
		return 0;
	case VALUE_CABLE:
		return read_cable(t, word, f, e);
	case VALUE_NONE:
		break;
	}
	return 0;
}

static int read_way(const char *word, struct ml_fault *f, struct ml_error *e)
{
	if (strcmp(word, "both") == 0)
		f->way = ML_DIRECTION_BOTH;
	else if (strcmp(word, "out") == 0)
		f->way = ML_DIRECTION_OUT;
	else if (strcmp(word, "in") == 0)
		f->way = ML_DIRECTION_IN;
	else
		return ml_error_set(e, "%s %s: the direction must be out, in or both",
				    kinds[f->kind].name, word);
	if (f->way != ML_DIRECTION_BOTH && !kinds[f->kind].one_way)
		return ml_error_set(e, "%s %s: %s has no direction", kinds[f->kind].name, word,
				    kinds[f->kind].name);
	return 0;
}

static int check_target(const struct mf_topology *t, const struct ml_fault *f, struct ml_error *e)
{
	struct ml_target target;
	bool fits;

	if (ml_target_find(t, f->target, &target, e))
		return -1;
	fits = kinds[f->kind].targets & TO(target.kind);
	ml_target_fini(&target);
	if (fits)
		return 0;
	return ml_error_set(e, "%s %s: %s", f->target, kinds[f->kind].name,
			    f->kind == ML_FAULT_STALL
				    ? "only switches and planes can stall; use blackhole"
				    : "only cables can be swapped");
}

int ml_fault_read(const struct mf_topology *t, const char *target, const char *const *word,
		  size_t words, struct ml_fault *f, struct ml_error *e)
{
	size_t next = 1;

	*f = (struct ml_fault){.way = ML_DIRECTION_BOTH};
	if (strlen(target) >= sizeof(f->target))
		return ml_error_set(e, "%s: too long for a name of a lab", target);
	snprintf(f->target, sizeof(f->target), "%s", target);
	if (!words)
		return ml_error_set(e, "%s: which fault? mrc lab fault --help lists them", target);
	if (find_kind(word[0], &f->kind, e) || check_target(t, f, e))
		return -1;
	if (kinds[f->kind].value != VALUE_NONE) {
		if (words < 2)
			return ml_error_set(e, "%s: needs a %s", word[0],
					    value_form[kinds[f->kind].value]);
		if (read_value(t, word[next++], f, e))
			return -1;
	}
	if (next < words && read_way(word[next++], f, e))
		return -1;
	return next < words ? ml_error_set(e, "%s: unexpected argument", word[next]) : 0;
}

char *ml_fault_write(const struct ml_fault *f, char *out)
{
	static const char *const way[] = {"", " out", " in"};
	char value[ML_VALUE_MAX] = "", rate[MB_QUANTITY_MAX];

	if (kinds[f->kind].value == VALUE_SHARE)
		snprintf(value, sizeof(value), " %g%%", (double)f->value / (ONE_PPM / 100.0));
	else if (kinds[f->kind].value == VALUE_RATE)
		snprintf(value, sizeof(value), " %s", mb_quantity_write_rate(rate, f->value));
	else if (kinds[f->kind].value == VALUE_CABLE)
		snprintf(value, sizeof(value), " %.40s", f->other);
	snprintf(out, (size_t)2 * ML_VALUE_MAX, "%s%s%s", kinds[f->kind].name, value, way[f->way]);
	return out;
}

/* ---- what they mean ---- */

/* Two causes of loss at once: what one leaves, the other one may take. */
static void add_share(uint32_t *ppm, uint64_t more)
{
	*ppm = (uint32_t)(*ppm + more - *ppm * more / ONE_PPM);
}

static void add_to_port(struct ml_port_state *s, const struct ml_fault *f)
{
	switch (f->kind) {
	case ML_FAULT_BLACKHOLE:
	case ML_FAULT_STALL:
		s->blackhole = true;
		break;
	case ML_FAULT_LOSS:
		add_share(&s->loss_ppm, f->value);
		break;
	case ML_FAULT_CORRUPT:
		add_share(&s->corrupt_ppm, f->value);
		break;
	case ML_FAULT_DUPLICATE:
		add_share(&s->duplicate_ppm, f->value);
		break;
	case ML_FAULT_REORDER:
		add_share(&s->reorder_ppm, f->value);
		break;
	case ML_FAULT_SLOW:
		if (!s->rate_bps || f->value < s->rate_bps)
			s->rate_bps = f->value;
		break;
	case ML_FAULT_DOWN:
		s->down = true;
		break;
	case ML_FAULT_SWAP:
	case ML_FAULT_KINDS:
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

static void apply_fault(const struct mf_topology *t, const struct ml_fault *f,
			const struct ml_target *to, struct ml_port_state *port)
{
	struct ml_error e;
	struct ml_target other;

	if (f->kind == ML_FAULT_SWAP) {
		if (ml_target_find(t, f->other, &other, &e) == 0) {
			swap_cables(port, to->link[0], other.link[0]);
			ml_target_fini(&other);
		}
		return;
	}
	for (uint32_t i = 0; i < to->links; i++) {
		bool in = f->way != ML_DIRECTION_OUT && f->kind != ML_FAULT_DOWN;

		if (f->way != ML_DIRECTION_IN)
			add_to_port(&port[to->link[i]], f);
		/* What a stalled switch receives it throws away itself: nothing of it comes out. */
		if (in && f->kind != ML_FAULT_STALL)
			add_to_port(&port[mf_link_reverse(to->link[i])], f);
	}
}

void ml_faults_apply(const struct mf_topology *t, const struct ml_fault *fault, size_t n,
		     struct ml_port_state *port)
{
	struct ml_error e;
	struct ml_target target;

	for (uint32_t link = 0; link < t->n_links; link++)
		port[link] = (struct ml_port_state){.peer = mf_link_reverse(link)};
	for (size_t i = 0; i < n; i++)
		if (ml_target_find(t, fault[i].target, &target, &e) == 0) {
			apply_fault(t, &fault[i], &target, port);
			ml_target_fini(&target);
		}
}
