/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_client.c - one connection of the socket: see md_serve.h. It has a buffer for one request, and
 * who does not read his answers is asked nothing more until he does.
 */
#include "mrcd/md_serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void drop_passed(struct md_client *c)
{
	if (c->peer.passed_fd >= 0)
		close(c->peer.passed_fd);
	c->peer.passed_fd = -1;
}

int md_client_init(struct md_client *c, int fd, const struct md_peer *peer, uint64_t now_ns)
{
	*c = (struct md_client){.fd = -1};
	c->in = malloc(MD_REQUEST_MAX);
	if (!c->in)
		return ENOMEM;
	c->fd = fd;
	c->peer = *peer;
	c->tokens = MD_BURST;
	c->token_ns = now_ns;
	return 0;
}

void md_client_fini(struct md_client *c)
{
	if (c->fd >= 0) {
		drop_passed(c);
		close(c->fd);
	}
	free(c->in);
	ui_text_fini(&c->out);
	*c = (struct md_client){.fd = -1};
}

static void add_line(struct md_client *c, const json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	if (text)
		ui_text_add(&c->out, "%s\n", text);
	free(text);
}

static double tokens_at(const struct md_client *c, uint64_t now_ns)
{
	double tokens = c->tokens + (double)(now_ns - c->token_ns) * MD_RATE / 1e9;

	return tokens < MD_BURST ? tokens : MD_BURST;
}

bool md_client_may_ask(const struct md_client *c, uint64_t now_ns)
{
	return !c->ends && tokens_at(c, now_ns) >= 1 && c->out.len - c->sent < MD_OUT_MAX;
}

short md_client_wants(const struct md_client *c, uint64_t now_ns)
{
	bool listens = !c->heard_all && md_client_may_ask(c, now_ns);

	return (short)((listens ? POLLIN : 0) | (c->out.len > c->sent ? POLLOUT : 0));
}

bool md_client_is_done(const struct md_client *c)
{
	return c->heard_all && !c->got && c->out.len == c->sent && !c->peer.follows;
}

static void refuse_long_line(struct md_client *c)
{
	json_t *answer = json_pack("{s:b, s:s, s:s}", "ok", 0, "errno", "E2BIG", "error",
				   "a request is one line of less than 65536 bytes");

	add_line(c, answer);
	json_decref(answer);
	c->ends = true;
	c->got = 0;
}

/* One line, if there is a whole one. */
static bool answer_line(struct md_client *c, struct md_node *node, json_t *said)
{
	const char *end = memchr(c->in, '\n', c->got);
	size_t len = end ? (size_t)(end - c->in) : 0;
	json_t *answer, *event;

	if (!end)
		return false;
	answer = md_request(node, &c->peer, c->in, len, &event);
	drop_passed(c);
	add_line(c, answer);
	json_decref(answer);
	if (event)
		json_array_append_new(said, event);
	c->got -= len + 1;
	memmove(c->in, c->in + len + 1, c->got);
	c->tokens -= 1;
	return true;
}

/* The end of all input is the end of its last line. */
static void hear_end(struct md_client *c)
{
	c->heard_all = true;
	if (c->got && c->in[c->got - 1] != '\n')
		c->in[c->got++] = '\n';
}

/* One descriptor is enough for a request; the newest counts, and none stays open besides. */
static void take_passed(struct md_client *c, struct msghdr *message)
{
	int fd;

	for (struct cmsghdr *m = CMSG_FIRSTHDR(message); m; m = CMSG_NXTHDR(message, m)) {
		if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(fd) <= m->cmsg_len; at += sizeof(fd)) {
			memcpy(&fd, (uint8_t *)m + at, sizeof(fd));
			drop_passed(c);
			c->peer.passed_fd = fd;
		}
	}
}

/*
 * A descriptor is taken of those alone who may change anything: what closing it does is up to its
 * file system, which may be the client's. The kernel drops others without that.
 */
static ssize_t receive(struct md_client *c, bool takes_passed)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
	struct iovec room = {c->in + c->got, MD_REQUEST_MAX - c->got};
	struct msghdr message = {.msg_iov = &room,
				 .msg_iovlen = 1,
				 .msg_control = takes_passed ? control : NULL,
				 .msg_controllen = takes_passed ? sizeof(control) : 0};
	ssize_t n = recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n >= 0)
		take_passed(c, &message);
	return n;
}

/* false: the connection is broken. */
static bool hear(struct md_client *c, const struct md_node *node)
{
	ssize_t n;

	if (c->heard_all || c->got == MD_REQUEST_MAX)
		return true;
	n = receive(c, md_node_lets(node, &c->peer));
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->got += (size_t)n;
	if (n == 0)
		hear_end(c);
	return true;
}

bool md_client_receive(struct md_client *c, struct md_node *node, uint64_t now_ns, json_t *said)
{
	if (!hear(c, node))
		return false;
	c->tokens = tokens_at(c, now_ns);
	c->token_ns = now_ns;
	while (c->tokens >= 1 && c->out.len - c->sent < MD_OUT_MAX && answer_line(c, node, said))
		;
	c->waits = memchr(c->in, '\n', c->got) != NULL;
	if (c->got == MD_REQUEST_MAX && !c->waits)
		refuse_long_line(c);
	return true;
}

bool md_client_send(struct md_client *c)
{
	ssize_t n;

	if (c->out.len == c->sent)
		return !c->ends;
	n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	c->sent += n > 0 ? (size_t)n : 0;
	if (c->sent < c->out.len) {
		/* Else who always leaves a little would have all that was ever sent kept. */
		c->out.len -= c->sent;
		memmove(c->out.data, c->out.data + c->sent, c->out.len + 1);
		c->sent = 0;
		return true;
	}
	ui_text_clear(&c->out);
	c->sent = 0;
	return !c->ends;
}

/* What was dropped is said with the next event that is not. */
bool md_client_tell(struct md_client *c, const json_t *event)
{
	json_t *with;

	if (c->out.len - c->sent >= MD_EVENTS_OUT_MAX) {
		c->dropped++;
		return false;
	}
	if (!c->dropped) {
		add_line(c, event);
		return true;
	}
	with = json_copy((json_t *)event);
	json_object_set_new(with, "dropped", json_integer((json_int_t)c->dropped));
	c->dropped = 0;
	add_line(c, with);
	json_decref(with);
	return true;
}
