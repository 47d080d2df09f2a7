/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_links.c - interfaces that change while they are used: links that go down and come back,
 * names, MTUs and addresses; and what is said when a QP has used up its retries.
 */
#include "live/machines.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define LINK_TEST(name) TEST_WITH(machines_setup, NULL, live_links, name)

/* Both ends have addresses and are down. */
static void enter_links_down(struct live_side *s, uint32_t host)
{
	pid_t peer = machines_enter(s);

	for (uint32_t i = 0; i < 2 && host == 1; i++)
		machines_ip("link add e%u type veth peer name e%u netns %d", i, i, (int)peer);
	live_barrier(s);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("addr add 10.9.%u.%u/24 dev e%u", i, host, i);
	live_barrier(s);
}

/* As a container finds its links: up for a moment. */
static void enter_fresh_links(struct live_side *s, uint32_t host)
{
	enter_links_down(s, host);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("link set e%u up", i);
}

/* ---- a link that goes down ---- */

static void link_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	for (uint32_t round = 0; round < 2; round++) {
		write_all(s);
		machines_ip("link set e1 down");
		write_all(s);
		wait_plane(s, 1, false);
		wait_plane(s, 0, true);
		write_all(s);
		live_barrier(s); /* the target has seen it too */
		machines_ip("link set e1 up");
		wait_plane(s, 1, true);
		live_barrier(s);
	}
	plain_initiator(s);
}

/* The cable's other end has lost its carrier, and gets it back; the kernel takes up to a second. */
static void link_target(struct live_side *s)
{
	for (uint32_t round = 0; round < 2; round++) {
		wait_plane(s, 1, false);
		live_barrier(s);
		wait_plane(s, 1, true);
		live_barrier(s);
	}
	plain_target(s);
}

LINK_TEST(link_that_goes_down_and_comes_back)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "e0,e1", .enter = enter_subnets};

	live_run(&setup, link_initiator, link_target);
}

/* QPs give up after 0.4 s. */
static struct live_setup impatient_setup(void (*enter)(struct live_side *, uint32_t))
{
	return (struct live_setup){.bytes = BYTES,
				   .ports = "e0",
				   .enter = enter,
				   .retry_linear = 3,
				   .retry_exp = 1,
				   .extended = true};
}

/*
 * The kernel says for up to a second that a link which has just come up is not running yet. A QP's
 * retries must not run out meanwhile.
 */
LINK_TEST(links_that_have_just_come_up)
{
	struct live_setup setup = impatient_setup(enter_fresh_links);

	live_run(&setup, plain_initiator, plain_target);
}

/* Posted while no port is open, for longer than the retries take. */
static void later_initiator(struct live_side *s)
{
	struct mh_wc wc;

	live_fill(s->buffer, BYTES, 21);
	live_write(s, 7, 0, PIECE, RD_SEND_SIGNALED, 0);
	poll(NULL, 0, 1500);
	live_check(mh_cq_poll(s->cq, 1, &wc) == 0);
	live_barrier(s);
	machines_ip("link set e0 up");
	live_wait(s, &wc, 1);
	live_expect(&wc, 7, RD_WC_SUCCESS);
	plain_initiator(s);
}

static void later_target(struct live_side *s)
{
	live_barrier(s);
	machines_ip("link set e0 up");
	plain_target(s);
}

/* REQ(req.retry.no-port) */
LINK_TEST(links_that_come_up_later)
{
	struct live_setup setup = impatient_setup(enter_links_down);

	live_run(&setup, later_initiator, later_target);
}

/*
 * An interface that is taken away and made again is another one: sockets bound to the old one never
 * hear of it. That the port was opened again shows when it is the only one left.
 */
static void again_replug(struct live_side *s, uint32_t host)
{
	wait_plane(s, 1, false);
	live_barrier(s);
	machines_plug(s, host, 1);
	machines_route(host, 1);
	wait_plane(s, 1, true);
	live_barrier(s);
}

static void again_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link del e1");
	write_all(s);
	again_replug(s, 1);
	machines_ip("link set e0 down");
	wait_plane(s, 0, false);
	plain_initiator(s);
}

static void again_target(struct live_side *s)
{
	again_replug(s, 2);
	plain_target(s);
}

