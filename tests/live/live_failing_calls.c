/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_failing_calls.c - each call of the system fails at each place in a device's life.
 *
 * The first life (device_life.h) counts calls. Each later one runs in a process of its own, and one
 * call fails there: once, or from then on. Whatever the program is refused for it, it hears of with
 * errno, and of a device with a line; everything closes, nothing is left of memory, descriptors,
 * threads and files, and the next life in the same process is a good one.
 */
#include "support/own_threads.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <mrc/stats.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/device_life.h"
#include "live/failing_calls.h"
#include "support/folder_entries.h"
#include "unit/loopback.h"

#define FAILURES_AT_A_TIME 80u /* of make check; ten times as many rounds are all */
/* Of calls that each packet makes only some fail. */
#define ALL_UP_TO 8u
#define SOME 8u
#define LIFE_S 180u

/* What a life came to, for the parent. */
struct outcome {
	const char *refused; /* what did not work; NULL: all was well */
	int error;
	uint32_t calls[FC_CALLS_ALL];
};

static struct outcome *outcome; /* shared */
static char own_folder[] = "/tmp/softmrc-calls-XXXXXX";
static const char *folder;  /* of statistics */
static uint32_t stale_left; /* files of a crash that a life may have failed to remove */

#define must(cond) ((cond) ? (void)0 : fail_here(__LINE__, #cond))

_Noreturn static void fail_here(int line, const char *what)
{
	fprintf(stderr, "# live_failing_calls.c:%d: %s (errno %d)\n", line, what, errno);
	_exit(1);
}

/* ---- a process with a failure ---- */

/* see_nothing_left looks for what a life leaves behind. */
static void see_nothing_left(uint32_t descriptors, uint32_t files)
{
	must(test_threads_are(1));
	must(fc_blocks(true) == 0);
	must(folder_entries("/proc/self/fd") == descriptors);
	must(folder_entries(folder) <= files);
}

/* Both lives see the same settings; the second one has no failures. */
_Noreturn static void live_twice(const struct fc_plan *plan)
{
	const struct fc_plan none = {0};
	uint32_t before;

	alarm(LIFE_S);
	before = folder_entries("/proc/self/fd");
	fc_start(plan);
	outcome->refused = device_life_run();
	outcome->error = errno;
	fc_stop();
	for (uint32_t i = 0; i < FC_CALLS_ALL; i++)
		outcome->calls[i] = fc_calls((enum fc_call)i);
	see_nothing_left(before, stale_left);
	if (plan->nth > 0) {
		fc_start(&none);
		must(device_life_run() == NULL);
		fc_stop();
		see_nothing_left(before, 0);
	}
	_exit(0);
}

/* Prints what a process said on stderr. */
static void print_said(int fd)
{
	char line[500];
	FILE *said;

	lseek(fd, 0, SEEK_SET);
	said = fdopen(dup(fd), "re");
	while (said && fgets(line, sizeof(line), said))
		print_error("  %s", line);
	if (said)
		fclose(said);
}

static bool has_said_something(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size > 0;
}

/* What a process that crashed has left, which the next one is to find and remove. */
static void leave_stale_file(void)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/1" MRC_STATS_SUFFIX, folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, MRC_STATS_MAGIC, 8), 8);
	close(fd);
}

/* in_a_process returns the status of a process that runs a plan; what it says goes to a file. */
static int in_a_process(const struct fc_plan *plan, int said)
{
	int status;
	pid_t pid;

	assert_int_equal(ftruncate(said, 0), 0);
	memset(outcome, 0, sizeof(*outcome));
	if (stale_left)
		leave_stale_file();
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(said, STDERR_FILENO);
		live_twice(plan);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* what_is_wrong returns why a process is not as it should be; NULL: all is well. */
static const char *what_is_wrong(const struct fc_plan *plan, int status, int said)
{
	bool refused = outcome->refused;

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return "hangs";
	if (WIFSIGNALED(status))
		return "is ended by a signal";
	if (WEXITSTATUS(status) != 0)
		return "fails";
	if (refused && (outcome->error == ETIMEDOUT || outcome->error == EBADMSG))
		return "gets no completion, or wrong bytes";
	if (refused && outcome->error == 0)
		return "is refused without errno";
	if (refused && !plan->ever_after && fc_once(plan->call) == FC_GOES_ON)
		return "is refused for a failure that passes";
	if (refused && strcmp(outcome->refused, DEVICE_LIFE_OPENING) == 0 &&
	    outcome->error != ENOMEM && !has_said_something(said))
		return "is refused a device without a word";
	return NULL;
}

/* ---- the cases ---- */

struct failures {
	struct fc_plan *plan;
	uint32_t n, room;
};

static void add_failure(struct failures *f, const struct fc_plan *plan)
{
	if (f->n == f->room) {
		f->room = f->room ? 2 * f->room : 1024;
		f->plan = realloc(f->plan, f->room * sizeof(*f->plan));
		assert_non_null(f->plan);
	}
	f->plan[f->n++] = *plan;
}

/* add_nth adds the failures of one call at one place: with each error, once and for good. */
static void add_nth(struct failures *f, enum fc_call call, uint32_t nth)
{
	for (uint32_t e = 0; e < 2 && fc_error(call, e); e++) {
		struct fc_plan plan = {.call = call, .nth = nth, .error = fc_error(call, e)};

		add_failure(f, &plan);
		plan.ever_after = true;
		add_failure(f, &plan);
	}
}

/* The first places are those of the opening; a few of the rest. */
static void add_call(struct failures *f, enum fc_call call)
{
	uint32_t all = outcome->calls[call], nth = 1;

	while (nth <= all) {
		add_nth(f, call, nth);
		nth += nth < ALL_UP_TO || fc_once(call) == FC_MAY_REFUSE || all < SOME ? 1
										       : all / SOME;
	}
}

/* draw puts a random choice of n to the front. */
static void draw(struct failures *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + (uint32_t)test_rand_below(f->n - i);
		struct fc_plan chosen = f->plan[k];

		f->plan[k] = f->plan[i];
		f->plan[i] = chosen;
	}
}

