/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_env.c - every variable: its default, what it accepts, and each kind of wrong value. */
#include "store/store.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "host/config/env.h"

static const char *const env_names[] = {
	"MRC_PORTS",	      "MRC_PORT_PREFIX",   "MRC_EVS",
	"MRC_EV_BASE",	      "MRC_PACE",	   "MRC_MTU",
	"MRC_SVC_TIME",	      "MRC_ICRC",	   "MRC_ORDER",
	"MRC_FAULTS",	      "MRC_STATS_DIR",	   "MRC_STATS_KEEP",
	"MRC_RTO_MIN_US",     "MRC_TAIL_PROBE_US", "MRC_REORDER_MIN_US",
	"MRC_REORDER_MAX_US", "MRC_PROBE_US",	   "MRC_CC",
	"MRC_BASE_RTT_US",    "MRC_CONFIG",	   "MRC_RX_BUFFER",
	"MRC_EV_FORMAT",      "MRC_DRIVER",	   "MRC_CAPTURE",
	"MRC_UDP_PORT",	      "MRC_DEVICES",	   "MRC_PRIORITY",
	"MRC_SHARDS",	      "MRC_MEMORY",	   "MRC_REAL_IBVERBS",
	"MRC_DSCP",	      "MRC_LOG",	   "MRC_LOG_FORMAT",
	"MRC_STATS_GROUP",    "MRC_NODE_DIR",
};

static int env_clear(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(env_names) / sizeof(env_names[0]); i++)
		unsetenv(env_names[i]);
	setenv("MRC_CONFIG", "/dev/null", 1);
	return 0;
}

#define ENV_TEST(name) TEST_WITH(env_clear, env_clear, mh_env_read, name)

static struct mh_env env_good(void)
{
	struct mh_env_error error = {""};
	struct mh_env env;

	if (mh_env_read(&env, 0, &error))
		fail_msg("%s", error.text);
	return env;
}

/* env_bad sets a variable and expects an error that names it, its value and `why`. */
static void env_bad(const char *name, const char *value, const char *why)
{
	struct mh_env_error error = {""};
	struct mh_env env;
	char start[200];

	setenv(name, value, 1);
	snprintf(start, sizeof(start), "%s=%s: ", name, value);
	if (mh_env_read(&env, 0, &error) != EINVAL)
		fail_msg("%s=%s was accepted", name, value);
	if (strncmp(error.text, start, strlen(start)) != 0 || !strstr(error.text, why))
		fail_msg("\"%s\" does not begin with \"%s\" or name \"%s\"", error.text, start,
			 why);
	unsetenv(name);
}

/* The one port is that of the default route, or without one this host's own. */
ENV_TEST(defaults)
{
	struct mh_env env = env_good();
	char name[IF_NAMESIZE];
	uint8_t ip[16];

	assert_u_eq(env.n_ports, 1);
	assert_string_equal(env.port[0].ifname, "");
	if (!mh_iface_default(name) || !mh_iface_address(name, ip))
		mh_addr_from_ip(0x7F000001, ip);
	assert_memory_equal(env.port[0].ip, ip, 16);
	assert_u_eq(env.prefix, mh_addr_is_ipv4(ip) ? 96 : 0);
	assert_u_eq(env.rx_buffer_bytes, 16u << 20);
	assert_u_eq(env.ev_format, MW_EV_UDP);
	assert_u_eq(env.evs, 8);
	assert_u_eq(env.ev_base, 49152);
	assert_true(env.ev_base_any);
	assert_u_eq(env.pace_bps, 0);
	assert_u_between(env.mtu, 256, 4096);
	assert_true(env.icrc);
	assert_u_eq(env.priority, 10);
	assert_u_eq(env.shards, 1);
	assert_string_equal(env.faults, "");
	assert_string_equal(env.stats_dir, "");
	assert_u_eq(env.cc, MT_CC_NONE);
	assert_u_eq(env.base_rtt_ns, 200000);
	assert_u_eq(env.probe_ns, 20000000);
	assert_u_eq(env.rto_min_ns, 20000000);
	assert_u_eq(env.tail_probe_ns, 6000000);
	assert_u_eq(env.reorder_min_ns, 3000000);
	assert_u_eq(env.reorder_max_ns, 10000000);
}

