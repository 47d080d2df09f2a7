/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_wire.c - what the wire costs: encoding and decoding of each packet kind, the ICRC, and
 * the carrier of an EV.
 *
 * Prints one line a figure, "wire: name value unit", the fastest of several runs: the others
 * differ from it only by what disturbed them.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "wire/carrier.h"
#include "wire/ev_fmt.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#define RUNS 9
#define PACKETS 200000u
#define CRC_BYTES 4096u
#define CRC_ROUNDS 5000u

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct mw_packet sample(uint8_t opcode)
{
	struct mw_packet pkt = {.bth = {.opcode = opcode, .p_key = 0xFFFF, .dqp = 0x123456}};

	if (mw_opcode_info(opcode)->flags & MW_OP_DATA)
		pkt.data.reth = (struct mw_reth){.va = 0x7F0000001000, .rkey = 77, .dmalen = 65536};
	else if (opcode == MW_SACK)
		pkt.seth = (struct mw_seth){.cack_psn = 99, .sack_bitmap = 0xF0F0, .mpr = 8};
	return pkt;
}

/* Encodes and decodes PACKETS packets, each with another PSN; returns nanoseconds for all. */
static uint64_t round_trips(uint8_t opcode, bool timestamp)
{
	struct mw_packet pkt = sample(opcode);
	uint8_t bytes[MW_HEADERS_MAX];
	uint64_t begin;

	pkt.bth.ts = timestamp;
	pkt.data.tseth.ftype = timestamp;
	begin = now_ns();
	for (uint32_t i = 0; i < PACKETS; i++) {
		size_t headers_len;
		size_t len;

		pkt.bth.psn = i & 0xFFFFFF;
		len = mw_packet_encode(&pkt, bytes);
		mb_assert(mw_packet_decode(bytes, len, false, &pkt, &headers_len) == MW_OK);
	}
	return now_ns() - begin;
}

static void bench_round_trip(const char *name, uint8_t opcode, bool timestamp)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t ns = round_trips(opcode, timestamp);

		best = ns < best ? ns : best;
	}
	printf("wire: encode_decode_%s %.1f ns\n", name, (double)best / PACKETS);
}

static void bench_crc(void)
{
	static uint8_t bytes[CRC_BYTES];
	uint64_t best = UINT64_MAX;
	uint32_t crc = 1;

	memset(bytes, 0x5A, sizeof(bytes));
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t begin = now_ns();
		uint64_t ns;

		for (unsigned j = 0; j < CRC_ROUNDS; j++)
			crc = mw_crc32_update(crc, bytes, sizeof(bytes));
		ns = now_ns() - begin;
		best = ns < best ? ns : best;
	}
	/* Printing the last value keeps the loop from being optimised away. */
	printf("wire: icrc_portable %.2f GB/s (register 0x%08x)\n",
	       (double)CRC_BYTES * CRC_ROUNDS / (double)best, crc);
}

static void bench_icrc_start(void)
{
	const struct mw_icrc_carrier carrier = {.ip_version = 6, .udp_sport = 1, .udp_dport = 4791};
	uint8_t bth[12] = {MW_SACK};
	uint64_t best = UINT64_MAX;
	uint32_t crc = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t begin = now_ns();
		uint64_t ns;

		for (uint32_t j = 0; j < PACKETS; j++) {
			bth[11] = (uint8_t)crc;
			crc = mw_icrc_start(mw_crc32_update, &carrier, bth);
		}
		ns = now_ns() - begin;
		best = ns < best ? ns : best;
	}
	printf("wire: icrc_start_ipv6 %.1f ns (register 0x%08x)\n", (double)best / PACKETS, crc);
}

/* Where, as `to` of a copy, a field begins that is `shift` bits above the lowest of uSID i. */
static uint8_t usid_bit(uint32_t i, uint32_t shift, uint32_t width)
{
	return (uint8_t)(MW_SRV6_BLOCK_BITS + (i + 1) * MW_USID_BITS - shift - width);
}

/* The template of a path over two tiers: planes in four uSIDs, an uplink, a downlink. */
static void template_of(struct mw_carrier_template *t)
{
	static const uint16_t usids[] = {0xa000, 0xb000, 0xa003, 0x1000};
	struct mw_carrier_copy uplink = {MW_CARRIER_FROM_EV, MW_EV_UPLINK_SHIFT, 8,
					 usid_bit(1, 0, 8)};
	struct mw_carrier_copy host = {MW_CARRIER_FROM_HOST, 0, 9, usid_bit(3, 0, 9)};
	struct mw_carrier base;
	bool good;

	mw_carrier_of(0xfcbbbb00, usids, 4, &base);
	mw_carrier_template_init(t, &base);
	good = mw_carrier_template_copy(t, &uplink) && mw_carrier_template_copy(t, &host);
	for (uint32_t i = 0; i < 4; i++) {
		struct mw_carrier_copy plane = {MW_CARRIER_FROM_EV, MW_EV_PLANE_SHIFT, 3,
						usid_bit(i, 9, 3)};

		good = good && mw_carrier_template_copy(t, &plane);
	}
	mb_assert(good);
}

static void bench_carrier(void)
{
	struct mw_carrier_template t;
	struct mw_carrier carrier;
	uint64_t best = UINT64_MAX;
	uint32_t last = 0;

	template_of(&t);
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t begin = now_ns();
		uint64_t ns;

		for (uint32_t j = 0; j < PACKETS; j++) {
			struct mw_carrier_key key = {.ev = j + last, .host = j & 0xFF};

			mw_carrier_expand(&t, &key, &carrier);
			last = carrier.dst[7];
		}
		ns = now_ns() - begin;
		best = ns < best ? ns : best;
	}
	printf("wire: carrier_of_ev %.1f ns (byte 0x%02x)\n", (double)best / PACKETS, last);
}

int main(void)
{
	bench_round_trip("write", MW_WRITE_MIDDLE, false);
	bench_round_trip("write_ts", MW_WRITE_MIDDLE, true);
	bench_round_trip("write_imm", MW_WRITE_LAST_IMM, false);
	bench_round_trip("sack", MW_SACK, false);
	bench_icrc_start();
	bench_crc();
	bench_carrier();
	return 0;
}
