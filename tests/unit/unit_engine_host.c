/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_engine_host.c - what an engine is made of and fed with, and where it places data:
 * src/host/datapath/engine_host.c. The engine is the test's, and memory ends when it says so.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#include "host/datapath/datapath.h"
#include "host/platform/platform.h"
#include "io/io_port.h"

#define NOW_NS UINT64_C(9000)
#define MIB (UINT64_C(1) << 20)
#define PORTS 3u
/* Of memory that nobody has written yet. */
#define STALE 0xA5

static struct {
	struct mh_nic nic;
	struct mio_status status[PORTS];
	struct mio_port io[PORTS];
	uint8_t engine;
	uint32_t until_none; /* the allocation that fails, from 1; 0: none does */
	size_t wanted;
	int ev_result, cc_result;
	/* What came of it. */
	struct mt_env env;
	struct mt_engine_cfg cfg;
	void *given;
	size_t given_bytes;
	uint32_t capacity;
	char said[200];
} t;

static bool is_none_left(void)
{
	return t.until_none > 0 && --t.until_none == 0;
}

__typeof__(malloc) __real_malloc, __wrap_malloc;
void *__wrap_malloc(size_t size)
{
	return is_none_left() ? NULL : __real_malloc(size);
}

__typeof__(aligned_alloc) __real_aligned_alloc, __wrap_aligned_alloc;
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	void *bytes;

	assert_u_eq(alignment, 64);
	assert_u_eq(size % 64, 0);
	if (is_none_left())
		return NULL;
	bytes = __real_aligned_alloc(alignment, size);
	memset(bytes, STALE, size);
	return bytes;
}

__typeof__(mt_engine_size) __real_mt_engine_size, __wrap_mt_engine_size;
size_t __wrap_mt_engine_size(const struct mt_engine_cfg *cfg)
{
	(void)cfg;
	return 100;
}

__typeof__(mt_engine_init) __real_mt_engine_init, __wrap_mt_engine_init;
struct mt_engine *__wrap_mt_engine_init(void *memory, const struct mt_engine_cfg *cfg,
					const struct mt_env *env, uint64_t now_ns)
{
	static const uint8_t zeros[100];

	assert_u_eq(now_ns, NOW_NS);
	assert_bytes_eq(memory, zeros, sizeof(zeros));
	t.cfg = *cfg;
	t.env = *env;
	return (struct mt_engine *)(void *)&t.engine;
}

__typeof__(mt_engine_memory_wanted) __real_mt_engine_memory_wanted, __wrap_mt_engine_memory_wanted;
size_t __wrap_mt_engine_memory_wanted(const struct mt_engine *e)
{
	(void)e;
	return t.wanted;
}

__typeof__(mt_engine_add_memory) __real_mt_engine_add_memory, __wrap_mt_engine_add_memory;
void __wrap_mt_engine_add_memory(struct mt_engine *e, void *bytes, size_t size)
{
	const uint8_t *all = bytes;

	(void)e;
	assert_true(all[0] == 0 && memcmp(all, all + 1, size - 1) == 0);
	t.given = bytes;
	t.given_bytes = size;
}

__typeof__(mt_ev_profile_set) __real_mt_ev_profile_set, __wrap_mt_ev_profile_set;
int __wrap_mt_ev_profile_set(struct mt_engine *e, uint32_t id, const struct mt_ev_profile_cfg *cfg)
{
	(void)e;
	assert_u_eq(id, 0);
	assert_u_eq(cfg->n_evs, PORTS * 2);
	return t.ev_result;
}

__typeof__(mt_cc_profile_set) __real_mt_cc_profile_set, __wrap_mt_cc_profile_set;
int __wrap_mt_cc_profile_set(struct mt_engine *e, uint32_t id, const struct mt_cc_profile_cfg *cfg)
{
	(void)e;
	assert_u_eq(id, 0);
	assert_u_eq(cfg->kind, MT_CC_NSCC);
	return t.cc_result;
}

__typeof__(mt_engine_rx_capacity) __real_mt_engine_rx_capacity, __wrap_mt_engine_rx_capacity;
void __wrap_mt_engine_rx_capacity(struct mt_engine *e, uint32_t packets)
{
	(void)e;
	t.capacity = packets;
}

