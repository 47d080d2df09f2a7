/* SPDX-License-Identifier: BSD-2-Clause */
/* What this machine carries: its packets a second, the size of a demo, and how busy it is. */
#include "demo/demo.h"

#include "demo/measure.h"
#include "ui/terminal.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DATAGRAM_BYTES 4096
#define MEASURE_NS UINT64_C(400000000)
#define THREADS_MAX 64
/* Between two looks at the clock. */
#define BATCH 16

static int open_to_itself(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool pass_batch(int fd)
{
	static const char datagram[DATAGRAM_BYTES];
	char back[DATAGRAM_BYTES];

	for (int i = 0; i < BATCH; i++)
		if (send(fd, datagram, sizeof(datagram), MSG_DONTWAIT) < 0 ||
		    recv(fd, back, sizeof(back), MSG_DONTWAIT) < 0)
			return false;
	return true;
}

static void *measure_packets(void *count)
{
	uint64_t end_ns = ui_clock_ns() + MEASURE_NS;
	uint64_t n = 0;
	int fd = open_to_itself();

	if (fd < 0)
		return NULL;
	while (ui_clock_ns() < end_ns && pass_batch(fd))
		n += BATCH;
	close(fd);
	*(uint64_t *)count = n;
	return NULL;
}

uint64_t demo_calibrate(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[THREADS_MAX];
	uint64_t count[THREADS_MAX] = {0}, sum = 0;
	long n = 0;

	while (n < cpus && n < THREADS_MAX &&
	       pthread_create(&thread[n], NULL, measure_packets, &count[n]) == 0)
		n++;
	for (long i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		sum += count[i];
	}
	return sum * 1000000000u / MEASURE_NS;
}

#define VECTOR_BYTES 4194304u
#define PACKET_BYTES 4096u
/* Above this the pace is no longer kept. */
#define LOAD_MAX_PERCENT 85u

/* Tried in this order. */
static const struct {
	uint32_t ranks;
	uint64_t pace_bps;
} sizes[] = {{8, 50000000}, {8, 25000000}, {4, 25000000}};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* In the lab a path is a T1, and three switches are on the way. */
const struct demo_place demo_place_lab = {.paths = 4, .datagrams_per_packet = 10};
const struct demo_place demo_place_loopback = {.paths = 8, .datagrams_per_packet = 5};

uint64_t demo_size_load(const struct demo_shape *shape, const struct demo_place *place,
			uint64_t capacity)
{
	uint64_t packets = shape->pace_bps * shape->planes * shape->ranks / 8 / PACKET_BYTES;

	return packets * place->datagrams_per_packet * 100 / capacity;
}

void demo_size_choose(struct demo_shape *shape, const struct demo_options *o,
		      const struct demo_place *place, uint64_t capacity)
{
	for (size_t i = 0; i < SIZES; i++) {
		*shape = (struct demo_shape){
			.ranks = o->ranks ? o->ranks : sizes[i].ranks,
			.planes = o->planes,
			.paths = o->paths ? o->paths : place->paths,
			.pace_bps = o->pace_bps ? o->pace_bps : sizes[i].pace_bps,
			.vector_bytes = VECTOR_BYTES,
		};
		if (!capacity || demo_size_load(shape, place, capacity) <= LOAD_MAX_PERCENT)
			return;
	}
}

bool demo_cpu_parse(struct demo_cpu *cpu, const char *line)
{
	uint64_t t[8];

	/* user nice system idle iowait irq softirq steal */
	if (sscanf(line,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		return false;
	*cpu = (struct demo_cpu){.idle = t[3] + t[4]};
	for (unsigned i = 0; i < 8; i++)
		cpu->all += t[i];
	return true;
}

struct demo_cpu demo_cpu_read(void)
{
	struct demo_cpu cpu = {0};
	char line[256];
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return cpu;
	if (fgets(line, sizeof(line), f))
		demo_cpu_parse(&cpu, line);
	fclose(f);
	return cpu;
}

double demo_cpu_idle(const struct demo_cpu *earlier, const struct demo_cpu *later)
{
	if (later->all <= earlier->all)
		return -1;
	return (double)(later->idle - earlier->idle) / (double)(later->all - earlier->all);
}
