/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - text that grows: screens and tables are written here first, so that a test can read them
 * and a terminal gets each screen in one write.
 */
#ifndef SOFTMRC_CLI_TEXT_H
#define SOFTMRC_CLI_TEXT_H

#include <stddef.h>

struct cli_text {
	char *data; /* terminated; owned; never NULL after the first addition */
	size_t len, capacity;
};

/* A cli_text of zeros is empty. cli_text_fini frees it and makes it empty. */
void cli_text_fini(struct cli_text *t);
void cli_text_clear(struct cli_text *t);

/* cli_text_add appends a formatted piece; without memory the process ends with a message. */
__attribute__((format(printf, 2, 3))) void cli_text_add(struct cli_text *t, const char *format,
							...);
/* cli_text_repeat appends `piece` n times. */
void cli_text_repeat(struct cli_text *t, const char *piece, size_t n);

/*
 * cli_text_width returns how many columns a UTF-8 text takes: escape sequences take none, every
 * other character one (nothing here writes wide characters).
 */
size_t cli_text_width(const char *text);

/* cli_text_pad appends text, then blanks up to `width` columns; a longer text is cut off there. */
void cli_text_pad(struct cli_text *t, const char *text, size_t width);
/* cli_text_pad_left puts the blanks first; a longer text is appended whole. */
void cli_text_pad_left(struct cli_text *t, const char *text, size_t width);

#endif
