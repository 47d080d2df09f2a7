/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_mr.c - registering memory: keys, and each wrong argument. */
#include "support/test.h"

#include <errno.h>
#include <sys/mman.h>

#include "host/state/nic_context.h"
#include "unit/loopback.h"

struct mr_fixture {
	struct mh_device *dev;
	struct mh_pd *pd;
};

static int mr_setup(void **state)
{
	struct mr_fixture *fixture = calloc(1, sizeof(*fixture));

	loopback_env(1);
	setenv("MRC_EV_BASE", "53200", 1);
	*state = fixture;
	return mh_device_open(0, NULL, &fixture->dev) ||
	       mh_pd_create(fixture->dev, NULL, &fixture->pd);
}

static int mr_teardown(void **state)
{
	struct mr_fixture *fixture = *state;
	int err = mh_pd_destroy(fixture->pd) || mh_device_close(fixture->dev);

	free(fixture);
	return err;
}

#define MR_TEST(name) TEST_WITH(mr_setup, mr_teardown, mh_mr_reg, name)

MR_TEST(gives_different_keys)
{
	struct mr_fixture *fixture = *state;
	struct mh_mr *a, *b;
	uint8_t bytes[64];

	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, 0, 0, &a), 0);
	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, 0, 0, &b), 0);
	assert_true(mh_mr_lkey(a) != mh_mr_lkey(b));
	assert_true(mh_mr_lkey(a) != 0);
	assert_u_eq(mh_mr_lkey(a), mh_mr_rkey(a));
	assert_i_eq(mh_pd_destroy(fixture->pd), EBUSY);
	assert_i_eq(mh_mr_dereg(a), 0);
	assert_i_eq(mh_mr_dereg(b), 0);
}

MR_TEST(wrong_arguments)
{
	static const uint32_t both = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE;
	struct mr_fixture *fixture = *state;
	struct mh_mr *mr;
	uint8_t bytes[64];

	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 0, 0, both, &mr), EINVAL);
	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, 0, 32, &mr), EINVAL);
	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, 0, RD_ACCESS_REMOTE_WRITE, &mr), EINVAL);
	assert_i_eq(mh_mr_reg(fixture->pd, bytes, SIZE_MAX, 0, both, &mr), EINVAL);
	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, UINT64_MAX - 10, both, &mr), EINVAL);
	assert_i_eq(mh_mr_reg(fixture->pd, NULL, 64, 0, both, &mr), EFAULT);
}

MR_TEST(read_only_memory_only_for_reading)
{
	uint8_t *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mr_fixture *fixture = *state;
	struct mh_mr *mr;

	assert_i_eq(mh_mr_reg(fixture->pd, p, 4096, 0, RD_ACCESS_LOCAL_WRITE, &mr), EFAULT);
	assert_i_eq(mh_mr_reg(fixture->pd, p, 4096, 0, 0, &mr), 0);
	assert_i_eq(mh_mr_dereg(mr), 0);
	munmap(p, 4096);
}

MR_TEST(many)
{
	struct mr_fixture *fixture = *state;
	struct mh_device_attr attr;
	struct mh_mr **mrs, *more;
	uint8_t byte;

	mh_device_query(fixture->dev, &attr);
	mrs = calloc(attr.max_mr, sizeof(*mrs));
	for (uint32_t i = 0; i < attr.max_mr; i++)
		assert_i_eq(mh_mr_reg(fixture->pd, &byte, 1, 0, 0, &mrs[i]), 0);
	assert_i_eq(mh_mr_reg(fixture->pd, &byte, 1, 0, 0, &more), ENOMEM);
	for (uint32_t i = 0; i < attr.max_mr; i++)
		assert_i_eq(mh_mr_dereg(mrs[i]), 0);
	/* Each of them can be had again. */
	for (uint32_t i = 0; i < attr.max_mr; i++)
		assert_i_eq(mh_mr_reg(fixture->pd, &byte, 1, 0, 0, &mrs[i]), 0);
	for (uint32_t i = 0; i < attr.max_mr; i++)
		assert_i_eq(mh_mr_dereg(mrs[i]), 0);
	free(mrs);
}

MR_TEST(up_to_the_last_address)
{
	struct mr_fixture *fixture = *state;
	uint8_t bytes[64];
	struct mh_mr *mr;

	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, UINT64_MAX - 64, 0, &mr), 0);
	assert_i_eq(mh_mr_dereg(mr), 0);
	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, UINT64_MAX - 63, 0, &mr), EINVAL);
	/* Of the program's own nothing is there. */
	assert_i_eq(mh_mr_reg(fixture->pd, (void *)(UINTPTR_MAX - 64), 64, 0, 0, &mr), EFAULT);
	assert_i_eq(mh_mr_reg(fixture->pd, (void *)(UINTPTR_MAX - 63), 64, 0, 0, &mr), EINVAL);
}

