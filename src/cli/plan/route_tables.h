/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * route_tables.h - the routes of a node as words, those of the plan and those that ip(8) shows, and
 * what tells them apart.
 *
 *	fcbb:bb00:a000::/48	uN
 *	fcbb:bb00:b001::/48	via fe80::2 dev u1
 *	fd6d:7263::/32		via fe80::2 dev u0, via fe80::2 dev u1
 *	::/0			blackhole
 */
#ifndef SOFTMRC_CLI_PLAN_ROUTE_TABLES_H
#define SOFTMRC_CLI_PLAN_ROUTE_TABLES_H

#include "fabric/topology.h"
#include "ui/text_buffer.h"

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
