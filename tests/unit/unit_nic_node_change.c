/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_node_change.c - a change by a program, of its own state or of one that processes share:
 * src/host/verbs/nic_node.c. The store, mrcd and what the engine says are the test's.
 */
#include "support/test.h"

#include <errno.h>

#include "host/node/node.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"
#include "unit/loopback.h"

static struct {
	int read_err, send_err, check_err, own_err;
	uint32_t reads, sends, owns, reports, flushes, changes;
	uint32_t again; /* so many times another state is in force by the time that one is sent */
	struct mn_state sent, owned;
	uint8_t states[MH_SHARDS_MAX][MT_EVS_MAX];
	uint32_t n_states;
} t;

__typeof__(mh_node_share_read) __real_mh_node_share_read, __wrap_mh_node_share_read;
int __wrap_mh_node_share_read(struct mh_nic *nic, struct mn_state *s, struct store_info *info)
{
	(void)nic;
	t.reads++;
	if (t.read_err)
		return t.read_err;
	mn_state_init(s);
	*info = (struct store_info){.generation = 7};
	return 0;
}

__typeof__(mh_node_share_send) __real_mh_node_share_send, __wrap_mh_node_share_send;
int __wrap_mh_node_share_send(struct mh_nic *nic, const struct mn_state *s, struct store_info *info)
{
	t.sends++;
	mn_state_copy(&t.sent, s);
	/* Another thread makes a state of its own meanwhile. */
	mn_state_init(&nic->node->next);
	if (t.again > 0) {
		t.again--;
		return EAGAIN;
	}
	info->generation = 8;
	return t.send_err;
}

__typeof__(mh_node_store_own) __real_mh_node_store_own, __wrap_mh_node_store_own;
int __wrap_mh_node_store_own(struct mh_nic *nic, const struct store_info *info, uint64_t now_ns,
			     bool *ports_changed)
{
	(void)now_ns;
	assert_u_eq(info->generation, t.sends ? 8 : 7);
	assert_true(pthread_mutex_trylock(&nic->lock) != 0);
	t.owns++;
	mn_state_copy(&t.owned, &nic->node->next);
	*ports_changed = nic->node->next.port_admin[0] != MN_PORT_ENABLED;
	return t.own_err;
}

__typeof__(mh_node_check) __real_mh_node_check, __wrap_mh_node_check;
int __wrap_mh_node_check(struct mh_nic *nic)
{
	(void)nic;
	return t.check_err;
}

__typeof__(mh_loop_report_ports) __real_mh_loop_report_ports, __wrap_mh_loop_report_ports;
void __wrap_mh_loop_report_ports(struct mh_nic *nic, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	t.reports++;
}

__typeof__(mh_progress_flush) __real_mh_progress_flush, __wrap_mh_progress_flush;
void __wrap_mh_progress_flush(struct mh_nic *nic, uint64_t now_ns)
{
	assert_true(now_ns >= nic->engine_ns);
	t.flushes++;
}

__typeof__(mt_ev_profile_states) __real_mt_ev_profile_states, __wrap_mt_ev_profile_states;
uint32_t __wrap_mt_ev_profile_states(const struct mt_engine *e, uint32_t profile, uint8_t *states)
{
	const struct mh_nic *first = mh_process()->of[0].nic;
	uint32_t shard = 0;

	if (t.n_states == 0)
		return __real_mt_ev_profile_states(e, profile, states);
	while (first->shard[shard]->engine != e)
		shard++;
	memcpy(states, t.states[shard], t.n_states);
	return t.n_states;
}

__typeof__(mh_node_ev_denied) __real_mh_node_ev_denied, __wrap_mh_node_ev_denied;
uint32_t __wrap_mh_node_ev_denied(const struct mh_nic *nic, uint32_t profile,
				  bool denied[MT_EVS_MAX])
{
	if (t.n_states == 0)
		return __real_mh_node_ev_denied(nic, profile, denied);
	for (uint32_t i = 0; i < t.n_states; i++)
		denied[i] = i % 2;
	return t.n_states;
}

