/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_ports.c - claiming slots, opening all ports or none, watching them. */
#include "support/open_fds.h"

#include <errno.h>
#include <unistd.h>

#include "host/port/nic_ports.h"
#include "io/drivers.h"
#include "unit/loopback.h"

static struct mh_env ports_env(void)
{
	struct mh_env env = {.n_ports = 2,
			     .shards = 1,
			     .prefix = 120,
			     .evs = 2,
			     .run = 1,
			     .udp_port = MH_UDP_PORT,
			     .ev_base = 53000,
			     .rx_buffer_bytes = 1u << 20};

	mh_addr_from_ip(loopback_ip(0, 1), env.port[0].ip);
	mh_addr_from_ip(loopback_ip(1, 1), env.port[1].ip);
	return env;
}

static void ports_open(struct mh_ports *ports, struct mh_env *env)
{
	struct mio_error error = {""};

	if (mh_ports_open(ports, env, 0, &error))
		fail_msg("%s", error.text);
	mh_ports_first_links(ports, env, 0);
}

TEST(mh_ports_open, each_opener_gets_a_slot_of_its_own)
{
	struct mh_env env = ports_env();
	struct mh_ports a, b;

	ports_open(&a, &env);
	ports_open(&b, &env);
	assert_u_eq(a.slot, 0);
	assert_u_eq(b.slot, 1);
	assert_u_eq(b.n, 2);
	mh_ports_close(&a);
	ports_open(&a, &env);
	assert_u_eq(a.slot, 0);
	mh_ports_close(&a);
	mh_ports_close(&b);
}

/* The registered port is the first shard's or another process's. REQ(api.shards) */
TEST(mh_ports_open, later_shards_leave_the_first_slot)
{
	struct mh_env env = ports_env();
	struct mh_ports ports;

	env.shards = 2;
	env.shard = 1;
	ports_open(&ports, &env);
	assert_u_eq(ports.slot, 1);
	mh_ports_close(&ports);
}

/* A slot is one for all ports: one taken port makes the process look further. */
TEST(mh_ports_open, slot_is_free_on_all_ports)
{
	struct mio_addr taken = {.udp_port = MH_UDP_PORT};
	struct mh_env env = ports_env();
	struct mio_error error;
	struct mh_ports ports;
	int fd;

	memcpy(taken.ip, env.port[1].ip, sizeof(taken.ip));
	assert_i_eq(mio_udp_claim(&taken, NULL, &fd, &error), 0);
	ports_open(&ports, &env);
	assert_u_eq(ports.slot, 1);
	mh_ports_close(&ports);
	close(fd);
}

TEST(mh_ports_open, failing_port_leaves_nothing_open)
{
	struct mh_env env = ports_env();
	uint32_t before = test_open_fds();
	struct mio_error error;
	struct mh_ports ports;

	mh_addr_from_ip(0xC6336401, env.port[1].ip);
	assert_i_eq(mh_ports_open(&ports, &env, 0, &error), EADDRNOTAVAIL);
	assert_non_null(strstr(error.text, "198.51.100.1"));
	assert_u_eq(test_open_fds(), before);
	env = ports_env();
	ports_open(&ports, &env);
	assert_u_eq(ports.slot, 0);
	mh_ports_close(&ports);
}

/*
 * ports_take binds UDP port `number` of an address as another program does, which shares it with
 * nobody. -1: somebody has it already, which is as good.
 */
static int ports_take(const uint8_t ip[16], uint16_t number)
{
	struct mio_addr taken = {.udp_port = number};
	struct mio_error error;
	int fd;

	memcpy(taken.ip, ip, sizeof(taken.ip));
	return mio_udp_claim(&taken, NULL, &fd, &error) ? -1 : fd;
}

