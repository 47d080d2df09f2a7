/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading statistics segments: src/stats/stats_reader.h. */
#include "stats/stats_reader.h"

#include "support/open_fds.h"
#include "support/test.h"
#include "unit/stats_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/mrc-read-XXXXXX";
static struct mrc_stats_segment segment;
static struct stats_reader stats;

static uint32_t open_before; /* descriptors */

/* As where there is no memory for it. */
static bool refuse_folders;

DIR *__wrap_fdopendir(int fd);
DIR *__real_fdopendir(int fd);

DIR *__wrap_fdopendir(int fd)
{
	return refuse_folders ? NULL : __real_fdopendir(fd);
}

static int dir_setup(void **state)
{
	(void)state;
	refuse_folders = false;
	open_before = test_open_fds();
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int dir_teardown(void **state)
{
	(void)state;
	stats_reader_close(&stats);
	assert_u_eq(test_open_fds(), open_before);
	return rmdir(dir);
}

#define STATS_TEST(name) TEST_WITH(dir_setup, dir_teardown, stats_reader_read, name)

static void path_of(char path[64], uint32_t pid)
{
	snprintf(path, 64, "%s/%u" MRC_STATS_SUFFIX, dir, pid);
}

/* Writes the segment as process pid would and holds its lock, if it is to look alive. */
static int publish(uint32_t pid, bool alive)
{
	char path[64];
	int fd;

	path_of(path, pid);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_i_eq(pwrite(fd, &segment, sizeof(segment), 0), (ssize_t)sizeof(segment));
	if (alive)
		assert_i_eq(flock(fd, LOCK_EX), 0);
	return fd;
}

static void withdraw(int fd, uint32_t pid)
{
	char path[64];

	path_of(path, pid);
	assert_i_eq(unlink(path), 0);
	close(fd);
}

/* Writes a configuration file into the folder and has MRC_CONFIG name it. */
static void configure(char path[64], const char *text)
{
	FILE *f;

	snprintf(path, 64, "%s/mrc.toml", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_i_eq(fclose(f), 0);
	assert_i_eq(setenv("MRC_CONFIG", path, 1), 0);
	assert_i_eq(unsetenv("MRC_STATS_DIR"), 0);
}

static void unconfigure(const char *path)
{
	assert_i_eq(unlink(path), 0);
	assert_i_eq(unsetenv("MRC_CONFIG"), 0);
	assert_i_eq(unsetenv("MRC_STATS_DIR"), 0);
}

/* Where processes publish, readers look: in the folder of the configuration file, too. */
STATS_TEST(folder_of_the_configuration_file)
{
	char path[64], text[128];
	int fd;

	snprintf(text, sizeof(text), "[ports]\nmtu = 4096\n[statistics]\ndir = \"%s\"\n", dir);
	configure(path, text);
	fixture_segment(&segment, 5);
	fd = publish(5, true);
	stats_reader_open(&stats, NULL, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_string_equal(stats.dir, dir);
	assert_false(stats.all);
	assert_u_eq(stats.n, 1);
	stats_reader_close(&stats);
	setenv("MRC_STATS_DIR", "/nowhere/at/all", 1);
	stats_reader_open(&stats, NULL, 0);
	assert_string_equal(stats.dir, "/nowhere/at/all");
	stats_reader_open(&stats, "/elsewhere", 0);
	assert_string_equal(stats.dir, "/elsewhere");
	withdraw(fd, 5);
	unconfigure(path);
}

/* A file without it leaves the default; an empty variable is none. */
STATS_TEST(configuration_file_of_other_things)
{
	char path[64], usual[STATS_DIR_MAX];

	configure(path, "[ports]\nmtu = 4096\n[faults]\ndir = \"/x\"\n");
	setenv("MRC_STATS_DIR", "", 1);
	stats_reader_open(&stats, NULL, 0);
	assert_string_equal(stats.dir, stats_dir_default(usual));
	assert_string_equal(stats.error, "");
	unconfigure(path);
}

/* What cannot be read is named, and no other folder is read instead. */
STATS_TEST(wrong_configuration_file)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{"[statistics\ndir = \"/x\"\n", "mrc.toml:1: "},
		{"\n[statistics]\ndir = 7\n",
		 "mrc.toml:3: statistics.dir = 7: must be a \"string\""},
		{"[statistics]\ndir = \"/x\"\ndir = \"/y\"\n",
		 "mrc.toml:3: statistics.dir = /y: was given before"},
	};
	char path[64];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		configure(path, wrong[i].text);
		stats_reader_open(&stats, NULL, 0);
		assert_i_eq(stats_reader_read(&stats, 1), EINVAL);
		assert_non_null(strstr(stats.error, wrong[i].why));
		unconfigure(path);
	}
	setenv("MRC_CONFIG", "/nowhere/at.all", 1);
	stats_reader_open(&stats, NULL, 0);
	assert_i_eq(stats_reader_read(&stats, 1), ENOENT);
	assert_string_equal(stats.error, "MRC_CONFIG=/nowhere/at.all: No such file or directory");
	unsetenv("MRC_CONFIG");
}

