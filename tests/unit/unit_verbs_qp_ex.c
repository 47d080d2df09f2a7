/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_verbs_qp_ex.c - batches of extended QPs to their bounds: src/libibverbs/verbs_qp_ex.c over
 * QPs that are made up.
 */
#include "libibverbs/real_library.h"
#include "support/test.h"

#define DEPTH 4u
#define SGES 3u
#define INLINE 16u

_Atomic(const struct mv_real *) mv_real_loaded;

/* ---- what it is built on ---- */

static struct mv_context context;
static struct ibv_pd pd = {.context = &context.verbs.context};
static struct mv_qp *made;
static int n_made, n_destroyed;
static uint32_t asked_inline;

struct ibv_qp *ibv_create_qp(struct ibv_pd *of, struct ibv_qp_init_attr *init)
{
	assert_ptr_equal(of, &pd);
	made = calloc(1, sizeof(*made));
	assert_non_null(made);
	asked_inline = init->cap.max_inline_data;
	made->cap = init->cap;
	made->ibv.context = of->context;
	n_made++;
	return &made->ibv;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	mv_qp_ex_end((struct mv_qp *)qp);
	free(qp);
	n_destroyed++;
	return 0;
}

int ibv_query_device(struct ibv_context *of, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){.max_qp_rd_atom = 4};
	return of == &context.verbs.context ? 0 : EINVAL;
}

bool mv_device_is_ours(const struct ibv_device *device)
{
	return device == NULL;
}

static bool is_child; /* of fork */

bool mh_device_is_inherited(const struct mh_device *dev)
{
	assert_ptr_equal(dev, context.nic);
	return is_child;
}

static uint32_t n_free;

uint32_t mh_qp_send_wrs_free(const struct mh_qp *qp)
{
	(void)qp;
	return n_free;
}

static struct ibv_send_wr posted[DEPTH];
static uint32_t n_posted;

int mv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	assert_ptr_equal(qp, &made->ibv);
	(void)bad;
	for (n_posted = 0; wr; wr = wr->next)
		posted[n_posted++] = *wr;
	return 0;
}

static int no_memory; /* the n-th allocation from now */

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes)
{
	return no_memory > 0 && --no_memory == 0 ? NULL : __real_calloc(n, bytes);
}

/* ---- cases ---- */

static struct ibv_qp_init_attr_ex init_attr;
static struct ibv_qp_ex *ex;

static struct ibv_qp *make(void)
{
	return mv_create_qp_ex(&context.verbs.context, &init_attr);
}

