/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failing_calls.c - see failing_calls.h.
 *
 * A program's own functions come before those of shared libraries, so these are called by all of
 * them; each calls the one behind it (RTLD_NEXT), which may be a sanitizer's.
 */
#include "live/failing_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCKS 4096u /* more than two devices and their objects take */
#define BLOCKS_PRINTED 8u
#define EARLY_BYTES 4096u

static const struct {
	const char *name;
	enum fc_once once;
	int error[2];
} rows[FC_CALLS_ALL] = {
#define FC_ROW(name, once, err, other) {#name, once, {err, other}},
	FC_CALLS(FC_ROW)
#undef FC_ROW
};

struct block {
	void *at;
	size_t bytes;
	void *caller;
};

static atomic_bool on;
static struct fc_plan plan;
static atomic_uint calls[FC_CALLS_ALL];
/* Of its own: locks of threads may be a sanitizer's, which takes memory before it is ready. */
static atomic_flag blocks_lock = ATOMIC_FLAG_INIT;
static struct block blocks[BLOCKS];
static uint32_t blocks_full; /* of them not all were seen */
/*
 * The threads that use the library, while they do: what the C library and sanitizers do to begin
 * and end a thread is their own, and a stack is kept for the next one.
 */
static _Thread_local bool is_under_test;

const char *fc_name(enum fc_call call)
{
	return rows[call].name;
}

enum fc_once fc_once(enum fc_call call)
{
	return rows[call].once;
}

int fc_error(enum fc_call call, uint32_t which)
{
	return rows[call].error[which];
}

void fc_start(const struct fc_plan *want)
{
	plan = *want;
	for (uint32_t i = 0; i < FC_CALLS_ALL; i++)
		atomic_store(&calls[i], 0);
	memset(blocks, 0, sizeof(blocks));
	blocks_full = 0;
	is_under_test = true;
	atomic_store(&on, true);
}

void fc_stop(void)
{
	atomic_store(&on, false);
}

uint32_t fc_calls(enum fc_call call)
{
	return atomic_load(&calls[call]);
}

/* is_to_fail counts a call, and sets errno if it is one that fails. */
static bool is_to_fail(enum fc_call call)
{
	uint32_t nth;

	if (!atomic_load(&on) || !is_under_test)
		return false;
	nth = atomic_fetch_add(&calls[call], 1) + 1;
	if (call != plan.call || plan.nth == 0 ||
	    (plan.ever_after ? nth < plan.nth : nth != plan.nth))
		return false;
	errno = plan.error;
	return true;
}

/* find_next finds the function behind the one of this name; *f is a pointer to such a function. */
static void find_next(const char *name, void *f)
{
	void *at = dlsym(RTLD_NEXT, name);

	if (!at)
		abort();
	memcpy(f, &at, sizeof(at));
}

/* What follows stands before the C library for all that is loaded. */
#pragma GCC visibility push(default)

/* ---- memory ---- */

static void lock_blocks(void)
{
	while (atomic_flag_test_and_set(&blocks_lock))
		;
}

static void add_block(void *at, size_t bytes, void *caller)
{
	uint32_t i = 0;

	if (!at || !atomic_load(&on) || !is_under_test)
		return;
	lock_blocks();
	while (i < BLOCKS && blocks[i].at)
		i++;
	if (i < BLOCKS)
		blocks[i] = (struct block){at, bytes, caller};
	else
		blocks_full++;
	atomic_flag_clear(&blocks_lock);
}

static void remove_block(const void *at)
{
	if (!at || !atomic_load(&on))
		return;
	lock_blocks();
	for (uint32_t i = 0; i < BLOCKS; i++)
		if (blocks[i].at == at)
			blocks[i].at = NULL;
	atomic_flag_clear(&blocks_lock);
}

uint32_t fc_blocks(bool print)
{
	uint32_t n = 0;

	lock_blocks();
	for (uint32_t i = 0; i < BLOCKS; i++) {
		Dl_info info;

		if (!blocks[i].at)
			continue;
		if (print && n < BLOCKS_PRINTED && dladdr(blocks[i].caller, &info))
			fprintf(stderr, "# %zu bytes from %s+%#tx\n", blocks[i].bytes,
				info.dli_fname, (char *)blocks[i].caller - (char *)info.dli_fbase);
		n++;
	}
	atomic_flag_clear(&blocks_lock);
	return n + blocks_full;
}

