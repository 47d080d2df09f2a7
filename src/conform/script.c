/* SPDX-License-Identifier: BSD-2-Clause */
/* script.c - see script.h: a line is cut at blanks, its first word says what it is. */
#include "conform/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 40u
#define BLANKS " \t\r"
#define SPAN_MAX 2048u

struct reader {
	struct cf_book *book;
	const char *file;
	unsigned number;
	struct cf_case *at; /* NULL: before the first case */
	char *word[WORDS_MAX];
	size_t n;
	char *error;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void refuse(struct reader *r, const char *format, ...)
{
	va_list args;
	int n;

	if (r->failed)
		return;
	r->failed = true;
	n = snprintf(r->error, CF_ERROR_MAX, "%s:%u: ", r->file, r->number);
	va_start(args, format);
	vsnprintf(r->error + n, CF_ERROR_MAX - (size_t)n, format, args);
	va_end(args);
}

static const char *const word_names[] = {
	[CF_W_EV - CF_W_FIRST] = "ev",	     [CF_W_AT - CF_W_FIRST] = "at",
	[CF_W_COPY - CF_W_FIRST] = "copy",   [CF_W_TRIGGER - CF_W_FIRST] = "trigger",
	[CF_W_SET - CF_W_FIRST] = "set",     [CF_W_CLEAR - CF_W_FIRST] = "clear",
	[CF_W_TRIM - CF_W_FIRST] = "trim",   [CF_W_BADCRC - CF_W_FIRST] = "badcrc",
	[CF_W_NOTS - CF_W_FIRST] = "nots",   [CF_W_CE - CF_W_FIRST] = "ce",
	[CF_W_CLASS - CF_W_FIRST] = "class",
};

const char *cf_word_name(unsigned word)
{
	return word < CF_FIELD_COUNT ? cf_field_name((enum cf_field)word)
				     : word_names[word - CF_W_FIRST];
}

/* ---- words ---- */

static bool is(const char *word, const char *name)
{
	return word && strcmp(word, name) == 0;
}

static const char *at(const struct reader *r, size_t i)
{
	return i < r->n ? r->word[i] : NULL;
}

/* Reads a number up to `end`; false: it is none. */
static bool read_number(const char *text, const char **end, int64_t *value)
{
	char *stop;

	errno = 0;
	*value = (int64_t)strtoll(text, &stop, 0);
	*end = stop;
	return stop != text && errno == 0;
}

static uint64_t number_at(struct reader *r, size_t i, int64_t most)
{
	const char *text = at(r, i), *end = text;
	int64_t value = 0;

	if (!text || !read_number(text, &end, &value) || *end || value < 0 || value > most)
		refuse(r, "%s: want a number from 0 to %lld", text ? text : "(nothing)",
		       (long long)most);
	return (uint64_t)value;
}

static uint64_t read_time(struct reader *r, const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} unit[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const char *end = text ? text : "";
	int64_t value = 0;

	if (text && read_number(text, &end, &value) && value >= 0 && value < 100000000)
		for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
			if (is(end, unit[i].name))
				return (uint64_t)value * unit[i].ns;
	refuse(r, "%s: want a time, as 20ms: us, ms or s", text ? text : "(nothing)");
	return 0;
}

/* ---- packets ---- */

/* Kinds have up to three words; returns how many, 0: none was found. */
static size_t read_kind(struct reader *r, size_t i, enum cf_kind *kind)
{
	for (unsigned k = 0; k < CF_KIND_COUNT; k++) {
		char name[24];
		size_t words = 0;
		bool same = true;

		snprintf(name, sizeof(name), "%s", cf_kind_name((enum cf_kind)k));
		for (char *save, *part = strtok_r(name, " ", &save); part;
		     part = strtok_r(NULL, " ", &save))
			same = is(at(r, i + words++), part) && same;
		if (same) {
			*kind = (enum cf_kind)k;
			return words;
		}
	}
	refuse(r, "%s: want a packet, as WRITE ONLY, SACK, NACK, ACK, PROBE or EP_REQUEST",
	       at(r, i) ? at(r, i) : "(nothing)");
	return 0;
}

static bool find_word(const char *text, enum cf_kind kind, unsigned *word)
{
	for (unsigned w = 0; w < CF_WORDS; w++)
		if (is(text, cf_word_name(w)) &&
		    (w >= CF_W_FIRST || cf_kind_has(kind, (enum cf_field)w))) {
			*word = w;
			return true;
		}
	return false;
}

static bool is_flag(unsigned word)
{
	static const unsigned flags[] = {CF_F_SE,     CF_F_MIG,	 CF_F_ACKREQ, CF_F_RTX,	   CF_F_PR,
					 CF_W_BADCRC, CF_W_NOTS, CF_W_CE,     CF_F_RESTORE};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i] == word)
			return true;
	return false;
}

