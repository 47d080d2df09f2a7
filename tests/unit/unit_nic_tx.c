/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_tx.c - what leaves the NIC, byte for byte, as a bare socket sees it. */
#include "unit/nic_fixture.h"

#include <unistd.h>

#include "host/datapath/datapath.h"

#define TX_TEST(name) TEST_WITH(fixture_setup, fixture_teardown, mh_tx, name)

static void tx_post(struct nic_fixture *fixture, uint32_t offset, uint32_t len)
{
	struct rd_sge sge[3] = {
		{(uintptr_t)fixture->buffer + offset, len / 2, mh_mr_lkey(fixture->mr)},
		{(uintptr_t)fixture->buffer, 0, mh_mr_lkey(fixture->mr)},
		{(uintptr_t)fixture->buffer + offset + len / 2, len - len / 2,
		 mh_mr_lkey(fixture->mr)}};
	struct rd_send_wr wr = {
		.sge = sge, .n_sge = 3, .rkey = 0xABCDEF01, .remote_addr = 0x123456789A};

	assert_i_eq(mh_qp_post_send(fixture->qp, &wr, 1, NULL), 0);
}

/* tx_take receives one frame, checks all around it and decodes it. */
static void tx_take(struct nic_fixture *fixture, struct mio_rx *frame, struct mw_packet *pkt,
		    size_t *headers)
{
	uint32_t plane = fixture_receive(fixture, frame);
	struct mio_addr from, to;
	uint8_t icrc[4];

	assert_true(plane != UINT32_MAX);
	from = fixture_addr(plane, 1, frame->src.udp_port);
	to = fixture_addr(plane, 9, MH_UDP_PORT);
	assert_memory_equal(frame->src.ip, from.ip, 16);
	assert_u_between(frame->src.udp_port, FIXTURE_EV_BASE, FIXTURE_EV_BASE + FIXTURE_EVS - 1);
	fixture_icrc(frame->bytes, frame->len - 4, &from, &to, icrc);
	assert_bytes_eq(frame->bytes + frame->len - 4, icrc, 4);
	assert_u_eq(mw_packet_decode(frame->bytes, frame->len - 4, false, pkt, headers), MW_OK);
	assert_u_eq(pkt->bth.dqp, FIXTURE_PEER_QPN);
}

/* REQ(wire.icrc.ipv4-socket) */
TX_TEST(message_is_cut_into_packets_with_payload_in_place)
{
	struct nic_fixture *fixture = *state;
	uint64_t seen = 0;

	assert_i_eq(fixture_connect(fixture), 0);
	tx_post(fixture, 5, 10001);
	for (int i = 0; i < 3; i++) {
		struct mw_packet pkt;
		struct mio_rx frame;
		size_t headers;
		uint32_t at;

		tx_take(fixture, &frame, &pkt, &headers);
		at = (uint32_t)(pkt.data.reth.va - 0x123456789A);
		assert_u_eq(pkt.data.reth.rkey, 0xABCDEF01);
		assert_u_eq(pkt.data.reth.dmalen, 10001);
		assert_u_eq(pkt.bth.psn, 2000 + at / 4096);
		assert_u_eq(pkt.payload_len, at == 8192 ? 10001 - 8192 : 4096);
		assert_u_eq(pkt.bth.pad, -pkt.payload_len & 3u);
		assert_bytes_eq(frame.bytes + headers, fixture->buffer + 5 + at, pkt.payload_len);
		seen += pkt.payload_len;
	}
	assert_u_eq(seen, 10001);
}

static int tx_setup_dscp(void **state)
{
	setenv("MRC_DSCP", "1,5,9,13,17,47", 1);
	return fixture_setup(state);
}

static int tx_teardown_dscp(void **state)
{
	unsetenv("MRC_DSCP");
	return fixture_teardown(state);
}

