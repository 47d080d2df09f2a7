/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_sonic.c - the configuration of a switch for SONiC: ports, own uSID, static routes, traffic
 * classes, trimming, ECN. Tables and fields as in sonic-buildimage's YANG modules of August 2026.
 *
 * Ports are named by their first lane of 100G, Ethernet0, Ethernet1 and so on, downlinks first.
 * Lane numbers and port names of a real switch are in its platform.json; a merge keeps those.
 */
#include "fabric/emit.h"

#include "fabric/fabric_node.h"
#include "fabric/routes.h"
#include "fabric/usid.h"

#include <inttypes.h>

#define LOCATOR "mrc"
/* What a jumbo frame of SONiC holds; the fabric's MTU where that is more. */
#define PORT_MTU 9100u
#define PORT_NAME 16u
/* Packets of control are small; this is room for some thousand. */
#define CONTROL_BYTES UINT64_C(524288)
/* Mbit/s that SONiC's model of a port allows for. */
#define SPEED_MIN 1u
#define SPEED_MAX 1600000u

struct sonic {
	struct mf_config w;
	const struct mf_topology *t;
	const struct mf_emit_options *o;
	uint32_t node;
	uint32_t ports;
	enum mf_tier tier;
};

/* Queues of a port; trimming and marking are for some of them. */
static const struct queue {
	const char *index;
	const char *scheduler;
	bool data; /* marked, and cut when there is no room */
} queues[] = {
	{"0", "other", false}, {"1", "data", false},	{"3", "data", true},
	{"4", "retx", true},   {"6", "control", false},
};

#define QUEUES (sizeof(queues) / sizeof(queues[0]))

/* A table whose rows are a list in YANG, by these keys. */
#define LIST(table, from, ...)                                              \
	{                                                                   \
		table, "sonic-" from, table "_LIST", {__VA_ARGS__}, {NULL}, \
		{                                                           \
			MF_CONFIG_TEXT                                      \
		}                                                           \
	}

#define put_text(s, name, ...) mf_config_field(&(s)->w, name, MF_CONFIG_TEXT, __VA_ARGS__)
#define put_bare(s, name, ...) mf_config_field(&(s)->w, name, MF_CONFIG_BARE, __VA_ARGS__)

static const char *port_name(const struct sonic *s, uint32_t port, char out[PORT_NAME])
{
	uint32_t lanes;

	snprintf(out, PORT_NAME, "Ethernet%" PRIu32, mf_emit_lane(s->t, s->node, port, &lanes));
	return out;
}

static enum mf_link_kind link_kind(const struct sonic *s, uint32_t port)
{
	return mf_link_kind(s->t, mf_link_out(s->t, s->node, port));
}

static void put_metadata(struct sonic *s)
{
	static const struct mf_config_table table = {.name = "DEVICE_METADATA",
						     .module = "sonic-device_metadata"};
	static const char *const type[MF_TIERS] = {"", "ToRRouter", "LeafRouter", "SpineRouter"};
	char host[MF_ADDRESS_TEXT];

	mf_config_table(&s->w, &table);
	mf_config_row(&s->w, "localhost", NULL);
	put_text(s, "hostname", "%s", mf_emit_hostname(s->t, s->node, host));
	put_text(s, "type", "%s", type[s->tier]);
	put_text(s, "buffer_model", "traditional");
}