/* Two devices have two ports each; alone each has a subnet of its own rule. */
ENV_TEST(ports_are_dealt_to_devices)
{
	struct mh_env_error error = {""};
	struct mh_env env;
	uint8_t ip[16];

	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1,127.0.0.2,127.0.1.2", 1);
	setenv("MRC_DEVICES", "2", 1);
	setenv("MRC_CAPTURE", "/tmp/c", 1);
	assert_i_eq(mh_env_read(&env, 1, &error), 0);
	assert_u_eq(env.n_ports, 2);
	assert_u_eq(env.prefix, 96 + 24);
	mh_addr_from_ip(0x7F000002, ip);
	assert_memory_equal(env.port[0].ip, ip, 16);
	assert_string_equal(env.capture, "/tmp/c.mrc1");
	assert_i_eq(mh_env_read(&env, 0, &error), 0);
	mh_addr_from_ip(0x7F000101, ip);
	assert_memory_equal(env.port[1].ip, ip, 16);
	assert_string_equal(env.capture, "/tmp/c");
	assert_i_eq(mh_env_read(&env, 2, &error), ENODEV);
	assert_string_equal(error.text,
			    "there is no device mrc2: MRC_DEVICES (ports.devices) is 2");
	setenv("MRC_DEVICES", "4", 1);
	assert_i_eq(mh_env_read(&env, 3, &error), 0);
	assert_u_eq(env.prefix, 96); /* one port: whoever reaches it is a peer */
	env_bad("MRC_DEVICES", "3", "must divide the number of ports");
	env_bad("MRC_DEVICES", "9", "must be a number, 1 to 8 (devices)");
}

/* REQ(api.shards) */
ENV_TEST(shards_share_pace_and_memory_and_have_captures_of_their_own)
{
	struct mh_env_error error = {""};
	char path[MH_PATH_MAX];
	struct mh_env env, own;

	setenv("MRC_SHARDS", "4", 1);
	setenv("MRC_PACE", "8G", 1);
	setenv("MRC_MEMORY", "64", 1);
	setenv("MRC_CAPTURE", "/tmp/c", 1);
	env = env_good();
	assert_u_eq(env.shards, 4);
	mh_env_of_shard(&env, 0, &own);
	assert_string_equal(own.capture, "/tmp/c");
	mh_env_of_shard(&env, 3, &own);
	assert_u_eq(own.shard, 3);
	assert_string_equal(own.capture, "/tmp/c.3");
	assert_u_eq(own.pace_bps, UINT64_C(8000000000));
	assert_u_eq(mh_env_shard_pace(&own), UINT64_C(2000000000));
	assert_u_eq(mh_env_shard_memory(&own), 16u << 20);
	memset(path, 'c', sizeof(path));
	path[MH_PATH_MAX - 1] = '\0';
	setenv("MRC_CAPTURE", path, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EINVAL);
	assert_non_null(strstr(error.text, "names of further devices and shards are appended"));
	path[MH_PATH_MAX - 3] = '\0';
	setenv("MRC_CAPTURE", path, 1);
	env = env_good();
	mh_env_of_shard(&env, 7, &own);
	assert_u_eq(strlen(own.capture), MH_PATH_MAX - 1);
	env_bad("MRC_SHARDS", "0", "must be a number, 1 to 8 (engines)");
	env_bad("MRC_SHARDS", "9", "must be a number, 1 to 8 (engines)");
	env_bad("MRC_SHARDS", "two", "must be a number, 1 to 8 (engines)");
}

ENV_TEST(empty_counts_as_not_set)
{
	for (size_t i = 0; i < sizeof(env_names) / sizeof(env_names[0]); i++)
		setenv(env_names[i], "", 1);
	if (access(MB_CONFIG_FILE, F_OK) == 0)
		test_skip("this host has " MB_CONFIG_FILE);
	assert_u_eq(env_good().n_ports, 1);
	assert_string_equal(env_good().faults, "");
}

