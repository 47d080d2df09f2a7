/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * term.h - the terminal: taken over for a live view and given back whatever ends it; and
 * the signals that end it.
 */
#ifndef SOFTMRC_CLI_TERM_H
#define SOFTMRC_CLI_TERM_H

#include "cli/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct cli_term {
	bool entered;
	bool modes_saved;
	struct termios modes;
};

/* cli_term_fits says whether stdout is a terminal that can show the view. */
bool cli_term_fits(void);
bool cli_term_utf8(void);
bool cli_term_colour(void);

/* cli_term_enter switches to an empty screen without cursor and echo; cli_term_leave back. */
void cli_term_enter(struct cli_term *t);
void cli_term_leave(struct cli_term *t);
/* cli_term_size returns the size now; 80 x 24 where it is not known. */
void cli_term_size(uint32_t *width, uint32_t *height);
/* cli_term_show replaces what is on the screen, in one write. */
void cli_term_show(const struct cli_text *picture);

/*
 * cli_term_catch makes SIGINT, SIGTERM and SIGHUP set a flag, for the loop to end in order;
 * cli_term_caught returns the signal's number, or 0.
 */
void cli_term_catch(void);
int cli_term_caught(void);

#endif
