/* SPDX-License-Identifier: BSD-2-Clause */
/* read_goal.c - GOAL as text, a line at a time; only the labels of one rank are kept. */
#include "sim/import/trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOAL_WORDS 16u
#define NO_RANK UINT32_MAX

struct goal_reader {
	struct ms_trace *t;
	const struct ms_trace_place *place;
	const char *path;
	struct ms_file_error *error;
	struct ms_labels labels;
	uint8_t *seen; /* of each rank: it was there */
	uint32_t line, rank;
	bool comment; /* between slash-star and star-slash */
	uint32_t n;   /* words of the line */
	struct ms_word word[GOAL_WORDS];
};

__attribute__((format(printf, 2, 3))) static bool set_error(struct goal_reader *r,
							    const char *format, ...)
{
	char what[300];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (r->rank != NO_RANK)
		return ms_trace_set_error(r->t, r->rank, r->line, "%s", what);
	return ms_file_set_error(r->error, r->path, r->line, "%s", what);
}

/* ---- words ---- */

/* without_comments blanks out what is comment. */
static void without_comments(struct goal_reader *r, char *text)
{
	for (char *c = text; *c; c++) {
		if (r->comment) {
			if (c[0] == '*' && c[1] == '/') {
				r->comment = false;
				*c++ = ' ';
			}
			*c = ' ';
		} else if (c[0] == '/' && c[1] == '*') {
			r->comment = true;
			*c = ' ';
		} else if (c[0] == '/' && c[1] == '/') {
			*c = '\0';
			return;
		}
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* split_words cuts a line into words; colons and braces are words of their own. */
static bool split_words(struct goal_reader *r, const char *text)
{
	r->n = 0;
	for (const char *c = text; *c;) {
		size_t len = 0;

		if (is_blank(*c)) {
			c++;
			continue;
		}
		if (strchr(":{}", *c))
			len = 1;
		while (c[len] && !is_blank(c[len]) && !strchr(":{}", c[len]))
			len++;
		if (r->n == GOAL_WORDS)
			return set_error(r, "has more than %u words", GOAL_WORDS);
		r->word[r->n++] = (struct ms_word){c, strchr(":{}", *c) ? 1 : len};
		c += strchr(":{}", *c) ? 1 : len;
	}
	return true;
}

static bool word_is(const struct goal_reader *r, uint32_t i, const char *text)
{
	return i < r->n && ms_word_is(&r->word[i], text);
}

static const char *quote_word(const struct goal_reader *r, uint32_t i, char out[MS_WORD_BYTES])
{
	if (i >= r->n)
		return "the end of the line";
	return ms_word_copy(&r->word[i], out);
}

static bool read_number(struct goal_reader *r, uint32_t i, uint64_t max, const char *what,
			uint64_t *out)
{
	char text[MS_WORD_BYTES];

	if (i < r->n && ms_word_u64(&r->word[i], 0, max, out))
		return true;
	return set_error(r, "%s %s: expected a number up to %llu", what, quote_word(r, i, text),
			 (unsigned long long)max);
}

/* read_bytes reads "4096b". */
static bool read_bytes(struct goal_reader *r, uint32_t i, uint64_t *out)
{
	char text[MS_WORD_BYTES];
	struct ms_word w = i < r->n ? r->word[i] : (struct ms_word){"", 0};

	if (w.len > 1 && w.at[w.len - 1] == 'b') {
		w.len--;
		if (ms_word_u64(&w, 0, UINT64_MAX, out))
			return true;
	}
	return set_error(r, "%s: expected a number of bytes, such as 4096b",
			 quote_word(r, i, text));
}

/* ---- operations ---- */

/* read_options reads tag, cpu and nic, in any order, up to the end of the line. */
static bool read_options(struct goal_reader *r, uint32_t i, uint64_t *tag, uint64_t *cpu,
			 uint64_t *nic)
{
	char text[MS_WORD_BYTES];

	*cpu = *nic = 0;
	for (; i < r->n; i += 2) {
		uint64_t *to = word_is(r, i, "cpu")	     ? cpu
			       : word_is(r, i, "nic")	     ? nic
			       : word_is(r, i, "tag") && tag ? tag
							     : NULL;

		if (!to)
			return set_error(r, "%s: expected %scpu or nic", quote_word(r, i, text),
					 tag ? "tag, " : "");
		if (!read_number(r, i + 1, to == tag ? UINT32_MAX : 255, quote_word(r, i, text),
				 to))
			return false;
	}
	return true;
}

static bool read_message(struct goal_reader *r, uint32_t i, bool sends, uint32_t *op)
{
	struct ms_trace_message m = {.line = r->line};
	uint64_t peer, tag = 0, cpu, nic;
	char text[MS_WORD_BYTES];

	if (!read_bytes(r, i, &m.bytes))
		return false;
	if (!word_is(r, i + 1, sends ? "to" : "from"))
		return set_error(r, "%s: expected %s and a rank", quote_word(r, i + 1, text),
				 sends ? "to" : "from");
	if (word_is(r, i + 2, "-1"))
		return set_error(r, "recv from any rank (-1): such a schedule has no one meaning; "
				    "expected a rank");
	if (!read_number(r, i + 2, r->t->ranks - 1, "peer", &peer) ||
	    !read_options(r, i + 3, &tag, &cpu, &nic))
		return false;
	m.peer = (uint32_t)peer;
	m.tag = (uint32_t)tag;
	m.channel = (uint16_t)nic;
	*op = sends ? ms_trace_send(r->t, r->rank, &m) : ms_trace_recv(r->t, r->rank, &m);
	return *op != MS_NODE_NONE;
}

static bool read_calc(struct goal_reader *r, uint32_t i, uint32_t *op)
{
	uint64_t ns, cpu, nic;

	if (!read_number(r, i, MS_COMPUTE_MAX_NS - 1, "calc", &ns) ||
	    !read_options(r, i + 1, NULL, &cpu, &nic))
		return false;
	*op = ms_trace_calc(r->t, r->rank, r->line, cpu, ns);
	return *op != MS_NODE_NONE;
}

static bool read_operation(struct goal_reader *r, uint32_t i, uint32_t *op)
{
	char text[MS_WORD_BYTES];

	if (word_is(r, i, "calc"))
		return read_calc(r, i + 1, op);
	if (word_is(r, i, "send") || word_is(r, i, "recv"))
		return read_message(r, i + 1, word_is(r, i, "send"), op);
	return set_error(r, "%s: expected send, recv or calc", quote_word(r, i, text));
}

static bool read_label(struct goal_reader *r)
{
	char text[MS_WORD_BYTES];
	uint32_t op;

	if (!read_operation(r, 2, &op))
		return false;
	switch (ms_labels_add(&r->labels, r->word[0].at, (uint32_t)r->word[0].len, op)) {
	case MS_LABEL_ADDED:
		return true;
	case MS_LABEL_THERE:
		return set_error(r, "label %s: appears twice", quote_word(r, 0, text));
	case MS_LABEL_NO_MEMORY:
		break;
	}
	return ms_file_set_no_memory(r->error, r->path);
}

static bool read_dependency(struct goal_reader *r)
{
	uint32_t op[2];

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t at = i * 2;
		char text[MS_WORD_BYTES];

		if (at >= r->n ||
		    !ms_labels_find(&r->labels, r->word[at].at, (uint32_t)r->word[at].len, &op[i]))
			return set_error(r,
					 "%s: unknown label; it must be defined above in this rank",
					 quote_word(r, at, text));
	}
	if (r->n > 3)
		return set_error(r, "expected the end of the line behind the second label");
	return ms_trace_add_dependency(r->t, op[0], op[1], word_is(r, 1, "irequires"));
}

/* ---- lines ---- */

static bool begin_rank(struct goal_reader *r)
{
	uint64_t rank;

	if (r->t->ranks == 0)
		return set_error(r, "rank: expected num_ranks before the first one");
	if (!read_number(r, 1, r->t->ranks - 1, "rank", &rank))
		return false;
	if (!word_is(r, 2, "{") || r->n != 3)
		return set_error(r, "expected rank %u {", (uint32_t)rank);
	if (r->seen[rank])
		return set_error(r, "rank %u: appears twice", (uint32_t)rank);
	r->seen[rank] = 1;
	r->rank = (uint32_t)rank;
	ms_labels_clear(&r->labels);
	return true;
}

static bool num_ranks(struct goal_reader *r)
{
	uint64_t n;

	if (r->t->ranks)
		return set_error(r, "num_ranks: appears twice");
	if (!read_number(r, 1, UINT32_MAX, "num_ranks", &n))
		return false;
	if (r->n > 2)
		return set_error(r, "expected the end of the line behind num_ranks %u",
				 (uint32_t)n);
	if (!ms_trace_ranks(r->t, (uint32_t)n, r->place, r->line))
		return false;
	r->seen = calloc(n, 1);
	return r->seen || ms_file_set_no_memory(r->error, r->path);
}

static bool in_rank(struct goal_reader *r)
{
	uint32_t op;

	if (word_is(r, 0, "}") && r->n == 1) {
		r->rank = NO_RANK;
		return true;
	}
	if (word_is(r, 1, ":"))
		return read_label(r);
	if (word_is(r, 1, "requires") || word_is(r, 1, "irequires"))
		return read_dependency(r);
	return read_operation(r, 0, &op);
}

static bool one_line(struct goal_reader *r, char *text, size_t len)
{
	char shorter[MS_WORD_BYTES];

	r->line++;
	if (strlen(text) != len)
		return set_error(r, "has a byte of zero: expected text");
	without_comments(r, text);
	if (!split_words(r, text))
		return false;
	if (r->n == 0)
		return true;
	if (r->rank != NO_RANK)
		return in_rank(r);
	if (word_is(r, 0, "num_ranks"))
		return num_ranks(r);
	if (word_is(r, 0, "rank"))
		return begin_rank(r);
	return set_error(r, "%s: expected num_ranks or rank", quote_word(r, 0, shorter));
}

static bool check_complete(struct goal_reader *r)
{
	if (r->rank != NO_RANK)
		return set_error(r, "the file ends before the rank's closing brace");
	if (r->comment)
		return set_error(r, "the file ends within a comment");
	if (r->t->ranks == 0)
		return ms_file_set_error(r->error, r->path, 0, "has no num_ranks");
	return true;
}

bool ms_goal_text(struct ms_trace *t, void *file, const struct ms_trace_place *place,
		  const char *path, struct ms_file_error *error)
{
	struct goal_reader r = {
		.t = t, .place = place, .path = path, .error = error, .rank = NO_RANK};
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	bool ok = true;

	while (ok && (len = getline(&text, &room, file)) > 0)
		ok = one_line(&r, text, (size_t)len);
	if (ok && ferror(file))
		ok = ms_file_set_error(error, path, 0, "cannot be read: %s", strerror(errno));
	ok = ok && check_complete(&r);
	free(text);
	free(r.seen);
	ms_labels_fini(&r.labels);
	return ok;
}

struct ms_graph *ms_goal_read(const char *path, const struct ms_trace_place *place,
			      struct ms_file_error *error)
{
	struct ms_trace *t = ms_trace_create(path, error);
	struct ms_graph *g = NULL;
	uint8_t first[8] = {0};
	FILE *file;

	if (!t)
		return NULL;
	file = fopen(path, "rbe");
	if (!file || (fread(first, 1, sizeof(first), file) == 0 && ferror(file)) ||
	    fseek(file, 0, SEEK_SET)) {
		ms_file_set_error(error, path, 0, "cannot be read: %s", strerror(errno));
	} else if (ms_goal_is_binary(first) ? ms_goal_binary(t, file, place, path, error)
					    : ms_goal_text(t, file, place, path, error)) {
		g = ms_trace_finish(t);
	}
	if (file)
		fclose(file);
	ms_trace_destroy(t);
	return g;
}
