/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * real_trust.c - whether a library may be loaded into a program that has rights which its user
 * lacks. Its constructors run with these rights, so that only who has them anyway may have made it.
 */
#include "libibverbs/real_library.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

/* Whether root alone can change what the path leads to; links are resolved. */
static bool is_roots(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       !S_ISLNK(st.st_mode);
}

bool mv_real_path_is_roots(const char *path)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (path[0] != '/' || len >= sizeof(part) || !is_roots("/"))
		return false;
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (!is_roots(part))
			return false;
	}
	return true;
}

const char *mv_real_trusted_path(const char *path, char resolved[PATH_MAX])
{
	if (!getauxval(AT_SECURE))
		return path;
	return realpath(path, resolved) && mv_real_path_is_roots(resolved) ? resolved : NULL;
}
