/* SPDX-License-Identifier: BSD-2-Clause */
/* Topology files, good and bad. */
#include "fabric_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "fabric/topology_toml.h"

static char error[MF_TOML_ERROR_BYTES];

static struct mf_topology read_good(const char *text)
{
	struct mf_topology t;

	if (!mf_topology_read("dir/mine.toml", text, &t, error))
		fail_msg("%s", error);
	return t;
}

TEST(mf_topology_read, preset_as_base)
{
	struct mf_topology t = read_good("[topology]\nbase = \"lab\"\nt1s = 4\n"
					 "[links.t0_t1]\nspeed = \"250M\"\nlatency = \"1.5us\"\n");

	assert_string_equal(t.cfg.name, "mine");
	assert_u_eq(t.cfg.t1s, 4);
	assert_u_eq(t.cfg.planes, 4);
	assert_u_eq(t.cfg.links[MF_T0_T1].bit_s, 250000000);
	assert_u_eq(t.cfg.links[MF_T0_T1].latency_ns, 1500);
	assert_u_eq(t.cfg.links[MF_HOST_T0].bit_s, 100000000);
}

TEST(mf_topology_read, every_key)
{
	struct mf_topology t = read_good(
		"[topology]\nname = \"all\"\nplanes = 2\ntiers = 3\npods = 3\nhosts_per_t0 = 5\n"
		"t0s = 2\nt1s = 3\nt1_uplinks = 6\nt0_ports = 16\nt1_ports = 18\nt2_ports = 4\n"
		"rails = 2\nmtu = 9000\nswitch_latency = \"250ns\"\n"
		"address_block = \"fd00:1::/32\"\n"
		"[links]\nspeed = \"1G\"\nlatency = \"1us\"\n"
		"[links.host_t0]\nspeed = \"2G\"\nlatency = \"2us\"\n"
		"[links.t1_t2]\nspeed = \"4G\"\nlatency = \"4us\"\n"
		"[usid]\nblock = \"fc00:1200::/32\"\nplanes = \"usid\"\ndestination = "
		"\"downlink\"\n");

	assert_string_equal(t.cfg.name, "all");
	assert_u_eq(t.n_nodes, 30 + 2 * 33);
	assert_u_eq(t.cfg.radix[0], 16);
	assert_u_eq(t.cfg.radix[2], 4);
	assert_u_eq(t.cfg.rails, 2);
	assert_u_eq(t.cfg.mtu, 9000);
	assert_u_eq(t.cfg.switch_ns, 250);
	assert_u_eq(t.cfg.links[MF_HOST_T0].bit_s, 2000000000);
	assert_u_eq(t.cfg.links[MF_T0_T1].bit_s, 1000000000);
	assert_u_eq(t.cfg.links[MF_T1_T2].latency_ns, 4000);
	assert_u_eq(t.cfg.address_block, 0xfd000001);
	assert_u_eq(t.cfg.usid.block, 0xfc001200);
	assert_u_eq(t.cfg.usid.planes, MF_PLANE_IN_USID);
}

TEST(mf_topology_read, defaults)
{
	struct mf_topology t =
		read_good("[topology]\nplanes = 1\nhosts_per_t0 = 2\nt0s = 2\nt1s = 2\n"
			  "[links]\nspeed = \"1G\"\n");

	assert_u_eq(t.cfg.tiers, 2);
	assert_u_eq(t.cfg.rails, 1);
	assert_u_eq(t.cfg.mtu, 4400);
	assert_u_eq(t.cfg.links[MF_T0_T1].latency_ns, 500);
	assert_u_eq(t.cfg.usid.block, 0xfcbbbb00);
	assert_u_eq(t.cfg.usid.dst, MF_DST_DOWNLINK);
}

TEST(mf_topology_read, oversubscription_makes_t1s)
{
	const char *text = "[topology]\nbase = \"pod\"\noversubscription = \"4:1\"\n";
	struct mf_topology t = read_good(text);

	assert_u_eq(t.cfg.t1s, 8);
	assert_u_eq(t.cfg.hosts_per_t0 * t.cfg.links[MF_HOST_T0].bit_s,
		    4 * t.cfg.t1s * t.cfg.links[MF_T0_T1].bit_s);
}

#define T "[topology]\n"
#define LAB T "base = \"lab\"\n"

