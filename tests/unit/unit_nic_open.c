/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_open.c - putting a NIC together: whichever part fails, the opening says so and leaves
 * nothing behind; and what is said of a device before and after.
 */
#include "support/open_fds.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "host/datapath/datapath.h"
#include "host/node/node.h"
#include "host/platform/platform.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"
#include "host/stats/stats.h"
#include "host/verbs/verbs.h"
#include "unit/loopback.h"

/* ---- what fails ---- */

enum part {
	NONE,
	DEVICE_MEMORY,
	EVENTS,
	NIC_MEMORY,
	ENTROPY,
	PORTS,
	TX,
	ENGINE,
	UD,
	NODE,
	SEGMENT,
	PROGRESS,
	FINISH, /* of the statistics; fails never */
	PARTS,
};

static struct {
	enum part at;
	uint32_t call; /* from 1 */
	int err;
	uint32_t calls[PARTS];
	char ignored[40];		 /* what the settings say that does not count */
	const pthread_mutexattr_t *attr; /* the last that was made */
	uint32_t spinning;		 /* mutexes of that kind */
} set;

static bool fails(enum part part)
{
	return ++set.calls[part] == set.call && set.at == part;
}

/* Of the same types as what they stand for: the linker does not compare. */
#define PART(part, name, parameters, arguments)                         \
	__typeof__(name) __real_##name, __wrap_##name;                  \
	int __wrap_##name parameters                                    \
	{                                                               \
		return fails(part) ? set.err : __real_##name arguments; \
	}

PART(EVENTS, mh_event_open, (struct mh_event_queue * q), (q))
PART(ENTROPY, mh_entropy, (uint64_t * number), (number))
PART(ENGINE, mh_engine_create, (struct mh_nic * nic, uint64_t now_ns), (nic, now_ns))
PART(UD, mh_nic_create_ud, (struct mh_nic * nic), (nic))
PART(NODE, mh_node_create, (struct mh_nic * nic), (nic))
PART(PROGRESS, mh_progress_start, (struct mh_nic * nic), (nic))

__typeof__(mh_ports_open) __real_mh_ports_open, __wrap_mh_ports_open;
int __wrap_mh_ports_open(struct mh_ports *ports, struct mh_env *env, uint64_t now_ns,
			 struct mio_error *error)
{
	if (!fails(PORTS))
		return __real_mh_ports_open(ports, env, now_ns, error);
	snprintf(error->text, sizeof(error->text), "ports are out");
	return set.err;
}

__typeof__(mh_segment_create) __real_mh_segment_create, __wrap_mh_segment_create;
int __wrap_mh_segment_create(struct mh_nic *nic, struct mio_error *error)
{
	if (!fails(SEGMENT))
		return __real_mh_segment_create(nic, error);
	snprintf(error->text, sizeof(error->text), "no place for statistics");
	return set.err;
}

__typeof__(mh_segment_finish) __real_mh_segment_finish, __wrap_mh_segment_finish;
void __wrap_mh_segment_finish(struct mh_nic *nic)
{
	set.calls[FINISH]++;
	__real_mh_segment_finish(nic);
}

__typeof__(mh_tx_create) __real_mh_tx_create, __wrap_mh_tx_create;
struct mh_tx *__wrap_mh_tx_create(uint32_t n_ports, const struct mw_dscp_map *dscp)
{
	return fails(TX) ? NULL : __real_mh_tx_create(n_ports, dscp);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	enum part part = size == sizeof(struct mh_nic)	    ? NIC_MEMORY
			 : size == sizeof(struct mh_device) ? DEVICE_MEMORY
							    : NONE;

	return part != NONE && fails(part) ? NULL : __real_calloc(n, size);
}

__typeof__(pthread_mutexattr_init) __real_pthread_mutexattr_init, __wrap_pthread_mutexattr_init;
int __wrap_pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
	set.attr = attr;
	return __real_pthread_mutexattr_init(attr);
}

__typeof__(pthread_mutex_init) __real_pthread_mutex_init, __wrap_pthread_mutex_init;
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	int type = PTHREAD_MUTEX_NORMAL;

	if (attr) {
		assert_ptr_equal(attr, set.attr);
		pthread_mutexattr_gettype(attr, &type);
		set.spinning += type != PTHREAD_MUTEX_NORMAL;
	}
	return __real_pthread_mutex_init(mutex, attr);
}

