/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_poll_loop.c - what a run of the poll loop does, in which order and how often, and what may
 * wait for the next one: the engine, the ports and time are the test's.
 */
#include "support/test.h"

#include <string.h>
#include <time.h>

#include "base/list.h"
#include "host/datapath/datapath.h"
#include "host/progress/progress.h"

#define NS_PER_S UINT64_C(1000000000)
#define NOW_NS UINT64_C(5000000000)
/* So many bytes wait for no more, and so many bursts are read in a run. */
#define GATHER_BYTES 65536u
#define BURSTS 8u
#define WRS_PER_RX 32u

static struct {
	struct mh_nic nic;
	struct mio_port port;
	struct mio_status status;
	uint64_t port_deadline_ns, engine_deadline_ns;
	bool port_error; /* the next look at the ports finds that one went down */
	uint32_t bursts; /* that wait in the ports, of a frame each */
	uint32_t events; /* that each drain finds */
	size_t wanted;	 /* memory */
	bool grows;
	const struct mh_event_source *raised;
	/* What was done. */
	uint32_t reads, runs, ticks, port_ticks, failed, reports, drains;
} t;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){(time_t)(NOW_NS / NS_PER_S), (long)(NOW_NS % NS_PER_S)};
	return 0;
}

__typeof__(mh_tx_run) __real_mh_tx_run, __wrap_mh_tx_run;
uint32_t __wrap_mh_tx_run(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	t.runs++;
	return 0;
}

__typeof__(mu_run) __real_mu_run, __wrap_mu_run;
uint32_t __wrap_mu_run(struct mu_engine *e, uint32_t up, uint64_t now_ns)
{
	(void)e;
	(void)up;
	(void)now_ns;
	return 0;
}

__typeof__(mh_engine_fail_marked_qps) __real_mh_engine_fail_marked_qps,
	__wrap_mh_engine_fail_marked_qps;
void __wrap_mh_engine_fail_marked_qps(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	t.failed++;
}

__typeof__(mh_ports_check_errors) __real_mh_ports_check_errors, __wrap_mh_ports_check_errors;
bool __wrap_mh_ports_check_errors(struct mh_ports *ports, uint64_t now_ns)
{
	bool error = t.port_error;

	(void)ports;
	(void)now_ns;
	t.port_error = false;
	return error;
}

__typeof__(mh_engine_report_ports) __real_mh_engine_report_ports, __wrap_mh_engine_report_ports;
void __wrap_mh_engine_report_ports(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	t.reports++;
}

__typeof__(mh_engine_events_drain) __real_mh_engine_events_drain, __wrap_mh_engine_events_drain;
uint32_t __wrap_mh_engine_events_drain(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	t.drains++;
	return t.events;
}

__typeof__(mh_rx_poll) __real_mh_rx_poll, __wrap_mh_rx_poll;
uint32_t __wrap_mh_rx_poll(struct mh_nic *nic, uint64_t now_ns, bool *more)
{
	uint32_t got = t.bursts > 0;

	(void)nic;
	(void)now_ns;
	t.reads++;
	t.bursts -= got;
	*more = t.bursts > 0;
	return got;
}

__typeof__(mh_tx_deadline) __real_mh_tx_deadline, __wrap_mh_tx_deadline;
uint64_t __wrap_mh_tx_deadline(const struct mh_nic *nic)
{
	(void)nic;
	return UINT64_MAX;
}

__typeof__(mt_engine_deadline) __real_mt_engine_deadline, __wrap_mt_engine_deadline;
uint64_t __wrap_mt_engine_deadline(const struct mt_engine *e)
{
	(void)e;
	return t.engine_deadline_ns;
}

__typeof__(mt_engine_tick) __real_mt_engine_tick, __wrap_mt_engine_tick;
void __wrap_mt_engine_tick(struct mt_engine *e, uint64_t now_ns)
{
	(void)e;
	(void)now_ns;
	t.ticks++;
}

__typeof__(mt_engine_memory_wanted) __real_mt_engine_memory_wanted, __wrap_mt_engine_memory_wanted;
size_t __wrap_mt_engine_memory_wanted(const struct mt_engine *e)
{
	(void)e;
	return t.wanted;
}

__typeof__(mh_engine_grow) __real_mh_engine_grow, __wrap_mh_engine_grow;
bool __wrap_mh_engine_grow(struct mh_nic *nic)
{
	(void)nic;
	return t.grows;
}

