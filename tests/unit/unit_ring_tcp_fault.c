/* SPDX-License-Identifier: BSD-2-Clause */
/* How the TCP ring feels the fault table: verdicts, and real segments that vanish. */
#include "ring_tcp_fault.h"

#include "support/fault_table.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 60000 /* on a busy machine */

static struct mrc_fault_table table;
static struct ring_fault_flow flow;

static int calm(void **state)
{
	(void)state;
	table = (struct mrc_fault_table){TEST_FAULT_TABLE};
	flow = (struct ring_fault_flow){
		.plane = 1,
		.from.s_addr = htonl(0x7f000001),
		.to.s_addr = htonl(0x7f000002),
		.caller_port = 40000,
		.called_port = 50000,
	};
	return 0;
}

static void set_host(struct mrc_fault_rule *rule, uint8_t last)
{
	static const uint8_t base[16] = {[10] = 0xff, [11] = 0xff, [12] = 127};

	memcpy(rule->host, base, 16);
	rule->host[15] = last;
}

static uint32_t drop_ppm(void)
{
	return ring_fault_judge(&table, &flow).drop_ppm;
}

#define FAULT_TEST(function, name) TEST_WITH(calm, NULL, function, name)

FAULT_TEST(ring_fault_judge, finds_nothing_in_an_empty_table)
{
	assert_u_eq(drop_ppm(), 0);
}

FAULT_TEST(ring_fault_judge, goes_by_plane)
{
	table.rule[0] = (struct mrc_fault_rule){
		.kind = MRC_FAULT_DROP, .port_mask = 2, .chance_ppm = 1000000};
	assert_u_eq(drop_ppm(), 1000000);
	flow.plane = 0;
	assert_u_eq(drop_ppm(), 0);
}

FAULT_TEST(ring_fault_judge, goes_by_path)
{
	table.rule[5] = (struct mrc_fault_rule){
		.kind = MRC_FAULT_DROP, .port_mask = 2, .path_modulus = 8, .chance_ppm = 7};
	table.rule[5].path_mask = UINT64_C(1) << ring_fault_path(&flow, 8);
	assert_u_eq(drop_ppm(), 7);
	table.rule[5].path_mask = ~table.rule[5].path_mask;
	assert_u_eq(drop_ppm(), 0);
	table.rule[5].path_modulus = 65;
	assert_u_eq(drop_ppm(), 0);
}

FAULT_TEST(ring_fault_judge, goes_by_host_and_direction)
{
	struct mrc_fault_rule *rule = &table.rule[0];

	*rule = (struct mrc_fault_rule){
		.kind = MRC_FAULT_DROP, .port_mask = 2, .chance_ppm = 1000000};
	rule->direction = MRC_FAULT_FROM;
	set_host(rule, 1);
	assert_u_eq(drop_ppm(), 1000000);
	rule->direction = MRC_FAULT_TO;
	assert_u_eq(drop_ppm(), 0);
	rule->direction = MRC_FAULT_BOTH;
	assert_u_eq(drop_ppm(), 1000000);
	set_host(rule, 9);
	assert_u_eq(drop_ppm(), 0);
	rule->direction = 77;
	assert_u_eq(drop_ppm(), 0);
}

FAULT_TEST(ring_fault_judge, corruption_is_loss_and_delay_is_nothing)
{
	struct mrc_fault_rule *rule = &table.rule[0];

	*rule = (struct mrc_fault_rule){.port_mask = 2, .chance_ppm = 10000, .data_only = 1};
	rule->kind = MRC_FAULT_CORRUPT;
	assert_u_eq(drop_ppm(), 10000);
	assert_u_eq(ring_fault_judge(&table, &flow).data_only, 1);
	rule->kind = MRC_FAULT_DELAY;
	assert_u_eq(drop_ppm(), 0);
	rule->kind = MRC_FAULT_OFF;
	assert_u_eq(drop_ppm(), 0);
}

FAULT_TEST(ring_fault_judge, the_worst_rule_holds)
{
	table.rule[0] = (struct mrc_fault_rule){
		.kind = MRC_FAULT_DROP, .port_mask = 2, .chance_ppm = 10000};
	table.rule[1] = (struct mrc_fault_rule){
		.kind = MRC_FAULT_DROP, .port_mask = 2, .chance_ppm = 4000000000};
	assert_u_eq(drop_ppm(), 1000000);
}

