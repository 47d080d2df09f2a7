/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection beside MRC: src/cli/perf/perf.h. */
#include "cli/perf/perf.h"

#include "support/test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct perf_link a;
static int peer;
static int late = -1;	 /* a socket that listens from the last gap between two calls on */
static uint32_t gaps;	 /* so many are to come until then, */
static uint32_t gaps_ms; /* and so long were those that have been */

int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (fds)
		return __real_poll(fds, n, timeout_ms);
	gaps_ms += (uint32_t)timeout_ms;
	if (gaps && --gaps == 0)
		assert_i_eq(listen(late, 1), 0);
	return 0;
}

static int link_setup(void **state)
{
	int fds[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -1;
	memset(&a, 0, sizeof(a));
	a.fd = fds[0];
	peer = fds[1];
	return 0;
}

static int link_teardown(void **state)
{
	(void)state;
	perf_link_close(&a);
	if (peer >= 0)
		close(peer);
	return 0;
}

#define LINK_TEST(function, name) TEST_WITH(link_setup, link_teardown, function, name)

static void say(const char *text)
{
	assert_i_eq(write(peer, text, strlen(text)), (ssize_t)strlen(text));
}

LINK_TEST(perf_link_send, one_line_an_object)
{
	char got[64] = "";

	assert_i_eq(perf_link_send(&a, json_pack("{s:i}", "x", 7)), 0);
	assert_true(read(peer, got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "{\"x\":7}\n");
}

LINK_TEST(perf_link_receive, objects_in_one_go_and_in_pieces)
{
	json_t *json;

	say("{\"x\":1}\n{\"x\":2}\n{\"x\"");
	json = perf_link_receive(&a, 100, NULL);
	assert_i_eq(json_integer_value(json_object_get(json, "x")), 1);
	json_decref(json);
	json = perf_link_receive(&a, 100, NULL);
	assert_i_eq(json_integer_value(json_object_get(json, "x")), 2);
	json_decref(json);
	say(":3}\n");
	json = perf_link_receive(&a, 100, NULL);
	assert_i_eq(json_integer_value(json_object_get(json, "x")), 3);
	json_decref(json);
}

LINK_TEST(perf_link_receive, nothing_yet_is_no_error)
{
	bool nothing;

	assert_null(perf_link_receive(&a, 0, &nothing));
	assert_true(nothing);
}

LINK_TEST(perf_link_receive, the_peer_has_gone)
{
	bool nothing;

	close(peer);
	peer = -1;
	assert_null(perf_link_receive(&a, 100, &nothing));
	assert_false(nothing);
	assert_string_equal(a.error, "the peer has gone");
}

LINK_TEST(perf_link_receive, refuses_what_is_no_object)
{
	say("GET / HTTP/1.1\r\n");
	assert_null(perf_link_receive(&a, 100, NULL));
	assert_string_equal(a.error, "the peer speaks something else");
	say("[1]\n");
	assert_null(perf_link_receive(&a, 100, NULL));
	assert_string_equal(a.error, "the peer speaks something else");
}

LINK_TEST(perf_link_receive, endless_lines_end)
{
	static char much[PERF_LINK_LINE];

	memset(much, ' ', sizeof(much));
	assert_i_eq(write(peer, much, sizeof(much)), (ssize_t)sizeof(much));
	say("x");
	assert_null(perf_link_receive(&a, 100, NULL));
	assert_string_equal(a.error, "the peer sends endless lines");
}

LINK_TEST(perf_link_receive, errors_of_the_peer_are_told_without_control_characters)
{
	say("{\"error\":\"no\\u001b[2J\"}\n");
	assert_null(perf_link_receive(&a, 100, NULL));
	assert_string_equal(a.error, "the peer says: no?[2J");
	/* U+009B begins an escape sequence where a terminal takes it for 8 bits. */
	say("{\"error\":\"\\u009b2J \\u007f \\u202e \\u00e9\"}\n");
	assert_null(perf_link_receive(&a, 100, NULL));
	assert_string_equal(a.error, "the peer says: ??2J ? ??? ??");
}

TEST(perf_link_connect, names_host_and_port)
{
	struct perf_link link;

	assert_i_eq(perf_link_connect(&link, "127.0.0.1", 1, 0), -1);
	assert_non_null(strstr(link.error, "127.0.0.1, TCP port 1: "));
}

/* A port that refuses calls until so many gaps have been. */
static uint16_t refuse_calls(uint32_t until_gaps)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(any);

	gaps = until_gaps;
	gaps_ms = 0;
	late = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_i_eq(bind(late, (struct sockaddr *)&any, len), 0);
	assert_i_eq(getsockname(late, (struct sockaddr *)&any, &len), 0);
	return ntohs(any.sin_port);
}

TEST(perf_link_connect, calls_again_until_somebody_listens)
{
	struct perf_link link;
	uint16_t port = refuse_calls(3);

	assert_i_eq(perf_link_connect(&link, "127.0.0.1", port, 10000), 0);
	assert_u_eq(gaps, 0);
	perf_link_close(&link);
	close(late);
}

TEST(perf_link_connect, calls_for_as_long_as_it_is_told)
{
	struct perf_link link;
	uint16_t port = refuse_calls(UINT32_MAX);

	assert_i_eq(perf_link_connect(&link, "127.0.0.1", port, 10000), -1);
	assert_u_eq(gaps_ms, 10000);
	assert_non_null(strstr(link.error, "Connection refused"));
	close(late);
}

TEST(perf_link_listen, calls_come_through)
{
	struct perf_link server, client;
	uint16_t port = 0;
	int listener = -1;

	for (port = 40000; listener < 0 && port < 40100; port++)
		listener = perf_link_listen(&server, port);
	assert_true(listener >= 0);
	assert_i_eq(perf_link_connect(&client, "localhost", (uint16_t)(port - 1), 1000), 0);
	assert_i_eq(perf_link_accept(&server, listener), 0);
	close(listener);
	perf_link_close(&client);
	perf_link_close(&server);
}
