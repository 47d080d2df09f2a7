/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_fault_driver.c - the fault driver over a fake port: each kind of rule, who it applies to,
 * that its counters are exact and its rates are what was asked for.
 */
#include "support/fault_table.h"
#include "support/open_fds.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/drivers.h"
#include "support/fake_driver.h"

#define TRIM_BYTES 64u
#define TRIM_DSCP 12u

struct fault_fixture {
	struct mrc_fault_table table;
	struct mio_port *port, *below, *far;
	uint64_t now_ns;
	uint32_t sent;
};

static const uint8_t fault_gid_a[16] = {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 1};
static const uint8_t fault_gid_b[16] = {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 2};

static bool fault_cut_off; /* as a file whose end was moved to its beginning */

static bool fault_guard(const void *base, size_t len, void (*fn)(void *ctx), void *ctx)
{
	(void)base;
	assert_u_eq(len, sizeof(struct mrc_fault_table));
	if (!fault_cut_off)
		fn(ctx);
	return !fault_cut_off;
}

static int fault_setup(void **state)
{
	struct fault_fixture *fixture = calloc(1, sizeof(*fixture));
	struct mio_fault_cfg cfg = {.table = &fixture->table,
				    .guard = fault_guard,
				    .port = 2,
				    .trimmed_dscp = TRIM_DSCP,
				    .trim_bytes = TRIM_BYTES};
	struct mio_addr a = {{0}, 0};
	struct mio_port *ends[2];

	memcpy(a.ip, fault_gid_a, 16);
	memcpy(cfg.gid, fault_gid_a, 16);
	fault_cut_off = false;
	fixture->table.seed = test_seed();
	if (fake_driver_open(&a, &a, ends) || mio_fault_open(&cfg, ends[0], &fixture->port))
		return -1;
	fixture->below = ends[0];
	fixture->far = ends[1];
	*state = fixture;
	return 0;
}

static int fault_teardown(void **state)
{
	struct fault_fixture *fixture = *state;

	if (fixture->port)
		mio_port_close(fixture->port);
	mio_port_close(fixture->far);
	free(fixture);
	return 0;
}

#define FAULT_TEST(name) TEST_WITH(fault_setup, fault_teardown, mio_fault, name)

static struct mrc_fault_rule *fault_rule(struct fault_fixture *fixture, uint32_t i, uint32_t kind)
{
	fixture->table.rule[i] =
		(struct mrc_fault_rule){.kind = kind, .port_mask = 1u << 2, .chance_ppm = 1000000};
	return &fixture->table.rule[i];
}

/* fault_send sends one frame of len bytes, all of value len, on an EV. */
static void fault_send(struct fault_fixture *fixture, uint32_t len, uint32_t ev, bool is_data)
{
	uint8_t bytes[1024];
	struct iovec iov[2] = {{bytes, 20}, {bytes + 20, len - 20}};
	struct mio_tx frame = {
		.iov = iov, .n_iov = 2, .len = len, .ev = ev, .tos = 0x12, .is_data = is_data};

	memset(bytes, (int)len, sizeof(bytes));
	memcpy(frame.dst_gid, fault_gid_b, 16);
	mio_port_tx(fixture->port, fixture->now_ns, &frame, 1);
	fixture->sent++;
}

static uint32_t fault_arrived(struct fault_fixture *fixture, struct mio_rx *got)
{
	return mio_port_rx(fixture->far, fixture->now_ns, got, MIO_BURST_MAX);
}

FAULT_TEST(no_rule_passes_everything)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	fault_send(fixture, 200, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 1);
	assert_u_eq(got[0].len, 200);
	assert_u_eq(got[0].tos, 0x12);
	assert_u_eq(got[0].bytes[199], 200);
}

