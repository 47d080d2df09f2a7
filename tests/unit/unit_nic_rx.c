/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_nic_rx.c - frames that a bare socket sends to the NIC: taken, or counted by reason. */
#include "unit/nic_fixture.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/progress/progress.h"
#include "host/state/shards.h"
#include "io/udp.h"
#include "wire/datagram.h"

#define RX_EV (FIXTURE_EV_BASE + 1)
#define RX_DSCP_TRIMMED 12u
#define PATIENCE_MS 60000

static uint64_t rx_sent; /* frames, to the NIC of this case */

static int rx_setup(void **state)
{
	rx_sent = 0;
	return fixture_setup(state);
}

#define RX_TEST(name) TEST_WITH(rx_setup, fixture_teardown, mh_rx, name)

static bool rx_all_are_judged(struct mh_nic *first)
{
	uint64_t judged = 0;

	mh_shards_lock(first);
	for (uint32_t i = 0; i < first->n_shards; i++) {
		const struct mh_ports *ports = &first->shard[i]->ports;

		for (uint32_t k = 0; k < ports->n; k++)
			judged += ports->port[k].io->status->rx_frames - ports->port[k].rx_n +
				  ports->port[k].rx_at;
	}
	mh_shards_unlock(first);
	return judged == rx_sent;
}

/* rx_settle waits until the NIC has judged all that was sent to it: from then on nothing counts. */
static void rx_settle(struct nic_fixture *fixture)
{
	for (int ms = 0; ms < PATIENCE_MS && !rx_all_are_judged(fixture->dev->nic); ms++)
		poll(NULL, 0, 1);
	assert_true(rx_all_are_judged(fixture->dev->nic));
}

#define rx_expect(fixture, counter, want)                             \
	do {                                                          \
		rx_settle(fixture);                                   \
		assert_u_eq(fixture_counter(fixture, counter), want); \
	} while (0)

/* rx_packet makes the WRITE_ONLY packet that the QP expects next; returns its length without
 * ICRC. */
static size_t rx_packet(struct nic_fixture *fixture, uint32_t psn, uint8_t *out)
{
	struct mw_packet pkt = {
		.bth = {.opcode = MW_WRITE_ONLY,
			.p_key = 0xFFFF,
			.psn = psn,
			.dqp = mh_qp_number(fixture->qp)},
		.payload_len = 8,
	};
	size_t headers;

	pkt.data.reth.va = (uintptr_t)fixture->buffer;
	pkt.data.reth.rkey = mh_mr_rkey(fixture->mr);
	pkt.data.reth.dmalen = 8;
	headers = mw_packet_encode(&pkt, out);
	memcpy(out + headers, "\1\2\3\4\5\6\7\10", 8);
	return headers + 8;
}

static void rx_send(struct nic_fixture *fixture, const uint8_t *bytes, size_t len, uint8_t tos)
{
	struct iovec iov = {(void *)(uintptr_t)bytes, len};
	struct mio_tx frame = {.iov = &iov,
			       .n_iov = 1,
			       .len = (uint32_t)len,
			       .ev = RX_EV,
			       .sport = RX_EV,
			       .dst = fixture_addr(0, 1, MH_UDP_PORT),
			       .tos = tos};

	mio_port_tx(fixture->peer[0], 0, &frame, 1);
	rx_sent++;
}

static void rx_seal(uint8_t *bytes, size_t body)
{
	struct mio_addr from = fixture_addr(0, 9, RX_EV), to = fixture_addr(0, 1, MH_UDP_PORT);

	fixture_icrc(bytes, body, &from, &to, bytes + body);
}

