/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread for each processor sends datagrams to itself until time is up. What other processes
 * take away is missing in the sum, as it would be missing in the demo.
 */
#include "demo/calibrate.h"
#include "ui/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
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
