/* SPDX-License-Identifier: BSD-2-Clause */
/* What a probe says, in bytes: src/prober/probe_packet.h. */
#include "prober/probe_packet.h"
#include "support/test.h"

static const struct probe_packet sample = {.from = 7,
					   .asked = 70000,
					   .stream = 3,
					   .seq = 0xfffffffe,
					   .nonce = UINT64_C(0x0123456789abcdef),
					   .plane = 15,
					   .asks = true,
					   .whole = true,
					   .asked_at = 0xfedc,
					   .bytes = 200};

TEST(probe_packet_read, reads_what_was_written)
{
	for (uint32_t flags = 0; flags < 8; flags++) {
		struct probe_packet p = sample, q = {0};
		uint8_t bytes[200];

		p.asks = flags & 1;
		p.plain = flags & 2;
		p.whole = flags & 4;
		probe_packet_write(bytes, &p);
		assert_true(probe_packet_read(bytes, sizeof(bytes), &q));
		assert_memory_equal(&q, &p, sizeof(p));
	}
}

/* Differences of microseconds stay what they are, but over the moment when it begins again. */
TEST(probe_packet_stamp, counts_microseconds)
{
	const uint64_t begins_ns = UINT64_C(1700000000) * PROBE_STAMP_US * 1000;

	assert_u_eq(probe_packet_stamp(0), 0);
	assert_u_eq(probe_packet_stamp(1), 1);
	assert_u_eq(probe_packet_stamp(begins_ns), 1);
	assert_u_eq(probe_packet_stamp(begins_ns + 999), 1);
	assert_u_eq(probe_packet_stamp(begins_ns + 1000), 2);
	assert_u_eq(probe_packet_stamp(begins_ns - 1), 0xffff);
	assert_u_eq(probe_packet_stamp(begins_ns + 7000000), 7001);
}

/* A bit anywhere behind the head, on the way there or back, is seen and stays seen. */
TEST(probe_packet_read, sees_damage)
{
	for (uint32_t at = 32; at < 200; at++) {
		struct probe_packet p = sample, q = {0};
		uint8_t bytes[200];

		probe_packet_write(bytes, &p);
		bytes[at] ^= (uint8_t)(1u << at % 8);
		assert_true(probe_packet_read(bytes, sizeof(bytes), &q));
		assert_false(q.whole);
		probe_packet_write(bytes, &q);
		assert_true(probe_packet_read(bytes, sizeof(bytes), &p));
		assert_false(p.whole);
	}
}

TEST(probe_packet_read, refuses_what_is_none)
{
	struct probe_packet p = sample;
	uint8_t bytes[200];

	probe_packet_write(bytes, &sample);
	assert_false(probe_packet_read(bytes, PROBE_BYTES_MIN - 1, &p));
	bytes[3] ^= 1;
	assert_false(probe_packet_read(bytes, sizeof(bytes), &p));
}
