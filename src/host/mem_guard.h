/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_guard.h - touching memory of the program that may no longer be there.
 *
 * A program that unmaps registered memory, or cuts off the file behind it, is wrong, but must hear
 * of that by an error completion and not by a signal. While a NIC is open, SIGSEGV and SIGBUS go to
 * a handler first, which does one thing: when the faulting thread is inside mh_guard_run, and the
 * address is one of the memory it named, the run ends. Every other fault goes to whoever had the
 * signal before, as if nobody had looked. docs/design has the reasons.
 */
#ifndef SOFTMRC_HOST_MEM_GUARD_H
#define SOFTMRC_HOST_MEM_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * mh_guard_open puts the handlers in place; mh_guard_close, as often, puts back what was there. Not
 * from several threads at a time.
 */
void mh_guard_open(void);
void mh_guard_close(void);

/*
 * mh_guard_run calls fn(ctx), which touches [base, base + len) and may be left at any instruction
 * that does: it must hold no lock and leave nothing half done. false: it was left.
 */
bool mh_guard_run(const void *base, size_t len, void (*fn)(void *ctx), void *ctx);

/* mh_guard_copy is memcpy from memory that may be gone; false: it is, and `to` holds a part. */
bool mh_guard_copy(void *to, const void *from, size_t len);

#endif
