/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes as words, and differences: see plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/emit.h"
#include "fabric/fabric_node.h"
#include "fabric/routes.h"

#define FIRST_ROOM 32u
#define HOP 64u

void plan_table_fini(struct plan_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		ui_text_fini(&table->route[i].what);
	free(table->route);
	*table = (struct plan_table){0};
}

static struct plan_route *add_route(struct plan_table *table, const char *prefix)
{
	size_t room = table->room ? table->room : FIRST_ROOM;
	void *grown = table->route;

	if (table->n == table->room) {
		room = table->room ? 2 * room : room;
		grown = realloc(table->route, room * sizeof(*table->route));
		if (!grown) {
			fprintf(stderr, "mrc: out of memory\n");
			exit(1);
		}
		table->route = grown;
		table->room = room;
	}
	table->route[table->n] = (struct plan_route){0};
	snprintf(table->route[table->n].prefix, PLAN_PREFIX, "%s", prefix);
	return &table->route[table->n++];
}

static int by_prefix(const void *a, const void *b)
{
	const struct plan_route *x = a, *y = b;

	return strcmp(x->prefix, y->prefix);
}

static void sort_routes(struct plan_table *table)
{
	if (table->n)
		qsort(table->route, table->n, sizeof(*table->route), by_prefix);
}

/* ---- next hops, sorted so that their order makes no difference ---- */

struct hops {
	char hop[MF_UPLINKS_MAX][HOP];
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void put_hops(struct hops *hops, struct ui_text *out)
{
	qsort(hops->hop, hops->n, HOP, by_text);
	for (size_t i = 0; i < hops->n; i++)
		ui_text_add(out, "%s%s", i ? ", " : "", hops->hop[i]);
}

/* ---- the plan ---- */

static void plan_hops(struct ui_text *out, const struct mf_topology *t, uint32_t node,
		      const struct mf_route_group *g)
{
	struct hops hops = {.n = 0};
	char port[MF_PORT_NAME_BYTES];

	for (; hops.n < g->n; hops.n++) {
		mf_port_name(t, node, g->port[hops.n], port);
		snprintf(hops.hop[hops.n], HOP, "via fe80::%u dev %s",
			 mf_emit_peer(t, node, g->port[hops.n]), port);
	}
	put_hops(&hops, out);
}

void plan_table_plan(struct plan_table *table, const struct mf_topology *t, uint32_t node)
{
	static const char *const what[] = {[MF_ROUTE_UN] = "uN",
					   [MF_ROUTE_LOCAL] = "local",
					   [MF_ROUTE_BLACKHOLE] = "blackhole"};
	char text[MF_ADDRESS_TEXT], prefix[PLAN_PREFIX];
	struct mf_route_groups groups;
	struct mf_route_group g;

	mf_route_groups_begin(&groups, t, node, MF_ROUTES_ALL);
	while (mf_route_groups_next(&groups, &g)) {
		struct plan_route *r;

		snprintf(prefix, sizeof(prefix), "%s/%u", mf_emit_address(g.route.prefix, text),
			 g.route.length);
		r = add_route(table, prefix);
		if (g.route.kind == MF_ROUTE_LINK)
			plan_hops(&r->what, t, node, &g);
		else
			ui_text_add(&r->what, "%s", what[g.route.kind]);
	}
	sort_routes(table);
}

/* ---- what is running ---- */

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static bool has_word(const json_t *list, const char *word)
{
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		if (json_is_string(one) && strcmp(json_string_value(one), word) == 0)
			return true;
	}
	return false;
}

static void add_hop(struct hops *hops, const json_t *hop)
{
	const json_t *flags = json_object_get(hop, "flags");
	bool down = has_word(flags, "linkdown") || has_word(flags, "dead");
	const char *via = text_of(hop, "gateway");

	if (hops->n == MF_UPLINKS_MAX)
		return;
	snprintf(hops->hop[hops->n++], HOP, "%s%s%sdev %s%s", *via ? "via " : "", via,
		 *via ? " " : "", text_of(hop, "dev"), down ? " (link is down)" : "");
}

static void running_hops(struct ui_text *out, const json_t *row)
{
	const json_t *list = json_object_get(row, "nexthops");
	struct hops hops = {.n = 0};
	size_t i;
	json_t *hop;

	if (!list)
		add_hop(&hops, row);
	json_array_foreach((json_t *)(uintptr_t)list, i, hop)
	{
		add_hop(&hops, hop);
	}
	put_hops(&hops, out);
}

static bool is_un(const json_t *row)
{
	return strcmp(text_of(row, "action"), "End") == 0 &&
	       has_word(json_object_get(row, "flavors"), "next-csid") &&
	       json_integer_value(json_object_get(row, "lblen")) == 32 &&
	       json_integer_value(json_object_get(row, "nflen")) == 16;
}

static void describe_hops(struct ui_text *out, const json_t *row)
{
	const char *encap = text_of(row, "encap"), *type = text_of(row, "type");

	if (strcmp(encap, "seg6local") == 0 && is_un(row))
		ui_text_add(out, "uN");
	else if (*encap)
		ui_text_add(out, "%s %s", encap, text_of(row, "action"));
	else if (*type && strcmp(type, "unicast") != 0)
		ui_text_add(out, "%s", type);
	else
		running_hops(out, row);
}

