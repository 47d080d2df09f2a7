/* SPDX-License-Identifier: BSD-2-Clause */
/* frame_capture.c - packets wait in an array until all that were sent before them are known. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pcapng.h"
#include "fabric/fabric_node.h"
#include "fabric/usid.h"
#include "sim/kernel/sim_net.h"
#include "sim/mrc/mrc_nic_state.h"
#include "wire/ev_fmt.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/ip_udp.h"
#include "wire/packet.h"
#include "wire/srv6.h"

#define TUNNEL_BYTES (MW_IPV6_BYTES + MW_IP_UDP_MAX)
#define UDP_PORT 4791u
#define ECN_CAPABLE 2u
#define ECN_EXPERIENCED 3u
/* Ethernet around a frame: preamble, gap, header, checksum. */
#define ETHERNET_BYTES 38u

struct taken {
	uint64_t at_ps;
	uint32_t interface;
	uint32_t order; /* among equals, as they came */
	struct ms_packet packet;
};

struct ms_capture {
	const struct mf_topology *topology;
	FILE *to;
	uint64_t left; /* packets that may still be kept */
	uint32_t *link;
	uint32_t n_links;
	pthread_mutex_t lock; /* of what follows */
	MS_GROW(struct taken) taken;
	bool no_memory;
};

/* ---- frames ---- */

/* hop_of returns which hop of the packet's path a link is; MF_PATH_LINKS_MAX: none. */
static uint32_t hop_of(const struct mf_topology *t, uint32_t link, const struct ms_packet *p)
{
	const struct mf_pair pair = mf_pair_of(t, p->src, p->dst);

	for (uint32_t hop = 0; hop < mf_pair_links(&pair); hop++)
		if (mf_path_link(t, &pair, p->ev, hop) == link)
			return hop;
	return MF_PATH_LINKS_MAX;
}

/* write_carrier writes the destination: the uSIDs that the switches so far have left. */
static void write_carrier(const struct mf_topology *t, const struct ms_packet *p, uint32_t hop,
			  uint8_t *out)
{
	const struct mf_pair pair = mf_pair_of(t, p->src, p->dst);
	struct mw_usids list = {.block = mf_usid_block(t, p->plane)};

	list.n = mf_usids_of(t, &pair, p->ev, list.usid);
	mw_usids_encode(&list, out);
	while (hop-- > 0)
		mw_usid_shift(out);
}

/* write_tunnel writes what stands before the BTH; `len` bytes follow. */
static void write_tunnel(const struct mf_topology *t, const struct ms_packet *p, uint32_t hop,
			 uint32_t len, uint8_t *out)
{
	const struct mw_ev_bits ev = mw_ev_encode(MW_EV_STEV, p->ev);
	const uint32_t dscp = mw_dscp_encode(&t->cfg.dscp, (enum mw_dscp_class)p->cls);
	struct mw_ip_udp h = {
		.sport = ev.udp_sport,
		.dport = UDP_PORT,
		.flow_label = ev.flow_label,
		.len = len,
		.tos = (uint8_t)(dscp << 2 | (p->ce ? ECN_EXPERIENCED : ECN_CAPABLE)),
	};

	mf_address_of_host(t, p->src, h.src);
	mf_address_of_host(t, p->dst, h.dst);
	mw_ip_udp_write(&h, out + MW_IPV6_BYTES);
	mf_address_on_plane(t, p->src, p->plane, h.src);
	write_carrier(t, p, hop, h.dst);
	mw_ip_encapsulate(&h, MW_IP_UDP_MAX + len, out);
}

/* write_icrc ends a frame of `len` bytes behind UDP, the ICRC among them. */
static void write_icrc(uint8_t *frame, uint32_t len, bool corrupt)
{
	const uint8_t *inner = frame + MW_IPV6_BYTES;
	uint8_t *bth = frame + TUNNEL_BYTES, *icrc = bth + len - MW_ICRC_BYTES;
	struct mw_icrc_carrier c = {
		.ip_version = 6,
		.ip_len = (uint16_t)(MW_UDP_BYTES + len),
		.udp_sport = mb_load_be16(inner + MW_IPV6_BYTES),
		.udp_dport = UDP_PORT,
		.udp_len = (uint16_t)(MW_UDP_BYTES + len),
	};
	uint32_t crc;

	memcpy(c.src, inner + 8, sizeof(c.src));
	memcpy(c.dst, inner + 24, sizeof(c.dst));
	crc = mw_icrc_start(mw_crc32_update, &c, bth);
	crc = mw_crc32_update(crc, bth + MW_BTH_BYTES, len - MW_BTH_BYTES - MW_ICRC_BYTES);
	mw_icrc_finish(crc, icrc);
	icrc[0] ^= corrupt;
}

