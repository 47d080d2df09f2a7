/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi_symbols.c - the shared libraries export what their version scripts list, under the node that
 * the script says, and nothing else.
 *
 * Arguments: nm, libmrc.so.1, libmrc.map, libibverbs.so.1, libibverbs.map, libmrc-core.so.0,
 * libmrc-core.map, and rdma-core's own libibverbs if it is installed.
 */
#include "support/test.h"

#include <ctype.h>
#include <stdio.h>

/* The private nodes of all releases have the same symbols, once each. */
#define SYMBOLS_MAX 8192
#define NAME_MAX_BYTES 96

/* A set of "name@NODE", and the nodes themselves. */
struct set {
	char name[SYMBOLS_MAX][NAME_MAX_BYTES];
	size_t n;
};

static void set_add(struct set *s, const char *name, const char *node)
{
	int len;

	assert_true(s->n < SYMBOLS_MAX);
	len = snprintf(s->name[s->n++], NAME_MAX_BYTES, "%s@%s", name, node);
	assert_true(len > 0 && len < NAME_MAX_BYTES);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void set_sort(struct set *s)
{
	qsort(s->name, s->n, NAME_MAX_BYTES, by_name);
}

/* Removes what C-style comments hold. */
static void strip_comments(char *text)
{
	char *to = text;

	for (char *p = text; *p;) {
		char *end = strncmp(p, "/*", 2) == 0 ? strstr(p, "*/") : NULL;

		if (end)
			p = end + 2;
		else
			*to++ = *p++;
	}
	*to = '\0';
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 17);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 17) - 1, f) > 0);
	fclose(f);
	return text;
}

/* Words of a version script: NODE { global: name; ... local: *; } PARENT; */
static void read_map(const char *path, struct set *s)
{
	char *text = read_text(path), *save = NULL, node[NAME_MAX_BYTES] = "";
	bool global = false, inside = false;

	strip_comments(text);
	for (char *w = strtok_r(text, " \t\n;", &save); w; w = strtok_r(NULL, " \t\n;", &save)) {
		if (strcmp(w, "{") == 0) {
			inside = true;
			global = true;
			set_add(s, "", node);
		} else if (strcmp(w, "}") == 0) {
			inside = false;
		} else if (strcmp(w, "global:") == 0 || strcmp(w, "local:") == 0) {
			global = *w == 'g';
		} else if (!inside) {
			snprintf(node, sizeof(node), "%s", w);
		} else if (global) {
			set_add(s, w, node);
		}
	}
	free(text);
	set_sort(s);
}

/* Lines of nm: "address T name@@NODE"; some linkers add a symbol "address A NODE" per node. */
static void read_list(const char *command, struct set *s)
{
	char line[1024];
	FILE *f;

	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char type, name[NAME_MAX_BYTES], *at;

		assert_int_equal(sscanf(line, "%*x %c %95s", &type, name), 2);
		if (type == 'A')
			continue;
		at = strchr(name, '@');
		assert_true(type == 'T' || type == 'B');
		assert_non_null(at);
		*at = '\0';
		set_add(s, name, at + 1 + strspn(at + 1, "@"));
	}
	assert_int_equal(pclose(f), 0);
}

/* Adds the version nodes; readelf has "... Flags: none Index: 2 Cnt: 1 Name: NODE" for each. */
static void read_nodes(const char *library, struct set *s)
{
	char command[4096], line[1024];
	FILE *f;

	snprintf(command, sizeof(command), "LC_ALL=C readelf -VW '%s'", library);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const char *name = strstr(line, " Name: ");

		/* The base is the library itself; what it needs of others has a version, no Rev. */
		if (!name || !strstr(line, " Rev: ") || strstr(line, "Flags: BASE"))
			continue;
		line[strcspn(line, "\n")] = '\0';
		set_add(s, "", name + strlen(" Name: "));
	}
	assert_int_equal(pclose(f), 0);
}

#define LIST "%s -D --defined-only --with-symbol-versions '%s'"

static void read_library(const char *nm, const char *path, struct set *s)
{
	char command[4096];

	snprintf(command, sizeof(command), LIST, nm, path);
	read_list(command, s);
	read_nodes(path, s);
	set_sort(s);
}

