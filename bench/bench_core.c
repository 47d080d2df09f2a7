/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_core.c - what a packet costs in the core, and how fast the core leaves a dead path.
 *
 * Cost: CPU time for each 4 KiB data packet with everything that belongs to it: requester,
 * responder, SACK at the specification's threshold, encode and decode of all packets, timers and
 * NSCC. ICRC and the copy of the payload are left out; they belong to a host. The fastest of
 * several rounds is printed, since the others differ from it by what disturbed them, and the
 * median beside it. Packets come in order; "reordered" is what spraying makes of it, with the
 * cost of keeping each packet until it arrives.
 *
 * Recovery: in virtual time, so the figures are exact and the same on every machine.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/window/window.h"
#include "core_memory.h"
#include "engine_pair.h"

#define QPS_MAX 10000
#define ROUNDS_MAX 9
#define ROUND_PACKETS UINT64_C(300000)
/* A QP has heard of each of its EVs, and its window and what it keeps of RTTs are settled. */
#define WARM_UP_QP_PACKETS UINT64_C(512)
#define RTT_NS UINT64_C(12000)

static bool as_json;
static uint32_t n_rounds = ROUNDS_MAX;
static uint32_t n_denied; /* EVs that a controller denies */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct cost {
	double best, median; /* ns a packet */
	double sacks;	     /* a packet */
};

struct load {
	uint32_t qps, evs;
	uint32_t message_bytes;
	bool reordered; /* else in order, with long messages and one EV set */
};

/* The dearest and the cheapest of a sweep. */
static double dearest, cheapest = 1e9;

/*
 * Packets overtaken by more than was learnt of the RTT so far are sent again. Where none is
 * lost there are few of them: one in so many.
 */
#define SPURIOUS_PART 1000u

static void check_load(const struct load *load, const struct mt_stats *st)
{
	uint64_t most = load->reordered ? st->tx_data_packets / SPURIOUS_PART : 0;

	/* A packet whose window was not to be had at once was refused, and the pool then grew. */
	if (st->tx_retransmits <= st->rx_nacks + most)
		return;
	fprintf(stderr, "bench: %llu of %llu packets were sent again where none is lost\n",
		(unsigned long long)(st->tx_retransmits - st->rx_nacks),
		(unsigned long long)st->tx_data_packets);
	exit(1);
}

/* Returns how many packets were sent: at least so many. */
static uint64_t send_packets(struct pair *p, const struct load *load, uint64_t n)
{
	void (*exchange)(struct pair *) = load->reordered ? pair_exchange_reordered : pair_exchange;
	uint64_t from = p->data_sent;

	while (p->data_sent - from < n)
		exchange(p);
	return p->data_sent - from;
}

static void warm_up(struct pair *p, const struct load *load)
{
	uint64_t n = load->qps * WARM_UP_QP_PACKETS;

	send_packets(p, load, n > ROUND_PACKETS ? n : ROUND_PACKETS);
}

static struct cost measure(const struct load *load)
{
	static struct pair p;
	struct pair_cfg cfg = {
		.qps = load->qps,
		.evs = load->evs,
		.ports = load->evs < 8 ? load->evs : 8,
		.messages = load->reordered ? 32 : 4,
		.message_bytes = load->message_bytes,
		.one_way_ns = RTT_NS / 2,
		.cc = MT_CC_NSCC,
		.ev_set_each = load->reordered,
		.denied = n_denied,
	};
	double rounds[ROUNDS_MAX];
	struct mt_stats begin, st;
	struct cost cost;

	pair_open(&p, &cfg);
	warm_up(&p, load);
	mt_engine_stats(p.sides[0].node.engine, &begin);
	for (uint32_t r = 0; r < n_rounds; r++) {
		double from = seconds();
		uint64_t packets = send_packets(&p, load, ROUND_PACKETS);

		rounds[r] = (seconds() - from) * 1e9 / (double)packets;
	}
	mt_engine_stats(p.sides[0].node.engine, &st);
	check_load(load, &st);
	qsort(rounds, n_rounds, sizeof(rounds[0]), by_value);
	cost.best = rounds[0];
	cost.median = rounds[n_rounds / 2];
	cost.sacks = (double)(st.rx_sacks - begin.rx_sacks) /
		     (double)(st.tx_data_packets - begin.tx_data_packets);
	pair_close(&p);
	return cost;
}

