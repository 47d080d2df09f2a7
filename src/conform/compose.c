/* SPDX-License-Identifier: BSD-2-Clause */
/* compose.c - packets of the kit: from the words of a line, and those it answers by itself. */
#include "conform/run.h"

#include <errno.h>
#include <string.h>

/* The window that the kit offers, in units of 128 PSNs. */
#define OUR_MPR 8u
#define ONLY_BYTES 64u
#define POSITIVE 0x1Fu
#define TRIMMABLE 1u
#define RETRANSMISSION 2u
#define TRIMMED 3u
#define CONTROL 5u

void cf_contents(uint8_t *bytes, uint32_t len, int64_t psn, uint32_t copy)
{
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(1 +
				     ((uint64_t)psn * 31 + copy * UINT64_C(101) + i * UINT64_C(7)) %
					     255);
}

void cf_header(struct cf_run *r, enum cf_kind kind, struct cf_packet *p)
{
	const struct cf_link *l = r->link;

	cf_packet_init(p, kind);
	memcpy(p->src, l->ours, 16);
	memcpy(p->dst, l->theirs, 16);
	p->f[CF_F_OVER] = l->ev[0];
	p->f[CF_F_DPORT] = l->their_port;
	p->f[CF_F_ECN] = 2;
	p->f[CF_F_DQP] = r->qp.qpn;
	p->f[CF_F_DSCP] = r->dscp[cf_kind_is_data(kind) ? TRIMMABLE
				  : kind == CF_PROBE	? 0
							: CONTROL];
	if (cf_kind_has(kind, CF_F_SPDCID)) {
		p->f[CF_F_SPDCID] = r->qpn & 0xFFFF;
		p->f[CF_F_DPDCID] = r->qp.qpn & 0xFFFF;
	}
	if (kind == CF_EP_REQUEST || kind == CF_EP_RESPONSE)
		p->f[CF_F_DQP] = CF_ENDPOINT_QPN;
	/* Each packet has a stamp of its own, so that an answer says which it answers. */
	r->stamp = (uint16_t)(r->stamp + 257);
	p->f[CF_F_TS] = r->stamp;
}

void cf_send(struct cf_run *r, struct cf_packet *p, const struct cf_sent *as, bool spoil)
{
	int err;

	cf_packet_encode(p, &r->frame);
	if (spoil)
		cf_frame_spoil(&r->frame);
	r->moment_ns = r->link->now_ns(r->link->context);
	if (r->tap)
		r->tap(r->tap_context, r->moment_ns, true, &r->frame);
	if (as && r->n_sent < CF_SENT_MAX) {
		r->sent[r->n_sent] = *as;
		r->sent[r->n_sent].at_ns = r->moment_ns;
		r->sent[r->n_sent].p = *p;
		r->sent[r->n_sent++].p.payload = NULL;
	}
	if (r->result)
		r->result->sent++;
	err = r->link->send(r->link->context, &r->frame);
	if (err == ECONNREFUSED)
		cf_fail(r, "the target's host says that nobody listens at its UDP port");
	else if (err)
		cf_fail(r, "a packet cannot be sent: %s", strerror(err));
}

/* ---- the words of a line ---- */

static const struct cf_term *find(const struct cf_line *line, unsigned word)
{
	for (size_t i = 0; i < line->n_terms; i++)
		if (line->term[i].word == word)
			return &line->term[i];
	return NULL;
}

static int64_t get(const struct cf_line *line, unsigned word, int64_t i, int64_t otherwise)
{
	const struct cf_term *t = find(line, word);

	if (!t)
		return otherwise;
	return t->value.lo < t->value.hi ? t->value.lo + i : t->value.lo;
}

static int64_t count(const struct cf_line *line)
{
	int64_t n = 1;

	for (size_t i = 0; i < line->n_terms; i++) {
		const struct cf_term *t = &line->term[i];

		if (t->word != CF_W_SET && t->value.hi - t->value.lo + 1 > n)
			n = t->value.hi - t->value.lo + 1;
	}
	return n;
}

