/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_ports_drivers.c - what the drivers of a port are told when it is opened, and what is
 * said and given back when one cannot be. Those that need privilege or fail for lack of memory are
 * the test's: the linker puts them before those of io.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "host/nic.h"
#include "host/port/nic_ports.h"
#include "io/drivers.h"
#include "support/fault_table.h"
#include "support/open_fds.h"
#include "unit/loopback.h"

/* The types of what they stand for: the linker does not compare. */
__typeof__(mio_udp_claim) __real_mio_udp_claim, __wrap_mio_udp_claim;
__typeof__(mio_fault_open) __real_mio_fault_open, __wrap_mio_fault_open;
__typeof__(mio_fault_unmap) __real_mio_fault_unmap, __wrap_mio_fault_unmap;
__typeof__(mio_capture_open) __real_mio_capture_open, __wrap_mio_capture_open;
__typeof__(mio_capture_close) __real_mio_capture_close, __wrap_mio_capture_close;
__typeof__(mio_pcap_open) __real_mio_pcap_open, __wrap_mio_pcap_open;
__typeof__(mio_af_packet_open) __wrap_mio_af_packet_open;
__typeof__(mio_raw41_open) __wrap_mio_raw41_open;
__typeof__(mh_iface_with_address) __real_mh_iface_with_address, __wrap_mh_iface_with_address;

/* What a test makes fail, and what was asked for; zero is nothing. */
static struct {
	int claim_err, fault_err, pcap_err, capture_close_err, iface_err;
	bool unbound; /* claims are for no interface, whatever is asked for */
	uint32_t claims, unmaps, captures, pcaps, closes;
	struct mio_addr claimed; /* the last one */
	uint64_t realtime_offset_ns;
	struct mio_fault_cfg fault;	/* the last one */
	struct mio_raw41_cfg raw41;	/* likewise */
	char pcap_name[16], ifname[32]; /* likewise */
	uint8_t pcap_gid[16];		/* likewise; zeros: none */
	bool pcap_summed;		/* likewise */
} drivers;

int __wrap_mio_udp_claim(const struct mio_addr *local, const char *ifname, int *fd,
			 struct mio_error *error)
{
	drivers.claims++;
	drivers.claimed = *local;
	if (drivers.claim_err)
		return drivers.claim_err;
	return __real_mio_udp_claim(local, drivers.unbound ? NULL : ifname, fd, error);
}

int __wrap_mio_fault_open(const struct mio_fault_cfg *cfg, struct mio_port *below,
			  struct mio_port **port)
{
	drivers.fault = *cfg;
	return drivers.fault_err ? drivers.fault_err : __real_mio_fault_open(cfg, below, port);
}

void __wrap_mio_fault_unmap(struct mrc_fault_table *table)
{
	drivers.unmaps += table != NULL;
	__real_mio_fault_unmap(table);
}

int __wrap_mio_capture_open(const char *path, uint64_t realtime_offset_ns,
			    struct mio_capture **capture, struct mio_error *error)
{
	drivers.captures++;
	drivers.realtime_offset_ns = realtime_offset_ns;
	return __real_mio_capture_open(path, realtime_offset_ns, capture, error);
}

int __wrap_mio_capture_close(struct mio_capture *capture)
{
	int err = __real_mio_capture_close(capture);

	return drivers.capture_close_err ? drivers.capture_close_err : err;
}

int __wrap_mio_pcap_open(struct mio_capture *capture, const char *name,
			 const struct mio_addr *local, const uint8_t *gid, bool summed,
			 struct mio_port *below, struct mio_port **port)
{
	drivers.pcaps++;
	snprintf(drivers.pcap_name, sizeof(drivers.pcap_name), "%s", name);
	memset(drivers.pcap_gid, 0, 16);
	if (gid)
		memcpy(drivers.pcap_gid, gid, 16);
	drivers.pcap_summed = summed;
	if (drivers.pcap_err)
		return drivers.pcap_err;
	return __real_mio_pcap_open(capture, name, local, gid, summed, below, port);
}

int __wrap_mh_iface_with_address(const uint8_t ip[16], char name[IF_NAMESIZE])
{
	return drivers.iface_err ? drivers.iface_err : __real_mh_iface_with_address(ip, name);
}

/* A driver that has its claimed socket and does nothing with it. */
struct idle_port {
	struct mio_port port;
	struct mio_status status;
};

static void idle_close(struct mio_port *port)
{
	struct idle_port *p = mb_container_of(port, struct idle_port, port);

	drivers.closes++;
	close(p->status.fd);
	free(p);
}