static void put_port(struct sonic *s, uint32_t port)
{
	uint32_t lanes, lane = mf_emit_lane(s->t, s->node, port, &lanes);
	uint64_t speed = s->t->cfg.links[link_kind(s, port)].bit_s / 1000000;
	char name[PORT_NAME], own[MF_PORT_NAME_BYTES], list[8 * 8];
	size_t len = 0;

	for (uint32_t i = 0; i < lanes; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%" PRIu32, i ? "," : "",
					lane + i + 1);
	mf_port_name(s->t, s->node, port, own);
	mf_config_row(&s->w, port_name(s, port, name), NULL);
	put_text(s, "alias", "%s", own);
	put_text(s, "lanes", "%s", list);
	put_bare(s, "speed", "%" PRIu64,
		 speed < SPEED_MIN   ? SPEED_MIN
		 : speed > SPEED_MAX ? SPEED_MAX
				     : speed);
	put_bare(s, "mtu", "%" PRIu32, s->t->cfg.mtu > PORT_MTU ? 9216 : PORT_MTU);
	put_bare(s, "index", "%" PRIu32, lane / 8 + 1);
	put_text(s, "admin_status", "up");
}

static void put_ports(struct sonic *s)
{
	static const struct mf_config_table table = LIST("PORT", "port", "name");

	mf_config_table(&s->w, &table);
	for (uint32_t port = 0; port < s->ports; port++)
		put_port(s, port);
}

static void put_interfaces(struct sonic *s)
{
	static const struct mf_config_table plain = LIST("INTERFACE", "interface", "name");
	static const struct mf_config_table with_address = {.name = "INTERFACE",
							    .module = "sonic-interface",
							    .list = "INTERFACE_IPPREFIX_LIST",
							    .key = {"name", "ip-prefix"}};
	char name[PORT_NAME];

	mf_config_table(&s->w, &plain);
	for (uint32_t port = 0; port < s->ports; port++) {
		mf_config_row(&s->w, port_name(s, port, name), NULL);
		put_text(s, "ipv6_use_link_local_only", "enable");
	}
	mf_config_table(&s->w, &with_address);
	for (uint32_t port = 0; port < s->ports; port++)
		mf_config_row(&s->w, port_name(s, port, name),
			      mf_emit_own_address(s->t, s->node, port) == 1 ? "fe80::1/64"
									    : "fe80::2/64");
}

static void put_uns(struct sonic *s)
{
	static const struct mf_config_table locators =
		LIST("SRV6_MY_LOCATORS", "srv6", "locator_name");
	static const struct mf_config_table sids =
		LIST("SRV6_MY_SIDS", "srv6", "locator", "ip_prefix");
	char text[MF_ADDRESS_TEXT], prefix[MF_ADDRESS_TEXT + 8];
	struct mf_route_iter it;
	struct mf_route r;

	mf_routes_begin(&it, s->t, s->node, MF_ROUTES_SRV6);
	while (mf_routes_next(&it, &r) && r.kind != MF_ROUTE_UN)
		;
	mf_emit_address(r.prefix, text);
	mf_config_table(&s->w, &locators);
	mf_config_row(&s->w, LOCATOR, NULL);
	put_text(s, "prefix", "%s", text);
	put_bare(s, "block_len", "32");
	put_bare(s, "node_len", "16");
	put_bare(s, "func_len", "16");
	put_bare(s, "arg_len", "0");
	mf_config_table(&s->w, &sids);
	snprintf(prefix, sizeof(prefix), "%s/%u", text, r.length);
	mf_config_row(&s->w, LOCATOR, prefix);
	put_text(s, "action", "uN");
	put_text(s, "decap_dscp_mode", "pipe");
}

/* Next hops, one after the other, in a field that holds a list. */
static void put_hops(struct sonic *s, const struct mf_route_group *g)
{
	char hops[MF_UPLINKS_MAX * 8], ports[MF_UPLINKS_MAX * PORT_NAME], name[PORT_NAME];
	size_t h = 0, p = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		h += (size_t)snprintf(hops + h, sizeof(hops) - h, "%sfe80::%u", i ? "," : "",
				      mf_emit_peer(s->t, s->node, g->port[i]));
		p += (size_t)snprintf(ports + p, sizeof(ports) - p, "%s%s", i ? "," : "",
				      port_name(s, g->port[i], name));
	}
	put_text(s, "nexthop", "%s", hops);
	put_text(s, "ifname", "%s", ports);
}

