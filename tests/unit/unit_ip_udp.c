/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_ip_udp.c - headers are what the RFCs say, and what is read back is what was written. */
#include "support/test.h"

#include "wire/ip_udp.h"

#define V4(a, b, c, d)                                       \
	{                                                    \
		[10] = 0xFF, [11] = 0xFF, (a), (b), (c), (d) \
	}

static struct mw_ip_udp random_header(bool v4)
{
	struct mw_ip_udp h = {
		.sport = (uint16_t)test_rand(),
		.dport = (uint16_t)test_rand(),
		.len = (uint32_t)test_rand_below(4200),
		.tos = (uint8_t)test_rand(),
	};

	test_rand_bytes(h.src, 16);
	test_rand_bytes(h.dst, 16);
	if (v4) {
		memcpy(h.src, (uint8_t[12]){[10] = 0xFF, [11] = 0xFF}, 12);
		memcpy(h.dst, h.src, 12);
		h.id = (uint16_t)test_rand();
	} else {
		h.src[0] = h.dst[0] = 0xFD;
		h.flow_label = (uint32_t)test_rand_below(1 << 20);
	}
	return h;
}

TEST(mw_ip_udp_write, ipv4_header_of_a_known_packet)
{
	struct mw_ip_udp h = {.src = V4(10, 0, 0, 1),
			      .dst = V4(10, 0, 0, 2),
			      .sport = 49152,
			      .dport = 4791,
			      .len = 64,
			      .tos = 0x12};
	const uint8_t want[28] = {0x45, 0x12, 0x00, 0x5c, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
				  0x26, 0x7d, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x02,
				  0xc0, 0x00, 0x12, 0xb7, 0x00, 0x48, 0x00, 0x00};
	uint8_t out[MW_IP_UDP_MAX];

	assert_u_eq(mw_ip_udp_write(&h, out), sizeof(want));
	assert_bytes_eq(out, want, sizeof(want));
}

TEST(mw_ip_udp_read, gives_back_what_was_written)
{
	for (size_t i = 0; i < test_rounds(2000); i++) {
		struct mw_ip_udp h = random_header(i % 2), got;
		uint8_t bytes[MW_IP_UDP_MAX + 4200] = {0};
		size_t n = mw_ip_udp_write(&h, bytes), headers;

		assert_true(mw_ip_udp_read(bytes, n + h.len, &got, &headers));
		assert_u_eq(headers, n);
		assert_memory_equal(&got, &h, sizeof(h));
	}
}

TEST(mw_ip_udp_read, ethernet_padding_is_not_payload)
{
	struct mw_ip_udp h = random_header(true), got;
	uint8_t bytes[128] = {0};
	size_t headers;

	h.len = 3;
	mw_ip_udp_write(&h, bytes);
	assert_true(mw_ip_udp_read(bytes, sizeof(bytes), &got, &headers));
	assert_u_eq(got.len, 3);
}

TEST(mw_ip_udp_read, trimmed_packet_has_what_is_there)
{
	struct mw_ip_udp h = random_header(false), got;
	uint8_t bytes[256] = {0};
	size_t n, headers;

	h.len = 4000;
	n = mw_ip_udp_write(&h, bytes);
	assert_true(mw_ip_udp_read(bytes, n + 70, &got, &headers));
	assert_u_eq(got.len, 70);
}

TEST(mw_ip_udp_read, refuses_pieces_and_other_protocols)
{
	struct mw_ip_udp h = random_header(true), got;
	uint8_t bytes[MW_IP_UDP_MAX + 4200] = {0};
	size_t n = mw_ip_udp_write(&h, bytes), headers;

	bytes[6] = 0x20; /* more fragments */
	assert_false(mw_ip_udp_read(bytes, n + h.len, &got, &headers));
	bytes[6] = 0x40;
	bytes[9] = 6;
	assert_false(mw_ip_udp_read(bytes, n + h.len, &got, &headers));
}

