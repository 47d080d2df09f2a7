/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_meet.c - mrc/meet.h: two QPs that find each other over sockets, pipes and TCP, and peers
 * that say something else, too little, nothing, or are not there.
 */
#include "live/live_fixture.h"
#include "support/open_fds.h"

#include <mrc/meet.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* For what is to happen; a busy machine takes its time. */
#define PATIENCE_MS 60000
/* For what is not to happen. */
#define SHORT_MS 50
#define LINE_CHARS (MRC_MEET_LINE_BYTES - 1)

/* mrc_meet and mrc_meet_sync of one end, in a thread of its own. */
struct meeting {
	struct fixture *r;
	int qp, in_fd, out_fd, err;
	struct mrc_meet_end peer;
};

static void *meet_and_sync(void *arg)
{
	struct meeting *m = arg;

	m->err = mrc_meet(m->r->qp[m->qp], m->r->mr, m->in_fd, m->out_fd, PATIENCE_MS, &m->peer);
	if (m->err == 0) {
		fixture_post_recv(m->r, m->qp, 7);
		m->err = mrc_meet_sync(m->in_fd, m->out_fd, PATIENCE_MS);
	}
	return NULL;
}

/* QP i has the descriptors ends[i], to read from and to write to. */
static void meet_both(struct fixture *r, int ends[FIXTURE_QPS][2], struct meeting m[FIXTURE_QPS])
{
	pthread_t thread;

	for (int i = 0; i < FIXTURE_QPS; i++)
		m[i] = (struct meeting){
			.r = r, .qp = i, .in_fd = ends[i][0], .out_fd = ends[i][1], .err = -1};
	assert_int_equal(pthread_create(&thread, NULL, meet_and_sync, &m[1]), 0);
	meet_and_sync(&m[0]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(m[0].err, 0);
	assert_int_equal(m[1].err, 0);
}

/* Writes with immediate by what the peer said of itself; its receive is there. */
static void write_and_compare(struct fixture *r, const struct meeting *m)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, m->qp, &sge, 5000), *bad;
	struct ibv_wc wc;

	test_rand_bytes(r->memory + (size_t)m->qp * FIXTURE_BYTES, 5000);
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_data = htonl(77);
	wr.wr.rdma.rkey = m->peer.rkey;
	wr.wr.rdma.remote_addr = m->peer.address + (size_t)!m->qp * FIXTURE_BYTES;
	assert_int_equal(mrc_post_send(r->qp[m->qp], &wr, &bad), 0);
	wc = fixture_poll(r, !m->qp);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_u_eq(ntohl(wc.imm_data), 77);
	assert_int_equal(fixture_poll(r, m->qp).status, IBV_WC_SUCCESS);
	assert_bytes_eq(r->memory + (size_t)!m->qp * FIXTURE_BYTES,
			r->memory + (size_t)m->qp * FIXTURE_BYTES, 5000);
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Limits of the peer count where they are smaller. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, over_a_socket_keeps_the_peers_limits)
{
	struct fixture *r = *state;
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT};
	struct mrc_qp_attr limits = {.mpr = {.mpr_dest = 3}, .wimm = {.max_wimm_dest = 5}}, now;
	struct meeting m[FIXTURE_QPS];
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(mrc_modify_qp(r->qp[1], &init, IBV_QP_STATE, &limits,
				       MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM_DEST),
			 0);
	meet_both(r, (int[2][2]){{fds[0], fds[0]}, {fds[1], fds[1]}}, m);
	assert_u_eq(m[0].peer.bytes, FIXTURE_QPS * FIXTURE_BYTES);
	assert_u_eq(m[0].peer.qpn, r->end[1].qpn);
	assert_int_equal(mrc_query_qp(r->qp[0], NULL, 0, &now, MRC_QP_MPR | MRC_QP_MAX_WIMM, NULL),
			 0);
	assert_u_eq(now.mpr.mpr, 3);
	assert_u_eq(now.wimm.max_wimm, 5);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RTS);
	write_and_compare(r, &m[0]);
	write_and_compare(r, &m[1]);
	close_pair(fds);
}

