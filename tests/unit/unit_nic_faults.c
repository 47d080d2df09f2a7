/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_faults.c - a fault table whose file its owner cuts off while it is in use. Alone in its
 * program: a test takes the signal handlers away that a NIC of a test before has put in place.
 */
#include "support/fault_table.h"
#include "unit/nic_fixture.h"

static char table_path[] = "/tmp/softmrc-nic-table-XXXXXX";

/* Every frame is dropped, as long as the table is there. */
static int table_setup(void **state)
{
	static const struct mrc_fault_table table = {
		TEST_FAULT_TABLE,
		.rule[0] = {.kind = MRC_FAULT_DROP, .port_mask = 3, .chance_ppm = 1000000},
	};
	int fd;

	strcpy(table_path + sizeof(table_path) - 7, "XXXXXX");
	fd = mkstemp(table_path);
	if (fd < 0 || close(fd))
		return -1;
	test_fault_table_write(table_path, &table);
	(void)state;
	setenv("MRC_FAULTS", table_path, 1);
	return 0;
}

static int table_teardown(void **state)
{
	unlink(table_path);
	(void)state;
	unsetenv("MRC_FAULTS");
	return 0;
}

static void post_write(struct nic_fixture *fixture)
{
	struct rd_sge sge = {(uintptr_t)fixture->buffer, 100, mh_mr_lkey(fixture->mr)};
	struct rd_send_wr wr = {.sge = &sge, .n_sge = 1};

	assert_i_eq(mh_qp_post_send(fixture->qp, &wr, 1, NULL), 0);
}

TEST_WITH(table_setup, table_teardown, mh_ports, a_fault_table_that_is_cut_off_has_no_rules)
{
	struct nic_fixture *fixture;
	struct mio_rx frame;
	void *made;

	/* The signal handlers that are in place while a fixture is made go with its end. */
	assert_i_eq(fixture_setup(&made), 0);
	fixture = made;
	assert_i_eq(fixture_connect(fixture), 0);
	post_write(fixture);
	assert_u_eq(fixture_receive(fixture, &frame), UINT32_MAX);
	assert_i_eq(truncate(table_path, 0), 0);
	post_write(fixture);
	assert_true(fixture_receive(fixture, &frame) != UINT32_MAX);
	assert_i_eq(fixture_teardown(&made), 0);
}
