/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c - see run.h: a case line by line. */
#include "conform/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS UINT64_C(1000000)
/* First PSN of a case that does not say. */
#define ANY_PSN 1000u
/* How long a thing may take that is asked of the target's program. */
#define SERVER_WAIT_MS 3000u
/* Nothing came: so long is waited for a receive that must not complete. */
#define ABSENCE_MS 30u
#define FIND_TRIES 4u
/* So long an answer is waited for that need not come. */
#define QUESTION_NS (300 * MS_NS)
/* Between two cases on one QP: no packet for so long, and this often at most. */
#define QUIET_NS (10 * MS_NS)
#define QUIET_TRIES 1000u
/* QP numbers from here on belong to other UDP ports than MRC's own: docs/design/0003. */
#define SLOT_QPNS (1u << 14)

void cf_fail(struct cf_run *r, const char *format, ...)
{
	va_list args;

	if (!r->result || r->result->verdict == CF_FAIL)
		return;
	r->result->verdict = CF_FAIL;
	va_start(args, format);
	vsnprintf(r->result->why, sizeof(r->result->why), format, args);
	va_end(args);
}

bool cf_failed(const struct cf_run *r)
{
	return r->result && r->result->verdict == CF_FAIL;
}

int cf_run_init(struct cf_run *r, const struct cf_link *link, const struct cf_server *server)
{
	static const uint8_t dscp[6] = {0, 4, 8, 12, 16, 46}; /* REQ(wire.dscp.values) */

	memset(r, 0, sizeof(*r));
	r->link = link;
	r->server = server;
	r->patience_ns = 1000 * MS_NS;
	r->qpn = link->first_qpn;
	r->mtu = 1024;
	memcpy(r->dscp, dscp, sizeof(dscp));
	r->sent = calloc(CF_SENT_MAX, sizeof(*r->sent));
	r->got = calloc(CF_GOT_MAX, sizeof(*r->got));
	if (r->sent && r->got)
		return 0;
	cf_run_fini(r);
	return -1;
}

void cf_run_fini(struct cf_run *r)
{
	free(r->sent);
	free(r->got);
	r->sent = NULL;
	r->got = NULL;
}

/* ---- lines that wait for packets ---- */

static uint64_t now(const struct cf_run *r)
{
	return r->link->now_ns(r->link->context);
}

/* The first packet since the line that sent last that a line wants; NULL: not until then. */
static struct cf_got *await(struct cf_run *r, const struct cf_line *line, uint64_t until_ns)
{
	size_t i = r->from;

	for (;;) {
		for (; i < r->n_got; i++)
			if (!r->got[i].used && cf_match(r, line, &r->got[i].p))
				return &r->got[i];
		if (cf_failed(r) || now(r) >= until_ns)
			return NULL;
		cf_hear(r, until_ns);
	}
}

/* The packet of the wanted kind that came last, to say what is different. */
static const struct cf_got *nearest(const struct cf_run *r, enum cf_kind kind)
{
	for (size_t i = r->n_got; i > r->from; i--)
		if (r->got[i - 1].p.kind == kind && !r->got[i - 1].used)
			return &r->got[i - 1];
	return NULL;
}

static void explain(struct cf_run *r, const struct cf_line *line)
{
	const struct cf_got *got = nearest(r, line->packet);
	char came[200], differs[200];

	if (cf_failed(r))
		return;
	if (!got) {
		cf_fail(r, "line %u: %s\n  no %s came", line->number, line->source,
			cf_kind_name(line->packet));
		return;
	}
	cf_describe(r, &got->p, came, sizeof(came));
	cf_differs(r, line, &got->p, differs, sizeof(differs));
	cf_fail(r, "line %u: %s\n  came: %s\n  %s", line->number, line->source, came, differs);
}

/*
 * How long a packet is waited for. Where its absence is an answer too, the run would wait as long
 * as for one that is late.
 */
static uint64_t patience(const struct cf_run *r, const struct cf_line *line)
{
	const struct cf_line *end = r->c->line + r->c->n_lines;

	for (const struct cf_line *next = line + 1; next < end && next->kind == CF_ANSWER; next++)
		if (next->answer == CF_ANSWER_NONE && r->patience_ns > QUESTION_NS)
			return QUESTION_NS;
	return r->patience_ns + (line->has_span ? line->to_ns : 0);
}

