/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_privileged.c - a program with rights that its user lacks, set-user-ID or with file
 * capabilities, opens the device: whoever starts it has chosen its environment.
 *
 * The program is a copy of this test, which user 65534 runs.
 */
#include "libibverbs/real_library.h"
#include "live/verbs_fixture.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NOBODY 65534u
#define NOT_SECURE 77
#define CASE_VARIABLE "LIVE_PRIVILEGED_CASE"
#define SECRET "the root password"

static char dir[] = "/tmp/mrc-privileged-XXXXXX";
static char said[4096];

/* ---- the program ---- */

/* Opens the device; what is wrong is its exit status. */
static int run_program(void)
{
	char library[MH_REAL_IBVERBS_BYTES];
	struct mh_device *device;

	if (!getauxval(AT_SECURE))
		return NOT_SECURE;
	if (mh_real_ibverbs(library) || strcmp(library, "auto") != 0)
		return 2;
	if (mh_device_open(0, NULL, &device))
		return 3;
	return mh_device_close(device) ? 4 : 0;
}

/* Before main: the copy is not a test. */
__attribute__((constructor)) static void be_the_program(void)
{
	if (getenv(CASE_VARIABLE))
		_exit(run_program());
}

/* ---- the test ---- */

static char *path_in(const char *name)
{
	static char path[4][96];
	static uint32_t turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn];
}

static void write_secret(void)
{
	FILE *f = fopen(path_in("shadow"), "w");

	assert_non_null(f);
	fputs(SECRET "\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path_in("shadow"), 0600), 0);
}

static int setup(void **state)
{
	char command[200];

	(void)state;
	if (geteuid() != 0)
		return 0;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir) || chmod(dir, 0755) || mkdir(path_in("open"), 0777) ||
	    chmod(path_in("open"), 0777))
		return -1;
	write_secret();
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path_in("program"));
	return system(command);
}

static int teardown(void **state)
{
	char command[200];

	(void)state;
	if (geteuid() != 0)
		return 0;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

#define PRIVILEGED_TEST(name) TEST_WITH(setup, teardown, mh_device_open, name)

/* Without a setting the ports are that of the default route, which this namespace lacks. */
static void add_default_route(void)
{
	assert_int_equal(system("ip link show mrc-test >/dev/null 2>&1 || { "
				"ip link add mrc-test type veth peer mrc-peer && "
				"ip link set mrc-peer up && ip link set mrc-test up && "
				"ip addr add 192.0.2.1/24 dev mrc-test && "
				"ip route add default dev mrc-test; }"),
			 0);
}

static void be_nobody_and_run(FILE *catcher)
{
	unsetenv("MRC_EV_BASE"); /* which all live tests are given */
	setenv(CASE_VARIABLE, "1", 1);
	setenv("MRC_CONFIG", path_in("shadow"), 1);
	setenv("MRC_CAPTURE", path_in("open/capture"), 1);
	setenv("MRC_FAULTS", path_in("shadow"), 1);
	setenv("MRC_STATS_DIR", path_in("open"), 1);
	setenv("MRC_STATS_KEEP", "on", 1);
	setenv("MRC_LOG", "debug", 1);
	setenv("MRC_REAL_IBVERBS", path_in("open/library"), 1);
	dup2(fileno(catcher), STDERR_FILENO);
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(5);
	execl(path_in("program"), "program", (char *)NULL);
	_exit(6);
}

static int run_as_nobody(void)
{
	FILE *catcher = tmpfile();
	int status;
	size_t n;
	pid_t pid;

	assert_non_null(catcher);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_nobody_and_run(catcher);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rewind(catcher);
	n = fread(said, 1, sizeof(said) - 1, catcher);
	said[n] = '\0';
	fclose(catcher);
	if (!WIFEXITED(status))
		fail_msg("status %#x: %s", (unsigned int)status, said);
	return WEXITSTATUS(status);
}

static void expect_nothing_believed(void)
{
	static const char ignored[] = "only /etc/softmrc.toml counts; ignored: MRC_CONFIG, "
				      "MRC_REAL_IBVERBS, MRC_CAPTURE, MRC_FAULTS, MRC_STATS_DIR, "
				      "MRC_STATS_KEEP, MRC_LOG\n";
	int status;

	add_default_route();
	status = run_as_nobody();
	if (status == NOT_SECURE)
		test_skip("files of this folder get no rights: nosuid");
	if (status)
		fail_msg("exit status %d: %s", status, said);
	if (!strstr(said, ignored))
		fail_msg("no <%s> in: %s", ignored, said);
	assert_null(strstr(said, SECRET));
	assert_null(strstr(said, "is open")); /* which MRC_LOG=debug would show */
	assert_null(strstr(strstr(said, "ignored") + 1, "ignored"));
	assert_int_equal(rmdir(path_in("open")), 0); /* nothing is in it */
}

PRIVILEGED_TEST(of_a_set_user_id_program_believes_no_environment)
{
	if (geteuid() != 0)
		test_skip("only root can make a set-user-ID program");
	assert_int_equal(chmod(path_in("program"), 04755), 0);
	expect_nothing_believed();
}

PRIVILEGED_TEST(of_a_program_with_capabilities_believes_no_environment)
{
	const struct vfs_cap_data net_raw = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1u << CAP_NET_RAW,
	};

	if (geteuid() != 0)
		test_skip("only root can give a program capabilities");
	assert_int_equal(chmod(path_in("program"), 0755), 0);
	if (setxattr(path_in("program"), "security.capability", &net_raw, XATTR_CAPS_SZ_2, 0))
		test_skip("this file system has no capabilities");
	expect_nothing_believed();
}

PRIVILEGED_TEST(of_an_ordinary_program_believes_it)
{
	if (geteuid() != 0)
		test_skip("the other cases need root, too");
	assert_int_equal(chmod(path_in("program"), 0755), 0);
	add_default_route();
	assert_int_equal(run_as_nobody(), NOT_SECURE);
}

/* ---- which library such a program may load ---- */

TEST(mv_real_path_is_roots, every_folder_of_it)
{
	char top[] = "/run/mrc-roots-XXXXXX", folder[64], file[80], other[80];

	if (geteuid() != 0)
		test_skip("only root can make files of root");
	/* That of tests is open to all, unlike that of hosts. */
	assert_int_equal(chmod("/run", 0755), 0);
	assert_non_null(mkdtemp(top));
	snprintf(folder, sizeof(folder), "%s/lib", top);
	snprintf(file, sizeof(file), "%s/library", folder);
	snprintf(other, sizeof(other), "%s/link", folder);
	assert_int_equal(mkdir(folder, 0755), 0);
	fclose(fopen(file, "w"));
	assert_int_equal(symlink(file, other), 0);
	assert_true(mv_real_path_is_roots(file));
	assert_false(mv_real_path_is_roots(file + 1));
	assert_false(mv_real_path_is_roots(other));
	assert_false(mv_real_path_is_roots("/nowhere/at/all"));
	assert_int_equal(chmod(file, 0664), 0);
	assert_false(mv_real_path_is_roots(file));
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(chmod(folder, 0757), 0);
	assert_false(mv_real_path_is_roots(file));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chown(top, NOBODY, NOBODY), 0);
	assert_false(mv_real_path_is_roots(file));
	assert_int_equal(chown(file, NOBODY, NOBODY) || chown(top, 0, 0), 0);
	assert_false(mv_real_path_is_roots(file));
	assert_int_equal(unlink(other) || unlink(file) || rmdir(folder) || rmdir(top), 0);
}