/* One port of the first run is taken on plane 0, one of the second on plane 1. */
TEST(mh_ports_open, moves_where_source_ports_are_free)
{
	struct mh_env env = ports_env();
	struct mh_ports ports;
	uint32_t before;
	int fd[2];

	env.ev_base = MH_EV_BASE;
	env.ev_base_any = true;
	fd[0] = ports_take(env.port[0].ip, MH_EV_BASE + 1);
	fd[1] = ports_take(env.port[1].ip, MH_EV_BASE_MORE);
	before = test_open_fds();
	ports_open(&ports, &env);
	assert_u_between(env.ev_base, MH_EV_BASE_MORE + 1, 65535 - MH_EV_BASE_STRIDE);
	assert_u_eq((env.ev_base - MH_EV_BASE_MORE) % MH_EV_BASE_STRIDE, 0);
	assert_u_eq(ports.slot, 0);
	mh_ports_close(&ports);
	assert_u_eq(test_open_fds(), before);
	for (uint32_t i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

TEST(mh_ports_open, stays_where_it_was_asked_to_be)
{
	struct mh_env env = ports_env();
	struct mio_error error;
	struct mh_ports ports;
	uint32_t before;
	int fd;

	fd = ports_take(env.port[1].ip, 53001);
	before = test_open_fds();
	assert_i_eq(mh_ports_open(&ports, &env, 0, &error), EADDRINUSE);
	assert_u_eq(env.ev_base, 53000);
	assert_non_null(strstr(error.text, "port 53001"));
	assert_non_null(strstr(error.text, "MRC_EV_BASE"));
	assert_u_eq(test_open_fds(), before);
	if (fd >= 0)
		close(fd);
}

/* Whoever finds no run that is free says so, and gives back all that it had. */
TEST(mh_ports_open, all_source_ports_taken)
{
	struct mh_env env = ports_env();
	int fd[1 + MH_EV_BASES_MORE];
	uint32_t before;
	struct mio_error error;
	struct mh_ports ports;

	env.ev_base = MH_EV_BASE;
	env.ev_base_any = true;
	fd[0] = ports_take(env.port[1].ip, MH_EV_BASE);
	for (uint32_t i = 0; i < MH_EV_BASES_MORE; i++)
		fd[1 + i] = ports_take(env.port[1].ip,
				       (uint16_t)(MH_EV_BASE_MORE + i * MH_EV_BASE_STRIDE));
	before = test_open_fds();
	assert_i_eq(mh_ports_open(&ports, &env, 0, &error), EADDRINUSE);
	assert_non_null(strstr(error.text, "49152 and 61056 to 62016"));
	assert_non_null(strstr(error.text, "MRC_EV_BASE"));
	assert_u_eq(test_open_fds(), before);
	for (uint32_t i = 0; i < 1 + MH_EV_BASES_MORE; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/* Processes of one user share source ports: who comes second does not move. */
TEST(mh_ports_open, second_opener_has_the_same_source_ports)
{
	struct mh_env first = ports_env(), second;
	struct mh_ports a, b;

	first.ev_base = MH_EV_BASE;
	first.ev_base_any = true;
	second = first;
	ports_open(&a, &first);
	ports_open(&b, &second);
	assert_u_eq(second.ev_base, first.ev_base);
	mh_ports_close(&a);
	mh_ports_close(&b);
}

TEST(mh_ports_open, missing_fault_table_is_named)
{
	struct mh_env env = ports_env();
	struct mio_error error;
	struct mh_ports ports;

	strcpy(env.faults, "/nowhere/faults");
	assert_i_eq(mh_ports_open(&ports, &env, 0, &error), ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/faults"));
}

/* REQ(wire.udp.dport) */
TEST(mh_ports_udp_of_qpn, follows_the_slot_in_the_number)
{
	struct mh_ports ports = {.udp_port = 4791};

	assert_u_eq(mh_ports_udp_of_qpn(&ports, 16), 4791);
	assert_u_eq(mh_ports_udp_of_qpn(&ports, 1u << 14 | 16), 4792);
	assert_u_eq(mh_ports_udp_of_qpn(&ports, 0xFFFFFF), 4791 + 1023);
	ports.udp_port = 4971;
	assert_u_eq(mh_ports_udp_of_qpn(&ports, 1u << 14 | 16), 4972);
}

TEST(mh_ports_check_errors, notices_a_vanished_socket)
{
	struct mh_env env = ports_env();
	struct mio_rx got[1];
	struct mh_ports ports;
	int fd;

	ports_open(&ports, &env);
	fd = ports.port[1].io->status->fd;
	assert_false(mh_ports_check_errors(&ports, 7));
	close(fd);
	mio_port_rx(ports.port[1].io, 0, got, 1);
	assert_true(mh_ports_check_errors(&ports, 7));
	assert_false(ports.port[1].up);
	assert_true(mh_ports_up(&ports) != 0);
	assert_false(mh_ports_check_errors(&ports, 7));
	dup2(2, fd); /* so that closing the port closes no other's descriptor */
	mh_ports_close(&ports);
}