static void put_routes(struct sonic *s)
{
	static const struct mf_config_table table =
		LIST("STATIC_ROUTE", "static-route", "vrf_name", "prefix");
	char text[MF_ADDRESS_TEXT], prefix[MF_ADDRESS_TEXT + 8];
	struct mf_route_groups groups;
	struct mf_route_group g;

	mf_config_table(&s->w, &table);
	mf_route_groups_begin(&groups, s->t, s->node, s->o->sets);
	while (mf_route_groups_next(&groups, &g)) {
		if (g.route.kind != MF_ROUTE_LINK && g.route.kind != MF_ROUTE_BLACKHOLE)
			continue;
		snprintf(prefix, sizeof(prefix), "%s/%u", mf_emit_address(g.route.prefix, text),
			 g.route.length);
		mf_config_row(&s->w, "default", prefix);
		if (g.route.kind == MF_ROUTE_LINK)
			put_hops(s, &g);
		else
			put_text(s, "blackhole", "true");
	}
}

/* REQ(plan.emit.classes) */
static void put_classes(struct sonic *s)
{
	static const struct mf_config_table dscp_to_tc = {
		.name = "DSCP_TO_TC_MAP",
		.module = "sonic-dscp-tc-map",
		.list = "DSCP_TO_TC_MAP_LIST",
		.key = {"name"},
		.pair = {"dscp", "tc"},
		.pair_kind = {MF_CONFIG_TEXT, MF_CONFIG_BARE}};
	static const struct mf_config_table tc_to_queue = {
		.name = "TC_TO_QUEUE_MAP",
		.module = "sonic-tc-queue-map",
		.list = "TC_TO_QUEUE_MAP_LIST",
		.key = {"name"},
		.pair = {"tc", "qindex"},
		.pair_kind = {MF_CONFIG_BARE, MF_CONFIG_TEXT}};
	static const enum mf_queue of[MF_QUEUES + 1] = {
		MF_QUEUE_OTHER, MF_QUEUE_NO_TRIM, MF_QUEUE_OTHER,   MF_QUEUE_DATA,
		MF_QUEUE_RETX,	MF_QUEUE_CONTROL, MF_QUEUE_CONTROL, MF_QUEUE_OTHER};
	const struct mw_dscp_map *dscp = &s->t->cfg.dscp;

	mf_config_table(&s->w, &dscp_to_tc);
	mf_config_row(&s->w, LOCATOR, NULL);
	for (enum mw_dscp_class c = 0; c < MW_DSCP_CLASSES; c++)
		if (mf_queue_of_class(dscp, c))
			mf_config_pair(&s->w, mw_dscp_encode(dscp, c), mf_queue_of_class(dscp, c));
	mf_config_table(&s->w, &tc_to_queue);
	mf_config_row(&s->w, LOCATOR, NULL);
	for (unsigned tc = 0; tc <= MF_QUEUES; tc++)
		mf_config_pair(&s->w, tc, of[tc]);
}

/* REQ(plan.emit.trimming) */
static void put_trimming(struct sonic *s)
{
	static const struct mf_config_table trimming = {.name = "SWITCH_TRIMMING",
							.module = "sonic-trimming"};
	static const struct mf_config_table tc_to_dscp = {
		.name = "TC_TO_DSCP_MAP",
		.module = "sonic-tc-dscp-map",
		.list = "TC_TO_DSCP_MAP_LIST",
		.key = {"name"},
		.pair = {"tc", "dscp"},
		.pair_kind = {MF_CONFIG_BARE, MF_CONFIG_TEXT}};
	const uint8_t *dscp = s->t->cfg.dscp.code;

	mf_config_table(&s->w, &trimming);
	mf_config_row(&s->w, "GLOBAL", NULL);
	put_bare(s, "size", "%" PRIu32, s->o->trim_bytes);
	if (s->o->trim == MF_TRIM_SYMMETRIC) {
		put_bare(s, "dscp_value", "%u", dscp[MW_DSCP_TRIMMED]);
		put_bare(s, "queue_index", "%u", MF_QUEUE_CONTROL);
		return;
	}
	put_text(s, "dscp_value", "from-tc");
	put_bare(s, "tc_value", "%u", MF_TC_TRIM);
	put_bare(s, "queue_index", "%u", MF_QUEUE_CONTROL);
	mf_config_table(&s->w, &tc_to_dscp);
	mf_config_row(&s->w, "mrc_trim", NULL);
	mf_config_pair(&s->w, MF_TC_TRIM, dscp[MW_DSCP_TRIMMED]);
	mf_config_row(&s->w, "mrc_trim_last_hop", NULL);
	mf_config_pair(&s->w, MF_TC_TRIM, dscp[MW_DSCP_TRIMMED_LASTHOP]);
}

