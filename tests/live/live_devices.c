/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_devices.c - several devices in one process: each with its part of the ports, its own GID and
 * its own engine, and on speaking terms with the others.
 */
#include "support/test.h"
#include "unit/loopback.h"

#include <dirent.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <mrc.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICES 2
#define Q_KEY 7u
#define GRH 40
#define WAIT_MS 60000

struct one {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	union ibv_gid gid;
	uint8_t memory[256];
};

static struct ibv_qp_init_attr qp_init(const struct one *d)
{
	return (struct ibv_qp_init_attr){.send_cq = d->cq,
					 .recv_cq = d->cq,
					 .cap = {1, 1, 1, 1, 0},
					 .qp_type = IBV_QPT_UD,
					 .sq_sig_all = 1};
}

static void make_ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = Q_KEY};

	assert_int_equal(
		ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void open_one(struct ibv_device *device, struct one *d)
{
	struct ibv_qp_init_attr init;

	d->ctx = ibv_open_device(device);
	assert_non_null(d->ctx);
	d->pd = ibv_alloc_pd(d->ctx);
	d->cq = ibv_create_cq(d->ctx, 8, NULL, NULL, 0);
	d->mr = ibv_reg_mr(d->pd, d->memory, sizeof(d->memory), IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(d->mr);
	assert_non_null(d->cq);
	init = qp_init(d);
	d->qp = ibv_create_qp(d->pd, &init);
	assert_non_null(d->qp);
	assert_int_equal(ibv_query_gid(d->ctx, 1, 0, &d->gid), 0);
	make_ready(d->qp);
}

static void close_one(struct one *d)
{
	assert_int_equal(ibv_destroy_qp(d->qp), 0);
	assert_int_equal(ibv_dereg_mr(d->mr), 0);
	assert_int_equal(ibv_destroy_cq(d->cq), 0);
	assert_int_equal(ibv_dealloc_pd(d->pd), 0);
	assert_int_equal(ibv_close_device(d->ctx), 0);
}

static int devices_open(void **state)
{
	struct one *d = calloc(DEVICES, sizeof(*d));
	char list[80], text[4][16];
	struct ibv_device **all;
	int n;

	assert_non_null(d);
	snprintf(list, sizeof(list), "%s,%s,%s,%s", loopback_text(0, 1, text[0]),
		 loopback_text(1, 1, text[1]), loopback_text(0, 2, text[2]),
		 loopback_text(1, 2, text[3]));
	setenv("MRC_PORTS", list, 1);
	setenv("MRC_DEVICES", "2", 1);
	all = ibv_get_device_list(&n);
	assert_non_null(all);
	assert_int_equal(n, DEVICES);
	assert_null(all[DEVICES]);
	for (int i = 0; i < DEVICES; i++)
		open_one(all[i], &d[i]);
	ibv_free_device_list(all);
	*state = d;
	return 0;
}

static int devices_close(void **state)
{
	struct one *d = *state;

	for (int i = 0; i < DEVICES; i++)
		close_one(&d[i]);
	free(d);
	return 0;
}

#define DEVICES_TEST(function, name) TEST_WITH(devices_open, devices_close, function, name)

DEVICES_TEST(ibv_get_device_list, names_and_numbers_differ)
{
	struct one *d = *state;
	char text[16];

	assert_string_equal(ibv_get_device_name(d[0].ctx->device), "mrc0");
	assert_string_equal(ibv_get_device_name(d[1].ctx->device), "mrc1");
	assert_string_equal(d[1].ctx->device->dev_name, "uverbs1");
	assert_true(ibv_get_device_guid(d[0].ctx->device) != ibv_get_device_guid(d[1].ctx->device));
	snprintf(text, sizeof(text), "%u.%u.%u.%u", d[1].gid.raw[12], d[1].gid.raw[13],
		 d[1].gid.raw[14], d[1].gid.raw[15]);
	assert_string_equal(text, loopback_text(0, 2, (char[16]){0}));
}

/* What is of one device is nothing to the other. */
DEVICES_TEST(ibv_create_qp, objects_of_two_devices)
{
	struct one *d = *state;
	struct ibv_qp_init_attr init = qp_init(&d[0]);

	errno = 0;
	assert_null(ibv_create_qp(d[1].pd, &init));
	assert_int_equal(errno, EINVAL);
}

/* A QP needs the PD of the device that its MRC context is of. */
DEVICES_TEST(mrc_create_context, is_of_the_device_that_it_was_made_on)
{
	struct one *d = *state;

	for (int i = 0; i < DEVICES; i++) {
		struct mrc_context *mrc = mrc_create_context(d[i].ctx, NULL);
		struct mrc_cq *cq = mrc_create_cq(mrc, 8, NULL, NULL, 0);
		struct mrc_qp_init_attr init = {
			.send_cq = cq, .recv_cq = cq, .cap = {1, 1, 1, 1, 0}, .pd = d[i].pd};
		struct mrc_qp *qp;

		assert_non_null(cq);
		qp = mrc_create_qp(mrc, &init);
		assert_non_null(qp);
		assert_int_equal(mrc_destroy_qp(qp), 0);
		init.pd = d[1 - i].pd;
		errno = 0;
		assert_null(mrc_create_qp(mrc, &init));
		assert_int_equal(errno, EINVAL);
		assert_int_equal(mrc_destroy_cq(cq), 0);
		assert_int_equal(mrc_destroy_context(mrc), 0);
	}
}

static int polled(struct one *d, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(d->cq, 1, &wc) == 1) {
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		if (wc.opcode == opcode)
			return 1;
	}
	return 0;
}

/* From one to the other and back, each with its own address. */
DEVICES_TEST(ibv_post_send, from_one_to_the_other)
{
	struct one *d = *state;

	for (int from = 0; from < DEVICES; from++) {
		struct one *a = &d[from], *b = &d[1 - from];
		struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh.dgid = b->gid};
		struct ibv_ah *ah = ibv_create_ah(a->pd, &attr);
		struct ibv_sge in = {(uintptr_t)b->memory, GRH + 8, b->mr->lkey};
		struct ibv_sge out = {(uintptr_t)a->memory + 128, 8, a->mr->lkey};
		struct ibv_recv_wr rwr = {.sg_list = &in, .num_sge = 1}, *rbad;
		struct ibv_send_wr *sbad, wr = {.sg_list = &out,
						.num_sge = 1,
						.opcode = IBV_WR_SEND,
						.wr.ud = {ah, b->qp->qp_num, Q_KEY}};
		int got = 0;

		assert_non_null(ah);
		memcpy(a->memory + 128, "mrc to m", 8);
		assert_int_equal(ibv_post_recv(b->qp, &rwr, &rbad), 0);
		assert_int_equal(ibv_post_send(a->qp, &wr, &sbad), 0);
		for (int ms = 0; ms < WAIT_MS && !got; ms++) {
			got = polled(b, IBV_WC_RECV);
			poll(NULL, 0, got ? 0 : 1);
		}
		assert_true(got);
		assert_memory_equal(b->memory + GRH, "mrc to m", 8);
		assert_memory_equal(b->memory + 8, &a->gid, sizeof(a->gid));
		while (!polled(a, IBV_WC_SEND))
			poll(NULL, 0, 1);
		assert_int_equal(ibv_destroy_ah(ah), 0);
	}
}

