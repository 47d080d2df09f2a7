/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h - the clock by which the command measures durations. */
#ifndef SOFTMRC_UI_CLOCK_H
#define SOFTMRC_UI_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ui_clock_ns returns CLOCK_MONOTONIC. */
static inline uint64_t ui_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