STATS_TEST(folder_of_too_long_a_name)
{
	char path[64], text[400];
	int n = snprintf(text, sizeof(text), "[statistics]\ndir = \"/");

	memset(text + n, 'x', 255);
	snprintf(text + n + 255, sizeof(text) - (size_t)n - 255, "\"\n");
	configure(path, text);
	stats_reader_open(&stats, NULL, 0);
	assert_i_eq(stats_reader_read(&stats, 1), EINVAL);
	assert_non_null(strstr(stats.error, "must be a path of at most 255 bytes"));
	unconfigure(path);
}

/* Writes a file of so many bytes, the last of them `last`, into MRC_CONFIG. */
static int read_file_of(size_t bytes, char last)
{
	char path[64];
	FILE *f;

	configure(path, "");
	f = fopen(path, "we");
	assert_non_null(f);
	for (size_t i = 1; i < bytes; i++)
		fputc('\n', f);
	fputc(last, f);
	assert_i_eq(fclose(f), 0);
	stats_reader_open(&stats, NULL, 0);
	unconfigure(path);
	return stats.config_err;
}

STATS_TEST(configuration_file_that_is_no_text)
{
	assert_i_eq(read_file_of(16383, '\n'), 0);
	assert_i_eq(read_file_of(16384, '\n'), EFBIG);
	assert_non_null(strstr(stats.error, "is not a text of less than 16384 bytes"));
	assert_i_eq(read_file_of(5, '\0'), EFBIG);
}

STATS_TEST(growth_between_two_readings)
{
	const struct stats_process *p = &stats.process[0];
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1000000000), 0);
	assert_u_eq(stats.n, 1);
	assert_true(stats_per_second(p, 10, 4) == 0);
	segment.counter[1].value += 8;
	close(publish(5, false));
	assert_i_eq(stats_reader_read(&stats, 3000000000), 0);
	assert_u_eq(stats_counter(p->now, "tx_retransmits"), 13);
	assert_u_eq(stats_counter(p->before, "tx_retransmits"), 5);
	assert_u_eq(stats_counter(p->now, "no such"), 0);
	assert_true(stats_per_second(p, 13, 5) == 4);
	withdraw(fd, 5);
}

STATS_TEST(a_process_that_went_is_shown_once_more)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	withdraw(fd, 5);
	assert_i_eq(stats_reader_read(&stats, 2), 0);
	assert_u_eq(stats.n, 1);
	assert_true(stats.process[0].gone);
	assert_i_eq(stats_reader_read(&stats, 3), 0);
	assert_u_eq(stats.n, 0);
}