static void play_want(struct cf_run *r, const struct cf_line *line)
{
	uint64_t since = r->moment_ns, passed_ns;
	struct cf_got *got = await(r, line, now(r) + patience(r, line));

	r->matched = got;
	if (!got) {
		if (line->kind == CF_WANT)
			explain(r, line);
		return;
	}
	got->used = true;
	r->moment_ns = got->at_ns;
	/* By the kernel's stamp it may have come before a post had returned. */
	passed_ns = got->at_ns > since ? got->at_ns - since : 0;
	if (line->has_span && (passed_ns < line->from_ns || passed_ns > line->to_ns))
		cf_fail(r, "line %u: %s\n  it came %" PRIu64 " us after the one before",
			line->number, line->source, passed_ns / 1000);
}

static void play_never(struct cf_run *r, const struct cf_line *line)
{
	struct cf_got *got = await(r, line, now(r) + line->for_ns);
	char came[200];

	if (!got)
		return;
	cf_describe(r, &got->p, came, sizeof(came));
	cf_fail(r, "line %u: %s\n  came: %s", line->number, line->source, came);
}

static void play_pause(struct cf_run *r, const struct cf_line *line)
{
	uint64_t until_ns = now(r) + line->for_ns;

	while (now(r) < until_ns && !cf_failed(r))
		cf_hear(r, until_ns);
}

/* ---- questions ---- */

static void answer(struct cf_run *r, const struct cf_line *line)
{
	struct cf_result *result = r->result;
	size_t n = strlen(result->why);

	snprintf(result->why + n, sizeof(result->why) - n, "%s%s", n ? "; " : "", line->text);
	result->verdict = CF_ANSWERED;
}

/* The answers behind a maybe line: the first that fits holds. */
static size_t play_answers(struct cf_run *r, size_t i)
{
	bool answered = false;

	for (; i < r->c->n_lines && r->c->line[i].kind == CF_ANSWER; i++) {
		const struct cf_line *line = &r->c->line[i];
		bool fits = line->answer == CF_ANSWER_NONE ? !r->matched : r->matched != NULL;

		if (line->answer == CF_ANSWER_TERM && fits)
			fits = cf_match_term(r, &line->term[0], &r->matched->p, true);
		if (fits && !answered)
			answer(r, line);
		answered = answered || fits;
	}
	if (!answered)
		cf_fail(r, "the question has no such answer");
	return i;
}

/* ---- lines that ask the target's program ---- */

static const struct cf_sent *sent_of(const struct cf_run *r, uint64_t psn, uint64_t copy)
{
	for (size_t i = r->n_sent; i > 0; i--)
		if (cf_kind_is_data(r->sent[i - 1].p.kind) && r->sent[i - 1].copy == copy &&
		    cf_relative(r->sent[i - 1].p.f[CF_F_PSN], r->psn) == (int64_t)psn)
			return &r->sent[i - 1];
	return NULL;
}

/* Returns the first byte of the target's memory that is not what the line wants, or len. */
static uint32_t first_wrong(struct cf_run *r, const struct cf_line *line, const struct cf_sent *s,
			    uint32_t len, const uint8_t *bytes)
{
	bool placed = line->kind == CF_EXPECT_PLACED;
	uint32_t i = line->from;

	if (placed)
		cf_contents(r->payload, len, (int64_t)line->value, s->copy);
	while (i < len && bytes[i] == (placed ? r->payload[i] : 0))
		i++;
	return i;
}

/*
 * What was sent without waiting for an answer may still be on its way, so what is to be placed is
 * waited for.
 */