static int setup(void **state)
{
	struct ibv_qp *qp;

	(void)state;
	init_attr = (struct ibv_qp_init_attr_ex){
		.cap = {.max_send_wr = DEPTH, .max_send_sge = SGES, .max_inline_data = INLINE},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = &pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	n_made = n_destroyed = no_memory = 0;
	n_free = DEPTH;
	n_posted = 0;
	is_child = false;
	qp = make();
	ex = qp ? ibv_qp_to_qp_ex(qp) : NULL;
	return ex ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ibv_destroy_qp((struct ibv_qp *)ex);
	assert_i_eq(n_destroyed, n_made);
	return 0;
}

#define EX_TEST(function, name) TEST_WITH(setup, teardown, function, name)

/* A batch of n SENDs; of the last one so many SGEs. */
static int send_sges(uint32_t n, size_t n_sge)
{
	const struct ibv_sge sges[SGES + 1] = {{.addr = 1}, {.addr = 2}, {.addr = 3}, {.addr = 4}};

	ibv_wr_start(ex);
	for (uint32_t i = 0; i < n; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
		ibv_wr_set_sge_list(ex, i + 1 < n ? 1 : n_sge, sges);
	}
	return ibv_wr_complete(ex);
}

EX_TEST(ibv_wr_set_sge_list, as_many_as_there_are)
{
	for (uint32_t n = 1; n <= DEPTH; n++) {
		assert_i_eq(send_sges(n, SGES), 0);
		assert_u_eq(n_posted, n);
		assert_i_eq(posted[n - 1].num_sge, SGES);
		for (uint32_t i = 0; i < SGES; i++)
			assert_u_eq(posted[n - 1].sg_list[i].addr, i + 1);
		n_posted = 0;
		assert_i_eq(send_sges(n, SGES + 1), EINVAL);
		assert_u_eq(n_posted, 0);
	}
	assert_i_eq(send_sges(DEPTH + 1, 1), ENOMEM);
}

/* Bytes that fill their place, together, and one more; the last WR's place is the last there is. */
EX_TEST(ibv_wr_set_inline_data_list, as_much_as_there_is)
{
	uint8_t bytes[INLINE + 1];

	test_rand_bytes(bytes, sizeof(bytes));
	for (size_t more = 0; more < 2; more++) {
		const struct ibv_data_buf bufs[] = {
			{bytes, 5}, {NULL, 0}, {bytes + 5, INLINE - 5 + more}};

		ibv_wr_start(ex);
		for (uint32_t i = 0; i < DEPTH; i++) {
			ibv_wr_send(ex);
			ibv_wr_set_inline_data_list(ex, 3, bufs);
		}
		n_posted = 0;
		assert_i_eq(ibv_wr_complete(ex), more ? EINVAL : 0);
		assert_u_eq(n_posted, more ? 0 : DEPTH);
	}
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_u_eq(posted[i].sg_list[0].length, INLINE);
		assert_bytes_eq((void *)(uintptr_t)posted[i].sg_list[0].addr, bytes, INLINE);
		assert_true(posted[i].send_flags & IBV_SEND_INLINE);
	}
}

/* All of a batch or none of it; and the error of the batch counts before that there is no room. */
EX_TEST(ibv_wr_complete, where_there_is_room_for_all)
{
	n_free = 2;
	assert_i_eq(send_sges(2, 1), 0);
	assert_u_eq(n_posted, 2);
	n_posted = 0;
	assert_i_eq(send_sges(3, 1), ENOMEM);
	assert_i_eq(send_sges(3, SGES + 1), EINVAL);
	assert_u_eq(n_posted, 0);
}

EX_TEST(ibv_create_qp_ex, without_memory)
{
	for (int n = 1; n <= 4; n++) {
		no_memory = n + 1; /* the first is the QP */
		errno = 0;
		assert_null(make());
		assert_i_eq(errno, ENOMEM);
		assert_i_eq(n_destroyed, n);
	}
}

/* The bytes of an atomic write have room whatever is asked for; no others are given any. */
EX_TEST(ibv_create_qp_ex, room_for_atomic_writes)
{
	static const struct {
		uint64_t ops;
		uint32_t more, asked, want;
	} rows[] = {
		{IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0, 8},
		{IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 8, 8},
		{IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 9, 9},
		{IBV_QP_EX_WITH_SEND, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0, 0},
		{IBV_QP_EX_WITH_ATOMIC_WRITE, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_qp *qp;

		init_attr.comp_mask = IBV_QP_INIT_ATTR_PD | rows[i].more;
		init_attr.send_ops_flags = rows[i].ops;
		init_attr.cap.max_inline_data = rows[i].asked;
		qp = make();
		assert_non_null(qp);
		assert_u_eq(asked_inline, rows[i].want);
		ibv_destroy_qp(qp);
	}
}

/* Its lock is another process's, begun or not; held_mutexes.c sees what is locked and unlocked. */
EX_TEST(ibv_wr_complete, fails_in_a_child)
{
	is_child = true;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	assert_i_eq(ibv_wr_complete(ex), ENODEV);
	ibv_wr_start(ex);
	ibv_wr_abort(ex);
	is_child = false;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	is_child = true;
	ibv_wr_abort(ex);
	assert_i_eq(ibv_wr_complete(ex), ENODEV);
	assert_u_eq(n_posted, 0);
	is_child = false;
	ibv_wr_abort(ex);
}
