/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a hostile target of `mrc conform`: which case is played, and then what
 * comes of each wait for a packet and of each question to the program beside the target: nothing,
 * the packet that is right, one with wrong fields, bytes, a flood, an error; or a line of text.
 *
 * Nothing that comes is ever asserted, and the kit ends: after so many packets, and in the time
 * that its lines ask for. What it says of it is a text of printable characters, which is to be
 * shown on a terminal. Beside what its lines send it sends at most one packet for each that comes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "conform/catalogue.h"
#include "conform/report.h"
#include "conform/server_link.h"
#include "support/conform_link.h"
#include "support/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CASES_PLAYED 2u
#define RAW_MAX 255u
#define MS_NS UINT64_C(1000000)
/* Longer than all lines of any case ask for. */
#define CASE_NS_MAX (600000 * MS_NS)

struct world {
	struct fuzz_input in;
	struct conform_link target;
	struct cf_server_link server;
	struct cf_run run;
	struct cf_frame frame; /* the last one that came */
	unsigned repeats;
	unsigned asked; /* questions that were answered */
	char lines[4096];
};

static struct cf_book book;
/* Before anything came. Its tables are large, and all runs have the same. */
static struct cf_run first;

/* ---- packets ---- */

static void change_fields(struct world *w, struct cf_packet *p, unsigned n)
{
	for (; n > 0; n--) {
		uint8_t field = fuzz_u8(&w->in), how = fuzz_u8(&w->in);
		uint64_t value = how & 1 ? fuzz_u32(&w->in) : fuzz_u8(&w->in);

		/* The length is that of the payload. */
		if (field % CF_FIELD_COUNT == CF_F_LEN)
			continue;
		if (how & 2)
			value = p->f[field % CF_FIELD_COUNT] + value - 128;
		if (how & 4)
			value |= (uint64_t)fuzz_u32(&w->in) << 32;
		p->f[field % CF_FIELD_COUNT] = value;
	}
}

/* How the bytes of a packet are changed on its way. */
static void change_bytes(struct world *w, uint8_t how)
{
	struct cf_frame *f = &w->frame;
	size_t at = fuzz_u8(&w->in);

	if (how & 1)
		cf_frame_spoil(f);
	if (how & 2 && at < f->len)
		f->bytes[at] ^= fuzz_u8(&w->in);
	if (how & 4)
		f->len = at < f->len ? at : f->len;
}

static void make_packet(struct world *w, struct cf_packet *p)
{
	static const uint8_t payload[CF_PAYLOAD_MAX];
	uint8_t kind = fuzz_u8(&w->in), how = fuzz_u8(&w->in);

	conform_link_packet(&w->target, kind % CF_KIND_COUNT, w->run.qpn, p);
	p->f[CF_F_PSN] = w->run.qp.psn + fuzz_u8(&w->in);
	p->f[CF_F_CACK] = w->run.psn + fuzz_u8(&w->in);
	if (cf_kind_is_data(p->kind) && how & 0x80) {
		p->f[CF_F_LEN] = fuzz_u16(&w->in) % CF_PAYLOAD_MAX;
		p->payload = payload;
	}
	if (how & 0x40)
		p->src[15] = 9;
	change_fields(w, p, how & 7);
}

/* What a socket takes: any bytes, from the target or another, as UDP packets of either length. */
static void make_raw(struct world *w)
{
	uint8_t bytes[RAW_MAX];
	struct cf_packet carrier = {.f = {[CF_F_OVER] = CF_UDP_PORT, [CF_F_DPORT] = CF_UDP_PORT}};
	size_t n = fuzz_take(&w->in, bytes, fuzz_u8(&w->in));

	memcpy(carrier.src, w->target.link.theirs, 16);
	memcpy(carrier.dst, w->target.link.ours, 16);
	mb_assert(cf_frame_wrap(&w->frame, &carrier, bytes, n) == 0);
}

enum event { QUIET, ANSWER, ACK, CHANGED, PACKET, RAW, REPEAT, BROKEN, EVENTS };

static int make_frame(struct world *w, unsigned event, uint64_t until_ns)
{
	struct cf_packet p;

	switch (event) {
	case ANSWER:
	case ACK:
	case CHANGED:
		conform_link_answer(&w->target, &w->run, event == ACK, &p);
		if (event == CHANGED)
			change_fields(w, &p, 1 + fuzz_u8(&w->in) % 4);
		cf_packet_encode(&p, &w->frame);
		return 1;
	case PACKET:
		make_packet(w, &p);
		cf_packet_encode(&p, &w->frame);
		change_bytes(w, fuzz_u8(&w->in));
		return 1;
	case RAW:
		make_raw(w);
		return 1;
	case REPEAT: /* of the last one; the longest is a flood */
		w->repeats = fuzz_u8(&w->in);
		w->repeats = w->repeats == 255 ? CF_FLOOD : w->repeats;
		return w->frame.len > 0;
	case BROKEN:
		errno = fuzz_u8(&w->in) & 1 ? ECONNREFUSED : ENETUNREACH;
		return -1;
	default:
		w->target.now_ns += (until_ns - w->target.now_ns) / 256 * fuzz_u8(&w->in);
		return 0;
	}
}

static int next(struct conform_link *l, uint64_t until_ns, struct cf_frame *f)
{
	struct world *w = l->user;
	int n = 1;

	if (w->repeats > 0)
		w->repeats--;
	else
		n = w->in.left ? make_frame(w, fuzz_u8(&w->in) % EVENTS, until_ns) : 0;
	if (n > 0)
		*f = w->frame;
	return n;
}

/* ---- the program beside the target ---- */