/* REQ(wire.dscp.control-class) REQ(wire.icrc.ipv4-socket) */
RX_TEST(good_packet_is_placed_and_acknowledged)
{
	struct nic_fixture *fixture = *state;
	struct mio_rx answer;
	uint8_t bytes[128];
	size_t body;

	assert_i_eq(fixture_connect(fixture), 0);
	body = rx_packet(fixture, 1000, bytes);
	rx_seal(bytes, body);
	rx_send(fixture, bytes, body + 4, 4 << 2 | 3);
	rx_expect(fixture, "rx_data_packets", 1);
	assert_memory_equal(fixture->buffer, "\1\2\3\4\5\6\7\10", 8);
	assert_u_eq(fixture_counter(fixture, "rx_ecn"), 1);
	assert_true(fixture_receive(fixture, &answer) < 2);
	assert_u_eq(answer.tos, 46 << 2);
}

/* rx_icrcs_wrong returns what port 0 knows of packets with a wrong ICRC, and no right one since. */
static uint32_t rx_icrcs_wrong(struct nic_fixture *fixture)
{
	uint32_t wrong;

	mh_nic_lock(fixture->dev->nic);
	wrong = fixture->dev->nic->ports.port[0].icrc_wrong;
	mh_nic_unlock(fixture->dev->nic);
	return wrong;
}

/* REQ(wire.icrc.bad) */
RX_TEST(wrong_icrc_is_counted_and_nothing_placed)
{
	struct nic_fixture *fixture = *state;
	uint8_t bytes[128], before[8];
	size_t body;

	assert_i_eq(fixture_connect(fixture), 0);
	memcpy(before, fixture->buffer, 8);
	for (uint32_t i = 0; i < 4; i++) {
		body = rx_packet(fixture, 1000, bytes);
		rx_seal(bytes, body);
		/* Behind the BTH, so that the packet still decodes and finds its QP. */
		bytes[MW_BTH_BYTES + test_rand_below(body + 4 - MW_BTH_BYTES)] ^= 0x10;
		rx_send(fixture, bytes, body + 4, 0);
	}
	rx_expect(fixture, "drop_icrc", 4);
	assert_memory_equal(fixture->buffer, before, 8);
	assert_u_eq(fixture_counter(fixture, "rx_data_packets"), 0);
	assert_u_eq(rx_icrcs_wrong(fixture), 4);
	body = rx_packet(fixture, 1000, bytes);
	rx_seal(bytes, body);
	rx_send(fixture, bytes, body + 4, 0);
	rx_expect(fixture, "rx_data_packets", 1);
	assert_u_eq(rx_icrcs_wrong(fixture), 0);
}

static uint32_t crc_calls;

static uint32_t counting_crc(uint32_t crc, const void *bytes, size_t len)
{
	crc_calls++;
	return mw_crc32_update(crc, bytes, len);
}

/* Garbage costs no CRC: its QPN is looked at first. */
RX_TEST(no_icrc_is_computed_for_nobody)
{
	struct nic_fixture *fixture = *state;
	uint8_t bytes[4096] = {0};
	size_t body;

	assert_i_eq(fixture_connect(fixture), 0);
	mh_nic_lock(fixture->dev->nic);
	fixture->dev->nic->crc32 = counting_crc;
	crc_calls = 0;
	mh_nic_unlock(fixture->dev->nic);
	body = rx_packet(fixture, 1000, bytes);
	bytes[7] ^= 1; /* a QPN of nobody */
	rx_send(fixture, bytes, sizeof(bytes), 0);
	bytes[0] = MW_UD_SEND_ONLY;
	rx_send(fixture, bytes, sizeof(bytes), 0);
	bytes[7] ^= 1; /* of a QP that takes no datagrams */
	rx_send(fixture, bytes, sizeof(bytes), 0);
	bytes[0] = 0xC0; /* no opcode */
	rx_send(fixture, bytes, sizeof(bytes), 0);
	bytes[0] = MW_EP_REQUEST;
	rx_send(fixture, bytes, sizeof(bytes), 0);
	rx_expect(fixture, "drop_no_qp", 1);
	rx_expect(fixture, "ud_drop_no_qp", 2);
	rx_expect(fixture, "drop_decode", 2);
	assert_u_eq(fixture_counter(fixture, "drop_icrc"), 0);
	assert_u_eq(crc_calls, 0);
	body = rx_packet(fixture, 1000, bytes);
	rx_seal(bytes, body);
	rx_send(fixture, bytes, body + 4, 0);
	rx_expect(fixture, "rx_data_packets", 1);
	assert_true(crc_calls > 0);
}