static void print_cost(uint32_t qps, uint32_t evs)
{
	struct cost c = measure(&(struct load){.qps = qps, .evs = evs, .message_bytes = 1 << 20});

	dearest = c.best > dearest ? c.best : dearest;
	cheapest = c.best < cheapest ? c.best : cheapest;
	if (as_json)
		printf("{\"bench\": \"core\", \"qps\": %u, \"evs\": %u, \"ns_per_packet\": %.1f, "
		       "\"ns_median\": %.1f, \"sacks_per_packet\": %.3f}\n",
		       qps, evs, c.best, c.median, c.sacks);
	else
		printf("core: %.0f ns/packet (median %.0f; %u QPs, %u EVs, %.2f SACKs a packet)\n",
		       c.best, c.median, qps, evs, c.sacks);
	fflush(stdout);
}

/* What spraying does: packets in random order, short messages, an EV set for each QP. */
static void print_reordered_cost(uint32_t qps, uint32_t message_bytes)
{
	struct cost c = measure(&(struct load){
		.qps = qps, .evs = 256, .message_bytes = message_bytes, .reordered = true});

	if (as_json)
		printf("{\"bench\": \"core, reordered\", \"qps\": %u, \"evs\": 256, "
		       "\"message_bytes\": %u, \"ns_per_packet\": %.1f, \"ns_median\": %.1f, "
		       "\"sacks_per_packet\": %.3f}\n",
		       qps, message_bytes, c.best, c.median, c.sacks);
	else
		printf("core, reordered: %.0f ns/packet (median %.0f; %u QPs, an EV set of 256 "
		       "each, messages of %u bytes, %.2f SACKs a packet)\n",
		       c.best, c.median, qps, message_bytes, c.sacks);
	fflush(stdout);
}

static void print_flatness(void)
{
	printf(as_json ? "{\"bench\": \"flatness\", \"dearest_to_cheapest\": %.2f}\n"
		       : "flat: the dearest of these costs %.2f times the cheapest\n",
	       dearest / cheapest);
}

/* What the core asks of the adapter. A QP here has the queues that its adapter chose. */
static void print_memory(void)
{
	struct mt_qp_cap cap = {.sq_depth = 1, .max_sge = 1};

	printf(as_json ? "{\"bench\": \"memory\", \"qp_bytes\": %zu, \"psn_bytes\": %zu}\n"
		       : "memory: %zu bytes an idle QP with one WR, %zu bytes an outstanding PSN\n",
	       mt_qp_size(&cap), sizeof(struct mt_tx_rec));
}

static bool one_ev(uint32_t index, uint8_t port)
{
	(void)port;
	return index == 5;
}

static bool one_plane(uint32_t index, uint8_t port)
{
	(void)index;
	return port == 1;
}

static double rtts(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / (double)RTT_NS : 0;
}

static void print_recovery(const char *what, bool (*hit)(uint32_t, uint8_t))
{
	static struct pair p;
	struct pair_cfg cfg = {
		.qps = 1,
		.evs = 32,
		.ports = 4,
		.messages = 8,
		.message_bytes = 1 << 20,
		.one_way_ns = RTT_NS / 2,
		.port_bps = UINT64_C(100000000000),
		.cc = MT_CC_NSCC,
	};
	double left, whole;

	pair_open(&p, &cfg);
	pair_run(&p, 20 * RTT_NS);
	pair_break(&p, hit);
	pair_run(&p, 60 * RTT_NS);
	if (p.lost == 0 || p.recovered != p.lost) {
		fprintf(stderr, "bench: %s: %llu lost, %llu recovered after 40 RTT\n", what,
			(unsigned long long)p.lost, (unsigned long long)p.recovered);
		exit(1);
	}
	left = rtts(p.fault_ns, p.last_on_dead_ns);
	whole = rtts(p.fault_ns, p.last_recovered_ns);
	if (as_json)
		printf("{\"bench\": \"recovery\", \"fault\": \"%s\", \"lost\": %llu, "
		       "\"last_packet_rtt\": %.2f, \"recovered_rtt\": %.2f}\n",
		       what, (unsigned long long)p.lost, left, whole);
	else
		printf("recovery: %s: last packet onto it after %.2f RTT, all %llu lost packets "
		       "delivered after %.2f RTT\n",
		       what, left, (unsigned long long)p.lost, whole);
	pair_close(&p);
}

