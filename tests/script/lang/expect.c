/* SPDX-License-Identifier: BSD-2-Clause */
/* expect.c - the clock, and the statement expect. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "script.h"

static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "ERR", NULL};
static const char *const ev_states[] = {"GOOD", "SKIP", "ASSUMED_BAD", "DENIED", NULL};
static const char *const causes[] = {"loss", "mark", "probe", "floor", "operator", NULL};
static const char *const statuses[] = {
	"success", "flushed", "invalid_request", "remote_access", "remote_op", "retry_exceeded",
	"fatal",   "length",  "protection",	 "rnr_exceeded",  NULL};

/* ---- what has come ---- */

static void print_event(const struct mt_event *e, char *out, size_t size)
{
	if (e->type == MT_EVENT_SEND)
		snprintf(out, size, "completion id %" PRIu64 " %s", e->wr_id, statuses[e->status]);
	else if (e->type == MT_EVENT_RECV && !e->imm_valid)
		snprintf(out, size, "receive id %" PRIu64 " %s len %" PRIu32, e->wr_id,
			 statuses[e->status], e->byte_len);
	else if (e->type == MT_EVENT_RECV)
		snprintf(out, size, "receive id %" PRIu64 " %s imm %" PRIu32 " len %" PRIu32 "%s",
			 e->wr_id, statuses[e->status], e->imm, e->byte_len,
			 e->solicited ? " se" : "");
	else if (e->type == MT_EVENT_QP)
		snprintf(out, size, "qp_error %s%s", statuses[e->status],
			 e->responder ? " by peer" : "");
	else if (e->type == MT_EVENT_SQ_DRAINED)
		snprintf(out, size, "drained");
	else if (e->type == MT_EVENT_PORT)
		snprintf(out, size, "port %u %s%s", e->ev.port, e->port_up ? "up" : "down",
			 e->port_of_peer ? " of peer" : "");
	else if (e->type == MT_EVENT_ENDPOINT && e->ep_status == MT_EP_ANSWERED)
		snprintf(out, size, "answer id %u rtt %" PRIu64 "ns%s", e->ep_id, e->rtt_ns,
			 e->svc_time_subtracted ? " net" : "");
	else if (e->type == MT_EVENT_ENDPOINT)
		snprintf(out, size, "no_answer id %u", e->ep_id);
	else
		snprintf(out, size, "event ev %" PRIu32 " %s by %s", e->ev.value,
			 ev_states[e->ev_state], mt_ev_cause_name(e->ev_cause));
}

#define SHOWN 8u

void script_print_came(const struct script *s, char *out, size_t size)
{
	const struct world *w = &s->world;
	size_t used = 0;
	char text[1024];

	for (unsigned i = 0; i < w->n_queue && i < SHOWN && used < size; i++) {
		packet_print(&w->queue[i].packet, text, sizeof(text));
		used += (size_t)snprintf(out + used, size - used, "%s  came:     > %s",
					 used ? "\n" : "", text);
	}
	for (unsigned i = 0; i < w->n_events && i < SHOWN && used < size; i++) {
		print_event(&w->events[i], text, sizeof(text));
		used += (size_t)snprintf(out + used, size - used, "%s  came:     %s",
					 used ? "\n" : "", text);
	}
	if (used == 0)
		snprintf(out, size, "  came:     nothing");
}

/* Events of EVs and ports tell of what packets show as well; they wait until they are asked for. */
void script_quiet(struct script *s, const char *why)
{
	struct world *w = &s->world;
	unsigned events = 0;
	char came[2048];

	world_purge(w);
	for (unsigned i = 0; i < w->n_events; i++)
		events += w->events[i].type != MT_EVENT_EV && w->events[i].type != MT_EVENT_PORT;
	if (w->n_queue + events == 0)
		return;
	script_print_came(s, came, sizeof(came));
	report_fail(&s->report, "%s, but nothing expected this:\n%s", why, came);
}

/* ---- the clock ---- */

void script_advance(struct script *s, uint64_t ns)
{
	struct world *w = &s->world;
	uint64_t until = w->now_ns + ns;
	char why[64], now[32];

	if (ns == 0)
		return;
	if (w->held)
		report_fail(&s->report, "time goes on between hold and go");
	script_quiet(s, "time goes on");
	while (world_step(w, until)) {
		if (w->now_ns == until)
			continue;
		words_print_time(w->now_ns, now, sizeof(now));
		snprintf(why, sizeof(why), "it is %s", now);
		script_quiet(s, why);
	}
}

