/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entropy.c - the kernel's randomness.
 *
 * It is asked for at setup only (keys, seeds, first numbers), never for a packet. Early at boot the
 * kernel may have none; opening a device must not block until it has.
 */
#include "host/platform/platform.h"

#include <sys/random.h>
#include <time.h>

uint64_t mh_entropy(void)
{
	struct timespec ts;
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number))
		return number;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
