/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows as objects: keys, counts, wrong arguments. What they let peers do:
 * live_verbs_mw.c. */
#include "support/test.h"

#include <errno.h>

#include "host/nic.h"
#include "unit/loopback.h"

struct mw_fixture {
	struct mh_device *dev;
	struct mh_pd *pd;
};

static int mw_setup(void **state)
{
	struct mw_fixture *fixture = calloc(1, sizeof(*fixture));

	loopback_env(1);
	setenv("MRC_EV_BASE", "53300", 1);
	*state = fixture;
	return mh_device_open(0, NULL, &fixture->dev) ||
	       mh_pd_create(fixture->dev, NULL, &fixture->pd);
}

static int mw_teardown(void **state)
{
	struct mw_fixture *fixture = *state;
	int err = mh_pd_destroy(fixture->pd) || mh_device_close(fixture->dev);

	free(fixture);
	return err;
}

#define MW_TEST(function, name) TEST_WITH(mw_setup, mw_teardown, function, name)

/* REQ(ext.mw.rkey) */
MW_TEST(mh_mw_alloc, keys_of_indices_that_no_region_has)
{
	struct mw_fixture *fixture = *state;
	struct mh_mw *a, *b;
	struct mh_mr *mr;
	uint8_t bytes[64];

	assert_i_eq(mh_mw_alloc(fixture->pd, RD_MW_TYPE_1, &a), 0);
	assert_i_eq(mh_mr_reg(fixture->pd, bytes, 64, 0, 0, &mr), 0);
	assert_i_eq(mh_mw_alloc(fixture->pd, RD_MW_TYPE_2, &b), 0);
	assert_true(mh_mw_rkey(a) >> 8 != mh_mw_rkey(b) >> 8);
	assert_true(mh_mw_rkey(a) >> 8 != mh_mr_rkey(mr) >> 8);
	assert_i_eq(mh_mr_dereg(mr), 0);
	assert_i_eq(mh_pd_destroy(fixture->pd), EBUSY);
	assert_i_eq(mh_mw_dealloc(a), 0);
	assert_i_eq(mh_mw_dealloc(b), 0);
}

MW_TEST(mh_mw_alloc, wrong_types)
{
	struct mw_fixture *fixture = *state;
	struct mh_mw *mw;

	assert_i_eq(mh_mw_alloc(fixture->pd, (enum rd_mw_type)0, &mw), EINVAL);
	assert_i_eq(mh_mw_alloc(fixture->pd, (enum rd_mw_type)3, &mw), EINVAL);
}

/* Regions and windows have one table. */
MW_TEST(mh_mw_alloc, many)
{
	struct mw_fixture *fixture = *state;
	struct mh_device_attr attr;
	struct mh_mw **mws, *one_more;

	mh_device_query(fixture->dev, &attr);
	mws = calloc(attr.max_mr, sizeof(*mws));
	assert_non_null(mws);
	for (uint32_t i = 0; i < attr.max_mr; i++)
		assert_i_eq(mh_mw_alloc(fixture->pd, RD_MW_TYPE_2, &mws[i]), 0);
	assert_i_eq(mh_mw_alloc(fixture->pd, RD_MW_TYPE_1, &one_more), ENOMEM);
	for (uint32_t again = 0; again < 2; again++) {
		for (uint32_t i = 0; i < attr.max_mr; i++)
			assert_i_eq(mh_mw_dealloc(mws[i]), 0);
		for (uint32_t i = 0; i < attr.max_mr && again == 0; i++)
			assert_i_eq(mh_mw_alloc(fixture->pd, RD_MW_TYPE_1, &mws[i]), 0);
	}
	free(mws);
}
