/* SPDX-License-Identifier: BSD-2-Clause */
/* What a kit may ask the program beside the target for: src/conform/serve_request.h. */
#include "conform/serve_request.h"

#include "support/test.h"

static void assert_refused(const char *line, const char *says)
{
	struct conform_request r;
	char why[CONFORM_WHY_MAX] = "";

	if (conform_request_read(line, &r, why) == 0)
		fail_msg("\"%s\" is taken", line);
	if (!strstr(why, says))
		fail_msg("\"%s\": \"%s\" does not say \"%s\"", line, why, says);
}

static struct conform_request taken(const char *line)
{
	struct conform_request r;
	char why[CONFORM_WHY_MAX] = "";

	if (conform_request_read(line, &r, why))
		fail_msg("\"%s\": %s", line, why);
	return r;
}

TEST(conform_serve_request, a_qp)
{
	static const uint8_t gid[16] = {[10] = 0xFF, 0xFF, 10, 0, 0, 7};
	struct conform_request r = taken("qp psn 0xFFFFFF gid 10.0.0.7 qpn 17");

	assert_i_eq(r.verb, CONFORM_QP);
	assert_memory_equal(r.wish.gid, gid, 16);
	assert_u_eq(r.wish.qpn, 17);
	assert_u_eq(r.wish.psn, 0xFFFFFF);
	assert_u_eq(r.wish.mtu, 1024);
	assert_u_eq(r.wish.timeout, 14);
	assert_u_eq(r.wish.peer_psn, 5000);
	r = taken("qp gid fd00::1 qpn 1 psn 2 mtu 4096 timeout 24 peer_psn 3");
	assert_u_eq(r.wish.gid[0], 0xFD);
	assert_u_eq(r.wish.mtu, 4096);
	assert_u_eq(r.wish.timeout, 24);
	assert_u_eq(r.wish.peer_psn, 3);
}

TEST(conform_serve_request, a_qp_that_is_refused)
{
	assert_refused("qp", "want gid ADDR qpn N psn N");
	assert_refused("qp gid 10.0.0.7 qpn 17", "want gid ADDR qpn N psn N");
	assert_refused("qp gid 10.0.0 qpn 17 psn 1", "gid 10.0.0: want an address");
	assert_refused("qp gid 10.0.0.7 qpn 0x1000000 psn 1", "qpn 0x1000000: want 0 to 16777215");
	assert_refused("qp gid 10.0.0.7 qpn -1 psn 1", "qpn -1: want 0 to 16777215");
	assert_refused("qp gid 10.0.0.7 qpn 1 psn +1", "psn +1: want 0 to 16777215");
	assert_refused("qp gid 10.0.0.7 qpn 1 psn 1 mtu 255", "mtu 255: want 256 to 4096");
	assert_refused("qp gid 10.0.0.7 qpn 1 psn 1 mtu 1500",
		       "mtu 1500: want 256, 512, 1024, 2048 or 4096");
	assert_refused("qp gid 10.0.0.7 qpn 1 psn 1 timeout 25", "timeout 25: want 0 to 24");
	assert_refused("qp gid 10.0.0.7 qpn 1 psn 1 psn 2", "psn: given twice");
	assert_refused("qp gid 10.0.0.7 qpn 1 psn", "psn: has no value");
	assert_refused("qp gid 10.0.0.7 qpn 1 psn 1 speed 2", "speed: want gid, qpn, psn");
}

TEST(conform_serve_request, numbers)
{
	struct conform_request r = taken("write 1048576 0xFFFFFFFF");

	assert_i_eq(r.verb, CONFORM_WRITE);
	assert_u_eq(r.n_numbers, 2);
	assert_u_eq(r.number[0], 1048576);
	assert_u_eq(r.number[1], 0xFFFFFFFF);
	r = taken("write 0");
	assert_u_eq(r.n_numbers, 1);
	assert_i_eq(taken("recv 64").verb, CONFORM_RECV);
	assert_u_eq(taken("recv 010").number[0], 10);
	assert_i_eq(taken("completion 10000").verb, CONFORM_COMPLETION);
	assert_i_eq(taken("received 0").verb, CONFORM_RECEIVED);
	r = taken("memory 1044480 4096");
	assert_i_eq(r.verb, CONFORM_MEMORY);
	assert_u_eq(r.number[0], 1044480);
	assert_u_eq(r.number[1], 4096);
}

TEST(conform_serve_request, numbers_that_are_refused)
{
	assert_refused("write", "write: want 1 number");
	assert_refused("write 1048577", "write 1048577: want 0 to 1048576");
	assert_refused("write 1 0x100000000", "immediate 0x100000000: want 0 to 4294967295");
	assert_refused("write 1 2 3", "write: 3 is one number too many");
	assert_refused("write 99999999999999999999999", "want 0 to 1048576");
	assert_refused("write 12x", "write 12x: want 0 to 1048576");
	assert_refused("recv 0x", "recv 0x: want 0 to 64");
	assert_refused("recv 65", "recv 65: want 0 to 64");
	assert_refused("completion 10001", "completion 10001: want 0 to 10000");
	assert_refused("received 10001", "received 10001: want 0 to 10000");
	assert_refused("memory 0", "memory: want 2 numbers");
	assert_refused("memory 0 0", "memory: length 0: want 1 to 4096");
	assert_refused("memory 0 4097", "memory: length 4097: want 1 to 4096");
	assert_refused("memory 1048576 1", "memory 1048576: want 0 to 1048575");
	assert_refused("memory 1044481 4096", "memory 1044481 4096: want at most 1048576 together");
}

TEST(conform_serve_request, lines_that_are_refused)
{
	char line[CONFORM_LINE_MAX + 1];

	assert_refused("", "want qp, write, recv");
	assert_refused("\033[2J", "?[2J: want qp, write, recv");
	memset(line, ' ', CONFORM_LINE_MAX);
	memcpy(line, "recv 1", 6);
	line[CONFORM_LINE_MAX] = '\0';
	assert_refused(line, "at most 511 characters");
	line[CONFORM_LINE_MAX - 1] = '\0';
	assert_u_eq(taken(line).number[0], 1);
}
