/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_cq_ring.c - the rings of a CQ, of completions and of EV events, by hand, without a NIC. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/state/shards.h"

#define NOW_NS UINT64_C(1234567)
#define EVS_ROOM 4u

struct ring_fixture {
	struct mh_device dev;
	struct mh_channel channel;
	struct mh_cq cq;
};

static int queue_open(struct mh_event_queue *q)
{
	return mh_event_open(q) || fcntl(q->fd, F_SETFL, O_NONBLOCK);
}

/* Four places, whose indices are about to wrap. */
static int ring_setup(void **state)
{
	struct ring_fixture *f = calloc(1, sizeof(*f));

	if (!f || queue_open(&f->dev.events) || queue_open(&f->channel.events))
		return -1;
	f->cq.dev = &f->dev;
	f->cq.channel = &f->channel;
	f->cq.ring = calloc(4, sizeof(f->cq.ring[0]));
	f->cq.mask = 3;
	f->cq.head = f->cq.tail = UINT32_MAX - 1;
	f->cq.evs = calloc(1, sizeof(*f->cq.evs) + EVS_ROOM * sizeof(f->cq.evs->event[0]));
	if (!f->cq.ring || !f->cq.evs)
		return -1;
	f->cq.evs->mask = EVS_ROOM - 1;
	pthread_mutex_init(&f->cq.lock, NULL);
	mh_event_source_init(&f->cq.completion, 0, &f->cq);
	mh_event_source_init(&f->cq.overrun, MH_ASYNC_CQ_ERR, &f->cq);
	*state = f;
	return 0;
}

static int ring_teardown(void **state)
{
	struct ring_fixture *f = *state;

	mh_event_discard(&f->channel.events, &f->cq.completion);
	mh_event_discard(&f->dev.events, &f->cq.overrun);
	mh_event_close(&f->channel.events);
	mh_event_close(&f->dev.events);
	pthread_mutex_destroy(&f->cq.lock);
	free(f->cq.ring);
	free(f->cq.evs);
	free(f);
	return 0;
}

#define RING_TEST(function, name) TEST_WITH(ring_setup, ring_teardown, function, name)

static bool add(struct ring_fixture *f, uint64_t id, uint32_t qpn, uint32_t flags)
{
	struct mh_cqe cqe = {.wc = {.wr_id = id, .flags = flags, .qpn = qpn}};

	return mh_cq_add(&f->cq, &cqe, NOW_NS + id);
}

/* The oldest completions are those with the ids from first on, n of them. */
static void expect(struct ring_fixture *f, uint64_t first, uint32_t n)
{
	struct mh_wc wc[16];

	assert_u_eq(mh_cq_pop(&f->cq, n, wc), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_u_eq(wc[i].wr_id, first + i);
		assert_u_eq(wc[i].done_ns, NOW_NS + first + i);
	}
}

/* How many events wait in a queue; they are taken. */
static uint32_t events(struct mh_event_queue *q)
{
	struct mh_event_source *source;
	uint32_t n = 0;

	for (; mh_event_get(q, &source) == 0; n++)
		mh_event_ack(q, source, 1);
	return n;
}

RING_TEST(mh_cq_pop, at_most_n_and_the_places_are_free)
{
	struct ring_fixture *f = *state;
	struct mh_wc wc[4];

	assert_u_eq(mh_cq_pop(&f->cq, 4, wc), 0);
	for (uint64_t id = 0; id < 4; id++)
		assert_true(add(f, id, 1, 0));
	expect(f, 0, 1);
	assert_true(add(f, 4, 1, 0));
	expect(f, 1, 4);
	assert_u_eq(mh_cq_pop(&f->cq, 4, wc), 0);
}

/* Of sends and of receives each completion says up to which WR all are dealt with. */
RING_TEST(mh_cq_pop, sets_free_what_a_completion_is_for)
{
	static const enum rd_wc_opcode recvs[] = {RD_WC_RECV, RD_WC_RECV_IMM};
	struct ring_fixture *f = *state;
	struct mh_qp *qp = calloc(1, sizeof(*qp));
	struct mh_cqe cqe = {.qp = qp, .wr = 7, .wc = {.opcode = RD_WC_WRITE}};
	struct mh_wc wc;

	assert_true(mh_cq_add(&f->cq, &cqe, NOW_NS));
	assert_u_eq(mh_cq_pop(&f->cq, 1, &wc), 1);
	assert_u_eq(qp->send.polled, 7);
	assert_u_eq(qp->recv.polled, 0);
	for (uint64_t i = 0; i < 2; i++) {
		cqe.wc.opcode = recvs[i];
		cqe.wr = 10 + i;
		assert_true(mh_cq_add(&f->cq, &cqe, NOW_NS));
		assert_u_eq(mh_cq_pop(&f->cq, 1, &wc), 1);
		assert_u_eq(qp->send.polled, 7);
		assert_u_eq(qp->recv.polled, 10 + i);
	}
	free(qp);
}

