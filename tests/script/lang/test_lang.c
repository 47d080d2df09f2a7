/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lang.c - what the interpreter says of bad scripts: file, line, what is wrong, what is
 * allowed; and that it does see an engine which does something else.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "script.h"

static struct script script;

static void passes(const char *text)
{
	if (!script_run(&script, "t.mrc", text, false, NULL))
		fail_msg("%s", script.report.text);
}

/* The script fails, in this line, and the message has all of the words. */
static void fails(const char *text, unsigned line, const char *first, const char *second)
{
	char place[32];

	snprintf(place, sizeof(place), "t.mrc:%u: ", line);
	assert_false(script_run(&script, "t.mrc", text, false, NULL));
	if (strncmp(script.report.text, place, strlen(place)) != 0 ||
	    !strstr(script.report.text, first) || (second && !strstr(script.report.text, second)))
		fail_msg("want '%s' '%s' '%s', got: %s", place, first, second ? second : "",
			 script.report.text);
}

TEST(script_run, one_write_from_post_to_completion)
{
	passes("# one write\n"
	       "config mtu 1024 psn 7\n"
	       "post write 1500 bytes id 3 imm 9\n"
	       "> WRITE FIRST psn 7 msn 0 len 1024 dmalen 1500 at 0 ev A class data\n"
	       "> WRITE LAST IMM psn 8 len 476 at 1024 imm 9 ev !A ackreq\n"
	       "+10us < SACK cack 8\n"
	       "< ACK msn 1\n"
	       "expect completion id 3 success\n");
}

TEST(script_run, a_packet_from_the_peer_is_placed_and_answered)
{
	passes("< WRITE ONLY psn 100 len 64 ackreq\n"
	       "expect placed 64 at 0\n"
	       "> SACK cack 100 ev 224 ts echo mark none\n"
	       "> ACK msn 1\n"
	       "expect nothing for 1ms\n");
}

TEST(script_run, a_span_of_time)
{
	passes("config tail_probe 50us\n"
	       "post write 1 bytes\n"
	       "> WRITE ONLY\n"
	       "+10us..100us > PROBE\n"
	       "ignore PROBE WRITE\n"
	       "expect nothing for 1ms\n");
	fails("config tail_probe 50us\n"
	      "post write 1 bytes\n"
	      "> WRITE ONLY\n"
	      "+10us..20us > PROBE probe P\n",
	      4, "did not send this", "expected: +10us..20us > PROBE probe P");
}

TEST(script_run, a_range_is_many_lines)
{
	passes("config sq 300\n"
	       "post write 0 bytes id 1..200\n"
	       "> WRITE ONLY psn 100..299 msn 0..199 sacked\n"
	       "< ACK msn 200\n"
	       "expect completion id 1..200 success\n");
	fails("< WRITE ONLY psn 1..5 msn 1..6\n", 1, "msn counts 6", "of the line 5");
}

TEST(script_run, numbers_wrap_in_ranges)
{
	passes("config peer_psn 16777214 peer_msn 65534\n"
	       "< WRITE ONLY psn 16777214..1 msn 65534..1 len 4\n"
	       "> ACK msn 65535..65538\n");
}

TEST(script_run, a_difference_names_field_and_both_sides)
{
	fails("post write 100 bytes\n> WRITE ONLY psn 101\n", 2, "psn is 100, wanted 101",
	      "came:     > WRITE ONLY psn 100 ");
	fails("post write 100 bytes\n> WRITE FIRST psn 100\n", 2, "kind of WRITE", "> WRITE ONLY");
	fails("post write 100 bytes\n> WRITE ONLY ev !0,1,2,3\n", 2, "anything but", "list");
	fails("post write 1 bytes\n> WRITE ONLY rtx\n", 2, "rtx is not set, wanted set", NULL);
}

TEST(script_run, a_retransmission_must_be_written_as_one)
{
	fails("post write 1 bytes\n> WRITE ONLY ev A\n< NACK psn 100 reason trimmed\n> WRITE "
	      "ONLY\n",
	      4, "rtx is set", NULL);
}

