/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_stats_segment.c - what others see of a process. */
#include "host/stats/stats.h"
#include "stats/stats_files.h"
#include "unit/nic_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <mrc/stats.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a test makes otherwise: there is no memory; where statistics are, if nothing is said. */
static bool calloc_fails;
static const char *default_dir;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
__typeof__(stats_dir_default) __real_stats_dir_default, __wrap_stats_dir_default;

void *__wrap_calloc(size_t n, size_t size)
{
	return calloc_fails ? NULL : __real_calloc(n, size);
}

char *__wrap_stats_dir_default(char out[STATS_DIR_MAX])
{
	if (!default_dir)
		return __real_stats_dir_default(out);
	snprintf(out, STATS_DIR_MAX, "%s", default_dir);
	return out;
}

static int segment_setup(void **state)
{
	setenv("MRC_STATS_DIR", "/tmp", 1);
	return fixture_setup(state);
}

static int segment_teardown(void **state)
{
	unsetenv("MRC_STATS_DIR");
	return fixture_teardown(state);
}

#define SEGMENT_TEST(name) TEST_WITH(segment_setup, segment_teardown, mh_segment, name)

static void segment_path(char path[40])
{
	snprintf(path, 40, "/tmp/%ld.mrcstats", (long)getpid());
}

static const struct mrc_stats_segment *segment_map_file(const char *path)
{
	const struct mrc_stats_segment *map;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	map = mmap(NULL, sizeof(*map), PROT_READ, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	return map;
}

static const struct mrc_stats_segment *segment_map(void)
{
	char path[40];

	segment_path(path);
	return segment_map_file(path);
}

static void segment_unmap(const struct mrc_stats_segment *map)
{
	munmap((void *)(uintptr_t)map, sizeof(*map));
}

/* segment_fresh waits until the segment was refreshed after now. */
static void segment_fresh(const struct mrc_stats_segment *map)
{
	uint64_t now = mh_now_ns();

	for (int ms = 0; ms < 60000; ms++) {
		if (__atomic_load_n(&map->updated_ns, __ATOMIC_ACQUIRE) > now)
			return;
		poll(NULL, 0, 1);
	}
	fail_msg("not refreshed within a minute");
}

SEGMENT_TEST(head_and_counters)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map = segment_map();
	struct mio_addr self = fixture_addr(0, 1, 0);
	struct mh_counter all[MH_COUNTERS_MAX];
	uint32_t behind = nic_counters(fixture->dev, all);

	assert_memory_equal(map->magic, MRC_STATS_MAGIC, 8);
	assert_u_eq(map->version, MRC_STATS_VERSION);
	assert_i_eq(map->pid, getpid());
	assert_u_eq(map->ports, 2);
	assert_memory_equal(map->gid, self.ip, 16);
	assert_string_equal(map->counter[0].name, "tx_data_packets");
	assert_string_equal(map->counter[behind].name, "");
	assert_u_eq(map->counter[behind].value, 0);
	assert_u_eq(map->port[0].up, 1);
	assert_memory_equal(map->port[0].address, self.ip, 16);
	assert_true(map->port[0].udp_port >= 4791);
	assert_u_eq(map->port[1].udp_port, map->port[0].udp_port);
	assert_u_eq(map->port[2].up, 0);
	assert_u_eq(map->port[2].udp_port, 0);
	assert_u_eq(map->carrier, MRC_STATS_CARRIER_UDP);
	assert_string_equal(map->port[0].interface, "");
	segment_unmap(map);
}

SEGMENT_TEST(shows_qps_and_evs)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map = segment_map();

	segment_fresh(map);
	assert_u_eq(map->qp[0].qpn, mh_qp_number(fixture->qp));
	assert_string_equal(map->qp[0].state, "RESET");
	assert_i_eq(fixture_connect(fixture), 0);
	segment_fresh(map);
	assert_string_equal(map->qp[0].state, "RTS");
	assert_u_eq(map->qp[0].dest_qpn, FIXTURE_PEER_QPN);
	assert_bytes_eq(map->qp[0].dest, fixture_addr(0, 9, 0).ip, 16);
	assert_u_eq(map->qp[0].psn_next & 0xFFFFFF, 2000);
	assert_u_eq(map->qp[0].evs, FIXTURE_PLANES * FIXTURE_EVS);
	assert_u_eq(map->qp[0].evs_good, FIXTURE_PLANES * FIXTURE_EVS);
	assert_u_eq(map->qp[0].ev[3].value, FIXTURE_EV_BASE + 1);
	assert_u_eq(map->qp[0].ev[3].port, 1);
	assert_u_eq(map->qp[0].ev[3].state, MRC_STATS_EV_GOOD);
	assert_u_eq(map->qp[1].qpn, 0);
	segment_unmap(map);
}

