/* SPDX-License-Identifier: BSD-2-Clause */
/* real_find.c - whether the host has real RDMA devices, and where the library for them is. */
#include "libibverbs/real_library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define DEVICES "/sys/class/infiniband"
#define LIBRARY "libibverbs.so.1"
#define PATH_BYTES 4096

/* Entries of a class are links into the tree of devices; what `mrc run` shows of ours is not. */
static bool host_has_devices(void)
{
	DIR *dir = opendir(DEVICES);
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = entry->d_type == DT_LNK;
	closedir(dir);
	return found;
}

static bool is_this_library(const char *path)
{
	struct stat it, own;
	Dl_info info;

	return stat(path, &it) == 0 && dladdr(&mv_real_loaded, &info) &&
	       stat(info.dli_fname, &own) == 0 && it.st_dev == own.st_dev &&
	       it.st_ino == own.st_ino;
}

static bool try_folder(const char *folder, bool (*use)(const char *path))
{
	char path[PATH_BYTES];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/" LIBRARY, folder) >= (int)sizeof(path))
		return false;
	return path[0] == '/' && stat(path, &st) == 0 && !is_this_library(path) && use(path);
}

#ifdef __GLIBC__
/* The folders in which the loader looks for the program's libraries, in their order. */
static Dl_serinfo *library_search_path(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	Dl_serinfo size, *all = NULL;

	if (program && dlinfo(program, RTLD_DI_SERINFOSIZE, &size) == 0)
		all = calloc(1, size.dls_size);
	if (all &&
	    (dlinfo(program, RTLD_DI_SERINFOSIZE, all) || dlinfo(program, RTLD_DI_SERINFO, all))) {
		free(all);
		all = NULL;
	}
	if (program)
		dlclose(program);
	return all;
}

void mv_real_find(bool (*use)(const char *path))
{
	Dl_serinfo *all = host_has_devices() ? library_search_path() : NULL;
	bool found = false;

	for (unsigned int i = 0; all && i < all->dls_cnt && !found; i++)
		found = try_folder(all->dls_serpath[i].dls_name, use);
	free(all);
}
#else
/* Real devices need glibc's loader: see symbol_of_library. */
void mv_real_find(bool (*use)(const char *path))
{
	if (host_has_devices())
		(void)try_folder("/usr/lib", use);
}
#endif
