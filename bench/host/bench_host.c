/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - what the whole host costs: MRC against the sockets it stands on, the kernel's TCP and
 * UCX over TCP.
 *
 * All cases are measured in turn, several rounds of them, and of each the median counts: what else
 * the machine does then hits all alike. So do believe the ratios, and figures only of an idle
 * machine. The bars at the end are aims, not conditions.
 */
#include "host/bench_host.h"
#include "common/example_flags.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES_MAX 64u
#define NAME_BYTES 64u
#define BAR_OF_UDP 0.9
#define BAR_CPU_OF_UDP 1.25
#define BAR_OF_PLAIN 0.95
#define BAR_POLL_OF_UCX 1.0
#define BAR_WAIT_OF_UDP 1.5
#define BAR_TAIL 5.0 /* p99.9 to p50 */
#define BAR_JAIN 0.95

struct series {
	struct hb_case c;
	struct hb_figure round[HB_ROUNDS_MAX];
	struct hb_figure median;
};

static struct options {
	uint64_t rounds, ms;
	bool json, quick;
	const char *only;
} opt = {.rounds = 5, .ms = 300};

static struct series all[CASES_MAX];
static uint32_t n_all;
static const uint32_t runs[] = {1, 4, 8, 15};
#define RUNS (sizeof(runs) / sizeof(runs[0]))
static const char *const net_name[] = {"loopback", "veth", "fabric"};
static const char *const means_name[] = {"mrc", "udp", "tcp", "ucx"};
static const char *const driver_name[] = {"udp", "af_packet", "raw41"};
static const char *const kind_name[] = {"bandwidth", "ping_poll", "ping_wait"};

static void name_of(const struct hb_case *c, char text[NAME_BYTES]);

/* Takes a case into the plan, if it was asked for. */
static void add_case(struct hb_case c)
{
	char name[NAME_BYTES], text[2 * NAME_BYTES];

	c.ms = (uint32_t)opt.ms;
	name_of(&c, name);
	snprintf(text, sizeof(text), "%s %s %s", net_name[c.net], kind_name[c.kind], name);
	if (!opt.only || strstr(text, opt.only))
		all[n_all++].c = c;
}

static void plan_cases(enum hb_net net)
{
	for (size_t i = 0; i < RUNS; i++) {
		if (opt.quick && i % (RUNS - 1) != 0)
			continue;
		add_case((struct hb_case){.net = net, .means = HB_UDP, .run = runs[i]});
		add_case((struct hb_case){.net = net, .run = runs[i], .icrc = true});
		add_case((struct hb_case){.net = net, .run = runs[i]});
		add_case((struct hb_case){.net = net, .run = runs[i], .icrc = true, .small = true});
	}
	for (enum hb_driver d = HB_DRIVER_AF_PACKET; d <= HB_DRIVER_RAW41; d++) {
		add_case((struct hb_case){.net = net, .driver = d, .run = 1, .icrc = true});
		add_case((struct hb_case){.net = net, .driver = d, .run = 1});
	}
	add_case((struct hb_case){.net = net, .means = HB_TCP});
	add_case((struct hb_case){.net = net, .means = HB_UCX});
	for (enum hb_kind k = HB_POLL; k <= HB_WAIT; k++)
		for (enum hb_means m = HB_MRC; m <= (k == HB_POLL ? HB_UCX : HB_TCP); m++)
			add_case((struct hb_case){
				.kind = k, .net = net, .means = m, .run = 1, .icrc = true});
	for (enum hb_kind k = HB_POLL; k <= HB_WAIT; k++)
		add_case((struct hb_case){
			.kind = k, .net = net, .planes = HB_PLANES_MAX, .run = 1, .icrc = true});
}

/* What goes through switches, packet by packet: the kernel cuts up no message to a list of
 * uSIDs. */
static void plan_fabric(void)
{
	const enum hb_driver drivers[] = {HB_DRIVER_UDP, HB_DRIVER_RAW41};

	add_case((struct hb_case){.net = HB_FABRIC, .means = HB_UDP, .run = 1});
	for (size_t i = 0; i < 2; i++) {
		add_case((struct hb_case){
			.net = HB_FABRIC, .driver = drivers[i], .run = 1, .icrc = true});
		add_case((struct hb_case){.net = HB_FABRIC, .driver = drivers[i], .run = 1});
	}
}

/* Opens a network of namespaces; false: it cannot be had, which is said. */
static bool is_net_available(enum hb_net net)
{
	char why[HB_WHY];

	if (hb_space_open(net, why))
		return true;
	printf(opt.json ? "{\"bench\": \"host\", \"network\": \"%s\", \"skipped\": \"%s\"}\n"
			: "SKIP %s: %s\n",
	       net_name[net], why);
	return false;
}

