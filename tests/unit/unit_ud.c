/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ud.c - a UD QP and a peer made of bare ports: the frames it sends, what arrives, and what a
 * unknown sender may not do.
 */
#include "unit/ud_nic_fixture.h"

#include "base/bytes.h"

#define UD_TEST(function, name) TEST_WITH(ud_setup, ud_teardown, function, name)
#define UD_Q_KEY 0x1234u
#define UD_ECN_CE 3u
#define UD_TRIMMED (12u << 2)

static int ud_setup(void **state)
{
	return ud_open(state, MH_QPT_UD);
}

static int ud_move(struct ud_fixture *u, enum rd_qp_state state)
{
	struct rd_qp_attr attr = {.state = state, .q_key = UD_Q_KEY, .sq_psn = 0xFFFFFF};

	return mh_qp_modify(u->qp, &attr,
			    RD_QP_STATE | (state == RD_QPS_INIT ? RD_QP_Q_KEY : 0) |
				    (state == RD_QPS_RTS ? RD_QP_SQ_PSN : 0));
}

static void ud_ready(struct ud_fixture *u)
{
	assert_i_eq(ud_move(u, RD_QPS_INIT), 0);
	assert_i_eq(ud_move(u, RD_QPS_RTR), 0);
	assert_i_eq(ud_move(u, RD_QPS_RTS), 0);
}

static struct rd_send_wr ud_wr(struct ud_fixture *u, struct rd_sge *sge, uint32_t len)
{
	*sge = (struct rd_sge){(uintptr_t)u->nic->buffer, len, mh_mr_lkey(u->nic->mr)};
	return (struct rd_send_wr){.wr_id = 7,
				   .sge = sge,
				   .n_sge = 1,
				   .flags = RD_SEND_SIGNALED,
				   .opcode = RD_WR_SEND,
				   .ud = {&u->ah, FIXTURE_PEER_QPN, UD_Q_KEY}};
}

static struct mw_datagram ud_packet(struct ud_fixture *u, uint32_t len)
{
	return (struct mw_datagram){.p_key = 0xFFFF,
				    .dqp = mh_qp_number(u->qp),
				    .q_key = UD_Q_KEY,
				    .src_qpn = FIXTURE_PEER_QPN,
				    .payload_len = len,
				    .pad = -len & 3};
}

/* ---- sending ---- */

/* REQ(ud.deth) */
UD_TEST(mh_qp_post_send, makes_a_frame)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg;
	struct mio_rx frame;
	struct rd_sge sge;
	struct rd_send_wr wr = ud_wr(u, &sge, 5);
	uint8_t icrc[4];
	size_t headers;
	uint32_t plane;

	ud_ready(u);
	wr.flags |= RD_SEND_IMM | RD_SEND_SOLICITED;
	wr.imm = 0xABCD;
	assert_i_eq(ud_post(u, &wr), 0);
	plane = fixture_receive(u->nic, &frame);
	assert_true(plane < FIXTURE_PLANES);
	assert_int_equal(mw_datagram_decode(frame.bytes, frame.len - 4, &dg, &headers), MW_OK);
	assert_u_eq(dg.dqp, FIXTURE_PEER_QPN);
	assert_u_eq(dg.src_qpn, mh_qp_number(u->qp));
	assert_u_eq(dg.q_key, UD_Q_KEY);
	assert_u_eq(dg.psn, 0xFFFFFF);
	assert_u_eq(dg.imm, 0xABCD);
	assert_true(dg.se && dg.with_imm);
	assert_u_eq(dg.payload_len, 5);
	assert_bytes_eq(frame.bytes + headers, u->nic->buffer, 5);

	fixture_icrc(frame.bytes, frame.len - 4, &frame.src,
		     &(struct mio_addr){.udp_port = MH_UDP_PORT,
					.ip = {[10] = 0xFF,
					       [11] = 0xFF,
					       [12] = 127,
					       [13] = fixture_addr(plane, 9, 0).ip[13],
					       [14] = fixture_addr(plane, 9, 0).ip[14],
					       [15] = 9}},
		     icrc);
	assert_bytes_eq(frame.bytes + frame.len - 4, icrc, 4);
	assert_u_eq(ud_poll(u).opcode, RD_WC_SEND);
}