static void compare(const struct set *map, const struct set *library)
{
	size_t i = 0, j = 0, faults = 0;

	while (i < map->n || j < library->n) {
		int order = i == map->n	      ? 1
			    : j == library->n ? -1
					      : strcmp(map->name[i], library->name[j]);

		if (order < 0)
			print_error("in the map only: %s\n", map->name[i]);
		if (order > 0)
			print_error("in the library only: %s\n", library->name[j]);
		faults += order != 0;
		i += order <= 0;
		j += order >= 0;
	}
	assert_u_eq(faults, 0);
}

static void check(size_t library_arg, size_t least)
{
	static struct set map, library;

	map.n = library.n = 0;
	assert_non_null(test_arg(library_arg + 1));
	read_map(test_arg(library_arg + 1), &map);
	read_library(test_arg(0), test_arg(library_arg), &library);
	assert_true(map.n >= least);
	compare(&map, &library);
}

static size_t count(const struct set *s, const char *node, const char *prefix)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const char *at = strchr(s->name[i], '@');

		n += strcmp(at + 1, node) == 0 && strncmp(s->name[i], prefix, strlen(prefix)) == 0;
	}
	return n;
}

TEST(libmrc, exports_what_its_map_lists)
{
	check(1, 28);
}

TEST(libmrc, has_the_27_calls)
{
	static struct set library;

	read_library(test_arg(0), test_arg(1), &library);
	assert_u_eq(count(&library, "MRC_1.0", "mrc_"), 27);
	/* and the 14 of controllers */
	assert_u_eq(count(&library, "MRC_CTL_1.0", "mrc_ctl_"), 14);
	/* mrc_log_set, and the eight of mrc/meet.h */
	assert_u_eq(count(&library, "SOFTMRC_1.0", "mrc_"), 9);
	assert_u_eq(count(&library, "SOFTMRC_1.0", "mrc_meet"), 8);
	/* and nothing but the NIC's calls in the private node */
	assert_u_eq(count(&library, "SOFTMRC_PRIVATE", "mh_") + 1,
		    count(&library, "SOFTMRC_PRIVATE", ""));
}

TEST(libmrc_core, exports_what_its_map_lists)
{
	check(5, 80);
}

/* Leaves out what private.c puts into the private nodes, but not the nodes. */
static void leave_out_private(struct set *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->name[i][0] == '@' || !strstr(s->name[i], "@IBVERBS_PRIVATE_"))
			memmove(s->name[kept++], s->name[i], NAME_MAX_BYTES);
	s->n = kept;
}

TEST(libibverbs, exports_what_its_map_lists)
{
	static struct set map, library;

	read_map(test_arg(4), &map);
	read_library(test_arg(0), test_arg(3), &library);
	leave_out_private(&library);
	assert_true(map.n >= 75);
	compare(&map, &library);
}

/* Vendors' libraries of any release find each of their symbols, under the node of the release. */
TEST(libibverbs, has_all_private_symbols_in_each_release)
{
	static struct set library;
	size_t debian_12;

	read_library(test_arg(0), test_arg(3), &library);
	debian_12 = count(&library, "IBVERBS_PRIVATE_34", "");
	assert_u_eq(debian_12, 92 + 1); /* those of all releases up to 65, and the node */
	for (int release = 30; release < 80; release++) {
		char node[32], driver[40];

		snprintf(node, sizeof(node), "IBVERBS_PRIVATE_%d", release);
		snprintf(driver, sizeof(driver), "verbs_register_driver_%d", release);
		assert_u_eq(count(&library, node, ""), debian_12);
		assert_u_eq(count(&library, node, driver), 1);
	}
}

static bool has(const struct set *s, const char *name)
{
	return bsearch(name, s->name, s->n, NAME_MAX_BYTES, by_name) != NULL;
}

/* Programs of today; symbols that are no default of their name are for those of 2006. */
TEST(libibverbs, has_all_that_rdma_core_has)
{
	static struct set theirs, ours;
	char command[4096];
	size_t missing = 0;

	if (!test_arg(7))
		test_skip("libibverbs of rdma-core is not installed");
	snprintf(command, sizeof(command), LIST " | grep @@", test_arg(0), test_arg(7));
	read_list(command, &theirs);
	read_nodes(test_arg(7), &theirs);
	read_library(test_arg(0), test_arg(3), &ours);
	assert_true(theirs.n >= 140);
	for (size_t i = 0; i < theirs.n; i++) {
		if (!has(&ours, theirs.name[i])) {
			print_error("missing: %s\n", theirs.name[i]);
			missing++;
		}
	}
	assert_u_eq(missing, 0);
}
