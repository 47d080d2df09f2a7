/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases against targets that a test makes up: src/conform/run.h. */
#include "conform/run.h"

#include <errno.h>
#include <stdio.h>

#include "support/conform_link.h"
#include "support/test.h"

static struct conform_link target;
static struct cf_server server;
static struct cf_run run;
static struct cf_book book;
static struct cf_result result;
static uint8_t memory[CF_MEMORY_MAX];
static int refusal; /* of a QP */
static unsigned made;

static int make_qp(void *context, const struct cf_qp_wish *wish, struct cf_qp *qp,
		   char why[CF_SAY_MAX])
{
	(void)context;
	made++;
	if (refusal)
		snprintf(why, CF_SAY_MAX, "no room for another QP");
	*qp = (struct cf_qp){.qpn = 17, .psn = 5000, .length = 1 << 20, .mtu = wish->mtu};
	return refusal;
}

static int show_memory(void *context, uint64_t offset, uint32_t len, uint8_t *bytes,
		       char why[CF_SAY_MAX])
{
	(void)context;
	(void)why;
	assert_true(offset + len <= sizeof(memory));
	memcpy(bytes, memory + offset, len);
	return 0;
}

static int run_setup(void **state)
{
	(void)state;
	conform_link_init(&target);
	server = (struct cf_server){.make_qp = make_qp, .memory = show_memory};
	memset(memory, 0, sizeof(memory));
	refusal = 0;
	made = 0;
	return cf_run_init(&run, &target.link, &server);
}

static int run_teardown(void **state)
{
	(void)state;
	cf_run_fini(&run);
	cf_book_fini(&book);
	return 0;
}

#define RUN_TEST(name) TEST_WITH(run_setup, run_teardown, cf_run_case, name)

static void play(const char *lines)
{
	char text[1000], error[CF_ERROR_MAX];

	cf_book_fini(&book);
	snprintf(text, sizeof(text), "case a\n%s\n", lines);
	if (cf_book_read(&book, "x.case", text, error))
		fail_msg("%s", error);
	cf_run_case(&run, &book.cases[0], &result);
}

static void assert_verdict(enum cf_verdict verdict, const char *why)
{
	if (result.verdict != verdict || strcmp(result.why, why) != 0)
		fail_msg("verdict %d: %s\nwanted %d: %s", result.verdict, result.why, verdict, why);
}

/* ---- the QP ---- */

RUN_TEST(a_qp_that_is_refused_fails_its_case_alone)
{
	refusal = 1;
	play("< PROBE");
	assert_verdict(CF_FAIL, "no QP: no room for another QP");
	refusal = 0;
	play("< PROBE");
	assert_verdict(CF_PASS, "");
	assert_u_eq(made, 2);
}

RUN_TEST(a_program_that_has_gone_is_asked_no_more)
{
	refusal = -1;
	play("< PROBE");
	assert_verdict(CF_FAIL, "no QP: no room for another QP");
	play("< PROBE");
	assert_verdict(CF_NOT_RUN,
		       "nothing can be asked of the target any more: no room for another QP");
	assert_u_eq(made, 1);
}

/* A QP that was made by hand may have any length. */
RUN_TEST(a_case_fits_the_memory_or_is_not_played)
{
	run.server = NULL;
	run.qp = (struct cf_qp){.qpn = 17, .length = 4096, .mtu = 1024};
	play("< WRITE FIRST psn 3");
	assert_verdict(CF_PASS, "");
	play("< WRITE FIRST psn 3\n< WRITE LAST psn 4 len 5\n< WRITE ONLY psn 1");
	assert_verdict(CF_NOT_RUN,
		       "needs 4101 bytes of the target's memory, and its length is 4096");
	play("< WRITE ONLY psn 0 len 4 at 0\n< WRITE ONLY at 4033");
	assert_verdict(CF_NOT_RUN,
		       "needs 4097 bytes of the target's memory, and its length is 4096");
	play("< WRITE ONLY at 4032..4033");
	assert_verdict(CF_NOT_RUN,
		       "needs 4097 bytes of the target's memory, and its length is 4096");
	play("< WRITE ONLY at 4032");
	assert_verdict(CF_PASS, "");
	play("> WRITE ONLY psn 99\n");
	assert_int_equal(result.verdict, CF_FAIL);
}

RUN_TEST(what_only_the_program_can_do_is_not_asked_of_a_qp_made_by_hand)
{
	static const char *const lines[] = {"< WRITE ONLY\nexpect placed 0",
					    "expect completion none", "post recv 1",
					    "post write 1 bytes"};

	run.server = NULL;
	run.qp = (struct cf_qp){.qpn = 17, .length = 4096, .mtu = 1024};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		play(lines[i]);
		assert_verdict(CF_NOT_RUN, "needs the program of mrc conform --serve");
	}
}

