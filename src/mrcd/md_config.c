/* SPDX-License-Identifier: BSD-2-Clause */
/* md_config.c - reads mrcd's configuration file: see md_config.h. */
#include "mrcd/md_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/toml.h"
#include "mrcd/md_log.h"
#include "mrcd/md_map.h"

struct reading {
	struct md_config *c;
	const char *path;
	struct md_config_error *error;
	json_t *options; /* those that are not of rows, by name */
};

static const char *const row_names[] = {"format", "ev", "cc", "port", NULL};
static const char *const option_names[] = {
	"node.dir",	    "node.device",    "device.ports",
	"device.ev_format", "device.evs",     "access.group",
	"access.lab",	    "metrics.listen", "metrics.processes",
	"log.level",	    "map.fabric",     "map.host",
	"map.interfaces",   "map.share",      "map.rate",
	"map.port",	    "map.policy",     "map.deny_after",
	"map.return_after", "map.deny_share", NULL};

static int wrong(const struct reading *r, uint32_t line, const char *text)
{
	snprintf(r->error->text, sizeof(r->error->text), "%.199s:%u: %.280s", r->path, line, text);
	return EINVAL;
}

/* A number of an array begins with a sign or digit and is printed by those who wrote TOML. */
static json_t *number_of(const char *text, enum mb_toml_kind kind)
{
	return kind == MB_TOML_REAL ? json_real(strtod(text, NULL))
				    : json_integer(strtoll(text, NULL, 10));
}

static json_t *scalar_of(const char *text, enum mb_toml_kind kind)
{
	if (kind == MB_TOML_STRING)
		return json_string(text);
	if (kind == MB_TOML_BOOLEAN)
		return json_boolean(strcmp(text, "true") == 0);
	return number_of(text, kind);
}

static json_t *value_of(const struct mb_toml_item *item)
{
	char part[MB_TOML_VALUE_MAX];
	json_t *list;

	if (item->kind != MB_TOML_ARRAY)
		return scalar_of(item->value, item->kind);
	list = json_array();
	for (const char *at = item->value; *at;) {
		size_t n = strcspn(at, ",");

		memcpy(part, at, n);
		part[n] = '\0';
		json_array_append_new(list, scalar_of(part, item->of));
		at += n + (at[n] == ',');
	}
	return list;
}

static int add_row(struct reading *r, const struct mb_toml_item *item)
{
	struct md_row *row = &r->c->row[r->c->n_rows];
	uint32_t kind = 0;

	while (row_names[kind] && strcmp(row_names[kind], item->name) != 0)
		kind++;
	if (!row_names[kind])
		return wrong(r, item->line, "no table of this name: format, ev, cc or port");
	if (r->c->n_rows == MD_ROWS_MAX)
		return wrong(r, item->line, "more than 64 tables of ports and profiles");
	*row = (struct md_row){.kind = (enum md_row_kind)kind,
			       .element = item->element,
			       .line = item->line,
			       .args = json_object(),
			       .lines = json_object()};
	r->c->n_rows++;
	return 0;
}

static struct md_row *row_of(const struct reading *r, const struct mb_toml_item *item)
{
	for (uint32_t i = 0; i < r->c->n_rows; i++) {
		struct md_row *row = &r->c->row[i];
		size_t n = strlen(row_names[row->kind]);

		if (strncmp(item->name, row_names[row->kind], n) == 0 && item->name[n] == '.' &&
		    row->element == item->element)
			return row;
	}
	return NULL;
}

static int add_key(struct reading *r, json_t *to, json_t *lines, const char *key,
		   const struct mb_toml_item *item)
{
	char text[160];

	if (json_object_get(to, key)) {
		snprintf(text, sizeof(text), "%.100s: was given before", item->name);
		return wrong(r, item->line, text);
	}
	json_object_set_new(to, key, value_of(item));
	json_object_set_new(lines, key, json_integer(item->line));
	return 0;
}

