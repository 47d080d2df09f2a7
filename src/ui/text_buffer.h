/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_buffer.h - text that grows: screens and tables are written here first, so that a test can
 * read them and a terminal gets each screen in one write.
 */
#ifndef SOFTMRC_UI_TEXT_BUFFER_H
#define SOFTMRC_UI_TEXT_BUFFER_H

#include <stddef.h>

struct ui_text {
	char *data; /* terminated; owned; never NULL after the first addition */
	size_t len, capacity;
};

/* A ui_text of zeros is empty. ui_text_fini frees it and makes it empty. */
void ui_text_fini(struct ui_text *t);
void ui_text_clear(struct ui_text *t);

/* ui_text_add appends a formatted piece; without memory the process ends with a message. */
__attribute__((format(printf, 2, 3))) void ui_text_add(struct ui_text *t, const char *format, ...);
/* ui_text_repeat appends `piece` n times. */
void ui_text_repeat(struct ui_text *t, const char *piece, size_t n);

/*
 * ui_text_width returns how many columns a UTF-8 text takes: escape sequences take none, every
 * other character one (nothing here writes wide characters).
 */
size_t ui_text_width(const char *text);

/* ui_text_pad appends text, then blanks up to `width` columns; a longer text is cut off there. */
void ui_text_pad(struct ui_text *t, const char *text, size_t width);
/* ui_text_pad_left puts the blanks first; a longer text is appended whole. */
void ui_text_pad_left(struct ui_text *t, const char *text, size_t width);

#endif
