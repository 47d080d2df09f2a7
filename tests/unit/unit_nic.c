/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NICs on the simulated fabric: what they hand to their ports and when, and what they keep. Four
 * hosts on two T0s, four planes of 100G.
 */
#include "support/test.h"

#include "fabric/fabric_node.h"
#include "sim/mrc/mrc_nic_state.h"
#include "sim/run/sim_run.h"
#include "wire/packet.h"

#define GBIT UINT64_C(1000000000)
#define US_PS UINT64_C(1000000)
#define PLANES 4u
/* A full packet: payload, MRC's headers and what frames them. */
#define PACKET (4096u + 36u + 130u)

static char why[MS_WHY_BYTES];
static struct mf_topology topology;
static struct ms_run_cfg cfg;
static struct ms_list_flow flows[4];
static uint32_t data_waited, samples, tapped[256];
static bool all_encode;

static int four_hosts(void **state)
{
	struct mf_topology_cfg t = {
		.dscp = mw_dscp_map_default(),
		.name = "test",
		.planes = PLANES,
		.tiers = 2,
		.pods = 1,
		.hosts_per_t0 = 2,
		.t0s = 2,
		.t1s = 4,
		.rails = 1,
		.mtu = 4500,
		.switch_ns = 500,
		.usid.block = 0xfcbbbb00,
		.address_block = 0xfd4d5243,
	};
	struct mf_error error;

	(void)state;
	for (unsigned i = 0; i < MF_LINK_KINDS; i++)
		t.links[i] = (struct mf_link_cfg){100 * GBIT, 500};
	assert_true(mf_topology_init(&topology, &t, &error));
	ms_run_defaults(&cfg, &topology);
	cfg.workload[0] = (struct ms_workload_cfg){.kind = MS_LIST, .list = flows};
	cfg.end_ps = 100000 * US_PS;
	memset(flows, 0, sizeof(flows));
	memset(tapped, 0, sizeof(tapped));
	data_waited = samples = 0;
	all_encode = true;
	return 0;
}

static void add_flow(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t start_ns)
{
	flows[cfg.workload[0].n_list++] =
		(struct ms_list_flow){.src = src, .dst = dst, .bytes = bytes, .start_ns = start_ns};
}

static struct ms_run *start(void)
{
	struct ms_run *run = ms_run_create(&cfg, why);

	assert_string_equal(why, "");
	return run;
}

static struct ms_run_result finish(struct ms_run *run)
{
	struct ms_run_result r;

	assert_i_eq(ms_run_step(run, cfg.end_ps), MS_RUN_DONE);
	assert_true(ms_run_result(run, &r));
	assert_u_eq(r.flows_unfinished + r.violations, 0);
	return r;
}

#define NIC(function, name) TEST_WITH(four_hosts, NULL, function, name)

/* What waits in host 0's ports, now and then. */
static bool look(void *ctx, struct ms_run *run, uint64_t now_ps)
{
	(void)ctx;
	(void)now_ps;
	for (uint32_t p = 0; p < PLANES; p++) {
		struct ms_link_info info;
		uint32_t link = mf_link_host_t0(&topology, p, 0, false);

		assert_true(ms_net_link(run->net, link, &info));
		if (info.data_bytes > data_waited)
			data_waited = info.data_bytes;
		samples++;
	}
	return true;
}

/* One packet waits behind the one that is being sent, and no more. REQ(sim.nic.room) */
NIC(ms_nics, data_does_not_queue_in_the_nic)
{
	struct ms_run *run;

	add_flow(0, 2, 4 << 20, 0);
	cfg.edge_ps = US_PS / 2;
	cfg.edge = look;
	ms_run_destroy(start()); /* as a run that was never stepped */
	run = start();
	finish(run);
	assert_true(samples > 100);
	assert_u_between(data_waited, PACKET, PACKET + 4);
	ms_run_destroy(run);
}

/* Planes carry equal shares, to a packet, and every packet of a flow leaves its own host once. */
NIC(ms_nics, planes_carry_equal_shares)
{
	struct ms_link_info info;
	uint64_t least = UINT64_MAX, most = 0;
	struct ms_run *run;

	add_flow(0, 1, 1000 * 4096, 0);
	run = start();
	assert_u_eq(finish(run).data_packets, 1000);
	for (uint32_t p = 0; p < PLANES; p++) {
		ms_net_link(run->net, mf_link_host_t0(&topology, p, 0, false), &info);
		least = info.sent_bytes < least ? info.sent_bytes : least;
		most = info.sent_bytes > most ? info.sent_bytes : most;
	}
	assert_u_between(most, least, least + PACKET + 4);
	assert_u_between(4 * most, 1000 * PACKET, 1004 * PACKET + 16);
	ms_run_destroy(run);
}

