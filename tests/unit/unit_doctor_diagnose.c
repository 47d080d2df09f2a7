/* SPDX-License-Identifier: BSD-2-Clause */
/* From facts to findings, every situation once: src/cli/doctor/doctor.h. */
#include "support/test.h"

#include "unit/doctor_fixture.h"

#include <errno.h>

TEST(doctor_diagnose, a_healthy_machine)
{
	struct doctor_facts f = fixture_healthy();

	doctor_diagnose(&f, &fixture_all);
	assert_int_equal(doctor_worst(&fixture_all), DOCTOR_GOOD);
	assert_true(fixture_all.n > 10);
}

TEST(doctor_diagnose, a_device_that_does_not_open)
{
	struct doctor_facts f = fixture_healthy();

	strcpy(f.device_error, "softmrc: MRC_EVS=65: must be a number");
	fixture_expect(&f, "device", DOCTOR_FAIL, "env | grep ^MRC_; cat /etc/softmrc.toml");
	assert_string_equal(fixture_finding(&f, "device")->text, f.device_error);
}

TEST(doctor_diagnose, no_interface_has_the_address)
{
	struct doctor_facts f = fixture_healthy();

	f.port[1] = (struct doctor_port){.address = "10.0.1.1", .mtu = DOCTOR_UNKNOWN};
	fixture_expect(&f, "port 1", DOCTOR_FAIL, "ip address add 10.0.1.1/24 dev INTERFACE");
}

TEST(doctor_diagnose, an_interface_that_is_down)
{
	struct doctor_facts f = fixture_healthy();

	f.port[0].up = false;
	fixture_expect(&f, "port 0 (eth0)", DOCTOR_FAIL, "ip link set dev eth0 up");
}

TEST(doctor_diagnose, only_loopback)
{
	struct doctor_facts f = fixture_healthy();

	f.ports = 1;
	f.port[0].loopback = true;
	fixture_expect(&f, "port 0 (eth0)", DOCTOR_NOTE, "export MRC_PORTS=INTERFACE");
}

TEST(doctor_diagnose, small_mtu)
{
	struct doctor_facts f = fixture_healthy();

	f.port[0].mtu = 1500;
	fixture_expect(&f, "port 0 (eth0)", DOCTOR_WARN, "ip link set dev eth0 mtu 4176");
	f.port[0].mtu = 300;
	fixture_expect(&f, "port 0 (eth0)", DOCTOR_FAIL, "ip link set dev eth0 mtu 4176");
}

TEST(doctor_path_mtu, powers_of_two_below_the_link)
{
	struct doctor_port wrapped = {.mtu = 4236, .ipv6 = true, .wrapped = true};

	assert_u_eq(doctor_path_mtu(&wrapped), 4096);
	wrapped.mtu--;
	assert_u_eq(doctor_path_mtu(&wrapped), 2048);
	assert_u_eq(doctor_path_mtu(&(struct doctor_port){.mtu = 65536, .ipv6 = false}), 4096);
	assert_u_eq(doctor_path_mtu(&(struct doctor_port){.mtu = 4176, .ipv6 = false}), 4096);
	assert_u_eq(doctor_path_mtu(&(struct doctor_port){.mtu = 4175, .ipv6 = false}), 2048);
	assert_u_eq(doctor_path_mtu(&(struct doctor_port){.mtu = 4176, .ipv6 = true}), 2048);
	assert_u_eq(doctor_path_mtu(&(struct doctor_port){.mtu = 1500, .ipv6 = false}), 1024);
	assert_u_eq(doctor_path_mtu(&(struct doctor_port){.mtu = 100, .ipv6 = false}), 0);
	assert_u_eq(
		doctor_path_mtu(&(struct doctor_port){.mtu = DOCTOR_UNKNOWN / 2, .ipv6 = false}),
		0);
}

TEST(doctor_diagnose, strict_reverse_path_filter)
{
	struct doctor_facts f = fixture_healthy();

	f.port[1].rp_filter = 1;
	strcpy(f.port[1].interface, "eth1");
	fixture_expect(&f, "port 1 (eth1)", DOCTOR_WARN,
		       "sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.eth1.rp_filter=2");
	/* With one port the return path is the way here. */
	f.ports = 1;
	f.port[0].rp_filter = 1;
	doctor_diagnose(&f, &fixture_all);
	assert_int_equal(doctor_worst(&fixture_all), DOCTOR_GOOD);
}

TEST(doctor_diagnose, accept_local_off)
{
	struct doctor_facts f = fixture_healthy();

	f.port[0].accept_local = 0;
	fixture_expect(&f, "accept_local", DOCTOR_NOTE,
		       "sysctl -w net.ipv4.conf.all.accept_local=1");
}

TEST(doctor_diagnose, loopback_down)
{
	struct doctor_facts f = fixture_healthy();

	f.loopback_up = false;
	f.port[0].echo.received = 0;
	fixture_expect(&f, "loopback", DOCTOR_WARN, "ip link set dev lo up");
}