UD_TEST(mh_qp_post_send, controlled_q_key_and_inline_and_traffic_class)
{
	static const char text[] = "inline";
	struct ud_fixture *u = *state;
	struct rd_sge sge = {(uintptr_t)text, 6, 0};
	struct rd_send_wr wr = {.sge = &sge,
				.n_sge = 1,
				.flags = RD_SEND_INLINE,
				.opcode = RD_WR_SEND,
				.ud = {&u->ah, 1, 0x80000000u}};
	struct mw_datagram dg;
	struct mio_rx frame;
	size_t headers;

	ud_ready(u);
	u->ah.traffic_class = 0x2B; /* the ECN bits are not for it to say */
	assert_i_eq(ud_post(u, &wr), 0);
	assert_true(fixture_receive(u->nic, &frame) < FIXTURE_PLANES);
	assert_u_eq(frame.tos, 0x28);
	assert_int_equal(mw_datagram_decode(frame.bytes, frame.len - 4, &dg, &headers), MW_OK);
	assert_u_eq(dg.q_key, UD_Q_KEY);
	assert_bytes_eq(frame.bytes + headers, text, 6);
}

/* A slow sender's datagrams take turns on the planes. REQ(ud.spray) */
UD_TEST(mh_qp_post_send, sprays)
{
	struct ud_fixture *u = *state;
	uint32_t planes = 0;

	ud_ready(u);
	for (uint32_t i = 0; i < 2 * FIXTURE_PLANES; i++) {
		struct rd_sge sge;
		struct rd_send_wr wr = ud_wr(u, &sge, 100);
		struct mio_rx frame;
		uint32_t plane;

		assert_i_eq(ud_post(u, &wr), 0);
		assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
		plane = fixture_receive(u->nic, &frame);
		assert_true(plane < FIXTURE_PLANES);
		planes |= 1u << plane;
		poll(NULL, 0, 1);
	}
	assert_u_eq(planes, (1u << FIXTURE_PLANES) - 1);
}

/* REQ(ud.too-long) */
UD_TEST(mh_qp_post_send, too_long_is_done_and_not_sent)
{
	struct ud_fixture *u = *state;
	struct rd_sge sge;
	struct rd_send_wr wr = ud_wr(u, &sge, 4097);

	ud_ready(u);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
	assert_u_eq(fixture_counter(u->nic, "ud_tx_unsent"), 1);
	assert_u_eq(fixture_counter(u->nic, "ud_tx"), 0);
	wr = ud_wr(u, &sge, 4096);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
	assert_u_eq(fixture_counter(u->nic, "ud_tx"), 1);
}

UD_TEST(mh_qp_post_send, refusals)
{
	struct ud_fixture *u = *state;
	struct rd_sge sge;
	struct rd_send_wr good = ud_wr(u, &sge, 8), wr = good;

	assert_i_eq(ud_post(u, &wr), EINVAL); /* in RESET */
	ud_ready(u);
	wr.opcode = RD_WR_WRITE;
	assert_i_eq(ud_post(u, &wr), EINVAL);
	wr = good;
	wr.ud.ah = NULL;
	assert_i_eq(ud_post(u, &wr), EINVAL);
	wr = good;
	wr.ud.qpn = 1u << 24;
	assert_i_eq(ud_post(u, &wr), EINVAL);
	wr = good;
	wr.n_sge = 3;
	assert_i_eq(ud_post(u, &wr), EINVAL);
	wr = good;
	wr.flags = RD_SEND_INLINE;
	sge.length = 33;
	assert_i_eq(ud_post(u, &wr), EINVAL);
	wr = good;
	sge.length = 8;
	u->ah.dest.b[0] = 0xFE; /* not of this device's family */
	assert_i_eq(ud_post(u, &wr), EINVAL);
}

UD_TEST(mh_qp_post_send, full_until_polled)
{
	struct ud_fixture *u = *state;
	struct rd_sge sge;
	struct rd_send_wr wr = ud_wr(u, &sge, 8);

	ud_ready(u);
	for (uint32_t i = 0; i < UD_DEPTH; i++)
		assert_i_eq(ud_post(u, &wr), 0);
	assert_i_eq(ud_post(u, &wr), ENOMEM);
	ud_poll(u);
	assert_i_eq(ud_post(u, &wr), 0);
}

/* Local memory that is not the QP's ends the QP, and what comes behind is flushed. */
UD_TEST(mh_qp_post_send, wrong_memory)
{
	struct ud_fixture *u = *state;
	struct rd_sge sge;
	struct rd_send_wr wr = ud_wr(u, &sge, 8);

	ud_ready(u);
	sge.lkey ^= 1;
	assert_i_eq(ud_post(u, &wr), 0);
	assert_u_eq(ud_poll(u).status, RD_WC_LOC_PROT_ERR);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_u_eq(ud_poll(u).status, RD_WC_WR_FLUSH_ERR);
}

