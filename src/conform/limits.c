/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.c - which values the words of a packet may have: see script.h. */
#include "conform/script.h"

#include "conform/link.h"

/* Numbers that count from those of the QP or the case, so that they may be below. */
static bool is_relative(unsigned word)
{
	static const unsigned words[] = {CF_F_PSN,     CF_F_MSN,	CF_F_RQMSN, CF_F_DQP,
					 CF_F_RKEY,    CF_F_CACK,	CF_F_NACK,  CF_F_OFFSET,
					 CF_F_SPDCID,  CF_F_DPDCID,	CF_W_CLEAR, CF_W_SET,
					 CF_W_TRIGGER, CF_F_SACK_OFFSET};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i] == word)
			return true;
	return false;
}

/* The largest value of a word that is no field, or is one with less room than its bits have. */
static int64_t most_of(enum cf_kind kind, unsigned word, bool sent)
{
	unsigned bits;

	switch (word) {
	case CF_F_LEN: /* for which the kit has room */
		return CF_PAYLOAD_MAX;
	case CF_W_EV:
		return sent ? CF_EVS - 1 : UINT32_MAX;
	case CF_W_AT:
		return UINT32_MAX;
	case CF_W_COPY:
		return CF_COPIES_MAX;
	case CF_W_TRIM:
		return 2;
	case CF_W_CLASS:
		return 5;
	default:
		bits = word < CF_FIELD_COUNT ? cf_field_bits(kind, (enum cf_field)word) : 1;
		return bits < 63 ? (INT64_C(1) << bits) - 1 : INT64_MAX;
	}
}

void cf_word_limits(enum cf_kind kind, unsigned word, bool sent, int64_t *least, int64_t *most)
{
	*least = is_relative(word) ? INT32_MIN : word == CF_W_TRIM ? 1 : 0;
	*most = is_relative(word) ? UINT32_MAX : most_of(kind, word, sent);
}
