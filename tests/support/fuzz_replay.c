/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target without a fuzzer: over each file of the corpus folders named on the command
 * line, then over the empty input and a fixed number of random inputs, unless the first argument is
 * --corpus-only. Part of every test run, so that what a fuzzer once found stays found, with any
 * compiler.
 */
#include "support/test.h"
#include "support/whole_run.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

/* libFuzzer's entry point, written by each target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANDOM_INPUTS 2000
#define RANDOM_MAX_BYTES 512

static unsigned n_done;

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0;
	struct stat st;

	if (!f || fstat(fileno(f), &st)) {
		perror(path);
		exit(1);
	}
	data = malloc(st.st_size ? (size_t)st.st_size : 1);
	if (!data) {
		perror(path);
		exit(1);
	}
	size = fread(data, 1, (size_t)st.st_size, f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	fclose(f);
	printf("ok %u - %s\n", ++n_done, path);
}

static void replay_folder(const char *folder)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort);

	if (n < 0) {
		perror(folder);
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		char path[4096];
		int len = snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);

		if (len < 0 || (size_t)len >= sizeof(path)) {
			fprintf(stderr, "%s/%s: path too long\n", folder, names[i]->d_name);
			exit(1);
		}
		if (names[i]->d_name[0] != '.')
			replay_file(path);
		free(names[i]);
	}
	free(names);
}

/* Copies of the exact size, so that the address sanitizer sees a read past the end. */
static void replay_random(void)
{
	for (size_t i = 0; i < test_rounds(RANDOM_INPUTS); i++) {
		size_t size = (size_t)test_rand_below(RANDOM_MAX_BYTES);
		uint8_t *data = malloc(size ? size : 1);

		if (!data) {
			perror("malloc");
			exit(1);
		}
		test_rand_bytes(data, size);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	printf("ok %u - random inputs\n", ++n_done);
}

int main(int argc, char **argv)
{
	bool corpus_only = argc > 1 && strcmp(argv[1], "--corpus-only") == 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	test_run_begins();
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	printf("ok %u - empty input\n", ++n_done);
	for (int i = 1 + corpus_only; i < argc; i++)
		replay_folder(argv[i]);
	if (!corpus_only)
		replay_random();
	printf("1..%u\n", n_done);
	test_run_ends();
	return 0;
}
