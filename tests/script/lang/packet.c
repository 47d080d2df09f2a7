/* SPDX-License-Identifier: BSD-2-Clause */
/* packet.c - see packet.h. */
#include "packet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/dscp.h"
#include "wire/packet.h"

enum type {
	T_NUMBER,
	T_SIGNED,
	T_HEX,
	T_NAMED, /* a number, or a name that a script gave */
	T_FLAG,
	T_CHOICE,
};

#define K(k) (1u << KIND_##k)
#define DATA (K(WRITE) | K(SEND))
#define ALL ((1u << KINDS) - 1)
#define SIDE(d) (1u << (d))
#define BOTH (SIDE(FROM_ENGINE) | SIDE(TO_ENGINE))

struct choice {
	const char *name;
	uint64_t value;
};

static const struct choice opcodes[] = {{"FIRST", MW_WRITE_FIRST},
					{"MIDDLE", MW_WRITE_MIDDLE},
					{"LAST", MW_WRITE_LAST},
					{"LAST IMM", MW_WRITE_LAST_IMM},
					{"ONLY", MW_WRITE_ONLY},
					{"ONLY IMM", MW_WRITE_ONLY_IMM},
					{NULL, 0}};
static const struct choice marks[] = {{"none", MW_MARK_NONE},
				      {"skip_once", MW_MARK_SKIP_ONCE},
				      {"always_skip", MW_MARK_ALWAYS_SKIP},
				      {"undefined", 3},
				      {NULL, 0}};
static const struct choice reasons[] = {{"trimmed", MW_NACK_TRIMMED},
					{"trimmed_lasthop", MW_NACK_TRIMMED_LASTHOP},
					{"no_bitmap", MW_NACK_NO_BITMAP},
					{"no_pkt_buffer", MW_NACK_NO_PKT_BUFFER},
					{"no_resource", MW_NACK_NO_RESOURCE},
					{"psn_oor_window", MW_NACK_PSN_OOR_WINDOW},
					{"unexp_event", MW_NACK_UNEXP_EVENT},
					{"rnr", MW_NACK_RNR},
					{NULL, 0}};
static const struct choice naks[] = {{"none", MW_ACK_NO_CREDIT},
				     {"invalid_request", MW_NAK_INVALID_REQUEST},
				     {"remote_access", MW_NAK_REMOTE_ACCESS},
				     {"remote_op", MW_NAK_REMOTE_OP},
				     {NULL, 0}};
static const struct choice ops[] = {
	{"port_status", MW_EP_PORT_STATUS}, {"ev_probe", MW_EP_EV_PROBE}, {NULL, 0}};
static const struct choice classes[] = {{"no_trim", MW_DSCP_NO_TRIM},
					{"data", MW_DSCP_TRIMMABLE},
					{"retx", MW_DSCP_TRIMMABLE_RETX},
					{"control", MW_DSCP_CONTROL},
					{NULL, 0}};
static const struct choice trims[] = {{"none", 0}, {"midpath", 1}, {"lasthop", 2}, {NULL, 0}};
static const struct choice senders[] = {{"peer", 0}, {"attacker", 1}, {NULL, 0}};

#define MAX8 UINT64_C(0xFF)
#define MAX16 UINT64_C(0xFFFF)
#define MAX24 UINT64_C(0xFFFFFF)
#define MAX32 UINT64_C(0xFFFFFFFF)

struct field_info {
	const char *name;
	unsigned kinds;
	unsigned sides;
	enum type type;
	uint64_t max; /* a range wraps behind it */
	const struct choice *choices;
};

