/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_htsim_cm.c - connections go to the list as they are read, and who fires or awaits which
 * trigger to a list of their own; when all is read, each trigger becomes needs of the flows that
 * wait for it.
 *
 * Triggers and who fires them are matched by sorting, so that a file of a million lines takes its
 * length times its logarithm.
 */
#include "sim/import/flow_files.h"

#include "base/suggest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PS_OF_NS 1000u

enum cm_kind { CM_ONESHOT, CM_MULTISHOT, CM_BARRIER };

struct cm_trigger {
	uint32_t id, line;
	enum cm_kind kind;
	uint64_t count;
};

/* Flow `flow` fires trigger `id` at its `end`, or waits for it. */
struct cm_tie {
	uint32_t id, flow, line;
	enum ms_end end;
};

struct cm_ties {
	MS_GROW(struct cm_tie) list;
};

struct cm_reader {
	struct ms_cm *cm;
	struct ms_words words;
	uint64_t nodes, connections, triggers, failures; /* announced in the header */
	bool body;					 /* the header is over */
	MS_GROW(struct cm_trigger) trigger;
	struct cm_ties fires, waits;
};

/* cm_number takes word i, the value of `what`, as a number. */
static bool cm_number(struct cm_reader *r, const char *what, uint32_t i, uint64_t min, uint64_t max,
		      uint64_t *out)
{
	char text[MS_WORD_BYTES];

	if (i < r->words.n && ms_word_u64(&r->words.word[i], min, max, out))
		return true;
	return ms_words_refuse(&r->words, "%s %s: expected a number from %" PRIu64 " to %" PRIu64,
			       what, ms_words_copy(&r->words, i, text), min, max);
}

static bool cm_unknown(struct cm_reader *r, const struct ms_word *word, const char *const *known,
		       size_t n)
{
	char text[MS_WORD_BYTES];
	const char *near = mb_suggest_find(ms_word_copy(word, text), known, n);

	return ms_words_refuse(&r->words, "%s: unexpected word; %s%s?", text,
			       near ? "did you mean " : "is this a connection matrix",
			       near ? near : "");
}

/* ---- the header ---- */

static const char *const cm_heads[] = {"Nodes",	   "Connections", "Triggers",
				       "Failures", "trigger",	  "failure"};

static bool cm_header(struct cm_reader *r)
{
	uint64_t *const to[] = {&r->nodes, &r->connections, &r->triggers, &r->failures};
	static const uint64_t max[] = {1u << 24, MS_LIST_MAX, MS_LIST_MAX, MS_CM_FAILURES_MAX};
	size_t k = ms_word_find(&r->words.word[0], cm_heads, MS_COUNT(to));

	if (k == MS_COUNT(to))
		return cm_unknown(r, &r->words.word[0], cm_heads, MS_COUNT(cm_heads));
	if (!cm_number(r, cm_heads[k], 1, k == 0 ? 2 : 0, max[k], to[k]))
		return false;
	r->cm->nodes = (uint32_t)r->nodes;
	return true;
}

/* ---- a connection ---- */

struct cm_flow {
	struct ms_list_flow flow;
	bool start, size;
	uint64_t trigger, send_done, recv_done; /* 0: none */
};

/* cm_hosts takes "2->11". */
static bool cm_hosts(struct cm_reader *r, struct ms_list_flow *flow)
{
	const struct ms_word *word = &r->words.word[0];
	struct ms_word end[2] = {*word, *word};
	uint64_t host[2] = {0, 0};
	char text[MS_WORD_BYTES];

	for (size_t i = 0; i + 1 < word->len; i++)
		if (word->at[i] == '-' && word->at[i + 1] == '>') {
			end[0].len = i;
			end[1] = (struct ms_word){word->at + i + 2, word->len - i - 2};
			break;
		}
	for (int i = 0; i < 2; i++)
		if (!ms_word_u64(&end[i], 0, r->cm->nodes - 1, &host[i]))
			return ms_words_refuse(&r->words,
					       "%s: expected SRC->DST, both from 0 to %u",
					       ms_word_copy(word, text), r->cm->nodes - 1);
	if (host[0] == host[1])
		return ms_words_refuse(&r->words,
				       "%s: a host sends to itself; expected two different ones",
				       ms_word_copy(word, text));
	flow->src = (uint32_t)host[0];
	flow->dst = (uint32_t)host[1];
	return true;
}