bool script_wait(struct script *s, struct when when,
		 bool (*found)(struct script *s, const void *arg), const void *arg)
{
	uint64_t until = s->world.now_ns + when.high;

	script_advance(s, when.low);
	while (!found(s, arg)) {
		if (s->world.now_ns < until)
			script_quiet(s, "time goes on");
		else if (mt_engine_deadline(s->world.engine) > until)
			return false;
		world_step(&s->world, until);
	}
	return true;
}

/* ---- expect ---- */

uint32_t script_ev(struct script *s)
{
	const char *word;

	words_expect(&s->words, "ev");
	word = words_next(&s->words, "an EV");
	if (packet_is_name(word)) {
		uint32_t name = packet_name(&s->report, &s->names, word);

		if (!s->names.at[name].bound)
			report_fail(&s->report, "ev %s: nothing has had this name so far", word);
		return (uint32_t)s->names.at[name].value;
	}
	return (uint32_t)word_number(&s->report, "ev", word, UINT32_MAX);
}

static unsigned find_event(const struct world *w, uint8_t type)
{
	unsigned i = 0;

	while (i < w->n_events && w->events[i].type != type)
		i++;
	return i;
}

static bool event_came(struct script *s, const void *arg)
{
	const uint8_t *type = arg;

	return find_event(&s->world, *type) < s->world.n_events;
}

/* Waits for an event of this type; fails when there is none. */
static struct mt_event event_of(struct script *s, struct when when, uint8_t type)
{
	struct mt_event e;
	char came[2048];
	unsigned i;

	if (!script_wait(s, when, event_came, &type)) {
		script_print_came(s, came, sizeof(came));
		report_fail(&s->report, "this did not come\n  expected: %s\n%s", s->report.source,
			    came);
	}
	i = find_event(&s->world, type);
	e = s->world.events[i];
	world_take_event(&s->world, i);
	return e;
}

static void compare_event(struct script *s, const struct mt_event *e, bool equal)
{
	char text[256];

	if (equal)
		return;
	print_event(e, text, sizeof(text));
	report_fail(&s->report, "something else came\n  expected: %s\n  came:     %s",
		    s->report.source, text);
}

/* A number or a range of numbers. */
static void read_range(struct script *s, const char *what, uint64_t *first, uint64_t *last)
{
	char text[64];
	const char *word = words_next(&s->words, what);
	char *dots;

	snprintf(text, sizeof(text), "%s", word);
	dots = strstr(text, "..");
	if (dots)
		*dots = 0;
	*first = word_number(&s->report, what, text, UINT64_MAX);
	*last = dots ? word_number(&s->report, what, dots + 2, UINT64_MAX) : *first;
	if (*last < *first)
		report_fail(&s->report, "%s: the range ends before it begins", what);
}

static void expect_completion(struct script *s, struct when when)
{
	uint64_t id, last;
	unsigned status;

	words_expect(&s->words, "id");
	read_range(s, "id", &id, &last);
	status = words_choice(&s->words, "status", statuses);
	words_end(&s->words);
	for (; id <= last; id++) {
		struct mt_event e = event_of(s, when, MT_EVENT_SEND);

		compare_event(s, &e, e.wr_id == id && e.status == status);
		when = (struct when){0, 0};
	}
}

static void expect_receive(struct script *s, struct when when)
{
	struct words *w = &s->words;
	uint64_t id, last, imm = 0, len = 0;
	unsigned status;
	bool has_imm, has_len, se;

	words_expect(w, "id");
	read_range(s, "id", &id, &last);
	status = words_choice(w, "status", statuses);
	has_imm = words_accept(w, "imm");
	if (has_imm)
		imm = words_number(w, "imm", UINT32_MAX);
	has_len = words_accept(w, "len");
	if (has_len)
		len = words_number(w, "len", UINT32_MAX);
	se = words_accept(w, "se");
	words_end(w);
	for (; id <= last; id++) {
		struct mt_event e = event_of(s, when, MT_EVENT_RECV);

		compare_event(s, &e,
			      e.wr_id == id && e.status == status && (!has_imm || e.imm == imm) &&
				      (!has_len || e.byte_len == len) && e.solicited == se &&
				      e.imm_valid == (has_imm || (e.opcode == RD_WR_WRITE &&
								  status == RD_WC_SUCCESS)));
		when = (struct when){0, 0};
	}
}

