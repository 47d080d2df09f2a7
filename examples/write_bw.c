/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write_bw - bandwidth of RDMA WRITE by message size.
 *
 *	write_bw                 the server: waits for one client
 *	write_bw HOST            the client: writes into the server's memory and prints the figures
 *	write_bw --self          both, as two processes on this machine
 *
 * For each size, 1 B, 2 B, ... 64 MiB, the client keeps up to --depth WRITEs of the same place in
 * flight for --ms milliseconds; the clock stops when all of them are acknowledged. Then an
 * immediate tells the server, which sleeps meanwhile, to compare every byte.
 */
#include "common/connection.h"
#include "common/example_flags.h"
#include "common/tcp_exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE_MAX_BYTES (1ull << 30)
#define POLL_BATCH 16
#define NS_PER_S 1000000000ull

static const char program[] = "write_bw";

struct options {
	uint64_t min, max, depth, ms, port;
	bool self, json, sleep;
	const char *host;
};

struct figure {
	uint64_t bytes, messages, ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* What a message of this size holds; differs from size to size, so that old bytes are noticed. */
static uint8_t pattern_byte(uint64_t size, uint64_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) + size * 7 + 1);
}

static int post_write(struct connection *r, uint64_t size, bool last)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->memory, .length = (uint32_t)size, .lkey = r->ep.mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = last ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl((uint32_t)size),
		.wr.rdma = {.remote_addr = r->peer_address, .rkey = r->peer_rkey},
	};
	struct ibv_send_wr *bad;
	int err = mrc_post_send(r->ep.qp, &wr, &bad);

	if (err)
		fprintf(stderr, "%s: post a write: %s\n", program, strerror(err));
	return err ? -1 : 0;
}

/* Takes completions, without waiting for one unless it is to sleep; how many, or -1. */
static int reap_completions(struct connection *r, bool sleep)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = sleep ? connection_wait(r, wc, POLL_BATCH) : mrc_poll_cq(r->ep.cq, POLL_BATCH, wc);

	if (n < 0)
		perror(program);
	for (int i = 0; i < n; i++)
		if (connection_check_wc(r, &wc[i]))
			return -1;
	return n;
}

/* Writes messages of one size for o->ms milliseconds. */
static int measure_bandwidth(struct connection *r, const struct options *o, struct figure *f)
{
	uint64_t begin = now_ns(), end = begin + o->ms * 1000000;
	uint64_t posted = 0, done = 0;
	bool more = true;

	while (more || done < posted) {
		int n;

		while (more && posted - done < o->depth) {
			if (post_write(r, f->bytes, false))
				return -1;
			posted++;
		}
		n = reap_completions(r, o->sleep);
		if (n < 0)
			return -1;
		done += (uint64_t)n;
		more = now_ns() < end;
	}
	f->ns = now_ns() - begin;
	f->messages = posted;
	return 0;
}

static double gbit_s(const struct figure *f)
{
	return (double)f->bytes * (double)f->messages * 8 / (double)f->ns;
}

static double mmsg_s(const struct figure *f)
{
	return (double)f->messages * 1e3 / (double)f->ns;
}

static void print_head(const struct options *o)
{
	if (o->json)
		printf("{\"program\": \"%s\", \"depth\": %" PRIu64 ", \"sizes\": [", program,
		       o->depth);
	else
		printf("%12s %12s %12s %12s\n", "bytes", "messages", "Gbit/s", "Mmsg/s");
}

static void print_figure(const struct options *o, const struct figure *f)
{
	if (o->json)
		printf("%s\n  {\"bytes\": %" PRIu64 ", \"messages\": %" PRIu64 ", \"ns\": %" PRIu64
		       ", \"gbit_s\": %.6f, \"mmsg_s\": %.6f}",
		       f->bytes == o->min ? "" : ",", f->bytes, f->messages, f->ns, gbit_s(f),
		       mmsg_s(f));
	else
		printf("%12" PRIu64 " %12" PRIu64 " %12.3f %12.6f\n", f->bytes, f->messages,
		       gbit_s(f), mmsg_s(f));
	fflush(stdout);
}

/* The message that ends a size; then both sides agree that the bytes were right. */
static int finish_size(struct connection *r, int fd, uint64_t size)
{
	struct ibv_wc wc;

	if (post_write(r, size, true) || connection_wait(r, &wc, 1) < 0 ||
	    connection_check_wc(r, &wc))
		return -1;
	return meet_barrier(program, fd);
}

static int client_sweep(struct connection *r, const struct options *o, int fd)
{
	uint8_t *memory = r->memory;

	print_head(o);
	for (struct figure f = {.bytes = o->min}; f.bytes <= o->max; f.bytes *= 2) {
		for (uint64_t i = 0; i < f.bytes; i++)
			memory[i] = pattern_byte(f.bytes, i);
		if (measure_bandwidth(r, o, &f) || finish_size(r, fd, f.bytes))
			return -1;
		print_figure(o, &f);
	}
	if (o->json)
		printf("\n]}\n");
	return 0;
}

static int server_compare(const struct connection *r, uint64_t size)
{
	const uint8_t *memory = r->memory;

	for (uint64_t i = 0; i < size; i++) {
		if (memory[i] == pattern_byte(size, i))
			continue;
		fprintf(stderr, "%s: byte %" PRIu64 " of %" PRIu64 " is wrong: 0x%02x\n", program,
			i, size, memory[i]);
		return -1;
	}
	return 0;
}

