/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_capture.c - captured packets as frames: addresses by hop, headers, ICRC, and the
 * file. */
#include "support/test.h"

#include <stdio.h>

#include "base/bytes.h"
#include "fabric/topology_toml.h"
#include "fabric/usid.h"
#include "sim/mrc/mrc_nic.h"
#include "sim/mrc/mrc_nic_state.h"
#include "wire/srv6.h"

static struct mf_topology topology(void)
{
	struct mf_topology t;
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open("tiny", &t, why));
	return t;
}

/* A data packet of 100 bytes from host 0 to host 3 by plane 1, uplink 1. */
static struct ms_packet data_packet(void)
{
	const struct mw_packet pkt = {
		.bth = {.opcode = MW_WRITE_MIDDLE,
			.p_key = 0xffff,
			.dqp = 17,
			.psn = 5,
			.ts = true},
		.data.tseth.ftype = MW_FTYPE_TIMESTAMP,
		.payload_len = 100,
	};
	struct ms_packet p = {.src = 0, .dst = 3, .plane = 1, .cls = MW_DSCP_TRIMMABLE};

	p.ev = mf_ev_of(1, 1, 0);
	ms_frame_pack(&pkt, &p);
	p.bytes = (uint16_t)(MS_FRAME_BYTES + ms_frame_bytes(&pkt));
	return p;
}

TEST(ms_capture_frame, uses_up_usids_hop_by_hop)
{
	const struct mf_topology t = topology();
	const struct ms_packet p = data_packet();
	const struct mf_pair pair = mf_pair_of(&t, 0, 3);
	uint8_t frame[MS_CAPTURE_FRAME_MAX], host[16];
	struct mw_usids left;

	mf_address_of_host(&t, 3, host);
	for (uint32_t hop = 0; hop < 4; hop++) {
		uint32_t link = mf_path_link(&t, &pair, p.ev, hop);
		uint32_t len = ms_capture_frame(&t, link, &p, frame);

		assert_u_eq(len, p.bytes - 38);
		assert_u_eq(mb_load_be16(frame + 4), len - 40);
		assert_true(mw_usids_decode(frame + 24, &left));
		assert_u_eq(left.n, 4 - hop);
		assert_memory_equal(frame + 40 + 24, host, 16);
		assert_u_eq(mb_load_be16(frame + 80 + 2), 4791);
	}
	assert_u_eq(ms_capture_frame(&t, mf_link_host_t0(&t, 0, 1, true), &p, frame), 0);
}

/* Beside 100 bytes of payload: Ethernet and its checksum, all headers but the TSETH, ICRC. */
TEST(ms_capture_frame, costs_what_the_layouts_say) /* REQ(wire.overhead.srv6) */
{
	const struct mf_topology t = topology();
	const struct ms_packet p = data_packet();
	uint8_t frame[MS_CAPTURE_FRAME_MAX];
	uint32_t len = ms_capture_frame(&t, mf_link_host_t0(&t, 1, 0, false), &p, frame);

	assert_u_eq(len + 18 - 100 - 4, 142);
}

/* REQ(wire.dscp.values) */
TEST(ms_capture_frame, has_the_dscp_map_of_the_fabric)
{
	struct mf_topology t = topology();
	const struct ms_packet p = data_packet();
	uint8_t frame[MS_CAPTURE_FRAME_MAX];

	t.cfg.dscp.code[MW_DSCP_TRIMMABLE] = 33;
	assert_true(ms_capture_frame(&t, mf_link_host_t0(&t, 1, 0, false), &p, frame) > 0);
	assert_u_eq((mb_load_be32(frame) >> 20 & 0xff) >> 2, 33);
}

TEST(ms_capture_frame, cut_and_marked)
{
	const struct mf_topology t = topology();
	struct ms_packet p = data_packet();
	uint8_t frame[MS_CAPTURE_FRAME_MAX];

	p.cls = MW_DSCP_TRIMMED;
	p.bytes = 200;
	p.ce = 1;
	assert_u_eq(ms_capture_frame(&t, mf_link_host_t0(&t, 1, 3, true), &p, frame), 162);
	assert_u_eq(mb_load_be32(frame) >> 20 & 3, 3);
	assert_u_eq(mb_load_be32(frame) >> 22 & 63, mw_dscp_map_default().code[MW_DSCP_TRIMMED]);
}

TEST(ms_capture_flush, writes_in_order_of_time)
{
	const struct mf_topology t = topology();
	const struct ms_packet p = data_packet();
	const uint32_t link = mf_link_host_t0(&t, 1, 0, false);
	FILE *f = tmpfile();
	struct ms_capture *c = ms_capture_create(&t, &link, 1, 2, f);
	long empty = ftell(f), one;

	assert_non_null(c);
	ms_capture_add_packet(c, link, 9000, &p);
	ms_capture_add_packet(c, link, 5000, &p);
	ms_capture_add_packet(c, link, 7000, &p);
	ms_capture_add_packet(c, link + 1, 1000, &p);
	assert_true(ms_capture_flush(c));
	one = (ftell(f) - empty) / 2;
	/* Two packets and no more, the earlier ones; the low half of their times in ns. */
	for (long i = 0; i < 2; i++) {
		uint32_t low;

		fseek(f, empty + i * one + 16, SEEK_SET);
		assert_u_eq(fread(&low, sizeof(low), 1, f), 1);
		assert_u_eq(low, i ? 7 : 5);
	}
	ms_capture_destroy(c);
	fclose(f);
}
