/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_udp_runs.c - runs of the UDP driver: how long they are, and systems that refuse or lie. */
#include "unit/udp_fixture.h"

TEST(mio_udp, runs_arrive_as_the_frames_they_were)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	assert_u_eq(a->max_run, UDP_RUN);
	for (uint32_t a_time = 1; a_time < 32; a_time += 6) {
		mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
		udp_expect_runs(b, a_time);
	}
	assert_u_eq(a->status->tx_frames, b->status->rx_frames);
	assert_u_eq(a->status->tx_bytes, b->status->rx_bytes);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, runs_reach_a_port_that_expects_none)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
	udp_expect_runs(b, 32);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, where_runs_are_refused_frames_go_one_by_one)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	udp_no_runs = true;
	mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
	udp_no_runs = false;
	udp_expect_runs(b, 32);
	assert_u_eq(a->status->tx_refused, 0);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, runs_that_are_refused_are_tried_again_ever_more_rarely)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	uint64_t now = 5;

	udp_no_runs = true;
	assert_u_eq(udp_send_runs(a, now), 1);
	for (uint64_t pause = SECOND_NS; pause <= 4 * SECOND_NS; pause *= 2) {
		assert_u_eq(udp_send_runs(a, now + pause - 1), 0);
		now += pause;
		assert_u_eq(udp_send_runs(a, now), 1);
	}
	/* Sixteen, thirty-two and sixty-four seconds; and never less often than that. */
	for (uint64_t pause = 8 * SECOND_NS; pause <= 64 * SECOND_NS; pause *= 2)
		assert_u_eq(udp_send_runs(a, now += pause), 1);
	assert_u_eq(udp_send_runs(a, now + 64 * SECOND_NS - 1), 0);
	assert_u_eq(udp_send_runs(a, now += 64 * SECOND_NS), 1);
	udp_no_runs = false;
	now += 64 * SECOND_NS;
	assert_true(udp_send_runs(a, now) > 1);
	/* Runs went: the next refusal is the first again. */
	udp_no_runs = true;
	assert_u_eq(udp_send_runs(a, now), 1);
	udp_no_runs = false;
	assert_true(udp_send_runs(a, now + SECOND_NS) > 1);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, a_network_that_refuses_all_says_nothing_about_runs)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);

	udp_no_route = true;
	udp_send_runs(a, 5);
	udp_no_route = false;
	assert_u_eq(a->status->tx_refused, MIO_BURST_MAX);
	assert_true(udp_send_runs(a, 6) > 1);
	assert_null(a->status->no_runs);
	udp_expect_runs(b, 32);
	/* Nor does it when what goes next is no run. */
	udp_no_route = true;
	udp_send_runs(a, 7);
	udp_no_route = false;
	udp_send_singles(a, 8, 2, 0x11, 1);
	assert_null(a->status->no_runs);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, socket_that_fills_up_in_a_run_keeps_order)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];

	udp_room = 3;
	mio_port_tx(a, 0, frames, udp_runs(frames, udp_run_bytes, iov));
	assert_true(a->status->blocked);
	udp_room = UINT_MAX;
	mio_port_tick(a, mio_port_deadline(a));
	assert_false(a->status->blocked);
	udp_expect_runs(b, 32);
	mio_port_close(a);
	mio_port_close(b);
}

/* ---- how much a run holds ---- */

/* Sends frames of `pieces` iovecs each, the last other than those; how many went as runs. */
static uint64_t udp_first_run(uint32_t frames, uint32_t len, uint32_t pieces, uint32_t last_len,
			      uint32_t last_pieces)
{
	struct mio_udp_cfg cfg = {.local = udp_addr(1, UDP_PORT_A),
				  .ev_base = UDP_EV_BASE,
				  .n_evs = 1,
				  .max_run = MIO_BURST_MAX,
				  .rx_buffer_bytes = 1u << 20};
	static char bytes[MIO_FRAME_MAX];
	struct iovec iov[2][MIO_IOV_MAX];
	struct mio_tx burst[MIO_BURST_MAX];
	struct mio_error error = {""};
	struct mio_port *port;
	uint64_t in_runs;
	int fd;

	assert_i_eq(mio_udp_claim(&cfg.local, NULL, &fd, &error), 0);
	assert_i_eq(mio_udp_open(&cfg, fd, &port, &error), 0);
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t of = k ? last_len : len, n = k ? last_pieces : pieces;

		for (uint32_t i = 0; i < n; i++)
			iov[k][i] = (struct iovec){bytes, i ? 1 : of - (n - 1)};
	}
	for (uint32_t i = 0; i < frames; i++) {
		bool last = i + 1 == frames;

		burst[i] = udp_frame(&(struct iovec){0}, "", UDP_EV_BASE, 1, UDP_PORT_A);
		burst[i].iov = iov[last];
		burst[i].n_iov = last ? last_pieces : pieces;
		burst[i].len = last ? last_len : len;
	}
	mio_port_tx(port, 0, burst, frames);
	assert_u_eq(port->status->tx_frames, frames);
	in_runs = port->status->tx_run_frames;
	mio_port_close(port);
	return in_runs;
}