/* A process that was ended has left its files. */
static void empty_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

static uint32_t run_failures(const struct failures *f, uint32_t n, int said)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct fc_plan *p = &f->plan[i];
		int status = in_a_process(p, said);
		const char *why = what_is_wrong(p, status, said);

		if (!why)
			continue;
		print_error("%s, call %u%s, error %d: the program %s (%s: errno %d)\n",
			    fc_name(p->call), p->nth, p->ever_after ? " and later ones" : "",
			    p->error, why, outcome->refused ? outcome->refused : "not refused",
			    outcome->error);
		print_said(said);
		empty_folder();
		wrong++;
	}
	return wrong;
}

/* A free descriptor number is as good as none: it is the program's to say how many there are. */
static void run_with(const enum fc_call *call, size_t calls)
{
	const struct fc_plan none = {0};
	struct failures f = {0};
	uint32_t n = (uint32_t)test_rounds(FAILURES_AT_A_TIME), wrong;
	int said = memfd_create("said", MFD_CLOEXEC);

	assert_int_equal(fcntl(said, F_SETFL, O_APPEND), 0);
	if (in_a_process(&none, said) != 0 || outcome->refused) {
		print_said(said);
		fail_msg("a life without failures: %s, errno %d",
			 outcome->refused ? outcome->refused : "its end", outcome->error);
	}
	for (size_t i = 0; i < calls; i++)
		add_call(&f, call[i]);
	if (n >= 10 * FAILURES_AT_A_TIME || n > f.n)
		n = f.n;
	else
		draw(&f, n);
	print_message("# %u of %u failures, seed %" PRIu64 "\n", n, f.n, test_seed());
	wrong = run_failures(&f, n, said);
	close(said);
	free(f.plan);
	assert_u_eq(wrong, 0);
}

/* Two hosts to each other, on the same two planes. */
static int set_ports(void)
{
	char text[4][16], list[80];

	for (uint32_t i = 0; i < 4; i++)
		loopback_text(i % 2, 1 + i / 2, text[i]);
	snprintf(list, sizeof(list), "%s,%s,%s,%s", text[0], text[1], text[2], text[3]);
	return setenv("MRC_PORTS", list, 1) || setenv("MRC_DEVICES", "2", 1);
}

static int calls_setup(void **state)
{
	(void)state;
	strcpy(own_folder + sizeof(own_folder) - 7, "XXXXXX");
	folder = mkdtemp(own_folder);
	stale_left = 0;
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	return outcome == MAP_FAILED || !folder || setenv("MRC_STATS_DIR", folder, 1) ||
	       set_ports();
}

static int calls_teardown(void **state)
{
	(void)state;
	munmap(outcome, sizeof(*outcome));
	return rmdir(own_folder);
}

#define CALLS_TEST(name) TEST_WITH(calls_setup, calls_teardown, device, name)

CALLS_TEST(bears_each_failing_call)
{
	enum fc_call all[FC_CALLS_ALL];

	for (uint32_t i = 0; i < FC_CALLS_ALL; i++)
		all[i] = (enum fc_call)i;
	run_with(all, FC_CALLS_ALL);
}

/* Statistics that nobody asked for, beside a file of a process that crashed: no failure refuses. */
CALLS_TEST(bears_failing_calls_of_statistics)
{
	static const enum fc_call files[] = {FC_open,  FC_openat, FC_opendir, FC_mkdir,
					     FC_fstat, FC_pread,  FC_flock,   FC_posix_fallocate};

	static char own[64];

	snprintf(own, sizeof(own), MRC_STATS_DIR_PREFIX "%u", geteuid());
	folder = own;
	stale_left = 1;
	if ((mkdir(folder, 0700) < 0 && errno != EEXIST) || folder_entries(folder) > 0)
		test_skip("others use the folder of statistics");
	unsetenv("MRC_STATS_DIR");
	run_with(files, sizeof(files) / sizeof(files[0]));
}