/* ---- medians ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median over the rounds of the double that lies `at` bytes into a figure. */
static double median(const struct series *s, size_t at)
{
	double v[HB_ROUNDS_MAX];

	for (uint64_t r = 0; r < opt.rounds; r++)
		memcpy(&v[r], (const char *)&s->round[r] + at, sizeof(v[r]));
	qsort(v, opt.rounds, sizeof(v[0]), by_value);
	return v[opt.rounds / 2];
}

static void sort_series(struct series *s)
{
	s->median = s->round[0];
	for (uint64_t r = 0; r < opt.rounds; r++)
		if (s->round[r].failed)
			s->median = s->round[r];
	s->median.gbit_s = median(s, offsetof(struct hb_figure, gbit_s));
	s->median.cpu_s_per_gb = median(s, offsetof(struct hb_figure, cpu_s_per_gb));
	s->median.lost = median(s, offsetof(struct hb_figure, lost));
	s->median.p50_us = median(s, offsetof(struct hb_figure, p50_us));
	s->median.p99_us = median(s, offsetof(struct hb_figure, p99_us));
	s->median.p999_us = median(s, offsetof(struct hb_figure, p999_us));
	s->median.switches = median(s, offsetof(struct hb_figure, switches));
}

static bool is_series_good(const struct series *s)
{
	return s && !s->median.skipped && !s->median.failed;
}

/* The case of a peer that this one is to be held against, or NULL. */
static const struct series *peer_of(const struct series *s, enum hb_means means)
{
	for (uint32_t i = 0; i < n_all; i++) {
		const struct hb_case *c = &all[i].c;

		if (c->means == means && c->net == s->c.net && c->kind == s->c.kind &&
		    (means != HB_UDP || c->run == s->c.run) && is_series_good(&all[i]))
			return &all[i];
	}
	return NULL;
}

/* How s stands to a peer: bandwidth, or how many times its latency. 0: there is none. */
static double median_ratio(const struct series *s, enum hb_means means)
{
	const struct series *p = peer_of(s, means);

	if (!p || !is_series_good(s))
		return 0;
	return s->c.kind == HB_BANDWIDTH ? s->median.gbit_s / p->median.gbit_s
					 : s->median.p50_us / p->median.p50_us;
}

/* CPU time a byte, as a multiple of the bare sockets'. */
static double cpu_ratio(const struct series *s)
{
	const struct series *p = peer_of(s, HB_UDP);

	return p && is_series_good(s) ? s->median.cpu_s_per_gb / p->median.cpu_s_per_gb : 0;
}

/* ---- output ---- */

static void name_of(const struct hb_case *c, char text[NAME_BYTES])
{
	int n = snprintf(text, 64, "%s", means_name[c->means]);

	if (c->means == HB_MRC)
		n += snprintf(text + n, 64 - (size_t)n, " %s, ICRC %s%s", driver_name[c->driver],
			      c->icrc ? "on" : "off",
			      c->planes > 1 ? ", 4 planes"
			      : c->small    ? ", 64 KiB"
					    : "");
	if (c->means == HB_TCP)
		n += snprintf(text + n, 64 - (size_t)n, " (%s)", hb_tcp_control());
	if (c->means <= HB_UDP && c->kind == HB_BANDWIDTH)
		snprintf(text + n, 64 - (size_t)n, ", run %u", c->run);
}

static void print_json_number(const char *name, double value)
{
	if (value > 0)
		printf(", \"%s\": %.3f", name, value);
	else
		printf(", \"%s\": null", name);
}

static void print_json_figures(const struct series *s)
{
	const struct hb_figure *f = &s->median;

	if (s->c.kind == HB_BANDWIDTH) {
		printf(", \"gbit_s\": %.3f, \"cpu_s_per_gb\": %.4f, \"lost\": %.4f", f->gbit_s,
		       f->cpu_s_per_gb, f->lost);
		print_json_number("cpu_of_udp", cpu_ratio(s));
	} else {
		printf(", \"p50_us\": %.2f", f->p50_us);
		print_json_number("p99_us", f->p99_us); /* UCX does not say */
		print_json_number("p999_us", f->p999_us);
		print_json_number("switches", f->switches);
	}
	print_json_number("of_udp", median_ratio(s, HB_UDP));
	print_json_number("of_tcp", median_ratio(s, HB_TCP));
	print_json_number("of_ucx", median_ratio(s, HB_UCX));
}

