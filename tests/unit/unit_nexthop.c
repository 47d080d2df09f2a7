/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_nexthop.c - the kernel's routes and neighbours, on a pair of veth interfaces. */
#include "support/netns.h"
#include "support/open_fds.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/af_packet.h"

#define SECOND UINT64_C(1000000000)

static const uint8_t peer_mac[MIO_MAC_BYTES] = {2, 0, 0, 0, 0, 7};

/* What was sent last so that the kernel looks for a neighbour. */
static union {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
} asked;
static bool no_socket;

ssize_t __real_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
		      socklen_t len);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
		      socklen_t len);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
		      socklen_t len)
{
	assert_true(fd >= 0 && len <= sizeof(asked));
	memcpy(&asked, to, len);
	return __real_sendto(fd, bytes, n, flags, to, len);
}

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol)
{
	errno = EMFILE;
	return no_socket ? -1 : __real_socket(family, type, protocol);
}

static int nexthop_setup(void **state)
{
	struct mio_nexthop *n = NULL;
	struct mio_error error = {""};
	const char *why = NULL;

	*state = NULL;
	if (!test_netns(&why))
		test_skip(why);
	if (if_nametoindex("v0") == 0) {
		test_ip("link add v0 type veth peer name v1");
		test_ip("link set v0 up");
		test_ip("link set v1 up");
		test_ip("addr add 10.9.0.1/24 dev v0");
		test_ip("addr add fd09::1/64 dev v0 nodad");
		test_ip("neigh add 10.9.0.2 lladdr 02:00:00:00:00:07 dev v0 nud permanent");
		test_ip("neigh add fd09::2 lladdr 02:00:00:00:00:07 dev v0 nud permanent");
		test_ip("route add 10.10.0.0/16 via 10.9.0.2");
		test_ip("route add fd10::/64 via fd09::2");
		/* The better way to it is by the other interface. */
		test_ip("route add 10.11.0.0/16 dev v1 metric 1");
		test_ip("route add 10.11.0.0/16 via 10.9.0.2 dev v0 metric 2");
	}
	if (mio_nexthop_open(if_nametoindex("v0"), false, &n, &error))
		fail_msg("%s", error.text);
	*state = n;
	return 0;
}

static int nexthop_teardown(void **state)
{
	if (*state)
		mio_nexthop_close(*state);
	return 0;
}