__typeof__(mh_event_raise) __real_mh_event_raise, __wrap_mh_event_raise;
void __wrap_mh_event_raise(struct mh_event_queue *q, struct mh_event_source *s, bool once)
{
	(void)q;
	assert_true(once);
	t.raised = s;
}

static uint64_t port_deadline(const struct mio_port *port)
{
	(void)port;
	return t.port_deadline_ns;
}

static void port_tick(struct mio_port *port, uint64_t now_ns)
{
	(void)port;
	(void)now_ns;
	t.port_ticks++;
}

static int setup(void **state)
{
	static const struct mio_port_ops ops = {.deadline = port_deadline, .tick = port_tick};

	(void)state;
	memset(&t, 0, sizeof(t));
	mb_link_init(&t.nic.devices);
	t.port = (struct mio_port){&ops, &t.status, 1};
	t.nic.ports.n = 1;
	t.nic.ports.port[0].io = &t.port;
	t.nic.ports.port[0].up = t.nic.was_up = true;
	t.port_deadline_ns = t.engine_deadline_ns = UINT64_MAX;
	return 0;
}

#define LOOP_TEST(function, name) TEST_WITH(setup, NULL, function, name)

/* ---- what waits for the next poll ---- */

LOOP_TEST(mh_loop_gather, lets_posts_wait_until_there_is_enough_for_a_run)
{
	assert_true(mh_loop_gather(&t.nic, NOW_NS, GATHER_BYTES - 1, true));
	assert_u_eq(mh_loop_rung_due(&t.nic), NOW_NS + RUNG_WAIT_NS);
	assert_false(mh_loop_gather(&t.nic, NOW_NS, 1, true));
}

LOOP_TEST(mh_loop_gather, lets_posts_wait_until_they_are_due)
{
	assert_true(mh_loop_gather(&t.nic, NOW_NS, 1, true));
	assert_true(mh_loop_gather(&t.nic, NOW_NS + RUNG_WAIT_NS - 1, 1, true));
	assert_false(mh_loop_gather(&t.nic, NOW_NS + RUNG_WAIT_NS, 1, true));
}

LOOP_TEST(mh_loop_gather, lets_no_post_wait_for_a_program_that_does_not_poll)
{
	assert_false(mh_loop_gather(&t.nic, NOW_NS, 1, false));
	assert_u_eq(mh_loop_rung_due(&t.nic), UINT64_MAX);
}

/* ---- what may leave ---- */

LOOP_TEST(mh_loop_tx, tells_the_engine_the_time_and_fails_what_is_marked)
{
	mh_loop_tx(&t.nic, NOW_NS);
	assert_u_eq(t.nic.engine_ns, NOW_NS);
	assert_u_eq(t.failed, 1);
	/* Never an earlier one. */
	mh_loop_tx(&t.nic, NOW_NS - 1);
	assert_u_eq(t.nic.engine_ns, NOW_NS);
}

LOOP_TEST(mh_loop_tx, has_a_port_do_what_is_due_there)
{
	t.port_deadline_ns = NOW_NS + 1;
	mh_loop_tx(&t.nic, NOW_NS);
	assert_u_eq(t.port_ticks, 0);
	t.port_deadline_ns = NOW_NS;
	mh_loop_tx(&t.nic, NOW_NS);
	assert_u_eq(t.port_ticks, 1);
}

LOOP_TEST(mh_loop_tx, reports_ports_that_went_down)
{
	mh_loop_tx(&t.nic, NOW_NS);
	assert_u_eq(t.reports, 0);
	t.port_error = true;
	mh_loop_tx(&t.nic, NOW_NS);
	assert_u_eq(t.reports, 1);
}

/* ---- a whole run ---- */

LOOP_TEST(mh_loop_run, reads_so_many_bursts_and_leaves_the_others)
{
	t.bursts = BURSTS + 1;
	assert_u_eq(mh_loop_run(&t.nic, NOW_NS, false), BURSTS);
	assert_u_eq(t.reads, BURSTS);
	assert_true(t.nic.rx_pending);
	assert_u_eq(mh_loop_deadline(&t.nic), 0);
	assert_u_eq(mh_loop_run(&t.nic, NOW_NS, false), 1);
	assert_false(t.nic.rx_pending);
}