static void check_memory(struct cf_run *r, const struct cf_line *line, char why[CF_SAY_MAX])
{
	uint8_t bytes[CF_MEMORY_MAX];
	const struct cf_sent *s = sent_of(r, line->value, line->imm);
	uint32_t len = s ? (uint32_t)s->p.f[CF_F_LEN] : 0, wrong;
	uint64_t until_ns = now(r) + (line->kind == CF_EXPECT_PLACED ? r->patience_ns : 0);

	if (len == 0 || len > CF_MEMORY_MAX || line->from >= len) {
		cf_fail(r, "line %u: %s: no such packet was sent", line->number, line->source);
		return;
	}
	for (;;) {
		if (r->server->memory(r->server->context, s->at, len, bytes, why)) {
			cf_fail(r, "%s", why);
			return;
		}
		wrong = first_wrong(r, line, s, len, bytes);
		if (wrong == len || now(r) >= until_ns || cf_failed(r))
			break;
		cf_hear(r, now(r) + MS_NS);
	}
	if (wrong < len)
		cf_fail(r, "line %u: %s\n  byte %u of the memory is 0x%02x, wanted 0x%02x",
			line->number, line->source, wrong, bytes[wrong],
			line->kind == CF_EXPECT_PLACED ? r->payload[wrong] : 0);
}

/*
 * Programs complete late, packets come meanwhile: both are looked at in turn. *imm may be NULL for
 * a completion.
 */
static int ask(struct cf_run *r, const struct cf_line *line, uint32_t *imm, char why[CF_SAY_MAX])
{
	const struct cf_server *s = r->server;
	uint64_t until_ns = now(r) + (line->absent ? ABSENCE_MS : SERVER_WAIT_MS) * MS_NS;
	int status = 2, err;

	do {
		if (line->kind == CF_EXPECT_COMPLETION)
			err = s->completion(s->context, 1, &status, why);
		else
			err = s->received(s->context, 1, &status, imm, why);
		if (err || status != 2)
			return err ? -1 : status;
		cf_hear(r, now(r) + MS_NS);
	} while (now(r) < until_ns && !cf_failed(r));
	return status;
}

static void play_expect(struct cf_run *r, const struct cf_line *line)
{
	static const char *const names[] = {"success", "error", "none"};
	char why[CF_SAY_MAX] = "";
	uint32_t imm = 0;
	int status, want;

	if (line->kind == CF_EXPECT_PLACED || line->kind == CF_EXPECT_UNTOUCHED) {
		check_memory(r, line, why);
		return;
	}
	status = ask(r, line, &imm, why);
	want = line->good ? 0 : line->absent ? 2 : 1;
	if (status < 0)
		cf_fail(r, "%s", why);
	else if (status != want)
		cf_fail(r, "line %u: %s\n  the target's completion: %s", line->number, line->source,
			names[status]);
	else if (line->kind == CF_EXPECT_RECEIVE && line->good && imm != line->imm)
		cf_fail(r, "line %u: %s\n  the immediate is 0x%x", line->number, line->source, imm);
}

static void play_post(struct cf_run *r, const struct cf_line *line)
{
	const struct cf_server *s = r->server;
	char why[CF_SAY_MAX] = "";
	int err = 0;

	for (uint32_t i = 0; line->kind == CF_POST_WRITE && i < line->times && !err; i++)
		err = s->post_write(s->context, (uint32_t)line->value, line->has_imm,
				    (uint32_t)line->imm, why);
	if (line->kind == CF_POST_RECV)
		err = s->post_recv(s->context, (uint32_t)line->value, why);
	if (err)
		cf_fail(r, "%s", why);
	r->moment_ns = now(r);
}

/* ---- a case ---- */

/* Returns the number of the next line. */
static size_t play_line(struct cf_run *r, size_t i)
{
	const struct cf_line *line = &r->c->line[i];

	switch (line->kind) {
	case CF_SEND:
		/* What came before it can be no answer to it. */
		if (i > 0 && r->c->line[i - 1].kind != CF_SEND)
			r->from = r->n_got;
		cf_compose(r, line);
		break;
	case CF_WANT:
	case CF_MAYBE:
		play_want(r, line);
		break;
	case CF_NEVER:
		play_never(r, line);
		break;
	case CF_ANSWER:
		return play_answers(r, i);
	case CF_POST_WRITE:
	case CF_POST_RECV:
		play_post(r, line);
		break;
	case CF_EXPECT_COMPLETION:
	case CF_EXPECT_RECEIVE:
	case CF_EXPECT_PLACED:
	case CF_EXPECT_UNTOUCHED:
		play_expect(r, line);
		break;
	case CF_PAUSE:
		play_pause(r, line);
		break;
	}
	return i + 1;
}

