/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings.c - gathers the texts of all settings; a variable that is set but empty is not set.
 *
 * The environment goes before the file, so that one run of a program can differ without a change
 * for all others. Here a text is judged by its kind only: which values are valid is env.c's
 * business, and a value that a variable overrides is not looked at. Every error names where the
 * text stands, for a person may not know that a file exists.
 */
#include "host/config/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"

struct settings_name {
	const char *env, *key;
	uint32_t kinds;
};

static const struct settings_name settings_names[MH_SETTINGS_COUNT] = {
#define SETTINGS_NAME(id, env, key, kinds) {env, key, kinds},
	MH_SETTINGS(SETTINGS_NAME)
#undef SETTINGS_NAME
};

/*
 * An empty variable counts as not set: some launchers cannot remove one, only empty it. All are
 * read here, and none in a program with rights that its user lacks.
 */
static const char *settings_env(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

/* Appends a variable that is set and does not count. */
static void settings_ignore(struct mh_settings *s, const char *name)
{
	const char *value = settings_env(name) ? NULL : getenv(name);
	size_t len = strlen(s->ignored);

	if (value && *value)
		snprintf(s->ignored + len, sizeof(s->ignored) - len, "%s%s",
			 len ? ", "
			     : "this program has rights that its user lacks, so that "
			       "only " MB_CONFIG_FILE " counts; ignored: ",
			 name);
}

/* The value is cut to 100 bytes: an array of rows would push what is wrong out of the line. */
static int settings_file_error(const struct mh_settings *s, uint32_t line, const char *name,
			       const char *value, const char *why, struct mh_env_error *error)
{
	snprintf(error->text, sizeof(error->text), "%s:%u: %s = %.100s: %s", s->path, line, name,
		 value, why);
	return EINVAL;
}

int mh_settings_error(const struct mh_settings *s, enum mh_setting id, const char *why,
		      struct mh_env_error *error)
{
	const struct settings_name *name = &settings_names[id];
	const struct mh_setting_text *of = &s->of[id];

	if (of->line > 0)
		return settings_file_error(s, of->line, name->key, of->text, why, error);
	snprintf(error->text, sizeof(error->text), "%s=%.100s: %s", name->env,
		 of->text ? of->text : "", why);
	return EINVAL;
}

/* ---- the file ---- */

/* What a file's value must look like; the kinds of a key are those that its table row lists. */
static const char *settings_kind(uint32_t kinds)
{
	switch (kinds) {
	case MB_TOML_INTEGER:
		return "must be a whole number, without quotes";
	case MB_TOML_STRING:
		return "must be a \"string\", in quotes";
	case MB_TOML_BOOLEAN:
		return "must be true or false, without quotes";
	case MB_TOML_ARRAY:
		return "must be an array of strings, such as [\"eth0\", \"eth1\"]";
	default:
		return "must be a \"string\" or a whole number";
	}
}

/*
 * An unknown key is an error and not ignored: a misspelt setting would take effect never, silently.
 */
static int settings_unknown_key_error(const struct mh_settings *s, const struct mb_toml_item *item,
				      struct mh_env_error *error)
{
	const char *near = mb_suggest_in_table(item->name, &settings_names[0].key,
					       MH_SETTINGS_COUNT, sizeof(settings_names[0]));
	char why[200];

	if (near)
		snprintf(why, sizeof(why), "unknown key; did you mean %s?", near);
	else
		snprintf(why, sizeof(why),
			 "unknown key; docs/configuration.md lists those there are");
	return settings_file_error(s, item->line, item->name, item->value, why, error);
}

struct settings_parser {
	struct mh_settings *s;
	struct mh_env_error *error;
};

/*
 * mb_toml_read reuses the item, so that its value is copied. A key that is given twice is an error:
 * which of the two was meant cannot be known.
 */
static int settings_store_item(void *ctx, const struct mb_toml_item *item)
{
	struct settings_parser *r = ctx;
	struct mh_settings *s = r->s;
	size_t size = strlen(item->value) + 1;
	char why[80];
	size_t i = 0;

	while (i < MH_SETTINGS_COUNT && strcmp(settings_names[i].key, item->name) != 0)
		i++;
	if (i == MH_SETTINGS_COUNT)
		return settings_unknown_key_error(s, item, r->error);
	if (!(settings_names[i].kinds & item->kind) ||
	    (item->kind == MB_TOML_ARRAY && item->of != MB_TOML_STRING))
		return settings_file_error(s, item->line, item->name, item->value,
					   settings_kind(settings_names[i].kinds), r->error);
	if (s->of[i].text) {
		snprintf(why, sizeof(why), "was given before, in line %u", s->of[i].line);
		return settings_file_error(s, item->line, item->name, item->value, why, r->error);
	}
	if (size > sizeof(s->texts) - s->used)
		return settings_file_error(s, item->line, item->name, item->value,
					   "the values of the file are too long", r->error);
	memcpy(s->texts + s->used, item->value, size);
	s->of[i] = (struct mh_setting_text){s->texts + s->used, item->line};
	s->used += size;
	return 0;
}

/* settings_load reads the whole file; an errno value, EFBIG also for one that is not text. */
static int settings_load(struct mh_settings *s)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = 1;
	int err = 0;

	if (fd < 0)
		return errno;
	while (got > 0 && len < sizeof(s->file)) {
		got = read(fd, s->file + len, sizeof(s->file) - len);
		if (got > 0)
			len += (size_t)got;
		else if (got < 0)
			err = errno;
	}
	close(fd);
	if (err)
		return err;
	if (len == sizeof(s->file) || memchr(s->file, '\0', len))
		return EFBIG;
	s->file[len] = '\0';
	return 0;
}