static void print_json(const struct series *s)
{
	const struct hb_figure *f = &s->median;

	printf("{\"bench\": \"host\", \"network\": \"%s\", \"kind\": \"%s\", \"means\": \"%s\"",
	       net_name[s->c.net], kind_name[s->c.kind], means_name[s->c.means]);
	if (s->c.means == HB_MRC)
		printf(", \"driver\": \"%s\", \"icrc\": %s", driver_name[s->c.driver],
		       s->c.icrc ? "true" : "false");
	if (s->c.means == HB_MRC && s->c.kind == HB_BANDWIDTH)
		printf(", \"bytes\": %" PRIu64, s->c.small ? HB_SMALL_MESSAGE : HB_MESSAGE);
	if (s->c.means == HB_TCP)
		printf(", \"control\": \"%s\"", hb_tcp_control());
	if (s->c.means <= HB_UDP)
		printf(", \"run\": %u", s->c.run);
	if (!is_series_good(s))
		printf(", \"%s\": \"%s\"", f->skipped ? "skipped" : "failed", f->why);
	else
		print_json_figures(s);
	printf("}\n");
}

static void print_ratio(double value)
{
	if (value > 0)
		printf(" %7.2f", value);
	else
		printf(" %7s", "-");
}

static void print_line(const struct series *s)
{
	char name[NAME_BYTES];

	name_of(&s->c, name);
	if (!is_series_good(s)) {
		printf("  %-32s %s: %s\n", name, s->median.skipped ? "SKIP" : "FAILED",
		       s->median.why);
		return;
	}
	if (s->c.kind == HB_BANDWIDTH)
		printf("  %-32s %8.2f %8.3f", name, s->median.gbit_s, s->median.cpu_s_per_gb);
	else
		printf("  %-32s %8.1f %8.1f", name, s->median.p50_us, s->median.p99_us);
	print_ratio(median_ratio(s, HB_UDP));
	print_ratio(median_ratio(s, HB_TCP));
	print_ratio(median_ratio(s, HB_UCX));
	print_ratio(s->c.kind == HB_BANDWIDTH ? cpu_ratio(s) : s->median.switches);
	if (s->median.lost > 0)
		printf("   %.0f %% lost", s->median.lost * 100);
	printf("\n");
}

static void print_head(const struct hb_case *c)
{
	static const char *const title[] = {"writes of 1 MiB or 64 KiB",
					    "ping-pong of 8 bytes, polling",
					    "ping-pong of 8 bytes, asleep"};
	char text[64];

	snprintf(text, sizeof(text), "%s: %s", net_name[c->net], title[c->kind]);
	printf("\n%-34s %8s %8s %7s %7s %7s%s\n", text, c->kind ? "p50 us" : "Gbit/s",
	       c->kind ? "p99 us" : "CPU s/GB", "of udp", "of tcp", "of ucx",
	       c->kind ? "  switch" : " CPU/udp");
}

static void print_table(void)
{
	for (uint32_t i = 0; i < n_all; i++) {
		if (i == 0 || all[i].c.kind != all[i - 1].c.kind ||
		    all[i].c.net != all[i - 1].c.net)
			print_head(&all[i].c);
		print_line(&all[i]);
	}
}

/* ---- bars ---- */

/* print_bar prints what there is and what is aimed at; most: a value above the aim misses it. */
static void print_bar(const char *what, const char *where, double value, double bar, bool most)
{
	bool reached = most ? value <= bar : value >= bar;

	printf(opt.json ? "{\"bench\": \"host_bar\", \"bar\": \"%s\", \"network\": \"%s\", "
			  "\"value\": %.3f, \"aim\": %.2f, \"reached\": %s}\n"
			: "bar: %s, %s: %.2f of an aim of %.2f: %s\n",
	       what, where, value, bar,
	       reached ? (opt.json ? "true" : "reached") : (opt.json ? "false" : "not reached"));
}

/* print_bandwidth_bars holds a case of MRC against bare UDP in runs of the same length. */
static void print_bandwidth_bars(const struct series *s)
{
	const char *net = net_name[s->c.net];
	const char *size = s->c.small ? "64 KiB" : "1 MiB";
	char what[80];

	snprintf(what, sizeof(what), "share of bare UDP, %s, run %u", size, s->c.run);
	print_bar(what, net, median_ratio(s, HB_UDP), BAR_OF_UDP, false);
	snprintf(what, sizeof(what), "CPU time of bare UDP's, %s, run %u", size, s->c.run);
	print_bar(what, net, cpu_ratio(s), BAR_CPU_OF_UDP, true);
}

/* print_latency_bars holds one against UCX over TCP if both poll, asleep against bare UDP. */
static void print_latency_bars(const struct series *s)
{
	const char *net = net_name[s->c.net],
		   *planes = s->c.planes > 1 ? "four planes" : "one plane";
	enum hb_means peer = s->c.kind == HB_POLL ? HB_UCX : HB_UDP;
	char what[80];

	if (peer_of(s, peer)) {
		snprintf(what, sizeof(what), "half a round trip, %s, %s",
			 s->c.kind == HB_POLL ? "polling, to UCX over TCP" : "asleep, to bare UDP",
			 planes);
		print_bar(what, net, median_ratio(s, peer),
			  s->c.kind == HB_POLL ? BAR_POLL_OF_UCX : BAR_WAIT_OF_UDP, true);
	}
	snprintf(what, sizeof(what), "p99.9 to p50, %s, %s",
		 s->c.kind == HB_POLL ? "polling" : "asleep", planes);
	print_bar(what, net, s->median.p999_us / s->median.p50_us, BAR_TAIL, true);
}

