/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.h - plays cases against a target and judges it. A case has a QP of its own, where a program
 * beside the target can make one; the kit is its peer. While a case waits, the kit answers probes
 * and endpoint requests of the target by itself, as any peer does.
 */
#ifndef SOFTMRC_CONFORM_RUN_H
#define SOFTMRC_CONFORM_RUN_H

#include "conform/link.h"
#include "conform/script.h"

enum cf_verdict { CF_NOT_RUN, CF_PASS, CF_FAIL, CF_ANSWERED };

#define CF_WHY_MAX 600u

struct cf_result {
	enum cf_verdict verdict;
	char why[CF_WHY_MAX]; /* of FAIL and NOT_RUN; of ANSWERED the answers */
	uint64_t took_ns;
	uint32_t sent, got;
};

/* Rules that every packet of a run has to keep, whatever the case. */
enum cf_watch {
	CF_WATCH_LAYOUT,
	CF_WATCH_ICRC,
	CF_WATCH_QP,
	CF_WATCH_PKEY,
	CF_WATCH_CLASS,
	CF_WATCH_TRUTH,
	CF_WATCH_IDS,
	CF_WATCH_RESERVED,
	CF_WATCHES,
};

struct cf_watch_rule {
	const char *name, *asks, *checks[CF_CHECKS_MAX];
	bool is_question; /* a target that does otherwise is no worse */
	const char *yes, *no;
};

extern const struct cf_watch_rule cf_watch_rule[CF_WATCHES];

/* What came, and what was sent. */
struct cf_got {
	uint64_t at_ns;
	bool used;
	struct cf_packet p; /* without its payload */
};

struct cf_sent {
	uint64_t at_ns, at; /* at: offset in the target's memory */
	uint32_t copy;
	struct cf_packet p; /* without its payload */
	bool whole;	    /* the target had to take it: not cut, not spoilt, for its QP */
};

#define CF_GOT_MAX 4096u
#define CF_SENT_MAX 4096u
/* More than this in one case is a flood. */
#define CF_FLOOD 20000u

struct cf_run {
	const struct cf_link *link;
	const struct cf_server *server; /* NULL: one QP, made by hand */
	struct cf_qp qp;
	uint8_t dscp[6];
	uint64_t patience_ns; /* how long an answer may take */
	/* Called with each packet of either direction; NULL: nobody listens. */
	void (*tap)(void *context, uint64_t now_ns, bool out, const struct cf_frame *f);
	void *tap_context;
	/* Of the whole run. */
	uint64_t watched[CF_WATCHES], broken[CF_WATCHES];
	char first_broken[CF_WATCHES][CF_SAY_MAX + CF_CASE_NAME_MAX];
	uint64_t unknown; /* packets that were not MRC's, or not from the target */
	/* Why nothing more can be asked of the target; "": it can. */
	char lost[CF_SAY_MAX];
	/* Of the case that is played. */
	const struct cf_case *c;
	struct cf_result *result;
	uint32_t qpn, psn, their_psn, mtu;
	uint32_t msn_base, rqmsn_base;
	struct cf_sent *sent; /* CF_SENT_MAX */
	size_t n_sent;
	struct cf_got *got; /* CF_GOT_MAX */
	size_t n_got, from; /* packets before `from` came before the line that sent last */
	uint64_t heard;	    /* all packets of the case */
	uint64_t moment_ns; /* of the last packet sent or matched */
	const struct cf_got *matched;
	bool has_letter[26];
	uint64_t letter[26];
	uint16_t stamp;
	/* Which of the target's first packets the case has acknowledged, and whether it did any. */
	bool admitted[64], has_admitted, they_sent;
	struct cf_frame frame;
	uint8_t payload[CF_PAYLOAD_MAX];
};

/* cf_run_init allocates what a run needs and returns 0, or -1 without memory. */
int cf_run_init(struct cf_run *r, const struct cf_link *link, const struct cf_server *server);
void cf_run_fini(struct cf_run *r);

/*
 * cf_run_find asks whether the target is there at all, by a reliability probe to its QP: 0 it is,
 * -1 with a message that says what was there instead. With a server it makes a QP for that.
 */
int cf_run_find(struct cf_run *r, char why[CF_WHY_MAX]);

/* cf_run_case plays a case; its result says what came of it. */
void cf_run_case(struct cf_run *r, const struct cf_case *c, struct cf_result *result);

/* cf_run_watch judges what was seen of all packets so far. */
void cf_run_watch(const struct cf_run *r, enum cf_watch watch, struct cf_result *result);

/* ---- for the parts ---- */

__attribute__((format(printf, 2, 3))) void cf_fail(struct cf_run *r, const char *format, ...);
bool cf_failed(const struct cf_run *r);

/* compose.c: cf_reach returns how many bytes of the target's memory the packets of a case reach. */
uint64_t cf_reach(const struct cf_case *c, uint32_t mtu);
/* cf_compose sends what a line says, all packets of it. */
void cf_compose(struct cf_run *r, const struct cf_line *line);
/* cf_send sends one packet and notes it. */
void cf_send(struct cf_run *r, struct cf_packet *p, const struct cf_sent *as, bool spoil);
/* cf_header makes a packet to the target with what all have. */
void cf_header(struct cf_run *r, enum cf_kind kind, struct cf_packet *p);
/* cf_contents writes the bytes of a PSN's copy; none of them is 0. */
void cf_contents(uint8_t *bytes, uint32_t len, int64_t psn, uint32_t copy);
/* cf_answer_by_itself answers a probe or an endpoint request of the target. */
void cf_answer_by_itself(struct cf_run *r, const struct cf_packet *p);

/* match.c: cf_match says whether a packet is what a line wants; letters get their values. */
bool cf_match(struct cf_run *r, const struct cf_line *line, const struct cf_packet *p);
/* cf_match_term does so of one of its words. */
bool cf_match_term(struct cf_run *r, const struct cf_term *t, const struct cf_packet *p, bool bind);
/* cf_differs writes which words of a line a packet does not have; cf_describe the packet. */
void cf_differs(struct cf_run *r, const struct cf_line *line, const struct cf_packet *p, char *out,
		size_t size);
void cf_describe(const struct cf_run *r, const struct cf_packet *p, char *out, size_t size);
/* cf_relative returns a PSN counted from the first of its direction. */
int64_t cf_relative(uint64_t psn, uint32_t first);

/* hear.c: cf_hear takes packets until a moment; returns whether one came that is kept. */
bool cf_hear(struct cf_run *r, uint64_t until_ns);

#endif
