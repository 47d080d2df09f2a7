/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc run - starts an unmodified verbs program with all that it looks for: the drop-in
 * libibverbs.so.1 before any other, and the files of the device below /sys and /dev, which some
 * libraries read before they ask libibverbs.
 */
#include "cli/cli_verbs.h"
#include "cli/run/run.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define PATH_BYTES 4096

struct options {
	bool no_views;
	bool report;
	const char *json;  /* a file for the report; NULL: none */
	const char *write; /* a folder for the view; NULL: a program is run */
	const char *fabric_name;
	struct cli_fabric fabric;
};

static const struct ui_flag flags[] = {
	UI_SWITCH("--report", options, report,
		  "say on stderr, when it has ended, what MRC carried, lost and left for it"),
	UI_TEXT("--json", options, json, "FILE", "the same and all counters as JSON: --json=FILE"),
	UI_TEXT("--fabric", options, fabric_name, "TOPOLOGY",
		"for the report: the fabric by which EVs get names, --fabric=TOPOLOGY "
		"($MRC_FABRIC)"),
	UI_SWITCH("--no-views", options, no_views, "leave /sys and /dev as they are"),
	UI_TEXT("--write-view", options, write, "FOLDER",
		"run nothing; write what the view shows, for containers to mount: FOLDER/sys/class "
		"and FOLDER/dev/infiniband: --write-view=FOLDER"),
};

/* lib/softmrc, next to bin, as built and as installed. */
static int find_library(char *dir, size_t size)
{
	static const char *const places[] = {"../lib/softmrc", "../" SOFTMRC_LIBDIR "/softmrc"};
	char self[PATH_BYTES], file[PATH_BYTES], real[PATH_BYTES];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *bin;

	if (len < 0) {
		fprintf(stderr, "mrc run: /proc/self/exe: %s\n", strerror(errno));
		return -1;
	}
	self[len] = '\0';
	bin = dirname(self);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(file, sizeof(file), "%s/%s/libibverbs.so.1", bin, places[i]);

		if (n > 0 && (size_t)n < sizeof(file) && realpath(file, real)) {
			snprintf(dir, size, "%s", dirname(real));
			return 0;
		}
	}
	fprintf(stderr, "mrc run: libibverbs.so.1 is not in %s of %s\n", places[0], bin);
	return -1;
}

/* The drop-in's folder first, then that of libmrc, for programs that are linked to it. */
static int set_environment(const char *dir)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char path[3 * PATH_BYTES], library[PATH_BYTES + 32], mrc[PATH_BYTES];

	snprintf(mrc, sizeof(mrc), "%s", dir);
	snprintf(path, sizeof(path), "%s:%s%s%s", dir, dirname(mrc), old && *old ? ":" : "",
		 old ? old : "");
	snprintf(library, sizeof(library), "%s/libibverbs.so.1", dir);
	/*
	 * NCCL 2.28.9 crashes on devices that are not mlx5 when it looks for networking that a GPU
	 * starts by itself, which this device has not got: 0 is none of it.
	 */
	if (setenv("LD_LIBRARY_PATH", path, 1) || setenv("NCCL_IBVERBS_LIB", library, 1) ||
	    setenv("NCCL_IB_HCA", "mrc", 0) || setenv("NCCL_GIN_TYPE", "0", 0)) {
		fprintf(stderr, "mrc run: no memory for the environment\n");
		return -1;
	}
	return 0;
}

/* The devices that the view shows; n is 0 where there is no view. */
struct shown {
	struct run_device device[RUN_DEVICES_MAX];
	int n;
};

/* Programs that look at files only do without them what they can: it is said, and they run. */
static void show_device(struct shown *shown)
{
	struct run_view_error e;

	shown->n = run_device_query(shown->device);
	if (shown->n == 0)
		return; /* the program will hear the same */
	if (run_view_enter(&e) || run_device_mount_sysfs(shown->device, shown->n, &e)) {
		fprintf(stderr,
			"mrc run: no view of the device below /sys and /dev: %s; libraries that "
			"look there (UCX, NCCL) will not find it\n",
			e.text);
		shown->n = 0;
	}
}

/* Returns the exit status. */
static int write_view(const char *folder)
{
	struct shown shown;
	struct run_view_error e;

	shown.n = run_device_query(shown.device);
	if (shown.n == 0)
		return EXIT_FAILED; /* said why */
	if (run_device_write_sysfs(folder, shown.device, shown.n, &e)) {
		fprintf(stderr, "mrc run: --write-view=%s: %s\n", folder, e.text);
		return EXIT_FAILED;
	}
	return 0;
}

