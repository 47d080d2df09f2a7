/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_endpoint.c - mrc/endpoint.h: everything or nothing, whichever of its calls fails.
 *
 * It is inline, so the calls that it makes are those that this file puts in their places: they
 * count what exists, and fail where a test says so.
 */
#include "support/test.h"

#include <errno.h>
#include <limits.h>
#include <mrc.h>
#include <mrc/meet.h>
#include <sys/wait.h>
#include <unistd.h>

/* A macro, for the sake of rights that are not asked for here. */
#undef ibv_reg_mr

/* In the order in which an endpoint makes and destroys. */
enum call {
	LIST,
	OPEN,
	QUERY,
	PD,
	MR,
	CONTEXT,
	CHANNEL,
	CQ,
	QP,
	NO_QP,
	NO_CQ,
	NO_CHANNEL,
	NO_CONTEXT,
	NO_MR,
	NO_PD,
	CLOSE,
	CALLS
};

/* Which call fails, how often, and with which errno, 0 leaves it alone; all others go through. */
static enum call fails = CALLS;
static int failures, fails_with;
/* What was made and not yet destroyed. */
static int alive;
/* Whether the list of devices has its first one twice, and the second speaks no MRC; what a CQ was
 * asked for. */
static bool twice, second_is_foreign;
static int last_cqe;

static bool fails_now(enum call call)
{
	if (call != fails || failures == 0)
		return false;
	failures--;
	if (fails_with)
		errno = fails_with;
	return true;
}

static void *made(void *what)
{
	alive += what != NULL;
	return what;
}

static int destroyed(int result)
{
	alive -= result == 0;
	return result;
}

static struct ibv_device **get_device_list(int *n)
{
	static struct ibv_device *pair[3];
	struct ibv_device **list = made(fails_now(LIST) ? NULL : ibv_get_device_list(n));

	if (!list || !twice)
		return list;
	pair[0] = pair[1] = list[0];
	ibv_free_device_list(list);
	return pair;
}

static void free_device_list(struct ibv_device **list)
{
	alive--;
	if (!twice)
		ibv_free_device_list(list);
}

static struct ibv_context *open_device(struct ibv_device *device)
{
	return made(fails_now(OPEN) ? NULL : ibv_open_device(device));
}

/* A failure is a device that does not speak MRC. */
static int query_device(struct ibv_context *device, struct mrc_device_attr *attr, int *supported)
{
	int result = mrc_query_device(device, attr, supported);

	if (fails_now(QUERY) || second_is_foreign)
		*supported = 0;
	return result;
}

static struct ibv_pd *alloc_pd(struct ibv_context *device)
{
	return made(fails_now(PD) ? NULL : ibv_alloc_pd(device));
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return made(fails_now(MR) ? NULL : ibv_reg_mr(pd, addr, length, access));
}

static struct mrc_context *create_context(struct ibv_context *device, struct mrc_context_attr *attr)
{
	return made(fails_now(CONTEXT) ? NULL : mrc_create_context(device, attr));
}

static int create_channel(struct mrc_context *context, struct mrc_comp_channel **channel)
{
	int err = fails_now(CHANNEL) ? fails_with : mrc_create_comp_channel(context, channel);

	alive += err == 0;
	return err;
}

static struct mrc_cq *create_cq(struct mrc_context *context, int cqe, void *user,
				struct mrc_comp_channel *channel, int vector)
{
	last_cqe = cqe;
	return made(fails_now(CQ) ? NULL : mrc_create_cq(context, cqe, user, channel, vector));
}

static struct mrc_qp *create_qp(struct mrc_context *context, struct mrc_qp_init_attr *attr)
{
	return made(fails_now(QP) ? NULL : mrc_create_qp(context, attr));
}

static int destroy_qp(struct mrc_qp *qp)
{
	return destroyed(fails_now(NO_QP) ? fails_with : mrc_destroy_qp(qp));
}

static int destroy_cq(struct mrc_cq *cq)
{
	return destroyed(fails_now(NO_CQ) ? fails_with : mrc_destroy_cq(cq));
}

static int destroy_channel(struct mrc_comp_channel *channel)
{
	return destroyed(fails_now(NO_CHANNEL) ? fails_with : mrc_destroy_comp_channel(channel));
}

static int destroy_context(struct mrc_context *context)
{
	return destroyed(fails_now(NO_CONTEXT) ? -1 : mrc_destroy_context(context));
}

static int dereg_mr(struct ibv_mr *mr)
{
	return destroyed(fails_now(NO_MR) ? fails_with : ibv_dereg_mr(mr));
}

static int dealloc_pd(struct ibv_pd *pd)
{
	return destroyed(fails_now(NO_PD) ? fails_with : ibv_dealloc_pd(pd));
}

static int close_device(struct ibv_context *device)
{
	return destroyed(fails_now(CLOSE) ? -1 : ibv_close_device(device));
}

