/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assert.h - assertions in two tiers.
 *
 * mb_assert guards what would corrupt memory or the protocol if it did not hold; it costs a
 * predictable branch and stays on in every build. mb_assert_slow walks structures; it is on where
 * MB_SLOW_ASSERTS is defined (the dev and fuzz builds).
 */
#ifndef SOFTMRC_BASE_ASSERT_H
#define SOFTMRC_BASE_ASSERT_H

/*
 * mb_panic is called when an assertion fails and must not return. A program may define its
 * own; panic_abort.c has the ordinary one, which prints and aborts.
 */
_Noreturn void mb_panic(const char *file, int line, const char *what);

#define mb_assert(cond) ((cond) ? (void)0 : mb_panic(__FILE__, __LINE__, #cond))

#ifdef MB_SLOW_ASSERTS
#define mb_assert_slow(cond) mb_assert(cond)
#else
/* Never evaluated, yet used: a check that only this calls is no dead code. */
#define mb_assert_slow(cond) ((void)(0 && (cond)))
#endif

#define mb_unreachable() mb_panic(__FILE__, __LINE__, "unreachable")

#endif
