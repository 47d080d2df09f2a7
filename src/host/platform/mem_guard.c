/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_guard.c - the handlers of SIGSEGV and SIGBUS, the runs that they end, and the check at
 * registration that memory is there.
 *
 * The check asks the kernel to populate the range for reading or writing, which finds unmapped and
 * protected pages, and pages of a file behind its end, without a signal. Kernels before 5.14 and
 * mappings of devices do not know that request; for them the process's list of mappings decides.
 */
#include "host/platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/assert.h"

#define GUARD_SIGNALS 2u
#define GUARD_PAGE_MASK ((uintptr_t)4095)

struct guard_run {
	sigjmp_buf left;
	uintptr_t low, high;
};

/* A signal handler has no argument of ours: these are what it finds its way by. */
static const int guard_signal[GUARD_SIGNALS] = {SIGSEGV, SIGBUS};
static struct sigaction guard_before[GUARD_SIGNALS];
static bool guard_in_chain[GUARD_SIGNALS];     /* put in place and not taken back */
static atomic_bool guard_spent[GUARD_SIGNALS]; /* the handler of before was to run once, and did */
static uint32_t guard_users; /* NICs; under the lock of those who make and end them */
/* Initial-exec: looking it up in a handler must not allocate. */
static _Thread_local struct guard_run *volatile guard_now
	__attribute__((tls_model("initial-exec")));

