/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entropy.c - the kernel's randomness.
 *
 * It is asked for at setup only (keys, seeds, first numbers), never for a packet. Early at boot the
 * kernel may have none, and a sandbox may forbid asking. There is nothing to use instead: a number
 * that a peer can guess, such as the time, is worse than an error.
 */
#include "host/platform/platform.h"

#include <errno.h>
#include <sys/random.h>

int mh_entropy(uint64_t *number)
{
	if (getrandom(number, sizeof(*number), GRND_NONBLOCK) == sizeof(*number))
		return 0;
	return errno;
}
