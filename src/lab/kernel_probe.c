/* SPDX-License-Identifier: BSD-2-Clause */
/* Trying what the kernel allows: see lab.h. */
#include "lab/lab.h"
#include "lab/netns.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Those that a lab needs, and what is missing without them. */
static const struct {
	const char *name, *loss;
} features[] = {
	[ML_FEATURE_NETNS] = {"network namespaces", "there is no lab at all"},
	[ML_FEATURE_SID_DEVICE] = {"a device for SIDs (dummy, ifb or veth)",
				   "switches cannot shift uSIDs"},
	[ML_FEATURE_USID] = {"seg6local End with NEXT-C-SID (kernel 6.1)",
			     "switches cannot shift uSIDs"},
};

int ml_probe_check(const struct ml_probe *p, struct ml_error *e)
{
	static const enum ml_feature needed[] = {ML_FEATURE_NETNS, ML_FEATURE_SID_DEVICE,
						 ML_FEATURE_USID};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!p->ok[needed[i]])
			return ml_error_set(e, "%s: %.300s; without that %s",
					    features[needed[i]].name, p->why[needed[i]].text,
					    features[needed[i]].loss);
	return 0;
}

static bool try_lines(struct ml_probe *p, enum ml_feature feature, const char *tool,
		      const char *lines)
{
	p->ok[feature] = ml_proc_batch(tool, lines, false, &p->why[feature]) == 0;
	return p->ok[feature];
}

static const struct {
	const char *kind, *lines;
} devices[] = {
	{"dummy", "link add sr0 type dummy\nlink set sr0 up\n"},
	{"ifb", "link add sr0 type ifb\nlink set sr0 up\n"},
	{"veth", "link add sr0 type veth peer name sr1\nlink set sr0 up\n"},
};

#define DEVICES (sizeof(devices) / sizeof(devices[0]))

bool ml_probe_knows_sid_device(const char *kind)
{
	for (size_t i = 0; i < DEVICES; i++)
		if (strcmp(devices[i].kind, kind) == 0)
			return true;
	return false;
}

static void try_sid_device(struct ml_probe *p)
{
	for (size_t i = 0; i < DEVICES && !p->sid_device; i++)
		if (try_lines(p, ML_FEATURE_SID_DEVICE, "ip", devices[i].lines))
			p->sid_device = devices[i].kind;
}

/* The shortest program there is: return 0. */
static void try_bpf(struct ml_probe *p)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uint64_t)(uintptr_t) "Dual BSD/GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	p->ok[ML_FEATURE_BPF] = fd >= 0;
	if (fd >= 0)
		close((int)fd);
	else
		ml_error_set(&p->why[ML_FEATURE_BPF], "bpf(BPF_PROG_LOAD): %s%s", strerror(errno),
			     errno == EPERM ? " (needs CAP_BPF and CAP_NET_ADMIN outside a user "
					      "namespace)"
					    : "");
}

static int try_all(void *context, size_t item, struct ml_error *e)
{
	struct ml_probe *p = context;

	(void)item;
	(void)e;
	if (unshare(CLONE_NEWNET) != 0) {
		for (size_t i = 0; i < ML_FEATURES; i++)
			ml_error_set(&p->why[i], "unshare(CLONE_NEWNET): %s", strerror(errno));
		return 0;
	}
	p->ok[ML_FEATURE_NETNS] = true;
	try_sid_device(p);
	if (p->sid_device)
		try_lines(p, ML_FEATURE_USID, "ip",
			  "route add fcbb:bb00:a000::/48 encap seg6local action End "
			  "flavors next-csid lblen 32 nflen 16 dev sr0\n");
	else
		p->why[ML_FEATURE_USID] = p->why[ML_FEATURE_SID_DEVICE];
	try_lines(p, ML_FEATURE_HTB, "tc",
		  "qdisc add dev lo root handle 1: htb default 20\n"
		  "class add dev lo parent 1: classid 1:1 htb rate 100mbit\n");
	try_bpf(p);
	return 0;
}

void ml_probe_run(struct ml_probe *p)
{
	struct ml_error e;

	memset(p, 0, sizeof(*p));
	if (ml_threads_call(try_all, p, &e))
		ml_error_set(&p->why[ML_FEATURE_NETNS], "%s", e.text);
}