/* Answers wait for the next run, which is due; the engine has taken packets of this time. */
LOOP_TEST(mh_loop_run, ends_with_the_first_completions)
{
	t.bursts = 2;
	t.events = 3;
	assert_u_eq(mh_loop_run(&t.nic, NOW_NS, true), 4);
	assert_u_eq(t.reads, 1);
	assert_u_eq(t.runs, 0);
	assert_u_eq(t.nic.engine_ns, NOW_NS);
	assert_u_eq(mh_loop_rung_due(&t.nic), NOW_NS + RUNG_WAIT_NS);
}

LOOP_TEST(mh_loop_run, keeps_no_timer_from_running)
{
	t.bursts = 1;
	t.events = 1;
	t.engine_deadline_ns = NOW_NS;
	mh_loop_run(&t.nic, NOW_NS, true);
	assert_u_eq(t.ticks, 1);
	assert_u_eq(mh_loop_rung_due(&t.nic), UINT64_MAX);
}

LOOP_TEST(mh_loop_run, counts_memory_that_the_engine_was_given)
{
	t.wanted = 1;
	assert_u_eq(mh_loop_run(&t.nic, NOW_NS, false), 0);
	t.grows = true;
	assert_u_eq(mh_loop_run(&t.nic, NOW_NS, false), 1);
	t.wanted = 0;
	assert_u_eq(mh_loop_run(&t.nic, NOW_NS, false), 0);
}

/* ---- ports, deadlines and posts ---- */

LOOP_TEST(mh_loop_report_ports, tells_programs_of_the_last_plane_that_goes_and_the_first_that_comes)
{
	static struct mh_device dev;

	mb_link_init(&dev.link);
	mb_list_push(&t.nic.devices, &dev.link);
	mh_loop_report_ports(&t.nic, NOW_NS);
	assert_null(t.raised);
	t.nic.ports.port[0].up = false;
	mh_loop_report_ports(&t.nic, NOW_NS);
	assert_ptr_equal(t.raised, &dev.port_down);
	t.raised = NULL;
	mh_loop_report_ports(&t.nic, NOW_NS);
	assert_null(t.raised);
	t.nic.ports.port[0].up = true;
	mh_loop_report_ports(&t.nic, NOW_NS);
	assert_ptr_equal(t.raised, &dev.port_up);
}

LOOP_TEST(mh_loop_tx, takes_what_was_rung)
{
	assert_true(mh_loop_gather(&t.nic, NOW_NS, GATHER_BYTES - 1, true));
	mh_loop_tx(&t.nic, NOW_NS);
	assert_u_eq(mh_loop_rung_due(&t.nic), UINT64_MAX);
	assert_true(mh_loop_gather(&t.nic, NOW_NS, GATHER_BYTES - 1, true));
}

LOOP_TEST(mh_loop_posted, reads_the_ports_after_some_posts)
{
	assert_u_eq(mh_loop_posted(&t.nic, NOW_NS, WRS_PER_RX - 1), 0);
	assert_u_eq(t.reads, 0);
	assert_u_eq(t.runs, 1);
	t.bursts = 1;
	assert_u_eq(mh_loop_posted(&t.nic, NOW_NS, 1), 1);
	assert_u_eq(t.reads, 1);
	assert_u_eq(mh_loop_posted(&t.nic, NOW_NS, WRS_PER_RX - 1), 0);
	assert_u_eq(t.reads, 1);
}

static uint64_t at_once(const struct mio_port *port)
{
	(void)port;
	return 1;
}

/* What lies behind the last port is none of it. */
LOOP_TEST(mh_loop_deadline, is_the_first_of_all)
{
	static const struct mio_port_ops ops = {.deadline = at_once};
	struct mio_port behind = {&ops, &t.status, 1};

	t.nic.ports.port[1].io = &behind;
	t.nic.ports.links_due_ns = NOW_NS + 4;
	assert_u_eq(mh_loop_deadline(&t.nic), NOW_NS + 4);
	t.port_deadline_ns = NOW_NS + 3;
	assert_u_eq(mh_loop_deadline(&t.nic), NOW_NS + 3);
	t.engine_deadline_ns = NOW_NS + 2;
	assert_u_eq(mh_loop_deadline(&t.nic), NOW_NS + 2);
	t.nic.rx_pending = true;
	assert_u_eq(mh_loop_deadline(&t.nic), 0);
}
