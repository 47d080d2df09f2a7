/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a lab is probed: src/cli/map/map_session.h, with a prober that only counts and a clock
 * that goes on while the session sleeps.
 */
#include "cli/map/map_session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/lab/lab_verbs.h"
#include "support/test.h"
#include "ui/terminal.h"

static uint64_t now_ns;
static uint32_t judged, sent;
/* From which judgement on a signal is caught; 0: never. How long a step takes, of its own. */
static uint32_t caught_in;
static uint64_t step_ns;

__typeof__(clock_gettime) __wrap_clock_gettime;
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	*t = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u),
			       .tv_nsec = (long)(now_ns % 1000000000u)};
	return 0;
}

__typeof__(lab_sleep) __wrap_lab_sleep;
void __wrap_lab_sleep(uint64_t ns)
{
	now_ns += ns;
}

__typeof__(ui_term_caught) __wrap_ui_term_caught;
int __wrap_ui_term_caught(void)
{
	return caught_in && judged >= caught_in ? SIGINT : 0;
}

__typeof__(ml_lab_netns) __wrap_ml_lab_netns;
int __wrap_ml_lab_netns(const struct ml_lab *lab, uint32_t node, struct ml_error *e)
{
	(void)lab;
	(void)node;
	(void)e;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

__typeof__(prober_receive) __wrap_prober_receive;
void __wrap_prober_receive(struct prober *p, uint64_t now)
{
	(void)p;
	(void)now;
}

__typeof__(prober_send) __wrap_prober_send;
void __wrap_prober_send(struct prober *p)
{
	(void)p;
	now_ns += step_ns;
	sent++;
}

__typeof__(prober_map) __wrap_prober_map;
struct mm_map *__wrap_prober_map(struct prober *p)
{
	(void)p;
	return NULL;
}

__typeof__(prober_figures) __wrap_prober_figures;
void __wrap_prober_figures(const struct prober *p, struct prober_figures *f)
{
	(void)p;
	*f = (struct prober_figures){.sent = sent};
}

__typeof__(mm_map_judge) __wrap_mm_map_judge;
size_t __wrap_mm_map_judge(struct mm_map *map, uint64_t now, struct mm_sick *sick, size_t max)
{
	(void)map;
	(void)now;
	(void)sick;
	(void)max;
	judged++;
	return 0;
}

__typeof__(mm_map_silent) __wrap_mm_map_silent;
uint32_t __wrap_mm_map_silent(const struct mm_map *map, uint64_t now)
{
	(void)map;
	(void)now;
	return 0;
}

static struct map_session session;

static int session_setup(void **state)
{
	(void)state;
	now_ns = 1000;
	judged = sent = caught_in = 0;
	step_ns = 0;
	session = (struct map_session){.for_ns = 50 * PROBE_STEP_NS};
	return stat("/dev/null", &session.host0);
}

#define SESSION_TEST(name) TEST_WITH(session_setup, NULL, map_session_run, name)

static bool goes_on(struct map_session *s)
{
	(void)s;
	return false;
}

static bool ends_in_third(struct map_session *s)
{
	(void)s;
	return judged == 3;
}

SESSION_TEST(as_long_as_was_asked_for)
{
	assert_i_eq(map_session_run(&session, goes_on), MAP_HEALTHY);
	assert_u_eq(sent, 50);
	assert_u_eq(judged, 50);
	assert_u_eq(session.result.figures.sent, 50);
}

SESSION_TEST(longer_on_a_busy_machine)
{
	step_ns = 3 * PROBE_STEP_NS;
	assert_i_eq(map_session_run(&session, goes_on), MAP_HEALTHY);
	assert_u_eq(sent, 50);
	sent = 0;
	step_ns = 25 * PROBE_STEP_NS; /* and ten times as long at most */
	assert_i_eq(map_session_run(&session, goes_on), MAP_HEALTHY);
	assert_u_eq(sent, 20);
	sent = 0;
	session.by_clock = true;
	assert_i_eq(map_session_run(&session, goes_on), MAP_HEALTHY);
	assert_u_eq(sent, 2);
}

/* What comes back of probes that are sent then is read by nobody. */
SESSION_TEST(sends_nothing_after_its_end)
{
	assert_i_eq(map_session_run(&session, ends_in_third), MAP_HEALTHY);
	assert_u_eq(judged, 3);
	assert_u_eq(sent, 2);
	judged = sent = 0;
	caught_in = 3;
	assert_i_eq(map_session_run(&session, goes_on), MAP_HEALTHY);
	assert_u_eq(judged, 3);
	assert_u_eq(sent, 2);
}