LINK_TEST(interface_that_is_made_again)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*%e0,10.9.0.*%e1", .enter = enter_one_address};

	live_run(&setup, again_initiator, again_target);
}

/* ---- interfaces that change ---- */

/* The sockets are bound to the interface, which keeps them under any name. */
static void rename_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link set e1 name other1");
	machines_ip("addr add 10.9.77.1/32 dev lo"); /* more news of interfaces */
	poll(NULL, 0, 50);
	wait_plane(s, 1, true);
	machines_ip("link set e0 down");
	wait_plane(s, 0, false);
	wait_plane(s, 1, true);
	plain_initiator(s);
}

LINK_TEST(interface_that_gets_another_name)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*%e0,10.9.0.*%e1", .enter = enter_one_address};

	live_run(&setup, rename_initiator, plain_target);
}

/* It is the interface that is down, whatever bears its first name by then. */
static void swap_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	machines_ip("link set e1 name other1");
	machines_ip("link add e1 type veth peer name spare");
	machines_ip("link set spare up");
	machines_ip("link set e1 up");
	wait_plane(s, 1, true);
	machines_ip("link set other1 down");
	wait_plane(s, 1, false);
	write_all(s);
	machines_ip("link set other1 up");
	wait_plane(s, 1, true);
	plain_initiator(s);
}

LINK_TEST(name_that_another_interface_gets)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*%e0,10.9.0.*%e1", .enter = enter_one_address};

	live_run(&setup, swap_initiator, plain_target);
}

static void enter_large_packets(struct live_side *s, uint32_t host)
{
	enter_subnets(s, host);
	machines_ip("link set e0 mtu 4300");
	machines_ip("link set e1 mtu 4300");
	live_barrier(s);
}

/* A port that no longer holds packets is left, and the last one is not: it may hold some. */
static void mtu_initiator(struct live_side *s)
{
	struct mh_device_attr attr;

	mh_device_query(s->dev, &attr);
	live_check(attr.max_mtu == 4096);
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link set e1 mtu 1500");
	wait_plane(s, 1, false);
	write_all(s);
	wait_plane(s, 0, true);
	machines_ip("link set e0 down");
	wait_plane(s, 0, false);
	wait_plane(s, 1, true);
	machines_ip("link set e0 up");
	wait_plane(s, 0, true);
	wait_plane(s, 1, false);
	machines_ip("link set e1 mtu 4300");
	wait_plane(s, 1, true);
	plain_initiator(s);
}

LINK_TEST(mtu_that_shrinks_and_grows)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "e0,e1", .enter = enter_large_packets};

	live_run(&setup, mtu_initiator, plain_target);
}

/*
 * A dormant interface, one that waits to be authenticated, has a carrier and is not running
 * (IFF_RUNNING): it is used only where there is no better one.
 */
static void dormant_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link set e1 mode dormant");
	machines_ip("link set e1 state dormant");
	wait_plane(s, 1, false);
	write_all(s);
	machines_ip("link set e0 down");
	wait_plane(s, 0, false);
	wait_plane(s, 1, true);
	write_all(s);
	machines_ip("link set e0 up");
	wait_plane(s, 0, true);
	wait_plane(s, 1, false);
	machines_ip("link set e1 state up");
	wait_plane(s, 1, true);
	plain_initiator(s);
}

LINK_TEST(interface_that_is_dormant)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "e0,e1", .enter = enter_subnets};

	live_run(&setup, dormant_initiator, plain_target);
}

/* Plane by plane: that of the GID, port 0, is like the other. */
static void address_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	for (uint32_t i = 0; i < 2; i++) {
		machines_ip("addr del 10.9.%u.1/24 dev e%u", i, i);
		wait_plane(s, i, false);
		wait_plane(s, 1 - i, true);
		write_all(s);
		machines_ip("addr add 10.9.%u.1/24 dev e%u", i, i);
		wait_plane(s, i, true);
		write_all(s);
	}
	machines_ip("link set e1 down");
	wait_plane(s, 1, false);
	plain_initiator(s); /* by what came back last but one, alone */
}

LINK_TEST(address_that_goes_and_comes_back)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "e0,e1", .enter = enter_subnets};

	live_run(&setup, address_initiator, plain_target);
}

