/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_target.c - names of what faults happen to. Names of nodes and of ports are read by
 * node_names.c; the others are few enough at each node to be written one by one and compared.
 */
#include "fabric/fault.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "fabric/topology.h"

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

/* A cable by its far end, or a transceiver: what stands behind the last dot, of a node. */
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
			     "no host, switch, cable or plane of this name; did you mean %.110s",
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