/* cm_start takes a start in picoseconds, which may have a fraction that means nothing. */
static bool cm_start(struct cm_reader *r, uint32_t i, struct cm_flow *f)
{
	char text[MS_WORD_BYTES];
	uint64_t ps;

	f->start = i < r->words.n && ms_word_parts(&r->words.word[i], 0, &ps) &&
		   ps <= MS_LIST_START_MAX_NS * PS_OF_NS;
	if (!f->start)
		return ms_words_refuse(&r->words, "start %s: expected picoseconds, at most a day",
				       ms_words_copy(&r->words, i, text));
	f->flow.start_ns = (ps + PS_OF_NS / 2) / PS_OF_NS;
	return true;
}

/* cm_word takes word *i of a connection and its value. */
static bool cm_word(struct cm_reader *r, uint32_t *i, struct cm_flow *f)
{
	enum { START, SIZE, MSG = 3 };
	static const char *const known[] = {"start",
					    "size",
					    "id",
					    "msg",
					    "prio",
					    "trigger",
					    "send_done_trigger",
					    "recv_done_trigger"};
	static const uint64_t min[] = {0, 0, 1, 1, 0, 1, 1, 1};
	uint64_t unused, *const to[] = {NULL,	 &f->flow.bytes, &unused,	&unused,
					&unused, &f->trigger,	 &f->send_done, &f->recv_done};
	const struct ms_word *word = &r->words.word[*i];
	size_t k = ms_word_find(word, known, MS_COUNT(known));

	if (k == MS_COUNT(known))
		return cm_unknown(r, word, known, MS_COUNT(known));
	++*i;
	if (k == START)
		return cm_start(r, *i, f);
	if (k == MSG) { /* its number may be left out */
		*i -= *i == r->words.n || !ms_word_u64(&r->words.word[*i], 1, UINT32_MAX, &unused);
		return true;
	}
	f->size = f->size || k == SIZE;
	return cm_number(r, known[k], *i, min[k], k == SIZE ? MS_LIST_BYTES_MAX : UINT32_MAX,
			 to[k]);
}

static bool cm_tie(struct cm_reader *r, struct cm_ties *l, uint64_t id, enum ms_end end)
{
	const struct cm_tie tie = {(uint32_t)id, r->cm->flows.n - 1, r->words.line, end};

	return id == 0 || ms_grow_add(&l->list, &tie) ||
	       ms_file_set_no_memory(r->words.error, r->words.file);
}

static bool cm_connection(struct cm_reader *r)
{
	struct cm_flow f = {0};

	if (!cm_hosts(r, &f.flow))
		return false;
	for (uint32_t i = 1; i < r->words.n; i++)
		if (!cm_word(r, &i, &f))
			return false;
	if (f.start == (f.trigger != 0))
		return ms_words_refuse(&r->words,
				       "%u->%u: has %s; expected `start PS` or `trigger ID`",
				       f.flow.src, f.flow.dst,
				       f.start ? "both a start and a trigger" : "no start");
	if (!f.size)
		return ms_words_refuse(&r->words, "%u->%u: has no size; expected `size BYTES`",
				       f.flow.src, f.flow.dst);
	if (!ms_flow_list_add(&r->cm->flows, &f.flow))
		return ms_file_set_no_memory(r->words.error, r->words.file);
	return cm_tie(r, &r->waits, f.trigger, MS_SENT) &&
	       cm_tie(r, &r->fires, f.send_done, MS_SENT) &&
	       cm_tie(r, &r->fires, f.recv_done, MS_RECEIVED);
}

/* ---- trigger and failure lines ---- */

