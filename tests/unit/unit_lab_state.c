/* SPDX-License-Identifier: BSD-2-Clause */
/* A lab in memory, its folder and its lock: src/lab/lab_state.c. */
#include "fabric/fabric_path.h"
#include "support/open_fds.h"
#include "support/test.h"
#include "unit/lab_run_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define LEAST \
	"[topology]\nplanes = 1\nhosts_per_t0 = 2\nt0s = 1\nt1s = 1\n[links]\nspeed = \"1G\"\n"

/* ---- the system, which fails where it is asked to ---- */

static struct {
	const char *stat;    /* what /proc says of any process; NULL: the truth */
	unsigned int allocs; /* so many work, and the next does not; 0: all do */
	unsigned int copies; /* likewise, of texts */
	int lstat_error, flock_error;
	unsigned int interrupts; /* so many locks are interrupted */
	unsigned int closed;	 /* switch programs */
} t;

__typeof__(fopen) __real_fopen, __wrap_fopen;
FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (t.stat && strncmp(path, "/proc/", 6) == 0)
		return fmemopen((void *)(uintptr_t)t.stat, strlen(t.stat), "r");
	return __real_fopen(path, mode);
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return t.allocs && --t.allocs == 0 ? NULL : __real_calloc(n, size);
}

__typeof__(strdup) __real_strdup, __wrap_strdup;
char *__wrap_strdup(const char *text)
{
	return t.copies && --t.copies == 0 ? NULL : __real_strdup(text);
}

__typeof__(lstat) __real_lstat, __wrap_lstat;
int __wrap_lstat(const char *path, struct stat *st)
{
	if (!t.lstat_error)
		return __real_lstat(path, st);
	errno = t.lstat_error;
	return -1;
}

__typeof__(flock) __real_flock, __wrap_flock;
int __wrap_flock(int fd, int operation)
{
	if (t.interrupts || t.flock_error) {
		errno = t.interrupts ? EINTR : t.flock_error;
		t.interrupts -= t.interrupts > 0;
		return -1;
	}
	return __real_flock(fd, operation);
}

__typeof__(mswq_close) __wrap_mswq_close;
void __wrap_mswq_close(struct mswq *swq)
{
	t.closed += swq != NULL;
}

/* ---- names, processes ---- */

