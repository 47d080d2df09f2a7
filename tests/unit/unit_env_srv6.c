/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings of SRv6 paths: what a host needs, what goes together, and every wrong value. */
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "host/config/env.h"

#define ROW "fd4d:5243::1/64 = fcbbbb00+plane a000 1000+host:4"

static const struct {
	const char *name, *value;
} srv6_good[] = {
	{"MRC_PORTS", "lo"},
	{"MRC_SRV6_GID", "fd4d:5243::3"},
	{"MRC_SRV6_ROWS",
	 ROW ",fd4d:5243::1/48 = fcbbbb00+plane a000 b000+uplink a000+t0 1000+host"},
	{"MRC_SRV6_UPLINKS", "12"},
	{"MRC_SRV6_T1_UPLINKS", NULL},
	{"MRC_DRIVER", "raw41"},
	{"MRC_EVS", NULL},
	{"MRC_EV_BASE", NULL},
	{"MRC_EV_FORMAT", NULL},
	{"MRC_PORT_PREFIX", NULL},
	{"MRC_PACE", NULL},
	{"MRC_CC", NULL},
	{"MRC_CONFIG", "/dev/null"},
};

#define SRV6_SETTINGS (sizeof(srv6_good) / sizeof(srv6_good[0]))

static int srv6_setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < SRV6_SETTINGS; i++)
		setenv(srv6_good[i].name, srv6_good[i].value ? srv6_good[i].value : "", 1);
	return 0;
}

#define SRV6_TEST(name) TEST_WITH(srv6_setup, NULL, mh_env_read_srv6, name)

static struct mh_env srv6_env(void)
{
	struct mh_env_error error = {""};
	struct mh_env env;

	if (mh_env_read(&env, 0, &error))
		fail_msg("%s", error.text);
	return env;
}

static void srv6_bad(const char *name, const char *value, const char *why)
{
	struct mh_env_error error = {""};
	struct mh_env env;

	setenv(name, value, 1);
	if (mh_env_read(&env, 0, &error) != EINVAL)
		fail_msg("%s=%s was accepted", name, value);
	if (strncmp(error.text, name, strlen(name)) != 0 || !strstr(error.text, why))
		fail_msg("\"%s\" does not begin with %s or say \"%s\"", error.text, name, why);
	srv6_setup(NULL);
}

SRV6_TEST(evs_are_the_uplinks)
{
	struct mh_env env = srv6_env();
	struct mh_addr_map map;
	uint8_t gid[16], ip[16];

	assert_true(mh_env_is_srv6(&env));
	assert_u_eq(env.evs, 12);
	assert_u_eq(env.srv6.evs, 12);
	assert_u_eq(env.srv6.free, 0xC00);
	assert_u_eq(env.ev_format, MW_EV_STEV);
	assert_string_equal(env.port[0].ifname, "lo");
	assert_i_eq(inet_pton(AF_INET6, "fd4d:5243::3", gid), 1);
	assert_memory_equal(env.port[0].ip, gid, 16);
	mh_addr_map_init(&map, &env);
	assert_true(map.inner);
	assert_true(mh_addr_first_hop(&map, 0, 0xC0000002, gid, ip));
	assert_u_eq(ip[7], 2); /* fcbb:bb00:a000:1002:: */
	gid[0] = 0x20;
	assert_false(mh_addr_is_reachable(&map, gid));
	assert_false(mh_addr_gid_of(&map, 0, gid, ip));
}

SRV6_TEST(fewer_evs_and_three_tiers)
{
	setenv("MRC_EVS", "5", 1);
	assert_u_eq(srv6_env().srv6.evs, 5);
	srv6_bad("MRC_EVS", "13", "at most 12");
	setenv("MRC_SRV6_T1_UPLINKS", "4", 1);
	assert_u_eq(srv6_env().evs, 48);
	setenv("MRC_SRV6_UPLINKS", "256", 1);
	setenv("MRC_SRV6_T1_UPLINKS", "256", 1);
	assert_u_eq(srv6_env().evs, MT_EVS_MAX); /* one port */
}

