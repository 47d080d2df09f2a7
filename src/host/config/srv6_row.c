/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srv6_row.c - reads a row: PREFIX = BLOCK USID ..., where each of the words behind the equals sign
 * is a number in hexadecimal, then fields, each +NAME, +NAME:WIDTH, +NAME<<SHIFT or both.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/suggest.h"
#include "host/config/env.h"
#include "wire/ev_fmt.h"

#define ROW_TEXT_MAX 256u
#define ROW_BLANKS " \t"
#define GID_HALF_BITS 64u

/* What may be put into a word. */
static const struct row_field {
	const char *name;
	uint8_t source;
	uint8_t from;
	uint8_t width; /* at most */
} row_fields[] = {
	{"plane", MW_CARRIER_FROM_EV, MW_EV_PLANE_SHIFT, MW_EV_PLANE_BITS},
	{"uplink", MW_CARRIER_FROM_EV, MW_EV_UPLINK_SHIFT, MW_EV_UPLINK_BITS},
	{"t1_uplink", MW_CARRIER_FROM_EV, MW_EV_T1_UPLINK_SHIFT, MW_EV_T1_UPLINK_BITS},
	{"host", MW_CARRIER_FROM_HOST, 0, 16},
	{"t0", MW_CARRIER_FROM_SUBNET, 0, 16},
	{"pod", MW_CARRIER_FROM_SUBNET, 16, 16},
};

/* The table is also what the messages offer: a field that is not in it cannot be written. */
#define ROW_FIELDS (sizeof(row_fields) / sizeof(row_fields[0]))

/* A field in a word: the lowest `width` bits of it, `shift` bits above the word's lowest. */
struct row_use {
	const struct row_field *field;
	uint32_t width, shift;
};

/* The block or a uSID. */
struct row_word {
	uint32_t bits; /* 32 or 16 */
	uint32_t to;   /* where it begins in the carrier */
	uint32_t value;
	uint32_t n;
	struct row_use use[ROW_FIELDS];
};

struct row_parser {
	char *why;
	const char *text; /* the word that is being read */
};

/* The word is in the message, for a row is long and most of its words look alike. */
static bool row_error(const struct row_parser *r, const char *what)
{
	snprintf(r->why, MH_SRV6_WHY_MAX, "\"%.60s\": %.120s", r->text, what);
	return false;
}

/* More than any number in a row may be. */
#define ROW_NUMBER_END 1000u

/* row_digits returns what is behind a number; NULL: there is none. */
static const char *row_digits(const char *at, uint32_t *number)
{
	uint64_t n = 0;
	const char *end = mh_settings_digits(at, &n);

	*number = n < ROW_NUMBER_END ? (uint32_t)n : ROW_NUMBER_END;
	return end;
}

/* ---- prefixes ---- */

static struct mh_srv6_half row_prefix_half(const uint8_t *bytes, uint32_t prefix)
{
	struct mh_srv6_half half = {.first = mb_load_be64(bytes)};

	if (prefix > 0)
		half.mask = UINT64_MAX << (GID_HALF_BITS - prefix);
	return half;
}

static bool row_prefix(const struct row_parser *r, char *text, struct mh_srv6_row *row)
{
	char *slash = strchr(text, '/');
	const char *end = NULL;
	uint8_t ip[16];

	if (slash) {
		*slash = '\0';
		end = row_digits(slash + 1, &row->prefix);
	}
	if (!end || *end || row->prefix > 128 || inet_pton(AF_INET6, text, ip) != 1)
		return row_error(r, "must be the GID of a row's first host with the length of "
				    "their prefix, such as fd4d:5243::1/64");
	row->subnet =
		row_prefix_half(ip, row->prefix < GID_HALF_BITS ? row->prefix : GID_HALF_BITS);
	row->host = row_prefix_half(ip + 8,
				    row->prefix < GID_HALF_BITS ? 0 : row->prefix - GID_HALF_BITS);
	return true;
}

/* ---- words ---- */

static bool row_unknown_field(const struct row_parser *r, const char *name)
{
	const char *near =
		mb_suggest_in_table(name, &row_fields[0].name, ROW_FIELDS, sizeof(row_fields[0]));
	char what[100];

	snprintf(what, sizeof(what), "there is no field %.20s; %s%s", name,
		 near ? "did you mean " : "there are plane, uplink, t1_uplink, host, t0 and pod",
		 near ? near : "");
	return row_error(r, what);
}

/* Reads the number behind `mark` and cuts the text there; false: there is one that is none. */
static bool row_number(char *text, const char *mark, uint32_t *number)
{
	char *at = strstr(text, mark);
	const char *end;

	if (!at)
		return true;
	*at = '\0';
	end = row_digits(at + strlen(mark), number);
	return end && !*end;
}

static bool row_parse_field(const struct row_parser *r, char *text, struct row_word *word)
{
	struct row_use use = {.width = UINT32_MAX};
	size_t i = 0;

	if (!row_number(text, "<<", &use.shift) || !row_number(text, ":", &use.width))
		return row_error(r, "a field is +NAME, +NAME:BITS, +NAME<<SHIFT or "
				    "+NAME:BITS<<SHIFT");
	while (i < ROW_FIELDS && strcmp(row_fields[i].name, text) != 0)
		i++;
	if (i == ROW_FIELDS)
		return row_unknown_field(r, text);
	if (word->n == ROW_FIELDS)
		return row_error(r, "has too many fields");
	use.field = &row_fields[i];
	if (use.shift >= word->bits)
		return row_error(r, "shifts a field out of its word");
	if (use.width == UINT32_MAX)
		use.width = use.field->width < word->bits - use.shift ? use.field->width
								      : word->bits - use.shift;
	if (use.width < 1 || use.width > use.field->width || use.shift + use.width > word->bits)
		return row_error(r, "a field is wider than what it is taken from or put into");
	word->use[word->n++] = use;
	return true;
}

