/* SPDX-License-Identifier: BSD-2-Clause */
/* What runs against what was planned: see diff.h. */
#include "cli/plan/plan_verb.h"

#include "cli/lab/lab_verbs.h"
#include "fabric/emit.h"
#include "fabric/fabric_node.h"
#include "fabric/topology_toml.h"
#include "study/study_verbs.h"

#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SAME = 0, EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

struct diff {
	const char *lab, *dir, *topology, *node;
	bool json;
	struct ml_lab *open; /* NULL with --dir */
	struct mf_topology t;
	uint32_t at; /* the node in hand */
	uint32_t nodes, differing;
	size_t differences;
	json_t *list; /* with --json */
};

static const char *const words[] = {
	[PLAN_MISSING] = "missing", [PLAN_EXTRA] = "extra", [PLAN_DIFFERENT] = "different"};

/* Which node a planned route leads to, "" where it leads to none or to several. */
static void name_target(const struct diff *d, const char *prefix, char out[MF_NODE_NAME_BYTES])
{
	struct mf_route_iter it;
	struct mf_route r;
	char text[MF_ADDRESS_TEXT], own[PLAN_PREFIX];
	size_t n = 0;

	out[0] = '\0';
	mf_routes_begin(&it, &d->t, d->at, MF_ROUTES_ALL);
	while (mf_routes_next(&it, &r)) {
		snprintf(own, sizeof(own), "%s/%u", mf_emit_address(r.prefix, text), r.length);
		if (r.kind != MF_ROUTE_LINK || strcmp(own, prefix) != 0)
			continue;
		if (n++)
			out[0] = '\0';
		else
			mf_node_name(&d->t, mf_link_to(&d->t, r.link).node, out);
	}
}

static void report_difference(void *context, enum plan_difference difference,
			      const struct plan_route *planned, const struct plan_route *running)
{
	struct diff *d = context;
	const char *prefix = planned ? planned->prefix : running->prefix;
	char node[MF_NODE_NAME_BYTES], target[MF_NODE_NAME_BYTES];

	mf_node_name(&d->t, d->at, node);
	name_target(d, prefix, target);
	if (d->json) {
		json_array_append_new(d->list,
				      json_pack("{s:s,s:s,s:s,s:s*,s:s*,s:s*}", "node", node,
						"difference", words[difference], "prefix", prefix,
						"to", *target ? target : NULL, "plan",
						planned ? planned->what.data : NULL, "running",
						running ? running->what.data : NULL));
		return;
	}
	printf("%-14s %-9s %s", node, words[difference], prefix);
	if (*target)
		printf(" (%s)", target);
	if (planned)
		printf("  plan: %s", planned->what.data);
	if (running)
		printf("  running: %s", running->what.data);
	printf("\n");
}

/* What ip(8) shows at a node; NULL after a message. */
static char *read_running_routes(struct diff *d)
{
	char path[MF_PATH_BYTES], name[MF_NODE_NAME_BYTES], error[256];
	char *text;

	mf_node_name(&d->t, d->at, name);
	mf_emit_path(&d->t, d->at, path);
	text = d->open ? plan_ip_routes_run(d->open, d->at, error, sizeof(error))
		       : plan_ip_routes_read(d->dir, path, error, sizeof(error));
	if (!text)
		fprintf(stderr, "mrc plan diff: %s: %s\n", name, error);
	return text;
}

/* A switch that is off has no tables; that is one difference. */
static void tell_off(struct diff *d)
{
	char name[MF_NODE_NAME_BYTES];

	mf_node_name(&d->t, d->at, name);
	d->nodes++;
	d->differing++;
	d->differences++;
	if (d->json)
		json_array_append_new(d->list,
				      json_pack("{s:s,s:s}", "node", name, "difference", "off"));
	else
		printf("%-14s off\n", name);
}

static int compare_node(struct diff *d)
{
	struct plan_table plan = {0}, running = {0};
	char *text, name[MF_NODE_NAME_BYTES];
	const char *why;
	int err = -1;

	if (d->open && ml_lab_switch_is_off(d->open, d->at)) {
		tell_off(d);
		return 0;
	}
	text = read_running_routes(d);
	if (!text)
		return -1;
	if (plan_table_read(&running, text, &why)) {
		size_t n;

		plan_table_plan(&plan, &d->t, d->at);
		n = plan_table_compare(&plan, &running, report_difference, d);
		d->nodes++;
		d->differing += n > 0;
		d->differences += n;
		err = 0;
	} else {
		mf_node_name(&d->t, d->at, name);
		fprintf(stderr, "mrc plan diff: %s: %s\n", name, why);
	}
	plan_table_fini(&plan);
	plan_table_fini(&running);
	free(text);
	return err;
}

