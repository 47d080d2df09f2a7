/* SPDX-License-Identifier: BSD-2-Clause */
/* prom_fetch.c - see prom_fetch.h; HTTP is libcurl's (prom_curl.h). */
#include "cli/map/prom_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "ui/terminal.h"

#if SOFTMRC_HAS_CURL
#include "cli/map/prom_curl.h"
#endif

/* What it says is shown to a person. */
static json_t *refuse(char why[PROM_WHY_BYTES], const char *what, const char *detail)
{
	snprintf(why, PROM_WHY_BYTES, "%s%s%.200s", what, detail ? ": " : "", detail ? detail : "");
	mb_printable(why, PROM_WHY_BYTES);
	return NULL;
}

#if SOFTMRC_HAS_CURL

static json_t *read_answer(const char *body, size_t bytes, char why[PROM_WHY_BYTES])
{
	json_error_t where;
	json_t *answer = json_loadb(body, bytes, JSON_REJECT_DUPLICATES, &where), *list;
	const char *status, *type;

	if (!answer)
		return refuse(why, "the answer is no JSON", where.text);
	status = json_string_value(json_object_get(answer, "status"));
	list = json_object_get(answer, "data");
	type = json_string_value(json_object_get(list, "resultType"));
	list = json_object_get(list, "result");
	if (status && strcmp(status, "error") == 0) {
		const char *error = json_string_value(json_object_get(answer, "error"));

		refuse(why, "it says", error ? error : "an error");
		list = NULL;
	} else if (!type || strcmp(type, "vector") != 0 || !json_is_array(list)) {
		refuse(why, "the answer is none of a Prometheus to an instant query", NULL);
		list = NULL;
	}
	json_incref(list);
	json_decref(answer);
	return list;
}

struct prom {
	struct prom_curl call;
	CURL *curl;
	const char *url;
	uint64_t until_ns;
	char *body; /* of the last answer */
	size_t bytes, room, header_bytes;
};

/* libcurl keeps headers as long as there are any. */
static size_t take_header(char *data, size_t size, size_t n, void *ctx)
{
	struct prom *p = ctx;

	(void)data;
	p->header_bytes += size * n;
	return p->header_bytes <= PROM_HEADER_BYTES_MAX ? size * n : 0;
}

static size_t take(char *data, size_t size, size_t n, void *ctx)
{
	struct prom *p = ctx;
	size_t more = size * n, room = p->room;

	if (more > PROM_BYTES_MAX - p->bytes)
		return 0;
	while (room < p->bytes + more)
		room = room ? 2 * room : 65536;
	if (room > p->room) {
		char *body = realloc(p->body, room);

		if (!body)
			return 0;
		p->body = body;
		p->room = room;
	}
	memcpy(p->body + p->bytes, data, more);
	p->bytes += more;
	return more;
}

struct prom *prom_open(const char *url, char why[PROM_WHY_BYTES])
{
	struct prom *p = calloc(1, sizeof(*p));

	if (!p) {
		refuse(why, "no memory", NULL);
		return NULL;
	}
	p->url = url;
	p->until_ns = ui_clock_ns() + PROM_MS_MAX * UINT64_C(1000000);
	if (!prom_curl_load(&p->call, why, PROM_WHY_BYTES)) {
		free(p);
		return NULL;
	}
	p->curl = p->call.init();
	if (p->curl)
		return p;
	refuse(why, "no memory", NULL);
	free(p);
	return NULL;
}

void prom_close(struct prom *p)
{
	if (!p)
		return;
	p->call.cleanup(p->curl);
	free(p->body);
	free(p);
}

static bool set_up(struct prom *p, const char *url)
{
	uint64_t now = ui_clock_ns();
	long left_ms = now < p->until_ns ? (long)((p->until_ns - now) / 1000000) : 0;
	CURL *c = p->curl;
	int bad = 0;

	p->call.reset(c);
	bad |= p->call.setopt(c, CURLOPT_URL, url) != CURLE_OK;
	bad |= p->call.setopt(c, CURLOPT_WRITEFUNCTION, take) != CURLE_OK;
	bad |= p->call.setopt(c, CURLOPT_WRITEDATA, p) != CURLE_OK;
	bad |= p->call.setopt(c, CURLOPT_HEADERFUNCTION, take_header) != CURLE_OK;
	bad |= p->call.setopt(c, CURLOPT_HEADERDATA, p) != CURLE_OK;
	bad |= p->call.setopt(c, CURLOPT_NOSIGNAL, 1L) != CURLE_OK;
	bad |= p->call.setopt(c, CURLOPT_FOLLOWLOCATION, 0L) != CURLE_OK;
	/* 0 would be for ever. */
	bad |= p->call.setopt(c, CURLOPT_TIMEOUT_MS, left_ms ? left_ms : 1L) != CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075500
	bad |= p->call.setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK;
#else
	bad |= p->call.setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) !=
	       CURLE_OK;
#endif
	return !bad;
}

static json_t *get(struct prom *p, const char *url, char why[PROM_WHY_BYTES])
{
	long code = 0;
	CURLcode err;

	p->bytes = p->header_bytes = 0;
	if (!set_up(p, url))
		return refuse(why, "libcurl refuses", url);
	err = p->call.perform(p->curl);
	if (p->header_bytes > PROM_HEADER_BYTES_MAX)
		return refuse(why, "the answer has more than 64 KiB of headers", NULL);
	if (err == CURLE_WRITE_ERROR)
		return refuse(why, "the answer has more than 64 MiB, or no memory is left", NULL);
	if (err != CURLE_OK)
		return refuse(why, "no answer", p->call.strerror(err));
	p->call.getinfo(p->curl, CURLINFO_RESPONSE_CODE, &code);
	/* A query that it refuses is answered with 4xx and says why. */
	if (code < 200 || (code >= 300 && code < 400) || !p->bytes) {
		snprintf(why, PROM_WHY_BYTES, "HTTP %ld in the place of an answer", code);
		return NULL;
	}
	return read_answer(p->body, p->bytes, why);
}

json_t *prom_query(struct prom *p, const char *query, char why[PROM_WHY_BYTES])
{
	char *escaped = p->call.escape(p->curl, query, 0);
	size_t len = strlen(p->url);
	struct ui_text url = {0};
	json_t *list;

	if (!escaped)
		return refuse(why, "no memory", NULL);
	while (len && p->url[len - 1] == '/')
		len--;
	ui_text_add(&url, "%.*s/api/v1/query?query=%s", (int)len, p->url, escaped);
	p->call.free(escaped);
	list = get(p, url.data, why);
	ui_text_fini(&url);
	return list;
}

#else

struct prom *prom_open(const char *url, char why[PROM_WHY_BYTES])
{
	refuse(why, "this build has no libcurl (libcurl4-gnutls-dev) to ask", url);
	return NULL;
}

void prom_close(struct prom *p)
{
	(void)p;
}

json_t *prom_query(struct prom *p, const char *query, char why[PROM_WHY_BYTES])
{
	(void)p;
	return refuse(why, "no libcurl for", query);
}

#endif
