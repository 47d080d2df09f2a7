/* SPDX-License-Identifier: BSD-2-Clause */
/* The one-line text of each packet kind. */
#include "support/test.h"

#include "wire/print.h"

static void check_print(const struct mw_packet *pkt, const char *want)
{
	char out[MW_PRINT_BYTES];

	assert_u_eq(mw_packet_print(pkt, out, sizeof(out)), strlen(want));
	assert_string_equal(out, want);
}

static struct mw_packet plain(uint8_t opcode)
{
	return (struct mw_packet){
		.bth = {.opcode = opcode, .p_key = 0xFFFF, .dqp = 0x77CFE2, .psn = 99}};
}

TEST(mw_packet_print, write)
{
	struct mw_packet pkt = plain(MW_WRITE_MIDDLE);

	pkt.data = (struct mw_data_ext){.meth = {.rqmsn = 3, .msn = 7},
					.reth = {.va = 0x7F00, .rkey = 0xAB, .dmalen = 65536}};
	pkt.payload_len = 4096;
	check_print(&pkt, "WRITE_MIDDLE, dqp 0x77cfe2, psn 99, flags [], msn 7, rqmsn 3, "
			  "va 0x0000000000007f00, rkey 0x000000ab, dmalen 65536, length 4096");
}

TEST(mw_packet_print, write_with_everything)
{
	struct mw_packet pkt = {
		.bth = {MW_WRITE_ONLY_IMM, true, true, 3, 0, 0x8001, 0x11, 0x77CFE2, true, true,
			true, true, 0xC, 99},
		.data = {.meth = {3, 7},
			 .tseth = {1234, true, 1},
			 .reth = {0x7F00, 0xAB, 5},
			 .imm = 0xCAFE},
		.payload_len = 5,
	};

	check_print(&pkt,
		    "WRITE_ONLY_IMM, dqp 0x77cfe2, psn 99, flags [a,rtx,ts,se,m,r], pkey 0x8001, "
		    "pad 3, variant 0x11, invariant 0xc, msn 7, rqmsn 3, ts 1234 tsr, "
		    "va 0x0000000000007f00, rkey 0x000000ab, dmalen 5, imm 0x0000cafe, length 5");
}

TEST(mw_packet_print, ack)
{
	struct mw_packet pkt = plain(MW_ACK);

	pkt.aeth = (struct mw_aeth){.syndrome = 0x1F, .msn = 12};
	check_print(&pkt, "ACK, dqp 0x77cfe2, psn 99, flags [], syndrome 0x1f, msn 12");
}

TEST(mw_packet_print, sack)
{
	struct mw_packet pkt = plain(MW_SACK);

	pkt.bth.rtx = true;
	pkt.seth = (struct mw_seth){.m = 1,
				    .ack_psn_offset = 5,
				    .entropy = 0x12345678,
				    .spdcid = 1,
				    .dpdcid = 2,
				    .cack_psn = 99,
				    .mpr = 8,
				    .sack_offset = 1,
				    .sack_bitmap = 0x16,
				    .tx_timestamp = 500,
				    .ooo_count = 3,
				    .rcvd_bytes = 4};
	check_print(&pkt, "SACK, dqp 0x77cfe2, psn 99, flags [rtx], cack 99, trigger +5, base +1, "
			  "bitmap 0x0000000000000016, ev 0x12345678, mark skip-once, mpr 1024, "
			  "ts 500, ooo 3, rcvd 1024, cc 0/0, pdc 0x0001>0x0002");
}

TEST(mw_packet_print, sack_of_a_probe)
{
	struct mw_packet pkt = plain(MW_SACK);

	pkt.seth = (struct mw_seth){.m = 3,
				    .pr = true,
				    .probe_id = 321,
				    .sack_offset = -64,
				    .cc_type = 2,
				    .cc_fl = 9,
				    .restore_cwnd = true,
				    .rcv_cwnd_pen = 17};
	check_print(&pkt, "SACK, dqp 0x77cfe2, psn 99, flags [], cack 0, probe 321, base -64, "
			  "bitmap 0x0000000000000000, ev 0x00000000, mark 0x03, mpr 0, ts 0, "
			  "ooo 0, rcvd 0, penalty 17 restore, cc 2/9, pdc 0x0000>0x0000");
}

TEST(mw_packet_print, nack)
{
	struct mw_packet pkt = plain(MW_NACK);

	pkt.neth = (struct mw_neth){.reason = MW_NACK_TRIMMED_LASTHOP,
				    .vendor_info = 0x77,
				    .entropy = 0xBEEF,
				    .nack_psn = 99,
				    .cc_type = 2,
				    .tx_timestamp = 6};
	check_print(&pkt, "NACK, dqp 0x77cfe2, psn 99, flags [], reason trimmed-lasthop, nack 99, "
			  "ev 0x0000beef, ts 6, vendor 0x77, cc 2/0, pdc 0x0000>0x0000");
}

