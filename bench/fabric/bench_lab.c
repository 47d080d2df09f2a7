/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab.c - what the fabric of namespaces carries and how fast it changes; as root, or in a user
 * namespace of its own, which has no switch programs.
 *
 * Packets: one thread sends from host 0 by sendmmsg, one counts what arrives, over a bare veth,
 * over three switches by plain routes, and over three switches that shift uSIDs (UDP to the
 * carrier). The three take turns in short rounds, so that what disturbs one disturbs all; printed
 * are the best round of each and the ratio of the medians to the bare veth's.
 *
 * Times: a lab up and down, a switch off and on, a fault and its lifting, medians of some rounds.
 *
 * Faults: `mrc perf` runs from host 0 to the last host over all planes. How many packets still go
 * into a blackhole, in the first 20 ms, 100 ms and second: what is left in the end are
 * probes.
 */
#include "fabric/usid.h"
#include "lab/lab.h"
#include "lab/netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7
#define ROUND_NS UINT64_C(250000000)
#define BATCH 64
#define PORT 4791
#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#define UDP_NO_CHECK6_RX 102
#endif

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void rest_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void exit_with_error(const char *what, const char *why)
{
	fprintf(stderr, "bench lab: %s: %s\n", what, why);
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *value, size_t n)
{
	qsort(value, n, sizeof(*value), by_value);
	return value[n / 2];
}

static struct ml_lab *bring_lab_up(const char *topology, uint64_t pace_bps, bool programs)
{
	char name[ML_LAB_NAME_MAX];
	struct ml_options options = {.name = name,
				     .topology = topology,
				     .pace_bps = pace_bps,
				     .no_programs = !programs,
				     .goes_with_process = true};
	struct ml_error e;
	struct ml_lab *lab;

	snprintf(name, sizeof(name), "b%d", (int)getpid());
	lab = ml_lab_up(&options, &e);
	if (!lab)
		exit_with_error(topology, e.text);
	return lab;
}

/* ---- packets ---- */

struct place {
	const struct ml_lab *lab;
	uint32_t node;
	int fd;
};

static int open_there(void *context, size_t item, struct ml_error *e)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	struct timeval wait = {.tv_usec = 50000};
	struct place *p = context;
	char name[ML_NETNS_MAX];
	int on = 1;

	(void)item;
	if (ml_netns_enter(ml_lab_namespace(p->lab, p->node, name), e))
		return -1;
	p->fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || setsockopt(p->fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on)) ||
	    setsockopt(p->fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof(on)) ||
	    setsockopt(p->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    bind(p->fd, (struct sockaddr *)&any, sizeof(any)))
		return ml_error_set(e, "a socket on %s: %s", name, strerror(errno));
	return 0;
}

static int socket_at(const struct ml_lab *lab, uint32_t node)
{
	struct place p = {lab, node, -1};
	struct ml_error e;

	if (ml_threads_call(open_there, &p, &e))
		exit_with_error("lab", e.text);
	return p.fd;
}

struct count {
	int fd;
	atomic_bool stop;
	uint64_t packets;
};

static void *count_failure(void *context)
{
	struct mmsghdr m[BATCH];
	static char data[BATCH][64]; /* the rest is cut off */
	struct iovec v[BATCH];
	struct count *c = context;

	for (int i = 0; i < BATCH; i++) {
		v[i] = (struct iovec){data[i], sizeof(data[i])};
		m[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &v[i], .msg_iovlen = 1}};
	}
	while (!atomic_load(&c->stop)) {
		int n = recvmmsg(c->fd, m, BATCH, MSG_WAITFORONE, NULL);

		c->packets += n > 0 ? (uint64_t)n : 0;
	}
	return NULL;
}

/* Packets a second that arrive. */
static double round_of(int from, int to, const struct sockaddr_in6 *address, size_t bytes)
{
	static char data[8192];
	struct iovec v = {data, bytes};
	struct mmsghdr m[BATCH];
	struct count c = {.fd = to};
	uint64_t begin;
	pthread_t thread;
	double ns;

	for (int i = 0; i < BATCH; i++)
		m[i] = (struct mmsghdr){.msg_hdr = {.msg_name = (void *)(uintptr_t)address,
						    .msg_namelen = sizeof(*address),
						    .msg_iov = &v,
						    .msg_iovlen = 1}};
	if (pthread_create(&thread, NULL, count_failure, &c))
		exit_with_error("lab", "no thread");
	begin = now_ns();
	while (now_ns() - begin < ROUND_NS)
		if (sendmmsg(from, m, BATCH, 0) < 0)
			exit_with_error("sendmmsg", strerror(errno));
	ns = (double)(now_ns() - begin);
	atomic_store(&c.stop, true);
	pthread_join(thread, NULL);
	return (double)c.packets * 1e9 / ns;
}

