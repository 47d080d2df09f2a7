/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_events.c - sleeping and waking: completion channels, notification, asynchronous events, and
 * two processes that talk through them.
 */
#include "live/live_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_MS 100
#define PATIENCE_MS 60000

static bool readable(struct fixture *r, int ms)
{
	struct pollfd p = {.events = POLLIN};

	assert_int_equal(mrc_get_comp_channel_fd(r->channel, &p.fd), 0);
	return poll(&p, 1, ms) == 1;
}

/* Takes one event, which must be that of CQ i. */
static void take_event(struct fixture *r, int i)
{
	struct mrc_cq *cq;
	void *user;

	assert_true(readable(r, PATIENCE_MS));
	assert_int_equal(mrc_get_cq_event(r->channel, &cq, &user), 0);
	assert_ptr_equal(cq, r->cq[i]);
	assert_ptr_equal(user, &r->cq[i]);
	mrc_ack_cq_events(cq, 1);
}

static void write_with(struct fixture *r, int i, uint32_t bytes, bool imm, unsigned int flags)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, i, &sge, bytes), *bad;

	if (imm)
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.send_flags = flags;
	assert_int_equal(mrc_post_send(r->qp[i], &wr, &bad), 0);
}

/* REQ(api.cq.notify) One event a request, and none without. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_req_notify_cq, one_event_a_request)
{
	struct fixture *r = *state;
	struct ibv_wc wc;

	write_with(r, 0, 100, false, IBV_SEND_SIGNALED);
	fixture_poll(r, 0);
	assert_false(readable(r, QUIET_MS));
	assert_int_equal(mrc_req_notify_cq(r->cq[0], 0), 0);
	for (int i = 0; i < 3; i++)
		write_with(r, 0, 100, false, IBV_SEND_SIGNALED);
	take_event(r, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
	assert_false(readable(r, QUIET_MS));
	assert_int_equal(mrc_poll_cq(r->cq[0], 1, &wc), 0);
}

/* What came before the request makes no event; the look after the request finds it. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_req_notify_cq,
	  earlier_completions_do_not_count)
{
	struct fixture *r = *state;

	fixture_post_recv(r, 1, 1);
	write_with(r, 0, 100, true, IBV_SEND_SIGNALED);
	fixture_poll(r, 0); /* so the receive is complete too */
	assert_int_equal(mrc_req_notify_cq(r->cq[1], 0), 0);
	assert_false(readable(r, QUIET_MS));
	assert_int_equal(fixture_poll(r, 1).status, IBV_WC_SUCCESS);
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_req_notify_cq, solicited_only)
{
	struct fixture *r = *state;

	fixture_post_recv(r, 1, 1);
	fixture_post_recv(r, 1, 2);
	assert_int_equal(mrc_req_notify_cq(r->cq[1], 1), 0);
	write_with(r, 0, 10, true, IBV_SEND_SIGNALED);
	assert_u_eq(fixture_poll(r, 1).wr_id, 1);
	assert_false(readable(r, QUIET_MS));
	write_with(r, 0, 10, true, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	take_event(r, 1);
	assert_u_eq(fixture_poll(r, 1).wr_id, 2);
}

/* The loop that everybody writes must never lose a wake-up, whenever completions come in. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_req_notify_cq, no_lost_wake_up)
{
	struct fixture *r = *state;
	size_t rounds = test_rounds(300);

	for (size_t i = 0; i < rounds; i++) {
		struct ibv_wc wc;
		int n;

		fixture_post_recv(r, 1, i);
		assert_int_equal(mrc_req_notify_cq(r->cq[1], 0), 0);
		write_with(r, 0, (uint32_t)test_rand_below(3000), true, IBV_SEND_SIGNALED);
		n = mrc_poll_cq(r->cq[1], 1, &wc);
		if (n == 0) {
			take_event(r, 1);
			n = mrc_poll_cq(r->cq[1], 1, &wc);
		} else if (readable(r, 0)) {
			take_event(r, 1);
		}
		assert_int_equal(n, 1);
		assert_u_eq(wc.wr_id, i);
		fixture_poll(r, 0);
		while (readable(r, 0))
			take_event(r, 1);
	}
}

static atomic_bool done;

static void *destroy_cq(void *cq)
{
	assert_int_equal(mrc_destroy_cq(cq), 0);
	atomic_store(&done, true);
	return NULL;
}

TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_destroy_cq, waits_for_acknowledgement)
{
	struct fixture *r = *state;
	struct mrc_cq *cq;
	pthread_t thread;
	void *user;

	assert_int_equal(mrc_req_notify_cq(r->cq[0], 0), 0);
	write_with(r, 0, 100, false, IBV_SEND_SIGNALED);
	assert_int_equal(mrc_get_cq_event(r->channel, &cq, &user), 0);
	assert_int_equal(mrc_destroy_qp(r->qp[0]), 0);
	r->qp[0] = NULL;
	atomic_store(&done, false);
	assert_int_equal(pthread_create(&thread, NULL, destroy_cq, cq), 0);
	usleep(QUIET_MS * 1000);
	assert_false(atomic_load(&done));
	mrc_ack_cq_events(cq, 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	r->cq[0] = NULL;
}

static void *destroy_qp(void *qp)
{
	assert_int_equal(mrc_destroy_qp(qp), 0);
	atomic_store(&done, true);
	return NULL;
}

/* REQ(api.async) The requester gets a completion, the responder an event; both QPs are in ERR. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_get_async_event, remote_access_error)
{
	struct fixture *r = *state;
	struct mrc_async_event event;
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 100), *bad;
	pthread_t thread;

	fixture_post_recv(r, 1, 9);
	wr.wr.rdma.rkey ^= 0x100;
	assert_int_equal(mrc_post_send(r->qp[0], &wr, &bad), 0);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_ERR);
	assert_int_equal(mrc_get_async_event(r->ctx, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	assert_ptr_equal(event.element.qp, r->qp[1]);
	assert_int_equal(fixture_state(r, 1), IBV_QPS_ERR);
	assert_int_equal(fixture_poll(r, 1).status, IBV_WC_WR_FLUSH_ERR);
	atomic_store(&done, false);
	assert_int_equal(pthread_create(&thread, NULL, destroy_qp, r->qp[1]), 0);
	usleep(QUIET_MS * 1000);
	assert_false(atomic_load(&done));
	mrc_ack_async_event(&event);
	assert_int_equal(pthread_join(thread, NULL), 0);
	r->qp[1] = NULL;
}

/* A responder's own requests are flushed: nothing was wrong with them. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_get_async_event,
	  responders_requests_are_flushed)
{
	struct fixture *r = *state;
	struct mrc_async_event event;
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 100), *bad;
	struct ibv_wc wc;

	/* Keeps QP 1 busy with writes of its own while the violation arrives. */
	for (unsigned int i = 0; i < 32; i++)
		write_with(r, 1, FIXTURE_BYTES, false, IBV_SEND_SIGNALED);
	wr.wr.rdma.rkey ^= 0x100;
	assert_int_equal(mrc_post_send(r->qp[0], &wr, &bad), 0);
	for (unsigned int i = 0; i < 32; i++) {
		wc = fixture_poll(r, 1);
		assert_true(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR);
	}
	assert_int_equal(mrc_get_async_event(r->ctx, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	mrc_ack_async_event(&event);
}

/* REQ(req.sqd.drained) REQ(api.async) The event comes to who asked for it, after the
 * completions. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_get_async_event, send_queue_drained)
{
	struct ibv_qp_attr v = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	const int notify = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY;
	struct fixture *r = *state;
	struct mrc_async_event event;
	struct pollfd p = {.fd = r->verbs->async_fd, .events = POLLIN};

	write_with(r, 0, FIXTURE_BYTES, false, IBV_SEND_SIGNALED);
	assert_int_equal(mrc_modify_qp(r->qp[0], &v, notify, NULL, 0), 0);
	write_with(r, 0, 10, false, IBV_SEND_SIGNALED); /* posted, not begun */
	assert_int_equal(mrc_get_async_event(r->ctx, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SQ_DRAINED);
	assert_ptr_equal(event.element.qp, r->qp[0]);
	mrc_ack_async_event(&event);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
	assert_int_equal(mrc_query_qp(r->qp[0], &v, IBV_QP_STATE, NULL, 0, NULL), 0);
	assert_int_equal(v.qp_state, IBV_QPS_SQD);
	assert_int_equal(v.sq_draining, 0);
	v.qp_state = IBV_QPS_RTS;
	assert_int_equal(mrc_modify_qp(r->qp[0], &v, notify, NULL, 0), EINVAL);
	assert_int_equal(mrc_modify_qp(r->qp[0], &v, IBV_QP_STATE, NULL, 0), 0);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
	assert_int_equal(poll(&p, 1, 0), 0);
}

/* REQ(svc.no-rnr) An immediate without a receive is the sender's mistake. */
TEST_WITH(fixture_setup_connected, fixture_teardown, mrc_get_async_event, immediate_without_receive)
{
	struct fixture *r = *state;
	struct mrc_async_event event;

	write_with(r, 0, 100, true, IBV_SEND_SIGNALED);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(mrc_get_async_event(r->ctx, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_QP_REQ_ERR);
	assert_ptr_equal(event.element.qp, r->qp[1]);
	mrc_ack_async_event(&event);
	mrc_ack_async_event(NULL);
	assert_int_equal(mrc_get_async_event(NULL, &event), -1);
	assert_int_equal(mrc_get_async_event(r->ctx, NULL), -1);
}

/* REQ(api.cq.overflow) */
TEST_WITH(fixture_setup, fixture_teardown, mrc_get_async_event, cq_overrun)
{
	struct fixture *r = *state;
	struct mrc_qp_init_attr init = fixture_init_attr(r, 0);
	struct mrc_async_event event;
	struct ibv_wc wc[FIXTURE_DEPTH];
	int n;

	assert_int_equal(mrc_destroy_qp(r->qp[0]), 0);
	assert_int_equal(mrc_destroy_cq(r->cq[0]), 0);
	r->cq[0] = mrc_create_cq(r->ctx, 1, NULL, NULL, 0);
	init.send_cq = init.recv_cq = r->cq[0];
	r->qp[0] = mrc_create_qp(r->ctx, &init);
	assert_non_null(r->qp[0]);
	assert_int_equal(mrc_get_qpn(r->qp[0], &r->end[0].qpn), 0);
	fixture_connect(r, 0, &r->end[1]);
	fixture_connect(r, 1, &r->end[0]);
	for (unsigned int i = 0; i < FIXTURE_DEPTH; i++)
		write_with(r, 0, 10, false, IBV_SEND_SIGNALED);
	assert_int_equal(mrc_get_async_event(r->ctx, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(event.element.cq, r->cq[0]);
	mrc_ack_async_event(&event);
	assert_int_equal(fixture_state(r, 0), IBV_QPS_ERR);
	do {
		n = mrc_poll_cq(r->cq[0], (int)FIXTURE_DEPTH, wc);
	} while (n > 0);
	assert_int_equal(n, -1);
	assert_int_equal(errno, EOVERFLOW);
}

/* The other process of a ping-pong: sleeps in mrc_get_cq_event, answers every message. */
static int echo(struct fixture *r, unsigned int rounds)
{
	struct mrc_cq *cq;
	void *user;

	for (unsigned int i = 0; i < rounds;) {
		struct ibv_wc wc;

		assert_int_equal(mrc_req_notify_cq(r->cq[0], 0), 0);
		while (mrc_poll_cq(r->cq[0], 1, &wc) == 1) {
			if (wc.status != IBV_WC_SUCCESS)
				return 2;
			if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM)
				continue;
			fixture_post_recv(r, 0, 0);
			write_with(r, 0, wc.byte_len, true, IBV_SEND_SIGNALED);
			i++;
		}
		if (i == rounds)
			break;
		if (mrc_get_cq_event(r->channel, &cq, &user))
			return 3;
		mrc_ack_cq_events(cq, 1);
	}
	return 0;
}

static void swap(int fd, const void *mine, void *theirs, size_t size)
{
	assert_int_equal(write(fd, mine, size), size);
	assert_int_equal(recv(fd, theirs, size, MSG_WAITALL), size);
}

/* Connects QP 0 of this process with QP 0 of the process at the other end of fd. */
static void meet(struct fixture *r, int fd)
{
	struct fixture_end peer;
	char ready = 0;

	fixture_open(r);
	swap(fd, &r->end[0], &peer, sizeof(peer));
	fixture_connect(r, 0, &peer);
	for (uint64_t i = 0; i < 4; i++)
		fixture_post_recv(r, 0, i);
	swap(fd, &ready, &ready, 1);
	r->end[1] = peer;
}

static void ping(struct fixture *r, unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++) {
		uint32_t bytes = 1 + i * 37 % 20000;

		test_rand_bytes(r->memory, bytes);
		write_with(r, 0, bytes, true, IBV_SEND_SIGNALED);
		for (;;) {
			struct ibv_wc wc = fixture_poll(r, 0);

			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM)
				continue;
			assert_u_eq(wc.byte_len, bytes);
			break;
		}
		fixture_post_recv(r, 0, 0);
	}
}

TEST(two_processes, sleep_and_wake)
{
	const unsigned int rounds = 200;
	struct fixture r;
	char ready = 0;
	int fds[2], status;
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int rc;

		close(fds[0]);
		meet(&r, fds[1]);
		rc = echo(&r, rounds);
		swap(fds[1], &ready, &ready, 1);
		fixture_close(&r);
		_exit(rc);
	}
	close(fds[1]);
	meet(&r, fds[0]);
	ping(&r, rounds);
	swap(fds[0], &ready, &ready, 1);
	fixture_close(&r);
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
