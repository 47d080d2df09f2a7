/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_mem_guard.c - faults in named memory end a run, all others go where they went before:
 * src/host/platform/mem_guard.c.
 */
#include "support/test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
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

/* What is behind the end of the memory that was named is not of it. */
static void fault_behind(void)
{
	uint8_t *named = guard_pages(PROT_NONE);
	struct touch t = {named + PAGE, true, 0};

	mh_guard_run(named, PAGE, guard_touch, &t);
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

static void guard_count(int number)
{
	(void)number;
	guard_heard++;
}

/* guard_program_child runs `body` in a child whose handler of a signal is `before`, under ours. */
static int guard_program_child(int number, const struct sigaction *before, void (*body)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		sigaction(number, before, NULL);
		mh_guard_open();
		body();
		_exit(1);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(mh_guard_run, a_fault_behind_the_end_reaches_the_programs_handler)
{
	struct sigaction before = {.sa_handler = guard_note};
	int status = guard_program_child(SIGSEGV, &before, fault_behind);

	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 42);
}

/* A handler of the longer kind is told where it was. */
static uint8_t *guard_gone;

static void guard_tell(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	bool told = number == SIGSEGV && info->si_addr == guard_gone;

	_exit(told && sigismember(&at->uc_sigmask, SIGUSR2) == 1 ? 7 : 8);
}

static void fault_with_a_mask(void)
{
	struct touch t = {NULL, true, 0};
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	t.at = guard_gone = guard_pages(PROT_NONE);
	guard_touch(&t);
}

TEST(mh_guard_open, the_programs_handler_is_told_where_it_was)
{
	struct sigaction before = {.sa_sigaction = guard_tell, .sa_flags = SA_SIGINFO};
	int status = guard_program_child(SIGSEGV, &before, fault_with_a_mask);

	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 7);
}

/* ThreadSanitizer calls handlers itself, with all signals blocked. */
#if !defined(__SANITIZE_THREAD__)

/* guard_check_mask ends the process: 7 when those signals are blocked that were asked for. */
static void guard_check_mask(int number)
{
	_exit(is_blocked(number) && is_blocked(SIGUSR1) && !is_blocked(SIGUSR2) ? 7 : 8);
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
	status = guard_program_child(SIGBUS, &before, raise_bus);
	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 7);
}

/* The program's handler is above ours as well as below it: after ours its own mask is back. */
static void chain_and_check_mask(int number, siginfo_t *info, void *context)
{
	guard_chained.sa_sigaction(number, info, context);
	_exit(guard_heard == 1 && !is_blocked(SIGUSR1) && is_blocked(SIGUSR2) ? 7 : 8);
}

static void raise_bus_under_a_chain(void)
{
	struct sigaction chain = {.sa_sigaction = chain_and_check_mask, .sa_flags = SA_SIGINFO};

	guard_heard = 0;
	sigaddset(&chain.sa_mask, SIGUSR2);
	sigaction(SIGBUS, &chain, &guard_chained);
	raise(SIGBUS);
}

TEST(mh_guard_open, the_mask_of_a_handler_that_chains_is_back)
{
	struct sigaction before = {.sa_handler = guard_count};
	int status;

	sigaddset(&before.sa_mask, SIGUSR1);
	status = guard_program_child(SIGBUS, &before, raise_bus_under_a_chain);
	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 7);
}

#endif

/* It may end a run that way, too: then the mask is that of the run. */
static void end_a_run_under_a_chain(void)
{
	struct sigaction chain = {.sa_sigaction = guard_chain, .sa_flags = SA_SIGINFO};
	uint8_t *at = guard_pages(PROT_NONE);

	sigaddset(&chain.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &chain, &guard_chained);
	for (int again = 0; again < 2; again++)
		if (guard_try(at, 0, true) || is_blocked(SIGSEGV) || is_blocked(SIGUSR1))
			_exit(8);
	_exit(7);
}

TEST(mh_guard_run, a_run_that_ends_has_the_mask_of_before)
{
	struct sigaction before = {.sa_handler = guard_note};
	int status = guard_program_child(SIGSEGV, &before, end_a_run_under_a_chain);

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
	status = guard_program_child(SIGBUS, &before, raise_bus_twice);
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
	int status = guard_program_child(SIGBUS, &before, close_when_spent);

	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 7);
}

/* That is of one handler; the next one runs as well. */
static void open_again_when_spent(void)
{
	struct sigaction next = {.sa_handler = guard_note, .sa_flags = (int)SA_RESETHAND};

	raise(SIGBUS);
	mh_guard_close();
	sigaction(SIGBUS, &next, NULL);
	mh_guard_open();
	raise(SIGBUS);
}

TEST(mh_guard_open, the_next_handler_that_runs_once_runs)
{
	struct sigaction before = {.sa_handler = guard_count, .sa_flags = (int)SA_RESETHAND};
	int status = guard_program_child(SIGBUS, &before, open_again_when_spent);

	assert_true(WIFEXITED(status));
	assert_i_eq(WEXITSTATUS(status), 42);
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