static int open_qp(struct cf_run *r, uint32_t psn, uint32_t peer_psn, uint32_t mtu,
		   uint32_t timeout, char why[CF_SAY_MAX])
{
	struct cf_qp_wish wish = {
		.qpn = ++r->qpn, .psn = psn, .mtu = mtu, .timeout = timeout, .peer_psn = peer_psn};

	memcpy(wish.gid, r->link->ours, 16);
	return r->server->make_qp(r->server->context, &wish, &r->qp, why);
}

static void reset(struct cf_run *r)
{
	r->n_sent = r->n_got = r->from = 0;
	r->heard = 0;
	r->matched = NULL;
	r->msn_base = r->rqmsn_base = 0;
	memset(r->has_letter, 0, sizeof(r->has_letter));
	memset(r->admitted, 0, sizeof(r->admitted));
	r->has_admitted = r->they_sent = false;
}

/* The case is not played, and why. Returns false. */
__attribute__((format(printf, 2, 3))) static bool skip(struct cf_run *r, const char *format, ...)
{
	va_list args;

	r->result->verdict = CF_NOT_RUN;
	va_start(args, format);
	vsnprintf(r->result->why, sizeof(r->result->why), format, args);
	va_end(args);
	return false;
}

/* A WRITE behind the memory would end the QP, which is what some cases are about. */
static bool has_room(struct cf_run *r, const struct cf_case *c)
{
	uint64_t reach = cf_reach(c, r->mtu);

	return c->ends_qp || reach <= r->qp.length ||
	       skip(r, "needs %" PRIu64 " bytes of the target's memory, and its length is %" PRIu64,
		    reach, r->qp.length);
}

/* Gives the case its QP. Returns false when it cannot be played. */
static bool begin(struct cf_run *r, const struct cf_case *c)
{
	char why[CF_SAY_MAX] = "";
	int err;

	reset(r);
	if (r->lost[0])
		return skip(r, "nothing can be asked of the target any more: %s", r->lost);
	if (c->needs_port && r->link->first_qpn >= SLOT_QPNS)
		return skip(r, "another process of this host has MRC's UDP port: --from gives the "
			       "kit an address of its own");
	if (r->server) {
		r->psn = c->psn == UINT32_MAX ? ANY_PSN : c->psn;
		r->mtu = c->mtu;
		err = open_qp(r, r->psn, c->peer_psn, c->mtu, c->timeout, why);
		if (err)
			cf_fail(r, "no QP: %s", why);
		if (err < 0)
			snprintf(r->lost, sizeof(r->lost), "%s", why);
		if (err)
			return false;
		r->their_psn = r->qp.psn;
		return has_room(r, c);
	}
	if (c->needs_server || c->ends_qp || c->psn != UINT32_MAX || c->peer_psn != UINT32_MAX)
		return skip(r, "needs the program of mrc conform --serve%s",
			    c->ends_qp ? ": it ends the QP" : "");
	r->psn = r->qp.next_psn;
	r->their_psn = r->qp.psn;
	r->mtu = r->qp.mtu;
	r->msn_base = r->qp.next_msn;
	r->rqmsn_base = r->qp.next_rqmsn;
	return has_room(r, c);
}

/*
 * A QP that was made by hand serves all cases: holes are filled, so that the next case begins where
 * this one ends. Each PSN goes as a message of its own, which no other packet of it can complete.
 */