uint32_t ms_capture_frame(const struct mf_topology *t, uint32_t link, const struct ms_packet *p,
			  uint8_t out[MS_CAPTURE_FRAME_MAX])
{
	uint32_t hop = hop_of(t, link, p), len, whole, on_wire;
	struct mw_packet pkt;

	if (hop == MF_PATH_LINKS_MAX)
		return 0;
	ms_frame_unpack(p, &pkt);
	len = ms_frame_bytes(&pkt) + MW_ICRC_BYTES;
	whole = TUNNEL_BYTES + len;
	if (whole > MS_CAPTURE_FRAME_MAX)
		return 0;
	memset(out, 0, whole);
	write_tunnel(t, p, hop, len, out);
	mw_packet_encode(&pkt, out + TUNNEL_BYTES);
	write_icrc(out, len, p->corrupt);
	on_wire = p->bytes > ETHERNET_BYTES ? p->bytes - ETHERNET_BYTES : 0;
	return ms_packet_cut(p) && on_wire < whole ? on_wire : whole;
}

/* ---- the file ---- */

static bool write_heads(struct ms_capture *c)
{
	uint8_t section[MB_PCAPNG_SECTION_BYTES], interface[MB_PCAPNG_INTERFACE_MAX];
	size_t n = mb_pcapng_section(section);
	bool ok = fwrite(section, 1, n, c->to) == n;

	for (uint32_t i = 0; ok && i < c->n_links; i++) {
		char name[MF_LINK_NAME_BYTES];

		mf_link_name(c->topology, c->link[i], name);
		n = mb_pcapng_interface(name, interface);
		ok = fwrite(interface, 1, n, c->to) == n;
	}
	return ok;
}

struct ms_capture *ms_capture_create(const struct mf_topology *topology, const uint32_t *links,
				     uint32_t n, uint64_t packets, FILE *to)
{
	struct ms_capture *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct ms_capture){.topology = topology, .to = to, .left = packets, .n_links = n};
	pthread_mutex_init(&c->lock, NULL);
	c->link = malloc(n * sizeof(*c->link) + 1);
	if (c->link)
		memcpy(c->link, links, n * sizeof(*c->link));
	if (c->link && write_heads(c))
		return c;
	ms_capture_destroy(c);
	return NULL;
}

void ms_capture_destroy(struct ms_capture *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c->link);
	free(c->taken.at);
	free(c);
}

void ms_capture_start(const struct ms_capture *c, struct ms_net *net)
{
	for (uint32_t i = 0; i < c->n_links; i++)
		ms_net_set_tap(net, c->link[i], true);
}

void ms_capture_add_packet(struct ms_capture *c, uint32_t link, uint64_t now_ps,
			   const struct ms_packet *p)
{
	struct taken taken = {.at_ps = now_ps, .packet = *p};
	uint32_t i = 0;

	while (i < c->n_links && c->link[i] != link)
		i++;
	if (i == c->n_links)
		return;
	pthread_mutex_lock(&c->lock);
	taken.interface = i;
	taken.order = (uint32_t)c->taken.n;
	c->no_memory |= !ms_grow_add(&c->taken, &taken);
	pthread_mutex_unlock(&c->lock);
}

static int by_time(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;
	const uint64_t p[] = {x->at_ps, x->interface, x->order},
		       q[] = {y->at_ps, y->interface, y->order};

	return ms_compare(p, q, MS_COUNT(p));
}

static bool write_packet(struct ms_capture *c, const struct taken *t)
{
	uint8_t head[MB_PCAPNG_HEAD_BYTES], tail[MB_PCAPNG_TAIL_MAX], frame[MS_CAPTURE_FRAME_MAX];
	uint32_t len = ms_capture_frame(c->topology, c->link[t->interface], &t->packet, frame);
	size_t tail_len;

	if (len == 0)
		return true;
	tail_len = mb_pcapng_packet(t->interface, t->at_ps / MS_PS_PER_NS, len, len,
				    MB_PCAPNG_OUTBOUND, head, tail);
	return fwrite(head, 1, sizeof(head), c->to) == sizeof(head) &&
	       fwrite(frame, 1, len, c->to) == len && fwrite(tail, 1, tail_len, c->to) == tail_len;
}

bool ms_capture_flush(struct ms_capture *c)
{
	bool ok = !c->no_memory;

	if (c->taken.n > 1)
		qsort(c->taken.at, c->taken.n, sizeof(*c->taken.at), by_time);
	for (size_t i = 0; ok && i < c->taken.n && c->left > 0; i++, c->left--)
		ok = write_packet(c, &c->taken.at[i]);
	c->taken.n = 0;
	return ok;
}