RING_TEST(mh_cq_purge, keeps_the_order_of_others)
{
	struct ring_fixture *f = *state;

	for (uint64_t id = 0; id < 4; id++)
		assert_true(add(f, id, id == 1, 0));
	mh_cq_purge(&f->cq, 0);
	expect(f, 1, 1);
	assert_true(f->cq.head == f->cq.tail);
}

/* ---- another ring ---- */

static struct mh_cqe *ring_of(uint32_t places)
{
	struct mh_cqe *ring = calloc(places, sizeof(*ring));

	assert_non_null(ring);
	return ring;
}

RING_TEST(mh_cq_replace_ring, larger_and_smaller)
{
	struct ring_fixture *f = *state;

	for (uint64_t id = 0; id < 4; id++)
		assert_true(add(f, id, 1, 0));
	assert_i_eq(mh_cq_replace_ring(&f->cq, 8, ring_of(8), 7), 0);
	assert_u_eq(f->cq.mask, 7);
	for (uint64_t id = 4; id < 8; id++)
		assert_true(add(f, id, 1, 0));
	expect(f, 0, 6);
	/* What is wanted counts, not how many places that makes. */
	assert_i_eq(mh_cq_replace_ring(&f->cq, 1, ring_of(2), 1), EINVAL);
	assert_u_eq(f->cq.mask, 7);
	assert_i_eq(mh_cq_replace_ring(&f->cq, 2, ring_of(2), 1), 0);
	expect(f, 6, 2);
	assert_true(add(f, 8, 1, 0));
	expect(f, 8, 1);
}

RING_TEST(mh_cq_replace_ring, refused_after_an_overrun)
{
	struct ring_fixture *f = *state;

	for (uint64_t id = 0; id < 5; id++)
		assert_true(add(f, id, 1, 0) == (id < 4));
	assert_i_eq(mh_cq_replace_ring(&f->cq, 8, ring_of(8), 7), EOVERFLOW);
	expect(f, 0, 4);
}

/* ---- events ---- */

RING_TEST(mh_cq_add, raises_what_was_asked_for_once)
{
	struct ring_fixture *f = *state;
	struct mh_cqe failed = {.wc = {.wr_id = 2, .status = RD_WC_WR_FLUSH_ERR}};

	assert_true(add(f, 0, 1, RD_WC_SOLICITED));
	mh_cq_arm(&f->cq, true);
	assert_true(add(f, 1, 1, 0));
	assert_u_eq(events(&f->channel.events), 0);
	assert_true(mh_cq_add(&f->cq, &failed, NOW_NS + 2));
	assert_true(add(f, 3, 1, RD_WC_SOLICITED));
	assert_u_eq(events(&f->channel.events), 1);
	expect(f, 0, 4);
	/* Of the two wishes the wider one counts, whichever came first. */
	for (uint32_t first = 0; first < 2; first++) {
		mh_cq_arm(&f->cq, first == 0);
		mh_cq_arm(&f->cq, first != 0);
		assert_true(add(f, 4, 1, 0));
		assert_u_eq(events(&f->channel.events), 1);
		expect(f, 4, 1);
	}
}

RING_TEST(mh_cq_arm, says_that_it_has_overrun)
{
	struct ring_fixture *f = *state;

	mh_cq_arm(&f->cq, true);
	for (uint64_t id = 0; id < 6; id++)
		assert_true(add(f, id, 1, 0) == (id < 4));
	assert_u_eq(events(&f->channel.events), 1);
	assert_u_eq(events(&f->dev.events), 1);
	expect(f, 0, 4);
	/* There is room, but what is missing is missing. */
	assert_false(add(f, 6, 1, 0));
	assert_u_eq(events(&f->dev.events), 0);
	mh_cq_arm(&f->cq, false);
	assert_u_eq(events(&f->channel.events), 1);
}

/* ---- of several shards ---- */

#define SHARDS 3u

struct shards_of_cq {
	struct mh_nic *nic[SHARDS];
};

static void shards_open(struct shards_of_cq *s)
{
	for (uint32_t i = 0; i < SHARDS; i++) {
		s->nic[i] = calloc(1, sizeof(*s->nic[i]));
		assert_non_null(s->nic[i]);
		s->nic[i]->progress.kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		assert_true(s->nic[i]->progress.kick_fd >= 0);
	}
	mh_shards_begin(s->nic[0]);
	for (uint32_t i = 1; i < SHARDS; i++)
		mh_shards_add(s->nic[0], s->nic[i]);
}