__typeof__(mh_env_read) __real_mh_env_read, __wrap_mh_env_read;
int __wrap_mh_env_read(struct mh_env *env, uint32_t device, struct mh_env_error *error)
{
	int err = __real_mh_env_read(env, device, error);

	snprintf(env->ignored, sizeof(env->ignored), "%s", set.ignored);
	return err;
}

/* ---- what is said ---- */

static char said[4096];

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	static const char letters[] = {[MRC_LOG_ERROR] = 'E',
				       [MRC_LOG_WARNING] = 'W',
				       [MRC_LOG_INFO] = 'I',
				       [MRC_LOG_DEBUG] = 'D'};
	size_t at = strlen(said);

	(void)context;
	snprintf(said + at, sizeof(said) - at, "%c %s\n", letters[level], text);
}

static void forget_said(void)
{
	said[0] = '\0';
	mh_process()->said[0] = '\0';
}

static void expect_said(const char *text)
{
	if (strstr(said, text) == NULL)
		fail_msg("\"%s\" is not in what was said: %s", text, said);
}

static int open_setup(void **state)
{
	(void)state;
	memset(&set, 0, sizeof(set));
	forget_said();
	loopback_env(2);
	setenv("MRC_SHARDS", "2", 1);
	setenv("MRC_EV_BASE", "53600", 1);
	setenv("MRC_EVS", "4", 1);
	return mrc_log_set(MRC_LOG_INFO, hear, NULL);
}

static int open_teardown(void **state)
{
	static const char *const names[] = {"MRC_SHARDS",	"MRC_DEVICES", "MRC_EV_FORMAT",
					    "MRC_REAL_IBVERBS", "MRC_PACE",    "MRC_CC"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	return mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL);
}

#define OPEN_TEST(function, name) TEST_WITH(open_setup, open_teardown, function, name)

/* ---- openings that fail ---- */

#define NO_MEMORY "E no memory for the NIC\n"

static const struct {
	enum part part;
	uint32_t calls; /* of a device of two shards */
	int err;
	const char *says;
} parts[] = {
	{DEVICE_MEMORY, 1, ENOMEM, ""},
	{EVENTS, 1, EMFILE,
	 "E the descriptor of asynchronous events: Too many open files; raise the limit of open "
	 "files (ulimit -n)\n"},
	{EVENTS, 1, ENOMEM, "E the descriptor of asynchronous events: Cannot allocate memory\n"},
	{NIC_MEMORY, 2, ENOMEM, NO_MEMORY},
	{ENTROPY, 2, EAGAIN,
	 "E getrandom(2): Resource temporarily unavailable: without random numbers from the kernel "
	 "keys could be guessed; try again, it is early at boot\n"},
	{ENTROPY, 2, ENOSYS,
	 "E getrandom(2): Function not implemented: without random numbers from the kernel keys "
	 "could be guessed\n"},
	{PORTS, 2, EADDRINUSE, "E ports are out\n"},
	{TX, 2, ENOMEM, NO_MEMORY},
	{ENGINE, 2, ENOMEM, NO_MEMORY},
	{UD, 2, ENOMEM, NO_MEMORY},
	{NODE, 2, ENOMEM, NO_MEMORY},
	{SEGMENT, 1, EACCES, "E no place for statistics\n"},
	{PROGRESS, 2, EMFILE,
	 "E the progress thread: Too many open files; raise the limit of open files (ulimit -n)\n"},
	{PROGRESS, 2, EAGAIN, "E the progress thread: Resource temporarily unavailable\n"},
};

static void open_and_close(void)
{
	struct sigaction before, after;
	struct mh_device *dev;

	assert_i_eq(sigaction(SIGSEGV, NULL, &before), 0);
	set.calls[FINISH] = 0;
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	assert_u_eq(dev->nic->n_shards, 2);
	assert_i_eq(sigaction(SIGSEGV, NULL, &after), 0);
	assert_true(after.sa_sigaction != before.sa_sigaction);
	assert_i_eq(mh_device_close(dev), 0);
	assert_null(mh_process()->of[0].nic);
	assert_u_eq(set.calls[FINISH], 1);
	assert_i_eq(sigaction(SIGSEGV, NULL, &after), 0);
	assert_true(after.sa_sigaction == before.sa_sigaction);
}

