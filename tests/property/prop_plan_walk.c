/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `mrc plan --emit` writes forwards every packet: the files of all nodes are read back as
 * text, cables from the containerlab topology, routes and SIDs from the lists for ip(8), from FRR's
 * file or from SONiC's, and packets of all pairs of hosts with all EVs are sent through the tables.
 * Nothing but their addresses comes from the model. REQ(plan.emit.iproute) REQ(plan.emit.sonic)
 */
#include "cli/plan/plan_verb.h"
#include "fabric/fabric_node.h"
#include "fabric/topology_toml.h"
#include "fabric/usid.h"
#include "wire/srv6.h"

#include "support/test.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdio.h>

#define ENTRIES_MAX 64
#define PORTS_MAX 24
#define NODES_MAX 64
#define NAME 24

enum kind { TO_PORT, UN, LOCAL, BLACKHOLE };

struct entry {
	uint8_t prefix[16];
	unsigned length;
	enum kind kind;
	uint8_t via[16];
	char port[NAME];
};

struct port {
	char name[NAME];
	uint8_t address[16]; /* link-local */
	int peer, peer_port; /* -1: no cable */
};

struct node {
	char name[2 * NAME];
	struct entry entry[ENTRIES_MAX];
	size_t entries;
	struct port port[PORTS_MAX];
	size_t ports;
};

struct world {
	struct mf_topology t;
	struct node node[NODES_MAX];
	size_t nodes;
};

static void read_prefix(const char *text, struct entry *e)
{
	char address[64];
	unsigned length = 128;
	const char *slash = strchr(text, '/');

	snprintf(address, sizeof(address), "%.*s", (int)(slash ? slash - text : (long)strlen(text)),
		 text);
	if (slash)
		length = (unsigned)strtoul(slash + 1, NULL, 10);
	assert_int_equal(inet_pton(AF_INET6, address, e->prefix), 1);
	e->length = length;
}

static struct entry *add_entry(struct node *n, const char *prefix, enum kind kind)
{
	struct entry *e = &n->entry[n->entries++];

	assert_true(n->entries <= ENTRIES_MAX);
	*e = (struct entry){.kind = kind};
	read_prefix(prefix, e);
	return e;
}

static void add_hop(struct node *n, const char *prefix, const char *via, const char *port)
{
	struct entry *e = add_entry(n, prefix, TO_PORT);

	assert_int_equal(inet_pton(AF_INET6, via, e->via), 1);
	snprintf(e->port, sizeof(e->port), "%s", port);
}

static struct port *find_port(struct node *n, const char *name)
{
	for (size_t i = 0; i < n->ports; i++)
		if (strcmp(n->port[i].name, name) == 0)
			return &n->port[i];
	assert_true(n->ports < PORTS_MAX);
	n->port[n->ports] = (struct port){.peer = -1};
	snprintf(n->port[n->ports].name, NAME, "%s", name);
	return &n->port[n->ports++];
}

/* ---- the lists for ip(8) ---- */

static const char *word_after(char *const *word, const char *key)
{
	for (; *word; word++)
		if (strcmp(*word, key) == 0)
			return word[1];
	return NULL;
}

static void read_ip_route(struct node *n, char *const *word)
{
	const char *via = word_after(word, "via");

	if (strcmp(word[2], "local") == 0)
		add_entry(n, word[3], LOCAL);
	else if (strcmp(word[2], "blackhole") == 0)
		add_entry(n, word[3], BLACKHOLE);
	else if (word_after(word, "seg6local"))
		add_entry(n, word[2], UN);
	else if (!word_after(word, "nexthop"))
		add_hop(n, word[2], via, word_after(word, "dev"));
}

static void read_ip_line(struct node *n, char *const *word)
{
	uint8_t own[16];
	char address[64];

	if (strcmp(word[0], "route") == 0)
		read_ip_route(n, word);
	if (strcmp(word[0], "addr") != 0)
		return;
	if (strcmp(word[4], "lo") == 0) {
		add_entry(n, word[2], LOCAL);
		return;
	}
	snprintf(address, sizeof(address), "%.*s", (int)strcspn(word[2], "/"), word[2]);
	assert_int_equal(inet_pton(AF_INET6, address, own), 1);
	memcpy(find_port(n, word[4])->address, own, sizeof(own));
}

