/* SPDX-License-Identifier: BSD-2-Clause */
/* panic_abort.c - the ordinary panic hook: say what failed, then abort. */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

_Noreturn void mb_panic(const char *file, int line, const char *what)
{
	fprintf(stderr, "softmrc: %s:%d: assertion failed: %s\n", file, line, what);
	abort();
}