__typeof__(mt_engine_port_set) __real_mt_engine_port_set, __wrap_mt_engine_port_set;
int __wrap_mt_engine_port_set(struct mt_engine *e, uint64_t now_ns, uint32_t port, bool up)
{
	size_t len = strlen(t.said);

	(void)e;
	assert_u_eq(now_ns, NOW_NS);
	snprintf(t.said + len, sizeof(t.said) - len, "%u %s; ", port, up ? "up" : "down");
	return MT_OK;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.nic.env = (struct mh_env){.n_ports = PORTS,
				    .evs = 2,
				    .ev_base = 50000,
				    .ev_format = MW_EV_UDP,
				    .shards = 1,
				    .run = 8,
				    .cc = MT_CC_NSCC,
				    .memory_bytes = 16 * MIB};
	t.nic.ports.n = PORTS;
	for (uint32_t i = 0; i < PORTS; i++) {
		t.status[i].rx_buffer_bytes = 1000 * MIO_FRAME_MAX;
		t.io[i].status = &t.status[i];
		t.nic.ports.port[i].io = &t.io[i];
	}
	t.nic.ports.port[1].up = true;
	return 0;
}

#define HOST_TEST(function, name) TEST_WITH(setup, NULL, function, name)

/* ---- memory ---- */

HOST_TEST(mh_engine_grow, by_a_chunk)
{
	t.wanted = 1000;
	assert_true(mh_engine_grow(&t.nic));
	assert_u_eq(t.given_bytes, MIB);
	assert_ptr_equal(t.nic.chunks->bytes, t.given);
	t.wanted = 3 * MIB;
	assert_true(mh_engine_grow(&t.nic));
	assert_u_eq(t.given_bytes, 3 * MIB);
	assert_u_eq(t.nic.chunk_bytes, 4 * MIB);
	mh_engine_destroy(&t.nic);
	assert_null(t.nic.chunks);
}

/* Peers decide how much is wanted. */
HOST_TEST(mh_engine_grow, up_to_the_limit)
{
	t.wanted = 16 * MIB + 64;
	assert_false(mh_engine_grow(&t.nic));
	t.wanted = 16 * MIB;
	assert_true(mh_engine_grow(&t.nic));
	assert_false(mh_engine_grow(&t.nic));
	mh_engine_destroy(&t.nic);
	t.nic.chunk_bytes = 0;
	t.nic.env.shards = 2;
	t.wanted = 5 * MIB;
	assert_true(mh_engine_grow(&t.nic));
	assert_false(mh_engine_grow(&t.nic));
	t.wanted = 3 * MIB;
	assert_true(mh_engine_grow(&t.nic));
	mh_engine_destroy(&t.nic);
}

HOST_TEST(mh_engine_grow, when_there_is_no_memory)
{
	for (uint32_t i = 1; i <= 2; i++) {
		t.until_none = i;
		assert_false(mh_engine_grow(&t.nic));
		assert_null(t.nic.chunks);
		assert_u_eq(t.nic.chunk_bytes, 0);
	}
	assert_null(t.given);
}

/* ---- the engine ---- */

HOST_TEST(mh_engine_create, of_the_settings)
{
	assert_i_eq(mh_engine_create(&t.nic, NOW_NS), 0);
	assert_ptr_equal(t.nic.engine, &t.engine);
	assert_string_equal(t.said, "0 down; 1 up; 2 down; ");
	assert_u_eq(t.cfg.max_qps, MH_QPN_INDEX_MASK + 1);
	/* Three quarters of what all ports hold. */
	assert_u_eq(t.capacity, PORTS * 750);
	mh_engine_destroy(&t.nic);
	assert_null(t.nic.engine);
	assert_null(t.nic.engine_memory);
}

static void expect_no_engine(int err)
{
	assert_i_eq(mh_engine_create(&t.nic, NOW_NS), err);
	assert_null(t.nic.engine);
	assert_null(t.nic.engine_memory);
	assert_null(t.nic.chunks);
	assert_string_equal(t.said, "");
}

HOST_TEST(mh_engine_create, without_what_it_takes)
{
	for (uint32_t i = 1; i <= 3; i++) {
		t.until_none = i;
		expect_no_engine(ENOMEM);
	}
	t.nic.chunk_bytes = 0;
	t.ev_result = MT_ERR_INVALID;
	expect_no_engine(EINVAL);
	t.nic.chunk_bytes = 0;
	t.ev_result = MT_OK;
	t.cc_result = MT_ERR_FULL;
	expect_no_engine(ENOMEM);
}

