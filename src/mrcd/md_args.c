/* SPDX-License-Identifier: BSD-2-Clause */
/* md_args.c - members of requests, taken by kind and range: see md_args.h. */
#include "mrcd/md_args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/suggest.h"

int md_refuse(struct md_error *e, int code, const char *key, const char *format, ...)
{
	va_list args;

	e->code = code;
	snprintf(e->key, sizeof(e->key), "%s", key);
	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return code;
}

int md_refuse_value(struct md_error *e, const json_t *args, const char *key, const char *allowed)
{
	char *dump = json_dumps(json_object_get(args, key), JSON_ENCODE_ANY | JSON_COMPACT);

	md_refuse(e, EINVAL, key, "%s = %.60s: must be %s", key, dump ? dump : "?", allowed);
	free(dump);
	mb_printable(e->text, sizeof(e->text));
	return EINVAL;
}

static bool is_known(const char *key, const char *const *known, size_t *n)
{
	for (*n = 0; known[*n]; (*n)++)
		if (strcmp(known[*n], key) == 0)
			return true;
	return false;
}

int md_args_only(const json_t *args, const char *const *known, struct md_error *e)
{
	const char *key, *near;
	json_t *value;
	size_t n;

	json_object_foreach((json_t *)args, key, value)
	{
		if (is_known(key, known, &n))
			continue;
		near = mb_suggest_find(key, known, n);
		md_refuse(e, EINVAL, key, "%.40s: is not known here%s%s%s", key,
			  near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		mb_printable(e->key, sizeof(e->key));
		mb_printable(e->text, sizeof(e->text));
		return EINVAL;
	}
	return 0;
}

int md_args_need(const json_t *args, const char *key, struct md_error *e)
{
	return md_args_has(args, key) ? 0 : md_refuse(e, EINVAL, key, "%s: is missing", key);
}

int md_args_u32(const json_t *args, const char *key, uint32_t min, uint32_t max, uint32_t *out,
		struct md_error *e)
{
	const json_t *v = json_object_get(args, key);
	char allowed[64];

	if (!v)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < (json_int_t)min ||
	    json_integer_value(v) > (json_int_t)max) {
		snprintf(allowed, sizeof(allowed), "a whole number, %u to %u", min, max);
		return md_refuse_value(e, args, key, allowed);
	}
	*out = (uint32_t)json_integer_value(v);
	return 0;
}

int md_args_real(const json_t *args, const char *key, float max, float *out, struct md_error *e)
{
	const json_t *v = json_object_get(args, key);
	char allowed[64];

	if (!v)
		return 0;
	/* No number compares as being in a range. */
	if (!json_is_number(v) ||
	    !(json_number_value(v) >= 0.0 && json_number_value(v) <= (double)max)) {
		snprintf(allowed, sizeof(allowed), "a number, 0 to %g", (double)max);
		return md_refuse_value(e, args, key, allowed);
	}
	*out = (float)json_number_value(v);
	return 0;
}

int md_args_bool(const json_t *args, const char *key, bool *out, struct md_error *e)
{
	const json_t *v = json_object_get(args, key);

	if (!v)
		return 0;
	if (!json_is_boolean(v))
		return md_refuse_value(e, args, key, "true or false");
	*out = json_is_true(v);
	return 0;
}

static bool is_printable(const json_t *v, size_t most)
{
	const char *text = json_string_value(v);

	if (json_string_length(v) > most)
		return false;
	for (size_t i = 0; i < json_string_length(v); i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

int md_args_text(const json_t *args, const char *key, size_t most, const char **out,
		 struct md_error *e)
{
	const json_t *v = json_object_get(args, key);
	char allowed[64];

	if (!v)
		return 0;
	if (!json_is_string(v) || !is_printable(v, most)) {
		snprintf(allowed, sizeof(allowed), "a text of at most %zu printable characters",
			 most);
		return md_refuse_value(e, args, key, allowed);
	}
	*out = json_string_value(v);
	return 0;
}

int md_args_word(const json_t *args, const char *key, const char *const *words, uint32_t *out,
		 struct md_error *e)
{
	const json_t *v = json_object_get(args, key);
	char allowed[192] = "one of";
	size_t len = strlen(allowed);

	if (!v)
		return 0;
	for (uint32_t i = 0; words[i]; i++) {
		if (json_is_string(v) && strcmp(json_string_value(v), words[i]) == 0) {
			*out = i;
			return 0;
		}
		if (len < sizeof(allowed))
			len += (size_t)snprintf(allowed + len, sizeof(allowed) - len, " %s",
						words[i]);
	}
	return md_refuse_value(e, args, key, allowed);
}

int md_args_u32s(const json_t *args, const char *key, uint32_t max, uint32_t *out, uint32_t most,
		 uint32_t *n, struct md_error *e)
{
	const json_t *list = json_object_get(args, key), *v;
	char allowed[80];
	size_t i;

	if (!list)
		return 0;
	snprintf(allowed, sizeof(allowed), "a list of 1 to %u whole numbers, each 0 to %u", most,
		 max);
	if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > most)
		return md_refuse_value(e, args, key, allowed);
	json_array_foreach(list, i, v)
	{
		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) > (json_int_t)max)
			return md_refuse_value(e, args, key, allowed);
		out[i] = (uint32_t)json_integer_value(v);
	}
	*n = (uint32_t)json_array_size(list);
	return 0;
}
