/* SPDX-License-Identifier: BSD-2-Clause */
/* conform_main.c - mrc conform: its flags, and a run from target to report. */
#include "conform/catalogue.h"
#include "conform/conform.h"
#include "conform/report.h"
#include "conform/serve.h"
#include "conform/server_link.h"
#include "conform/udp_link.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define OPERANDS_MAX 24u
#define TARGET_MAX 512u
#define PATH_ROOM 512u
#define FILE_MAX (1u << 20)
#define SLOT_SHIFT 14u
#define SLOTS_MAX 1024u
#define MS_NS UINT64_C(1000000)

struct options {
	bool serve, once, list, json;
	const char *device, *peer, *html, *pcap, *dscp, *from;
	struct ui_flag_texts only, cases;
	uint32_t port, gid_index, udp_port, our_qpn;
	uint64_t patience_ns, silence_ns;
};

static const struct ui_flag flags[] = {
	UI_TEXTS("--only", options, only, "TEXT",
		 "only cases whose name has TEXT; may be repeated"),
	UI_TEXTS("--cases", options, cases, "FILE", "cases of a file instead of those built in"),
	UI_SWITCH("--list", options, list,
		  "print all cases with their requirements, and which are not covered"),
	UI_SWITCH("--json", options, json, "print one JSON value"),
	UI_TEXT("--html", options, html, "FILE", "write a report page"),
	UI_TEXT("--pcap", options, pcap, "DIR", "write a capture of each case into a folder"),
	{"--patience", UI_FLAG_TIME, "TIME", "how long an answer may take (1s)",
	 offsetof(struct options, patience_ns), MS_NS, 60000 * MS_NS},
	{"--udp-port", UI_FLAG_U32, "N", "UDP port of MRC (4791)",
	 offsetof(struct options, udp_port), 1024, 64512},
	UI_TEXT("--dscp", options, dscp, "LIST", "six code points, as MRC_DSCP (0,4,8,12,16,46)"),
	UI_TEXT("--from", options, from, "ADDR",
		"the kit's address (that by which the target is reached)"),
	{"--our-qpn", UI_FLAG_U32, "N", "the kit's QP number, for a QP made by hand (4097)",
	 offsetof(struct options, our_qpn), 3, 0xFFFFFF},
	UI_SWITCH("--serve", options, serve, "be the program beside the target, on its host"),
	{"--port", UI_FLAG_U32, "N", "with --serve: its TCP port (18187)",
	 offsetof(struct options, port), 1, 65535},
	UI_TEXT("--device", options, device, "NAME", "with --serve: the device (the first)"),
	{"--gid-index", UI_FLAG_U32, "N", "with --serve: index of the GID (0)",
	 offsetof(struct options, gid_index), 0, 255},
	{"--silence", UI_FLAG_TIME, "TIME",
	 "with --serve: how long a kit may say nothing while another one waits (1min)",
	 offsetof(struct options, silence_ns), MS_NS, 3600000 * MS_NS},
	UI_SWITCH("--once", options, once, "with --serve: end when the kit has gone"),
	UI_TEXT("--peer", options, peer, "NUMBERS",
		"with --serve: make one QP for \"gid ADDR qpn N psn N\" and print its numbers"),
};

static int conform_main(int argc, char **argv);

const struct ui_verb conform_verb = {
	.name = "mrc conform",
	.summary = "test any MRC endpoint over the wire",
	.usage = "[FLAG...] TARGET\n--serve [FLAG...]\n--list [--json]",
	.about =
		"Tests an MRC endpoint from outside: it sends packets in every order, with holes, "
		"copies, cuts and errors, and looks at what comes back. TARGET is a host where mrc "
		"conform --serve runs, HOST or HOST:PORT, or the numbers of a QP that was made by "
		"hand: "
		"gid ADDR qpn N psn N rkey N va N length N.",
	.notes = "Each case names the requirements that it holds the target to. Where public "
		 "sources "
		 "disagree, the answer says how this endpoint reads them and is no failure.",
	.examples = "mrc conform --serve                        on the target's host\n"
		    "mrc conform nic7                           the table\n"
		    "mrc conform --html nic7.html --pcap caps nic7\n"
		    "mrc conform --only wrap --json nic7\n"
		    "mrc conform gid fd00::7 qpn 17 psn 5000 rkey 0x1a va 0x7f0000 length 65536",
	.exits = "0 all that ran passed, 1 a case failed, 2 wrong usage or no target",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = conform_main,
};

