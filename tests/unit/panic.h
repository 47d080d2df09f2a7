/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * panic.h - the panic hook of a test that expects assertions: mb_assert becomes an assertion of
 * cmocka, so that expect_assert_failure(call) passes when the call trips one.
 *
 * Include it in one file of a test binary, which then does not link the ordinary hook.
 */
#ifndef UNIT_PANIC_H
#define UNIT_PANIC_H

#include "support/test.h"

#include "base/assert.h"

_Noreturn void mb_panic(const char *file, int line, const char *what)
{
	/* Does not return: it jumps to expect_assert_failure or fails the case. */
	mock_assert(0, what, file, line);
	abort();
}

#endif