/* What a QP was told to keep to stays, where the peer would take more. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, keeps_its_own_limits_where_they_are_smaller)
{
	struct fixture *r = *state;
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT};
	struct mrc_qp_attr limits = {.mpr = {.mpr = 2}, .wimm = {.max_wimm = 4}}, now;
	struct meeting m[FIXTURE_QPS];
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(
		mrc_modify_qp(r->qp[1], &init, IBV_QP_STATE, &limits, MRC_QP_MPR | MRC_QP_MAX_WIMM),
		0);
	meet_both(r, (int[2][2]){{fds[0], fds[0]}, {fds[1], fds[1]}}, m);
	assert_true(m[1].peer.mpr_dest > 2 && m[1].peer.max_wimm_dest > 4);
	assert_int_equal(mrc_query_qp(r->qp[1], NULL, 0, &now, MRC_QP_MPR | MRC_QP_MAX_WIMM, NULL),
			 0);
	assert_u_eq(now.mpr.mpr, 2);
	assert_u_eq(now.wimm.max_wimm, 4);
	write_and_compare(r, &m[1]);
	close_pair(fds);
}

/* As through stdin and stdout; the bytes behind a line are left for others. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, over_pipes_takes_its_line_and_no_more)
{
	struct fixture *r = *state;
	struct meeting m[FIXTURE_QPS];
	int there[2], back[2];
	char more[5] = "";

	assert_int_equal(pipe(there), 0);
	assert_int_equal(pipe(back), 0);
	meet_both(r, (int[2][2]){{back[0], there[1]}, {there[0], back[1]}}, m);
	assert_int_equal(write(back[1], "mrc-meet-1 ready\nmore", 21), 21);
	assert_int_equal(mrc_meet_sync(back[0], there[1], PATIENCE_MS), 0);
	assert_int_equal(read(back[0], more, 4), 4);
	assert_string_equal(more, "more");
	write_and_compare(r, &m[0]);
	close_pair(there);
	close_pair(back);
}

struct tcp_end {
	const char *address;
	uint16_t port;
	int fd, err;
};

static void *call_host(void *arg)
{
	struct tcp_end *e = arg;

	e->err = mrc_meet_call(e->address, e->port, PATIENCE_MS, &e->fd);
	return NULL;
}

static void assert_tcp(struct fixture *r, const char *listen_at, const char *call)
{
	struct tcp_end client = {
		.address = call, .port = (uint16_t)(20000 + test_rand_below(20000)), .fd = -1};
	struct meeting m[FIXTURE_QPS];
	pthread_t thread;
	int fd = -1;

	/* The one that calls is there first, mostly. */
	assert_int_equal(pthread_create(&thread, NULL, call_host, &client), 0);
	assert_int_equal(mrc_meet_listen(listen_at, client.port, PATIENCE_MS, &fd), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(client.err, 0);
	/* Blocking, and not inherited by other programs. */
	assert_int_equal(fcntl(client.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(client.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	meet_both(r, (int[2][2]){{fd, fd}, {client.fd, client.fd}}, m);
	write_and_compare(r, &m[1]);
	close(fd);
	close(client.fd);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, over_tcp_of_any_address)
{
	assert_tcp(*state, NULL, "127.0.0.1");
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, over_tcp_of_ipv4)
{
	assert_tcp(*state, "127.0.0.1", "127.0.0.1");
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, over_tcp_of_ipv6)
{
	assert_tcp(*state, "::1", "::1");
}

/* What mrc_meet of QP 0 says when the peer has written these bytes, and perhaps gone. */
static int meet_after(struct fixture *r, const char *said, size_t n, bool gone, int timeout_ms)
{
	struct mrc_meet_end peer;
	int fds[2], err;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(write(fds[1], said, n), (ssize_t)n);
	if (gone)
		assert_int_equal(shutdown(fds[1], SHUT_WR), 0);
	err = mrc_meet(r->qp[0], r->mr, fds[0], fds[0], timeout_ms, &peer);
	close_pair(fds);
	assert_int_equal(errno, err);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RESET);
	return err;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, ends_at_its_time_limit)
{
	struct fixture *r = *state;
	uint64_t begin = now_ms();

	assert_int_equal(meet_after(r, "", 0, false, SHORT_MS), ETIMEDOUT);
	assert_int_equal(meet_after(r, "mrc-meet-1 00", 13, false, SHORT_MS), ETIMEDOUT);
	assert_true(now_ms() - begin >= 2 * SHORT_MS);
	assert_int_equal(meet_after(r, "", 0, false, 0), ETIMEDOUT);
	assert_int_equal(meet_after(r, "", 0, false, -2), EINVAL);
}

/* Each of these is refused when it is read, long before the time limit. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, refuses_noise_at_once)
{
	struct fixture *r = *state;
	uint64_t begin = now_ms();

	assert_int_equal(meet_after(r, "SSH-2.0-OpenSSH_9.2\r\n", 21, false, PATIENCE_MS), EPROTO);
	assert_int_equal(meet_after(r, "m\n", 2, false, PATIENCE_MS), EPROTO);
	assert_int_equal(meet_after(r, "mrc-meet-1 00\n", 14, false, PATIENCE_MS), EPROTO);
	assert_int_equal(meet_after(r, "mrc-meet-1 ready\n", 17, false, PATIENCE_MS), EPROTO);
	assert_int_equal(meet_after(r, "mrc-meet-2 ab", 13, false, PATIENCE_MS), EPROTONOSUPPORT);
	assert_int_equal(meet_after(r, "mrc-meet-0 ", 11, false, PATIENCE_MS), EPROTONOSUPPORT);
	assert_int_equal(meet_after(r, "mrc-meet-9", 10, false, PATIENCE_MS), EPROTONOSUPPORT);
	assert_int_equal(meet_after(r, "mrc-meet-12", 11, false, PATIENCE_MS), EPROTONOSUPPORT);
	assert_int_equal(meet_after(r, "mrc-meet-x", 10, false, PATIENCE_MS), EPROTO);
	assert_int_equal(meet_after(r, "mrc-meet-1 ", 11, true, PATIENCE_MS), ECONNRESET);
	assert_true(now_ms() - begin < PATIENCE_MS);
}

/* A line whose fields can be, of which one makes no sense, or is for another device. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, refuses_a_peer_that_cannot_be)
{
	struct fixture *r = *state;
	struct mrc_meet_end end;
	char line[MRC_MEET_LINE_BYTES];

	assert_int_equal(mrc_meet_describe(r->qp[1], NULL, &end), 0);
	memset(end.gid.raw, 0xfd, sizeof(end.gid.raw)); /* IPv6, and our ports are IPv4 */
	assert_int_equal(mrc_meet_print(&end, line), 0);
	assert_int_equal(meet_after(r, line, LINE_CHARS, false, PATIENCE_MS), EHOSTUNREACH);
	line[11 + 2 * 24] = '7'; /* the MTU */
	assert_int_equal(meet_after(r, line, LINE_CHARS, false, PATIENCE_MS), EPROTO);
	memset(line + 11, 'G', 4);
	assert_int_equal(meet_after(r, line, LINE_CHARS, false, PATIENCE_MS), EPROTO);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_meet, says_what_is_wrong_with_descriptors)
{
	struct fixture *r = *state;
	struct mrc_meet_end peer;
	int fds[2], folder;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(mrc_meet(r->qp[0], NULL, fds[0], -1, PATIENCE_MS, &peer), EBADF);
	assert_int_equal(mrc_meet(r->qp[0], NULL, -1, fds[0], PATIENCE_MS, &peer), EBADF);
	folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mrc_meet(r->qp[0], NULL, folder, fds[0], PATIENCE_MS, &peer), EISDIR);
	close(folder);
	close(fds[1]);
	assert_int_equal(mrc_meet(r->qp[0], NULL, fds[0], fds[0], PATIENCE_MS, &peer), EPIPE);
	close(fds[0]);
	assert_int_equal(mrc_meet(r->qp[0], NULL, fds[0], fds[0], PATIENCE_MS, &peer), EBADF);
	assert_int_equal(mrc_meet_sync(fds[0], fds[0], PATIENCE_MS), EBADF);
	assert_int_equal(mrc_meet_sync(fds[0], fds[0], -2), EINVAL);
	assert_int_equal(mrc_meet(r->qp[0], NULL, 0, 0, PATIENCE_MS, NULL), EINVAL);
	assert_int_equal(mrc_meet(NULL, NULL, 0, 0, PATIENCE_MS, &peer), EINVAL);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_meet, refuses_a_connected_qp)
{
	struct fixture *r = *state;
	struct mrc_meet_end end, peer;

	assert_int_equal(mrc_meet_describe(r->qp[0], r->mr, &end), EINVAL);
	assert_int_equal(mrc_meet(r->qp[0], r->mr, 0, 1, PATIENCE_MS, &peer), EINVAL);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RTS);
}

