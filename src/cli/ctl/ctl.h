/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl.h - the parts of `mrc ctl`: requests to mrcd, and its answers for eyes. */
#ifndef SOFTMRC_CLI_CTL_CTL_H
#define SOFTMRC_CLI_CTL_CTL_H

#include "cli/fabric_at_hand.h"
#include "ui/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Several times the longest answer of mrcd, 4,096 EVs with fields; who says more is not it. */
#define CTL_LINE_MAX (16u << 20)
/* mrcd answers within milliseconds, and systemd ends one that says nothing for ten seconds. */
#define CTL_PATIENCE_S 5

struct ctl_link {
	const char *path;
	FILE *f;
	const char *wrong; /* with what came; NULL: nothing */
};

/* ctl_link_open connects to mrcd: the socket `path`, or, where that is NULL, the one in the folder
 * that MRC_NODE_DIR names, or the default one. Waits CTL_PATIENCE_S where too many wait already.
 * 0, or 1 with a message. */
int ctl_link_open(struct ctl_link *link, const char *path);
void ctl_link_close(struct ctl_link *link);
/*
 * ctl_link_ask sends a request, which it drops, waits CTL_PATIENCE_S and returns a new answer.
 * NULL: a message was printed; mrcd may do what it was asked for all the same, and the connection
 * is of no use any more.
 */
json_t *ctl_link_ask(struct ctl_link *link, json_t *request);
/*
 * ctl_link_next waits for a line and returns its value, new. NULL: the connection has ended, or
 * link->wrong says what is wrong with what came: no more can be taken from it.
 */
json_t *ctl_link_next(struct ctl_link *link);
/* ctl_link_refuse prints what is wrong with what came, or that mrcd ended the connection; 1. */
int ctl_link_refuse(const struct ctl_link *link);

/*
 * ctl_words_add adds words KEY=VALUE to a request: numbers, true, false, lists with commas, else
 * text. false: a word has no `=`, or a key occurs twice; *wrong is the word.
 */
bool ctl_words_add(json_t *request, const char *const *word, size_t n, const char **wrong);

/* ctl_show_text appends a text of somebody's as printable ASCII. */
void ctl_show_text(const char *text, struct ui_text *out);
/*
 * ctl_name_evs gives every EV of an answer, and that of an event, a member "cable" where the fabric
 * has one: of this machine's packets, to the peer of an event.
 */
void ctl_name_evs(json_t *answer, const struct cli_fabric *fabric);

/* ctl_show_answer appends what an answer says, as tables. */
void ctl_show_answer(const json_t *answer, struct ui_text *out);
/* ctl_show_event appends one line. */
void ctl_show_event(const json_t *event, struct ui_text *out);

#endif