static bool is_long(enum cf_kind kind)
{
	return kind == CF_WRITE_FIRST || kind == CF_WRITE_MIDDLE;
}

static int64_t len_of(const struct cf_line *line, int64_t i, uint32_t mtu)
{
	return get(line, CF_F_LEN, i, is_long(line->packet) ? (int64_t)mtu : (int64_t)ONLY_BYTES);
}

/* Where the payload belongs in the target's memory. */
static int64_t place_of(const struct cf_line *line, int64_t i, uint32_t mtu)
{
	return get(line, CF_W_AT, i, get(line, CF_F_PSN, i, 0) * (int64_t)mtu);
}

uint64_t cf_reach(const struct cf_case *c, uint32_t mtu)
{
	int64_t most = 0;

	for (size_t k = 0; k < c->n_lines; k++) {
		const struct cf_line *line = &c->line[k];
		int64_t n =
			line->kind == CF_SEND && cf_kind_is_data(line->packet) ? count(line) : 0;

		for (int64_t i = 0; i < n; i++) {
			int64_t end = place_of(line, i, mtu) + len_of(line, i, mtu);

			most = end > most ? end : most;
		}
	}
	return (uint64_t)most;
}

/* Fields of a data packet that a line leaves out. */
static void fill_data(struct cf_run *r, const struct cf_line *line, int64_t i, struct cf_packet *p,
		      struct cf_sent *as)
{
	int64_t psn = get(line, CF_F_PSN, i, 0), len = len_of(line, i, r->mtu);

	as->at = (uint64_t)place_of(line, i, r->mtu);
	as->copy = (uint32_t)get(line, CF_W_COPY, i, 0);
	p->f[CF_F_LEN] = (uint64_t)len;
	p->f[CF_F_DMALEN] = (uint64_t)len;
	p->f[CF_F_VA] = r->qp.va + as->at;
	p->f[CF_F_RKEY] = r->qp.rkey;
	cf_contents(r->payload, (uint32_t)len, psn, as->copy);
	p->payload = r->payload;
	if (get(line, CF_F_RTX, i, 0))
		p->f[CF_F_DSCP] = r->dscp[RETRANSMISSION];
}

/* What a switch leaves of a packet that it cuts: headers, and no ICRC that is right. */
static void trim(struct cf_run *r, int64_t hop, struct cf_packet *p)
{
	p->f[CF_F_DSCP] = r->dscp[TRIMMED + (unsigned)hop - 1];
	if (p->f[CF_F_LEN] > ONLY_BYTES)
		p->f[CF_F_LEN] = ONLY_BYTES;
}

/* The newest packet of the target with a PSN: what a SACK of ours answers. */
static const struct cf_packet *their_packet(const struct cf_run *r, int64_t psn)
{
	for (size_t i = r->n_got; i > 0; i--) {
		const struct cf_packet *p = &r->got[i - 1].p;

		if (cf_kind_is_data(p->kind) && cf_relative(p->f[CF_F_PSN], r->their_psn) == psn)
			return p;
	}
	return NULL;
}

/* Every `set` of the line; what is at or below cack_psn, or beyond the map, has no bit. */
static void fill_map(const struct cf_line *line, int64_t cack, struct cf_packet *p)
{
	for (size_t i = 0; i < line->n_terms; i++) {
		const struct cf_term *t = &line->term[i];

		for (int64_t psn = t->value.lo; t->word == CF_W_SET && psn <= t->value.hi; psn++)
			if (psn > cack && psn - cack <= 64)
				p->f[CF_F_MAP] |= UINT64_C(1) << (psn - cack - 1);
	}
}

static void admit(struct cf_run *r, const struct cf_packet *sack, int64_t cack)
{
	r->has_admitted = true;
	for (int64_t psn = 0; psn < 64; psn++)
		if (psn <= cack || (psn - cack <= 64 && sack->f[CF_F_MAP] >> (psn - cack - 1) & 1))
			r->admitted[psn] = true;
}

