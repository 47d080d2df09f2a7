/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * term.h - the terminal: taken over for the live view and given back whatever ends the demo; and
 * the signals that end it.
 */
#ifndef SOFTMRC_CLI_DEMO_TERM_H
#define SOFTMRC_CLI_DEMO_TERM_H

#include "cli/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct demo_term {
	bool entered;
	bool modes_saved;
	struct termios modes;
};

/* demo_term_fits says whether stdout is a terminal that can show the view. */
bool demo_term_fits(void);
bool demo_term_utf8(void);
bool demo_term_colour(void);

/* demo_term_enter switches to an empty screen without cursor and echo; demo_term_leave back. */
void demo_term_enter(struct demo_term *t);
void demo_term_leave(struct demo_term *t);
/* demo_term_size returns the size now; 80 x 24 where it is not known. */
void demo_term_size(uint32_t *width, uint32_t *height);
/* demo_term_show replaces what is on the screen, in one write. */
void demo_term_show(const struct cli_text *picture);

/*
 * demo_term_catch makes SIGINT, SIGTERM and SIGHUP set a flag, for the loop to end in order;
 * demo_term_caught returns the signal's number, or 0.
 */
void demo_term_catch(void);
int demo_term_caught(void);

#endif
