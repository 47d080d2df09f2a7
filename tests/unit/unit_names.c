/* SPDX-License-Identifier: BSD-2-Clause */
/* Every value of an enum has a name of its own; what is none has a mark. */
#include "support/test.h"

#include "core/engine.h"

#define NAMES_MAX 16

static void check_distinct(const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		assert_true(strlen(names[i]) > 1);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(names[i], names[k]);
	}
}

TEST(mt_qp_state_name, each_state)
{
	const char *names[NAMES_MAX];

	for (unsigned i = 0; i < RD_QPS_COUNT; i++)
		names[i] = mt_qp_state_name((enum rd_qp_state)i);
	check_distinct(names, RD_QPS_COUNT);
	assert_string_equal(mt_qp_state_name(RD_QPS_RTS), "RTS");
	assert_string_equal(mt_qp_state_name(RD_QPS_COUNT), "?");
}

TEST(mt_ev_state_name, each_state)
{
	const char *names[NAMES_MAX];

	for (unsigned i = 0; i < MT_EV_STATES; i++)
		names[i] = mt_ev_state_name((enum mt_ev_state)i);
	check_distinct(names, MT_EV_STATES);
	assert_string_equal(mt_ev_state_name(MT_EV_ASSUMED_BAD), "ASSUMED_BAD");
	assert_string_equal(mt_ev_state_name(MT_EV_STATES), "?");
}

TEST(mt_ev_cause_name, each_cause)
{
	const char *names[NAMES_MAX];

	for (unsigned i = 0; i < MT_EV_CAUSES; i++)
		names[i] = mt_ev_cause_name((enum mt_ev_cause)i);
	check_distinct(names, MT_EV_CAUSES);
	assert_string_equal(mt_ev_cause_name(MT_EV_BY_LOSS), "loss");
	assert_string_equal(mt_ev_cause_name(MT_EV_CAUSES), "?");
}

TEST(mt_wc_status_name, each_status)
{
	const char *names[NAMES_MAX];

	for (unsigned i = 0; i < RD_WC_STATUSES; i++)
		names[i] = mt_wc_status_name((enum rd_wc_status)i);
	check_distinct(names, RD_WC_STATUSES);
	assert_string_equal(mt_wc_status_name(RD_WC_SUCCESS), "success");
	assert_string_equal(mt_wc_status_name((enum rd_wc_status)RD_WC_STATUSES), "?");
}
