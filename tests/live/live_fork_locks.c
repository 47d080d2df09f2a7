/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_fork_locks.c - a process forks while another thread holds a mutex of the libraries: neither
 * the fork nor the child waits for ever.
 *
 * A thread lives the life of a device, and stops as soon as it has its n-th mutex. Then the process
 * forks. If the fork asks for a mutex that the thread holds, that thread goes on, and the child
 * gets all as it is then; else the child finds the mutex held by nobody who could release it. It
 * uses what it inherited, and then lists and opens devices of its own. Every n is a process, so
 * that the first call of a process is among them. The functions below stand before those of the C
 * library for all that the test links.
 *
 * Argument: the folder of a library that stands for the system's libibverbs (live/real).
 */
#include "live/live_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <mrc/log.h>
#include <mrc/meet.h>
#include <mrc_ctl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sleeping_threads.h"
#include "unit/loopback.h"

#define PATIENCE_S 60u
#define HELD_MAX 16u

#define must(cond) ((cond) ? (void)0 : fail_here(__LINE__, #cond))

_Noreturn static void fail_here(int line, const char *what)
{
	fprintf(stderr, "# live_fork_locks.c:%d: not so: %s, errno %d\n", line, what, errno);
	_exit(1);
}

/* ---- where the thread stops ---- */

static struct {
	const pthread_mutex_t *held[HELD_MAX]; /* by the thread; it changes while that runs */
	size_t n_held;
	uint32_t taken, stop_at; /* mutexes, counted from 1 */
	int stopped, go;	 /* eventfds */
	atomic_bool may_go;
	const char *step; /* of the life */
} life;

static _Thread_local bool is_living, is_forking;

static void signal_event(int fd)
{
	uint64_t one = 1;

	must(write(fd, &one, sizeof(one)) == sizeof(one));
}

static void await_event(int fd)
{
	uint64_t n;

	must(read(fd, &n, sizeof(n)) == sizeof(n));
}

static void let_go(void)
{
	if (!atomic_exchange(&life.may_go, true))
		signal_event(life.go);
}

/* ThreadSanitizer has functions of its own there. */
#ifndef __SANITIZE_THREAD__

static void note_taken(const pthread_mutex_t *mutex)
{
	if (!is_living)
		return;
	must(life.n_held < HELD_MAX);
	life.held[life.n_held++] = mutex;
	if (++life.taken != life.stop_at)
		return;
	signal_event(life.stopped);
	await_event(life.go);
}

static void note_released(const pthread_mutex_t *mutex)
{
	size_t i = 0;

	if (!is_living)
		return;
	while (i < life.n_held && life.held[i] != mutex)
		i++;
	must(i < life.n_held);
	life.held[i] = life.held[--life.n_held];
}

static void note_asked(const pthread_mutex_t *mutex)
{
	for (size_t i = 0; is_forking && !atomic_load(&life.may_go) && i < life.n_held; i++)
		if (life.held[i] == mutex)
			let_go();
}

#define NEXT(function, name)                              \
	static __typeof__(name) *function;                \
	if (!function) {                                  \
		void *found = dlsym(RTLD_NEXT, #name);    \
		memcpy(&function, &found, sizeof(found)); \
	}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int err;

	NEXT(next, pthread_mutex_lock)
	note_asked(mutex);
	err = next(mutex);
	if (!err)
		note_taken(mutex);
	return err;
}

__attribute__((visibility("default"))) int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int err;

	NEXT(next, pthread_mutex_trylock)
	err = next(mutex);
	if (!err)
		note_taken(mutex);
	return err;
}

__attribute__((visibility("default"))) int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	NEXT(next, pthread_mutex_unlock)
	note_released(mutex);
	return next(mutex);
}

#endif

/* ---- the life ---- */

static struct {
	struct ibv_device **list;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex; /* qp */
	struct mrc_context *ctx;
	struct mrc_comp_channel *mrc_channel;
	struct mrc_cq *mrc_cq;
	struct mrc_qp *mrc_qp;
	struct mrc_qp_hint *hint;
} o;

static bool set_log(void)
{
	return mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL) == 0;
}

static bool open_device(void)
{
	o.list = ibv_get_device_list(NULL);
	return o.list && (o.verbs = ibv_open_device(o.list[0]));
}