TEST_WITH(fixture_setup, fixture_teardown, mrc_meet_connect, wants_the_qps_own_description)
{
	struct fixture *r = *state;
	struct mrc_meet_end end[2], wrong;

	for (int i = 0; i < 2; i++)
		assert_int_equal(mrc_meet_describe(r->qp[i], i ? r->mr : NULL, &end[i]), 0);
	assert_u_eq(end[0].bytes, 0);
	assert_u_eq(end[1].address, (uintptr_t)r->memory);
	assert_int_equal(mrc_meet_connect(r->qp[0], &end[1], &end[0]), EINVAL);
	wrong = end[1];
	wrong.mtu = 9;
	assert_int_equal(mrc_meet_connect(r->qp[0], &end[0], &wrong), EINVAL);
	assert_int_equal(mrc_meet_connect(r->qp[0], NULL, &end[1]), EINVAL);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RESET);
	assert_int_equal(mrc_meet_connect(r->qp[0], &end[0], &end[1]), 0);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_RTS);
}

/* More than the device can do is found when the QP is on its way. */
TEST(mrc_meet_connect, leaves_a_qp_that_it_touched_in_reset)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT};
	struct mrc_meet_end end[2];
	struct fixture r;

	setenv("MRC_MTU", "1024", 1);
	fixture_open(&r);
	assert_int_equal(mrc_modify_qp(r.qp[0], &init, IBV_QP_STATE, NULL, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mrc_meet_describe(r.qp[i], NULL, &end[i]), 0);
		assert_u_eq(end[i].mtu, IBV_MTU_1024);
		end[i].mtu = IBV_MTU_4096;
	}
	assert_int_equal(mrc_meet_connect(r.qp[0], &end[0], &end[1]), EINVAL);
	assert_int_equal(fixture_state(&r, 0), IBV_QPS_RESET);
	fixture_close(&r);
	unsetenv("MRC_MTU");
}

