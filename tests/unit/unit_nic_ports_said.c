/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_ports_said.c - what users read of their ports: frames that the system refused, drivers
 * that died and were opened again, links, controllers, packets that do not fit. Without a NIC: a
 * test looks when it wants.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "host/nic.h"
#include "host/port/nic_ports.h"
#include "io/drivers.h"
#include "support/netns.h"
#include "support/open_fds.h"
#include "unit/loopback.h"

#define EV_BASE 53800u

static struct {
	uint32_t n;
	enum mrc_log_level level;
	char text[300]; /* the last one */
} heard;

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	(void)context;
	heard.n++;
	heard.level = level;
	snprintf(heard.text, sizeof(heard.text), "%s", text);
}

static int listen_setup(void **state)
{
	(void)state;
	memset(&heard, 0, sizeof(heard));
	return mrc_log_set(MRC_LOG_CONFIGURED, hear, NULL);
}

static int listen_teardown(void **state)
{
	(void)state;
	return mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL);
}

/* said checks that exactly one message came since the last look, and what is in it. */
static void said(const char *what)
{
	assert_u_eq(heard.n, 1);
	if (!strstr(heard.text, what))
		fail_msg("not \"%s\" but \"%s\"", what, heard.text);
	heard.n = 0;
}

static void said_nothing(void)
{
	if (heard.n > 0)
		fail_msg("said: %s", heard.text);
}

/* ---- what drivers say ---- */

#define SAID_TEST(function, name) TEST_WITH(listen_setup, listen_teardown, function, name)

static struct mio_status status[MT_PORTS_MAX];
static struct mio_port io[MT_PORTS_MAX];
static struct mh_ports ports;

/* ports_make makes n ports that nothing moves through. */
static void ports_make(uint32_t n)
{
	memset(&ports, 0, sizeof(ports));
	ports.n = n;
	for (uint32_t i = 0; i < n; i++) {
		status[i] = (struct mio_status){.fd = -1};
		io[i] = (struct mio_port){.status = &status[i], .max_run = 1};
		ports.port[i].io = &io[i];
		ports.port[i].up = true;
		mh_addr_from_ip(loopback_ip(i % 4, 1), ports.map.local[i]);
	}
}

static void refuse(int code, uint64_t now_ns)
{
	status[0].tx_refused++;
	status[0].last_refusal = code;
	assert_false(mh_ports_check_errors(&ports, now_ns));
}

SAID_TEST(mh_ports_check_errors, says_each_refusal_once)
{
	ports_make(1);
	assert_false(mh_ports_check_errors(&ports, 5));
	said_nothing();
	assert_u_eq(ports.port[0].refused_ns, 0);
	refuse(ENOBUFS, 6);
	said("the system refused a frame: No buffer space available; further ones");
	assert_u_eq(ports.port[0].refused_ns, 6);
	refuse(EMSGSIZE, 7);
	said("Message too long (lower MRC_MTU");
	refuse(ENOBUFS, 8);
	said_nothing();
	assert_u_eq(ports.port[0].refused_ns, 8);
	/* More kinds than that are not distinguished, and not said either. */
	for (int code = 1; code <= 10; code++)
		refuse(code, 9);
	assert_u_eq(heard.n, MH_PORT_ERRORS_LOGGED - 2);
}

SAID_TEST(mh_ports_check_errors, says_that_a_driver_died)
{
	ports_make(2);
	status[1].error = ENODEV;
	assert_true(mh_ports_check_errors(&ports, 5));
	said("port 1 is gone: No such device");
	assert_u_eq(heard.level, MRC_LOG_ERROR);
	assert_u_eq(mh_ports_up(&ports), 1);
	assert_false(mh_ports_check_errors(&ports, 6));
	said_nothing();
}

SAID_TEST(mh_ports_check_errors, says_that_packets_are_too_long)
{
	ports_make(1);
	status[0].rx_oversize = 1;
	mh_ports_check_errors(&ports, 5);
	said("MRC_RUN=1");
}

