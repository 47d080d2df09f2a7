/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of destinations as text, which one is taken, and what addresses and EVs come of them. */
#include "support/test.h"

#include <arpa/inet.h>

#include "host/config/env.h"
#include "wire/ev_fmt.h"

#define NEAR "fd4d:5243:0:2::1/64 = fcbbbb00+plane a002 1000+host:4"
#define FAR "fd4d:5243::1/48 = fcbbbb00+plane a002 b000+uplink:4 a000+t0:4 1000+host:4"
#define REMOTE                                                                 \
	"fd4d:5243::1/32 = fcbbbb00 a002+plane:3<<9 b000+plane:3<<9+uplink:2 " \
	"c000+plane:3<<9+uplink:2<<2+t1_uplink:2 b000+plane:3<<9+uplink:2 "    \
	"a000+plane:3<<9+pod:2<<4+t0:4 1000+plane:3<<9+host:8"

static struct mh_srv6 srv6_of(const char *const *rows, uint32_t n)
{
	struct mh_srv6 s = {.uplinks = 4, .t1_uplinks = 1, .evs = 4, .free = 0xC00};
	char why[MH_SRV6_WHY_MAX];

	for (; s.n_rows < n; s.n_rows++)
		if (!mh_srv6_parse_row(rows[s.n_rows], &s.row[s.n_rows], why))
			fail_msg("%s: %s", rows[s.n_rows], why);
	return s;
}

static void assert_carrier(const struct mh_srv6 *s, uint32_t plane, uint32_t ev, const char *gid,
			   const char *want)
{
	uint8_t to[16], dst[16], text[INET6_ADDRSTRLEN];
	const struct mh_srv6_row *row;

	assert_i_eq(inet_pton(AF_INET6, gid, to), 1);
	row = mh_srv6_find(s, to);
	assert_non_null(row);
	mh_srv6_carrier(row, plane, ev, to, dst);
	inet_ntop(AF_INET6, dst, (char *)text, sizeof(text));
	assert_string_equal((char *)text, want);
}

/* REQ(srv6.path) REQ(srv6.ev-planes) */
TEST(mh_srv6_carrier, turns_at_the_t0_or_at_a_t1)
{
	static const char *const rows[] = {FAR, NEAR};
	struct mh_srv6 s = srv6_of(rows, 2);

	assert_carrier(&s, 3, 0xC0030002, "fd4d:5243:0:2::5", "fcbb:bb03:a002:1004::");
	assert_carrier(&s, 1, 0xC0010003, "fd4d:5243:0:5::1", "fcbb:bb01:a002:b003:a005:1000::");
}

/* REQ(srv6.capacity) */
TEST(mh_srv6_carrier, six_usids_with_planes_in_each)
{
	static const char *const rows[] = {REMOTE};
	struct mh_srv6 s = srv6_of(rows, 1);

	assert_carrier(&s, 2, 0xC0020301, "fd4d:5243:3:5::8",
		       "fcbb:bb00:a402:b401:c407:b401:a435:1407");
}

/*
 * An answer goes out by the plane that it is sent on, whatever the EV says that it returns.
 * REQ(srv6.port-plane)
 */
TEST(mh_srv6_carrier, plane_is_the_ports)
{
	static const char *const rows[] = {NEAR};
	struct mh_srv6 s = srv6_of(rows, 1);

	assert_carrier(&s, 1, 0xFFFFFFFF, "fd4d:5243:0:2::1", "fcbb:bb01:a002:1000::");
}

TEST(mh_srv6_find, nothing_for_attackers)
{
	static const char *const rows[] = {NEAR, FAR};
	struct mh_srv6 s = srv6_of(rows, 2);
	uint8_t gid[16];

	assert_i_eq(inet_pton(AF_INET6, "fd4d:5244::1", gid), 1);
	assert_null(mh_srv6_find(&s, gid));
	s.n_rows = 0;
	assert_i_eq(inet_pton(AF_INET6, "fd4d:5243::1", gid), 1);
	assert_null(mh_srv6_find(&s, gid));
}

/* REQ(srv6.rows) */
TEST(mh_srv6_find, prefixes_of_no_bits_and_of_all)
{
	static const char *const rows[] = {"::/0 = fcbb0000 a000 1", "fd00::7/128 = fcbb0000 2"};
	struct mh_srv6 s = srv6_of(rows, 2);

	assert_carrier(&s, 0, 0, "fd00::7", "fcbb:0:2::");
	assert_carrier(&s, 0, 0, "fd00::8", "fcbb:0:a000:1::");
}

TEST(mh_srv6_ev, numbers_every_path)
{
	struct mh_srv6 s = {.uplinks = 4, .t1_uplinks = 2, .evs = 8, .free = 0xC00, .turn = 3};

	assert_u_eq(mh_srv6_ev(&s, 0, 0), 0xC0000000);
	assert_u_eq(mh_srv6_ev(&s, 5, 3), 0xC0050003);
	assert_u_eq(mh_srv6_ev(&s, 5, 6), 0xC0050102);
}