static void shards_close(struct shards_of_cq *s)
{
	for (uint32_t i = 0; i < SHARDS; i++) {
		close(s->nic[i]->progress.kick_fd);
		free(s->nic[i]);
	}
}

static uint64_t kicks(const struct mh_nic *nic)
{
	uint64_t n = 0;

	return read(nic->progress.kick_fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* Their QPs are to fail; who heard of it once is not told again. */
RING_TEST(mh_completion_push, tells_all_shards_of_an_overrun)
{
	struct ring_fixture *f = *state;
	struct mh_cqe cqe = {.wc = {.wr_id = 0}};
	struct shards_of_cq s;

	shards_open(&s);
	s.nic[1]->engine_ns = NOW_NS;
	for (uint64_t id = 0; id < 4; id++, cqe.wc.wr_id++) {
		s.nic[1]->engine_ns = NOW_NS + id;
		mh_completion_push(s.nic[1], &f->cq, &cqe);
	}
	assert_false(s.nic[1]->cq_overran);
	for (uint32_t more = 1; more < 3; more++) {
		mh_completion_push(s.nic[1], &f->cq, &cqe);
		assert_u_eq(s.nic[1]->counts.cq_overruns, more);
		for (uint32_t i = 0; i < SHARDS; i++) {
			assert_true(s.nic[i]->cq_overran);
			assert_u_eq(kicks(s.nic[i]), i != 1 && more == 1);
		}
	}
	assert_u_eq(s.nic[0]->counts.cq_overruns, 0);
	expect(f, 0, 4);
	shards_close(&s);
}

/* ---- EV events ---- */

static void add_ev_event(struct ring_fixture *f, uint32_t profile)
{
	mh_cq_add_ev_event(&f->cq, &(struct mh_ev_event){.profile = profile, .dropped = 77});
}

/* REQ(ctl.event-queue): the next one that finds room says how many were dropped before it. */
RING_TEST(mh_cq_add_ev_event, counts_those_without_room)
{
	struct ring_fixture *f = *state;
	struct mh_ev_event got[EVS_ROOM + 1];

	for (uint32_t i = 0; i < EVS_ROOM + 2; i++)
		add_ev_event(f, i);
	assert_u_eq(mh_cq_pop_ev_events(&f->cq, 1, got), 1);
	assert_u_eq(got[0].profile, 0);
	assert_u_eq(got[0].dropped, 0);
	mh_cq_drop_ev_events(&f->cq, 5);
	add_ev_event(f, 10);
	assert_u_eq(mh_cq_pop_ev_events(&f->cq, EVS_ROOM + 1, got), EVS_ROOM);
	for (uint32_t i = 0; i < EVS_ROOM - 1; i++) {
		assert_u_eq(got[i].profile, 1 + i);
		assert_u_eq(got[i].dropped, 0);
	}
	assert_u_eq(got[EVS_ROOM - 1].profile, 10);
	assert_u_eq(got[EVS_ROOM - 1].dropped, 2 + 5);
	add_ev_event(f, 11);
	assert_u_eq(mh_cq_pop_ev_events(&f->cq, 1, got), 1);
	assert_u_eq(got[0].dropped, 0);
}

/* The count ends at its largest, however many more there are. */
RING_TEST(mh_cq_drop_ev_events, as_many_as_can_be_said)
{
	struct ring_fixture *f = *state;
	struct mh_ev_event got[EVS_ROOM];

	for (uint32_t i = 0; i < EVS_ROOM; i++)
		add_ev_event(f, i);
	mh_cq_drop_ev_events(&f->cq, UINT32_MAX - 2);
	add_ev_event(f, 8);
	assert_u_eq(f->cq.evs->dropped, UINT32_MAX - 1);
	for (uint32_t i = 0; i < 2; i++) {
		add_ev_event(f, 9);
		assert_u_eq(f->cq.evs->dropped, UINT32_MAX);
		mh_cq_drop_ev_events(&f->cq, 3);
		assert_u_eq(f->cq.evs->dropped, UINT32_MAX);
	}
	assert_u_eq(mh_cq_pop_ev_events(&f->cq, EVS_ROOM, got), EVS_ROOM);
	add_ev_event(f, 10);
	assert_u_eq(mh_cq_pop_ev_events(&f->cq, 1, got), 1);
	assert_u_eq(got[0].dropped, UINT32_MAX);
}

RING_TEST(mh_cq_add_ev_event, raises_what_was_asked_for)
{
	struct ring_fixture *f = *state;

	add_ev_event(f, 0);
	assert_u_eq(events(&f->channel.events), 0);
	mh_cq_arm(&f->cq, true);
	add_ev_event(f, 1);
	add_ev_event(f, 2);
	assert_u_eq(events(&f->channel.events), 1);
}
