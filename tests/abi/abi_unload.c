/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi_unload.c - the shared libraries stay when a program unloads them: a device that is left open
 * keeps a thread, signal handlers and what runs at fork and at exit, all of them code of theirs.
 *
 * Arguments: libmrc.so.1, libibverbs.so.1.
 */
#include "support/test.h"

#include <dlfcn.h>

static void check_stays(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		fail_msg("%s", dlerror());
	assert_i_eq(dlclose(library), 0);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	assert_non_null(library);
	dlclose(library);
}

TEST(abi_unload, libmrc_stays)
{
	check_stays(test_arg(0));
}

TEST(abi_unload, libibverbs_stays)
{
	check_stays(test_arg(1));
}