static bool cm_trigger(struct cm_reader *r)
{
	static const char *const known[] = {"id", "count", "oneshot", "multishot", "barrier"};
	struct cm_trigger *t = ms_grow_place(&r->trigger);
	bool kind_known = false;
	uint64_t id = 0;

	if (!t)
		return ms_file_set_no_memory(r->words.error, r->words.file);
	*t = (struct cm_trigger){.line = r->words.line, .count = 1};
	for (uint32_t i = 1; i < r->words.n; i++) {
		size_t k = ms_word_find(&r->words.word[i], known, MS_COUNT(known));

		if (k == MS_COUNT(known))
			return cm_unknown(r, &r->words.word[i], known, MS_COUNT(known));
		if (k == 0 && !cm_number(r, "id", ++i, 1, UINT32_MAX, &id))
			return false;
		if (k == 1 && !cm_number(r, "count", ++i, 1, MS_LIST_MAX, &t->count))
			return false;
		if (k >= 2) {
			t->kind = (enum cm_kind)(k - 2);
			kind_known = true;
		}
	}
	t->id = (uint32_t)id;
	if (id > 0 && kind_known)
		return true;
	return ms_words_refuse(
		&r->words,
		"trigger: has no %s; expected trigger id ID oneshot, barrier or multishot",
		id > 0 ? "kind" : "id");
}

static bool cm_failure(struct cm_reader *r)
{
	static const char *const known[] = {"switch_type", "switch_id", "link_id"};
	uint64_t value[3] = {0, UINT64_MAX, UINT64_MAX};
	char text[MS_WORD_BYTES];

	for (uint32_t i = 1; i < r->words.n; i++) {
		size_t k = ms_word_find(&r->words.word[i], known, MS_COUNT(known));

		if (k == MS_COUNT(known))
			return cm_unknown(r, &r->words.word[i], known, MS_COUNT(known));
		i++;
		if (k > 0 && !cm_number(r, known[k], i, 0, UINT32_MAX - 1, &value[k]))
			return false;
		if (k == 0 && i < r->words.n)
			value[0] = ms_word_is(&r->words.word[i], "AGG");
		if (k == 0 && !value[0])
			return ms_words_refuse(&r->words,
					       "switch_type %s: expected AGG; only links above T1s "
					       "fail in a matrix",
					       ms_words_copy(&r->words, i, text));
	}
	if (!value[0] || value[1] == UINT64_MAX || value[2] == UINT64_MAX)
		return ms_words_refuse(&r->words,
				       "failure: expected switch_type AGG switch_id ID link_id ID");
	if (r->cm->n_failures == MS_CM_FAILURES_MAX)
		return ms_words_refuse(&r->words, "failure: expected at most %u of them",
				       MS_CM_FAILURES_MAX);
	r->cm->failure[r->cm->n_failures++] =
		(struct ms_cm_failure){(uint32_t)value[1], (uint32_t)value[2], r->words.line};
	return true;
}

/* ---- triggers become needs ---- */