/* Numbers of first packets are no two times the same, or an attacker could guess them. */
TEST_WITH(fixture_setup, fixture_teardown, mrc_meet_describe, draws_a_first_psn)
{
	struct fixture *r = *state;
	struct mrc_meet_end first, next;
	int differ = 0;

	assert_int_equal(mrc_meet_describe(r->qp[0], NULL, &first), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(mrc_meet_describe(r->qp[0], NULL, &next), 0);
		assert_true(next.psn <= 0xffffff);
		differ += next.psn != first.psn;
	}
	assert_true(differ > 0);
}

static struct mrc_meet_end sample(void)
{
	struct mrc_meet_end end = {.qpn = 0xabcdef,
				   .psn = 0x123456,
				   .mtu = IBV_MTU_4096,
				   .mpr_dest = 64,
				   .max_wimm_dest = 0x7fff,
				   .rkey = 0xdeadbeef,
				   .address = UINT64_C(0x7f0123456789abcd),
				   .bytes = 4096};

	for (unsigned int i = 0; i < sizeof(end.gid.raw); i++)
		end.gid.raw[i] = (uint8_t)(0xf0 + i);
	return end;
}

TEST(mrc_meet_print, makes_the_line_that_all_releases_read)
{
	struct mrc_meet_end end = sample(), read = {0};
	char line[MRC_MEET_LINE_BYTES];

	assert_int_equal(mrc_meet_print(&end, line), 0);
	assert_string_equal(line,
			    "mrc-meet-1 f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff00abcdef0012345605407fff"
			    "deadbeef7f0123456789abcd0000000000001000\n");
	assert_int_equal(mrc_meet_parse(line, &read), 0);
	assert_bytes_eq((uint8_t *)&read, (uint8_t *)&end, sizeof(end));
	line[LINE_CHARS - 1] = '\0';
	assert_int_equal(mrc_meet_parse(line, &read), 0);
}