static const struct field_info table[FIELDS] = {
	[F_OPCODE] = {"", DATA, BOTH, T_CHOICE, MAX8, opcodes},
	[F_PSN] = {"psn", DATA | K(NACK) | K(ACK), BOTH, T_NUMBER, MAX24, NULL},
	[F_MSN] = {"msn", DATA | K(ACK), BOTH, T_NUMBER, MAX24, NULL},
	[F_RQMSN] = {"rqmsn", DATA, BOTH, T_NUMBER, MAX16, NULL},
	[F_LEN] = {"len", DATA, BOTH, T_NUMBER, 4096, NULL},
	[F_DMALEN] = {"dmalen", DATA, BOTH, T_NUMBER, MAX32, NULL},
	[F_AT] = {"at", DATA, BOTH, T_NUMBER, UINT64_MAX, NULL},
	[F_RKEY] = {"rkey", DATA, BOTH, T_HEX, MAX32, NULL},
	[F_IMM] = {"imm", DATA, BOTH, T_NUMBER, MAX32, NULL},
	[F_RTX] = {"rtx", DATA | K(SACK), BOTH, T_FLAG, 1, NULL},
	[F_ACKREQ] = {"ackreq", DATA, BOTH, T_FLAG, 1, NULL},
	[F_SE] = {"se", DATA, BOTH, T_FLAG, 1, NULL},
	[F_CACK] = {"cack", K(SACK), BOTH, T_NUMBER, MAX24, NULL},
	[F_OFFSET] = {"offset", K(SACK), BOTH, T_SIGNED, 0x7FFF, NULL},
	[F_MAP] = {"map", K(SACK), BOTH, T_HEX, UINT64_MAX, NULL},
	[F_OOO] = {"ooo", K(SACK), BOTH, T_NUMBER, 0x7FFF, NULL},
	[F_TRIGGER] = {"trigger", K(SACK), BOTH, T_NUMBER, MAX24, NULL},
	[F_MARK] = {"mark", K(SACK), BOTH, T_CHOICE, 3, marks},
	[F_PROBE] = {"probe", K(SACK) | K(PROBE), BOTH, T_NAMED, MAX16, NULL},
	[F_REASON] = {"reason", K(NACK), BOTH, T_CHOICE, MAX8, reasons},
	[F_NAK] = {"nak", K(ACK), BOTH, T_CHOICE, MAX8, naks},
	[F_OP] = {"op", K(EP_REQUEST) | K(EP_RESPONSE), BOTH, T_CHOICE, 3, ops},
	[F_ID] = {"id", K(EP_REQUEST) | K(EP_RESPONSE), BOTH, T_NAMED, MAX16, NULL},
	[F_PORTS] = {"ports", K(EP_REQUEST), BOTH, T_HEX, MAX32, NULL},
	[F_EV] = {"ev", ALL, BOTH, T_NAMED, MAX32, NULL},
	[F_OVER] = {"over", K(SACK) | K(NACK), BOTH, T_NAMED, MAX32, NULL},
	[F_PLANE] = {"plane", ALL, BOTH, T_NUMBER, 31, NULL},
	[F_TS] = {"ts", ALL & ~K(ACK), BOTH, T_NUMBER, MAX16, NULL},
	[F_MPR] = {"mpr", K(SACK), BOTH, T_NUMBER, MAX8, NULL},
	[F_RCVD] = {"rcvd", K(SACK), BOTH, T_NUMBER, MAX24, NULL},
	[F_PEN] = {"pen", K(SACK), BOTH, T_NUMBER, 127, NULL},
	[F_RESTORE] = {"restore", K(SACK), BOTH, T_FLAG, 1, NULL},
	[F_CLASS] = {"class", ALL, SIDE(FROM_ENGINE), T_CHOICE, MW_DSCP_CONTROL, classes},
	[F_DQP] = {"dqp", ALL, BOTH, T_HEX, MAX24, NULL},
	[F_PKEY] = {"pkey", ALL, BOTH, T_HEX, MAX16, NULL},
	[F_CE] = {"ce", ALL, SIDE(TO_ENGINE), T_FLAG, 1, NULL},
	[F_TRIM] = {"trim", ALL, SIDE(TO_ENGINE), T_CHOICE, 2, trims},
	[F_FROM] = {"from", ALL, SIDE(TO_ENGINE), T_CHOICE, 1, senders},
	[F_BADCRC] = {"badcrc", ALL, SIDE(TO_ENGINE), T_FLAG, 1, NULL},
	[F_NOTS] = {"nots", DATA, SIDE(TO_ENGINE), T_FLAG, 1, NULL},
	[F_EXT] = {"ext", K(SACK) | K(PROBE), BOTH, T_HEX, MAX8, NULL},
	[F_WAIT] = {"wait", K(NACK), BOTH, T_NUMBER, MAX8, NULL},
};

