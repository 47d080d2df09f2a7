/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_node_share.c - how a change comes to all processes of the host, and what becomes of what
 * mrcd answers: src/host/node/node_share.c. The store and mrcd are the test's.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/node/node.h"
#include "support/open_fds.h"

#define DIR_NAME "/run/x"
#define DEVICE "mrc7"
#define PUT "{\"do\":\"state.put\",\"generation\":7}\n"
#define ANSWERS 4u

static struct {
	struct mh_nic nic;
	struct mh_node node;
	struct mn_state state, found;
	struct store_info info;
	uint32_t fds_before;
	char said[400];
	/* What calls return; 0: as they should. */
	int read_err, socket_err, setsockopt_err, connect_err, offer_err, send_err, open_err,
		commit_err;
	uint32_t setsockopts; /* the one that fails; from 1 */
	char *path;	      /* that was connected to */
	char sent[100];
	int passed; /* the descriptor that went along */
	/* What mrcd answers, piece by piece; NULL: an error. */
	const char *answer[ANSWERS];
	int answer_err[ANSWERS];
	uint32_t n_answers, answers_read;
	uint64_t slept_ns;
	uint32_t sockets, commits, closes;
} t;

__typeof__(store_read) __real_store_read, __wrap_store_read;
int __wrap_store_read(const char *dir, const char *device, struct mn_state *s,
		      struct store_info *info, struct store_error *error)
{
	assert_string_equal(dir, DIR_NAME);
	assert_string_equal(device, DEVICE);
	assert_ptr_equal(s, &t.state);
	if (t.read_err)
		snprintf(error->text, sizeof(error->text), "it is damaged");
	else
		info->generation = 7;
	return t.read_err;
}

__typeof__(store_offer_make) __real_store_offer_make, __wrap_store_offer_make;
int __wrap_store_offer_make(const struct mn_state *s, const struct store_info *info,
			    struct store_error *error)
{
	(void)error;
	assert_ptr_equal(s, &t.state);
	assert_ptr_equal(info, &t.info);
	return t.offer_err ? -1 : dup(STDERR_FILENO);
}

__typeof__(store_writer_open) __real_store_writer_open, __wrap_store_writer_open;
int __wrap_store_writer_open(struct store_writer *w, const char *dir, const char *device,
			     const char *by, struct mn_state *s, struct store_error *lost,
			     struct store_error *error)
{
	(void)lost;
	(void)error;
	assert_string_equal(dir, DIR_NAME);
	assert_string_equal(device, DEVICE);
	assert_string_equal(by, "libmrc");
	mn_state_copy(s, &t.found);
	w->info.generation = 7;
	return t.open_err;
}

__typeof__(store_writer_commit) __real_store_writer_commit, __wrap_store_writer_commit;
int __wrap_store_writer_commit(struct store_writer *w, const struct mn_state *s,
			       struct store_error *error)
{
	(void)error;
	assert_ptr_equal(s, &t.state);
	t.commits++;
	w->info.generation += !t.commit_err;
	return t.commit_err;
}

__typeof__(store_writer_close) __real_store_writer_close, __wrap_store_writer_close;
void __wrap_store_writer_close(struct store_writer *w)
{
	(void)w;
	t.closes++;
}

__typeof__(socket) __real_socket, __wrap_socket;
int __wrap_socket(int family, int type, int protocol)
{
	t.sockets++;
	errno = t.socket_err;
	return t.socket_err ? -1 : __real_socket(family, type, protocol);
}

__typeof__(setsockopt) __real_setsockopt, __wrap_setsockopt;
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (t.setsockopts > 0 && --t.setsockopts == 0) {
		errno = t.setsockopt_err;
		return -1;
	}
	return __real_setsockopt(fd, level, name, value, len);
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	const struct sockaddr_un *at = (const void *)to;

	(void)fd;
	assert_u_eq(at->sun_family, AF_UNIX);
	assert_u_eq(len, sizeof(*at));
	free(t.path);
	t.path = strndup(at->sun_path, sizeof(at->sun_path));
	errno = t.connect_err;
	return t.connect_err ? -1 : 0;
}

__typeof__(sendmsg) __real_sendmsg, __wrap_sendmsg;
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	const struct cmsghdr *m = CMSG_FIRSTHDR(message);

	(void)fd;
	assert_i_eq(flags, MSG_NOSIGNAL);
	assert_u_eq(message->msg_iov->iov_len, strlen(PUT));
	memcpy(t.sent, message->msg_iov->iov_base, strlen(PUT));
	assert_true(m->cmsg_level == SOL_SOCKET && m->cmsg_type == SCM_RIGHTS);
	memcpy(&t.passed, CMSG_DATA(m), sizeof(t.passed));
	return t.send_err ? t.send_err : (ssize_t)message->msg_iov->iov_len;
}

