/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/topology_preset.h"
#include "lab/ip_batch.h"
#include "lab/run_tool.h"
#include "support/test.h"

static struct mf_topology t;
static struct ml_list list;

static int open_lab(void **state)
{
	struct mf_error e;

	(void)state;
	ml_list_open(&list);
	return mf_topology_init(&t, &mf_preset_find("lab")->cfg, &e) ? 0 : -1;
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
	struct ml_port_state healthy = {0}, dark = {.blackhole = true},
			     lossy = {.loss_ppm = 500000};

	ml_ip_batch_classic_filter(list.to, "u0", false, NULL, &healthy);
	assert_string_equal(ml_list_text(&list), "qdisc add dev u0 clsact\n");
	ml_ip_batch_classic_filter(list.to, "u0", false, &healthy, &dark);
	has("clsact\nfilter add dev u0 egress pref 1 bpf da bytecode '1,6 0 0 2'\n");
	ml_ip_batch_classic_filter(list.to, "e0", true, &dark, &lossy);
	has("filter del dev e0 egress pref 1\nfilter add dev e0 egress pref 1 bpf da bytecode "
	    "'4,32 0 0 4294963256,53 1 0 2147483648,6 0 0 4,6 0 0 4294967295'\n");
}
