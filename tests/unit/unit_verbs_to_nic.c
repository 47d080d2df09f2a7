/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_verbs_to_nic.c - chains, completions, events and attributes on their way between verbs and
 * the NIC, at their bounds: src/ibv/ibv_to_nic.h over a NIC that is made up.
 */
#include "ibv/ibv_to_nic.h"
#include "support/test.h"

#define WRS 40u

/* ---- the NIC ---- */

/* What was queued, how much room there is, and what lies in the CQ and among the events. */
static uint64_t queued[WRS];
static uint32_t n_queued, room, n_completions;
static struct mh_async_event events[3];
static uint32_t n_events, at_event, n_acked;

static int queue(uint64_t id)
{
	if (n_queued == room)
		return ENOMEM;
	queued[n_queued++] = id;
	return 0;
}

int mh_qp_post_send(struct mh_qp *qp, const struct rd_send_wr *wr, uint32_t n, uint32_t *posted)
{
	(void)qp;
	for (*posted = 0; *posted < n; (*posted)++)
		if (queue(wr[*posted].wr_id))
			return ENOMEM;
	return 0;
}

int mh_qp_post_recv(struct mh_qp *qp, const struct rd_recv_wr *wr, uint32_t n, uint32_t *posted)
{
	(void)qp;
	for (*posted = 0; *posted < n; (*posted)++)
		if (queue(wr[*posted].wr_id))
			return ENOMEM;
	return 0;
}

int mh_srq_post(struct mh_srq *srq, const struct rd_recv_wr *wr, uint32_t n, uint32_t *posted)
{
	(void)srq;
	return mh_qp_post_recv(NULL, wr, n, posted);
}

int mh_cq_poll(struct mh_cq *cq, uint32_t n, struct mh_wc *wc)
{
	uint32_t got = n < n_completions ? n : n_completions;

	(void)cq;
	for (uint32_t i = 0; i < got; i++)
		wc[i] = (struct mh_wc){.wr_id = n_completions--};
	return (int)got;
}

int mh_async_get(struct mh_device *dev, struct mh_async_event *event)
{
	(void)dev;
	if (at_event == n_events)
		return EAGAIN;
	*event = events[at_event++];
	return 0;
}

void mh_async_ack(struct mh_device *dev, const struct mh_async_event *event)
{
	(void)dev, (void)event;
	n_acked++;
}

static int setup(void **state)
{
	(void)state;
	n_queued = n_completions = n_events = at_event = n_acked = 0;
	room = WRS;
	return 0;
}

#define NIC_TEST(function, name) TEST_WITH(setup, NULL, function, name)

/* ---- chains ---- */

/* The WR that is wrong; WRS: none. */
static uint32_t wrong;

static int send_to_nic(const void *of, const struct ibv_send_wr *wr, struct rd_send_wr *out,
		       struct rd_bind *bind)
{
	(void)of;
	memset(bind, 0, sizeof(*bind));
	*out = (struct rd_send_wr){.wr_id = wr->wr_id};
	return wr->wr_id == wrong ? EINVAL : 0;
}

static int recv_to_nic(const void *of, const struct ibv_recv_wr *wr, struct rd_recv_wr *out)
{
	(void)of;
	*out = (struct rd_recv_wr){.wr_id = wr->wr_id};
	return wr->wr_id == wrong ? EINVAL : 0;
}

static struct ibv_send_wr sends[WRS];
static struct ibv_recv_wr recvs[WRS];

/* In chains of each length; what stands before the one at fault is queued, in its order. */
static void expect_posted(uint32_t n, int err)
{
	static const struct iv_recv_queue queues[] = {{.srq = (void *)&room},
						      {.qp = (void *)&room}};
	uint32_t good = wrong < n ? wrong : n;

	good = room < good ? room : good;
	for (uint32_t i = 0; i < WRS; i++) {
		sends[i] =
			(struct ibv_send_wr){.wr_id = i, .next = i + 1 < n ? &sends[i + 1] : NULL};
		recvs[i] =
			(struct ibv_recv_wr){.wr_id = i, .next = i + 1 < n ? &recvs[i + 1] : NULL};
	}
	for (int kind = 0; kind < 3; kind++) {
		struct ibv_send_wr *send = sends;
		struct ibv_recv_wr *recv = recvs;

		n_queued = 0;
		if (kind == 2)
			assert_i_eq(iv_post_send(NULL, send_to_nic, NULL, &send), err);
		else
			assert_i_eq(iv_post_recv(queues[kind], recv_to_nic, NULL, &recv), err);
		assert_u_eq(n_queued, good);
		for (uint32_t i = 0; i < good; i++)
			assert_u_eq(queued[i], i);
		if (kind == 2)
			assert_ptr_equal(send, err ? &sends[good] : NULL);
		else
			assert_ptr_equal(recv, err ? &recvs[good] : NULL);
	}
}

