/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SONiC's config_db.json against a schema of our own: src/fabric/emit_sonic.c. The schema is a
 * table of what SONiC's YANG modules and high-level designs say of the fields that are written:
 * which there are, what each may hold, which row of another table it names. REQ(plan.emit.sonic)
 */
#include "emit_fixture.h"

#include <arpa/inet.h>
#include <jansson.h>

/* What a value, or a part of a key, may be. */
enum shape {
	ANY,
	NUMBER, /* min .. max */
	ONE_OF, /* words with | between */
	ADDRESS,
	PREFIX,
	LANES,	   /* numbers with commas */
	ROW,	   /* the key of a row of the table `words` */
	PORTS,	   /* such keys of PORT with commas */
	HOPS,	   /* link-local addresses with commas */
	NUMBER_OR, /* a number, or one of the words */
};

struct field {
	const char *table, *name;
	enum shape shape;
	unsigned long min, max;
	const char *words;
	bool optional;
};

/* Names that begin with # are parts of keys. */
static const struct field schema[] = {
	{"DEVICE_METADATA", "#0", ONE_OF, 0, 0, "localhost", false},
	{"DEVICE_METADATA", "hostname", ANY, 0, 0, NULL, false},
	{"DEVICE_METADATA", "type", ONE_OF, 0, 0, "ToRRouter|LeafRouter|SpineRouter", false},
	{"DEVICE_METADATA", "buffer_model", ONE_OF, 0, 0, "dynamic|traditional", false},
	{"PORT", "#0", ANY, 0, 0, NULL, false},
	{"PORT", "alias", ANY, 0, 0, NULL, false},
	{"PORT", "lanes", LANES, 1, 512, NULL, false},
	{"PORT", "speed", NUMBER, 1, 1600000, NULL, false},
	{"PORT", "mtu", NUMBER, 68, 9216, NULL, false},
	{"PORT", "index", NUMBER, 0, 65535, NULL, false},
	{"PORT", "admin_status", ONE_OF, 0, 0, "up|down", false},
	{"INTERFACE", "#0", ROW, 0, 0, "PORT", false},
	{"INTERFACE", "#1", PREFIX, 0, 0, NULL, true},
	{"INTERFACE", "ipv6_use_link_local_only", ONE_OF, 0, 0, "enable|disable", true},
	{"SRV6_MY_LOCATORS", "#0", ANY, 0, 0, NULL, false},
	{"SRV6_MY_LOCATORS", "prefix", ADDRESS, 0, 0, NULL, false},
	{"SRV6_MY_LOCATORS", "block_len", NUMBER, 32, 32, NULL, false},
	{"SRV6_MY_LOCATORS", "node_len", NUMBER, 16, 16, NULL, false},
	{"SRV6_MY_LOCATORS", "func_len", NUMBER, 0, 128, NULL, false},
	{"SRV6_MY_LOCATORS", "arg_len", NUMBER, 0, 128, NULL, false},
	{"SRV6_MY_SIDS", "#0", ROW, 0, 0, "SRV6_MY_LOCATORS", false},
	{"SRV6_MY_SIDS", "#1", PREFIX, 48, 48, NULL, false},
	{"SRV6_MY_SIDS", "action", ONE_OF, 0, 0, "uN", false},
	{"SRV6_MY_SIDS", "decap_dscp_mode", ONE_OF, 0, 0, "uniform|pipe", false},
	{"STATIC_ROUTE", "#0", ONE_OF, 0, 0, "default", false},
	{"STATIC_ROUTE", "#1", PREFIX, 0, 128, NULL, false},
	{"STATIC_ROUTE", "nexthop", HOPS, 0, 0, NULL, true},
	{"STATIC_ROUTE", "ifname", PORTS, 0, 0, NULL, true},
	{"STATIC_ROUTE", "blackhole", ONE_OF, 0, 0, "true|false", true},
	{"DSCP_TO_TC_MAP", "#0", ANY, 0, 0, NULL, false},
	{"TC_TO_QUEUE_MAP", "#0", ANY, 0, 0, NULL, false},
	{"SWITCH_TRIMMING", "#0", ONE_OF, 0, 0, "GLOBAL", false},
	{"SWITCH_TRIMMING", "size", NUMBER, 64, 4084, NULL, false},
	{"SWITCH_TRIMMING", "dscp_value", NUMBER_OR, 0, 63, "from-tc", false},
	{"SWITCH_TRIMMING", "tc_value", NUMBER, 0, 15, NULL, true},
	{"SWITCH_TRIMMING", "queue_index", NUMBER_OR, 0, 9, "dynamic", false},
	{"TC_TO_DSCP_MAP", "#0", ANY, 0, 0, NULL, false},
	{"PORT_QOS_MAP", "#0", ROW, 0, 0, "PORT", false},
	{"PORT_QOS_MAP", "dscp_to_tc_map", ROW, 0, 0, "DSCP_TO_TC_MAP", false},
	{"PORT_QOS_MAP", "tc_to_queue_map", ROW, 0, 0, "TC_TO_QUEUE_MAP", false},
	{"PORT_QOS_MAP", "tc_to_dscp_map", ROW, 0, 0, "TC_TO_DSCP_MAP", true},
	{"BUFFER_POOL", "#0", ANY, 0, 0, NULL, false},
	{"BUFFER_POOL", "type", ONE_OF, 0, 0, "ingress|egress|both", false},
	{"BUFFER_POOL", "mode", ONE_OF, 0, 0, "static|dynamic", false},
	{"BUFFER_POOL", "size", NUMBER, 1, 1ul << 30, NULL, false},
	{"BUFFER_PROFILE", "#0", ANY, 0, 0, NULL, false},
	{"BUFFER_PROFILE", "pool", ROW, 0, 0, "BUFFER_POOL", false},
	{"BUFFER_PROFILE", "size", NUMBER, 0, 0, NULL, false},
	{"BUFFER_PROFILE", "static_th", NUMBER, 1, 1ul << 30, NULL, false},
	{"BUFFER_PROFILE", "packet_discard_action", ONE_OF, 0, 0, "drop|trim", false},
	{"BUFFER_QUEUE", "#0", ROW, 0, 0, "PORT", false},
	{"BUFFER_QUEUE", "#1", NUMBER, 0, 9, NULL, false},
	{"BUFFER_QUEUE", "profile", ROW, 0, 0, "BUFFER_PROFILE", false},
	{"WRED_PROFILE", "#0", ANY, 0, 0, NULL, false},
	{"WRED_PROFILE", "ecn", ONE_OF, 0, 0, "ecn_all", false},
	{"WRED_PROFILE", "wred_green_enable", ONE_OF, 0, 0, "true", false},
	{"WRED_PROFILE", "green_min_threshold", NUMBER, 1, 1ul << 30, NULL, false},
	{"WRED_PROFILE", "green_max_threshold", NUMBER, 1, 1ul << 30, NULL, false},
	{"WRED_PROFILE", "green_drop_probability", NUMBER, 0, 100, NULL, false},
	{"SCHEDULER", "#0", ANY, 0, 0, NULL, false},
	{"SCHEDULER", "type", ONE_OF, 0, 0, "DWRR|WRR|STRICT", false},
	{"SCHEDULER", "weight", NUMBER, 1, 100, NULL, true},
	{"QUEUE", "#0", ROW, 0, 0, "PORT", false},
	{"QUEUE", "#1", NUMBER, 0, 9, NULL, false},
	{"QUEUE", "scheduler", ROW, 0, 0, "SCHEDULER", false},
	{"QUEUE", "wred_profile", ROW, 0, 0, "WRED_PROFILE", true},
};

