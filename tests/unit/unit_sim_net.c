/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric as hosts see it: classes, marks, cuts, losses, faults, wake-ups, ends of runs. */
#include "sim_net_fixture.h"

#include "fabric/fabric_node.h"

#define S 4000u

/* n packets of a class at time 0, from `from` hosts to the last of their T0. */
static void burst(struct fixture *b, uint32_t from, uint32_t n, enum mw_dscp_class cls)
{
	uint32_t to = b->cfg.topology.cfg.hosts_per_t0 - 1;

	for (uint32_t host = 0; host < from; host++)
		for (uint32_t i = 0; i < n; i++)
			fixture_send(b, 0, host, to, cls, S);
}

/* REQ(switch.control.first) */
TEST(ms_send, control_overtakes_data_that_waits)
{
	struct fixture b;

	fixture_init(&b, 2);
	burst(&b, 1, 10, MW_DSCP_TRIMMABLE);
	fixture_send(&b, fixture_wire(S) * 5 / 2, 0, 1, MW_DSCP_CONTROL, 100);
	fixture_open(&b);
	fixture_run(&b);
	/* Behind the third packet, which was on its way. */
	assert_u_eq(b.got[3].p.cls, MW_DSCP_CONTROL);
	assert_u_eq(b.got[3].p.bytes, 100);
	assert_u_eq(b.n_got, 11);
	fixture_close(&b);
}

/* REQ(switch.ecn.red) */
TEST(ms_queue, marks_by_length)
{
	struct fixture b;
	struct ms_counters c;

	fixture_init(&b, 4);
	b.cfg.queue[MS_PORT_T0_DOWN].ecn_min_bytes = 5 * S;
	b.cfg.queue[MS_PORT_T0_DOWN].ecn_max_bytes = 5 * S + 1;
	burst(&b, 3, 10, MW_DSCP_TRIMMABLE);
	burst(&b, 1, 10, MW_DSCP_CONTROL);
	fixture_open(&b);
	c = fixture_run(&b);
	assert_true(c.ecn_marks > 5 && c.ecn_marks < 25);
	for (uint32_t i = 0; i < b.n_got; i++)
		assert_false(b.got[i].p.ce && b.got[i].p.cls == MW_DSCP_CONTROL);
	fixture_close(&b);
}

/* REQ(switch.trim.cut) REQ(switch.trim.last-hop) */
TEST(ms_queue, cuts_what_is_trimmable)
{
	struct fixture b;
	struct ms_counters c;
	uint32_t cut = 0;

	fixture_init(&b, 4);
	b.cfg.queue[MS_PORT_T0_DOWN].trim_bytes = 4 * S;
	burst(&b, 3, 10, MW_DSCP_TRIMMABLE_RETX);
	fixture_open(&b);
	c = fixture_run(&b);
	assert_u_eq(c.delivered, 30);
	for (uint32_t i = 0; i < b.n_got; i++) {
		cut += b.got[i].p.cls == MW_DSCP_TRIMMED_LASTHOP;
		assert_u_eq(b.got[i].p.bytes, ms_packet_cut(&b.got[i].p) ? 100 : S);
	}
	assert_u_eq(cut, c.trims);
	assert_true(cut > 5);
	fixture_close(&b);
}

/* REQ(switch.trim.short) */
TEST(ms_queue, short_packets_go_whole)
{
	struct ms_counters c;
	struct fixture b;

	fixture_init(&b, 4);
	b.cfg.queue[MS_PORT_T0_DOWN].trim_bytes = 4 * S;
	burst(&b, 3, 10, MW_DSCP_TRIMMABLE);
	for (uint32_t host = 0; host < 3; host++)
		fixture_send(&b, 0, host, 3, MW_DSCP_TRIMMABLE, 100);
	fixture_open(&b);
	c = fixture_run(&b);
	for (uint32_t i = 0; i < b.n_got; i++)
		c.trims -= ms_packet_cut(&b.got[i].p) && b.got[i].p.body[0] < 30;
	assert_u_eq(c.trims, 0);
	/* They come while longer ones that were there before still wait. */
	assert_u_eq(b.got[b.n_got - 1].p.bytes, S);
	fixture_close(&b);
}

TEST(ms_queue, cuts_in_mid_path_look_different)
{
	struct fixture b;

	fixture_init(&b, 3);
	b.cfg.queue[MS_PORT_T0_UP].trim_bytes = S;
	for (uint32_t host = 0; host < 3; host++)
		for (uint32_t i = 0; i < 5; i++)
			fixture_send(&b, 0, host, 3 + host, MW_DSCP_TRIMMABLE, S);
	fixture_open(&b);
	assert_true(fixture_run(&b).trims > 0);
	for (uint32_t i = 0; i < b.n_got; i++)
		assert_true(b.got[i].p.cls == MW_DSCP_TRIMMABLE ||
			    b.got[i].p.cls == MW_DSCP_TRIMMED);
	fixture_close(&b);
}

