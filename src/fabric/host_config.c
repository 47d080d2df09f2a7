/* SPDX-License-Identifier: BSD-2-Clause */
/* host_config.c - rows of destinations as text, from the uSID plan. */
#include "fabric/host_config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/usid.h"

/* Prefixes of addresses that a pod's hosts, and a T0's, have in common; see usid.h. */
#define ALL_BITS 32u
#define POD_BITS 48u
#define T0_BITS 64u

struct writing {
	char *out;
	size_t size;
	size_t len; /* of the whole text, also of what did not fit */
};

__attribute__((format(printf, 2, 3))) static void put_line(struct writing *w, const char *format,
							   ...)
{
	size_t at = w->len < w->size ? w->len : w->size;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->out ? w->out + at : NULL, w->size - at, format, args);
	va_end(args);
	w->len += n > 0 ? (size_t)n : 0;
}

static void put_address(struct writing *w, const uint8_t address[MF_ADDRESS_BYTES])
{
	char text[INET6_ADDRSTRLEN];

	put_line(w, "%s", inet_ntop(AF_INET6, address, text, sizeof(text)));
}

/* Puts a field of some bits, none if there are no bits to choose by. */
static void put_field(struct writing *w, const char *name, uint32_t bits, uint32_t shift)
{
	if (bits == 0)
		return;
	put_line(w, "+%s:%u", name, bits);
	if (shift > 0)
		put_line(w, "<<%u", shift);
}

static uint32_t bits_for(uint32_t count)
{
	uint32_t bits = 0;

	while (UINT64_C(1) << bits < count)
		bits++;
	return bits;
}

static void put_block(struct writing *w, const struct mf_topology *t)
{
	put_line(w, "%08" PRIx32, t->cfg.usid.block);
	if (t->cfg.usid.planes == MF_PLANE_IN_BLOCK)
		put_field(w, "plane", bits_for(t->cfg.planes), 0);
}

/* What of a uSID depends on the destination, in paths that turn at `turn`. */
static void put_destination(struct writing *w, const struct mf_topology *t, enum mf_tier tier,
			    enum mf_tier turn)
{
	uint32_t index_bits = mf_usid_plane_shift(t);

	if (tier == MF_HOST) {
		/* By downlink the count stays in its bits; by host it may carry into all. */
		put_field(w, "host", t->cfg.usid.dst == MF_DST_HOST ? 16 : index_bits, 0);
		return;
	}
	if (turn == MF_T2)
		put_field(w, "pod", bits_for(t->cfg.pods), tier == MF_T0 ? t->t0_bits : t->t1_bits);
	if (tier == MF_T0)
		put_field(w, "t0", t->t0_bits, 0);
}

/*
 * Puts the uSIDs of a row whose paths turn at a tier: up to it the EV chooses, down from it the
 * destination says where; T1s keep their number on the way down.
 */
static void put_usids(struct writing *w, const struct mf_topology *t, const struct mf_pair *p)
{
	uint32_t n, top = (uint32_t)p->turn - MF_T0;
	uint16_t usids[MF_USIDS_MAX];

	n = mf_usids_of(t, p, 0, usids);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t up = i <= top ? i : 2 * top - i;
		enum mf_tier tier = i == n - 1 ? MF_HOST : (enum mf_tier)(MF_T0 + up);

		put_line(w, " %04x", usids[i]);
		if (tier != MF_HOST || t->cfg.usid.dst == MF_DST_DOWNLINK)
			put_field(w, "plane", t->plane_bits, mf_usid_plane_shift(t));
		if (tier == MF_T1)
			put_field(w, "uplink", t->t1_bits, 0);
		if (tier == MF_T2) {
			put_field(w, "uplink", t->t1_bits, t->t2_bits);
			put_field(w, "t1_uplink", t->t2_bits, 0);
		}
		if (i > top)
			put_destination(w, t, tier, p->turn);
	}
}

static void put_row(struct writing *w, const struct mf_topology *t, uint32_t host, uint32_t first,
		    enum mf_tier turn)
{
	const uint32_t bits = turn == MF_T0 ? T0_BITS : turn == MF_T1 ? POD_BITS : ALL_BITS;
	struct mf_pair p = mf_pair_turning(t, host, first, turn);
	uint8_t address[MF_ADDRESS_BYTES];

	mf_address_of_host(t, first, address);
	put_line(w, "\"");
	put_address(w, address);
	put_line(w, "/%u = ", bits);
	put_block(w, t);
	put_usids(w, t, &p);
	put_line(w, "\"");
}

static void put_rows(struct writing *w, const struct mf_topology *t, uint32_t host)
{
	uint32_t t0 = mf_host_t0(t, host);

	put_line(w, "rows = [");
	put_row(w, t, host, t0 * t->cfg.hosts_per_t0, MF_T0);
	put_line(w, ", ");
	put_row(w, t, host, mf_t0_pod(t, t0) * t->hosts_per_pod, MF_T1);
	if (t->cfg.tiers == 3) {
		put_line(w, ", ");
		put_row(w, t, host, 0, MF_T2);
	}
	put_line(w, "]\n");
}

