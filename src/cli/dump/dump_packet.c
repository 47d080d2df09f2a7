/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump_packet.c - addresses, EV and class from the IP and UDP headers; the rest is what
 * wire/print.h says of a packet.
 */
#include "cli/dump/dump.h"

#include <string.h>

#include "base/bytes.h"
#include "cli/gid_text.h"
#include "wire/ev_fmt.h"
#include "wire/print.h"

#define PORTS 1024u /* a process takes one of this many slots */
#define PROTOCOL_IPV6 41u
#define PROTOCOL_ROUTING 43u
/* Of a routing header of SRv6 (RFC 8754): its type, and where the first of its segments is. */
#define ROUTING_SEGMENTS 4u
#define SEGMENTS_AT 8u
/* Addresses fcbb:bb00::/28 are lists of uSIDs. */
#define BLOCK_SHIFT 4u
#define BLOCK 0xFCBBBB0u
#define ECN_MASK 3u
#define NS_PER_S UINT64_C(1000000000)

static const char *const ecn_names[] = {"not-ect", "ect1", "ect0", "ce"};

static void read_usids(const uint8_t addr[MW_SRV6_ADDR_BYTES], struct mw_usids *usids)
{
	if (!mw_usids_decode(addr, usids))
		usids->n = 0;
}

/*
 * Reads the one segment that a long path has beside the destination, and returns where the header
 * behind it begins; 0: this is no such routing header.
 */
static size_t read_segment(const uint8_t *routing, size_t len, struct dump_packet *p)
{
	size_t bytes = len < SEGMENTS_AT ? 0 : ((size_t)routing[1] + 1) * 8;

	if (bytes < SEGMENTS_AT + MW_SRV6_ADDR_BYTES || len < bytes ||
	    routing[0] != PROTOCOL_IPV6 || routing[2] != ROUTING_SEGMENTS)
		return 0;
	if (routing[3] > 0) /* what is left of it is to be taken yet */
		read_usids(routing + SEGMENTS_AT, &p->segment);
	return bytes;
}

/* Steps into the tunnel of SRv6 and returns where it is; 0: there is none. */
static size_t enter_tunnel(const uint8_t *ip, size_t len, struct dump_packet *p)
{
	size_t at = MW_IPV6_BYTES, routing = 0;

	if (len < MW_IPV6_BYTES || ip[0] >> 4 != 6)
		return 0;
	if (ip[6] == PROTOCOL_ROUTING)
		routing = read_segment(ip + at, len - at, p);
	if (!routing && ip[6] != PROTOCOL_IPV6)
		return 0;
	memcpy(p->outer_src, ip + 8, sizeof(p->outer_src));
	memcpy(p->outer_dst, ip + 24, sizeof(p->outer_dst));
	read_usids(p->outer_dst, &p->usids);
	p->tos = (uint8_t)((ip[0] & 0xF) << 4 | ip[1] >> 4);
	return at + routing;
}

/* Without an inner header the list is where the receiver's GID was. */
static void read_plain_path(struct dump_packet *p)
{
	if (mb_load_be32(p->ip.dst) >> BLOCK_SHIFT == BLOCK)
		read_usids(p->ip.dst, &p->usids);
}

/*
 * An EV of 32 bits has its low half in the flow label; an EV of 16 bits leaves that at 0. On a path
 * of uSIDs EVs have 32 bits, and the low half of one is 0 where its path takes uplink 0.
 */
static uint32_t ev_of(const struct dump_packet *p)
{
	const struct mw_ev_bits bits = {.udp_sport = p->ip.sport, .flow_label = p->ip.flow_label};

	bool wide = p->tunnelled || p->usids.block || bits.flow_label;

	return mw_ev_decode(wide ? MW_EV_STEV : MW_EV_UDP, bits);
}

static enum mw_dscp_class class_of(const struct dump_packet *p, const struct mw_dscp_map *dscp)
{
	return mw_dscp_decode(dscp, p->tos >> 2);
}

