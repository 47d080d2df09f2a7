/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_run_real.c - the system's own libibverbs and its drivers behind the drop-in, on a host that
 * seems to have two RDMA devices: files as the kernel would make them, in a view of their own. No
 * kernel stands behind them, so they can be listed and not opened.
 *
 * Arguments: the program mrc, that of live/real/ask_mlx5.c or "none", and the runtime of the
 * sanitizer that the drop-in was built with, if any.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[16384];

/* rxe_t is known by its name, mlx5_t by its place on the bus. */
static const char host[] =
	"set -e\n"
	"test -d /sys/class/infiniband/mrc0\n" /* in the view, and not the machine itself */
	"device() {\n"
	"	mkdir -p /sys/class/made/$1/device /sys/class/infiniband\n"
	"	echo '1: CA' > /sys/class/made/$1/node_type\n"
	"	echo $3 > /sys/class/made/$1/node_guid\n"
	"	echo $4 > /sys/class/made/$1/device/modalias\n"
	"	ln -s ../made/$1 /sys/class/infiniband/$1\n"
	"	mkdir -p /sys/class/infiniband_verbs/uverbs$2\n"
	"	cd /sys/class/infiniband_verbs/uverbs$2\n"
	"	echo $1 > ibdev; echo 231:$2 > dev; echo 1 > abi_version\n"
	"	touch /dev/infiniband/uverbs$2\n"
	"}\n"
	"device rxe_t 5 1234:0000:0000:0001 none\n"
	"device mlx5_t 7 1234:0000:0000:0002 "
	"pci:v000015B3d00001017sv000015B3sd00000001bc02sc00i00\n"
	/* A host has none of ours. */
	"umount /dev/infiniband/uverbs0 2>/dev/null && rm /dev/infiniband/uverbs0 || true\n"
	"rm -r /sys/class/infiniband/mrc0 /sys/class/infiniband_verbs/uverbs0\n"
	/* As the kernel's folders are; only root can, and then they are. */
	"for f in /sys/class/infiniband /sys/class/infiniband_verbs /dev/infiniband; do\n"
	"	if mount --bind $f $f 2>/dev/null; then mount -o remount,bind,ro $f || true; fi\n"
	"done\n"
	"echo the host stands\n"
	"exec \"$@\"\n";

/* Runs a command on such a host; returns its exit status. */
static int run(const char *command)
{
	char script[] = "/tmp/live_run_real.XXXXXX", words[2048];
	int fd = mkstemp(script), status;
	size_t n;
	FILE *f;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, host, strlen(host)), strlen(host));
	close(fd);
	snprintf(words, sizeof(words),
		 "MRC_REAL_IBVERBS=auto MRC_PORTS=127.0.0.1 ASAN_OPTIONS=detect_leaks=0 '%s' run "
		 "-- sh %s sh -c \"%s\" "
		 "2>&1",
		 test_arg(0), script, command);
	f = popen(words, "r");
	assert_non_null(f);
	n = fread(out, 1, sizeof(out) - 1, f);
	out[n] = '\0';
	status = pclose(f);
	unlink(script);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void skip_without_drivers(void)
{
	if (system("command -v ibv_devices >/dev/null && "
		   "ls /usr/lib/*/libibverbs/libmlx5-rdmav*.so >/dev/null 2>&1"))
		test_skip("ibverbs-utils or ibverbs-providers is not installed");
}

/* The system's own program, with a library that it brings along, or "". */
static int run_devices(const char *setting, const char *brought)
{
	char command[1024];

	skip_without_drivers();
	snprintf(command, sizeof(command), "%s LD_PRELOAD='%s %s' ibv_devices", setting,
		 test_arg(2) ? test_arg(2) : "", brought);
	return run(command);
}

/* Without a view there was no such host, and the script for it stopped where it began. */
static void must_run(int status)
{
	char *why = strstr(out, "no view of the device");

	if (why && !strstr(out, "the host stands")) {
		why[strcspn(why, "\n")] = '\0';
		test_skip(why);
	}
	if (status != 0 || why)
		fail_msg("status %d: %s", status, out);
}

/* Each is there, and before the next. */
static void assert_in_order(const char *const said[], size_t n)
{
	const char *at = out;

	for (size_t i = 0; i < n; i++) {
		const char *found = strstr(at, said[i]);

		if (!found)
			fail_msg("no \"%s\", or not there, in:\n%s", said[i], out);
		at = found + strlen(said[i]);
	}
}

static void assert_ours_first(void)
{
	static const char *const rxe[] = {"mrc0 ", "rxe_t", "1234000000000001\n"};
	static const char *const mlx5[] = {"mrc0 ", "mlx5_t", "1234000000000002\n"};

	assert_in_order(rxe, 3);
	assert_in_order(mlx5, 3);
}

TEST(system_libibverbs, lists_what_its_drivers_know)
{
	must_run(run_devices("", ""));
	assert_ours_first();
}

/* As perftest does, which is linked to it. */
TEST(system_libibverbs, of_a_driver_that_was_there_before_it)
{
	must_run(run_devices("", "libmlx5.so.1"));
	assert_ours_first();
}

/* Its own functions are for devices that it made, by this copy of it. */
TEST(system_libibverbs, and_the_program_have_one_copy_of_a_driver)
{
	skip_without_drivers();
	if (strcmp(test_arg(1), "none") == 0)
		test_skip("libibverbs-dev has no libmlx5 to link to, or was not installed");
	must_run(run(test_arg(1)));
	assert_non_null(strstr(out, "mrc0 other\n"));
	assert_non_null(strstr(out, "rxe_t other\n"));
	assert_non_null(strstr(out, "mlx5_t mlx5\n"));
}

TEST(system_libibverbs, off)
{
	must_run(run_devices("MRC_REAL_IBVERBS=off", ""));
	assert_non_null(strstr(out, "mrc0 "));
	assert_null(strstr(out, "rxe_t"));
}

/* Each class and each folder of kernel devices shows all, and mrc0 has the number behind them. */
TEST(mrc_run, shows_real_devices_too)
{
	static const char *const said[] = {"mlx5_t\n", "mrc0\n",    "rxe_t\n",	"mrc0\n",
					   "rxe_t\n",  "uverbs8\n", "RoCE v2\n"};
	char command[512];

	snprintf(command, sizeof(command),
		 "'%s' run -- sh -c 'cd /sys/class; ls infiniband; "
		 "cat infiniband_verbs/uverbs8/ibdev infiniband_verbs/uverbs5/ibdev; "
		 "ls /dev/infiniband; cat infiniband/mrc0/ports/1/gid_attrs/types/0'",
		 test_arg(0));
	must_run(run(command));
	assert_in_order(said, sizeof(said) / sizeof(said[0]));
}