FAULT_TEST(drop_counts_data_and_control_apart)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 5, MRC_FAULT_DROP);
	struct mio_rx got[MIO_BURST_MAX];

	for (int i = 0; i < 10; i++)
		fault_send(fixture, 200, 8, i < 7);
	assert_u_eq(fault_arrived(fixture, got), 0);
	assert_u_eq(rule->hit_data, 7);
	assert_u_eq(rule->hit_control, 3);
	rule->kind = MRC_FAULT_OFF;
	fault_send(fixture, 200, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 1);
	assert_u_eq(rule->hit_data, 7);
}

FAULT_TEST(applies_only_to_its_port_path_and_kind_of_frame)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DROP);
	struct mio_rx got[MIO_BURST_MAX];

	rule->port_mask = ~(1u << 2);
	fault_send(fixture, 200, 8, true);
	rule->port_mask = 1u << 2;
	rule->path_modulus = 8;
	rule->path_mask = 1u << 3;
	fault_send(fixture, 200, 8 * 6144 + 2, true);
	rule->data_only = 1;
	fault_send(fixture, 200, 8 * 6144 + 3, false);
	assert_u_eq(fault_arrived(fixture, got), 3);
	fault_send(fixture, 200, 8 * 6144 + 3, true);
	assert_u_eq(fault_arrived(fixture, got), 0);
	assert_u_eq(rule->hit_data, 1);
	rule->path_modulus = 64;
	rule->path_mask = UINT64_C(1) << 63;
	fault_send(fixture, 200, 63, true);
	assert_u_eq(fault_arrived(fixture, got), 0);
	rule->path_modulus = 65; /* more than there is room for in the mask */
	fault_send(fixture, 200, 3, true);
	assert_u_eq(fault_arrived(fixture, got), 1);
}

FAULT_TEST(stamps_the_last_data_frame_hit)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DROP);

	fault_send(fixture, 200, 8, false);
	assert_u_eq(rule->last_hit_ns, 0);
	fixture->now_ns = 7000;
	fault_send(fixture, 200, 8, true);
	assert_u_eq(rule->last_hit_ns, 7000);
	fixture->now_ns = 6000; /* of a process that read its clock before another */
	fault_send(fixture, 200, 8, true);
	assert_u_eq(rule->last_hit_ns, 7000);
}

FAULT_TEST(applies_only_to_its_host)
{
	static const struct {
		uint32_t direction;
		const uint8_t *host;
		bool hit;
	} rows[] = {
		{MRC_FAULT_ANY, fault_gid_b + 0, true}, {MRC_FAULT_FROM, fault_gid_a, true},
		{MRC_FAULT_FROM, fault_gid_b, false},	{MRC_FAULT_TO, fault_gid_a, false},
		{MRC_FAULT_TO, fault_gid_b, true},	{MRC_FAULT_BOTH, fault_gid_a, true},
		{MRC_FAULT_BOTH, fault_gid_b, true},	{9, fault_gid_a, false},
	};
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DROP);

		rule->direction = rows[i].direction;
		memcpy(rule->host, rows[i].host, 16);
		fault_send(fixture, 100, 8, true);
		assert_u_eq(fault_arrived(fixture, got), rows[i].hit ? 0 : 1);
	}
}

FAULT_TEST(corrupt_inverts_exactly_one_bit)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	fault_rule(fixture, 0, MRC_FAULT_CORRUPT);
	for (int round = 0; round < 200; round++) {
		int bits = 0;

		fault_send(fixture, 100, 8, true);
		assert_u_eq(fault_arrived(fixture, got), 1);
		assert_u_eq(got[0].len, 100);
		for (int i = 0; i < 100; i++)
			bits += __builtin_popcount(got[0].bytes[i] ^ 100u);
		assert_i_eq(bits, 1);
	}
	assert_u_eq(fixture->table.rule[0].hit_data, 200);
}