static void print_bars(enum hb_net net)
{
	for (uint32_t i = 0; i < n_all; i++) {
		const struct series *s = &all[i];

		if (s->c.net != net || s->c.means != HB_MRC || s->c.driver != HB_DRIVER_UDP ||
		    !s->c.icrc || !is_series_good(s))
			continue;
		if (s->c.kind != HB_BANDWIDTH)
			print_latency_bars(s);
		else if (peer_of(s, HB_UDP))
			print_bandwidth_bars(s);
	}
}

/* Each form over the fabric, ICRC and all, against bare packets through the same switches. */
static void print_fabric_bars(void)
{
	for (uint32_t i = 0; i < n_all; i++) {
		const struct series *s = &all[i];
		char what[80];

		if (s->c.net != HB_FABRIC || s->c.means != HB_MRC || !s->c.icrc ||
		    median_ratio(s, HB_UDP) <= 0)
			continue;
		snprintf(what, sizeof(what), "share of bare UDP by driver %s",
			 driver_name[s->c.driver]);
		print_bar(what, net_name[HB_FABRIC], median_ratio(s, HB_UDP), BAR_OF_PLAIN, false);
	}
}

/* Jain's index: 1 when all have the same, 1/n when one has all. */
static int print_fair(void)
{
	double gbit_s[HB_FAIR], sum = 0, squares = 0;

	if (hb_fair((uint32_t)opt.ms * 4, 1, gbit_s)) {
		fprintf(stderr, "host: eight processes on two cores: failed\n");
		return -1;
	}
	for (uint32_t i = 0; i < HB_FAIR; i++) {
		sum += gbit_s[i];
		squares += gbit_s[i] * gbit_s[i];
	}
	if (!opt.json)
		printf("\neight processes on two cores, Gbit/s together: %.2f\n", sum);
	print_bar("Jain's index of eight processes on two cores", net_name[HB_LO],
		  squares > 0 ? sum * sum / (HB_FAIR * squares) : 0, BAR_JAIN, false);
	return 0;
}

static int parse_options(int argc, char **argv)
{
	const struct flag table[] = {
		{"--rounds", "N", "of all cases, of which medians count", FLAG_NUMBER, &opt.rounds,
		 1, HB_ROUNDS_MAX, NULL},
		{"--ms", "N", "for each measurement", FLAG_NUMBER, &opt.ms, 10, 10000, NULL},
		{"--quick", NULL, "runs 1 and 15, one round", FLAG_SWITCH, &opt.quick, 0, 0, NULL},
		{"--json", NULL, "one object a line", FLAG_SWITCH, &opt.json, 0, 0, NULL},
	};
	const struct flags flags = {
		.program = hb_program,
		.synopsis = "[FLAG...] [CASES]",
		.about = "Bandwidth, latency and CPU time of MRC between two processes, beside "
			 "bare UDP "
			 "sockets,\nkernel TCP and UCX, over loopback and over a veth pair. CASES: "
			 "those whose network,\nkind and name "
			 "contain this text, such as 'loopback bandwidth' or 'run 15'.",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.operands_max = 1,
	};

	if (flags_parse(&flags, argc, argv, &opt.only) < 0)
		return -1;
	if (opt.quick)
		opt.rounds = 1;
	return 0;
}

int main(int argc, char **argv)
{
	int rc = 0;

	if (parse_options(argc, argv))
		return 2;
	plan_cases(HB_LO);
	if (is_net_available(HB_VETH))
		plan_cases(HB_VETH);
	if (is_net_available(HB_FABRIC))
		plan_fabric();
	if (n_all == 0) {
		fprintf(stderr,
			"host: no case contains '%s'; they are as the lines of the output\n",
			opt.only ? opt.only : "");
		return 2;
	}
	fflush(stdout);
	for (uint64_t r = 0; r < opt.rounds; r++)
		for (uint32_t i = 0; i < n_all; i++)
			hb_measure(&all[i].c, &all[i].round[r]);
	for (uint32_t i = 0; i < n_all; i++) {
		sort_series(&all[i]);
		rc |= all[i].median.failed;
	}
	for (uint32_t i = 0; opt.json && i < n_all; i++)
		print_json(&all[i]);
	if (!opt.json)
		print_table();
	if (!opt.only)
		rc |= print_fair() != 0;
	print_bars(HB_LO);
	print_bars(HB_VETH);
	print_fabric_bars();
	hb_space_close();
	return rc;
}
