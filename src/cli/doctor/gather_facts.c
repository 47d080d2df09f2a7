/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts from the kernel: files of /proc, limits, socket options, rights. See doctor.h. */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATH_MAX_BYTES 256

/* A number in a file of one line. */
static int64_t read_number(const char *root, const char *path)
{
	char name[PATH_MAX_BYTES], text[32];
	int64_t n = DOCTOR_UNKNOWN;
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	f = fopen(name, "re");
	if (!f)
		return n;
	if (fgets(text, sizeof(text), f)) {
		char *end;
		long long value;

		errno = 0;
		value = strtoll(text, &end, 10);
		if (!errno && end != text)
			n = value;
	}
	fclose(f);
	return n;
}

/* The effective rights of this process, as a mask; 0 where they cannot be read. */
static uint64_t read_rights(const char *root)
{
	char name[PATH_MAX_BYTES], line[128];
	uint64_t mask = 0;
	FILE *f;

	snprintf(name, sizeof(name), "%s/proc/self/status", root);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %" SCNx64, &mask) == 1)
			break;
	fclose(f);
	return mask;
}

static int64_t limit_of(unsigned int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return DOCTOR_UNKNOWN;
	return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}

static bool has_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

/* What a socket gets that asks as the device does: by right, otherwise as much as is allowed. */
static int64_t granted_buffer(int fd, int wanted)
{
	socklen_t len = sizeof(wanted);

	if (!has_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, wanted) &&
	    !has_option(fd, SOL_SOCKET, SO_RCVBUF, wanted))
		return DOCTOR_UNKNOWN;
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, &len))
		return DOCTOR_UNKNOWN;
	return wanted / 2; /* the kernel tells twice of what counts */
}

static void ask_socket(struct doctor_facts *f)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	f->receive_granted = DOCTOR_UNKNOWN;
	if (fd < 0)
		return;
	f->rxq_ovfl = has_option(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	f->udp_gso = has_option(fd, IPPROTO_UDP, UDP_SEGMENT, 1024);
	f->udp_gro = has_option(fd, IPPROTO_UDP, UDP_GRO, 1);
	f->receive_granted = granted_buffer(fd, (int)f->receive_wanted);
	close(fd);
}

/* glibc has no function for it. */
static int ask_bpf(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static int64_t count_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? DOCTOR_UNKNOWN : CPU_COUNT(&set);
}

/* The coarse clock goes on once a tick, and says so. */
static int64_t read_hz(void)
{
	struct timespec t;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) || t.tv_sec || !t.tv_nsec)
		return DOCTOR_UNKNOWN;
	return (1000000000 + t.tv_nsec / 2) / t.tv_nsec;
}

/* Raw sockets of IPv6 are listed with their protocol where others have a port. */
static int64_t count_readers41(const char *root)
{
	char name[PATH_MAX_BYTES], line[256];
	int64_t n = 0;
	FILE *f;

	snprintf(name, sizeof(name), "%s/proc/net/raw6", root);
	f = fopen(name, "re");
	if (!f)
		return DOCTOR_UNKNOWN;
	while (fgets(line, sizeof(line), f)) {
		unsigned protocol;

		if (sscanf(line, " %*u: %*32[0-9A-Fa-f]:%4X", &protocol) == 1 &&
		    protocol == IPPROTO_IPV6)
			n++;
	}
	fclose(f);
	return n;
}

/* The device that the kernel makes with its IPv6 tunnels takes what no other tunnel does. */
static bool has_tunnel41(const char *root)
{
	char name[PATH_MAX_BYTES];

	snprintf(name, sizeof(name), "%s/proc/net/dev_snmp6/ip6tnl0", root);
	return access(name, F_OK) == 0;
}

#define RECEIVE_WANTED (16 << 20)
#define EVS_DEFAULT 8u

void doctor_facts_gather(struct doctor_facts *f, const char *root)
{
	uint64_t rights = read_rights(root);
	const char *wanted = getenv("MRC_RX_BUFFER"), *evs = getenv("MRC_EVS");
	int slack = prctl(PR_GET_TIMERSLACK);

	*f = (struct doctor_facts){
		.rmem_max = read_number(root, "/proc/sys/net/core/rmem_max"),
		.wmem_max = read_number(root, "/proc/sys/net/core/wmem_max"),
		.receive_wanted = wanted && atoi(wanted) > 0 ? atoi(wanted) : RECEIVE_WANTED,
		.evs = evs && atoi(evs) > 0 ? (uint32_t)atoi(evs) : EVS_DEFAULT,
		.net_raw = rights >> CAP_NET_RAW & 1,
		.net_admin = rights >> CAP_NET_ADMIN & 1,
		.seg6 = read_number(root, "/proc/sys/net/ipv6/conf/all/seg6_enabled") !=
			DOCTOR_UNKNOWN,
		.readers41 = count_readers41(root),
		.tunnel41 = has_tunnel41(root),
		.bpf_error = ask_bpf(),
		.cores = count_cores(),
		.hz = read_hz(),
		.timer_slack_ns = slack < 0 ? DOCTOR_UNKNOWN : slack,
		.memlock = limit_of(RLIMIT_MEMLOCK),
		.open_files = limit_of(RLIMIT_NOFILE),
	};
	ask_socket(f);
}
