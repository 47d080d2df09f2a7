/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_mem_guard.c - faults in named memory end a run, all others go where they went before; and
 * memory that is not there is found at registration.
 */
#include "support/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/platform/platform.h"

#define PAGE 4096u

/* In the case itself and not before it: cmocka takes the signals at the beginning of each case. */
#define GUARD_TEST(name)                \
	static void guard_##name(void); \
	TEST(mh_guard_run, name)        \
	{                               \
		mh_guard_open();        \
		guard_##name();         \
		mh_guard_close();       \
	}                               \
	static void guard_##name(void)

struct touch {
	volatile uint8_t *at;
	bool write;
	uint32_t done;
};

static void guard_touch(void *ctx)
{
	struct touch *t = ctx;

	if (t->write)
		*t->at = 1;
	else
		t->done += *t->at & 0u;
	t->done++;
}

static uint8_t *guard_pages(int protection)
{
	uint8_t *at = mmap(NULL, 2 * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

static bool guard_try(uint8_t *base, size_t offset, bool write)
{
	struct touch t = {base + offset, write, 0};
	bool ran = mh_guard_run(base, 2 * PAGE, guard_touch, &t);

	assert_u_eq(t.done, ran ? 1 : 0);
	return ran;
}

GUARD_TEST(memory_that_is_there)
{
	uint8_t *at = guard_pages(PROT_READ | PROT_WRITE);

	assert_true(guard_try(at, 0, false));
	assert_true(guard_try(at, PAGE, true));
	munmap(at, 2 * PAGE);
}

GUARD_TEST(memory_that_is_gone)
{
	uint8_t *at = guard_pages(PROT_READ | PROT_WRITE);

	munmap(at + PAGE, PAGE);
	for (int again = 0; again < 3; again++) {
		assert_true(guard_try(at, 0, true));
		assert_false(guard_try(at, PAGE, true));
		assert_false(guard_try(at, 2 * PAGE - 1, false));
	}
	munmap(at, PAGE);
}

GUARD_TEST(protected_memory)
{
	uint8_t *at = guard_pages(PROT_READ);

	assert_true(guard_try(at, 0, false));
	assert_false(guard_try(at, 0, true));
	mprotect(at, 2 * PAGE, PROT_NONE);
	assert_false(guard_try(at, 0, false));
	munmap(at, 2 * PAGE);
}

/* SIGBUS: the file became shorter than the mapping. */
GUARD_TEST(file_that_was_cut_off)
{
	int fd = memfd_create("unit_guard", MFD_CLOEXEC);
	uint8_t *at;

	assert_true(fd >= 0);
	assert_i_eq(ftruncate(fd, 2 * PAGE), 0);
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(at != MAP_FAILED);
	assert_true(guard_try(at, PAGE, true));
	assert_i_eq(ftruncate(fd, PAGE), 0);
	assert_false(guard_try(at, PAGE, true));
	assert_true(guard_try(at, 0, true));
	munmap(at, 2 * PAGE);
	close(fd);
}

TEST(mh_guard_copy, all_or_false)
{
	uint8_t *at = guard_pages(PROT_READ | PROT_WRITE);
	uint8_t to[16];

	mh_guard_open();
	memset(at, 7, 2 * PAGE);
	assert_true(mh_guard_copy(to, at + PAGE - 8, 16));
	assert_u_eq(to[15], 7);
	munmap(at + PAGE, PAGE);
	assert_false(mh_guard_copy(to, at + PAGE - 8, 16));
	assert_true(mh_guard_copy(to, at + PAGE - 16, 16));
	munmap(at, PAGE);
	mh_guard_close();
}

static volatile sig_atomic_t guard_heard;

static void guard_note(int number)
{
	guard_heard = number;
	_exit(42);
}

/* guard_child faults outside a run and returns how that ended the process. */
static int guard_child(void (*handler)(int), bool in_a_run)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		uint8_t *named = guard_pages(PROT_READ), *other = guard_pages(PROT_NONE);
		struct touch t = {other, true, 0};

		mh_guard_close();
		signal(SIGSEGV, handler);
		mh_guard_open();
		if (in_a_run)
			mh_guard_run(named, 2 * PAGE, guard_touch, &t);
		else
			guard_touch(&t);
		_exit(0);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	return status;
}

GUARD_TEST(faults_elsewhere_kill_as_ever)
{
	for (int in_a_run = 0; in_a_run < 2; in_a_run++) {
		int status = guard_child(SIG_DFL, in_a_run);

		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	}
}

GUARD_TEST(faults_elsewhere_reach_the_programs_handler)
{
	for (int in_a_run = 0; in_a_run < 2; in_a_run++) {
		int status = guard_child(guard_note, in_a_run);

		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	}
}

static struct sigaction guard_chained;

/* As JVMs and crash reporters do: what is not theirs goes to the handler that they replaced. */
static void guard_chain(int number, siginfo_t *info, void *context)
{
	guard_chained.sa_sigaction(number, info, context);
}

TEST(mh_guard_open, passes_a_crash_on_once_when_the_program_chains_handlers)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct sigaction chain = {.sa_sigaction = guard_chain, .sa_flags = SA_SIGINFO};
		uint8_t *none = guard_pages(PROT_NONE);

		signal(SIGSEGV, guard_note);
		mh_guard_open();
		sigaction(SIGSEGV, &chain, &guard_chained);
		mh_guard_open();
		*(volatile uint8_t *)none = 1;
		_exit(0);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

TEST(mh_guard_open, a_signal_that_was_ignored_still_is)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGBUS, SIG_IGN);
		mh_guard_open();
		kill(getpid(), SIGBUS);
		_exit(7);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static bool is_blocked(int number)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, number) == 1;
}