/* So many, and no good one between. */
SAID_TEST(mh_ports_note_icrc, says_once_that_all_are_wrong)
{
	uint8_t src[16];

	ports_make(2);
	mh_addr_from_ip(loopback_ip(1, 9), src);
	for (uint32_t i = 0; i < 15; i++)
		mh_ports_note_icrc(&ports, 1, src, 5);
	said_nothing();
	mh_ports_note_icrc(&ports, 1, src, 6);
	said("all packets have a wrong ICRC, the last one from 127.");
	assert_u_eq(ports.port[1].icrc_wrong_ns, 6);
	for (uint32_t i = 0; i < 40; i++)
		mh_ports_note_icrc(&ports, 1, src, 7);
	said_nothing();
}

/* What happened at the very beginning counts for nothing: it may be of the time before. */
TEST(mh_ports_state_text, says_why_nothing_may_have_come_back)
{
	char text[MH_PORT_STATE_MAX];

	ports_make(1);
	ports.port[0].refused_ns = ports.port[0].icrc_wrong_ns = 10;
	status[0].last_refusal = EPERM;
	assert_string_equal(mh_ports_state_text(&ports, 0, 10, text), "no answer");
	assert_string_equal(mh_ports_state_text(&ports, 0, 9, text),
			    "the system refused frames (Operation not permitted)");
	ports.port[0].refused_ns = 0;
	assert_string_equal(mh_ports_state_text(&ports, 0, 9, text),
			    "packets came with a wrong ICRC, as behind a NAT");
	ports.port[0].up = false;
	assert_string_equal(mh_ports_state_text(&ports, 0, 9, text), "down");
}

/* ---- links ---- */

static struct mh_env link_env(uint32_t n)
{
	struct mh_env env = {.n_ports = n,
			     .shards = 1,
			     .prefix = 120,
			     .evs = 2,
			     .run = 1,
			     .mtu = 4096,
			     .udp_port = MH_UDP_PORT,
			     .ev_base = EV_BASE,
			     .rx_buffer_bytes = 1u << 20};

	for (uint32_t i = 0; i < n; i++)
		mh_addr_from_ip(loopback_ip(i % 4, 1), env.port[i].ip);
	return env;
}

/* All there can be are looked at, and none behind. */
SAID_TEST(mh_ports_update_links, of_the_most_ports)
{
	struct mh_env env = link_env(MT_PORTS_MAX);

	ports_make(MT_PORTS_MAX);
	mh_ports_first_links(&ports, &env, 5);
	assert_false(mh_ports_update_links(&ports, &env, 6));
	said_nothing();
	assert_u_eq(mh_ports_up(&ports), UINT32_MAX);
	/* REQ(ep.port.admin) */
	ports.port[31].admin = MN_PORT_SUSPENDED;
	assert_true(mh_ports_update_links(&ports, &env, 7));
	said("lo) is down: suspended by the controller");
	assert_u_eq(mh_ports_up(&ports), UINT32_MAX >> 1);
	ports.port[31].admin = MN_PORT_ENABLED;
	assert_true(mh_ports_update_links(&ports, &env, 8));
	said("lo) is up again");
	ports.port[31].admin = MN_PORT_DOWN;
	assert_true(mh_ports_update_links(&ports, &env, 9));
	said("lo) is down: disabled by the controller");
	/* Of several shards one speaks. */
	ports.quiet = true;
	ports.port[31].admin = MN_PORT_ENABLED;
	assert_true(mh_ports_update_links(&ports, &env, 8));
	said_nothing();
}

/* A link that holds less than the packets is used where there is no better one. */
SAID_TEST(mh_ports_update_links, of_a_small_mtu)
{
	struct mh_env env = link_env(2);
	const char *why;

	if (!test_netns(&why))
		test_skip(why);
	test_ip("link add small mtu 1500 type veth peer name far");
	test_ip("link set far up");
	test_ip("link set small up");
	test_ip("address add 10.78.1.1/24 dev small");
	mh_addr_from_ip(0x0A4E0101, env.port[1].ip);
	ports_make(2);
	mh_addr_from_ip(0, ports.map.local[1]);
	mh_ports_first_links(&ports, &env, 5);
	said("small) is down: an MTU of 1500 does not hold packets of 4096 bytes");
	assert_u_eq(mh_ports_up(&ports), 1);
	ports.port[0].admin = MN_PORT_DOWN;
	assert_true(mh_ports_update_links(&ports, &env, 6));
	assert_u_eq(mh_ports_up(&ports), 2);
	assert_u_eq(heard.n, 2);
	assert_non_null(strstr(heard.text, "used for want of a better one: an MTU of 1500"));
	heard.n = 0;
	assert_false(mh_ports_update_links(&ports, &env, 7));
	said_nothing();
	test_ip("address del 10.78.1.1/24 dev small");
	assert_true(mh_ports_update_links(&ports, &env, 8));
	said("port 1 (0.0.0.0, ?) is down: no interface has its address any more");
	test_ip("link del small");
}

