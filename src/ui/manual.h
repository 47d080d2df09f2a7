/* SPDX-License-Identifier: BSD-2-Clause */
/* manual.h - the manual page mrc(1). */
#ifndef SOFTMRC_UI_MANUAL_H
#define SOFTMRC_UI_MANUAL_H

#include "ui/text_buffer.h"
#include "ui/verb.h"

/* ui_manual_write appends the page in roff: a section for each verb below `root`. */
void ui_manual_write(const struct ui_verb *root, struct ui_text *out);

#endif
