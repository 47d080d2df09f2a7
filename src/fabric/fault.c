/* SPDX-License-Identifier: BSD-2-Clause */
/* fault.c - the table of the kinds of faults, and their text form. */
#include "fabric/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/suggest.h"
#include "fabric/topology.h"

#define SLOW_MIN_BPS UINT64_C(100000)
#define SLOW_MAX_BPS UINT64_C(1000000000000)
#define WORDS_MAX 4u

enum value { VALUE_NONE, VALUE_SHARE, VALUE_RATE, VALUE_CABLE };

#define TO(kind) (1u << (kind))
#define TO_ALL                                                                                   \
	(TO(MF_TARGET_HOST) | TO(MF_TARGET_SWITCH) | TO(MF_TARGET_PLANE) | TO(MF_TARGET_CABLE) | \
	 TO(MF_TARGET_TRANSCEIVER))
#define TO_SWITCH (TO(MF_TARGET_SWITCH) | TO(MF_TARGET_PLANE))

static const char *const names[MF_FAULT_KINDS] = {MF_FAULT_SIMULATED_NAMES, "duplicate", "reorder",
						  "swap", "reboot"};

static const struct {
	enum value value;
	unsigned targets;
	bool one_way;
	const char *only; /* what is wrong with another target */
	const char *help;
} kinds[MF_FAULT_KINDS] = {
	[MF_FAULT_DOWN] = {VALUE_NONE, TO_ALL, false, "",
			   "ports switched off; the far ends lose their carrier"},
	[MF_FAULT_BLACKHOLE] = {VALUE_NONE, TO_ALL, true, "",
				"packets vanish silently, the carrier stays"},
	[MF_FAULT_STALL] = {VALUE_NONE, TO_SWITCH, false,
			    "only switches and planes can stall; use blackhole",
			    "forwards nothing while its links stay up"},
	[MF_FAULT_LOSS] = {VALUE_SHARE, TO_ALL, true, "", "this share of the packets vanishes"},
	[MF_FAULT_CORRUPT] = {VALUE_SHARE, TO_ALL, true, "",
			      "this share of the packets has a bit flipped"},
	[MF_FAULT_DUPLICATE] = {VALUE_SHARE, TO_ALL, true, "",
				"this share of the packets arrives twice"},
	[MF_FAULT_REORDER] = {VALUE_SHARE, TO_ALL, true, "",
			      "this share of the packets is overtaken by the next"},
	[MF_FAULT_SLOW] = {VALUE_RATE, TO_ALL, true, "", "the links have this rate"},
	[MF_FAULT_FLAP] = {VALUE_NONE, TO_ALL, false, "", "down and up again, repeatedly"},
	[MF_FAULT_SWAP] = {VALUE_CABLE, TO(MF_TARGET_CABLE), false, "only cables can be swapped",
			   "the far ends of the two cables are exchanged"},
	[MF_FAULT_REBOOT] = {VALUE_NONE, TO(MF_TARGET_SWITCH), false, "only switches reboot",
			     "a switch goes off, and comes back with empty tables"},
};

static const char *const value_form[] = {"", "SHARE", "RATE", "CABLE"};

const char *const mf_direction_names[] = {"both", "out", "in", NULL};

const char *mf_fault_name(enum mf_fault_kind kind)
{
	return names[kind];
}

enum mf_fault_kind mf_fault_kind_find(const char *word)
{
	uint32_t kind = 0;

	while (kind < MF_FAULT_KINDS && strcmp(word, names[kind]) != 0)
		kind++;
	return (enum mf_fault_kind)kind;
}

const char *mf_fault_help(enum mf_fault_kind kind, const char **value)
{
	*value = value_form[kinds[kind].value];
	return kinds[kind].help;
}

/* ---- reading ---- */

/* set_fault_error fills *error with a word and what is wrong with it, and returns false. */
__attribute__((format(printf, 3, 4))) static bool
set_fault_error(struct mf_error *error, const char *word, const char *format, ...)
{
	va_list args;

	snprintf(error->field, sizeof(error->field), "fault");
	snprintf(error->value, sizeof(error->value), "%s", word);
	va_start(args, format);
	vsnprintf(error->what, sizeof(error->what), format, args);
	va_end(args);
	return false;
}

static bool set_unknown_kind(struct mf_error *error, const char *word)
{
	const char *near = mb_suggest_find(word, names, MF_FAULT_KINDS);
	char all[100] = "";

	for (size_t i = 0; i < MF_FAULT_KINDS; i++) {
		strcat(all, i ? ", " : "");
		strcat(all, names[i]);
	}
	if (near)
		return set_fault_error(error, word, "unknown fault; did you mean %s?", near);
	return set_fault_error(error, word, "unknown fault; there are %s", all);
}