/* What every interface has of itself. */
static bool of_no_interest(const json_t *row)
{
	const char *type = text_of(row, "type"), *dst = text_of(row, "dst");
	bool kernels = strcmp(text_of(row, "protocol"), "kernel") == 0;

	return strcmp(type, "multicast") == 0 || strcmp(type, "anycast") == 0 ||
	       (kernels && strcmp(type, "local") != 0) || strncmp(dst, "fe80:", 5) == 0 ||
	       strcmp(dst, "::1") == 0;
}

static void read_row(struct plan_table *table, const json_t *row)
{
	const char *dst = text_of(row, "dst");
	char prefix[PLAN_PREFIX];
	struct plan_route *r;

	if (of_no_interest(row))
		return;
	if (strcmp(dst, "default") == 0)
		dst = "::/0";
	snprintf(prefix, sizeof(prefix), "%s%s", dst, strchr(dst, '/') ? "" : "/128");
	r = add_route(table, prefix);
	r->kernels = strcmp(text_of(row, "protocol"), "kernel") == 0;
	describe_hops(&r->what, row);
}

bool plan_table_read(struct plan_table *table, const char *text, const char **why)
{
	static _Thread_local char said[JSON_ERROR_TEXT_LENGTH];
	json_error_t error;
	json_t *all = json_loads(text, 0, &error), *row;
	size_t i;

	if (!all) {
		snprintf(said, sizeof(said), "%s", error.text);
		*why = said;
		return false;
	}
	json_array_foreach(all, i, row)
	{
		read_row(table, row);
	}
	*why = "no list of routes";
	i = (size_t)json_is_array(all);
	json_decref(all);
	sort_routes(table);
	return i != 0;
}

/* ---- differences ---- */

size_t plan_table_compare(const struct plan_table *plan, const struct plan_table *running,
			  void (*fn)(void *context, enum plan_difference difference,
				     const struct plan_route *planned,
				     const struct plan_route *running),
			  void *context)
{
	size_t i = 0, j = 0, n = 0;

	while (i < plan->n || j < running->n) {
		const struct plan_route *p = i < plan->n ? &plan->route[i] : NULL;
		const struct plan_route *r = j < running->n ? &running->route[j] : NULL;
		int order = !p ? 1 : !r ? -1 : strcmp(p->prefix, r->prefix);

		i += order <= 0;
		j += order >= 0;
		if (order == 0 && strcmp(p->what.data, r->what.data) == 0)
			continue;
		if (order > 0 && r->kernels)
			continue;
		n++;
		fn(context,
		   order == 0  ? PLAN_DIFFERENT
		   : order < 0 ? PLAN_MISSING
			       : PLAN_EXTRA,
		   order <= 0 ? p : NULL, order >= 0 ? r : NULL);
	}
	return n;
}

/* ---- what ip(8) shows ---- */

/* Routes of the largest switch that there is in a lab, many times over. */
#define SHOWN_MAX (64u << 20)

static char *read_all(FILE *from, char *error, size_t size)
{
	char *text = NULL;
	size_t len = 0, room = 0;

	do {
		char *grown;

		room = room ? 2 * room : 1u << 16;
		grown = room <= SHOWN_MAX ? realloc(text, room) : NULL;
		if (!grown) {
			snprintf(error, size, "more routes than there is room for");
			free(text);
			return NULL;
		}
		text = grown;
		len += fread(text + len, 1, room - len - 1, from);
	} while (len == room - 1);
	if (ferror(from)) {
		snprintf(error, size, "%s", strerror(errno));
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

/* In the child: everything that it says goes to the pipe. */
static void become_ip(int netns, int out)
{
	if (setns(netns, CLONE_NEWNET) || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	execlp("ip", "ip", "-j", "-6", "route", "show", "table", "all", (char *)NULL);
	execl("/sbin/ip", "ip", "-j", "-6", "route", "show", "table", "all", (char *)NULL);
	_exit(127);
}

static char *run_ip(int netns, char *error, size_t size)
{
	int fds[2], status;
	char *text = NULL;
	FILE *from;
	pid_t pid;

	if (pipe(fds)) {
		snprintf(error, size, "%s", strerror(errno));
		return NULL;
	}
	pid = fork();
	if (pid == 0)
		become_ip(netns, fds[1]);
	close(fds[1]);
	from = fdopen(fds[0], "r");
	if (pid > 0 && from)
		text = read_all(from, error, size);
	if (from)
		fclose(from);
	else
		close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status)) {
		snprintf(error, size, "ip -j -6 route show failed");
		free(text);
		return NULL;
	}
	return text;
}

char *plan_ip_routes_run(const struct ml_lab *lab, uint32_t node, char *error, size_t size)
{
	struct ml_error e;
	int netns = ml_lab_netns(lab, node, &e);
	char *text;

	if (netns < 0) {
		snprintf(error, size, "%s", e.text);
		return NULL;
	}
	text = run_ip(netns, error, size);
	close(netns);
	return text;
}

char *plan_ip_routes_read(const char *dir, const char *path, char *error, size_t size)
{
	char whole[PATH_MAX];
	FILE *from;
	char *text;

	snprintf(whole, sizeof(whole), "%s/%s.routes.json", dir, path);
	from = fopen(whole, "r");
	if (!from) {
		snprintf(error, size, "%.180s: %s", whole, strerror(errno));
		return NULL;
	}
	text = read_all(from, error, size);
	fclose(from);
	return text;
}
