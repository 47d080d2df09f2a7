/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * script.h - cases as text: what the kit sends, what the target has to answer. The language is that
 * of tests/script as far as it can be spoken from outside; docs/conform.md describes it.
 */
#ifndef SOFTMRC_CONFORM_SCRIPT_H
#define SOFTMRC_CONFORM_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conform/packet.h"

/* Words of packets that are no fields of a header. */
enum cf_word {
	CF_W_FIRST = CF_FIELD_COUNT,
	CF_W_EV = CF_W_FIRST, /* sent: index of the EV; of SACK and NACK the one they name */
	CF_W_AT,	      /* offset in the target's memory */
	CF_W_COPY,	      /* which contents a packet has: 0 is the original */
	CF_W_TRIGGER,	      /* PSN that a SACK answers */
	CF_W_SET,	      /* a SACK says of these PSNs that they came */
	CF_W_CLEAR,	      /* ... its bitmap does not */
	CF_W_TRIM,	      /* sent: cut by a switch, 1 on the way, 2 at the last hop */
	CF_W_BADCRC,
	CF_W_NOTS,  /* sent: without a time stamp */
	CF_W_CE,    /* sent: with a congestion mark */
	CF_W_CLASS, /* got: which of the six classes its DSCP is */
	CF_WORDS,
};

enum cf_value_kind {
	CF_NUMBER, /* lo; lo..hi: a span, and as many packets of a line that sends */
	CF_ECHO,   /* what the packet sent last carried */
	CF_LETTER, /* the first line that uses a letter gives it its value */
};

struct cf_value {
	enum cf_value_kind kind;
	bool other; /* anything but */
	int64_t lo, hi;
	char letter;
};

struct cf_term {
	unsigned word; /* enum cf_field or enum cf_word */
	struct cf_value value;
};

#define CF_TERMS_MAX 14u
/* Copies of one PSN whose contents differ. */
#define CF_COPIES_MAX 100

enum cf_line_kind {
	CF_SEND,	      /* < PACKET */
	CF_WANT,	      /* > PACKET */
	CF_MAYBE,	      /* maybe > PACKET: what came of it, answer lines say */
	CF_NEVER,	      /* never > PACKET for TIME */
	CF_ANSWER,	      /* answer WORD VALUE TEXT, answer none|other TEXT */
	CF_POST_WRITE,	      /* post write N bytes [imm N [times N]] */
	CF_POST_RECV,	      /* post recv N */
	CF_EXPECT_COMPLETION, /* expect completion success|error|none */
	CF_EXPECT_RECEIVE,    /* expect receive imm N; expect receive none */
	CF_EXPECT_PLACED,     /* expect placed N [copy N] [from N] */
	CF_EXPECT_UNTOUCHED,  /* expect untouched N */
	CF_PAUSE,	      /* pause TIME */
};

enum cf_answer_kind { CF_ANSWER_TERM, CF_ANSWER_NONE, CF_ANSWER_OTHER };

struct cf_line {
	enum cf_line_kind kind;
	unsigned number; /* of the line in its file */
	bool has_span;	 /* WANT: it comes between from_ns and to_ns after the line before */
	uint64_t from_ns, to_ns;
	uint64_t for_ns; /* NEVER, PAUSE */
	enum cf_kind packet;
	size_t n_terms;
	struct cf_term term[CF_TERMS_MAX];
	enum cf_answer_kind answer;
	const char *text; /* ANSWER; in the case's copy of the text */
	const char *source;
	uint32_t times;
	uint64_t value, imm;	    /* of post and expect; EXPECT_PLACED: imm is the copy */
	uint32_t from;		    /* EXPECT_PLACED: bytes that are not looked at */
	bool has_imm, good, absent; /* EXPECT_...: good it completes well, absent not at all */
};

#define CF_LINES_MAX 64u
#define CF_CHECKS_MAX 16u

struct cf_case {
	const char *name, *asks, *file;
	const char *checks[CF_CHECKS_MAX]; /* ids of requirements */
	size_t n_checks;
	bool needs_server; /* more is asked of the target than a QP */
	bool ends_qp;
	bool needs_port; /* the kit has to hear at MRC's own UDP port */
	bool has_question;
	uint32_t psn, peer_psn; /* of the kit and of the target; UINT32_MAX: any */
	uint32_t mtu, timeout;
	size_t n_lines;
	struct cf_line *line; /* owned by the book */
};

/* All cases of one text or several. */
struct cf_book {
	size_t n, room;
	struct cf_case *cases;
	char **texts; /* copies that names and lines point into */
	size_t n_texts;
};

#define CF_ERROR_MAX 240u

/*
 * cf_book_read adds the cases of a text; `file` is for messages and stays the caller's. Returns 0,
 * or -1 with a message that names file, line, word and what is allowed; the book is then to be
 * freed.
 */
int cf_book_read(struct cf_book *book, const char *file, const char *text,
		 char error[CF_ERROR_MAX]);
void cf_book_fini(struct cf_book *book);

/* cf_word_name returns what scripts call a field or word. */
const char *cf_word_name(unsigned word);

/*
 * cf_word_limits tells which values a word may have in a packet of a kind: of a field what its bits
 * hold, of one that counts from the QP's own numbers any of 32 bits. sent: by the kit, whose own
 * memory some of them index.
 */
void cf_word_limits(enum cf_kind kind, unsigned word, bool sent, int64_t *least, int64_t *most);

#endif