static void expect_qp_error(struct script *s, struct when when)
{
	unsigned status = words_choice(&s->words, "status", statuses);
	bool by_peer = false;
	struct mt_event e;

	if (words_accept(&s->words, "by")) {
		words_expect(&s->words, "peer");
		by_peer = true;
	}
	words_end(&s->words);
	e = event_of(s, when, MT_EVENT_QP);
	compare_event(s, &e, e.status == status && e.responder == by_peer);
}

static void expect_drained(struct script *s, struct when when)
{
	words_end(&s->words);
	event_of(s, when, MT_EVENT_SQ_DRAINED);
}

static void expect_ev_event(struct script *s, struct when when)
{
	uint32_t ev = script_ev(s);
	unsigned state = words_choice(&s->words, "state", ev_states), cause = MT_EV_CAUSES;
	struct mt_event e;

	if (words_accept(&s->words, "by"))
		cause = words_choice(&s->words, "cause", causes);
	words_end(&s->words);
	e = event_of(s, when, MT_EVENT_EV);
	compare_event(s, &e,
		      e.ev.value == ev && e.ev_state == state &&
			      (cause == MT_EV_CAUSES || e.ev_cause == cause));
}

static void expect_port(struct script *s, struct when when)
{
	static const char *const ups[] = {"down", "up", NULL};
	uint64_t port = words_number(&s->words, "port", MT_PORTS_MAX - 1);
	bool up = words_choice(&s->words, "port", ups), of_peer = words_accept(&s->words, "of");
	struct mt_event e;

	if (of_peer)
		words_expect(&s->words, "peer");
	words_end(&s->words);
	e = event_of(s, when, MT_EVENT_PORT);
	compare_event(s, &e, e.ev.port == port && e.port_up == up && e.port_of_peer == of_peer);
}

static void expect_answer(struct script *s, struct when when)
{
	uint64_t id, rtt;
	bool net;
	struct mt_event e;

	words_expect(&s->words, "id");
	id = words_number(&s->words, "id", UINT16_MAX);
	words_expect(&s->words, "rtt");
	rtt = words_time(&s->words, "rtt");
	net = words_accept(&s->words, "net");
	words_end(&s->words);
	e = event_of(s, when, MT_EVENT_ENDPOINT);
	compare_event(s, &e,
		      e.ep_id == id && e.ep_status == MT_EP_ANSWERED && e.rtt_ns == rtt &&
			      e.svc_time_subtracted == net);
}

static void expect_no_answer(struct script *s, struct when when)
{
	uint64_t id;
	struct mt_event e;

	words_expect(&s->words, "id");
	id = words_number(&s->words, "id", UINT16_MAX);
	words_end(&s->words);
	e = event_of(s, when, MT_EVENT_ENDPOINT);
	compare_event(s, &e, e.ep_id == id && e.ep_status == MT_EP_TIMED_OUT);
}

static void expect_ev(struct script *s)
{
	struct mt_ev_info info;
	uint32_t ev;
	unsigned state;

	s->words.at--; /* script_ev reads the word ev itself */
	ev = script_ev(s);
	state = words_choice(&s->words, "state", ev_states);
	words_end(&s->words);
	if (!mt_qp_ev_info(s->world.qp, ev, &info))
		report_fail(&s->report, "the QP has no ev %" PRIu32, ev);
	if (info.state != state)
		report_fail(&s->report, "ev %" PRIu32 " is %s, expected %s", ev,
			    ev_states[info.state], ev_states[state]);
}

static void expect_state(struct script *s)
{
	unsigned state = words_choice(&s->words, "state", states);
	struct rd_qp_attr attr;

	words_end(&s->words);
	mt_qp_query(s->world.qp, &attr);
	if (attr.state != state)
		report_fail(&s->report, "the QP is in %s, expected %s", states[attr.state],
			    states[state]);
}

