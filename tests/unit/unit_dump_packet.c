/* SPDX-License-Identifier: BSD-2-Clause */
/* Captured packets as lines and as JSON: src/cli/dump/dump.h. */
#include "cli/dump/dump.h"

#include "support/test.h"
#include "wire/ev_fmt.h"

#include <string.h>

static uint8_t bytes[512];
static const uint8_t v4_mapped[12] = {[10] = 0xFF, [11] = 0xFF};

static struct mw_ip_udp header(uint8_t dscp)
{
	struct mw_ip_udp h = {.sport = 0xC001, .dport = 4791, .tos = (uint8_t)(dscp << 2 | 2)};

	memcpy(h.src, v4_mapped, sizeof(v4_mapped));
	memcpy(h.dst, v4_mapped, sizeof(v4_mapped));
	memcpy(h.src + 12, (uint8_t[]){10, 0, 0, 1}, 4);
	memcpy(h.dst + 12, (uint8_t[]){10, 0, 0, 2}, 4);
	return h;
}

/* Writes headers and packet behind `around` bytes; returns the length in all. */
static size_t write_packet(struct mw_ip_udp *h, const struct mw_packet *pkt, size_t around)
{
	uint8_t mrc[MW_HEADERS_MAX];
	size_t n = mw_packet_encode(pkt, mrc), at;

	memset(bytes, 0, sizeof(bytes));
	h->len = (uint32_t)n + pkt->payload_len + MW_ICRC_BYTES;
	at = around + mw_ip_udp_write(h, bytes + around);
	memcpy(bytes + at, mrc, n);
	return at + h->len;
}

static struct mw_packet probe(void)
{
	return (struct mw_packet){
		.bth = {.opcode = MW_PROBE, .p_key = 0xFFFF, .dqp = 0x123, .psn = 9},
		.peth = {.probe_id = 7, .ts = {.tx_timestamp = 5, .ftype = MW_FTYPE_TIMESTAMP}}};
}

static const struct dump_frame *frame_of(size_t len)
{
	static struct dump_frame frame;

	frame = (struct dump_frame){
		.time_ns = UINT64_C(12000000345), .interface = "plane1", .ip = bytes, .len = len};
	return &frame;
}

static bool read_frame(size_t len, struct dump_packet *p)
{
	const struct mw_dscp_map map = mw_dscp_map_default();

	return dump_packet_read(frame_of(len), 4791, &map, p);
}

static void check_line(const struct dump_packet *p, const char *want)
{
	const struct mw_dscp_map map = mw_dscp_map_default();
	struct ui_text out = {0};

	dump_packet_line(p, &map, &out);
	assert_string_equal(out.data, want);
	ui_text_fini(&out);
}

TEST(dump_packet_line, over_udp)
{
	struct mw_ip_udp h = header(46);
	struct mw_packet pkt = probe();
	struct dump_packet p;

	assert_true(read_frame(write_packet(&h, &pkt, 0), &p));
	check_line(&p, "12.000000345 plane1 10.0.0.1 > 10.0.0.2, port 4791, ev 0xc001, control "
		       "ect0: PROBE, dqp 0x000123, psn 9, flags [], probe 7, ts 5, vendor 0x00, "
		       "pdc 0x0000>0x0000\n");
}

TEST(dump_packet_line, in_a_tunnel)
{
	static const uint8_t carrier[16] = {0xfc, 0xbb, 0, 0, 0x20, 1, 0x60, 2};
	struct mw_ip_udp h = {.sport = 0xC001, .dport = 4791, .flow_label = 3, .tos = 4 << 2};
	struct mw_packet pkt = probe();
	struct dump_packet p;
	struct ui_text out = {0};
	const struct mw_dscp_map map = mw_dscp_map_default();
	size_t len;

	h.src[0] = h.dst[0] = 0xfd;
	len = write_packet(&h, &pkt, MW_IPV6_BYTES);
	memcpy(h.dst, carrier, sizeof(carrier));
	h.tos = 4 << 2 | 3;
	mw_ip_encapsulate(&h, len - MW_IPV6_BYTES, bytes);
	assert_true(read_frame(len, &p));
	assert_u_eq(p.ev, 0xC0010003);
	dump_packet_line(&p, &map, &out);
	assert_non_null(strstr(out.data,
			       "fd00:: > fd00::, port 4791, ev 0xc0010003, trimmable ce, "
			       "tunnel fd00:: > fcbb:0:2001:6002:: usids 2001,6002: PROBE,"));
	ui_text_fini(&out);
}