FAULT_TEST(trim_cuts_and_marks_data_only)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_TRIM);
	struct mio_rx got[MIO_BURST_MAX];

	fault_send(fixture, 500, 8, true);
	fault_send(fixture, 500, 8, false);
	fault_send(fixture, TRIM_BYTES, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 3);
	assert_u_eq(got[0].len, TRIM_BYTES);
	assert_u_eq(got[0].tos, TRIM_DSCP << 2 | (0x12 & 3));
	assert_u_eq(got[0].bytes[TRIM_BYTES - 1], (uint8_t)500);
	assert_u_eq(got[1].len, 500);
	assert_u_eq(got[1].tos, 0x12);
	assert_u_eq(got[2].tos, 0x12);
	assert_u_eq(rule->hit_data, 1);
	assert_u_eq(rule->hit_control, 0);
}

FAULT_TEST(mark_sets_congestion_experienced)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	fault_rule(fixture, 0, MRC_FAULT_MARK);
	fault_send(fixture, 100, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 1);
	assert_u_eq(got[0].tos, 0x13);
}

FAULT_TEST(duplicate_sends_twice)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	fault_rule(fixture, 0, MRC_FAULT_DUPLICATE);
	fault_send(fixture, 100, 8, true);
	fault_send(fixture, 101, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 4);
	assert_u_eq(got[1].len, 100);
	assert_u_eq(got[2].len, 101);
}

FAULT_TEST(delay_holds_for_the_time_asked)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DELAY);
	struct mio_rx got[MIO_BURST_MAX];

	rule->delay_us = 50;
	fixture->now_ns = 1000;
	fault_send(fixture, 100, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 0);
	assert_u_eq(mio_port_deadline(fixture->port), 51000);
	mio_port_tick(fixture->port, 50999);
	assert_u_eq(fault_arrived(fixture, got), 0);
	mio_port_tick(fixture->port, 51000);
	assert_u_eq(fault_arrived(fixture, got), 1);
	assert_u_eq(got[0].bytes[99], 100);
	assert_u_eq(mio_port_deadline(fixture->port), MIO_NEVER);
}

/* A network delivers what is on its way when the sender has gone. */
FAULT_TEST(what_is_held_leaves_when_the_port_is_closed)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	fault_rule(fixture, 0, MRC_FAULT_DELAY)->delay_us = 50;
	fault_send(fixture, 100, 8, true);
	fault_send(fixture, 101, 8, false);
	assert_u_eq(fault_arrived(fixture, got), 0);
	mio_port_close(fixture->port);
	fixture->port = NULL;
	assert_u_eq(fault_arrived(fixture, got), 2);
	assert_u_eq(got[0].len, 100);
	assert_u_eq(got[1].len, 101);
}

/* It would send in the name of its parent, which sends the same frames. */
FAULT_TEST(what_is_held_is_not_sent_by_a_forked_child)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];
	int status;
	pid_t child;

	fault_rule(fixture, 0, MRC_FAULT_DELAY)->delay_us = 50;
	fault_send(fixture, 100, 8, true);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		mio_port_close_inherited(fixture->port);
		_exit((int)fault_arrived(fixture, got));
	}
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_i_eq(status, 0);
}

FAULT_TEST(jitter_reorders_within_its_bound)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DELAY);
	struct mio_rx got[MIO_BURST_MAX];
	uint32_t reordered = 0;

	rule->delay_us = 10;
	rule->jitter_us = 90;
	for (uint32_t i = 0; i < 60; i++)
		fault_send(fixture, 100 + i, 8, true);
	mio_port_tick(fixture->port, 9999);
	assert_u_eq(fault_arrived(fixture, got), 0);
	mio_port_tick(fixture->port, 100000);
	assert_u_eq(fault_arrived(fixture, got), 60);
	for (uint32_t i = 1; i < 60; i++)
		reordered += got[i].len < got[i - 1].len;
	assert_true(reordered > 10);
}