TEST(doctor_diagnose, a_firewall_that_drops)
{
	struct doctor_facts f = fixture_healthy();

	f.port[0].echo.received = 0;
	fixture_expect(&f, "port 0 (eth0)", DOCTOR_FAIL,
		       "iptables -I INPUT -p udp --dport 4791:4822 -j ACCEPT");
}

TEST(doctor_diagnose, a_firewall_that_refuses)
{
	struct doctor_facts f = fixture_healthy();

	f.port[0].echo = (struct doctor_echo){.error = EPERM, .call = "send"};
	fixture_expect(&f, "port 0 (eth0)", DOCTOR_FAIL,
		       "iptables -I OUTPUT -p udp --dport 4791:4822 -j ACCEPT");
	assert_non_null(
		strstr(fixture_finding(&f, "port 0 (eth0)")->text, "send: Operation not perm"));
}

TEST(doctor_diagnose, packets_that_get_lost)
{
	struct doctor_facts f = fixture_healthy();

	f.port[0].echo.received = 5;
	fixture_expect(&f, "port 0 (eth0)", DOCTOR_WARN, "tc qdisc show; iptables -vnL");
}

TEST(doctor_diagnose, a_small_receive_buffer)
{
	struct doctor_facts f = fixture_healthy();

	f.net_admin = true;
	f.receive_granted = 212992;
	f.rmem_max = 212992;
	fixture_expect(&f, "receive buffer", DOCTOR_WARN, "sysctl -w net.core.rmem_max=4194304");
	f.receive_granted = 2 << 20;
	fixture_expect(&f, "receive buffer", DOCTOR_NOTE, "sysctl -w net.core.rmem_max=4194304");
}

TEST(doctor_diagnose, a_small_send_buffer)
{
	struct doctor_facts f = fixture_healthy();

	f.net_admin = false;
	f.wmem_max = 212992;
	assert_string_equal(fixture_finding(&f, "send buffer")->fix,
			    "sysctl -w net.core.wmem_max=1048576");
}

TEST(doctor_diagnose, options_that_are_missing)
{
	struct doctor_facts f = fixture_healthy();

	f.rxq_ovfl = false;
	fixture_expect(&f, "SO_RXQ_OVFL", DOCTOR_NOTE, "");
	f = fixture_healthy();
	f.udp_gso = false;
	fixture_expect(&f, "UDP GSO", DOCTOR_NOTE, "");
	f = fixture_healthy();
	f.udp_gro = false;
	fixture_expect(&f, "UDP GRO", DOCTOR_NOTE, "");
	f = fixture_healthy();
	f.seg6 = false;
	fixture_expect(&f, "SRv6", DOCTOR_NOTE, "");
}

TEST(doctor_diagnose, bpf)
{
	struct doctor_facts f = fixture_healthy();

	f.bpf_error = ENOSYS;
	fixture_expect(&f, "BPF", DOCTOR_NOTE, "");
	f.bpf_error = EPERM;
	fixture_expect(&f, "BPF", DOCTOR_NOTE,
		       "run that program as root, or with CAP_BPF and CAP_NET_ADMIN");
}

TEST(doctor_diagnose, slow_ticks)
{
	struct doctor_facts f = fixture_healthy();

	f.hz = 250;
	fixture_expect(&f, "ticks", DOCTOR_NOTE, "");
	assert_non_null(strstr(fixture_finding(&f, "ticks")->why, "waits 4 ms"));
	f.hz = DOCTOR_UNKNOWN;
	doctor_diagnose(&f, &fixture_all);
	assert_int_equal(doctor_worst(&fixture_all), DOCTOR_GOOD);
}

TEST(doctor_diagnose, rights)
{
	struct doctor_facts f = fixture_healthy();

	f.net_raw = false;
	fixture_expect(&f, "CAP_NET_RAW", DOCTOR_NOTE, "");
	f = fixture_healthy();
	f.net_admin = false;
	fixture_expect(&f, "CAP_NET_ADMIN", DOCTOR_NOTE, "");
}

TEST(doctor_diagnose, few_cores)
{
	struct doctor_facts f = fixture_healthy();

	f.cores = 2;
	fixture_expect(&f, "cores", DOCTOR_NOTE, "");
	f.cores = 1;
	fixture_expect(&f, "cores", DOCTOR_WARN, "");
}

TEST(doctor_diagnose, limits)
{
	struct doctor_facts f = fixture_healthy();

	f.open_files = 40;
	fixture_expect(&f, "open files", DOCTOR_FAIL, "ulimit -n 100");
	f = fixture_healthy();
	f.memlock = 65536;
	fixture_expect(&f, "locked memory", DOCTOR_NOTE, "ulimit -l unlimited");
	f = fixture_healthy();
	f.timer_slack_ns = 1000000;
	fixture_expect(&f, "timer slack", DOCTOR_NOTE, "");
	f = fixture_healthy();
	f.statistics = false;
	fixture_expect(&f, "statistics", DOCTOR_NOTE, "export MRC_STATS_DIR=/tmp");
}

