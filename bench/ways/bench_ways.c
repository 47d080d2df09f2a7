/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_ways - what each way through the kernel costs that a sender of MRC's packets might take.
 *
 * Two processes in network namespaces joined by a veth pair. The receiver takes runs as the UDP
 * driver does and says how much it has; the sender has no more than a window on its way, so that
 * nothing is lost. All ways are measured in turn, several rounds, and each round is compared with
 * the first way's of the same round: the median of these ratios counts. "ways: name value unit".
 * Needs root; says so otherwise. --run N: packets that leave as one, 8 if it is left out.
 */
#include "common/example_flags.h"
#include "ways/ways.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <net/if.h>

#define NS_PER_S UINT64_C(1000000000)
#define WINDOW_BYTES (UINT64_C(2) << 20)
#define ROUNDS_MAX 64u
#define RX_SLOTS 8u
#define RX_BYTES 65536u
#define RX_BUFFER (4 << 20)
/* How long a window may stay full: what is lost never opens it. */
#define PATIENCE_NS (NS_PER_S / 5)

const char *const way_ip[2] = {"10.78.0.1", "10.78.0.2"};
static const char *const way_name[WAYS] = {"pieces",
					   "joined",
					   "joined, connected",
					   "joined, io_uring",
					   "joined, MSG_ZEROCOPY",
					   "joined, PACKET_VNET_HDR",
					   "AF_XDP, copy mode"};

/* What the ends of a measurement tell. */
struct shared {
	atomic_bool receives, ended;
	_Atomic uint64_t got; /* bytes of payload */
	uint64_t ns;
	uint64_t cpu_ns[2];
	int error; /* errno of the sender */
};

struct figure {
	double gbit_s, tx_ms, rx_ms; /* CPU time a GB */
};

static uint64_t run = 8, rounds = 9, ms = 60;
static struct shared *shared;
static int space[2];
static uint8_t peer_mac[6];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
}

/* ---- the sender ---- */

void *way_payload(struct sender *s)
{
	void *at = s->memory + s->at;

	s->at = (s->at + WAY_PAYLOAD) % WAY_MESSAGE;
	return at;
}

uint32_t way_fill_run(struct sender *s, uint32_t first, struct iovec *iov)
{
	bool joined = s->way != WAY_PIECES;
	uint32_t n = 0;

	iov[n++] = (struct iovec){s->headers[first % WAY_BURST], WAY_HEADERS};
	for (uint32_t i = 0; i < s->run; i++) {
		bool last = i + 1 == s->run;
		uint8_t *end = s->ends[(first + i) % WAY_BURST];

		iov[n++] = (struct iovec){way_payload(s), WAY_PAYLOAD};
		iov[n++] = (struct iovec){end, WAY_END + (joined && !last ? WAY_HEADERS : 0)};
		if (!joined && !last)
			iov[n++] = (struct iovec){s->headers[(first + i + 1) % WAY_BURST],
						  WAY_HEADERS};
	}
	return n;
}

static bool open_way(struct sender *s)
{
	switch (s->way) {
	case WAY_PACKET_GSO:
		return way_packet_open(s);
	case WAY_XDP:
		return way_xdp_open(s);
	case WAY_URING:
		return way_udp_open(s) && way_uring_open();
	case WAY_PIECES:
	case WAY_JOINED:
	case WAY_CONNECTED:
	case WAY_ZEROCOPY:
	case WAYS:
		break;
	}
	return way_udp_open(s);
}

static size_t send_burst(struct sender *s)
{
	switch (s->way) {
	case WAY_PACKET_GSO:
		return way_packet_burst(s);
	case WAY_XDP:
		return way_xdp_burst(s);
	case WAY_URING:
		return way_uring_burst(s);
	case WAY_PIECES:
	case WAY_JOINED:
	case WAY_CONNECTED:
	case WAY_ZEROCOPY:
	case WAYS:
		break;
	}
	return way_udp_burst(s);
}