/* Looking at a file leaves it to whoever comes to have its number. */
STATS_TEST(a_file_is_not_kept_from_its_next_owner)
{
	char path[64];
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	close(fd);
	assert_i_eq(stats_reader_read(&stats, 2), 0);
	assert_true(stats.process[0].gone);
	path_of(path, 5);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_i_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	withdraw(fd, 5);
}

STATS_TEST(processes_have_the_names_of_their_programs)
{
	uint32_t own = (uint32_t)getpid(), nobody = 999999999;
	char name[16];
	int fd, other;

	assert_i_eq(prctl(PR_GET_NAME, name), 0);
	assert_i_eq(prctl(PR_SET_NAME, "na\033me"), 0);
	fixture_segment(&segment, own);
	fd = publish(own, true);
	other = publish(nobody, true);
	stats_reader_open(&stats, dir, own);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_string_equal(stats.process[0].command, "na?me");
	stats_reader_close(&stats);
	stats_reader_open(&stats, dir, nobody);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_string_equal(stats.process[0].command, "?");
	assert_i_eq(prctl(PR_SET_NAME, name), 0);
	withdraw(fd, own);
	withdraw(other, nobody);
}

STATS_TEST(own_process_alone)
{
	stats_reader_open_own(&stats);
	assert_u_eq(stats.only_pid, (uint32_t)getpid());
	assert_false(stats.others || stats.all);
}

STATS_TEST(what_crashed_is_not_shown)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, false);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	withdraw(fd, 5);
}

/* Anybody may put one into the folder: opening it for reading would wait for a writer, for ever. */
STATS_TEST(a_fifo_is_not_waited_for)
{
	char path[64];

	path_of(path, 5);
	assert_i_eq(mkfifo(path, 0666), 0);
	alarm(60);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	alarm(0);
	assert_u_eq(stats.n, 0);
	assert_i_eq(unlink(path), 0);
}

/* Of all that live, but for one; of another device, and of what has crashed, nothing. */
STATS_TEST(profiles_that_processes_use)
{
	struct stats_profiles used;
	int five, six, seven;

	fixture_segment(&segment, 5);
	segment.qps.ev_profiles = 0x80000005u;
	five = publish(5, true);
	segment.qps.ev_profiles = 2;
	segment.qps.cc_profiles = 8;
	six = publish(6, true);
	segment.qps.ev_profiles = 64;
	seven = publish(7, false);
	stats_reader_open(&stats, dir, 0);
	stats_reader_profiles(&stats, 0, NULL, &used);
	assert_u_eq(used.ev, 0x80000007u);
	assert_u_eq(used.cc, 8);
	assert_u_eq(used.ev_owner[31].pid, 5);
	assert_u_eq(used.ev_owner[1].pid, 6);
	assert_u_eq(used.ev_owner[1].uid, geteuid());
	assert_u_eq(used.cc_owner[3].pid, 6);
	stats_reader_profiles(&stats, 0, &(struct stats_owner){6, geteuid() + 1}, &used);
	assert_u_eq(used.ev, 0x80000007u);
	stats_reader_profiles(&stats, 0, &(struct stats_owner){6, geteuid()}, &used);
	assert_u_eq(used.ev, 0x80000005u);
	assert_u_eq(used.cc, 0);
	stats_reader_profiles(&stats, 1, NULL, &used);
	assert_u_eq(used.ev, 0);
	/* It ends, and is not asked any more. */
	close(five);
	five = open("/dev/null", O_RDONLY | O_CLOEXEC);
	stats_reader_profiles(&stats, 0, NULL, &used);
	assert_u_eq(used.ev, 2);
	withdraw(five, 5);
	withdraw(six, 6);
	withdraw(seven, 7);
}

STATS_TEST(only_one_process_when_asked)
{
	int five, six;

	fixture_segment(&segment, 5);
	five = publish(5, true);
	six = publish(6, true);
	stats_reader_open(&stats, dir, 6);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 1);
	assert_u_eq(stats.process[0].pid, 6);
	withdraw(five, 5);
	withdraw(six, 6);
}