TEST(mh_engine_errno, of_each_result)
{
	static const int errs[][2] = {{MT_OK, 0},
				      {MT_ERR_MEMORY, ENOMEM},
				      {MT_ERR_FULL, ENOMEM},
				      {MT_ERR_EXISTS, EEXIST},
				      {MT_ERR_ACCESS, EFAULT},
				      {MT_ERR_INVALID, EINVAL},
				      {MT_ERR_STATE, EINVAL}};

	for (uint32_t i = 0; i < sizeof(errs) / sizeof(errs[0]); i++)
		assert_i_eq(mh_engine_errno(errs[i][0]), errs[i][1]);
}

/* ---- EVs ---- */

TEST(mh_engine_evs, as_many_on_each_port)
{
	struct mh_env env = {.n_ports = 3, .evs = 2, .ev_base = 50000, .ev_format = MW_EV_UDP};
	struct mt_ev evs[MT_EVS_MAX];

	assert_u_eq(mh_engine_evs(&env, evs), 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_u_eq(evs[i].port, i % 3);
		assert_u_eq(evs[i].value, 50000 + i / 3);
	}
	env.ev_format = MW_EV_STEV;
	assert_u_eq(mh_engine_ev(&env, 0, 1), 50001u << 16 | (2u * 40503 & 0xFFFF));
	env.evs = MT_EVS_MAX / 3;
	assert_u_eq(mh_engine_n_evs(&env), 1023);
	env.evs++;
	assert_u_eq(mh_engine_evs(&env, evs), 1023);
	env.n_ports = 2;
	env.evs = MT_EVS_MAX / 2;
	assert_u_eq(mh_engine_n_evs(&env), MT_EVS_MAX);
}

TEST(mh_engine_min_active, an_eighth)
{
	assert_u_eq(mh_engine_min_active(1), 1);
	assert_u_eq(mh_engine_min_active(15), 1);
	assert_u_eq(mh_engine_min_active(16), 2);
}

/* Who writes outer headers sees trims. */
TEST(mh_engine_own_cc, of_each_driver)
{
	struct mh_env env = {.shards = 2, .n_ports = 3, .pace_bps = 1000, .cc = MT_CC_NSCC};
	struct mt_cc_profile_cfg cfg;

	mh_engine_own_cc(&env, &cfg);
	assert_false(cfg.trimming);
	assert_u_eq(cfg.link_bps, 1500);
	env.driver = MH_DRIVER_RAW41;
	mh_engine_own_cc(&env, &cfg);
	assert_true(cfg.trimming);
	env.driver = MH_DRIVER_UDP;
	env.srv6.n_rows = 1;
	mh_engine_own_cc(&env, &cfg);
	assert_true(cfg.trimming);
}

/* ---- what peers do to the program's memory ---- */

HOST_TEST(mh_engine_place, into_memory)
{
	uint8_t to[4] = {0};

	assert_true(mh_engine_place(&t.nic, to, 1, "ab", 2));
	assert_bytes_eq(to, "\0ab", 4);
	/* A null MR keeps none of it. */
	assert_true(mh_engine_place(&t.nic, NULL, 1, "ab", 2));
}

static uint64_t atomic_on(uint64_t *word, struct mt_atomic op)
{
	uint64_t original = 0;

	assert_true(t.env.atomic(t.env.ctx, word, 0, &op, &original));
	return original;
}

HOST_TEST(mh_engine_create, with_atomics_of_the_processor)
{
	_Alignas(8) uint8_t bytes[16] = {0};
	struct mt_atomic add = {.swap_add = 5};
	uint64_t word = 7, original = 1;

	assert_i_eq(mh_engine_create(&t.nic, NOW_NS), 0);
	assert_u_eq(atomic_on(&word, add), 7);
	assert_u_eq(atomic_on(&word, (struct mt_atomic){.swaps = true, .compare = 11}), 12);
	assert_u_eq(word, 12);
	assert_u_eq(atomic_on(&word, (struct mt_atomic){.swaps = true, .compare = 12}), 12);
	assert_u_eq(word, 0);
	assert_u_eq(atomic_on(&word, (struct mt_atomic){.stores = true, .swap_add = 9}), 0);
	assert_u_eq(word, 9);
	/* The MR may begin askew, so that an aligned address in it is none. */
	assert_false(t.env.atomic(t.env.ctx, bytes + 1, 0, &add, &original));
	assert_u_eq(original, 1);
	assert_true(t.env.atomic(t.env.ctx, bytes + 1, 7, &add, &original));
	assert_u_eq(original, 0);
	assert_u_eq(bytes[8], 5);
	mh_engine_destroy(&t.nic);
}
