/* SPDX-License-Identifier: BSD-2-Clause */
/* read_flows_csv.c - the text is gone through twice: `after` may name flows that stand further
 * down. */
#include "sim/import/flow_files.h"

#include "base/quantity.h"
#include "base/suggest.h"

#include <string.h>

enum flows_column {
	FLOWS_SRC,
	FLOWS_DST,
	FLOWS_BYTES,
	FLOWS_START,
	FLOWS_AFTER,
	FLOWS_COLUMNS,
};

static const char *const flows_names[FLOWS_COLUMNS] = {"src", "dst", "bytes", "start", "after"};

struct flows_reader {
	struct ms_flow_list *list;
	uint32_t hosts;
	struct ms_words words;
	uint32_t columns;	       /* of the file */
	uint32_t place[FLOWS_COLUMNS]; /* number of a column, MS_WORDS_MAX: not there */
};

static const struct ms_word *flows_word(const struct flows_reader *r, enum flows_column column)
{
	static const struct ms_word none = {"", 0};

	return r->place[column] < MS_WORDS_MAX ? &r->words.word[r->place[column]] : &none;
}

static bool flows_refuse(struct flows_reader *r, enum flows_column column, const char *expected)
{
	char text[MS_WORD_BYTES];

	return ms_words_refuse(&r->words, "%s %s: expected %s", flows_names[column],
			       ms_word_copy(flows_word(r, column), text), expected);
}

static bool flows_head(struct flows_reader *r)
{
	char text[MS_WORD_BYTES];

	if (!ms_words_next(&r->words))
		return ms_file_set_error(r->words.error, r->words.file, 0,
					 "is empty; expected a line src,dst,bytes");
	for (size_t c = 0; c < FLOWS_COLUMNS; c++)
		r->place[c] = MS_WORDS_MAX;
	r->columns = r->words.n;
	for (uint32_t i = 0; i < r->words.n && i < MS_WORDS_MAX; i++) {
		size_t c = ms_word_find(&r->words.word[i], flows_names, FLOWS_COLUMNS);

		ms_word_copy(&r->words.word[i], text);
		if (c == FLOWS_COLUMNS) {
			const char *near = mb_suggest_find(text, flows_names, FLOWS_COLUMNS);

			return ms_words_refuse(&r->words, "column %s: no such column; %s%s", text,
					       near ? "did you mean " : "expected ",
					       near ? near : "src, dst, bytes, start or after");
		}
		if (r->place[c] < MS_WORDS_MAX)
			return ms_words_refuse(&r->words, "column %s: appears twice", text);
		r->place[c] = i;
	}
	for (size_t c = 0; c <= FLOWS_BYTES; c++)
		if (r->place[c] == MS_WORDS_MAX)
			return ms_words_refuse(&r->words,
					       "has no column %s; expected src,dst,bytes",
					       flows_names[c]);
	return true;
}

static bool flows_host(struct flows_reader *r, enum flows_column column, uint32_t *host)
{
	char text[MS_WORD_BYTES];
	uint64_t n;

	if (!ms_word_u64(flows_word(r, column), 0, r->hosts - 1, &n))
		return ms_words_refuse(&r->words, "%s %s: expected a host from 0 to %u",
				       flows_names[column],
				       ms_word_copy(flows_word(r, column), text), r->hosts - 1);
	*host = (uint32_t)n;
	return true;
}

static bool flows_line(struct flows_reader *r)
{
	struct ms_list_flow flow = {0};
	char text[MS_WORD_BYTES];

	if (r->words.n != r->columns)
		return ms_words_refuse(&r->words, "has %u values; expected %u, one for each column",
				       r->words.n, r->columns);
	if (!flows_host(r, FLOWS_SRC, &flow.src) || !flows_host(r, FLOWS_DST, &flow.dst))
		return false;
	if (flow.src == flow.dst)
		return flows_refuse(r, FLOWS_DST, "another host than src");
	if (!mb_quantity_read_bytes(ms_word_copy(flows_word(r, FLOWS_BYTES), text), 0,
				    MS_LIST_BYTES_MAX, &flow.bytes))
		return flows_refuse(r, FLOWS_BYTES, MB_QUANTITY_BYTES_FORM);
	if (flows_word(r, FLOWS_START)->len > 0 &&
	    !mb_quantity_read_time(ms_word_copy(flows_word(r, FLOWS_START), text), 0,
				   MS_LIST_START_MAX_NS, &flow.start_ns))
		return flows_refuse(r, FLOWS_START, MB_QUANTITY_TIME_FORM);
	return ms_flow_list_add(r->list, &flow) ||
	       ms_file_set_no_memory(r->words.error, r->words.file);
}

/* flows_after gives flow `of` the needs that its line names. */
static bool flows_after(struct flows_reader *r, uint32_t of)
{
	const struct ms_word *word = flows_word(r, FLOWS_AFTER);
	const char *at = word->at, *end = word->at + word->len;
	char text[MS_WORD_BYTES];

	while (at < end) {
		struct ms_word one = {at, 0};
		enum ms_end where;
		uint64_t n;

		while (at < end && *at != ' ')
			at++;
		one.len = (size_t)(at - one.at);
		while (at < end && *at == ' ')
			at++;
		if (!ms_word_u64(&one, 1, r->list->n, &n) || n == of + 1)
			return ms_words_refuse(&r->words,
					       "after %s: expected another flow, from 1 to %u",
					       ms_word_copy(&one, text), r->list->n);
		if (!ms_flow_list_end(r->list, of, (uint32_t)n - 1, &where))
			return ms_words_refuse(
				&r->words,
				"after %s: that flow goes from host %u to host %u; expected one "
				"that "
				"begins or ends at host %u, which knows of its own flows only",
				ms_word_copy(&one, text), r->list->flow[n - 1].src,
				r->list->flow[n - 1].dst, r->list->flow[of].src);
		if (!ms_flow_list_add_dependency(r->list, of, (uint32_t)n - 1, where))
			return ms_file_set_no_memory(r->words.error, r->words.file);
	}
	return true;
}

static bool flows_whole(struct flows_reader *r, const char *text)
{
	if (!flows_head(r))
		return false;
	while (ms_words_next(&r->words))
		if (!flows_line(r))
			return false;
	if (r->list->n == 0)
		return ms_file_set_error(r->words.error, r->words.file, 0, "has no flow");
	ms_words_init(&r->words, r->words.file, text, ',', r->words.error);
	ms_words_next(&r->words);
	for (uint32_t of = 0; ms_words_next(&r->words); of++)
		if (!flows_after(r, of))
			return false;
	return true;
}

bool ms_flows_read(struct ms_flow_list *list, uint32_t hosts, const char *file, const char *text,
		   struct ms_file_error *error)
{
	struct flows_reader r = {.list = list, .hosts = hosts};
	bool ok;

	memset(list, 0, sizeof(*list));
	ms_words_init(&r.words, file, text, ',', error);
	ok = flows_whole(&r, text);
	if (!ok)
		ms_flow_list_fini(list);
	return ok;
}