TEST(mrc_meet_print, refuses_fields_out_of_range)
{
	char line[MRC_MEET_LINE_BYTES] = "as it was";
	struct mrc_meet_end e;

#define REFUSED(field, value)                                       \
	do {                                                        \
		e = sample();                                       \
		e.field = (value);                                  \
		assert_int_equal(mrc_meet_print(&e, line), EINVAL); \
		assert_string_equal(line, "as it was");             \
	} while (0)
	REFUSED(qpn, 1u << 24);
	REFUSED(psn, 1u << 24);
	REFUSED(mtu, 0);
	REFUSED(mtu, IBV_MTU_4096 + 1);
	REFUSED(mpr_dest, 0);
	REFUSED(max_wimm_dest, 0);
	REFUSED(bytes, 0);
	REFUSED(bytes, UINT64_MAX);
#undef REFUSED
	e = sample();
	e.bytes = UINT64_MAX - e.address + 1; /* up to the last byte there is */
	assert_int_equal(mrc_meet_print(&e, line), 0);
	e.rkey = 0;
	e.bytes = e.address = 0;
	assert_int_equal(mrc_meet_print(&e, line), 0);
	e.qpn = e.psn = 0xffffff;
	e.mtu = IBV_MTU_256;
	assert_int_equal(mrc_meet_print(&e, line), 0);
	assert_int_equal(mrc_meet_print(NULL, line), EINVAL);
	assert_int_equal(mrc_meet_print(&e, NULL), EINVAL);
}

/* Any one character changed is another description or none, and never half of one. */
TEST(mrc_meet_parse, bears_every_line_with_one_character_changed)
{
	struct mrc_meet_end end = sample(), read;
	char good[MRC_MEET_LINE_BYTES], line[MRC_MEET_LINE_BYTES];

	assert_int_equal(mrc_meet_print(&end, good), 0);
	for (size_t at = 0; at < LINE_CHARS; at++) {
		for (int c = 1; c < 256; c++) {
			int err;

			memcpy(line, good, sizeof(line));
			line[at] = (char)c;
			memset(&read, 0x55, sizeof(read));
			err = mrc_meet_parse(line, &read);
			if (err == 0) {
				assert_int_equal(mrc_meet_print(&read, good), 0);
				assert_string_equal(good, line);
				assert_int_equal(mrc_meet_print(&end, good), 0);
			} else {
				assert_true(err == EPROTO || err == EPROTONOSUPPORT);
				assert_u_eq(read.qpn, 0x55555555);
			}
		}
	}
}

TEST(mrc_meet_parse, wants_the_whole_line)
{
	struct mrc_meet_end end = sample(), read;
	char line[2 * MRC_MEET_LINE_BYTES];

	assert_int_equal(mrc_meet_print(&end, line), 0);
	strcpy(line + LINE_CHARS, "x");
	assert_int_equal(mrc_meet_parse(line, &read), EPROTO);
	for (size_t n = LINE_CHARS - 1; n-- > 0;) {
		line[n] = '\0';
		assert_int_equal(mrc_meet_parse(line, &read), EPROTO);
	}
	assert_int_equal(mrc_meet_parse(NULL, &read), EINVAL);
	assert_int_equal(mrc_meet_parse(line, NULL), EINVAL);
}