ENV_TEST(numbers_reach_their_fields)
{
	struct mh_env env;

	setenv("MRC_PORT_PREFIX", "16", 1);
	setenv("MRC_EVS", "64", 1);
	setenv("MRC_EV_BASE", "65472", 1);
	setenv("MRC_MTU", "1024", 1);
	setenv("MRC_BASE_RTT_US", "7", 1);
	setenv("MRC_PROBE_US", "101", 1);
	setenv("MRC_RTO_MIN_US", "102", 1);
	setenv("MRC_TAIL_PROBE_US", "103", 1);
	setenv("MRC_REORDER_MIN_US", "104", 1);
	setenv("MRC_REORDER_MAX_US", "104", 1);
	env = env_good();
	assert_u_eq(env.prefix, 96 + 16);
	assert_u_eq(env.evs, 64);
	assert_u_eq(env.ev_base, 65472);
	assert_false(env.ev_base_any);
	assert_u_eq(env.mtu, 1024);
	assert_u_eq(env.base_rtt_ns, 7000);
	assert_u_eq(env.probe_ns, 101000);
	assert_u_eq(env.rto_min_ns, 102000);
	assert_u_eq(env.tail_probe_ns, 103000);
	assert_u_eq(env.reorder_min_ns, 104000);
	assert_u_eq(env.reorder_max_ns, 104000);
}

/* Each base holds the EVs of any configuration, and is fit for SRv6 paths. */
TEST_WITH(env_clear, env_clear, mh_env_next_ev_base, goes_through_all)
{
	struct mh_env env = env_good();
	uint32_t tried = 1;

	while (mh_env_next_ev_base(&env)) {
		assert_u_eq(env.ev_base, 61056 + (tried - 1) * 64);
		assert_u_eq(env.srv6.free * MH_SRV6_PLANES_MAX, env.ev_base);
		tried++;
	}
	assert_u_eq(tried, 17);
	assert_u_eq(env.ev_base, 62016);
}

TEST_WITH(env_clear, env_clear, mh_env_next_ev_base, stays_where_it_was_asked_to_be)
{
	struct mh_env env;

	setenv("MRC_EV_BASE", "49152", 1);
	env = env_good();
	assert_false(mh_env_next_ev_base(&env));
	assert_u_eq(env.ev_base, 49152);
}

