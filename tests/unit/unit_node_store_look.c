/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_node_store_look.c - when the device's store is looked at, what becomes of what it says, and
 * what is said of that: src/host/node/node_store.c. The store is the test's.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#include "host/node/node.h"
#include "host/stats/stats.h"

#define NOW_NS UINT64_C(5000)
#define SECOND_NS UINT64_C(1000000000)
#define REFUSAL "of another user"

static struct {
	struct mh_nic nic;
	struct mh_node node;
	/* What the store says. */
	int open_err, look_err, apply_err;
	bool hears, ports_change;
	struct mn_state state;
	uint64_t generation;
	/* What came of it. */
	struct mrc_stats_node shown;
	uint32_t shows, applies, reports, closes;
	uint64_t applied_ns;
	char said[2][300]; /* by level: WARNING and INFO */
} t;

__typeof__(store_watch_open) __real_store_watch_open, __wrap_store_watch_open;
int __wrap_store_watch_open(struct store_watch *w, const char *dir, const char *device,
			    struct store_error *error)
{
	if (t.open_err) {
		snprintf(error->text, sizeof(error->text), REFUSAL);
		return t.open_err;
	}
	snprintf(w->dir, sizeof(w->dir), "%s", dir);
	snprintf(w->name, sizeof(w->name), "%s.state", device);
	w->fd = 77;
	return 0;
}

__typeof__(store_watch_look) __real_store_watch_look, __wrap_store_watch_look;
int __wrap_store_watch_look(struct store_watch *w, struct mn_state *s, struct store_info *info,
			    struct store_error *error)
{
	if (t.look_err && t.look_err != EAGAIN) {
		snprintf(w->refused.text, sizeof(w->refused.text), REFUSAL);
		*error = w->refused;
		return t.look_err;
	}
	w->refused.text[0] = '\0';
	if (t.look_err)
		return t.look_err;
	mn_state_copy(s, &t.state);
	*info = (struct store_info){.generation = t.generation, .by = "mrcd"};
	return 0;
}

__typeof__(store_watch_hears) __real_store_watch_hears, __wrap_store_watch_hears;
bool __wrap_store_watch_hears(const struct store_watch *w)
{
	assert_ptr_equal(w, &t.node.store.watch);
	return t.hears;
}

__typeof__(store_watch_close) __real_store_watch_close, __wrap_store_watch_close;
void __wrap_store_watch_close(struct store_watch *w)
{
	assert_ptr_equal(w, &t.node.store.watch);
	t.closes++;
}

__typeof__(mh_node_apply) __real_mh_node_apply, __wrap_mh_node_apply;
int __wrap_mh_node_apply(struct mh_nic *first, uint64_t now_ns, bool *ports_changed)
{
	mn_state_copy(&first->node->now, &first->node->next);
	t.applies++;
	t.applied_ns = now_ns;
	*ports_changed = t.ports_change;
	return t.apply_err;
}

__typeof__(mh_engine_report_ports) __real_mh_engine_report_ports, __wrap_mh_engine_report_ports;
void __wrap_mh_engine_report_ports(struct mh_nic *nic, uint64_t now_ns)
{
	assert_ptr_equal(nic, &t.nic);
	assert_u_eq(now_ns, NOW_NS);
	t.reports++;
}

__typeof__(mh_segment_node) __real_mh_segment_node, __wrap_mh_segment_node;
void __wrap_mh_segment_node(struct mh_segment *segment, const struct mrc_stats_node *node)
{
	(void)segment;
	t.shown = *node;
	t.shows++;
}

void __real_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...)
{
	char *said = t.said[level == MRC_LOG_INFO];
	va_list args;

	assert_true(level == MRC_LOG_INFO || level == MRC_LOG_WARNING);
	va_start(args, format);
	vsnprintf(said, sizeof(t.said[0]), format, args);
	va_end(args);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nic.node = &t.node;
	pthread_mutex_init(&t.nic.lock, NULL);
	strcpy(t.nic.env.node_dir, "/run/x");
	strcpy(t.nic.attr.name, "mrc7");
	mn_state_init(&t.state);
	mn_state_init(&t.node.now);
	t.generation = 7;
	t.hears = true;
	return 0;
}

#define LOOK_TEST(function, name) TEST_WITH(setup, NULL, function, name)

static void open_store(void)
{
	mh_node_store_open(&t.nic, NOW_NS);
	memset(t.said, 0, sizeof(t.said));
	t.shows = t.applies = t.reports = 0;
}

static void expect_said(const char *warning, const char *info)
{
	assert_string_equal(t.said[0], warning);
	assert_string_equal(t.said[1], info);
	memset(t.said, 0, sizeof(t.said));
}

/* Peers are told of ports that are down with the first QP. */
LOOK_TEST(mh_node_store_open, of_a_state)
{
	t.state.port_admin[0] = MN_PORT_DOWN;
	t.ports_change = true;
	mh_node_store_open(&t.nic, NOW_NS);
	assert_u_eq(t.node.now.port_admin[0], MN_PORT_DOWN);
	assert_u_eq(t.applied_ns, NOW_NS);
	assert_u_eq(t.reports, 1);
	assert_u_eq(t.shown.generation, 7);
	assert_string_equal(t.shown.store, "/run/x/mrc7.state");
	assert_i_eq(mh_node_store_fd(&t.nic), 77);
	expect_said("", "mrc7: takes state 7 of /run/x, of mrcd");
	mh_node_store_close(&t.nic);
	mh_node_store_close(&t.nic);
	assert_u_eq(t.closes, 1);
}

LOOK_TEST(mh_node_store_open, of_none)
{
	t.look_err = EAGAIN;
	t.ports_change = true;
	mh_node_store_open(&t.nic, NOW_NS);
	assert_true(t.node.store.used);
	assert_u_eq(t.applies + t.reports, 0);
	expect_said("", "");
}

