/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * real_library.c - loads the system's libibverbs; see real_library.h.
 *
 * It has the same soname as this library, but the loader compares sonames only with names that are
 * not paths: so it is loaded by its path, and the name libibverbs.so.1 stays ours, also for drivers
 * that it loads. Where this library is in the global scope, its calls of its own functions come to
 * us first, and go back to it by object. REQ(api.real-devices)
 */
#include "libibverbs/real_library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Atomic(const struct mv_real *) mv_real_loaded;

static atomic_bool load_attempted;
static struct mv_real table;
static char setting[MH_REAL_IBVERBS_BYTES];

static const struct {
	const char *name;
	size_t offset;
	bool needed;
} calls[] = {
#define NEEDED(name) {#name, offsetof(struct mv_real, name), true},
#define NEWER(name) {#name, offsetof(struct mv_real, name), false},
	MV_REAL_NEEDED(NEEDED) MV_REAL_NEWER(NEWER)};

static void warn_library(const char *path, const char *why)
{
	mh_log(MRC_LOG_WARNING,
	       "MRC_REAL_IBVERBS=%s: %s%s%s; must be auto, off, or the path of the "
	       "libibverbs.so.1 of rdma-core 35 or newer. Real devices are not shown",
	       setting, strcmp(setting, path) ? path : "", strcmp(setting, path) ? ": " : "", why);
}

#ifndef __GLIBC__
/* Other loaders know nothing of the versions of symbols, by which rdma-core's drivers are told. */
static void *symbol_of_library(void *library, const char *name, const char *version)
{
	(void)library, (void)name, (void)version;
	return NULL;
}
#else
/* What the library itself defines; dlsym also finds what those that it needs do, as we may be. */
static void *symbol_of_library(void *library, const char *name, const char *version)
{
	void *address = version ? dlvsym(library, name, version) : dlsym(library, name);
	struct link_map *wanted, *map;
	Dl_info info;

	if (address && dlinfo(library, RTLD_DI_LINKMAP, &wanted) == 0 &&
	    dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map == wanted)
		return address;
	return NULL;
}
#endif

/* rdma-core has one private node, we have them all. Returns its number, or 0. */
static int private_node(void *library, const char **why)
{
	int node = 0, nodes = 0;

	for (int n = MV_NODE_FIRST; n <= MV_NODE_LAST; n++) {
		char name[32];

		snprintf(name, sizeof(name), "IBVERBS_PRIVATE_%d", n);
		if (symbol_of_library(library, "verbs_set_ops", name)) {
			node = n;
			nodes++;
		}
	}
	*why = nodes ? "is softmrc's own" : "is not rdma-core's libibverbs, or one before 35";
	return nodes == 1 ? node : 0;
}

/* Returns the name of a call that the library lacks, or NULL. */
static const char *resolve_symbols(void *library)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *address = symbol_of_library(library, calls[i].name, NULL);

		if (!address && calls[i].needed)
			return calls[i].name;
		memcpy((char *)&table + calls[i].offset, &address, sizeof(address));
	}
	return NULL;
}

/*
 * What is loaded stays: devices of it are handed out. One that is not taken stays, too: dlclose()
 * waits for a fork to end, as glibc before 2.36 has it, and the fork for the lock that we have.
 */
static bool load_library(const char *path)
{
	char resolved[PATH_MAX], text[128];
	const char *trusted = mv_real_trusted_path(path, resolved);
	void *library = trusted ? dlopen(trusted, RTLD_NOW | RTLD_LOCAL) : NULL;
	const char *why, *lacks;
	int node;

	if (!trusted) {
		warn_library(path, "others than root can change it, and this program has rights "
				   "that its user lacks");
		return false;
	}
	if (!library) {
		why = dlerror();
		warn_library(path, why ? why : "cannot be loaded");
		return false;
	}
	node = private_node(library, &why);
	lacks = node ? resolve_symbols(library) : NULL;
	if (lacks) {
		snprintf(text, sizeof(text), "lacks %s", lacks);
		why = text;
	}
	if (!node || lacks) {
		warn_library(path, why);
		return false;
	}
	mv_private_bind(library, node);
	atomic_store(&mv_real_loaded, &table);
	return true;
}

static void load_once(void)
{
	if (mh_real_ibverbs(setting))
		return; /* it was said; the list of devices fails of it too */
	if (strcmp(setting, "auto") == 0)
		mv_real_find(load_library);
	else if (strcmp(setting, "off") != 0)
		load_library(setting);
	atomic_store(&load_attempted, true);
}

const struct mv_real *mv_real_load(void)
{
	int cancel_state;

	if (!atomic_load(&load_attempted)) {
		mv_lock(MV_LOCK_LOADING);
		/* A thread that is cancelled while it reads files would keep the lock. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
		if (!atomic_load(&load_attempted))
			load_once();
		mv_unlock(MV_LOCK_LOADING);
		pthread_setcancelstate(cancel_state, NULL);
	}
	return mv_real();
}