#define SCHEMA (sizeof(schema) / sizeof(schema[0]))

static bool is_map(const char *table)
{
	return strstr(table, "_MAP") && strcmp(table, "PORT_QOS_MAP") != 0;
}

static const struct field *find_field(const char *table, const char *name)
{
	for (size_t i = 0; i < SCHEMA; i++)
		if (strcmp(schema[i].table, table) == 0 && strcmp(schema[i].name, name) == 0)
			return &schema[i];
	return NULL;
}

static bool number_fits(const char *text, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && n >= min && n <= max;
}

static bool word_fits(const char *text, const char *words)
{
	size_t len = strlen(text);

	for (const char *at = words; at && *at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, text, len) == 0 && (at[len] == '|' || !at[len]))
			return true;
	}
	return false;
}

static bool prefix_fits(const char *text, const struct field *f)
{
	char address[64];
	uint8_t bytes[16];
	const char *slash = strchr(text, '/');

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	return inet_pton(AF_INET6, address, bytes) == 1 &&
	       number_fits(slash + 1, f->min, f->max ? f->max : 128);
}

/* Each of the words with commas between. */
static bool list_fits(json_t *root, const char *text, const struct field *f)
{
	char list[8192], *rest = list, *word;
	uint8_t bytes[16];

	snprintf(list, sizeof(list), "%s", text);
	while ((word = strsep(&rest, ",")))
		if (f->shape == LANES	? !number_fits(word, f->min, f->max)
		    : f->shape == PORTS ? !json_object_get(json_object_get(root, "PORT"), word)
					: inet_pton(AF_INET6, word, bytes) != 1)
			return false;
	return true;
}

