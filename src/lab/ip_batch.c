/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists for ip and tc, and the hosts' IPv4 addresses: see ip_batch.h.
 *
 * Both ends of a cable have link-local addresses that are the same everywhere, fe80::1 at the lower
 * end and fe80::2 at the upper, and know each other's MAC address: nothing is ever resolved, so the
 * first packet passes. Family options cannot be in a list; ip derives the family from the
 * addresses.
 */
#include "lab/ip_batch.h"

#include "base/assert.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define NET 10u
/* 0 and 255 are the network's and its broadcast address to many programs. */
#define HOSTS_MAX 254u

bool ml_ipv4_fits(const struct mf_topology *t)
{
	return t->cfg.pods <= 256 && t->cfg.t0s <= 256 && t->cfg.hosts_per_t0 <= HOSTS_MAX;
}

char *ml_ipv4_of_host(const struct mf_topology *t, uint32_t host, char *out)
{
	uint32_t t0 = mf_host_t0(t, host);

	mb_assert(ml_ipv4_fits(t) && host < t->n_hosts);
	snprintf(out, ML_IPV4_TEXT, "%u.%u.%u.%u", NET, mf_t0_pod(t, t0) & 0xff,
		 mf_div_rest(t->by_t0s, t0) & 0xff, (host % t->cfg.hosts_per_t0 + 1) & 0xff);
	return out;
}

char *ml_ipv4_prefix(const struct mf_topology *t, const struct mf_route *r, char *out)
{
	/* The block is the first 8 bits; pod and T0 have 16 bits each, here 8. */
	uint32_t length = r->length < 32u ? 0 : (r->length - 32u) / 16 * 8 + 8;
	uint32_t host;
	char address[ML_IPV4_TEXT];

	if (r->length == 8 * MF_ADDRESS_BYTES && mf_address_host(t, r->prefix, &host)) {
		snprintf(out, ML_IPV4_TEXT + 3, "%s/32", ml_ipv4_of_host(t, host, address));
		return out;
	}
	snprintf(out, ML_IPV4_TEXT + 3, "%u.%u.%u.0/%u", length ? NET : 0, r->prefix[5],
		 r->prefix[7], length & 0x3f);
	return out;
}

static const char *format_address(const uint8_t bytes[MF_ADDRESS_BYTES], char out[INET6_ADDRSTRLEN])
{
	inet_ntop(AF_INET6, bytes, out, INET6_ADDRSTRLEN);
	return out;
}

/* ---- cables and ports ---- */

void ml_ip_batch_mac(FILE *to, uint32_t link)
{
	uint32_t n = link + 1;

	fprintf(to, "02:6d:72:%02x:%02x:%02x", n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff);
}

static void write_end(FILE *to, const struct mf_topology *t, const char *prefix, uint32_t link)
{
	struct mf_end end = mf_link_from(t, link);
	char node[MF_NODE_NAME_BYTES], port[MF_PORT_NAME_BYTES];

	mf_node_name(t, end.node, node);
	mf_port_name(t, end.node, end.port, port);
	fprintf(to, "name %s index %u netns %s%s mtu %u address ", port, ml_ifindex(link), prefix,
		node, t->cfg.mtu);
	ml_ip_batch_mac(to, link);
}

void ml_ip_batch_cable(FILE *to, const struct mf_topology *t, const char *prefix, uint32_t link,
		       uint32_t peer)
{
	fprintf(to, "link add ");
	write_end(to, t, prefix, link);
	fprintf(to, " type veth peer ");
	write_end(to, t, prefix, peer);
	fprintf(to, "\n");
}

void ml_ip_batch_port(FILE *to, const struct mf_topology *t, uint32_t link, uint32_t peer)
{
	struct mf_end end = mf_link_from(t, link);
	bool upper = mf_link_down(link); /* it sends downwards */
	char port[MF_PORT_NAME_BYTES];

	mf_port_name(t, end.node, end.port, port);
	fprintf(to, "link set dev %s up\n", port);
	fprintf(to, "addr replace fe80::%u/64 dev %s nodad\n", upper ? 2u : 1u, port);
	fprintf(to, "neigh replace fe80::%u dev %s nud permanent lladdr ", upper ? 1u : 2u, port);
	ml_ip_batch_mac(to, peer);
	fprintf(to, "\n");
}