/* call_handler runs the handler of before with the signals blocked that it asked for. */
static void call_handler(const struct sigaction *before, int number, siginfo_t *info, void *context)
{
	sigset_t blocked = before->sa_mask, old;

	if (!(before->sa_flags & SA_NODEFER))
		sigaddset(&blocked, number);
	pthread_sigmask(SIG_BLOCK, &blocked, &old);
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(number, info, context);
	else
		before->sa_handler(number);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* chain_signal gives a signal to the handler of before. */
static void chain_signal(int number, siginfo_t *info, void *context)
{
	uint32_t i = number == guard_signal[0] ? 0 : 1;
	const struct sigaction *before = &guard_before[i];
	bool handled = (before->sa_flags & SA_SIGINFO) ||
		       (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);

	/* SA_RESETHAND: the second one meets the default action. */
	if (handled && (before->sa_flags & (int)SA_RESETHAND))
		handled = !atomic_exchange(&guard_spent[i], true);
	if (handled) {
		call_handler(before, number, info, context);
		return;
	}
	if (before->sa_handler == SIG_IGN && info->si_code <= 0)
		return; /* another process sent it; what the kernel finds cannot be ignored */
	/* The same fault, or the same signal, once more: this time it ends the process. */
	signal(number, SIG_DFL);
	if (info->si_code <= 0)
		raise(number);
}

static void handle_signal(int number, siginfo_t *info, void *context)
{
	struct guard_run *run = guard_now;
	uintptr_t at = (uintptr_t)info->si_addr;

	/* si_code above 0: from the kernel, not from a kill(2). */
	if (run && info->si_code > 0 && at >= run->low && at < run->high) {
		/* Returning would bring back the mask of before; a jump does not. */
		pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
		siglongjmp(run->left, 1);
	}
	chain_signal(number, info, context);
}

static bool is_handler_on_top(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	       now.sa_sigaction == handle_signal;
}

/*
 * Ours is put in place once. A handler that the program has put over it since, as JVMs, sanitizers
 * and crash reporters do, passes on to ours what it does not want: with ours over that one again
 * the two would call each other for ever, and a crash would leave nothing to look at. So when the
 * last NIC closes, and ours is not on top, it stays where it is.
 */
void mh_guard_open(void)
{
	/* No signal is blocked. NODEFER: what is passed on may raise the signal again. */
	const struct sigaction action = {.sa_sigaction = handle_signal,
					 .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};

	guard_users++;
	for (uint32_t i = 0; i < GUARD_SIGNALS; i++)
		if (!guard_in_chain[i]) {
			atomic_store(&guard_spent[i], false);
			guard_in_chain[i] =
				sigaction(guard_signal[i], &action, &guard_before[i]) == 0;
		}
}

/* restore_of returns what is put back: of a handler that was to run once, and did, the default. */
static const struct sigaction *restore_of(uint32_t i)
{
	static const struct sigaction by_default = {.sa_handler = SIG_DFL};

	return atomic_load(&guard_spent[i]) ? &by_default : &guard_before[i];
}

void mh_guard_close(void)
{
	if (--guard_users > 0)
		return;
	for (uint32_t i = 0; i < GUARD_SIGNALS; i++)
		if (is_handler_on_top(guard_signal[i]))
			guard_in_chain[i] = sigaction(guard_signal[i], restore_of(i), NULL) != 0;
}

/*
 * sigsetjmp does not save the signal mask (0): that would be a system call for each packet. The
 * handler puts the mask back itself, and only in the rare case of a fault. guard_now is volatile
 * because the handler reads it at any instruction; the fences keep fn, once it is inlined, between
 * the two stores.
 */
bool mh_guard_run(const void *base, size_t len, void (*fn)(void *ctx), void *ctx)
{
	/* Some machines say only on which page it was. */
	struct guard_run run = {.low = (uintptr_t)base & ~GUARD_PAGE_MASK,
				.high = (uintptr_t)base + len};

	if (sigsetjmp(run.left, 0) != 0) {
		guard_now = NULL;
		return false;
	}
	guard_now = &run;
	atomic_signal_fence(memory_order_seq_cst);
	fn(ctx);
	atomic_signal_fence(memory_order_seq_cst);
	guard_now = NULL;
	return true;
}

struct guard_copy {
	void *to;
	const void *from;
	size_t len;
};

static void guard_copy(void *ctx)
{
	const struct guard_copy *c = ctx;

	memcpy(c->to, c->from, c->len);
}

bool mh_guard_copy(void *to, const void *from, size_t len)
{
	struct guard_copy c = {to, from, len};

	return mh_guard_run(from, len, guard_copy, &c);
}

static void guard_place(void *ctx)
{
	const struct guard_copy *c = ctx;

	mh_place_payload(c->to, c->from, (uint32_t)c->len);
}

bool mh_guard_place(void *to, const void *from, uint32_t len)
{
	struct guard_copy c = {to, from, len};

	return mh_guard_run(to, len, guard_place, &c);
}

/* ---- at registration ---- */

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/*
 * mem_mapped looks the range up in /proc/self/maps, which is sorted by address. The list is a
 * snapshot: a mapping that goes meanwhile may be found or not, as with any check before use. What
 * touches the memory later runs under the guard.
 */
static int mem_mapped(uintptr_t at, uintptr_t end, bool write)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long low, high;
	char line[4352]; /* a path and what stands before it */
	char rights[5];

	if (!maps)
		return errno;
	while (at < end && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &low, &high, rights) != 3 || high <= at)
			continue;
		if (low > at || rights[0] != 'r' || (write && rights[1] != 'w'))
			break;
		at = high;
	}
	fclose(maps);
	return at >= end ? 0 : EFAULT;
}

/* The kernel asks to try again when it is short of something; so often in a row it stays short. */
#define MEM_TRIES_MAX 1000u

int mh_mem_check(void *addr, size_t length, bool write)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)addr & ~(page - 1);
	uintptr_t end = (uintptr_t)addr + length;
	int advice = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	mb_assert(length > 0 && end > (uintptr_t)addr);
	for (uint32_t tries = 1;; tries++) {
		if (madvise((void *)first, end - first, advice) == 0)
			return 0;
		if (errno == EINVAL)
			return mem_mapped(first, end, write);
		if (errno == ENOMEM || errno == EFAULT)
			return EFAULT;
		if (errno != EINTR && (errno != EAGAIN || tries == MEM_TRIES_MAX))
			return errno;
	}
}
