/* SPDX-License-Identifier: BSD-2-Clause */
/* The checker, told of placements that must not be. */
#include "support/test.h"

#include "sim/mrc/mrc_nic_state.h"

#define MTU 1024u

static struct ms_mrc mrc;
static struct ms_nic_worker worker;
static struct ms_mrc_host host;
static struct ms_conn conn;
static uint64_t bits[1];

/* Three messages of 2500 bytes, three packets each, the last message 1100 bytes long. */
static int fresh(void **state)
{
	(void)state;
	mrc = (struct ms_mrc){.cfg.path_mtu = MTU};
	worker = (struct ms_nic_worker){.violation = ""};
	host = (struct ms_mrc_host){.mrc = &mrc, .nic.worker = &worker};
	bits[0] = 0;
	conn = (struct ms_conn){
		.placed = bits,
		.end = {.bytes = 6100, .message_bytes = 2500, .messages = 3, .flow = 7},
		.region_bytes = 6100,
		.per_message = 3,
	};
	return 0;
}

static void place(uint64_t offset, uint32_t len)
{
	assert_true(ms_conn_place(&host, &conn, offset, NULL, len));
}

#define CHECKS(name) TEST_WITH(fresh, NULL, ms_conn_place, name)

/* REQ(sim.check.once) */
CHECKS(all_packets_once)
{
	static const struct {
		uint32_t offset, len;
	} packets[] = {{0, 1024},    {1024, 1024}, {2048, 452},	 {2500, 1024},
		       {3524, 1024}, {4548, 452},  {5000, 1024}, {6024, 76}};

	for (unsigned i = 0; i < 8; i++) {
		assert_i_eq(ms_conn_message_is_complete(&conn, 0, MTU), i >= 3);
		assert_i_eq(ms_conn_message_is_complete(&conn, 1, MTU), i >= 6);
		assert_false(ms_conn_message_is_complete(&conn, 2, MTU));
		place(packets[i].offset, packets[i].len);
	}
	assert_true(ms_conn_message_is_complete(&conn, 2, MTU));
	assert_u_eq(conn.end.placed_bytes, 6100);
	assert_u_eq(worker.sums.violations, 0);
}

static void refused(uint64_t offset, uint32_t len, const char *what)
{
	uint32_t before = worker.sums.violations;

	place(offset, len);
	assert_u_eq(worker.sums.violations, before + 1);
	if (before == 0)
		assert_non_null(strstr(worker.violation, what));
}

CHECKS(twice)
{
	place(1024, 1024);
	refused(1024, 1024, "flow 7: 1024 bytes at 1024 placed twice");
}

CHECKS(outside)
{
	refused(6100, 1, "flow 7: 1 bytes placed at 6100, where no packet is");
	refused(7524, 1024, "");
	refused(UINT64_MAX, 1024, "");
}

CHECKS(at_the_wrong_place)
{
	refused(1, 1024, "placed at 1, where no packet is");
	refused(2047, 452, "");
	refused(2049, 452, "");
}

CHECKS(of_the_wrong_length)
{
	refused(0, 1023, "1023 bytes placed at 0");
	refused(0, 1025, "");
	refused(2048, 1024, ""); /* into the next message */
	refused(6024, 77, "");	 /* beyond the last */
}

/* An empty message has nothing to be placed. */
CHECKS(nothing)
{
	conn.end.bytes = conn.region_bytes = conn.end.message_bytes = 0;
	conn.end.messages = conn.per_message = 1;
	assert_true(ms_conn_message_is_complete(&conn, 0, MTU));
	refused(0, 1, "where no packet is");
}