/* Lines that are right, in the order of asking where a case asks for nothing else. */
static const char *const right[] = {
	"gid fd00::1 qpn 17 psn 5000 rkey 0x1a va 0x7f0000 length 1048576 mtu 1024 peer_psn 5",
	"ok",
	"none",
	"success 305419896",
	"error_wc flushed",
	"error mrc_create_qp: no room",
};

/* Writes an answer of the input: text up to its length, or one that is right; no bytes: the end. */
static ssize_t answer_question(void *context, char *to, size_t size)
{
	struct world *w = context;
	uint8_t how = w->in.left ? fuzz_u8(&w->in) : 0;
	size_t n;

	if (how == 255)
		return 0;
	if (how & 0x80) {
		n = fuzz_take(&w->in, to, how & 0x7F);
	} else if (w->asked == 0 && how < 0x70) {
		n = (size_t)snprintf(to, size, "%s", right[0]);
	} else if ((how & 0x70) == 0x70) { /* memory, none of it written */
		n = 2 * (how & 15u ? 64u : 1024u);
		memset(to, '0', n);
	} else {
		n = (size_t)snprintf(to, size, "%s",
				     right[how % (sizeof(right) / sizeof(right[0]))]);
	}
	w->asked++;
	to[n] = '\n';
	return (ssize_t)n + 1;
}

static void open_server(struct world *w)
{
	cookie_io_functions_t calls = {.read = answer_question};

	cf_server_link_init(&w->server);
	w->server.in = fopencookie(w, "r", calls);
	w->server.out = fopen("/dev/null", "w");
	mb_assert(w->server.in && w->server.out);
	mb_assert(setvbuf(w->server.in, w->lines, _IOFBF, sizeof(w->lines)) == 0);
}

/* ---- what the kit makes of it ---- */

static void check_text(const char *text)
{
	for (; *text; text++)
		mb_assert((*text >= ' ' && *text <= '~') || *text == '\n');
}

static void tap(void *context, uint64_t now_ns, bool out, const struct cf_frame *f)
{
	const struct world *w = context;

	(void)now_ns;
	mb_assert(f->len <= sizeof(f->bytes));
	mb_assert(!out || memcmp(f->bytes + 24, w->target.link.theirs, 16) == 0);
}

/* How many packets the lines of a case send. */
static uint64_t packets_of(const struct cf_case *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->n_lines; i++) {
		int64_t n = c->line[i].kind == CF_SEND;

		for (size_t k = 0; n && k < c->line[i].n_terms; k++) {
			const struct cf_value *v = &c->line[i].term[k].value;

			n = v->hi - v->lo + 1 > n ? v->hi - v->lo + 1 : n;
		}
		sum += (uint64_t)n;
	}
	return sum;
}

static void check_result(const struct world *w, const struct cf_case *c, uint64_t took_ns,
			 const struct cf_result *result)
{
	struct cf_row row = {c->name, c->asks, c->checks, c->n_checks, *result};
	struct cf_report report = {.target = "x", .n = 1, .row = &row};
	struct ui_text text = {0};
	json_t *json = cf_report_json(&report);

	mb_assert((result->verdict == CF_PASS) == (result->why[0] == '\0'));
	/* With a QP made by hand what is missing is filled up behind the case. */
	if (w->run.server)
		mb_assert(result->sent <= result->got + packets_of(c));
	/* A flood is noticed by the one that is too much, and once more behind the case. */
	mb_assert(result->got <= CF_FLOOD + 2 && took_ns < CASE_NS_MAX);
	mb_assert(w->run.n_got <= CF_GOT_MAX && w->run.n_sent <= CF_SENT_MAX);
	check_text(result->why);
	mb_assert(json);
	json_decref(json);
	cf_report_row(&row, &text);
	cf_report_html(&report, &text);
	ui_text_fini(&text);
}

static void check_watches(const struct world *w)
{
	struct cf_result result;

	for (unsigned i = 0; i < CF_WATCHES; i++) {
		cf_run_watch(&w->run, (enum cf_watch)i, &result);
		mb_assert(w->run.broken[i] <= w->run.watched[i]);
		check_text(result.why);
	}
}

static void play(struct world *w)
{
	char why[CF_WHY_MAX] = "";
	struct cf_result result;

	if (cf_run_find(&w->run, why)) {
		mb_assert(why[0]);
		check_text(why);
	}
	for (unsigned i = 0; i < CASES_PLAYED; i++) {
		const struct cf_case *c = &book.cases[fuzz_u8(&w->in) % book.n];
		uint64_t began_ns = w->target.now_ns;

		w->asked = 0;
		cf_run_case(&w->run, c, &result);
		check_result(w, c, w->target.now_ns - began_ns, &result);
	}
	check_watches(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	char error[CF_ERROR_MAX];
	bool by_hand;

	if (book.n == 0) {
		mb_assert(cf_catalogue_read(&book, error) == 0);
		mb_assert(cf_run_init(&first, &w.target.link, &w.server.server) == 0);
	}
	w = (struct world){.in = {data, size}, .run = first};
	by_hand = fuzz_u8(&w.in) & 1;
	conform_link_init(&w.target);
	w.target.next = next;
	w.target.user = &w;
	open_server(&w);
	w.run.patience_ns = 100 * MS_NS;
	w.run.tap = tap;
	w.run.tap_context = &w;
	if (by_hand) {
		w.run.server = NULL;
		w.run.qp = (struct cf_qp){.qpn = 17, .psn = 5000, .length = 1 << 20, .mtu = 1024};
	}
	play(&w);
	cf_server_link_close(&w.server);
	return 0;
}