static int compare_all(struct diff *d)
{
	struct mf_error error;

	if (d->node) {
		if (mf_node_find(&d->t, d->node, &d->at, &error))
			return compare_node(d);
		fprintf(stderr, "mrc plan diff: --node %s: %s\n", d->node, error.what);
		return -1;
	}
	for (d->at = 0; d->at < d->t.n_nodes; d->at++)
		if (compare_node(d))
			return -1;
	return 0;
}

static int open_side(struct diff *d)
{
	static struct lab_names names;
	char error[MF_TOML_ERROR_BYTES];

	if (d->dir) {
		if (mf_topology_open(d->topology, &d->t, error))
			return 0;
		fprintf(stderr, "mrc plan diff: %s\n", error);
		return -1;
	}
	d->lab = lab_find_name(&plan_diff_verb, d->lab, &names);
	d->open = d->lab ? lab_open(&plan_diff_verb, d->lab) : NULL;
	if (!d->open)
		return -1;
	d->t = *ml_lab_topology(d->open);
	if (!d->topology)
		return 0;
	/* Held against another plan than its own. */
	if (mf_topology_open(d->topology, &d->t, error)) {
		if (d->t.n_nodes == ml_lab_topology(d->open)->n_nodes)
			return 0;
		snprintf(error, sizeof(error),
			 "--topology %s: it has %" PRIu32 " nodes, the lab %" PRIu32, d->topology,
			 d->t.n_nodes, ml_lab_topology(d->open)->n_nodes);
	}
	fprintf(stderr, "mrc plan diff: %s\n", error);
	return -1;
}

static const struct ui_flag flags[] = {
	UI_TEXT("--node", diff, node, "NODE", "this one only, such as plane0.t1-3"),
	UI_TEXT("--dir", diff, dir, "DIR", "saved tables instead of a lab"),
	UI_TEXT("--topology", diff, topology, "TOPOLOGY", "the plan (the lab's own)"),
	UI_SWITCH("--json", diff, json, "the differences as JSON"),
};

static enum ui_flags_result parse_options(struct diff *d, int argc, char **argv)
{
	size_t operands;
	enum ui_flags_result rc =
		ui_verb_parse(&plan_diff_verb, d, argc, argv, &d->lab, 1, &operands);

	if (rc == UI_FLAGS_OK && d->dir && (operands || !d->topology)) {
		fprintf(stderr, "mrc plan diff: --dir wants --topology and no LAB\n");
		return UI_FLAGS_ERROR;
	}
	return rc;
}

static void print_conclusion(const struct diff *d)
{
	if (d->json) {
		json_t *all = json_pack("{s:i,s:i,s:i,s:I,s:O}", "version", 1, "nodes",
					(int)d->nodes, "nodes_that_differ", (int)d->differing,
					"differences", (json_int_t)d->differences, "list", d->list);

		ui_json_print(all, JSON_INDENT(2));
	} else if (d->differences) {
		printf("%zu difference%s at %" PRIu32 " of %" PRIu32 " nodes\n", d->differences,
		       d->differences == 1 ? "" : "s", d->differing, d->nodes);
	} else {
		printf("%" PRIu32 " node%s as planned\n", d->nodes, d->nodes == 1 ? "" : "s");
	}
}

static int plan_diff_main(int argc, char **argv)
{
	struct diff d = {0};
	int status;

	status = parse_options(&d, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	status = EXIT_TROUBLE;
	d.list = json_array();
	if (open_side(&d) == 0 && compare_all(&d) == 0) {
		print_conclusion(&d);
		status = d.differences ? EXIT_DIFFERENT : EXIT_SAME;
	}
	json_decref(d.list);
	ml_lab_close(d.open);
	return status;
}

const struct ui_verb plan_diff_verb = {
	.name = "mrc plan diff",
	.summary = "what differs between a running lab, or saved tables, and the plan",
	.usage = "[LAB] [FLAG...]\n"
		 "--dir DIR --topology TOPOLOGY [FLAG...]",
	.about = "Holds the routes and SIDs of every switch and host of a running lab against the "
		 "plan, and names what is missing, extra or different. With --dir, what was saved "
		 "of each node by `ip -j -6 route show table all`, in the files that --emit would "
		 "write, with the ending .routes.json: plane0/t0-1.routes.json.",
	.examples = "mrc plan diff                                 the only lab that is up\n"
		    "mrc plan diff lab --node plane0.t1-0 --json\n"
		    "mrc plan diff --dir saved --topology ./mine.toml",
	.exits = "0 nothing differs, 1 something does, 2 wrong usage or nothing to compare",
	.operands = "LAB",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&lab_choices, &study_topologies, NULL},
	.run = plan_diff_main,
};
