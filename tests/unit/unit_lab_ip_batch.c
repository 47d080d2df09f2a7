/* SPDX-License-Identifier: BSD-2-Clause */
/* What a lab gives to ip(8) and tc(8), and IPv4 addresses: src/lab/ip_batch.c. */
#include "fabric/topology_toml.h"

#include "lab/ip_batch.h"
#include "lab/netns.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <stdio.h>

static struct mf_topology t;
static struct ml_list list;

static int open_lab(void **state)
{
	char why[MF_TOML_ERROR_BYTES];

	(void)state;
	ml_list_open(&list);
	return mf_topology_open("lab", &t, why) ? 0 : -1;
}

static int shut(void **state)
{
	(void)state;
	ml_list_close(&list);
	return 0;
}

#define LINES_TEST(function, name) TEST_WITH(open_lab, shut, function, name)

static void has(const char *line)
{
	if (!strstr(ml_list_text(&list), line))
		fail_msg("%s is not in:\n%s", line, ml_list_text(&list));
}

static bool all(const struct ml_lab *lab, uint32_t link)
{
	(void)lab;
	(void)link;
	return true;
}

static bool but_first_uplink(const struct ml_lab *lab, uint32_t link)
{
	(void)lab;
	return link != mf_link_t0_t1(&t, 0, 0, 0, false);
}

LINES_TEST(ml_ip_batch_cable, names_both_ends_and_numbers_them)
{
	ml_ip_batch_cable(list.to, &t, "x-", 0, 1);
	has("link add name e0 index 1000 netns x-host0 mtu 4400 address 02:6d:72:00:00:01 type "
	    "veth "
	    "peer name d0 index 1001 netns x-plane0.t0-0 mtu 4400 address 02:6d:72:00:00:02\n");
}

/* Ends of a cable have addresses that are the same everywhere, and know each other's MAC. */
LINES_TEST(ml_ip_batch_port, at_both_ends)
{
	ml_ip_batch_port(list.to, &t, 0, 1);
	ml_ip_batch_port(list.to, &t, 1, 0);
	assert_string_equal(
		ml_list_text(&list),
		"link set dev e0 up\n"
		"addr replace fe80::1/64 dev e0 nodad\n"
		"neigh replace fe80::2 dev e0 nud permanent lladdr 02:6d:72:00:00:02\n"
		"link set dev d0 up\n"
		"addr replace fe80::2/64 dev d0 nodad\n"
		"neigh replace fe80::1 dev d0 nud permanent lladdr 02:6d:72:00:00:01\n");
}

LINES_TEST(ml_ip_batch_node, a_switch_has_a_device_of_sids)
{
	ml_ip_batch_node(list.to, &t, mf_node_switch(&t, MF_T0, 0, 0), "dummy");
	ml_ip_batch_node(list.to, &t, mf_node_switch(&t, MF_T0, 0, 0), "veth");
	assert_string_equal(ml_list_text(&list), "link set dev lo up\n"
						 "link add sr0 type dummy\n"
						 "link set dev sr0 up\n"
						 "link set dev lo up\n"
						 "link add sr0 type veth peer name sr1\n"
						 "link set dev sr0 up\n");
}

/* Its own, and one on each plane. */
LINES_TEST(ml_ip_batch_node, a_host_has_addresses)
{
	ml_ip_batch_node(list.to, &t, 1, "dummy");
	assert_string_equal(ml_list_text(&list), "link set dev lo up\n"
						 "addr replace fd6d:7263::2/128 dev lo nodad\n"
						 "addr replace fcbb:bb00:2::1/128 dev lo nodad\n"
						 "addr replace fcbb:bb01:2::1/128 dev lo nodad\n"
						 "addr replace fcbb:bb02:2::1/128 dev lo nodad\n"
						 "addr replace fcbb:bb03:2::1/128 dev lo nodad\n");
}

LINES_TEST(ml_ip_batch_routes, shift_uplinks_downlinks_ecmp_and_the_last_resort)
{
	ml_ip_batch_routes(list.to, &t, mf_node_switch(&t, MF_T0, 0, 0), all, NULL);
	has("route replace fcbb:bb00:a000::/48 encap seg6local action End flavors next-csid lblen "
	    "32 nflen 16 dev sr0\n");
	has("route replace fcbb:bb00:b001::/48 via fe80::2 dev u1\n");
	has("route replace fcbb:bb00:4::/48 via fe80::1 dev d3\n");
	has(" nexthop via fe80::2 dev u0 nexthop via fe80::2 dev u1\n");
	has("route replace blackhole ::/0\n");
}

LINES_TEST(ml_ip_batch_routes, leave_out_what_is_down)
{
	ml_ip_batch_routes(list.to, &t, mf_node_switch(&t, MF_T0, 0, 0), but_first_uplink, NULL);
	has("route replace fcbb:bb00:b001::/48 via fe80::2 dev u1\n");
	assert_null(strstr(ml_list_text(&list), "u0"));
	assert_null(strstr(ml_list_text(&list), "nexthop"));
}

LINES_TEST(ml_ip_batch_routes, of_a_host_choose_the_plane_and_the_source)
{
	ml_ip_batch_routes(list.to, &t, 0, all, NULL);
	has("route replace fcbb:bb02::/32 src fcbb:bb02:1::1 via fe80::2 dev e2\n");
	has("route replace local fcbb:bb02:1::/48 dev lo\n");
	/* Whole addresses are local by being addresses. */
	assert_null(strstr(ml_list_text(&list), "/128 dev lo"));
	has("route replace fd6d:7263::/32 src fd6d:7263::1 nexthop via fe80::2 dev e0 nexthop ");
}

