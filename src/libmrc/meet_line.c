/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meet_line.c - descriptions of mrc/meet.h as lines of text.
 *
 * "mrc-meet-1 ", the fields big-endian in hexadecimal without spaces, and an end of line. All lines
 * of a version are of one length, so a reader never takes a byte too many.
 */
#include "libmrc/meet.h"

#include <string.h>

#include "base/bytes.h"

/* Where the fields are. */
enum {
	AT_GID = 0,
	AT_QPN = 16,
	AT_PSN = 20,
	AT_MTU = 24,
	AT_MPR = 25,
	AT_WIMM = 26,
	AT_RKEY = 28,
	AT_ADDRESS = 32,
	AT_LENGTH = 40,
	FIELDS_BYTES = 48,
};

#define HEAD_CHARS (sizeof(MA_MEET_HEAD) - 1)
#define LINE_CHARS (HEAD_CHARS + (size_t)2 * FIELDS_BYTES) /* without its end */

_Static_assert(LINE_CHARS + sizeof("\n") == MRC_MEET_LINE_BYTES, "what the header promises");

static bool end_is_valid(const struct mrc_meet_end *end)
{
	if (end->qpn > RD_BITS_24 || end->psn > RD_BITS_24)
		return false;
	if (end->mtu < IBV_MTU_256 || end->mtu > IBV_MTU_4096)
		return false;
	if (end->mpr_dest == 0 || end->max_wimm_dest == 0)
		return false;
	if (end->bytes == 0)
		return end->rkey == 0 && end->address == 0;
	return end->bytes - 1 <= UINT64_MAX - end->address; /* it does not wrap around */
}

int mrc_meet_print(const struct mrc_meet_end *end, char line[MRC_MEET_LINE_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t fields[FIELDS_BYTES];
	char *p;

	if (!end || !line || !end_is_valid(end))
		return ma_errno(EINVAL);
	memcpy(fields + AT_GID, end->gid.raw, sizeof(end->gid.raw));
	mb_store_be32(fields + AT_QPN, end->qpn);
	mb_store_be32(fields + AT_PSN, end->psn);
	fields[AT_MTU] = end->mtu;
	fields[AT_MPR] = end->mpr_dest;
	mb_store_be16(fields + AT_WIMM, end->max_wimm_dest);
	mb_store_be32(fields + AT_RKEY, end->rkey);
	mb_store_be64(fields + AT_ADDRESS, end->address);
	mb_store_be64(fields + AT_LENGTH, end->bytes);
	memcpy(line, MA_MEET_HEAD, HEAD_CHARS);
	p = line + HEAD_CHARS;
	for (size_t i = 0; i < FIELDS_BYTES; i++) {
		*p++ = digits[fields[i] >> 4];
		*p++ = digits[fields[i] & 15];
	}
	memcpy(p, "\n", sizeof("\n"));
	return 0;
}

int ma_meet_head_check(const char *text, size_t n)
{
	size_t word = sizeof(MA_MEET_WORD) - 1;

	if (memcmp(text, MA_MEET_HEAD, n < HEAD_CHARS ? n : HEAD_CHARS) == 0)
		return 0;
	if (n > word && memcmp(text, MA_MEET_WORD, word) == 0 && text[word] >= '0' &&
	    text[word] <= '9')
		return EPROTONOSUPPORT;
	return EPROTO;
}

/* -1: no digit as mrc_meet_print writes them. */
static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_fields(const char *text, uint8_t fields[FIELDS_BYTES])
{
	for (size_t i = 0; i < FIELDS_BYTES; i++) {
		int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return EPROTO;
		fields[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

int mrc_meet_parse(const char *line, struct mrc_meet_end *end)
{
	uint8_t fields[FIELDS_BYTES];
	struct mrc_meet_end read;
	size_t n;
	int err;

	if (!line || !end)
		return ma_errno(EINVAL);
	n = strnlen(line, MRC_MEET_LINE_BYTES);
	err = ma_meet_head_check(line, n);
	if (err)
		return ma_errno(err);
	if (n < LINE_CHARS || (n > LINE_CHARS && strcmp(line + LINE_CHARS, "\n") != 0))
		return ma_errno(EPROTO);
	if (read_fields(line + HEAD_CHARS, fields))
		return ma_errno(EPROTO);
	read = (struct mrc_meet_end){
		.qpn = mb_load_be32(fields + AT_QPN),
		.psn = mb_load_be32(fields + AT_PSN),
		.mtu = fields[AT_MTU],
		.mpr_dest = fields[AT_MPR],
		.max_wimm_dest = mb_load_be16(fields + AT_WIMM),
		.rkey = mb_load_be32(fields + AT_RKEY),
		.address = mb_load_be64(fields + AT_ADDRESS),
		.bytes = mb_load_be64(fields + AT_LENGTH),
	};
	memcpy(read.gid.raw, fields + AT_GID, sizeof(read.gid.raw));
	if (!end_is_valid(&read))
		return ma_errno(EPROTO);
	*end = read;
	return 0;
}