static const char *const kind_names[KINDS + 1] = {
	"WRITE", "SEND", "SACK", "NACK", "ACK", "PROBE", "EP_REQUEST", "EP_RESPONSE", NULL};

/* ---- names ---- */

bool packet_is_name(const char *word)
{
	return *word >= 'A' && *word <= 'Z';
}

uint32_t packet_name(struct report *r, struct names *names, const char *text)
{
	if (strlen(text) >= sizeof(names->at[0].text))
		report_fail(r, "name '%s' is longer than %zu letters", text,
			    sizeof(names->at[0].text) - 1);
	for (unsigned i = 0; i < names->n; i++)
		if (strcmp(names->at[i].text, text) == 0)
			return i;
	if (names->n == NAMES_MAX)
		report_fail(r, "more than %u names", NAMES_MAX);
	strcpy(names->at[names->n].text, text);
	return names->n++;
}

/* ---- reading ---- */

static uint64_t modulus_mask(enum kind kind, enum field f)
{
	return f == F_MSN && packet_is_data(kind) ? MAX16 : table[f].max;
}

static uint64_t read_value(struct report *r, enum kind kind, enum field f, const char *word)
{
	const struct field_info *info = &table[f];
	uint64_t max = modulus_mask(kind, f);

	if (info->type == T_SIGNED && *word == '-')
		return 0 - word_number(r, info->name, word + 1, max + 1);
	return word_number(r, info->name, word, max);
}

static void read_term(struct report *r, struct names *names, enum kind kind, enum field f,
		      char *word, struct term *t)
{
	char *dots = strstr(word, "..");

	t->name = NO_NAME;
	if (packet_is_name(word)) {
		if (table[f].type != T_NAMED)
			report_fail(r, "%s '%s': only EVs, probe ids and request ids have names",
				    table[f].name, word);
		t->name = packet_name(r, names, word);
		return;
	}
	if (dots)
		*dots = 0;
	t->first = read_value(r, kind, f, word);
	t->last = dots ? read_value(r, kind, f, dots + 2) : t->first;
}

static void read_choice(struct words *w, enum field f, struct want *want)
{
	const char *names[16];
	unsigned n = 0;

	for (const struct choice *c = table[f].choices; c->name; c++)
		names[n++] = c->name;
	names[n] = NULL;
	n = words_choice(w, table[f].name, names);
	want->n = 1;
	want->terms[0] =
		(struct term){table[f].choices[n].value, table[f].choices[n].value, NO_NAME};
}

static void read_terms(struct words *w, struct names *names, struct pattern *p, enum field f,
		       enum direction dir)
{
	struct want *want = &p->fields[f];
	char copy[WORDS_LINE_MAX], *save = NULL;