/* The path is longer than a destination holds: the rest is the segment of a routing header. */
TEST(dump_packet_line, in_a_tunnel_with_a_segment)
{
	static const uint8_t dst[16] = {0xfc, 0xbb, 0xbb, 1, 0x20, 1, 0x60, 2};
	static const uint8_t routing[24] = {41,	  2, 4,	   1, [8] = 0xfc, 0xbb,
					    0xbb, 1, 0x70, 3, 0x80,	  4};
	const size_t around = MW_IPV6_BYTES + sizeof(routing);
	const struct mw_dscp_map map = mw_dscp_map_default();
	struct mw_ip_udp h = {.sport = 0xC001, .dport = 4791};
	struct mw_packet pkt = probe();
	struct ui_text out = {0};
	struct dump_packet p;
	size_t len;

	h.src[0] = h.dst[0] = 0xfd;
	len = write_packet(&h, &pkt, around);
	memcpy(h.dst, dst, sizeof(dst));
	mw_ip_encapsulate(&h, len - MW_IPV6_BYTES, bytes);
	bytes[6] = 43;
	memcpy(bytes + MW_IPV6_BYTES, routing, sizeof(routing));
	assert_true(read_frame(len, &p));
	assert_u_eq(p.ev, 0xC0010000);
	dump_packet_line(&p, &map, &out);
	assert_non_null(strstr(out.data, " usids 2001,6002 segment 7003,8004: PROBE,"));
	ui_text_fini(&out);
	bytes[MW_IPV6_BYTES + 3] = 0; /* it has been taken already */
	assert_true(read_frame(len, &p));
	assert_u_eq(p.segment.n, 0);
	for (size_t cut = MW_IPV6_BYTES; cut < around; cut++)
		assert_false(read_frame(cut, &p));
	bytes[MW_IPV6_BYTES + 2] = 3; /* another routing header */
	assert_false(read_frame(len, &p));
}

/* The list is where the receiver's GID was; the low half of the EV is of uplink 0. */
TEST(dump_packet_line, to_usids_without_an_inner_header)
{
	static const uint8_t dst[16] = {0xfc, 0xbb, 0xbb, 1, 0xa0, 0, 0, 2};
	struct mw_ip_udp h = {.src = {0xfd}, .sport = 0xC001, .dport = 4791, .tos = 46 << 2};
	struct mw_packet pkt = probe();
	struct dump_packet p;

	memcpy(h.dst, dst, sizeof(dst));
	assert_true(read_frame(write_packet(&h, &pkt, 0), &p));
	assert_u_eq(p.ev, 0xC0010000);
	check_line(&p, "12.000000345 plane1 fd00:: > fcbb:bb01:a000:2::, port 4791, ev 0xc0010000, "
		       "control not-ect, usids a000,0002: PROBE, dqp 0x000123, psn 9, flags [], "
		       "probe 7, ts 5, vendor 0x00, pdc 0x0000>0x0000\n");
	h.dst[1] = 0xbc; /* no list */
	assert_true(read_frame(write_packet(&h, &pkt, 0), &p));
	assert_u_eq(p.ev, 0xC001);
	assert_u_eq(p.usids.n, 0);
}

