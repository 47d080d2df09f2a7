/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * terminal.h - the terminal: taken over for a live view and given back whatever ends it; and the
 * signals that end it. And what else of the process a command sets.
 */
#ifndef SOFTMRC_UI_TERMINAL_H
#define SOFTMRC_UI_TERMINAL_H

#include "ui/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>
#include <time.h>

struct ui_term {
	bool entered;
	bool modes_saved;
	struct termios modes;
};

/* ui_term_fits says whether stdout is a terminal that can show the view. */
bool ui_term_fits(void);
bool ui_term_utf8(void);
bool ui_term_colour(void);

/* ui_term_enter switches to an empty screen without cursor and echo; ui_term_leave back. */
void ui_term_enter(struct ui_term *t);
void ui_term_leave(struct ui_term *t);
/* ui_term_size returns the size now; 80 x 24 where it is not known. */
void ui_term_size(uint32_t *width, uint32_t *height);
/* ui_term_show replaces what is on the screen, in one write. */
void ui_term_show(const struct ui_text *picture);

/*
 * ui_term_catch makes SIGINT, SIGTERM and SIGHUP set a flag, for the loop to end in order;
 * ui_term_caught returns the signal's number, or 0.
 */
void ui_term_catch(void);
int ui_term_caught(void);

/*
 * ui_raise_files lets the process have as many open files as its user may; what holds one for each
 * of many things asks for it. What is not granted is as it was.
 */
void ui_raise_files(void);

/* The clock by which the command measures durations. */

/* ui_clock_ns returns CLOCK_MONOTONIC. */
static inline uint64_t ui_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
