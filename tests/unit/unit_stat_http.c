/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of scrapes: src/exporter/exporter.h. */
#include "exporter/exporter.h"

#include "support/test.h"

static struct stat_request request;

static enum stat_http judged(const char *text)
{
	return stat_http_read(text, strlen(text), &request);
}

TEST(stat_http_read, takes_a_scrape)
{
	assert_int_equal(judged("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), STAT_HTTP_METRICS);
	assert_false(request.head);
	assert_false(request.openmetrics);
	assert_int_equal(judged("HEAD /metrics?x=1 HTTP/1.0\n\n"), STAT_HTTP_METRICS);
	assert_true(request.head);
	assert_int_equal(judged("GET / HTTP/1.1\r\n\r\n"), STAT_HTTP_ROOT);
}

TEST(stat_http_read, sees_what_prometheus_asks_for)
{
	assert_int_equal(judged("GET /metrics HTTP/1.1\r\nHost: a:1\r\naccept: "
				"application/OpenMetrics-text;version=1.0.0,*/*;q=0.1\r\n\r\n"),
			 STAT_HTTP_METRICS);
	assert_true(request.openmetrics);
	assert_int_equal(judged("GET /metrics HTTP/1.1\r\nX: application/openmetrics-text\r\n\r\n"),
			 STAT_HTTP_METRICS);
	assert_false(request.openmetrics);
}

TEST(stat_http_read, waits_for_the_end_of_the_head)
{
	static const char whole[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		assert_int_equal(stat_http_read(whole, n, &request), STAT_HTTP_MORE);
	assert_int_equal(stat_http_read(whole, sizeof(whole) - 1, &request), STAT_HTTP_METRICS);
}

TEST(stat_http_read, refuses_what_is_no_request)
{
	static const char *const wrong[] = {
		"\r\n\r\n",
		"GET\r\n\r\n",
		"GET /metrics\r\n\r\n",
		"GET /metrics HTTP/2.0\r\n\r\n",
		"GET /metrics HTTP/1.12\r\n\r\n",
		"GET  HTTP/1.1\r\n\r\n",
		"GET /a b HTTP/1.1\r\n\r\n",
		"\x16\x03\x01 \n\n",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(judged(wrong[i]), STAT_HTTP_BAD);
	assert_int_equal(judged("POST /metrics HTTP/1.1\r\n\r\n"), STAT_HTTP_BAD_METHOD);
	assert_int_equal(judged("get /metrics HTTP/1.1\r\n\r\n"), STAT_HTTP_BAD_METHOD);
	assert_int_equal(judged("GET /metricsx HTTP/1.1\r\n\r\n"), STAT_HTTP_NOT_FOUND);
	assert_int_equal(judged("GET /../metrics HTTP/1.1\r\n\r\n"), STAT_HTTP_NOT_FOUND);
}

/* An empty first line is a whole head: what comes behind it is none of its headers. */
TEST(stat_http_read, reads_nothing_behind_an_empty_line)
{
	assert_int_equal(judged("\r\nAccept: application/openmetrics-text\r\n\r\n"), STAT_HTTP_BAD);
	assert_false(request.openmetrics);
}

TEST(stat_http_read, refuses_a_head_without_end)
{
	char text[STAT_REQUEST_MAX + 10];

	memset(text, 'a', sizeof(text));
	assert_int_equal(stat_http_read(text, STAT_REQUEST_MAX - 1, &request), STAT_HTTP_MORE);
	assert_int_equal(stat_http_read(text, STAT_REQUEST_MAX, &request), STAT_HTTP_BAD);
	assert_int_equal(stat_http_read(text, sizeof(text), &request), STAT_HTTP_BAD);
}