/* Of such an address everybody behind would take the packet for one of IPv4. */
TEST(mw_ip_udp_read, refuses_ipv4_addresses_in_an_ipv6_header)
{
	static const uint8_t mapped[16] = {[10] = 0xFF, [11] = 0xFF, 192, 0, 2, 1};
	struct mw_ip_udp h = random_header(false), got;
	uint8_t bytes[MW_IP_UDP_MAX + 4200] = {0};
	size_t n = mw_ip_udp_write(&h, bytes), headers;

	assert_true(mw_ip_udp_read(bytes, n + h.len, &got, &headers));
	memcpy(bytes + 8, mapped, 16);
	assert_false(mw_ip_udp_read(bytes, n + h.len, &got, &headers));
	memcpy(bytes + 8, h.src, 16);
	memcpy(bytes + 24, mapped, 16);
	assert_false(mw_ip_udp_read(bytes, n + h.len, &got, &headers));
}

/* REQ(srv6.srh) */
TEST(mw_ip_udp_read, steps_over_a_used_up_routing_header)
{
	struct mw_ip_udp h = random_header(false), got;
	uint8_t bytes[MW_IP_UDP_MAX + 24 + 64] = {0}, plain[MW_IP_UDP_MAX];
	size_t headers;

	h.len = 16;
	mw_ip_udp_write(&h, plain);
	memcpy(bytes, plain, 40);
	bytes[5] = (uint8_t)(plain[5] + 24);
	bytes[6] = 43;
	bytes[40] = 17;
	bytes[41] = 2; /* 24 bytes: one segment */
	bytes[42] = 4;
	memcpy(bytes + 64, plain + 40, 8);
	assert_true(mw_ip_udp_read(bytes, sizeof(bytes), &got, &headers));
	assert_u_eq(headers, 72);
	assert_u_eq(got.len, 16);
	bytes[43] = 1; /* somebody else is still to be visited */
	assert_false(mw_ip_udp_read(bytes, sizeof(bytes), &got, &headers));
}

TEST(mw_ip_udp_read, survives_any_bytes)
{
	for (size_t i = 0; i < test_rounds(20000); i++) {
		uint8_t *bytes = malloc(96);
		size_t size = test_rand_below(97), headers;
		struct mw_ip_udp got;

		assert_non_null(bytes);
		test_rand_bytes(bytes, size);
		if (size > 6 && test_rand_chance(1, 2)) {
			bytes[0] = test_rand_chance(1, 2) ? 0x45 : 0x60;
			bytes[6] = test_rand_chance(1, 2) ? 43 : 17;
		}
		if (mw_ip_udp_read(bytes, size, &got, &headers))
			assert_true(headers + got.len <= size);
		free(bytes);
	}
}

/* REQ(rsp.ecn.combine) */
static bool is_sound(const uint8_t *bytes, size_t size, bool sums)
{
	struct mw_ip_udp h;
	size_t headers;

	assert_true(mw_ip_udp_read(bytes, size, &h, &headers));
	return mw_ip_udp_is_sound(bytes, &h, headers, sums);
}

