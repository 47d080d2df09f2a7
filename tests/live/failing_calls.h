/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failing_calls.h - calls of the system that fail when a test says so.
 *
 * The functions of failing_calls.c stand before those of the C library for the whole process, its
 * shared libraries too. They count calls, let the one that was asked for fail, and keep a list of
 * the memory that is taken meanwhile. What runs between fc_start and fc_stop is to be of the
 * libraries under test alone: nothing tells who calls.
 */
#ifndef LIVE_FAILING_CALLS_H
#define LIVE_FAILING_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What may fail, and with which errors the kernel or the C library does so (two at most; 0: none).
 * `once` says what a single failure may do: refuse what the program asked for, or nothing.
 *
 * Not here: write(2) and read(2), for they are of eventfds, which have no errors that an open
 * descriptor could get; close(2), munmap(2) and sigaction(2) of handlers that were valid before.
 */
#define FC_CALLS(X)                                           \
	X(malloc, FC_MAY_REFUSE, ENOMEM, 0)                   \
	X(calloc, FC_MAY_REFUSE, ENOMEM, 0)                   \
	X(realloc, FC_MAY_REFUSE, ENOMEM, 0)                  \
	X(aligned_alloc, FC_MAY_REFUSE, ENOMEM, 0)            \
	X(posix_memalign, FC_MAY_REFUSE, ENOMEM, 0)           \
	X(mmap, FC_MAY_REFUSE, ENOMEM, EPERM)                 \
	X(madvise, FC_MAY_REFUSE, ENOMEM, EAGAIN)             \
	X(socket, FC_MAY_REFUSE, EMFILE, ENOBUFS)             \
	X(bind, FC_MAY_REFUSE, EADDRNOTAVAIL, EADDRINUSE)     \
	X(connect, FC_GOES_ON, EAGAIN, ENETUNREACH)           \
	X(setsockopt, FC_MAY_REFUSE, ENOBUFS, ENOPROTOOPT)    \
	X(getsockopt, FC_GOES_ON, ENOBUFS, 0)                 \
	X(ioctl, FC_GOES_ON, EPERM, ENODEV)                   \
	X(getifaddrs, FC_MAY_REFUSE, ENOBUFS, EMFILE)         \
	X(if_nametoindex, FC_GOES_ON, EMFILE, 0)              \
	X(open, FC_MAY_REFUSE, EMFILE, EACCES)                \
	X(openat, FC_MAY_REFUSE, EMFILE, 0)                   \
	X(fopen, FC_MAY_REFUSE, ENFILE, EACCES)               \
	X(opendir, FC_MAY_REFUSE, EMFILE, EACCES)             \
	X(mkdir, FC_GOES_ON, EROFS, 0)                        \
	X(fstat, FC_GOES_ON, EIO, 0)                          \
	X(pread, FC_GOES_ON, EIO, 0)                          \
	X(stat, FC_GOES_ON, EACCES, 0)                        \
	X(inotify_init1, FC_GOES_ON, EMFILE, ENOMEM)          \
	X(inotify_add_watch, FC_GOES_ON, ENOSPC, 0)           \
	X(flock, FC_MAY_REFUSE, ENOLCK, EINTR)                \
	X(posix_fallocate, FC_MAY_REFUSE, ENOSPC, EOPNOTSUPP) \
	X(ftruncate, FC_MAY_REFUSE, ENOSPC, 0)                \
	X(eventfd, FC_MAY_REFUSE, EMFILE, ENOMEM)             \
	X(getrandom, FC_MAY_REFUSE, EAGAIN, ENOSYS)           \
	X(prctl, FC_GOES_ON, EPERM, 0)                        \
	X(getpriority, FC_GOES_ON, EACCES, 0)                 \
	X(setpriority, FC_GOES_ON, EACCES, 0)                 \
	X(getrlimit, FC_GOES_ON, EPERM, 0)                    \
	X(pthread_create, FC_MAY_REFUSE, EAGAIN, EPERM)       \
	X(sendmmsg, FC_GOES_ON, ENOBUFS, EPERM)               \
	X(recvmmsg, FC_GOES_ON, ENOMEM, EINTR)                \
	X(recv, FC_GOES_ON, ENOBUFS, 0)                       \
	X(ppoll, FC_GOES_ON, ENOMEM, EINTR)                   \
	X(preadv2, FC_GOES_ON, EAGAIN, EOPNOTSUPP)

enum fc_once {
	FC_MAY_REFUSE,
	FC_GOES_ON,
};

enum fc_call {
#define FC_ID(name, once, err, other) FC_##name,
	FC_CALLS(FC_ID)
#undef FC_ID
		FC_CALLS_ALL,
};

const char *fc_name(enum fc_call call);
enum fc_once fc_once(enum fc_call call);
/* fc_error returns error `which`, 0 or 1, of a call; 0: it has no such one. */
int fc_error(enum fc_call call, uint32_t which);

/* Which call fails. */
struct fc_plan {
	enum fc_call call;
	uint32_t nth;	 /* counted from 1; 0: none fails */
	bool ever_after; /* all later ones fail as well */
	int error;
};

/* fc_start begins to count from 0; fc_stop ends it, and what the plan says. */
void fc_start(const struct fc_plan *plan);
void fc_stop(void);
/* fc_calls returns how often a call was made between the two, failed ones included. */
uint32_t fc_calls(enum fc_call call);

/*
 * fc_blocks returns how many blocks of memory that were taken between the two are not freed, and
 * prints the first few with their sizes and who called, for addr2line, if `print`.
 */
uint32_t fc_blocks(bool print);

#endif