TEST(mh_srv6_ev, fewer_than_paths_are_spread_and_differ)
{
	struct mh_srv6 s = {.uplinks = 8, .t1_uplinks = 1, .evs = 3, .turn = 6};
	uint32_t seen = 0;

	for (uint32_t i = 0; i < s.evs; i++)
		seen |= 1u << (mh_srv6_ev(&s, 0, i) & 0xFF);
	assert_u_eq(seen, 1u << 6 | 1u << 0 | 1u << 3);
}

static const struct {
	const char *text, *why;
} wrong_rows[] = {
	{"fd4d::/64", "must be followed by = BLOCK"},
	{"fd4d:: = fcbb0000 1", "GID of a row's first host"},
	{"fd4d::/129 = fcbb0000 1", "GID of a row's first host"},
	{"fd4d::/ = fcbb0000 1", "GID of a row's first host"},
	{"fd4d::/4294967360 = fcbb0000 1", "GID of a row's first host"},
	{"fd4d::/99999999999999999999 = fcbb0000 1", "GID of a row's first host"},
	{"10.0.0.0/8 = fcbb0000 1", "GID of a row's first host"},
	{"fd4d::/64 = fcbb0000", "one uSID at least"},
	{"fd4d::/64 = fcbb00001 1", "\"fcbb00001\": a block has 32 bits"},
	{"fd4d::/64 = fcbb0000 10000", "\"10000\": a uSID has 16 bits"},
	{"fd4d::/64 = fcbb0000 xyz", "\"xyz\": must begin with a number in hexadecimal"},
	{"fd4d::/64 = fcbb0000 +host", "must begin with a number"},
	{"fd4d::/64 = fcbb0000 0+host", "would end the list"},
	{"fd4d::/64 = fcbb0000 b000+uplnk", "there is no field uplnk; did you mean uplink"},
	{"fd4d::/64 = fcbb0000 b000+zzzzzz", "there are plane, uplink"},
	{"fd4d::/64 = fcbb0000 b000+uplink:9", "wider"},
	{"fd4d::/64 = fcbb0000 b000+uplink:0", "wider"},
	{"fd4d::/64 = fcbb0000 b000+uplink:8<<9", "wider"},
	{"fd4d::/64 = fcbb0000 b000+uplink<<16", "out of its word"},
	{"fd4d::/64 = fcbb0000 b000+uplink:4294967297", "wider"},
	{"fd4d::/64 = fcbb0000 b000+uplink:99999999999999999999", "a field is +NAME"},
	{"fd4d::/64 = fcbb0000 b000+uplink<<4294967296", "out of its word"},
	{"fd4d::/64 = fcbb0000 b000+uplink<<x", "a field is +NAME"},
	{"fd4d::/64 = fcbb0000 b000+uplink:", "a field is +NAME"},
	{"fd4d::/64 = fcbb0000 b001+uplink", "covers bits that are set otherwise"},
	{"fd4d::/64 = fcbb0000 b000+uplink+plane", "covers bits that are set otherwise"},
	{"fd4d::/64 = fcbb0000 1 2 3 4 5 6 7", "an address holds 6 uSIDs"},
};

TEST(mh_srv6_parse_row, names_the_word_that_is_wrong)
{
	struct mh_srv6_row row;
	char why[MH_SRV6_WHY_MAX];

	for (size_t i = 0; i < sizeof(wrong_rows) / sizeof(wrong_rows[0]); i++) {
		if (mh_srv6_parse_row(wrong_rows[i].text, &row, why))
			fail_msg("\"%s\" was accepted", wrong_rows[i].text);
		if (!strstr(why, wrong_rows[i].why))
			fail_msg("\"%s\": \"%s\" does not say \"%s\"", wrong_rows[i].text, why,
				 wrong_rows[i].why);
	}
}

TEST(mh_srv6_parse_row, takes_a_field_of_one_bit)
{
	static const char *const rows[] = {"fd4d:5243:0:2::1/64 = fcbbbb00 a002 1000+host:1"};
	struct mh_srv6 s = srv6_of(rows, 1);

	assert_carrier(&s, 0, 0, "fd4d:5243:0:2::2", "fcbb:bb00:a002:1001::");
}

TEST(mh_srv6_parse_row, survives_noise)
{
	static const char letters[] = "fab0129:/=+<. \tuplinkhost";

	for (size_t i = 0; i < test_rounds(20000); i++) {
		char text[300], why[MH_SRV6_WHY_MAX];
		size_t n = test_rand_below(sizeof(text)), keep = test_rand_below(sizeof(FAR));
		struct mh_srv6_row row;

		for (size_t k = 0; k < n; k++)
			text[k] = letters[test_rand_below(sizeof(letters) - 1)];
		memcpy(text, FAR, keep < n ? keep : n);
		text[n] = '\0';
		if (mh_srv6_parse_row(text, &row, why))
			assert_true(row.prefix <= 128);
	}
}