/* The others are in the sums. */
SEGMENT_TEST(shows_as_many_qps_as_it_has_room_for)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map = segment_map();
	struct mh_qp *qp[MRC_STATS_QPS + 1];

	for (uint32_t i = 0; i <= MRC_STATS_QPS; i++)
		assert_i_eq(mh_qp_create(&fixture->qp->init, &qp[i]), 0);
	segment_fresh(map);
	assert_u_eq(map->qps.shown, MRC_STATS_QPS);
	assert_u_eq(map->qp[MRC_STATS_QPS - 1].qpn, mh_qp_number(qp[MRC_STATS_QPS - 2]));
	for (uint32_t i = 0; i <= MRC_STATS_QPS; i++)
		assert_i_eq(mh_qp_destroy(qp[i]), 0);
	segment_unmap(map);
}

SEGMENT_TEST(names_the_interfaces_of_ports)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map;
	struct mh_nic *nic = fixture->dev->nic;
	struct mio_error error;

	mh_nic_lock(nic);
	mh_segment_destroy(nic->segment);
	nic->segment = NULL;
	strcpy(nic->env.port[1].ifname, "plane1");
	assert_i_eq(mh_segment_create(nic, &error), 0);
	nic->env.port[1].ifname[0] = '\0';
	map = segment_map();
	mh_nic_unlock(nic);
	assert_string_equal(map->port[0].interface, "");
	assert_string_equal(map->port[1].interface, "plane1");
	segment_unmap(map);
}

/* What an EV does is counted on its plane. */
SEGMENT_TEST(counts_evs_that_come_and_go_by_plane)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map = segment_map();
	struct mt_event event = {.type = MT_EVENT_EV,
				 .ev = {.value = FIXTURE_EV_BASE, .port = 1},
				 .ev_state = MT_EV_ASSUMED_BAD,
				 .ev_cause = MT_EV_BY_LOSS};
	struct mh_nic *nic = fixture->dev->nic;

	mh_nic_lock(nic);
	mh_segment_event(nic->segment, &event, 1);
	mh_segment_event(nic->segment, &event, 1);
	event.ev_state = MT_EV_GOOD;
	event.ev_cause = MT_EV_BY_PROBE;
	for (uint32_t i = 0; i < 3; i++)
		mh_segment_event(nic->segment, &event, 1);
	event.ev_cause = MT_EV_BY_PORT;
	mh_segment_event(nic->segment, &event, 1);
	mh_nic_unlock(nic);
	assert_u_eq(map->port[1].evs_retired, 2);
	assert_u_eq(map->port[1].evs_revived, 3);
	assert_u_eq(map->port[0].evs_retired, 0);
	segment_unmap(map);
}

/* What is due is done at that time, or a thread that waits for it would not sleep. */
SEGMENT_TEST(is_refreshed_when_it_is_due)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map = segment_map();
	struct mh_nic *nic = fixture->dev->nic;
	uint64_t due;

	mh_nic_lock(nic);
	due = mh_segment_deadline(nic->segment);
	mh_segment_refresh(nic, due - 1);
	assert_true(map->updated_ns < due);
	mh_segment_refresh(nic, due);
	assert_u_eq(map->updated_ns, due);
	assert_true(mh_segment_deadline(nic->segment) > due);
	mh_nic_unlock(nic);
	segment_unmap(map);
}

/* It is of all shards, whose locks are taken for it and given back. REQ(api.shards) */
TEST(mh_segment, is_refreshed_under_the_locks_of_all_shards)
{
	struct nic_fixture *fixture;
	struct mh_nic *nic;
	void *made;
	int locked;

	setenv("MRC_SHARDS", "2", 1);
	assert_i_eq(segment_setup(&made), 0);
	unsetenv("MRC_SHARDS");
	fixture = made;
	nic = fixture->dev->nic;
	for (uint32_t i = 0; i < 2; i++) {
		mh_nic_lock(nic);
		mh_segment_refresh(nic, mh_segment_deadline(nic->segment));
		mh_nic_unlock(nic);
	}
	locked = pthread_mutex_trylock(&nic->shard[1]->lock);
	assert_true(locked == 0 || locked == EBUSY);
	if (locked == 0)
		pthread_mutex_unlock(&nic->shard[1]->lock);
	assert_i_eq(segment_teardown(&made), 0);
}