void ml_ip_batch_node(FILE *to, const struct mf_topology *t, uint32_t node, const char *sid_device)
{
	uint8_t bytes[MF_ADDRESS_BYTES];
	char text[INET6_ADDRSTRLEN];

	fprintf(to, "link set dev lo up\n");
	if (mf_node_at(t, node).tier != MF_HOST) {
		bool pair = strcmp(sid_device, "veth") == 0;

		fprintf(to, "link add sr0 type %s%s\n", sid_device, pair ? " peer name sr1" : "");
		fprintf(to, "link set dev sr0 up\n");
		return;
	}
	mf_address_of_host(t, node, bytes);
	fprintf(to, "addr replace %s/128 dev lo nodad\n", format_address(bytes, text));
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		mf_address_on_plane(t, node, plane, bytes);
		fprintf(to, "addr replace %s/128 dev lo nodad\n", format_address(bytes, text));
	}
}

/* ---- routes ---- */

/* The source address of what a host sends by a route. */
static void write_source(FILE *to, const struct mf_topology *t, uint32_t host,
			 const struct mf_route *r)
{
	uint8_t bytes[MF_ADDRESS_BYTES];
	char text[INET6_ADDRSTRLEN];

	if (r->set & MF_ROUTES_PLAIN)
		mf_address_of_host(t, host, bytes);
	else
		mf_address_on_plane(t, host, r->plane, bytes);
	fprintf(to, " src %s", format_address(bytes, text));
}

static void write_hop(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct mf_route *r, const char *family)
{
	char port[MF_PORT_NAME_BYTES];

	mf_port_name(t, node, r->port, port);
	fprintf(to, " via %sfe80::%u dev %s", family, mf_link_down(r->link) ? 1u : 2u, port);
}

/* write_route for IPv4; only plain routes have it. The next hops are those of IPv6. */
static void write_ipv4(FILE *to, const struct mf_topology *t, uint32_t node,
		       const struct mf_route *r, size_t n)
{
	char text[ML_IPV4_TEXT + 3];

	if (!(r->set & MF_ROUTES_PLAIN))
		return;
	ml_ipv4_prefix(t, r, text);
	if (r->kind == MF_ROUTE_BLACKHOLE)
		fprintf(to, "route replace blackhole %s\n", text);
	if (r->kind != MF_ROUTE_LINK)
		return;
	fprintf(to, "route replace %s", text);
	if (mf_node_at(t, node).tier == MF_HOST)
		fprintf(to, " src %s", ml_ipv4_of_host(t, node, text));
	for (size_t i = 0; i < n; i++) {
		if (n > 1)
			fprintf(to, " nexthop");
		write_hop(to, t, node, &r[i], "inet6 ");
	}
	fprintf(to, "\n");
}

/* All records of one prefix: one route. */
static void write_route(FILE *to, const struct mf_topology *t, uint32_t node,
			const struct mf_route *r, size_t n)
{
	char text[INET6_ADDRSTRLEN];

	format_address(r->prefix, text);
	switch (r->kind) {
	case MF_ROUTE_UN:
		fprintf(to,
			"route replace %s/%u encap seg6local action End flavors next-csid "
			"lblen 32 nflen 16 dev sr0\n",
			text, r->length);
		return;
	case MF_ROUTE_LOCAL:
		if (r->length < 128) /* whole addresses are local by being addresses */
			fprintf(to, "route replace local %s/%u dev lo\n", text, r->length);
		return;
	case MF_ROUTE_BLACKHOLE:
		fprintf(to, "route replace blackhole %s/%u\n", text, r->length);
		return;
	case MF_ROUTE_LINK:
		break;
	}
	fprintf(to, "route replace %s/%u", text, r->length);
	if (mf_node_at(t, node).tier == MF_HOST)
		write_source(to, t, node, r);
	for (size_t i = 0; i < n; i++) {
		if (n > 1)
			fprintf(to, " nexthop");
		write_hop(to, t, node, &r[i], "");
	}
	fprintf(to, "\n");
}

