/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chakra_node.c - the few fields of a Chakra node, out of protobuf's wire format: fields are a tag
 * (number << 3 | wire type) and a value; types are varint 0, 8 bytes 1, length and bytes 2, 4 bytes
 * 5. Fields that are not known are passed over, as protobuf wants it.
 */
#include <string.h>

#include "sim/import/trace.h"

enum { WIRE_VARINT, WIRE_8, WIRE_BYTES, WIRE_4 = 5 };

/* Numbers of fields, of schema/protobuf/et_def.proto. */
enum {
	NODE_ID = 1,
	NODE_NAME,
	NODE_TYPE,
	NODE_CTRL,
	NODE_DATA,
	NODE_DURATION = 7,
	NODE_INPUTS,
	NODE_ATTR = 10
};
enum { INPUTS_VALUES = 1 };
enum { ATTR_NAME = 1, ATTR_STRING = 29 };

struct cursor {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number, wire;
	uint64_t value;	  /* varint, 8 and 4 bytes */
	struct cursor in; /* bytes */
};

static bool read_varint(struct cursor *c, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		*value |= (uint64_t)(byte & 0x7F) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool read_fixed(struct cursor *c, size_t bytes, uint64_t *value)
{
	if ((size_t)(c->end - c->at) < bytes)
		return false;
	*value = 0;
	for (size_t i = 0; i < bytes; i++)
		*value |= (uint64_t)c->at[i] << (8 * i);
	c->at += bytes;
	return true;
}

/* read_bytes takes a length and as many bytes. */
static bool read_bytes(struct cursor *c, struct cursor *bytes)
{
	uint64_t len;

	if (!read_varint(c, &len) || len > (uint64_t)(c->end - c->at))
		return false;
	*bytes = (struct cursor){c->at, c->at + len};
	c->at += len;
	return true;
}

/* next_field takes a field; false at the end, and then c->at is c->end unless it was cut off. */
static bool next_field(struct cursor *c, struct field *f)
{
	const uint8_t *began = c->at;
	uint64_t tag;
	bool ok = false;

	if (c->at == c->end)
		return false;
	if (read_varint(c, &tag)) {
		f->number = (uint32_t)(tag >> 3);
		f->wire = (uint32_t)(tag & 7);
		if (f->wire == WIRE_VARINT)
			ok = read_varint(c, &f->value);
		else if (f->wire == WIRE_8 || f->wire == WIRE_4)
			ok = read_fixed(c, f->wire == WIRE_8 ? 8 : 4, &f->value);
		else if (f->wire == WIRE_BYTES)
			ok = read_bytes(c, &f->in);
	}
	if (!ok)
		c->at = began;
	return ok;
}

/* ---- attributes ---- */

static bool text_equals(const struct cursor *text, const char *name)
{
	size_t len = (size_t)(text->end - text->at);

	return len == strlen(name) && memcmp(text->at, name, len) == 0;
}

static struct ms_chakra_text text_of(const struct cursor *in)
{
	return (struct ms_chakra_text){(const char *)in->at, (uint32_t)(in->end - in->at)};
}

/* scalar_value undoes what sint32 and sint64 do to small negative numbers. */
static uint64_t scalar_value(const struct field *f)
{
	return f->number == 15 || f->number == 17 ? f->value >> 1 : f->value;
}

static void set_attribute(struct ms_chakra_node *n, const struct cursor *name,
			  const struct field *value)
{
	const uint64_t number = scalar_value(value);

	if (value->wire == WIRE_BYTES) {
		if (text_equals(name, "pg_name") && value->number == ATTR_STRING)
			n->group = text_of(&value->in);
	} else if (text_equals(name, "comm_size")) {
		n->bytes = number;
	} else if (text_equals(name, "comm_type")) {
		n->collective = (uint32_t)number;
	} else if (text_equals(name, "comm_src")) {
		n->src = (uint32_t)number;
		n->has_peer = n->has_peer || n->type == MS_CHAKRA_RECV;
	} else if (text_equals(name, "comm_dst")) {
		n->dst = (uint32_t)number;
		n->has_peer = n->has_peer || n->type == MS_CHAKRA_SEND;
	} else if (text_equals(name, "comm_tag")) {
		n->tag = (uint32_t)number;
	} else if (text_equals(name, "is_cpu_op")) {
		n->cpu = number != 0;
	}
}

static bool read_attribute(struct ms_chakra_node *n, struct cursor in)
{
	struct cursor name = {NULL, NULL};
	struct field f, value = {.number = 0};

	while (next_field(&in, &f)) {
		if (f.number == ATTR_NAME && f.wire == WIRE_BYTES)
			name = f.in;
		else if (f.number > 2)
			value = f;
	}
	if (in.at != in.end)
		return false;
	if (name.at && value.number)
		set_attribute(n, &name, &value);
	return true;
}

/* ---- the node ---- */

static bool contains_text(const struct cursor *in, const char *part)
{
	return memmem(in->at, (size_t)(in->end - in->at), part, strlen(part)) != NULL;
}

/* read_inputs keeps the values of a node's inputs. */
static bool read_inputs(struct ms_chakra_node *n, struct cursor in)
{
	struct field f;

	while (next_field(&in, &f))
		if (f.number == INPUTS_VALUES && f.wire == WIRE_BYTES)
			n->groups = text_of(&f.in);
	return in.at == in.end;
}

bool ms_chakra_decode(const uint8_t *message, size_t size, struct ms_chakra_node *n,
		      const char **why)
{
	struct cursor c = {message, message + size};
	bool whole = true, says_groups = false;
	struct field f;

	*n = (struct ms_chakra_node){.message = message, .size = size};
	while (next_field(&c, &f))
		if (f.number == NODE_ID && f.wire == WIRE_VARINT)
			n->id = f.value;
		else if (f.number == NODE_TYPE && f.wire == WIRE_VARINT)
			n->type = (uint32_t)f.value;
		else if (f.number == NODE_DURATION && f.wire == WIRE_VARINT)
			n->duration_us = f.value;
		else if (f.number == NODE_NAME && f.wire == WIRE_BYTES)
			says_groups = contains_text(&f.in, "process_group:init");
	*why = "is no node of Chakra: a field is cut off, or of no known kind";
	if (c.at != c.end)
		return false;
	/* Attributes may stand before the type that says what they mean. */
	c.at = message;
	while (whole && next_field(&c, &f))
		if (f.number == NODE_ATTR && f.wire == WIRE_BYTES)
			whole = read_attribute(n, f.in);
		else if (f.number == NODE_INPUTS && f.wire == WIRE_BYTES && says_groups)
			whole = read_inputs(n, f.in);
	if (!whole)
		return false;
	*why = "has no known type; expected 1 (metadata) to 7 (collective)";
	return n->type >= MS_CHAKRA_METADATA && n->type < MS_CHAKRA_TYPES;
}

bool ms_chakra_dependencies(const struct ms_chakra_node *n, bool (*take)(void *ctx, uint64_t id),
			    void *ctx)
{
	struct cursor c = {n->message, n->message + n->size};
	struct field f;
	uint64_t id;

	while (next_field(&c, &f)) {
		if (f.number != NODE_CTRL && f.number != NODE_DATA)
			continue;
		/* One by one, or packed. */
		if (f.wire == WIRE_VARINT && !take(ctx, f.value))
			return false;
		while (f.wire == WIRE_BYTES && read_varint(&f.in, &id))
			if (!take(ctx, id))
				return false;
	}
	return true;
}
