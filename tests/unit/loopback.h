/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loopback.h - loopback addresses of this process alone, so that tests may run side by side.
 *
 * 127.A.B.host: A and B come from the process number, B also counts up to four planes.
 */
#ifndef UNIT_LOOPBACK_H
#define UNIT_LOOPBACK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* loopback_ip returns the address, host order, of a host (1 .. 254) on a plane (0 .. 3). */
static inline uint32_t loopback_ip(uint32_t plane, uint32_t host)
{
	uint32_t pid = (uint32_t)getpid();

	return 127u << 24 | (128 + (pid >> 6 & 127)) << 16 | ((pid & 63) * 4 + plane) << 8 | host;
}

static inline const char *loopback_text(uint32_t plane, uint32_t host, char text[16])
{
	uint32_t ip = loopback_ip(plane, host);

	snprintf(text, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
	return text;
}

/* loopback_env sets MRC_PORTS to host 1 on n planes, 1 .. 4. */
static inline void loopback_env(uint32_t n)
{
	char list[80] = "";
	char one[16];
	int at = 0;

	for (uint32_t i = 0; i < n; i++)
		at += snprintf(list + at, sizeof(list) - (size_t)at, "%s%s", i ? "," : "",
			       loopback_text(i, 1, one));
	setenv("MRC_PORTS", list, 1);
}

#endif