SRV6_TEST(with_a_pace_nscc_in_both_forms)
{
	setenv("MRC_PACE", "1G", 1);
	assert_u_eq(srv6_env().cc, MT_CC_NSCC);
	setenv("MRC_DRIVER", "udp", 1);
	assert_u_eq(srv6_env().cc, MT_CC_NSCC);
	setenv("MRC_CC", "none", 1);
	assert_u_eq(srv6_env().cc, MT_CC_NONE);
}

SRV6_TEST(names_what_is_missing)
{
	srv6_bad("MRC_SRV6_GID", "", "address of this host");
	srv6_bad("MRC_SRV6_UPLINKS", "", "how many uplinks");
	srv6_bad("MRC_PORTS", "", "interface of each plane");
	unsetenv("MRC_SRV6_ROWS");
	unsetenv("MRC_SRV6_UPLINKS");
	setenv("MRC_SRV6_ROWS", "", 1);
	srv6_bad("MRC_SRV6_GID", "fd4d::1", "needs rows");
}

SRV6_TEST(names_what_is_wrong)
{
	static const struct {
		const char *name, *value, *why;
	} rows[] = {
		{"MRC_SRV6_GID", "10.0.0.1", "IPv6"},
		{"MRC_SRV6_GID", "fe80::1", "IPv6"},
		{"MRC_SRV6_GID", "ff02::1", "IPv6"},
		{"MRC_SRV6_GID", "::", "IPv6"},
		{"MRC_SRV6_UPLINKS", "0", "1 to 256"},
		{"MRC_SRV6_UPLINKS", "257", "1 to 256"},
		{"MRC_SRV6_T1_UPLINKS", "2x", "1 to 256"},
		{"MRC_SRV6_ROWS", ROW ",nonsense", "row 2: \"nonsense\""},
		{"MRC_SRV6_ROWS", ROW "," ROW, "row 2 has the prefix of another"},
		{"MRC_DRIVER", "af_packet", "raw41 and udp can"},
		{"MRC_EV_FORMAT", "udp", "must be stev"},
		{"MRC_EV_BASE", "50001", "multiple of 16"},
		{"MRC_PORT_PREFIX", "32", "says nothing"},
		{"MRC_PORTS", "fd4d:5243::3%lo", "interfaces only"},
		{"MRC_PORTS", "lo,lo", "twice"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		srv6_bad(rows[i].name, rows[i].value, rows[i].why);
}

SRV6_TEST(at_most_64_rows)
{
	char rows[8192] = "";
	size_t at = 0;

	for (unsigned i = 0; i < 65; i++)
		at += (size_t)snprintf(rows + at, sizeof(rows) - at,
				       "%sfd4d::%x:0/112 = fcbb0000 1", i ? "," : "", i);
	srv6_bad("MRC_SRV6_ROWS", rows, "more than 64 rows");
	rows[strlen(rows) - strlen(",fd4d::40:0/112 = fcbb0000 1")] = '\0';
	setenv("MRC_SRV6_ROWS", rows, 1);
	assert_u_eq(srv6_env().srv6.n_rows, 64);
}

SRV6_TEST(as_many_evs_as_paths)
{
	setenv("MRC_EVS", "12", 1);
	assert_u_eq(srv6_env().evs, 12);
}

SRV6_TEST(a_row_that_no_buffer_holds)
{
	static char row[513];

	memset(row, ' ', sizeof(row) - 1);
	srv6_bad("MRC_SRV6_ROWS", row, "has a row of more than 511 characters");
	row[511] = '\0';
	srv6_bad("MRC_SRV6_ROWS", row, "row 1: ");
}

/* Rows say where to send, not where others send from: an address is a GID. */
SRV6_TEST(a_source_is_the_gid)
{
	struct mh_env env = srv6_env();
	uint8_t ip[16], gid[16] = {0};
	struct mh_addr_map map;

	mh_addr_map_init(&map, &env);
	assert_i_eq(inet_pton(AF_INET6, "fd4d:5243::4", ip), 1);
	assert_true(mh_addr_gid_of(&map, 0, ip, gid));
	assert_bytes_eq(gid, ip, 16);
}