static void sweep(void)
{
	static const uint32_t qps[] = {1, 16, 64, 256, 1000, 4000, 10000};
	static const uint32_t evs[] = {1, 8, 32, 128, 256};

	for (size_t i = 0; i < sizeof(evs) / sizeof(evs[0]); i++)
		print_cost(64, evs[i]);
	for (size_t i = 0; i < sizeof(qps) / sizeof(qps[0]); i++)
		print_cost(qps[i], 256);
	print_flatness();
}

#define ALL_MESSAGES UINT32_MAX

struct args {
	bool sweep;
	uint32_t qps;
	uint32_t message_bytes; /* of the only load; 0: that in order, or ALL_MESSAGES */
};

static void usage(FILE *to)
{
	fputs("usage: core [--sweep | --qps N [--message BYTES]] [--denied N] [--rounds N] "
	      "[--json]\n"
	      "  --sweep          1 to 256 EVs, and 1 to 10,000 QPs\n"
	      "  --qps N          1 to 10,000 QPs; 64\n"
	      "  --message BYTES  this load alone, in random order; 0: the one in order\n"
	      "  --denied N       so many of the EVs are denied by a controller, 0 to 15; 0\n"
	      "  --rounds N       1 to 9 rounds of 300,000 packets, after 512 of each QP; 9\n"
	      "  --json           one object a line\n",
	      to);
}

/* One load alone, for profilers. */
static void print_one(uint32_t qps, uint32_t message_bytes)
{
	if (message_bytes > 0)
		print_reordered_cost(qps, message_bytes);
	else
		print_cost(qps, 256);
}

static void print_costs(uint32_t qps)
{
	static const uint32_t message_bytes[] = {1 << 20, 4096, 64};

	print_cost(qps, 256);
	for (size_t i = 0; i < sizeof(message_bytes) / sizeof(message_bytes[0]); i++)
		print_reordered_cost(qps, message_bytes[i]);
	if (qps == QPS_MAX)
		return;
	for (size_t i = 0; i < sizeof(message_bytes) / sizeof(message_bytes[0]); i++)
		print_reordered_cost(QPS_MAX, message_bytes[i]);
}

static bool parse_number(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*number = (uint32_t)value;
	return end != text && *end == '\0' && value >= least && value <= most;
}

static bool parse_option(int c, struct args *args)
{
	switch (c) {
	case 's':
		args->sweep = true;
		return true;
	case 'j':
		as_json = true;
		return true;
	case 'q':
		return parse_number(optarg, 1, QPS_MAX, &args->qps);
	case 'm':
		return parse_number(optarg, 0, 1 << 20, &args->message_bytes);
	case 'd':
		return parse_number(optarg, 0, 15, &n_denied);
	case 'r':
		return parse_number(optarg, 1, ROUNDS_MAX, &n_rounds);
	default:
		return false;
	}
}

static void parse_args(int argc, char **argv, struct args *args)
{
	static const struct option options[] = {
		{"sweep", no_argument, NULL, 's'},	   {"qps", required_argument, NULL, 'q'},
		{"message", required_argument, NULL, 'm'}, {"denied", required_argument, NULL, 'd'},
		{"rounds", required_argument, NULL, 'r'},  {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},	   {NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (parse_option(c, args))
			continue;
		usage(c == 'h' ? stdout : stderr);
		exit(c == 'h' ? 0 : 2);
	}
	if (optind < argc) {
		fprintf(stderr, "bench: unexpected argument '%s'\n", argv[optind]);
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct args args = {.qps = 64, .message_bytes = ALL_MESSAGES};

	parse_args(argc, argv, &args);
	if (args.message_bytes != ALL_MESSAGES) {
		print_one(args.qps, args.message_bytes);
		return 0;
	}
	if (args.sweep)
		sweep();
	else
		print_costs(args.qps);
	print_memory();
	print_core_memory(as_json);
	print_recovery("1 path of 32", one_ev);
	print_recovery("1 plane of 4", one_plane);
	return 0;
}
