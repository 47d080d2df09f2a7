/* SPDX-License-Identifier: BSD-2-Clause */
/* named_text.c - lookups among the texts that the build put into a program. */
#include "base/named_text.h"

#include <string.h>

#include "base/suggest.h"

const struct mb_named_text *mb_named_text_at(const struct mb_named_text *list, size_t n)
{
	while (list->name && n--)
		list++;
	return list->name ? list : NULL;
}

const struct mb_named_text *mb_named_text_find(const struct mb_named_text *list, const char *name)
{
	while (list->name && strcmp(list->name, name) != 0)
		list++;
	return list->name ? list : NULL;
}

const char *mb_named_text_near(const struct mb_named_text *list, const char *name)
{
	size_t n = 0;

	while (list[n].name)
		n++;
	return mb_suggest_in_table(name, &list->name, n, sizeof(*list));
}