enum way { VETH, PLAIN, USID, WAYS };

static const char *const way_name[WAYS] = {"bare veth", "3 switches, plain routes",
					   "3 switches, uN"};

static void addresses(const struct ml_lab *lab, uint32_t dst, struct sockaddr_in6 *to)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	struct mf_pair pair = mf_pair_of(t, 0, dst);
	uint16_t usid[MF_USIDS_MAX];
	uint32_t n = mf_usids_of(t, &pair, 0, usid), block = mf_usid_block(t, 0);
	uint8_t *carrier = to[USID].sin6_addr.s6_addr;

	for (int i = 0; i < WAYS; i++)
		to[i] = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	inet_pton(AF_INET6, "fe80::2", &to[VETH].sin6_addr);
	to[VETH].sin6_scope_id = 1000; /* e0 of host 0, the first interface of a lab */
	mf_address_of_host(t, dst, to[PLAIN].sin6_addr.s6_addr);
	for (uint32_t i = 0; i < 4; i++)
		carrier[i] = (uint8_t)(block >> (24 - 8 * i));
	for (uint32_t i = 0; i < n; i++) {
		carrier[4 + 2 * i] = (uint8_t)(usid[i] >> 8);
		carrier[5 + 2 * i] = (uint8_t)usid[i];
	}
}

static void time_packets(size_t bytes, bool programs)
{
	struct ml_lab *lab = bring_lab_up("tiny", 0, programs);
	uint32_t dst = ml_lab_topology(lab)->n_hosts - 1, node;
	double pps[WAYS][ROUNDS], best, base = 1;
	struct sockaddr_in6 to[WAYS];
	int from = socket_at(lab, 0), at[WAYS];
	struct ml_error e;
	const char *why;

	if (ml_node_find(ml_lab_topology(lab), "plane0.t0-0", &node, &e))
		exit_with_error("lab", e.text);
	at[VETH] = socket_at(lab, node);
	at[PLAIN] = at[USID] = socket_at(lab, dst);
	addresses(lab, dst, to);
	for (int r = 0; r < ROUNDS; r++)
		for (int w = 0; w < WAYS; w++)
			pps[w][r] = round_of(from, at[w], &to[w], bytes);
	for (int w = 0; w < WAYS; w++) {
		double middle = median(pps[w], ROUNDS);

		best = pps[w][ROUNDS - 1];
		base = w == VETH ? middle : base;
		printf("lab %s, %zu B, %s: %.0f packets/s, %.2f of a bare veth\n", way_name[w],
		       bytes, ml_lab_programs(lab, &why) ? "switch programs" : "no programs", best,
		       middle / base);
	}
	fflush(stdout);
	close(from);
	close(at[VETH]);
	close(at[PLAIN]);
	ml_lab_close(lab);
}

/* ---- times ---- */

enum { UP, DOWN, OFF, ON, FAULT, LIFT, STEPS };

static void report_step(double *ms, int failed, uint64_t begin, const struct ml_error *e)
{
	if (failed)
		exit_with_error("lab", e->text);
	*ms = (double)(now_ns() - begin) / 1e6;
}

static void times_once(const char *topology, double ms[STEPS])
{
	uint64_t begin = now_ns();
	struct ml_lab *lab = bring_lab_up(topology, ML_PACE_OF_TOPOLOGY, true);
	const struct mf_topology *t = ml_lab_topology(lab);
	struct mf_fault fault;
	struct ml_error e = {{0}};
	uint32_t node;

	report_step(&ms[UP], 0, begin, &e);
	if (ml_node_find(t, "plane0.t1-0", &node, &e) ||
	    ml_fault_read(t, "plane0.t0-0.t1-1", "blackhole", &fault, &e))
		exit_with_error("lab", e.text);
	begin = now_ns();
	report_step(&ms[OFF], ml_lab_set_switch(lab, node, false, &e), begin, &e);
	begin = now_ns();
	report_step(&ms[ON], ml_lab_set_switch(lab, node, true, &e), begin, &e);
	begin = now_ns();
	report_step(&ms[FAULT], ml_lab_add_fault(lab, &fault, &e), begin, &e);
	begin = now_ns();
	report_step(&ms[LIFT], ml_lab_clear_fault(lab, NULL, MF_FAULT_KINDS, &e) < 0, begin, &e);
	begin = now_ns();
	ml_lab_close(lab);
	report_step(&ms[DOWN], 0, begin, &e);
}