static int find4(struct mio_nexthop *n, uint64_t now_ns, uint8_t net, uint8_t last, uint8_t mac[6])
{
	const uint8_t ip[16] = {[10] = 0xFF, [11] = 0xFF, 10, net, 0, last};

	return mio_nexthop_find(n, now_ns, ip, mac);
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_find, neighbour_on_the_link)
{
	const uint8_t ip6[16] = {0xFD, 0x09, [15] = 2};
	uint8_t mac[MIO_MAC_BYTES] = {0};

	assert_i_eq(find4(*state, 1, 9, 2, mac), 0);
	assert_bytes_eq(mac, peer_mac, 6);
	memset(mac, 0, sizeof(mac));
	assert_i_eq(mio_nexthop_find(*state, 1, ip6, mac), 0);
	assert_bytes_eq(mac, peer_mac, 6);
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_find, gateway_of_a_far_address)
{
	uint8_t mac[MIO_MAC_BYTES] = {0};

	const uint8_t ip6[16] = {0xFD, 0x10, [15] = 77};

	assert_i_eq(find4(*state, 1, 10, 77, mac), 0);
	assert_bytes_eq(mac, peer_mac, 6);
	memset(mac, 0, sizeof(mac));
	assert_i_eq(mio_nexthop_find(*state, 1, ip6, mac), 0);
	assert_bytes_eq(mac, peer_mac, 6);
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_find, goes_by_its_own_interface)
{
	uint8_t mac[MIO_MAC_BYTES] = {0};

	assert_i_eq(find4(*state, 1, 11, 5, mac), 0);
	assert_bytes_eq(mac, peer_mac, 6);
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_find, no_route_by_the_interface)
{
	const uint8_t far[16] = {0xFD, 0x12, [15] = 5};
	uint8_t mac[MIO_MAC_BYTES];

	assert_i_eq(mio_nexthop_find(*state, 1, far, mac), ENETUNREACH);
	assert_i_eq(find4(*state, 1, 9, 1, mac), ENETUNREACH); /* the host's own: by lo */
	/* Then IPv4 takes it for one on the link, as it does for sockets of an interface. */
	assert_i_eq(find4(*state, 1, 12, 5, mac), EHOSTUNREACH);
	assert_u_eq(((const uint8_t *)&asked.in.sin_addr)[1], 12);
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_find, kernel_is_made_to_look_for_a_neighbour)
{
	const uint8_t ip4[16] = {[10] = 0xFF, [11] = 0xFF, 10, 9, 0, 44};
	const uint8_t ip6[16] = {0xFD, 0x09, [15] = 44};
	uint8_t mac[MIO_MAC_BYTES];
	uint32_t before = test_open_fds();

	assert_i_eq(mio_nexthop_find(*state, 1, ip4, mac), EHOSTUNREACH);
	assert_i_eq(asked.any.sa_family, AF_INET);
	assert_bytes_eq(&asked.in.sin_addr, ip4 + 12, 4);
	assert_i_eq(mio_nexthop_find(*state, 1, ip6, mac), EHOSTUNREACH);
	assert_i_eq(asked.any.sa_family, AF_INET6);
	assert_bytes_eq(&asked.in6.sin6_addr, ip6, 16);
	assert_u_eq(asked.in6.sin6_scope_id, if_nametoindex("v0"));
	assert_u_eq(test_open_fds(), before);
	/* Without a descriptor to ask with the answer is the same. */
	no_socket = true;
	assert_i_eq(mio_nexthop_find(*state, SECOND, ip4, mac), EHOSTUNREACH);
	no_socket = false;
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_find, unknown_neighbour_is_asked_for_again)
{
	uint8_t mac[MIO_MAC_BYTES];

	assert_i_eq(find4(*state, 1, 9, 3, mac), EHOSTUNREACH);
	test_ip("neigh replace 10.9.0.3 lladdr 02:00:00:00:00:07 dev v0 nud permanent");
	assert_i_eq(find4(*state, 2, 9, 3, mac), EHOSTUNREACH); /* not yet */
	assert_i_eq(find4(*state, SECOND, 9, 3, mac), 0);
	test_ip("neigh del 10.9.0.3 dev v0");
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_find, answers_grow_old)
{
	uint8_t mac[MIO_MAC_BYTES];

	assert_i_eq(find4(*state, 1, 9, 2, mac), 0);
	test_ip("neigh change 10.9.0.2 lladdr 02:00:00:00:00:08 dev v0 nud permanent");
	assert_i_eq(find4(*state, SECOND / 2, 9, 2, mac), 0);
	assert_u_eq(mac[5], 7);
	assert_i_eq(find4(*state, SECOND, 9, 2, mac), 0);
	assert_u_eq(mac[5], 7);
	assert_i_eq(find4(*state, SECOND + 1, 9, 2, mac), 0);
	assert_u_eq(mac[5], 8);
	test_ip("neigh change 10.9.0.2 lladdr 02:00:00:00:00:07 dev v0 nud permanent");
}

TEST_WITH(nexthop_setup, nexthop_teardown, mio_nexthop_open, loopback_has_no_neighbours)
{
	uint8_t mac[MIO_MAC_BYTES] = {1};
	struct mio_nexthop *lo = NULL;
	struct mio_error error;

	(void)state;
	assert_i_eq(mio_nexthop_open(if_nametoindex("lo"), true, &lo, &error), 0);
	assert_i_eq(find4(lo, 1, 9, 2, mac), 0);
	assert_u_eq(mac[0], 0);
	mio_nexthop_close(lo);
}
