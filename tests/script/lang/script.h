/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * script.h - runs a script: settings, then one statement a line against one engine.
 *
 * README.md describes the language.
 */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include "world.h"

struct script {
	struct report report;
	struct words words; /* of the line at hand */
	struct names names;
	struct config config;
	struct world world;
	const char *text;
	bool started; /* the engine exists; settings are no longer taken */
	bool checked; /* something was expected */
};

/*
 * script_run runs text, which came from the file `name`. It returns true when everything went as
 * written; otherwise s->report.text says what did not. trace prints every packet as it passes;
 * capture, a stream or NULL, gets all of them as a pcapng file.
 */
bool script_run(struct script *s, const char *name, const char *text, bool trace, FILE *capture);

/* ---- the statements, each in the file that is named ---- */

/* When a statement happens: at `low` after the one before, or somewhere from low to high. */
struct when {
	uint64_t low, high;
};

/* packets.c: > and < */
void statement_from_engine(struct script *s, struct when when);
void statement_to_engine(struct script *s, struct when when);
/* expect.c */
void statement_expect(struct script *s, struct when when);
/* act.c: all the others, post, state, room, ...; false: it is none of these */
bool statement_act(struct script *s, const char *verb);

/* ---- the clock, in expect.c ---- */

/* script_advance moves the clock by ns; nothing may come before the new moment. */
void script_advance(struct script *s, uint64_t ns);
/* script_wait moves the clock until found() says so, within when; false: the time is over. */
bool script_wait(struct script *s, struct when when,
		 bool (*found)(struct script *s, const void *arg), const void *arg);
/* script_quiet fails if anything came that nobody expected. */
void script_quiet(struct script *s, const char *why);
/* script_print_came lists what is waiting to be expected, for messages. */
void script_print_came(const struct script *s, char *out, size_t size);
/* script_ev reads an EV, by number or name. */
uint32_t script_ev(struct script *s);

#endif
