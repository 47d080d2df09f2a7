/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what the other end of an `mrc perf` says over TCP, in pieces whose
 * lengths are bytes of it. Each object is read as all that one end may say to the other; what is
 * accepted is within bounds and says the same when it is written and read again. Nothing that the
 * peer says reaches the terminal unprintable.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/perf/perf.h"
#include "support/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PIECES_MAX 200u

static void check_printable(const char *text, size_t size)
{
	const char *end = memchr(text, '\0', size);

	mb_assert(end && end > text);
	for (const char *c = text; c < end; c++)
		mb_assert((unsigned char)*c >= ' ' && *c != 127);
}

static void check_plan(json_t *json)
{
	struct perf_plan plan, again;
	char error[240];
	json_t *copy;

	if (perf_plan_read(json, &plan, error, sizeof(error))) {
		check_printable(error, sizeof(error));
		return;
	}
	mb_assert(plan.min >= 1 && plan.min <= plan.max && plan.max <= PERF_BYTES_MAX);
	mb_assert(plan.qps >= 1 && plan.qps <= PERF_QPS_MAX);
	mb_assert(plan.depth >= 1 && plan.depth <= PERF_DEPTH_MAX);
	mb_assert(plan.duration_ns >= PERF_NS_MIN && plan.duration_ns <= PERF_NS_MAX);
	copy = perf_plan_json(&plan);
	mb_assert(copy && perf_plan_read(copy, &again, error, sizeof(error)) == 0);
	mb_assert(plan.min == again.min && plan.max == again.max && plan.qps == again.qps &&
		  plan.depth == again.depth && plan.duration_ns == again.duration_ns &&
		  plan.imm == again.imm && plan.latency == again.latency);
	json_decref(copy);
}

/* receive takes objects until there is none, and says whether the connection goes on. */
static bool receive(struct perf_link *link)
{
	bool nothing;
	json_t *json;

	while ((json = perf_link_receive(link, 0, &nothing))) {
		mb_assert(json_is_object(json) && link->have <= sizeof(link->line));
		check_plan(json);
		check_plan(json_object_get(json, "plan"));
		json_decref(json);
	}
	check_printable(link->error, sizeof(link->error));
	return nothing;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	static struct perf_link link;
	bool goes_on = true;
	int fd[2];

	mb_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0);
	memset(&link, 0, sizeof(link));
	link.fd = fd[0];
	for (uint32_t i = 0; goes_on && in.left > 0 && i < PIECES_MAX; i++) {
		uint8_t bytes[8 * 256];
		size_t n = fuzz_take(&in, bytes, 8 * (1u + fuzz_u8(&in)));

		if (n > 0)
			mb_assert(write(fd[1], bytes, n) == (ssize_t)n);
		goes_on = receive(&link);
	}
	close(fd[1]);
	if (goes_on)
		mb_assert(!receive(&link));
	perf_link_close(&link);
	return 0;
}