SEGMENT_TEST(sums_over_all_qps)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map = segment_map();

	assert_i_eq(fixture_connect(fixture), 0);
	segment_fresh(map);
	segment_fresh(map);
	assert_u_eq(map->qps.shown, 1);
	assert_u_eq(map->qps.of_state[MRC_STATS_QP_RTS], 1);
	assert_u_eq(map->qp[0].evs_all, FIXTURE_PLANES * FIXTURE_EVS);
	assert_u_eq(map->port[1].evs[MRC_STATS_EV_GOOD], FIXTURE_EVS);
	segment_unmap(map);
}

SEGMENT_TEST(counts_what_is_sent)
{
	struct nic_fixture *fixture = *state;
	const struct mrc_stats_segment *map = segment_map();
	struct rd_sge sge = {(uintptr_t)fixture->buffer, 9000, mh_mr_lkey(fixture->mr)};
	struct rd_send_wr wr = {.sge = &sge, .n_sge = 1};

	assert_i_eq(fixture_connect(fixture), 0);
	assert_i_eq(mh_qp_post_send(fixture->qp, &wr, 1, NULL), 0);
	segment_fresh(map);
	assert_u_eq(map->counter[0].value, 3);
	assert_u_eq(map->port[0].tx_packets + map->port[1].tx_packets, 3);
	assert_u_eq(map->port[0].tx_bytes + map->port[1].tx_bytes, 9000 + 3 * 40);
	assert_true(map->qp[0].inflight_bytes >= 9000);
	segment_unmap(map);
}

static void segment_log(const struct mt_event *event, uint64_t now_ns)
{
	struct mh_nic *nic = mh_process()->of[0].nic;

	assert_non_null(nic);
	mh_nic_lock(nic);
	mh_segment_event(nic->segment, event, now_ns);
	mh_nic_unlock(nic);
}

SEGMENT_TEST(logs_events_when_they_happen)
{
	const struct mt_event bad = {.type = MT_EVENT_EV,
				     .ev_state = MT_EV_ASSUMED_BAD,
				     .ev_cause = MT_EV_BY_MARK,
				     .ev = {77, 1},
				     .ev_profile = 3,
				     .ev_index = 500,
				     .peer = {{[15] = 9}}};
	const struct mt_event up = {.type = MT_EVENT_PORT, .port_up = true, .ev = {.port = 1}};
	const struct mt_event down = {.type = MT_EVENT_PORT, .port_of_peer = true};
	const struct mrc_stats_segment *map = segment_map();

	assert_u_eq(map->events, 0);
	segment_log(&bad, 1234);
	segment_log(&up, 2000);
	segment_log(&down, 2001);
	assert_u_eq(map->events, 3);
	assert_u_eq(map->event[0].at_ns, 1234);
	assert_u_eq(map->event[0].kind, MRC_STATS_EVENT_EV);
	assert_u_eq(map->event[0].ev, 77);
	assert_u_eq(map->event[0].port, 1);
	assert_u_eq(map->event[0].state, MRC_STATS_EV_ASSUMED_BAD);
	assert_u_eq(map->event[0].cause, MRC_STATS_EV_BY_MARK);
	assert_u_eq(map->event[0].peer[15], 9);
	assert_u_eq(map->event[0].ev_profile, 3);
	assert_u_eq(map->event[0].ev_index, 500);
	assert_u_eq(map->event[1].kind, MRC_STATS_EVENT_PORT);
	assert_u_eq(map->event[1].state, 1);
	assert_u_eq(map->event[2].kind, MRC_STATS_EVENT_PEER_PORT);
	assert_u_eq(map->event[2].state, 0);
	segment_unmap(map);
}

SEGMENT_TEST(overwrites_the_oldest_events)
{
	const struct mrc_stats_segment *map = segment_map();
	struct mt_event event = {.type = MT_EVENT_EV};

	for (uint64_t i = 0; i <= MRC_STATS_EVENTS; i++)
		segment_log(&event, 100 + i);
	assert_u_eq(map->events, MRC_STATS_EVENTS + 1);
	assert_u_eq(map->event[0].at_ns, 100 + MRC_STATS_EVENTS);
	assert_u_eq(map->event[1].at_ns, 101);
	segment_unmap(map);
}

