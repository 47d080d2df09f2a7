/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc lab status and mrc lab watch - what is up, and what its ports count: totals, or what happened
 * between two readings.
 */
#include "cli/lab/lab_verbs.h"

#include "base/quantity.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What all ports had counted at some time. */
struct show_reading {
	uint64_t ns;
	struct ml_counters *port; /* n_links, owned */
};

static int show_read(struct show_reading *r, struct ml_lab *lab, struct ml_error *e)
{
	if (!r->port)
		r->port = calloc(ml_lab_topology(lab)->n_links, sizeof(*r->port));
	if (!r->port)
		return ml_error_set(e, "no memory");
	r->ns = ui_clock_ns();
	return ml_lab_counters(lab, r->port, e);
}

static void show_fini(struct show_reading *r)
{
	free(r->port);
	*r = (struct show_reading){0};
}

/* ---- sums ---- */

/* What some ports did together. */
struct sum {
	unsigned ports, carriers;
	double packets, bytes, trimmed, marked, dropped, lost;
	uint64_t queue_bytes; /* of the fullest */
};

/* A switch that was rebooted counts from 0 again. */
static double counter_delta(uint64_t now, uint64_t before)
{
	return now >= before ? (double)(now - before) : (double)now;
}

static void add_port_counters(struct sum *s, const struct show_reading *now,
			      const struct show_reading *before, uint32_t link)
{
	static const struct ml_counters none;
	const struct ml_counters *a = &now->port[link], *b = before ? &before->port[link] : &none;
	double per = before && now->ns > before->ns ? 1e9 / (double)(now->ns - before->ns) : 1;

	s->ports++;
	s->carriers += a->carrier;
	s->packets += per * counter_delta(a->packets, b->packets);
	s->bytes += per * counter_delta(a->sent_bytes, b->sent_bytes);
	s->trimmed += per * counter_delta(a->trimmed, b->trimmed);
	s->marked += per * counter_delta(a->marked, b->marked);
	s->dropped += per * counter_delta(a->dropped, b->dropped);
	s->lost += per * counter_delta(a->lost, b->lost);
	if (a->queue_bytes > s->queue_bytes)
		s->queue_bytes = a->queue_bytes;
}

static void put_head(struct ui_table *t, const char *first, const char *second, bool rates)
{
	const char *const names[] = {first,
				     second,
				     rates ? "PACKETS/s" : "PACKETS",
				     rates ? "RATE" : "BYTES",
				     "QUEUE",
				     rates ? "TRIMS/s" : "TRIMS",
				     rates ? "MARKS/s" : "MARKS",
				     rates ? "DROPS/s" : "DROPS",
				     rates ? "FAULTS/s" : "FAULTS"};

	for (size_t c = 0; c < sizeof(names) / sizeof(names[0]); c++)
		ui_table_cell(t, 0, c, "%s", names[c]);
}

static void put_row(struct ui_table *t, size_t n, const struct sum *s, bool rates)
{
	const double counts[] = {s->trimmed, s->marked, s->dropped, s->lost};
	char text[UI_UNITS_MAX];

	ui_table_cell(t, n, 2, "%s", ui_units_count(text, s->packets));
	ui_table_cell(t, n, 3, "%s",
		      rates ? ui_units_bits(text, 8 * s->bytes)
			    : ui_units_bytes(text, (uint64_t)s->bytes));
	ui_table_cell(t, n, 4, "%s", s->queue_bytes ? ui_units_bytes(text, s->queue_bytes) : "-");
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		ui_table_cell(t, n, 5 + c, "%s", ui_units_count(text, counts[c]));
}

/* ---- tables; before: an earlier reading, for figures a second; NULL: totals ---- */

static void show_planes(const struct ml_lab *lab, const struct show_reading *now,
			const struct show_reading *before, struct ui_text *out)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	struct ui_table table = {0};

	put_head(&table, "PLANE", "LINKS UP", before);
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		struct sum s = {0};

		for (uint32_t link = 0; link < t->n_links; link++)
			if (mf_link_plane(t, link) == plane)
				add_port_counters(&s, now, before, link);
		ui_table_cell(&table, plane + 1, 0, "%u", plane);
		ui_table_cell(&table, plane + 1, 1, "%u/%u", s.carriers / 2, s.ports / 2);
		put_row(&table, plane + 1, &s, before);
	}
	ui_table_render(&table, out);
}