FAULT_TEST(delay_passes_frames_when_its_queue_is_full)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DELAY);
	struct mio_rx got[MIO_BURST_MAX];

	rule->delay_us = 1;
	for (uint32_t i = 0; i < 1030; i++)
		fault_send(fixture, 100, 8, true);
	assert_u_eq(rule->hit_data, 1024);
	assert_u_eq(fault_arrived(fixture, got), 6);
}

FAULT_TEST(rules_add_up)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	fault_rule(fixture, 3, MRC_FAULT_MARK);
	fault_rule(fixture, 7, MRC_FAULT_TRIM);
	fault_rule(fixture, 9, MRC_FAULT_DUPLICATE);
	fault_rule(fixture, 12, MRC_FAULT_DELAY)->delay_us = 3;
	fault_send(fixture, 100, 8, true);
	mio_port_tick(fixture->port, 3000);
	assert_u_eq(fault_arrived(fixture, got), 2);
	assert_u_eq(got[0].len, TRIM_BYTES);
	assert_u_eq(got[0].tos, TRIM_DSCP << 2 | 3);
	assert_u_eq(got[1].len, TRIM_BYTES);
}

FAULT_TEST(dropped_frames_are_not_shown_to_later_rules)
{
	struct fault_fixture *fixture = *state;

	fault_rule(fixture, 0, MRC_FAULT_DROP);
	fault_rule(fixture, 1, MRC_FAULT_CORRUPT);
	fault_send(fixture, 100, 8, true);
	assert_u_eq(fixture->table.rule[0].hit_data, 1);
	assert_u_eq(fixture->table.rule[1].hit_data, 0);
}

/* Of 20,000 frames at 10 %, 2,000 are expected with a deviation of 42: 5 of those are allowed. */
FAULT_TEST(chance_is_what_was_asked_for)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DROP);
	struct mio_rx got[MIO_BURST_MAX];
	uint32_t arrived = 0;

	rule->chance_ppm = 100000;
	for (uint32_t i = 0; i < 20000; i++) {
		fault_send(fixture, 100, 8, true);
		arrived += fault_arrived(fixture, got);
	}
	assert_u_between(rule->hit_data, 2000 - 210, 2000 + 210);
	assert_u_eq(arrived + rule->hit_data, 20000);
}

FAULT_TEST(bursts_of_changed_frames_keep_their_own_bytes)
{
	struct fault_fixture *fixture = *state;
	uint8_t bytes[MIO_BURST_MAX][100];
	struct iovec iov[MIO_BURST_MAX];
	struct mio_tx frames[MIO_BURST_MAX];
	struct mio_rx got[MIO_BURST_MAX];

	fault_rule(fixture, 0, MRC_FAULT_TRIM);
	fault_rule(fixture, 1, MRC_FAULT_DUPLICATE);
	for (uint32_t i = 0; i < MIO_BURST_MAX; i++) {
		memset(bytes[i], (int)i, 100);
		iov[i] = (struct iovec){bytes[i], 100};
		frames[i] =
			(struct mio_tx){.iov = &iov[i], .n_iov = 1, .len = 100, .is_data = true};
	}
	mio_port_tx(fixture->port, 0, frames, MIO_BURST_MAX);
	for (uint32_t half = 0; half < 2; half++) {
		assert_u_eq(fault_arrived(fixture, got), MIO_BURST_MAX);
		for (uint32_t i = 0; i < MIO_BURST_MAX; i++)
			assert_u_eq(got[i].bytes[63], half * 32 + i / 2);
	}
}

FAULT_TEST(table_that_is_cut_off_has_no_rules)
{
	struct fault_fixture *fixture = *state;
	struct mrc_fault_rule *rule = fault_rule(fixture, 0, MRC_FAULT_DROP);
	struct mio_rx got[MIO_BURST_MAX];

	fault_send(fixture, 100, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 0);
	fault_cut_off = true;
	fault_send(fixture, 100, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 1);
	fault_cut_off = false; /* it does not come back */
	fault_send(fixture, 100, 8, true);
	assert_u_eq(fault_arrived(fixture, got), 1);
	assert_u_eq(rule->hit_data, 1);
}

