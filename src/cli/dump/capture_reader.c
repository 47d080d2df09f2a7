/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_reader.c - blocks of pcapng (draft-ietf-opsawg-pcapng) and records of pcap
 * (draft-ietf-opsawg-pcap), and the link layers around IP.
 */
#include "cli/dump/dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/printable.h"

#define PCAP_US 0xA1B2C3D4u
#define PCAP_NS 0xA1B23C4Du
#define PCAP_HEAD_BYTES 24u
#define PCAP_RECORD_BYTES 16u
#define NG_SECTION 0x0A0D0D0Au
#define NG_INTERFACE 1u
#define NG_PACKET 6u
#define NG_BYTE_ORDER 0x1A2B3C4Du
#define NG_BLOCK_MIN 12u
#define NG_PACKET_HEAD 20u
#define NG_BLOCK_MAX (DUMP_FRAME_MAX + 4096u)
#define NG_OPTION_NAME 2u
#define NG_OPTION_RESOLUTION 9u
#define LINK_ETHERNET 1u
#define LINK_RAW 101u
#define LINK_COOKED 113u
#define LINK_IPV4 228u
#define LINK_IPV6 229u
#define LINK_COOKED_2 276u
#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_IPV6 0x86DDu
#define ETHERTYPE_VLAN 0x8100u
#define NS_PER_S UINT64_C(1000000000)
#define US_PER_S UINT64_C(1000000)

static uint32_t swap32(uint32_t v)
{
	return v >> 24 | (v >> 8 & 0xFF00) | (v << 8 & 0xFF0000) | v << 24;
}

static uint32_t load32(const struct dump_reader *r, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return r->swapped ? swap32(v) : v;
}

static uint32_t load16(const struct dump_reader *r, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return r->swapped ? (uint32_t)(v >> 8 | (v & 0xFF) << 8) : v;
}

static bool set_error(struct dump_reader *r, const char *what)
{
	snprintf(r->error, sizeof(r->error), "byte %llu: %s", (unsigned long long)r->offset, what);
	return false;
}

/* Reads `size` bytes. False: the file ends; if it ends within them, that is an error. */
static bool read_bytes(struct dump_reader *r, uint8_t *out, size_t size)
{
	size_t n = fread(out, 1, size, r->from);

	if (n == size) {
		r->offset += n;
		return true;
	}
	if (n > 0 || ferror(r->from))
		set_error(r, "the file ends within a packet");
	return false;
}

static void add_interface(struct dump_reader *r, uint32_t link_type, uint64_t units_per_s)
{
	r->interfaces[r->n_interfaces++] =
		(struct dump_interface){.link_type = link_type, .units_per_s = units_per_s};
}

/* ---- pcapng ---- */

/* if_tsresol: a power of ten, or with the high bit a power of two. */
static uint64_t units_of_resolution(uint8_t resolution)
{
	uint32_t exponent = resolution & 0x7F;
	uint64_t units = 1;

	if (resolution & 0x80)
		return exponent < 40 ? UINT64_C(1) << exponent : 0;
	for (; exponent > 0 && units <= NS_PER_S; exponent--)
		units *= 10;
	return exponent == 0 ? units : 0;
}

/* Who made the file chose the name, and it goes to a terminal. */
static void set_name(struct dump_interface *i, const char *name, uint32_t len)
{
	snprintf(i->name, sizeof(i->name), "%.*s", (int)len, name);
	mb_printable(i->name, sizeof(i->name));
}

static bool read_interface(struct dump_reader *r)
{
	uint32_t at = 16, end = r->block_bytes - 4;
	struct dump_interface *i;

	if (r->block_bytes < 20 || r->n_interfaces == DUMP_INTERFACES_MAX)
		return set_error(r, "an interface block that is too short, or one too many");
	add_interface(r, load16(r, r->block + 8), US_PER_S);
	i = &r->interfaces[r->n_interfaces - 1];
	while (at + 4 <= end) {
		uint32_t code = load16(r, r->block + at), len = load16(r, r->block + at + 2);

		at += 4;
		if (code == 0 || len > end - at)
			break;
		if (code == NG_OPTION_NAME)
			set_name(i, (const char *)r->block + at, len);
		if (code == NG_OPTION_RESOLUTION && len == 1)
			i->units_per_s = units_of_resolution(r->block[at]);
		at += (len + 3) & ~3u;
	}
	return i->units_per_s != 0 || set_error(r, "time stamps finer than 1 ns");
}

