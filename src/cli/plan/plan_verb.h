/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_verb.h - the parts of mrc plan: its command line, figures, reports and configurations, and
 * the tables that mrc plan diff compares.
 */
#ifndef SOFTMRC_CLI_PLAN_PLAN_VERB_H
#define SOFTMRC_CLI_PLAN_PLAN_VERB_H

#include "fabric/emit.h"
#include "fabric/plan.h"
#include "fabric/topology.h"
#include "lab/lab.h"
#include "ui/text.h"
#include "ui/verb.h"

#include <jansson.h>
#include <stdbool.h>

/* What `mrc plan --emit` can write. */

/* Whose files there are. */
enum plan_format_of {
	PLAN_OF_FABRIC, /* one file for all */
	PLAN_OF_SWITCHES,
	PLAN_OF_HOSTS,
	PLAN_OF_NODES, /* both */
};

struct plan_emission {
	struct mf_emit_options emit;
	const char *sid_device; /* kind of link that SIDs hang on, Linux only */
};

struct plan_format {
	const char *name;
	const char *suffix; /* of its files */
	const char *about;
	enum plan_format_of of;
	/* Writes one file; node has no meaning for the fabric's. */
	void (*write)(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct plan_emission *how);
};

/* plan_format_at returns format number n, NULL: there are fewer. */
const struct plan_format *plan_format_at(size_t n);

/* plan_format_find returns a format by its name; NULL, after a message that begins with `who`. */
const struct plan_format *plan_format_find(const char *name, const char *who);

/* plan_format_fits says whether a node has a file of the format. */
bool plan_format_fits(const struct plan_format *f, const struct mf_topology *t, uint32_t node);

/* The routes of a node as ip(8) shows them, now or saved. */

/*
 * plan_ip_routes_run runs `ip -j -6 route show table all` in the namespace of a lab's node. The
 * caller frees what it returns; NULL: error (size bytes) says why.
 */
char *plan_ip_routes_run(const struct ml_lab *lab, uint32_t node, char *error, size_t size);

/* plan_ip_routes_read reads dir/path.routes.json; else the same. */
char *plan_ip_routes_read(const char *dir, const char *path, char *error, size_t size);

/* Writes the files of a format into a folder, or one of them to stdout. */

struct plan_emit {
	const struct plan_format *format;
	const char *node; /* "all", or one by name */
	const char *out;  /* folder; NULL: stdout, for a single file */
	const char *yang; /* folder of YANG modules that SONiC's files are held against, or NULL */
	struct plan_emission how;
};

/*
 * plan_emit_run writes. Each file appears whole or not at all; a signal ends the work between two
 * of them. Returns 0, or -1 after a message on stderr.
 */
int plan_emit_run(const struct plan_emit *e, const struct mf_topology *t);

/* What `mrc plan` was asked for. */

struct plan_options {
	const char *topology; /* a preset or a file; NULL with show_rates alone */
	const char *against;  /* likewise, or "none" */
	const char *rates;    /* file, or NULL */
	const char *format;   /* of --emit, or NULL */
	const char *trim;     /* symmetric, asymmetric, or NULL */
	bool json, show_rates, plain_routes;
	struct plan_emit emit; /* its format is NULL: no files are wanted */
};

extern const struct ui_verb plan_diff_verb;

/* plan_main is what runs `mrc plan`. */
int plan_main(int argc, char **argv);

/* plan_options_parse reads a command line; help and errors are printed. */
enum ui_flags_result plan_options_parse(struct plan_options *o, int argc, char **argv);

/*
 * A plan as a list of numbers, so that the table and the JSON say the same, and two fabrics can be
 * put side by side: the list of every fabric has the same figures in the same order.
 */

/* Room for the list. */
#define PLAN_FIGURES_MAX 64u

enum plan_unit {
	PLAN_PIECES,
	PLAN_SHARE, /* 0 .. 1 */
	PLAN_BITS,  /* a second */
	PLAN_USD,
	PLAN_WATTS,
	PLAN_NS,
	PLAN_A_DAY,
	PLAN_DAYS, /* 0: never */
	PLAN_YEARS,
};

struct plan_figure {
	const char *section; /* title; figures of one section follow each other */
	const char *key;     /* for programs, of its own in the list */
	const char *label;
	enum plan_unit unit;
	bool per_nic; /* it makes sense to divide it by the number of NICs */
	double value;
};

struct plan_figures {
	size_t n;
	struct plan_figure figure[PLAN_FIGURES_MAX];
};

/* plan_figures_make works the figures of a fabric out. */
void plan_figures_make(struct plan_figures *out, const struct mf_topology *t,
		       const struct mf_rates *r);

/* A plan for eyes and for programs. */

/*
 * plan_report_write appends the tables of a fabric; with `against`, of another in columns of its
 * own, and what a NIC of either needs. against may be NULL.
 */
void plan_report_write(struct ui_text *out, const struct mf_topology *t,
		       const struct mf_topology *against, const struct mf_rates *r);

/* plan_report_json makes the same for programs; the caller owns it. */
json_t *plan_report_json(const struct mf_topology *t, const struct mf_topology *against,
			 const struct mf_rates *r);

/* plan_report_rates appends the rates as a file that --rates takes, with their sources. */
void plan_report_rates(struct ui_text *out, const struct mf_rates *r);

/*
 * The routes of a node as words, those of the plan and those that ip(8) shows, and what tells them
 * apart.
 *
 * 	fcbb:bb00:a000::/48	uN
 * 	fcbb:bb00:b001::/48	via fe80::2 dev u1
 * 	fd6d:7263::/32		via fe80::2 dev u0, via fe80::2 dev u1
 * 	::/0			blackhole
 */

#define PLAN_PREFIX 56u

struct plan_route {
	char prefix[PLAN_PREFIX];
	struct ui_text what; /* next hops in the order of the alphabet */
	bool kernels; /* the kernel made it by itself; no difference where the plan has none */
};

struct plan_table {
	struct plan_route *route; /* owned; in the order of prefixes */
	size_t n, room;
};

/* A plan_table of zeros is empty. plan_table_fini frees it and makes it empty. */
void plan_table_fini(struct plan_table *table);

/* plan_table_plan adds the routes that the plan gives a node. */
void plan_table_plan(struct plan_table *table, const struct mf_topology *t, uint32_t node);

/*
 * plan_table_read adds what `ip -j -6 route show table all` printed. false: text is no such thing;
 * *why says what is wrong, a constant or of jansson, valid until the next call.
 */
bool plan_table_read(struct plan_table *table, const char *text, const char **why);

enum plan_difference {
	PLAN_MISSING,	/* in the plan only */
	PLAN_EXTRA,	/* in the running table only */
	PLAN_DIFFERENT, /* in both, and not the same */
};

/*
 * plan_table_compare calls fn for each difference, in the order of prefixes; the route of the side
 * that has none is NULL. Returns how many. REQ(plan.diff)
 */
size_t plan_table_compare(const struct plan_table *plan, const struct plan_table *running,
			  void (*fn)(void *context, enum plan_difference difference,
				     const struct plan_route *planned,
				     const struct plan_route *running),
			  void *context);

#endif