/* What a switch is up to, in a word or two. */
static const char *switch_state(const struct ml_lab *lab, uint32_t node)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	uint32_t ports = mf_node_ports(t, mf_node_at(t, node).tier), dark = 0;

	for (uint32_t port = 0; port < ports; port++)
		dark += ml_lab_port(lab, mf_link_out(t, node, port))->faults.blackhole;
	return ml_lab_switch_is_off(lab, node) ? "off" : dark == ports ? "silent" : "";
}

static void show_switches(const struct ml_lab *lab, const struct show_reading *now,
			  const struct show_reading *before, struct ui_text *out)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	struct ui_table table = {0};
	size_t n = 1;

	put_head(&table, "SWITCH", "PORTS UP", before);
	ui_table_cell(&table, 0, 9, "STATE");
	for (uint32_t node = t->n_hosts; node < t->n_nodes; node++, n++) {
		uint32_t ports = mf_node_ports(t, mf_node_at(t, node).tier);
		char name[MF_NODE_NAME_BYTES];
		struct sum s = {0};

		for (uint32_t port = 0; port < ports; port++)
			add_port_counters(&s, now, before, mf_link_out(t, node, port));
		mf_node_name(t, node, name);
		ui_table_cell(&table, n, 0, "%s", name);
		ui_table_cell(&table, n, 1, "%u/%u", s.carriers, s.ports);
		put_row(&table, n, &s, before);
		ui_table_cell(&table, n, 9, "%s", switch_state(lab, node));
	}
	ui_table_render(&table, out);
}

static void show_links(const struct ml_lab *lab, const struct show_reading *now,
		       const struct show_reading *before, struct ui_text *out)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	struct ui_table table = {0};

	put_head(&table, "LINK", "CARRIER", before);
	for (uint32_t link = 0; link < t->n_links; link++) {
		char name[MF_LINK_NAME_BYTES];
		struct sum s = {0};

		add_port_counters(&s, now, before, link);
		ui_table_cell(&table, link + 1, 0, "%s", mf_cable_name(t, link, name));
		ui_table_cell(&table, link + 1, 1, "%s", s.carriers ? "up" : "down");
		put_row(&table, link + 1, &s, before);
	}
	ui_table_render(&table, out);
}

static void show_faults(const struct ml_lab *lab, struct ui_text *out)
{
	char text[MF_FAULT_TEXT_BYTES];
	const struct mf_fault *fault;
	size_t n;

	fault = ml_lab_faults(lab, &n);
	ui_text_add(out, n ? "faults:\n" : "no faults\n");
	for (size_t i = 0; i < n; i++)
		ui_text_add(out, "  %s %s\n", fault[i].target, mf_fault_write(&fault[i], text));
}

/* ---- JSON ---- */

static json_t *link_json(const struct ml_lab *lab, const struct ml_counters *c, uint32_t link)
{
	const struct ml_port_state *s = ml_lab_port(lab, link);
	char name[MF_LINK_NAME_BYTES];

	return json_pack("{ss sb sI sb sb sI sI sI sI sI sI sI sI sI sI sI}", "link",
			 mf_cable_name(ml_lab_topology(lab), link, name), "carrier", c->carrier,
			 "rate_bps", (json_int_t)ml_lab_rate(lab, link), "down", s->down,
			 "blackhole", s->faults.blackhole, "packets", (json_int_t)c->packets,
			 "bytes", (json_int_t)c->bytes, "sent_bytes", (json_int_t)c->sent_bytes,
			 "queue_bytes", (json_int_t)c->queue_bytes, "trimmed",
			 (json_int_t)c->trimmed, "marked", (json_int_t)c->marked, "dropped",
			 (json_int_t)c->dropped, "lost_to_faults", (json_int_t)c->lost, "corrupted",
			 (json_int_t)c->corrupted, "duplicated", (json_int_t)c->duplicated,
			 "reordered", (json_int_t)c->reordered);
}