static int take_item(void *ctx, const struct mb_toml_item *item)
{
	struct reading *r = ctx;
	struct md_row *row;
	char text[200];
	const char *near;
	size_t n = 0;

	if (item->kind == MB_TOML_ELEMENT)
		return add_row(r, item);
	row = row_of(r, item);
	if (row)
		return add_key(r, row->args, row->lines, strchr(item->name, '.') + 1, item);
	while (option_names[n] && strcmp(option_names[n], item->name) != 0)
		n++;
	if (option_names[n])
		return add_key(r, r->options, r->c->lines, item->name, item);
	near = mb_suggest_find(item->name, option_names, n);
	snprintf(text, sizeof(text), "%.64s: no key of mrcd%s%s%s", item->name,
		 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return wrong(r, item->line, text);
}

/* ---- what the options mean ---- */

static int take_path(const json_t *o, const char *key, char *out, size_t size, struct md_error *e)
{
	const char *text = NULL;
	int err = md_args_text(o, key, size - 1, &text, e);

	if (!err && text)
		snprintf(out, size, "%s", text);
	return err;
}

static int take_device(struct md_config *c, const json_t *o, struct md_error *e)
{
	static const char *const formats[] = {"stev", "udp", NULL};
	uint32_t format = 1;
	int err = md_args_need(o, "device.ports", e);

	if (!err)
		err = md_args_u32(o, "device.ports", 1, MN_PORTS_MAX, &c->ports, e);
	if (!err)
		err = md_args_word(o, "device.ev_format", formats, &format, e);
	if (!err)
		err = md_args_u32(o, "device.evs", 1, 256, &c->evs, e);
	c->formats = format ? MN_FORMAT_UDP : MN_FORMAT_STEV;
	return err;
}

/* As the store has it: src/store/store.h. */
static bool is_device(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			return false;
	return name[0] != '\0';
}

static int take_options(struct md_config *c, const json_t *o, struct md_error *e)
{
	int err = take_device(c, o, e);

	if (!err)
		err = take_path(o, "node.dir", c->dir, sizeof(c->dir), e);
	if (!err)
		err = take_path(o, "node.device", c->device, sizeof(c->device), e);
	if (!err && !is_device(c->device))
		err = md_refuse_value(e, o, "node.device", "1 to 15 letters and digits");
	if (!err)
		err = take_path(o, "access.group", c->group, sizeof(c->group), e);
	if (!err)
		err = take_path(o, "metrics.listen", c->listen, sizeof(c->listen), e);
	if (!err)
		err = md_args_bool(o, "access.lab", &c->lab, e);
	if (!err)
		err = md_args_u32(o, "metrics.processes", 1, 1024, &c->processes, e);
	if (!err)
		err = md_args_word(o, "log.level", md_level_words, &c->level, e);
	if (!err)
		err = md_config_take_map(&c->map, o, e);
	if (!err && (c->dir[0] != '/' || strlen(c->dir) > MD_DIR_MAX))
		err = md_refuse_value(e, o, "node.dir",
				      "a path that begins with /, of at most 90 characters");
	return err;
}

static int read_options(struct reading *r)
{
	struct md_error e = {0};
	uint32_t line;

	if (!take_options(r->c, r->options, &e))
		return 0;
	line = (uint32_t)json_integer_value(json_object_get(r->c->lines, e.key));
	return wrong(r, line ? line : 1, e.text);
}

/* The folder is the one that processes with this environment look into. */
static void set_defaults(struct md_config *c)
{
	const char *dir = secure_getenv("MRC_NODE_DIR");

	*c = (struct md_config){.device = "mrc0",
				.processes = 64,
				.level = MD_INFO,
				.formats = MN_FORMAT_UDP,
				.evs = 8,
				.lines = json_object()};
	snprintf(c->dir, sizeof(c->dir), "%s", dir && dir[0] == '/' ? dir : MD_DIR_DEFAULT);
}

int md_config_parse(struct md_config *c, const char *path, const char *text,
		    struct md_config_error *error)
{
	struct reading r = {.c = c, .path = path, .error = error, .options = json_object()};
	const char *why;
	uint32_t line;
	int err;

	set_defaults(c);
	err = mb_toml_read(text, take_item, &r, &line, &why);
	if (err == MB_TOML_WRONG)
		err = wrong(&r, line, why);
	if (!err)
		err = read_options(&r);
	json_decref(r.options);
	if (err)
		md_config_free(c);
	return err;
}

int md_config_load(struct md_config *c, const char *path, struct md_config_error *error)
{
	char *text = malloc(MD_CONFIG_BYTES);
	FILE *f = fopen(path, "re");
	size_t n = 0;
	int err = !text ? ENOMEM : f ? 0 : errno;

	if (!err) {
		errno = 0;
		n = fread(text, 1, MD_CONFIG_BYTES, f);
		err = ferror(f) ? errno : 0;
	}
	if (!err && (n == MD_CONFIG_BYTES || memchr(text, '\0', n)))
		err = EFBIG;
	if (f)
		fclose(f);
	if (err) {
		snprintf(error->text, sizeof(error->text), "%.199s: %s", path,
			 err == EFBIG ? "is not a text of less than 65536 bytes" : strerror(err));
	} else {
		text[n] = '\0';
		err = md_config_parse(c, path, text, error);
	}
	free(text);
	return err;
}

void md_config_free(struct md_config *c)
{
	for (uint32_t i = 0; i < c->n_rows; i++) {
		json_decref(c->row[i].args);
		json_decref(c->row[i].lines);
	}
	c->n_rows = 0;
	json_decref(c->lines);
	c->lines = NULL;
}

int md_config_wrong(const struct md_config *c, const char *path, const char *key, int code,
		    struct md_config_error *error, const char *format, ...)
{
	const json_t *line = json_object_get(c->lines, key);
	int len = snprintf(error->text, sizeof(error->text), "%.199s:", path);
	va_list args;

	if (line)
		len += snprintf(error->text + len, sizeof(error->text) - (size_t)len,
				"%" JSON_INTEGER_FORMAT ":", json_integer_value(line));
	va_start(args, format);
	snprintf(error->text + len, sizeof(error->text) - (size_t)len, " ");
	vsnprintf(error->text + len + 1, sizeof(error->text) - (size_t)len - 1, format, args);
	va_end(args);
	return code;
}

bool md_config_is_of(const struct md_config *c, uint32_t device)
{
	char name[sizeof(c->device)];

	snprintf(name, sizeof(name), "mrc%u", device);
	return strcmp(name, c->device) == 0;
}

void md_config_device(const struct md_config *c, uint32_t user, struct mn_device *d)
{
	*d = (struct mn_device){.n_ports = c->ports,
				.formats = c->formats,
				.n_evs = c->ports * c->evs,
				.user = user};
}