/* Next hops of one route at most: planes of a host, uplinks of a T0. */
#define HOPS_MAX MF_UPLINKS_MAX

static bool same_route(const struct mf_route *a, const struct mf_route *b)
{
	return a->kind == MF_ROUTE_LINK && b->kind == MF_ROUTE_LINK && a->length == b->length &&
	       memcmp(a->prefix, b->prefix, sizeof(a->prefix)) == 0;
}

typedef void write_fn(FILE *to, const struct mf_topology *t, uint32_t node,
		      const struct mf_route *r, size_t n);

/* Gives the routes of a node to `write`, all records of one prefix together. */
static void write_routes(FILE *to, const struct mf_topology *t, uint32_t node,
			 ml_has_carrier_fn *carries, const struct ml_lab *lab, write_fn *write)
{
	struct mf_route group[HOPS_MAX], r;
	struct mf_route_iter it;
	size_t n = 0;
	bool any;

	mf_routes_begin(&it, t, node, MF_ROUTES_ALL);
	do {
		any = mf_routes_next(&it, &r);
		if (any && r.kind == MF_ROUTE_LINK && !carries(lab, r.link))
			continue;
		if (n && (!any || !same_route(&group[0], &r) || n == HOPS_MAX)) {
			write(to, t, node, group, n);
			n = 0;
		}
		if (any)
			group[n++] = r;
	} while (any);
}

void ml_ip_batch_routes(FILE *to, const struct mf_topology *t, uint32_t node,
			ml_has_carrier_fn *carries, const struct ml_lab *lab)
{
	write_routes(to, t, node, carries, lab, write_route);
}

void ml_ip_batch_ipv4(FILE *to, const struct mf_topology *t, uint32_t node,
		      ml_has_carrier_fn *carries, const struct ml_lab *lab)
{
	char text[ML_IPV4_TEXT];

	if (!ml_ipv4_fits(t))
		return;
	if (mf_node_at(t, node).tier == MF_HOST)
		fprintf(to, "addr replace %s/32 dev lo\n", ml_ipv4_of_host(t, node, text));
	write_routes(to, t, node, carries, lab, write_ipv4);
}

/* ---- filters ---- */

/*
 * Actions of a filter in direct-action mode. 2 is counted as a drop and reported to the sending
 * socket: right for a switch, which has none. On a host that is the sender's own TCP, which must
 * not know of the loss; 4 takes the packet without a report. -1 goes on. The constant loads a
 * random number: SKF_AD_OFF + SKF_AD_RANDOM.
 */
#define PICK_RANDOM "32 0 0 4294963256"
#define ADMIT "6 0 0 4294967295"
#define DROP 2u
#define STEAL 4u

static bool needs_filter(const struct ml_port_state *s)
{
	return s && (s->faults.blackhole || s->faults.loss_ppm);
}

void ml_ip_batch_classic_filter(FILE *to, const char *port, bool of_host,
				const struct ml_port_state *before, const struct ml_port_state *now)
{
	uint64_t bound = (UINT64_C(1) << 32) * now->faults.loss_ppm / 1000000;
	unsigned action = of_host ? STEAL : DROP;

	if (!before)
		fprintf(to, "qdisc add dev %s clsact\n", port);
	if (needs_filter(before))
		fprintf(to, "filter del dev %s egress pref 1\n", port);
	if (!needs_filter(now))
		return;
	fprintf(to, "filter add dev %s egress pref 1 bpf da bytecode ", port);
	if (now->faults.blackhole || bound >> 32)
		fprintf(to, "'1,6 0 0 %u'\n", action);
	else
		fprintf(to, "'4," PICK_RANDOM ",53 1 0 %llu,6 0 0 %u," ADMIT "'\n",
			(unsigned long long)bound, action);
}