	strcpy(copy, words_next(w, table[f].name));
	if (f == F_TS && strcmp(copy, "echo") == 0) {
		if (p->kind != KIND_SACK && p->kind != KIND_NACK)
			report_fail(w->report, "ts echo goes with SACK and NACK, which reflect");
		want->echo = true;
		return;
	}
	want->not = copy[0] == '!';
	for (char *s = strtok_r(copy + want->not, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		if (want->n == ALTERNATIVES)
			report_fail(w->report, "%s: more than %u values", table[f].name,
				    ALTERNATIVES);
		read_term(w->report, names, p->kind, f, s, &want->terms[want->n++]);
	}
	if (want->n == 0)
		report_fail(w->report, "%s has no value", table[f].name);
	if (dir == TO_ENGINE && (want->not || want->n > 1))
		report_fail(w->report, "%s: a packet to the engine has one value in each field",
			    table[f].name);
}

static void count_repeats(struct report *r, struct pattern *p, enum field f)
{
	for (unsigned i = 0; i < p->fields[f].n; i++) {
		const struct term *t = &p->fields[f].terms[i];
		uint64_t n = ((t->last - t->first) & modulus_mask(p->kind, f)) + 1;

		if (t->name != NO_NAME || n == 1)
			continue;
		if (p->repeats > 1 && p->repeats != n)
			report_fail(r,
				    "%s counts %" PRIu64
				    " packets, another field of the line %" PRIu64,
				    table[f].name, n, p->repeats);
		p->repeats = n;
	}
}

static void unknown_field(struct report *r, enum kind kind, enum direction dir, const char *word)
{
	const char *allowed[FIELDS + 1];
	char text[512];
	unsigned n = 0;

	for (unsigned f = F_OPCODE + 1; f < FIELDS; f++)
		if (table[f].kinds >> kind & 1 && table[f].sides >> dir & 1)
			allowed[n++] = table[f].name;
	allowed[n] = NULL;
	word_list(allowed, text, sizeof(text));
	report_fail(r, "%s has no field '%s'; it has %s", kind_names[kind], word, text);
}

static enum field field_of(struct report *r, enum kind kind, enum direction dir, const char *word)
{
	for (unsigned f = F_OPCODE + 1; f < FIELDS; f++)
		if (table[f].kinds >> kind & 1 && table[f].sides >> dir & 1 &&
		    strcmp(table[f].name, word) == 0)
			return (enum field)f;
	unknown_field(r, kind, dir, word);
	return FIELDS;
}

static void read_opcode(struct words *w, struct pattern *p, enum direction dir)
{
	const char *word = words_peek(w);
	struct want *want = &p->fields[F_OPCODE];
	static const char *const parts[] = {"FIRST", "MIDDLE", "LAST", "ONLY", NULL};
	static const uint8_t codes[] = {MW_WRITE_FIRST, MW_WRITE_MIDDLE, MW_WRITE_LAST,
					MW_WRITE_ONLY};
	uint64_t code;

	if (!word || !packet_is_name(word)) {
		if (dir == TO_ENGINE)
			report_fail(w->report,
				    "which WRITE? FIRST, MIDDLE, LAST, LAST IMM, ONLY or ONLY IMM");
		return;
	}
	code = codes[words_choice(w, "WRITE", parts)];
	if (words_accept(w, "IMM")) {
		if (code != MW_WRITE_LAST && code != MW_WRITE_ONLY)
			report_fail(w->report, "IMM goes with LAST and ONLY");
		code++;
	}
	*want = (struct want){.set = true, .n = 1, .terms = {{code, code, NO_NAME}}};
}

enum kind packet_kind(struct words *w)
{
	return (enum kind)words_choice(w, "packet", kind_names);
}

static void read_field(struct words *w, struct names *names, enum direction dir, struct pattern *p)
{
	const char *word = words_next(w, "a field");
	bool not = *word == '!';
	enum field f = field_of(w->report, p->kind, dir, word + not );
	struct want *want = &p->fields[f];

	if (want->set)
		report_fail(w->report, "%s stands twice in the line", table[f].name);
	if (not &&table[f].type != T_FLAG)
		report_fail(w->report, "'%s': ! stands before a flag or a value", word);
	want->set = true;
	if (table[f].type == T_FLAG) {
		want->n = 1;
		want->terms[0] = (struct term){!not, !not, NO_NAME};
	} else if (table[f].type == T_CHOICE) {
		read_choice(w, f, want);
	} else {
		read_terms(w, names, p, f, dir);
	}
	count_repeats(w->report, p, f);
}

void packet_parse(struct words *w, struct names *names, enum direction dir, struct pattern *p)
{
	memset(p, 0, sizeof(*p));
	p->repeats = 1;
	p->kind = packet_kind(w);
	if (packet_is_data(p->kind))
		read_opcode(w, p, dir);
	while (words_peek(w)) {
		if (packet_is_data(p->kind) && dir == FROM_ENGINE && words_accept(w, "sacked"))
			p->sacked = true;
		else
			read_field(w, names, dir, p);
	}
}

/* ---- matching ---- */

uint64_t packet_term(struct report *r, const struct pattern *p, enum field f, const struct term *t,
		     const struct names *names, uint64_t i)
{
	if (t->name == NO_NAME)
		return t->first == t->last ? t->first : (t->first + i) & modulus_mask(p->kind, f);
	if (!names->at[t->name].bound)
		report_fail(r, "%s %s: nothing has had this name so far", table[f].name,
			    names->at[t->name].text);
	return names->at[t->name].value;
}

static void print_value(enum field f, uint64_t v, char *out, size_t size)
{
	const struct field_info *info = &table[f];

	if (info->type == T_CHOICE)
		for (const struct choice *c = info->choices; c->name; c++)
			if (c->value == v) {
				snprintf(out, size, "%s", c->name);
				return;
			}
	if (info->type == T_SIGNED)
		snprintf(out, size, "%" PRId64, (int64_t)v);
	else if (info->type == T_HEX || info->type == T_CHOICE)
		snprintf(out, size, "0x%" PRIx64, v);
	else if (info->type == T_FLAG)
		snprintf(out, size, "%s", v ? "set" : "not set");
	else
		snprintf(out, size, "%" PRIu64, v);
}

/* A flag or mode that a line does not mention must not be there. */
static bool strict(const struct pattern *p, enum field f, uint64_t *value)
{
	*value = f == F_NAK ? MW_ACK_NO_CREDIT : 0;
	return f == F_RTX || f == F_NAK || (f == F_PROBE && p->kind == KIND_SACK);
}

static bool term_matches(struct report *r, const struct pattern *p, enum field f, uint64_t i,
			 const struct packet *got, struct names *names)
{
	const struct want *want = &p->fields[f];
	const struct term *only = &want->terms[0];

	if (want->n == 1 && !want->not &&only->name != NO_NAME && !names->at[only->name].bound) {
		names->at[only->name].bound = true;
		names->at[only->name].value = got->value[f];
		return true;
	}
	for (unsigned k = 0; k < want->n; k++)
		if (packet_term(r, p, f, &want->terms[k], names, i) == got->value[f])
			return !want->not ;
	return want->not ;
}

static void differs(struct report *r, const struct pattern *p, enum field f, uint64_t i,
		    const struct packet *got, const struct names *names, char *why, size_t size)
{
	const struct want *want = &p->fields[f];
	char came[32] = "nothing", wanted[32] = "not set";
	const char *name = f == F_OPCODE ? "kind of WRITE" : table[f].name;

	if (packet_has(got, f))
		print_value(f, got->value[f], came, sizeof(came));
	if (want->n > 0)
		print_value(f, packet_term(r, p, f, &want->terms[0], names, i), wanted,
			    sizeof(wanted));
	snprintf(why, size, "%s is %s, wanted %s%s%s", name, came, want->not ? "anything but " : "",
		 wanted, want->n > 1 ? " (or another of the list)" : "");
}

bool packet_match(struct report *r, const struct pattern *p, uint64_t i, const struct packet *got,
		  struct names *names, char *why, size_t size)
{
	for (unsigned f = 0; f < FIELDS; f++) {
		const struct want *want = &p->fields[f];
		uint64_t value;

		if (want->set && want->echo)
			continue; /* compared by whoever knows what went the other way */
		if (want->set && packet_has(got, f) &&
		    term_matches(r, p, (enum field)f, i, got, names))
			continue;
		if (!want->set && (!packet_has(got, f) || !strict(p, (enum field)f, &value)))
			continue;
		if (!want->set && f != F_PROBE && got->value[f] == value)
			continue;
		differs(r, p, (enum field)f, i, got, names, why, size);
		return false;
	}
	return true;
}

/* ---- printing ---- */

void packet_print(const struct packet *p, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s", kind_names[p->kind]);
	char value[32];

	if (packet_is_data(p->kind))
		used += (size_t)snprintf(out + used, size - used, " %s",
					 opcodes[p->value[F_OPCODE] - MW_WRITE_FIRST].name);
	for (unsigned f = F_OPCODE + 1; f < FIELDS && used < size; f++) {
		if (!packet_has(p, f))
			continue;
		if (table[f].type == T_FLAG) {
			if (p->value[f])
				used += (size_t)snprintf(out + used, size - used, " %s",
							 table[f].name);
			continue;
		}
		print_value((enum field)f, p->value[f], value, sizeof(value));
		used += (size_t)snprintf(out + used, size - used, " %s %s", table[f].name, value);
	}
}
