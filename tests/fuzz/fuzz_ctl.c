/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what somebody says who is no mrcd, lines of JSON: `mrc ctl` shows each
 * as an answer and as an event. Whatever it is, a terminal gets lines of printable characters.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/ctl/ctl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct ui_text *text)
{
	for (size_t i = 0; i < text->len; i++)
		mb_assert((text->data[i] >= ' ' && text->data[i] <= '~') || text->data[i] == '\n');
	ui_text_fini(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctl_link link = {.path = "x"};
	struct ui_text text = {0};
	json_t *said;

	if (size == 0)
		return 0;
	link.f = fmemopen((void *)(uintptr_t)data, size, "r");
	mb_assert(link.f);
	while ((said = ctl_link_next(&link))) {
		ctl_show_answer(said, &text);
		check(&text);
		ctl_show_event(said, &text);
		check(&text);
		json_decref(said);
	}
	ctl_link_close(&link);
	return 0;
}
