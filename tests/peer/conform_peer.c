/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conform_peer.c - the kit of `mrc conform` judges the peer of this folder, which has its own
 * packets, in virtual time: it passes as it is; with one fault planted the cases that ask for it
 * fail, and no others.
 */
#include "conform_world.h"

#include <stdio.h>

#include "conform/catalogue.h"
#include "support/test.h"

/* With which faults which cases fail, and no others. */
static const struct {
	enum conform_fault fault;
	const char *cases; /* with blanks around each */
} expected[] = {
	{FAULT_NONE, " "},
	{FAULT_SACK_MAP_BIT, " sack-map "},
	{FAULT_SACK_EV, " sack-ev "},
	{FAULT_SACK_CACK, " sack-cack "},
	{FAULT_SACK_TIME, " sack-time "},
	{FAULT_SACK_RTX, " sack-rtx "},
	{FAULT_SACK_MARK, " sack-mark "},
	{FAULT_SACK_OOO, " sack-ooo "},
	{FAULT_SACK_PSN, " sack-psn "},
	{FAULT_SACK_CLASS, " all-classes "},
	{FAULT_SACK_ICRC, " all-icrcs "},
	{FAULT_SACK_TRIGGER, " sack-trigger "},
	{FAULT_SACK_FUTURE, " all-true "},
	{FAULT_RCVD_COPIES, " rcvd-copies "},
	{FAULT_RCVD_UNIT, " rcvd-counts "},
	{FAULT_NACK_REASON, " trim-reason "},
	{FAULT_NACK_LAST_HOP, " trim-last-hop "},
	{FAULT_NACK_EV, " trim-ev "},
	{FAULT_NACK_TIME, " trim-time "},
	{FAULT_NACK_PSN, " trim-psn "},
	{FAULT_TRIM_BY_LENGTH, " trim-not-placed "},
	{FAULT_TRIM_IGNORED, " trim-answered trim-reason trim-last-hop trim-ev trim-time trim-psn "
			     "trim-not-placed trim-then-whole "},
	{FAULT_TRIM_SILENT, " trim-answered trim-reason trim-last-hop trim-ev trim-time trim-psn "},
	{FAULT_PROBE_SILENT, " sack-before-anything probe-answered probe-id probe-ev probe-time "
			     "probe-shows-holes "},
	{FAULT_PROBE_ID, " probe-id "},
	{FAULT_PROBE_EV, " probe-ev "},
	{FAULT_PROBE_TIME, " probe-time "},
	{FAULT_EP_SILENT, " ev-probe ev-probe-time ev-probe-class ev-probe-op "},
	{FAULT_EP_TIME, " ev-probe-time "},
	{FAULT_EP_CLASS, " ev-probe-class "},
	{FAULT_ACK_CREDITS, " write-acknowledged "},
	{FAULT_P_KEY_SENT, " all-p-keys "},
	{FAULT_COPY_PLACED, " copy-not-placed "},
	{FAULT_PAD_PLACED, " write-padded "},
	{FAULT_PAD_TRUSTED, " garbage "},
	{FAULT_PSN_WRAP, " psn-wraps copy-across-wrap "},
	{FAULT_OTHER_QP, " wrong-qp "},
	{FAULT_BAD_ICRC, " bad-icrc "},
	{FAULT_OTHER_P_KEY, " wrong-p-key "},
	{FAULT_OTHER_VERSION, " wrong-version garbage "},
	{FAULT_KEY_IGNORED, " wrong-key refused-in-order refused-again "},
	{FAULT_IMM_TWICE, " imm-once "},
	{FAULT_WRITE_TELLS, " write-silent imm-in-order "},
	{FAULT_SACK_COMPLETES,
	 " post-not-complete sack-never-sent nak-flushes unexpected-event-ends "},
	{FAULT_NAK_IGNORED, " nak-ends nak-flushes "},
	{FAULT_FATAL_IGNORED, " unexpected-event-ends "},
	{FAULT_NACK_IGNORED, " nack-resent "},
	{FAULT_HOLE_IGNORED,
	 " hole-resent hole-same-packet hole-class hole-other-ev oldest-first "},
	{FAULT_SENT_RTX, " hole-resent "},
	{FAULT_SENT_CLASS, " hole-class "},
	{FAULT_SENT_SAME_EV, " hole-other-ev "},
	{FAULT_SENT_LENGTH, " post-segments hole-same-packet "},
	{FAULT_SENT_NO_PROBES, " silence-probed "},
	{FAULT_SENT_BEYOND, " window-kept "},
	{FAULT_SENT_RQMSN, " post-numbers imm-gate "},
	{FAULT_MSN_ZERO, " post-numbers "},
};

#define FAULTS (sizeof(expected) / sizeof(expected[0]))

static bool is_expected(const char *cases, const char *name)
{
	char word[80];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(cases, word) != NULL;
}

/* Returns whether the verdict is the one that it has to be. */
static bool check(enum conform_fault fault, const char *cases, const char *name,
		  const struct cf_result *result)
{
	bool failed = result->verdict == CF_FAIL || result->verdict == CF_NOT_RUN;

	if (failed == is_expected(cases, name))
		return true;
	print_message("# %s: %s %s: %s\n", conform_fault_name(fault), name,
		      failed ? "failed" : "passed, and should not", result->why);
	return false;
}

static unsigned run(const struct cf_book *book, enum conform_fault fault, const char *cases)
{
	struct conform_world *w = conform_world_open(fault);
	char why[CF_WHY_MAX] = "";
	struct cf_result result;
	struct cf_run r;
	unsigned wrong = 0;

	assert_int_equal(cf_run_init(&r, &w->link, &w->server), 0);
	r.patience_ns = 20000000;
	if (cf_run_find(&r, why))
		fail_msg("%s: %s", conform_fault_name(fault), why);
	for (size_t i = 0; i < book->n; i++) {
		cf_run_case(&r, &book->cases[i], &result);
		wrong += !check(fault, cases, book->cases[i].name, &result);
	}
	for (unsigned i = 0; i < CF_WATCHES; i++) {
		cf_run_watch(&r, (enum cf_watch)i, &result);
		wrong += !check(fault, cases, cf_watch_rule[i].name, &result);
	}
	cf_run_fini(&r);
	conform_world_close(w);
	return wrong;
}

/* Returns how many verdicts are not as they have to be. */
static unsigned run_fault(size_t i)
{
	struct cf_book book = {0};
	char error[CF_ERROR_MAX] = "";
	unsigned wrong;

	if (cf_catalogue_read(&book, error))
		fail_msg("%s", error);
	wrong = run(&book, expected[i].fault, expected[i].cases);
	cf_book_fini(&book);
	return wrong;
}

TEST(conform, the_peer_passes_every_case)
{
	assert_u_eq(run_fault(0), 0);
}

TEST(conform, each_fault_fails_its_cases_and_no_others)
{
	unsigned wrong = 0;

	for (size_t i = 1; i < FAULTS; i++)
		wrong += run_fault(i);
	assert_u_eq(wrong, 0);
}
