/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_path.c - a path of `mrc trace`, the EV that names it, and the carriers of its probes. */
#include "cli/trace/trace.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric/usid.h"
#include "wire/srv6.h"

void trace_path_of(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t ev,
		   struct trace_path *path)
{
	struct mf_pair pair = mf_pair_of(t, src, dst);

	*path = (struct trace_path){.src = src, .dst = dst, .ev = ev};
	path->hops = mf_path_links(t, &pair, ev, path->link);
	for (uint32_t hop = 0; hop < path->hops; hop++)
		path->node[hop] = mf_path_node(t, &pair, ev, hop);
}

uint32_t trace_path_silent(const struct trace_path *path)
{
	uint32_t hop = 0;

	while (hop < path->hops && (!path->answers[hop].asked || path->answers[hop].answered))
		hop++;
	return hop;
}

/* A number without sign and blanks; *rest is what follows it. */
static bool read_number(const char *text, int base, uint64_t max, uint64_t *out, char **rest)
{
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(text, rest, base);
	return errno == 0 && *out <= max;
}

bool trace_ev_read(const struct mf_topology *t, const char *text, uint32_t *ev)
{
	uint64_t port = 0, number;
	char *rest;
	bool has_port = read_number(text, 10, t->cfg.planes, &port, &rest) && *rest == ':';

	if (has_port)
		text = rest + 1;
	if (!read_number(text, 0, UINT32_MAX, &number, &rest) || *rest || (has_port && port == 0))
		return false;
	return mf_ev_find(t, has_port ? (uint32_t)port - 1 : mf_ev_plane((uint32_t)number),
			  (uint32_t)number, ev);
}

/* The switches up to a hop, those before it again, and the sender. */
bool trace_carrier(const struct mf_topology *t, const struct trace_path *path, uint32_t hop,
		   uint8_t out[16])
{
	uint32_t plane = mf_ev_plane(path->ev);
	struct mw_usids list = {.block = mf_usid_block(t, plane)};
	bool is_last = hop + 1 == path->hops;
	uint32_t nodes = is_last ? hop : 2 * hop + 1;

	if (nodes + 1 > MW_USIDS_ADDR_MAX)
		return false;
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t node = path->node[i <= hop ? i : 2 * hop - i];

		list.usid[list.n++] = mf_usid_switch(t, mf_node_at(t, node));
	}
	list.usid[list.n++] = mf_usid_dst(t, plane, is_last ? path->dst : path->src);
	mw_usids_encode(&list, out);
	return true;
}