/* The lab's alone: what plans are made of has none. */
LINES_TEST(ml_ip_batch_ipv4, plain_routes_beside_those_of_ipv6)
{
	ml_ip_batch_ipv4(list.to, &t, mf_node_switch(&t, MF_T0, 0, 1), all, NULL);
	has("route replace 10.0.1.1/32 via inet6 fe80::1 dev d0\n");
	has("route replace blackhole 10.0.1.0/24\n");
	has("route replace 10.0.0.0/8 nexthop via inet6 fe80::2 dev u0 nexthop via inet6 fe80::2 "
	    "dev u1\n");
	has("route replace blackhole 0.0.0.0/0\n");
	ml_ip_batch_ipv4(list.to, &t, 5, all, NULL);
	has("addr replace 10.0.1.2/32 dev lo\n");
	has("route replace 10.0.0.0/8 src 10.0.1.2 nexthop via inet6 fe80::2 dev e0 ");
}

LINES_TEST(ml_ip_batch_classic_filter, come_and_go)
{
	struct ml_port_state healthy = {0}, dark = {.faults.blackhole = true},
			     lossy = {.faults.loss_ppm = 500000};

	ml_ip_batch_classic_filter(list.to, "u0", false, NULL, &healthy);
	assert_string_equal(ml_list_text(&list), "qdisc add dev u0 clsact\n");
	ml_ip_batch_classic_filter(list.to, "u0", false, &healthy, &dark);
	has("clsact\nfilter add dev u0 egress pref 1 bpf da bytecode '1,6 0 0 2'\n");
	ml_ip_batch_classic_filter(list.to, "e0", true, &dark, &lossy);
	has("filter del dev e0 egress pref 1\nfilter add dev e0 egress pref 1 bpf da bytecode "
	    "'4,32 0 0 4294963256,53 1 0 2147483648,6 0 0 4,6 0 0 4294967295'\n");
}

static struct mf_topology t;

static void open_preset(const char *name)
{
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open(name, &t, why));
}

TEST(ml_ipv4_fits, what_one_machine_holds_and_not_the_paper)
{
	open_preset("tiny");
	assert_true(ml_ipv4_fits(&t));
	open_preset("lab8");
	assert_true(ml_ipv4_fits(&t));
	open_preset("paper");
	assert_false(ml_ipv4_fits(&t));
}

TEST(ml_ipv4_of_host, t0_by_t0_from_one)
{
	char text[ML_IPV4_TEXT];

	open_preset("tiny");
	assert_string_equal(ml_ipv4_of_host(&t, 0, text), "10.0.0.1");
	assert_string_equal(ml_ipv4_of_host(&t, 1, text), "10.0.0.2");
	assert_string_equal(ml_ipv4_of_host(&t, 3, text), "10.0.1.2");
}

/* Whether the prefix, "10.0.1.0/24", holds the address. */
static bool holds(const char *prefix, const char *address)
{
	char net[ML_IPV4_TEXT];
	unsigned length = 0;
	uint32_t mask;

	assert_int_equal(sscanf(prefix, "%15[0-9.]/%u", net, &length), 2);
	mask = length ? UINT32_MAX << (32 - length) : 0;
	assert_u_eq(ntohl(inet_addr(net)) & ~mask, 0);
	return ((ntohl(inet_addr(net)) ^ ntohl(inet_addr(address))) & mask) == 0;
}

static bool holds_v6(const struct mf_route *r, const uint8_t address[MF_ADDRESS_BYTES])
{
	for (uint32_t bit = 0; bit < r->length; bit++)
		if ((r->prefix[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1)
			return false;
	return true;
}

/* Of every plain route and every host: IPv4 says what IPv6 says. */
static void compare(uint32_t node)
{
	char prefix[ML_IPV4_TEXT + 3], text[ML_IPV4_TEXT];
	uint8_t address[MF_ADDRESS_BYTES];
	struct mf_route_iter it;
	struct mf_route r;

	mf_routes_begin(&it, &t, node, MF_ROUTES_PLAIN);
	while (mf_routes_next(&it, &r)) {
		ml_ipv4_prefix(&t, &r, prefix);
		for (uint32_t host = 0; host < t.n_hosts; host++) {
			mf_address_of_host(&t, host, address);
			assert_int_equal(holds(prefix, ml_ipv4_of_host(&t, host, text)),
					 holds_v6(&r, address));
		}
	}
}

TEST(ml_ipv4_prefix, holds_the_hosts_that_the_route_holds)
{
	static const char *const presets[] = {"tiny", "lab", "lab8"};

	for (size_t i = 0; i < 3; i++) {
		open_preset(presets[i]);
		for (uint32_t node = 0; node < t.n_nodes; node++)
			compare(node);
	}
}

/* Each part of a host's place has a byte of the address. */
LINES_TEST(ml_ipv4_fits, up_to_a_byte_of_each)
{
	struct mf_topology large = t;

	large.cfg.pods = large.cfg.t0s = 256;
	large.cfg.hosts_per_t0 = 254;
	assert_true(ml_ipv4_fits(&large));
	large.cfg.pods = 257;
	assert_false(ml_ipv4_fits(&large));
	large.cfg.pods = 256;
	large.cfg.t0s = 257;
	assert_false(ml_ipv4_fits(&large));
	large.cfg.t0s = 256;
	large.cfg.hosts_per_t0 = 255;
	assert_false(ml_ipv4_fits(&large));
}
