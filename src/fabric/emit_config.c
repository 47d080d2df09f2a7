/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of SONiC's configuration: see emit.h. */
#include "fabric/emit.h"

#include <stdarg.h>
#include <string.h>

static bool yang(const struct mf_config *w)
{
	return w->form == MF_SONIC_YANG;
}

void mf_config_begin(struct mf_config *w, FILE *to, enum mf_sonic_form form)
{
	*w = (struct mf_config){.to = to, .form = form};
	fprintf(to, "{");
}

static void close_row(struct mf_config *w)
{
	if (w->pair && yang(w))
		fprintf(w->to, "]");
	if (w->row)
		fprintf(w->to, "}");
	w->row = w->field = w->pair = false;
}

/* How much of what is open the next table leaves open. */
enum keep { KEEP_NONE, KEEP_MODULE, KEEP_TABLE };

static enum keep keep_for(const struct mf_config_table *a, const struct mf_config_table *b)
{
	if (strcmp(a->module, b->module) != 0)
		return KEEP_NONE;
	return strcmp(a->name, b->name) == 0 ? KEEP_TABLE : KEEP_MODULE;
}

static void close_table(struct mf_config *w, enum keep keep)
{
	close_row(w);
	if (yang(w) && w->table->list)
		fprintf(w->to, "\n  ]");
	if (keep != KEEP_TABLE)
		fprintf(w->to, yang(w) ? "}" : "\n }");
	if (keep == KEEP_NONE && yang(w))
		fprintf(w->to, "}");
	w->any_row = false;
}

void mf_config_table(struct mf_config *w, const struct mf_config_table *table)
{
	enum keep keep = w->table ? keep_for(w->table, table) : KEEP_NONE;

	if (keep == KEEP_TABLE && !yang(w)) {
		close_row(w);
		w->table = table;
		return;
	}
	if (w->table) {
		close_table(w, keep);
		fprintf(w->to, ",");
	}
	w->table = table;
	fprintf(w->to, "\n ");
	if (yang(w) && keep == KEEP_NONE)
		fprintf(w->to, "\"%s:%s\": {", table->module, table->module);
	if (keep != KEEP_TABLE)
		fprintf(w->to, "\"%s\": {", table->name);
	if (yang(w) && table->list)
		fprintf(w->to, "\"%s\": [", table->list);
}

void mf_config_row(struct mf_config *w, const char *first, const char *second)
{
	const struct mf_config_table *t = w->table;

	close_row(w);
	fprintf(w->to, "%s\n  ", w->any_row ? "," : "");
	w->any_row = w->row = true;
	if (!yang(w) || !t->list) {
		fprintf(w->to, "\"%s%s%s\": {", first, second ? "|" : "", second ? second : "");
		return;
	}
	fprintf(w->to, "{\"%s\": \"%s\"", t->key[0], first);
	if (second)
		fprintf(w->to, ", \"%s\": \"%s\"", t->key[1], second);
	w->field = true;
}

static void put_comma(struct mf_config *w)
{
	if (w->field)
		fprintf(w->to, ", ");
	w->field = true;
}

void mf_config_field(struct mf_config *w, const char *name, enum mf_config_kind kind,
		     const char *format, ...)
{
	const char *quote = yang(w) && kind == MF_CONFIG_BARE ? "" : "\"";
	va_list args;

	put_comma(w);
	fprintf(w->to, "\"%s\": %s", name, quote);
	va_start(args, format);
	vfprintf(w->to, format, args);
	va_end(args);
	fprintf(w->to, "%s", quote);
}

void mf_config_pair(struct mf_config *w, unsigned from, unsigned to)
{
	const struct mf_config_table *t = w->table;
	const char *quote[2] = {t->pair_kind[0] == MF_CONFIG_BARE ? "" : "\"",
				t->pair_kind[1] == MF_CONFIG_BARE ? "" : "\""};

	if (!yang(w)) {
		put_comma(w);
		fprintf(w->to, "\"%u\": \"%u\"", from, to);
		return;
	}
	if (!w->pair)
		fprintf(w->to, ", \"%s\": [", t->name);
	fprintf(w->to, "%s{\"%s\": %s%u%s, \"%s\": %s%u%s}", w->pair ? ", " : "", t->pair[0],
		quote[0], from, quote[0], t->pair[1], quote[1], to, quote[1]);
	w->pair = true;
}

void mf_config_end(struct mf_config *w)
{
	if (w->table)
		close_table(w, KEEP_NONE);
	fprintf(w->to, "\n}\n");
}
