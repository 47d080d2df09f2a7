/* SPDX-License-Identifier: BSD-2-Clause */
/* What a kernel allows, by trying: src/lab/kernel_probe.c, on kernels that allow less and less. */
#include "lab/lab.h"
#include "lab/netns.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What this kernel does not know. */
static struct {
	bool threads, netns, dummy, ifb, veth, usid, htb;
	int bpf; /* errno; 0: it does */
} no;

static unsigned int tried;

__typeof__(ml_proc_batch) __wrap_ml_proc_batch;
int __wrap_ml_proc_batch(const char *tool, const char *input, bool force, struct ml_error *e)
{
	const struct {
		const char *tool, *words;
		bool missing;
	} known[] = {{"ip", "type dummy\nlink set sr0 up\n", no.dummy},
		     {"ip", "type ifb\nlink set sr0 up\n", no.ifb},
		     {"ip", "type veth peer name sr1\nlink set sr0 up\n", no.veth},
		     {"ip", "next-csid lblen 32 nflen 16 dev sr0\n", no.usid},
		     {"tc", "htb rate", no.htb}};

	assert_false(force);
	tried++;
	for (size_t i = 0; i < 5; i++)
		if (strcmp(tool, known[i].tool) == 0 && strstr(input, known[i].words))
			return known[i].missing ? ml_error_set(e, "no %zu", i) : 0;
	fail_msg("%s %s", tool, input);
	return -1;
}

__typeof__(unshare) __wrap_unshare;
int __wrap_unshare(int flags)
{
	assert_i_eq(flags, CLONE_NEWNET);
	errno = EPERM;
	return no.netns ? -1 : 0;
}

/* The program is all that is there; the rest of what the kernel reads is 0. */
static long load_program(const union bpf_attr *of, size_t size)
{
	union bpf_attr attr = *of, rest = *of;

	assert_u_eq(size, sizeof(attr));
	assert_u_eq(attr.insn_cnt, 2);
	rest.prog_type = rest.insn_cnt = 0;
	rest.insns = rest.license = 0;
	for (size_t i = 0; i < sizeof(rest); i++)
		assert_u_eq(((const uint8_t *)&rest)[i], 0);
	errno = no.bpf;
	return no.bpf ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

__typeof__(syscall) __real_syscall, __wrap_syscall;
long __wrap_syscall(long number, ...)
{
	long word[6];
	va_list args;

	va_start(args, number);
	for (size_t i = 0; i < 6; i++)
		word[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf && (int)word[0] == BPF_PROG_LOAD)
		return load_program((const union bpf_attr *)(uintptr_t)word[1], (size_t)word[2]);
	return __real_syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

/* What a function finds where it has variables. */
static void scribble(void)
{
	volatile char stack[4096];

	memset((char *)(uintptr_t)stack, 0x5a, sizeof(stack));
}

__typeof__(ml_threads_call) __wrap_ml_threads_call;
int __wrap_ml_threads_call(ml_threads_fn fn, void *context, struct ml_error *e)
{
	if (no.threads)
		return ml_error_set(e, "no thread");
	scribble();
	return fn(context, 0, e);
}

static struct ml_probe p;

static int setup(void **state)
{
	(void)state;
	memset(&no, 0, sizeof(no));
	memset(&p, 0x5a, sizeof(p));
	tried = 0;
	return 0;
}

#define PROBE_TEST(function, name) TEST_WITH(setup, NULL, function, name)

/* Which features there are, as bits. */
static unsigned int probe(void)
{
	uint32_t open_before = test_open_fds();
	unsigned int ok = 0;

	ml_probe_run(&p);
	assert_u_eq(test_open_fds(), open_before);
	for (unsigned int i = 0; i < ML_FEATURES; i++)
		ok |= (unsigned int)p.ok[i] << i;
	return ok;
}

#define ALL ((1u << ML_FEATURES) - 1)

static void lacks(const char *why)
{
	struct ml_error e = {{0}};

	assert_i_eq(ml_probe_check(&p, &e), why ? -1 : 0);
	assert_string_equal(e.text, why ? why : "");
}

PROBE_TEST(ml_probe_run, finds_all_and_the_best_device)
{
	assert_u_eq(probe(), ALL);
	assert_string_equal(p.sid_device, "dummy");
	assert_u_eq(tried, 3);
	for (unsigned int i = 0; i < ML_FEATURES; i++)
		assert_string_equal(p.why[i].text, "");
	lacks(NULL);
}

PROBE_TEST(ml_probe_run, takes_the_next_device_where_one_is_missing)
{
	no.dummy = true;
	assert_u_eq(probe(), ALL);
	assert_string_equal(p.sid_device, "ifb");
	no.ifb = true;
	assert_u_eq(probe(), ALL);
	assert_string_equal(p.sid_device, "veth");
	lacks(NULL);
	no.veth = true;
	assert_u_eq(probe(), ALL & ~(1u << ML_FEATURE_SID_DEVICE | 1u << ML_FEATURE_USID));
	assert_null(p.sid_device);
	assert_string_equal(p.why[ML_FEATURE_SID_DEVICE].text, "no 2");
	assert_string_equal(p.why[ML_FEATURE_USID].text, "no 2");
	lacks("a device for SIDs (dummy, ifb or veth): no 2; without that switches cannot shift "
	      "uSIDs");
}

PROBE_TEST(ml_probe_run, says_what_is_missing)
{
	no.usid = true;
	assert_u_eq(probe(), ALL & ~(1u << ML_FEATURE_USID));
	lacks("seg6local End with NEXT-C-SID (kernel 6.1): no 3; without that switches cannot "
	      "shift uSIDs");
	no.usid = false;
	no.htb = true;
	assert_u_eq(probe(), ALL & ~(1u << ML_FEATURE_HTB));
	assert_string_equal(p.why[ML_FEATURE_HTB].text, "no 4");
	lacks(NULL);
	no.htb = false;
	no.bpf = ENOSYS;
	assert_u_eq(probe(), ALL & ~(1u << ML_FEATURE_BPF));
	assert_string_equal(p.why[ML_FEATURE_BPF].text,
			    "bpf(BPF_PROG_LOAD): Function not implemented");
	no.bpf = EPERM;
	assert_u_eq(probe(), ALL & ~(1u << ML_FEATURE_BPF));
	assert_string_equal(p.why[ML_FEATURE_BPF].text,
			    "bpf(BPF_PROG_LOAD): Operation not permitted (needs CAP_BPF and "
			    "CAP_NET_ADMIN outside a user namespace)");
	lacks(NULL);
}

PROBE_TEST(ml_probe_run, finds_nothing_without_namespaces)
{
	no.netns = true;
	assert_u_eq(probe(), 0);
	for (unsigned int i = 0; i < ML_FEATURES; i++)
		assert_string_equal(p.why[i].text,
				    "unshare(CLONE_NEWNET): Operation not permitted");
	assert_u_eq(tried, 0);
	no.threads = true;
	assert_u_eq(probe(), 0);
	lacks("network namespaces: no thread; without that there is no lab at all");
}

TEST(ml_probe_knows_sid_device, knows_three)
{
	assert_true(ml_probe_knows_sid_device("dummy"));
	assert_true(ml_probe_knows_sid_device("ifb"));
	assert_true(ml_probe_knows_sid_device("veth"));
	assert_false(ml_probe_knows_sid_device("bridge"));
}
