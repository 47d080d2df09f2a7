/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Properties of carriers against naive models: a carrier is a string of '0' and '1', an EV is one
 * too, and every operation moves characters.
 */
#include "support/carrier_step.h"
#include "support/test.h"

#include "base/bytes.h"
#include "wire/carrier.h"

#define ROUNDS 2000u
#define BITS MW_CARRIER_BITS

/* ---- strings of bits ---- */

static void text_of(const uint8_t *bytes, size_t n, char *text)
{
	for (size_t i = 0; i < n * 8; i++)
		text[i] = bytes[i / 8] & 0x80 >> i % 8 ? '1' : '0';
}

static void text_of_number(uint64_t number, size_t bits, char *text)
{
	for (size_t i = 0; i < bits; i++)
		text[i] = number >> (bits - 1 - i) & 1 ? '1' : '0';
}

static void text_of_carrier(const struct mw_carrier *c, char text[BITS])
{
	text_of(c->dst, 16, text);
	text_of(c->segment, 16, text + 128);
}

static void assert_text(const char *got, const char *want, size_t n)
{
	if (memcmp(got, want, n) != 0)
		fail_msg("got  %.*s\nwant %.*s", (int)n, got, (int)n, want);
}

/* ---- lists and shifts ---- */

static uint32_t random_path(uint16_t usids[MW_USIDS_PATH_MAX])
{
	uint32_t n = 1 + (uint32_t)test_rand_below(MW_USIDS_PATH_MAX);

	for (uint32_t i = 0; i < n; i++)
		usids[i] = (uint16_t)(1 + test_rand_below(0xFFFF));
	return n;
}

/* REQ(srv6.format) */
TEST(mw_usids, address_to_list_to_address)
{
	for (size_t i = 0; i < test_rounds(ROUNDS); i++) {
		size_t used = 4 + 2 * test_rand_below(7);
		struct mw_usids list;
		uint8_t addr[16], again[16];

		test_rand_bytes(addr, 16);
		memset(addr + used, 0, 16 - used);
		if (!mw_usids_decode(addr, &list)) /* a zero among the random ones */
			continue;
		mw_usids_encode(&list, again);
		assert_bytes_eq(again, addr, 16);
	}
}

/* REQ(srv6.shift) */
TEST(mw_usid_shift, moves_the_bits_behind_the_block)
{
	for (size_t i = 0; i < test_rounds(ROUNDS); i++) {
		char before[128], after[128], want[128];
		uint8_t addr[16];

		test_rand_bytes(addr, 16);
		text_of(addr, 16, before);
		memset(want, '0', sizeof(want));
		memcpy(want, before, 32);
		memcpy(want + 32, before + 48, 80);
		mw_usid_shift(addr);
		text_of(addr, 16, after);
		assert_text(after, want, 128);
	}
}

/* REQ(srv6.path) */
TEST(mw_carrier, a_path_is_walked_node_by_node)
{
	for (size_t i = 0; i < test_rounds(ROUNDS); i++) {
		uint16_t usids[MW_USIDS_PATH_MAX];
		uint32_t n = random_path(usids);
		struct mw_carrier c;

		mw_carrier_of((uint32_t)test_rand(), usids, n, &c);
		for (uint32_t k = 0; k < n; k++)
			assert_u_eq(carrier_step(&c), usids[k]);
		assert_u_eq(carrier_step(&c), 0);
	}
}

/* ---- templates ---- */

static struct mw_carrier_copy random_copy(void)
{
	struct mw_carrier_copy c = {.source = (uint8_t)test_rand_below(3)};

	c.width = (uint8_t)(1 + test_rand_below(32));
	c.from = (uint8_t)test_rand_below((c.source == MW_CARRIER_FROM_EV ? 33u : 65u) - c.width);
	c.to = (uint8_t)test_rand_below(BITS + 1 - c.width);
	return c;
}

/* Adds the digits of b to those of a from the right, and drops what is carried over the left. */
static void model_add(char *a, const char *b, size_t n)
{
	int carry = 0;

	while (n-- > 0) {
		int sum = (a[n] == '1') + (b[n] == '1') + carry;

		a[n] = sum & 1 ? '1' : '0';
		carry = sum >> 1;
	}
}

static void model_copy(char text[BITS], const struct mw_carrier_copy *c,
		       const struct mw_carrier_key *key)
{
	const uint64_t numbers[] = {key->ev, key->host, key->subnet};
	char source[64];

	text_of_number(numbers[c->source], 64, source);
	if (c->source == MW_CARRIER_FROM_EV)
		memcpy(text + c->to, source + 64 - c->from - c->width, c->width);
	else
		model_add(text + c->to, source + 64 - c->from - c->width, c->width);
}

/* REQ(srv6.ev-planes) */
TEST(mw_carrier_expand, copies_one_after_the_other)
{
	for (size_t i = 0; i < test_rounds(ROUNDS); i++) {
		struct mw_carrier_key key = {(uint32_t)test_rand(), test_rand(), test_rand()};
		struct mw_carrier base = {.has_segment = true}, c;
		uint32_t n = (uint32_t)test_rand_below(16);
		struct mw_carrier_template t;
		char want[BITS], got[BITS];

		test_rand_bytes(base.dst, 16);
		test_rand_bytes(base.segment, 16);
		mw_carrier_template_init(&t, &base);
		text_of_carrier(&base, want);
		for (uint32_t k = 0; k < n; k++) {
			struct mw_carrier_copy copy = random_copy();

			if (mw_carrier_template_copy(&t, &copy))
				model_copy(want, &copy, &key);
			else
				assert_true(copy.source != MW_CARRIER_FROM_EV);
		}
		mw_carrier_expand(&t, &key, &c);
		text_of_carrier(&c, got);
		assert_text(got, want, BITS);
	}
}