/* ---- time ---- */

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_US 1000u
/* What configuration.md takes for sockets on a busy host; the network comes on top. */
#define HOST_NS 200000u
#define RTT_US_MAX 1000000u
#define TIMER_US_MAX 10000000u
/* A SACK in IPv6 in IPv6 and Ethernet. */
#define SACK_BYTES 158u

/* The time that a packet takes over one link of a kind and through the switch behind it. */
static uint64_t hop_ns(const struct mf_topology *t, enum mf_link_kind kind, uint32_t bytes)
{
	const struct mf_link_cfg *link = &t->cfg.links[kind];

	return link->latency_ns + t->cfg.switch_ns + UINT64_C(8) * bytes * NS_PER_S / link->bit_s;
}

/* The round trip of a packet of the fabric's MTU over the longest path, with nothing in its way. */
static uint64_t base_rtt_ns(const struct mf_topology *t)
{
	uint64_t ns = HOST_NS;

	for (uint32_t kind = MF_HOST_T0; kind < t->cfg.tiers; kind++)
		ns += 2 * (hop_ns(t, (enum mf_link_kind)kind, t->cfg.mtu) +
			   hop_ns(t, (enum mf_link_kind)kind, SACK_BYTES));
	return ns;
}

static void put_congestion(struct writing *w, const struct mf_topology *t)
{
	uint64_t us = (base_rtt_ns(t) + NS_PER_US - 1) / NS_PER_US;

	put_line(w, "[congestion]\nbase_rtt_us = %" PRIu64 "\n\n",
		 us < RTT_US_MAX ? us : RTT_US_MAX);
}

/*
 * Timers are floors for what a busy host does to packets. Where the fabric alone takes as long,
 * they must be above that: a retransmission before the answer can be there only costs bandwidth.
 *
 * How far a reorder window may grow is above a full queue as well: cut packets and those on other
 * planes overtake what waits there. At most one queue of a path is taken to be full, the one at
 * which many meet. Floors have nothing of it, or every dead path would be found that much later.
 */
static const struct floor {
	const char *key;
	uint32_t us;	  /* what configuration.md has */
	uint32_t in_rtts; /* at least so many round trips */
	bool queued;	  /* behind a full queue */
} floors[] = {
	{"rto_min_us", 20000, 4, false},
	{"tail_probe_us", 6000, 2, false},
	{"reorder_min_us", 3000, 1, false},
	{"reorder_max_us", 10000, 2, true},
};

static void put_timers(struct writing *w, const struct mf_topology *t, uint64_t queue_ns)
{
	uint64_t rtt_us = base_rtt_ns(t) / NS_PER_US, queue_us = queue_ns / NS_PER_US;
	bool any = false;

	for (size_t i = 0; i < sizeof(floors) / sizeof(floors[0]); i++) {
		uint64_t us = floors[i].in_rtts * (rtt_us + (floors[i].queued ? queue_us : 0));

		if (us <= floors[i].us)
			continue;
		put_line(w, "%s%s = %" PRIu64 "\n", any ? "" : "[timers]\n", floors[i].key,
			 us < TIMER_US_MAX ? us : TIMER_US_MAX);
		any = true;
	}
	if (any)
		put_line(w, "\n");
}

static void put_ports(struct writing *w, const struct mf_topology *t,
		      const struct mf_host_options *o)
{
	uint64_t pace = o->pace_bps ? o->pace_bps : t->cfg.links[MF_HOST_T0].bit_s;
	const struct mw_dscp_map usual = mw_dscp_map_default();
	char dscp[MW_DSCP_TEXT_BYTES];

	put_line(w, "[ports]\nlist = [");
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++)
		put_line(w, "%s\"%s%" PRIu32 "\"", plane ? ", " : "", o->ifname ? o->ifname : "e",
			 plane);
	put_line(w, "]\ndriver = \"%s\"\npace = %" PRIu64 "\n",
		 o->form == MF_HOST_RAW41 ? "raw41" : "udp", pace);
	if (memcmp(&t->cfg.dscp, &usual, sizeof(usual)) != 0) {
		mw_dscp_map_write(&t->cfg.dscp, dscp);
		put_line(w, "dscp = \"%s\"\n", dscp);
	}
	put_line(w, "\n");
}

size_t mf_host_config_write(const struct mf_topology *t, uint32_t host,
			    const struct mf_host_options *options, char *out, size_t size)
{
	struct writing w = {out, size, 0};
	uint8_t address[MF_ADDRESS_BYTES];

	put_line(&w, "# host %" PRIu32 " of %s\n", host, t->cfg.name);
	put_ports(&w, t, options);
	put_congestion(&w, t);
	put_timers(&w, t, options->queue_ns);
	mf_address_of_host(t, host, address);
	put_line(&w, "[srv6]\ngid = \"");
	put_address(&w, address);
	put_line(&w, "\"\nuplinks = %" PRIu32 "\n", t->cfg.t1s);
	if (t->cfg.tiers == 3)
		put_line(&w, "t1_uplinks = %" PRIu32 "\n", t->cfg.t1_uplinks);
	put_rows(&w, t, host);
	return w.len;
}
