/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc run - starts an unmodified verbs program with all that it looks for: the drop-in
 * libibverbs.so.1 before any other, and the files of the device below /sys and /dev, which some
 * libraries read before they ask libibverbs.
 */
#include "cli/flags.h"
#include "cli/run/device.h"
#include "cli/verbs.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define PATH_BYTES 4096

struct options {
	bool no_views;
};

static void print_help(const struct cli_flag *flags, size_t n)
{
	printf("usage: mrc run [FLAG...] -- PROGRAM [ARGUMENT...]\n"
	       "Starts a program that knows only libibverbs, with the device mrc0.\n\n");
	cli_flags_help(flags, n);
	printf("\nSets LD_LIBRARY_PATH, and for NCCL NCCL_IBVERBS_LIB and NCCL_IB_HCA. In a mount\n"
	       "namespace of the program /sys/class/infiniband and /dev/infiniband show the "
	       "device;\n"
	       "without root that takes a user namespace.\n\n"
	       "  mrc run -- ib_write_bw            on one machine\n"
	       "  mrc run -- ib_write_bw 10.0.0.1   on another\n\n"
	       "exit status: the program's; 126 it could not be run, 127 it was not found,\n"
	       "2 wrong usage\n");
}

/* lib/softmrc beside bin, as built and as installed. */
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

static int set_environment(const char *dir)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char path[2 * PATH_BYTES], library[PATH_BYTES + 32];

	snprintf(path, sizeof(path), "%s%s%s", dir, old && *old ? ":" : "", old ? old : "");
	snprintf(library, sizeof(library), "%s/libibverbs.so.1", dir);
	if (setenv("LD_LIBRARY_PATH", path, 1) || setenv("NCCL_IBVERBS_LIB", library, 1) ||
	    setenv("NCCL_IB_HCA", "mrc0", 0)) {
		fprintf(stderr, "mrc run: no memory for the environment\n");
		return -1;
	}
	return 0;
}

/* Programs that look at files only do without them what they can: it is said, and they run. */
static void show_device(void)
{
	struct run_view_error e;
	struct run_device device;

	if (run_device_ask(&device))
		return; /* the program will hear the same */
	if (run_view_enter(&e) || run_device_show(&device, &e))
		fprintf(stderr,
			"mrc run: no view of the device below /sys and /dev: %s; libraries that "
			"look there (UCX, NCCL) will not find it\n",
			e.text);
}

int cli_run_main(int argc, char **argv)
{
	struct options o = {0};
	const struct cli_flag flags[] = {
		{"--no-views", CLI_FLAG_SWITCH, NULL, "leave /sys and /dev as they are",
		 &o.no_views, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	char dir[PATH_BYTES];
	int first = 1;

	while (first < argc && strcmp(argv[first], "--") != 0 && argv[first][0] == '-')
		first++;
	switch (cli_flags_parse(flags, n, "mrc run", first, argv)) {
	case CLI_FLAGS_HELP:
		print_help(flags, n);
		return 0;
	case CLI_FLAGS_ERROR:
		return EXIT_USAGE;
	case CLI_FLAGS_OK:
		break;
	}
	if (first < argc && strcmp(argv[first], "--") == 0)
		first++;
	if (first == argc) {
		fprintf(stderr, "mrc run: want a program to run (mrc run --help tells more)\n");
		return EXIT_USAGE;
	}
	if (find_library(dir, sizeof(dir)) || set_environment(dir))
		return EXIT_FAILED;
	if (!o.no_views)
		show_device();
	execvp(argv[first], argv + first);
	fprintf(stderr, "mrc run: %s: %s\n", argv[first], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}