/* The address moves to another interface of the machine: the port follows it. */
static void moving_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	machines_ip("link add other type veth peer name spare");
	machines_ip("link set spare up");
	machines_ip("link set other up");
	machines_ip("addr del 10.9.0.1/24 dev e0");
	wait_plane(s, 0, false);
	machines_ip("addr add 10.9.0.1/32 dev other");
	wait_plane(s, 0, true);
	machines_ip("route add 10.9.0.2/32 dev e0 src 10.9.0.1");
	write_all(s);
	machines_ip("link set e1 down");
	wait_plane(s, 1, false);
	plain_initiator(s);
}

static void moving_target(struct live_side *s)
{
	machines_ip("route add 10.9.0.1/32 dev e0 src 10.9.0.2");
	plain_target(s);
}

LINK_TEST(address_that_moves_to_another_interface)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*,10.9.1.*", .enter = enter_subnets};

	live_run(&setup, moving_initiator, moving_target);
}

/* ---- retries that are used up ---- */

/* die_saying writes until the QP dies, and looks for each of the texts in what was said then. */
static void die_saying(struct live_side *s, const char *const *texts, uint32_t n)
{
	int before = dup(STDERR_FILENO), said = fileno(tmpfile());
	char text[4096] = "";
	struct mh_wc wc;

	live_check(before >= 0 && said >= 0 && dup2(said, STDERR_FILENO) >= 0);
	live_write(s, 1, 0, PIECE, RD_SEND_SIGNALED, 0);
	live_wait(s, &wc, 1);
	live_check(dup2(before, STDERR_FILENO) >= 0);
	live_expect(&wc, 1, RD_WC_RETRY_EXC_ERR);
	live_check(pread(said, text, sizeof(text) - 1, 0) > 0);
	for (uint32_t i = 0; i < n; i++)
		if (!strstr(text, texts[i])) {
			fprintf(stderr, "no \"%s\" in: %s", texts[i], text);
			live_fail(__FILE__, __LINE__, texts[i]);
		}
}

static void refused_initiator(struct live_side *s)
{
	static const char *const texts[] = {
		"softmrc: QP 0x", " to 10.9.0.2 has used up its retries: no packet from it for ",
		"; port 0 (10.9.0.1): the system refused frames (No route to host)",
		"; port 1 (10.9.1.1): down"};

	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link set e1 down");
	wait_plane(s, 1, false);
	machines_ip("route add unreachable 10.9.0.2/32");
	die_saying(s, texts, 4);
	live_barrier(s);
}

static void idle_target(struct live_side *s)
{
	live_barrier(s);
}

/* They give up after 0.4 s. */
static void run_mortals(void (*initiator)(struct live_side *))
{
	struct live_setup setup = impatient_setup(enter_subnets);

	setup.ports = "e0,e1";
	live_run(&setup, initiator, idle_target);
}

LINK_TEST(retries_are_used_up_where_no_route_leads)
{
	run_mortals(refused_initiator);
}

static struct mrc_fault_rule *from_peer(struct live_side *s, enum mrc_fault_kind kind)
{
	struct mrc_fault_rule *rule = live_rule(s, 0, MRC_FAULT_OFF, 1000000);

	rule->direction = MRC_FAULT_FROM;
	memcpy(rule->host, s->peer.gid.b, sizeof(rule->host));
	live_rule_on(rule, kind);
	return rule;
}

static void dark_initiator(struct live_side *s)
{
	static const char *const texts[] = {"; port 0 (10.9.0.1): no answer",
					    "; port 1 (10.9.1.1): no answer"};

	from_peer(s, MRC_FAULT_DROP);
	die_saying(s, texts, 2);
	live_barrier(s);
}

LINK_TEST(retries_are_used_up_in_the_dark)
{
	run_mortals(dark_initiator);
}

static void unchecked_initiator(struct live_side *s)
{
	static const char *const texts[] = {
		"; port 0 (10.9.0.1): packets came with a wrong ICRC, as behind a NAT"};

	die_saying(s, texts, 1);
	live_barrier(s);
}

/* What the target sends has no ICRC. */
LINK_TEST(retries_are_used_up_where_no_icrc_fits)
{
	struct live_setup setup = impatient_setup(enter_subnets);

	setup.ports = "e0,e1";
	setup.target_icrc = "off";
	live_run(&setup, unchecked_initiator, idle_target);
}
