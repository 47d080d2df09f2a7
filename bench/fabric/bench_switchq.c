/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_vq - what the egress program of a switch port costs a packet.
 *
 * First the program alone, run by the kernel many times over one packet, less what a program that
 * does nothing costs. Then a veth port with and without it, frames from one socket in batches, in
 * CPU time, the kinds in turn so that whatever else the machine does hits all alike; the fastest
 * round of each.
 * "switchq: name value unit", as all benches print. Needs root; says so otherwise.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "switchq/switchq.h"

#define FRAME_BYTES 1514u
#define REPEAT 200000u
#define RUNS 9
#define BATCH 64u
#define BATCHES 20u
#define ROUNDS 60

enum kind { BARE, NO_ENTRY, QUEUE, MARKS, TRIMS, KINDS };
static const char *const kind_names[KINDS] = {"bare_veth", "attached_no_queue", "queue",
					      "queue_marks_all", "queue_trims_all"};

struct bench {
	struct mswq *swq;
	uint32_t ifindex;
	int send;
	uint8_t frame[FRAME_BYTES];
};

static void run_command(const char *command)
{
	char line[256];

	snprintf(line, sizeof(line), "PATH=$PATH:/usr/sbin:/sbin %s", command);
	mb_assert(system(line) == 0);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* An IPv6-in-IPv6 frame; only its outer header matters here. */
static void make_frame(uint8_t *f, uint8_t dscp)
{
	memset(f, 0, FRAME_BYTES);
	memset(f, 0xff, 6);
	f[12] = 0x86;
	f[13] = 0xdd;
	f[14] = (uint8_t)(0x60 | dscp >> 2);
	f[15] = (uint8_t)(dscp << 6 | 2 << 4); /* ECT(0) */
	f[18] = (uint8_t)((FRAME_BYTES - 54) >> 8);
	f[19] = (uint8_t)(FRAME_BYTES - 54);
	f[20] = 41;
	f[21] = 64;
}

static void set_port(struct bench *b, uint64_t rate, uint32_t limit, uint32_t ecn_max)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq_error error;
	struct mswq_port p;

	mswq_port_default(&p, &dscp, rate, 0, ecn_max == 0);
	p.limit_bytes = limit;
	p.control_limit_bytes = MSWQ_LIMIT_MAX;
	p.ecn_min_bytes = 0;
	p.ecn_max_bytes = ecn_max;
	mb_assert(mswq_port_forget(b->swq, b->ifindex, &error) == 0);
	mb_assert(mswq_port_set(b->swq, b->ifindex, &p, &error) == 0);
}

/* Nanoseconds of one run, the mean of REPEAT, as the kernel measures them. */
static uint32_t test_run(struct bench *b, int prog)
{
	struct __sk_buff context = {.ifindex = b->ifindex};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog;
	attr.test.data_in = (uintptr_t)b->frame;
	attr.test.data_size_in = FRAME_BYTES;
	attr.test.ctx_in = (uintptr_t)&context;
	attr.test.ctx_size_in = sizeof(context);
	attr.test.repeat = REPEAT;
	mb_assert(syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) == 0);
	return attr.test.duration;
}

static uint32_t best_run(struct bench *b, int prog)
{
	uint32_t best = UINT32_MAX;

	for (int i = 0; i < RUNS; i++) {
		uint32_t ns = test_run(b, prog);

		best = ns < best ? ns : best;
	}
	return best;
}