__typeof__(recv) __real_recv, __wrap_recv;
ssize_t __wrap_recv(int fd, void *bytes, size_t n, int flags)
{
	uint32_t i = t.answers_read++;
	size_t len;

	(void)fd;
	assert_i_eq(flags, 0);
	assert_true(n > 0 && i < t.n_answers);
	if (!t.answer[i]) {
		errno = t.answer_err[i];
		return errno ? -1 : 0;
	}
	len = strlen(t.answer[i]);
	assert_true(len <= n);
	memcpy(bytes, t.answer[i], len);
	return (ssize_t)len;
}

__typeof__(nanosleep) __real_nanosleep, __wrap_nanosleep;
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	assert_null(left);
	assert_i_eq(time->tv_sec, 0);
	t.slept_ns += (uint64_t)time->tv_nsec;
	return 0;
}

void __real_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...)
{
	va_list args;

	assert_int_equal(level, MRC_LOG_WARNING);
	va_start(args, format);
	vsnprintf(t.said, sizeof(t.said), format, args);
	va_end(args);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nic.node = &t.node;
	t.node.store.used = true;
	strcpy(t.nic.env.node_dir, DIR_NAME);
	strcpy(t.nic.attr.name, DEVICE);
	mn_state_init(&t.state);
	mn_state_init(&t.found);
	t.info.generation = 7;
	t.fds_before = test_open_fds();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(t.path);
	return test_open_fds() != t.fds_before;
}

#define SHARE_TEST(function, name) TEST_WITH(setup, teardown, function, name)

SHARE_TEST(mh_node_share_read, of_what_is_there)
{
	t.info.generation = 0;
	assert_i_eq(mh_node_share_read(&t.nic, &t.state, &t.info), 0);
	assert_u_eq(t.info.generation, 7);
	t.read_err = ENOENT;
	assert_i_eq(mh_node_share_read(&t.nic, &t.state, &t.info), ENOENT);
	assert_string_equal(t.said, "");
	t.read_err = EBADMSG;
	assert_i_eq(mh_node_share_read(&t.nic, &t.state, &t.info), EIO);
	assert_string_equal(t.said, "mrc7: it is damaged; nothing can be changed");
	t.node.store.used = false;
	assert_i_eq(mh_node_share_read(&t.nic, &t.state, &t.info), ENOENT);
}

/* ---- mh_node_dial ---- */

static void expect_patience(int fd, int option)
{
	struct timeval patience;
	socklen_t len = sizeof(patience);

	assert_i_eq(getsockopt(fd, SOL_SOCKET, option, &patience, &len), 0);
	assert_i_eq(patience.tv_sec, 5);
}

SHARE_TEST(mh_node_dial, has_patience)
{
	int fd = mh_node_dial(&t.nic);

	assert_true(fd >= 0);
	assert_string_equal(t.path, DIR_NAME "/" STORE_SOCKET_NAME);
	expect_patience(fd, SO_RCVTIMEO);
	expect_patience(fd, SO_SNDTIMEO);
	close(fd);
}

/* The longest address is one that ends within what the system takes. */
SHARE_TEST(mh_node_dial, at_a_long_path)
{
	const size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	const size_t len = most - strlen("/" STORE_SOCKET_NAME);
	int fd;

	memset(t.nic.env.node_dir, 'x', len);
	fd = mh_node_dial(&t.nic);
	assert_true(fd >= 0);
	close(fd);
	assert_u_eq(strlen(t.path), most);
	t.nic.env.node_dir[len] = 'x';
	assert_i_eq(mh_node_dial(&t.nic), -1);
	assert_i_eq(errno, ENOENT);
	assert_u_eq(t.sockets, 1);
}

static void expect_no_connection(int err)
{
	assert_i_eq(mh_node_dial(&t.nic), -1);
	assert_i_eq(errno, err);
	assert_u_eq(test_open_fds(), t.fds_before);
}

SHARE_TEST(mh_node_dial, without_what_it_takes)
{
	t.socket_err = EMFILE;
	expect_no_connection(EMFILE);
	t.socket_err = 0;
	t.setsockopt_err = ENOBUFS;
	for (uint32_t i = 1; i <= 2; i++) {
		t.setsockopts = i;
		expect_no_connection(ENOBUFS);
	}
	t.connect_err = ECONNREFUSED;
	expect_no_connection(ECONNREFUSED);
}

/* ---- through mrcd ---- */

static int send_state(void)
{
	int result;

	t.said[0] = '\0';
	t.answers_read = 0;
	t.slept_ns = 0;
	result = mh_node_share_send(&t.nic, &t.state, &t.info);
	assert_u_eq(test_open_fds(), t.fds_before);
	return result;
}

static int answer(const char *line)
{
	t.answer[0] = line;
	t.n_answers = 1;
	return send_state();
}