OPEN_TEST(mh_device_open, leaves_nothing_of_one_that_fails)
{
	struct mh_device *dev;
	uint32_t before;

	open_and_close();
	before = test_open_fds();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		for (uint32_t call = 1; call <= parts[i].calls; call++) {
			memset(set.calls, 0, sizeof(set.calls));
			set.at = parts[i].part;
			set.call = call;
			set.err = parts[i].err;
			forget_said();
			assert_i_eq(mh_device_open(0, NULL, &dev), parts[i].err);
			assert_string_equal(said, parts[i].says);
			assert_u_eq(set.calls[set.at], call);
			assert_u_eq(test_open_fds(), before);
			assert_null(mh_process()->of[0].nic);
			assert_u_eq(mh_process()->of[0].users, 0);
		}
	}
	set.at = NONE;
	open_and_close();
	assert_u_eq(test_open_fds(), before);
}

/* The lock of a shard is held for microseconds: spinning a little before sleeping pays. */
OPEN_TEST(mh_device_open, has_locks_that_spin)
{
	open_and_close();
#ifdef __GLIBC__
	assert_u_eq(set.spinning, 2);
#endif
}

OPEN_TEST(mh_device_open, of_none_there_is)
{
	struct mh_device *dev;

	assert_i_eq(mh_device_open(1, NULL, &dev), ENODEV);
	expect_said("E there is no device mrc1");
	assert_i_eq(mh_device_open(MH_DEVICES_MAX, NULL, &dev), ENODEV);
	assert_u_eq(set.calls[NIC_MEMORY], 0);
}

/* ---- what is said of one that is there ---- */

OPEN_TEST(mh_device_open, says_by_what_peers_know_it)
{
	struct mh_device *a, *b;
	char text[200], ip[16];

	assert_i_eq(mh_device_open(0, NULL, &a), 0);
	snprintf(text, sizeof(text), "I mrc0 is open: %s, 2 ports, UDP ports %u %u, 4 EVs a port\n",
		 loopback_text(0, 1, ip), MH_UDP_PORT + a->nic->ports.slot,
		 MH_UDP_PORT + a->nic->shard[1]->ports.slot);
	assert_string_equal(said, text);
	forget_said();
	assert_i_eq(mh_device_open(0, NULL, &b), 0);
	assert_i_eq(mh_device_close(a), 0);
	assert_string_equal(said, "");
	assert_i_eq(mh_device_close(b), 0);
	assert_string_equal(said, "I mrc0 is closed\n");
	forget_said();
	unsetenv("MRC_SHARDS");
	assert_i_eq(mh_device_open(0, NULL, &a), 0);
	snprintf(text, sizeof(text), "I mrc0 is open: %s, 2 ports, UDP port %u, 4 EVs a port\n", ip,
		 MH_UDP_PORT + a->nic->ports.slot);
	assert_string_equal(said, text);
	assert_i_eq(mh_device_close(a), 0);
}

/* Listing, opening and the drop-in's look all read the settings, and say the same of them once. */
OPEN_TEST(mh_device_probe, says_what_is_wrong_with_the_settings)
{
	char path[MH_REAL_IBVERBS_BYTES] = "as before";
	struct mh_device_attr attr;
	struct mh_device *dev;

	assert_i_eq(mh_device_probe(1, &attr), ENODEV);
	assert_string_equal(said, "");
	assert_i_eq(mh_cancel_disable(), PTHREAD_CANCEL_ENABLE);
	mh_cancel_restore(PTHREAD_CANCEL_ENABLE);
	setenv("MRC_EVS", "none", 1);
	assert_i_eq(mh_device_probe(0, &attr), EINVAL);
	expect_said("E MRC_EVS=none: must be");
	assert_i_eq(mh_real_ibverbs(path), EINVAL);
	assert_string_equal(path, "as before");
	assert_i_eq(mh_device_open(0, NULL, &dev), EINVAL);
	assert_null(strchr(strchr(said, '\n') + 1, '\n'));
	setenv("MRC_EVS", "4", 1);
	setenv("MRC_REAL_IBVERBS", "/a/library", 1);
	assert_i_eq(mh_real_ibverbs(path), 0);
	assert_string_equal(path, "/a/library");
}

OPEN_TEST(mh_device_probe, says_what_does_not_count)
{
	struct mh_device_attr attr;
	struct mh_device *dev;

	strcpy(set.ignored, "ignored: MRC_CONFIG");
	assert_i_eq(mh_device_probe(0, &attr), 0);
	assert_string_equal(said, "W ignored: MRC_CONFIG\n");
	forget_said();
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	expect_said("W ignored: MRC_CONFIG\nI mrc0 is open");
	assert_i_eq(mh_device_close(dev), 0);
}

