/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - runs scripts and prints TAP, a case a script.
 *
 *	script_run [-v] [-c DIR] ROOT [NAME...]	the scripts NAME below ROOT; without any, all *.mrc
 *						there
 *
 * -v prints every packet with its time; -c writes them into DIR, a capture a script.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script.h"
#include "support/whole_run.h"

#define SCRIPTS_MAX 1024u
#define PATH_BYTES 1024u
#define TEXT_MAX (1u << 20)

static char *scripts[SCRIPTS_MAX];
static size_t n_scripts;

static void add(const char *name)
{
	if (n_scripts == SCRIPTS_MAX) {
		fprintf(stderr, "more than %u scripts\n", SCRIPTS_MAX);
		exit(1);
	}
	scripts[n_scripts] = strdup(name);
	if (!scripts[n_scripts++])
		abort();
}

static bool is_script(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && strcmp(name + len - 4, ".mrc") == 0;
}

/* Adds the scripts of root/below and its folders. */
static void collect(const char *root, const char *below)
{
	char path[PATH_BYTES], name[PATH_BYTES];
	struct stat st;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", root, below);
	dir = opendir(path);
	if (!dir) {
		perror(path);
		exit(1);
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%.400s%s%.400s", below, *below ? "/" : "",
			 entry->d_name);
		snprintf(path, sizeof(path), "%.400s/%.600s", root, name);
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			collect(root, name);
		else if (is_script(name))
			add(name);
	}
	closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *read_file(const char *path)
{
	char *text = calloc(1, TEXT_MAX);
	FILE *file = fopen(path, "r");

	if (!text)
		abort();
	if (!file) {
		perror(path);
		exit(1);
	}
	if (fread(text, 1, TEXT_MAX - 1, file) == TEXT_MAX - 1) {
		fprintf(stderr, "%s: longer than %u bytes\n", path, TEXT_MAX - 2);
		exit(1);
	}
	fclose(file);
	return text;
}

/* Messages of several lines become several TAP comments. */
static void print_failure(char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		printf("# %s\n", line);
}

static void end_for(const char *path)
{
	perror(path);
	exit(1);
}

/* Opens the capture of a script, DIR/SUBJECT/SITUATION.pcapng; NULL without a DIR. */
static FILE *open_capture(const char *dir, const char *name, char path[PATH_BYTES])
{
	FILE *to;

	if (!dir)
		return NULL;
	snprintf(path, PATH_BYTES, "%.400s/%.500s", dir, name);
	for (char *slash = path + strlen(dir); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			end_for(path);
		*slash = '/';
	}
	strcpy(path + strlen(path) - strlen("mrc"), "pcapng");
	to = fopen(path, "w");
	if (!to)
		end_for(path);
	return to;
}

static void close_capture(FILE *to, const char *path)
{
	bool bad = to && ferror(to);

	if (to && (fclose(to) || bad))
		end_for(path);
}

static bool run(const char *root, const char *name, size_t number, bool trace, const char *captures)
{
	static struct script script;
	char path[PATH_BYTES], capture_path[PATH_BYTES];
	FILE *capture = open_capture(captures, name, capture_path);
	char *text;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	text = read_file(path);
	if (trace)
		printf("# %s\n", name);
	ok = script_run(&script, path, text, trace, capture);
	close_capture(capture, capture_path);
	/* Every script says which rules it checks; tools/conformance counts them. */
	if (ok && !strstr(text, "REQ"
				"(")) {
		ok = false;
		snprintf(script.report.text, sizeof(script.report.text),
			 "%s:1: the script cites no requirement", path);
	}
	if (!ok)
		print_failure(script.report.text);
	printf("%s %zu - %s\n", ok ? "ok" : "not ok", number, name);
	fflush(stdout);
	free(text);
	return ok;
}

int main(int argc, char **argv)
{
	const char *captures = NULL;
	bool trace = false, ok = true;
	int option, first;

	while ((option = getopt(argc, argv, "vc:")) != -1) {
		trace |= option == 'v';
		captures = option == 'c' ? optarg : captures;
	}
	first = optind;
	if (first >= argc) {
		fprintf(stderr, "usage: %s [-v] [-c DIR] ROOT [NAME...]\n", argv[0]);
		return 2;
	}
	for (int i = first + 1; i < argc; i++)
		add(argv[i]);
	if (n_scripts == 0) {
		collect(argv[first], "");
		qsort(scripts, n_scripts, sizeof(*scripts), by_name);
	}
	if (n_scripts == 0) {
		fprintf(stderr, "%s: no scripts\n", argv[first]);
		return 1;
	}
	test_run_begins();
	printf("1..%zu\n", n_scripts);
	for (size_t i = 0; i < n_scripts; i++) {
		ok = run(argv[first], scripts[i], i + 1, trace, captures) && ok;
		free(scripts[i]);
	}
	test_run_ends();
	return ok ? 0 : 1;
}