/* From BTH and ICRC on there is a QPN, which is nobody's. */
RX_TEST(short_frames_are_counted)
{
	struct nic_fixture *fixture = *state;
	uint8_t bytes[20] = {MW_WRITE_ONLY};

	assert_i_eq(fixture_connect(fixture), 0);
	for (size_t len = 0; len < sizeof(bytes); len++)
		rx_send(fixture, bytes, len, 0);
	rx_expect(fixture, "drop_decode", 16);
	rx_expect(fixture, "drop_no_qp", 4);
	assert_u_eq(fixture_counter(fixture, "drop_decode"), 16);
}

RX_TEST(frame_from_outside_the_subnet_is_foreign)
{
	struct mio_addr from = fixture_addr(3, 9, RX_EV), to = fixture_addr(0, 1, MH_UDP_PORT);
	struct nic_fixture *fixture = *state;
	union mio_udp_sa sa;
	uint8_t bytes[128];
	size_t body;
	int s;

	assert_i_eq(fixture_connect(fixture), 0);
	body = rx_packet(fixture, 1000, bytes);
	rx_seal(bytes, body);
	s = socket(AF_INET, SOCK_DGRAM, 0);
	assert_u_eq(mio_udp_sockaddr(&from, &sa), sizeof(sa.in));
	assert_i_eq(bind(s, &sa.any, sizeof(sa.in)), 0);
	assert_u_eq(mio_udp_sockaddr(&to, &sa), sizeof(sa.in));
	assert_i_eq(sendto(s, bytes, body + 4, 0, &sa.any, sizeof(sa.in)), (int64_t)body + 4);
	rx_sent++;
	rx_expect(fixture, "rx_outside_subnet", 1);
	assert_u_eq(fixture_counter(fixture, "drop_icrc"), 0);
	close(s);
}

/* REQ(wire.icrc.trimmed) REQ(rsp.trim.by-dscp) */
RX_TEST(trimmed_frame_is_answered_not_placed)
{
	struct nic_fixture *fixture = *state;
	struct mw_packet nack;
	struct mio_rx answer;
	uint8_t bytes[128], before[8];
	size_t headers;

	assert_i_eq(fixture_connect(fixture), 0);
	memcpy(before, fixture->buffer, 8);
	rx_send(fixture, bytes, rx_packet(fixture, 1000, bytes) - 5, RX_DSCP_TRIMMED << 2);
	rx_expect(fixture, "rx_trimmed", 1);
	assert_memory_equal(fixture->buffer, before, 8);
	assert_true(fixture_receive(fixture, &answer) < 2);
	assert_u_eq(mw_packet_decode(answer.bytes, answer.len - 4, false, &nack, &headers), MW_OK);
	assert_u_eq(nack.bth.opcode, MW_NACK);
	assert_u_eq(nack.neth.nack_psn, 1000);
	assert_u_eq(nack.neth.entropy, RX_EV);
}

/* A switch that has no room may send a short packet whole: trimmed in name, with payload and
 * ICRC. */
RX_TEST(trimmed_frame_that_is_whole_is_answered_not_placed)
{
	struct nic_fixture *fixture = *state;
	struct mw_packet nack;
	struct mio_rx answer;
	uint8_t bytes[128], before[8];
	size_t body, headers;

	assert_i_eq(fixture_connect(fixture), 0);
	memcpy(before, fixture->buffer, 8);
	body = rx_packet(fixture, 1000, bytes);
	rx_seal(bytes, body);
	rx_send(fixture, bytes, body + 4, RX_DSCP_TRIMMED << 2);
	rx_expect(fixture, "rx_trimmed", 1);
	assert_memory_equal(fixture->buffer, before, 8);
	assert_true(fixture_receive(fixture, &answer) < 2);
	assert_u_eq(mw_packet_decode(answer.bytes, answer.len - 4, false, &nack, &headers), MW_OK);
	assert_u_eq(nack.bth.opcode, MW_NACK);
}

