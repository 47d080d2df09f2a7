/* SPDX-License-Identifier: BSD-2-Clause */
/* Transmissions that were found lost. */
#include "support/test.h"

#include "core/window/lost_log.h"

static struct mt_lost_log full_log(void)
{
	struct mt_lost_log log = {0};

	for (uint32_t i = 0; i < MT_LOST_LOG_SIZE; i++)
		mt_lost_log_add(
			&log, &(struct mt_lost){
				      .psn = 1000 + i, .sent_ns = i, .qpn = 7, .ev = (uint16_t)i});
	return log;
}

TEST(mt_lost_log_find, each_of_as_many_in_a_row)
{
	struct mt_lost_log log = full_log();

	for (uint32_t i = 0; i < MT_LOST_LOG_SIZE; i++) {
		const struct mt_lost *lost = mt_lost_log_find(&log, 7, 1000 + i);

		assert_non_null(lost);
		assert_u_eq(lost->sent_ns, i);
		assert_u_eq(lost->ev, i);
	}
	assert_null(mt_lost_log_find(&log, 7, 999));
	assert_null(mt_lost_log_find(&log, 8, 1000));
	assert_null(mt_lost_log_find(&log, 7, 1000 + MT_LOST_LOG_SIZE));
}

TEST(mt_lost_log_remove, it_is_found_once)
{
	struct mt_lost_log log = full_log();

	mt_lost_log_remove(mt_lost_log_find(&log, 7, 1003));
	assert_null(mt_lost_log_find(&log, 7, 1003));
	assert_non_null(mt_lost_log_find(&log, 7, 1004));
}

TEST(mt_lost_log_add, a_later_loss_takes_the_place_of_an_earlier_one)
{
	struct mt_lost_log log = full_log();

	mt_lost_log_add(
		&log,
		&(struct mt_lost){.psn = 1000 + MT_LOST_LOG_SIZE, .sent_ns = 5, .qpn = 7, .ev = 3});
	assert_null(mt_lost_log_find(&log, 7, 1000));
	assert_non_null(mt_lost_log_find(&log, 7, 1000 + MT_LOST_LOG_SIZE));
}