bool dump_packet_read(const struct dump_frame *frame, uint32_t first_port,
		      const struct mw_dscp_map *dscp, struct dump_packet *p)
{
	const uint8_t *ip = frame->ip;
	size_t len = frame->len, headers, unused, inner;
	bool cut;

	*p = (struct dump_packet){.frame = frame};
	if (!ip)
		return false;
	inner = enter_tunnel(ip, len, p);
	p->tunnelled = inner > 0;
	ip += inner;
	len -= inner;
	if (!mw_ip_udp_read(ip, len, &p->ip, &headers) || p->ip.dport < first_port ||
	    p->ip.dport - first_port >= PORTS)
		return false;
	if (!p->tunnelled) {
		p->tos = p->ip.tos;
		read_plain_path(p);
	}
	p->ev = ev_of(p);
	cut = mw_dscp_is_trimmed(class_of(p, dscp)); /* the ICRC is among what was cut off */
	if (!cut && p->ip.len < MW_ICRC_BYTES) {
		p->verdict = MW_SHORT;
		return true;
	}
	len = p->ip.len - (cut ? 0 : MW_ICRC_BYTES);
	p->datagram = len > 0 && mw_is_datagram(ip[headers]);
	p->verdict = p->datagram ? mw_datagram_decode(ip + headers, len, &p->ud, &unused)
				 : mw_packet_decode(ip + headers, len, cut, &p->mrc, &unused);
	return true;
}

/* ---- a line ---- */

static void add_usids(const char *what, const struct mw_usids *usids, struct ui_text *out)
{
	for (uint32_t i = 0; i < usids->n; i++)
		ui_text_add(out, "%s%04x", i ? "," : what, usids->usid[i]);
}

static void add_path(const struct dump_packet *p, struct ui_text *out)
{
	char src[CLI_ADDRESS_MAX], dst[CLI_ADDRESS_MAX];

	if (!p->tunnelled) {
		add_usids(", usids ", &p->usids, out);
		return;
	}
	ui_text_add(out, ", tunnel %s > %s", cli_address_write(src, p->outer_src),
		    cli_address_write(dst, p->outer_dst));
	add_usids(" usids ", &p->usids, out);
	add_usids(" segment ", &p->segment, out);
}

static void add_datagram(const struct mw_datagram *ud, struct ui_text *out)
{
	ui_text_add(out, "UD_SEND_ONLY%s, dqp 0x%06x, psn %u, sqp 0x%06x, q_key 0x%08x, length %u",
		    ud->with_imm ? "_IMM" : "", ud->dqp, ud->psn, ud->src_qpn, ud->q_key,
		    ud->payload_len);
}

void dump_packet_line(const struct dump_packet *p, const struct mw_dscp_map *dscp,
		      struct ui_text *out)
{
	char src[CLI_ADDRESS_MAX], dst[CLI_ADDRESS_MAX], mrc[MW_PRINT_BYTES];

	ui_text_add(out, "%llu.%09llu ", (unsigned long long)(p->frame->time_ns / NS_PER_S),
		    (unsigned long long)(p->frame->time_ns % NS_PER_S));
	if (p->frame->interface[0])
		ui_text_add(out, "%s ", p->frame->interface);
	ui_text_add(out, "%s > %s, port %u, ev 0x%x, %s %s", cli_address_write(src, p->ip.src),
		    cli_address_write(dst, p->ip.dst), p->ip.dport, p->ev,
		    mw_dscp_class_name(class_of(p, dscp)), ecn_names[p->tos & ECN_MASK]);
	add_path(p, out);
	ui_text_add(out, ": ");
	if (p->verdict != MW_OK) {
		ui_text_add(out, "malformed: %s, %u bytes", mw_verdict_name(p->verdict), p->ip.len);
	} else if (p->datagram) {
		add_datagram(&p->ud, out);
	} else {
		mw_packet_print(&p->mrc, mrc, sizeof(mrc));
		ui_text_add(out, "%s", mrc);
	}
	ui_text_add(out, "\n");
}

