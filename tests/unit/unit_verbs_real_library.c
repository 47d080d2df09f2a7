/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_verbs_real_library.c - which libraries are taken for the system's own libibverbs, and what
 * is said of others: src/libibverbs/real_library.c. The linker leads the loader's calls through
 * __wrap_*, which play a library. A process loads one once, so each case is a process.
 */
#include "libibverbs/real_library.h"
#include "support/test.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH "/usr/lib/libibverbs.so.1"

/* ---- a library ---- */

static uint64_t nodes[2];      /* bit n: it has the private node n */
static const char *missing;    /* a call that it lacks, ... */
static const char *of_another; /* ... or that one has which it needs */
static bool is_there = true;
static int n_loads, bound_node;

static char library, own_symbol, other_symbol;
static struct link_map own_map, other_map;

void *__wrap_dlopen(const char *path, int flags);
int __wrap_dlclose(void *handle);
char *__wrap_dlerror(void);
void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlvsym(void *handle, const char *name, const char *version);
int __wrap_dlinfo(void *handle, int request, void *info);
int __wrap_dladdr1(const void *address, Dl_info *info, void **extra, int flags);

void *__wrap_dlopen(const char *path, int flags)
{
	n_loads++;
	return is_there && strcmp(path, PATH) == 0 && flags == (RTLD_NOW | RTLD_LOCAL) ? &library
										       : NULL;
}

/* Not while a fork waits for the lock. */
int __wrap_dlclose(void *handle)
{
	(void)handle;
	abort();
}

char *__wrap_dlerror(void)
{
	static char text[] = "it is not there";

	return text;
}

void *__wrap_dlsym(void *handle, const char *name)
{
	if (handle == RTLD_NEXT) /* held_mutexes.c */
		return __real_dlsym(handle, name);
	if (handle != &library || (missing && strcmp(name, missing) == 0))
		return NULL;
	return of_another && strcmp(name, of_another) == 0 ? &other_symbol : &own_symbol;
}

void *__wrap_dlvsym(void *handle, const char *name, const char *version)
{
	int node;

	if (handle != &library || strcmp(name, "verbs_set_ops") != 0 ||
	    sscanf(version, "IBVERBS_PRIVATE_%d", &node) != 1)
		return NULL;
	return nodes[node / 64] >> node % 64 & 1 ? &own_symbol : NULL;
}

int __wrap_dlinfo(void *handle, int request, void *info)
{
	struct link_map *map = &own_map;

	memcpy(info, &map, sizeof(map));
	return handle == &library && request == RTLD_DI_LINKMAP ? 0 : -1;
}

int __wrap_dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
	*info = (Dl_info){0};
	*extra = address == &own_symbol ? &own_map : &other_map;
	return flags == RTLD_DL_LINKMAP;
}

/* ---- what real_library.c asks ---- */

static const char *setting = PATH;
static bool is_trusted = true;
static int n_finds;
static char said[400];
static int cancel_state = -1;

int mh_real_ibverbs(char path[MH_REAL_IBVERBS_BYTES])
{
	int unused;

	/* Whoever reads files here may wait, and must not be cancelled under the lock. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_setcancelstate(cancel_state, &unused);
	if (!setting)
		return EINVAL;
	snprintf(path, MH_REAL_IBVERBS_BYTES, "%s", setting);
	return 0;
}

void mh_log(enum mrc_log_level level, const char *format, ...)
{
	va_list ap;

	(void)level;
	va_start(ap, format);
	vsnprintf(said, sizeof(said), format, ap);
	va_end(ap);
}

void mv_real_find(bool (*use)(const char *path))
{
	n_finds++;
	use(PATH);
}

const char *mv_real_trusted_path(const char *path, char resolved[PATH_MAX])
{
	snprintf(resolved, PATH_MAX, "%s", path);
	return is_trusted ? resolved : NULL;
}

void mv_private_bind(void *handle, int node)
{
	bound_node = handle == &library ? node : -1;
}

/* ---- cases ---- */

static void give_node(int node)
{
	nodes[node / 64] |= UINT64_C(1) << node % 64;
}

/* Twice, for what was found out once is not looked for again. 0, or the line of what is wrong. */
#define WANT(condition)                  \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static int loads(int node)
{
	int state;

	for (int i = 0; i < 2; i++) {
		const struct mv_real *real = mv_real_load();

		WANT(real && real == mv_real());
		WANT((const void *)(uintptr_t)real->ibv_alloc_pd == &own_symbol);
		WANT(n_loads == 1 && bound_node == node && !said[0]);
	}
	WANT(cancel_state == PTHREAD_CANCEL_DISABLE);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	WANT(state == PTHREAD_CANCEL_ENABLE);
	return 0;
}

/* n: how often it was loaded. */
static int loads_none(int n, const char *why)
{
	for (int i = 0; i < 2; i++) {
		WANT(!mv_real_load() && !mv_real());
		WANT(n_loads == n && bound_node == 0);
	}
	WANT(why ? strstr(said, "MRC_REAL_IBVERBS=" PATH ": ") && strstr(said, why) : !said[0]);
	return 0;
}

static int first_node(void)
{
	give_node(MV_NODE_FIRST);
	return loads(MV_NODE_FIRST);
}

static int last_node(void)
{
	give_node(MV_NODE_LAST);
	return loads(MV_NODE_LAST);
}

static int newer_call_missing(void)
{
	give_node(34);
	missing = "ibv_query_port_speed";
	return loads(34) || mv_real()->ibv_query_port_speed != NULL;
}

static int needed_call_missing(void)
{
	give_node(34);
	missing = "ibv_set_ece";
	return loads_none(1, "lacks ibv_set_ece; must be auto");
}

static int needed_call_of_another(void)
{
	give_node(34);
	of_another = "ibv_alloc_pd";
	return loads_none(1, "lacks ibv_alloc_pd; must be auto");
}

static int no_node(void)
{
	return loads_none(1, "is not rdma-core's libibverbs, or one before 35");
}

static int two_nodes(void)
{
	give_node(34);
	give_node(MV_NODE_LAST);
	return loads_none(1, "is softmrc's own");
}

static int not_there(void)
{
	is_there = false;
	return loads_none(1, "it is not there");
}

static int not_trusted(void)
{
	is_trusted = false;
	return loads_none(0, "others than root can change it");
}

static int automatic(void)
{
	setting = "auto";
	give_node(34);
	return loads(34) || n_finds != 1;
}

static int off(void)
{
	setting = "off";
	return loads_none(0, NULL) || n_finds != 0;
}

static int wrong_setting(void)
{
	setting = NULL;
	return loads_none(0, NULL) || n_finds != 0;
}

static void in_process(int (*run)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(run() % 256);
	}
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_i_eq(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), 0);
}

#define CASE(name)                \
	TEST(mv_real_load, name)  \
	{                         \
		in_process(name); \
	}
CASE(first_node)
CASE(last_node)
CASE(newer_call_missing)
CASE(needed_call_missing)
CASE(needed_call_of_another)
CASE(no_node)
CASE(two_nodes)
CASE(not_there)
CASE(not_trusted)
CASE(automatic)
CASE(off)
CASE(wrong_setting)