/* REQ(wire.dscp.values) */
TEST_WITH(tx_setup_dscp, tx_teardown_dscp, mh_tx, data_has_the_dscp_that_was_set)
{
	struct nic_fixture *fixture = *state;
	struct mw_packet pkt;
	struct mio_rx frame;
	size_t headers;

	assert_i_eq(fixture_connect(fixture), 0);
	tx_post(fixture, 0, 10);
	tx_take(fixture, &frame, &pkt, &headers);
	assert_u_eq(frame.tos, 5 << 2 | 2);
}

/* REQ(wire.dscp.data-class) */
TX_TEST(data_is_trimmable_and_ecn_capable)
{
	struct nic_fixture *fixture = *state;
	struct mw_packet pkt;
	struct mio_rx frame;
	size_t headers;

	assert_i_eq(fixture_connect(fixture), 0);
	tx_post(fixture, 0, 10);
	tx_take(fixture, &frame, &pkt, &headers);
	assert_u_eq(frame.tos, 4 << 2 | 2);
}

TX_TEST(planes_are_used_alike)
{
	struct nic_fixture *fixture = *state;
	uint32_t planes[2] = {0, 0};
	struct mio_rx frame;

	assert_i_eq(fixture_connect(fixture), 0);
	for (int i = 0; i < 8; i++)
		tx_post(fixture, 0, 100);
	for (int i = 0; i < 8; i++) {
		uint32_t plane = fixture_receive(fixture, &frame);

		assert_true(plane < 2);
		planes[plane]++;
	}
	assert_u_eq(planes[0], planes[1]);
}

static int tx_setup_paced(void **state)
{
	setenv("MRC_PACE", "4M", 1);
	setenv("MRC_CC", "none", 1);
	return fixture_setup(state);
}

static int tx_teardown_paced(void **state)
{
	unsetenv("MRC_PACE");
	unsetenv("MRC_CC");
	return fixture_teardown(state);
}

/* Two frames are what its bucket holds. */
TEST_WITH(tx_setup_paced, tx_teardown_paced, mh_tx, a_port_that_is_of_no_use_saves_up_nothing)
{
	struct nic_fixture *fixture = *state;
	struct mh_nic *nic = fixture->dev->nic;
	struct mh_pace *unused = &nic->ports.port[1].pace;
	uint64_t before, after;

	assert_i_eq(fixture_connect(fixture), 0);
	mh_nic_lock(nic);
	before = unused->tokens;
	nic->ports.port[1].up = false;
	mh_engine_report_ports(nic, mh_now_ns());
	mh_nic_unlock(nic);
	tx_post(fixture, 0, 10 * 4096);
	mh_nic_lock(nic);
	after = unused->tokens;
	mh_nic_unlock(nic);
	assert_u_eq(before, 2 * unused->frame);
	assert_u_eq(after, unused->frame);
}

TX_TEST(peer_in_another_slot_is_at_another_port)
{
	struct mio_addr local = fixture_addr(0, 9, MH_UDP_PORT + 5), there = fixture_addr(1, 9, 0);
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr;
	struct mio_error error;
	int fd[2];

	assert_i_eq(mio_udp_claim(&local, NULL, &fd[0], &error), 0);
	there.udp_port = MH_UDP_PORT + 5;
	assert_i_eq(mio_udp_claim(&there, NULL, &fd[1], &error), 0);
	assert_i_eq(fixture_connect(fixture), 0);
	mh_qp_query(fixture->qp, &attr);
	attr.state = RD_QPS_RESET;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	attr.state = RD_QPS_INIT;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	attr.dest_qpn = 5u << 14 | 20;
	attr.state = RD_QPS_RTR;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE | RD_QP_DEST), 0);
	attr.state = RD_QPS_RTS;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	tx_post(fixture, 0, 10);
	assert_i_eq(poll((struct pollfd[]){{fd[0], POLLIN, 0}, {fd[1], POLLIN, 0}}, 2, 1000), 1);
	close(fd[0]);
	close(fd[1]);
}