struct conform {
	struct options o;
	char target[TARGET_MAX];
	struct cf_book book;
	struct cf_run run;
	struct cf_udp_link udp;
	struct cf_server_link server;
	struct cf_pcap pcap;
	struct cf_row *row;
	size_t n_rows;
	bool not_written;
};

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "mrc conform: %s%s%s\n", what, *why ? ": " : "", why);
	return -1;
}

/* ---- cases ---- */

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = file ? calloc(1, FILE_MAX + 1) : NULL;
	size_t n = text ? fread(text, 1, FILE_MAX, file) : 0;

	if (file && (ferror(file) || n == FILE_MAX)) {
		errno = n == FILE_MAX ? EFBIG : EIO;
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

static int read_cases(struct conform *c)
{
	char error[CF_ERROR_MAX] = "";

	if (c->o.cases.n == 0)
		return cf_catalogue_read(&c->book, error) ? complain(error, "") : 0;
	for (size_t i = 0; i < c->o.cases.n; i++) {
		char *text = read_file(c->o.cases.text[i]);
		int bad;

		if (!text)
			return complain(c->o.cases.text[i], strerror(errno));
		bad = cf_book_read(&c->book, c->o.cases.text[i], text, error);
		free(text);
		if (bad)
			return complain(error, "");
	}
	return 0;
}

static bool is_wanted(const struct options *o, const char *name)
{
	for (size_t i = 0; i < o->only.n; i++)
		if (strstr(name, o->only.text[i]))
			return true;
	return o->only.n == 0;
}

static int list(const struct conform *c)
{
	struct ui_text out = {0};

	if (c->o.json) {
		ui_json_print(cf_catalogue_json(&c->book), JSON_INDENT(1));
		return EXIT_GOOD;
	}
	cf_catalogue_list(&c->book, &out);
	ui_text_print(&out, stdout);
	return EXIT_GOOD;
}

/* ---- the target ---- */

static int read_dscp(struct conform *c)
{
	unsigned d[6];

	if (!c->o.dscp)
		return 0;
	if (sscanf(c->o.dscp, "%u,%u,%u,%u,%u,%u", &d[0], &d[1], &d[2], &d[3], &d[4], &d[5]) != 6)
		return complain("--dscp: want six numbers with commas between", c->o.dscp);
	for (unsigned i = 0; i < 6; i++) {
		if (d[i] > 63)
			return complain("--dscp: want numbers from 0 to 63", c->o.dscp);
		c->run.dscp[i] = (uint8_t)d[i];
	}
	return 0;
}

/* Opens the sockets and, where there is a program beside the target, the connection to it. */
static int reach(struct conform *c)
{
	bool by_hand = strchr(c->target, ' ') != NULL;
	char why[CF_SAY_MAX] = "";
	struct cf_qp qp = {0};
	uint32_t from_scope = 0;
	uint8_t from[16];

	if (by_hand && cf_qp_read(c->target, &qp, why))
		return complain(why, "");
	if (!by_hand && cf_server_link_open(&c->server, c->target, why))
		return complain(why, "");
	if (!by_hand) {
		struct cf_qp_wish any = {.gid = {[15] = 1},
					 .qpn = 3,
					 .psn = 0,
					 .mtu = 256,
					 .timeout = 14,
					 .peer_psn = UINT32_MAX};

		/* Only where its GID is, its packets come from: any QP tells. */
		memcpy(any.gid, c->server.ours, 16);
		if (c->server.server.make_qp(&c->server, &any, &qp, why))
			return complain("no QP", why);
	}
	if (c->o.from && cf_gid_read(c->o.from, from, &from_scope))
		return complain("--from: want an IPv4 or IPv6 address", c->o.from);
	/* The interface of a link-local GID: its own, the kit's, or that to the program. */
	if (qp.scope == 0)
		qp.scope = from_scope ? from_scope : c->server.scope;
	if (cf_udp_link_open(&c->udp, qp.gid, qp.scope, c->o.from ? from : NULL,
			     (uint16_t)c->o.udp_port, why))
		return complain(why, "");
	if (cf_run_init(&c->run, &c->udp.link, by_hand ? NULL : &c->server.server))
		return complain("no memory", "");
	c->run.qp = qp;
	if (by_hand)
		c->run.qpn = c->o.our_qpn;
	c->run.patience_ns = c->o.patience_ns;
	return read_dscp(c);
}

/*
 * Tries the UDP port of MRC, and then the one that softmrc has for the target's QP number, which is
 * another where several processes share an address (docs/design/0003).
 */
static int find(struct conform *c)
{
	uint32_t slot = c->run.qp.qpn >> SLOT_SHIFT;
	char why[CF_WHY_MAX] = "";

	if (cf_run_find(&c->run, why) == 0)
		return 0;
	if (slot == 0 || slot >= SLOTS_MAX)
		return complain("no target", why);
	c->udp.link.their_port = (uint16_t)(c->o.udp_port + slot);
	return cf_run_find(&c->run, why) ? complain("no target", why) : 0;
}

/* ---- the run ---- */

static void tap(void *context, uint64_t now_ns, bool out, const struct cf_frame *f)
{
	struct conform *c = context;

	(void)out;
	if (c->pcap.file)
		cf_pcap_write(&c->pcap, now_ns, f);
}

static void begin_pcap(struct conform *c, const char *name)
{
	const struct cf_link *l = c->run.link;
	char path[PATH_ROOM];

	if (!c->o.pcap)
		return;
	snprintf(path, sizeof(path), "%s/%s.pcap", c->o.pcap, name);
	if (cf_pcap_open(&c->pcap, path, l->now_ns(l->context))) {
		complain(path, strerror(errno));
		c->not_written = true;
	}
}

static void end_pcap(struct conform *c)
{
	if (c->pcap.file && cf_pcap_close(&c->pcap)) {
		complain(c->o.pcap, "not all packets were written");
		c->not_written = true;
	}
}

static struct cf_row *add_row(struct conform *c, const char *name, const char *asks,
			      const char *const *checks, size_t n_checks)
{
	struct cf_row *row = &c->row[c->n_rows++];

	*row = (struct cf_row){name, asks, checks, n_checks, {.verdict = CF_NOT_RUN}};
	return row;
}

static void show(const struct conform *c, const struct cf_row *row)
{
	struct ui_text out = {0};

	if (c->o.json)
		return;
	cf_report_row(row, &out);
	ui_text_print(&out, stdout);
	fflush(stdout);
}

static void play(struct conform *c)
{
	for (size_t i = 0; i < c->book.n; i++) {
		const struct cf_case *one = &c->book.cases[i];
		struct cf_row *row;

		if (!is_wanted(&c->o, one->name))
			continue;
		row = add_row(c, one->name, one->asks, one->checks, one->n_checks);
		if (!c->run.lost[0])
			begin_pcap(c, one->name);
		cf_run_case(&c->run, one, &row->result);
		end_pcap(c);
		show(c, row);
	}
	for (unsigned w = 0; w < CF_WATCHES; w++) {
		const struct cf_watch_rule *rule = &cf_watch_rule[w];
		struct cf_row *row;
		size_t n = 0;

		while (n < CF_CHECKS_MAX && rule->checks[n])
			n++;
		row = add_row(c, rule->name, rule->asks, rule->checks, n);
		cf_run_watch(&c->run, (enum cf_watch)w, &row->result);
		show(c, row);
	}
}

static int write_page(const struct conform *c, const struct cf_report *report)
{
	struct ui_text out = {0};
	FILE *file = c->o.html ? fopen(c->o.html, "w") : NULL;
	int err;

	if (!c->o.html)
		return 0;
	if (!file)
		return complain(c->o.html, strerror(errno));
	cf_report_html(report, &out);
	ui_text_print(&out, file);
	/* What failed before may have left nothing to flush. */
	err = ferror(file) || fflush(file) ? errno : 0;
	if (fclose(file) && !err)
		err = errno;
	return err ? complain(c->o.html, strerror(err)) : 0;
}

static int report(struct conform *c)
{
	struct cf_report all = {.target = c->target, .n = c->n_rows, .row = c->row};
	struct ui_text out = {0};
	bool failed = cf_report_count(&all, CF_FAIL) > 0 || c->run.lost[0] || c->not_written;

	if (write_page(c, &all))
		failed = true;
	if (c->o.json) {
		ui_json_print(cf_report_json(&all), JSON_INDENT(1));
	} else {
		cf_report_sum(&all, &out);
		ui_text_print(&out, stdout);
	}
	return failed ? EXIT_FAILED : EXIT_GOOD;
}

static int test(struct conform *c)
{
	int status = EXIT_USAGE;

	/* A program beside the target that ends is a failed case, and no end of the kit. */
	signal(SIGPIPE, SIG_IGN);
	if (c->o.pcap && mkdir(c->o.pcap, 0777) && errno != EEXIST) {
		complain(c->o.pcap, strerror(errno));
		return EXIT_USAGE;
	}
	c->row = calloc(c->book.n + CF_WATCHES, sizeof(*c->row));
	if (c->row && reach(c) == 0 && find(c) == 0) {
		c->run.tap = tap;
		c->run.tap_context = c;
		play(c);
		status = report(c);
	}
	if (c->run.link)
		cf_run_fini(&c->run);
	if (c->udp.link.context)
		cf_udp_link_close(&c->udp);
	cf_server_link_close(&c->server);
	free(c->row);
	return status;
}

/* The operands as one line. */
static int read_target(struct conform *c, const char *const *operand, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		at += (size_t)snprintf(c->target + at, sizeof(c->target) - at, "%s%s", i ? " " : "",
				       operand[i]);
		if (at >= sizeof(c->target))
			return complain("TARGET is too long", "");
	}
	return n ? 0
		 : complain("want a TARGET, a host where mrc conform --serve runs (mrc conform "
			    "--help tells more)",
			    "");
}

