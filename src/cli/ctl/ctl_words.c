/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_words.c - KEY=VALUE of a command line as members of a request: see ctl.h. */
#include "cli/ctl/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *scalar_of(const char *text)
{
	char *end;
	long long number;
	double real;

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return json_boolean(text[0] == 't');
	errno = 0;
	number = strtoll(text, &end, 0);
	if (*text && !*end && !errno)
		return json_integer(number);
	real = strtod(text, &end);
	if (*text && !*end && !errno)
		return json_real(real); /* NULL for what JSON has no number for */
	return json_string(text);
}

/* Members that are lists, also of one. */
static bool is_list(const char *key)
{
	static const char *const lists[] = {"fields", "width", "init", "min",
					    "max",    "mask",  "evs",  "events"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strcmp(key, lists[i]) == 0)
			return true;
	return false;
}

static json_t *value_of(const char *key, const char *value)
{
	json_t *list;
	char *copy, *rest, *part;

	if (!is_list(key))
		return scalar_of(value);
	list = json_array();
	copy = strdup(value);
	if (!copy) {
		json_decref(list);
		return NULL;
	}
	for (rest = copy; rest && (part = strsep(&rest, ","));)
		if (*part)
			json_array_append_new(list, scalar_of(part));
	free(copy);
	return list;
}

bool ctl_words_add(json_t *request, const char *const *word, size_t n, const char **wrong)
{
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(word[i], '=');
		char key[32];
		size_t len = equals ? (size_t)(equals - word[i]) : 0;

		*wrong = word[i];
		if (len < 1 || len >= sizeof(key))
			return false;
		memcpy(key, word[i], len);
		key[len] = '\0';
		if (json_object_get(request, key) ||
		    json_object_set_new(request, key, value_of(key, equals + 1)))
			return false;
	}
	return true;
}
