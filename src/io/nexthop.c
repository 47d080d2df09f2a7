/* SPDX-License-Identifier: BSD-2-Clause */
/* nexthop.c - asks the kernel by netlink for routes and neighbours, and keeps the answers. */
#include "io/af_packet.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "wire/ip_udp.h"

/* Direct-mapped, so that many peers cost replacements and never a search. */
#define SLOTS 256u
#define KEPT_NS UINT64_C(1000000000)
/* A neighbour that does not answer is asked for again after this. */
#define RETRY_NS UINT64_C(100000000)
#define DISCARD_PORT 9u
#define MESSAGE_BYTES 8192u

struct entry {
	uint8_t ip[16];
	uint8_t mac[MIO_MAC_BYTES];
	int result;	   /* of the last time that the kernel was asked */
	uint64_t until_ns; /* 0: empty */
};

struct mio_nexthop {
	struct mnl_socket *netlink;
	unsigned ifindex;
	bool no_arp;
	uint32_t sequence;
	struct entry entries[SLOTS];
};

/* An address as the kernel's messages carry it: 4 or 16 bytes. */
struct raw_addr {
	uint8_t family;
	uint8_t len;
	const uint8_t *bytes;
};

static struct raw_addr raw_addr_of(const uint8_t ip[16])
{
	if (mw_is_ipv4(ip))
		return (struct raw_addr){AF_INET, 4, ip + 12};
	return (struct raw_addr){AF_INET6, 16, ip};
}

int mio_nexthop_open(unsigned ifindex, bool no_arp, struct mio_nexthop **nexthop,
		     struct mio_error *error)
{
	struct mio_nexthop *n = calloc(1, sizeof(*n));
	int code;

	if (n)
		n->netlink = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (n && n->netlink && mnl_socket_bind(n->netlink, 0, MNL_SOCKET_AUTOPID) == 0) {
		n->ifindex = ifindex;
		n->no_arp = no_arp;
		*nexthop = n;
		return 0;
	}
	code = n ? errno : ENOMEM;
	snprintf(error->text, sizeof(error->text), "netlink socket: %s", strerror(code));
	if (n && n->netlink)
		mnl_socket_close(n->netlink);
	free(n);
	return code;
}

void mio_nexthop_close_inherited(struct mio_nexthop *n)
{
	close(mnl_socket_get_fd(n->netlink));
}

void mio_nexthop_close(struct mio_nexthop *n)
{
	mnl_socket_close(n->netlink);
	free(n);
}

/* Sends a request and hands the answer's message to parse; 0, or what the kernel refused with. */
static int netlink_request(struct mio_nexthop *n, struct nlmsghdr *request, mnl_cb_t parse,
			   void *out)
{
	uint8_t answer[MESSAGE_BYTES];
	ssize_t len;

	request->nlmsg_seq = ++n->sequence;
	if (mnl_socket_sendto(n->netlink, request, request->nlmsg_len) < 0)
		return errno;
	len = mnl_socket_recvfrom(n->netlink, answer, sizeof(answer));
	if (len < 0)
		return errno;
	if (mnl_cb_run(answer, (size_t)len, n->sequence, mnl_socket_get_portid(n->netlink), parse,
		       out) < 0)
		return errno;
	return 0;
}

struct route {
	unsigned ifindex;
	uint8_t via[16]; /* the gateway, or the destination itself */
};

/* A gateway is of the family of the destination, which stood in its place until now. */
static void put_gateway(const struct nlattr *attr, uint8_t via[16])
{
	uint16_t len = mnl_attr_get_payload_len(attr);

	if (len == 4 || len == 16)
		memcpy(via + 16 - len, mnl_attr_get_payload(attr), len);
}

static int route_attribute(const struct nlattr *attr, void *out)
{
	struct route *r = out;

	if (mnl_attr_get_type(attr) == RTA_OIF)
		r->ifindex = mnl_attr_get_u32(attr);
	else if (mnl_attr_get_type(attr) == RTA_GATEWAY)
		put_gateway(attr, r->via);
	return MNL_CB_OK;
}

static int parse_route(const struct nlmsghdr *message, void *out)
{
	return mnl_attr_parse(message, sizeof(struct rtmsg), route_attribute, out) < 0
		       ? MNL_CB_ERROR
		       : MNL_CB_STOP;
}

