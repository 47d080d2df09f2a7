/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c - the fields of a packet, and its text: the opcode's name, then ", name value" for each.
 *
 * Fields that are nearly always zero (pad, reserved bits, an odd partition) appear only when they
 * are not. Identifiers are in hexadecimal, counts and sequence numbers in decimal.
 */
#include "wire/print.h"

#include "base/assert.h"
#include "wire/packet.h"
#include "wire/text.h"

/* The callback that gets the fields. */
struct sink {
	mw_field_fn take;
	void *context;
};

const char *mw_bth_flag_name(uint32_t bit)
{
	static const char *const names[MW_BTH_FLAGS] = {"a", "rtx", "ts", "se", "m", "r"};

	mb_assert(bit < MW_BTH_FLAGS);
	return names[bit];
}

static void put_field(const struct sink *t, const char *name, const char *lead,
		      enum mw_field_form form, uint64_t value)
{
	t->take(t->context,
		&(struct mw_field){
			.name = name, .lead = lead, .form = form, .digits = 1, .value = value});
}

static void put_u(const struct sink *t, const char *name, uint64_t v)
{
	put_field(t, name, NULL, MW_FIELD_DECIMAL, v);
}

static void put_i(const struct sink *t, const char *name, int64_t v)
{
	put_field(t, name, NULL, MW_FIELD_SIGNED, (uint64_t)v);
}

static void put_hex(const struct sink *t, const char *name, const char *lead, uint64_t v,
		    uint8_t digits)
{
	t->take(t->context, &(struct mw_field){.name = name,
					       .lead = lead,
					       .form = MW_FIELD_HEX,
					       .digits = digits,
					       .value = v});
}

static void put_x(const struct sink *t, const char *name, uint64_t v, uint8_t digits)
{
	put_hex(t, name, NULL, v, digits);
}

/* A number that has a name, and the bare number where it has none. */
static void put_named(const struct sink *t, const char *name, const char *word, uint64_t v)
{
	if (!word) {
		put_x(t, name, v, 2);
		return;
	}
	t->take(t->context,
		&(struct mw_field){.name = name, .form = MW_FIELD_WORD, .value = v, .word = word});
}

static void put_bth_flags(const struct sink *t, const struct mw_bth *bth)
{
	const bool set[MW_BTH_FLAGS] = {bth->a, bth->rtx, bth->ts, bth->se, bth->m, bth->r};
	uint64_t mask = 0;

	for (uint32_t i = 0; i < MW_BTH_FLAGS; i++)
		mask |= (uint64_t)set[i] << i;
	put_field(t, "flags", NULL, MW_FIELD_FLAGS, mask);
}

static void put_bth(const struct sink *t, const struct mw_bth *bth)
{
	const struct mw_opcode_info *info = mw_opcode_info(bth->opcode);

	t->take(t->context, &(struct mw_field){.name = "opcode",
					       .lead = "",
					       .form = MW_FIELD_WORD,
					       .value = bth->opcode,
					       .word = info->name});
	if (info->flags == 0)
		put_hex(t, "opcode_number", " opcode ", bth->opcode, 2);
	put_x(t, "dqp", bth->dqp, 6);
	put_u(t, "psn", bth->psn);
	put_bth_flags(t, bth);
	if (bth->p_key != 0xFFFF)
		put_x(t, "pkey", bth->p_key, 4);
	if (bth->pad != 0)
		put_u(t, "pad", bth->pad);
	if (bth->tver != 0)
		put_u(t, "tver", bth->tver);
	if (bth->var_res != 0)
		put_x(t, "variant", bth->var_res, 2);
	if (bth->inv_res != 0)
		put_x(t, "invariant", bth->inv_res, 1);
}

static void put_timestamp(const struct sink *t, const struct mw_tseth *ts)
{
	put_u(t, "ts", ts->tx_timestamp);
	if (ts->tsr)
		put_field(t, "tsr", " tsr", MW_FIELD_SET, true);
	if (ts->ftype != 1)
		put_field(t, "ftype", " ftype ", MW_FIELD_DECIMAL, ts->ftype);
}

static void put_data(const struct sink *t, const struct mw_packet *pkt)
{
	const struct mw_data_ext *data = &pkt->data;

	put_u(t, "msn", data->meth.msn);
	put_u(t, "rqmsn", data->meth.rqmsn);
	if (pkt->bth.ts)
		put_timestamp(t, &data->tseth);
	put_x(t, "va", data->reth.va, 16);
	put_x(t, "rkey", data->reth.rkey, 8);
	put_u(t, "dmalen", data->reth.dmalen);
	if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_IMM)
		put_x(t, "imm", data->imm, 8);
	if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_INV)
		put_x(t, "invalidates", data->imm, 8);
	if (pkt->bth.opcode == MW_READ_REQUEST)
		put_u(t, "read", data->imm);
	put_u(t, "length", pkt->payload_len);
}