static int idle_open(int fd, const char *ifname, struct mio_port **port)
{
	static const struct mio_port_ops ops = {.close = idle_close};
	struct idle_port *p = calloc(1, sizeof(*p));

	snprintf(drivers.ifname, sizeof(drivers.ifname), "%s", ifname ? ifname : "none");
	assert_non_null(p);
	p->status.fd = fd;
	p->port = (struct mio_port){&ops, &p->status, 1};
	*port = &p->port;
	return 0;
}

int __wrap_mio_af_packet_open(const struct mio_af_packet_cfg *cfg, int claimed_fd,
			      struct mio_port **port, struct mio_error *error)
{
	(void)error;
	return idle_open(claimed_fd, cfg->ifname, port);
}

int __wrap_mio_raw41_open(const struct mio_raw41_cfg *cfg, int claimed_fd, struct mio_port **port,
			  struct mio_error *error)
{
	(void)error;
	drivers.raw41 = *cfg;
	return idle_open(claimed_fd, cfg->ifname, port);
}

/* ---- ports ---- */

static struct {
	uint32_t n;
	char text[300];
} heard;

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	(void)context;
	(void)level;
	heard.n++;
	snprintf(heard.text, sizeof(heard.text), "%s", text);
}

static struct mh_env env;
static struct mh_ports ports;
static struct mio_error error;
static char table_path[32], capture_path[32];
static uint32_t open_fds;

static void make_table(void)
{
	static const struct mrc_fault_table table = {TEST_FAULT_TABLE};
	int fd;

	strcpy(table_path, "/tmp/softmrc-table-XXXXXX");
	fd = mkstemp(table_path);
	assert_true(fd >= 0);
	close(fd);
	test_fault_table_write(table_path, &table);
}

static int setup(void **state)
{
	(void)state;
	memset(&drivers, 0, sizeof(drivers));
	memset(&heard, 0, sizeof(heard));
	memset(&error, 0, sizeof(error));
	env = (struct mh_env){.n_ports = 2,
			      .shards = 1,
			      .prefix = 120,
			      .evs = 2,
			      .run = 1,
			      .udp_port = MH_UDP_PORT,
			      .ev_base = 53900,
			      .pace_bps = 1000000000,
			      .rx_buffer_bytes = 1u << 20};
	mh_addr_from_ip(loopback_ip(0, 1), env.port[0].ip);
	mh_addr_from_ip(loopback_ip(1, 1), env.port[1].ip);
	make_table();
	strcpy(capture_path, table_path);
	memcpy(capture_path + 13, "trace", 5);
	open_fds = test_open_fds();
	return mrc_log_set(MRC_LOG_CONFIGURED, hear, NULL);
}

/* Whatever was opened has been closed. */
static int teardown(void **state)
{
	(void)state;
	unlink(table_path);
	unlink(capture_path);
	if (test_open_fds() != open_fds)
		return -1;
	return mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL);
}

#define PORTS_TEST(function, name) TEST_WITH(setup, teardown, function, name)

static void want_faults(void)
{
	strcpy(env.faults, table_path);
}

static void want_capture(void)
{
	strcpy(env.capture, capture_path);
}

static void ports_open(void)
{
	if (mh_ports_open(&ports, &env, 7, &error))
		fail_msg("%s", error.text);
}

static void ports_fail(int err, const char *text)
{
	assert_i_eq(mh_ports_open(&ports, &env, 7, &error), err);
	assert_string_equal(error.text, text);
}

PORTS_TEST(mh_ports_open, tells_the_fault_driver_whose_port_it_is)
{
	want_faults();
	ports_open();
	assert_u_eq(drivers.fault.port, 1);
	assert_bytes_eq(drivers.fault.gid, env.port[0].ip, 16);
	assert_u_eq(ports.port[0].pace.rate_bps, 1000000000);
	assert_u_eq(drivers.captures, 0);
	assert_false(ports.quiet);
	assert_u_eq(drivers.unmaps, 0);
	mh_ports_close(&ports);
	assert_u_eq(drivers.unmaps, 1);
	assert_null(ports.faults);
}

PORTS_TEST(mh_ports_open, leaves_what_is_said_of_links_to_the_first_shard)
{
	env.shards = 2;
	env.shard = 1;
	ports_open();
	assert_true(ports.quiet);
	assert_u_eq(ports.port[0].pace.rate_bps, 500000000);
	mh_ports_close(&ports);
}