static bool create_verbs(void)
{
	struct ibv_cq_init_attr_ex cq = {.cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr_ex qp = {
		.cap = {4, 4, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	if (!(o.pd = ibv_alloc_pd(o.verbs)) || !(o.channel = ibv_create_comp_channel(o.verbs)) ||
	    !(o.cq = ibv_create_cq(o.verbs, 4, NULL, o.channel, 0)) ||
	    !(o.cq_ex = ibv_create_cq_ex(o.verbs, &cq)) || !(o.srq = ibv_create_srq(o.pd, &srq)))
		return false;
	qp.pd = o.pd;
	qp.send_cq = qp.recv_cq = o.cq;
	return (o.qp = ibv_create_qp_ex(o.verbs, &qp)) && (o.qp_ex = ibv_qp_to_qp_ex(o.qp));
}

static int verbs_to_init(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	return ibv_modify_qp(o.qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int verbs_query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(o.qp, &attr, IBV_QP_STATE, &init);
}

static void verbs_batch(void)
{
	ibv_wr_start(o.qp_ex);
	ibv_wr_abort(o.qp_ex);
	ibv_wr_start(o.qp_ex);
	ibv_wr_send(o.qp_ex);
	(void)ibv_wr_complete(o.qp_ex);
}

static int verbs_poll(void)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc;

	(void)ibv_start_poll(o.cq_ex, &attr);
	return ibv_poll_cq(o.cq, 1, &wc) || ibv_req_notify_cq(o.cq, 0);
}

static bool use_verbs(void)
{
	verbs_batch();
	return verbs_to_init() == 0 && verbs_query() == 0 && verbs_poll() == 0;
}

static bool create_api(void)
{
	struct mrc_qp_hint_init_attr hint = {0};
	struct mrc_qp_init_attr qp = {.cap = {4, 4, 1, 1, 0}};

	if (!(o.ctx = mrc_create_context(o.verbs, NULL)) ||
	    mrc_create_comp_channel(o.ctx, &o.mrc_channel) != 0 ||
	    !(o.mrc_cq = mrc_create_cq(o.ctx, 4, NULL, o.mrc_channel, 0)) ||
	    !(o.hint = mrc_create_qp_hint(o.ctx, &hint)))
		return false;
	qp.pd = o.pd;
	qp.send_cq = qp.recv_cq = o.mrc_cq;
	return (o.mrc_qp = mrc_create_qp(o.ctx, &qp));
}

static int api_to_init(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};

	return mrc_modify_qp(o.mrc_qp, &attr, IBV_QP_STATE, NULL, 0);
}

static int api_query(void)
{
	struct mrc_qp_attr attr;

	return mrc_query_qp(o.mrc_qp, NULL, 0, &attr, MRC_QP_VENDOR_CFG, NULL);
}

static int api_hints(void)
{
	struct mrc_qp_hint_attr attr = {0};
	struct mrc_qp_hint_init_attr init = {0};
	struct mrc_qp_hint *other = mrc_create_qp_hint(o.ctx, &init);
	int err = mrc_query_qp_hint(o.hint, &attr, MRC_QP_HINT_NUM_SEND_PEERS) ||
		  mrc_modify_qp_hint(o.hint, &attr, MRC_QP_HINT_NUM_SEND_PEERS);

	return (other && mrc_destroy_qp_hint(other)) || err;
}

static int api_control(void)
{
	struct mrc_ctl_port_attr port;
	struct mrc_device_attr device;
	struct mrc_meet_end end;
	struct ibv_wc wc;
	int supported;

	return mrc_ctl_query_port(o.ctx, 1, &port, MRC_CTL_PORT_ADMIN_STATE) ||
	       mrc_query_device(o.verbs, &device, &supported) ||
	       mrc_meet_describe(o.mrc_qp, NULL, &end) || mrc_poll_cq(o.mrc_cq, 1, &wc) ||
	       mrc_req_notify_cq(o.mrc_cq, 0);
}

static bool use_api(void)
{
	return api_hints() == 0 && api_control() == 0 && api_to_init() == 0 && api_query() == 0;
}

/* What goes is not in the child's hands any more. */
#define END(object, destroy)                       \
	do {                                       \
		__typeof__(object) taken = object; \
		object = NULL;                     \
		if (taken && destroy(taken) != 0)  \
			return false;              \
	} while (0)

static bool end_api(void)
{
	END(o.mrc_qp, mrc_destroy_qp);
	END(o.hint, mrc_destroy_qp_hint);
	END(o.mrc_cq, mrc_destroy_cq);
	END(o.mrc_channel, mrc_destroy_comp_channel);
	END(o.ctx, mrc_destroy_context);
	return true;
}

static int destroy_cq_ex(struct ibv_cq_ex *cq)
{
	return ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}

static bool end_verbs(void)
{
	struct ibv_device **list;

	o.qp_ex = NULL;
	END(o.qp, ibv_destroy_qp);
	END(o.srq, ibv_destroy_srq);
	END(o.cq_ex, destroy_cq_ex);
	END(o.cq, ibv_destroy_cq);
	END(o.channel, ibv_destroy_comp_channel);
	END(o.pd, ibv_dealloc_pd);
	END(o.verbs, ibv_close_device);
	list = o.list;
	o.list = NULL;
	ibv_free_device_list(list);
	return true;
}

static const struct {
	const char *what;
	bool (*run)(void);
} steps[] = {
	{"setting the log", set_log},		{"opening the device", open_device},
	{"making verbs objects", create_verbs}, {"using verbs objects", use_verbs},
	{"making objects", create_api},		{"using objects", use_api},
	{"destroying objects", end_api},	{"destroying verbs objects", end_verbs},
};

static void *live(void *arg)
{
	(void)arg;
	is_living = life.stop_at > 0;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		life.step = steps[i].what;
		if (!steps[i].run())
			fail_here(__LINE__, life.step);
	}
	is_living = false;
	signal_event(life.stopped);
	return NULL;
}

/* ---- the child ---- */

/* What it is told, live_objects.c looks at. */
static void use_inherited(void)
{
	if (o.qp)
		(void)(verbs_to_init() + verbs_query());
	if (o.qp_ex)
		verbs_batch();
	if (o.cq_ex)
		(void)verbs_poll();
	if (o.hint)
		(void)api_hints();
	if (o.mrc_qp)
		(void)(api_control() + api_to_init() + api_query());
	(void)end_api();
	(void)end_verbs();
}

/*
 * A thread that went on during the fork may have had the lock of AddressSanitizer's allocator,
 * which is in the child for ever then. The C library's own is free there.
 */
static bool may_allocate(void)
{
#ifdef __SANITIZE_ADDRESS__
	return !atomic_load(&life.may_go);
#else
	return true;
#endif
}

/* Its number is that of its own loopback addresses. */
_Noreturn static void be_child(void)
{
	alarm(PATIENCE_S);
	is_forking = false;
	life.stop_at = 0;
	if (!may_allocate())
		_exit(0);
	use_inherited();
	memset(&o, 0, sizeof(o));
	loopback_env(1);
	live(NULL);
	_exit(0);
}

/* ---- the process ---- */

#define NO_SUCH_MUTEX 2

static void fork_there(pthread_t thread)
{
	const char *step = life.step;
	pid_t child;
	int status;

	test_wait_for_threads();
	is_forking = true;
	child = fork();
	if (child == 0)
		be_child();
	is_forking = false;
	let_go();
	must(child > 0 && waitpid(child, &status, 0) == child);
	pthread_join(thread, NULL);
	if (status == 0)
		return;
	fprintf(stderr, "# mutex %u, %s: the child ended with %#x\n", life.stop_at, step,
		(unsigned int)status);
	_exit(1);
}

static void be_process(uint32_t stop_at)
{
	pthread_t thread;

	alarm(2 * PATIENCE_S);
	loopback_env(1);
	life.stop_at = stop_at;
	life.stopped = eventfd(0, EFD_CLOEXEC);
	life.go = eventfd(0, EFD_CLOEXEC);
	must(life.stopped >= 0 && life.go >= 0);
	must(pthread_create(&thread, NULL, live, NULL) == 0);
	await_event(life.stopped);
	if (life.taken < stop_at)
		_exit(NO_SUCH_MUTEX);
	fork_there(thread);
	_exit(0);
}

static bool forks_at(uint32_t stop_at)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_process(stop_at);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_MUTEX)
		return false;
	if (status != 0)
		fail_msg("mutex %u: status %#x", stop_at, (unsigned int)status);
	return true;
}

TEST(live_fork_locks, no_child_waits_for_a_thread_of_its_parent)
{
	char path[PATH_MAX];
	uint32_t n = 1;

#ifdef __SANITIZE_THREAD__
	test_skip("ThreadSanitizer has functions for mutexes of its own");
#endif
	assert_non_null(test_arg(0));
	snprintf(path, sizeof(path), "%s/libibverbs.so.1", test_arg(0));
	setenv("MRC_REAL_IBVERBS", path, 1);
	setenv("MRC_CONFIG", "/dev/null", 1);
	while (forks_at(n))
		n++;
	print_message("# %u mutexes\n", n - 1);
	assert_true(n > 50);
}