RUN_TEST(a_case_that_ends_the_qp_may_write_beyond)
{
	play("needs own-qp\n< WRITE ONLY at 1048548");
	assert_verdict(CF_PASS, "");
	play("< WRITE ONLY at 1048548");
	assert_verdict(CF_NOT_RUN,
		       "needs 1048612 bytes of the target's memory, and its length is 1048576");
}

/* ---- memory ---- */

RUN_TEST(what_is_placed_is_looked_at_from_a_byte_on)
{
	cf_contents(memory, 64, 0, 0);
	play("< WRITE ONLY psn 0 at 0\nexpect placed 0");
	assert_verdict(CF_PASS, "");
	memory[60] = 0;
	play("< WRITE ONLY psn 0 at 0\nexpect placed 0 from 61");
	assert_verdict(CF_PASS, "");
	play("< WRITE ONLY psn 0 at 0\nexpect placed 0 from 60");
	assert_verdict(CF_FAIL, "line 3: expect placed 0 from 60\n  byte 60 of the memory is 0x00, "
				"wanted 0xa6");
	play("< WRITE ONLY psn 0 at 0\nexpect placed 0 from 64");
	assert_verdict(CF_FAIL, "line 3: expect placed 0 from 64: no such packet was sent");
	play("< WRITE ONLY psn 0 len 0\nexpect untouched 0");
	assert_verdict(CF_FAIL, "line 3: expect untouched 0: no such packet was sent");
}

/* ---- what comes ---- */

/* Answers each packet once. */
static int answer_all(struct conform_link *l, uint64_t until_ns, struct cf_frame *f)
{
	static unsigned answered;
	struct cf_packet p;

	(void)until_ns;
	if (answered == l->n_sent)
		return 0;
	answered = l->n_sent;
	conform_link_answer(l, &run, false, &p);
	cf_packet_encode(&p, f);
	return 1;
}

RUN_TEST(an_answer_is_matched)
{
	target.next = answer_all;
	play("< WRITE ONLY psn 0 ackreq ev 3\n> SACK cack 0 ev echo ts echo");
	assert_verdict(CF_PASS, "");
	assert_u_eq(result.sent, 1);
	assert_u_eq(result.got, 1);
	play("< PROBE probe 7\n> SACK pr probe 7 cack 0");
	assert_verdict(CF_PASS, "");
	play("< WRITE ONLY psn 1\n> SACK cack 2");
	assert_int_equal(result.verdict, CF_FAIL);
	assert_non_null(strstr(result.why, "wanted cack 2, it is 1"));
}

/* As answer_all, of which the kernel had each before the kit's call to send had returned. */
static int answer_early(struct conform_link *l, uint64_t until_ns, struct cf_frame *f)
{
	f->came_ns = l->now_ns - 1000;
	return answer_all(l, until_ns, f);
}

RUN_TEST(what_came_before_a_call_returned_came_at_once)
{
	target.now_ns = 1000000;
	target.next = answer_early;
	play("< WRITE ONLY psn 0 ackreq\n+0us..5s > SACK cack 0");
	assert_verdict(CF_PASS, "");
	play("< WRITE ONLY psn 0 ackreq\n+1us..5s > SACK cack 0");
	assert_verdict(CF_FAIL,
		       "line 3: +1us..5s > SACK cack 0\n  it came 0 us after the one before");
}

static int closed(struct conform_link *l, uint64_t until_ns, struct cf_frame *f)
{
	(void)l;
	(void)until_ns;
	(void)f;
	errno = ECONNREFUSED;
	return -1;
}

RUN_TEST(a_closed_port_ends_the_case)
{
	target.next = closed;
	play("< PROBE\n> SACK");
	assert_verdict(CF_FAIL, "the target's host says that nobody listens at its UDP port");
}

static int flood(struct conform_link *l, uint64_t until_ns, struct cf_frame *f)
{
	struct cf_packet p;

	(void)until_ns;
	conform_link_packet(l, CF_PROBE, run.qpn, &p);
	cf_packet_encode(&p, f);
	return 1;
}

/* Each is answered, as any peer does, and no more are than the flood's bound. */
RUN_TEST(a_flood_ends_the_case)
{
	target.next = flood;
	play("pause 60s");
	assert_int_equal(result.verdict, CF_FAIL);
	assert_non_null(strstr(result.why, "the target floods: more than 20000 packets"));
	assert_u_eq(target.n_sent, CF_FLOOD);
}