/* ---- changes ---- */

#define REREG_TEST(name) TEST_WITH(mr_setup, mr_teardown, mh_mr_rereg, name)

static uint8_t memory[2][64];

static struct mh_mr *reg(struct mr_fixture *fixture)
{
	struct mh_mr *mr = NULL;

	assert_i_eq(mh_mr_reg(fixture->pd, memory[0], 64, 1000, RD_ACCESS_LOCAL_WRITE, &mr), 0);
	return mr;
}

/* What the engine has of it, at an address of the MR's. */
static bool is_at(struct mr_fixture *fixture, struct mh_mr *mr, uint64_t iova, const void *bytes)
{
	struct mt_mr_part part = {.offset = 0};
	struct mh_nic *nic = fixture->dev->nic;
	bool found;

	mh_nic_lock(nic);
	found = mt_mr_find(nic->engine, mh_mr_lkey(mr), iova, 1, &part);
	mh_nic_unlock(nic);
	return found && (uint8_t *)part.mr_user + part.offset == bytes;
}

/* Each thing alone; the others, and the key, stay. */
REREG_TEST(changes_what_is_asked_for)
{
	struct mr_fixture *fixture = *state;
	struct mh_mr *mr = reg(fixture);
	uint32_t key = mh_mr_lkey(mr);
	struct mh_mr_change change = {.mask = MH_MR_MEMORY,
				      .addr = memory[1],
				      .length = 32,
				      .iova = 2000,
				      .access = RD_ACCESS_REMOTE_READ};
	struct mh_pd *other;

	assert_i_eq(mh_pd_create(fixture->dev, NULL, &other), 0);
	change.pd = other;
	assert_true(is_at(fixture, mr, 1000, memory[0]));
	assert_i_eq(mh_mr_rereg(mr, &change), 0);
	assert_ptr_equal(mr->pd, fixture->pd);
	assert_u_eq(mr->access, RD_ACCESS_LOCAL_WRITE);
	assert_u_eq(mr->length, 32);
	assert_true(is_at(fixture, mr, 2031, &memory[1][31]));
	assert_false(is_at(fixture, mr, 1000, memory[0]) || is_at(fixture, mr, 2032, NULL));
	change = (struct mh_mr_change){.mask = MH_MR_PD, .pd = other};
	assert_i_eq(mh_mr_rereg(mr, &change), 0);
	assert_ptr_equal(mr->pd, other);
	assert_i_eq(mh_pd_destroy(other), EBUSY);
	assert_u_eq(fixture->pd->objects, 0);
	change = (struct mh_mr_change){.mask = MH_MR_ACCESS, .access = RD_ACCESS_REMOTE_READ};
	assert_i_eq(mh_mr_rereg(mr, &change), 0);
	assert_u_eq(mr->access, RD_ACCESS_REMOTE_READ);
	assert_ptr_equal(mr->pd, other);
	assert_u_eq(mr->iova, 2000);
	assert_u_eq(mh_mr_rkey(mr), key);
	assert_i_eq(mh_mr_dereg(mr), 0);
	assert_i_eq(mh_pd_destroy(other), 0);
}

REREG_TEST(refuses_and_changes_nothing)
{
	struct mr_fixture *fixture = *state;
	struct mh_mr *mr = reg(fixture), *null;
	struct mh_mr_change change = {.mask = MH_MR_ACCESS, .access = RD_ACCESS_REMOTE_WRITE};
	struct mh_device *dev;
	struct mh_pd *pd;

	assert_i_eq(mh_mr_rereg(mr, &change), EINVAL);
	change = (struct mh_mr_change){.mask = MH_MR_MEMORY, .addr = NULL, .length = 64};
	assert_i_eq(mh_mr_rereg(mr, &change), EFAULT);
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	assert_i_eq(mh_pd_create(dev, NULL, &pd), 0);
	change = (struct mh_mr_change){.mask = MH_MR_PD, .pd = pd};
	assert_i_eq(mh_mr_rereg(mr, &change), EINVAL);
	assert_i_eq(mh_pd_destroy(pd), 0);
	assert_i_eq(mh_device_close(dev), 0);
	assert_ptr_equal(mr->pd, fixture->pd);
	assert_u_eq(mr->access, RD_ACCESS_LOCAL_WRITE);
	assert_true(is_at(fixture, mr, 1000, memory[0]));
	assert_i_eq(mh_mr_dereg(mr), 0);
	assert_i_eq(mh_mr_reg_null(fixture->pd, &null), 0);
	change = (struct mh_mr_change){.mask = MH_MR_ACCESS};
	assert_i_eq(mh_mr_rereg(null, &change), EINVAL);
	assert_i_eq(mh_mr_dereg(null), 0);
}