static bool read_names(const char *text, int64_t *value)
{
	static const struct {
		const char *name;
		int64_t value;
	} names[] = {
		{"midpath", 1},	 {"lasthop", 2},     {"skip_once", 1}, {"none", 0},
		{"no_trim", 0},	 {"data", 1},	     {"retx", 2},      {"control", 5},
		{"ev_probe", 1}, {"port_status", 0},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is(text, names[i].name)) {
			*value = names[i].value;
			return true;
		}
	return false;
}

static void read_value(struct reader *r, const char *text, struct cf_value *v)
{
	const char *end = text;

	*v = (struct cf_value){.kind = CF_NUMBER};
	v->other = text && *text == '!';
	text += v->other;
	if (is(text, "echo")) {
		v->kind = CF_ECHO;
	} else if (text && *text >= 'A' && *text <= 'Z' && text[1] == '\0') {
		v->kind = CF_LETTER;
		v->letter = *text;
	} else if (text && read_names(text, &v->lo)) {
		v->hi = v->lo;
	} else if (text && read_number(text, &end, &v->lo)) {
		v->hi = v->lo;
		if (end[0] == '.' && end[1] == '.')
			read_number(end + 2, &end, &v->hi);
		if (*end || v->hi < v->lo)
			refuse(r, "%s: want a number or a span, as 1..3", text);
	} else {
		refuse(r, "%s: want a number, a span as 1..3, echo, or a capital letter",
		       text ? text : "(nothing)");
	}
}

static void check_limits(struct reader *r, const char *text, const struct cf_line *line,
			 const struct cf_term *t)
{
	int64_t least, most;

	cf_word_limits(line->packet, t->word, line->kind == CF_SEND, &least, &most);
	if (t->value.lo < least || t->value.hi > most)
		refuse(r, "%s %s: want %" PRId64 " to %" PRId64, cf_word_name(t->word), text, least,
		       most);
}

/* Reads "!rtx", "rtx", "psn 3"; returns the words used. */
static size_t read_term(struct reader *r, size_t i, struct cf_line *line)
{
	const char *text = at(r, i);
	bool no = *text == '!';
	struct cf_term *t = &line->term[line->n_terms];

	if (line->n_terms == CF_TERMS_MAX || !find_word(text + no, line->packet, &t->word)) {
		refuse(r, "%s: %s has no such word, or there are more than %u", text,
		       cf_kind_name(line->packet), CF_TERMS_MAX);
		return 1;
	}
	line->n_terms++;
	if (is_flag(t->word)) {
		t->value = (struct cf_value){.kind = CF_NUMBER, .lo = !no, .hi = !no};
		return 1;
	}
	if (!at(r, i + 1)) {
		refuse(r, "%s: its value is missing", text);
		return 1;
	}
	read_value(r, at(r, i + 1), &t->value);
	if (t->value.kind == CF_NUMBER)
		check_limits(r, at(r, i + 1), line, t);
	/* Spans are packets where the kit sends, and bits of a bitmap. */
	if (!r->failed && (line->kind == CF_SEND || t->word == CF_W_SET || t->word == CF_W_CLEAR) &&
	    t->value.hi - t->value.lo >= SPAN_MAX)
		refuse(r, "%s: want at most %u numbers", at(r, i + 1), SPAN_MAX);
	return 2;
}

