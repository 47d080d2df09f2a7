/* SPDX-License-Identifier: BSD-2-Clause */
/* match.c - whether a packet is what a line wants, and if not, what is different. */
#include "conform/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int64_t cf_relative(uint64_t psn, uint32_t first)
{
	uint32_t d = ((uint32_t)psn - first) & CF_PSN_MASK;

	return d < 0x800000u ? (int64_t)d : (int64_t)d - 0x1000000;
}

/* The PSNs of control packets of the target are ours. */
static uint32_t first_psn(const struct cf_run *r, const struct cf_packet *p)
{
	return cf_kind_is_data(p->kind) || p->kind == CF_PROBE ? r->their_psn : r->psn;
}

/* What the packet says of one of our PSNs, counted from the first. */
static bool sack_has(const struct cf_run *r, const struct cf_packet *p, int64_t psn,
		     bool in_map_only)
{
	int64_t cack = cf_relative(p->f[CF_F_CACK], r->psn);
	int64_t bit = psn - cack - (int16_t)p->f[CF_F_SACK_OFFSET];

	if (psn <= cack)
		return !in_map_only;
	return bit >= 0 && bit < 64 && p->f[CF_F_MAP] >> bit & 1;
}

static const struct cf_sent *newest_sent(const struct cf_run *r)
{
	return r->n_sent ? &r->sent[r->n_sent - 1] : NULL;
}

static int class_of(const struct cf_run *r, uint64_t dscp)
{
	for (int i = 0; i < 6; i++)
		if (r->dscp[i] == dscp)
			return i;
	return -1;
}

/* A field of a packet as a script counts it. */
static int64_t value_of(const struct cf_run *r, unsigned word, const struct cf_packet *p)
{
	bool reflects = p->kind == CF_SACK || p->kind == CF_NACK;

	switch (word) {
	case CF_F_PSN:
		return p->kind == CF_PROBE || p->kind == CF_EP_REQUEST || p->kind == CF_EP_RESPONSE
			       ? (int64_t)p->f[CF_F_PSN]
			       : cf_relative(p->f[CF_F_PSN], first_psn(r, p));
	case CF_F_CACK:
	case CF_F_NACK:
		return cf_relative(p->f[word], r->psn);
	case CF_F_MSN:
		return p->kind == CF_ACK ? (int64_t)p->f[word] - r->msn_base : (int64_t)p->f[word];
	case CF_F_DQP:
		return (int64_t)p->f[word] - (int64_t)r->qpn;
	case CF_F_SACK_OFFSET:
	case CF_F_OFFSET:
		return (int16_t)p->f[word];
	case CF_F_SPDCID:
		return (int64_t)p->f[word] - (int64_t)(r->qp.qpn & 0xFFFF);
	case CF_F_DPDCID:
		return (int64_t)p->f[word] - (int64_t)(r->qpn & 0xFFFF);
	case CF_W_EV:
		return (int64_t)p->f[reflects ? CF_F_ENTROPY : CF_F_OVER];
	case CF_W_TRIGGER:
		return cf_relative(p->f[CF_F_CACK], r->psn) + (int16_t)p->f[CF_F_OFFSET];
	case CF_W_CLASS:
		return class_of(r, p->f[CF_F_DSCP]);
	default:
		return word < CF_FIELD_COUNT ? (int64_t)p->f[word] : 0;
	}
}

/* REQ(wire.seth.entropy): whether the field names the EV, in whichever of the formats there are. */
static bool names_ev(uint64_t entropy, const struct cf_packet *sent)
{
	uint64_t port = sent->f[CF_F_OVER], flow = sent->f[CF_F_FLOW] & 0xFFFF;

	return entropy == port || entropy == (port << 16 | flow) || entropy == (flow << 16 | port);
}

/* What `echo` stands for: the packet sent last. Stamps may be later by a service time. */
static bool echoes(const struct cf_run *r, unsigned word, const struct cf_packet *p)
{
	const struct cf_sent *s = newest_sent(r);

	if (!s)
		return false;
	if (word == CF_W_EV)
		return names_ev(p->f[CF_F_ENTROPY], &s->p);
	return word < CF_FIELD_COUNT && p->f[word] == s->p.f[word];
}

static bool match_letter(struct cf_run *r, const struct cf_value *v, int64_t value, bool bind)
{
	unsigned i = (unsigned)(v->letter - 'A');

	if (r->has_letter[i])
		return (r->letter[i] == (uint64_t)value) != v->other;
	if (bind && !v->other) {
		r->has_letter[i] = true;
		r->letter[i] = (uint64_t)value;
	}
	return true;
}

bool cf_match_term(struct cf_run *r, const struct cf_term *t, const struct cf_packet *p, bool bind)
{
	const struct cf_value *v = &t->value;
	int64_t value;

	if (t->word == CF_W_SET || t->word == CF_W_CLEAR) {
		bool clear = t->word == CF_W_CLEAR;

		for (int64_t psn = v->lo; psn <= v->hi; psn++)
			if (sack_has(r, p, psn, clear) == clear)
				return false;
		return true;
	}
	if (v->kind == CF_ECHO)
		return echoes(r, t->word, p) != v->other;
	value = value_of(r, t->word, p);
	if (v->kind == CF_LETTER)
		return match_letter(r, v, value, bind);
	return (value >= v->lo && value <= v->hi) != v->other;
}

