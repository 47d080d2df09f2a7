/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ev_hints.c - which EVs of a QP other processes have found to be bad:
 * src/host/node/ev_hints.c. The hints, and the EVs of the QP, are the test's.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#include "host/node/node.h"
#include "store/store_hints.h"

#define NOW_NS UINT64_C(7000000000)
#define PROFILE 3u
#define PLANES 2u

static struct {
	struct mh_nic nic;
	struct mh_node node;
	/* The hints that are kept. */
	struct store_hint kept[STORE_HINTS_MAX];
	uint32_t n_kept;
	int load_err;
	/* The EVs of the QP, of the planes in turn. */
	uint32_t n_evs;
	struct mt_ev_info ev[MT_EVS_MAX];
	bool suspected[MT_EVS_MAX];
	bool knows_better; /* the engine has sent there */
	char said[256];
} t;

__typeof__(store_hints_load) __real_store_hints_load, __wrap_store_hints_load;
int __wrap_store_hints_load(const char *dir, const char *device, uint64_t now_ns,
			    struct store_hint hints[STORE_HINTS_MAX], uint32_t *n)
{
	assert_string_equal(dir, "/run/x");
	assert_string_equal(device, "mrc7");
	assert_true(now_ns > 0);
	if (t.load_err)
		return t.load_err;
	memcpy(hints, t.kept, sizeof(t.kept));
	*n = t.n_kept;
	return 0;
}

__typeof__(mt_qp_query) __real_mt_qp_query, __wrap_mt_qp_query;
void __wrap_mt_qp_query(const struct mt_qp *qp, struct rd_qp_attr *attr)
{
	(void)qp;
	memset(attr, 0, sizeof(*attr));
	attr->ev_profile = PROFILE;
	attr->dest.b[0] = 0xDD;
}

__typeof__(mt_qp_ev_info) __real_mt_qp_ev_info, __wrap_mt_qp_ev_info;
bool __wrap_mt_qp_ev_info(const struct mt_qp *qp, uint32_t i, struct mt_ev_info *info)
{
	(void)qp;
	assert_true(i < MT_EVS_MAX);
	if (i >= t.n_evs)
		return false;
	*info = t.ev[i];
	return true;
}

__typeof__(mt_qp_ev_suspect) __real_mt_qp_ev_suspect, __wrap_mt_qp_ev_suspect;
bool __wrap_mt_qp_ev_suspect(struct mt_qp *qp, uint64_t now_ns, uint32_t i)
{
	(void)qp;
	assert_u_eq(now_ns, NOW_NS);
	assert_true(i < t.n_evs);
	t.suspected[i] = true;
	return !t.knows_better;
}

void __real_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...)
{
	va_list args;

	assert_int_equal(level, MRC_LOG_INFO);
	va_start(args, format);
	vsnprintf(t.said, sizeof(t.said), format, args);
	va_end(args);
}

static uint32_t number_of(uint32_t i)
{
	return 50000 + i / PLANES;
}

/* What this process would have kept itself of its EV i. */
static struct store_hint hint_of(uint32_t i)
{
	return (struct store_hint){.heard_ns = NOW_NS - 1,
				   .from = {0xFF},
				   .to = {0xDD},
				   .number = number_of(i),
				   .profile = PROFILE,
				   .index = (uint16_t)i,
				   .port = (uint8_t)(i % PLANES + 1)};
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nic.node = &t.node;
	t.node.store.used = true;
	strcpy(t.nic.env.node_dir, "/run/x");
	strcpy(t.nic.attr.name, "mrc7");
	t.nic.attr.gid.b[0] = 0xFF;
	t.n_evs = 6;
	for (uint32_t i = 0; i < MT_EVS_MAX; i++)
		t.ev[i] = (struct mt_ev_info){
			.ev = {.value = number_of(i), .port = (uint8_t)(i % PLANES)}};
	return 0;
}

#define HINT_TEST(function, name) TEST_WITH(setup, NULL, function, name)