static void put_port_maps(struct sonic *s)
{
	static const struct mf_config_table table = LIST("PORT_QOS_MAP", "port-qos-map", "ifname");
	char name[PORT_NAME];

	mf_config_table(&s->w, &table);
	for (uint32_t port = 0; port < s->ports; port++) {
		mf_config_row(&s->w, port_name(s, port, name), NULL);
		put_text(s, "dscp_to_tc_map", LOCATOR);
		put_text(s, "tc_to_queue_map", LOCATOR);
		if (s->o->trim == MF_TRIM_ASYMMETRIC)
			put_text(s, "tc_to_dscp_map", "mrc_trim%s",
				 mf_queue_last_hop(s->t, s->node, port) ? "_last_hop" : "");
	}
}

/* What a port of a switch can be, as a part of names: last hop, other ports down, ports up. */
static const char *port_sort(const struct sonic *s, uint32_t port)
{
	if (mf_queue_last_hop(s->t, s->node, port))
		return "last_hop";
	return port < mf_node_downlinks(s->t, s->tier) ? "down" : "up";
}

/* Calls `put` with one port of each sort that the switch has. */
static void for_sorts(struct sonic *s, void (*put)(struct sonic *s, uint32_t port))
{
	uint32_t down = mf_node_downlinks(s->t, s->tier);

	if (down)
		put(s, 0);
	if (s->ports > down)
		put(s, down);
}

static void put_data_profile(struct sonic *s, uint32_t port)
{
	struct mf_queue_bytes bytes =
		mf_queue_bytes(s->t, link_kind(s, port), mf_queue_last_hop(s->t, s->node, port));
	char name[32];

	snprintf(name, sizeof(name), "mrc_trim_%s", port_sort(s, port));
	mf_config_row(&s->w, name, NULL);
	put_text(s, "pool", "egress_lossy_pool");
	put_text(s, "size", "0");
	put_text(s, "static_th", "%" PRIu64, bytes.limit);
	put_text(s, "packet_discard_action", "trim");
}

/* Every queue of every port full at once: a pool of this size never refuses what a queue admits. */
static uint64_t pool_bytes(const struct sonic *s)
{
	uint64_t sum = 0;

	for (uint32_t port = 0; port < s->ports; port++)
		sum += 2 * mf_queue_bytes(s->t, link_kind(s, port),
					  mf_queue_last_hop(s->t, s->node, port))
				       .limit +
		       CONTROL_BYTES;
	return sum;
}