static int by_id(const void *a, const void *b)
{
	const struct cm_trigger *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_tie(const void *a, const void *b)
{
	const struct cm_tie *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

/* cm_first returns the number of the first tie with an id of this or more. */
static uint32_t cm_first(const struct cm_ties *l, uint32_t id)
{
	const struct cm_tie *tie = l->list.at;
	uint32_t low = 0, high = (uint32_t)l->list.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tie[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t cm_fired_by(const struct cm_reader *r, uint32_t id)
{
	uint32_t first = cm_first(&r->fires, id), n = 0;
	const struct cm_tie *tie = r->fires.list.at;

	while (first + n < r->fires.list.n && tie[first + n].id == id)
		n++;
	return n;
}

/* cm_check_trigger refuses what would not fire, or not at a time that the file says. */
static bool cm_check_trigger(struct cm_reader *r, const struct cm_trigger *t, uint32_t waiting)
{
	uint32_t fired = cm_fired_by(r, t->id);

	if (t->kind == CM_MULTISHOT && (fired > 1 || waiting > 1))
		return ms_file_set_error(
			r->words.error, r->words.file, t->line,
			"trigger id %u multishot: which flow it starts depends on which "
			"ends first; expected oneshot or barrier",
			t->id);
	if (t->kind == CM_BARRIER && fired == t->count)
		return true;
	if (t->kind != CM_BARRIER && fired == 1)
		return true;
	return ms_file_set_error(r->words.error, r->words.file, t->line,
				 "trigger id %u: %u flows fire it; expected %" PRIu64
				 ", or the flows that wait for it never begin",
				 t->id, fired, t->kind == CM_BARRIER ? t->count : 1);
}

/* cm_host_of returns the host at which a trigger is fired. */
static uint32_t cm_host_of(const struct cm_reader *r, const struct cm_tie *fires)
{
	const struct ms_list_flow *f = &r->cm->flows.flow[fires->flow];

	return fires->end == MS_SENT ? f->src : f->dst;
}

/* cm_relay adds an empty flow that brings the news from the host where a trigger is fired. */
static bool cm_relay(struct cm_reader *r, const struct cm_tie *fires, const struct cm_tie *wait)
{
	struct ms_flow_list *l = &r->cm->flows;
	const struct ms_list_flow relay = {.src = cm_host_of(r, fires),
					   .dst = l->flow[wait->flow].src};

	if (l->n < MS_LIST_MAX && ms_flow_list_add(l, &relay) &&
	    ms_flow_list_add_dependency(l, l->n - 1, fires->flow, fires->end))
		return true;
	return ms_file_set_error(
		r->words.error, r->words.file, wait->line,
		"trigger %u: brings more than %u flows, or more than there is memory for", wait->id,
		MS_LIST_MAX);
}

/*
 * cm_needs gives the flow of `wait` a need for each flow that fires its trigger. First, with relay
 * NULL, it only adds the flows that bring news from other hosts: the needs of a flow stand
 * together, so those of a relay cannot come in between. Then *relay is the first of them not used
 * yet.
 */
static bool cm_needs(struct cm_reader *r, const struct cm_tie *wait, uint32_t *relay)
{
	struct ms_flow_list *l = &r->cm->flows;
	const struct cm_tie *tie = r->fires.list.at;

	for (uint32_t i = cm_first(&r->fires, wait->id);
	     i < r->fires.list.n && tie[i].id == wait->id; i++) {
		bool far = cm_host_of(r, &tie[i]) != l->flow[wait->flow].src;

		if (!relay && far && !cm_relay(r, &tie[i], wait))
			return false;
		if (relay &&
		    !ms_flow_list_add_dependency(l, wait->flow, far ? (*relay)++ : tie[i].flow,
						 far ? MS_RECEIVED : tie[i].end))
			return ms_file_set_no_memory(r->words.error, r->words.file);
	}
	return true;
}

/* cm_find_trigger returns the trigger of a number, or NULL. */
static const struct cm_trigger *cm_find_trigger(const struct cm_reader *r, uint32_t id)
{
	struct cm_trigger key = {.id = id};

	return r->trigger.n == 0 ? NULL
				 : bsearch(&key, r->trigger.at, r->trigger.n, sizeof(key), by_id);
}

/* cm_known refuses a tie to a trigger that no line describes. */
static bool cm_known(struct cm_reader *r, const struct cm_ties *l)
{
	const struct cm_tie *tie = l->list.at;

	for (size_t i = 0; i < l->list.n; i++)
		if (!cm_find_trigger(r, tie[i].id))
			return ms_file_set_error(
				r->words.error, r->words.file, tie[i].line,
				"trigger %u: is not described; expected a line `trigger "
				"id %u oneshot`",
				tie[i].id, tie[i].id);
	return true;
}

static void cm_sort(struct cm_ties *l)
{
	if (l->list.n > 1)
		qsort(l->list.at, l->list.n, sizeof(*l->list.at), by_tie);
}

static bool cm_check_triggers(struct cm_reader *r)
{
	const struct cm_trigger *t = r->trigger.at;
	struct cm_ties sorted = {{NULL, 0, 0}};
	bool ok = true;

	/* Who waits is needed in the order of flows later, and by trigger now. */
	for (size_t i = 0; i < r->waits.list.n; i++)
		ok = ok && ms_grow_add(&sorted.list, &r->waits.list.at[i]);
	if (!ok)
		ms_file_set_no_memory(r->words.error, r->words.file);
	cm_sort(&sorted);
	for (uint32_t i = 0; ok && i < r->trigger.n; i++) {
		uint32_t first = cm_first(&sorted, t[i].id);
		uint32_t next = t[i].id == UINT32_MAX ? (uint32_t)sorted.list.n
						      : cm_first(&sorted, t[i].id + 1);

		if (i > 0 && t[i].id == t[i - 1].id)
			ok = ms_file_set_error(r->words.error, r->words.file, t[i].line,
					       "trigger id %u: was described before, in line %u",
					       t[i].id, t[i - 1].line);
		else if (next > first)
			ok = cm_check_trigger(r, &t[i], next - first);
	}
	ms_grow_free(&sorted.list);
	return ok;
}

static bool cm_resolve(struct cm_reader *r)
{
	const struct cm_tie *wait = r->waits.list.at;
	uint32_t relay = r->cm->flows.n;

	if (r->trigger.n > 1)
		qsort(r->trigger.at, r->trigger.n, sizeof(*r->trigger.at), by_id);
	cm_sort(&r->fires);
	if (!cm_known(r, &r->waits) || !cm_known(r, &r->fires) || !cm_check_triggers(r))
		return false;
	for (size_t i = 0; i < r->waits.list.n; i++)
		if (!cm_needs(r, &wait[i], NULL))
			return false;
	for (size_t i = 0; i < r->waits.list.n; i++)
		if (!cm_needs(r, &wait[i], &relay))
			return false;
	return true;
}

/* ---- the file ---- */

static bool cm_line(struct cm_reader *r)
{
	const struct ms_word *word = &r->words.word[0];
	bool arrow = false;

	if (r->words.n > MS_WORDS_MAX)
		return ms_words_refuse(&r->words, "expected at most %u words in a line",
				       MS_WORDS_MAX);
	for (size_t i = 0; i + 1 < word->len; i++)
		arrow = arrow || (word->at[i] == '-' && word->at[i + 1] == '>');
	r->body = r->body || arrow || ms_word_is(word, "trigger") || ms_word_is(word, "failure");
	if (!r->body)
		return cm_header(r);
	if (r->cm->nodes == 0)
		return ms_words_refuse(&r->words, "expected `Nodes N` before the first connection");
	if (arrow)
		return cm_connection(r);
	if (ms_word_is(word, "trigger"))
		return cm_trigger(r);
	if (ms_word_is(word, "failure"))
		return cm_failure(r);
	return cm_unknown(r, word, cm_heads, MS_COUNT(cm_heads));
}

static bool cm_announced(struct cm_reader *r, const char *what, uint64_t announced, uint32_t n)
{
	if (announced == n)
		return true;
	return ms_file_set_error(r->words.error, r->words.file, 0,
				 "%s %" PRIu64 ": the file has %u; expected as many as announced",
				 what, announced, n);
}

static bool cm_whole(struct cm_reader *r)
{
	while (ms_words_next(&r->words))
		if (!cm_line(r))
			return false;
	if (r->cm->nodes == 0)
		return ms_file_set_error(r->words.error, r->words.file, 0,
					 "has no line `Nodes N`; is this a connection matrix?");
	return cm_announced(r, "Connections", r->connections, r->cm->flows.n) &&
	       cm_announced(r, "Triggers", r->triggers, (uint32_t)r->trigger.n) &&
	       cm_announced(r, "Failures", r->failures, r->cm->n_failures) && cm_resolve(r);
}

bool ms_cm_read(struct ms_cm *cm, const char *file, const char *text, struct ms_file_error *error)
{
	struct cm_reader r = {.cm = cm};
	bool ok;

	memset(cm, 0, sizeof(*cm));
	ms_words_init(&r.words, file, text, ' ', error);
	ok = cm_whole(&r);
	ms_grow_free(&r.trigger);
	ms_grow_free(&r.fires.list);
	ms_grow_free(&r.waits.list);
	if (!ok)
		ms_cm_fini(cm);
	return ok;
}

void ms_cm_fini(struct ms_cm *cm)
{
	ms_flow_list_fini(&cm->flows);
	memset(cm, 0, sizeof(*cm));
}
