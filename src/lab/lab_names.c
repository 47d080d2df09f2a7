/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of nodes, cables and ports: see names.h. A name is looked up by writing the names of
 * everything and comparing, for a lab has hundreds of parts, not millions: so nothing can be
 * written that is not read, and what is near a wrong name is known as well.
 */
#include "lab/lab_names.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ml_name_cable(const struct mf_topology *t, uint32_t link, char *out)
{
	char name[MF_NODE_NAME_BYTES];
	struct mf_node to = mf_node_at(t, mf_link_to(t, link).node);
	uint32_t from = mf_link_from(t, link).node;

	mf_node_name(t, from, name);
	if (mf_node_at(t, from).tier == MF_HOST)
		snprintf(out, ML_NAME_MAX, "%s.plane%u", name, to.plane);
	else if (to.tier == MF_HOST)
		snprintf(out, ML_NAME_MAX, "%s.host%u", name, to.index);
	else
		snprintf(out, ML_NAME_MAX, "%s.%s-%u", name, mf_tier_name(to.tier), to.index);
	return out;
}

/* ---- every name there is ---- */

struct book {
	const struct mf_topology *t;
	const char *wanted;
	bool nodes_only;
	struct ml_target *target;
	bool found;
	const char **name; /* of all, for what is near; owned, and so is each */
	size_t names, room;
};

/* Remembers a name; true when it is the one that is wanted. */
static bool add_entry(struct book *b, const char *name)
{
	if (b->names < b->room && (b->name[b->names] = strdup(name)))
		b->names++;
	b->found = strcmp(name, b->wanted) == 0;
	return b->found;
}

static void add_meaning(struct book *b, enum ml_target_kind kind, uint32_t node, uint32_t room)
{
	*b->target = (struct ml_target){
		.kind = kind, .node = node, .link = calloc(room ? room : 1, sizeof(uint32_t))};
	if (!b->target->link) {
		fprintf(stderr, "softmrc: no memory for names\n");
		abort();
	}
}

static void add_port(struct book *b, uint32_t node, uint32_t port)
{
	b->target->link[b->target->links++] = mf_link_out(b->t, node, port);
}

static bool add_transceivers(struct book *b, uint32_t node, uint32_t ports)
{
	char base[MF_NODE_NAME_BYTES], name[ML_NAME_MAX + 20];

	mf_node_name(b->t, node, base);
	for (uint32_t i = 0; i * ML_TRANSCEIVER_PORTS < ports; i++) {
		uint32_t first = i * ML_TRANSCEIVER_PORTS, end = first + ML_TRANSCEIVER_PORTS;

		snprintf(name, sizeof(name), "%s.transceiver%u", base, i);
		if (!add_entry(b, name))
			continue;
		add_meaning(b, ML_TARGET_TRANSCEIVER, node, ML_TRANSCEIVER_PORTS);
		for (uint32_t port = first; port < end && port < ports; port++)
			add_port(b, node, port);
		return true;
	}
	return false;
}

static bool node_and_ports(struct book *b, uint32_t node)
{
	enum mf_tier tier = mf_node_at(b->t, node).tier;
	uint32_t ports = mf_node_ports(b->t, tier);
	char name[ML_NAME_MAX];

	mf_node_name(b->t, node, name);
	if (add_entry(b, name)) {
		add_meaning(b, tier == MF_HOST ? ML_TARGET_HOST : ML_TARGET_SWITCH, node, ports);
		for (uint32_t port = 0; port < ports; port++)
			add_port(b, node, port);
		return true;
	}
	for (uint32_t port = 0; port < ports && !b->nodes_only; port++) {
		uint32_t link = mf_link_out(b->t, node, port);
		char by_port[MF_LINK_NAME_BYTES];

		mf_link_name(b->t, link, by_port);
		if (!add_entry(b, ml_name_cable(b->t, link, name)) &&
		    strcmp(by_port, b->wanted) != 0)
			continue;
		b->found = true;
		add_meaning(b, ML_TARGET_CABLE, node, 1);
		add_port(b, node, port);
		return true;
	}
	return !b->nodes_only && tier != MF_HOST && add_transceivers(b, node, ports);
}

static bool plane_name(struct book *b, uint32_t plane)
{
	char name[ML_NAME_MAX];

	snprintf(name, sizeof(name), "plane%u", plane);
	if (!add_entry(b, name))
		return false;
	add_meaning(b, ML_TARGET_PLANE, UINT32_MAX, b->t->n_links);
	for (uint32_t node = b->t->n_hosts; node < b->t->n_nodes; node++) {
		struct mf_node n = mf_node_at(b->t, node);

		for (uint32_t port = 0; n.plane == plane && port < mf_node_ports(b->t, n.tier);
		     port++)
			add_port(b, node, port);
	}
	return true;
}

static void look_up(struct book *b)
{
	for (uint32_t plane = 0; !b->nodes_only && plane < b->t->cfg.planes; plane++)
		if (plane_name(b, plane))
			return;
	for (uint32_t node = 0; node < b->t->n_nodes; node++)
		if (node_and_ports(b, node))
			return;
}

/* ---- what is near ---- */

#define NEAR 3

/* Up to three names, nearest first; one that was told is taken off the list. */
static int not_found(struct book *b, struct ml_error *e)
{
	char example[MF_NODE_NAME_BYTES];

	mf_node_name(b->t, b->t->n_nodes - 1, example);
	ml_error_set(e, "%s: no %s of this name in this lab", b->wanted,
		     b->nodes_only ? "node" : "host, switch, cable or plane");
	for (int i = 0; i < NEAR && b->names; i++) {
		const char *near = mb_suggest_find(b->wanted, b->name, b->names);

		if (!near) {
			if (i == 0)
				ml_error_add(e, "; names are like host0 and %s", example);
			break;
		}
		ml_error_add(e, "%s%s", i == 0 ? "; did you mean " : ", ", near);
		for (size_t k = 0; k < b->names; k++)
			if (b->name[k] == near) {
				b->name[k] = b->name[--b->names];
				free((char *)near);
				break;
			}
	}
	return -1;
}

static int find_target(const struct mf_topology *t, const char *name, bool nodes_only,
		       struct ml_target *target, struct ml_error *e)
{
	struct book b = {.t = t, .wanted = name, .nodes_only = nodes_only, .target = target};
	int failed = 0;

	b.room = t->n_nodes + 2 * (size_t)t->n_links + t->cfg.planes;
	b.name = calloc(b.room, sizeof(*b.name));
	if (!b.name)
		return ml_error_set(e, "no memory");
	look_up(&b);
	if (!b.found)
		failed = not_found(&b, e);
	for (size_t i = 0; i < b.names; i++)
		free((char *)b.name[i]);
	free(b.name);
	return failed;
}

int ml_target_find(const struct mf_topology *t, const char *name, struct ml_target *target,
		   struct ml_error *e)
{
	return find_target(t, name, false, target, e);
}

void ml_target_fini(struct ml_target *target)
{
	free(target->link);
	*target = (struct ml_target){0};
}

int ml_node_find(const struct mf_topology *t, const char *name, uint32_t *node, struct ml_error *e)
{
	struct ml_target target;

	if (find_target(t, name, true, &target, e))
		return -1;
	*node = target.node;
	ml_target_fini(&target);
	return 0;
}