/* strspn, not strtoul alone: that accepts signs, blanks and 0x, which a uSID has not. */
static bool row_read_word(const struct row_parser *r, char *text, struct row_word *word)
{
	char *number = strsep(&text, "+"), *end, *field;
	unsigned long value;

	if (!*number || strspn(number, "0123456789abcdefABCDEF") != strlen(number))
		return row_error(r, "must begin with a number in hexadecimal");
	value = strtoul(number, &end, 16);
	if (strlen(number) > word->bits / 4)
		return row_error(r, word->bits == MW_USID_BITS ? "a uSID has 16 bits"
							       : "a block has 32 bits");
	word->value = (uint32_t)value;
	while ((field = strsep(&text, "+")) != NULL)
		if (!row_parse_field(r, field, word))
			return false;
	return true;
}

/* ---- the carrier ---- */

/*
 * Bits of an EV are put over those of the word, which must be 0 there, or what was written would
 * have no effect. Those of a GID are added to it, for a row counts hosts and subnets from its first
 * one.
 */
static bool row_has_overlap(const struct row_word *word, const struct row_use *use)
{
	uint64_t mask = ((UINT64_C(1) << use->width) - 1) << use->shift;
	uint64_t taken = word->value;

	for (const struct row_use *u = word->use; u != use; u++)
		if (u->field->source == MW_CARRIER_FROM_EV)
			taken |= ((UINT64_C(1) << u->width) - 1) << u->shift;
	return use->field->source == MW_CARRIER_FROM_EV && (mask & taken);
}

static bool row_add_fields(const struct row_parser *r, const struct row_word *word,
			   struct mw_carrier_template *t)
{
	for (uint32_t i = 0; i < word->n; i++) {
		const struct row_use *use = &word->use[i];
		struct mw_carrier_copy copy = {
			.source = use->field->source,
			.from = use->field->from,
			.width = (uint8_t)use->width,
			.to = (uint8_t)(word->to + word->bits - use->shift - use->width),
		};

		if (row_has_overlap(word, use))
			return row_error(r, "a field covers bits that are set otherwise");
		if (!mw_carrier_template_copy(t, &copy))
			return row_error(r, "has more fields than a carrier can have");
	}
	return true;
}

/* Makes the template of a block and n - 1 uSIDs. */
static bool row_make_template(struct row_parser *r, char *const *texts,
			      const struct row_word *words, uint32_t n,
			      struct mw_carrier_template *t)
{
	uint16_t usids[MW_USIDS_ADDR_MAX];
	struct mw_carrier base;

	for (uint32_t i = 1; i < n; i++) {
		r->text = texts[i];
		if (words[i].value == 0)
			return row_error(r, "a uSID that begins as 0 would end the list");
		usids[i - 1] = (uint16_t)words[i].value;
	}
	mw_carrier_of(words[0].value, usids, n - 1, &base);
	mw_carrier_template_init(t, &base);
	for (uint32_t i = 0; i < n; i++) {
		r->text = texts[i];
		if (!row_add_fields(r, &words[i], t))
			return false;
	}
	return true;
}

/* Reads the words behind the equals sign. */
static bool row_read_words(struct row_parser *r, char *rest, struct mh_srv6_row *row)
{
	char names[1 + MW_USIDS_ADDR_MAX][ROW_TEXT_MAX], *texts[1 + MW_USIDS_ADDR_MAX], *text;
	struct row_word words[1 + MW_USIDS_ADDR_MAX];
	uint32_t n = 0;

	while ((text = strsep(&rest, ROW_BLANKS)) != NULL) {
		if (*text == '\0')
			continue;
		r->text = text;
		if (n > MW_USIDS_ADDR_MAX)
			return row_error(r, "is one too many: an address holds 6 uSIDs");
		words[n] = (struct row_word){
			.bits = n == 0 ? MW_SRV6_BLOCK_BITS : MW_USID_BITS,
			.to = n == 0 ? 0 : MW_SRV6_BLOCK_BITS + (n - 1) * MW_USID_BITS,
		};
		strcpy(names[n], text); /* reading cuts the text to pieces */
		texts[n] = names[n];
		r->text = names[n];
		if (!row_read_word(r, text, &words[n]))
			return false;
		n++;
	}
	if (n < 2)
		return row_error(r, "must be followed by = BLOCK USID ..., one uSID at least");
	return row_make_template(r, texts, words, n, &row->carrier);
}

bool mh_srv6_parse_row(const char *text, struct mh_srv6_row *row, char why[MH_SRV6_WHY_MAX])
{
	struct row_parser r = {why, text};
	char copy[ROW_TEXT_MAX], *prefix = copy, *rest;

	if (strlen(text) >= sizeof(copy))
		return row_error(&r, "a row has less than 256 characters");
	strcpy(copy, text);
	rest = strchr(copy, '=');
	if (rest)
		*rest++ = '\0';
	prefix += strspn(prefix, ROW_BLANKS);
	prefix[strcspn(prefix, ROW_BLANKS)] = '\0';
	if (!row_prefix(&r, prefix, row))
		return false;
	return row_read_words(&r, rest, row);
}
