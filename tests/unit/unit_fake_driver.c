/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_fake.c - the joined pair keeps the contract of a port. */
#include "support/test.h"

#include "support/fake_driver.h"

static const struct mio_addr fake_a = {.ip = {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 1}};
static const struct mio_addr fake_b = {.ip = {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 2}};

static void fake_send(struct mio_port *port, const char *text, uint32_t ev)
{
	struct iovec iov = {(void *)(uintptr_t)text, strlen(text)};
	struct mio_tx frame = {.iov = &iov,
			       .n_iov = 1,
			       .len = (uint32_t)iov.iov_len,
			       .ev = ev,
			       .sport = (uint16_t)ev,
			       .flow_label = ev + 1,
			       .tos = 0x12};

	mio_port_tx(port, 0, &frame, 1);
}

TEST(fake_driver_open, carries_frames_both_ways)
{
	struct mio_port *ends[2];
	struct mio_rx got[4];

	assert_i_eq(fake_driver_open(&fake_a, &fake_b, ends), 0);
	fake_send(ends[0], "one", 700);
	fake_send(ends[0], "two", 701);
	fake_send(ends[1], "three", 702);
	assert_u_eq(mio_port_rx(ends[1], 9, got, 4), 2);
	assert_memory_equal(got[1].bytes, "two", 3);
	assert_u_eq(got[1].len, 3);
	assert_u_eq(got[1].src.udp_port, 701);
	assert_u_eq(got[1].flow_label, 702);
	assert_memory_equal(got[1].src.ip, fake_a.ip, 16);
	assert_u_eq(got[1].tos, 0x12);
	assert_u_eq(got[1].time_ns, 9);
	assert_u_eq(mio_port_rx(ends[0], 0, got, 4), 1);
	assert_memory_equal(got[0].src.ip, fake_b.ip, 16);
	assert_u_eq(ends[0]->status->tx_frames, 2);
	assert_u_eq(ends[1]->status->rx_bytes, 6);
	mio_port_close(ends[0]);
	mio_port_close(ends[1]);
}

TEST(fake_driver_open, full_queue_is_an_overrun)
{
	struct mio_port *ends[2];

	assert_i_eq(fake_driver_open(&fake_a, &fake_b, ends), 0);
	for (uint32_t i = 0; i < FAKE_DRIVER_QUEUE + 3; i++)
		fake_send(ends[0], "x", i);
	assert_u_eq(ends[1]->status->rx_overruns, 3);
	mio_port_close(ends[0]);
	mio_port_close(ends[1]);
}

TEST(fake_driver_open, closed_end_refuses)
{
	struct mio_port *ends[2];

	assert_i_eq(fake_driver_open(&fake_a, &fake_b, ends), 0);
	mio_port_close(ends[1]);
	fake_send(ends[0], "x", 1);
	assert_u_eq(ends[0]->status->tx_refused, 1);
	mio_port_close(ends[0]);
}

TEST(fake_driver_block, holds_frames_until_unblocked)
{
	struct mio_port *ends[2];
	struct mio_rx got[4];

	assert_i_eq(fake_driver_open(&fake_a, &fake_b, ends), 0);
	fake_driver_block(ends[0], true);
	fake_send(ends[0], "x", 1);
	fake_send(ends[0], "y", 2);
	mio_port_tick(ends[0], 1);
	assert_true(ends[0]->status->blocked);
	assert_u_eq(mio_port_rx(ends[1], 0, got, 4), 0);
	fake_driver_block(ends[0], false);
	assert_u_eq(mio_port_deadline(ends[0]), 0);
	mio_port_tick(ends[0], 1);
	assert_u_eq(mio_port_rx(ends[1], 0, got, 4), 2);
	assert_u_eq(got[0].src.udp_port, 1);
	assert_u_eq(ends[0]->status->tx_backlogged, 2);
	mio_port_close(ends[0]);
	mio_port_close(ends[1]);
}