/* When it is known where the program's processes publish. */
static void show_counters(const struct shown *shown)
{
	struct run_view_error e;

	if (shown->n && run_port_counters_start(shown->device, shown->n, &e))
		fprintf(stderr, "mrc run: no counters below /sys: %s\n", e.text);
}

/* Does not return when it goes well. */
static int run_program(char **command)
{
	execvp(command[0], command);
	fprintf(stderr, "mrc run: %s: %s\n", command[0], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

/* ---- with a report ---- */

static volatile sig_atomic_t child;

/* What a terminal sends, the program got as well; what is sent to this process alone goes on. */
static void pass_on(int signal_number)
{
	if (signal_number == SIGTERM || signal_number == SIGHUP)
		kill(child, signal_number);
}

/* Starts the program, and makes this process outlive it. Until both are set up, signals wait. */
static pid_t start_program(char **command)
{
	static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	const struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid > 0) {
		child = pid;
		for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
			sigaction(caught[i], &pass, NULL);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid == 0)
		_exit(run_program(command));
	return pid;
}

static int write_report(struct run_report *r, const struct options *o, const char *program)
{
	int err = run_report_read(r);

	r->fabric = &o->fabric;
	if (err) {
		fprintf(stderr, "mrc run: reading %s: %s\n", r->dir, strerror(err));
		return -1;
	}
	if (o->report)
		run_report_show(r, program, stderr);
	err = o->json ? run_report_json(r, o->json) : 0;
	if (err)
		fprintf(stderr, "mrc run: %s: %s\n", o->json, strerror(err));
	return err ? -1 : 0;
}

static int run_and_report(const struct options *o, const struct shown *shown, char **command)
{
	struct run_report r;
	int status, failed, err = run_report_open(&r);
	pid_t pid;

	if (err) {
		fprintf(stderr, "mrc run: a folder for statistics: %s\n", strerror(err));
		return EXIT_FAILED;
	}
	show_counters(shown);
	pid = start_program(command);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "mrc run: a process for %s: %s\n", command[0], strerror(errno));
		run_report_close(&r);
		return EXIT_FAILED;
	}
	failed = write_report(&r, o, command[0]);
	run_report_close(&r);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return status == 0 && failed ? EXIT_FAILED : status;
}

static int run_main(int argc, char **argv)
{
	struct shown shown = {.n = 0};
	struct options o = {0};
	char dir[PATH_BYTES];
	int first = 1, status;

	while (first < argc && strcmp(argv[first], "--") != 0 && argv[first][0] == '-')
		first++;
	status = ui_verb_parse(&cli_run_verb, &o, first, argv, NULL, 0, NULL);
	if (status != UI_FLAGS_OK)
		return status;
	if (first < argc && strcmp(argv[first], "--") == 0)
		first++;
	if (o.write && first < argc) {
		fprintf(stderr, "mrc run: --write-view runs no program: leave %s out\n",
			argv[first]);
		return EXIT_USAGE;
	}
	if (o.write)
		return write_view(o.write);
	if (first == argc) {
		fprintf(stderr, "mrc run: want a program to run (mrc run --help tells more)\n");
		return EXIT_USAGE;
	}
	if ((o.report || o.json) && cli_fabric_find(&cli_run_verb, o.fabric_name, &o.fabric))
		return EXIT_FAILED;
	if (find_library(dir, sizeof(dir)) || set_environment(dir))
		return EXIT_FAILED;
	if (!o.no_views)
		show_device(&shown);
	if (o.report || o.json)
		return run_and_report(&o, &shown, argv + first);
	show_counters(&shown);
	return run_program(argv + first);
}

const struct ui_verb cli_run_verb = {
	.name = "mrc run",
	.summary = "start an unmodified verbs program on the device mrc0",
	.usage = "[FLAG...] -- PROGRAM [ARGUMENT...]",
	.about = "Starts a program that knows only libibverbs, with the device mrc0.",
	.notes = "Sets LD_LIBRARY_PATH, and for NCCL NCCL_IBVERBS_LIB, NCCL_IB_HCA and "
		 "NCCL_GIN_TYPE. In a mount namespace of the program /sys/class/infiniband and "
		 "/dev/infiniband show the device, with counters of this user's processes, half a "
		 "second old at most; without root that takes a user namespace. Where a container "
		 "may have none, a step before it writes the same with --write-view=FOLDER, which "
		 "the "
		 "container mounts, and the program runs with --no-views.",
	.examples = "mrc run -- ib_write_bw            on one machine\n"
		    "mrc run -- ib_write_bw 10.0.0.1   on another\n"
		    "mrc run --report -- mpirun -n 4 --mca pml ucx ./program",
	.exits = "that of the program, 128 + N if signal N ended it; 126 it could not be run, 127 "
		 "it was not found, 2 wrong usage",
	.operands = "PROGRAM",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = run_main,
};
