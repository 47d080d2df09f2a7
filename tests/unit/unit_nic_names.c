/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_host_names.c - everything that is enumerated has a name of its own. */
#include "support/test.h"

#include "host/nic.h"

TEST(mh_wc_status_name, all_differ)
{
	for (int i = MH_WC_SUCCESS; i <= MH_WC_RNR_RETRY_EXC_ERR; i++)
		for (int k = MH_WC_SUCCESS; k <= MH_WC_RNR_RETRY_EXC_ERR + 1; k++)
			if (i != k)
				assert_string_not_equal(mh_wc_status_name((enum mh_wc_status)i),
							mh_wc_status_name((enum mh_wc_status)k));
}

TEST(mh_qp_state_name, is_that_of_the_verbs)
{
	assert_string_equal(mh_qp_state_name(MH_QPS_RESET), "RESET");
	assert_string_equal(mh_qp_state_name(MH_QPS_RTS), "RTS");
	assert_string_equal(mh_qp_state_name(MH_QPS_ERR), "ERR");
}

TEST(mh_async_type_name, all_differ)
{
	for (int i = MH_ASYNC_CQ_ERR; i <= MH_ASYNC_PORT_UP; i++)
		for (int k = MH_ASYNC_CQ_ERR; k <= MH_ASYNC_PORT_UP + 1; k++)
			if (i != k)
				assert_string_not_equal(mh_async_type_name((enum mh_async_type)i),
							mh_async_type_name((enum mh_async_type)k));
}