static void tap(void *ctx, struct ms_run *run, uint32_t link, uint64_t now_ps,
		const struct ms_packet *p)
{
	uint8_t bytes[MW_HEADERS_MAX];
	struct mw_packet pkt;

	(void)ctx;
	(void)run;
	(void)link;
	(void)now_ps;
	ms_frame_unpack(p, &pkt);
	tapped[pkt.bth.opcode]++;
	all_encode &= mw_packet_encode(&pkt, bytes) + pkt.payload_len + pkt.bth.pad ==
			      ms_frame_bytes(&pkt) &&
		      p->bytes == ms_frame_bytes(&pkt) + 130;
}

/* What a tap sees are whole MRC packets, as many as engines have sent. */
NIC(ms_nics, a_tap_sees_what_engines_send)
{
	struct ms_run_result r;
	struct ms_run *run;

	add_flow(0, 2, 50 * 4096, 0);
	cfg.tap = tap;
	run = start();
	for (uint32_t p = 0; p < PLANES; p++) {
		ms_net_set_tap(run->net, mf_link_host_t0(&topology, p, 0, false), true);
		ms_net_set_tap(run->net, mf_link_host_t0(&topology, p, 2, false), true);
	}
	r = finish(run);
	assert_u_eq(tapped[MW_WRITE_FIRST], 1);
	assert_u_eq(tapped[MW_WRITE_MIDDLE], 48);
	assert_u_eq(tapped[MW_WRITE_LAST_IMM], 1);
	assert_u_eq(tapped[MW_SACK], r.core.tx_sacks);
	assert_u_eq(tapped[MW_ACK], r.core.tx_acks);
	assert_true(all_encode);
	ms_run_destroy(run);
}

/* Engines are made where something happens, connections while they are used. */
NIC(ms_nics, only_what_is_used_is_there)
{
	struct ms_nic_sums sums;
	struct ms_run *run;

	add_flow(0, 2, 4096, 0);
	add_flow(0, 2, 4096, 50000);
	run = start();
	ms_nics_sums(run->nics, &sums);
	assert_u_eq(sums.hosts, 0);
	assert_i_eq(ms_run_step(run, US_PS / 10), MS_RUN_RUNNING);
	ms_nics_sums(run->nics, &sums);
	assert_u_eq(sums.hosts, 1);
	assert_u_eq(sums.connections, 1);
	assert_i_eq(ms_run_step(run, 20 * US_PS), MS_RUN_RUNNING);
	ms_nics_sums(run->nics, &sums);
	assert_u_eq(sums.hosts, 2);
	assert_u_eq(sums.connections, 1); /* that of the destination lingers */
	finish(run);
	ms_nics_sums(run->nics, &sums);
	assert_u_eq(sums.hosts, 2);
	assert_u_eq(sums.connections, 0);
	ms_run_destroy(run);
}

/* Flows begin when they are to, to the nanosecond, and empty ones are delivered as well. */
NIC(ms_nics, flows_begin_on_time)
{
	struct ms_flow_result f;
	struct ms_run *run;

	add_flow(3, 0, 0, 12345);
	add_flow(3, 1, 100, 777);
	add_flow(2, 0, 5000, 0);
	run = start();
	finish(run);
	for (uint32_t i = 0; i < 3; i++) {
		ms_run_flow(run, i, &f);
		assert_u_eq(f.start_ns, flows[i].start_ns);
		assert_true(f.end_ns > f.start_ns && f.acked_ns > f.end_ns);
	}
	ms_run_destroy(run);
}

/* A sender that is told by its own port loses no more than what was on it. */
NIC(ms_nics, ports_come_and_go)
{
	struct ms_fault faults[4];
	struct ms_run_result r;
	struct ms_run *run;

	add_flow(0, 2, 8 << 20, 0);
	for (unsigned i = 0; i < 4; i++)
		faults[i] = (struct ms_fault){
			.at_ps = (i < 2 ? 20 : 90) * US_PS,
			.kind = i < 2 ? MS_FAULT_DOWN : MS_FAULT_UP,
			.link = mf_link_host_t0(&topology, 1, 0, i % 2),
		};
	cfg.faults = faults;
	cfg.n_faults = 4;
	run = start();
	r = finish(run);
	assert_u_between(r.net.dropped[MS_DROP_LINK_DOWN], 1, 40);
	assert_u_between(r.retransmits, 1, 60);
	ms_run_destroy(run);
}