static const struct doctor_finding *about_node(const struct doctor_facts *f)
{
	doctor_diagnose(f, &fixture_all);
	for (size_t i = 0; i < fixture_all.n; i++)
		if (strcmp(fixture_all.finding[i].subject, "node state") == 0)
			return &fixture_all.finding[i];
	fail_msg("nothing is said about the node state");
	return NULL;
}

static void expect_node(const struct doctor_facts *f, const char *text)
{
	assert_int_equal(about_node(f)->severity, DOCTOR_GOOD);
	assert_string_equal(about_node(f)->text, text);
}

TEST(doctor_diagnose, by_which_state_the_device_goes)
{
	struct doctor_facts f = fixture_healthy();

	expect_node(&f, "off: nobody decides (MRC_NODE_DIR)");
	strcpy(f.node.store, "/run/x/mrc0.state");
	expect_node(&f, "nothing is decided: there is no /run/x/mrc0.state");
	f.node.generation = 7;
	strcpy(f.node.writer, "mrcd 0.1");
	f.node.writer_pid = 5;
	expect_node(&f, "/run/x/mrc0.state, generation 7, by mrcd 0.1 (process 5 of user 0)");
	strcpy(f.node.refused, "/run/x/mrc0.state: is damaged");
	fixture_expect(&f, "node state", DOCTOR_WARN, "systemctl restart mrcd");
	assert_string_equal(about_node(&f)->text, "/run/x/mrc0.state: is damaged");
}

static const struct doctor_finding *about_hints(const struct doctor_facts *f)
{
	doctor_diagnose(f, &fixture_all);
	for (size_t i = 0; i < fixture_all.n; i++)
		if (strcmp(fixture_all.finding[i].subject, "EV hints") == 0)
			return &fixture_all.finding[i];
	return NULL;
}

/* REQ(req.ev.hint) */
TEST(doctor_diagnose, what_processes_know_from_others)
{
	struct doctor_facts f = fixture_healthy();

	assert_null(about_hints(&f));
	strcpy(f.node.store, "/run/x/mrc0.state");
	assert_string_equal(about_hints(&f)->text,
			    "off: without mrcd each process learns of dead EVs by losses");
	f.node.mrcd = true;
	assert_string_equal(about_hints(&f)->text,
			    "none: no process of this user found an EV bad lately");
	f.node.hints = 8;
	assert_string_equal(about_hints(&f)->text,
			    "8 EVs that other processes of this user found bad are probed first");
	assert_int_equal(about_hints(&f)->severity, DOCTOR_GOOD);
	f.node.hints_refused = true;
	fixture_expect(&f, "EV hints", DOCTOR_WARN, "systemctl restart mrcd");
}

TEST(doctor_find, never_beyond_the_end)
{
	fixture_all.n = 0;
	for (size_t i = 0; i < DOCTOR_FINDINGS_MAX + 5; i++)
		doctor_find(&fixture_all, DOCTOR_GOOD, "x", "%zu", i);
	assert_u_eq(fixture_all.n, DOCTOR_FINDINGS_MAX);
}

static struct doctor_facts srv6_facts(void)
{
	struct doctor_facts f = fixture_healthy();

	f.srv6 = true;
	for (uint32_t i = 0; i < f.ports; i++)
		f.port[i].seg6_enabled = 1;
	return f;
}

TEST(doctor_diagnose, nothing_where_evs_are_no_paths)
{
	struct doctor_facts f = fixture_healthy();

	f.readers41 = 3;
	f.tunnel41 = true;
	doctor_diagnose(&f, &fixture_all);
	assert_int_equal(doctor_worst(&fixture_all), DOCTOR_GOOD);
}

TEST(doctor_diagnose, routing_headers_that_are_dropped)
{
	struct doctor_facts f = srv6_facts();

	doctor_diagnose(&f, &fixture_all);
	assert_int_equal(doctor_worst(&fixture_all), DOCTOR_GOOD);
	f.port[1].seg6_enabled = 0;
	fixture_expect(
		&f, "SRv6 headers", DOCTOR_NOTE,
		"sysctl -w net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.eth0.seg6_enabled=1");
}

TEST(doctor_diagnose, others_who_take_protocol_41)
{
	struct doctor_facts f = srv6_facts();

	f.port[0].wrapped = true;
	f.readers41 = 2;
	fixture_expect(&f, "protocol 41", DOCTOR_NOTE, "ss -awp");
	f.readers41 = 0;
	f.tunnel41 = true;
	fixture_expect(&f, "protocol 41", DOCTOR_WARN, "ip -d link show type ip6tnl");
}
