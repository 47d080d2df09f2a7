/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts from a made-up /proc and from this machine: src/cli/doctor/doctor.h, interface.h. */
#include "cli/doctor/doctor.h"

#include "support/test.h"

#include <stdio.h>
#include <sys/stat.h>

static char root[] = "/tmp/mrc-doctor-XXXXXX";

static void put(const char *path, const char *text)
{
	char name[200];
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *c = name + sizeof(root); *c; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(name, 0700);
			*c = '/';
		}
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int root_setup(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int root_teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

TEST_WITH(root_setup, root_teardown, doctor_facts_gather, reads_proc)
{
	struct doctor_facts f;

	put("/proc/sys/net/core/rmem_max", "212992\n");
	put("/proc/sys/net/core/wmem_max", "no number\n");
	put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000001000\n");
	doctor_facts_gather(&f, root);
	assert_i_eq(f.rmem_max, 212992);
	assert_i_eq(f.wmem_max, DOCTOR_UNKNOWN);
	assert_true(f.net_admin && !f.net_raw);
	assert_false(f.seg6);
	assert_true(f.cores >= 1);
	assert_true(f.hz >= 100);
	assert_true(f.open_files > 0);
	assert_true(f.receive_granted > 0);
}

TEST_WITH(root_setup, root_teardown, doctor_interface_describe, loopback_and_its_filters)
{
	const uint8_t gid[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 127, [13] = 0, [14] = 3, [15] = 1};
	struct doctor_port p = {0};

	put("/proc/sys/net/ipv4/conf/all/rp_filter", "2\n");
	put("/proc/sys/net/ipv4/conf/lo/rp_filter", "1\n");
	put("/proc/sys/net/ipv4/conf/all/accept_local", "0\n");
	doctor_interface_describe(&p, gid, "", root);
	assert_string_equal(p.address, "127.0.3.1");
	assert_string_equal(p.interface, "lo");
	assert_true(p.loopback && p.up && !p.ipv6);
	assert_true(p.mtu >= 1500);
	assert_i_eq(p.rp_filter, 2);
	assert_i_eq(p.accept_local, 0);
}

TEST(doctor_interface_describe, an_address_that_nobody_has)
{
	const uint8_t gid[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 203, [13] = 0, [14] = 113, [15] = 9};
	struct doctor_port p = {0};

	doctor_interface_describe(&p, gid, "", "");
	assert_string_equal(p.interface, "");
	assert_i_eq(p.mtu, DOCTOR_UNKNOWN);
}

TEST(doctor_facts_echo, packets_come_back_over_loopback)
{
	struct doctor_facts f = {.udp_first = 4791, .ports = 1};

	f.port[0] = (struct doctor_port){
		.address = "127.0.0.1", .interface = "lo", .up = true, .mtu = 65536};
	doctor_facts_echo(&f);
	assert_i_eq(f.port[0].echo.error, 0);
	assert_u_eq(f.port[0].echo.sent, 8);
	assert_u_eq(f.port[0].echo.received, 8);
}

TEST(doctor_facts_echo, says_what_failed)
{
	struct doctor_facts f = {.ports = 1};

	f.port[0] = (struct doctor_port){.address = "203.0.113.9", .interface = "lo", .mtu = 65536};
	doctor_facts_echo(&f);
	assert_true(f.port[0].echo.error != 0);
	assert_string_equal(f.port[0].echo.call, "bind");
	assert_u_eq(f.port[0].echo.sent, 0);
}

TEST(doctor_facts_device, names_the_wrong_setting)
{
	static struct doctor_facts f;

	setenv("MRC_EVS", "65", 1);
	doctor_facts_device(&f, "");
	unsetenv("MRC_EVS");
	assert_non_null(strstr(f.device_error, "MRC_EVS=65"));
	assert_u_eq(f.ports, 0);
}

TEST(doctor_facts_device, finds_the_ports)
{
	static struct doctor_facts f;

	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	setenv("MRC_NODE_DIR", "/tmp/mrc-no-such-folder", 1);
	doctor_facts_device(&f, "");
	unsetenv("MRC_PORTS");
	unsetenv("MRC_NODE_DIR");
	assert_string_equal(f.device_error, "");
	if (!f.statistics)
		test_skip("statistics cannot be published here");
	assert_u_eq(f.ports, 2);
	assert_string_equal(f.port[1].address, "127.0.1.1");
	assert_string_equal(f.node.store, "/tmp/mrc-no-such-folder/mrc0.state");
	assert_string_equal(f.node.refused, "");
	assert_u_eq(f.node.generation, 0);
}

TEST_WITH(root_setup, root_teardown, doctor_facts_gather, who_takes_protocol_41)
{
	struct doctor_facts f;

	put("/proc/net/raw6",
	    "  sl  local_address                         remote_address\n"
	    "   41: 00000000000000000000000000000000:0029 0000:0000 07 0:0 0 0\n"
	    "   58: 00000000000000000000000000000000:003A 0000:0000 07 0:0 0 0\n");
	put("/proc/net/dev_snmp6/ip6tnl0", "ifIndex 4\n");
	doctor_facts_gather(&f, root);
	assert_i_eq(f.readers41, 1);
	assert_true(f.tunnel41);
}

TEST(doctor_interface_describe, of_the_interface_it_is_bound_to)
{
	const uint8_t gid[16] = {0xfd, [15] = 1};
	struct doctor_port p = {.mtu = 0};

	doctor_interface_describe(&p, gid, "lo", "");
	assert_string_equal(p.interface, "lo");
	assert_true(p.mtu > 0);
}