static bool read_section(struct dump_reader *r, const uint8_t magic[4])
{
	uint32_t order;

	memcpy(&order, magic, sizeof(order));
	if (order != NG_BYTE_ORDER && swap32(order) != NG_BYTE_ORDER)
		return set_error(r, "a section without a byte order");
	r->swapped = order != NG_BYTE_ORDER;
	r->n_interfaces = 0; /* each section counts its own */
	return true;
}

/* Reads one block; its type is in *type. */
static bool read_block(struct dump_reader *r, uint32_t *type)
{
	uint8_t *b = r->block;

	if (!read_bytes(r, b, 8))
		return false;
	*type = load32(r, b);
	if (*type == NG_SECTION && (!read_bytes(r, b + 8, 4) || !read_section(r, b + 8)))
		return r->error[0] ? false : set_error(r, "the file ends within a packet");
	r->block_bytes = load32(r, b + 4);
	if (r->block_bytes < NG_BLOCK_MIN + (*type == NG_SECTION ? 4 : 0) ||
	    r->block_bytes > NG_BLOCK_MAX || r->block_bytes % 4 != 0)
		return set_error(r, "a block of an impossible length");
	if (*type == NG_SECTION)
		return read_bytes(r, b + 12, r->block_bytes - 12) ||
		       set_error(r, "the file ends within a packet");
	return read_bytes(r, b + 8, r->block_bytes - 8) ||
	       set_error(r, "the file ends within a packet");
}

/* Time stamps of pcapng: whole seconds first, so that nothing overflows. */
static uint64_t nanoseconds(uint64_t stamp, uint64_t units_per_s)
{
	return stamp / units_per_s * NS_PER_S + stamp % units_per_s * NS_PER_S / units_per_s;
}

static bool read_ng_packet(struct dump_reader *r, const uint8_t **bytes, size_t *len,
			   const struct dump_interface **interface, uint64_t *time_ns)
{
	const uint8_t *b = r->block + 8;
	uint64_t stamp;
	uint32_t i;

	if (r->block_bytes < NG_BLOCK_MIN + NG_PACKET_HEAD)
		return set_error(r, "a packet block that is too short");
	i = load32(r, b);
	*len = load32(r, b + 12);
	if (i >= r->n_interfaces || *len > r->block_bytes - NG_BLOCK_MIN - NG_PACKET_HEAD)
		return set_error(r, "a packet of no interface, or longer than its block");
	*interface = &r->interfaces[i];
	stamp = (uint64_t)load32(r, b + 4) << 32 | load32(r, b + 8);
	*time_ns = nanoseconds(stamp, (*interface)->units_per_s);
	*bytes = b + NG_PACKET_HEAD;
	return true;
}

/* ---- pcap ---- */

static bool read_pcap_packet(struct dump_reader *r, const uint8_t **bytes, size_t *len,
			     const struct dump_interface **interface, uint64_t *time_ns)
{
	uint8_t head[PCAP_RECORD_BYTES];

	if (!read_bytes(r, head, sizeof(head)))
		return false;
	*len = load32(r, head + 8);
	if (*len > DUMP_FRAME_MAX)
		return set_error(r, "a packet of an impossible length");
	*interface = &r->interfaces[0];
	*time_ns = load32(r, head) * NS_PER_S +
		   load32(r, head + 4) * (NS_PER_S / (*interface)->units_per_s);
	*bytes = r->block;
	return *len == 0 || read_bytes(r, r->block, *len) ||
	       set_error(r, "the file ends within a packet");
}

/* ---- link layers ---- */