static void read_packet(struct reader *r, size_t i, struct cf_line *line)
{
	i += read_kind(r, i, &line->packet);
	while (i < r->n && !r->failed) {
		if (is(at(r, i), "for")) {
			line->for_ns = read_time(r, at(r, i + 1));
			i += 2;
		} else {
			i += read_term(r, i, line);
		}
	}
	if (line->kind == CF_NEVER && line->for_ns == 0)
		refuse(r, "never: its time is missing, as: for 20ms");
}

/* ---- other lines ---- */

static void read_post(struct reader *r, struct cf_line *line)
{
	if (is(at(r, 1), "recv")) {
		line->kind = CF_POST_RECV;
		line->value = number_at(r, 2, 64);
	} else if (is(at(r, 1), "write") && is(at(r, 3), "bytes")) {
		line->kind = CF_POST_WRITE;
		line->value = number_at(r, 2, 1 << 20);
		line->has_imm = is(at(r, 4), "imm");
		if (line->has_imm)
			line->imm = number_at(r, 5, UINT32_MAX);
		line->times = is(at(r, 6), "times") ? (uint32_t)number_at(r, 7, 64) : 1;
	} else {
		refuse(r, "post: want write N bytes [imm N [times N]], or recv N");
	}
}

static void read_placed(struct reader *r, struct cf_line *line)
{
	size_t i = 3;

	line->value = number_at(r, 2, 1 << 20);
	if (is(at(r, i), "copy")) {
		line->imm = number_at(r, i + 1, CF_COPIES_MAX);
		i += 2;
	}
	if (is(at(r, i), "from")) {
		line->from = (uint32_t)number_at(r, i + 1, CF_PAYLOAD_MAX);
		i += 2;
	}
	if (i < r->n)
		refuse(r, "%s: want expect placed N [copy N] [from N]", at(r, i));
}

static void read_expect(struct reader *r, struct cf_line *line)
{
	if (is(at(r, 1), "completion")) {
		line->kind = CF_EXPECT_COMPLETION;
		line->good = is(at(r, 2), "success");
		line->absent = is(at(r, 2), "none");
		if (!line->good && !line->absent && !is(at(r, 2), "error"))
			refuse(r, "expect completion: want success, error or none");
	} else if (is(at(r, 1), "receive")) {
		line->kind = CF_EXPECT_RECEIVE;
		line->good = is(at(r, 2), "imm");
		if (line->good)
			line->imm = number_at(r, 3, UINT32_MAX);
		line->absent = is(at(r, 2), "none");
		if (!line->good && !line->absent)
			refuse(r, "expect receive: want imm N or none");
	} else if (is(at(r, 1), "placed")) {
		line->kind = CF_EXPECT_PLACED;
		read_placed(r, line);
	} else if (is(at(r, 1), "untouched")) {
		line->kind = CF_EXPECT_UNTOUCHED;
		line->value = number_at(r, 2, 1 << 20);
	} else {
		refuse(r, "expect: want completion, receive, placed or untouched");
	}
}

/* The words behind the first i are one text again. */
static const char *rest(struct reader *r, size_t i)
{
	for (size_t k = i; k + 1 < r->n; k++)
		r->word[k][strlen(r->word[k])] = ' ';
	return i < r->n ? r->word[i] : "";
}

static void read_answer(struct reader *r, struct cf_line *line)
{
	const struct cf_case *c = r->at;
	size_t used = 2;

	if (is(at(r, 1), "none")) {
		line->answer = CF_ANSWER_NONE;
	} else if (is(at(r, 1), "other")) {
		line->answer = CF_ANSWER_OTHER;
	} else {
		for (size_t i = 0; i < c->n_lines; i++)
			if (c->line[i].kind == CF_MAYBE)
				line->packet = c->line[i].packet;
		if (at(r, 1))
			used = 1 + read_term(r, 1, line);
	}
	if (used >= r->n)
		refuse(r, "answer: want none, other, or a word and its value; then a text");
	line->text = rest(r, used);
	r->at->has_question = true;
}

