/* SPDX-License-Identifier: BSD-2-Clause */
/* progress_fixture.c - what progress.c asks others for: see progress_fixture.h. */
#include "unit/progress_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "host/platform/platform.h"
#include "host/state/shards.h"
#include "host/stats/stats.h"

#define NS_PER_S UINT64_C(1000000000)

struct progress_fixture fix;

/* ---- the system ---- */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (fix.now_ns == 0)
		return __real_clock_gettime(clock, ts);
	*ts = (struct timespec){(time_t)(fix.now_ns / NS_PER_S), (long)(fix.now_ns % NS_PER_S)};
	return 0;
}

int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	struct progress_sleep *s = &fix.slept[fix.sleeps];

	assert_null(mask);
	assert_true(fix.sleeps < sizeof(fix.slept) / sizeof(fix.slept[0]));
	s->ns = ts ? (uint64_t)ts->tv_sec * NS_PER_S + (uint64_t)ts->tv_nsec : NEVER;
	s->n = n;
	s->backing_off = atomic_load(&fix.nic.progress.backing_off);
	s->runs = fix.runs;
	if (fix.on_sleep)
		fix.on_sleep(fix.sleeps, fds);
	fix.sleeps++;
	errno = fix.sleep_err;
	return fix.sleep_err ? -1 : 0;
}

int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
	fix.yields++;
	return 0;
}

int __real_nanosleep(const struct timespec *ts, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *ts, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *ts, struct timespec *rest)
{
	assert_null(rest);
	assert_int_equal(ts->tv_nsec, MS);
	fix.naps++;
	return 0;
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	va_list args;

	va_start(args, option);
	if (option == PR_SET_NAME)
		snprintf(fix.name, sizeof(fix.name), "%s", va_arg(args, const char *));
	if (option == PR_SET_TIMERSLACK)
		fix.slack = (unsigned long)va_arg(args, int);
	va_end(args);
	return 0;
}

int __real_eventfd(unsigned int value, int flags);
int __wrap_eventfd(unsigned int value, int flags);
int __wrap_eventfd(unsigned int value, int flags)
{
	errno = fix.eventfd_err;
	return fix.eventfd_err ? -1 : __real_eventfd(value, flags);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
			  void *arg)
{
	(void)thread;
	assert_null(attr);
	assert_ptr_equal(arg, &fix.nic);
	fix.routine = routine;
	pthread_sigmask(SIG_SETMASK, NULL, &fix.routine_mask);
	return fix.start_err;
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	(void)thread;
	assert_null(result);
	assert_true(atomic_load(&fix.nic.progress.stop));
	assert_u_eq(fix.kicks, 1);
	fix.joins++;
	return 0;
}

__typeof__(mh_link_monitor_open) __real_mh_link_monitor_open, __wrap_mh_link_monitor_open;
int __wrap_mh_link_monitor_open(void)
{
	errno = fix.links_err;
	return fix.links_err ? -1 : __real_eventfd(0, EFD_CLOEXEC);
}

__typeof__(mh_priority_init) __real_mh_priority_init, __wrap_mh_priority_init;
void __wrap_mh_priority_init(struct mh_priority *p, uint32_t steps)
{
	(void)p;
	assert_u_eq(steps, fix.nic.env.priority);
	fix.inits++;
}

__typeof__(mh_priority_raise) __real_mh_priority_raise, __wrap_mh_priority_raise;
void __wrap_mh_priority_raise(struct mh_priority *p, bool raised)
{
	size_t n = strlen(fix.raised);

	(void)p;
	assert_true(n + 1 < sizeof(fix.raised));
	fix.raised[n] = raised ? '1' : '0';
}

/* ---- the poll loop ---- */

__typeof__(mh_loop_run) __real_mh_loop_run, __wrap_mh_loop_run;
uint32_t __wrap_mh_loop_run(struct mh_nic *nic, uint64_t now_ns, bool hold)
{
	assert_u_eq(now_ns, fix.now_ns);
	fix.held = hold;
	fix.runs++;
	fix.now_ns += fix.run_takes_ns;
	nic->progress.frames = fix.frames;
	return fix.work;
}

__typeof__(mh_loop_tx) __real_mh_loop_tx, __wrap_mh_loop_tx;
uint32_t __wrap_mh_loop_tx(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	fix.txs++;
	return 1;
}

__typeof__(mh_loop_posted) __real_mh_loop_posted, __wrap_mh_loop_posted;
uint32_t __wrap_mh_loop_posted(struct mh_nic *nic, uint64_t now_ns, uint32_t wrs)
{
	(void)nic;
	(void)now_ns;
	fix.posted_wrs += wrs;
	return fix.read_work;
}

__typeof__(mh_loop_gather) __real_mh_loop_gather, __wrap_mh_loop_gather;
bool __wrap_mh_loop_gather(struct mh_nic *nic, uint64_t now_ns, uint64_t bytes, bool polling)
{
	(void)nic;
	(void)now_ns;
	(void)bytes;
	fix.polling = polling;
	return fix.gathers;
}

__typeof__(mh_loop_rung_due) __real_mh_loop_rung_due, __wrap_mh_loop_rung_due;
uint64_t __wrap_mh_loop_rung_due(const struct mh_nic *nic)
{
	(void)nic;
	return fix.rung_due_ns;
}

