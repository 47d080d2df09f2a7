/* SPDX-License-Identifier: BSD-2-Clause */
/* Random packets: every field that the wire carries takes any value that fits. See packet.h. */
#include "support/packet.h"

#include "support/test.h"

static uint32_t bits(unsigned n)
{
	return (uint32_t)(test_rand() >> (64 - n));
}

static struct mw_tseth random_tseth(void)
{
	return (struct mw_tseth){.tx_timestamp = (uint16_t)bits(16), .tsr = bits(1), .ftype = 1};
}

static void random_data(struct mw_packet *pkt)
{
	pkt->bth.pad = (uint8_t)bits(2);
	pkt->data.meth.rqmsn = (uint16_t)bits(16);
	pkt->data.meth.msn = (uint16_t)bits(16);
	if (pkt->bth.ts)
		pkt->data.tseth = random_tseth();
	pkt->data.reth.va = test_rand();
	pkt->data.reth.rkey = bits(32);
	pkt->data.reth.dmalen = bits(32);
	if (packet_has_imm(pkt->bth.opcode))
		pkt->data.imm = bits(32);
	pkt->payload_len = bits(8);
}

static void random_seth(struct mw_seth *seth)
{
	*seth = (struct mw_seth){
		.m = (uint8_t)bits(2),
		.pr = bits(1),
		.entropy = bits(32),
		.spdcid = (uint16_t)bits(16),
		.dpdcid = (uint16_t)bits(16),
		.ext = (uint8_t)bits(8),
		.cack_psn = bits(24),
		.cc_type = (uint8_t)bits(4),
		.cc_fl = (uint8_t)bits(4),
		.mpr = (uint8_t)bits(8),
		.sack_offset = (int16_t)bits(16),
		.sack_bitmap = test_rand(),
		.tx_timestamp = (uint16_t)bits(16),
		.ooo_count = (uint16_t)bits(15),
		.restore_cwnd = bits(1),
		.rcv_cwnd_pen = (uint8_t)bits(7),
		.rcvd_bytes = bits(24),
	};
	if (seth->pr)
		seth->probe_id = (uint16_t)bits(16);
	else
		seth->ack_psn_offset = (int16_t)bits(16);
}

static void random_neth(struct mw_neth *neth)
{
	*neth = (struct mw_neth){
		.reason = (uint8_t)bits(8),
		.vendor_info = (uint8_t)bits(8),
		.entropy = bits(32),
		.spdcid = (uint16_t)bits(16),
		.dpdcid = (uint16_t)bits(16),
		.nack_psn = bits(24),
		.cc_type = (uint8_t)bits(4),
		.cc_fl = (uint8_t)bits(4),
		.tx_timestamp = (uint16_t)bits(16),
	};
}

static void random_peth(struct mw_peth *peth)
{
	*peth = (struct mw_peth){
		.vendor_info = (uint8_t)bits(8),
		.probe_id = (uint16_t)bits(16),
		.ext = (uint8_t)bits(8),
		.spdcid = (uint16_t)bits(16),
		.dpdcid = (uint16_t)bits(16),
		.ts = random_tseth(),
	};
}

static void random_control(struct mw_packet *pkt)
{
	switch (pkt->bth.opcode) {
	case MW_ACK:
	case MW_RESPONSE_ACK:
		pkt->aeth = (struct mw_aeth){.syndrome = (uint8_t)bits(8), .msn = bits(24)};
		return;
	case MW_SACK:
	case MW_RESPONSE_SACK:
		random_seth(&pkt->seth);
		return;
	case MW_NACK:
	case MW_RESPONSE_NACK:
		random_neth(&pkt->neth);
		return;
	case MW_PROBE:
	case MW_RESPONSE_PROBE:
		random_peth(&pkt->peth);
		return;
	case MW_EP_REQUEST:
		pkt->erth = (struct mw_erth){.op = (uint8_t)bits(2),
					     .vendor_info = (uint8_t)bits(8),
					     .port_status_mask = bits(32),
					     .ts = random_tseth()};
		return;
	case MW_EP_RESPONSE:
		pkt->eeth = (struct mw_eeth){.op = (uint8_t)bits(2),
					     .op_high = (uint8_t)bits(2),
					     .tx_timestamp = (uint16_t)bits(16)};
		return;
	default:
		abort();
	}
}

void packet_random(struct mw_packet *pkt, uint8_t opcode)
{
	*pkt = (struct mw_packet){.bth = {.opcode = opcode,
					  .se = bits(1),
					  .m = bits(1),
					  .p_key = (uint16_t)bits(16),
					  .var_res = (uint8_t)bits(8),
					  .dqp = bits(24),
					  .a = bits(1),
					  .r = bits(1),
					  .rtx = bits(1),
					  .ts = bits(1),
					  .inv_res = (uint8_t)bits(4),
					  .psn = bits(24)}};
	if (packet_is_data(opcode))
		random_data(pkt);
	else
		random_control(pkt);
}