/* However short a trimmed frame is, it is answered or counted. */
RX_TEST(trimmed_frames_of_any_length)
{
	struct nic_fixture *fixture = *state;
	uint8_t bytes[128];
	size_t body;

	assert_i_eq(fixture_connect(fixture), 0);
	body = rx_packet(fixture, 1000, bytes);
	for (size_t len = 1; len < body; len++)
		rx_send(fixture, bytes, len, RX_DSCP_TRIMMED << 2);
	/* A NACK needs BTH and METH, 16 bytes. */
	rx_expect(fixture, "rx_trimmed", body - 16);
	rx_expect(fixture, "drop_decode", 15);
}

/* ---- shards ---- */

#define RX_QPN(slot, index) ((uint32_t)(slot) << MH_QPN_INDEX_BITS | (index))

/* A device of two shards, and a QP in each: that of the fixture in the first. */
struct rx_shards {
	struct nic_fixture *fixture;
	struct mh_qp *qp[2];
};

static int rx_shards_setup(void **state)
{
	struct rx_shards *s = calloc(1, sizeof(*s));
	void *fixture;
	int err;

	setenv("MRC_SHARDS", "2", 1);
	err = rx_setup(&fixture);
	unsetenv("MRC_SHARDS");
	if (err || !s)
		return -1;
	*state = s;
	s->fixture = fixture;
	s->qp[0] = s->fixture->qp;
	if (mh_qp_create(&s->qp[0]->init, &s->qp[1]) || fixture_connect(s->fixture))
		return -1;
	s->fixture->qp = s->qp[1];
	err = fixture_connect(s->fixture);
	s->fixture->qp = s->qp[0];
	return err;
}

static int rx_shards_teardown(void **state)
{
	struct rx_shards *s = *state;
	void *fixture = s->fixture;
	int err = mh_qp_destroy(s->qp[1]) || fixture_teardown(&fixture);

	free(s);
	return err;
}

#define RX_SHARDS_TEST(name) TEST_WITH(rx_shards_setup, rx_shards_teardown, mh_rx_shards, name)

/* rx_send_to sends a WRITE for QP i to the UDP port of a shard, from the peer or another host. */
static void rx_send_to(struct rx_shards *s, uint32_t i, uint32_t shard, const struct mio_addr *from)
{
	struct mio_addr to = fixture_addr(0, 1, (uint16_t)(MH_UDP_PORT + shard));
	union mio_udp_sa sa;
	uint8_t bytes[128];
	size_t body;
	int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	s->fixture->qp = s->qp[i];
	body = rx_packet(s->fixture, 1000, bytes);
	s->fixture->qp = s->qp[0];
	fixture_icrc(bytes, body, from, &to, bytes + body);
	assert_u_eq(mio_udp_sockaddr(from, &sa), sizeof(sa.in));
	assert_i_eq(bind(socket_fd, &sa.any, sizeof(sa.in)), 0);
	assert_u_eq(mio_udp_sockaddr(&to, &sa), sizeof(sa.in));
	assert_i_eq(sendto(socket_fd, bytes, body + 4, 0, &sa.any, sizeof(sa.in)),
		    (int64_t)body + 4);
	rx_sent++;
	close(socket_fd);
}