TEST(mh_segment, file_goes_with_the_device)
{
	void *fixture;
	char path[40];

	segment_path(path);
	assert_i_eq(segment_setup(&fixture), 0);
	assert_i_eq(access(path, F_OK), 0);
	assert_i_eq(segment_teardown(&fixture), 0);
	assert_i_eq(access(path, F_OK), -1);
}

TEST(mh_segment, last_numbers_stay_when_the_file_is_kept)
{
	const struct mrc_stats_segment *map;
	uint64_t before;
	char path[40];
	void *fixture;

	segment_path(path);
	setenv("MRC_STATS_KEEP", "on", 1);
	assert_i_eq(segment_setup(&fixture), 0);
	before = mh_now_ns();
	assert_i_eq(segment_teardown(&fixture), 0);
	unsetenv("MRC_STATS_KEEP");
	map = segment_map();
	assert_true(map->updated_ns >= before);
	segment_unmap(map);
	assert_i_eq(unlink(path), 0);
}

TEST(mh_segment, last_numbers_when_a_program_exits_with_the_device_open)
{
	const struct mrc_stats_segment *map;
	uint64_t at_exit = 0;
	int fds[2], status;
	char path[64];
	void *fixture;
	pid_t pid;

	assert_i_eq(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setenv("MRC_STATS_KEEP", "on", 1);
		if (segment_setup(&fixture))
			_exit(1);
		at_exit = mh_now_ns();
		exit(write(fds[1], &at_exit, sizeof(at_exit)) != sizeof(at_exit));
	}
	assert_i_eq(waitpid(pid, &status, 0), pid);
	assert_i_eq(status, 0);
	assert_i_eq(read(fds[0], &at_exit, sizeof(at_exit)), sizeof(at_exit));
	snprintf(path, sizeof(path), "/tmp/%ld.mrcstats", (long)pid);
	map = segment_map_file(path);
	assert_true(map->updated_ns >= at_exit);
	segment_unmap(map);
	assert_i_eq(unlink(path), 0);
	close(fds[0]);
	close(fds[1]);
}

TEST(mh_segment, without_memory)
{
	static struct mh_nic nic = {.env = {.stats_dir = "/tmp"}};
	struct mio_error error;

	calloc_fails = true;
	assert_i_eq(mh_segment_create(&nic, &error), ENOMEM);
	calloc_fails = false;
	assert_string_equal(error.text, "no memory for statistics");
	assert_null(nic.segment);
}

static uint32_t said;

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	(void)context;
	(void)level;
	said++;
	if (!strstr(text, "no statistics: /tmp/mrc-segment-"))
		fail_msg("said: %s", text);
}

/* Nobody asked for it: a folder that cannot be used is said, once, and no error. */
TEST(mh_segment, default_folder_that_others_may_use_is_left)
{
	static char dir[] = "/tmp/mrc-segment-XXXXXX";
	struct nic_fixture *fixture;
	void *made;

	assert_non_null(mkdtemp(dir));
	default_dir = dir;
	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, hear, NULL), 0);
	assert_i_eq(fixture_setup(&made), 0);
	assert_u_eq(said, 0);
	assert_i_eq(fixture_teardown(&made), 0);
	assert_i_eq(chmod(dir, 0777), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_i_eq(fixture_setup(&made), 0);
		fixture = made;
		assert_null(fixture->dev->nic->segment);
		assert_i_eq(fixture_teardown(&made), 0);
	}
	assert_u_eq(said, 1);
	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL), 0);
	default_dir = NULL;
	assert_i_eq(rmdir(dir), 0);
}

TEST(mh_segment, default_folder_is_for_the_user_only)
{
	char dir[STATS_DIR_MAX], path[120];
	struct stat st;
	void *fixture;

	snprintf(path, sizeof(path), "%s/%ld" MRC_STATS_SUFFIX, stats_dir_default(dir),
		 (long)getpid());
	assert_i_eq(fixture_setup(&fixture), 0);
	if (stat(dir, &st) == 0 && st.st_uid == geteuid()) {
		assert_u_eq(st.st_mode & 0777, 0700);
		assert_i_eq(stat(path, &st), 0);
		assert_u_eq(st.st_mode & 0777, 0600);
	}
	assert_i_eq(fixture_teardown(&fixture), 0);
	assert_i_eq(access(path, F_OK), -1);
}
