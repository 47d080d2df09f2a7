/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases as text: src/conform/script.h. */
#include "conform/script.h"

#include <stdio.h>

#include "support/test.h"

static struct cf_book book;
static char error[CF_ERROR_MAX];

static int script_teardown(void **state)
{
	(void)state;
	cf_book_fini(&book);
	return 0;
}

#define SCRIPT_TEST(name) TEST_WITH(NULL, script_teardown, cf_book_read, name)

/* Reads a line of a case. */
static int read_line(const char *line)
{
	char text[400];

	cf_book_fini(&book);
	error[0] = '\0';
	snprintf(text, sizeof(text), "case a\n%s\n", line);
	return cf_book_read(&book, "x.case", text, error);
}

static const struct cf_line *taken(const char *line)
{
	if (read_line(line))
		fail_msg("%s: %s", line, error);
	assert_u_eq(book.cases[0].n_lines, 1);
	return &book.cases[0].line[0];
}

static void refused(const char *line, const char *says)
{
	char want[CF_ERROR_MAX];

	snprintf(want, sizeof(want), "x.case:2: %s", says);
	assert_int_equal(read_line(line), -1);
	assert_string_equal(error, want);
}

SCRIPT_TEST(a_packet_has_its_words)
{
	const struct cf_line *line =
		taken("< WRITE LAST IMM psn 3..5 imm 0x10 !ackreq rtx len 4608");

	assert_int_equal(line->kind, CF_SEND);
	assert_int_equal(line->packet, CF_WRITE_LAST_IMM);
	assert_u_eq(line->number, 2);
	assert_u_eq(line->n_terms, 5);
	assert_u_eq(line->term[0].word, CF_F_PSN);
	assert_i_eq(line->term[0].value.lo, 3);
	assert_i_eq(line->term[0].value.hi, 5);
	assert_i_eq(line->term[1].value.lo, 16);
	assert_u_eq(line->term[2].word, CF_F_ACKREQ);
	assert_i_eq(line->term[2].value.hi, 0);
	assert_i_eq(line->term[3].value.hi, 1);
}

/* What a line sends is written into memory of the kit: each word as far as there is room. */
SCRIPT_TEST(values_of_packets_are_bounded)
{
	refused("< WRITE ONLY len 4609", "len 4609: want 0 to 4608");
	refused("< WRITE ONLY len -1", "len -1: want 0 to 4608");
	refused("< WRITE ONLY trim 0", "trim 0: want 1 to 2");
	refused("< WRITE ONLY trim 3", "trim 3: want 1 to 2");
	refused("< WRITE ONLY ev 8", "ev 8: want 0 to 7");
	refused("< WRITE ONLY dscp 64", "dscp 64: want 0 to 63");
	refused("< WRITE ONLY ecn 4", "ecn 4: want 0 to 3");
	refused("< WRITE ONLY flow 0x100000", "flow 0x100000: want 0 to 1048575");
	refused("< WRITE ONLY opcode 0..256", "opcode 0..256: want 0 to 255");
	refused("< WRITE ONLY pad 4", "pad 4: want 0 to 3");
	refused("< WRITE ONLY at -1", "at -1: want 0 to 4294967295");
	refused("< WRITE ONLY at 4294967296", "at 4294967296: want 0 to 4294967295");
	refused("< WRITE ONLY copy 101", "copy 101: want 0 to 100");
	refused("< WRITE ONLY psn 4294967296", "psn 4294967296: want -2147483648 to 4294967295");
	refused("< WRITE ONLY va -1", "va -1: want 0 to 9223372036854775807");
	refused("> SACK class 6", "class 6: want 0 to 5");
	refused("> SACK set 0..9223372036854775807",
		"set 0..9223372036854775807: want -2147483648 to 4294967295");
	refused("> SACK set 0..2048", "0..2048: want at most 2048 numbers");
	refused("> SACK len 5", "len: SACK has no such word, or there are more than 14");
}

SCRIPT_TEST(the_ends_of_what_is_allowed_are_taken)
{
	assert_i_eq(taken("< WRITE ONLY trim 1..2")->term[0].value.hi, 2);
	assert_i_eq(taken("< WRITE ONLY ev 0..7")->term[0].value.hi, 7);
	assert_i_eq(taken("< WRITE ONLY opcode 0..255")->term[0].value.hi, 255);
	assert_i_eq(taken("< WRITE ONLY psn -2147483648")->term[0].value.lo, INT32_MIN);
	assert_i_eq(taken("< WRITE ONLY copy 100")->term[0].value.lo, 100);
	assert_i_eq(taken("> SACK map 0x7fffffffffffffff")->term[0].value.lo, INT64_MAX);
	assert_i_eq(taken("> SACK ev 0xffffffff")->term[0].value.lo, UINT32_MAX);
	assert_i_eq(taken("> SACK set 0..2047")->term[0].value.hi, 2047);
	assert_i_eq(taken("> SACK class 5")->term[0].value.lo, 5);
	assert_int_equal(taken("> SACK psn !5")->term[0].value.other, true);
	assert_int_equal(taken("> SACK ev echo")->term[0].value.kind, CF_ECHO);
	assert_int_equal(taken("> SACK ev B")->term[0].value.letter, 'B');
}

SCRIPT_TEST(what_is_placed_has_its_numbers)
{
	const struct cf_line *line = taken("expect placed 7 copy 2 from 61");

	assert_int_equal(line->kind, CF_EXPECT_PLACED);
	assert_u_eq(line->value, 7);
	assert_u_eq(line->imm, 2);
	assert_u_eq(line->from, 61);
	assert_u_eq(taken("expect placed 7 from 3")->from, 3);
	refused("expect placed 7 form 3", "form: want expect placed N [copy N] [from N]");
	refused("expect placed 7 from 4609", "4609: want a number from 0 to 4608");
	refused("expect placed 7 copy 101", "101: want a number from 0 to 100");
}

SCRIPT_TEST(what_is_no_line_is_named)
{
	refused("< WRITE",
		"WRITE: want a packet, as WRITE ONLY, SACK, NACK, ACK, PROBE or EP_REQUEST");
	refused("< WRITE ONLY imm 5",
		"imm: WRITE ONLY has no such word, or there are more than 14");
	refused("< WRITE ONLY psn", "psn: its value is missing");
	refused("< WRITE ONLY psn 5..3", "5..3: want a number or a span, as 1..3");
	refused("never > SACK", "never: its time is missing, as: for 20ms");
	refused("pause 5", "5: want a time, as 20ms: us, ms or s");
	refused("post recv 65", "65: want a number from 0 to 64");
	refused("expect nothing", "expect: want completion, receive, placed or untouched");
	refused("needs luck", "needs luck: want server, own-qp or port");
	refused("config mtu 4097", "4097: want a number from 0 to 4096");
}
