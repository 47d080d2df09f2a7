/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_config.h - writes tables of SONiC's configuration, in either of the forms of emit.h.
 *
 *	config_db	{"QUEUE": {"Ethernet0|3": {"scheduler": "data"}, ...}, ...}
 *	YANG		{"sonic-queue:sonic-queue": {"QUEUE": {"QUEUE_LIST": [
 *				{"ifname": "Ethernet0", "qindex": "3", "scheduler": "data"},
 *				...]}}, ...}
 *
 * Begin with mf_config_begin, then for each table mf_config_table, for each of its rows
 * mf_config_row, for each of its fields mf_config_field or mf_config_pair, and mf_config_end.
 * Nothing is kept but where the writer stands. The values of config_db are all strings.
 */
#ifndef SOFTMRC_FABRIC_EMIT_CONFIG_H
#define SOFTMRC_FABRIC_EMIT_CONFIG_H

#include "fabric/emit.h"

/* What a value is in YANG, that JSON writes differently. */
enum mf_config_kind {
	MF_CONFIG_TEXT, /* strings, and numbers of 64 bits */
	MF_CONFIG_BARE, /* shorter numbers and booleans */
};

struct mf_config_table {
	const char *name;
	const char *module;
	const char *list; /* in YANG; NULL: rows are containers, not list entries */
	const char *key[2];
	/* Of a table of maps: what the two sides of a pair are called, and what they are. */
	const char *pair[2];
	enum mf_config_kind pair_kind[2];
};

struct mf_config {
	FILE *to;
	enum mf_sonic_form form;
	const struct mf_config_table *table; /* open, or NULL */
	bool row, field, pair;		     /* one is open; one was written before */
	bool any_row;
};

/* mf_config_begin begins a file. */
void mf_config_begin(struct mf_config *w, FILE *to, enum mf_sonic_form form);
/* mf_config_table begins a table; those of one module, and lists of one
 * table, must follow each other. */
void mf_config_table(struct mf_config *w, const struct mf_config_table *table);
/* mf_config_row begins a row; second is NULL where the table has one key. */
void mf_config_row(struct mf_config *w, const char *first, const char *second);
/* mf_config_field writes a field of the row. */
__attribute__((format(printf, 4, 5))) void mf_config_field(struct mf_config *w, const char *name,
							   enum mf_config_kind kind,
							   const char *format, ...);
/* mf_config_pair writes an entry of a map. */
void mf_config_pair(struct mf_config *w, unsigned from, unsigned to);
/* mf_config_end ends the file. */
void mf_config_end(struct mf_config *w);

#endif