/*
 * What the callback refuses has been named by it; `why` is set only for what is no TOML, of which
 * the callback hears nothing.
 */
static int settings_parse(struct mh_settings *s, struct mh_env_error *error)
{
	struct settings_parser reading = {s, error};
	const char *why;
	uint32_t line;
	int err = mb_toml_read(s->file, settings_store_item, &reading, &line, &why);

	if (!why)
		return err;
	snprintf(error->text, sizeof(error->text), "%s:%u: %s", s->path, line, why);
	return EINVAL;
}

/* settings_file reads the file that applies, if there is one. */
static int settings_file(struct mh_settings *s, struct mh_env_error *error)
{
	const char *given = settings_env("MRC_CONFIG");
	int err = ENAMETOOLONG;

	if (snprintf(s->path, sizeof(s->path), "%s", given ? given : MB_CONFIG_FILE) <
	    (int)sizeof(s->path))
		err = settings_load(s);
	/* Only the default file may be missing; one that MRC_CONFIG names must be there. */
	if (err == ENOENT && !given) {
		s->path[0] = '\0';
		return 0;
	}
	if (err == 0)
		return settings_parse(s, error);
	snprintf(error->text, sizeof(error->text), "%s%s: %s", given ? "MRC_CONFIG=" : "", s->path,
		 err == EFBIG ? "is not a text of less than 16384 bytes" : strerror(err));
	return err;
}

/* ---- both ---- */

int mh_settings_read(struct mh_settings *s, struct mh_env_error *error)
{
	int err;

	memset(s, 0, sizeof(*s));
	err = settings_file(s, error);
	settings_ignore(s, "MRC_CONFIG");
	for (size_t i = 0; i < MH_SETTINGS_COUNT; i++) {
		const char *value = settings_env(settings_names[i].env);

		settings_ignore(s, settings_names[i].env);
		if (value)
			s->of[i] = (struct mh_setting_text){value, 0};
	}
	return err;
}

const char *mh_settings_digits(const char *s, uint64_t *number)
{
	uint64_t n = 0;

	if (*s < '0' || *s > '9')
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++) {
		/* Below 2^63 a caller can multiply by a unit and compare without overflow. */
		if (n > (UINT64_C(1) << 63) / 10 - 1)
			return NULL;
		n = n * 10 + (uint64_t)(*s - '0');
	}
	*number = n;
	return s;
}

int mh_settings_number(const struct mh_settings *s, enum mh_setting id,
		       const struct mh_settings_range *range, uint64_t *number,
		       struct mh_env_error *error)
{
	const char *text = s->of[id].text, *end = text;
	char why[100];

	if (text)
		end = mh_settings_digits(text, number);
	if (!text || (end && !*end && *number >= range->low && *number <= range->high))
		return 0;
	snprintf(why, sizeof(why), "must be a number, %llu to %llu%s",
		 (unsigned long long)range->low, (unsigned long long)range->high, range->unit);
	return mh_settings_error(s, id, why, error);
}