FAULT_TEST(ring_fault_path, spreads_ports_over_all_paths)
{
	unsigned count[8] = {0};

	for (uint16_t p = 0; p < 800; p++) {
		flow.caller_port = (uint16_t)(32768 + p);
		count[ring_fault_path(&flow, 8)]++;
	}
	for (unsigned i = 0; i < 8; i++)
		assert_u_between(count[i], 50, 150);
}

/* ---- with real connections ---- */

static char path[64];
static struct mrc_fault_table *shared;
static struct ring_fault_watch *watch;
static int caller, called;

static void connect_pair(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	caller = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(caller, (struct sockaddr *)&address, len), 0);
	called = accept(listener, NULL, NULL);
	assert_true(called >= 0);
	close(listener);
}

static int open_wire(void **state)
{
	int fd;

	calm(state);
	snprintf(path, sizeof(path), "/tmp/unit-ring-fault-%d", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, &table, sizeof(table)), sizeof(table));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(shared, MAP_FAILED);
	connect_pair();
	setenv("MRC_FAULTS", path, 1);
	flow.fd = called;
	assert_int_equal(ring_fault_start(&watch, &flow, 1), 0);
	assert_non_null(watch);
	return 0;
}

static int close_wire(void **state)
{
	(void)state;
	ring_fault_stop(watch);
	unsetenv("MRC_FAULTS");
	close(caller);
	close(called);
	munmap(shared, sizeof(*shared));
	unlink(path);
	return 0;
}

/* Sends a byte and says whether it arrives within so many milliseconds. */
static bool passes(int ms)
{
	struct pollfd p = {.fd = called, .events = POLLIN};
	char byte = 'x';

	assert_int_equal(send(caller, &byte, 1, 0), 1);
	if (poll(&p, 1, ms) != 1)
		return false;
	assert_int_equal(recv(called, &byte, 1, 0), 1);
	return true;
}

static void set_fault(uint32_t kind, uint32_t ppm)
{
	shared->rule[0].port_mask = 2;
	shared->rule[0].chance_ppm = ppm;
	__atomic_store_n(&shared->rule[0].kind, kind, __ATOMIC_RELEASE);
}

/* Whether a byte is late, sooner or later: the thread may wait for a core before it notices. */
static bool is_one_late(int ms)
{
	for (int i = 0; i < PATIENCE_MS; i++, usleep(1000))
		if (!passes(ms))
			return true;
	return false;
}

TEST_WITH(open_wire, close_wire, ring_fault_start, makes_segments_vanish_and_come_back)
{
	struct pollfd p;
	char bytes[8];

	assert_true(passes(PATIENCE_MS));
	set_fault(MRC_FAULT_DROP, 1000000);
	assert_true(is_one_late(300));
	set_fault(MRC_FAULT_OFF, 0);
	/* TCP sends it again by itself. */
	p = (struct pollfd){.fd = called, .events = POLLIN};
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	assert_true(recv(called, bytes, sizeof(bytes), 0) >= 1);
}

TEST_WITH(open_wire, close_wire, ring_fault_start, loses_a_share_where_the_kernel_allows_it)
{
	if (!ring_fault_filters(watch))
		test_skip("this kernel lets this user attach no filter to a socket");
	set_fault(MRC_FAULT_DROP, 500000);
	/* A lost one takes a retransmission timeout, 200 ms. */
	assert_true(is_one_late(20));
	set_fault(MRC_FAULT_OFF, 0);
}

TEST(ring_fault_start, does_nothing_without_a_table)
{
	struct ring_fault_watch *none = (void *)1;

	unsetenv("MRC_FAULTS");
	assert_int_equal(ring_fault_start(&none, &flow, 1), 0);
	assert_null(none);
	ring_fault_stop(NULL);
}

TEST(ring_fault_start, refuses_a_file_that_is_no_table)
{
	struct ring_fault_watch *none;

	setenv("MRC_FAULTS", "/etc/passwd", 1);
	assert_int_equal(ring_fault_start(&none, &flow, 1), -1);
	setenv("MRC_FAULTS", "/no/such/file", 1);
	assert_int_equal(ring_fault_start(&none, &flow, 1), -1);
	unsetenv("MRC_FAULTS");
}
