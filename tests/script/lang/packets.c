/* SPDX-License-Identifier: BSD-2-Clause */
/* packets.c - the statements > (the engine must send this) and < (the peer sends this). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "script.h"

/* With `sacked` the peer answers every so many packets, and the last. */
#define SACK_EVERY 64u

/* ---- > ---- */

static unsigned find_kind(const struct world *w, enum kind kind)
{
	unsigned i = 0;

	while (i < w->n_queue && w->queue[i].packet.kind != kind)
		i++;
	return i;
}

static bool kind_came(struct script *s, const void *arg)
{
	const struct pattern *p = arg;

	return find_kind(&s->world, p->kind) < s->world.n_queue;
}

static void fail_missing(struct script *s, uint64_t i)
{
	char came[2048], now[32];

	script_print_came(s, came, sizeof(came));
	words_print_time(s->world.now_ns, now, sizeof(now));
	report_fail(&s->report,
		    "the engine did not send this, packet %" PRIu64 " of the line, by %s\n"
		    "  expected: %s\n%s",
		    i + 1, now, s->report.source, came);
}

static void fail_differs(struct script *s, const struct came *came, uint64_t i, const char *why)
{
	char text[1024], at[32];

	packet_print(&came->packet, text, sizeof(text));
	words_print_time(came->at_ns, at, sizeof(at));
	report_fail(&s->report,
		    "packet %" PRIu64 " of the line: %s\n  expected: %s\n"
		    "  came:     > %s   (at %s)",
		    i + 1, why, s->report.source, text, at);
}

/* What the engine reflects of a packet that the script gave it. */
static bool echoes(struct world *w, const struct packet *p)
{
	const struct seen *s;

	if (p->kind == KIND_SACK && packet_has(p, F_PROBE))
		s = world_seen(w->peer_probes, (uint32_t)p->value[F_PROBE]);
	else
		s = world_seen(w->got,
			       (uint32_t)p->value[p->kind == KIND_SACK ? F_TRIGGER : F_PSN]);
	return s->valid && s->ts == p->value[F_TS];
}

static void answer(struct script *s, uint64_t psn, bool last)
{
	struct packet sack = {.kind = KIND_SACK};

	if (psn % SACK_EVERY != 0 && !last)
		return;
	packet_set(&sack, F_CACK, psn);
	world_deliver(&s->world, &sack);
}

static void expect_one(struct script *s, struct when when, const struct pattern *p, uint64_t i)
{
	struct world *w = &s->world;
	struct packet got;
	char why[256];
	unsigned at;

	if (!script_wait(s, when, kind_came, p))
		fail_missing(s, i);
	at = find_kind(w, p->kind);
	if (!packet_match(&s->report, p, i, &w->queue[at].packet, &s->names, why, sizeof(why)))
		fail_differs(s, &w->queue[at], i, why);
	if (p->fields[F_TS].echo && !echoes(w, &w->queue[at].packet))
		fail_differs(s, &w->queue[at], i, "ts is not what its trigger carried");
	got = w->queue[at].packet;
	world_take(w, at);
	if (p->sacked)
		answer(s, got.value[F_PSN], i + 1 == p->repeats);
}

void statement_from_engine(struct script *s, struct when when)
{
	struct pattern p;

	s->checked = true;
	packet_parse(&s->words, &s->names, FROM_ENGINE, &p);
	for (uint64_t i = 0; i < p.repeats; i++)
		expect_one(s, when, &p, i);
}

/* ---- < ---- */

static void build(struct script *s, const struct pattern *p, uint64_t i, struct packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	packet->kind = p->kind;
	for (unsigned f = 0; f < FIELDS; f++) {
		const struct want *want = &p->fields[f];

		if (want->set && !want->echo)
			packet_set(packet, (enum field)f,
				   packet_term(&s->report, p, (enum field)f, &want->terms[0],
					       &s->names, i));
	}
}

void statement_to_engine(struct script *s, struct when when)
{
	struct pattern p;
	struct packet packet;

	if (when.low != when.high)
		report_fail(&s->report, "a packet to the engine comes at one moment");
	packet_parse(&s->words, &s->names, TO_ENGINE, &p);
	for (uint64_t i = 0; i < p.repeats; i++) {
		script_advance(s, when.low);
		build(s, &p, i, &packet);
		world_deliver(&s->world, &packet);
	}
}