static int change_setup(void **state)
{
	struct mh_device *dev;

	memset(&t, 0, sizeof(t));
	loopback_env(2);
	setenv("MRC_SHARDS", "2", 1);
	setenv("MRC_EV_BASE", "53800", 1);
	setenv("MRC_EVS", "4", 1);
	if (mh_device_open(0, NULL, &dev))
		return -1;
	*state = dev;
	return 0;
}

static int change_teardown(void **state)
{
	unsetenv("MRC_SHARDS");
	return mh_device_close(*state);
}

#define CHANGE_TEST(function, name) TEST_WITH(change_setup, change_teardown, function, name)

/* What is asked of a port; -1: nothing. */
struct wish {
	int admin, err;
};

static int change(struct mn_state *s, const struct mn_device *d, void *ctx)
{
	const struct wish *wish = ctx;

	t.changes++;
	if (wish->admin >= 0 && mn_port_modify(s, d, 1, (enum mn_port_admin)wish->admin))
		return EBADF;
	return wish->err;
}

static int make_change(struct mh_device *dev, int admin, int err, bool *in_force)
{
	struct wish wish = {admin, err};

	*in_force = !*in_force;
	return mh_node_change(dev, change, &wish, in_force);
}

static void read_state(const struct mn_state *s, void *ctx)
{
	assert_true(pthread_mutex_trylock(&mh_process()->of[0].nic->lock) != 0);
	mn_state_copy(ctx, s);
}

static enum mn_port_admin admin_of(struct mh_device *dev)
{
	static struct mn_state s;

	mh_node_read(dev, read_state, &s);
	return s.port_admin[0];
}

/* Where nothing is shared, it is in force at once; of ports others hear, and packets leave. */
CHANGE_TEST(mh_node_change, of_its_own_state)
{
	struct mh_device *dev = *state;
	bool in_force = false;

	t.read_err = ENOENT;
	assert_i_eq(make_change(dev, MN_PORT_SUSPENDED, 0, &in_force), 0);
	assert_true(in_force);
	assert_u_eq(admin_of(dev), MN_PORT_SUSPENDED);
	assert_u_eq(t.reports, 1);
	assert_u_eq(t.flushes, 1);
	assert_i_eq(make_change(dev, -1, EEXIST, &in_force), EEXIST);
	assert_true(in_force);
	assert_u_eq(t.reports, 1);
	assert_u_eq(t.flushes, 2);
	t.check_err = EINVAL;
	assert_i_eq(make_change(dev, MN_PORT_ENABLED, 0, &in_force), EINVAL);
	assert_false(in_force);
	assert_u_eq(admin_of(dev), MN_PORT_SUSPENDED);
	assert_u_eq(t.sends + t.owns, 0);
	assert_i_eq(mh_node_change(dev, change, &(struct wish){MN_PORT_ENABLED, 0}, NULL), EINVAL);
}

CHANGE_TEST(mh_node_change, of_a_shared_state)
{
	struct mh_device *dev = *state;
	bool in_force = false;

	assert_i_eq(make_change(dev, MN_PORT_SUSPENDED, 0, &in_force), 0);
	assert_true(in_force);
	assert_u_eq(t.sent.port_admin[0], MN_PORT_SUSPENDED);
	assert_u_eq(t.owned.port_admin[0], MN_PORT_SUSPENDED);
	assert_u_eq(t.reports, 1);
	assert_u_eq(t.flushes, 1);
	/* What changes nothing is not sent, but taken over from the others. */
	t.sends = 0;
	assert_i_eq(make_change(dev, MN_PORT_ENABLED, EEXIST, &in_force), EEXIST);
	assert_true(in_force);
	assert_i_eq(make_change(dev, MN_PORT_ENABLED, 0, &in_force), 0);
	assert_u_eq(t.sends, 0);
	assert_u_eq(t.owned.port_admin[0], MN_PORT_ENABLED);
	assert_u_eq(t.owns, 3);
	assert_u_eq(t.reports, 1);
	assert_u_eq(t.flushes, 3);
	t.own_err = ENOMEM;
	assert_i_eq(make_change(dev, MN_PORT_DOWN, 0, &in_force), ENOMEM);
	assert_true(in_force);
}