static void compare_number(struct script *s, const char *name, uint64_t got)
{
	uint64_t low, high;

	read_range(s, name, &low, &high);
	words_end(&s->words);
	if (got < low || got > high)
		report_fail(&s->report, "%s is %" PRIu64 "\n  expected: %s", name, got,
			    s->report.source);
}

static void expect_stat(struct script *s)
{
	static const char *const names[] = {
#define NAME(name, text) #name,
		MT_STATS(NAME)
#undef NAME
			NULL};
	unsigned i = words_choice(&s->words, "counter", names);
	struct mt_stats stats;
	uint64_t got;

	mt_engine_stats(s->world.engine, &stats);
	memcpy(&got, (uint8_t *)&stats + i * sizeof(got), sizeof(got));
	compare_number(s, names[i], got);
}

static void expect_info(struct script *s)
{
	static const char *const names[] = {"cwnd_bytes", "inflight_bytes", "srtt_ns", "evs_good",
					    "evs_bad",	  "lost_pending",   NULL};
	unsigned i = words_choice(&s->words, "info", names);
	struct mt_qp_info info;

	mt_qp_info(s->world.qp, &info);
	const uint64_t values[] = {info.cwnd_bytes, (uint64_t)info.inflight_bytes,
				   info.srtt_ns,    info.evs_good,
				   info.evs_bad,    info.lost_pending};
	compare_number(s, names[i], values[i]);
}

static void expect_placed(struct script *s)
{
	struct world *w = &s->world;
	uint64_t len, at;

	if (words_accept(&s->words, "nothing")) {
		words_end(&s->words);
		if (w->n_placed > 0)
			report_fail(&s->report, "%" PRIu32 " bytes were placed at %" PRIu64,
				    w->placed[0].len, w->placed[0].at);
		return;
	}
	len = words_number(&s->words, "bytes", UINT32_MAX);
	words_expect(&s->words, "at");
	at = words_number(&s->words, "at", UINT64_MAX);
	words_end(&s->words);
	if (w->n_placed == 0)
		report_fail(&s->report, "nothing was placed");
	if (w->placed[0].len != len || w->placed[0].at != at)
		report_fail(&s->report, "%" PRIu32 " bytes were placed at %" PRIu64,
			    w->placed[0].len, w->placed[0].at);
	memmove(w->placed, w->placed + 1, --w->n_placed * sizeof(*w->placed));
}

static void expect_nothing(struct script *s)
{
	uint64_t ns = 0;

	if (words_accept(&s->words, "for"))
		ns = words_time(&s->words, "time");
	words_end(&s->words);
	script_quiet(s, "nothing should come");
	script_advance(s, ns);
	script_quiet(s, "nothing should come");
}

static void expect_no_event(struct script *s)
{
	char text[256];

	words_end(&s->words);
	if (s->world.n_events == 0)
		return;
	print_event(&s->world.events[0], text, sizeof(text));
	report_fail(&s->report, "an event came: %s", text);
}

/* Of what is asked about this moment. */
static void expect_now(struct script *s, unsigned what)
{
	static void (*const handlers[])(struct script *) = {
		expect_nothing, expect_ev,     expect_state,	expect_stat,
		expect_info,	expect_placed, expect_no_event,
	};

	handlers[what](s);
}

void statement_expect(struct script *s, struct when when)
{
	static const char *const things[] = {"completion", "receive", "qp_error", "drained",
					     "event",	   "port",    "answer",	  "no_answer",
					     "nothing",	   "ev",      "state",	  "stat",
					     "info",	   "placed",  "no_event", NULL};
	static void (*const waiting[])(struct script *, struct when) = {
		expect_completion, expect_receive, expect_qp_error, expect_drained,
		expect_ev_event,   expect_port,	   expect_answer,   expect_no_answer};
	unsigned what = words_choice(&s->words, "expectation", things);

	s->checked = true;
	if (what < sizeof(waiting) / sizeof(*waiting)) {
		waiting[what](s, when);
		return;
	}
	if (when.low != when.high)
		report_fail(&s->report, "a span of time does not go with '%s'", things[what]);
	script_advance(s, when.low);
	expect_now(s, what - (unsigned)(sizeof(waiting) / sizeof(*waiting)));
}