/* Finds the IP header; NULL: there is none. */
static const uint8_t *find_ip(uint32_t link_type, const uint8_t *p, size_t len, size_t *ip_len)
{
	size_t type_at, head;

	switch (link_type) {
	case LINK_RAW:
	case LINK_IPV4:
	case LINK_IPV6:
		*ip_len = len;
		return p;
	case LINK_ETHERNET:
		type_at = len >= 18 && mb_load_be16(p + 12) == ETHERTYPE_VLAN ? 16 : 12;
		head = type_at + 2;
		break;
	case LINK_COOKED:
		type_at = 14;
		head = 16;
		break;
	case LINK_COOKED_2:
		type_at = 0;
		head = 20;
		break;
	default:
		return NULL;
	}
	if (len < head || (mb_load_be16(p + type_at) != ETHERTYPE_IPV4 &&
			   mb_load_be16(p + type_at) != ETHERTYPE_IPV6))
		return NULL;
	*ip_len = len - head;
	return p + head;
}

/* ---- the file ---- */

static bool open_pcap(struct dump_reader *r, uint32_t magic)
{
	uint8_t rest[PCAP_HEAD_BYTES - 4];

	r->swapped = magic != PCAP_US && magic != PCAP_NS;
	if (r->swapped)
		magic = swap32(magic);
	if (magic != PCAP_US && magic != PCAP_NS)
		return set_error(r, "neither pcap nor pcapng");
	if (!read_bytes(r, rest, sizeof(rest)))
		return set_error(r, "the file ends within its header");
	add_interface(r, load32(r, rest + 16) & 0xFFFF, magic == PCAP_NS ? NS_PER_S : US_PER_S);
	return true;
}

static bool open_pcapng(struct dump_reader *r)
{
	uint8_t *b = r->block;

	r->pcapng = true;
	if (!read_bytes(r, b + 4, 8) || !read_section(r, b + 8))
		return r->error[0] ? false : set_error(r, "the file ends within its header");
	r->block_bytes = load32(r, b + 4);
	if (r->block_bytes < NG_BLOCK_MIN + 4 || r->block_bytes > NG_BLOCK_MAX)
		return set_error(r, "a block of an impossible length");
	return read_bytes(r, b + 12, r->block_bytes - 12) ||
	       set_error(r, "the file ends within its header");
}

bool dump_reader_open(struct dump_reader *r, FILE *from)
{
	uint32_t magic;

	*r = (struct dump_reader){.from = from};
	r->interfaces = calloc(DUMP_INTERFACES_MAX, sizeof(*r->interfaces));
	r->block = malloc(NG_BLOCK_MAX);
	if (!r->interfaces || !r->block)
		return set_error(r, "no memory");
	if (!read_bytes(r, r->block, sizeof(magic)))
		return set_error(r, "neither pcap nor pcapng: the file is empty");
	memcpy(&magic, r->block, sizeof(magic));
	return magic == NG_SECTION ? open_pcapng(r) : open_pcap(r, magic);
}

void dump_reader_close(struct dump_reader *r)
{
	free(r->interfaces);
	free(r->block);
	r->interfaces = NULL;
	r->block = NULL;
}

static bool read_packet(struct dump_reader *r, const uint8_t **bytes, size_t *len,
			const struct dump_interface **interface, uint64_t *time_ns)
{
	uint32_t type;

	if (!r->pcapng)
		return read_pcap_packet(r, bytes, len, interface, time_ns);
	while (read_block(r, &type)) {
		if (type == NG_PACKET)
			return read_ng_packet(r, bytes, len, interface, time_ns);
		if (type == NG_INTERFACE && !read_interface(r))
			return false;
	}
	return false;
}

bool dump_reader_next(struct dump_reader *r, struct dump_frame *frame)
{
	const struct dump_interface *interface;
	const uint8_t *bytes;
	size_t len;

	*frame = (struct dump_frame){.ip = NULL};
	if (!read_packet(r, &bytes, &len, &interface, &frame->time_ns))
		return false;
	frame->interface = interface->name;
	frame->link_type = interface->link_type;
	frame->ip = find_ip(interface->link_type, bytes, len, &frame->len);
	return true;
}