/* ---- FRR ---- */

static void read_frr_line(struct node *n, char *const *word)
{
	if (strcmp(word[0], "sid") == 0 && strcmp(word[5], "uN") == 0)
		add_entry(n, word[1], UN);
	if (strcmp(word[0], "ipv6") != 0 || strcmp(word[1], "route") != 0)
		return;
	if (strcmp(word[3], "blackhole") == 0)
		add_entry(n, word[2], BLACKHOLE);
	else
		add_hop(n, word[2], word[3], word[4]);
}

static void read_lines(struct node *n, char *text, void (*fn)(struct node *n, char *const *word))
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *word[64] = {NULL}, *one;
		size_t words = 0;

		while ((one = strsep(&line, " ")) && words < 63)
			if (*one)
				word[words++] = one;
		if (words)
			fn(n, word);
	}
}

/* ---- SONiC ---- */

static void read_sonic(struct node *n, const char *text)
{
	json_t *root = json_loads(text, 0, NULL), *row;
	const char *key;

	assert_non_null(root);
	json_object_foreach(json_object_get(root, "SRV6_MY_SIDS"), key, row)
	{
		add_entry(n, strchr(key, '|') + 1, UN);
	}
	json_object_foreach(json_object_get(root, "STATIC_ROUTE"), key, row)
	{
		const char *port = json_string_value(json_object_get(row, "ifname"));
		json_t *of = port ? json_object_get(json_object_get(root, "PORT"), port) : NULL;

		if (port)
			add_hop(n, strchr(key, '|') + 1,
				json_string_value(json_object_get(row, "nexthop")),
				json_string_value(json_object_get(of, "alias")));
		else
			add_entry(n, strchr(key, '|') + 1, BLACKHOLE);
	}
	json_decref(root);
}

/* ---- cables ---- */

static int find_node(struct world *w, const char *name)
{
	for (size_t i = 0; i < w->nodes; i++)
		if (strcmp(w->node[i].name, name) == 0)
			return (int)i;
	fail_msg("%s: no such node", name);
	return -1;
}

static void read_cable(struct world *w, const char *line)
{
	char a[48], b[48], *port[2];
	int node[2];
	struct port *end[2];

	assert_int_equal(sscanf(line, " - endpoints: [\"%47[^\"]\", \"%47[^\"]\"]", a, b), 2);
	port[0] = strchr(a, ':');
	port[1] = strchr(b, ':');
	*port[0]++ = *port[1]++ = '\0';
	node[0] = find_node(w, a);
	node[1] = find_node(w, b);
	for (int i = 0; i < 2; i++)
		end[i] = find_port(&w->node[node[i]], port[i]);
	for (int i = 0; i < 2; i++) {
		end[i]->peer = node[1 - i];
		end[i]->peer_port = (int)(end[1 - i] - w->node[node[1 - i]].port);
	}
}

/* ---- the world of files ---- */

static char *written(const struct mf_topology *t, const char *format, uint32_t node)
{
	struct plan_emission how = {mf_emit_defaults(), "dummy"};
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	plan_format_find(format, "test")->write(to, t, node, &how);
	fclose(to);
	return text;
}

/* Routes of switches are as `format` has them; addresses and hosts are always ip's. */
static void read_world(struct world *w, const char *format)
{
	char *text, *rest, *line;

	w->nodes = w->t.n_nodes;
	assert_true(w->nodes <= NODES_MAX);
	for (uint32_t i = 0; i < w->nodes; i++) {
		struct node *n = &w->node[i];

		mf_emit_hostname(&w->t, i, n->name);
		text = written(&w->t, "iproute", i);
		read_lines(n, text, read_ip_line);
		free(text);
		if (i < w->t.n_hosts || strcmp(format, "iproute") == 0)
			continue;
		n->entries = 0;
		text = written(&w->t, format, i);
		if (strcmp(format, "frr") == 0)
			read_lines(n, text, read_frr_line);
		else
			read_sonic(n, text);
		free(text);
	}
	rest = text = written(&w->t, "containerlab", 0);
	while ((line = strsep(&rest, "\n")))
		if (strstr(line, "- endpoints:"))
			read_cable(w, line);
	free(text);
}

