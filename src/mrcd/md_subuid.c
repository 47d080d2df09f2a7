/* SPDX-License-Identifier: BSD-2-Clause */
/* md_subuid.c - subordinate numbers of users: see md_subuid.h. */
#include "mrcd/md_subuid.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256
#define LINE_BYTES 512
#define RANGES_AT_FIRST 16u
#define UIDS (UINT64_C(1) << 32)
/* Of an entry of the user database. */
#define USER_BYTES 16384

struct md_subuid_range {
	char name[NAME_BYTES];
	uint64_t first, end;
	uint64_t account; /* valid once is_known */
	bool is_known;
};

void md_subuid_init(struct md_subuid *s, const char *path)
{
	*s = (struct md_subuid){.path = path};
}

void md_subuid_fini(struct md_subuid *s)
{
	free(s->range);
	s->range = NULL;
	s->n = 0;
}

/* NAME:FIRST:COUNT. What is something else gives nobody anything. */
static bool read_range(const char *line, struct md_subuid_range *r)
{
	uint64_t count;
	char behind = '\n';

	*r = (struct md_subuid_range){.is_known = false};
	if (sscanf(line, "%255[^:]:%10" SCNu64 ":%10" SCNu64 "%c", r->name, &r->first, &count,
		   &behind) < 3 ||
	    behind != '\n')
		return false;
	r->end = r->first + count;
	return true;
}

static bool add_range(struct md_subuid *s, const struct md_subuid_range *r)
{
	struct md_subuid_range *more = s->range;

	if ((s->n & (s->n - 1)) == 0 && (s->n == 0 || s->n >= RANGES_AT_FIRST)) {
		size_t room = s->n ? 2 * s->n : RANGES_AT_FIRST;

		more = realloc(s->range, room * sizeof(*more));
		if (!more)
			return false;
		s->range = more;
	}
	s->range[s->n++] = *r;
	return true;
}

/* As fgets, but says how many bytes it read: some may be NULs. */
static size_t read_line(FILE *file, char line[LINE_BYTES])
{
	size_t n = 0;
	int c = 0;

	while (n < LINE_BYTES - 1 && c != '\n' && (c = getc_unlocked(file)) != EOF)
		line[n++] = (char)c;
	line[n] = '\0';
	return n;
}

/* What is left of a line that is too long is no line, nor is one with a NUL: the next one is. */
static bool read_file(struct md_subuid *s, FILE *file)
{
	struct md_subuid_range r;
	char line[LINE_BYTES];
	bool begins = true;

	for (size_t i = 0, n; i < MD_SUBUID_LINES_MAX && (n = read_line(file, line)); i++) {
		if (begins && strlen(line) == n && read_range(line, &r) && !add_range(s, &r))
			return false;
		begins = line[n - 1] == '\n';
	}
	return !ferror(file);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool read_again(struct md_subuid *s)
{
	struct md_subuid read = {.path = s->path};
	FILE *file = fopen(s->path, "re");
	bool is_read = file && fstat(fileno(file), &read.seen) == 0 && read_file(&read, file);

	if (file)
		fclose(file);
	md_subuid_fini(is_read ? s : &read);
	if (is_read)
		*s = read;
	return is_read;
}

/*
 * A file that cannot be read now is read another time; until then counts what is known. With no
 * file nobody has any.
 */
static void look(struct md_subuid *s)
{
	struct stat now;
	int failed = stat(s->path, &now);

	if (!failed && is_same_file(&now, &s->seen))
		return;
	if (failed && errno == ENOENT)
		md_subuid_fini(s);
	if (failed || !read_again(s))
		s->seen = (struct stat){0};
}

/*
 * Of a range that belongs to no user. One number alone is a user whom a container has, so that it
 * can write his files: he stays who he is.
 */
static uint64_t account_of_nobody(const struct md_subuid_range *r)
{
	return r->end - r->first == 1 ? r->first : UIDS + r->first;
}

/* Those of root are containers': each is somebody else. */
static uint64_t find_account(const struct md_subuid_range *r)
{
	struct passwd entry, *user = NULL;
	char text[USER_BYTES], *end;
	uint64_t number;

	if (getpwnam_r(r->name, &entry, text, sizeof(text), &user) == 0 && user)
		return user->pw_uid ? user->pw_uid : account_of_nobody(r);
	number = strtoull(r->name, &end, 10);
	return *end == '\0' && number > 0 && number < UIDS ? number : account_of_nobody(r);
}

uint64_t md_subuid_account(struct md_subuid *s, uint32_t uid)
{
	if (uid == 0)
		return 0;
	look(s);
	for (size_t i = 0; i < s->n; i++) {
		struct md_subuid_range *r = &s->range[i];

		if (uid < r->first || uid >= r->end)
			continue;
		if (!r->is_known)
			r->account = find_account(r);
		r->is_known = true;
		return r->account;
	}
	return uid;
}