STATS_TEST(another_version_is_counted)
{
	int fd;

	fixture_segment(&segment, 5);
	segment.version++;
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	assert_u_eq(stats.other_version, 1);
	withdraw(fd, 5);
}

STATS_TEST(bounds_are_kept)
{
	int fd;

	fixture_segment(&segment, 5);
	segment.ports = 4000;
	segment.qp[0].evs = 100000;
	memset(segment.qp[0].state, 'x', sizeof(segment.qp[0].state));
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.process[0].now->ports, MRC_STATS_PORTS);
	assert_u_eq(stats.process[0].now->qp[0].evs, MRC_STATS_EVS);
	assert_u_eq(strlen(stats.process[0].now->qp[0].state), 7);
	withdraw(fd, 5);
}

/* "\033[2J" clears a terminal: whoever looks has not asked for that. */
STATS_TEST(texts_are_printable)
{
	const struct mrc_stats_segment *now;
	int fd;

	fixture_segment(&segment, 5);
	memcpy(segment.qp[0].state, "\033[2J\n\x9bmX", 8);
	memset(segment.counter[0].name, 7, sizeof(segment.counter[0].name));
	memset(segment.port[0].interface, 0x9b, sizeof(segment.port[0].interface));
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	now = stats.process[0].now;
	assert_string_equal(now->qp[0].state, "?[2J??m");
	assert_string_equal(now->counter[0].name, "???????????????????????????????");
	assert_string_equal(now->port[0].interface, "???????????????");
	withdraw(fd, 5);
}

/* Its owner may do that at any moment: with the file mapped it was a SIGBUS. */
STATS_TEST(a_file_that_gets_shorter_is_of_the_past)
{
	int fd;

	fixture_segment(&segment, 5);
	segment.events = 1;
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	for (off_t size = sizeof(segment) / 2; size >= 0; size -= (off_t)sizeof(segment) / 2) {
		assert_i_eq(ftruncate(fd, size), 0);
		assert_i_eq(stats_reader_copy(&stats, 2), 0);
		assert_u_eq(stats_reader_events(&stats, NULL, NULL), 0);
		assert_u_eq(stats.n, 1);
		assert_true(stats.process[0].gone);
		assert_u_eq(stats_counter(stats.process[0].now, "tx_retransmits"), 5);
		stats.process[0].gone = false;
	}
	withdraw(fd, 5);
}

STATS_TEST(a_file_that_becomes_something_else_is_of_the_past)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	segment.version++;
	close(publish(5, false));
	assert_i_eq(stats_reader_read(&stats, 2), 0);
	assert_true(stats.process[0].gone);
	withdraw(fd, 5);
}

STATS_TEST(a_link_is_not_followed)
{
	char path[64], real[64];

	fixture_segment(&segment, 5);
	close(publish(5, false));
	path_of(path, 5);
	snprintf(real, sizeof(real), "%s/real", dir);
	assert_i_eq(rename(path, real), 0);
	assert_i_eq(symlink(real, path), 0);
	stats_reader_open(&stats, dir, 0);
	stats.with_ended = true;
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	assert_u_eq(stats.refused, 1);
	assert_i_eq(unlink(path), 0);
	assert_i_eq(unlink(real), 0);
}

/* ---- several users ---- */

#define SOMEBODY 64999u

static void give_to(const char *path, uid_t owner)
{
	assert_i_eq(chown(path, owner, owner), 0);
}