/* A switch cut it behind its METH: what is whole is said, and no ICRC is looked for. */
TEST(dump_packet_read, trimmed)
{
	struct mw_packet pkt = {
		.bth = {.opcode = MW_WRITE_ONLY, .p_key = 0xFFFF, .dqp = 1, .psn = 2},
		.data = {.meth = {.rqmsn = 3, .msn = 4}, .reth = {.va = 5}},
		.payload_len = 256};
	struct mw_ip_udp h = header(12);
	struct dump_packet p;

	write_packet(&h, &pkt, 0);
	assert_true(read_frame(28 + 12 + 4, &p));
	assert_u_eq(p.verdict, MW_OK);
	assert_u_eq(p.mrc.data.meth.msn, 4);
	assert_u_eq(p.mrc.data.reth.va, 0);
	assert_u_eq(p.mrc.payload_len, 0);
}

TEST(dump_packet_line, malformed)
{
	struct mw_ip_udp h = header(46);
	struct mw_packet pkt = probe();
	struct dump_packet p;

	pkt.payload_len = 4;
	assert_true(read_frame(write_packet(&h, &pkt, 0), &p));
	check_line(&p, "12.000000345 plane1 10.0.0.1 > 10.0.0.2, port 4791, ev 0xc001, control "
		       "ect0: malformed: length, 36 bytes\n");
}

TEST(dump_packet_line, datagram)
{
	const struct mw_datagram ud = {.with_imm = true,
				       .p_key = 0xFFFF,
				       .dqp = 2,
				       .psn = 3,
				       .q_key = 4,
				       .src_qpn = 5,
				       .payload_len = 8};
	struct mw_ip_udp h = header(0);
	struct dump_packet p;
	size_t at;

	memset(bytes, 0, sizeof(bytes));
	h.len = 24 + 8 + MW_ICRC_BYTES;
	at = mw_ip_udp_write(&h, bytes);
	mw_datagram_encode(&ud, bytes + at);
	assert_true(read_frame(at + h.len, &p));
	check_line(&p,
		   "12.000000345 plane1 10.0.0.1 > 10.0.0.2, port 4791, ev 0xc001, no-trim ect0: "
		   "UD_SEND_ONLY_IMM, dqp 0x000002, psn 3, sqp 0x000005, q_key 0x00000004, "
		   "length 8\n");
}

TEST(dump_packet_read, what_is_not_of_mrc)
{
	struct mw_ip_udp h = header(0);
	struct mw_packet pkt = probe();
	struct dump_packet p;
	size_t len;

	h.dport = 4790;
	assert_false(read_frame(write_packet(&h, &pkt, 0), &p));
	h.dport = 4791 + 1024;
	assert_false(read_frame(write_packet(&h, &pkt, 0), &p));
	h.dport = 4791 + 1023;
	len = write_packet(&h, &pkt, 0);
	assert_true(read_frame(len, &p));
	bytes[9] = 6; /* TCP */
	assert_false(read_frame(len, &p));
}

TEST(dump_packet_json, all_fields)
{
	const struct mw_dscp_map map = mw_dscp_map_default();
	struct mw_packet pkt = {.bth = {.opcode = MW_SACK, .p_key = 0xFFFF, .rtx = true, .psn = 7},
				.seth = {.cack_psn = 6, .sack_offset = -3, .sack_bitmap = 5}};
	struct mw_ip_udp h = header(46);
	const char *opcode, *flag, *class, *bitmap;
	json_int_t ev, psn, base;
	struct dump_packet p;
	json_t *json;

	assert_true(read_frame(write_packet(&h, &pkt, 0), &p));
	json = dump_packet_json(&p, &map);
	assert_i_eq(json_unpack(json, "{s:I,s:s,s:{s:s,s:I,s:I,s:s,s:[s]}}", "ev", &ev, "class",
				&class, "mrc", "opcode", &opcode, "psn", &psn, "base", &base,
				"bitmap", &bitmap, "flags", &flag),
		    0);
	assert_i_eq(ev, 0xC001);
	assert_string_equal(class, "control");
	assert_string_equal(opcode, "SACK");
	assert_i_eq(psn, 7);
	assert_i_eq(base, -3);
	assert_string_equal(bitmap, "0x0000000000000005");
	assert_string_equal(flag, "rtx");
	json_decref(json);
}
