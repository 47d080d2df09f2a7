/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_rx_poll.c - which ports the poll loop reads, how much of them, and what it says of the
 * rest: on ports that count how often they are asked, of a NIC without thread and sockets.
 */
#include "support/test.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/list.h"
#include "host/datapath/datapath.h"
#include "support/virtual_nic.h"

#define NOW_NS UINT64_C(1000000000)

/* A port with `waiting` frames, each of a byte and from nowhere. */
struct counting_port {
	struct mio_port port;
	struct mio_status status;
	uint32_t waiting, asked;
};

struct rx_fixture {
	struct virtual_nic *v;
	struct mh_nic *nic;
	struct mio_port *own[MT_PORTS_MAX]; /* those of the NIC, which ends them */
	struct counting_port port[MT_PORTS_MAX];
	bool more; /* of the last poll */
};

static uint32_t counting_rx(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			    uint32_t n)
{
	struct counting_port *p = mb_container_of(port, struct counting_port, port);
	static const uint8_t byte = 0xFF;

	p->asked++;
	n = n < p->waiting ? n : p->waiting;
	for (uint32_t i = 0; i < n; i++)
		frames[i] = (struct mio_rx){.bytes = &byte, .len = 1, .time_ns = now_ns};
	p->waiting -= n;
	p->status.rx_more = p->waiting > 0;
	return n;
}

static const struct mio_port_ops counting_ops = {.rx_burst = counting_rx};

static void ignore(void *ctx, uint32_t port, const struct mio_tx *frame)
{
	(void)ctx;
	(void)port;
	(void)frame;
}

/* All ports ask the system, whose descriptors are of events that a test makes. */
static struct rx_fixture *fixture_open(const char *settings)
{
	struct rx_fixture *f = calloc(1, sizeof(*f));
	struct mh_env env;

	assert_non_null(f);
	virtual_nic_env(settings, 0, &env);
	virtual_time_set(NOW_NS);
	f->v = virtual_nic_open(&env, ignore, f);
	/* The system is asked in earnest. */
	virtual_time_set(0);
	f->nic = virtual_nic_of(f->v);
	for (uint32_t i = 0; i < f->nic->ports.n; i++) {
		struct counting_port *p = &f->port[i];

		p->port = (struct mio_port){&counting_ops, &p->status, 1};
		p->status.fd = eventfd(0, EFD_CLOEXEC);
		p->status.rx_asks_system = true;
		assert_true(p->status.fd >= 0);
		f->own[i] = f->nic->ports.port[i].io;
		f->nic->ports.port[i].io = &p->port;
	}
	return f;
}

static void fixture_close(struct rx_fixture *f)
{
	for (uint32_t i = 0; i < f->nic->ports.n; i++) {
		close(f->port[i].status.fd);
		f->nic->ports.port[i].io = f->own[i];
	}
	virtual_time_set(NOW_NS);
	virtual_nic_close(f->v);
	virtual_time_set(0);
	free(f);
}

static int setup_two(void **state)
{
	*state = fixture_open("MRC_PORTS=10.1.0.1,10.1.1.1\n");
	return 0;
}

static int setup_all(void **state)
{
	char text[16 * MT_PORTS_MAX] = "MRC_PORTS=";
	size_t at = strlen(text);

	for (uint32_t i = 0; i < MT_PORTS_MAX; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "10.1.%u.1,", i);
	text[at - 1] = '\n';
	*state = fixture_open(text);
	return ((struct rx_fixture *)*state)->nic->ports.n != MT_PORTS_MAX;
}

static int teardown(void **state)
{
	fixture_close(*state);
	return 0;
}

#define RX_TEST(name) TEST_WITH(setup_two, teardown, mh_rx_poll, name)

/* arrive lets frames wait at a port, and has its descriptor say so. */
static void arrive(struct rx_fixture *f, uint32_t port, uint32_t frames)
{
	f->port[port].waiting += frames;
	assert_i_eq(eventfd_write(f->port[port].status.fd, 1), 0);
}

static uint32_t poll_once(struct rx_fixture *f)
{
	uint32_t taken;

	mh_nic_lock(f->nic);
	taken = mh_rx_poll(f->nic, NOW_NS, &f->more);
	mh_nic_unlock(f->nic);
	return taken;
}