/* "+2ms..30ms" before a line. */
static size_t read_span(struct reader *r, struct cf_line *line)
{
	char *text = r->word[0] + 1, *dots = strstr(text, "..");

	if (!dots) {
		refuse(r, "%s: want a span of time, as +2ms..30ms", r->word[0]);
		return 1;
	}
	*dots = '\0';
	line->has_span = true;
	line->from_ns = read_time(r, text);
	line->to_ns = read_time(r, dots + 2);
	*dots = '.';
	return 1;
}

static void read_packet_line(struct reader *r, size_t i, struct cf_line *line)
{
	static const struct {
		const char *word;
		enum cf_line_kind kind;
		size_t words; /* before the packet */
	} begin[] = {{"<", CF_SEND, 1},
		     {">", CF_WANT, 1},
		     {"maybe", CF_MAYBE, 2},
		     {"never", CF_NEVER, 2}};

	for (size_t k = 0; k < sizeof(begin) / sizeof(begin[0]); k++)
		if (is(at(r, i), begin[k].word) && (begin[k].words == 1 || is(at(r, i + 1), ">"))) {
			line->kind = begin[k].kind;
			read_packet(r, i + begin[k].words, line);
			return;
		}
	refuse(r, "%s: want <, >, maybe >, never >, answer, post, expect or pause",
	       at(r, i) ? at(r, i) : "(nothing)");
}

static void read_statement(struct reader *r, const char *source)
{
	struct cf_case *c = r->at;
	struct cf_line *line;
	size_t i = 0;

	if (c->n_lines == CF_LINES_MAX) {
		refuse(r, "%s: a case has at most %u lines", c->name, CF_LINES_MAX);
		return;
	}
	line = &c->line[c->n_lines];
	*line = (struct cf_line){.number = r->number, .source = source};
	if (*r->word[0] == '+')
		i = read_span(r, line);
	if (is(at(r, i), "post")) {
		c->needs_server = true;
		read_post(r, line);
	} else if (is(at(r, i), "expect")) {
		c->needs_server = true;
		read_expect(r, line);
	} else if (is(at(r, i), "answer")) {
		line->kind = CF_ANSWER;
		read_answer(r, line);
	} else if (is(at(r, i), "pause")) {
		line->kind = CF_PAUSE;
		line->for_ns = read_time(r, at(r, i + 1));
	} else {
		read_packet_line(r, i, line);
	}
	c->n_lines++;
}

/* ---- heads of cases ---- */

static void *grow(void *block, size_t *room, size_t n, size_t size)
{
	if (n < *room)
		return block;
	*room = *room * 2 + 32;
	block = realloc(block, *room * size);
	if (!block) {
		fprintf(stderr, "mrc conform: no memory for %zu cases\n", *room);
		abort();
	}
	return block;
}

static void begin_case(struct reader *r)
{
	struct cf_book *b = r->book;

	if (r->n != 2) {
		refuse(r, "case: want a name without blanks");
		return;
	}
	for (size_t i = 0; i < b->n; i++)
		if (is(r->word[1], b->cases[i].name))
			refuse(r, "%s: there is a case of that name in %s", r->word[1],
			       b->cases[i].file);
	b->cases = grow(b->cases, &b->room, b->n, sizeof(*b->cases));
	r->at = &b->cases[b->n++];
	*r->at = (struct cf_case){.name = r->word[1],
				  .asks = "",
				  .file = r->file,
				  .psn = UINT32_MAX,
				  .peer_psn = UINT32_MAX,
				  .mtu = 1024,
				  .timeout = 14,
				  .line = calloc(CF_LINES_MAX, sizeof(struct cf_line))};
	if (!r->at->line)
		abort();
}