static void fill_answer(struct cf_run *r, const struct cf_line *line, struct cf_packet *p)
{
	int64_t cack = get(line, CF_F_CACK, 0, -1), trigger = get(line, CF_W_TRIGGER, 0, cack);
	const struct cf_packet *cause;

	if (p->kind == CF_NACK)
		trigger = get(line, CF_F_PSN, 0, 0);
	cause = their_packet(r, trigger);
	p->f[CF_F_MPR] = OUR_MPR;
	p->f[CF_F_SACK_OFFSET] = 1;
	p->f[CF_F_OFFSET] = (uint64_t)(trigger - cack) & 0xFFFF;
	p->f[CF_F_CACK] = p->f[CF_F_PSN] = (uint64_t)(r->their_psn + cack) & CF_PSN_MASK;
	if (p->kind == CF_NACK)
		p->f[CF_F_NACK] = p->f[CF_F_PSN] = (uint64_t)(r->their_psn + trigger) & CF_PSN_MASK;
	if (cause) {
		p->f[CF_F_ENTROPY] = cause->f[CF_F_OVER];
		if (cause->f[CF_F_FLOW])
			p->f[CF_F_ENTROPY] =
				cause->f[CF_F_OVER] << 16 | (cause->f[CF_F_FLOW] & 0xFFFF);
		p->f[CF_F_TS] = cause->f[CF_F_TS];
		p->f[CF_F_RTX] = cause->f[CF_F_RTX];
		r->stamp = (uint16_t)(r->stamp - 257);
	}
	fill_map(line, cack, p);
	if (p->kind == CF_SACK)
		admit(r, p, cack);
}

static void fill_defaults(struct cf_run *r, const struct cf_line *line, int64_t i,
			  struct cf_packet *p, struct cf_sent *as)
{
	if (cf_kind_is_data(p->kind))
		fill_data(r, line, i, p, as);
	else if (p->kind == CF_SACK || p->kind == CF_NACK)
		fill_answer(r, line, p);
	else if (p->kind == CF_ACK)
		p->f[CF_F_SYNDROME] = POSITIVE;
	else if (p->kind == CF_PROBE)
		p->f[CF_F_PROBE_ID] = (uint64_t)(r->n_sent + 1000) & 0xFFFF;
}

/* A word of a line changes a field. Returns false for those that are no fields of their own. */
static bool set_field(const struct cf_run *r, const struct cf_term *t, int64_t value,
		      struct cf_packet *p)
{
	bool is_data = cf_kind_is_data(p->kind);

	switch (t->word) {
	case CF_F_PSN:
		if (is_data)
			p->f[CF_F_PSN] = (uint64_t)(r->psn + value) & CF_PSN_MASK;
		else if (p->kind == CF_ACK)
			p->f[CF_F_PSN] = (uint64_t)(r->their_psn + value) & CF_PSN_MASK;
		else if (p->kind != CF_NACK)
			p->f[CF_F_PSN] = (uint64_t)value;
		return true;
	case CF_F_MSN:
		p->f[CF_F_MSN] = (uint64_t)(value + (is_data ? r->msn_base : 0)) &
				 (is_data ? 0xFFFFu : 0xFFFFFFu);
		return true;
	case CF_F_RQMSN:
		p->f[CF_F_RQMSN] = (uint64_t)(value + r->rqmsn_base) & 0xFFFF;
		return true;
	case CF_F_DQP: /* of the target, and so many more */
		p->f[CF_F_DQP] = (uint64_t)(r->qp.qpn + value) & 0xFFFFFF;
		return true;
	case CF_F_CACK:
		return true;
	case CF_F_RKEY: /* the right one, and so many more */
		p->f[CF_F_RKEY] = (uint64_t)(r->qp.rkey + value) & UINT32_MAX;
		return true;
	case CF_W_EV:
		p->f[CF_F_OVER] = r->link->ev[(uint64_t)value % CF_EVS];
		return true;
	case CF_W_NOTS:
		p->f[CF_F_STAMPED] = 0;
		return true;
	case CF_W_CE:
		p->f[CF_F_ECN] = CF_ECN_CE;
		return true;
	default:
		if (t->word < CF_FIELD_COUNT)
			p->f[t->word] = (uint64_t)value;
		return t->word < CF_FIELD_COUNT;
	}
}