static int post_receive(struct connection *r)
{
	struct ibv_recv_wr wr = {0}, *bad;

	if (mrc_post_recv(r->ep.qp, &wr, &bad) == 0)
		return 0;
	perror(program);
	return -1;
}

/* Sleeps until the client says that a size is done, until all are. */
static int server_sweep(struct connection *r, const struct options *o, int fd)
{
	for (uint64_t size = o->min; size <= o->max; size *= 2) {
		struct ibv_wc wc;

		if (connection_wait(r, &wc, 1) < 0 || connection_check_wc(r, &wc))
			return -1;
		if (ntohl(wc.imm_data) != (uint32_t)size) {
			fprintf(stderr, "%s: the client ended size %u, not %" PRIu64 "\n", program,
				ntohl(wc.imm_data), size);
			return -1;
		}
		if (server_compare(r, size) || post_receive(r) || meet_barrier(program, fd))
			return -1;
	}
	return 0;
}

/* The client's sizes count; the server learns them from it. */
static int exchange_options(struct options *o, int fd, bool client)
{
	uint64_t mine[2] = {o->min, o->max}, theirs[2];

	if (meet_swap(program, fd, mine, theirs, sizeof(mine)))
		return -1;
	if (!client) {
		o->min = theirs[0];
		o->max = theirs[1];
	}
	if (o->min >= 1 && o->min <= o->max && o->max <= SIZE_MAX_BYTES)
		return 0;
	fprintf(stderr, "%s: the client wants sizes %" PRIu64 " to %" PRIu64 "\n", program, o->min,
		o->max);
	return -1;
}

static int run_sizes(struct options *o, int fd, bool client)
{
	struct connection r;
	int rc = exchange_options(o, fd, client);

	if (rc)
		return rc;
	rc = connection_open(&r, program, (size_t)o->max, (uint32_t)o->depth + 1, 1);
	if (!rc)
		rc = connection_connect(&r, fd);
	if (!rc && !client)
		rc = post_receive(&r);
	if (!rc)
		rc = meet_barrier(program, fd);
	if (!rc)
		rc = client ? client_sweep(&r, o, fd) : server_sweep(&r, o, fd);
	connection_close(&r);
	return rc;
}

static int run_self(struct options *o)
{
	int fds[2], status, rc;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		perror(program);
		return -1;
	}
	child = fork();
	if (child < 0) {
		perror(program);
		return -1;
	}
	/* It would wait for its peer for ever. */
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(fds[child ? 1 : 0]);
	rc = run_sizes(o, fds[child ? 0 : 1], child != 0);
	close(fds[child ? 0 : 1]);
	if (child == 0)
		exit(rc ? 1 : 0);
	if (waitpid(child, &status, 0) != child || status)
		rc = -1;
	return rc;
}

static int parse_options(struct options *o, int argc, char **argv)
{
	const struct flag table[] = {
		{"--self", NULL, "server and client as two processes on this machine", FLAG_SWITCH,
		 &o->self, 0, 0, NULL},
		{"--min", "BYTES", "smallest message", FLAG_BYTES, &o->min, 1, SIZE_MAX_BYTES,
		 NULL},
		{"--max", "BYTES", "largest message", FLAG_BYTES, &o->max, 1, SIZE_MAX_BYTES, NULL},
		{"--depth", "N", "messages in flight", FLAG_NUMBER, &o->depth, 1, 4096, NULL},
		{"--ms", "N", "time for each size", FLAG_NUMBER, &o->ms, 1, 60000, NULL},
		{"--port", "N", "TCP port of the server", FLAG_NUMBER, &o->port, 1, 65535, NULL},
		{"--sleep", NULL, "sleep for completions instead of polling", FLAG_SWITCH,
		 &o->sleep, 0, 0, NULL},
		{"--json", NULL, "figures as JSON", FLAG_SWITCH, &o->json, 0, 0, NULL},
	};
	const struct flags flags = {
		.program = program,
		.synopsis = "[HOST | --self] [FLAG...]",
		.about = "Bandwidth of RDMA WRITE by message size. Without HOST: the server.",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.operands_max = 1,
	};
	int n = flags_parse(&flags, argc, argv, &o->host);

	if (n < 0)
		return -1;
	if (o->min > o->max) {
		fprintf(stderr, "%s: --min %" PRIu64 ": want at most --max, which is %" PRIu64 "\n",
			program, o->min, o->max);
		return -1;
	}
	if (o->self && o->host) {
		fprintf(stderr, "%s: %s: --self has no HOST\n", program, o->host);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.min = 1, .max = 64u << 20, .depth = 128, .ms = 200, .port = MEET_PORT};
	int fd, rc;

	if (parse_options(&o, argc, argv))
		return 2;
	if (o.self)
		return run_self(&o) ? 1 : 0;
	fd = o.host ? meet_client(program, o.host, (uint16_t)o.port)
		    : meet_server(program, (uint16_t)o.port);
	if (fd < 0)
		return 1;
	rc = run_sizes(&o, fd, o.host != NULL);
	close(fd);
	return rc ? 1 : 0;
}
