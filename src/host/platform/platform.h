/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * platform.h - what host takes from the CPU and the kernel. Files of this part know nothing of
 * NICs, and each stands alone.
 */
#ifndef SOFTMRC_HOST_PLATFORM_PLATFORM_H
#define SOFTMRC_HOST_PLATFORM_PLATFORM_H

#include "wire/icrc.h"

#include <mrc/log.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory of the program that may no longer be there: mem_guard.c ---- */

/*
 * A program that unmaps registered memory, or cuts off the file behind it, is wrong, but must hear
 * of that by an error completion and not by a signal. While a NIC is open, SIGSEGV and SIGBUS go to
 * a handler first, which does one thing: when the faulting thread is inside mh_guard_run, and the
 * address is one of the memory it named, the run ends. Every other fault goes to the handler
 * of before, as if ours were not there. docs/design has the reasons.
 *
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
/* mh_guard_place is mh_place_payload to memory that may be gone; false: it is, in part filled. */
bool mh_guard_place(void *to, const void *from, uint32_t len);

/*
 * mh_mem_check returns 0 when every page of [addr, addr + length) can be read, and written if
 * `write`; else EFAULT. Pages are faulted in, as pinning would do, which may take seconds: the
 * caller holds no lock.
 */
int mh_mem_check(void *addr, size_t length, bool write);

/* ---- writing to memory that the program watches: place_payload.c, cpu_atomic.c ---- */

/*
 * mh_place_payload copies len bytes so that the end becomes visible to other threads last: programs
 * wait for the end of a buffer to change. What is aligned to 8 bytes and no longer than 512 becomes
 * visible word by word, in the order of its addresses. Only within a packet; packets may arrive in
 * any order.
 */
void mh_place_payload(void *to, const void *from, uint32_t len);

/*
 * mh_atomic_add and mh_atomic_swap change the 8 bytes at `at`, aligned, with the processor's own
 * atomic instructions, and return what was there: swap stores `to` if that equals `from`. They are
 * atomic towards each other, towards atomics of the program, and of any process that maps the
 * memory. Any thread.
 */
uint64_t mh_atomic_add(void *at, uint64_t add);
uint64_t mh_atomic_swap(void *at, uint64_t from, uint64_t to);
/* mh_atomic_store stores `to` whatever is there, and returns that. */
uint64_t mh_atomic_store(void *at, uint64_t to);

/* ---- CRC-32 for the ICRC: crc32_cpu.c, crc32_x86.c, crc32_arm.c ---- */

#define MH_CRC32_MAX 3u

/*
 * mh_crc32_all puts into fn the routines of this CPU that compute what mw_crc32_update computes,
 * the slowest, which is that one, first. Returns how many there are, at least 1.
 */
uint32_t mh_crc32_all(mw_crc32_fn fn[MH_CRC32_MAX]);

/* mh_crc32_best returns the fastest of them. */
mw_crc32_fn mh_crc32_best(void);

/*
 * mh_crc32_x86 and mh_crc32_arm put what this CPU has of their own behind the n routines in fn,
 * slower ones first. They return how many there are then: n on any other machine.
 */
uint32_t mh_crc32_x86(mw_crc32_fn fn[MH_CRC32_MAX], uint32_t n);
uint32_t mh_crc32_arm(mw_crc32_fn fn[MH_CRC32_MAX], uint32_t n);

/* ---- numbers that no peer can guess (seeds, keys, first QP numbers): entropy.c ---- */

/*
 * mh_entropy gets 64 bits from the kernel. Never blocks. EAGAIN: it has none yet, early at boot;
 * EPERM, ENOSYS: this process may not ask. The caller fails with the same error.
 */
int mh_entropy(uint64_t *number);

/* ---- whether a thread goes before others of its core: thread_priority.c ---- */

/*
 * A thread that spins on its memory keeps its core until its slice is over, most of a tick of 4 ms,
 * and with as many spinning threads as cores what they wait for lies in a socket all the while.
 * With a lower nice value the progress thread, which reads it, goes first. It takes a right to
 * lower that: CAP_SYS_NICE, or RLIMIT_NICE as far as it reaches.
 */

#define MH_PRIORITY_MAX 20u

/* Of one thread. */
struct mh_priority {
	int base;	/* its nice value when it is not raised */
	uint32_t steps; /* how many lower it is when it is; 0: never */
	bool raised;
};

/* mh_priority_init takes the calling thread as it is; 0 .. MH_PRIORITY_MAX steps. */
void mh_priority_init(struct mh_priority *p, uint32_t steps);
/*
 * mh_priority_raise lowers the nice value of the calling thread, whose priority it must be, or puts
 * it back. What the system allows counts: less, or nothing from the first refusal on.
 */
void mh_priority_raise(struct mh_priority *p, bool raised);

/* ---- messages (mh_log is in nic.h): log.c ---- */

/* How lines on stderr look. */
enum mh_log_format {
	MH_LOG_PLAIN,	 /* softmrc: TEXT */
	MH_LOG_TIME,	 /* TIME softmrc[PID] LEVEL: TEXT */
	MH_LOG_JOURNALD, /* <N>softmrc: TEXT, N of syslog(3) */
};

/*
 * mh_log_configure takes what the settings say: the level, MRC_LOG_OFF to MRC_LOG_DEBUG, of what is
 * said unless the program has chosen one. Any thread.
 */
void mh_log_configure(enum mrc_log_level level, enum mh_log_format format);
/* mh_log_set takes what the program says, as mrc_log_set does but for errno. */
int mh_log_set(enum mrc_log_level level, mrc_log_fn fn, void *context);
/* mh_log_lock and mh_log_unlock: while the process forks nobody is in the middle of a message. */
void mh_log_lock(void);
void mh_log_unlock(void);

/* ---- news of interfaces and addresses from the kernel: link_monitor.c ---- */

/*
 * A netlink socket only wakes: what is true now is asked anew, so that a message that was lost when
 * many came at once does no harm.
 *
 * mh_link_monitor_open returns a descriptor that polls readable after a change; -1 and errno: this
 * system has none (a sandbox), or there are no descriptors.
 */
int mh_link_monitor_open(void);
/* mh_link_monitor_drain takes what waits on the descriptor and says whether there was anything. */
bool mh_link_monitor_drain(int fd);

#endif