/* ---- receiving ---- */

/* REQ(ud.grh) */
UD_TEST(mu_receive, fills_a_receive)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg = ud_packet(u, 4096);
	struct mh_wc wc;

	ud_ready(u);
	ud_recv(u, 40 + 4096);
	dg.with_imm = true;
	dg.imm = 0x01020304;
	ud_arrive(u, &dg, 0);
	wc = ud_poll(u);
	assert_u_eq(wc.status, RD_WC_SUCCESS);
	assert_u_eq(wc.opcode, RD_WC_RECV);
	assert_u_eq(wc.wr_id, 8);
	assert_u_eq(wc.byte_len, 40 + 4096);
	assert_u_eq(wc.src_qpn, FIXTURE_PEER_QPN);
	assert_u_eq(wc.imm, 0x01020304);
	assert_u_eq(wc.flags, RD_WC_GRH | RD_WC_WITH_IMM);
	assert_u_eq(u->nic->buffer[0] >> 4, 6);
	assert_u_eq(mb_load_be16(u->nic->buffer + 4), 12 + 8 + 4 + 4096 + 4);
	assert_bytes_eq(u->nic->buffer + 8, fixture_addr(0, 9, 0).ip, 16);
	assert_bytes_eq(u->nic->buffer + 24, fixture_addr(0, 1, 0).ip, 16);
	for (uint32_t i = 0; i < 4096; i++)
		assert_u_eq(u->nic->buffer[40 + i], 'd');
}

/* The GRH and the payload are scattered as one message is. */
/* Sent over two planes by turns while nobody reads; the order is that of sending. REQ(ud.order) */
UD_TEST(mu_receive, takes_the_oldest_first)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg = ud_packet(u, 8);

	ud_ready(u);
	dg.with_imm = true;
	for (uint32_t i = 0; i < UD_RECVS; i++)
		ud_recv(u, 48);
	mh_nic_lock(u->nic->dev->nic);
	for (dg.imm = 0; dg.imm < UD_RECVS; dg.imm++)
		ud_arrive_on(u, dg.imm / 10 % 2, &dg, 0);
	mh_nic_unlock(u->nic->dev->nic);
	for (uint32_t i = 0; i < UD_RECVS; i++)
		assert_u_eq(ud_poll(u).imm, i);
}

UD_TEST(mu_receive, scatters)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg = ud_packet(u, 10);
	uint8_t *at = u->nic->buffer;
	uint32_t key = mh_mr_lkey(u->nic->mr);
	struct rd_sge sge[2] = {{(uintptr_t)at, 43, key}, {(uintptr_t)at + 100, 7, key}};
	struct rd_recv_wr wr = {.sge = sge, .n_sge = 2};

	memset(at, 0, 200);
	ud_ready(u);
	assert_i_eq(mh_qp_post_recv(u->qp, &wr, 1, NULL), 0);
	ud_arrive(u, &dg, 0);
	assert_u_eq(ud_poll(u).byte_len, 50);
	assert_bytes_eq(at + 40, "ddd\0", 4);
	assert_bytes_eq(at + 99, "\0ddddddd\0", 9);
}

/* REQ(ud.qkey) REQ(ud.drop) */
UD_TEST(mu_receive, attackers_use_up_nothing)
{
	struct ud_fixture *u = *state;
	struct mw_datagram good = ud_packet(u, 8), dg = good;

	ud_ready(u);
	ud_dropped(u, &dg, 0, "ud_drop_no_recv");
	ud_recv(u, 40 + 8);
	dg.q_key++;
	ud_dropped(u, &dg, 0, "ud_drop_key");
	dg = good;
	dg.p_key = 0x7FFE;
	ud_dropped(u, &dg, 0, "ud_drop_key");
	dg = good;
	dg.dqp++;
	ud_dropped(u, &dg, 0, "ud_drop_no_qp");
	dg.dqp = mh_qp_number(u->nic->qp); /* an RC QP */
	ud_dropped(u, &dg, 0, "ud_drop_no_qp");
	dg = good;
	dg.payload_len = 12;
	ud_dropped(u, &dg, 0, "ud_drop_recv_too_short");
	dg.payload_len = 4100;
	ud_dropped(u, &dg, 0, "ud_drop_malformed");
	ud_dropped(u, &good, UD_TRIMMED, "ud_drop_corrupt");
	ud_arrive(u, &good, UD_ECN_CE);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
}