TEST(script_run, what_was_not_expected_fails_the_script)
{
	fails("post write 100 bytes\nexpect nothing\n", 2, "nothing expected this", "> WRITE ONLY");
	fails("expect state RTS\npost write 100 bytes\n", 2, "the script ends", "> WRITE ONLY");
	fails("post write 1 bytes id 4\n> WRITE ONLY\n< ACK msn 1\n+1us post recv id 1\n", 4,
	      "time goes on", "completion id 4 success");
	fails("config tail_probe 50us\npost write 1 bytes\n> WRITE ONLY\nexpect nothing for 1ms\n",
	      4, "it is 50us", "> PROBE");
}

TEST(script_run, unknown_words_are_named_with_what_is_allowed)
{
	fails("expect state RTS\nwait 5us\n", 2, "'wait' is unknown", "post, state");
	fails("config plane 4\n", 1, "'plane' is unknown", "planes");
	fails("> WRITES\n", 1, "'WRITES' is unknown", "WRITE, SEND, SACK, NACK, ACK");
	fails("> WRITE ONLY cack 5\n", 1, "no field 'cack'", "psn, msn, rqmsn");
	fails("> NACK reason trim\n", 1, "'trim' is unknown", "trimmed_lasthop");
	fails("post write 5 bytes fails now\n", 1, "'now' is unknown", "full");
	fails("expect stat tx\n", 1, "'tx' is unknown", "tx_sacks");
	fails("expect completion id 1 ok\n", 1, "'ok' is unknown", "success, flushed");
	fails("expect ev 1 BAD\n", 1, "'BAD' is unknown", "ASSUMED_BAD");
	fails("port 0 sideways\n", 1, "'sideways' is unknown", "down, up");
	fails("request ping\n", 1, "'ping' is unknown", "ev_probe");
	fails("memory less\n", 1, "'less' is unknown", "gone, more");
	fails("state RTRS\n", 1, "'RTRS' is unknown", "RTR, RTS");
}

TEST(script_run, values_out_of_range)
{
	fails("config planes 0\n", 1, "planes 0 is out of range", "1 to 32");
	fails("config timeout 25\n", 1, "timeout 25 is out of range", "0 to 24");
	fails("> WRITE psn 16777216\n", 1, "psn 16777216 is out of range", "0 to 16777215");
	fails("< WRITE ONLY psn 1 len 5000\n", 1, "len 5000", "4096");
	fails("< WRITE ONLY psn 1x\n", 1, "'1x' is not a number", NULL);
	fails("config mtu 1000\nexpect state RTS\n", 2, "mt_qp_modify refuses", NULL);
	fails("< WRITE ONLY psn 100 plane 1\n", 1, "plane 1 does not exist", "1");
	fails("+5m expect nothing\n", 1, "'5m' is not a time", "5ns");
	fails("+5us..2us > ACK\n", 1, "ends before it begins", NULL);
}

TEST(script_run, lines_with_too_little_or_too_much)
{
	fails("< WRITE psn 5\n", 1, "which WRITE", "ONLY IMM");
	fails("< WRITE ONLY len 5\n", 1, "needs a psn", NULL);
	fails("< WRITE FIRST psn 100\n", 1, "needs a dmalen", NULL);
	fails("< SACK map 1\n", 1, "needs a cack", NULL);
	fails("< NACK psn 1\n", 1, "needs a psn and a reason", NULL);
	fails("post write\n", 1, "the line ends where length", NULL);
	fails("expect state RTS now\n", 1, "'now' is unexpected", NULL);
	fails("> WRITE psn 1 psn 2\n", 1, "psn stands twice", NULL);
	fails("> PROBE ts echo\n", 1, "SACK and NACK", NULL);
	fails("hold\n+1us > PROBE\n", 2, "between hold and go", NULL);
	fails("stop 5us now\n", 1, "unexpected", NULL);
	fails("< SACK cack !5\n", 1, "one value", NULL);
	fails("+1us..2us < ACK msn 1\n", 1, "one moment", NULL);
	fails("+1us..2us post recv\n", 1, "span of time", NULL);
}

