/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_bounds.c - what the drop-in says of devices and ports at the bounds of what verbs can
 * say.
 */
#include "live/verbs_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- devices ---- */

/* Of as many as there can be; which there are stays as long as a process lives. */
TEST(ibv_get_device_guid, of_none_behind_the_last)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct ibv_device foreign = {.name = "mlx5_0"}, **list;
		int n = 0;

		setenv("MRC_PORTS",
		       "127.0.1.1,127.0.2.1,127.0.3.1,127.0.4.1,127.0.5.1,127.0.6.1,127.0.7.1,"
		       "127.0.8.1",
		       1);
		setenv("MRC_DEVICES", "8", 1);
		list = ibv_get_device_list(&n);
		_exit(!list || n != 8 || ibv_get_device_guid(list[7]) == 0 ||
		      ibv_get_device_guid(&foreign) != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* ---- ports ---- */

/* What a function leaves unset is not, by chance, what it was the last time: it is nothing. */
static __attribute__((noinline)) void soil_stack(void)
{
	volatile uint8_t stack[8192];

	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = 0;
}

/* Two planes of this pace each. */
static void expect_speed(const char *pace, uint8_t code)
{
	struct ibv_port_attr port;
	struct ibv_device_attr device;
	struct verbs_fixture r;

	setenv("MRC_PORTS", "127.0.1.1,127.0.2.1", 1);
	setenv("MRC_PACE", pace, 1);
	verbs_fixture_open(&r);
	soil_stack();
	assert_int_equal(ibv_query_port(r.ctx, 1, &port), 0);
	assert_u_eq(port.active_speed, code);
	assert_u_eq(port.active_width, 1);
	assert_u_eq(port.max_msg_sz, UINT32_MAX);
	assert_int_equal(port.max_mtu, IBV_MTU_4096);
	/* A controller asks for planes as ports. */
	for (uint8_t number = 2; number <= 3; number++)
		assert_int_equal(ibv_query_port(r.ctx, number, &port), number == 2 ? 0 : EINVAL);
	assert_int_equal(ibv_query_device(r.ctx, &device), 0);
	assert_string_equal(device.fw_ver, "softmrc");
	verbs_fixture_close(&r);
	unsetenv("MRC_PACE");
	unsetenv("MRC_PORTS");
}

/* The least speed with a name that is not below that of the planes together. */
TEST(ibv_query_port, speeds)
{
	expect_speed("0", 4);	    /* none: 10 Gb/s */
	expect_speed("1G", 1);	    /* 2.5 */
	expect_speed("5G", 4);	    /* 10, to the bit */
	expect_speed("12500M", 32); /* 25 */
	expect_speed("13G", 64);    /* 50 */
	expect_speed("50G", 128);   /* 100 */
	expect_speed("200G", 128);  /* and none is above it */
}