UD_TEST(mu_receive, wrong_memory)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg = ud_packet(u, 8);
	struct rd_sge sge = {(uintptr_t)u->nic->buffer, 48, mh_mr_lkey(u->nic->mr) ^ 1};
	struct rd_recv_wr wr = {.sge = &sge, .n_sge = 1};

	ud_ready(u);
	assert_i_eq(mh_qp_post_recv(u->qp, &wr, 1, NULL), 0);
	ud_recv(u, 48);
	ud_arrive(u, &dg, 0);
	assert_u_eq(ud_poll(u).status, RD_WC_LOC_PROT_ERR);
	assert_u_eq(ud_poll(u).status, RD_WC_WR_FLUSH_ERR);
}

/* Bytes that mean nothing, behind the opcode of a datagram; and then one that is good. */
UD_TEST(mu_receive, hostile_bytes)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg = ud_packet(u, 8);

	ud_ready(u);
	ud_recv(u, 48);
	for (uint32_t i = 0; i < 500; i++) {
		struct mio_addr from = fixture_addr(0, 9, UD_EV),
				to = fixture_addr(0, 1, MH_UDP_PORT);
		uint8_t bytes[128];
		size_t body = 12 + test_rand_below(sizeof(bytes) - 16);
		struct iovec iov = {bytes, body + 4};
		struct mio_tx frame = {.iov = &iov,
				       .n_iov = 1,
				       .len = (uint32_t)body + 4,
				       .ev = UD_EV,
				       .sport = UD_EV,
				       .dst = to};

		test_rand_bytes(bytes, sizeof(bytes));
		bytes[0] = (uint8_t)(0x64 | (bytes[0] & 1));
		fixture_icrc(bytes, body, &from, &to, bytes + body);
		mio_port_tx(u->nic->peer[0], 0, &frame, 1);
	}
	ud_arrive(u, &dg, 0);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
	assert_u_eq(fixture_counter(u->nic, "ud_rx"), 1);
}

/* ---- states ---- */

/* REQ(ud.states) */
UD_TEST(mh_qp_modify, states)
{
	struct ud_fixture *u = *state;
	struct rd_qp_attr attr = {.dest_qpn = 5, .path_mtu = 1024};

	assert_i_eq(ud_move(u, RD_QPS_RTR), EINVAL);
	assert_i_eq(ud_move(u, RD_QPS_RTS), EINVAL);
	ud_ready(u);
	assert_i_eq(ud_move(u, RD_QPS_INIT), EINVAL);
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_PATH_MTU), EINVAL);
	mh_qp_query(u->qp, &attr);
	assert_u_eq(attr.state, RD_QPS_RTS);
	assert_u_eq(attr.q_key, UD_Q_KEY);
	assert_u_eq(attr.sq_psn, 0xFFFFFF);
	assert_i_eq(mh_qp_modify(u->nic->qp, &attr, RD_QP_Q_KEY), EINVAL); /* an RC QP */
}

/* In SQD nothing begins; RTS sends it; ERR flushes both queues; RESET forgets. */
UD_TEST(mh_qp_modify, queues)
{
	struct ud_fixture *u = *state;
	struct rd_sge sge;
	struct rd_send_wr wr = ud_wr(u, &sge, 8);
	struct mio_rx frame;
	struct mh_wc wc;

	ud_ready(u);
	assert_i_eq(ud_move(u, RD_QPS_SQD), 0);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_i_eq(mh_cq_poll(u->nic->cq, 1, &wc), 0);
	assert_i_eq(ud_move(u, RD_QPS_RTS), 0);
	assert_true(fixture_receive(u->nic, &frame) < FIXTURE_PLANES);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
	ud_recv(u, 48);
	assert_i_eq(ud_move(u, RD_QPS_ERR), 0);
	assert_u_eq(ud_poll(u).status, RD_WC_WR_FLUSH_ERR);
	ud_recv(u, 48);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_i_eq(ud_move(u, RD_QPS_RESET), 0);
	assert_i_eq(mh_cq_poll(u->nic->cq, 1, &wc), 0);
	ud_ready(u);
}

/* Receives that nobody used are no reason to stay. */
UD_TEST(mh_qp_destroy, with_receives_posted)
{
	struct ud_fixture *u = *state;

	ud_ready(u);
	for (uint32_t i = 0; i < UD_DEPTH; i++)
		ud_recv(u, 48);
}
