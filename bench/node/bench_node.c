/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_node.c - what it takes until programs do what a controller has decided: from a denial to
 * the last packet on that EV, and to a thousand readers of a store; and what it costs them. Needs
 * root: it watches the packets of a network namespace of its own.
 */
#include "node/bench_node.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stats/stats_reader.h"

#define DENIALS 40u
#define READER_ROUNDS 5u
#define MS UINT64_C(1000000)

char bn_dir[] = "/tmp/mrc-bench-node-XXXXXX";
static struct store_writer writer;
static struct mn_state state;

void bn_die(const char *what)
{
	fprintf(stderr, "node: %s: %s\n", what, strerror(errno));
	exit(1);
}

uint64_t bn_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void bn_sleep_ms(uint32_t ms)
{
	struct timespec ts = {ms / 1000u, (long)(ms % 1000u) * 1000000};

	nanosleep(&ts, NULL);
}

void bn_print_times(const char *what, uint64_t *ns, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i; j > 0 && ns[j] < ns[j - 1]; j--) {
			uint64_t t = ns[j];

			ns[j] = ns[j - 1];
			ns[j - 1] = t;
		}
	printf("%-44s median %6.2f ms, p99 %6.2f, most %6.2f (%u)\n", what, (double)ns[n / 2] / 1e6,
	       (double)ns[(uint64_t)n * 99 / 100] / 1e6, (double)ns[n - 1] / 1e6, n);
}

/* bn_commit denies EV i of the device's own by port 1, or none: i of BN_NONE. */
void bn_commit(uint32_t i)
{
	struct store_error error;
	uint32_t value = BN_EV_BASE + i, n = i != BN_NONE;

	mn_state_init(&state);
	state.evs[0] = (struct mn_ev){.port = 1, .denied = 1};
	memcpy(state.evs[0].val, &value, sizeof(value));
	state.n_evs = state.ev[MN_OWN_PROFILE].n_evs = n;
	for (uint32_t id = 1; id < MN_EV_PROFILES; id++)
		state.ev[id].first = n;
	if (store_writer_commit(&writer, &state, &error)) {
		fprintf(stderr, "node: %s\n", error.text);
		exit(1);
	}
}

/* The sender and receiver of examples/write_bw, for so long, or until it is ended. */
static pid_t start_traffic(uint32_t ms)
{
	pid_t pid = fork();
	char text[16];

	if (pid)
		return pid;
	snprintf(text, sizeof(text), "%u", ms);
	setpgid(0, 0);
	setenv("MRC_NODE_DIR", bn_dir, 1);
	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	setenv("MRC_LOG", "error", 1);
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	execl(BN_WRITE_BW, BN_WRITE_BW, "--self", "--sleep", "--min", "1048576", "--max", "1048576",
	      "--depth", "16", "--ms", text, (char *)NULL);
	_exit(127);
}

/* Packets sent again, of all processes whose statistics are in the folder. */
static uint64_t count_resent(void)
{
	static struct stats_reader stats;
	uint64_t n = 0;

	stats_reader_open(&stats, bn_dir, 0);
	if (stats_reader_read(&stats, 1) == 0)
		for (uint32_t i = 0; i < stats.n; i++)
			for (uint32_t c = 0; c < MRC_STATS_COUNTERS; c++) {
				const struct mrc_stats_counter *counter =
					&stats.process[i].now->counter[c];

				if (strcmp(counter->name, "tx_retransmits") == 0)
					n += counter->value;
			}
	stats_reader_close(&stats);
	return n;
}

static void measure_denials(void)
{
	pid_t traffic = start_traffic(60000);
	uint64_t last[DENIALS], resent;
	uint32_t n = 0, late = 0;
	int status;
	int sniffer = bn_sniffer_open();

	bn_sleep_ms(500);
	resent = count_resent();
	for (uint32_t i = 0; i < DENIALS; i++) {
		uint32_t ev = i % BN_EVS;

		if (!bn_sniffer_sees(sniffer, ev, 500 * MS)) {
			printf("no packet on EV %u to begin with\n", ev);
			continue;
		}
		last[n++] = bn_sniffer_last_after_denial(sniffer, ev);
		bn_commit(BN_NONE);
	}
	resent = count_resent() - resent;
	close(sniffer);
	kill(-traffic, SIGTERM);
	waitpid(traffic, &status, 0);
	if (n)
		bn_print_times("denial to the last packet on the EV, live", last, n);
	for (uint32_t i = 0; i < n; i++)
		late += last[i] > 10 * MS;
	printf("%-44s %u of %u\n", "of these later than 10 ms", late, n);
	printf("%-44s %llu\n", "packets sent again meanwhile", (unsigned long long)resent);
}

/* `data-path` has that part alone measured. */
int main(int argc, char **argv)
{
	bool data_path_only = argc == 2 && strcmp(argv[1], "data-path") == 0;
	struct store_error error, lost;
	char command[80];

	if (argc > 1 && !data_path_only) {
		fprintf(stderr, "node: %s: want data-path, or nothing\n", argv[1]);
		return 2;
	}
	if (unshare(CLONE_NEWNET)) {
		printf("node: skipped, a network namespace cannot be had: %s\n", strerror(errno));
		return 0;
	}
	if (system("ip link set lo up"))
		bn_die("the loopback interface");
	if (!mkdtemp(bn_dir) || chmod(bn_dir, 0755))
		bn_die("a folder");
	setenv("MRC_STATS_DIR", bn_dir, 1);
	if (store_writer_open(&writer, bn_dir, "mrc0", "bench", &state, &lost, &error)) {
		fprintf(stderr, "node: %s\n", error.text);
		return 1;
	}
	bn_commit(BN_NONE);
	bn_measure_data_path();
	if (!data_path_only) {
		measure_denials();
		bn_measure_readers(READER_ROUNDS);
		bn_measure_scrapes();
	}
	store_writer_close(&writer);
	snprintf(command, sizeof(command), "rm -r %s", bn_dir);
	return system(command) != 0;
}
