/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc trace - an EV's nodes and cables, hop by hop, and the EVs that use a part of the fabric. */
#include "cli/cli_verbs.h"
#include "cli/fabric_at_hand.h"
#include "cli/gid_text.h"
#include "cli/lab/lab_verbs.h"
#include "cli/trace/trace.h"
#include "fabric/usid.h"
#include "study/study_verbs.h"
#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define MS_NS UINT64_C(1000000)
#define WORDS_MAX 64u
/* Questions to the arithmetic that take about a second. */
#define WORK_MAX UINT64_C(100000000)

struct trace {
	const char *fabric_name, *lab_name, *through;
	bool probe, json;
	uint32_t count;
	uint64_t timeout_ns;
	const char *word[WORDS_MAX]; /* SRC DST EV... */
	size_t words;
	uint32_t src, dst;
	struct cli_fabric fabric;
	struct ml_lab *lab; /* or NULL */
	const struct mf_topology *t;
};

#define WANTED "want SRC DST [EV...], or --through PART (mrc trace --help tells more)"

static int refuse(const char *word, const char *allowed)
{
	fprintf(stderr, "mrc trace: %s: %s\n", word, allowed);
	return EXIT_USAGE;
}

/* ---- which fabric ---- */

/* A lab that is up, where it is asked for or nothing else is known. 0, or -1 after a message. */
static int find_lab(struct trace *tr)
{
	struct lab_names names;
	const char *name = lab_find_name(&cli_trace_verb, tr->lab_name, &names);

	tr->lab = name ? lab_open(&cli_trace_verb, name) : NULL;
	if (!tr->lab)
		return -1;
	tr->t = ml_lab_topology(tr->lab);
	return 0;
}

static int find_fabric(struct trace *tr)
{
	if (tr->lab_name)
		return find_lab(tr);
	if (cli_fabric_find(&cli_trace_verb, tr->fabric_name, &tr->fabric))
		return -1;
	tr->t = &tr->fabric.t;
	return tr->fabric.known ? 0 : find_lab(tr);
}

/* host3, or an address of it. */
static int find_host(const struct trace *tr, const char *word, uint32_t *host)
{
	struct mf_error why;
	uint8_t address[16];
	char error[100];
	uint32_t node;

	if (strchr(word, ':')) {
		if (cli_address_find(word, true, address, error, sizeof(error)) == 0 &&
		    mf_address_host(tr->t, address, host))
			return 0;
		return refuse(word, "is no address of a host of this fabric");
	}
	if (!mf_node_find(tr->t, word, &node, &why))
		return refuse(word, why.what);
	if (node >= tr->t->n_hosts)
		return refuse(word, "is a switch; packets go from host to host, such as host0");
	*host = node;
	return 0;
}

/* ---- paths ---- */

struct showing {
	struct trace *tr;
	struct trace_prober prober;
	bool one; /* EV: hop by hop */
	bool silent;
	struct ui_text text;
	json_t *paths;
};

static void trace_ev(struct showing *s, uint32_t ev)
{
	const struct trace *tr = s->tr;
	struct trace_path path;

	trace_path_of(tr->t, tr->src, tr->dst, ev, &path);
	if (tr->probe)
		trace_prober_run(&s->prober, &path);
	s->silent |= tr->probe && trace_path_silent(&path) < path.hops;
	if (tr->json)
		json_array_append_new(s->paths, trace_path_json(tr->t, &path, tr->probe));
	else if (s->one)
		trace_show_hops(tr->t, &path, tr->probe, &s->text);
	else
		trace_show_line(tr->t, &path, tr->probe, &s->text);
	if (!tr->json)
		ui_text_print(&s->text, stdout);
}

static int refuse_ev(const struct mf_topology *t, const char *word)
{
	uint32_t last = mf_ev_nth(t, mf_ev_count(t) - 1);
	char allowed[200], first_text[UI_UNITS_MAX], last_text[UI_UNITS_MAX];

	snprintf(allowed, sizeof(allowed),
		 "no EV of a path of this fabric; want a number with planes 0 to %u in bits 16 to "
		 "19, %s to %s, or PORT:NUMBER with ports 1 to %u",
		 t->cfg.planes - 1, ui_units_ev(first_text, mf_ev_shown(0)),
		 ui_units_ev(last_text, mf_ev_shown(last)), t->cfg.planes);
	return refuse(word, allowed);
}

/* All that the pair has, or those that were named, which are read before any is shown. */
static int trace_all(struct showing *s)
{
	struct trace *tr = s->tr;
	struct mf_pair pair = mf_pair_of(tr->t, tr->src, tr->dst);
	uint32_t ev[WORDS_MAX];

	for (size_t i = 2; i < tr->words; i++)
		if (!trace_ev_read(tr->t, tr->word[i], &ev[i]))
			return refuse_ev(tr->t, tr->word[i]);
	s->one = tr->words > 2;
	for (size_t i = 2; i < tr->words; i++)
		trace_ev(s, ev[i]);
	for (uint32_t n = 0; !s->one && n < mf_path_count(tr->t, &pair) && !ui_term_caught(); n++)
		trace_ev(s, mf_ev_nth(tr->t, n));
	return EXIT_GOOD;
}

static int run_paths(struct trace *tr)
{
	struct showing s = {
		.tr = tr,
		.prober = {.fd = -1,
			   .far_fd = -1,
			   .probes = tr->count,
			   .timeout_ns = tr->timeout_ns},
		.paths = json_array(),
	};
	struct ml_error e;
	int status;

	if (tr->probe && trace_prober_open(&s.prober, tr->lab, tr->t, tr->src, tr->dst, &e)) {
		json_decref(s.paths);
		return lab_fail(&cli_trace_verb, &e);
	}
	status = trace_all(&s);
	trace_prober_close(&s.prober);
	if (tr->json && status == EXIT_GOOD)
		ui_json_print(json_pack("{s:i,s:s,s:o}", "version", 1, "fabric", tr->t->cfg.name,
					"paths", json_incref(s.paths)),
			      JSON_INDENT(2));
	json_decref(s.paths);
	return status == EXIT_GOOD && (s.silent || ui_term_caught()) ? EXIT_FAILED : status;
}