/* Whoever looks for the function behind calloc may need memory for that. */
static _Alignas(16) char early[EARLY_BYTES];
static size_t early_used;

static void *take_early(size_t bytes)
{
	void *at = early + early_used;

	early_used += (bytes + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		abort();
	return at;
}

static bool is_early(const void *at)
{
	return (const char *)at >= early && (const char *)at < early + sizeof(early);
}

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void (*free)(void *);
} real;
static bool real_is_sought;

/* find_real says whether the functions are known; it is first called by a process of one thread. */
static bool find_real(void)
{
	if (real.free)
		return true;
	if (real_is_sought)
		return false;
	real_is_sought = true;
	find_next("malloc", &real.malloc);
	find_next("calloc", &real.calloc);
	find_next("realloc", &real.realloc);
	find_next("aligned_alloc", &real.aligned_alloc);
	find_next("posix_memalign", &real.posix_memalign);
	find_next("free", &real.free);
	return true;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t bytes)
{
	void *at;

	if (!find_real())
		return take_early(bytes);
	if (is_to_fail(FC_malloc))
		return NULL;
	at = real.malloc(bytes);
	add_block(at, bytes, CALLER);
	return at;
}

void *calloc(size_t n, size_t bytes)
{
	void *at;

	if (!find_real())
		return take_early(n * bytes);
	if (is_to_fail(FC_calloc))
		return NULL;
	at = real.calloc(n, bytes);
	add_block(at, n * bytes, CALLER);
	return at;
}

void *realloc(void *old, size_t bytes)
{
	void *at;

	find_real();
	if (is_to_fail(FC_realloc))
		return NULL;
	remove_block(old);
	at = real.realloc(old, bytes);
	add_block(at, bytes, CALLER);
	return at;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	void *at;

	find_real();
	if (is_to_fail(FC_aligned_alloc))
		return NULL;
	at = real.aligned_alloc(alignment, bytes);
	add_block(at, bytes, CALLER);
	return at;
}

int posix_memalign(void **at, size_t alignment, size_t bytes)
{
	int err;

	find_real();
	if (is_to_fail(FC_posix_memalign))
		return plan.error;
	err = real.posix_memalign(at, alignment, bytes);
	if (!err)
		add_block(*at, bytes, CALLER);
	return err;
}

void free(void *at)
{
	if (is_early(at) || !find_real())
		return;
	remove_block(at);
	real.free(at);
}

/* ---- the others ---- */

