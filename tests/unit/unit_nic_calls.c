/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_calls.c - how many system calls a message costs, both ends together, on real sockets.
 *
 * Two NICs in one process, without their progress threads, are polled in turn by this thread alone.
 * Time and chance are the test's, and what is sent has arrived before anybody polls again. So the
 * numbers are the same in each run, whatever else the machine does, and a change that makes the
 * path to the kernel longer is seen at once. Each bound is what was measured, and a little.
 */
#include "unit/nic_fixture.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/prng.h"
#include "host/progress/progress.h"

#define CALLS_BYTES (1u << 20)
#define CALLS_DEPTH 128u
#define CALLS_LOOK_NS 200u /* between two looks at the clock */
#define NS_PER_S UINT64_C(1000000000)

/* ---- what is counted ---- */

static _Atomic uint64_t calls; /* also of the progress threads, until they are stopped */

#define COUNTED(type, name, parameters, arguments) \
	type __real_##name parameters;             \
	type __wrap_##name parameters;             \
	type __wrap_##name parameters              \
	{                                          \
		calls++;                           \
		return __real_##name arguments;    \
	}

static uint64_t sends; /* those that send, of this thread */

int __real_sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags)
{
	calls++;
	sends++;
	return __real_sendmmsg(fd, m, n, flags);
}

COUNTED(int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),
	(fd, m, n, flags, t))
COUNTED(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
COUNTED(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
COUNTED(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
COUNTED(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *mask),
	(fds, n, t, mask))
COUNTED(ssize_t, read, (int fd, void *bytes, size_t n), (fd, bytes, n))
COUNTED(ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n))

/* ---- time, chance, and the way through the kernel ---- */

/* Of this thread, once it is alone; until then it is 0, and clocks run as usual. */
static _Thread_local uint64_t time_ns;
static struct mb_prng entropy;

__typeof__(clock_gettime) __real_clock_gettime, __wrap_clock_gettime;
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (time_ns == 0)
		return __real_clock_gettime(clock, ts);
	time_ns += CALLS_LOOK_NS;
	/* By the wall clock each frame came just now. */
	*ts = clock == CLOCK_REALTIME
		      ? (struct timespec){0}
		      : (struct timespec){(time_t)(time_ns / NS_PER_S), (long)(time_ns % NS_PER_S)};
	return 0;
}

__typeof__(mh_entropy) __wrap_mh_entropy;
int __wrap_mh_entropy(uint64_t *number)
{
	*number = mb_prng_u64(&entropy);
	return 0;
}

static int marker = -1;

/*
 * What a processor sends to its own machine waits in a queue of that processor, which a busy kernel
 * empties later. A datagram that is sent behind all others arrives after them.
 */
static void let_arrive(void)
{
	char byte = 0;

	assert_i_eq(send(marker, &byte, 1, 0), 1);
	assert_i_eq(recv(marker, &byte, 1, 0), 1);
}

static void stay_on_this_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_i_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void open_marker(void)
{
	struct sockaddr_in self = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(self);

	marker = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(marker >= 0);
	assert_i_eq(bind(marker, (struct sockaddr *)&self, sizeof(self)), 0);
	assert_i_eq(getsockname(marker, (struct sockaddr *)&self, &len), 0);
	assert_i_eq(connect(marker, (struct sockaddr *)&self, len), 0);
}

/* ---- two NICs ---- */

struct end {
	struct mh_device *dev;
	struct mh_pd *pd;
	struct mh_cq *cq;
	struct mh_qp *qp;
	struct mh_mr *mr;
	uint8_t *bytes;
	uint32_t sent, received; /* completions so far */
};

struct ends {
	struct end end[2];
};

/* The thread would take a part of the work, at times that nobody knows. */
static void end_without_thread(struct end *end)
{
	mh_progress_stop(end->dev->nic);
	end->dev->nic->progress.sleeps_until_ns = 0; /* nobody to be kicked */
}

static int end_open(struct end *end, uint32_t device)
{
	struct mh_qp_init init = {
		.cap = {.max_send_wr = CALLS_DEPTH,
			.max_recv_wr = CALLS_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline = 32},
		.extended = true,
	};
	uint32_t access = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE;

	end->bytes = calloc(1, CALLS_BYTES);
	if (mh_device_open(device, NULL, &end->dev))
		return -1;
	end_without_thread(end);
	if (mh_pd_create(end->dev, NULL, &end->pd) ||
	    mh_cq_create(end->dev, 2 * CALLS_DEPTH, NULL, NULL, &end->cq) ||
	    mh_mr_reg(end->pd, end->bytes, CALLS_BYTES, (uintptr_t)end->bytes, access, &end->mr))
		return -1;
	init.pd = end->pd;
	init.send_cq = init.recv_cq = end->cq;
	return mh_qp_create(&init, &end->qp);
}