static bool is_whole(const struct cf_line *line)
{
	static const unsigned spoils[] = {CF_W_TRIM, CF_W_BADCRC, CF_F_DQP,  CF_F_PKEY,
					  CF_F_TVER, CF_F_OPCODE, CF_F_RKEY, CF_F_TSTYPE};

	for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++)
		if (find(line, spoils[i]))
			return false;
	return true;
}

static void compose_one(struct cf_run *r, const struct cf_line *line, int64_t i)
{
	struct cf_packet p;
	struct cf_sent as = {.whole = is_whole(line)};

	cf_header(r, line->packet, &p);
	if (cf_kind_is_data(line->packet)) /* as of the first message */
		p.f[CF_F_MSN] = r->msn_base & 0xFFFF, p.f[CF_F_RQMSN] = r->rqmsn_base & 0xFFFF;
	fill_defaults(r, line, i, &p, &as);
	p.f[CF_F_PAD] = cf_pad_of(p.f[CF_F_LEN]);
	for (size_t k = 0; k < line->n_terms; k++)
		set_field(r, &line->term[k], get(line, line->term[k].word, i, 0), &p);
	if (find(line, CF_W_TRIM))
		trim(r, get(line, CF_W_TRIM, i, 1), &p);
	cf_send(r, &p, &as, find(line, CF_W_BADCRC) != NULL);
}

void cf_compose(struct cf_run *r, const struct cf_line *line)
{
	int64_t n = count(line);

	for (int64_t i = 0; i < n && !cf_failed(r); i++)
		compose_one(r, line, i);
}

/* ---- what the kit answers by itself ---- */

/*
 * A SACK of what the case has acknowledged so far. Before it has acknowledged anything of what came
 * the kit says nothing: what is missing is the case's affair.
 */
static void answer_probe(struct cf_run *r, const struct cf_packet *probe)
{
	struct cf_packet p;
	int64_t cack = -1;

	if (r->they_sent && !r->has_admitted)
		return;
	cf_header(r, CF_SACK, &p);
	while (cack + 1 < 64 && r->admitted[cack + 1])
		cack++;
	for (int64_t i = cack + 1; i < 64; i++)
		if (r->admitted[i])
			p.f[CF_F_MAP] |= UINT64_C(1) << (i - cack - 1);
	p.f[CF_F_PR] = 1;
	p.f[CF_F_PROBE_ID] = probe->f[CF_F_PROBE_ID];
	p.f[CF_F_CACK] = p.f[CF_F_PSN] = (uint64_t)(r->their_psn + cack) & CF_PSN_MASK;
	p.f[CF_F_SACK_OFFSET] = 1;
	p.f[CF_F_MPR] = OUR_MPR;
	p.f[CF_F_ENTROPY] = probe->f[CF_F_OVER];
	p.f[CF_F_TS] = probe->f[CF_F_TS];
	cf_send(r, &p, NULL, false);
}

static void answer_request(struct cf_run *r, const struct cf_packet *request)
{
	struct cf_packet p;

	cf_header(r, CF_EP_RESPONSE, &p);
	p.f[CF_F_PSN] = request->f[CF_F_PSN];
	p.f[CF_F_OP] = request->f[CF_F_OP];
	p.f[CF_F_TS] = request->f[CF_F_TS];
	cf_send(r, &p, NULL, false);
}

void cf_answer_by_itself(struct cf_run *r, const struct cf_packet *p)
{
	if (p->kind == CF_PROBE)
		answer_probe(r, p);
	else if (p->kind == CF_EP_REQUEST)
		answer_request(r, p);
}
