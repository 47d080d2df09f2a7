/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row a field: header and name in the vectors, place and type in struct mw_packet. A name that
 * has no row fails the case, and so does a row that a vector leaves out: no field goes unchecked.
 */
#include "support/test.h"

#include "conformance/fields.h"

struct field {
	const char *header;
	const char *name;
	size_t offset;
	size_t size;
	bool is_signed;
};

#define ROW(header, name, member, is_signed)                                  \
	{                                                                     \
		header, name, offsetof(struct mw_packet, member),             \
			sizeof(((struct mw_packet *)NULL)->member), is_signed \
	}
#define BTH(name) ROW("bth", #name, bth.name, false)
#define METH(name) ROW("meth", #name, data.meth.name, false)
#define TSETH(name) ROW("tseth", #name, data.tseth.name, false)
#define RETH(name) ROW("reth", #name, data.reth.name, false)
#define AETH(name) ROW("aeth", #name, aeth.name, false)
#define SETH(name) ROW("seth", #name, seth.name, false)
#define NETH(name) ROW("neth", #name, neth.name, false)
#define PETH(name) ROW("peth", #name, peth.name, false)
#define PETH_TS(name) ROW("peth", #name, peth.ts.name, false)
#define ERTH(name) ROW("erth", #name, erth.name, false)
#define ERTH_TS(name) ROW("erth", #name, erth.ts.name, false)
#define EETH(name) ROW("eeth", #name, eeth.name, false)

/* clang-format off */
static const struct field fields[] = {
	BTH(opcode), BTH(se), BTH(m), BTH(pad), BTH(tver), BTH(p_key), BTH(var_res), BTH(dqp),
	BTH(a), BTH(r), BTH(rtx), BTH(ts), BTH(inv_res), BTH(psn),
	METH(rqmsn), METH(msn),
	TSETH(tx_timestamp), TSETH(tsr), TSETH(ftype),
	RETH(va), RETH(rkey), RETH(dmalen),
	ROW("immdt", "imm", data.imm, false),
	AETH(syndrome), AETH(msn),
	SETH(m), SETH(pr), ROW("seth", "ack_psn_offset", seth.ack_psn_offset, true),
	SETH(probe_id), SETH(entropy), SETH(spdcid), SETH(dpdcid), SETH(cack_psn), SETH(cc_type),
	SETH(cc_fl), SETH(mpr), ROW("seth", "sack_offset", seth.sack_offset, true),
	SETH(sack_bitmap), SETH(tx_timestamp), SETH(ooo_count), SETH(restore_cwnd),
	SETH(rcv_cwnd_pen), SETH(rcvd_bytes),
	NETH(reason), NETH(vendor_info), NETH(entropy), NETH(spdcid), NETH(dpdcid), NETH(nack_psn),
	NETH(cc_type), NETH(cc_fl), NETH(tx_timestamp),
	PETH(vendor_info), PETH(probe_id), PETH(spdcid), PETH(dpdcid), PETH_TS(tx_timestamp),
	PETH_TS(tsr), PETH_TS(ftype),
	ERTH(op), ERTH(vendor_info), ERTH(port_status_mask), ERTH_TS(tx_timestamp), ERTH_TS(tsr),
	ERTH_TS(ftype),
	EETH(op), EETH(tx_timestamp),
};
/* clang-format on */
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* A field as a 64-bit number, sign extended when it has a sign. */
static uint64_t load(const struct mw_packet *pkt, const struct field *f)
{
	const uint8_t *at = (const uint8_t *)pkt + f->offset;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v16, at, 2);
		return f->is_signed ? (uint64_t)(int16_t)v16 : v16;
	case 4:
		memcpy(&v32, at, 4);
		return v32;
	default:
		memcpy(&v64, at, 8);
		return v64;
	}
}

static void store(struct mw_packet *pkt, const struct field *f, uint64_t value)
{
	uint8_t *at = (uint8_t *)pkt + f->offset;
	uint8_t v8 = (uint8_t)value;
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;

	if (f->size == 1)
		memcpy(at, &v8, 1);
	else if (f->size == 2)
		memcpy(at, &v16, 2);
	else if (f->size == 4)
		memcpy(at, &v32, 4);
	else
		memcpy(at, &value, 8);
}

/* Numbers are JSON integers, 64-bit ones strings in hexadecimal. */
static uint64_t number(const json_t *value, const struct field *f)
{
	const char *text = json_string_value(value);
	char *end;
	uint64_t v;

	if (json_is_integer(value))
		return (uint64_t)json_integer_value(value);
	if (!text)
		fail_msg("%s.%s is neither a number nor a string", f->header, f->name);
	v = strtoull(text, &end, 16);
	if (end == text || *end)
		fail_msg("%s.%s: %s is not a hexadecimal number", f->header, f->name, text);
	return v;
}

static const struct field *find(const char *header, const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].header, header) == 0 && strcmp(fields[i].name, name) == 0)
			return &fields[i];
	fail_msg("no field %s.%s in struct mw_packet", header, name);
	return NULL;
}

void fields_fill(struct mw_packet *pkt, const json_t *headers)
{
	const char *header;
	const char *name;
	json_t *members;
	json_t *value;

	json_object_foreach((json_t *)headers, header, members)
	{
		json_object_foreach(members, name, value)
		{
			const struct field *f = find(header, name);

			store(pkt, f, number(value, f));
		}
	}
}

void fields_check(const struct mw_packet *pkt, const json_t *headers)
{
	size_t checked = 0;
	size_t present = 0;
	const char *header;
	json_t *members;

	json_object_foreach((json_t *)headers, header, members) present +=
		json_object_size(members);

	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];
		const json_t *in_vector = json_object_get(headers, f->header);
		const json_t *value = json_object_get(in_vector, f->name);

		if (!in_vector)
			continue;
		if (!value)
			fail_msg("the vector has no %s.%s", f->header, f->name);
		if (load(pkt, f) != number(value, f))
			fail_msg("%s.%s is 0x%" PRIx64 ", want 0x%" PRIx64, f->header, f->name,
				 load(pkt, f), number(value, f));
		checked++;
	}
	assert_u_eq(checked, present);
}