static void keep(struct store_hint hint)
{
	t.kept[t.n_kept++] = hint;
}

/* Takes the hints; how many EVs are suspected then. */
static uint32_t take(void)
{
	struct mh_ev_hints *hints = mh_ev_hints_load(&t.nic);
	uint32_t n = 0;

	assert_non_null(hints);
	memset(t.suspected, 0, sizeof(t.suspected));
	t.said[0] = '\0';
	mh_ev_hints_take(&t.nic, NULL, NOW_NS, hints);
	free(hints);
	for (uint32_t i = 0; i < t.n_evs; i++)
		n += t.suspected[i];
	return n;
}

HINT_TEST(mh_ev_hints_load, of_none)
{
	assert_null(mh_ev_hints_load(&t.nic));
	keep(hint_of(1));
	t.load_err = EBADMSG;
	assert_null(mh_ev_hints_load(&t.nic));
	t.load_err = 0;
	t.node.store.used = false;
	assert_null(mh_ev_hints_load(&t.nic));
}

HINT_TEST(mh_ev_hints_take, of_one_ev)
{
	keep(hint_of(1));
	t.kept[1] = hint_of(2); /* is no hint any more */
	assert_u_eq(take(), 1);
	assert_true(t.suspected[1]);
	assert_string_equal(t.said, "mrc7: 1 EVs were bad for other processes of this user, and "
				    "are probed before their use");
	t.knows_better = true;
	assert_u_eq(take(), 1);
	assert_string_equal(t.said, "");
}

/* A hint of other addresses, of another profile, or of a port that the EV has not. */
HINT_TEST(mh_ev_hints_take, of_something_else)
{
	struct store_hint hint = hint_of(1);

	hint.profile++;
	keep(hint);
	hint = hint_of(1);
	hint.port = 1;
	keep(hint);
	hint = hint_of(1);
	hint.to[0]--;
	keep(hint);
	hint = hint_of(1);
	hint.from[0]--;
	keep(hint);
	assert_u_eq(take(), 0);
	assert_string_equal(t.said, "");
}

/* It may be another path for that process, unless places are the same for all. */
HINT_TEST(mh_ev_hints_take, of_another_number)
{
	struct store_hint hint = hint_of(1);

	hint.number++;
	keep(hint);
	assert_u_eq(take(), 0);
	t.nic.env.srv6.n_rows = 1;
	assert_u_eq(take(), 1);
	assert_true(t.suspected[1]);
	/* Two processes have found it out; one over the same links is enough. */
	t.nic.env.srv6.n_rows = 0;
	t.kept[0] = hint_of(1);
	keep(hint);
	assert_u_eq(take(), 1);
}

/* All EVs of a plane are bad, but those that are denied: their numbers do not matter. */
static void darken(uint32_t plane)
{
	for (uint32_t i = plane; i < t.n_evs; i += PLANES) {
		struct store_hint hint = hint_of(i);

		hint.number++;
		if (t.ev[i].state != MT_EV_DENIED)
			keep(hint);
	}
}

HINT_TEST(mh_ev_hints_take, of_a_dark_plane)
{
	for (uint32_t plane = 0; plane < PLANES; plane++) {
		t.n_kept = 0;
		darken(plane);
		assert_u_eq(take(), 3);
		for (uint32_t i = 0; i < t.n_evs; i++)
			assert_true(t.suspected[i] == (i % PLANES == plane));
		t.n_kept--;
		assert_u_eq(take(), 0);
	}
	t.n_kept = 0;
	t.ev[2].state = MT_EV_DENIED;
	darken(0);
	assert_u_eq(take(), 3);
}

HINT_TEST(mh_ev_hints_take, of_as_many_evs_as_there_may_be)
{
	t.n_evs = MT_EVS_MAX;
	keep(hint_of(MT_EVS_MAX - 1));
	/* There is no such place. */
	keep(hint_of(MT_EVS_MAX));
	assert_u_eq(take(), 1);
	assert_true(t.suspected[MT_EVS_MAX - 1]);
}
