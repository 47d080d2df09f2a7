/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carriers walk through fabrics by what the tables of hosts and switches say, and by nothing else:
 * a host looks the destination up and sends; a switch finds its own uSID in front, shifts it out,
 * looks the rest up and sends. They must come to the right host, over exactly the links that the
 * arithmetic of path.h names. REQ(topo.routes.static) REQ(srv6.path) REQ(srv6.ev-planes)
 */
#include "../unit/fabric_fixture.h"

#include "base/bytes.h"
#include "fabric/routes.h"
#include "wire/srv6.h"

/* A node's table, as it would stand in the node: sorted by prefix, shorter ones first. */
struct entry {
	uint64_t prefix; /* the first 64 bits */
	uint8_t length;
	uint8_t kind;
	uint32_t link;
};

struct table {
	struct entry *entries;
	uint32_t n;
};

/* Tables by node, made when a packet first comes there. */
static struct table *tables;

static int by_prefix(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return x->length - y->length;
}

static const struct table *table_of(const struct mf_topology *t, uint32_t node)
{
	struct table *table = &tables[node];
	struct mf_route_iter it;
	struct mf_route r;

	if (table->entries)
		return table;
	table->entries = calloc(count_routes(t, node, MF_ROUTES_SRV6), sizeof(*table->entries));
	assert_non_null(table->entries);
	mf_routes_begin(&it, t, node, MF_ROUTES_SRV6);
	while (mf_routes_next(&it, &r)) {
		if (r.length > 64)
			continue; /* a host's own address, which is no carrier */
		table->entries[table->n++] =
			(struct entry){mb_load_be64(r.prefix), r.length, (uint8_t)r.kind, r.link};
	}
	qsort(table->entries, table->n, sizeof(*table->entries), by_prefix);
	for (uint32_t i = 1; i < table->n; i++)
		assert_true(by_prefix(&table->entries[i - 1], &table->entries[i]) < 0);
	return table;
}

static const struct entry *find(const struct table *table, uint64_t high, uint8_t length)
{
	struct entry key = {.prefix = high & ~(length ? UINT64_MAX >> length : UINT64_MAX),
			    .length = length};

	return bsearch(&key, table->entries, table->n, sizeof(key), by_prefix);
}

/* The longest prefix; tables of SRv6 know these three lengths. */
static const struct entry *lookup(const struct mf_topology *t, uint32_t node, const uint8_t *dst)
{
	static const uint8_t lengths[] = {48, 32, 0};
	const struct table *table = table_of(t, node);
	const struct entry *e = NULL;

	for (size_t i = 0; i < 3 && !e; i++)
		e = find(table, mb_load_be64(dst), lengths[i]);
	if (!e)
		fail_msg("node %u: no route", node);
	return e;
}

/* What a node does: returns the link on which it sends, MF_LINK_NONE when it takes the packet. */
static uint32_t node_forwards(const struct mf_topology *t, uint32_t node, uint8_t *dst)
{
	const struct entry *e = lookup(t, node, dst);

	if (e->kind == MF_ROUTE_UN) {
		mw_usid_shift(dst);
		e = lookup(t, node, dst);
	}
	if (e->kind == MF_ROUTE_LOCAL)
		return MF_LINK_NONE;
	assert_u_eq(e->kind, MF_ROUTE_LINK);
	return e->link;
}

static void walk(const struct mf_topology *t, const struct mf_pair *p, uint32_t ev)
{
	struct mw_usids list = {.block = mf_usid_block(t, mf_ev_plane(ev))};
	uint8_t dst[MW_SRV6_ADDR_BYTES];
	uint32_t at = p->src;

	list.n = mf_usids_of(t, p, ev, list.usid);
	mw_usids_encode(&list, dst);
	for (uint32_t hop = 0; hop < mf_pair_links(p); hop++) {
		uint32_t link = node_forwards(t, at, dst);

		assert_u_eq(link, mf_path_link(t, p, ev, hop));
		at = mf_link_to(t, link).node;
		assert_u_eq(at, mf_path_node(t, p, ev, hop));
	}
	assert_u_eq(at, p->dst);
	assert_u_eq(node_forwards(t, at, dst), MF_LINK_NONE);
	assert_u_eq(mw_usid_first(dst), mf_usid_dst(t, mf_ev_plane(ev), p->dst));
}

static void tables_make(const struct mf_topology *t)
{
	tables = calloc(t->n_nodes, sizeof(*tables));
	assert_non_null(tables);
}

static void tables_free(const struct mf_topology *t)
{
	for (uint32_t node = 0; node < t->n_nodes; node++)
		free(tables[node].entries);
	free(tables);
}