static int end_connect(struct end *end, const struct end *peer)
{
	struct mh_device_attr device;
	struct rd_qp_attr attr;

	mh_device_query(peer->dev, &device);
	mh_qp_attr_default(&attr);
	attr.dest = device.gid;
	attr.dest_qpn = mh_qp_number(peer->qp);
	attr.rq_psn = attr.sq_psn = 1;
	attr.path_mtu = 4096;
	attr.access = RD_ACCESS_REMOTE_WRITE;
	attr.state = RD_QPS_INIT;
	if (mh_qp_modify(end->qp, &attr, RD_QP_STATE | RD_QP_ACCESS))
		return 1;
	attr.state = RD_QPS_RTR;
	if (mh_qp_modify(end->qp, &attr, RD_QP_STATE | RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_PATH_MTU))
		return 2;
	attr.state = RD_QPS_RTS;
	return mh_qp_modify(end->qp, &attr, RD_QP_STATE | RD_QP_SQ_PSN) ? 3 : 0;
}

/* Hosts 1 and 2 on n planes. */
static void ends_env(uint32_t planes)
{
	char list[160] = "", one[16];
	int at = 0;

	for (uint32_t i = 0; i < 2 * planes; i++)
		at += snprintf(list + at, sizeof(list) - (size_t)at, "%s%s", i ? "," : "",
			       loopback_text(i % planes, 1 + i / planes, one));
	setenv("MRC_PORTS", list, 1);
	setenv("MRC_DEVICES", "2", 1);
	/* No timer of the protocol: a sanitizer makes all slow. */
	setenv("MRC_TAIL_PROBE_US", "5000000", 1);
	setenv("MRC_RTO_MIN_US", "5000000", 1);
	setenv("MRC_REORDER_MIN_US", "5000000", 1);
	setenv("MRC_REORDER_MAX_US", "5000000", 1);
}

static void ends_open(struct ends *e, uint32_t planes)
{
	*e = (struct ends){0};
	mb_prng_init(&entropy, 0);
	ends_env(planes);
	for (uint32_t i = 0; i < 2; i++)
		assert_i_eq(end_open(&e->end[i], i), 0);
	stay_on_this_processor();
	open_marker();
	time_ns = mh_now_ns();
	for (uint32_t i = 0; i < 2; i++)
		assert_i_eq(end_connect(&e->end[i], &e->end[1 - i]), 0);
}

static void ends_close(struct ends *e)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct end *end = &e->end[i];

		assert_i_eq(mh_qp_destroy(end->qp), 0);
		assert_i_eq(mh_mr_dereg(end->mr), 0);
		assert_i_eq(mh_cq_destroy(end->cq), 0);
		assert_i_eq(mh_pd_destroy(end->pd), 0);
		assert_i_eq(mh_device_close(end->dev), 0);
		free(end->bytes);
	}
	time_ns = 0;
	close(marker);
	unsetenv("MRC_DEVICES");
}

/* ---- what programs do ---- */

static void post(struct end *end, const struct end *peer, enum rd_wr_opcode opcode, uint32_t bytes)
{
	struct rd_sge sge = {(uintptr_t)end->bytes, bytes, mh_mr_lkey(end->mr)};
	struct rd_send_wr wr = {
		.sge = &sge,
		.n_sge = 1,
		.opcode = opcode,
		.flags = RD_SEND_SIGNALED | (bytes <= 32 ? (uint32_t)RD_SEND_INLINE : 0),
		.rkey = mh_mr_rkey(peer->mr),
		.remote_addr = (uintptr_t)peer->bytes,
	};

	assert_i_eq(mh_qp_post_send(end->qp, &wr, 1, NULL), 0);
}

static void post_receive(struct end *end)
{
	struct rd_sge sge = {(uintptr_t)end->bytes, 16384, mh_mr_lkey(end->mr)};
	struct rd_recv_wr wr = {.sge = &sge, .n_sge = 1};

	assert_i_eq(mh_qp_post_recv(end->qp, &wr, 1, NULL), 0);
}

/* One poll, as programs do: receives are posted again. */
static void poll_once(struct end *end)
{
	struct mh_wc wc[16];
	int n;

	let_arrive();
	n = mh_cq_poll(end->cq, 16, wc);
	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		assert_u_eq(wc[i].status, RD_WC_SUCCESS);
		if (wc[i].opcode != RD_WC_RECV) {
			end->sent++;
			continue;
		}
		end->received++;
		post_receive(end);
	}
}