static void put_buffers(struct sonic *s)
{
	static const struct mf_config_table pools = LIST("BUFFER_POOL", "buffer-pool", "name");
	static const struct mf_config_table profiles =
		LIST("BUFFER_PROFILE", "buffer-profile", "name");
	static const struct mf_config_table by_queue =
		LIST("BUFFER_QUEUE", "buffer-queue", "port", "qindex");
	char name[PORT_NAME];

	mf_config_table(&s->w, &pools);
	mf_config_row(&s->w, "egress_lossy_pool", NULL);
	put_text(s, "type", "egress");
	put_text(s, "mode", "static");
	put_text(s, "size", "%" PRIu64, pool_bytes(s));
	mf_config_table(&s->w, &profiles);
	for_sorts(s, put_data_profile);
	mf_config_row(&s->w, "mrc_drop", NULL);
	put_text(s, "pool", "egress_lossy_pool");
	put_text(s, "size", "0");
	put_text(s, "static_th", "%" PRIu64, CONTROL_BYTES);
	put_text(s, "packet_discard_action", "drop");
	mf_config_table(&s->w, &by_queue);
	for (uint32_t port = 0; port < s->ports; port++)
		for (size_t q = 0; q < QUEUES; q++) {
			mf_config_row(&s->w, port_name(s, port, name), queues[q].index);
			if (queues[q].data)
				put_text(s, "profile", "mrc_trim_%s", port_sort(s, port));
			else
				put_text(s, "profile", "mrc_drop");
		}
}

/* REQ(plan.emit.thresholds) */
static void put_marking(struct sonic *s, uint32_t port)
{
	struct mf_queue_bytes bytes = mf_queue_bytes(s->t, link_kind(s, port), false);
	char name[32];

	if (mf_queue_last_hop(s->t, s->node, port))
		return;
	snprintf(name, sizeof(name), "mrc_ecn_%s", port_sort(s, port));
	mf_config_row(&s->w, name, NULL);
	put_text(s, "ecn", "ecn_all");
	put_bare(s, "wred_green_enable", "true");
	put_text(s, "green_min_threshold", "%" PRIu64, bytes.ecn_min);
	put_text(s, "green_max_threshold", "%" PRIu64, bytes.ecn_max);
	put_text(s, "green_drop_probability", "100");
}

static void put_scheduler(struct sonic *s, const char *name, const char *type, unsigned weight)
{
	mf_config_row(&s->w, name, NULL);
	put_text(s, "type", "%s", type);
	if (weight)
		put_bare(s, "weight", "%u", weight);
}

static void put_queues(struct sonic *s)
{
	static const struct mf_config_table wred = LIST("WRED_PROFILE", "wred-profile", "name");
	static const struct mf_config_table schedulers = LIST("SCHEDULER", "scheduler", "name");
	static const struct mf_config_table by_queue = LIST("QUEUE", "queue", "ifname", "qindex");
	char name[PORT_NAME];

	mf_config_table(&s->w, &wred);
	for_sorts(s, put_marking);
	mf_config_table(&s->w, &schedulers);
	put_scheduler(s, "control", "STRICT", 0);
	put_scheduler(s, "retx", "DWRR", 60);
	put_scheduler(s, "data", "DWRR", 30);
	put_scheduler(s, "other", "DWRR", 10);
	mf_config_table(&s->w, &by_queue);
	for (uint32_t port = 0; port < s->ports; port++)
		for (size_t q = 0; q < QUEUES; q++) {
			mf_config_row(&s->w, port_name(s, port, name), queues[q].index);
			put_text(s, "scheduler", "%s", queues[q].scheduler);
			if (queues[q].data && !mf_queue_last_hop(s->t, s->node, port))
				put_text(s, "wred_profile", "mrc_ecn_%s", port_sort(s, port));
		}
}

void mf_emit_sonic(FILE *to, const struct mf_topology *t, uint32_t node,
		   const struct mf_emit_options *o, enum mf_sonic_form form)
{
	enum mf_tier tier = mf_node_at(t, node).tier;
	struct sonic s = {
		.t = t, .o = o, .node = node, .ports = mf_node_ports(t, tier), .tier = tier};

	mf_config_begin(&s.w, to, form);
	put_metadata(&s);
	put_ports(&s);
	put_interfaces(&s);
	put_uns(&s);
	put_routes(&s);
	put_classes(&s);
	put_trimming(&s);
	put_port_maps(&s);
	put_buffers(&s);
	put_queues(&s);
	mf_config_end(&s.w);
}