/* ---- JSON ---- */

/* Readers of JSON are sure of 53 bits only; wider fields are text. */
static json_t *number_json(const struct mw_field *f)
{
	return f->digits > 8 ? json_sprintf("0x%016llx", (unsigned long long)f->value)
			     : json_integer((json_int_t)f->value);
}

static void set_field(void *context, const struct mw_field *f)
{
	json_t *to = context, *flags;

	switch (f->form) {
	case MW_FIELD_HEX:
		json_object_set_new(to, f->name, number_json(f));
		return;
	case MW_FIELD_DECIMAL:
	case MW_FIELD_SIGNED:
		json_object_set_new(to, f->name, json_integer((json_int_t)f->value));
		return;
	case MW_FIELD_WORD:
		json_object_set_new(to, f->name, json_string(f->word));
		return;
	case MW_FIELD_SET:
		json_object_set_new(to, f->name, json_true());
		return;
	case MW_FIELD_FLAGS:
		break;
	}
	flags = json_array();
	for (uint32_t i = 0; i < MW_BTH_FLAGS; i++)
		if (f->value >> i & 1)
			json_array_append_new(flags, json_string(mw_bth_flag_name(i)));
	json_object_set_new(to, f->name, flags);
}

static json_t *datagram_json(const struct mw_datagram *ud)
{
	return json_pack("{s:s,s:i,s:i,s:i,s:I,s:i}", "opcode",
			 ud->with_imm ? "UD_SEND_ONLY_IMM" : "UD_SEND_ONLY", "dqp", (int)ud->dqp,
			 "psn", (int)ud->psn, "sqp", (int)ud->src_qpn, "q_key",
			 (json_int_t)ud->q_key, "length", (int)ud->payload_len);
}

static json_t *usids_json(const struct mw_usids *list)
{
	json_t *usids = json_array();

	for (uint32_t i = 0; i < list->n; i++)
		json_array_append_new(usids, json_integer(list->usid[i]));
	return usids;
}

static json_t *tunnel_json(const struct dump_packet *p)
{
	char src[CLI_ADDRESS_MAX], dst[CLI_ADDRESS_MAX];
	json_t *tunnel =
		json_pack("{s:s,s:s,s:o}", "src", cli_address_write(src, p->outer_src), "dst",
			  cli_address_write(dst, p->outer_dst), "usids", usids_json(&p->usids));

	if (p->segment.n > 0)
		json_object_set_new(tunnel, "segment", usids_json(&p->segment));
	return tunnel;
}

json_t *dump_packet_json(const struct dump_packet *p, const struct mw_dscp_map *dscp)
{
	char src[CLI_ADDRESS_MAX], dst[CLI_ADDRESS_MAX];
	json_t *all, *mrc;

	all = json_pack("{s:I,s:s,s:s,s:s,s:i,s:I,s:s,s:s}", "time_ns",
			(json_int_t)p->frame->time_ns, "interface", p->frame->interface, "src",
			cli_address_write(src, p->ip.src), "dst", cli_address_write(dst, p->ip.dst),
			"udp_port", (int)p->ip.dport, "ev", (json_int_t)p->ev, "class",
			mw_dscp_class_name(class_of(p, dscp)), "ecn", ecn_names[p->tos & ECN_MASK]);
	if (p->tunnelled)
		json_object_set_new(all, "tunnel", tunnel_json(p));
	else if (p->usids.n > 0)
		json_object_set_new(all, "usids", usids_json(&p->usids));
	if (p->verdict != MW_OK) {
		json_object_set_new(all, "malformed", json_string(mw_verdict_name(p->verdict)));
	} else if (p->datagram) {
		json_object_set_new(all, "ud", datagram_json(&p->ud));
	} else {
		mrc = json_object();
		mw_packet_fields(&p->mrc, set_field, mrc);
		json_object_set_new(all, "mrc", mrc);
	}
	return all;
}