FAULT_TEST(what_waits_below_is_sent_when_it_is_time)
{
	struct fault_fixture *fixture = *state;
	struct mio_rx got[MIO_BURST_MAX];

	fake_driver_block(fixture->below, true);
	fault_send(fixture, 100, 8, true);
	fake_driver_block(fixture->below, false);
	assert_u_eq(fault_arrived(fixture, got), 0);
	assert_u_eq(mio_port_deadline(fixture->port), fixture->now_ns);
	mio_port_tick(fixture->port, fixture->now_ns);
	assert_u_eq(fault_arrived(fixture, got), 1);
}

/* ---- what is drawn ---- */

/* Which of 64 frames arrive, of which half are dropped. */
static uint64_t fault_drawn(uint64_t seed, const uint8_t gid[16], uint32_t port)
{
	static struct mrc_fault_table table;
	struct mio_fault_cfg cfg = {.table = &table, .port = port, .trim_bytes = 1};
	struct fault_fixture fixture = {.now_ns = 0};
	struct mio_addr a = {{0}, 0};
	struct mio_rx got[MIO_BURST_MAX];
	struct mio_port *ends[2];
	uint64_t arrived = 0;

	table.seed = seed;
	table.rule[0] = (struct mrc_fault_rule){
		.kind = MRC_FAULT_DROP, .port_mask = UINT32_MAX, .chance_ppm = 500000};
	memcpy(cfg.gid, gid, 16);
	assert_i_eq(fake_driver_open(&a, &a, ends), 0);
	assert_i_eq(mio_fault_open(&cfg, ends[0], &fixture.port), 0);
	fixture.far = ends[1];
	for (uint32_t i = 0; i < 64; i++) {
		fault_send(&fixture, 100, 8, true);
		arrived |= (uint64_t)fault_arrived(&fixture, got) << i;
	}
	mio_port_close(fixture.port);
	mio_port_close(fixture.far);
	return arrived;
}

TEST(mio_fault, what_is_drawn_follows_from_seed_host_and_port)
{
	uint64_t first = fault_drawn(7, fault_gid_a, 2);

	assert_u_eq(fault_drawn(7, fault_gid_a, 2), first);
	assert_true(fault_drawn(8, fault_gid_a, 2) != first);
	assert_true(fault_drawn(7, fault_gid_b, 2) != first);
	assert_true(fault_drawn(7, fault_gid_a, 3) != first);
}

/* ---- bursts ---- */

struct fault_counter {
	struct mio_port port;
	uint32_t bursts, frames;
};

static void fault_count_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			      uint32_t n)
{
	struct fault_counter *c = (struct fault_counter *)(void *)port;

	(void)now_ns;
	(void)frames;
	assert_u_between(n, 1, MIO_BURST_MAX);
	c->bursts++;
	c->frames += n;
}

static void fault_close_counter(struct mio_port *port)
{
	(void)port;
}

/* However many are changed: there is room for each of a burst, and for the copies of the last. */
TEST(mio_fault, a_burst_stays_two_at_the_most_where_none_is_repeated)
{
	static const struct mio_port_ops ops = {.tx_burst = fault_count_burst,
						.close = fault_close_counter};
	static const struct mio_status status;
	static struct mrc_fault_table table;
	struct fault_counter below = {.port = {&ops, &status, 1}};
	struct mio_fault_cfg cfg = {.table = &table, .trim_bytes = 1};
	struct mio_tx frames[MIO_BURST_MAX];
	uint8_t bytes[100] = {0};
	struct iovec iov = {bytes, sizeof(bytes)};
	struct mio_port *port;

	table.rule[0] = (struct mrc_fault_rule){
		.kind = MRC_FAULT_CORRUPT, .port_mask = UINT32_MAX, .chance_ppm = 1000000};
	assert_i_eq(mio_fault_open(&cfg, &below.port, &port), 0);
	for (uint32_t i = 0; i < MIO_BURST_MAX; i++)
		frames[i] = (struct mio_tx){.iov = &iov, .n_iov = 1, .len = sizeof(bytes)};
	mio_port_tx(port, 0, frames, MIO_BURST_MAX);
	assert_u_eq(below.frames, MIO_BURST_MAX);
	assert_u_eq(below.bursts, 2);
	mio_port_tx(port, 0, frames, MIO_BURST_MAX - 3);
	assert_u_eq(below.bursts, 3);
	mio_port_close(port);
}

