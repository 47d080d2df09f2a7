/* SPDX-License-Identifier: BSD-2-Clause */
/* node_names.c - nodes, ports and links as words. */
#include "fabric/fabric_node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "fabric/topology.h"

static const char *const tiers[MF_TIERS] = {"host", "t0", "t1", "t2"};

const char *mf_tier_name(enum mf_tier tier)
{
	mb_assert(tier < MF_TIERS);
	return tiers[tier];
}

void mf_node_name(const struct mf_topology *t, uint32_t node, char out[MF_NODE_NAME_BYTES])
{
	struct mf_node n = mf_node_at(t, node);

	if (n.tier == MF_HOST)
		snprintf(out, MF_NODE_NAME_BYTES, "host%" PRIu32, n.index);
	else
		snprintf(out, MF_NODE_NAME_BYTES, "plane%" PRIu32 ".%s-%" PRIu32, n.plane,
			 tiers[n.tier], n.index);
}

void mf_port_name(const struct mf_topology *t, uint32_t node, uint32_t port,
		  char out[MF_PORT_NAME_BYTES])
{
	struct mf_node n = mf_node_at(t, node);
	uint32_t down = mf_node_downlinks(t, n.tier);

	if (n.tier == MF_HOST)
		snprintf(out, MF_PORT_NAME_BYTES, "e%" PRIu32, port);
	else if (port < down)
		snprintf(out, MF_PORT_NAME_BYTES, "d%" PRIu32, port);
	else
		snprintf(out, MF_PORT_NAME_BYTES, "u%" PRIu32, port - down);
}

void mf_link_name(const struct mf_topology *t, uint32_t link, char out[MF_LINK_NAME_BYTES])
{
	struct mf_end from = mf_link_from(t, link);
	char node[MF_NODE_NAME_BYTES], port[MF_PORT_NAME_BYTES];

	mf_node_name(t, from.node, node);
	mf_port_name(t, from.node, from.port, port);
	snprintf(out, MF_LINK_NAME_BYTES, "%s.%s", node, port);
}

/* Takes `word` off the front of *at. */
static bool take_word(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Takes a number of at most nine digits, written without leading zeros, off the front of *at. */
static bool take_number(const char **at, uint32_t *number)
{
	const char *p = *at;

	*number = 0;
	if (*p == '0' && p[1] >= '0' && p[1] <= '9')
		return false;
	while (*p >= '0' && *p <= '9' && p - *at < 9)
		*number = *number * 10 + (uint32_t)(*p++ - '0');
	if (p == *at || (*p >= '0' && *p <= '9'))
		return false;
	*at = p;
	return true;
}

static bool set_name_error(struct mf_error *error, const char *field, const char *name,
			   const char *what)
{
	mf_error_set(error, field, 0, "%s", what);
	snprintf(error->value, sizeof(error->value), "%s", name);
	return false;
}

/* A number that is out of range, with what there is. */
static bool refuse_range(struct mf_error *error, const char *field, const char *name,
			 const char *of, uint32_t count)
{
	if (count == 0)
		mf_error_set(error, field, 0, "this fabric has no %s", of);
	else
		mf_error_set(error, field, 0, "this fabric has %s0 to %s%" PRIu32, of, of,
			     count - 1);
	snprintf(error->value, sizeof(error->value), "%s", name);
	return false;
}

/* Takes a node off the front of *at; `name` and `field` are for the error. */
static bool take_node(const struct mf_topology *t, const char **at, const char *field,
		      const char *name, struct mf_node *n, struct mf_error *error)
{
	static const char words[] = "nodes are called hostN, planeP.t0-N, planeP.t1-N, planeP.t2-N";
	char of[MF_NODE_NAME_BYTES];
	uint32_t count[MF_TIERS] = {t->n_hosts, t->n_t0s, t->n_t1s, t->n_t2s};

	*n = (struct mf_node){.tier = MF_HOST};
	if (take_word(at, "host")) {
		if (!take_number(at, &n->index))
			return set_name_error(error, field, name, words);
	} else if (take_word(at, "plane")) {
		if (!take_number(at, &n->plane) || !take_word(at, ".t"))
			return set_name_error(error, field, name, words);
		if (**at < '0' || **at > '2' || (*at)[1] != '-')
			return set_name_error(error, field, name, words);
		n->tier = (enum mf_tier)(MF_T0 + (*at)[0] - '0');
		*at += 2;
		if (!take_number(at, &n->index))
			return set_name_error(error, field, name, words);
	} else {
		return set_name_error(error, field, name, words);
	}
	if (n->plane >= t->cfg.planes)
		return refuse_range(error, field, name, "plane", t->cfg.planes);
	if (n->index < count[n->tier])
		return true;
	if (n->tier == MF_HOST)
		snprintf(of, sizeof(of), "host");
	else
		snprintf(of, sizeof(of), "plane%" PRIu32 ".%s-", n->plane, tiers[n->tier]);
	return refuse_range(error, field, name, of, count[n->tier]);
}

bool mf_node_find(const struct mf_topology *t, const char *name, uint32_t *node,
		  struct mf_error *error)
{
	const char *at = name;
	struct mf_node n;

	if (!take_node(t, &at, "node", name, &n, error))
		return false;
	if (*at != 0)
		return set_name_error(error, "node", name,
				      "nothing may follow the number, as in host3 or plane0.t0-1");
	*node = mf_node_number(t, n);
	return true;
}

/* The port that the rest of a link's name says, of a node. */
static bool take_port(const struct mf_topology *t, const char *at, const char *name,
		      struct mf_node n, uint32_t *port, struct mf_error *error)
{
	uint32_t down = mf_node_downlinks(t, n.tier);
	uint32_t count, up = mf_node_ports(t, n.tier) - down;
	char kind[2] = {at[0], 0};

	at++;
	if (n.tier == MF_HOST ? kind[0] != 'e' : kind[0] != 'd' && kind[0] != 'u')
		return set_name_error(
			error, "link", name,
			n.tier == MF_HOST
				? "ports of a host are called e0, e1, ..., one a plane"
				: "ports of a switch are called d0, ... down and u0, ... up");
	if (!take_number(&at, port) || *at != 0)
		return set_name_error(error, "link", name,
				      "a link is called by node and port: host3.e0");
	count = kind[0] == 'd' ? down : up;
	if (*port >= count)
		return refuse_range(error, "link", name, kind, count);
	if (kind[0] == 'u')
		*port += down;
	return true;
}

bool mf_link_find(const struct mf_topology *t, const char *name, uint32_t *link,
		  struct mf_error *error)
{
	const char *at = name;
	struct mf_node n;
	uint32_t port;

	if (!take_node(t, &at, "link", name, &n, error))
		return false;
	if (!take_word(&at, ".") || *at == 0)
		return set_name_error(
			error, "link", name,
			"a link is called by node and port: host3.e0, plane0.t0-1.u2");
	if (!take_port(t, at, name, n, &port, error))
		return false;
	*link = mf_link_out(t, mf_node_number(t, n), port);
	return true;
}