/* REQ(switch.trim.eligible) REQ(switch.trim.dropped) */
TEST(ms_queue, drops_what_may_not_be_cut)
{
	struct fixture b;
	struct ms_counters c;

	fixture_init(&b, 4);
	b.cfg.queue[MS_PORT_T0_DOWN] = (struct ms_queue_cfg){
		.trim_bytes = 4 * S, .data_limit_bytes = 4 * S, .control_limit_bytes = 4 * S};
	burst(&b, 3, 10, MW_DSCP_NO_TRIM);
	burst(&b, 3, 10, MW_DSCP_CONTROL);
	fixture_open(&b);
	c = fixture_run(&b);
	assert_u_eq(c.trims, 0);
	assert_true(c.dropped[MS_DROP_DATA_FULL] > 0);
	assert_true(c.dropped[MS_DROP_CONTROL_FULL] > 0);
	fixture_close(&b);
}

TEST(ms_send, refuses_what_has_no_route)
{
	struct fixture b;
	struct ms_counters c;

	fixture_init(&b, 2);
	fixture_send(&b, 0, 0, 4, MW_DSCP_TRIMMABLE, S); /* there are hosts 0 to 3 */
	fixture_send(&b, 0, 0, 2, MW_DSCP_TRIMMABLE, S);
	b.send[1].p.ev = mf_ev_of(0, 2, 0); /* and T1s 0 and 1 */
	fixture_open(&b);
	c = fixture_run(&b);
	assert_u_eq(c.dropped[MS_DROP_NO_ROUTE], 2);
	assert_u_eq(c.hops, 0);
	fixture_close(&b);
}

TEST(ms_port_idle_ps, is_when_the_port_runs_dry)
{
	struct fixture b;

	fixture_init(&b, 2);
	burst(&b, 1, 10, MW_DSCP_TRIMMABLE);
	fixture_open(&b);
	fixture_run(&b);
	assert_u_eq(b.free_ps, 10 * fixture_wire(S));
	fixture_close(&b);
}

static void fault(struct fixture *b, uint64_t t_ps, uint32_t link, enum ms_fault_kind kind,
		  uint32_t value)
{
	struct ms_fault f = {t_ps, link, value, (uint8_t)kind};

	assert_true(ms_net_add_fault(b->net, &f));
}

TEST(ms_net_add_fault, a_cut_loses_what_is_on_the_wire_and_behind_it)
{
	struct fixture b;
	struct ms_counters c;
	uint32_t link;

	fixture_init(&b, 2);
	burst(&b, 1, 10, MW_DSCP_TRIMMABLE);
	fixture_open(&b);
	link = mf_link_host_t0(&b.cfg.topology, 0, 0, false);
	/* The first packet has just arrived, the next ones have begun. */
	fault(&b, fixture_wire(S) + FIXTURE_NS(800) + 1, link, MS_FAULT_DOWN, 0);
	fault(&b, FIXTURE_NS(9000), link, MS_FAULT_UP, 0);
	c = fixture_run(&b);
	assert_u_eq(c.delivered, 1);
	assert_u_eq(c.dropped[MS_DROP_LINK_DOWN], 9);
	assert_u_eq(b.carriers, 2);
	assert_u_eq(b.last_carrier_ps, FIXTURE_NS(9000));
	assert_true(b.last_up);
	fixture_close(&b);
}

TEST(ms_net_add_fault, either_direction_is_the_carrier)
{
	struct fixture b;
	uint32_t up, down;

	fixture_init(&b, 2);
	fixture_open(&b);
	up = mf_link_host_t0(&b.cfg.topology, 0, 0, false);
	down = mf_link_host_t0(&b.cfg.topology, 0, 0, true);
	fault(&b, FIXTURE_NS(1000), up, MS_FAULT_DOWN, 0);
	fault(&b, FIXTURE_NS(2000), down, MS_FAULT_DOWN, 0);
	fault(&b, FIXTURE_NS(3000), up, MS_FAULT_UP, 0);
	fault(&b, FIXTURE_NS(4000), down, MS_FAULT_UP, 0);
	fixture_run(&b);
	assert_u_eq(b.carriers, 2);
	assert_u_eq(b.last_carrier_ps, FIXTURE_NS(4000));
	fixture_close(&b);
}