/* A function of these parameters that returns `failure` when it is to fail. */
#define CALL(type, name, failure, parameters, ...)                              \
	type name parameters                                                    \
	{                                                                       \
		static type(*_Atomic known) parameters;                         \
		type(*behind) parameters = known;                               \
                                                                                \
		if (!behind)                                                    \
			find_next(#name, &behind);                              \
		known = behind;                                                 \
		return is_to_fail(FC_##name) ? (failure) : behind(__VA_ARGS__); \
	}

CALL(void *, mmap, MAP_FAILED, (void *at, size_t n, int prot, int flags, int fd, off_t offset), at,
     n, prot, flags, fd, offset)
CALL(int, madvise, -1, (void *at, size_t n, int advice), at, n, advice)
CALL(int, socket, -1, (int domain, int type, int protocol), domain, type, protocol)
CALL(int, bind, -1, (int fd, __CONST_SOCKADDR_ARG address, socklen_t len), fd, address, len)
CALL(int, setsockopt, -1, (int fd, int level, int name, const void *value, socklen_t len), fd,
     level, name, value, len)
CALL(int, getsockopt, -1, (int fd, int level, int name, void *value, socklen_t *len), fd, level,
     name, value, len)
CALL(int, getifaddrs, -1, (struct ifaddrs * *all), all)
CALL(unsigned int, if_nametoindex, 0, (const char *name), name)
CALL(FILE *, fopen, NULL, (const char *path, const char *mode), path, mode)
CALL(DIR *, opendir, NULL, (const char *path), path)
CALL(int, mkdir, -1, (const char *path, mode_t mode), path, mode)
CALL(int, fstat, -1, (int fd, struct stat *st), fd, st)
CALL(ssize_t, pread, -1, (int fd, void *to, size_t n, off_t offset), fd, to, n, offset)
CALL(int, stat, -1, (const char *path, struct stat *st), path, st)
CALL(int, inotify_init1, -1, (int flags), flags)
CALL(int, inotify_add_watch, -1, (int fd, const char *path, uint32_t mask), fd, path, mask)
CALL(int, flock, -1, (int fd, int operation), fd, operation)
CALL(int, posix_fallocate, plan.error, (int fd, off_t offset, off_t n), fd, offset, n)
CALL(int, ftruncate, -1, (int fd, off_t n), fd, n)
CALL(int, eventfd, -1, (unsigned int first, int flags), first, flags)
CALL(ssize_t, getrandom, -1, (void *to, size_t n, unsigned int flags), to, n, flags)
CALL(int, getpriority, -1, (__priority_which_t which, id_t who), which, who)
CALL(int, setpriority, -1, (__priority_which_t which, id_t who, int priority), which, who, priority)
CALL(int, getrlimit, -1, (__rlimit_resource_t resource, struct rlimit *limit), resource, limit)
CALL(int, connect, -1, (int fd, __CONST_SOCKADDR_ARG to, socklen_t len), fd, to, len)
CALL(int, sendmmsg, -1, (int fd, struct mmsghdr *messages, unsigned int n, int flags), fd, messages,
     n, flags)
CALL(int, recvmmsg, -1,
     (int fd, struct mmsghdr *messages, unsigned int n, int flags, struct timespec *timeout), fd,
     messages, n, flags, timeout)
CALL(ssize_t, recv, -1, (int fd, void *to, size_t n, int flags), fd, to, n, flags)
CALL(int, ppoll, -1,
     (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask), fds, n,
     timeout, mask)
CALL(ssize_t, preadv2, -1, (int fd, const struct iovec *to, int n, off_t offset, int flags), fd, to,
     n, offset, flags)

struct start {
	void *(*run)(void *);
	void *arg;
};

static void *run_under_test(void *arg)
{
	struct start start = *(struct start *)arg;
	void *result;

	real.free(arg);
	is_under_test = true;
	result = start.run(start.arg);
	is_under_test = false;
	return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*behind)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	bool was_under_test = is_under_test;
	struct start *start;
	int err;

	find_next("pthread_create", &behind);
	if (is_to_fail(FC_pthread_create))
		return plan.error;
	if (!was_under_test)
		return behind(thread, attr, run, arg);
	start = real.malloc(sizeof(*start));
	if (!start)
		abort();
	*start = (struct start){run, arg};
	is_under_test = false;
	err = behind(thread, attr, run_under_test, start);
	is_under_test = was_under_test;
	if (err)
		real.free(start);
	return err;
}

/* Those with one more argument in some calls, which is passed on in any. */
static mode_t mode_argument(int flags, va_list more)
{
	return flags & O_CREAT ? va_arg(more, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	int (*behind)(const char *, int, ...);
	va_list more;
	mode_t mode;

	find_next("open", &behind);
	va_start(more, flags);
	mode = mode_argument(flags, more);
	va_end(more);
	return is_to_fail(FC_open) ? -1 : behind(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	int (*behind)(int, const char *, int, ...);
	va_list more;
	mode_t mode;

	find_next("openat", &behind);
	va_start(more, flags);
	mode = mode_argument(flags, more);
	va_end(more);
	return is_to_fail(FC_openat) ? -1 : behind(dir, path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*behind)(int, unsigned long, ...);
	va_list more;
	void *argument;

	find_next("ioctl", &behind);
	va_start(more, request);
	argument = va_arg(more, void *);
	va_end(more);
	return is_to_fail(FC_ioctl) ? -1 : behind(fd, request, argument);
}

int prctl(int option, ...)
{
	int (*behind)(int, ...);
	unsigned long argument[4];
	va_list more;

	find_next("prctl", &behind);
	va_start(more, option);
	for (int i = 0; i < 4; i++)
		argument[i] = va_arg(more, unsigned long);
	va_end(more);
	return is_to_fail(FC_prctl)
		       ? -1
		       : behind(option, argument[0], argument[1], argument[2], argument[3]);
}

/* What a build with checks of the C library calls instead. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): it is the C library's name */
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t room);

/* NOLINTNEXTLINE(bugprone-reserved-identifier): likewise */
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t room)
{
	if (n > room / sizeof(*fds))
		abort();
	return ppoll(fds, n, timeout, mask);
}

#pragma GCC visibility pop