TEST(script_run, names_must_be_given_before_they_are_used)
{
	fails("expect ev A GOOD\n", 1, "ev A: nothing has had this name", NULL);
	fails("< SACK cack 5 ev B\n", 1, "ev B: nothing has had this name", NULL);
	fails("> WRITE psn A\n", 1, "only EVs", NULL);
}

TEST(script_run, settings_stand_first_and_a_script_must_expect_something)
{
	fails("expect state RTS\nconfig planes 2\n", 2, "before everything else", NULL);
	fails("# only\npost recv id 1\n", 2, "without having expected anything", NULL);
}

TEST(script_run, wrong_states_and_counters)
{
	fails("expect state ERR\n", 1, "the QP is in RTS, expected ERR", NULL);
	fails("expect stat rx_sacks 1\n", 1, "rx_sacks is 0", NULL);
	fails("expect ev 2 SKIP\n", 1, "ev 2 is GOOD, expected SKIP", NULL);
	fails("expect ev 9 GOOD\n", 1, "no ev 9", NULL);
	fails("state INIT\n", 1, "the call fails state, expected that it succeeds", NULL);
	fails("expect placed 4 at 0\n", 1, "nothing was placed", NULL);
}

TEST(word_time, units_and_fractions)
{
	struct report r = {.file = "t"};

	assert_u_eq(word_time(&r, "t", "5ns"), 5);
	assert_u_eq(word_time(&r, "t", "1.024us"), 1024);
	assert_u_eq(word_time(&r, "t", "3ms"), 3000000);
	assert_u_eq(word_time(&r, "t", "2s"), 2000000000);
	assert_u_eq(word_time(&r, "t", "0"), 0);
}

TEST(words_print_time, as_word_time_reads_it)
{
	static const uint64_t times[] = {0,	1,	 999,	  1000,	     1024,
					 12500, 1000000, 1000001, 1500000000};
	struct report r = {.file = "t"};
	char text[32];

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		words_print_time(times[i], text, sizeof(text));
		assert_u_eq(word_time(&r, "t", text), times[i]);
	}
}

/* ---- captures ---- */

static bool has_text(const char *bytes, size_t n, const char *text)
{
	for (size_t i = 0; i + strlen(text) <= n; i++)
		if (memcmp(bytes + i, text, strlen(text)) == 0)
			return true;
	return false;
}

/* Blocks of pcapng: each says its length at its begin and at its end. */
static unsigned count_blocks(const char *bytes, size_t n)
{
	unsigned blocks = 0;
	uint32_t len, again;

	for (size_t at = 0; at < n; at += len, blocks++) {
		assert_true(n - at >= 12);
		memcpy(&len, bytes + at + 4, sizeof(len));
		assert_true(len % 4 == 0 && len >= 12 && len <= n - at);
		memcpy(&again, bytes + at + len - 4, sizeof(again));
		assert_int_equal(again, len);
	}
	return blocks;
}

TEST(script_run, captures_what_passes)
{
	static const char text[] = "# two planes\n"
				   "config planes 2\n"
				   "< WRITE ONLY psn 100 len 7 trim midpath plane 1\n"
				   "> NACK psn 100 reason trimmed\n"
				   "< WRITE ONLY psn 100 len 7 badcrc\n"
				   "expect nothing\n";
	static char bytes[4096];
	FILE *file = tmpfile();
	size_t n;

	assert_non_null(file);
	if (!script_run(&script, "t.mrc", text, false, file))
		fail_msg("%s", script.report.text);
	rewind(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	/* A section, two interfaces, three packets. */
	assert_int_equal(count_blocks(bytes, n), 6);
	assert_true(has_text(bytes, n, "two planes"));
	assert_true(has_text(bytes, n, "< WRITE ONLY psn 100 msn 0"));
	assert_true(has_text(bytes, n, "> NACK psn 100 reason trimmed"));
	assert_true(has_text(bytes, n, "badcrc"));
}