static bool is_progress(const char *task)
{
	char path[300], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return strcmp(name, "mrc-progress\n") == 0;
}

static int progress_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += is_progress(entry->d_name);
	closedir(dir);
	return n;
}

/*
 * A child has none of them, and may open each again; the parent notices nothing. The threads must
 * run by then: one that is at its start holds locks of the sanitizer's allocator, which forks with
 * them.
 */
DEVICES_TEST(fork, gives_up_all_devices)
{
	struct one *d = *state;
	pid_t child;
	int status;

#ifdef __SANITIZE_THREAD__
	test_skip("ThreadSanitizer starts no thread in a fork of a process that has some");
#endif
	while (progress_threads() < DEVICES)
		poll(NULL, 0, 1);
	child = fork();
	if (child == 0) {
		struct ibv_context *again;
		int bad = 0;

		for (int i = 0; i < DEVICES; i++) {
			bad |= ibv_query_gid(d[i].ctx, 1, 0, &d[i].gid) != 0;
			bad |= ibv_alloc_pd(d[i].ctx) != NULL;
			again = ibv_open_device(d[i].ctx->device);
			bad |= !again || ibv_close_device(again);
		}
		_exit(bad);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ibv_query_gid(d[1].ctx, 1, 0, &d[1].gid), 0);
}

/* The one that is left works: it makes a QP and takes it to RTS. */
DEVICES_TEST(ibv_close_device, in_any_order)
{
	struct one *d = *state;
	struct ibv_device *device[DEVICES];

	for (int i = 0; i < DEVICES; i++)
		device[i] = d[i].ctx->device;
	for (int round = 0; round < 8; round++) {
		int first = round & 1, opened_first = round >> 1 & 1;

		close_one(&d[first]);
		for (int again = 0; again < (round >> 2); again++) {
			struct ibv_context *ctx = ibv_open_device(device[first]);

			assert_non_null(ctx);
			assert_int_equal(ibv_close_device(ctx), 0);
		}
		close_one(&d[!first]);
		open_one(device[opened_first], &d[opened_first]);
		open_one(device[!opened_first], &d[!opened_first]);
	}
}
