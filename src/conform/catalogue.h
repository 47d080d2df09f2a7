/* SPDX-License-Identifier: BSD-2-Clause */
/* catalogue.h - the cases that the kit brings, and which requirements they leave out. */
#ifndef SOFTMRC_CONFORM_CATALOGUE_H
#define SOFTMRC_CONFORM_CATALOGUE_H

#include "conform/run.h"
#include "ui/text.h"

/* cf_catalogue_read reads all built-in cases. Returns 0, or -1 with a message. */
int cf_catalogue_read(struct cf_book *book, char error[CF_ERROR_MAX]);

/*
 * cf_catalogue_list appends the cases of a book with their requirements, then the requirements
 * that no case covers, with the reasons.
 */
void cf_catalogue_list(const struct cf_book *book, struct ui_text *out);
/* cf_catalogue_json returns the same as a new object. */
json_t *cf_catalogue_json(const struct cf_book *book);

#endif
