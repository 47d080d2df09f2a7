/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_faults.c - each fault does what it says, to the packets that it is about and to no others,
 * and nothing of it is left when it is lifted. On `tiny`: hosts 0 and 1 at T0 0, 2 and 3 at T0 1.
 */
#include "fabric/fabric_path.h"
#include "lab/lab_fixture.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define N 40u

static struct fixture fixture;

static int open_tiny(void **state)
{
	(void)state;
	fixture_able();
	fixture_open(&fixture, "tiny", 20000000, true);
	return 0;
}

static int open_plain(void **state)
{
	(void)state;
	fixture_able();
	fixture_open(&fixture, "tiny", 20000000, false);
	return 0;
}

static int shut(void **state)
{
	(void)state;
	fixture_close(&fixture);
	return 0;
}

#define FAULT_TEST(name) TEST_WITH(open_tiny, shut, lab_fault, name)
#define PLAIN_TEST(name) TEST_WITH(open_plain, shut, lab_fault_without_programs, name)

/* How many of N packets come from src to dst over this plane and T1. */
static uint32_t pass(uint32_t src, uint32_t dst, uint32_t plane, uint32_t t1)
{
	return fixture_count(&fixture, src, dst, mf_ev_of(plane, t1, 0), N);
}

/* ---- ports and cables that are down ---- */