STATS_TEST(what_is_of_another_user_is_refused)
{
	char path[64];
	int fd;

	if (geteuid() != 0)
		test_skip("only root can make a file of another user");
	fixture_segment(&segment, 5);
	fd = publish(5, true);
	path_of(path, 5);
	give_to(path, SOMEBODY);
	stats_reader_open(&stats, dir, 0);
	stats.others = false;
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	assert_u_eq(stats.refused, 1);
	assert_u_eq(stats.unreadable + stats.unseen, 0);
	stats.others = true; /* root looks at others, of whom nothing is believed */
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 1);
	assert_u_eq(stats.process[0].uid, SOMEBODY);
	withdraw(fd, 5);
}

static char prefix[64];

/* Makes the folder of a user beside others, below the folder of the test, and enters it. */
static void enter_folder(char keep[sizeof(dir)], uint32_t number, uid_t owner, mode_t mode)
{
	static char path[96];

	snprintf(prefix, sizeof(prefix), "%s/softmrc-", dir);
	snprintf(path, sizeof(path), "%s%u", prefix, number);
	assert_i_eq(mkdir(path, mode), 0);
	assert_i_eq(chmod(path, mode), 0);
	give_to(path, owner);
	assert_i_eq(chdir(path), 0);
	memcpy(keep, dir, sizeof(dir));
	strcpy(dir, ".");
}

static void leave_folder(const char keep[sizeof(dir)])
{
	memcpy(dir, keep, sizeof(dir));
	assert_i_eq(chdir("/"), 0);
}

/* Publishes as a process of this user, dead, in the folder of a user. */
static void publish_in(uint32_t number, uid_t owner, mode_t mode, uint32_t pid, uid_t of_file)
{
	char keep[sizeof(dir)], path[96];

	enter_folder(keep, number, owner, mode);
	close(publish(pid, false));
	path_of(path, pid);
	give_to(path, of_file);
	leave_folder(keep);
}

static void remove_folders(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s/*", dir);
	assert_i_eq(system(command), 0);
}

static void open_all(void)
{
	stats_reader_open(&stats, NULL, 0);
	assert_true(stats.all);
	stats.prefix = prefix;
	stats.with_ended = true;
	assert_i_eq(stats_reader_find(&stats), 0);
}

STATS_TEST(root_sees_all_users_and_follows_no_link)
{
	char link[96], target[96];

	if (geteuid() != 0)
		test_skip("only root sees what is of others");
	fixture_segment(&segment, 5);
	publish_in(64999, SOMEBODY, 0700, 5, SOMEBODY);
	publish_in(0, 0, 0700, 6, 0);
	publish_in(64998, 64998, 0755, 7, 64998); /* not for its user alone */
	publish_in(64997, 64997, 0700, 8, 0);	  /* not his file */
	snprintf(link, sizeof(link), "%s64996", prefix);
	snprintf(target, sizeof(target), "%s0", prefix);
	assert_i_eq(symlink(target, link), 0);
	open_all();
	assert_u_eq(stats.n, 2);
	assert_u_eq(stats.refused, 3);
	for (uint32_t i = 0; i < 2; i++)
		assert_u_eq(stats.process[i].uid, stats.process[i].pid == 5 ? SOMEBODY : 0);
	remove_folders();
}

#define WATCHERS 64990u

/* What a user of this number and group finds: how many processes, and what he may not read. */
static int found_by(uid_t uid, gid_t gid, uint32_t n, uint32_t unreadable)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
			_exit(2);
		stats_reader_open(&stats, NULL, 0);
		stats_reader_open_others(&stats);
		stats.prefix = prefix;
		stats.with_ended = true;
		if (stats_reader_find(&stats))
			_exit(3);
		_exit(stats.n == n && stats.unreadable == unreadable ? 0 : 4);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

