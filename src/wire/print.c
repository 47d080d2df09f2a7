/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c - the text of a packet: the opcode's name, then ", key value" for each field.
 *
 * Fields that are nearly always zero (pad, reserved bits, an odd partition) appear only when they
 * are not. Identifiers are in hexadecimal, counts and sequence numbers in decimal.
 */
#include "wire/print.h"

#include "wire/opcode.h"
#include "wire/text.h"

static void put_u(struct mw_text *t, const char *key, uint64_t v)
{
	mw_text_put(t, key);
	mw_text_put_u(t, v);
}

static void put_i(struct mw_text *t, const char *key, int64_t v)
{
	mw_text_put(t, key);
	mw_text_put_i(t, v);
}

static void put_x(struct mw_text *t, const char *key, uint64_t v, unsigned digits)
{
	mw_text_put(t, key);
	mw_text_put_x(t, v, digits);
}

/* A number that has a name, and the bare number where it has none. */
static void put_named(struct mw_text *t, const char *key, const char *name, uint64_t v)
{
	mw_text_put(t, key);
	if (name)
		mw_text_put(t, name);
	else
		mw_text_put_x(t, v, 2);
}

static void put_flag(struct mw_text *t, bool set, const char *name, const char **separator)
{
	if (!set)
		return;
	mw_text_put(t, *separator);
	mw_text_put(t, name);
	*separator = ",";
}

static void put_bth_flags(struct mw_text *t, const struct mw_bth *bth)
{
	const char *separator = "";

	mw_text_put(t, ", flags [");
	put_flag(t, bth->a, "a", &separator);
	put_flag(t, bth->rtx, "rtx", &separator);
	put_flag(t, bth->ts, "ts", &separator);
	put_flag(t, bth->se, "se", &separator);
	put_flag(t, bth->m, "m", &separator);
	put_flag(t, bth->r, "r", &separator);
	mw_text_put(t, "]");
}

static void put_bth(struct mw_text *t, const struct mw_bth *bth)
{
	const struct mw_opcode_info *info = mw_opcode_info(bth->opcode);

	mw_text_put(t, info->name);
	if (info->flags == 0)
		put_x(t, " opcode ", bth->opcode, 2);
	put_x(t, ", dqp ", bth->dqp, 6);
	put_u(t, ", psn ", bth->psn);
	put_bth_flags(t, bth);
	if (bth->p_key != 0xFFFF)
		put_x(t, ", pkey ", bth->p_key, 4);
	if (bth->pad != 0)
		put_u(t, ", pad ", bth->pad);
	if (bth->tver != 0)
		put_u(t, ", tver ", bth->tver);
	if (bth->var_res != 0)
		put_x(t, ", variant ", bth->var_res, 2);
	if (bth->inv_res != 0)
		put_x(t, ", invariant ", bth->inv_res, 1);
}

static void put_timestamp(struct mw_text *t, const struct mw_tseth *ts)
{
	put_u(t, ", ts ", ts->tx_timestamp);
	if (ts->tsr)
		mw_text_put(t, " tsr");
	if (ts->ftype != 1)
		put_u(t, " ftype ", ts->ftype);
}

static void put_data(struct mw_text *t, const struct mw_packet *pkt)
{
	const struct mw_data_ext *data = &pkt->data;

	put_u(t, ", msn ", data->meth.msn);
	put_u(t, ", rqmsn ", data->meth.rqmsn);
	if (pkt->bth.ts)
		put_timestamp(t, &data->tseth);
	put_x(t, ", va ", data->reth.va, 16);
	put_x(t, ", rkey ", data->reth.rkey, 8);
	put_u(t, ", dmalen ", data->reth.dmalen);
	if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_IMM)
		put_x(t, ", imm ", data->imm, 8);
	if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_INV)
		put_x(t, ", invalidates ", data->imm, 8);
	if (pkt->bth.opcode == MW_READ_REQUEST)
		put_u(t, ", read ", data->imm);
	put_u(t, ", length ", pkt->payload_len);
}

static void put_aeth(struct mw_text *t, const struct mw_aeth *aeth)
{
	put_x(t, ", syndrome ", aeth->syndrome, 2);
	put_u(t, ", msn ", aeth->msn);
}

static const char *mark_name(uint8_t m)
{
	switch ((enum mw_path_mark)m) {
	case MW_MARK_NONE:
		return "none";
	case MW_MARK_SKIP_ONCE:
		return "skip-once";
	case MW_MARK_ALWAYS_SKIP:
		return "always-skip";
	}
	return NULL;
}

static void put_pdcids(struct mw_text *t, uint16_t source, uint16_t destination)
{
	put_x(t, ", pdc ", source, 4);
	put_x(t, ">", destination, 4);
}