/* ---- mapping ---- */

static void fault_write(char *path, const void *bytes, size_t len)
{
	int fd;

	strcpy(path, "/tmp/softmrc-faults-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_i_eq(write(fd, bytes, len), (int64_t)len);
	close(fd);
}

static void fault_map_refuses(const void *bytes, size_t len, const char *why)
{
	struct mrc_fault_table *table;
	struct mio_error error;
	uint32_t before;
	char path[40];

	fault_write(path, bytes, len);
	before = test_open_fds();
	assert_i_eq(mio_fault_map(path, &table, &error), EINVAL);
	assert_u_eq(test_open_fds(), before);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, why));
	unlink(path);
}

static const struct mrc_fault_table fault_good = {TEST_FAULT_TABLE};

TEST(mio_fault_map, shares_the_file)
{
	struct mrc_fault_table *a, *b;
	struct mio_error error;
	char path[40];

	fault_write(path, &fault_good, sizeof(fault_good));
	assert_i_eq(mio_fault_map(path, &a, &error), 0);
	assert_i_eq(mio_fault_map(path, &b, &error), 0);
	a->rule[31].hit_data = 77;
	assert_u_eq(b->rule[31].hit_data, 77);
	mio_fault_unmap(a);
	mio_fault_unmap(b);
	unlink(path);
}

TEST(mio_fault_map, refuses_other_files)
{
	struct mrc_fault_table bad = fault_good;

	fault_map_refuses(&bad, sizeof(bad) - 1, "shorter");
	fault_map_refuses("", 0, "shorter");
	bad.magic[0] = 'm';
	fault_map_refuses(&bad, sizeof(bad), MRC_FAULT_MAGIC);
	bad = fault_good;
	bad.version++;
	fault_map_refuses(&bad, sizeof(bad), "version");
}

static void refuses_with(const char *path, int code)
{
	struct mrc_fault_table *table;
	struct mio_error error;

	alarm(10);
	assert_i_eq(mio_fault_map(path, &table, &error), code);
	alarm(0);
	assert_non_null(strstr(error.text, "no other user may write"));
}

/* Who may write it can cut it off, and has every packet of the process dropped. */
TEST(mio_fault_map, refuses_what_others_may_write)
{
	char path[40];

	fault_write(path, &fault_good, sizeof(fault_good));
	assert_i_eq(chmod(path, 0620), 0);
	refuses_with(path, EPERM);
	assert_i_eq(chmod(path, 0602), 0);
	refuses_with(path, EPERM);
	unlink(path);
	assert_i_eq(mkfifo(path, 0600), 0);
	refuses_with(path, EPERM);
	unlink(path);
}

TEST(mio_fault_map, refuses_that_of_another_user)
{
	char path[40];

	if (geteuid() != 0)
		test_skip("only root can make a file of another user");
	fault_write(path, &fault_good, sizeof(fault_good));
	assert_i_eq(chown(path, 65534, 65534), 0);
	refuses_with(path, EPERM);
	unlink(path);
}

TEST(mio_fault_map, says_what_is_missing)
{
	struct mrc_fault_table *table;
	struct mio_error error;

	assert_i_eq(mio_fault_map("/nowhere/at/all", &table, &error), ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/at/all"));
}