TEST(ms_net_add_fault, a_slow_link_is_slow)
{
	struct fixture b;

	fixture_init(&b, 2);
	fixture_send(&b, FIXTURE_NS(1), 0, 1, MW_DSCP_TRIMMABLE, S);
	fixture_open(&b);
	fault(&b, 0, mf_link_host_t0(&b.cfg.topology, 0, 1, true), MS_FAULT_RATE, 10000);
	fixture_run(&b);
	/* A hundredth of the speed, and far beyond the windows that boxes reach to. */
	assert_u_eq(b.got[0].t_ps, FIXTURE_NS(1) + 101 * fixture_wire(S) + FIXTURE_NS(1300));
	fixture_close(&b);
}

TEST(ms_net_add_fault, losses_have_their_share)
{
	struct fixture b;
	struct ms_counters c;

	fixture_init(&b, 2);
	burst(&b, 1, 10000, MW_DSCP_TRIMMABLE);
	fixture_open(&b);
	fault(&b, 0, mf_link_host_t0(&b.cfg.topology, 0, 0, false), MS_FAULT_LOSS, 100000);
	fault(&b, 0, mf_link_host_t0(&b.cfg.topology, 0, 1, true), MS_FAULT_CORRUPT, 10000);
	c = fixture_run(&b);
	assert_u_between(c.dropped[MS_DROP_LOSS], 850, 1150);
	assert_u_between(c.corrupted, 50, 140);
	fixture_close(&b);
}

TEST(ms_net_add_fault, refuses_nonsense)
{
	struct ms_fault f = {.link = UINT32_MAX, .kind = MS_FAULT_DOWN};
	struct fixture b;

	fixture_init(&b, 2);
	fixture_open(&b);
	assert_false(ms_net_add_fault(b.net, &f));
	f = (struct ms_fault){.kind = MS_FAULT_KINDS};
	assert_false(ms_net_add_fault(b.net, &f));
	f = (struct ms_fault){.kind = MS_FAULT_RATE, .value = 0};
	assert_false(ms_net_add_fault(b.net, &f));
	f = (struct ms_fault){.kind = MS_FAULT_LOSS, .value = 1000001};
	assert_false(ms_net_add_fault(b.net, &f));
	assert_u_eq(ms_net_run(b.net, FIXTURE_NS(10000)), MS_END_IDLE);
	fixture_close(&b);
}

TEST(ms_net_wake, reaches_far)
{
	/* Many turns of the wheel, whose slots are windows of 500 ns. */
	const uint64_t far = FIXTURE_NS(5000000) + 123;
	struct fixture b;

	fixture_init(&b, 2);
	fixture_open(&b);
	ms_net_wake(b.net, 2, far);
	fixture_run(&b);
	assert_u_eq(b.wakes, 1);
	assert_u_eq(b.last_wake_ps, far);
	fixture_close(&b);
}

TEST(ms_net_run, ends_on_time_and_goes_on)
{
	struct fixture b;

	fixture_init(&b, 2);
	b.cfg.edge_ps = FIXTURE_NS(10000);
	fixture_send(&b, FIXTURE_NS(95000), 0, 1, MW_DSCP_TRIMMABLE, S);
	fixture_open(&b);
	assert_u_eq(ms_net_run(b.net, FIXTURE_NS(50000)), MS_END_TIME);
	assert_u_eq(ms_net_now_ps(b.net), FIXTURE_NS(50000));
	assert_u_eq(b.edges, 5);
	assert_u_eq(b.last_edge_ps, FIXTURE_NS(50000));
	assert_u_eq(b.wakes, 0);
	assert_u_eq(ms_net_run(b.net, MS_NEVER), MS_END_IDLE);
	assert_u_eq(b.edges, 9);
	assert_u_eq(b.n_got, 1);
	fixture_close(&b);
}

TEST(ms_net_run, stops_at_an_edge)
{
	struct fixture b;

	fixture_init(&b, 2);
	b.cfg.edge_ps = FIXTURE_NS(10000);
	b.stop_at_edge = 3;
	fixture_send(&b, FIXTURE_NS(95000), 0, 1, MW_DSCP_TRIMMABLE, S);
	fixture_open(&b);
	assert_u_eq(ms_net_run(b.net, MS_NEVER), MS_END_STOPPED);
	assert_u_eq(ms_net_now_ps(b.net), FIXTURE_NS(30000));
	assert_u_eq(ms_net_run(b.net, MS_NEVER), MS_END_IDLE);
	assert_u_eq(b.n_got, 1);
	fixture_close(&b);
}

