/* SPDX-License-Identifier: BSD-2-Clause */
/* serve_request.c - see serve_request.h. */
#include "conform/serve_request.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PSN_MAX 0xFFFFFFu
#define MTU_DEFAULT 1024u
#define TIMEOUT_DEFAULT 14u /* 67 ms */
#define TIMEOUT_MAX 24u
#define PEER_PSN_DEFAULT 5000u

struct range {
	const char *name;
	uint32_t least, most;
};

static int refuse(char why[CONFORM_WHY_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(char why[CONFORM_WHY_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, CONFORM_WHY_MAX, format, args);
	va_end(args);
	for (char *c = why; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return -1;
}

/* Decimal digits, or hexadecimal ones behind 0x. */
static int read_number(const char *text, const struct range *r, uint32_t *value, char *why)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || errno || number < r->least ||
	    number > r->most)
		return refuse(why, "%s %.40s: want %u to %u", r->name, text, r->least, r->most);
	*value = (uint32_t)number;
	return 0;
}

/* ---- the kit's side of a QP ---- */

static int read_gid(const char *text, uint8_t gid[16])
{
	if (inet_pton(AF_INET6, text, gid) == 1)
		return 0;
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xFF;
	return inet_pton(AF_INET, text, gid + 12) == 1 ? 0 : -1;
}

enum { GID, QPN, PSN, MTU, TIMEOUT, PEER_PSN, WISHES };

static int read_wish(const char *name, const char *value, struct conform_wish *w, unsigned *seen,
		     char *why)
{
	static const struct range ranges[WISHES] = {
		{"gid", 0, 0},	    {"qpn", 0, PSN_MAX},	 {"psn", 0, PSN_MAX},
		{"mtu", 256, 4096}, {"timeout", 0, TIMEOUT_MAX}, {"peer_psn", 0, PSN_MAX},
	};
	uint32_t *const values[WISHES] = {NULL,	   &w->qpn,	&w->psn,
					  &w->mtu, &w->timeout, &w->peer_psn};
	unsigned i = 0;

	while (i < WISHES && strcmp(name, ranges[i].name) != 0)
		i++;
	if (i == WISHES)
		return refuse(why, "%.40s: want gid, qpn, psn, mtu, timeout or peer_psn", name);
	if (*seen & 1u << i)
		return refuse(why, "%s: given twice", name);
	*seen |= 1u << i;
	if (!value)
		return refuse(why, "%s: has no value", name);
	if (i == GID)
		return read_gid(value, w->gid) ? refuse(why, "gid %.60s: want an address", value)
					       : 0;
	if (read_number(value, &ranges[i], values[i], why))
		return -1;
	if (i == MTU && (w->mtu & (w->mtu - 1)))
		return refuse(why, "mtu %u: want 256, 512, 1024, 2048 or 4096", w->mtu);
	return 0;
}

int conform_wish_read(const char *words, struct conform_wish *wish, char why[CONFORM_WHY_MAX])
{
	const unsigned needed = 1u << GID | 1u << QPN | 1u << PSN;
	char copy[CONFORM_LINE_MAX], *save;
	unsigned seen = 0;

	*wish = (struct conform_wish){
		.mtu = MTU_DEFAULT, .timeout = TIMEOUT_DEFAULT, .peer_psn = PEER_PSN_DEFAULT};
	if (strlen(words) >= sizeof(copy))
		return refuse(why, "a line: want at most %zu characters", sizeof(copy) - 1);
	strcpy(copy, words);
	for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save))
		if (read_wish(name, strtok_r(NULL, " ", &save), wish, &seen, why))
			return -1;
	if ((seen & needed) != needed)
		return refuse(why, "qp: want gid ADDR qpn N psn N [mtu N] [timeout N] "
				   "[peer_psn N]");
	return 0;
}

/* ---- lines ---- */

struct verb {
	const char *name;
	unsigned least, most; /* numbers */
	struct range number[2];
};

static const struct verb verbs[CONFORM_VERBS] = {
	[CONFORM_QP] = {"qp", 0, 0, {{0}}},
	[CONFORM_WRITE] = {"write",
			   1,
			   2,
			   {{"write", 0, CONFORM_MEMORY_BYTES}, {"immediate", 0, UINT32_MAX}}},
	[CONFORM_RECV] = {"recv", 1, 1, {{"recv", 0, CONFORM_DEPTH}}},
	[CONFORM_COMPLETION] = {"completion", 1, 1, {{"completion", 0, CONFORM_WAIT_MAX_MS}}},
	[CONFORM_RECEIVED] = {"received", 1, 1, {{"received", 0, CONFORM_WAIT_MAX_MS}}},
	[CONFORM_MEMORY] = {"memory",
			    2,
			    2,
			    {{"memory", 0, CONFORM_MEMORY_BYTES - 1},
			     {"memory: length", 1, CONFORM_SHOWN_MAX}}},
};

static int read_numbers(const struct verb *v, char *words, struct conform_request *r, char *why)
{
	char *save, *word;

	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		unsigned i = r->n_numbers;

		if (i == v->most)
			return refuse(why, "%s: %.40s is one number too many", v->name, word);
		if (read_number(word, &v->number[i], &r->number[i], why))
			return -1;
		r->n_numbers++;
	}
	if (r->n_numbers < v->least)
		return refuse(why, "%s: want %u number%s", v->name, v->least,
			      v->least == 1 ? "" : "s");
	return 0;
}

int conform_request_read(const char *line, struct conform_request *request,
			 char why[CONFORM_WHY_MAX])
{
	char copy[CONFORM_LINE_MAX], *words;
	const struct verb *v;
	unsigned i = 0;

	*request = (struct conform_request){0};
	if (strlen(line) >= sizeof(copy))
		return refuse(why, "a line: want at most %zu characters", sizeof(copy) - 1);
	strcpy(copy, line);
	words = copy + strcspn(copy, " ");
	if (*words)
		*words++ = '\0';
	while (i < CONFORM_VERBS && strcmp(copy, verbs[i].name) != 0)
		i++;
	if (i == CONFORM_VERBS)
		return refuse(why, "%.40s: want qp, write, recv, completion, received or memory",
			      copy);
	request->verb = (enum conform_verb)i;
	v = &verbs[i];
	if (i == CONFORM_QP)
		return conform_wish_read(words, &request->wish, why);
	if (read_numbers(v, words, request, why))
		return -1;
	if (i == CONFORM_MEMORY && request->number[0] > CONFORM_MEMORY_BYTES - request->number[1])
		return refuse(why, "memory %u %u: want at most %u together", request->number[0],
			      request->number[1], CONFORM_MEMORY_BYTES);
	return 0;
}
