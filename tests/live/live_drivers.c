/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_drivers.c - the same transfer over each driver, in a network namespace where two processes
 * have addresses of their own on the loopback interface, with and without loss.
 */
#include "live/live.h"

#include <stdio.h>
#include <unistd.h>

#include "support/netns.h"
#include "support/test.h"

#define DRIVER_BYTES (4u << 20)
#define DRIVER_WR_BYTES (128u << 10)

static const char ports4[] = "10.7.0.*%lo,10.7.1.*%lo";
static const char ports6[] = "fd07::*%lo,fd07:0:0:1::*%lo";

static int drivers_setup(void **state)
{
	static bool done;
	const char *why = NULL;

	(void)state;
	if (!test_netns(&why))
		test_skip(why);
	for (unsigned host = 1; host <= 2 && !done; host++) {
		for (unsigned plane = 0; plane < 2; plane++) {
			char text[80];

			snprintf(text, sizeof(text), "addr add 10.7.%u.%u/32 dev lo", plane, host);
			test_ip(text);
			snprintf(text, sizeof(text), "addr add fd07:0:0:%u::%u/128 dev lo nodad",
				 plane, host);
			test_ip(text);
		}
	}
	done = true;
	return 0;
}

static void write_all(struct live_side *s)
{
	struct mh_wc wc;

	live_fill(s->buffer, DRIVER_BYTES, 9);
	live_barrier(s);
	for (uint32_t i = 0; i < DRIVER_BYTES / DRIVER_WR_BYTES; i++)
		live_write(s, i, i * DRIVER_WR_BYTES, DRIVER_WR_BYTES, RD_SEND_SIGNALED, 0);
	for (uint32_t i = 0; i < DRIVER_BYTES / DRIVER_WR_BYTES; i++) {
		live_wait(s, &wc, 1);
		live_expect(&wc, i, RD_WC_SUCCESS);
	}
	live_barrier(s);
}

static void write_all_with_loss(struct live_side *s)
{
	live_rule(s, 0, MRC_FAULT_DROP, 20000)->data_only = 1;
	write_all(s);
	live_check(live_counter(s, "tx_retransmits") > 0);
}

static void compare_all(struct live_side *s)
{
	live_barrier(s);
	live_barrier(s);
	live_check(live_compare(s->buffer, DRIVER_BYTES, 9));
}

TEST_WITH(drivers_setup, NULL, live_drivers, udp_over_ipv4)
{
	live_run(&(struct live_setup){.bytes = DRIVER_BYTES, .ports = ports4}, write_all,
		 compare_all);
}

TEST_WITH(drivers_setup, NULL, live_drivers, udp_over_ipv6)
{
	live_run(&(struct live_setup){.bytes = DRIVER_BYTES, .ports = ports6}, write_all,
		 compare_all);
}

TEST_WITH(drivers_setup, NULL, live_drivers, af_packet_over_ipv4)
{
	struct live_setup setup = {.bytes = DRIVER_BYTES, .ports = ports4, .driver = "af_packet"};

	live_run(&setup, write_all, compare_all);
	live_run(&setup, write_all_with_loss, compare_all);
}

TEST_WITH(drivers_setup, NULL, live_drivers, af_packet_over_ipv6)
{
	struct live_setup setup = {.bytes = DRIVER_BYTES, .ports = ports6, .driver = "af_packet"};

	live_run(&setup, write_all, compare_all);
}

/* REQ(wire.icrc.inner) */
TEST_WITH(drivers_setup, NULL, live_drivers, raw41)
{
	struct live_setup setup = {.bytes = DRIVER_BYTES, .ports = ports6, .driver = "raw41"};

	live_run(&setup, write_all, compare_all);
	live_run(&setup, write_all_with_loss, compare_all);
}

TEST_WITH(drivers_setup, NULL, live_drivers, capture_holds_every_byte_sent)
{
	char path[64];
	struct live_setup setup = {.bytes = DRIVER_BYTES, .ports = ports4, .capture = path};
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/live_drivers.%ld.pcapng", (long)getpid());
	live_run(&setup, write_all, compare_all);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_i_eq(fseek(f, 0, SEEK_END), 0);
	assert_true(ftell(f) > (long)DRIVER_BYTES);
	fclose(f);
	unlink(path);
}