/* `depth` messages are kept under way, in groups that are posted without a poll between. */
static void stream(struct ends *e, enum rd_wr_opcode opcode, uint32_t bytes, uint32_t depth,
		   uint32_t group, uint32_t total)
{
	struct end *from = &e->end[0], *to = &e->end[1];
	uint32_t posted = 0, first = from->sent;

	while (from->sent - first < total) {
		while (posted < total && posted - (from->sent - first) + group <= depth)
			for (uint32_t i = 0; i < group; i++, posted++)
				post(from, to, opcode, bytes);
		poll_once(to);
		poll_once(from);
	}
}

static void ping_pong(struct ends *e, uint32_t rounds)
{
	for (uint32_t i = 0; i < 2 * rounds; i++) {
		struct end *from = &e->end[i & 1], *to = &e->end[1 - (i & 1)];
		uint32_t received = to->received;

		post(from, to, RD_WR_SEND, 8);
		while (to->received == received) {
			poll_once(from);
			poll_once(to); /* and then it posts */
		}
	}
}

/* print_calls prints and returns what a message costs. */
static double print_calls(const char *what, uint64_t before, uint32_t messages)
{
	double each = (double)(calls - before) / messages;

	print_message("# %s: %.2f system calls\n", what, each);
	return each;
}

static double stream_once(uint32_t planes, enum rd_wr_opcode opcode, uint32_t bytes, uint32_t depth,
			  uint32_t group, uint32_t total)
{
	struct ends e;
	uint64_t before;
	double each;
	char what[80];

	ends_open(&e, planes);
	for (uint32_t i = 0; i < CALLS_DEPTH / 2; i++)
		post_receive(&e.end[1]);
	stream(&e, opcode, bytes, depth, group, depth);
	before = calls;
	stream(&e, opcode, bytes, depth, group, total);
	snprintf(what, sizeof(what), "%u bytes in groups of %u, %u planes", bytes, group, planes);
	each = print_calls(what, before, total);
	ends_close(&e);
	return each;
}

/* At most `most` calls a message. */
static void stream_case(uint32_t planes, enum rd_wr_opcode opcode, uint32_t bytes, uint32_t depth,
			uint32_t group, uint32_t total, double most)
{
	assert_true(stream_once(planes, opcode, bytes, depth, group, total) <= most);
}

TEST(mh_nic, calls_of_a_write_of_1_mib)
{
	stream_case(1, RD_WR_WRITE, 1u << 20, 8, 1, 32, 47);
	stream_case(4, RD_WR_WRITE, 1u << 20, 8, 1, 32, 41);
}

TEST(mh_nic, calls_of_a_write_of_64_kib)
{
	stream_case(1, RD_WR_WRITE, 1u << 16, 16, 1, 256, 3.1);
	stream_case(4, RD_WR_WRITE, 1u << 16, 16, 1, 256, 2.9);
}

/*
 * UCX sends a message of 64 KiB as eight of these. How many share a call depends on the planes that
 * chance picks: of 512 the mean is between 0.74 and 0.92, of 8,192 between 0.73 and 0.85.
 */
TEST(mh_nic, calls_of_eight_sends_in_a_row)
{
	stream_case(1, RD_WR_SEND, 8192 + 16, 32, 8, 8192, 0.9);
	stream_case(4, RD_WR_SEND, 8192 + 16, 32, 8, 8192, 0.9);
}

/*
 * An acknowledgement leaves with the answer that the program posts after its poll, and costs no
 * call where both go by one EV. As a rule they do not: it takes an EV that is known to lead back,
 * the answer the next in turn, and a socket has one source port.
 */
static void ping_pong_case(uint32_t planes, double most, double most_sends)
{
	uint64_t before, sends_before;
	struct ends e;
	char what[80];

	ends_open(&e, planes);
	for (uint32_t i = 0; i < 16; i++) {
		post_receive(&e.end[0]);
		post_receive(&e.end[1]);
	}
	ping_pong(&e, 16);
	before = calls;
	sends_before = sends;
	ping_pong(&e, 128);
	snprintf(what, sizeof(what), "half a round trip of 8 bytes, %u planes", planes);
	assert_true(print_calls(what, before, 256) <= most);
	print_message("# %.2f of them send\n", (double)(sends - sends_before) / 256);
	assert_true((double)(sends - sends_before) / 256 <= most_sends);
	ends_close(&e);
}

TEST(mh_nic, calls_of_a_ping_pong)
{
	setenv("MRC_EVS", "1", 1);
	ping_pong_case(1, 3.2, 1.1);
	unsetenv("MRC_EVS");
	ping_pong_case(1, 4.1, 2.1);
	ping_pong_case(4, 5.6, 2.1);
}