/* An IP packet's 65,000 bytes and the kernel's 1,024 iovecs; what is beyond goes by itself. */
TEST(mio_udp, a_run_is_as_long_as_one_message_may_be)
{
	assert_u_eq(udp_first_run(16, 4224, 1, 65000 - 15 * 4224, 1), 16);
	assert_u_eq(udp_first_run(16, 4224, 1, 65001 - 15 * 4224, 1), 15);
	assert_u_eq(udp_first_run(52, 1000, 20, 1000, 4), 52);
	assert_u_eq(udp_first_run(52, 1000, 20, 1000, 5), 51);
}

/* The last frame of a run may be of one piece, which is its headers, payload and end. */
TEST(mio_udp, a_frame_of_one_piece_ends_a_run)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);
	static uint8_t bytes[2][100];
	struct iovec iov[2][3] = {{{bytes[0], 40}, {bytes[0] + 40, 56}, {bytes[0] + 96, 4}},
				  /* Of the last only the first is of the frame. */
				  {{bytes[1], 50}, {bytes[1] + 50, 7}}};
	struct mio_tx frames[2];
	struct mio_rx got[2];

	memset(bytes[0], 1, 100);
	memset(bytes[1], 2, 100);
	for (uint32_t i = 0; i < 2; i++) {
		frames[i] = udp_frame(&(struct iovec){0}, "", UDP_EV_BASE, 2, UDP_PORT_B);
		frames[i].iov = iov[i];
		frames[i].n_iov = i ? 1 : 3;
		frames[i].len = i ? 50 : 100;
	}
	mio_port_tx(a, 0, frames, 2);
	assert_u_eq(a->status->tx_run_frames, 2);
	assert_u_eq(udp_receive(b, got, 1) + mio_port_rx(b, 42, got + 1, 1), 2);
	assert_u_eq(got[1].len, 50);
	assert_bytes_eq(got[0].bytes, bytes[0], 100);
	assert_bytes_eq(got[1].bytes, bytes[1], 50);
	mio_port_close(a);
	mio_port_close(b);
}

/* ---- systems that cannot, and those that lie ---- */

TEST(mio_udp_runs_are_cut, a_system_that_takes_runs_and_cuts_none_is_found)
{
	struct mio_tx frames[MIO_BURST_MAX];
	struct iovec iov[2 * MIO_BURST_MAX];
	struct mio_port *a, *b;

	udp_lies = true;
	a = udp_open_runs(1, UDP_PORT_A);
	udp_lies = false;
	b = udp_open_runs(2, UDP_PORT_B);
	assert_u_eq(a->max_run, 1);
	assert_non_null(strstr(a->status->no_runs, "does not cut them up"));
	assert_u_eq(b->max_run, UDP_RUN);
	assert_null(b->status->no_runs);
	udp_runs_tried = 0;
	mio_port_tx(a, SECONDS(9), frames, udp_runs(frames, udp_run_bytes, iov));
	assert_u_eq(udp_runs_tried, 0);
	udp_expect_runs(b, 32);
	mio_port_close(a);
	mio_port_close(b);
}

/* A kernel that does not merge hands over what it has cut up. */
TEST(mio_udp_runs_are_cut, a_receiver_without_merging_gets_the_frames)
{
	struct mio_addr local = udp_addr(1, UDP_PORT_A);
	struct mio_error error;
	int rx, tx;

	assert_i_eq(mio_udp_claim(&local, NULL, &rx, &error), 0);
	assert_i_eq(mio_udp_send_socket(&local, NULL, UDP_EV_BASE, &tx, &error), 0);
	assert_true(mio_udp_runs_are_cut(tx, rx, &local));
	udp_lies = true;
	assert_false(mio_udp_runs_are_cut(tx, rx, &local));
	udp_lies = false;
	close(tx);
	close(rx);
}

/* A host that is busy hands over late: three looks are taken, after a pause each. */
TEST(mio_udp_runs_are_cut, a_run_that_comes_late_is_seen_until_the_third_look)
{
	struct mio_port *a;

	udp_lies = true;
	udp_empty_looks = 2;
	a = udp_open_runs(1, UDP_PORT_A);
	assert_u_eq(a->max_run, 1);
	mio_port_close(a);
	udp_empty_looks = 3;
	a = udp_open_runs(1, UDP_PORT_A);
	assert_u_eq(a->max_run, UDP_RUN);
	assert_u_eq(udp_empty_looks, 0);
	udp_lies = false;
	mio_port_close(a);
}

TEST(mio_udp_runs_are_cut, what_does_not_arrive_says_nothing)
{
	struct mio_port *a;

	udp_no_route = true;
	a = udp_open_runs(1, UDP_PORT_A);
	udp_no_route = false;
	assert_u_eq(a->max_run, UDP_RUN);
	assert_null(a->status->no_runs);
	mio_port_close(a);
}