bool cf_match(struct cf_run *r, const struct cf_line *line, const struct cf_packet *p)
{
	if (p->kind != line->packet)
		return false;
	for (size_t i = 0; i < line->n_terms; i++)
		if (!cf_match_term(r, &line->term[i], p, false))
			return false;
	for (size_t i = 0; i < line->n_terms; i++)
		cf_match_term(r, &line->term[i], p, true);
	return true;
}

/* ---- words about packets ---- */

__attribute__((format(printf, 3, 4))) static void add(char *out, size_t size, const char *format,
						      ...)
{
	size_t n = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + n, size - n, format, args);
	va_end(args);
}

static void describe_sack(const struct cf_run *r, const struct cf_packet *p, char *out, size_t size)
{
	add(out, size, " cack %" PRId64 " map 0x%" PRIx64 " from cack+%d",
	    value_of(r, CF_F_CACK, p), p->f[CF_F_MAP], (int)(int16_t)p->f[CF_F_SACK_OFFSET]);
	if (p->f[CF_F_PR])
		add(out, size, " pr probe %" PRIu64, p->f[CF_F_PROBE_ID]);
	else
		add(out, size, " trigger %" PRId64, value_of(r, CF_W_TRIGGER, p));
	add(out, size,
	    " ev %" PRIu64 " ts %" PRIu64 " mark %" PRIu64 " mpr %" PRIu64 " ooo %" PRIu64,
	    p->f[CF_F_ENTROPY], p->f[CF_F_TS], p->f[CF_F_M], p->f[CF_F_MPR], p->f[CF_F_OOO]);
	add(out, size, " rcvd %" PRIu64, p->f[CF_F_RCVD]);
}

void cf_describe(const struct cf_run *r, const struct cf_packet *p, char *out, size_t size)
{
	snprintf(out, size, "%s psn %" PRId64, cf_kind_name(p->kind), value_of(r, CF_F_PSN, p));
	if (p->f[CF_F_RTX])
		add(out, size, " rtx");
	switch (p->kind) {
	case CF_SACK:
		describe_sack(r, p, out, size);
		break;
	case CF_NACK:
		add(out, size, " nack %" PRId64 " reason 0x%02" PRIx64 " ev %" PRIu64,
		    value_of(r, CF_F_NACK, p), p->f[CF_F_REASON], p->f[CF_F_ENTROPY]);
		break;
	case CF_ACK:
		add(out, size, " msn %" PRId64 " syndrome 0x%02" PRIx64, value_of(r, CF_F_MSN, p),
		    p->f[CF_F_SYNDROME]);
		break;
	case CF_PROBE:
		add(out, size, " probe %" PRIu64, p->f[CF_F_PROBE_ID]);
		break;
	case CF_EP_REQUEST:
	case CF_EP_RESPONSE:
		add(out, size, " op %" PRIu64 " ts %" PRIu64, p->f[CF_F_OP], p->f[CF_F_TS]);
		break;
	case CF_WRITE_FIRST:
	case CF_WRITE_MIDDLE:
	case CF_WRITE_LAST_IMM:
	case CF_WRITE_LAST:
	case CF_WRITE_ONLY_IMM:
	case CF_WRITE_ONLY:
		add(out, size, " msn %" PRIu64 " len %" PRIu64 " of %" PRIu64 " ev %" PRIu64,
		    p->f[CF_F_MSN], p->f[CF_F_LEN], p->f[CF_F_DMALEN], p->f[CF_F_OVER]);
		break;
	case CF_KIND_COUNT:
		break;
	}
}

static void want(const struct cf_term *t, char *out, size_t size)
{
	const struct cf_value *v = &t->value;

	add(out, size, "wanted %s %s", cf_word_name(t->word), v->other ? "anything but " : "");
	if (v->kind == CF_ECHO)
		add(out, size, "what was sent");
	else if (v->kind == CF_LETTER)
		add(out, size, "that of %c", v->letter);
	else if (v->lo == v->hi)
		add(out, size, "%" PRId64, v->lo);
	else
		add(out, size, "%" PRId64 "..%" PRId64, v->lo, v->hi);
}

void cf_differs(struct cf_run *r, const struct cf_line *line, const struct cf_packet *p, char *out,
		size_t size)
{
	const char *between = "";

	*out = '\0';
	for (size_t i = 0; i < line->n_terms; i++) {
		const struct cf_term *t = &line->term[i];

		if (cf_match_term(r, t, p, false))
			continue;
		add(out, size, "%s", between);
		want(t, out, size);
		if (t->word != CF_W_SET && t->word != CF_W_CLEAR)
			add(out, size, ", it is %" PRId64, value_of(r, t->word, p));
		between = "; ";
	}
}