/* REQ(wire.neth.reasons) */
TEST(mw_packet_print, nack_reasons)
{
	static const char *const names[256] = {
		[0x01] = "reason trimmed,",	[0x02] = "reason trimmed-lasthop,",
		[0x06] = "reason no-bitmap,",	[0x07] = "reason no-pkt-buffer,",
		[0x0A] = "reason no-resource,", [0x0B] = "reason psn-oor-window,",
		[0x19] = "reason unexp-event,", [0x80] = "reason rnr,",
	};
	struct mw_packet pkt = plain(MW_NACK);
	char out[MW_PRINT_BYTES];

	for (unsigned reason = 0; reason < 256; reason++) {
		pkt.neth.reason = (uint8_t)reason;
		mw_packet_print(&pkt, out, sizeof(out));
		assert_true(strstr(out, names[reason] ? names[reason] : "reason 0x"));
	}
}

TEST(mw_packet_print, probe)
{
	struct mw_packet pkt = plain(MW_PROBE);

	pkt.peth = (struct mw_peth){.probe_id = 321, .spdcid = 0xA, .dpdcid = 0xB};
	pkt.peth.ts = (struct mw_tseth){.tx_timestamp = 6, .ftype = 2};
	check_print(&pkt, "PROBE, dqp 0x77cfe2, psn 99, flags [], probe 321, ts 6 ftype 2, "
			  "vendor 0x00, pdc 0x000a>0x000b");
}

TEST(mw_packet_print, endpoint_packets)
{
	struct mw_packet pkt = plain(MW_EP_REQUEST);

	pkt.erth = (struct mw_erth){.port_status_mask = 0xF, .ts = {.ftype = 1}};
	check_print(&pkt, "EP_REQUEST, dqp 0x77cfe2, psn 99, flags [], op port-status, "
			  "ports 0x0000000f, ts 0, vendor 0x00");
	pkt = plain(MW_EP_RESPONSE);
	pkt.eeth = (struct mw_eeth){.op = MW_EP_EV_PROBE, .tx_timestamp = 77};
	check_print(&pkt, "EP_RESPONSE, dqp 0x77cfe2, psn 99, flags [], op ev-probe, ts 77");
	pkt.eeth.op = 3;
	check_print(&pkt, "EP_RESPONSE, dqp 0x77cfe2, psn 99, flags [], op 0x03, ts 77");
}

TEST(mw_packet_print, unknown_opcode)
{
	struct mw_packet pkt = plain(0x0A);

	pkt.bth.tver = 1;
	check_print(&pkt, "UNKNOWN opcode 0x0a, dqp 0x77cfe2, psn 99, flags [], tver 1");
}

TEST(mw_packet_print, cut_to_any_size)
{
	struct mw_packet pkt = plain(MW_ACK);
	char whole[MW_PRINT_BYTES];
	size_t len = mw_packet_print(&pkt, whole, sizeof(whole));

	assert_u_eq(mw_packet_print(&pkt, NULL, 0), len);
	for (size_t size = 1; size <= len + 1; size++) {
		char *out = malloc(size);

		assert_non_null(out);
		assert_u_eq(mw_packet_print(&pkt, out, size), len);
		assert_u_eq(strlen(out), size - 1);
		assert_bytes_eq(out, whole, size - 1);
		free(out);
	}
}

static size_t longest_write(const struct mw_bth *bth)
{
	struct mw_packet pkt = {.bth = *bth, .payload_len = UINT32_MAX};

	pkt.bth.opcode = MW_WRITE_ONLY_IMM;
	pkt.data.meth = (struct mw_meth){UINT16_MAX, UINT16_MAX};
	pkt.data.tseth = (struct mw_tseth){UINT16_MAX, true, 15};
	pkt.data.reth.dmalen = UINT32_MAX;
	return mw_packet_print(&pkt, NULL, 0);
}

static size_t longest_sack(const struct mw_bth *bth)
{
	struct mw_packet pkt = {.bth = *bth};

	pkt.bth.opcode = MW_SACK;
	pkt.seth = (struct mw_seth){.m = MW_MARK_ALWAYS_SKIP,
				    .ack_psn_offset = INT16_MIN,
				    .cack_psn = 0xFFFFFF,
				    .cc_type = 15,
				    .cc_fl = 15,
				    .mpr = 255,
				    .sack_offset = INT16_MIN,
				    .tx_timestamp = UINT16_MAX,
				    .ooo_count = 0x7FFF,
				    .restore_cwnd = true,
				    .rcv_cwnd_pen = 127,
				    .rcvd_bytes = 0xFFFFFF};
	return mw_packet_print(&pkt, NULL, 0);
}

/* The longest lines there can be, for the size that print.h promises. */
TEST(mw_packet_print, fits_its_buffer)
{
	static const struct mw_bth bth = {.se = true,
					  .m = true,
					  .pad = 3,
					  .tver = 15,
					  .var_res = 0xFF,
					  .dqp = 0xFFFFFF,
					  .a = true,
					  .r = true,
					  .rtx = true,
					  .ts = true,
					  .inv_res = 15,
					  .psn = 0xFFFFFF};

	assert_u_between(longest_write(&bth), 200, MW_PRINT_BYTES - 1);
	assert_u_between(longest_sack(&bth), 200, MW_PRINT_BYTES - 1);
}