/* Waits until the window has room; false: it stays full. */
static bool wait_for_room(uint64_t sent)
{
	const struct timespec nap = {0, 20000};
	uint64_t begin = now_ns();

	while (sent > atomic_load(&shared->got) + WINDOW_BYTES) {
		if (now_ns() > begin + PATIENCE_NS)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

static int send_for(struct sender *s, uint64_t length_ns)
{
	uint64_t begin = now_ns(), cpu = cpu_ns(), sent = 0;

	while (now_ns() < begin + length_ns) {
		size_t n = send_burst(s);

		if (n == 0)
			return errno ? errno : EIO;
		sent += n;
		if (!wait_for_room(sent))
			return ETIMEDOUT;
	}
	shared->cpu_ns[0] = cpu_ns() - cpu;
	shared->ns = now_ns() - begin;
	return 0;
}

static int run_sender(enum way way)
{
	static struct sender s;

	s.way = way;
	s.run = (uint32_t)run;
	s.n_msgs = WAY_BURST / s.run / WAY_EVS * WAY_EVS;
	if (s.n_msgs == 0)
		s.n_msgs = WAY_EVS;
	s.memory = aligned_alloc(WAY_PAYLOAD, WAY_MESSAGE);
	if (!s.memory || setns(space[0], CLONE_NEWNET))
		return errno;
	memset(s.memory, 0x5A, WAY_MESSAGE);
	memcpy(s.peer_mac, peer_mac, sizeof(s.peer_mac));
	if (!open_way(&s))
		return errno;
	while (!atomic_load(&shared->receives))
		sched_yield();
	return send_for(&s, ms * 1000000);
}

/* ---- the receiver: as the UDP driver ---- */

static int open_receiver(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(WAY_PORT)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes = RX_BUFFER, one = 1;

	inet_pton(AF_INET, way_ip[1], &at.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return -1;
	return fd;
}

static uint64_t receive_messages(int fd)
{
	static uint8_t bytes[RX_SLOTS][RX_BYTES];
	static struct sockaddr_in from[RX_SLOTS];
	static char control[RX_SLOTS][128];
	struct mmsghdr msg[RX_SLOTS];
	struct iovec iov[RX_SLOTS];
	uint64_t all = 0;
	int n;

	for (uint32_t i = 0; i < RX_SLOTS; i++) {
		iov[i] = (struct iovec){bytes[i], RX_BYTES};
		msg[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
						 .msg_namelen = sizeof(from[i]),
						 .msg_iov = &iov[i],
						 .msg_iovlen = 1,
						 .msg_control = control[i],
						 .msg_controllen = sizeof(control[i])};
	}
	n = recvmmsg(fd, msg, RX_SLOTS, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++)
		all += (uint64_t)msg[i].msg_len / WAY_PACKET * WAY_PAYLOAD;
	return all;
}

static int run_receiver(void)
{
	int fd = setns(space[1], CLONE_NEWNET) ? -1 : open_receiver();
	struct pollfd pfd = {fd, POLLIN, 0};
	uint64_t cpu = cpu_ns(), got = 0, n;

	atomic_store(&shared->receives, true);
	if (fd < 0)
		return 1;
	do {
		n = receive_messages(fd);
		got += n;
		atomic_store(&shared->got, got);
		if (n == 0)
			poll(&pfd, 1, 10);
	} while (n > 0 || !atomic_load(&shared->ended));
	shared->cpu_ns[1] = cpu_ns() - cpu;
	return 0;
}

/* ---- both ---- */

/* Measures a way once; 0, or why it could not be. */
static int measure(enum way way, struct figure *f)
{
	double gb;
	int status;
	pid_t to, from;

	memset(shared, 0, sizeof(*shared));
	to = fork();
	if (to == 0)
		_exit(run_receiver());
	from = fork();
	if (from == 0) {
		shared->error = run_sender(way);
		_exit(0);
	}
	waitpid(from, &status, 0);
	atomic_store(&shared->ended, true);
	waitpid(to, &status, 0);
	if (shared->error || status)
		return shared->error ? shared->error : EIO;
	gb = (double)atomic_load(&shared->got) / 1e9;
	f->gbit_s = gb * 8e9 / (double)shared->ns;
	f->tx_ms = (double)shared->cpu_ns[0] / 1e6 / gb;
	f->rx_ms = (double)shared->cpu_ns[1] / 1e6 / gb;
	return 0;
}

static bool run_command(const char *command)
{
	char line[256];

	snprintf(line, sizeof(line), "PATH=$PATH:/usr/sbin:/sbin %s", command);
	return system(line) == 0;
}

static bool ask_peer_mac(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {.ifr_name = "mrcw1"};
	bool good = fd >= 0 && ioctl(fd, SIOCGIFHWADDR, &r) == 0;

	memcpy(peer_mac, r.ifr_hwaddr.sa_data, sizeof(peer_mac));
	close(fd);
	return good;
}

static bool make_network(void)
{
	char line[160];

	for (int side = 0; side < 2; side++) {
		if (unshare(CLONE_NEWNET))
			return false;
		space[side] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	}
	snprintf(line, sizeof(line),
		 "ip link add " WAY_INTERFACE " mtu 9000 type veth peer name mrcw1 mtu 9000 "
		 "netns /proc/%d/fd/%d",
		 (int)getpid(), space[1]);
	return setns(space[0], CLONE_NEWNET) == 0 && run_command(line) &&
	       run_command("ip address add 10.78.0.1/24 dev " WAY_INTERFACE
			   " && ip link set " WAY_INTERFACE " up") &&
	       setns(space[1], CLONE_NEWNET) == 0 &&
	       run_command("ip address add 10.78.0.2/24 dev mrcw1 && ip link set mrcw1 up") &&
	       ask_peer_mac();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v)
{
	qsort(v, rounds, sizeof(*v), by_value);
	return v[rounds / 2];
}

static void print_way(enum way way, const struct figure *f, const struct figure *first)
{
	double gbit[ROUNDS_MAX], tx[ROUNDS_MAX], rx[ROUNDS_MAX], ratio[ROUNDS_MAX];

	for (uint64_t r = 0; r < rounds; r++) {
		gbit[r] = f[r].gbit_s;
		tx[r] = f[r].tx_ms;
		rx[r] = f[r].rx_ms;
		ratio[r] = (f[r].tx_ms + f[r].rx_ms) / (first[r].tx_ms + first[r].rx_ms);
	}
	printf("ways: %-24s run %2u  %6.2f Gbit/s  %6.1f + %6.1f ms of CPU a GB  %.3f of the "
	       "first\n",
	       way_name[way], (unsigned)run, median(gbit), median(tx), median(rx), median(ratio));
}

int main(int argc, char **argv)
{
	static struct figure figure[WAYS][ROUNDS_MAX];
	const struct flag table[] = {
		{"--run", "N", "packets that leave as one", FLAG_NUMBER, &run, 1, WAY_RUN_MAX,
		 NULL},
		{"--rounds", "N", "of all ways", FLAG_NUMBER, &rounds, 1, ROUNDS_MAX, NULL},
		{"--ms", "N", "for each measurement", FLAG_NUMBER, &ms, 10, 10000, NULL},
	};
	const struct flags flags = {.program = "ways",
				    .synopsis = "[FLAG...]",
				    .about = "CPU time and bandwidth of ways to send packets.",
				    .table = table,
				    .n = sizeof(table) / sizeof(table[0])};
	int why[WAYS] = {0};

	if (flags_parse(&flags, argc, argv, NULL) < 0)
		return 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || !make_network()) {
		printf("SKIP ways: needs root, network namespaces and ip(8)\n");
		return 0;
	}
	for (uint64_t r = 0; r < rounds; r++)
		for (enum way w = 0; w < WAYS; w++)
			if (!why[w])
				why[w] = measure(w, &figure[w][r]);
	for (enum way w = 0; w < WAYS; w++) {
		if (why[w])
			printf("ways: %-24s run %2u  %s\n", way_name[w], (unsigned)run,
			       strerror(why[w]));
		else
			print_way(w, figure[w], figure[0]);
	}
	return 0;
}