static json_t *show_json(const struct ml_lab *lab, const struct show_reading *now)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	json_t *links = json_array(), *faults = json_array(), *off = json_array();
	const struct mf_fault *fault;
	const char *why;
	bool programs = ml_lab_programs(lab, &why);
	size_t n;

	fault = ml_lab_faults(lab, &n);
	for (size_t i = 0; i < n; i++) {
		char text[MF_FAULT_TEXT_BYTES];

		json_array_append_new(faults, json_pack("{ss ss}", "target", fault[i].target,
							"fault", mf_fault_write(&fault[i], text)));
	}
	for (uint32_t link = 0; link < t->n_links; link++)
		json_array_append_new(links, link_json(lab, &now->port[link], link));
	for (uint32_t node = t->n_hosts; node < t->n_nodes; node++) {
		char name[MF_NODE_NAME_BYTES];

		mf_node_name(t, node, name);
		if (ml_lab_switch_is_off(lab, node))
			json_array_append_new(off, json_string(name));
	}
	return json_pack("{ss ss si si si sI sb so so so}", "lab", ml_lab_name(lab), "topology",
			 ml_lab_topology_name(lab), "hosts", (int)t->n_hosts, "switches",
			 (int)t->n_switches, "planes", (int)t->cfg.planes, "pace_bps",
			 (json_int_t)ml_lab_rate_scale(lab), "programs", programs, "off", off,
			 "faults", faults, "links", links);
}

/* ---- mrc lab status ---- */

struct ask {
	const char *lab;
	bool links, json, names;
};

static void print_status(struct ml_lab *lab, const struct show_reading *r, bool links)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char rate[MB_QUANTITY_MAX];
	struct ui_text text = {0};
	const char *why;

	ui_text_add(&text, "lab %s (%s): %u hosts, %u switches, ", ml_lab_name(lab),
		    ml_lab_topology_name(lab), t->n_hosts, t->n_switches);
	if (ml_lab_rate_scale(lab))
		ui_text_add(&text, "hosts send %s on each plane, ",
			    mb_quantity_write_rate(rate, ml_lab_rate_scale(lab)));
	if (ml_lab_programs(lab, &why))
		ui_text_add(&text, "switches trim and mark\n\n");
	else
		ui_text_add(&text, "no switch programs: %s\n\n", why);
	(links ? show_links : show_switches)(lab, r, NULL, &text);
	ui_text_add(&text, "\n");
	show_faults(lab, &text);
	fputs(text.data, stdout);
	ui_text_fini(&text);
}

static int show_lab_status(const struct ask *a, const char *name)
{
	struct ml_lab *lab = lab_open(&lab_status_verb, name);
	struct show_reading r = {0};
	struct ml_error e;
	int failed;

	if (!lab)
		return LAB_FAILED;
	failed = show_read(&r, lab, &e);
	if (failed) {
		lab_fail(&lab_status_verb, &e);
	} else if (a->json) {
		json_t *json = show_json(lab, &r);

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
	} else {
		print_status(lab, &r, a->links);
	}
	show_fini(&r);
	ml_lab_close(lab);
	return failed ? LAB_FAILED : LAB_GOOD;
}

static const struct ui_flag status_flags[] = {
	UI_SWITCH("--links", ask, links, "every link instead of every switch"),
	UI_SWITCH("--json", ask, json, "everything as JSON"),
	UI_SWITCH("--names", ask, names, "the names of all labs, nothing else"),
};

static int lab_status_main(int argc, char **argv)
{
	struct ask a = {0};
	struct lab_names names;
	const char *name;
	size_t words;
	int rc;

	rc = ui_verb_parse(&lab_status_verb, &a, argc, argv, &a.lab, 1, &words);
	if (rc != UI_FLAGS_OK)
		return rc;
	if (a.names) {
		lab_find_all(&names);
		for (size_t i = 0; i < names.n; i++)
			printf("%s\n", names.name[i]);
		return LAB_GOOD;
	}
	name = lab_find_name(&lab_status_verb, a.lab, &names);
	return name ? show_lab_status(&a, name) : LAB_FAILED;
}