/* ---- parts ---- */

static int run_part(const struct trace *tr)
{
	struct trace_part part = {.t = tr->t, .name = tr->through, .src = tr->src, .dst = tr->dst};
	struct ui_text text = {0};
	struct mf_error why;

	if (!mf_target_find(tr->t, tr->through, &part.part, &why))
		return refuse(tr->through, why.what);
	if (tr->src == MF_HOST_NONE &&
	    (uint64_t)tr->t->n_hosts * mf_ev_count(tr->t) * part.part.links > WORK_MAX)
		return refuse(tr->through, "too many hosts to go through one by one; name the "
					   "source: --through PART SRC");
	if (tr->json) {
		ui_json_print(trace_part_json(&part), JSON_INDENT(2));
		return EXIT_GOOD;
	}
	trace_part_show(&part, &text);
	ui_text_print(&text, stdout);
	return EXIT_GOOD;
}

/* ---- the command line ---- */

static int check_words(const struct trace *tr)
{
	if (tr->lab_name && tr->fabric_name)
		return refuse("--lab, --fabric", "one of them");
	if (tr->through && tr->probe)
		return refuse("--probe", "of paths, not of parts; want SRC DST");
	if (tr->through && tr->words > 2)
		return refuse(tr->word[2], "unexpected; want --through PART [SRC [DST]]");
	if (!tr->through && tr->words == 1)
		return refuse(tr->word[0], WANTED);
	if (!tr->through && !tr->words) {
		fprintf(stderr, "mrc trace: " WANTED "\n");
		return EXIT_USAGE;
	}
	return UI_FLAGS_OK;
}

static int find_hosts(struct trace *tr)
{
	tr->src = tr->dst = MF_HOST_NONE;
	if (tr->words > 0 && find_host(tr, tr->word[0], &tr->src))
		return EXIT_USAGE;
	if (tr->words > 1 && find_host(tr, tr->word[1], &tr->dst))
		return EXIT_USAGE;
	if (tr->words > 1 && tr->src == tr->dst)
		return refuse(tr->word[1], "is where packets leave; want another host");
	return UI_FLAGS_OK;
}

static const struct ui_flag flags[] = {
	CLI_FABRIC_FLAG(trace, fabric_name),
	UI_TEXT("--lab", trace, lab_name, "LAB", "the fabric of a running lab"),
	UI_TEXT("--through", trace, through, "PART",
		"the EVs that use a cable, switch, transceiver, host or plane"),
	UI_SWITCH("--probe", trace, probe, "ask each hop: probes go there and come back by uSIDs"),
	{"--count", UI_FLAG_U32, "N", "probes of each hop (3)", offsetof(struct trace, count), 1,
	 1000},
	{"--timeout", UI_FLAG_TIME, "TIME", "for an answer (200ms)",
	 offsetof(struct trace, timeout_ns), MS_NS, 10000 * MS_NS},
	UI_SWITCH("--json", trace, json, "the result as JSON"),
};

static int cli_trace_main(int argc, char **argv)
{
	static struct trace tr;
	int status;

	tr = (struct trace){.count = 3, .timeout_ns = 200 * MS_NS};
	status = ui_verb_parse(&cli_trace_verb, &tr, argc, argv, tr.word, WORDS_MAX, &tr.words);
	if (status == UI_FLAGS_OK)
		status = check_words(&tr);
	if (status != UI_FLAGS_OK)
		return status;
	if (find_fabric(&tr))
		return EXIT_FAILED;
	ui_term_catch();
	status = find_hosts(&tr);
	if (status == UI_FLAGS_OK)
		status = tr.through ? run_part(&tr) : run_paths(&tr);
	ml_lab_close(tr.lab);
	return status;
}

const struct ui_verb cli_trace_verb = {
	.name = "mrc trace",
	.summary = "the cables of an EV, hop by hop, and the EVs of a cable",
	.usage = "SRC DST [EV...] [FLAG...]\n"
		 "--through PART [SRC [DST]] [FLAG...]",
	.about =
		"Says which switches and cables an EV leads over from one host to another, of one "
		"EV hop by hop, of all in a line each; or which EVs use a part of the fabric. SRC "
		"and DST are hosts by name, host0, or address; EV a number as lists show it, or "
		"PORT:EV. --probe asks each hop: a packet goes to the switch and comes back by "
		"uSIDs, and the shortest time is shown; hosts of a lab send it back as well. PART: "
		"as the target of a fault, plane0.t0-1.t1-0 (mrc lab fault --help).",
	.notes =
		"Without --fabric, --lab and MRC_FABRIC the fabric is that of the only lab that is "
		"up. A hop of more than six uSIDs there and back is not asked.",
	.examples = "mrc trace host0 host5 --lab lab --probe\n"
		    "mrc trace host0 host5 0xc0010001 --fabric lab\n"
		    "mrc trace --through plane1.t0-0.t1-1 --fabric lab\n"
		    "mrc trace --through plane3.t1-7 host12 --fabric paper --json",
	.exits = "0 good, 1 a hop does not answer, interrupted, no lab or no such file, 2 wrong "
		 "usage",
	.operands = "SRC DST EV",
	.choices = (const struct ui_choices *const[]){&lab_choices, &study_topologies, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = cli_trace_main,
};
