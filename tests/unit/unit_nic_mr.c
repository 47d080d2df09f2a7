/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_mr.c - registering memory: keys, and each wrong argument. */
#include "support/test.h"

#include <errno.h>
#include <sys/mman.h>

#include "host/nic.h"
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
	free(mrs);
}