const struct ui_verb lab_status_verb = {
	.name = "mrc lab status",
	.summary = "what is up: switches, links, faults, counters",
	.usage = "[LAB] [FLAG...]",
	.about = "Shows switches or links with what they counted since they were created, and the "
		 "faults in force. TRIMS: packets cut for want of room. DROPS: for want of room, "
		 "but not trimmed. FAULTS: lost by a fault.",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = status_flags,
	.n_flags = UI_COUNT(status_flags),
	.run = lab_status_main,
};

/* ---- mrc lab watch ---- */

#define MS_NS UINT64_C(1000000)

struct watch {
	const char *lab;
	uint64_t interval_ns, count;
	bool links, plain, live;
	struct ui_term term;
};

static void draw_lab(const struct watch *w, const struct ml_lab *lab,
		     const struct show_reading *now, const struct show_reading *before)
{
	struct ui_text text = {0};

	ui_text_add(&text, "lab %s\n\n", ml_lab_name(lab));
	show_planes(lab, now, before, &text);
	ui_text_add(&text, "\n");
	(w->links ? show_links : show_switches)(lab, now, before, &text);
	ui_text_add(&text, "\n");
	show_faults(lab, &text);
	if (w->live) {
		ui_term_show(&text);
	} else {
		printf("%s\n", text.data);
		fflush(stdout);
	}
	ui_text_fini(&text);
}

/* The handle is opened anew each time: faults come from other processes. */
static int watch_once(const struct watch *w, const char *name, struct show_reading *now,
		      const struct show_reading *before, struct ml_error *e)
{
	struct ml_lab *lab = ml_lab_open(name, e);
	int failed = lab ? show_read(now, lab, e) : -1;

	if (!failed && before->port)
		draw_lab(w, lab, now, before);
	ml_lab_close(lab);
	return failed;
}

static int watch_lab(struct watch *w, const char *name)
{
	struct show_reading reading[2] = {{0}};
	struct ml_error e;
	int failed = 0;

	w->live = !w->plain && ui_term_fits();
	if (w->live)
		ui_term_enter(&w->term);
	for (uint64_t i = 0; !failed && (!w->count || i <= w->count); i++) {
		failed = watch_once(w, name, &reading[i % 2], &reading[(i + 1) % 2], &e);
		if (!failed && (!w->count || i < w->count))
			lab_sleep(w->interval_ns);
		if (ui_term_caught())
			break;
	}
	if (w->live)
		ui_term_leave(&w->term);
	show_fini(&reading[0]);
	show_fini(&reading[1]);
	if (failed)
		lab_fail(&lab_watch_verb, &e);
	return failed ? LAB_FAILED : LAB_GOOD;
}

static const struct ui_flag watch_flags[] = {
	{"--interval", UI_FLAG_TIME, "TIME", "between readings (500ms)",
	 offsetof(struct watch, interval_ns), 20 * MS_NS, UINT64_C(3600000) * MS_NS},
	{"--count", UI_FLAG_U64, "N", "readings to show (no end)", offsetof(struct watch, count), 1,
	 UINT32_MAX},
	UI_SWITCH("--links", watch, links, "every link instead of every switch"),
	UI_SWITCH("--plain", watch, plain, "text below text instead of a live screen"),
};

static int lab_watch_main(int argc, char **argv)
{
	struct watch w = {.interval_ns = 500 * MS_NS};
	struct lab_names names;
	const char *name;
	struct ml_lab *lab;
	size_t words;
	int status;

	status = ui_verb_parse(&lab_watch_verb, &w, argc, argv, &w.lab, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	name = lab_find_name(&lab_watch_verb, w.lab, &names);
	lab = name ? lab_open(&lab_watch_verb, name) : NULL;
	if (!lab)
		return LAB_FAILED;
	ml_lab_close(lab);
	ui_term_catch();
	return watch_lab(&w, name);
}

const struct ui_verb lab_watch_verb = {
	.name = "mrc lab watch",
	.summary = "planes, switches and queues, live",
	.usage = "[LAB] [FLAG...]",
	.about = "Planes, switches, queues, trims, marks, drops and faults, as they are now.",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = watch_flags,
	.n_flags = UI_COUNT(watch_flags),
	.run = lab_watch_main,
};