STATS_TEST(a_group_reads_what_is_shared_with_it)
{
	char path[96];

	if (geteuid() != 0)
		test_skip("only root can be several users");
	assert_i_eq(chmod(dir, 0755), 0);
	fixture_segment(&segment, 5);
	publish_in(64999, SOMEBODY, 0750, 5, SOMEBODY);
	publish_in(64998, 64998, 0700, 6, 64998);
	publish_in(64997, 64997, 0770, 7, 64997); /* the group could write there */
	snprintf(path, sizeof(path), "%s64999", prefix);
	assert_i_eq(chown(path, SOMEBODY, WATCHERS), 0);
	snprintf(path, sizeof(path), "%s64999/5" MRC_STATS_SUFFIX, prefix);
	assert_i_eq(chown(path, SOMEBODY, WATCHERS), 0);
	assert_i_eq(chmod(path, 0640), 0);
	assert_i_eq(found_by(65000, WATCHERS, 1, 2), 0);
	assert_i_eq(found_by(65000, 65000, 0, 3), 0);
	assert_i_eq(found_by(64997, 64997, 0, 2), 0); /* his own folder is refused */
	remove_folders();
}

/* The folder of a user with three files too many, and that of another one with one. */
static void fill_folder(uid_t owner, uid_t other)
{
	char keep[sizeof(dir)], name[64];

	fixture_segment(&segment, 5);
	publish_in(other, other, 0700, 6, other);
	enter_folder(keep, owner, owner, 0700);
	close(publish(1, false));
	assert_i_eq(chown("1" MRC_STATS_SUFFIX, owner, owner), 0);
	for (uint32_t pid = 2; pid <= STATS_PROCESSES_OF_USER_MAX + 3; pid++) {
		path_of(name, pid);
		assert_i_eq(link("1" MRC_STATS_SUFFIX, name), 0);
	}
	leave_folder(keep);
	open_all();
	assert_u_eq(stats.n, STATS_PROCESSES_OF_USER_MAX + 1);
	assert_u_eq(stats.unseen, 3);
	remove_folders();
	stats_reader_close(&stats);
}

STATS_TEST(one_user_alone_does_not_hide_the_others)
{
	if (geteuid() != 0)
		test_skip("only root sees what is of others");
	fill_folder(SOMEBODY, 0);
	fill_folder(0, SOMEBODY);
}

STATS_TEST(folders_that_there_is_no_memory_for_are_left)
{
	if (geteuid() != 0)
		test_skip("only root sees what is of others");
	fixture_segment(&segment, 5);
	publish_in(0, 0, 0700, 6, 0);
	refuse_folders = true;
	open_all();
	assert_u_eq(stats.n, 0);
	remove_folders();
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_find(&stats), 0);
}

STATS_TEST(a_default_folder_of_another_user_is_an_error)
{
	char taken[64];

	if (geteuid() != 0)
		test_skip("only root can make a folder of another user");
	snprintf(taken, sizeof(taken), "%s/taken", dir);
	assert_i_eq(mkdir(taken, 0700), 0);
	give_to(taken, SOMEBODY);
	stats_reader_open_own(&stats);
	snprintf(stats.default_dir, sizeof(stats.default_dir), "%s", taken);
	stats.dir = stats.default_dir;
	assert_i_eq(stats_reader_read(&stats, 1), EPERM);
	give_to(taken, geteuid());
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_i_eq(rmdir(taken), 0);
}

/* ---- the default folder ---- */

TEST(stats_dir_default, is_that_of_the_user_outside_of_a_namespace)
{
	char path[STATS_DIR_MAX], want[STATS_DIR_MAX], map[32];
	int status, fd;
	pid_t pid;

	snprintf(want, sizeof(want), MRC_STATS_DIR_PREFIX "%u", geteuid());
	assert_string_equal(stats_dir_default(path), want);
	snprintf(map, sizeof(map), "77 %u 1", geteuid());
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER))
			_exit(2);
		fd = open("/proc/self/uid_map", O_WRONLY);
		if (fd < 0 || write(fd, map, strlen(map)) != (ssize_t)strlen(map))
			_exit(2);
		_exit(geteuid() != 77 || strcmp(stats_dir_default(path), want) != 0);
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 2)
		test_skip("no user namespaces");
	assert_i_eq(status, 0);
}