static void walk_all(const char *name)
{
	struct mf_topology t = fabric(name);

	tables_make(&t);
	for (uint32_t src = 0; src < t.n_hosts; src++)
		for (uint32_t dst = 0; dst < t.n_hosts; dst++) {
			struct mf_pair p = mf_pair_of(&t, src, dst);

			if (src == dst)
				continue;
			for (uint32_t n = 0; n < mf_path_count(&t, &p); n++)
				walk(&t, &p, mf_ev_nth(&t, n));
		}
	tables_free(&t);
}

TEST(mf_usids_of, every_pair_on_every_path)
{
	walk_all("tiny");
	walk_all("lab");
	walk_all("lab8");
	walk_all("small3");
}

/* Every other pair is near, so that all turning points are seen. */
static void walk_random(const char *name, size_t walks)
{
	struct mf_topology t = fabric(name);

	tables_make(&t);
	for (size_t i = 0; i < test_long_rounds(walks); i++) {
		uint32_t src = (uint32_t)test_rand_below(t.n_hosts);
		uint32_t near = (uint32_t)test_rand_below(2 * t.cfg.hosts_per_t0 * t.cfg.t0s);
		uint32_t dst =
			i & 1 ? (src + near) % t.n_hosts : (uint32_t)test_rand_below(t.n_hosts);
		struct mf_pair p = mf_pair_of(&t, src, dst);
		uint32_t ev = mf_ev_nth(&t, (uint32_t)test_rand_below(mf_ev_count(&t)));

		if (src != dst)
			walk(&t, &p, ev | (uint32_t)test_rand() << MW_EV_FREE_SHIFT);
	}
	tables_free(&t);
}

TEST(mf_usids_of, a_million_in_paper)
{
	walk_random("paper", 1000000);
}

TEST(mf_usids_of, a_million_in_threetier)
{
	walk_random("threetier", 1000000);
}

TEST(mf_usids_of, some_in_the_others)
{
	walk_random("paper4", 50000);
	walk_random("pod", 50000);
}

/* REQ(srv6.self-probe) A sender's own uSID ends the carrier: up to a switch of any tier and
 * back. */
TEST(mf_pair_turning, probes_come_back)
{
	const char *const names[] = {"lab8", "small3", "threetier"};

	for (size_t i = 0; i < 3; i++) {
		struct mf_topology t = fabric(names[i]);
		enum mf_tier top = t.cfg.tiers == 3 ? MF_T2 : MF_T1;

		tables_make(&t);
		for (size_t n = 0; n < test_long_rounds(2000); n++) {
			uint32_t host = (uint32_t)test_rand_below(t.n_hosts);
			enum mf_tier turn = (enum mf_tier)(MF_T0 + test_rand_below(top));
			struct mf_pair p = mf_pair_turning(&t, host, host, turn);

			walk(&t, &p, mf_ev_nth(&t, (uint32_t)test_rand_below(mf_ev_count(&t))));
		}
		tables_free(&t);
	}
}

/* Fabrics of any shape that is not refused. */
static bool random_fabric(struct mf_topology *t)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
	struct mf_error e;

	cfg.planes = 1 + (uint32_t)test_rand_below(9);
	cfg.tiers = 2 + (uint32_t)test_rand_below(2);
	cfg.hosts_per_t0 = 1 + (uint32_t)test_rand_below(20);
	cfg.t0s = 1 + (uint32_t)test_rand_below(20);
	cfg.t1s = 1 + (uint32_t)test_rand_below(20);
	if (cfg.tiers == 3) {
		cfg.pods = 2 + (uint32_t)test_rand_below(6);
		cfg.t1_uplinks = 1 + (uint32_t)test_rand_below(9);
	}
	cfg.usid.planes = test_rand_chance(1, 2) ? MF_PLANE_IN_BLOCK : MF_PLANE_IN_USID;
	cfg.usid.dst = test_rand_chance(1, 2) ? MF_DST_DOWNLINK : MF_DST_HOST;
	return mf_topology_init(t, &cfg, &e);
}

TEST(mf_usids_of, random_fabrics)
{
	struct mf_topology t;

	for (size_t i = 0; i < test_long_rounds(300); i++) {
		if (!random_fabric(&t))
			continue;
		tables_make(&t);
		for (int n = 0; n < 200; n++) {
			struct mf_pair p = mf_pair_of(&t, (uint32_t)test_rand_below(t.n_hosts),
						      (uint32_t)test_rand_below(t.n_hosts));

			if (p.src != p.dst)
				walk(&t, &p,
				     mf_ev_nth(&t, (uint32_t)test_rand_below(mf_ev_count(&t))));
		}
		tables_free(&t);
	}
}
