/* SPDX-License-Identifier: BSD-2-Clause */
/* DSCP classes and their numbers. */
#include "support/test.h"

#include "unit/panic.h"
#include "wire/dscp.h"
#include "wire/packet.h"

/* REQ(wire.dscp.classes) */
TEST(mw_dscp_map_default, numbers)
{
	struct mw_dscp_map map = mw_dscp_map_default();

	assert_u_eq(MW_DSCP_CLASSES, 6);
	assert_u_eq(map.code[MW_DSCP_NO_TRIM], 0);
	assert_u_eq(map.code[MW_DSCP_TRIMMABLE], 4);
	assert_u_eq(map.code[MW_DSCP_TRIMMABLE_RETX], 8);
	assert_u_eq(map.code[MW_DSCP_TRIMMED], 12);
	assert_u_eq(map.code[MW_DSCP_TRIMMED_LASTHOP], 16);
	assert_u_eq(map.code[MW_DSCP_CONTROL], 46);
	assert_u_eq(mw_dscp_map_check(&map), MW_DSCP_CLASSES);
}

/* REQ(wire.dscp.values) */
TEST(mw_dscp_map_check, numbers_of_six_bits)
{
	struct mw_dscp_map map = mw_dscp_map_default();

	map.code[MW_DSCP_CONTROL] = 63;
	assert_u_eq(mw_dscp_map_check(&map), MW_DSCP_CLASSES);
	map.code[MW_DSCP_CONTROL] = 64;
	assert_u_eq(mw_dscp_map_check(&map), MW_DSCP_CONTROL);
}

static enum mw_dscp_class check_with_shared(enum mw_dscp_class a, enum mw_dscp_class b)
{
	struct mw_dscp_map map = mw_dscp_map_default();

	map.code[b] = map.code[a];
	return mw_dscp_map_check(&map);
}

/* REQ(wire.dscp.distinct) */
TEST(mw_dscp_map_check, shared_numbers)
{
	assert_u_eq(check_with_shared(MW_DSCP_NO_TRIM, MW_DSCP_TRIMMABLE), MW_DSCP_CLASSES);
	assert_u_eq(check_with_shared(MW_DSCP_TRIMMABLE, MW_DSCP_TRIMMABLE_RETX), MW_DSCP_CLASSES);
	assert_u_eq(check_with_shared(MW_DSCP_TRIMMED, MW_DSCP_TRIMMED_LASTHOP), MW_DSCP_CLASSES);

	assert_u_eq(check_with_shared(MW_DSCP_NO_TRIM, MW_DSCP_TRIMMED), MW_DSCP_TRIMMED);
	assert_u_eq(check_with_shared(MW_DSCP_TRIMMABLE, MW_DSCP_TRIMMED_LASTHOP),
		    MW_DSCP_TRIMMED_LASTHOP);
	assert_u_eq(check_with_shared(MW_DSCP_TRIMMED, MW_DSCP_CONTROL), MW_DSCP_CONTROL);
	assert_u_eq(check_with_shared(MW_DSCP_TRIMMABLE_RETX, MW_DSCP_CONTROL), MW_DSCP_CONTROL);
}

static void bad_map(const char *text, const char *says)
{
	struct mw_dscp_map map = mw_dscp_map_default(), before = map;
	char why[MW_DSCP_ERROR_BYTES];

	assert_false(mw_dscp_map_read(text, &map, why));
	assert_string_equal(why, says);
	assert_memory_equal(&map, &before, sizeof(map));
}

#define SIX                                                                                       \
	"must be six numbers, 0 to 63, with commas between: no-trim, trimmable, trimmable-retx, " \
	"trimmed, trimmed-lasthop, control"
#define SHARED \
	": data (the first three), trimmed (the next two) and control must not share a number"

/* REQ(wire.dscp.values) REQ(wire.dscp.distinct) */
TEST(mw_dscp_map_read, names_the_class_its_value_and_what_is_allowed)
{
	bad_map("", SIX);
	bad_map("0,4,8,12,16", SIX);
	bad_map("0,4,8,12,16,46,", SIX);
	bad_map("0,4,,12,16,46", SIX);
	bad_map("0,4,8,12,16,46 ", SIX);
	bad_map("0,4,8,12,16,1046", SIX);
	bad_map("-1,4,8,12,16,46", SIX);
	bad_map("0,4,8,12,16,64", "control = 64: must be 0 to 63");
	bad_map("999,4,8,12,16,46", "no-trim = 999: must be 0 to 63");
	bad_map("0,4,8,8,16,46", "trimmed = 8, as trimmable-retx" SHARED);
	bad_map("0,4,8,12,12,0", "control = 0, as no-trim" SHARED);
}

