/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.h - a packet as a script writes it: a kind and named fields.
 *
 * One table knows every field: its name, the kinds that have it, what values it takes. Reading,
 * comparing and printing go by that table, so that an error message is in the language of scripts.
 */
#ifndef SCRIPT_PACKET_H
#define SCRIPT_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "words.h"

enum kind {
	KIND_WRITE,
	KIND_SEND, /* of the extension; its opcodes go by the names of WRITE's */
	KIND_SACK,
	KIND_NACK,
	KIND_ACK,
	KIND_PROBE,
	KIND_EP_REQUEST,
	KIND_EP_RESPONSE,
	KINDS,
};

enum field {
	F_OPCODE, /* WRITE, SEND: which of the six, as of a WRITE; not written as a field */
	F_PSN,
	F_MSN,
	F_RQMSN,
	F_LEN,
	F_DMALEN,
	F_AT,
	F_RKEY,
	F_IMM,
	F_RTX,
	F_ACKREQ,
	F_SE,
	F_CACK,
	F_OFFSET,
	F_MAP,
	F_OOO,
	F_TRIGGER,
	F_MARK,
	F_PROBE,
	F_REASON,
	F_NAK,
	F_OP,
	F_ID,
	F_PORTS,
	F_EV,
	F_OVER,
	F_PLANE,
	F_TS,
	F_MPR,
	F_RCVD,
	F_PEN,
	F_RESTORE,
	F_CLASS,
	F_DQP,
	F_PKEY,
	F_CE,
	F_TRIM,
	F_FROM,
	F_BADCRC,
	F_NOTS,
	F_EXT,
	F_WAIT,
	FIELDS,
};

/* What travels: numbers. A signed field is kept as its two's complement. */
struct packet {
	enum kind kind;
	uint64_t has; /* bit f: value[f] is set */
	uint64_t value[FIELDS];
};

_Static_assert(FIELDS <= 64, "a set of fields is a 64-bit word");

static inline bool packet_has(const struct packet *p, enum field f)
{
	return p->has >> f & 1;
}

static inline void packet_set(struct packet *p, enum field f, uint64_t value)
{
	p->has |= UINT64_C(1) << f;
	p->value[f] = value;
}

/* packet_get returns a field, or `otherwise` when it is not set. */
static inline uint64_t packet_get(const struct packet *p, enum field f, uint64_t otherwise)
{
	return packet_has(p, f) ? p->value[f] : otherwise;
}

/* ---- names that a script gives to EVs and probe ids ---- */

#define NAMES_MAX 64u

struct names {
	unsigned n;
	struct {
		char text[16];
		bool bound;
		uint64_t value;
	} at[NAMES_MAX];
};

/* ---- what a line says of a field ---- */

#define ALTERNATIVES 8u
#define NO_NAME UINT32_MAX

/* A number, a range first..last that counts up from packet to packet, a name, or a list of
 * these. */
struct term {
	uint64_t first, last;
	uint32_t name; /* index in names, or NO_NAME */
};

struct want {
	bool set;
	bool not ; /* none of the terms */
	bool echo; /* ts: what the peer would reflect */
	unsigned n;
	struct term terms[ALTERNATIVES];
};

struct pattern {
	enum kind kind;
	bool sacked; /* > WRITE: the peer answers on its own */
	uint64_t repeats;
	struct want fields[FIELDS];
};

enum direction {
	FROM_ENGINE, /* > */
	TO_ENGINE,   /* < */
};

/* packet_is_data says whether a kind is WRITE or SEND. */
static inline bool packet_is_data(enum kind kind)
{
	return kind == KIND_WRITE || kind == KIND_SEND;
}

/* packet_parse reads kind and fields up to the end of the line. */
void packet_parse(struct words *w, struct names *names, enum direction dir, struct pattern *p);
/* packet_kind reads one of the kinds. */
enum kind packet_kind(struct words *w);
/* packet_name looks a name up; an unknown one becomes known, unbound. */
uint32_t packet_name(struct report *r, struct names *names, const char *text);
/* packet_is_name says whether a word is a name: it begins with a capital letter. */
bool packet_is_name(const char *word);

/*
 * packet_term returns the number that a term stands for in the i-th packet of the line. The name
 * must be bound.
 */
uint64_t packet_term(struct report *r, const struct pattern *p, enum field f, const struct term *t,
		     const struct names *names, uint64_t i);

/*
 * packet_match compares the i-th packet of a line with what came and binds names. On a difference
 * it writes which field differs to why and returns false.
 */
bool packet_match(struct report *r, const struct pattern *p, uint64_t i, const struct packet *got,
		  struct names *names, char *why, size_t size);

/* packet_print writes a packet as a script would. */
void packet_print(const struct packet *p, char *out, size_t size);

#endif
