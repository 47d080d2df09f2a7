/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a topology file. What is refused is refused with a reason; what is not
 * is a fabric in which nodes, links, names and paths agree, at a few places that the file's own
 * bytes choose.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fabric/fabric_node.h"
#include "fabric/routes.h"
#include "fabric/topology_toml.h"
#include "fabric/usid.h"

#define PLACES 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_link(const struct mf_topology *t, uint32_t link)
{
	struct mf_end from = mf_link_from(t, link);
	char name[MF_LINK_NAME_BYTES];
	struct mf_error error;
	uint32_t found;

	mb_assert(mf_link_out(t, from.node, from.port) == link);
	mb_assert(mf_node_number(t, mf_node_at(t, from.node)) == from.node);
	mf_link_name(t, link, name);
	mb_assert(mf_link_find(t, name, &found, &error) && found == link);
}

static void check_path(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t ev)
{
	struct mf_pair p = mf_pair_of(t, src, dst);
	uint8_t address[MF_ADDRESS_BYTES];
	uint16_t usids[MF_USIDS_MAX];
	uint32_t at = src, n = mf_usids_of(t, &p, ev, usids), host;

	mb_assert(n == mf_pair_links(&p));
	for (uint32_t hop = 0; hop < n; hop++) {
		uint32_t link = mf_path_link(t, &p, ev, hop);

		mb_assert(link < t->n_links && mf_link_from(t, link).node == at);
		mb_assert(usids[hop] != 0);
		at = mf_link_to(t, link).node;
	}
	mb_assert(at == dst);
	mf_address_of_host(t, dst, address);
	mb_assert(mf_address_host(t, address, &host) && host == dst);
}

static void check_routes(const struct mf_topology *t, uint32_t node)
{
	struct mf_route_iter it;
	struct mf_route r;

	mf_routes_begin(&it, t, node, MF_ROUTES_ALL);
	mb_assert(mf_routes_next(&it, &r));
	for (uint32_t i = 0; i < PLACES; i++) {
		mb_assert(r.kind != MF_ROUTE_LINK || mf_link_from(t, r.link).node == node);
		if (!mf_routes_next(&it, &r))
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), error[MF_TOML_ERROR_BYTES] = "";
	struct mf_topology t;
	uint32_t at = 2166136261u;

	mb_assert(text);
	memcpy(text, data, size);
	text[size] = 0;
	if (!mf_topology_read("fuzz", text, &t, error)) {
		mb_assert(strncmp(error, "fuzz:", 5) == 0 && memchr(error, 0, sizeof(error)));
		free(text);
		return 0;
	}
	for (uint32_t i = 0; i < PLACES; i++) {
		at = (at ^ data[i % size]) * 16777619u;
		check_link(&t, at % t.n_links);
		check_routes(&t, at % t.n_nodes);
		check_path(&t, at % t.n_hosts, (at >> 8) % t.n_hosts,
			   mf_ev_nth(&t, (at >> 4) % mf_ev_count(&t)));
	}
	free(text);
	return 0;
}