static void settle(struct cf_run *r)
{
	int64_t most = -1;
	struct cf_line line = {.kind = CF_SEND, .packet = CF_WRITE_ONLY, .n_terms = 4};

	for (size_t i = 0; i < r->n_sent; i++)
		if (cf_kind_is_data(r->sent[i].p.kind) && r->sent[i].whole &&
		    cf_relative(r->sent[i].p.f[CF_F_PSN], r->psn) > most)
			most = cf_relative(r->sent[i].p.f[CF_F_PSN], r->psn);
	for (int64_t psn = 0; psn <= most; psn++) {
		line.term[0] = (struct cf_term){CF_F_PSN, {.lo = psn, .hi = psn}};
		line.term[1] = (struct cf_term){CF_F_MSN, {.lo = psn, .hi = psn}};
		line.term[2] = (struct cf_term){CF_F_RTX, {.lo = 1, .hi = 1}};
		line.term[3] = (struct cf_term){CF_W_AT, {.lo = 0, .hi = 0}};
		if (!sent_of(r, (uint64_t)psn, 0) || !sent_of(r, (uint64_t)psn, 0)->whole)
			cf_compose(r, &line);
	}
	r->qp.next_psn = (uint32_t)(r->psn + most + 1) & CF_PSN_MASK;
	for (size_t i = 0; i < r->n_sent; i++)
		if (cf_kind_is_data(r->sent[i].p.kind) && r->sent[i].whole &&
		    (uint32_t)r->sent[i].p.f[CF_F_MSN] + 1 > r->qp.next_msn)
			r->qp.next_msn = (uint32_t)r->sent[i].p.f[CF_F_MSN] + 1;
	for (unsigned i = 0; i < QUIET_TRIES && cf_hear(r, now(r) + QUIET_NS); i++)
		continue;
}

void cf_run_case(struct cf_run *r, const struct cf_case *c, struct cf_result *result)
{
	uint64_t began_ns = now(r);

	*result = (struct cf_result){.verdict = CF_PASS};
	r->c = c;
	r->result = result;
	if (begin(r, c)) {
		for (size_t i = 0; i < c->n_lines && !cf_failed(r);)
			i = play_line(r, i);
		if (!r->server)
			settle(r);
	}
	result->took_ns = now(r) - began_ns;
	r->result = NULL;
	r->c = NULL;
}

/* ---- is anybody there? ---- */

/* Says what came instead of an answer. */
static void say_absent(const struct cf_run *r, const struct cf_result *seen, char why[CF_WHY_MAX])
{
	if (seen->verdict == CF_FAIL)
		snprintf(why, CF_WHY_MAX, "%s", seen->why);
	else if (r->unknown || seen->got)
		snprintf(why, CF_WHY_MAX,
			 "%u packets came and none answers a reliability probe: the target is no "
			 "MRC "
			 "endpoint, or the QP is another's (%s)",
			 seen->got,
			 r->first_broken[CF_WATCH_LAYOUT][0] ? r->first_broken[CF_WATCH_LAYOUT]
							     : "they are for others");
	else
		snprintf(
			why, CF_WHY_MAX,
			"silence: no answer to a reliability probe for its QP, sent %u times to "
			"UDP "
			"port %u; is it in RTR, is its peer this address, does a firewall stop it?",
			FIND_TRIES, r->link->their_port);
}

/* A probe, and where the QP is the kit's alone an empty WRITE: one or the other is answered. */
static void call(struct cf_run *r, unsigned i)
{
	struct cf_packet p;

	cf_header(r, CF_PROBE, &p);
	p.f[CF_F_PROBE_ID] = i;
	cf_send(r, &p, NULL, false);
	if (!r->server)
		return;
	cf_header(r, CF_WRITE_ONLY, &p);
	p.f[CF_F_PSN] = r->psn;
	p.f[CF_F_ACKREQ] = 1;
	p.f[CF_F_VA] = r->qp.va;
	p.f[CF_F_RKEY] = r->qp.rkey;
	cf_send(r, &p, &(struct cf_sent){.whole = true}, false);
}

int cf_run_find(struct cf_run *r, char why[CF_WHY_MAX])
{
	struct cf_result seen = {.verdict = CF_PASS};
	char say[CF_SAY_MAX] = "";

	reset(r);
	r->psn = r->server ? ANY_PSN : r->qp.next_psn;
	if (r->server && open_qp(r, r->psn, UINT32_MAX, 1024, 14, say)) {
		snprintf(why, CF_WHY_MAX, "no QP: %s", say);
		return -1;
	}
	r->their_psn = r->qp.psn;
	r->result = &seen;
	for (unsigned i = 0; i < FIND_TRIES && r->n_got == 0 && !cf_failed(r); i++) {
		uint64_t until_ns = now(r) + r->patience_ns / FIND_TRIES;

		call(r, i);
		while (r->n_got == 0 && now(r) < until_ns && !cf_failed(r))
			cf_hear(r, until_ns);
	}
	if (r->n_got == 0)
		say_absent(r, &seen, why);
	r->result = NULL;
	return r->n_got ? 0 : -1;
}