static void read_needs(struct reader *r)
{
	for (size_t i = 1; i < r->n; i++) {
		if (is(r->word[i], "server"))
			r->at->needs_server = true;
		else if (is(r->word[i], "own-qp"))
			r->at->ends_qp = true;
		else if (is(r->word[i], "port"))
			r->at->needs_port = true;
		else
			refuse(r, "needs %s: want server, own-qp or port", r->word[i]);
	}
}

static void read_config(struct reader *r)
{
	static const struct {
		const char *name;
		size_t at;
		int64_t most;
	} keys[] = {{"psn", offsetof(struct cf_case, psn), CF_PSN_MASK},
		    {"peer_psn", offsetof(struct cf_case, peer_psn), CF_PSN_MASK},
		    {"mtu", offsetof(struct cf_case, mtu), 4096},
		    {"timeout", offsetof(struct cf_case, timeout), 24}};

	for (size_t i = 1; i < r->n; i += 2) {
		bool known = false;

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (is(r->word[i], keys[k].name)) {
				uint32_t value = (uint32_t)number_at(r, i + 1, keys[k].most);

				memcpy((char *)r->at + keys[k].at, &value, sizeof(value));
				known = true;
			}
		if (!known)
			refuse(r, "config %s: want psn, peer_psn, mtu or timeout", r->word[i]);
	}
}

static void read_checks(struct reader *r)
{
	for (size_t i = 1; i < r->n; i++) {
		if (r->at->n_checks == CF_CHECKS_MAX)
			refuse(r, "checks: at most %u requirements", CF_CHECKS_MAX);
		else
			r->at->checks[r->at->n_checks++] = r->word[i];
	}
}

/* Returns whether the line was one of a case's head. */
static bool read_head(struct reader *r)
{
	if (is(r->word[0], "case")) {
		begin_case(r);
	} else if (!r->at) {
		refuse(r, "%s: want case NAME before it", r->word[0]);
	} else if (is(r->word[0], "asks")) {
		r->at->asks = rest(r, 1);
	} else if (is(r->word[0], "checks")) {
		read_checks(r);
	} else if (is(r->word[0], "needs")) {
		read_needs(r);
	} else if (is(r->word[0], "config")) {
		read_config(r);
	} else {
		return false;
	}
	return true;
}

/* A copy that lives as long as the book. */
static char *keep(struct cf_book *book, const char *text)
{
	char **texts = realloc(book->texts, (book->n_texts + 1) * sizeof(*texts));
	char *copy = strdup(text);

	if (!texts || !copy)
		abort();
	book->texts = texts;
	book->texts[book->n_texts++] = copy;
	return copy;
}

static void read_line(struct reader *r, char *line)
{
	char *hash = strchr(line, '#'), *save;
	const char *source;

	if (hash)
		*hash = '\0';
	source = keep(r->book, line + strspn(line, BLANKS));
	r->n = 0;
	for (char *word = strtok_r(line, BLANKS, &save); word;
	     word = strtok_r(NULL, BLANKS, &save)) {
		if (r->n == WORDS_MAX) {
			refuse(r, "a line has at most %u words", WORDS_MAX);
			return;
		}
		r->word[r->n++] = word;
	}
	if (r->n > 0 && !read_head(r) && !r->failed)
		read_statement(r, source);
}

int cf_book_read(struct cf_book *book, const char *file, const char *text, char error[CF_ERROR_MAX])
{
	struct reader r = {.book = book, .file = file, .error = error};

	for (char *line = keep(book, text); line && !r.failed;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		r.number++;
		read_line(&r, line);
		line = end ? end + 1 : NULL;
	}
	return r.failed ? -1 : 0;
}

void cf_book_fini(struct cf_book *book)
{
	for (size_t i = 0; i < book->n; i++)
		free(book->cases[i].line);
	for (size_t i = 0; i < book->n_texts; i++)
		free(book->texts[i]);
	free(book->cases);
	free(book->texts);
	*book = (struct cf_book){0};
}