static int run(struct conform *c, const char *const *operand, size_t n)
{
	int status = EXIT_USAGE;

	if (c->o.serve) {
		if (n) {
			complain("--serve takes no TARGET", operand[0]);
			return EXIT_USAGE;
		}
		return conform_serve(&(struct conform_serve_options){
			.device = c->o.device,
			.port = c->o.port,
			.gid_index = c->o.gid_index,
			.once = c->o.once,
			.silence_ms = (uint32_t)(c->o.silence_ns / MS_NS),
			.peer = c->o.peer});
	}
	if (read_cases(c) == 0) {
		if (c->o.list)
			status = list(c);
		else if (read_target(c, operand, n) == 0)
			status = test(c);
	}
	cf_book_fini(&c->book);
	return status;
}

static int conform_main(int argc, char **argv)
{
	static struct conform c;
	const char *operand[OPERANDS_MAX];
	size_t n;
	int status;

	c = (struct conform){.o = {.port = CONFORM_PORT,
				   .udp_port = CF_UDP_PORT,
				   .our_qpn = 4097,
				   .patience_ns = 1000 * MS_NS,
				   .silence_ns = 60000 * MS_NS}};
	status = ui_verb_parse(&conform_verb, &c.o, argc, argv, operand, OPERANDS_MAX, &n);
	return status != UI_FLAGS_OK ? status : run(&c, operand, n);
}