#define ibv_get_device_list get_device_list
#define ibv_free_device_list free_device_list
#define ibv_open_device open_device
#define mrc_query_device query_device
#define ibv_alloc_pd alloc_pd
#define ibv_reg_mr reg_mr
#define mrc_create_context create_context
#define mrc_create_comp_channel create_channel
#define mrc_create_cq create_cq
#define mrc_create_qp create_qp
#define mrc_destroy_qp destroy_qp
#define mrc_destroy_cq destroy_cq
#define mrc_destroy_comp_channel destroy_channel
#define mrc_destroy_context destroy_context
#define ibv_dereg_mr dereg_mr
#define ibv_dealloc_pd dealloc_pd
#define ibv_close_device close_device
#include <mrc/endpoint.h>

static char memory[64];

/* With all that an endpoint can have. */
static struct mrc_endpoint_attr whole(void)
{
	return (struct mrc_endpoint_attr){
		.addr = memory,
		.length = sizeof(memory),
		.qp.cap = {.max_send_wr = 3, .max_recv_wr = 2, .max_send_sge = 1},
		.with_channel = 1,
	};
}

static int let_all_pass(void **state)
{
	(void)state;
	fails = CALLS;
	twice = second_is_foreign = false;
	return 0;
}

static void let_fail(enum call call, int times, int err)
{
	fails = call;
	failures = times;
	fails_with = err;
}

static void assert_empty(const struct mrc_endpoint *ep)
{
	assert_null(ep->device);
	assert_null(ep->pd);
	assert_null(ep->mr);
	assert_null(ep->context);
	assert_null(ep->channel);
	assert_null(ep->cq);
	assert_null(ep->qp);
	assert_int_equal(alive, 0);
}

/* It does not open, says so, and leaves nothing. */
static void assert_refused(const struct mrc_endpoint_attr *attr, int err, const char *call)
{
	struct mrc_endpoint ep;

	memset(&ep, 0x5a, sizeof(ep));
	errno = 0;
	assert_int_equal(mrc_endpoint_open(&ep, attr), err);
	assert_int_equal(errno, err);
	assert_non_null(ep.failed);
	assert_string_equal(ep.failed, call);
	assert_empty(&ep);
}

static void assert_opens(struct mrc_endpoint *ep, const struct mrc_endpoint_attr *attr)
{
	memset(ep, 0x5a, sizeof(*ep));
	assert_int_equal(mrc_endpoint_open(ep, attr), 0);
	assert_null(ep->failed);
}

static void assert_closes(struct mrc_endpoint *ep)
{
	assert_int_equal(mrc_endpoint_close(ep), 0);
	assert_null(ep->failed);
	assert_empty(ep);
}

TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, leaves_nothing_where_a_call_fails)
{
	static const char *const names[] = {
		[LIST] = "ibv_get_device_list",
		[OPEN] = "ibv_open_device",
		[PD] = "ibv_alloc_pd",
		[MR] = "ibv_reg_mr",
		[CONTEXT] = "mrc_create_context",
		[CHANNEL] = "mrc_create_comp_channel",
		[CQ] = "mrc_create_cq",
		[QP] = "mrc_create_qp",
	};
	struct mrc_endpoint_attr attr = whole();

	for (enum call call = LIST; call <= QP; call++) {
		if (call == QUERY)
			continue;
		let_fail(call, 1, EMFILE + (int)call);
		assert_refused(&attr, EMFILE + (int)call, names[call]);
		assert_int_equal(failures, 0);
	}
}

/* A provider need not set errno; what came before is not taken for it. */
TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, fails_where_no_errno_is_set)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_endpoint ep;

	let_fail(LIST, 1, 0);
	errno = EDOM;
	assert_int_equal(mrc_endpoint_open(&ep, &attr), EIO);
	assert_empty(&ep);
}

TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, takes_the_device_of_a_name)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_endpoint ep;

	attr.device = "mrc0";
	assert_opens(&ep, &attr);
	assert_string_equal(ibv_get_device_name(ep.device->device), "mrc0");
	assert_closes(&ep);
	attr.device = "mrc";
	assert_refused(&attr, ENODEV, "ibv_get_device_list");
	attr.device = "";
	assert_refused(&attr, ENODEV, "ibv_get_device_list");
	attr.device = "mrc0";
	let_fail(QUERY, 1, 0);
	assert_refused(&attr, EOPNOTSUPP, "mrc_query_device");
}

TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, takes_the_first_device_that_opens_and_speaks_mrc)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_endpoint ep;

	twice = true;
	assert_opens(&ep, &attr);
	assert_int_equal(alive, 7);
	assert_closes(&ep);
	let_fail(OPEN, 1, EMFILE);
	assert_opens(&ep, &attr);
	assert_closes(&ep);
	let_fail(QUERY, 1, 0);
	assert_opens(&ep, &attr);
	assert_closes(&ep);
	let_fail(QUERY, 2, 0);
	assert_refused(&attr, ENODEV, "ibv_get_device_list");
	let_fail(OPEN, 2, EMFILE);
	assert_refused(&attr, EMFILE, "ibv_open_device");
}

/* One that fails to open and one that does not speak MRC: the error is that of the former. */
TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, hides_no_error_behind_a_foreign_device)
{
	struct mrc_endpoint_attr attr = whole();

	twice = second_is_foreign = true;
	let_fail(OPEN, 1, EMFILE);
	assert_refused(&attr, EMFILE, "ibv_open_device");
}

TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, makes_a_cq_for_its_wrs)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_endpoint ep;

	assert_opens(&ep, &attr);
	assert_int_equal(last_cqe, 5);
	assert_closes(&ep);
	attr.cqe = 17;
	assert_opens(&ep, &attr);
	assert_int_equal(last_cqe, 17);
	assert_closes(&ep);
	attr.cqe = -1;
	assert_refused(&attr, EINVAL, "mrc_create_cq");
	attr.cqe = 0;
	attr.qp.cap.max_send_wr = UINT32_MAX;
	assert_refused(&attr, EINVAL, "mrc_create_cq");
	assert_int_equal(last_cqe, INT_MAX);
}

TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, needs_neither_memory_nor_channel)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_endpoint ep;

	attr.addr = NULL;
	attr.with_channel = 0;
	assert_opens(&ep, &attr);
	assert_null(ep.mr);
	assert_null(ep.channel);
	assert_closes(&ep);
}

/* PD and CQs of the attributes are not read: they may be anything. */
TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, gives_the_qp_its_own_objects)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_qp_init_attr init;
	struct ibv_qp_attr now;
	struct mrc_endpoint ep;

	attr.qp.qp_context = memory;
	attr.qp.pd = (void *)memory;
	attr.qp.send_cq = attr.qp.recv_cq = (void *)memory;
	assert_opens(&ep, &attr);
	assert_int_equal(mrc_query_qp(ep.qp, &now, IBV_QP_STATE, NULL, 0, &init), 0);
	assert_int_equal(now.qp_state, IBV_QPS_RESET);
	assert_ptr_equal(init.qp_context, memory);
	assert_ptr_equal(init.pd, ep.pd);
	assert_ptr_equal(init.send_cq, ep.cq);
	assert_ptr_equal(init.recv_cq, ep.cq);
	assert_ptr_equal(ep.mr->addr, memory);
	assert_u_eq(ep.mr->length, sizeof(memory));
	assert_closes(&ep);
}

TEST_WITH(let_all_pass, NULL, mrc_endpoint_open, wants_both_arguments)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_endpoint ep;

	errno = 0;
	assert_int_equal(mrc_endpoint_open(NULL, &attr), EINVAL);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(mrc_endpoint_open(&ep, NULL), EINVAL);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(mrc_endpoint_close(NULL), EINVAL);
	assert_int_equal(errno, EINVAL);
	attr.qp.cap.max_send_sge = 0;
	assert_refused(&attr, EINVAL, "mrc_create_qp");
}

/* What could not be destroyed stays, with all that it stands upon, for another try. */
TEST_WITH(let_all_pass, NULL, mrc_endpoint_close, goes_on_after_a_call_that_failed)
{
	static const char *const names[] = {
		[NO_QP] = "mrc_destroy_qp",
		[NO_CQ] = "mrc_destroy_cq",
		[NO_CHANNEL] = "mrc_destroy_comp_channel",
		[NO_CONTEXT] = "mrc_destroy_context",
		[NO_MR] = "ibv_dereg_mr",
		[NO_PD] = "ibv_dealloc_pd",
		[CLOSE] = "ibv_close_device",
	};
	struct mrc_endpoint_attr attr = whole();

	for (enum call call = NO_QP; call <= CLOSE; call++) {
		struct mrc_endpoint ep;

		assert_opens(&ep, &attr);
		let_fail(call, 1, EMFILE + (int)call);
		errno = 0;
		assert_int_equal(mrc_endpoint_close(&ep), EMFILE + (int)call);
		assert_int_equal(errno, EMFILE + (int)call);
		assert_string_equal(ep.failed, names[call]);
		assert_int_equal(alive, 1 + (int)(CLOSE - call));
		assert_closes(&ep);
		assert_closes(&ep);
	}
}

TEST_WITH(let_all_pass, NULL, mrc_endpoint_close, waits_for_what_the_program_made)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_qp_init_attr init = attr.qp;
	struct mrc_endpoint ep;
	struct mrc_qp *second;

	assert_opens(&ep, &attr);
	init.pd = ep.pd;
	init.send_cq = init.recv_cq = ep.cq;
	second = mrc_create_qp(ep.context, &init);
	assert_non_null(second);
	assert_int_equal(mrc_endpoint_close(&ep), EBUSY);
	assert_string_equal(ep.failed, "mrc_destroy_cq");
	assert_null(ep.qp);
	assert_non_null(ep.cq);
	assert_int_equal(mrc_destroy_qp(second), 0);
	assert_closes(&ep);
}

/* In a child the endpoint is of no use, and stays its parent's. */
TEST_WITH(let_all_pass, NULL, mrc_endpoint_close, is_the_business_of_who_opened_it)
{
	struct mrc_endpoint_attr attr = whole();
	struct mrc_endpoint ep;
	int status = -1;
	pid_t child;

	assert_opens(&ep, &attr);
	child = fork();
	if (child == 0)
		_exit(mrc_endpoint_close(&ep) == ENODEV && ep.qp ? 0 : 1);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_closes(&ep);
}