/* ---- ports that are opened again ---- */

static int take(const uint8_t ip[16], uint32_t number)
{
	struct mio_addr taken = {.udp_port = (uint16_t)number};
	struct mio_error error;
	int fd;

	memcpy(taken.ip, ip, sizeof(taken.ip));
	assert_i_eq(mio_udp_claim(&taken, NULL, &fd, &error), 0);
	return fd;
}

/* kill_port takes a port's socket away; returns the descriptor, which is still to be taken back. */
static int kill_port(uint32_t i)
{
	struct mio_rx frame;
	int fd = ports.port[i].io->status->fd;

	close(fd);
	mio_port_rx(ports.port[i].io, 0, &frame, 1);
	assert_true(mh_ports_check_errors(&ports, 5));
	said("is gone: Bad file descriptor");
	return fd;
}

SAID_TEST(mh_ports_update_links, opens_a_port_again_when_it_can)
{
	struct mh_env env = link_env(2), other = env;
	const struct mio_port *old;
	struct mio_error error;
	uint32_t before;
	int taken, fd;

	assert_i_eq(mh_ports_open(&ports, &env, 0, &error), 0);
	mh_ports_first_links(&ports, &env, 0);
	before = test_open_fds();
	fd = kill_port(1);
	old = ports.port[1].io;
	/* Another program has its place. */
	taken = take(env.port[1].ip, MH_UDP_PORT);
	assert_i_eq(taken, fd);
	assert_false(mh_ports_update_links(&ports, &env, 6));
	said("port 1 cannot be opened again: ");
	assert_ptr_equal(ports.port[1].io, old);
	close(taken);
	/* Or a source port. */
	other.ev_base = EV_BASE + 100;
	assert_i_eq(dup2(2, fd), fd); /* which the old port will close */
	taken = take(env.port[1].ip, EV_BASE + 101);
	assert_false(mh_ports_update_links(&ports, &other, 7));
	said("port 1 cannot be opened again: ");
	assert_ptr_equal(ports.port[1].io, old);
	close(taken);
	assert_u_eq(test_open_fds(), before);
	assert_true(mh_ports_update_links(&ports, &env, 8));
	said("lo) is up again");
	assert_ptr_not_equal(ports.port[1].io, old);
	assert_i_eq(ports.port[1].io->status->error, 0);
	mh_ports_close(&ports);
}

static void add_wire(void)
{
	test_ip("link add wire mtu 9000 type veth peer name end mtu 9000");
	test_ip("link set end up");
	test_ip("link set wire up");
	test_ip("address add 10.79.1.1/24 dev wire");
}

/* Sockets outlive a link that is down, but not the interface that they are bound to. */
SAID_TEST(mh_ports_update_links, opens_a_port_again_on_a_new_interface)
{
	struct mh_env env = link_env(2);
	const struct mio_port *old;
	struct mio_error error;
	const char *why;

	if (!test_netns(&why))
		test_skip(why);
	add_wire();
	mh_addr_from_ip(0x0A4F0101, env.port[1].ip);
	strcpy(env.port[1].ifname, "wire");
	assert_i_eq(mh_ports_open(&ports, &env, 0, &error), 0);
	mh_ports_first_links(&ports, &env, 0);
	said_nothing();
	old = ports.port[1].io;
	test_ip("link set wire down");
	assert_true(mh_ports_update_links(&ports, &env, 6));
	said("wire) is down: its interface is down");
	test_ip("link set wire up");
	assert_true(mh_ports_update_links(&ports, &env, 7));
	said("wire) is up again");
	assert_ptr_equal(ports.port[1].io, old);
	test_ip("link del wire");
	assert_true(mh_ports_update_links(&ports, &env, 8));
	said("is down: no interface has its address any more");
	add_wire();
	assert_true(mh_ports_update_links(&ports, &env, 9));
	said("wire) is up again");
	assert_ptr_not_equal(ports.port[1].io, old);
	mh_ports_close(&ports);
	test_ip("link del wire");
}