/* guard_check_mask ends the process: 7 when those signals are blocked that were asked for. */
static void guard_check_mask(int number)
{
	_exit(is_blocked(number) && is_blocked(SIGUSR1) && !is_blocked(SIGUSR2) ? 7 : 8);
}

static void guard_count(int number)
{
	(void)number;
	guard_heard++;
}

/* guard_program_child runs `body` in a child whose handler of SIGBUS is `before`, under ours. */
static int guard_program_child(const struct sigaction *before, void (*body)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		sigaction(SIGBUS, before, NULL);
		mh_guard_open();
		body();
		_exit(1);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void raise_bus(void)
{
	raise(SIGBUS);
}

TEST(mh_guard_open, the_programs_handler_runs_with_its_mask)
{
	struct sigaction before = {.sa_handler = guard_check_mask};
	int status;

	sigaddset(&before.sa_mask, SIGUSR1);
	status = guard_program_child(&before, raise_bus);
	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 7);
}

/* The mask is back afterwards, and a handler that asked for that hears the signal once. */
static void raise_bus_twice(void)
{
	guard_heard = 0;
	raise(SIGBUS);
	if (guard_heard != 1 || is_blocked(SIGBUS) || is_blocked(SIGUSR1))
		_exit(2);
	raise(SIGBUS);
}

TEST(mh_guard_open, a_handler_that_runs_once_runs_once)
{
	struct sigaction before = {.sa_handler = guard_count, .sa_flags = (int)SA_RESETHAND};
	int status;

	sigaddset(&before.sa_mask, SIGUSR1);
	status = guard_program_child(&before, raise_bus_twice);
	assert_true(WIFSIGNALED(status));
	assert_i_eq(WTERMSIG(status), SIGBUS);
}

static void close_when_spent(void)
{
	struct sigaction now;

	raise(SIGBUS);
	mh_guard_close();
	sigaction(SIGBUS, NULL, &now);
	_exit(now.sa_handler == SIG_DFL ? 7 : 8);
}