static bool fits(json_t *root, const char *text, const struct field *f)
{
	uint8_t bytes[16];

	switch (f->shape) {
	case ANY:
		return *text != '\0';
	case NUMBER:
		return number_fits(text, f->min, f->max);
	case ONE_OF:
		return word_fits(text, f->words);
	case NUMBER_OR:
		return number_fits(text, f->min, f->max) || word_fits(text, f->words);
	case ADDRESS:
		return inet_pton(AF_INET6, text, bytes) == 1;
	case PREFIX:
		return prefix_fits(text, f);
	case ROW:
		return json_object_get(json_object_get(root, f->words), text) != NULL;
	case LANES:
	case PORTS:
	case HOPS:
		return list_fits(root, text, f);
	}
	return false;
}

static void check_value(json_t *root, const char *table, const char *name, const char *text)
{
	const struct field *f = find_field(table, name);

	if (!f || !fits(root, text, f))
		fail_msg("%s %s = %s: %s", table, name, text, f ? "not allowed" : "no such field");
}

static void check_key(json_t *root, const char *table, const char *key)
{
	char copy[200], *rest = copy, *part, name[] = "#0";

	snprintf(copy, sizeof(copy), "%s", key);
	for (; (part = strsep(&rest, "|")); name[1]++)
		check_value(root, table, name, part);
	if (find_field(table, name) && !find_field(table, name)->optional)
		fail_msg("%s: key %s is too short", table, key);
}

static void check_row(json_t *root, const char *table, const char *key, json_t *row)
{
	const char *name;
	json_t *value;

	check_key(root, table, key);
	json_object_foreach(row, name, value)
	{
		assert_true(json_is_string(value)); /* all of them, numbers too */
		if (is_map(table))
			assert_true(number_fits(name, 0, 63) &&
				    number_fits(json_string_value(value), 0, 63));
		else
			check_value(root, table, name, json_string_value(value));
	}
	if (strchr(key, '|') && strcmp(table, "INTERFACE") == 0)
		return; /* an address has no fields */
	for (size_t i = 0; i < SCHEMA; i++)
		if (strcmp(schema[i].table, table) == 0 && schema[i].name[0] != '#' &&
		    !schema[i].optional && !json_object_get(row, schema[i].name))
			fail_msg("%s %s: no %s", table, key, schema[i].name);
}

