/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_end.c - MRC by its public interface. Bandwidth: writes of 1 MiB, sixteen in flight, or of 64
 * KiB, 64 in flight, into the memory of a process that sleeps. Latency: a small WRITE_WITH_IMM to
 * and fro.
 */
#include "common/connection.h"
#include "common/tcp_exchange.h"
#include "host/bench_host.h"

#include <stdio.h>
#include <string.h>

#define POLL_BATCH 16
#define SENDS HB_SMALL_DEPTH
#define RECEIVES 8u
#define IMM_LAST 1u

static int post_write(struct connection *r, uint64_t bytes, bool imm, uint32_t value)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->memory, .length = (uint32_t)bytes, .lkey = r->ep.mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = value,
		.wr.rdma = {.remote_addr = r->peer_address, .rkey = r->peer_rkey},
	};
	struct ibv_send_wr *bad;
	int err = mrc_post_send(r->ep.qp, &wr, &bad);

	if (err)
		fprintf(stderr, "host: post a write: %s\n", strerror(err));
	return err ? -1 : 0;
}

static int post_receive(struct connection *r)
{
	struct ibv_recv_wr wr = {0}, *bad;

	return mrc_post_recv(r->ep.qp, &wr, &bad) ? -1 : 0;
}

static int take_completion(struct connection *r, bool wait, struct ibv_wc *wc)
{
	int n = wait ? connection_wait(r, wc, POLL_BATCH) : mrc_poll_cq(r->ep.cq, POLL_BATCH, wc);

	for (int i = 0; i < n; i++)
		if (connection_check_wc(r, &wc[i]))
			return -1;
	return n;
}

static int write_all(struct connection *r, const struct hb_case *c, struct hb_end *out)
{
	uint64_t begin = hb_now_ns(), end = begin + c->ms * UINT64_C(1000000), posted = 0, done = 0;
	uint64_t bytes = c->small ? HB_SMALL_MESSAGE : HB_MESSAGE;
	uint32_t depth = c->small ? HB_SMALL_DEPTH : HB_DEPTH;
	struct ibv_wc wc[POLL_BATCH];
	bool more = true;

	while (more || done < posted) {
		int n;

		for (; more && posted - done < depth; posted++)
			if (post_write(r, bytes, false, 0))
				return -1;
		n = take_completion(r, false, wc);
		if (n < 0)
			return -1;
		done += (uint64_t)n;
		more = hb_now_ns() < end;
	}
	out->ns = hb_now_ns() - begin;
	out->bytes = posted * bytes;
	return 0;
}

/* The receiver learns from an immediate that it was the last message. */
static int run_bandwidth(struct connection *r, const struct hb_case *c, int side, int fd,
			 struct hb_end *out)
{
	uint64_t cpu = hb_cpu_ns(), bytes;
	struct ibv_wc wc[POLL_BATCH];

	if (side == 0) {
		if (write_all(r, c, out) || post_write(r, 1, true, IMM_LAST))
			return -1;
	}
	if (take_completion(r, true, wc) < 1)
		return -1;
	out->cpu_ns = hb_cpu_ns() - cpu;
	if (meet_swap(hb_program, fd, &out->bytes, &bytes, sizeof(bytes)))
		return -1;
	if (side == 1)
		out->bytes = bytes;
	return 0;
}

/* Waits for the peer's message; completions of writes are counted. 0 or -1. */
static int wait_immediate(struct connection *r, bool wait, uint64_t *done, uint32_t *value)
{
	struct ibv_wc wc[POLL_BATCH];
	bool came = false;

	while (!came) {
		int n = take_completion(r, wait, wc);

		if (n < 0)
			return -1;
		for (int i = 0; i < n; i++) {
			if (wc[i].opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
				(*done)++;
				continue;
			}
			came = true;
			*value = wc[i].imm_data;
			if (post_receive(r))
				return -1;
		}
	}
	return 0;
}

static int run_ping_pong(struct connection *r, const struct hb_case *c, int side,
			 struct hb_end *out)
{
	static struct hb_times times;
	uint64_t end = hb_now_ns() + c->ms * UINT64_C(1000000), posted = 0, done = 0;
	bool wait = c->kind == HB_WAIT;
	uint32_t value = 0;

	hb_times_begin(&times);
	while (value != IMM_LAST) {
		uint64_t sent;

		if (side == 1 && wait_immediate(r, wait, &done, &value))
			return -1;
		sent = hb_now_ns();
		if (side == 0 && sent >= end)
			value = IMM_LAST;
		if (post_write(r, HB_PING_BYTES, true, value))
			return -1;
		posted++;
		if (side == 0) {
			if (wait_immediate(r, wait, &done, &value))
				return -1;
			hb_times_add(&times, hb_now_ns() - sent);
		}
	}
	/* The last one is acknowledged while nobody waits for it any more. */
	while (done < posted) {
		struct ibv_wc wc[POLL_BATCH];
		int n = take_completion(r, wait, wc);

		if (n < 0)
			return -1;
		done += (uint64_t)n;
	}
	hb_times_end(&times, out);
	return 0;
}

int hb_mrc_end(const struct hb_case *c, int side, int fd, struct hb_end *out)
{
	struct connection r;
	int rc = connection_open(&r, hb_program, HB_MESSAGE, SENDS, RECEIVES);

	if (!rc)
		rc = connection_connect(&r, fd);
	for (uint32_t i = 0; !rc && i < RECEIVES; i++)
		rc = post_receive(&r);
	if (!rc)
		rc = meet_barrier(hb_program, fd);
	if (!rc)
		rc = c->kind == HB_BANDWIDTH ? run_bandwidth(&r, c, side, fd, out)
					     : run_ping_pong(&r, c, side, out);
	/* An end that leaves at once would leave the other without its last acknowledgement. */
	if (!rc)
		rc = meet_barrier(hb_program, fd);
	connection_close(&r);
	return rc;
}
