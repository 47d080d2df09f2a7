/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following the fault table with socket options: see ring_tcp_fault.h. A thread looks at the table
 * every two milliseconds and changes a socket when its verdict has changed. A filter sees a segment
 * from its TCP header on.
 */
#include "ring_tcp_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_NS 2000000
#define TCP_HEADER_MAX_BYTES 60
#define PATHS_MAX 64u

struct ring_fault_watch {
	pthread_t thread;
	const struct mrc_fault_table *table;
	atomic_bool stop;
	bool filters; /* the kernel allows them */
	unsigned n;
	struct ring_fault_flow flow[RING_FAULT_CONNECTIONS_MAX];
	struct ring_fault_verdict verdict[RING_FAULT_CONNECTIONS_MAX];
};

unsigned ring_fault_path(const struct ring_fault_flow *flow, uint32_t paths)
{
	uint32_t x = (uint32_t)flow->caller_port << 16 | flow->called_port;

	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return (x ^ x >> 16) % paths;
}

/* The table names hosts by GID: an IPv4 address in its last four bytes, after 0xffff. */
static bool is_host(const uint8_t gid[16], struct in_addr address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, mapped, sizeof(mapped)) == 0 && memcmp(gid + 12, &address, 4) == 0;
}

static bool path_matches(const struct mrc_fault_rule *rule, const struct ring_fault_flow *flow)
{
	if (rule->path_modulus == 0)
		return true;
	return rule->path_modulus <= PATHS_MAX &&
	       (rule->path_mask >> ring_fault_path(flow, rule->path_modulus) & 1);
}

static bool rule_matches(const struct mrc_fault_rule *rule, const struct ring_fault_flow *flow)
{
	bool from = is_host(rule->host, flow->from), to = is_host(rule->host, flow->to);

	if (!(rule->port_mask >> flow->plane & 1))
		return false;
	if (!path_matches(rule, flow))
		return false;
	switch (rule->direction) {
	case MRC_FAULT_ANY:
		return true;
	case MRC_FAULT_FROM:
		return from;
	case MRC_FAULT_TO:
		return to;
	case MRC_FAULT_BOTH:
		return from || to;
	default:
		return false;
	}
}

struct ring_fault_verdict ring_fault_judge(const struct mrc_fault_table *table,
					   const struct ring_fault_flow *flow)
{
	struct ring_fault_verdict worst = {0};

	for (unsigned i = 0; i < MRC_FAULT_RULES; i++) {
		const struct mrc_fault_rule *rule = &table->rule[i];
		uint32_t kind = __atomic_load_n(&rule->kind, __ATOMIC_ACQUIRE);
		uint32_t ppm = rule->chance_ppm;

		if (kind != MRC_FAULT_DROP && kind != MRC_FAULT_CORRUPT && kind != MRC_FAULT_TRIM)
			continue;
		if (ppm > RING_FAULT_CERTAIN_PPM)
			ppm = RING_FAULT_CERTAIN_PPM;
		if (ppm > worst.drop_ppm && rule_matches(rule, flow))
			worst = (struct ring_fault_verdict){.drop_ppm = ppm,
							    .data_only = rule->data_only != 0};
	}
	return worst;
}

static int attach_filter(int fd, struct ring_fault_verdict v)
{
	/* Keeps a segment when the number drawn is above this; a whole segment is kept by ~0. */
	uint32_t below = (uint32_t)((uint64_t)v.drop_ppm * UINT32_MAX / RING_FAULT_CERTAIN_PPM);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, v.data_only ? TCP_HEADER_MAX_BYTES : 0, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, below, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int detach_filter(int fd)
{
	int none = 0;
	int rc = setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));

	return rc && errno == ENOENT ? 0 : rc;
}

static int set_min_ttl(int fd, int ttl)
{
	return setsockopt(fd, IPPROTO_IP, IP_MINTTL, &ttl, sizeof(ttl));
}

static void apply_verdict(const struct ring_fault_watch *w, const struct ring_fault_flow *flow,
			  struct ring_fault_verdict v)
{
	bool all = v.drop_ppm == RING_FAULT_CERTAIN_PPM && !v.data_only;
	int rc = set_min_ttl(flow->fd, all ? RING_FAULT_MIN_TTL : 0);

	if (!rc && w->filters)
		rc = v.drop_ppm && !all ? attach_filter(flow->fd, v) : detach_filter(flow->fd);
	if (rc)
		fprintf(stderr, "ring: fault on the connection of plane %u: %s\n", flow->plane,
			strerror(errno));
}

static void follow_once(struct ring_fault_watch *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		struct ring_fault_verdict v = ring_fault_judge(w->table, &w->flow[i]);

		if (v.drop_ppm != w->verdict[i].drop_ppm || v.data_only != w->verdict[i].data_only)
			apply_verdict(w, &w->flow[i], v);
		w->verdict[i] = v;
	}
}

static void *follow_faults(void *arg)
{
	struct ring_fault_watch *w = arg;
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};

	while (!atomic_load(&w->stop)) {
		follow_once(w);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static const struct mrc_fault_table *map_table(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct mrc_fault_table *table = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(*table))
		table = mmap(NULL, sizeof(*table), PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (table == MAP_FAILED) {
		fprintf(stderr, "ring: MRC_FAULTS=%s: want a file of at least %zu bytes\n", path,
			sizeof(*table));
		return NULL;
	}
	if (memcmp(table->magic, MRC_FAULT_MAGIC, sizeof(table->magic)) ||
	    table->version != MRC_FAULT_VERSION || table->rules != MRC_FAULT_RULES) {
		fprintf(stderr, "ring: MRC_FAULTS=%s: want a fault table of version %u\n", path,
			MRC_FAULT_VERSION);
		munmap(table, sizeof(*table));
		return NULL;
	}
	return table;
}

/* Tries a filter that loses nothing. */
static bool may_filter(int fd)
{
	const struct ring_fault_verdict nothing = {0};

	return attach_filter(fd, nothing) == 0 && detach_filter(fd) == 0;
}

int ring_fault_start(struct ring_fault_watch **watch, const struct ring_fault_flow *flows,
		     unsigned n)
{
	const char *path = getenv("MRC_FAULTS");
	struct ring_fault_watch *w;
	int rc;

	*watch = NULL;
	if (!path || !*path)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w || n > RING_FAULT_CONNECTIONS_MAX) {
		fprintf(stderr, "ring: no room to follow %u connections\n", n);
		free(w);
		return -1;
	}
	w->table = map_table(path);
	w->n = n;
	memcpy(w->flow, flows, n * sizeof(*flows));
	w->filters = n && may_filter(flows[0].fd);
	rc = w->table ? pthread_create(&w->thread, NULL, follow_faults, w) : EINVAL;
	if (rc) {
		if (w->table)
			fprintf(stderr, "ring: thread for faults: %s\n", strerror(rc));
		free(w);
		return -1;
	}
	*watch = w;
	return 0;
}

void ring_fault_stop(struct ring_fault_watch *watch)
{
	if (!watch)
		return;
	atomic_store(&watch->stop, true);
	pthread_join(watch->thread, NULL);
	munmap((void *)(uintptr_t)watch->table, sizeof(*watch->table));
	free(watch);
}

bool ring_fault_filters(const struct ring_fault_watch *watch)
{
	return watch && watch->filters;
}
