/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading statistics.dir: see stats_config.h. The rules are those of host/config/settings.c. */
#include "stats/stats_config.h"

#include "base/toml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config_reading {
	const char *path;
	char *dir, *error;
	bool given;
};

static int wrong_value(const struct config_reading *r, const struct mb_toml_item *item,
		       const char *why)
{
	snprintf(r->error, STATS_ERROR_MAX, "%.255s:%u: %s = %.100s: %s", r->path, item->line,
		 item->name, item->value, why);
	return EINVAL;
}

static int take_item(void *ctx, const struct mb_toml_item *item)
{
	struct config_reading *r = ctx;

	if (strcmp(item->name, "statistics.dir") != 0)
		return 0;
	if (item->kind != MB_TOML_STRING)
		return wrong_value(r, item, "must be a \"string\", in quotes");
	if (r->given)
		return wrong_value(r, item, "was given before");
	if (strlen(item->value) >= MB_CONFIG_PATH)
		return wrong_value(r, item, "must be a path of at most 255 bytes");
	r->given = true;
	strcpy(r->dir, item->value);
	return 0;
}

/* Reads a file whole. 0, or an errno value, EFBIG also for one that is not text. */
static int load(const char *path, char text[MB_CONFIG_BYTES])
{
	FILE *f = fopen(path, "re");
	size_t len;
	int err;

	if (!f)
		return errno;
	errno = 0;
	len = fread(text, 1, MB_CONFIG_BYTES, f);
	err = ferror(f) ? errno : 0;
	fclose(f);
	if (!err && (len == MB_CONFIG_BYTES || memchr(text, '\0', len)))
		err = EFBIG;
	if (!err)
		text[len] = '\0';
	return err;
}

static int parse(struct config_reading *r, const char *text)
{
	const char *why;
	uint32_t line;
	int err = mb_toml_read(text, take_item, r, &line, &why);

	if (!why)
		return err;
	snprintf(r->error, STATS_ERROR_MAX, "%.255s:%u: %s", r->path, line, why);
	return EINVAL;
}

int stats_config_dir(char dir[MB_CONFIG_PATH], char error[STATS_ERROR_MAX])
{
	const char *given = secure_getenv("MRC_CONFIG");
	struct config_reading r = {.dir = dir, .error = error};
	char *text = malloc(MB_CONFIG_BYTES);
	int err;

	dir[0] = '\0';
	if (given && !*given)
		given = NULL;
	r.path = given ? given : MB_CONFIG_FILE;
	err = text ? load(r.path, text) : ENOMEM;
	if (!err)
		err = parse(&r, text);
	else if (err == ENOENT && !given)
		err = 0; /* only the default file may be missing */
	else
		snprintf(error, STATS_ERROR_MAX, "%s%.255s: %s", given ? "MRC_CONFIG=" : "", r.path,
			 err == EFBIG ? "is not a text of less than 16384 bytes" : strerror(err));
	free(text);
	return err;
}