TEST(mw_dscp_map_read, is_what_mw_dscp_map_write_writes)
{
	struct mw_dscp_map map = mw_dscp_map_default(), read = {{0}};
	char text[MW_DSCP_TEXT_BYTES], why[MW_DSCP_ERROR_BYTES];

	mw_dscp_map_write(&map, text);
	assert_string_equal(text, "0,4,8,12,16,46");
	assert_true(mw_dscp_map_read("63,62,61,60,59,58", &map, why));
	mw_dscp_map_write(&map, text);
	assert_true(mw_dscp_map_read(text, &read, why));
	assert_memory_equal(&read, &map, sizeof(map));
	assert_u_eq(read.code[MW_DSCP_TRIMMED_LASTHOP], 59);
}

/* REQ(wire.dscp.data-class) REQ(wire.dscp.retransmit-class) */
TEST(mw_dscp_class_of_opcode, data)
{
	for (uint8_t op = MW_WRITE_FIRST; op <= MW_WRITE_ONLY_IMM; op++) {
		assert_u_eq(mw_dscp_class_of_opcode(op, false, true), MW_DSCP_TRIMMABLE);
		assert_u_eq(mw_dscp_class_of_opcode(op, true, true), MW_DSCP_TRIMMABLE_RETX);
		assert_u_eq(mw_dscp_class_of_opcode(op, false, false), MW_DSCP_NO_TRIM);
		assert_u_eq(mw_dscp_class_of_opcode(op, true, false), MW_DSCP_NO_TRIM);
	}
	assert_u_eq(mw_dscp_class_of_opcode(MW_PROBE, false, true), MW_DSCP_NO_TRIM);
	assert_u_eq(mw_dscp_class_of_opcode(MW_RESPONSE_PROBE, false, true), MW_DSCP_NO_TRIM);
}

/* REQ(wire.dscp.control-class) */
TEST(mw_dscp_class_of_opcode, control)
{
	static const uint8_t opcodes[] = {MW_ACK,	 MW_SACK,	 MW_NACK,
					  MW_EP_REQUEST, MW_EP_RESPONSE, MW_RESPONSE_SACK};

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		/* The SACK of a retransmission has rtx set, which makes it no data packet. */
		assert_u_eq(mw_dscp_class_of_opcode(opcodes[i], true, true), MW_DSCP_CONTROL);
		assert_u_eq(mw_dscp_class_of_opcode(opcodes[i], false, false), MW_DSCP_CONTROL);
	}
}

TEST(mw_dscp_class_of_opcode, other_opcodes)
{
	expect_assert_failure(mw_dscp_class_of_opcode(0x0A, false, true));
}

TEST(mw_dscp_encode, every_class)
{
	struct mw_dscp_map map = mw_dscp_map_default();

	for (unsigned i = 0; i < MW_DSCP_CLASSES; i++)
		assert_u_eq(mw_dscp_encode(&map, (enum mw_dscp_class)i), map.code[i]);
	expect_assert_failure(mw_dscp_encode(&map, MW_DSCP_CLASSES));
}

TEST(mw_dscp_decode, every_number)
{
	struct mw_dscp_map map = mw_dscp_map_default();
	unsigned known = 0;

	for (uint8_t dscp = 0; dscp < 64; dscp++) {
		enum mw_dscp_class cls = mw_dscp_decode(&map, dscp);

		if (cls == MW_DSCP_CLASSES)
			continue;
		assert_u_eq(mw_dscp_encode(&map, cls), dscp);
		known++;
	}
	assert_u_eq(known, MW_DSCP_CLASSES);
}

TEST(mw_dscp_decode, shared_number_is_the_first_class)
{
	struct mw_dscp_map map = mw_dscp_map_default();

	map.code[MW_DSCP_TRIMMED_LASTHOP] = map.code[MW_DSCP_TRIMMED];
	assert_u_eq(mw_dscp_decode(&map, map.code[MW_DSCP_TRIMMED]), MW_DSCP_TRIMMED);
}

TEST(mw_dscp_is_trimmed, two_classes)
{
	for (unsigned i = 0; i <= MW_DSCP_CLASSES; i++)
		assert_u_eq(mw_dscp_is_trimmed((enum mw_dscp_class)i),
			    i == MW_DSCP_TRIMMED || i == MW_DSCP_TRIMMED_LASTHOP);
}
