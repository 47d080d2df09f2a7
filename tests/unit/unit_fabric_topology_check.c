/* SPDX-License-Identifier: BSD-2-Clause */
/* What is refused, and that the refusal names the field, its value and what is allowed. */
#include "fabric_fixture.h"

/* A preset with one field set to a value that cannot be, and what the refusal must say. */
struct bad {
	const char *preset;
	size_t offset;
	uint32_t value;
	const char *field, *shown, *what;
};

#define FIELD(name) offsetof(struct mf_topology_cfg, name)
#define RADIX(i) (FIELD(radix) + (i) * sizeof(uint32_t))

static const struct bad bads[] = {
	{"lab", FIELD(planes), 0, "topology.planes", "0", "1 to 16"},
	{"lab", FIELD(planes), 17, "topology.planes", "17", "1 to 16"},
	{"lab", FIELD(tiers), 1, "topology.tiers", "1", "2 to 3"},
	{"lab", FIELD(tiers), 4, "topology.tiers", "4", "2 to 3"},
	{"lab", FIELD(hosts_per_t0), 0, "topology.hosts_per_t0", "0", "1 to"},
	{"lab", FIELD(t0s), 0, "topology.t0s", "0", "1 to"},
	{"lab", FIELD(t1s), 0, "topology.t1s", "0", "1 to 256"},
	{"lab", FIELD(t1s), 257, "topology.t1s", "257", "1 to 256"},
	{"lab", FIELD(rails), 0, "topology.rails", "0", "1 to"},
	{"lab", FIELD(rails), 4, "topology.rails", "4", "divides the 2 T0s"},
	{"lab", FIELD(mtu), 1279, "topology.mtu", "1279", "1280 to 65535"},
	{"lab", FIELD(pods), 2, "topology.pods", "2", "one pod: 1"},
	{"lab", FIELD(t1_uplinks), 2, "topology.t1_uplinks", "2", "has no uplinks"},
	{"lab", FIELD(switch_ns), 1000000001, "topology.switch_latency", "1000000001", "0 to"},
	{"threetier", FIELD(pods), 1, "topology.pods", "1", "2 to"},
	{"threetier", FIELD(t1_uplinks), 0, "topology.t1_uplinks", "0", "1 to 256"},
	{"lab", RADIX(0), 63, "topology.t0_ports", "63", "even number of ports: 62 or 64"},
	{"lab", RADIX(1), 7, "topology.t1_ports", "7", "even"},
	{"lab", RADIX(0), 4, "topology.t0_ports", "4", "6 or more"},
	{"paper", RADIX(1), 510, "topology.t1_ports", "510", "512 or more"},
	{"threetier", RADIX(2), 62, "topology.t2_ports", "62", "64 or more"},
	{"lab", RADIX(2), 64, "topology.t2_ports", "64", "no T2"},
	{"lab", FIELD(usid.block), 0xfcbbbb01, "usid.block", "fcbb:bb01::/32", "overlap"},
	{"lab8", FIELD(usid.block), 0xfcbbbb04, "usid.block", "fcbb:bb04::/32", "overlap"},
	{"lab", FIELD(usid.block), 0xff020000, "usid.block", "ff02:0::/32", "unicast"},
	{"lab", FIELD(usid.block), 0xfe800000, "usid.block", "fe80:0::/32", "unicast"},
	{"lab", FIELD(usid.block), 0, "usid.block", "0:0::/32", "unicast"},
	{"lab", FIELD(address_block), 0xfcbbbb03, "topology.address_block", "fcbb:bb03::/32",
	 "overlaps usid.block"},
	{"lab", FIELD(address_block), 1, "topology.address_block", "0:1::/32", "unicast"},
};