/* It may come in pieces, and a signal between them. */
SHARE_TEST(mh_node_share_send, what_mrcd_takes)
{
	t.answer[0] = "{\"ok\":true,";
	t.answer_err[1] = EINTR;
	t.answer[2] = "\"generation\":12345678901}";
	t.answer[3] = "\n";
	t.n_answers = 4;
	assert_i_eq(send_state(), 0);
	assert_u_eq(t.answers_read, 4);
	assert_string_equal(t.sent, PUT);
	/* The connection is the first that was opened, the offer the next. */
	assert_i_eq(t.passed, test_next_fd() + 1);
	assert_u_eq(t.info.generation, UINT64_C(12345678901));
	assert_u_eq(t.commits, 0);
}

/* It does not answer, or with what is no line. */
SHARE_TEST(mh_node_share_send, what_mrcd_does_not_answer)
{
	char longest[2048];

	t.n_answers = 1;
	t.answer_err[0] = EAGAIN;
	assert_i_eq(send_state(), ETIMEDOUT);
	t.answer_err[0] = 0;
	assert_i_eq(send_state(), ETIMEDOUT);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_i_eq(answer(longest), ETIMEDOUT);
	t.send_err = -1;
	assert_i_eq(answer("{\"ok\":true,\"generation\":8}\n"), ETIMEDOUT);
	t.send_err = 1;
	assert_i_eq(send_state(), ETIMEDOUT);
	t.send_err = 0;
	assert_i_eq(send_state(), 0);
	t.offer_err = 1;
	assert_i_eq(send_state(), EIO);
	assert_u_eq(t.answers_read, 0);
}

SHARE_TEST(mh_node_share_send, what_mrcd_refuses)
{
	assert_i_eq(answer("{\"ok\":false,\"errno\":\"EBUSY\",\"error\":\"of \\\"x\\\"\"}\n"),
		    EBUSY);
	assert_string_equal(t.said, "mrc7: mrcd refuses a change: of \\\"x\\\"");
	assert_i_eq(answer("{\"ok\":false,\"errno\":\"EPERM\",\"error\":\"no\"}\n"), EPERM);
	assert_string_equal(t.said, "mrc7: mrcd refuses a change: no");
	assert_i_eq(answer("{\"ok\":false,\"errno\":\"EINVAL\"}\n"), EIO);
	assert_string_equal(t.said, "mrc7: mrcd refuses a change: for no reason");
	assert_i_eq(answer("{\"ok\":true}\n"), EIO);
	assert_i_eq(answer("{\"generation\":8}\n"), EIO);
	assert_u_eq(t.slept_ns, 0);
	assert_u_eq(t.info.generation, 7);
}

/* Another state is read at once; a place with mrcd is waited for. */
SHARE_TEST(mh_node_share_send, what_mrcd_takes_later)
{
	assert_i_eq(answer("{\"ok\":false,\"errno\":\"EAGAIN\",\"key\":\"generation\"}\n"), EAGAIN);
	assert_u_eq(t.slept_ns, 0);
	assert_i_eq(answer("{\"ok\":false,\"errno\":\"EAGAIN\"}\n"), EAGAIN);
	assert_u_eq(t.slept_ns, 10000000);
	assert_string_equal(t.said, "");
	t.connect_err = EAGAIN;
	assert_i_eq(send_state(), ETIMEDOUT);
	t.connect_err = EACCES;
	assert_i_eq(send_state(), EPERM);
	assert_u_eq(t.closes, 0);
}

/* ---- where no mrcd lives ---- */

SHARE_TEST(mh_node_share_send, into_the_store)
{
	t.connect_err = ECONNREFUSED;
	assert_i_eq(send_state(), 0);
	assert_u_eq(t.info.generation, 8);
	assert_u_eq(t.commits, 1);
	/* Another state is in force by now, which was made of ours. */
	assert_i_eq(send_state(), EAGAIN);
	assert_u_eq(t.info.generation, 7);
	assert_u_eq(t.commits, 1);
	t.commit_err = ENOSPC;
	assert_i_eq(send_state(), EIO);
	assert_u_eq(t.info.generation, 7);
	assert_u_eq(t.closes, 3);
	assert_u_eq(t.slept_ns, 0);
}

SHARE_TEST(mh_node_share_send, into_a_store_that_is_not_ours)
{
	static const int errs[][2] = {
		{EPERM, EPERM}, {EACCES, EPERM}, {EINVAL, EIO}, {EBUSY, EAGAIN}};

	t.connect_err = ENOENT;
	for (uint32_t i = 0; i < sizeof(errs) / sizeof(errs[0]); i++) {
		t.open_err = errs[i][0];
		assert_i_eq(send_state(), errs[i][1]);
		assert_u_eq(t.slept_ns, t.open_err == EBUSY ? 1000000 : 0);
	}
	assert_u_eq(t.commits + t.closes, 0);
}