static void put_seth(struct mw_text *t, const struct mw_seth *seth)
{
	put_u(t, ", cack ", seth->cack_psn);
	if (seth->pr)
		put_u(t, ", probe ", seth->probe_id);
	else
		put_i(t, ", trigger ", seth->ack_psn_offset);
	put_i(t, ", base ", seth->sack_offset);
	put_x(t, ", bitmap ", seth->sack_bitmap, 16);
	put_x(t, ", ev ", seth->entropy, 8);
	put_named(t, ", mark ", mark_name(seth->m), seth->m);
	put_u(t, ", mpr ", (uint64_t)seth->mpr * 128);
	put_u(t, ", ts ", seth->tx_timestamp);
	put_u(t, ", ooo ", seth->ooo_count);
	put_u(t, ", rcvd ", (uint64_t)seth->rcvd_bytes * 256);
	if (seth->restore_cwnd || seth->rcv_cwnd_pen != 0) {
		put_u(t, ", penalty ", seth->rcv_cwnd_pen);
		mw_text_put(t, seth->restore_cwnd ? " restore" : "");
	}
	put_u(t, ", cc ", seth->cc_type);
	put_u(t, "/", seth->cc_fl);
	if (seth->ext != 0)
		put_x(t, ", ext ", seth->ext, 2);
	put_pdcids(t, seth->spdcid, seth->dpdcid);
}

static const char *reason_name(uint8_t reason)
{
	switch ((enum mw_nack_reason)reason) {
	case MW_NACK_TRIMMED:
		return "trimmed";
	case MW_NACK_TRIMMED_LASTHOP:
		return "trimmed-lasthop";
	case MW_NACK_NO_BITMAP:
		return "no-bitmap";
	case MW_NACK_NO_PKT_BUFFER:
		return "no-pkt-buffer";
	case MW_NACK_NO_RESOURCE:
		return "no-resource";
	case MW_NACK_PSN_OOR_WINDOW:
		return "psn-oor-window";
	case MW_NACK_UNEXP_EVENT:
		return "unexp-event";
	case MW_NACK_RNR:
		return "rnr";
	}
	return NULL;
}

static void put_neth(struct mw_text *t, const struct mw_neth *neth)
{
	put_named(t, ", reason ", reason_name(neth->reason), neth->reason);
	put_u(t, ", nack ", neth->nack_psn);
	put_x(t, ", ev ", neth->entropy, 8);
	put_u(t, ", ts ", neth->tx_timestamp);
	put_x(t, ", vendor ", neth->vendor_info, 2);
	put_u(t, ", cc ", neth->cc_type);
	put_u(t, "/", neth->cc_fl);
	put_pdcids(t, neth->spdcid, neth->dpdcid);
}

static void put_peth(struct mw_text *t, const struct mw_peth *peth)
{
	put_u(t, ", probe ", peth->probe_id);
	put_timestamp(t, &peth->ts);
	put_x(t, ", vendor ", peth->vendor_info, 2);
	if (peth->ext != 0)
		put_x(t, ", ext ", peth->ext, 2);
	put_pdcids(t, peth->spdcid, peth->dpdcid);
}

static const char *op_name(uint8_t op)
{
	switch ((enum mw_ep_op)op) {
	case MW_EP_PORT_STATUS:
		return "port-status";
	case MW_EP_EV_PROBE:
		return "ev-probe";
	}
	return NULL;
}

static void put_erth(struct mw_text *t, const struct mw_erth *erth)
{
	put_named(t, ", op ", op_name(erth->op), erth->op);
	put_x(t, ", ports ", erth->port_status_mask, 8);
	put_timestamp(t, &erth->ts);
	put_x(t, ", vendor ", erth->vendor_info, 2);
}

static void put_eeth(struct mw_text *t, const struct mw_eeth *eeth)
{
	put_named(t, ", op ", op_name(eeth->op), eeth->op);
	put_u(t, ", ts ", eeth->tx_timestamp);
}

static void put_ext(struct mw_text *t, const struct mw_packet *pkt)
{
	const struct mw_opcode_info *info = mw_opcode_info(pkt->bth.opcode);

	if (info->flags == 0)
		return;
	switch ((enum mw_header_kind)info->kind) {
	case MW_HDR_DATA:
		put_data(t, pkt);
		return;
	case MW_HDR_AETH:
		put_aeth(t, &pkt->aeth);
		return;
	case MW_HDR_SETH:
		put_seth(t, &pkt->seth);
		return;
	case MW_HDR_NETH:
		put_neth(t, &pkt->neth);
		return;
	case MW_HDR_PETH:
		put_peth(t, &pkt->peth);
		return;
	case MW_HDR_ERTH:
		put_erth(t, &pkt->erth);
		return;
	case MW_HDR_EETH:
		put_eeth(t, &pkt->eeth);
		return;
	}
}

size_t mw_packet_print(const struct mw_packet *pkt, char *out, size_t size)
{
	struct mw_text t;

	mw_text_init(&t, out, size);
	put_bth(&t, &pkt->bth);
	put_ext(&t, pkt);
	return t.len;
}
