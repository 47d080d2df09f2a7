/* SPDX-License-Identifier: BSD-2-Clause */
/* log_set.c - what a program says of its messages, which may be the first thing that it calls. */
#include "host/nic.h"

#include <errno.h>

#include "host/platform/platform.h"
#include "host/verbs/verbs.h"

int mrc_log_set(enum mrc_log_level level, mrc_log_fn fn, void *context)
{
	int err;

	mh_fork_watch();
	err = mh_log_set(level, fn, context);
	if (err)
		errno = err;
	return err;
}