ENV_TEST(wrong_numbers)
{
	static const struct {
		const char *name, *value, *why;
	} rows[] = {
		{"MRC_PORT_PREFIX", "32", "0 to 31"},
		{"MRC_PORT_PREFIX", "-1", "0 to 31"},
		{"MRC_PORT_PREFIX", "24x", "0 to 31"},
		{"MRC_PORT_PREFIX", " 24", "0 to 31"},
		{"MRC_EVS", "0", "1 to 64"},
		{"MRC_EVS", "65", "1 to 64"},
		{"MRC_EVS", "eight", "1 to 64"},
		{"MRC_EV_BASE", "1023", "1024 to 65535"},
		{"MRC_EV_BASE", "65536", "1024 to 65535"},
		{"MRC_EV_BASE", "65530", "at most 65528"},
		{"MRC_MTU", "255", "256, 512, 1024, 2048 or 4096"},
		{"MRC_MTU", "4097", "256, 512, 1024, 2048 or 4096"},
		{"MRC_MTU", "1500", "256, 512, 1024, 2048 or 4096"},
		{"MRC_BASE_RTT_US", "0", "1 to 1000000"},
		{"MRC_BASE_RTT_US", "1000001", "1 to 1000000"},
		{"MRC_PROBE_US", "99", "100 to 10000000"},
		{"MRC_PROBE_US", "10000001", "100 to 10000000"},
		{"MRC_RTO_MIN_US", "99", "100 to 10000000"},
		{"MRC_RTO_MIN_US", "0x100", "100 to 10000000"},
		{"MRC_RTO_MIN_US", "99999999999999999999999", "100 to 10000000"},
		{"MRC_TAIL_PROBE_US", "9", "10 to 10000000"},
		{"MRC_REORDER_MIN_US", "0", "1 to 10000000"},
		{"MRC_REORDER_MIN_US", "10001", "MRC_REORDER_MAX_US"},
		{"MRC_REORDER_MAX_US", "2999", "MRC_REORDER_MIN_US"},
		{"MRC_RX_BUFFER", "65535", "65536 to 1073741824"},
		{"MRC_REORDER_MAX_US", "1.5", "1 to 10000000"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		env_bad(rows[i].name, rows[i].value, rows[i].why);
}

ENV_TEST(ports)
{
	struct mh_env env;

	setenv("MRC_PORTS", "10.0.0.1,10.0.1.1%eth1,10.0.2.1%a23456789012345", 1);
	env = env_good();
	assert_u_eq(env.n_ports, 3);
	assert_u_eq(mb_load_be32(env.port[1].ip + 12), 0x0A000101);
	assert_true(mh_addr_is_ipv4(env.port[1].ip));
	assert_u_eq(env.prefix, 96 + 24);
	assert_string_equal(env.port[0].ifname, "");
	assert_string_equal(env.port[1].ifname, "eth1");
	assert_string_equal(env.port[2].ifname, "a23456789012345");
}

ENV_TEST(one_address_on_several_interfaces)
{
	setenv("MRC_PORTS", "10.0.0.1%eth0,10.0.0.1%eth1", 1);
	assert_u_eq(env_good().n_ports, 2);
}

ENV_TEST(wrong_ports)
{
	static const struct {
		const char *value, *why;
	} rows[] = {
		{"10.0.0.1,", "1 to 15 characters"},
		{",", "1 to 15 characters"},
		{"10.0.0", "nor an interface"},
		{"10.0.0.256", "nor an interface"},
		{"10.0.0.1 ,10.0.1.1", "nor an interface"},
		{"nosuchif0", "nor an interface"},
		{"nosuchif0%eth0", "before %"},
		{"10.0.0.1%", "1 to 15 characters"},
		{"10.0.0.1%a234567890123456", "1 to 15 characters"},
		{"fe80::1", "no single interface"},
		{"::", "no single interface"},
		{"ff02::1", "no single interface"},
		{"10.0.0.1,fd00::1", "mixes"},
		{"fd00:0:0:1::1,fd00::2", "last 64 bits"},
		{"0.0.0.0", "no single interface"},
		{"224.0.0.1", "no single interface"},
		{"255.255.255.255", "no single interface"},
		{"10.0.0.1,10.0.0.1", "twice"},
		{"10.0.0.1%eth0,10.0.0.1%eth0", "twice"},
		{"10.0.0.1,10.0.1.2", "last 8 bits"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		env_bad("MRC_PORTS", rows[i].value, rows[i].why);
}

ENV_TEST(ipv6_ports)
{
	struct mh_env env;

	setenv("MRC_PORTS", "fd00::1,fd00:0:0:1::1", 1);
	env = env_good();
	assert_u_eq(env.port[1].ip[7], 1);
	assert_u_eq(env.prefix, 64);
	setenv("MRC_PORT_PREFIX", "48", 1);
	setenv("MRC_PORTS", "fd00::1,fd00:0:1::1", 1);
	assert_u_eq(env_good().prefix, 48);
	env_bad("MRC_PORT_PREFIX", "128", "0 to 127");
}

ENV_TEST(interfaces_stand_for_their_addresses)
{
	struct mh_env env;

	setenv("MRC_PORTS", "lo", 1);
	env = env_good();
	assert_u_eq(mb_load_be32(env.port[0].ip + 12), 0x7F000001);
	assert_string_equal(env.port[0].ifname, ""); /* alone: need not be bound */
	setenv("MRC_PORTS", "127.0.0.1,lo", 1);
	env = env_good();
	assert_string_equal(env.port[1].ifname, "lo"); /* shares its address */
	env_bad("MRC_PORTS", "lo,lo", "twice");
}

ENV_TEST(mtu_fits_the_smallest_port)
{
	setenv("MRC_PORTS", "lo", 1);
	assert_u_eq(env_good().mtu, 4096);
	setenv("MRC_MTU", "512", 1);
	assert_u_eq(env_good().mtu, 512);
}

ENV_TEST(ev_format)
{
	setenv("MRC_PORTS", "fd00::1", 1);
	setenv("MRC_EV_FORMAT", "udp", 1);
	assert_u_eq(env_good().ev_format, MW_EV_UDP);
	setenv("MRC_EV_FORMAT", "stev", 1);
	assert_u_eq(env_good().ev_format, MW_EV_STEV);
	env_bad("MRC_EV_FORMAT", "STEV", "udp or stev");
	setenv("MRC_PORTS", "10.0.0.1", 1);
	env_bad("MRC_EV_FORMAT", "stev", "IPv6");
}

ENV_TEST(at_most_32_ports)
{
	struct mh_env_error error;
	char list[1024] = "10.0.0.1";
	struct mh_env env;

	for (int i = 1; i < 32; i++)
		snprintf(list + strlen(list), 20, ",10.0.%d.1", i);
	setenv("MRC_PORTS", list, 1);
	assert_u_eq(env_good().n_ports, 32);
	strcat(list, ",10.0.32.1");
	setenv("MRC_PORTS", list, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EINVAL);
	assert_non_null(strstr(error.text, "more than 32 ports"));
	memset(list, '1', sizeof(list) - 1);
	list[sizeof(list) - 1] = '\0';
	setenv("MRC_PORTS", list, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EINVAL);
}

ENV_TEST(pace)
{
	static const struct {
		const char *value;
		uint64_t bps;
	} rows[] = {{"0", 0},
		    {"0G", 0},
		    {"1000k", 1000000},
		    {"50M", 50000000},
		    {"1000G", 1000000000000},
		    {"1234567", 1234567}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		setenv("MRC_PACE", rows[i].value, 1);
		assert_u_eq(env_good().pace_bps, rows[i].bps);
		assert_u_eq(env_good().cc, MT_CC_NONE);
	}
}

ENV_TEST(wrong_pace)
{
	static const char *const values[] = {
		"1001G", "999k", "50m", "50 M", "M", "50MB", "-1", "1.G", "18446744073709551616G"};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		env_bad("MRC_PACE", values[i], "1M to 1T");
}

ENV_TEST(cc)
{
	setenv("MRC_CC", "none", 1);
	setenv("MRC_PACE", "50M", 1);
	assert_u_eq(env_good().cc, MT_CC_NONE);
	setenv("MRC_CC", "nscc", 1);
	assert_u_eq(env_good().cc, MT_CC_NSCC);
	env_bad("MRC_CC", "NSCC", "none or nscc");
	unsetenv("MRC_PACE");
	env_bad("MRC_CC", "nscc", "needs MRC_PACE");
}

/* Each driver has its default; without a rate there is none. */
ENV_TEST(cc_of_the_driver)
{
	setenv("MRC_PORTS", "fd00::1", 1);
	setenv("MRC_DRIVER", "raw41", 1);
	assert_u_eq(env_good().cc, MT_CC_NONE);
	setenv("MRC_PACE", "10G", 1);
	assert_u_eq(env_good().cc, MT_CC_NSCC);
	setenv("MRC_CC", "none", 1);
	assert_u_eq(env_good().cc, MT_CC_NONE);
	unsetenv("MRC_CC");
	setenv("MRC_DRIVER", "udp", 1);
	assert_u_eq(env_good().cc, MT_CC_NONE);
}

/* REQ(rsp.svc-time) */
ENV_TEST(svc_time)
{
	assert_false(env_good().svc_time);
	setenv("MRC_SVC_TIME", "on", 1);
	assert_true(env_good().svc_time);
	setenv("MRC_SVC_TIME", "off", 1);
	assert_false(env_good().svc_time);
	env_bad("MRC_SVC_TIME", "1", "on or off");
}

ENV_TEST(order)
{
	assert_false(env_good().relaxed);
	setenv("MRC_ORDER", "relaxed", 1);
	assert_true(env_good().relaxed);
	setenv("MRC_ORDER", "strict", 1);
	assert_false(env_good().relaxed);
	env_bad("MRC_ORDER", "none", "strict or relaxed");
}

ENV_TEST(real_ibverbs)
{
	assert_string_equal(env_good().real_ibverbs, "auto");
	setenv("MRC_REAL_IBVERBS", "off", 1);
	assert_string_equal(env_good().real_ibverbs, "off");
	setenv("MRC_REAL_IBVERBS", "/usr/lib/libibverbs.so.1", 1);
	assert_string_equal(env_good().real_ibverbs, "/usr/lib/libibverbs.so.1");
	env_bad("MRC_REAL_IBVERBS", "libibverbs.so.1", "auto, off, or the path from /");
}

ENV_TEST(icrc)
{
	setenv("MRC_ICRC", "off", 1);
	assert_false(env_good().icrc);
	setenv("MRC_ICRC", "on", 1);
	assert_true(env_good().icrc);
	env_bad("MRC_ICRC", "yes", "on or off");
}

ENV_TEST(memory)
{
	assert_u_eq(env_good().memory_bytes, UINT64_C(4096) << 20);
	setenv("MRC_MEMORY", "16", 1);
	assert_u_eq(env_good().memory_bytes, 16u << 20);
	setenv("MRC_MEMORY", "1048576", 1);
	assert_u_eq(env_good().memory_bytes, UINT64_C(1) << 40);
	env_bad("MRC_MEMORY", "15", "16 to 1048576 (MiB)");
}

ENV_TEST(priority)
{
	setenv("MRC_PRIORITY", "0", 1);
	assert_u_eq(env_good().priority, 0);
	setenv("MRC_PRIORITY", "20", 1);
	assert_u_eq(env_good().priority, 20);
	env_bad("MRC_PRIORITY", "21", "0 to 20 (steps of nice)");
	env_bad("MRC_PRIORITY", "-5", "0 to 20");
}

ENV_TEST(stats_group)
{
	assert_u_eq(env_good().stats_group, MH_NO_GROUP);
	setenv("MRC_STATS_GROUP", "12345", 1);
	assert_u_eq(env_good().stats_group, 12345);
	setenv("MRC_STATS_GROUP", "root", 1);
	assert_u_eq(env_good().stats_group, 0);
	env_bad("MRC_STATS_GROUP", "no such group",
		"the name of a group of this host, or a number");
	env_bad("MRC_STATS_GROUP", "4294967295", "the name of a group");
	env_bad("MRC_STATS_GROUP", "-1", "the name of a group");
}

ENV_TEST(node_dir)
{
	struct mh_env_error error;
	struct mh_env env;
	char longest[300];

	assert_string_equal(env_good().node_dir, STORE_DIR_DEFAULT);
	setenv("MRC_NODE_DIR", "/tmp/x", 1);
	assert_string_equal(env_good().node_dir, "/tmp/x");
	setenv("MRC_NODE_DIR", "off", 1);
	assert_string_equal(env_good().node_dir, "");
	env_bad("MRC_NODE_DIR", "tmp/x", "off, or the path from / of a folder");
	memset(longest, '/', sizeof(longest));
	longest[255] = '\0';
	setenv("MRC_NODE_DIR", longest, 1);
	assert_string_equal(env_good().node_dir, longest);
	longest[255] = '/';
	longest[256] = '\0';
	setenv("MRC_NODE_DIR", longest, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EINVAL);
	assert_non_null(strstr(error.text, "at most 255 bytes"));
}

ENV_TEST(log)
{
	assert_int_equal(env_good().log_level, MRC_LOG_WARNING);
	assert_int_equal(env_good().log_format, MH_LOG_PLAIN);
	setenv("MRC_LOG", "off", 1);
	assert_int_equal(env_good().log_level, MRC_LOG_OFF);
	setenv("MRC_LOG", "warning", 1);
	assert_int_equal(env_good().log_level, MRC_LOG_WARNING);
	setenv("MRC_LOG", "debug", 1);
	setenv("MRC_LOG_FORMAT", "journald", 1);
	assert_int_equal(env_good().log_level, MRC_LOG_DEBUG);
	assert_int_equal(env_good().log_format, MH_LOG_JOURNALD);
	env_bad("MRC_LOG", "loud", "must be off, error, warning, info or debug");
	env_bad("MRC_LOG_FORMAT", "json", "must be plain, time or journald");
}

ENV_TEST(stats_keep)
{
	assert_false(env_good().stats_keep);
	setenv("MRC_STATS_KEEP", "on", 1);
	assert_true(env_good().stats_keep);
	env_bad("MRC_STATS_KEEP", "1", "on or off");
}

ENV_TEST(paths)
{
	setenv("MRC_FAULTS", "/tmp/f", 1);
	setenv("MRC_STATS_DIR", "/tmp/s", 1);
	assert_string_equal(env_good().faults, "/tmp/f");
	assert_string_equal(env_good().stats_dir, "/tmp/s");
}

ENV_TEST(too_long_paths)
{
	struct mh_env_error error;
	char path[300];
	struct mh_env env;

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	setenv("MRC_FAULTS", path, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EINVAL);
	assert_non_null(strstr(error.text, "255 bytes"));
}

ENV_TEST(driver)
{
	assert_u_eq(env_good().driver, MH_DRIVER_UDP);
	setenv("MRC_DRIVER", "af_packet", 1);
	assert_u_eq(env_good().driver, MH_DRIVER_AF_PACKET);
	setenv("MRC_PORTS", "fd00::1%lo", 1);
	setenv("MRC_DRIVER", "raw41", 1);
	assert_u_eq(env_good().driver, MH_DRIVER_RAW41);
	env_bad("MRC_DRIVER", "dpdk", "udp, af_packet or raw41");
	setenv("MRC_PORTS", "127.0.0.1", 1);
	env_bad("MRC_DRIVER", "raw41", "needs ports with IPv6 addresses");
}

ENV_TEST(capture)
{
	assert_string_equal(env_good().capture, "");
	setenv("MRC_CAPTURE", "/tmp/x.pcapng", 1);
	assert_string_equal(env_good().capture, "/tmp/x.pcapng");
}

ENV_TEST(udp_port)
{
	assert_u_eq(env_good().udp_port, 4791);
	setenv("MRC_UDP_PORT", "4971", 1);
	assert_u_eq(env_good().udp_port, 4971);
	env_bad("MRC_UDP_PORT", "64513", "1024 to 64512");
}

/* REQ(wire.dscp.values) REQ(wire.dscp.distinct) */
ENV_TEST(dscp)
{
	const struct mw_dscp_map usual = mw_dscp_map_default();
	struct mh_env env = env_good();

	assert_memory_equal(&env.dscp, &usual, sizeof(usual));
	setenv("MRC_DSCP", "10,11,11,20,20,63", 1);
	env = env_good();
	assert_u_eq(env.dscp.code[MW_DSCP_NO_TRIM], 10);
	assert_u_eq(env.dscp.code[MW_DSCP_TRIMMABLE_RETX], 11);
	assert_u_eq(env.dscp.code[MW_DSCP_CONTROL], 63);
	env_bad("MRC_DSCP", "10,11,11,20,20", "six numbers");
	env_bad("MRC_DSCP", "10,11,11,20,20,63,", "six numbers");
	env_bad("MRC_DSCP", "10,11,11,20,20,64", "0 to 63");
	env_bad("MRC_DSCP", "10,11,,20,20,63", "six numbers");
	env_bad("MRC_DSCP", "10,11,12,11,20,63", "trimmed = 11, as trimmable: data");
	env_bad("MRC_DSCP", "10,11,12,20,20,10", "must not share a number");
}