/* REQ(topo.refuse) */
TEST(mf_cfg_check, names_field_value_and_what_is_allowed)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		const struct bad *b = &bads[i];
		struct mf_topology_cfg cfg = mf_preset_cfg(b->preset);
		struct mf_topology t;
		struct mf_error e = {"", "", ""};

		memcpy((char *)&cfg + b->offset, &b->value, sizeof(b->value));
		assert_false(mf_topology_init(&t, &cfg, &e));
		assert_string_equal(e.field, b->field);
		assert_string_equal(e.value, b->shown);
		if (!strstr(e.what, b->what))
			fail_msg("%s: \"%s\" does not say \"%s\"", e.field, e.what, b->what);
	}
}

static void assert_refused(const struct mf_topology_cfg *cfg, const char *field, const char *what)
{
	struct mf_topology t;
	struct mf_error e = {"", "", ""};

	assert_false(mf_topology_init(&t, cfg, &e));
	assert_string_equal(e.field, field);
	if (!strstr(e.what, what))
		fail_msg("%s: \"%s\" does not say \"%s\"", e.field, e.what, what);
}

/* REQ(topo.usid.roles) REQ(topo.refuse) */
TEST(mf_cfg_check, numbers_that_16_bits_do_not_hold)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("paper");

	cfg.t0s = 516;
	cfg.radix[1] = 0;
	assert_refused(&cfg, "topology.t0s", "takes 10 bits of a uSID of 16: 9 are left");
	cfg = mf_preset_cfg("paper");
	cfg.hosts_per_t0 = 513;
	cfg.radix[0] = 0;
	assert_refused(&cfg, "topology.hosts_per_t0", "takes 10 bits");
	cfg = mf_preset_cfg("threetier");
	cfg.t1s = 256;
	cfg.radix[0] = 0;
	assert_refused(&cfg, "topology.t1s", "takes 14 bits of a uSID of 16: 12 are left");
	cfg.t1s = 64;
	cfg.t1_uplinks = 128;
	cfg.radix[1] = 0;
	assert_refused(&cfg, "topology.t1_uplinks", "number of a T2 takes 13 bits");
}

/* REQ(topo.usid.destination) REQ(topo.refuse) */
TEST(mf_cfg_check, hosts_that_have_no_number)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("threetier");

	cfg.usid.planes = MF_PLANE_IN_BLOCK;
	cfg.usid.dst = MF_DST_HOST;
	assert_refused(&cfg, "usid.destination", "at most 40959 hosts, this fabric has 65536");
	cfg = mf_preset_cfg("lab");
	cfg.usid.planes = MF_PLANE_IN_USID;
	assert_refused(&cfg, "usid.destination", "leave no bits for the plane");
}

TEST(mf_cfg_check, links)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("lab");

	cfg.links[MF_T0_T1].bit_s = 0;
	assert_refused(&cfg, "links.t0_t1.speed", "1000 to");
	cfg = mf_preset_cfg("lab");
	cfg.links[MF_HOST_T0].latency_ns = 2000000000;
	assert_refused(&cfg, "links.host_t0.latency", "0 to");
	cfg = mf_preset_cfg("lab");
	cfg.links[MF_T1_T2].bit_s = 0; /* there are no such links */
	fabric_of(&cfg);
}

TEST(mf_cfg_check, too_large_to_be_numbered)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("paper");

	cfg.usid.planes = MF_PLANE_IN_BLOCK;
	cfg.radix[0] = 0;
	cfg.radix[1] = 0;
	cfg.hosts_per_t0 = 65536;
	cfg.t0s = 65536;
	assert_refused(&cfg, "topology.planes", "more than can be numbered");
	cfg = mf_preset_cfg("lab");
	cfg.t0s = 1;
	cfg.hosts_per_t0 = 1;
	assert_refused(&cfg, "topology.hosts_per_t0", "2 or more");
}

TEST(mf_cfg_check, name)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("lab");

	cfg.name[0] = 0;
	assert_refused(&cfg, "topology.name", "1 to 31 letters");
	memset(cfg.name, 'x', sizeof(cfg.name));
	assert_refused(&cfg, "topology.name", "1 to 31 letters");
}