static void time_lab_phases(const char *topology)
{
	static const char *const name[STEPS] = {"up",	 "down",	"T1 off",
						"T1 on", "a blackhole", "lifted"};
	double ms[STEPS][ROUNDS], one[STEPS];

	for (int r = 0; r < ROUNDS; r++) {
		times_once(topology, one);
		for (int s = 0; s < STEPS; s++)
			ms[s][r] = one[s];
	}
	for (int s = 0; s < STEPS; s++)
		printf("lab %s, %s: %.1f ms\n", topology, name[s], median(ms[s], ROUNDS));
	fflush(stdout);
}

/* ---- faults ---- */

static pid_t run_perf(const struct ml_lab *lab, const char *mrc, uint32_t host, const char *to)
{
	struct ml_error e = {{0}};
	pid_t pid = fork();
	int netns;

	if (pid)
		return pid;
	netns = ml_lab_netns(lab, host, &e);
	if (netns < 0 || setns(netns, CLONE_NEWNET) ||
	    ml_host_environment(lab, host, MF_HOST_RAW41, &e) || !freopen("/dev/null", "w", stdout))
		exit_with_error("perf", e.text);
	if (to)
		execl(mrc, mrc, "perf", to, "--size", "1M", "--duration", "4s", "--no-latency",
		      (char *)NULL);
	execl(mrc, mrc, "perf", "--server", "--once", (char *)NULL);
	exit_with_error(mrc, strerror(errno));
	return -1;
}

static uint64_t count_swallowed(struct ml_lab *lab, struct ml_counters *c)
{
	struct ml_error e;
	uint64_t n = 0;

	if (ml_lab_counters(lab, c, &e))
		exit_with_error("counters", e.text);
	for (uint32_t link = 0; link < ml_lab_topology(lab)->n_links; link++)
		n += c[link].lost;
	return n;
}

static void time_fault_verb(const char *mrc, const char *target, const char *word)
{
	struct ml_lab *lab = bring_lab_up("lab", ML_PACE_OF_TOPOLOGY, true);
	const struct mf_topology *t = ml_lab_topology(lab);
	static const uint64_t at_ms[] = {20, 100, 1000};
	struct ml_counters *c = calloc(t->n_links, sizeof(*c));
	char to[INET6_ADDRSTRLEN];
	struct mf_fault f;
	struct ml_error e;
	uint64_t begin, n[3];
	pid_t server, client;

	if (!c || ml_fault_read(t, target, word, &f, &e))
		exit_with_error(target, c ? e.text : "no memory");
	ml_host_address(lab, t->n_hosts - 1, to);
	server = run_perf(lab, mrc, t->n_hosts - 1, NULL);
	rest_ms(500);
	client = run_perf(lab, mrc, 0, to);
	rest_ms(2000);
	if (ml_lab_add_fault(lab, &f, &e))
		exit_with_error(target, e.text);
	begin = now_ns();
	for (int i = 0; i < 3; i++) {
		while (now_ns() - begin < at_ms[i] * 1000000)
			rest_ms(1);
		n[i] = count_swallowed(lab, c);
	}
	printf("lab %s %s: %llu packets into it in 20 ms, %llu in 100 ms, %llu in a second\n",
	       target, word, (unsigned long long)n[0], (unsigned long long)n[1],
	       (unsigned long long)n[2]);
	fflush(stdout);
	kill(server, SIGKILL);
	kill(client, SIGKILL);
	waitpid(server, NULL, 0);
	waitpid(client, NULL, 0);
	free(c);
	ml_lab_close(lab);
}

/* The command beside which this program was built, or the one that is installed. */
static const char *find_mrc(char *path, size_t size)
{
	static const char *const places[] = {"../../bin/mrc", "../../../bin/mrc", "../bin/mrc"};
	char self[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (n > 0)
		*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, size, "%s/%s", self, places[i]);
		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

int main(void)
{
	bool root = !ml_needs_ns_holder();
	char path[512];
	const char *mrc = find_mrc(path, sizeof(path));
	struct ml_error e;

	if (!root && ml_rootless_enter(&e)) {
		printf("lab skipped: %s\n", e.text);
		return 0;
	}
	time_packets(1400, false);
	time_packets(4096, false);
	if (root)
		time_packets(4096, true);
	time_lab_phases("tiny");
	time_lab_phases("lab");
	time_lab_phases("lab8");
	if (!root || !mrc) {
		printf("lab faults skipped: %s\n", root ? "there is no mrc" : "they need root");
		return 0;
	}
	time_fault_verb(mrc, "plane0.t1-0", "stall");
	time_fault_verb(mrc, "host0.plane1", "blackhole");
	time_fault_verb(mrc, "plane2", "stall");
	return 0;
}