NIC_TEST(iv_post_send, and_recv)
{
	for (uint32_t n = 1; n <= WRS; n++) {
		wrong = WRS;
		expect_posted(n, 0);
		wrong = n / 2;
		expect_posted(n, EINVAL);
		wrong = n - 1;
		expect_posted(n, EINVAL);
	}
	wrong = WRS;
	for (room = 0; room < WRS; room++)
		expect_posted(WRS, ENOMEM);
}

NIC_TEST(iv_poll_cq, in_batches)
{
	struct ibv_wc wc[3 * IV_POLL_BATCH];

	for (uint32_t n = 0; n <= 2 * IV_POLL_BATCH + 1; n++) {
		n_completions = n;
		assert_i_eq(iv_poll_cq(NULL, (int)(3 * IV_POLL_BATCH), wc), n);
		for (uint32_t i = 0; i < n; i++)
			assert_u_eq(wc[i].wr_id, n - i);
		n_completions = 2 * IV_POLL_BATCH + 1;
		assert_i_eq(iv_poll_cq(NULL, (int)n, wc), n);
	}
}

/* ---- values ---- */

NIC_TEST(iv_dest_to_nic, greatest_qpn)
{
	const struct ibv_ah_attr ah = {.is_global = 1};
	struct rd_qp_attr nic;

	assert_i_eq(iv_dest_to_nic(&ah, 0xffffff, &nic), 0);
	assert_u_eq(nic.dest_qpn, 0xffffff);
	assert_i_eq(iv_dest_to_nic(&ah, 0x1000000, &nic), EINVAL);
}

NIC_TEST(iv_mtu_to_nic, and_back)
{
	uint32_t bytes = 7;

	assert_i_eq(iv_mtu_to_nic((enum ibv_mtu)0, &bytes), EINVAL);
	assert_i_eq(iv_mtu_to_nic((enum ibv_mtu)6, &bytes), EINVAL);
	assert_u_eq(bytes, 7);
	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		assert_i_eq(iv_mtu_to_nic(mtu, &bytes), 0);
		assert_u_eq(bytes, 128u << mtu);
		assert_i_eq(iv_mtu_from_nic(bytes), mtu);
		assert_i_eq(iv_mtu_from_nic(bytes - 1), mtu);
	}
	assert_i_eq(iv_mtu_from_nic(9000), IBV_MTU_4096);
}

NIC_TEST(iv_event_type, of_what_a_qp_failed_by)
{
	struct mh_async_event event = {.type = MH_ASYNC_QP_FATAL, .status = RD_WC_REM_ACCESS_ERR};

	assert_i_eq(iv_event_type(&event), IBV_EVENT_QP_ACCESS_ERR);
	event.status = RD_WC_REM_INV_REQ_ERR;
	assert_i_eq(iv_event_type(&event), IBV_EVENT_QP_REQ_ERR);
	event.status = RD_WC_FATAL_ERR;
	assert_i_eq(iv_event_type(&event), IBV_EVENT_QP_FATAL);
	event.type = MH_ASYNC_PORT_UP;
	assert_i_eq(iv_event_type(&event), IBV_EVENT_PORT_ACTIVE);
}

/* What a QP failed by as requester its completions say; the event is done with. */
NIC_TEST(iv_get_async_event, passes_over_requesters)
{
	struct mh_async_event event = {0};

	events[0] = events[1] = (struct mh_async_event){.type = MH_ASYNC_QP_FATAL};
	events[2] = (struct mh_async_event){.type = MH_ASYNC_QP_FATAL, .responder = true};
	n_events = 3;
	assert_i_eq(iv_get_async_event(NULL, &event), 0);
	assert_true(event.responder);
	assert_u_eq(n_acked, 2);
	at_event = 0;
	n_events = 2;
	assert_i_eq(iv_get_async_event(NULL, &event), EAGAIN);
	assert_u_eq(n_acked, 4);
}