/* "1%", "0.05%": parts per million. */
static bool read_share(const char *text, uint64_t *ppm)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || strcmp(end, "%") != 0 || !(percent > 0 && percent <= 100))
		return false;
	*ppm = (uint64_t)(percent * (MF_SHARE_ONE_PPM / 100.0) + 0.5);
	return *ppm > 0;
}

static bool read_cable(const struct mf_topology *t, const char *word, struct mf_fault *f,
		       struct mf_error *error)
{
	struct mf_target other;

	if (!mf_target_find(t, word, &other, error))
		return false;
	if (other.kind != MF_TARGET_CABLE)
		return set_fault_error(error, word,
				       "not a cable to swap; name one such as plane0.t0-0.t1-0");
	if (strcmp(word, f->target) == 0)
		return set_fault_error(error, word, "a cable cannot be swapped with itself");
	snprintf(f->other, sizeof(f->other), "%s", word);
	return true;
}

static bool read_value(const struct mf_topology *t, const char *word, struct mf_fault *f,
		       struct mf_error *error)
{
	switch (kinds[f->kind].value) {
	case VALUE_SHARE:
		return read_share(word, &f->value) ||
		       set_fault_error(error, word,
				       "%s takes a share such as 1%% or 0.05%%, more than 0, at "
				       "most 100%%",
				       names[f->kind]);
	case VALUE_RATE:
		return mb_quantity_read_rate(word, SLOW_MIN_BPS, SLOW_MAX_BPS, &f->value) ||
		       set_fault_error(error, word,
				       "%s takes " MB_QUANTITY_RATE_FORM ", 100k to 1T",
				       names[f->kind]);
	case VALUE_CABLE:
		return read_cable(t, word, f, error);
	case VALUE_NONE:
		break;
	}
	return true;
}

static bool read_direction(const char *word, struct mf_fault *f, struct mf_error *error)
{
	uint32_t direction = 0;

	while (mf_direction_names[direction] && strcmp(word, mf_direction_names[direction]) != 0)
		direction++;
	if (!mf_direction_names[direction])
		return set_fault_error(error, word, "the direction of %s must be out, in or both",
				       names[f->kind]);
	if (direction != MF_DIRECTION_BOTH && !kinds[f->kind].one_way)
		return set_fault_error(error, word, "%s has no direction", names[f->kind]);
	f->direction = (enum mf_direction)direction;
	return true;
}

bool mf_fault_check(enum mf_fault_kind kind, const char *name, const struct mf_target *target,
		    struct mf_error *error)
{
	return (kinds[kind].targets & TO(target->kind)) ||
	       set_fault_error(error, name, "%s", kinds[kind].only);
}

bool mf_fault_read(const struct mf_topology *t, const char *target, const char *const *word,
		   size_t words, struct mf_fault *f, struct mf_error *error)
{
	struct mf_target to;
	size_t next = 1;

	*f = (struct mf_fault){.direction = MF_DIRECTION_BOTH};
	if (!mf_target_find(t, target, &to, error))
		return false;
	snprintf(f->target, sizeof(f->target), "%s", target);
	if (!words)
		return set_fault_error(error, target,
				       "which fault? mrc lab fault --help lists them");
	f->kind = mf_fault_kind_find(word[0]);
	if (f->kind == MF_FAULT_KINDS)
		return set_unknown_kind(error, word[0]);
	if (f->kind == MF_FAULT_FLAP)
		return set_fault_error(error, word[0], "a flap takes times; want down, repeated");
	if (!mf_fault_check(f->kind, target, &to, error))
		return false;
	if (kinds[f->kind].value != VALUE_NONE) {
		if (words < 2)
			return set_fault_error(error, word[0], "needs a %s",
					       value_form[kinds[f->kind].value]);
		if (!read_value(t, word[next++], f, error))
			return false;
	}
	if (next < words && !read_direction(word[next++], f, error))
		return false;
	return next == words || set_fault_error(error, word[next], "unexpected argument");
}

bool mf_fault_text(const struct mf_topology *t, const char *target, const char *text,
		   struct mf_fault *f, struct mf_error *error)
{
	char copy[MF_FAULT_TEXT_BYTES], *rest = copy;
	const char *word[WORDS_MAX];
	size_t n = 0;

	if (strlen(text) >= sizeof(copy))
		return set_fault_error(error, text, "too long for a fault, such as loss 1%% out");
	snprintf(copy, sizeof(copy), "%s", text);
	while (n < WORDS_MAX && (word[n] = strsep(&rest, " ")))
		n++;
	return mf_fault_read(t, target, word, n, f, error);
}