TEST(ms_net_link, tells_what_a_link_did)
{
	struct ms_link_info info;
	struct fixture b;
	uint32_t link;

	fixture_init(&b, 2);
	burst(&b, 1, 10, MW_DSCP_TRIMMABLE);
	fixture_open(&b);
	link = mf_link_host_t0(&b.cfg.topology, 0, 0, false);
	ms_net_set_tap(b.net, link, true);
	assert_u_eq(ms_net_run(b.net, FIXTURE_NS(1000)), MS_END_TIME);
	assert_true(ms_net_link(b.net, link, &info));
	/* 1000 ns are three packets and the beginning of a fourth. */
	assert_u_eq(info.sent_bytes, 4 * S);
	assert_u_eq(info.data_bytes, 6 * S);
	fixture_run(&b);
	assert_u_eq(b.taps, 10);
	assert_true(ms_net_link(b.net, link, &info));
	assert_u_eq(info.sent_bytes, 10 * S);
	assert_true(info.up);
	assert_false(ms_net_link(b.net, UINT32_MAX, &info));
	fixture_close(&b);
}

TEST(ms_net_cfg_check, names_what_is_wrong)
{
	char why[MS_WHY_BYTES] = "";
	struct fixture b;

	fixture_init(&b, 2);
	assert_true(ms_net_cfg_check(&b.cfg, why));
	b.cfg.threads = 65;
	assert_false(ms_net_cfg_check(&b.cfg, why));
	assert_non_null(strstr(why, "threads = 65"));
	b.cfg.threads = 1;
	b.cfg.queue[MS_PORT_T1_DOWN].ecn_min_bytes = 10;
	b.cfg.queue[MS_PORT_T1_DOWN].ecn_max_bytes = 10;
	assert_false(ms_net_cfg_check(&b.cfg, why));
	assert_non_null(strstr(why, "t1_down"));
	assert_null(ms_net_create(&b.cfg, why));
	fixture_close(&b);
}

TEST(ms_net_memory, is_enough_and_small)
{
	struct mf_topology *t;
	struct fixture b;

	fixture_init(&b, 64);
	burst(&b, 63, 300, MW_DSCP_TRIMMABLE);
	fixture_open(&b);
	fixture_run(&b);
	t = &b.cfg.topology;
	assert_true(ms_net_memory_used(b.net) <
		    ms_net_memory(&b.cfg, UINT64_C(63) * 300) + (4u << 20));
	/* Without packets at most 128 bytes a directed link, and 16 a host. */
	assert_true(ms_net_memory(&b.cfg, 0) <
		    t->n_links * UINT64_C(128) + t->n_hosts * UINT64_C(16) + (1u << 20));
	fixture_close(&b);
}

/* REQ(switch.ecn.not-last-hop) */
TEST(ms_queue_defaults, follow_the_fabric)
{
	struct ms_queue_cfg q[MS_PORT_KINDS];
	struct fixture b;

	fixture_init(&b, 2);
	ms_queue_defaults(&b.cfg.topology, true, q);
	/* 2 x (3 x 800 + 500) ns at 100 Gb/s, and a packet. */
	assert_u_eq(q[MS_PORT_T0_UP].trim_bytes, 72500 + 4262);
	assert_u_eq(q[MS_PORT_T0_DOWN].ecn_max_bytes, 0);
	assert_true(q[MS_PORT_T0_DOWN].trim_bytes > q[MS_PORT_T0_UP].trim_bytes);
	assert_u_eq(q[MS_PORT_HOST_UP].trim_bytes, 0);
	fixture_close(&b);
}

/* What meets by chance is not marked: sqrt(3 x 4 hosts), rounded up, or else a fifth of a BDP. */
TEST(ms_queue_defaults, marks_begin_above_what_meets_by_chance)
{
	struct ms_queue_cfg q[MS_PORT_KINDS];
	struct fixture b;

	fixture_init(&b, 2);
	b.cfg.topology.cfg.hosts_per_t0 = 4;
	ms_queue_defaults(&b.cfg.topology, true, q);
	assert_u_eq(q[MS_PORT_T0_UP].ecn_min_bytes, 4 * 4262);
	b.cfg.topology.cfg.hosts_per_t0 = 1;
	ms_queue_defaults(&b.cfg.topology, true, q);
	assert_u_eq(q[MS_PORT_T1_DOWN].ecn_min_bytes, (72500 + 4262) / 5);
	b.cfg.topology.cfg.hosts_per_t0 = 4000;
	ms_queue_defaults(&b.cfg.topology, true, q);
	assert_u_eq(q[MS_PORT_T1_DOWN].ecn_min_bytes, (72500 + 4262) / 2);
	fixture_close(&b);
}
