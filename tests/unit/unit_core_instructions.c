/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_core_instructions.c - how many instructions a packet costs in the core, both ends and the
 * coding of all headers together, as bench/core has it: a child is stepped through them one by one.
 *
 * So the numbers do not depend on time or on what else the machine does, and a change that makes
 * the path of a packet longer is seen at once. Each bound is what was measured with gcc 12, and a
 * twentieth.
 */
#include "engine_pair.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#define ONE_WAY_NS UINT64_C(5000)
#define WARM_UP_PACKETS 20000u
#define PACKETS 64u
/* Other compilers are not expected to do as well, and must not do much worse. */
#if defined(__clang__) || __GNUC__ != 12
#define OTHER_COMPILERS 13u
#else
#define OTHER_COMPILERS 10u
#endif

/* What sanitizers add is not ours, and what another kind of processor needs is another number. */
#if defined(INSTRUCTIONS_COUNT) && defined(__x86_64__)
#define IS_COUNTED true
#else
#define IS_COUNTED false
#endif

typedef void exchange_fn(struct pair *);

static void send_packets(struct pair *p, exchange_fn *exchange, uint64_t n)
{
	uint64_t from = p->data_sent;

	while (p->data_sent - from < n)
		exchange(p);
}

/* The child: it stops before the packets that count, and after them. */
static void run_child(const struct pair_cfg *cfg, exchange_fn *exchange, uint64_t *packets)
{
	static struct pair p;
	uint64_t from;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(1);
	pair_open(&p, cfg);
	send_packets(&p, exchange, WARM_UP_PACKETS);
	from = p.data_sent;
	raise(SIGSTOP);
	send_packets(&p, exchange, PACKETS);
	*packets = p.data_sent - from;
	raise(SIGSTOP);
	_exit(0);
}

/* Steps until the child stops again; 0: it did not come so far, or it cannot be stepped. */
static uint64_t count_steps(pid_t child)
{
	uint64_t steps = 0;
	int status;

	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return 0;
	do {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return 0;
		steps++;
	} while (WSTOPSIG(status) == SIGTRAP);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return steps;
}

static void check_instructions(struct pair_cfg cfg, exchange_fn *exchange, uint64_t most)
{
	uint64_t *packets, steps;
	pid_t child;

	if (!IS_COUNTED)
		test_skip("counted in optimised builds for x86-64");
	packets = mmap(NULL, sizeof(*packets), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(packets != MAP_FAILED);
	cfg.evs = 32;
	cfg.ports = 8;
	cfg.message_bytes = 1 << 20;
	cfg.one_way_ns = ONE_WAY_NS;
	cfg.cc = MT_CC_NSCC;
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		run_child(&cfg, exchange, packets);
	steps = count_steps(child);
	if (steps == 0)
		test_skip("no process may be stepped here");
	assert_true(*packets >= PACKETS);
	printf("# %" PRIu64 " instructions a packet, of %" PRIu64 " packets\n", steps / *packets,
	       *packets);
	assert_true(steps / *packets <= most * OTHER_COMPILERS / 10);
	munmap(packets, sizeof(*packets));
}

TEST(mt_engine, instructions_of_packets_in_order)
{
	check_instructions((struct pair_cfg){.qps = 8, .messages = 4}, pair_exchange, 1910);
}

TEST(mt_engine, instructions_of_packets_in_any_order)
{
	check_instructions((struct pair_cfg){.qps = 8, .messages = 32, .ev_set_each = true},
			   pair_exchange_reordered, 2370);
}