char *mf_fault_write(const struct mf_fault *f, char out[MF_FAULT_TEXT_BYTES])
{
	const char *direction =
		f->direction == MF_DIRECTION_BOTH ? "" : mf_direction_names[f->direction];
	char value[MF_LINK_NAME_BYTES] = "", rate[MB_QUANTITY_MAX];

	if (kinds[f->kind].value == VALUE_SHARE)
		snprintf(value, sizeof(value), " %g%%",
			 (double)f->value / (MF_SHARE_ONE_PPM / 100.0));
	else if (kinds[f->kind].value == VALUE_RATE)
		snprintf(value, sizeof(value), " %s", mb_quantity_write_rate(rate, f->value));
	else if (kinds[f->kind].value == VALUE_CABLE)
		snprintf(value, sizeof(value), " %.46s", f->other);
	snprintf(out, MF_FAULT_TEXT_BYTES, "%s%s%s%s", names[f->kind], value, *direction ? " " : "",
		 direction);
	return out;
}

/*
 * Names of what faults happen to. Names of nodes and of ports are read by node_names.c; the others
 * are few enough at each node to be written one by one and compared.
 */

/* Room for any name of a target. */
#define NAME_BYTES 80u
/* Near names are looked for in fabrics of at most so many links; the rest have too many names. */
#define NEAR_LINKS_MAX 10000u
#define NEAR 3u

/* The end of a cable's name: who is at the far end of the link. */
static void far_end_name(const struct mf_topology *t, uint32_t link, char *out, size_t size)
{
	struct mf_node from = mf_node_at(t, mf_link_from(t, link).node);
	struct mf_node to = mf_node_at(t, mf_link_to(t, link).node);

	if (from.tier == MF_HOST)
		snprintf(out, size, "plane%u", to.plane);
	else if (to.tier == MF_HOST)
		snprintf(out, size, "host%u", to.index);
	else
		snprintf(out, size, "%s-%u", mf_tier_name(to.tier), to.index);
}

char *mf_cable_name(const struct mf_topology *t, uint32_t link, char out[MF_LINK_NAME_BYTES])
{
	char node[MF_NODE_NAME_BYTES], far_end[MF_PORT_NAME_BYTES];

	mf_node_name(t, mf_link_from(t, link).node, node);
	far_end_name(t, link, far_end, sizeof(far_end));
	snprintf(out, MF_LINK_NAME_BYTES, "%s.%s", node, far_end);
	return out;
}

/* ---- reading ---- */

static uint32_t ports_of(const struct mf_topology *t, uint32_t node)
{
	return mf_node_ports(t, mf_node_at(t, node).tier);
}

/* The links that switches of the plane send on: hosts send on one end of their cables. */
static struct mf_target plane_target(const struct mf_topology *t, uint32_t plane)
{
	return (struct mf_target){.kind = MF_TARGET_PLANE,
				  .plane = plane,
				  .links = 2 * t->plane_cables - t->first_t0_cable};
}

static bool find_plane(const struct mf_topology *t, const char *name, struct mf_target *target)
{
	char plane_name[NAME_BYTES];

	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		snprintf(plane_name, sizeof(plane_name), "plane%u", plane);
		*target = plane_target(t, plane);
		if (strcmp(name, plane_name) == 0)
			return true;
	}
	return false;
}

/* Transceiver i of a switch; false: it has fewer. */
static bool transceiver_at(const struct mf_topology *t, uint32_t node, uint32_t i,
			   struct mf_target *target)
{
	uint32_t ports = ports_of(t, node), first = i * MF_TRANSCEIVER_PORTS;

	if (node < t->n_hosts || first >= ports)
		return false;
	*target = (struct mf_target){
		.kind = MF_TARGET_TRANSCEIVER, .node = node, .port = first, .links = ports - first};
	if (target->links > MF_TRANSCEIVER_PORTS)
		target->links = MF_TRANSCEIVER_PORTS;
	return true;
}

static struct mf_target cable_target(uint32_t node, uint32_t port)
{
	return (struct mf_target){.kind = MF_TARGET_CABLE, .node = node, .port = port, .links = 1};
}

/* A cable by its far end, or a transceiver: what follows the last dot, of a node. */
static bool find_part(const struct mf_topology *t, uint32_t node, const char *part,
		      struct mf_target *target)
{
	char name[NAME_BYTES];

	for (uint32_t port = 0; port < ports_of(t, node); port++) {
		far_end_name(t, mf_link_out(t, node, port), name, sizeof(name));
		*target = cable_target(node, port);
		if (strcmp(part, name) == 0)
			return true;
	}
	for (uint32_t i = 0; transceiver_at(t, node, i, target); i++) {
		snprintf(name, sizeof(name), "transceiver%u", i);
		if (strcmp(part, name) == 0)
			return true;
	}
	return false;
}