static json_t *emit(struct emit_fixture *b, uint32_t node)
{
	json_error_t error;
	json_t *root;

	mf_emit_sonic(b->to, &b->t, node, &b->o, MF_SONIC_CONFIG_DB);
	root = json_loads(fixture_text(b), JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	fixture_again(b);
	return root;
}

static void check_switch(struct emit_fixture *b, uint32_t node)
{
	json_t *root = emit(b, node), *table, *row;
	const char *name, *key;

	json_object_foreach(root, name, table)
	{
		json_object_foreach(table, key, row)
		{
			check_row(root, name, key, row);
		}
	}
	json_decref(root);
}

static void check_fabric(const char *preset, uint32_t step)
{
	struct emit_fixture b;

	for (int trim = MF_TRIM_SYMMETRIC; trim <= MF_TRIM_ASYMMETRIC; trim++) {
		fixture_begin(&b, preset);
		b.o.trim = (enum mf_trim_marks)trim;
		b.o.sets = trim ? MF_ROUTES_ALL : MF_ROUTES_SRV6;
		for (uint32_t i = 0; i < b.t.n_switches; i += step)
			check_switch(&b, b.t.n_hosts + i);
		fixture_end(&b);
	}
}

TEST(mf_emit_sonic, schema_of_every_switch_of_small_fabrics)
{
	check_fabric("tiny", 1);
	check_fabric("lab", 1);
}

TEST(mf_emit_sonic, schema_of_some_switches_of_large_fabrics)
{
	check_fabric("paper", 4001);
	check_fabric("paper4", 301);
	check_fabric("threetier", 1999);
}

static const char *at(json_t *root, const char *table, const char *row, const char *field)
{
	return json_string_value(
		json_object_get(json_object_get(json_object_get(root, table), row), field));
}

/* REQ(plan.emit.trimming) */
TEST(mf_emit_sonic, trimming_symmetric)
{
	struct emit_fixture b;
	json_t *root;

	fixture_begin(&b, "lab");
	b.o.trim = MF_TRIM_SYMMETRIC;
	root = emit(&b, fixture_node(&b, "plane0.t0-0"));
	assert_string_equal(at(root, "SWITCH_TRIMMING", "GLOBAL", "dscp_value"), "12");
	assert_string_equal(at(root, "SWITCH_TRIMMING", "GLOBAL", "size"), "128");
	assert_null(json_object_get(root, "TC_TO_DSCP_MAP"));
	json_decref(root);
	fixture_end(&b);
}

/* Another DSCP towards hosts than towards T1s. REQ(plan.emit.trimming) */
TEST(mf_emit_sonic, trimming_asymmetric)
{
	struct emit_fixture b;
	json_t *root;

	fixture_begin(&b, "lab");
	root = emit(&b, fixture_node(&b, "plane0.t0-0"));
	assert_string_equal(at(root, "SWITCH_TRIMMING", "GLOBAL", "dscp_value"), "from-tc");
	assert_string_equal(at(root, "SWITCH_TRIMMING", "GLOBAL", "tc_value"), "5");
	assert_string_equal(at(root, "TC_TO_DSCP_MAP", "mrc_trim", "5"), "12");
	assert_string_equal(at(root, "TC_TO_DSCP_MAP", "mrc_trim_last_hop", "5"), "16");
	assert_string_equal(at(root, "PORT_QOS_MAP", "Ethernet3", "tc_to_dscp_map"),
			    "mrc_trim_last_hop");
	assert_string_equal(at(root, "PORT_QOS_MAP", "Ethernet4", "tc_to_dscp_map"), "mrc_trim");
	json_decref(root);
	fixture_end(&b);
}

/* REQ(wire.dscp.values) REQ(plan.emit.classes) */
TEST(mf_emit_sonic, dscp_map_of_the_fabric)
{
	struct emit_fixture b;
	json_t *root;

	fixture_begin(&b, "lab");
	b.t.cfg.dscp = (struct mw_dscp_map){.code = {1, 2, 2, 3, 5, 48}};
	root = emit(&b, fixture_node(&b, "plane0.t0-0"));
	assert_u_eq(
		json_object_size(json_object_get(json_object_get(root, "DSCP_TO_TC_MAP"), "mrc")),
		5);
	assert_string_equal(at(root, "DSCP_TO_TC_MAP", "mrc", "1"), "1");
	assert_string_equal(at(root, "DSCP_TO_TC_MAP", "mrc", "2"), "3");
	assert_string_equal(at(root, "DSCP_TO_TC_MAP", "mrc", "3"), "6");
	assert_string_equal(at(root, "DSCP_TO_TC_MAP", "mrc", "48"), "6");
	assert_string_equal(at(root, "TC_TO_DSCP_MAP", "mrc_trim", "5"), "3");
	assert_string_equal(at(root, "TC_TO_DSCP_MAP", "mrc_trim_last_hop", "5"), "5");
	json_decref(root);
	fixture_end(&b);
}

/* ECN everywhere but on the last hop. REQ(plan.emit.thresholds) REQ(plan.emit.classes) */
TEST(mf_emit_sonic, marks_data_but_not_on_the_last_hop)
{
	struct emit_fixture b;
	json_t *root;

	fixture_begin(&b, "lab");
	root = emit(&b, fixture_node(&b, "plane0.t0-0"));
	assert_null(at(root, "QUEUE", "Ethernet0|3", "wred_profile"));
	assert_string_equal(at(root, "QUEUE", "Ethernet4|3", "wred_profile"), "mrc_ecn_up");
	assert_string_equal(at(root, "QUEUE", "Ethernet4|4", "wred_profile"), "mrc_ecn_up");
	assert_null(at(root, "QUEUE", "Ethernet4|6", "wred_profile"));
	assert_string_equal(at(root, "BUFFER_QUEUE", "Ethernet0|3", "profile"),
			    "mrc_trim_last_hop");
	assert_string_equal(at(root, "BUFFER_QUEUE", "Ethernet0|6", "profile"), "mrc_drop");
	assert_string_equal(at(root, "DSCP_TO_TC_MAP", "mrc", "46"), "6");
	assert_string_equal(at(root, "DSCP_TO_TC_MAP", "mrc", "4"), "3");
	json_decref(root);
	fixture_end(&b);
}

TEST(mf_emit_sonic, routes_and_sids)
{
	struct emit_fixture b;
	json_t *root;

	fixture_begin(&b, "lab");
	root = emit(&b, fixture_node(&b, "plane2.t0-1"));
	assert_string_equal(at(root, "SRV6_MY_SIDS", "mrc|fcbb:bb02:a001::/48", "action"), "uN");
	assert_string_equal(at(root, "STATIC_ROUTE", "default|fcbb:bb02:5::/48", "ifname"),
			    "Ethernet0");
	assert_string_equal(at(root, "STATIC_ROUTE", "default|fcbb:bb02:b001::/48", "ifname"),
			    "Ethernet5");
	assert_string_equal(at(root, "STATIC_ROUTE", "default|fcbb:bb02:b001::/48", "nexthop"),
			    "fe80::2");
	assert_string_equal(at(root, "STATIC_ROUTE", "default|::/0", "blackhole"), "true");
	json_decref(root);
	fixture_end(&b);
}