/* In a user namespace: tells what its user is called there, and waits until it has a map. */
static void be_unmapped(const int to_parent[2], const int to_child[2])
{
	char path[STATS_DIR_MAX], want[STATS_DIR_MAX], go;
	uid_t uid;

	if (unshare(CLONE_NEWUSER))
		_exit(2);
	uid = geteuid();
	if (write(to_parent[1], &uid, sizeof(uid)) != sizeof(uid) || read(to_child[0], &go, 1) != 1)
		_exit(2);
	snprintf(want, sizeof(want), MRC_STATS_DIR_PREFIX "%u", uid);
	_exit(strcmp(stats_dir_default(path), want) != 0);
}

/* Gives the process a map of one number, the one before `uid`; false: that is not allowed. */
static bool map_the_one_before(pid_t pid, uid_t uid)
{
	char path[64];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	f = fopen(path, "we");
	if (!f)
		return false;
	fprintf(f, "%u 5 1", uid - 1);
	ok = fclose(f) == 0;
	return ok;
}

/* Whom a namespace does not know it calls by a number, and that may follow one that it knows. */
TEST(stats_dir_default, who_has_no_number_in_a_namespace)
{
	int to_parent[2], to_child[2], status;
	bool mapped = false;
	uid_t uid;
	pid_t pid;

	assert_int_equal(pipe(to_parent), 0);
	assert_int_equal(pipe(to_child), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_unmapped(to_parent, to_child);
	close(to_parent[1]);
	close(to_child[0]);
	if (read(to_parent[0], &uid, sizeof(uid)) == sizeof(uid))
		mapped = map_the_one_before(pid, uid);
	if (mapped)
		mapped = write(to_child[1], "", 1) == 1;
	close(to_child[1]);
	close(to_parent[0]);
	assert_i_eq(waitpid(pid, &status, 0), pid);
	if (!mapped)
		test_skip("no map of user numbers");
	assert_i_eq(status, 0);
}

/* A segment without events, written by a process that has ended. */
static void write_ended(uint32_t pid, size_t size)
{
	char path[64];
	FILE *f;

	path_of(path, pid);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_u_eq(fwrite(&segment, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static int ended_setup(void **state)
{
	fixture_segment(&segment, 5);
	if (dir_setup(state))
		return -1;
	stats_reader_open(&stats, dir, 0);
	stats.with_ended = true;
	return 0;
}

static int ended_teardown(void **state)
{
	char path[64];

	for (uint32_t pid = 1; pid <= 3; pid++) {
		path_of(path, pid);
		unlink(path);
	}
	return dir_teardown(state);
}

#define ENDED_TEST(function, name) TEST_WITH(ended_setup, ended_teardown, function, name)

ENDED_TEST(stats_reader_find, opens_each_segment_once)
{
	char other[64];
	FILE *f;

	assert_int_equal(stats_reader_find(&stats), 0);
	assert_u_eq(stats.n, 0);
	write_ended(1, sizeof(segment));
	write_ended(2, sizeof(segment));
	snprintf(other, sizeof(other), "%s/other.txt", dir);
	f = fopen(other, "we");
	assert_non_null(f);
	fclose(f);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stats_reader_find(&stats), 0);
		assert_u_eq(stats.n, 2);
	}
	assert_int_equal(unlink(other), 0);
}

ENDED_TEST(stats_reader_find, leaves_what_is_not_ready)
{
	write_ended(1, sizeof(segment) - 1);
	segment.magic[0] = 0;
	write_ended(2, sizeof(segment));
	segment.magic[0] = MRC_STATS_MAGIC[0];
	segment.version++;
	write_ended(3, sizeof(segment));
	assert_int_equal(stats_reader_find(&stats), 0);
	assert_u_eq(stats.n, 0);
}

static uint64_t stamps[8];
static uint32_t taken;

static void take_stamp(void *context, const struct stats_process *process,
		       const struct mrc_stats_event *event)
{
	assert_ptr_equal(process, &stats.process[0]);
	assert_ptr_equal(context, &taken);
	if (taken < 8)
		stamps[taken] = event->at_ns;
	taken++;
}

ENDED_TEST(stats_reader_events, gives_each_event_once)
{
	segment.events = 2;
	segment.event[0].at_ns = 10;
	segment.event[1].at_ns = 11;
	write_ended(1, sizeof(segment));
	stats_reader_find(&stats);
	taken = 0;
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	assert_u_eq(taken, 2);
	assert_u_eq(stamps[1], 11);
	segment.event[2].at_ns = 12;
	segment.events = 3;
	close(publish(1, false));
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	assert_u_eq(taken, 3);
	assert_u_eq(stamps[2], 12);
}

/* The last events of a process are told, and its file is let go. */
STATS_TEST(follows_until_the_end)
{
	uint64_t missed = 0;
	int fd;

	stats_reader_open(&stats, dir, 0);
	segment.events = 1;
	fd = publish(1, true);
	taken = 0;
	assert_i_eq(stats_reader_follow(&stats, take_stamp, &taken, &missed), 0);
	assert_u_eq(taken, 1);
	segment.events = 2;
	close(publish(1, false));
	withdraw(fd, 1);
	assert_i_eq(stats_reader_follow(&stats, take_stamp, &taken, &missed), 0);
	assert_u_eq(taken, 2);
	assert_i_eq(stats_reader_follow(&stats, take_stamp, &taken, &missed), 0);
	assert_u_eq(taken, 2);
	assert_u_eq(stats.n, 0);
	assert_u_eq(missed, 0);
	assert_u_eq(test_open_fds(), open_before);
}

/* A place that no process has any more is not looked at. */
ENDED_TEST(stats_reader_events, of_processes_alone)
{
	segment.events = 2;
	write_ended(1, sizeof(segment));
	stats_reader_find(&stats);
	taken = 0;
	stats.n = 0;
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	assert_u_eq(taken, 0);
	stats.n = 1;
}

ENDED_TEST(stats_reader_events, counts_what_was_overwritten)
{
	segment.events = MRC_STATS_EVENTS + 5;
	write_ended(1, sizeof(segment));
	stats_reader_find(&stats);
	taken = 0;
	/* The writer may be at work on one more, in the place of the oldest. */
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 6);
	assert_u_eq(taken, MRC_STATS_EVENTS - 1);
}

/* Going through them one by one would take centuries. */
ENDED_TEST(stats_reader_events, do_not_follow_a_count_that_leaps)
{
	write_ended(1, sizeof(segment));
	stats_reader_find(&stats);
	segment.events = UINT64_MAX - 3;
	close(publish(1, false));
	taken = 0;
	alarm(60);
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken),
		    UINT64_MAX - 3 - (MRC_STATS_EVENTS - 1));
	assert_u_eq(taken, MRC_STATS_EVENTS - 1);
	segment.events = 4;
	close(publish(1, false));
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	alarm(0);
}

TEST(stats_reader_read, a_folder_that_is_not_there_is_empty)
{
	stats_reader_open(&stats, "/nowhere/at/all", 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	stats_reader_open(&stats, "/dev/null", 0);
	assert_i_eq(stats_reader_read(&stats, 1), ENOTDIR);
}

/* What lies behind the list of counters is no counter. */
TEST(stats_counter_find, in_a_full_list)
{
	fixture_segment(&segment, 5);
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS; i++)
		fixture_counter(&segment, i, i + 1 < MRC_STATS_COUNTERS ? "any" : "last", i);
	memcpy(&segment.port[0], "behind", sizeof("behind"));
	assert_non_null(stats_counter_find(&segment, "last"));
	assert_null(stats_counter_find(&segment, "behind"));
}