__typeof__(mh_loop_deadline) __real_mh_loop_deadline, __wrap_mh_loop_deadline;
uint64_t __wrap_mh_loop_deadline(const struct mh_nic *nic)
{
	(void)nic;
	return fix.deadline_ns;
}

__typeof__(mh_loop_thread_deadline) __real_mh_loop_thread_deadline, __wrap_mh_loop_thread_deadline;
uint64_t __wrap_mh_loop_thread_deadline(const struct mh_nic *nic)
{
	(void)nic;
	return fix.thread_deadline_ns;
}

__typeof__(mh_loop_report_ports) __real_mh_loop_report_ports, __wrap_mh_loop_report_ports;
void __wrap_mh_loop_report_ports(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	fix.reports++;
}

/* ---- others ---- */

__typeof__(mh_nic_kick) __real_mh_nic_kick, __wrap_mh_nic_kick;
void __wrap_mh_nic_kick(struct mh_nic *nic)
{
	(void)nic;
	fix.kicks++;
}

__typeof__(mh_shards_have_qps) __real_mh_shards_have_qps, __wrap_mh_shards_have_qps;
bool __wrap_mh_shards_have_qps(const struct mh_nic *first)
{
	(void)first;
	return fix.have_qps;
}

__typeof__(mh_segment_deadline) __real_mh_segment_deadline, __wrap_mh_segment_deadline;
uint64_t __wrap_mh_segment_deadline(const struct mh_segment *segment)
{
	(void)segment;
	return fix.segment_deadline_ns;
}

__typeof__(mh_segment_refresh) __real_mh_segment_refresh, __wrap_mh_segment_refresh;
void __wrap_mh_segment_refresh(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	assert_u_eq(now_ns, fix.now_ns);
	fix.refreshes++;
}

__typeof__(mh_link_monitor_drain) __real_mh_link_monitor_drain, __wrap_mh_link_monitor_drain;
bool __wrap_mh_link_monitor_drain(int fd)
{
	(void)fd;
	fix.drains++;
	return fix.links_drained;
}

__typeof__(mh_ports_update_links) __real_mh_ports_update_links, __wrap_mh_ports_update_links;
bool __wrap_mh_ports_update_links(struct mh_ports *ports, const struct mh_env *env, uint64_t now_ns)
{
	(void)ports;
	(void)env;
	(void)now_ns;
	fix.updates++;
	return fix.links_changed;
}

__typeof__(mh_node_store_fd) __real_mh_node_store_fd, __wrap_mh_node_store_fd;
int __wrap_mh_node_store_fd(const struct mh_nic *nic)
{
	(void)nic;
	return PORT_FD - 1;
}

__typeof__(mh_node_store_due) __real_mh_node_store_due, __wrap_mh_node_store_due;
uint64_t __wrap_mh_node_store_due(const struct mh_nic *nic)
{
	(void)nic;
	return fix.store_due_ns;
}

__typeof__(mh_node_store_look) __real_mh_node_store_look, __wrap_mh_node_store_look;
bool __wrap_mh_node_store_look(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	fix.looks++;
	return fix.store_changed;
}

__typeof__(mh_node_store_take) __real_mh_node_store_take, __wrap_mh_node_store_take;
void __wrap_mh_node_store_take(struct mh_nic *nic, uint64_t now_ns, bool *ports_changed)
{
	(void)nic;
	(void)now_ns;
	*ports_changed = fix.store_moves_ports;
	fix.takes++;
}

/* ---- a NIC of three ports, of which the second is down ---- */

int progress_setup(void **state)
{
	(void)state;
	memset(&fix, 0, sizeof(fix));
	pthread_mutex_init(&fix.nic.lock, NULL);
	fix.nic.node = &fix.node;
	fix.nic.n_shards = 1;
	fix.nic.env.priority = 3;
	fix.nic.ports.n = PORTS;
	fix.nic.ports.links_due_ns = NEVER;
	/* What lies behind the last one is none of it. */
	for (uint32_t i = 0; i <= PORTS; i++) {
		fix.port[i].status = &fix.status[i];
		fix.status[i].fd = PORT_FD + (int)i;
		fix.nic.ports.port[i].io = &fix.port[i];
		fix.nic.ports.port[i].up = i != 1;
	}
	fix.nic.progress.kick_fd = fix.nic.progress.links_fd = -1;
	fix.nic.progress.sleeps_until_ns = NEVER;
	fix.now_ns = NOW_NS;
	fix.rung_due_ns = fix.deadline_ns = fix.thread_deadline_ns = NEVER;
	fix.segment_deadline_ns = fix.store_due_ns = NEVER;
	return 0;
}

int progress_teardown(void **state)
{
	(void)state;
	fix.now_ns = 0;
	mh_progress_close_inherited(&fix.nic);
	pthread_mutex_destroy(&fix.nic.lock);
	return 0;
}

int progress_start(void)
{
	return mh_progress_start(&fix.nic);
}

void progress_run(void (*on_sleep)(uint32_t i, struct pollfd *fds))
{
	fix.on_sleep = on_sleep;
	atomic_store(&fix.nic.progress.stop, false);
	assert_null(fix.routine(&fix.nic));
}