/* REQ(api.shards): the shard that has the QP answers, although nothing came to its own port. */
RX_SHARDS_TEST(frame_for_a_later_shard_is_handed_over)
{
	struct mio_addr peer = fixture_addr(0, 9, RX_EV + FIXTURE_EVS);
	struct rx_shards *s = *state;
	struct mio_rx answer;

	assert_u_eq(mh_qp_number(s->qp[1]) >> MH_QPN_INDEX_BITS, 1);
	rx_send_to(s, 1, 0, &peer);
	rx_expect(s->fixture, "rx_data_packets", 1);
	assert_memory_equal(s->fixture->buffer, "\1\2\3\4\5\6\7\10", 8);
	assert_true(fixture_receive(s->fixture, &answer) < FIXTURE_PLANES);
	assert_u_eq(fixture_counter(s->fixture, "rx_other_shard"), 1);
	assert_u_eq(fixture_counter(s->fixture, "rx_wrong_shard"), 0);
}

/* It sleeps until something is due, and an answer is due now. */
RX_SHARDS_TEST(thread_of_the_shard_is_woken)
{
	struct mio_addr peer = fixture_addr(0, 9, RX_EV + FIXTURE_EVS);
	struct rx_shards *s = *state;
	struct mh_nic *second = s->fixture->dev->nic->shard[1];
	struct pollfd kicks = {eventfd(0, EFD_CLOEXEC), POLLIN, 0};

	mh_progress_stop(second);
	mh_nic_lock(second);
	second->progress.kick_fd = kicks.fd;
	mh_nic_unlock(second);
	rx_send_to(s, 1, 0, &peer);
	rx_settle(s->fixture);
	assert_i_eq(poll(&kicks, 1, 0), 1);
	mh_nic_lock(s->fixture->dev->nic);
	second->progress.kick_fd = -1;
	mh_nic_unlock(s->fixture->dev->nic);
	close(kicks.fd);
}

/* Against the order of locks. */
RX_SHARDS_TEST(frame_for_an_earlier_shard_is_dropped)
{
	struct mio_addr peer = fixture_addr(0, 9, RX_EV + FIXTURE_EVS);
	struct rx_shards *s = *state;

	rx_send_to(s, 0, 1, &peer);
	rx_expect(s->fixture, "rx_wrong_shard", 1);
	assert_u_eq(fixture_counter(s->fixture, "rx_data_packets"), 0);
}

RX_SHARDS_TEST(frame_from_outside_the_subnet_is_handed_to_nobody)
{
	struct mio_addr outside = fixture_addr(3, 9, RX_EV);
	struct rx_shards *s = *state;

	rx_send_to(s, 1, 0, &outside);
	rx_expect(s->fixture, "rx_outside_subnet", 1);
	assert_u_eq(fixture_counter(s->fixture, "rx_other_shard"), 0);
}

/* From the first index of a QP on; what no shard has stays where it came. */
RX_SHARDS_TEST(numbers_say_whose_a_frame_is)
{
	struct rx_shards *s = *state;
	uint32_t qpn[] = {RX_QPN(1, MH_QP_INDEX_FIRST - 1), RX_QPN(2, MH_QP_INDEX_FIRST),
			  RX_QPN(1, MH_QP_INDEX_FIRST)};
	uint8_t bytes[MW_BTH_BYTES + 4] = {MW_WRITE_ONLY};

	mh_qp_destroy(s->qp[1]); /* so that none of the numbers is a QP's */
	for (uint32_t i = 0; i < 3; i++) {
		bytes[5] = (uint8_t)(qpn[i] >> 16);
		bytes[6] = (uint8_t)(qpn[i] >> 8);
		bytes[7] = (uint8_t)qpn[i];
		rx_send(s->fixture, bytes, sizeof(bytes), 0);
	}
	rx_expect(s->fixture, "rx_other_shard", 1);
	rx_expect(s->fixture, "drop_no_qp", 3);
	/* A BTH alone is enough to know whose it is, and too little for a packet. */
	rx_send(s->fixture, bytes, MW_BTH_BYTES, 0);
	rx_expect(s->fixture, "rx_other_shard", 2);
	rx_expect(s->fixture, "drop_decode", 1);
	assert_i_eq(mh_qp_create(&s->qp[0]->init, &s->qp[1]), 0);
}