/* One's complement over the pseudo header and all of the datagram, word by word. RFC 768. */
static void store_udp_sum(uint8_t *bytes, size_t at, size_t size, bool v4)
{
	uint32_t sum = 17 + (uint32_t)(size - at), from = v4 ? 12 : 8;

	bytes[size] = 0;
	for (size_t i = from; i < (v4 ? 20u : 40u); i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	for (size_t i = at; i < size; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	sum = sum == 0xFFFF ? sum : ~sum & 0xFFFF;
	bytes[at + 6] = (uint8_t)(sum >> 8);
	bytes[at + 7] = (uint8_t)sum;
}

TEST(mw_ip_udp_is_sound, what_is_written_and_summed)
{
	for (size_t i = 0; i < test_rounds(500); i++) {
		struct mw_ip_udp h = random_header(i % 2);
		uint8_t bytes[MW_IP_UDP_MAX + 4201];
		size_t n, at, size;

		h.src[12] = 10;
		test_rand_bytes(bytes, sizeof(bytes));
		n = mw_ip_udp_write(&h, bytes);
		at = n - MW_UDP_BYTES;
		size = n + h.len;
		assert_true(is_sound(bytes, size, true)); /* no checksum */
		store_udp_sum(bytes, at, size, i % 2);
		assert_true(is_sound(bytes, size, true));
		bytes[size - 1] ^= 0x40;
		assert_true(h.len == 0 || !is_sound(bytes, size, true));
		assert_true(h.len == 0 || is_sound(bytes, size, false));
		/* What is left of a trimmed packet has no sum. */
		assert_true(h.len < 2 || is_sound(bytes, size - 1, true));
	}
}

TEST(mw_ip_udp_write_sum, is_that_of_rfc_768)
{
	for (size_t i = 0; i < test_rounds(500); i++) {
		struct mw_ip_udp h = random_header(i % 2);
		uint8_t bytes[MW_IP_UDP_MAX + 4201], want[sizeof(bytes)];
		size_t n;

		test_rand_bytes(bytes, sizeof(bytes));
		n = mw_ip_udp_write(&h, bytes);
		memcpy(want, bytes, sizeof(want));
		store_udp_sum(want, n - MW_UDP_BYTES, n + h.len, i % 2);
		mw_ip_udp_write_sum(&h, bytes + n, bytes + n - MW_UDP_BYTES);
		assert_bytes_eq(bytes, want, n + h.len);
	}
}

TEST(mw_ip_udp_is_sound, lengths_that_hide_bytes)
{
	struct mw_ip_udp h = random_header(false);
	uint8_t bytes[MW_IP_UDP_MAX + 64] = {0};
	size_t n;

	h.len = 64;
	n = mw_ip_udp_write(&h, bytes);
	assert_true(is_sound(bytes, n + 64, false));
	bytes[n - 3]--; /* the UDP length */
	assert_false(is_sound(bytes, n + 64, false));
	bytes[n - 3] += 2;
	assert_true(is_sound(bytes, n + 64, false));
	bytes[n - 4] = bytes[n - 3] = 0;
	assert_false(is_sound(bytes, n + 64, false));
}

TEST(mw_ip_udp_is_sound, headers_that_are_damaged)
{
	struct mw_ip_udp h = random_header(true);
	uint8_t bytes[MW_IP_UDP_MAX + 64] = {0};
	size_t n;

	h.len = 64;
	h.src[12] = 10;
	n = mw_ip_udp_write(&h, bytes);
	assert_true(is_sound(bytes, n + 64, false));
	for (size_t i = 0; i < 8; i++) {
		bytes[8] ^= (uint8_t)(1u << i); /* the hop limit, which nothing else looks at */
		assert_false(is_sound(bytes, n + 64, false));
		bytes[8] ^= (uint8_t)(1u << i);
	}
}

TEST(mw_ip_udp_is_sound, sources_that_no_host_has)
{
	static const struct mw_ip_udp headers[] = {
		{.src = V4(0, 0, 0, 0), .dst = V4(10, 0, 0, 1)},
		{.src = V4(224, 0, 0, 1), .dst = V4(10, 0, 0, 1)},
		{.src = V4(239, 1, 2, 3), .dst = V4(10, 0, 0, 1)},
		{.src = V4(255, 255, 255, 255), .dst = V4(10, 0, 0, 1)},
		{.src = {0}, .dst = {0xFD}},
		{.src = {0xFF, 2, [15] = 1}, .dst = {0xFD}},
	};
	struct mw_ip_udp good = {.src = V4(223, 255, 255, 255), .dst = V4(10, 0, 0, 1)};
	uint8_t bytes[MW_IP_UDP_MAX];

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		assert_false(is_sound(bytes, mw_ip_udp_write(&headers[i], bytes), false));
	assert_true(is_sound(bytes, mw_ip_udp_write(&good, bytes), false));
}

TEST(mw_ecn_combine, either_mark_counts_where_marks_are_offered)
{
	assert_u_eq(mw_ecn_combine(0x13, 0x12), 0x13); /* marked on the way */
	assert_u_eq(mw_ecn_combine(0x12, 0x13), 0x13); /* before the tunnel */
	assert_u_eq(mw_ecn_combine(0x12, 0x12), 0x12);
	assert_u_eq(mw_ecn_combine(0x13, 0x10), 0x10); /* the sender takes no marks */
	assert_u_eq(mw_ecn_combine(0x30, 0x12), 0x32); /* the outer DSCP */
}