static int load_nothing(void)
{
	struct bpf_insn code[2] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, /* r0 = TC_ACT_OK */
				   {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "BSD-2-Clause";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void bench_program(struct bench *b)
{
	union bpf_attr attr;
	int prog, nothing = load_nothing();
	uint32_t floor;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = mswq_id(b->swq);
	prog = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
	mb_assert(prog >= 0 && nothing >= 0);
	floor = best_run(b, nothing);
	printf("switchq: program_no_queue %u ns\n", best_run(b, prog) - floor);
	make_frame(b->frame, 4);
	set_port(b, MSWQ_RATE_MAX, MSWQ_LIMIT_MAX, 0);
	printf("switchq: program_data %u ns\n", best_run(b, prog) - floor);
	set_port(b, MSWQ_RATE_MIN, 0, 0);
	make_frame(b->frame, 0);
	printf("switchq: program_drop %u ns\n", best_run(b, prog) - floor);
	set_port(b, MSWQ_RATE_MAX, MSWQ_LIMIT_MAX, 0);
	make_frame(b->frame, 46);
	printf("switchq: program_control %u ns\n", best_run(b, prog) - floor);
	close(prog);
	close(nothing);
}

static void prepare_bench(struct bench *b, enum kind kind)
{
	struct mswq_error error;

	run_command("tc qdisc del dev port clsact 2>/dev/null; true");
	mb_assert(mswq_port_forget(b->swq, b->ifindex, &error) == 0);
	if (kind != BARE)
		mb_assert(mswq_attach(b->swq, -1, b->ifindex, &error) == 0);
	if (kind == QUEUE)
		set_port(b, MSWQ_RATE_MAX, MSWQ_LIMIT_MAX, 0);
	else if (kind == MARKS)
		set_port(b, MSWQ_RATE_MIN, MSWQ_LIMIT_MAX, 1);
	else if (kind == TRIMS)
		set_port(b, MSWQ_RATE_MIN, 0, 0);
}

static double send_round(struct bench *b)
{
	struct iovec iov = {.iov_base = b->frame, .iov_len = FRAME_BYTES};
	struct mmsghdr batch[BATCH];
	uint32_t tried = 0;
	uint64_t begin;

	memset(batch, 0, sizeof(batch));
	for (size_t i = 0; i < BATCH; i++)
		batch[i].msg_hdr = (struct msghdr){.msg_iov = &iov, .msg_iovlen = 1};
	begin = now_ns();
	while (tried < BATCH * BATCHES) {
		int n = sendmmsg(b->send, batch, BATCH, 0);

		/* A full backlog at the far end ends a batch; the frame that met it counts. */
		tried += n < (int)BATCH ? (uint32_t)(n < 0 ? 0 : n) + 1 : BATCH;
	}
	return (double)(now_ns() - begin) / tried;
}

static void bench_port(struct bench *b)
{
	double best[KINDS];

	make_frame(b->frame, 4);
	for (int i = 0; i < ROUNDS * KINDS; i++) {
		enum kind kind = (enum kind)(i % KINDS);
		double ns;

		prepare_bench(b, kind);
		ns = send_round(b);
		if (i < KINDS || ns < best[kind])
			best[kind] = ns;
	}
	for (int kind = 0; kind < KINDS; kind++)
		printf("switchq: %s %.0f ns, %.2f of bare\n", kind_names[kind], best[kind],
		       best[kind] / best[BARE]);
}

static void open_port(struct bench *b)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IPV6)};

	run_command("sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
	run_command("ip link add port mtu 9000 type veth peer name wire mtu 9000");
	run_command("ip link set port up");
	run_command("ip link set wire up");
	b->ifindex = if_nametoindex("port");
	at.sll_ifindex = (int)b->ifindex;
	b->send = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	mb_assert(b->send >= 0 && bind(b->send, (struct sockaddr *)&at, sizeof(at)) == 0);
}

int main(void)
{
	static struct bench bench;
	struct mswq_error error = {.text = "no network namespace of its own without root"};

	if (unshare(CLONE_NEWNET) != 0 || mswq_load(4, &bench.swq, &error) != 0) {
		printf("switchq: left out: %s\n", error.text);
		return 0;
	}
	open_port(&bench);
	bench_program(&bench);
	bench_port(&bench);
	mswq_close(bench.swq);
	return 0;
}