static void put_aeth(const struct sink *t, const struct mw_aeth *aeth)
{
	put_x(t, "syndrome", aeth->syndrome, 2);
	put_u(t, "msn", aeth->msn);
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

static void put_pdcids(const struct sink *t, uint16_t source, uint16_t destination)
{
	put_hex(t, "spdcid", ", pdc ", source, 4);
	put_hex(t, "dpdcid", ">", destination, 4);
}

static void put_seth(const struct sink *t, const struct mw_seth *seth)
{
	put_u(t, "cack", seth->cack_psn);
	if (seth->pr)
		put_u(t, "probe", seth->probe_id);
	else
		put_i(t, "trigger", seth->ack_psn_offset);
	put_i(t, "base", seth->sack_offset);
	put_x(t, "bitmap", seth->sack_bitmap, 16);
	put_x(t, "ev", seth->entropy, 8);
	put_named(t, "mark", mark_name(seth->m), seth->m);
	put_u(t, "mpr", (uint64_t)seth->mpr * 128);
	put_u(t, "ts", seth->tx_timestamp);
	put_u(t, "ooo", seth->ooo_count);
	put_u(t, "rcvd", (uint64_t)seth->rcvd_bytes * 256);
	if (seth->restore_cwnd || seth->rcv_cwnd_pen != 0) {
		put_u(t, "penalty", seth->rcv_cwnd_pen);
		if (seth->restore_cwnd)
			put_field(t, "restore", " restore", MW_FIELD_SET, true);
	}
	put_field(t, "cc_type", ", cc ", MW_FIELD_DECIMAL, seth->cc_type);
	put_field(t, "cc_fl", "/", MW_FIELD_DECIMAL, seth->cc_fl);
	if (seth->ext != 0)
		put_x(t, "ext", seth->ext, 2);
	put_pdcids(t, seth->spdcid, seth->dpdcid);
}

static const char *reason_name(uint8_t reason)
{
	static const char *const names[UINT8_MAX + 1] = {
		[MW_NACK_TRIMMED] = "trimmed",
		[MW_NACK_TRIMMED_LASTHOP] = "trimmed-lasthop",
		[MW_NACK_NO_BITMAP] = "no-bitmap",
		[MW_NACK_NO_PKT_BUFFER] = "no-pkt-buffer",
		[MW_NACK_NO_RESOURCE] = "no-resource",
		[MW_NACK_PSN_OOR_WINDOW] = "psn-oor-window",
		[MW_NACK_UNEXP_EVENT] = "unexp-event",
		[MW_NACK_RNR] = "rnr",
	};

	return names[reason];
}

static void put_neth(const struct sink *t, const struct mw_neth *neth)
{
	put_named(t, "reason", reason_name(neth->reason), neth->reason);
	put_u(t, "nack", neth->nack_psn);
	put_x(t, "ev", neth->entropy, 8);
	put_u(t, "ts", neth->tx_timestamp);
	put_x(t, "vendor", neth->vendor_info, 2);
	put_field(t, "cc_type", ", cc ", MW_FIELD_DECIMAL, neth->cc_type);
	put_field(t, "cc_fl", "/", MW_FIELD_DECIMAL, neth->cc_fl);
	put_pdcids(t, neth->spdcid, neth->dpdcid);
}

static void put_peth(const struct sink *t, const struct mw_peth *peth)
{
	put_u(t, "probe", peth->probe_id);
	put_timestamp(t, &peth->ts);
	put_x(t, "vendor", peth->vendor_info, 2);
	if (peth->ext != 0)
		put_x(t, "ext", peth->ext, 2);
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

static void put_erth(const struct sink *t, const struct mw_erth *erth)
{
	put_named(t, "op", op_name(erth->op), erth->op);
	put_x(t, "ports", erth->port_status_mask, 8);
	put_timestamp(t, &erth->ts);
	put_x(t, "vendor", erth->vendor_info, 2);
}

static void put_eeth(const struct sink *t, const struct mw_eeth *eeth)
{
	put_named(t, "op", op_name(eeth->op), eeth->op);
	put_u(t, "ts", eeth->tx_timestamp);
}

static void put_ext(const struct sink *t, const struct mw_packet *pkt)
{
	const struct mw_opcode_info *info = mw_opcode_info(pkt->bth.opcode);

	if (info->flags == 0)
		return;
	switch ((enum mw_header_kind)info->kind) {
	case MW_HDR_DATA:
		put_data(t, pkt);
		return;
#define PUT(KIND, field)                     \
	case MW_HDR_##KIND:                  \
		put_##field(t, &pkt->field); \
		return;
		MW_CONTROL_HEADERS(PUT)
#undef PUT
	}
}

void mw_packet_fields(const struct mw_packet *pkt, mw_field_fn take, void *context)
{
	const struct sink sink = {take, context};

	put_bth(&sink, &pkt->bth);
	put_ext(&sink, pkt);
}

/* ---- the line ---- */

static void print_flags(struct mw_text *t, uint64_t mask)
{
	const char *separator = "";

	mw_text_put(t, "[");
	for (uint32_t i = 0; i < MW_BTH_FLAGS; i++) {
		if (!(mask >> i & 1))
			continue;
		mw_text_put(t, separator);
		mw_text_put(t, mw_bth_flag_name(i));
		separator = ",";
	}
	mw_text_put(t, "]");
}

static void print_field(void *context, const struct mw_field *f)
{
	struct mw_text *t = context;

	if (f->lead) {
		mw_text_put(t, f->lead);
	} else {
		mw_text_put(t, ", ");
		mw_text_put(t, f->name);
		mw_text_put(t, " ");
	}
	switch (f->form) {
	case MW_FIELD_DECIMAL:
		mw_text_put_u(t, f->value);
		return;
	case MW_FIELD_SIGNED:
		mw_text_put_i(t, (int64_t)f->value);
		return;
	case MW_FIELD_HEX:
		mw_text_put_x(t, f->value, f->digits);
		return;
	case MW_FIELD_WORD:
		mw_text_put(t, f->word);
		return;
	case MW_FIELD_FLAGS:
		print_flags(t, f->value);
		return;
	case MW_FIELD_SET:
		return;
	}
}

size_t mw_packet_print(const struct mw_packet *pkt, char *out, size_t size)
{
	struct mw_text t;

	mw_text_init(&t, out, size);
	mw_packet_fields(pkt, print_field, &t);
	return t.len;
}
