/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_cq.c - CQs of the drop-in: who counts their channel, a CQ that overruns, the lock of
 * an extended one; and what is left of a device that was closed or could not be opened.
 */
#include "libibverbs/libibverbs.h"
#include "live/verbs_fixture.h"
#include "support/open_fds.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define CQ_TEST(function, name) \
	TEST_WITH(verbs_fixture_setup, verbs_fixture_teardown, function, name)

/* Programs read how many CQs use a channel. */
CQ_TEST(ibv_create_cq, counts_for_its_channel)
{
	struct verbs_fixture *r = *state;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(r->ctx);
	struct ibv_cq *one = ibv_create_cq(r->ctx, 4, NULL, channel, 0);
	struct ibv_cq *other = ibv_create_cq(r->ctx, 4, NULL, channel, 0);

	assert_true(one && other);
	assert_int_equal(channel->refcnt, 2);
	assert_int_equal(ibv_resize_cq(one, 1), 0);
	assert_true(one->cqe >= 1);
	assert_int_equal(ibv_resize_cq(one, 0), EINVAL);
	assert_int_equal(ibv_destroy_cq(one), 0);
	assert_int_equal(channel->refcnt, 1);
	assert_int_equal(ibv_destroy_cq(other), 0);
	assert_int_equal(channel->refcnt, 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* The event names the CQ, which waits with its end until it is acknowledged. */
CQ_TEST(ibv_get_async_event, of_a_cq_that_overruns)
{
	struct verbs_fixture *r = *state;
	struct ibv_async_event event;

	assert_int_equal(ibv_destroy_cq(r->cq[0]), 0);
	r->cq[0] = ibv_create_cq(r->ctx, 1, NULL, NULL, 0);
	assert_non_null(r->cq[0]);
	verbs_fixture_qps(r);
	for (uint32_t i = 0; i < VERBS_FIXTURE_DEPTH; i++)
		verbs_fixture_write(r, 0, i, 1);
	do {
		event = verbs_fixture_event(r);
		if (event.event_type == IBV_EVENT_CQ_ERR)
			assert_ptr_equal(event.element.cq, r->cq[0]);
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_CQ_ERR);
}

CQ_TEST(ibv_create_cq_ex, of_a_parent_domain)
{
	struct verbs_fixture *r = *state;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *other = ibv_open_device(list[0]);
	struct ibv_cq_init_attr_ex init = {.cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};
	struct ibv_cq_ex *cq;

	ibv_free_device_list(list);
	assert_non_null(other);
	init.parent_domain = r->pd;
	cq = ibv_create_cq_ex(r->ctx, &init);
	assert_non_null(cq);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	errno = 0;
	assert_null(ibv_create_cq_ex(other, &init));
	assert_int_equal(errno, EINVAL);
	init.parent_domain = NULL;
	assert_null(ibv_create_cq_ex(r->ctx, &init));
	assert_int_equal(ibv_close_device(other), 0);
}

/* A poll that is open is that of one thread, unless the program said that it has but one. */
CQ_TEST(ibv_start_poll, holds_a_lock)
{
	struct verbs_fixture *r = *state;
	struct ibv_cq_init_attr_ex init = {.cqe = VERBS_FIXTURE_DEPTH,
					   .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};

	for (int i = 0; i < 2; i++) {
		struct ibv_poll_cq_attr attr = {0};
		struct ibv_cq_ex *cq;

		init.comp_mask = i ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0;
		cq = ibv_create_cq_ex(r->ctx, &init);
		assert_non_null(cq);
		assert_int_equal(ibv_start_poll(cq, &attr), ENOENT); /* and none is held then */
		assert_int_equal(ibv_destroy_cq(r->cq[i]), 0);
		r->cq[i] = ibv_cq_ex_to_cq(cq);
	}
	verbs_fixture_qps(r);
	for (int i = 0; i < 2; i++) {
		struct mv_cq *cq = (struct mv_cq *)r->cq[i];
		int err;

		verbs_fixture_write(r, i, 7, 1);
		do {
			err = ibv_start_poll(&cq->ex, NULL);
		} while (err == ENOENT);
		assert_int_equal(err, 0);
		err = pthread_mutex_trylock(&cq->polling);
		assert_int_equal(err, i ? 0 : EBUSY);
		if (!err)
			pthread_mutex_unlock(&cq->polling);
		assert_u_eq(cq->ex.wr_id, 7);
		ibv_end_poll(&cq->ex);
	}
}

/* ---- devices ---- */

TEST(ibv_open_device, leaves_nothing_behind)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	uint32_t before = 0;

	assert_string_equal(list[0]->dev_path, "/sys/class/infiniband_verbs/uverbs0");
	for (int i = 0; i < 2; i++) { /* the first time something may stay for the process */
		before = test_open_fds();
		context = ibv_open_device(list[0]);
		assert_non_null(context);
		assert_int_equal(ibv_close_device(context), 0);
	}
	assert_u_eq(test_open_fds(), before);
	ibv_free_device_list(list);
}

TEST(ibv_open_device, says_what_it_needs)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int err, console = dup(STDERR_FILENO);
	FILE *catcher = tmpfile();
	char said[400] = "";
	struct rlimit was, few;

	fflush(stderr);
	dup2(fileno(catcher), STDERR_FILENO);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = (struct rlimit){(rlim_t)test_next_fd(), was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	errno = 0;
	assert_null(ibv_open_device(list[0]));
	err = errno;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	dup2(console, STDERR_FILENO);
	close(console);
	rewind(catcher);
	assert_non_null(fgets(said, sizeof(said), catcher));
	fclose(catcher);
	assert_int_equal(err, EMFILE);
	if (!strstr(said,
		    "mrc0 cannot be opened: /dev/null: Too many open files; raise the limit of "
		    "open files (ulimit -n)\n"))
		fail_msg("it said: %s", said);
	ibv_free_device_list(list);
}