/* Which neighbour leads to ip over our interface. */
static int find_route(struct mio_nexthop *n, const uint8_t ip[16], struct route *r)
{
	struct raw_addr a = raw_addr_of(ip);
	uint8_t bytes[MESSAGE_BYTES];
	struct nlmsghdr *request = mnl_nlmsg_put_header(bytes);
	struct rtmsg *rt;
	int err;

	request->nlmsg_type = RTM_GETROUTE;
	request->nlmsg_flags = NLM_F_REQUEST;
	rt = mnl_nlmsg_put_extra_header(request, sizeof(*rt));
	rt->rtm_family = a.family;
	rt->rtm_dst_len = (uint8_t)(a.len * 8);
	mnl_attr_put(request, RTA_DST, a.len, a.bytes);
	mnl_attr_put_u32(request, RTA_OIF, n->ifindex);
	memcpy(r->via, ip, 16);
	err = netlink_request(n, request, parse_route, r);
	return err ? err : r->ifindex == n->ifindex ? 0 : ENETUNREACH;
}

struct neighbour {
	uint16_t state;
	bool has_mac;
	uint8_t mac[MIO_MAC_BYTES];
};

static int neighbour_attribute(const struct nlattr *attr, void *out)
{
	struct neighbour *nb = out;

	if (mnl_attr_get_type(attr) == NDA_LLADDR &&
	    mnl_attr_get_payload_len(attr) == MIO_MAC_BYTES) {
		memcpy(nb->mac, mnl_attr_get_payload(attr), MIO_MAC_BYTES);
		nb->has_mac = true;
	}
	return MNL_CB_OK;
}

static int parse_neighbour(const struct nlmsghdr *message, void *out)
{
	const struct ndmsg *nd = mnl_nlmsg_get_payload(message);
	struct neighbour *nb = out;

	nb->state = nd->ndm_state;
	return mnl_attr_parse(message, sizeof(*nd), neighbour_attribute, out) < 0 ? MNL_CB_ERROR
										  : MNL_CB_STOP;
}

/* Makes the kernel look for a neighbour: it does so for whatever is sent to it. */
static void start_resolution(const struct mio_nexthop *n, const uint8_t ip[16])
{
	bool v4 = mw_is_ipv4(ip);
	struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons(DISCARD_PORT)};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6,
				   .sin6_port = htons(DISCARD_PORT),
				   .sin6_scope_id = n->ifindex};
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	memcpy(&to4.sin_addr, ip + 12, 4);
	memcpy(&to6.sin6_addr, ip, 16);
	/* Whether it goes out does not matter: a later call asks again. */
	(void)!sendto(fd, "", 0, 0, v4 ? (struct sockaddr *)&to4 : (struct sockaddr *)&to6,
		      v4 ? sizeof(to4) : sizeof(to6));
	close(fd);
}

static int find_neighbour(struct mio_nexthop *n, const uint8_t ip[16], uint8_t mac[MIO_MAC_BYTES])
{
	const uint16_t good =
		NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP;
	struct raw_addr a = raw_addr_of(ip);
	uint8_t bytes[MESSAGE_BYTES];
	struct nlmsghdr *request = mnl_nlmsg_put_header(bytes);
	struct neighbour nb = {.state = 0};
	struct ndmsg *nd;

	request->nlmsg_type = RTM_GETNEIGH;
	request->nlmsg_flags = NLM_F_REQUEST;
	nd = mnl_nlmsg_put_extra_header(request, sizeof(*nd));
	nd->ndm_family = a.family;
	nd->ndm_ifindex = (int)n->ifindex;
	mnl_attr_put(request, NDA_DST, a.len, a.bytes);
	if (netlink_request(n, request, parse_neighbour, &nb) == 0 && nb.state & good &&
	    nb.has_mac) {
		memcpy(mac, nb.mac, MIO_MAC_BYTES);
		return 0;
	}
	start_resolution(n, ip);
	return EHOSTUNREACH;
}

static uint32_t slot_of(const uint8_t ip[16])
{
	uint32_t h = 0;

	for (uint32_t i = 0; i < 16; i++)
		h = h * 31 + ip[i];
	return h % SLOTS;
}

int mio_nexthop_find(struct mio_nexthop *n, uint64_t now_ns, const uint8_t ip[16],
		     uint8_t mac[MIO_MAC_BYTES])
{
	struct entry *e = &n->entries[slot_of(ip)];
	struct route route = {.ifindex = 0};

	if (n->no_arp) {
		memset(mac, 0, MIO_MAC_BYTES);
		return 0;
	}
	if (e->until_ns <= now_ns || memcmp(e->ip, ip, sizeof(e->ip)) != 0) {
		memcpy(e->ip, ip, sizeof(e->ip));
		e->result = find_route(n, ip, &route);
		if (e->result == 0)
			e->result = find_neighbour(n, route.via, e->mac);
		e->until_ns = now_ns + (e->result ? RETRY_NS : KEPT_NS);
	}
	memcpy(mac, e->mac, MIO_MAC_BYTES);
	return e->result;
}