FAULT_TEST(down_takes_the_cable_both_ways)
{
	fixture_fault(&fixture, "plane0.t0-0.t1-0", "down");
	assert_u_eq(pass(0, 2, 0, 0), 0);
	assert_u_eq(pass(2, 0, 0, 0), 0);
	assert_u_eq(pass(0, 2, 0, 1), N);
	assert_u_eq(pass(0, 2, 1, 0), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

FAULT_TEST(down_of_a_nic_port_is_seen_at_the_far_end)
{
	struct ml_counters *c = calloc(fixture.t->n_links, sizeof(*c));
	uint32_t up = mf_link_host_t0(fixture.t, 1, 3, false);
	struct ml_error e;

	assert_non_null(c);
	fixture_fault(&fixture, "host3.plane1", "down");
	assert_i_eq(ml_lab_counters(fixture.lab, c, &e), 0);
	assert_false(c[up].carrier);
	assert_false(c[mf_link_reverse(up)].carrier);
	assert_true(c[mf_link_host_t0(fixture.t, 0, 3, false)].carrier);
	assert_u_eq(pass(3, 0, 1, 0), 0);
	assert_u_eq(pass(3, 0, 0, 0), N);
	fixture_lift(&fixture);
	assert_i_eq(ml_lab_counters(fixture.lab, c, &e), 0);
	assert_true(c[up].carrier);
	fixture_whole(&fixture);
	free(c);
}

FAULT_TEST(down_of_a_transceiver_takes_its_four_links)
{
	fixture_fault(&fixture, "plane1.t0-0.transceiver0", "down");
	assert_u_eq(pass(0, 1, 1, 0), 0);
	assert_u_eq(pass(2, 1, 1, 1), 0);
	assert_u_eq(pass(2, 3, 1, 0), N);
	assert_u_eq(pass(0, 1, 0, 0), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

FAULT_TEST(down_of_a_plane_leaves_the_other)
{
	fixture_fault(&fixture, "plane0", "down");
	assert_u_eq(pass(0, 2, 0, 1), 0);
	assert_u_eq(pass(0, 2, 1, 1), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

FAULT_TEST(down_twice_is_up_when_both_are_lifted)
{
	struct ml_error e;

	fixture_fault(&fixture, "plane0.t0-0.t1-0", "down");
	fixture_fault(&fixture, "plane0.t0-0", "down");
	assert_i_eq(ml_lab_clear_fault(fixture.lab, "plane0.t0-0", MF_FAULT_KINDS, &e), 1);
	assert_u_eq(pass(0, 2, 0, 0), 0);
	assert_u_eq(pass(0, 2, 0, 1), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

/* ---- silence ---- */

static void blackhole(void)
{
	fixture_fault(&fixture, "plane0.t0-0.t1-0", "blackhole out");
	assert_u_eq(pass(0, 2, 0, 0), 0);
	assert_u_eq(pass(2, 0, 0, 0), N);
	fixture_lift(&fixture);
	fixture_fault(&fixture, "plane0.t0-0.t1-0", "blackhole in");
	assert_u_eq(pass(0, 2, 0, 0), N);
	assert_u_eq(pass(2, 0, 0, 0), 0);
	fixture_lift(&fixture);
	fixture_fault(&fixture, "plane0.t0-0.t1-0", "blackhole in");
	assert_u_eq(pass(2, 0, 0, 0), 0);
	fixture_lift(&fixture);
	fixture_fault(&fixture, "host2.plane1", "blackhole");
	assert_u_eq(pass(0, 2, 1, 0), 0);
	assert_u_eq(pass(2, 0, 1, 0), 0);
	assert_u_eq(pass(0, 3, 1, 0), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

static void stall(void)
{
	struct ml_counters *c = calloc(fixture.t->n_links, sizeof(*c));
	struct ml_error e;

	assert_non_null(c);
	fixture_fault(&fixture, "plane1.t1-1", "stall");
	assert_u_eq(pass(0, 2, 1, 1), 0);
	assert_u_eq(pass(0, 2, 1, 0), N);
	assert_i_eq(ml_lab_counters(fixture.lab, c, &e), 0);
	for (uint32_t link = 0; link < fixture.t->n_links; link++)
		assert_true(c[link].carrier);
	assert_u_between(c[mf_link_t0_t1(fixture.t, 1, 1, 1, true)].lost, N, N + 20);
	free(c);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

static void loss(void)
{
	fixture_fault(&fixture, "plane0.t0-0.t1-1", "loss 30%");
	assert_u_between(fixture_count(&fixture, 0, 2, mf_ev_of(0, 1, 0), 2000), 1250, 1550);
	assert_u_eq(pass(0, 2, 0, 0), N);
	fixture_fault(&fixture, "plane0.t0-0.t1-1", "loss 100%");
	assert_u_eq(pass(0, 2, 0, 1), 0);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

FAULT_TEST(blackhole_drops_one_direction_or_both)
{
	blackhole();
}

FAULT_TEST(stall_forwards_nothing_and_keeps_its_links)
{
	stall();
}

FAULT_TEST(loss_takes_its_share)
{
	loss();
}

PLAIN_TEST(blackhole_drops_one_direction_or_both)
{
	blackhole();
}

PLAIN_TEST(stall_forwards_nothing_and_keeps_its_links)
{
	stall();
}

PLAIN_TEST(loss_takes_its_share)
{
	loss();
}

PLAIN_TEST(what_needs_programs_says_so)
{
	struct mf_fault fault;
	struct ml_error e;
	size_t n;

	assert_i_eq(ml_fault_read(fixture.t, "host0.plane0", "corrupt 1%", &fault, &e), 0);
	assert_i_eq(ml_lab_add_fault(fixture.lab, &fault, &e), -1);
	assert_non_null(strstr(e.text, "switch program"));
	ml_lab_faults(fixture.lab, &n);
	assert_u_eq(n, 0);
}

/* ---- damage ---- */

static void with_programs(void)
{
	if (!fixture.programs)
		test_skip("BPF programs cannot be loaded here");
}

FAULT_TEST(corrupt_flips_a_bit_and_no_checksum_hides_it)
{
	struct fixture_arrival a;
	uint32_t harmed = 0;

	with_programs();
	fixture_fault(&fixture, "plane0.t0-0.t1-0", "corrupt 100% out");
	fixture_send(&fixture, 0, 2, mf_ev_of(0, 0, 0), N);
	while (fixture_receive(&fixture, &a))
		harmed += !a.whole;
	assert_u_between(harmed, 1, N); /* a flip in a port number goes elsewhere */
	assert_u_eq(pass(2, 0, 0, 0), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

FAULT_TEST(duplicate_brings_packets_twice)
{
	with_programs();
	fixture_fault(&fixture, "host0.plane1", "duplicate 100% out");
	assert_u_eq(pass(0, 2, 1, 0), 2 * N);
	assert_u_eq(pass(2, 0, 1, 0), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

FAULT_TEST(reorder_lets_packets_be_overtaken)
{
	struct fixture_arrival a;
	uint32_t last = 0, backwards = 0, got = 0;

	with_programs();
	fixture_fault(&fixture, "plane0.t1-0.t0-1", "reorder 30% out");
	fixture_send(&fixture, 0, 2, mf_ev_of(0, 0, 0), 200);
	for (; fixture_receive(&fixture, &a); last = a.packet.number, got++)
		backwards += got && a.packet.number < last;
	assert_u_between(backwards, 20, 100);
	assert_u_between(got, 199, 200); /* the last one may still be held */
	fixture_lift(&fixture);
	assert_u_between(fixture_drain(&fixture) + fixture_count(&fixture, 1, 0, 0, 1), 1, 2);
}

/* ---- rate ---- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* 150 packets of 126 bytes on the wire at 200 kb/s: three quarters of a second; burst aside. */
static void slow(void)
{
	struct fixture_arrival a;
	uint64_t begin, last;
	uint32_t got = 0;

	fixture_fault(&fixture, "plane0.t0-1.host2", "slow 200k out");
	begin = last = now_ms();
	fixture_send(&fixture, 0, 2, mf_ev_of(0, 0, 0), 150);
	for (; fixture_receive(&fixture, &a); last = now_ms())
		got++;
	assert_u_eq(got, 150);
	assert_u_between(last - begin, 300, 60000);
	fixture_lift(&fixture);
	begin = now_ms();
	fixture_whole(&fixture);
}

FAULT_TEST(slow_links_take_their_time)
{
	slow();
}

PLAIN_TEST(slow_links_take_their_time)
{
	slow();
}

/* ---- cables ---- */

FAULT_TEST(swap_leads_packets_elsewhere)
{
	fixture_fault(&fixture, "plane0.t0-0.host0", "swap plane0.t0-0.host1");
	assert_u_eq(pass(2, 0, 0, 0), 0);
	assert_u_eq(pass(2, 1, 0, 0), 0);
	assert_u_eq(pass(0, 2, 0, 0), N); /* upwards any T0 port is good */
	assert_u_eq(pass(2, 0, 1, 0), N);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
	fixture_fault(&fixture, "plane0.t0-0.t1-0", "swap plane0.t0-1.t1-1");
	assert_u_between(fixture_count(&fixture, 0, 2, mf_ev_of(0, 0, 0), N), 0, 0);
	fixture_lift(&fixture);
	fixture_whole(&fixture);
}

/* ---- what cannot be done ---- */

/* As if somebody had removed the switch with ip(8), beside us. */
static void take_away(const char *node)
{
	char path[128];

	snprintf(path, sizeof(path), "/run/netns/mrc-%s-%s", fixture.name, node);
	assert_i_eq(umount2(path, MNT_DETACH), 0);
	assert_i_eq(unlink(path), 0);
}

/* Neither in the list, nor in the ports that could have done it, nor in the file. */
FAULT_TEST(that_fails_half_way_is_rolled_back)
{
	struct mf_fault fault;
	struct ml_lab *again;
	struct ml_error e;
	size_t n;

	take_away("plane1.t0-0");
	assert_i_eq(ml_fault_read(fixture.t, "host0", "down", &fault, &e), 0);
	assert_i_eq(ml_lab_add_fault(fixture.lab, &fault, &e), -1);
	assert_non_null(
		strstr(e.text, fixture.name)); /* its namespace, or one with a cable there */
	ml_lab_faults(fixture.lab, &n);
	assert_u_eq(n, 0);
	for (uint32_t link = 0; link < fixture.t->n_links; link++)
		assert_false(ml_lab_port(fixture.lab, link)->down);
	again = ml_lab_open(fixture.name, &e);
	assert_non_null(again);
	ml_lab_faults(again, &n);
	assert_u_eq(n, 0);
	ml_lab_close(again);
}

/* ---- checksums ---- */

static void open_checked(void *context)
{
	*(int *)context = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/*
 * A socket that sums over the address it sends to, which is not the one that arrives: with offloads
 * on nobody would notice.
 */
TEST_WITH(open_tiny, shut, lab_checksum, wrong_ones_do_not_pass)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(FIXTURE_PORT)};
	int fd = -1;

	/* fcbb:bb00:a000:b000:a001:3:: to host 2, see fabric/usid.h. */
	assert_i_eq(inet_pton(AF_INET6, "fcbb:bb00:a000:b000:a001:3::", &to.sin6_addr), 1);
	fixture_inside(&fixture, 0, open_checked, &fd);
	assert_true(fd >= 0);
	for (uint32_t i = 0; i < N; i++)
		assert_i_eq(sendto(fd, "12345678", 8, 0, (struct sockaddr *)&to, sizeof(to)), 8);
	assert_u_eq(fixture_drain(&fixture), 0);
	close(fd);
	assert_u_eq(pass(0, 2, 0, 0), N);
}

/* ---- names ---- */

TEST_WITH(open_tiny, shut, lab_names, unknown_ones_list_near_ones)
{
	struct mf_target target;
	struct mf_error e;

	assert_false(mf_target_find(fixture.t, "plane0.t0-0.t1-7", &target, &e));
	assert_non_null(strstr(e.what, "plane0.t0-0.t1-0"));
	assert_false(mf_target_find(fixture.t, "hots2", &target, &e));
	assert_non_null(strstr(e.what, "host2"));
	assert_false(mf_target_find(fixture.t, "xyzzyxyzzy", &target, &e));
	assert_non_null(strstr(e.what, "names are like"));
}