TEST(mrc_meet_listen, says_why_nobody_came)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(at);
	int taken = socket(AF_INET, SOCK_STREAM, 0), fd = -5;

	assert_int_equal(bind(taken, (struct sockaddr *)&at, size) || listen(taken, 1), 0);
	assert_int_equal(getsockname(taken, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(mrc_meet_listen("127.0.0.1", ntohs(at.sin_port), SHORT_MS, &fd),
			 EADDRINUSE);
	close(taken);
	assert_int_equal(mrc_meet_listen("127.0.0.1", ntohs(at.sin_port), SHORT_MS, &fd),
			 ETIMEDOUT);
	assert_int_equal(mrc_meet_listen("192.0.2.1", 4000, SHORT_MS, &fd), EADDRNOTAVAIL);
	assert_int_equal(mrc_meet_listen("localhost", 4000, SHORT_MS, &fd), EINVAL);
	assert_int_equal(mrc_meet_listen(NULL, 0, SHORT_MS, &fd), EINVAL);
	assert_int_equal(mrc_meet_listen(NULL, 4000, -2, &fd), EINVAL);
	assert_int_equal(mrc_meet_listen(NULL, 4000, SHORT_MS, NULL), EINVAL);
	assert_int_equal(fd, -5);
}

TEST(mrc_meet_call, says_why_it_got_nobody)
{
	int fd = -5;

	assert_int_equal(mrc_meet_call("127.0.0.1", 1, SHORT_MS, &fd), ECONNREFUSED);
	assert_int_equal(mrc_meet_call("127.0.0.1", 0, SHORT_MS, &fd), EINVAL);
	assert_int_equal(mrc_meet_call("127.0.0.1", 1, -2, &fd), EINVAL);
	assert_int_equal(mrc_meet_call(NULL, 1, SHORT_MS, &fd), EINVAL);
	assert_int_equal(fd, -5);
}

/* A listener's own connections of before are no reason to refuse the port. */
TEST(mrc_meet_listen, takes_a_port_again_and_leaves_no_descriptor)
{
	struct tcp_end client = {.address = "127.0.0.1",
				 .port = (uint16_t)(20000 + test_rand_below(20000)),
				 .fd = -1};
	uint32_t before = test_open_fds();
	int fd = -1;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, call_host, &client), 0);
	assert_int_equal(mrc_meet_listen(client.address, client.port, PATIENCE_MS, &fd), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(client.err, 0);
	close(fd);
	close(client.fd);
	assert_int_equal(mrc_meet_listen(client.address, client.port, SHORT_MS, &fd), ETIMEDOUT);
	assert_int_equal(mrc_meet_call(client.address, client.port, SHORT_MS, &fd), ECONNREFUSED);
	assert_u_eq(test_open_fds(), before);
}

static atomic_int calls_ended;

static void listen_once(void)
{
	int fd;

	calls_ended += mrc_meet_listen("127.0.0.1", 19999, 0, &fd) == ETIMEDOUT;
}

static void call_once(void)
{
	int fd;

	calls_ended += mrc_meet_call("127.0.0.1", 1, 0, &fd) == ECONNREFUSED;
}

/* Cancelled before it begins, which ends no call; the thread ends afterwards. It has no variables:
 * what ends it leaves the marks of sanitizers around them. */
static void *cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	if (arg)
		listen_once();
	else
		call_once();
	pthread_testcancel();
	return NULL;
}

TEST(mrc_meet_tcp, is_not_cancelled_in_the_middle)
{
	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		void *result = NULL;

		assert_int_equal(pthread_create(&thread, NULL, cancelled, i ? &calls_ended : NULL),
				 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_ptr_equal(result, PTHREAD_CANCELED);
		assert_int_equal(calls_ended, i + 1);
	}
}