/* In the file are times of day, and UDP checksums where the kernel computes them. */
PORTS_TEST(mh_ports_open, tells_the_capture_what_a_port_is)
{
	struct timespec before, after;

	want_capture();
	clock_gettime(CLOCK_REALTIME, &before);
	ports_open();
	clock_gettime(CLOCK_REALTIME, &after);
	assert_string_equal(drivers.pcap_name, "port1");
	assert_true(drivers.pcap_summed);
	assert_u_eq(drivers.pcap_gid[10], 0);
	/* The other clock was 7 ns. */
	assert_u_between((drivers.realtime_offset_ns + 7) / 1000000000, (uint64_t)before.tv_sec,
			 (uint64_t)after.tv_sec);
	mh_ports_close(&ports);
	assert_u_eq(heard.n, 0);
	assert_null(ports.capture);
}

PORTS_TEST(mh_ports_open, tells_the_drivers_of_raw_frames_the_gid)
{
	env.driver = MH_DRIVER_RAW41;
	want_capture();
	ports_open();
	assert_bytes_eq(drivers.raw41.gid, env.port[0].ip, 16);
	assert_bytes_eq(drivers.pcap_gid, env.port[0].ip, 16);
	assert_false(drivers.pcap_summed);
	assert_string_equal(drivers.ifname, "none");
	mh_ports_close(&ports);
	assert_u_eq(drivers.closes, 2);
}

/* Where no interface was named, it is that of the address. */
PORTS_TEST(mh_ports_open, finds_the_interface_of_packet_rings)
{
	env.driver = MH_DRIVER_AF_PACKET;
	ports_open();
	assert_string_equal(drivers.ifname, "lo");
	assert_false(drivers.pcaps);
	mh_ports_close(&ports);
	drivers.iface_err = EMFILE;
	ports_fail(EMFILE, "port 0: the interface of its address: Too many open files");
	drivers.unbound = true;
	strcpy(env.port[0].ifname, "first");
	strcpy(env.port[1].ifname, "second");
	ports_open();
	assert_string_equal(drivers.ifname, "second");
	mh_ports_close(&ports);
	env.port[1].ifname[0] = '\0';
	drivers.iface_err = EADDRNOTAVAIL;
	ports_fail(EADDRNOTAVAIL, "port 1: no interface has its address; see MRC_PORTS");
}

/* A carrier of uSIDs ends at an address that is none of the host; packets in packets do not. */
PORTS_TEST(mh_ports_open, receives_from_any_carrier)
{
	static const uint8_t any[16];

	drivers.claim_err = EACCES;
	env.srv6.n_rows = 1;
	assert_i_eq(mh_ports_open(&ports, &env, 7, &error), EACCES);
	assert_bytes_eq(drivers.claimed.ip, any, 16);
	env.driver = MH_DRIVER_RAW41;
	assert_i_eq(mh_ports_open(&ports, &env, 7, &error), EACCES);
	assert_bytes_eq(drivers.claimed.ip, env.port[0].ip, 16);
	env.driver = MH_DRIVER_UDP;
	env.srv6.n_rows = 0;
	assert_i_eq(mh_ports_open(&ports, &env, 7, &error), EACCES);
	assert_bytes_eq(drivers.claimed.ip, env.port[0].ip, 16);
}

PORTS_TEST(mh_ports_open, without_memory_for_a_driver)
{
	want_faults();
	drivers.fault_err = ENOMEM;
	ports_fail(ENOMEM, "no memory for a fault driver");
	assert_u_eq(drivers.unmaps, 1);
	want_capture();
	drivers.fault_err = 0;
	drivers.pcap_err = ENOMEM;
	ports_fail(ENOMEM, "no memory for a capture");
	assert_null(ports.capture);
}

/* A table that is not there ends it: no capture is begun. */
PORTS_TEST(mh_ports_open, without_its_fault_table)
{
	want_capture();
	strcpy(env.faults, "/nowhere/table");
	assert_i_eq(mh_ports_open(&ports, &env, 7, &error), ENOENT);
	assert_u_eq(drivers.captures, 0);
}

PORTS_TEST(mh_ports_open, where_all_slots_are_taken)
{
	drivers.claim_err = EADDRINUSE;
	ports_fail(EADDRINUSE,
		   "UDP ports 4791 to 5814 are all taken on the addresses of MRC_PORTS");
	assert_u_eq(drivers.claims, MH_SLOTS);
}

PORTS_TEST(mh_ports_close, says_that_a_capture_is_not_complete)
{
	want_capture();
	ports_open();
	drivers.capture_close_err = ENOSPC;
	mh_ports_close(&ports);
	assert_u_eq(heard.n, 1);
	assert_string_equal(heard.text, "the capture is not complete: No space left on device");
}