TEST(ml_state_name, is_of_1_to_15_letters_and_digits)
{
	static const char *const wrong[] = {"", "abcdefghijklmno0", "a-b", "A", "a."};
	struct ml_error e;

	assert_i_eq(ml_state_name("a", &e), 0);
	assert_i_eq(ml_state_name("abcdefghijklmn9", &e), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_i_eq(ml_state_name(wrong[i], &e), -1);
	assert_string_equal(e.text, "a.: no name of a lab; 1 to 15 letters a-z and digits");
}

#define FIELDS_TO_22 "4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 2222 23"

static uint64_t since(const char *stat)
{
	t.stat = stat;
	return ml_process_since(getpid());
}

TEST(ml_process_since, is_the_22nd_field_whatever_the_name)
{
	assert_u_eq(since("1 (a) S " FIELDS_TO_22), 2222);
	assert_u_eq(since("1 (a) Z) 1 (b) S " FIELDS_TO_22), 2222);
	assert_u_eq(since("1 (a) Z " FIELDS_TO_22), 0);
	assert_u_eq(since("1 (a) X " FIELDS_TO_22), 0);
	assert_u_eq(since("1 (a) S 4 5"), 0);
	assert_u_eq(since("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"), 0);
	t.stat = NULL;
}

TEST(ml_process_since, tells_processes_apart)
{
	uint32_t open_before = test_open_fds();
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_true(ml_process_since(getpid()) > 0);
	while (ml_process_since(child) > 0)
		;
	assert_i_eq(waitpid(child, NULL, 0), child); /* it had ended */
	assert_u_eq(ml_process_since(child), 0);
	assert_u_eq(test_open_fds(), open_before);
}

/* ---- the folders and the lock ---- */

LAB_RUN_TEST(ml_state_lock, is_held_until_it_is_closed)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;
	int lock, other;

	t.interrupts = 3;
	lock = ml_state_lock(&e);
	assert_true(lock >= 0);
	assert_u_eq(t.interrupts, 0);
	other = open(ML_STATE_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_i_eq(__real_flock(other, LOCK_EX | LOCK_NB), -1);
	close(lock);
	assert_i_eq(__real_flock(other, LOCK_EX | LOCK_NB), 0);
	close(other);
	assert_u_eq(test_open_fds(), open_before);
}

/* Neither can be locked, and nothing stays open. */
static void is_not_locked(const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	assert_i_eq(ml_state_lock(&e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
}

LAB_RUN_TEST(ml_state_lock, says_why_not)
{
	t.lstat_error = EIO;
	is_not_locked("/run/softmrc: Input/output error");
	t.lstat_error = 0;
	t.flock_error = ENOLCK;
	is_not_locked("locking /run/softmrc/lab: No locks available");
	t.flock_error = 0;
	lab_run_shell("rmdir -p /run/softmrc/lab 2>/dev/null; mount -o remount,ro /run");
	is_not_locked("/run/softmrc/lab: No such file or directory");
}

LAB_RUN_TEST(ml_state_lock, takes_no_folder_that_others_can_change)
{
	lab_run_make_folders();
	lab_run_shell("chmod 775 /run/softmrc/lab");
	is_not_locked(LAB_RUN_REFUSED("/run/softmrc/lab"));
	lab_run_shell("chmod 757 /run/softmrc/lab");
	is_not_locked(LAB_RUN_REFUSED("/run/softmrc/lab"));
	lab_run_shell("chmod 755 /run/softmrc/lab; chmod 757 /run/softmrc");
	is_not_locked(LAB_RUN_REFUSED("/run/softmrc"));
	lab_run_shell("chmod 755 /run/softmrc && rmdir /run/softmrc/lab && touch /run/softmrc/lab");
	is_not_locked(LAB_RUN_REFUSED("/run/softmrc/lab"));
	lab_run_shell("rm /run/softmrc/lab && ln -s /tmp /run/softmrc/lab");
	is_not_locked(LAB_RUN_REFUSED("/run/softmrc/lab"));
}

LAB_RUN_TEST(ml_state_lock, takes_no_folder_of_another_user)
{
	lab_run_make_folders();
	if (chown(ML_STATE_DIR, NOBODY, NOBODY) != 0)
		test_skip("needs root, who can make folders of other users");
	is_not_locked(LAB_RUN_REFUSED("/run/softmrc/lab"));
	/* One's own is as good as root's. */
	if (seteuid(NOBODY) == 0) {
		struct ml_error e;
		int lock = ml_state_lock(&e);

		assert_i_eq(seteuid(0), 0);
		assert_true(lock >= 0);
		close(lock);
	}
}

/* ---- in memory ---- */

static void is_not_created(const char *topology, const char *text, const char *why)
{
	struct ml_error e = {{0}};

	assert_null(ml_state_create(LAB_RUN_NAME, topology, text, &e));
	if (!strstr(e.text, why))
		fail_msg("%s, want %s", e.text, why);
}

TEST(ml_state_create, begins_with_all_ports_up)
{
	struct ml_lab *lab = lab_run_create("tiny", NULL);

	assert_string_equal(lab->name, LAB_RUN_NAME);
	assert_string_equal(lab->prefix, "mrc-" LAB_RUN_NAME "-");
	assert_string_equal(lab->topology_what, "tiny");
	assert_null(lab->topology_text);
	assert_i_eq(lab->watchdog, -1);
	for (uint32_t link = 0; link < lab->t.n_links; link++)
		assert_u_eq(lab->port[link].peer, mf_link_reverse(link));
	lab->swq = (struct mswq *)lab; /* any */
	ml_state_destroy(lab);
	assert_u_eq(t.closed, 1);
	ml_state_destroy(NULL);
}

/* The text is kept, for the file may change; a text that is there is the file's from then. */
TEST(ml_state_create, keeps_the_text_of_a_file)
{
	static const char path[] = "/tmp/unit_lab_state.toml";
	uint32_t open_before = test_open_fds();
	FILE *f = __real_fopen(path, "we");
	struct ml_lab *lab;

	assert_non_null(f);
	fputs(LEAST, f);
	fclose(f);
	lab = lab_run_create(path, NULL);
	assert_string_equal(lab->topology_text, LEAST);
	assert_u_eq(lab->t.n_hosts, 2);
	ml_state_destroy(lab);
	assert_i_eq(unlink(path), 0);
	is_not_created(path, NULL, "/tmp/unit_lab_state.toml: No such file or directory");
	is_not_created("/tmp", NULL, "/tmp: Is a directory");
	is_not_created("/dev/null", NULL, "topology");
	lab = lab_run_create(path, LEAST);
	assert_u_eq(lab->t.n_hosts, 2);
	ml_state_destroy(lab);
	assert_u_eq(test_open_fds(), open_before);
}

TEST(ml_state_create, needs_memory)
{
	for (t.allocs = 1; t.allocs < 4;) {
		unsigned int at = t.allocs;

		is_not_created("tiny", NULL, "no memory");
		t.allocs = at + 1;
	}
	t.allocs = 2; /* that of the text */
	is_not_created("/proc/self/status", NULL, "/proc/self/status: ");
	t.allocs = 0;
	t.copies = 1;
	is_not_created("tiny", NULL, "no memory");
	t.copies = 2;
	is_not_created("/x.toml", LEAST, "no memory");
}

static const char *sized(unsigned int hosts_per_t0, unsigned int t0s, unsigned int t1s)
{
	static char text[300];

	snprintf(text, sizeof(text),
		 "[topology]\nplanes = 1\nhosts_per_t0 = %u\nt0s = %u\nt1s = %u\n[links]\n"
		 "speed = \"1G\"\n[usid]\nplanes = \"block\"\ndestination = \"host\"\n",
		 hosts_per_t0, t0s, t1s);
	return text;
}

/* At most 1,024 hosts and switches, and 8,192 cables. */
TEST(ml_state_create, takes_what_one_machine_can_hold)
{
	struct ml_lab *lab = lab_run_create("x", sized(250, 4, 20));

	assert_u_eq(lab->t.n_nodes, ML_NODES_MAX);
	ml_state_destroy(lab);
	lab = lab_run_create("x", sized(23, 32, 233));
	assert_u_eq(lab->t.n_links, 2 * ML_CABLES_MAX);
	ml_state_destroy(lab);
	is_not_created("x", sized(250, 4, 21),
		       "x: 1025 hosts and switches, 1084 cables: too large for one machine; a lab "
		       "has at most 1024 and 8192");
	is_not_created("x", sized(23, 32, 234), "too large");
}