/* ---- forwarding ---- */

static bool matches(const struct entry *e, const uint8_t *address)
{
	for (unsigned bit = 0; bit < e->length; bit++)
		if ((e->prefix[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1)
			return false;
	return true;
}

static const struct entry *look_up(const struct node *n, const uint8_t *address)
{
	const struct entry *best = NULL;

	for (size_t i = 0; i < n->entries; i++)
		if (matches(&n->entry[i], address) && (!best || n->entry[i].length > best->length))
			best = &n->entry[i];
	return best;
}

/* One node's work: the next node, or -1 when the packet stays here. */
static int forward(struct world *w, int at, uint8_t *address)
{
	struct node *n = &w->node[at];
	const struct entry *e = look_up(n, address);
	struct port *port;

	assert_non_null(e);
	if (e->kind == UN) {
		mw_usid_shift(address);
		e = look_up(n, address);
		assert_non_null(e);
		assert_int_not_equal(e->kind, UN); /* the kernel drops two in a row */
	}
	if (e->kind == LOCAL)
		return -1;
	assert_int_equal(e->kind, TO_PORT);
	port = find_port(n, e->port);
	assert_true(port->peer >= 0);
	/* The next hop's address is that of the other end of the cable. */
	assert_memory_equal(e->via, w->node[port->peer].port[port->peer_port].address, 16);
	return port->peer;
}

static void walk(struct world *w, uint32_t src, uint32_t dst, uint32_t ev)
{
	struct mf_pair pair = mf_pair_of(&w->t, src, dst);
	struct mw_usids list = {.block = mf_usid_block(&w->t, mf_ev_plane(ev))};
	uint8_t address[16];
	uint32_t hop = 0;
	int at = (int)src;

	list.n = mf_usids_of(&w->t, &pair, ev, list.usid);
	mw_usids_encode(&list, address);
	for (;; hop++) {
		int next = forward(w, at, address);

		if (next < 0)
			break;
		assert_i_eq(next, mf_path_node(&w->t, &pair, ev, hop));
		at = next;
	}
	assert_int_equal(at, dst);
	assert_u_eq(hop, mf_pair_links(&pair));
}

static void walk_all(const struct mf_topology_cfg *cfg, const char *format)
{
	static struct world w;
	struct mf_error error;

	memset(&w, 0, sizeof(w));
	assert_true(mf_topology_init(&w.t, cfg, &error));
	read_world(&w, format);
	for (uint32_t src = 0; src < w.t.n_hosts; src++)
		for (uint32_t dst = 0; dst < w.t.n_hosts; dst++)
			for (uint32_t i = 0; src != dst && i < mf_ev_count(&w.t); i++)
				walk(&w, src, dst, mf_ev_nth(&w.t, i));
}

TEST(plan_walk, lab_by_ip)
{
	const struct mf_topology_cfg cfg = mf_preset_cfg("lab");

	walk_all(&cfg, "iproute");
}

TEST(plan_walk, lab_by_frr)
{
	const struct mf_topology_cfg cfg = mf_preset_cfg("lab");

	walk_all(&cfg, "frr");
}

TEST(plan_walk, lab_by_sonic)
{
	const struct mf_topology_cfg cfg = mf_preset_cfg("lab");

	walk_all(&cfg, "sonic");
}

/* Three tiers, the plane in each uSID, the last one counting downlinks. */
TEST(plan_walk, three_tiers_by_all)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("threetier");

	cfg.planes = 2;
	cfg.pods = 2;
	cfg.hosts_per_t0 = cfg.t0s = cfg.t1s = cfg.t1_uplinks = 2;
	cfg.radix[0] = cfg.radix[1] = cfg.radix[2] = 4;
	cfg.rails = 1;
	walk_all(&cfg, "iproute");
	walk_all(&cfg, "frr");
	walk_all(&cfg, "sonic");
}
