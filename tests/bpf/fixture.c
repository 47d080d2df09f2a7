/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/netns.h"
#include "support/test.h"

static const char *why_not;
static struct mswq_error error;

static void must(int code)
{
	if (code)
		fail_msg("%s", error.text);
}

static int packet_socket(const char *name)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = (int)if_nametoindex(name)};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	int one = 1, bytes = 4 << 20;

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), 0);
	return fd;
}

static void make_link(void)
{
	/* The kernel's own packets would be counted too. */
	test_sysctl("net/ipv6/conf/default/disable_ipv6", "1");
	test_ip("link add port mtu 9000 type veth peer name wire mtu 9000");
	test_ip("link set port up");
	test_ip("link set wire up");
}

int fixture_setup(void **state)
{
	static struct fixture fixture;

	*state = NULL;
	if (!test_netns(&why_not))
		return 0;
	fixture = (struct fixture){.prog = -1, .send = -1, .receive = -1};
	if (mswq_load(16, &fixture.swq, &error)) {
		why_not = error.text;
		return 0;
	}
	make_link();
	fixture.ifindex = if_nametoindex("port");
	must(mswq_attach(fixture.swq, -1, fixture.ifindex, &error));
	fixture.prog = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID,
				    &(union bpf_attr){.prog_id = mswq_id(fixture.swq)},
				    sizeof(union bpf_attr));
	assert_true(fixture.prog >= 0);
	fixture.send = packet_socket("port");
	fixture.receive = packet_socket("wire");
	*state = &fixture;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *r = *state;

	if (!r)
		return 0;
	close(r->send);
	close(r->receive);
	close(r->prog);
	mswq_close(r->swq);
	test_ip("link del port");
	return 0;
}

struct fixture *fixture_of(void **state)
{
	if (!*state)
		test_skip(why_not);
	return *state;
}

void fixture_set(struct fixture *r)
{
	must(mswq_port_set(r->swq, r->ifindex, &r->port, &error));
}

void fixture_slow(struct fixture *r, uint32_t limit, uint32_t control_limit)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();

	mswq_port_default(&r->port, &dscp, MSWQ_RATE_MIN, 0, false);
	r->port.limit_bytes = limit;
	r->port.control_limit_bytes = control_limit;
	r->port.ecn = false;
	fixture_set(r);
}

void fixture_fault(struct fixture *r, const struct mswq_faults *faults)
{
	must(mswq_fault_set(r->swq, r->ifindex, faults, &error));
}

struct mswq_counters fixture_read(struct fixture *r)
{
	struct mswq_reading reading;
	const struct mswq_counters *c = &reading.count;

	must(mswq_read(r->swq, r->ifindex, &reading, &error));
	assert_u_eq(c->offered + c->duplicated,
		    c->full + c->control + c->trimmed + c->whole + c->dropped + c->trim_dropped +
			    c->control_dropped + c->blackholed + c->lost + c->held);
	return reading.count;
}

enum fixture_verdict fixture_run(struct fixture *r, struct frame *f)
{
	static uint8_t out[FRAME_MAX];
	struct __sk_buff context = {.ifindex = r->ifindex, .ingress_ifindex = r->ingress};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)r->prog;
	attr.test.data_in = (uintptr_t)f->bytes;
	attr.test.data_size_in = (uint32_t)f->len;
	attr.test.data_out = (uintptr_t)out;
	attr.test.data_size_out = sizeof(out);
	attr.test.ctx_in = attr.test.ctx_out = (uintptr_t)&context;
	attr.test.ctx_size_in = attr.test.ctx_size_out = sizeof(context);
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) != 0)
		fail_msg("BPF_PROG_TEST_RUN with %zu bytes: %s", f->len, strerror(errno));
	f->len = attr.test.data_size_out;
	memcpy(f->bytes, out, f->len);
	r->priority = context.priority;
	r->mark = context.mark;
	return (enum fixture_verdict)attr.test.retval;
}

void fixture_send(struct fixture *r, const struct frame *f)
{
	ssize_t n = send(r->send, f->bytes, f->len, 0);

	/* A drop at the port is told to the sender; the counters have it. */
	if (n != (ssize_t)f->len && errno != ENOBUFS)
		fail_msg("send of %zu bytes: %s", f->len, strerror(errno));
}

static size_t take(struct fixture *r, struct frame *out, int timeout_ms)
{
	struct pollfd p = {.fd = r->receive, .events = POLLIN};
	ssize_t n;

	if (poll(&p, 1, timeout_ms) != 1)
		return 0;
	n = recv(r->receive, out->bytes, sizeof(out->bytes), 0);
	assert_true(n > 0);
	out->len = (size_t)n;
	return out->len;
}

size_t fixture_take(struct fixture *r, struct frame *out)
{
	return take(r, out, 1000);
}

size_t fixture_pass(struct fixture *r, const struct frame *f, struct frame *out)
{
	fixture_send(r, f);
	return fixture_take(r, out);
}

bool fixture_none(struct fixture *r)
{
	struct frame out;

	return take(r, &out, 10) == 0;
}