/* Then nothing of it is in force. */
CHANGE_TEST(mh_node_change, that_is_not_taken)
{
	struct mh_device *dev = *state;
	bool in_force = false;

	t.read_err = EIO;
	assert_i_eq(make_change(dev, MN_PORT_DOWN, 0, &in_force), EIO);
	assert_false(in_force);
	t.read_err = 0;
	t.check_err = EINVAL;
	assert_i_eq(make_change(dev, MN_PORT_DOWN, 0, &in_force), EINVAL);
	assert_false(in_force);
	assert_i_eq(make_change(dev, MN_PORT_DOWN, EBUSY, &in_force), EBUSY);
	assert_u_eq(t.sends, 0);
	t.check_err = 0;
	t.send_err = EPERM;
	assert_i_eq(make_change(dev, MN_PORT_DOWN, 0, &in_force), EPERM);
	assert_false(in_force);
	assert_u_eq(t.owns, 0);
	assert_u_eq(admin_of(dev), MN_PORT_ENABLED);
}

/* Others change the state at the same time: it is read again, but not for ever. */
CHANGE_TEST(mh_node_change, is_tried_again)
{
	struct mh_device *dev = *state;
	bool in_force = false;

	t.again = 99;
	assert_i_eq(make_change(dev, MN_PORT_DOWN, 0, &in_force), 0);
	assert_true(in_force);
	assert_u_eq(t.reads, 100);
	assert_u_eq(t.sends, 100);
	t.reads = 0;
	t.again = 101;
	assert_i_eq(make_change(dev, MN_PORT_DOWN, 0, &in_force), EAGAIN);
	assert_false(in_force);
	assert_u_eq(t.reads, 100);
}

/* Of shards the one that knows most counts; there is no room behind the last. */
CHANGE_TEST(mh_ev_profile_states, bad_in_one_shard_is_bad)
{
	static const struct {
		uint8_t of[2];
		enum mh_ev_state state;
	} rows[] = {
		{{MT_EV_GOOD, MT_EV_GOOD}, MH_EV_GOOD},
		{{MT_EV_GOOD, MT_EV_ASSUMED_BAD}, MH_EV_BAD},
		{{MT_EV_ASSUMED_BAD, MT_EV_GOOD}, MH_EV_BAD},
		{{MT_EV_ASSUMED_BAD, 0xFF}, MH_EV_BAD},
		{{0xFF, MT_EV_GOOD}, MH_EV_GOOD},
		{{MT_EV_GOOD, 0xFF}, MH_EV_GOOD},
		{{MT_EV_DENIED, MT_EV_ASSUMED_BAD}, MH_EV_DENIED},
		{{MT_EV_ASSUMED_BAD, MT_EV_DENIED}, MH_EV_DENIED},
		{{0xFF, 0xFF}, MH_EV_UNKNOWN},
	};
	const uint32_t n = sizeof(rows) / sizeof(rows[0]);
	enum mh_ev_state *states = calloc(n, sizeof(*states));

	t.n_states = n;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t shard = 0; shard < 2; shard++)
			t.states[shard][i] = rows[i].of[shard];
	assert_u_eq(mh_ev_profile_states(*state, 0, states), n);
	for (uint32_t i = 0; i < n; i++)
		if (states[i] != rows[i].state)
			fail_msg("row %u: got %d", i, (int)states[i]);
	free(states);
}

/* Of one that no QP can use its denials are known, and no more. */
CHANGE_TEST(mh_ev_profile_states, of_a_profile_that_is_offline)
{
	struct mh_device *dev = *state;
	struct mn_ev_profile *profile = &dev->nic->node->now.ev[1];
	enum mh_ev_state *states = calloc(3, sizeof(*states));

	t.n_states = 3;
	profile->state = MN_OFFLINE;
	profile->mode = MN_MODE_AUTO;
	assert_u_eq(mh_ev_profile_states(dev, 1, states), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_i_eq(states[i], i % 2 ? MH_EV_DENIED : MH_EV_UNKNOWN);
	free(states);
}