/* What others have sent by then is neither taken for the run nor a reason to wait. */
TEST(mio_udp_runs_are_cut, frames_of_others_do_not_matter)
{
	struct mio_port *b = udp_open(2, UDP_PORT_B), *a = NULL;
	struct mio_udp_cfg cfg = {.local = udp_addr(1, UDP_PORT_A),
				  .ev_base = UDP_EV_BASE,
				  .n_evs = 1,
				  .max_run = UDP_RUN,
				  .rx_buffer_bytes = 1u << 20};
	struct mio_error error;
	static char large[101]; /* as long as a run that is not cut up may be */
	struct iovec iov;
	struct mio_tx frame;
	int fd;

	memset(large, 'x', sizeof(large) - 1);
	assert_i_eq(mio_udp_claim(&cfg.local, NULL, &fd, &error), 0);
	frame = udp_frame(&iov, large, UDP_EV_BASE, 1, UDP_PORT_A);
	for (uint32_t i = 0; i < 5; i++)
		mio_port_tx(b, 0, &frame, 1);
	assert_i_eq(mio_udp_open(&cfg, fd, &a, &error), 0);
	assert_u_eq(a->max_run, UDP_RUN);
	mio_port_close(a);
	mio_port_close(b);
}

TEST(mio_udp, says_why_runs_do_not_go_until_they_do)
{
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);

	udp_no_runs = true;
	udp_send_runs(a, 5);
	udp_no_runs = false;
	assert_string_equal(a->status->no_runs, "the system refuses them");
	assert_u_eq(a->status->tx_runs, 0);
	udp_expect_runs(b, 32);
	udp_send_runs(a, SECONDS(2));
	udp_expect_runs(b, 32);
	assert_null(a->status->no_runs);
	/* Ten frames go to each EV in turn: a run of eight and one of two; see udp_runs. */
	assert_u_between(a->status->tx_runs, 8, 16);
	assert_u_between(a->status->tx_run_frames, 48, 64);
	mio_port_close(a);
	mio_port_close(b);
}

/* ---- what lies between two payloads of a run ---- */

#define UDP_PIECES_BYTES 600u

/* How long piece p of frame i is: headers, payload, end. Odd frames have another end. */
static uint32_t udp_piece_bytes(const uint32_t ends[2], uint32_t headers, uint32_t i, uint32_t p)
{
	uint32_t end = ends[i % 2];

	return p == 0 ? headers : p == 2 ? end : UDP_PIECES_BYTES - headers - end;
}

/* Sends a run of frames as the host makes them; how many iovecs it took. */
static uint32_t udp_run_of_three_pieces(struct mio_port *a, uint32_t headers,
					const uint32_t ends[2])
{
	static uint8_t bytes[UDP_RUN][3][UDP_PIECES_BYTES];
	struct iovec iov[UDP_RUN][3];
	struct mio_tx frames[UDP_RUN];

	for (uint32_t i = 0; i < UDP_RUN; i++) {
		frames[i] = udp_frame(&iov[i][0], "", UDP_EV_BASE, 2, UDP_PORT_B);
		for (uint32_t p = 0; p < 3; p++) {
			memset(bytes[i][p], (int)(3 * i + p + 1), UDP_PIECES_BYTES);
			iov[i][p] =
				(struct iovec){bytes[i][p], udp_piece_bytes(ends, headers, i, p)};
		}
		frames[i].n_iov = 3;
		frames[i].len = UDP_PIECES_BYTES;
	}
	udp_pieces = 0;
	mio_port_tx(a, 0, frames, UDP_RUN);
	return udp_pieces;
}

static void udp_expect_three_pieces(struct mio_port *b, uint32_t headers, const uint32_t ends[2])
{
	for (uint32_t i = 0; i < UDP_RUN; i++) {
		struct mio_rx got[1];
		uint32_t at = 0;

		if (mio_port_rx(b, 42, got, 1) == 0)
			assert_u_eq(udp_receive(b, got, 1), 1);
		assert_u_eq(got[0].len, UDP_PIECES_BYTES);
		for (uint32_t p = 0; p < 3; p++)
			for (uint32_t n = udp_piece_bytes(ends, headers, i, p); n > 0; n--)
				assert_u_eq(got[0].bytes[at++], 3 * i + p + 1);
	}
}

TEST(mio_udp, short_ends_and_headers_go_as_one_piece)
{
	static const struct {
		uint32_t headers, ends[2], pieces;
	} rows[] = {
		{36, {4, 4}, 2 * UDP_RUN + 1},
		{64, {64, 64}, 2 * UDP_RUN + 1},
		/* Too long for the room that each has. */
		{65, {4, 4}, 3 * UDP_RUN},
		{36, {65, 65}, 3 * UDP_RUN},
		/* Every other end is joined. */
		{36, {4, 65}, 3 * UDP_RUN - UDP_RUN / 2},
	};
	struct mio_port *a = udp_open_runs(1, UDP_PORT_A);
	struct mio_port *b = udp_open_runs(2, UDP_PORT_B);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t headers = rows[i].headers;

		assert_u_eq(udp_run_of_three_pieces(a, headers, rows[i].ends), rows[i].pieces);
		udp_expect_three_pieces(b, headers, rows[i].ends);
	}
	mio_port_close(a);
	mio_port_close(b);
}