/* The level of messages is a setting, too, of a device that is opened as of one that is listed. */
OPEN_TEST(mh_device_open, speaks_as_the_settings_ask)
{
	struct mh_device_attr attr;
	struct mh_device *dev;

	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, hear, NULL), 0);
	mh_log_configure(MRC_LOG_OFF, MH_LOG_PLAIN);
	setenv("MRC_LOG", "info", 1);
	assert_i_eq(mh_device_probe(0, &attr), 0);
	assert_true(mh_log_wants(MRC_LOG_INFO));
	mh_log_configure(MRC_LOG_OFF, MH_LOG_PLAIN);
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	assert_true(mh_log_wants(MRC_LOG_INFO));
	assert_i_eq(mh_device_close(dev), 0);
	unsetenv("MRC_LOG");
	mh_log_configure(MRC_LOG_WARNING, MH_LOG_PLAIN);
}

/* ---- attributes ---- */

static struct mh_device_attr probe(uint32_t i)
{
	struct mh_device_attr attr;

	assert_i_eq(mh_device_probe(i, &attr), 0);
	return attr;
}

OPEN_TEST(mh_nic_fill_attr, what_follows_from_the_settings)
{
	struct mh_device_attr attr = probe(0);
	uint32_t qps = attr.max_qp;
	uint64_t guid = attr.guid;

	assert_u_eq(attr.max_mw, 0);
	assert_u_eq(attr.ev_format, MH_EV_UDP);
	assert_false(attr.nscc);
	unsetenv("MRC_SHARDS");
	setenv("MRC_PACE", "1G", 1);
	setenv("MRC_CC", "nscc", 1);
	setenv("MRC_DEVICES", "2", 1);
	attr = probe(0);
	assert_u_eq(attr.max_mw, attr.max_mr);
	assert_u_eq(2 * attr.max_qp, qps);
	assert_true(attr.nscc);
	assert_u_eq(attr.guid, guid);
	assert_string_equal(attr.name, "mrc0");
	attr = probe(1);
	assert_string_equal(attr.name, "mrc1");
	assert_true(attr.guid >> 58 == 1 && attr.guid != guid);
	unsetenv("MRC_DEVICES");
	setenv("MRC_PORTS", "::1", 1);
	setenv("MRC_EV_FORMAT", "stev", 1);
	assert_u_eq(probe(0).ev_format, MH_EV_STEV);
}

/* ---- openings and closings ---- */

OPEN_TEST(mh_device_query_plane, as_the_settings_and_the_host_have_it)
{
	struct mh_plane_attr plane;
	struct mh_device *dev;

	setenv("MRC_PACE", "2G", 1);
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	for (uint32_t i = 0; i < 2; i++) {
		memset(&plane, 0, sizeof(plane));
		assert_i_eq(mh_device_query_plane(dev, i, &plane), 0);
		assert_u_eq(plane.pace_bps, 2000000000);
		assert_u_eq(plane.udp_port, MH_UDP_PORT + dev->nic->ports.slot);
		assert_bytes_eq(plane.addr.b, dev->nic->ports.map.local[i], 16);
		assert_true(plane.up && plane.ifindex > 0);
	}
	assert_u_eq(mh_device_index(dev), 0);
	assert_i_eq(mh_device_close(dev), 0);
}

/* One port is enough to be up; none is not. */
OPEN_TEST(mh_device_is_up, while_any_port_is)
{
	struct mh_device *dev;

	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	/* Who looks after the links would find them up again. */
	mh_progress_stop(dev->nic);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(mh_device_is_up(dev));
		mh_nic_lock(dev->nic);
		dev->nic->ports.port[i].up = false;
		mh_nic_unlock(dev->nic);
	}
	assert_false(mh_device_is_up(dev));
	assert_i_eq(mh_device_close(dev), 0);
}

/* What nobody has taken yet goes with the opening that it is for. */
OPEN_TEST(mh_device_close, drops_events_that_wait)
{
	struct mh_device *a, *b;

	assert_i_eq(mh_device_open(0, NULL, &a), 0);
	assert_i_eq(mh_device_open(0, NULL, &b), 0);
	mh_event_raise(&a->events, &a->port_down, false);
	mh_event_raise(&a->events, &a->port_up, false);
	assert_i_eq(mh_device_close(a), 0);
	assert_ptr_equal(b->nic->devices.next, &b->link);
	assert_ptr_equal(b->link.next, &b->nic->devices);
	assert_i_eq(mh_device_close(b), 0);
}