TEST(mh_guard_close, does_not_put_back_a_handler_that_ran_once)
{
	struct sigaction before = {.sa_handler = guard_count, .sa_flags = (int)SA_RESETHAND};
	int status = guard_program_child(&before, close_when_spent);

	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 7);
}

TEST(mh_guard_close, leaves_the_handler_that_the_program_put_on_top)
{
	struct sigaction chain = {.sa_sigaction = guard_chain, .sa_flags = SA_SIGINFO}, now;

	mh_guard_open();
	sigaction(SIGSEGV, &chain, &guard_chained);
	mh_guard_close();
	sigaction(SIGSEGV, NULL, &now);
	assert_true(now.sa_sigaction == guard_chain);
	/* Taken away again, it leaves ours, which then can go as well. */
	sigaction(SIGSEGV, &guard_chained, NULL);
	mh_guard_open();
	mh_guard_close();
	sigaction(SIGSEGV, NULL, &now);
	assert_true(now.sa_sigaction != guard_chained.sa_sigaction);
}

TEST(mh_guard_close, puts_back_what_was_there)
{
	struct sigaction before, between, after;

	sigaction(SIGSEGV, NULL, &before);
	mh_guard_open();
	mh_guard_open();
	mh_guard_close();
	sigaction(SIGSEGV, NULL, &between); /* somebody else's NIC still needs it */
	mh_guard_close();
	sigaction(SIGSEGV, NULL, &after);
	assert_true(before.sa_handler != between.sa_handler);
	assert_true(before.sa_handler == after.sa_handler);
}

static uint8_t *mem_pages(uint32_t n, int rights)
{
	uint8_t *p = mmap(NULL, n * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

TEST(mh_mem_check, ordinary_memory)
{
	uint8_t on_stack[100];
	uint8_t *p = mem_pages(3, PROT_READ | PROT_WRITE);

	assert_i_eq(mh_mem_check(on_stack, sizeof(on_stack), true), 0);
	assert_i_eq(mh_mem_check(p + 17, 2 * PAGE, true), 0);
	munmap(p, 3 * PAGE);
}

TEST(mh_mem_check, hole_in_the_middle)
{
	uint8_t *p = mem_pages(3, PROT_READ | PROT_WRITE);

	munmap(p + PAGE, PAGE);
	assert_i_eq(mh_mem_check(p, 3 * PAGE, false), EFAULT);
	assert_i_eq(mh_mem_check(p, PAGE, false), 0);
	assert_i_eq(mh_mem_check(p, PAGE + 1, false), EFAULT);
	assert_i_eq(mh_mem_check(p + 2 * PAGE - 1, 2, false), EFAULT);
	munmap(p, 3 * PAGE);
}

TEST(mh_mem_check, rights)
{
	uint8_t *p = mem_pages(1, PROT_READ);

	assert_i_eq(mh_mem_check(p, PAGE, false), 0);
	assert_i_eq(mh_mem_check(p, PAGE, true), EFAULT);
	mprotect(p, PAGE, PROT_NONE);
	assert_i_eq(mh_mem_check(p, 1, false), EFAULT);
	munmap(p, PAGE);
}

TEST(mh_mem_check, page_zero)
{
	assert_i_eq(mh_mem_check(NULL, 1, false), EFAULT);
}

/* A mapping longer than its file: touching the second page would be SIGBUS. */
TEST(mh_mem_check, behind_the_end_of_a_file)
{
	char path[] = "/tmp/softmrc-mem-XXXXXX";
	int fd = mkstemp(path);
	uint8_t *p;

	assert_i_eq(ftruncate(fd, PAGE), 0);
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	assert_i_eq(mh_mem_check(p, PAGE, true), 0);
	assert_i_eq(mh_mem_check(p, 2 * PAGE, true), EFAULT);
	munmap(p, 2 * PAGE);
	close(fd);
	unlink(path);
}
