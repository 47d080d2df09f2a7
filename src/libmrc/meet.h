/* SPDX-License-Identifier: BSD-2-Clause */
/* meet.h - what the files of mrc/meet.h share: lines, and waiting for a descriptor within a time
 * limit. Private to src/libmrc. */
#ifndef SOFTMRC_LIBMRC_MEET_H
#define SOFTMRC_LIBMRC_MEET_H

#include "libmrc/libmrc.h"

#pragma GCC visibility push(default)
#include <mrc/meet.h>
#pragma GCC visibility pop

/* Begins each line. The version ends it: a peer of another one is told apart from noise. */
#define MA_MEET_WORD "mrc-meet-"
#define MA_MEET_VERSION "1"
#define MA_MEET_HEAD MA_MEET_WORD MA_MEET_VERSION " "

/*
 * ma_meet_head_check says whether the first n bytes of text, as far as it is known, can begin a
 * line: 0, EPROTO, or EPROTONOSUPPORT: they begin a line of another version.
 */
int ma_meet_head_check(const char *text, size_t n);

/* A moment of CLOCK_MONOTONIC by which a call is to end; INT64_MAX: never. */
struct ma_meet_limit {
	int64_t end_ns;
};

/* ma_meet_limit_init: EINVAL: no number of milliseconds that mrc/meet.h allows. */
int ma_meet_limit_init(struct ma_meet_limit *limit, int timeout_ms);
/* ma_meet_limit_sooner returns the sooner one of the limit and some milliseconds from now. */
struct ma_meet_limit ma_meet_limit_sooner(struct ma_meet_limit limit, int ms);
bool ma_meet_limit_is_over(struct ma_meet_limit limit);
/* ma_meet_pause blocks for some milliseconds, or for less where the limit or a signal ends it. */
void ma_meet_pause(int ms, struct ma_meet_limit limit);
/* ma_meet_wait blocks until fd has one of these events of poll(2), or an error. ETIMEDOUT, or an
 * error of poll(2); EBADF: fd is negative. */
int ma_meet_wait(int fd, short events, struct ma_meet_limit limit);

#endif
