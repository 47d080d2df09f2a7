/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading and finding again; what needs the kernel's BPF skips where that is refused. */
#include <errno.h>
#include <net/if.h>

#include "support/netns.h"
#include "support/test.h"
#include "switchq/switchq.h"

static struct mswq_error error;

/* A handle, or a skipped case. */
static struct mswq *load(uint32_t ports)
{
	struct mswq *swq = NULL;

	if (mswq_load(ports, &swq, &error) != 0)
		test_skip(error.text);
	return swq;
}

TEST(mswq_load, names_a_bad_number_of_ports)
{
	struct mswq *swq = NULL;

	assert_int_equal(mswq_load(0, &swq, &error), EINVAL);
	assert_string_equal(error.text, "ports of a switch program: 0; 1 to 65536");
	assert_int_equal(mswq_load(65537, &swq, &error), EINVAL);
	assert_null(swq);
}

TEST(mswq_reopen, finds_what_is_there_and_nothing_else)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq *swq = load(2), *again = NULL;
	struct mswq_reading reading;
	struct mswq_port port;
	uint32_t id = mswq_id(swq);

	mswq_port_default(&port, &dscp, 1000000, 0, false);
	assert_int_equal(mswq_port_set(swq, 5, &port, &error), 0);
	assert_int_equal(mswq_reopen(id, &again, &error), 0);
	assert_u_eq(mswq_id(again), id);
	assert_int_equal(mswq_read(again, 5, &reading, &error), 0);
	mswq_close(again);
	mswq_close(swq);
	assert_int_equal(mswq_reopen(id, &again, &error), ENOENT);
	assert_non_null(strstr(error.text, "BPF program"));
}

TEST(mswq_close, of_nothing)
{
	mswq_close(NULL);
}

TEST(mswq_port_set, refuses_more_ports_than_were_asked_for)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq *swq = load(2);
	struct mswq_port port;

	mswq_port_default(&port, &dscp, 1000000, 0, false);
	assert_int_equal(mswq_port_set(swq, 5, &port, &error), 0);
	assert_int_equal(mswq_port_set(swq, 6, &port, &error), 0);
	assert_int_equal(mswq_port_set(swq, 7, &port, &error), E2BIG);
	assert_int_equal(mswq_port_set(swq, 5, &port, &error), 0);
	assert_int_equal(mswq_port_forget(swq, 5, &error), 0);
	assert_int_equal(mswq_port_forget(swq, 5, &error), 0);
	assert_int_equal(mswq_port_set(swq, 7, &port, &error), 0);
	mswq_close(swq);
}

TEST(mswq_read, of_an_unknown_port)
{
	struct mswq *swq = load(2);
	struct mswq_reading reading;
	struct mswq_faults faults = {.blackhole = true};

	assert_int_equal(mswq_read(swq, 5, &reading, &error), ENOENT);
	assert_string_equal(error.text, "port 5 has no queue: set it up first");
	assert_int_equal(mswq_fault_set(swq, 5, &faults, &error), ENOENT);
	mswq_close(swq);
}

TEST(mswq_attach, again_and_nowhere)
{
	const char *why;
	struct mswq *swq;

	if (!test_netns(&why))
		test_skip(why);
	swq = load(2);
	assert_int_equal(mswq_attach(swq, -1, if_nametoindex("lo"), &error), 0);
	assert_int_equal(mswq_attach(swq, -1, if_nametoindex("lo"), &error), 0);
	assert_int_equal(mswq_attach(swq, -1, 4711, &error), ENODEV);
	assert_string_equal(error.text, "interface number 4711: clsact: No such device");
	assert_int_not_equal(mswq_attach(swq, 0, 1, &error), 0);
	mswq_close(swq);
}
