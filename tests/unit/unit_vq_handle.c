/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading and finding again; what needs the kernel's BPF skips where that is refused. */
#include <errno.h>
#include <net/if.h>

#include "support/netns.h"
#include "support/test.h"
#include "vq/vq.h"

static struct mvq_error error;

/* A handle, or a skipped case. */
static struct mvq *load(uint32_t ports)
{
	struct mvq *vq = NULL;

	if (mvq_load(ports, &vq, &error) != 0)
		test_skip(error.text);
	return vq;
}

TEST(mvq_load, names_a_bad_number_of_ports)
{
	struct mvq *vq = NULL;

	assert_int_equal(mvq_load(0, &vq, &error), EINVAL);
	assert_string_equal(error.text, "ports of a switch program: 0; 1 to 65536");
	assert_int_equal(mvq_load(65537, &vq, &error), EINVAL);
	assert_null(vq);
}

TEST(mvq_reopen, finds_what_is_there_and_nothing_else)
{
	struct mvq *vq = load(2), *again = NULL;
	struct mvq_reading reading;
	struct mvq_port port;
	uint32_t id = mvq_id(vq);

	mvq_port_default(&port, 1000000, 0, false);
	assert_int_equal(mvq_port_set(vq, 5, &port, &error), 0);
	assert_int_equal(mvq_reopen(id, &again, &error), 0);
	assert_u_eq(mvq_id(again), id);
	assert_int_equal(mvq_read(again, 5, &reading, &error), 0);
	mvq_close(again);
	mvq_close(vq);
	assert_int_equal(mvq_reopen(id, &again, &error), ENOENT);
	assert_non_null(strstr(error.text, "BPF program"));
}

TEST(mvq_close, of_nothing)
{
	mvq_close(NULL);
}

TEST(mvq_port_set, refuses_more_ports_than_were_asked_for)
{
	struct mvq *vq = load(2);
	struct mvq_port port;

	mvq_port_default(&port, 1000000, 0, false);
	assert_int_equal(mvq_port_set(vq, 5, &port, &error), 0);
	assert_int_equal(mvq_port_set(vq, 6, &port, &error), 0);
	assert_int_equal(mvq_port_set(vq, 7, &port, &error), E2BIG);
	assert_int_equal(mvq_port_set(vq, 5, &port, &error), 0);
	assert_int_equal(mvq_port_forget(vq, 5, &error), 0);
	assert_int_equal(mvq_port_forget(vq, 5, &error), 0);
	assert_int_equal(mvq_port_set(vq, 7, &port, &error), 0);
	mvq_close(vq);
}

TEST(mvq_read, of_an_unknown_port)
{
	struct mvq *vq = load(2);
	struct mvq_reading reading;
	struct mvq_faults faults = {.blackhole = true};

	assert_int_equal(mvq_read(vq, 5, &reading, &error), ENOENT);
	assert_string_equal(error.text, "port 5 has no queue: set it up first");
	assert_int_equal(mvq_fault_set(vq, 5, &faults, &error), ENOENT);
	assert_int_equal(mvq_fault_get(vq, 5, &faults, &error), ENOENT);
	mvq_close(vq);
}

TEST(mvq_attach, again_and_nowhere)
{
	const char *why;
	struct mvq *vq;

	if (!test_netns(&why))
		test_skip(why);
	vq = load(2);
	assert_int_equal(mvq_attach(vq, -1, if_nametoindex("lo"), &error), 0);
	assert_int_equal(mvq_attach(vq, -1, if_nametoindex("lo"), &error), 0);
	assert_int_equal(mvq_attach(vq, -1, 4711, &error), ENODEV);
	assert_string_equal(error.text, "interface number 4711: clsact: No such device");
	assert_int_not_equal(mvq_attach(vq, 0, 1, &error), 0);
	mvq_close(vq);
}