/* A file, and all of what is said of it. */
static const char *const bad[][2] = {
	{T "plane = 2\n", "f:2: topology.plane: unknown key; did you mean topology.planes?"},
	{"[network]\nx = 1\n", "f:2: network.x: unknown key; docs/fabric.md lists those there are"},
	{"[[links]]\n", "f:1: [[links]]: a table, so [links]"},
	{T "planes = \"2\"\n", "f:2: topology.planes = 2: must be a whole number, without quotes"},
	{T "planes = -1\n", "f:2: topology.planes = -1: a whole number, not negative"},
	{T "planes = 4294967296\n",
	 "f:2: topology.planes = 4294967296: a whole number, not negative"},
	{LAB "t1s = 2\nt1s = 3\n", "f:4: topology.t1s = 3: was given before, in line 3"},
	{T "t1s = 2\nbase = \"lab\"\n",
	 "f:3: topology.base = lab: a base must be the first key of a topology"},
	{T "base = \"labb\"\n", "f:2: topology.base = labb: unknown preset; did you mean lab?"},
	{LAB "t0_ports = 7\n",
	 "f:3: topology.t0_ports = 7: a switch has an even number of ports: 6 or 8"},
	{T "planes = 2\n[links]\nspeed = \"1G\"\n",
	 "f: topology.hosts_per_t0 is not given, so 0: downlinks of a T0: 1 to 65536"},
	{LAB "[links.t0_t1]\nspeed = \"fast\"\n", "f:4: links.t0_t1.speed = fast: bits per second "
						  "with an optional k, M, G or T, such as 100G"},
	{LAB "[links]\nlatency = \"5\"\n",
	 "f:4: links.latency = 5: a time with ns, us, ms, s, m, h or d, such as 1.5us"},
	{LAB "[usid]\nblock = \"fcbb::/32\"\n",
	 "f:4: usid.block = fcbb::/32: a block of 32 bits, such as fcbb:bb00::/32"},
	{LAB "[usid]\nblock = \"fcbb:bb02::/32\"\n",
	 "f:4: usid.block = fcbb:bb02::/32: the number of the plane goes into its last bits, so "
	 "that "
	 "blocks of planes would overlap: a block that ends in 0 there"},
	{LAB "[usid]\nplanes = \"both\"\n", "f:4: usid.planes = both: where the plane is encoded: "
					    "\"block\" (a block for each) or \"usid\" "
					    "(bits of each uSID)"},
	{LAB "[usid]\ndestination = \"mac\"\n",
	 "f:4: usid.destination = mac: what a destination's uSID counts: \"downlink\" or \"host\""},
	{LAB "oversubscription = \"3:1\"\n", "f:3: topology.oversubscription = 3:1: 4 hosts of "
					     "100000000 bit/s over uplinks of 100000000 "
					     "bit/s make no whole number of T1s"},
	{LAB "oversubscription = \"4:1\"\nt1s = 2\n",
	 "f:3: topology.oversubscription = 4:1: makes 1 T1s, but t1s says 2: leave one of them "
	 "out"},
	{LAB "oversubscription = \"2:0\"\n",
	 "f:3: topology.oversubscription = 2:0: what T0s receive from below to what they can send "
	 "up, such as 1:1 or 2:1, neither 0"},
	{LAB "name = \"\"\n", "f:3: topology.name = : a name has 1 to 31 letters"},
	{LAB "dscp = \"0,4,8,12,16\"\n",
	 "f:3: topology.dscp = 0,4,8,12,16: must be six numbers, 0 to 63, with commas between: "
	 "no-trim, trimmable, trimmable-retx, trimmed, trimmed-lasthop, control"},
	{LAB "dscp = \"0,4,8,46,16,46\"\n",
	 "f:3: topology.dscp = 0,4,8,46,16,46: control = 46, as trimmed: data (the first three), "
	 "trimmed (the next two) and control must not share a number"},
};

/* REQ(topo.file) */
TEST(mf_topology_read, says_what_is_wrong_and_where)
{
	struct mf_topology t, before;

	memset(&t, 0x5a, sizeof(t));
	before = t;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(mf_topology_read("f", bad[i][0], &t, error));
		assert_string_equal(error, bad[i][1]);
	}
	assert_false(mf_topology_read("f", "[topology\n", &t, error));
	assert_non_null(strstr(error, "f:1: "));
	assert_memory_equal(&t, &before, sizeof(t));
}

TEST(mf_topology_file_item, leaves_other_tables_alone)
{
	struct mf_topology_file f;
	struct mb_toml_item item = {.line = 1, .kind = MB_TOML_INTEGER, .name = "traffic.size"};

	mf_topology_file_begin(&f, "f");
	assert_int_equal(mf_topology_file_item(&f, &item), MF_ITEM_FOREIGN);
	strcpy(item.name, "topologyx.t1s");
	assert_int_equal(mf_topology_file_item(&f, &item), MF_ITEM_FOREIGN);
	strcpy(item.name, "topology.t1s");
	strcpy(item.value, "3");
	assert_int_equal(mf_topology_file_item(&f, &item), MF_ITEM_TAKEN);
	assert_u_eq(f.cfg.t1s, 3);
}

TEST(mf_topology_open, presets_and_files)
{
	char path[] = "/tmp/unit_fabric_XXXXXX.toml";
	int fd = mkstemps(path, 5);
	const char text[] = "[topology]\nbase = \"tiny\"\nplanes = 4\n";
	struct mf_topology t;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_true(mf_topology_open("paper", &t, error));
	assert_u_eq(t.n_hosts, 131072);
	assert_true(mf_topology_open(path, &t, error));
	assert_u_eq(t.cfg.planes, 4);
	unlink(path);
	assert_false(mf_topology_open(path, &t, error));
	assert_non_null(strstr(error, "No such file"));
	assert_false(mf_topology_open("papr", &t, error));
	assert_non_null(strstr(error, "did you mean paper"));
	assert_false(mf_topology_open("/tmp", &t, error));
}