static struct mt_stats engine_stats(const struct rx_fixture *f)
{
	struct mt_stats stats;

	mt_engine_stats(f->nic->engine, &stats);
	return stats;
}

RX_TEST(reads_none_that_has_nothing)
{
	struct rx_fixture *f = *state;

	assert_u_eq(poll_once(f), 0);
	assert_u_eq(f->port[0].asked + f->port[1].asked, 0);
	arrive(f, 1, 1);
	assert_u_eq(poll_once(f), 1);
	assert_u_eq(f->port[0].asked, 0);
	assert_u_eq(f->port[1].asked, 1);
	assert_false(f->more);
	assert_u_eq(f->nic->counts.rx_outside_subnet, 1);
}

/* In the midst of bulk the question would cost more than it spares. */
RX_TEST(reads_all_unasked_where_all_had_frames)
{
	struct rx_fixture *f = *state;

	arrive(f, 0, 1);
	arrive(f, 1, 1);
	assert_u_eq(poll_once(f), 2);
	for (uint32_t i = 0; i < 2; i++) {
		eventfd_t count;

		assert_i_eq(eventfd_read(f->port[i].status.fd, &count), 0);
	}
	f->port[0].waiting = 1; /* its descriptor does not say so */
	assert_u_eq(poll_once(f), 1);
	assert_u_eq(f->port[1].asked, 2);
	/* One had none: all are asked for again. */
	f->port[0].waiting = 1;
	assert_u_eq(poll_once(f), 0);
	assert_u_eq(f->port[0].asked, 2);
}

/*
 * The first, the last, and two of which no descriptor tells: one whose driver asks nobody, one that
 * has left something behind.
 */
TEST_WITH(setup_all, teardown, mh_rx_poll, reads_any_of_the_most_ports)
{
	struct rx_fixture *f = *state;

	arrive(f, 0, 1);
	arrive(f, MT_PORTS_MAX - 1, 1);
	f->port[1].status.rx_asks_system = false;
	f->port[2].status.rx_more = true;
	f->port[2].waiting = 1;
	assert_u_eq(poll_once(f), 3);
	for (uint32_t i = 0; i < MT_PORTS_MAX; i++)
		assert_u_eq(f->port[i].asked, i < 3 || i == MT_PORTS_MAX - 1);
	assert_false(f->more);
}

/* What waits behind a burst is fetched at once, up to as many bursts as there are ports. */
RX_TEST(takes_a_burst_for_each_port)
{
	struct rx_fixture *f = *state;

	arrive(f, 0, MH_RX_BATCH + 8);
	assert_u_eq(poll_once(f), MH_RX_BATCH + 8);
	assert_u_eq(f->port[0].asked, 2);
	assert_false(f->more);
	arrive(f, 0, 3 * MH_RX_BATCH);
	assert_u_eq(poll_once(f), 2 * MH_RX_BATCH);
	assert_true(f->more);
	assert_u_eq(poll_once(f), MH_RX_BATCH);
	assert_false(f->more);
}

/* A port that is down keeps what it has, and keeps nobody awake. */
RX_TEST(leaves_ports_that_are_down)
{
	struct rx_fixture *f = *state;

	arrive(f, 0, 1);
	f->nic->ports.port[0].up = false;
	f->port[0].status.rx_more = true;
	assert_u_eq(poll_once(f), 0);
	assert_false(f->more);
	f->nic->ports.port[0].admin = MN_PORT_SUSPENDED; /* for what goes out alone */
	assert_u_eq(poll_once(f), 1);
}

/* The engine hears of what the system dropped, when something came. */
RX_TEST(tells_of_frames_that_the_system_dropped)
{
	struct rx_fixture *f = *state;

	f->port[1].status.rx_overruns = 5;
	assert_u_eq(poll_once(f), 0);
	assert_u_eq(engine_stats(f).rx_overflows, 0);
	arrive(f, 0, 1);
	assert_u_eq(poll_once(f), 1);
	assert_u_eq(engine_stats(f).rx_overflows, 5);
	assert_u_eq(poll_once(f), 0);
	arrive(f, 0, 1);
	assert_u_eq(poll_once(f), 1);
	assert_u_eq(engine_stats(f).rx_overflows, 5);
}