LOOK_TEST(mh_node_store_open, where_there_can_be_none)
{
	t.open_err = EINVAL;
	mh_node_store_open(&t.nic, NOW_NS);
	expect_said("mrc7: " REFUSAL "; the device goes on as before", "");
	assert_u_eq(t.nic.counts.node_refused, 1);
	t.open_err = 0;
	t.nic.env.node_dir[0] = '\0';
	mh_node_store_open(&t.nic, NOW_NS);
	assert_u_eq(t.nic.counts.node_refused, 1);
	assert_i_eq(mh_node_store_fd(&t.nic), -1);
	assert_u_eq(mh_node_store_due(&t.nic), UINT64_MAX);
	mh_node_store_close(&t.nic);
	assert_u_eq(t.closes, 0);
}

/* What is refused is said when it is news, and shown as long as it is so. */
LOOK_TEST(mh_node_store_look, at_what_is_refused)
{
	open_store();
	t.look_err = EAGAIN;
	assert_false(mh_node_store_look(&t.nic, NOW_NS));
	assert_u_eq(t.shows, 0);
	t.look_err = EPERM;
	assert_false(mh_node_store_look(&t.nic, NOW_NS));
	expect_said("mrc7: " REFUSAL "; the device goes on as before", "");
	assert_string_equal(t.shown.refused, REFUSAL);
	assert_u_eq(t.nic.counts.node_refused, 1);
	t.look_err = EAGAIN;
	assert_false(mh_node_store_look(&t.nic, NOW_NS));
	assert_string_equal(t.shown.refused, "");
	assert_u_eq(t.shows, 2);
	assert_false(mh_node_store_look(&t.nic, NOW_NS));
	assert_u_eq(t.shows, 2);
	assert_u_eq(t.nic.counts.node_refused, 1);
	/* A new state shows more than that when it is taken. */
	t.look_err = EPERM;
	assert_false(mh_node_store_look(&t.nic, NOW_NS));
	t.look_err = 0;
	assert_true(mh_node_store_look(&t.nic, NOW_NS));
	assert_u_eq(t.shows, 3);
}

static void take(uint64_t now_ns)
{
	bool ports_changed;

	t.applies = 0;
	assert_true(mh_node_store_look(&t.nic, NOW_NS));
	mh_node_store_take(&t.nic, now_ns, &ports_changed);
}

/* Time is the engine's, which may have been told of a later one. */
LOOK_TEST(mh_node_store_take, in_the_engines_time)
{
	open_store();
	t.nic.engine_ns = NOW_NS + 2;
	take(NOW_NS + 1);
	assert_u_eq(t.applied_ns, NOW_NS + 2);
	take(NOW_NS + 3);
	assert_u_eq(t.applied_ns, NOW_NS + 3);
}

LOOK_TEST(mh_node_store_take, what_is_in_force_in_part)
{
	open_store();
	t.apply_err = ENOMEM;
	take(NOW_NS);
	expect_said("mrc7: state 7 of /run/x is only in part in force: no memory",
		    "mrc7: takes state 7 of /run/x, of mrcd");
	t.apply_err = EINVAL;
	take(NOW_NS);
	expect_said("mrc7: state 7 of /run/x is only in part in force: a profile has numbers that "
		    "fit no such device",
		    "mrc7: takes state 7 of /run/x, of mrcd");
}

/* Changes of this process are in force at once; the store says the same later. */
static int own(uint64_t generation)
{
	const struct store_info info = {.generation = generation, .by = "us"};
	bool ports_changed;

	t.shows = t.applies = 0;
	return mh_node_store_own(&t.nic, &info, NOW_NS, &ports_changed);
}

LOOK_TEST(mh_node_store_own, what_is_not_in_force_yet)
{
	open_store();
	t.apply_err = ENOMEM;
	assert_i_eq(own(7), 0);
	assert_i_eq(own(6), 0);
	assert_u_eq(t.shows + t.applies, 0);
	assert_i_eq(own(8), ENOMEM);
	assert_u_eq(t.applies, 1);
	assert_u_eq(t.shows, 1);
	assert_u_eq(t.shown.generation, 8);
	assert_string_equal(t.shown.writer, "us");
	assert_u_eq(t.nic.counts.node_states, 2);
}

/* What was read before the change came into the store is not taken; the next is read at once. */
LOOK_TEST(mh_node_store_own, what_was_read_before)
{
	open_store();
	own(8);
	take(NOW_NS);
	assert_u_eq(t.applies, 0);
	assert_u_eq(t.node.store.info.generation, 8);
	assert_u_eq(mh_node_store_due(&t.nic), SECOND_NS);
	own(9);
	t.generation = 9;
	take(NOW_NS);
	assert_u_eq(t.applies, 1);
	assert_string_equal(t.node.store.info.by, "mrcd");
	assert_u_eq(mh_node_store_due(&t.nic), NOW_NS + SECOND_NS);
	/* It holds for one state alone. */
	t.generation = 3;
	take(NOW_NS);
	assert_u_eq(t.applies, 1);
}

/* A second, but where QPs go by it and nothing tells of it. */
LOOK_TEST(mh_node_store_due, as_often_as_it_takes)
{
	open_store();
	assert_u_eq(mh_node_store_due(&t.nic), NOW_NS + SECOND_NS);
	t.node.store.followed = true;
	assert_u_eq(mh_node_store_due(&t.nic), NOW_NS + SECOND_NS);
	t.hears = false;
	assert_u_eq(mh_node_store_due(&t.nic), NOW_NS + 5000000);
	t.node.store.followed = false;
	assert_u_eq(mh_node_store_due(&t.nic), NOW_NS + SECOND_NS);
}