static bool read_name(const struct mf_topology *t, const char *name, struct mf_target *target,
		      struct mf_error *error)
{
	const char *dot = strrchr(name, '.');
	char node_name[MF_NODE_NAME_BYTES];
	uint32_t node, link;

	if (find_plane(t, name, target))
		return true;
	if (mf_node_find(t, name, &node, error)) {
		*target = (struct mf_target){.kind = node < t->n_hosts ? MF_TARGET_HOST
								       : MF_TARGET_SWITCH,
					     .node = node,
					     .links = ports_of(t, node)};
		return true;
	}
	if (mf_link_find(t, name, &link, error)) {
		*target = cable_target(mf_link_from(t, link).node, mf_link_from(t, link).port);
		return true;
	}
	if (!dot || (size_t)(dot - name) >= sizeof(node_name))
		return false;
	snprintf(node_name, sizeof(node_name), "%.*s", (int)(dot - name), name);
	return mf_node_find(t, node_name, &node, &(struct mf_error){{0}, {0}, {0}}) &&
	       find_part(t, node, dot + 1, target);
}

uint32_t mf_target_link(const struct mf_topology *t, const struct mf_target *target, uint32_t i)
{
	uint32_t first = target->plane * t->plane_cables;

	if (target->kind != MF_TARGET_PLANE)
		return mf_link_out(t, target->node, target->port + i);
	/* Down to each host; then both links of each cable between switches. */
	return i < t->first_t0_cable ? (first + i) << 1 | 1
				     : ((first + t->first_t0_cable) << 1) + i - t->first_t0_cable;
}

/* ---- near names ---- */

struct near_names {
	const char *wanted;
	char name[NEAR][NAME_BYTES]; /* nearest first */
	size_t distance[NEAR];
	uint32_t n;
};

static void add_near(struct near_names *near, const char *name)
{
	size_t distance = mb_suggest_distance(near->wanted, name);
	uint32_t at = near->n;

	/* At least half of the letters must be right. */
	if (distance * 2 > strlen(name))
		return;
	while (at > 0 && near->distance[at - 1] > distance)
		at--;
	if (at == NEAR)
		return;
	if (near->n < NEAR)
		near->n++;
	for (uint32_t i = near->n - 1; i > at; i--) {
		memcpy(near->name[i], near->name[i - 1], NAME_BYTES);
		near->distance[i] = near->distance[i - 1];
	}
	snprintf(near->name[at], NAME_BYTES, "%s", name);
	near->distance[at] = distance;
}

static void add_names_of_node(struct near_names *near, const struct mf_topology *t, uint32_t node)
{
	char node_name[MF_NODE_NAME_BYTES], name[NAME_BYTES];
	struct mf_target target;

	mf_node_name(t, node, node_name);
	add_near(near, node_name);
	for (uint32_t port = 0; port < ports_of(t, node); port++)
		add_near(near, mf_cable_name(t, mf_link_out(t, node, port), name));
	for (uint32_t i = 0; transceiver_at(t, node, i, &target); i++) {
		snprintf(name, sizeof(name), "%s.transceiver%u", node_name, i);
		add_near(near, name);
	}
}

static void add_all_names(struct near_names *near, const struct mf_topology *t)
{
	char name[NAME_BYTES];

	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		snprintf(name, sizeof(name), "plane%u", plane);
		add_near(near, name);
	}
	for (uint32_t node = 0; node < t->n_nodes; node++)
		add_names_of_node(near, t, node);
}

/* The names nearest to a wrong one. */
static void set_near_names(const struct mf_topology *t, const char *name, struct mf_error *error)
{
	struct near_names near = {.wanted = name};
	char text[NEAR * (NAME_BYTES + 2)] = "", example[MF_NODE_NAME_BYTES];

	add_all_names(&near, t);
	for (uint32_t i = 0; i < near.n; i++) {
		strcat(text, i ? ", " : "");
		strcat(text, near.name[i]);
	}
	mf_node_name(t, t->n_nodes - 1, example);
	if (near.n)
		mf_error_set(error, "target", 0,
			     "no host, switch, cable or plane of this name; did you mean %.110s?",
			     text);
	else
		mf_error_set(error, "target", 0,
			     "no host, switch, cable or plane of this name; names are like host0 "
			     "and %s",
			     example);
}

bool mf_target_find(const struct mf_topology *t, const char *name, struct mf_target *target,
		    struct mf_error *error)
{
	if (read_name(t, name, target, error))
		return true;
	if (t->n_links <= NEAR_LINKS_MAX)
		set_near_names(t, name, error);
	snprintf(error->field, sizeof(error->field), "target");
	snprintf(error->value, sizeof(error->value), "%s", name);
	return false;
}
