/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_request.c - the little of HTTP/1.1 that a scrape needs: see exporter.h.
 *
 * A request is judged by its first line and one header; a body is never waited for, and the
 * connection ends with the answer. So nothing that a client sends decides how much is read.
 */
#include "exporter/exporter.h"

#include <string.h>
#include <strings.h>

/* A part of the request: not terminated. */
struct piece {
	const char *at;
	size_t len;
};

static bool is_text(struct piece p, const char *text)
{
	return p.len == strlen(text) && memcmp(p.at, text, p.len) == 0;
}

/* Takes what is before a sign, and the sign; all of it where there is none. */
static struct piece take_until(struct piece *rest, char sign)
{
	const char *end = memchr(rest->at, sign, rest->len);
	struct piece taken = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
	size_t skip = taken.len + (end != NULL);

	rest->at += skip;
	rest->len -= skip;
	return taken;
}

static struct piece take_line(struct piece *rest)
{
	struct piece line = take_until(rest, '\n');

	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	return line;
}

/* Where the head ends: behind an empty line. */
static bool is_whole(struct piece head)
{
	while (head.len)
		if (memchr(head.at, '\n', head.len) && take_line(&head).len == 0)
			return true;
		else if (!memchr(head.at, '\n', head.len))
			return false;
	return false;
}

static bool has_word(struct piece in, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= in.len; i++)
		if (strncasecmp(in.at + i, word, len) == 0)
			return true;
	return false;
}

static void read_header(struct piece line, struct stat_request *request)
{
	struct piece name = take_until(&line, ':');

	if (name.len == strlen("Accept") && strncasecmp(name.at, "Accept", name.len) == 0)
		request->openmetrics |= has_word(line, "application/openmetrics-text");
}

static enum stat_http judge_line(struct piece line, struct stat_request *request)
{
	struct piece method = take_until(&line, ' '), target = take_until(&line, ' ');

	if (line.len != strlen("HTTP/1.1") || memcmp(line.at, "HTTP/1.", 7) != 0 ||
	    (line.at[7] != '0' && line.at[7] != '1') || !target.len)
		return STAT_HTTP_BAD;
	request->head = is_text(method, "HEAD");
	if (!request->head && !is_text(method, "GET"))
		return STAT_HTTP_BAD_METHOD;
	target = take_until(&target, '?');
	if (is_text(target, "/metrics"))
		return STAT_HTTP_METRICS;
	return is_text(target, "/") ? STAT_HTTP_ROOT : STAT_HTTP_NOT_FOUND;
}

enum stat_http stat_http_read(const char *bytes, size_t len, struct stat_request *request)
{
	struct piece rest = {bytes, len < STAT_REQUEST_MAX ? len : STAT_REQUEST_MAX}, line;
	enum stat_http kind;

	*request = (struct stat_request){.head = false};
	if (!is_whole(rest))
		return len >= STAT_REQUEST_MAX ? STAT_HTTP_BAD : STAT_HTTP_MORE;
	line = take_line(&rest);
	if (!line.len || memchr(line.at, '\0', line.len))
		return STAT_HTTP_BAD;
	kind = judge_line(line, request);
	while ((line = take_line(&rest)).len)
		read_header(line, request);
	return kind;
}
