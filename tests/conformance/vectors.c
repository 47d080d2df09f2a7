/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading mrc-wire.json; see vectors.h. */
#include "conformance/vectors.h"

#include <stdio.h>
#include <stdlib.h>

static _Noreturn void refuse(const char *vector, const char *what)
{
	fprintf(stderr, "%s: vector %s: %s\n", VECTORS_FILE, vector, what);
	exit(1);
}

static const json_t *member(const json_t *object, const char *key, const char *vector)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		refuse(vector, key);
	return value;
}

static const char *text(const json_t *object, const char *key, const char *vector)
{
	const char *value = json_string_value(member(object, key, vector));

	if (!value)
		refuse(vector, key);
	return value;
}

static uint32_t number(const json_t *object, const char *key, const char *vector)
{
	const json_t *value = member(object, key, vector);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > UINT32_MAX)
		refuse(vector, key);
	return (uint32_t)json_integer_value(value);
}

static void read_hex(struct vector_bytes *bytes, const json_t *object, const char *key,
		     const char *vector)
{
	const char *hex = text(object, key, vector);
	unsigned byte;
	int used;

	for (bytes->len = 0; *hex; hex += 2) {
		if (bytes->len == VECTOR_BYTES_MAX)
			refuse(vector, "more bytes than VECTOR_BYTES_MAX");
		if (sscanf(hex, "%2x%n", &byte, &used) != 1 || used != 2)
			refuse(vector, key);
		bytes->at[bytes->len++] = (uint8_t)byte;
	}
}

static void read_vector(struct vector *v, const json_t *json)
{
	const json_t *full;

	v->name = text(json, "name", "without a name");
	v->headers = member(json, "headers", v->name);
	read_hex(&v->head, json, "hex", v->name);

	full = member(json, "full", v->name);
	v->ip_version = number(full, "ip_version", v->name);
	v->dscp = number(full, "dscp", v->name);
	v->ecn = number(full, "ecn", v->name);
	v->udp_sport = number(full, "udp_sport", v->name);
	v->flow_label = v->ip_version == 6 ? number(full, "flow_label", v->name) : 0;
	read_hex(&v->payload, full, "payload", v->name);
	read_hex(&v->icrc, full, "icrc", v->name);
	read_hex(&v->packet, full, "packet", v->name);
}

struct vectors vectors_load(const char *path)
{
	struct vectors vectors = {0};
	json_error_t error;
	const json_t *list;

	vectors.file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!vectors.file) {
		fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
		exit(1);
	}
	list = member(vectors.file, "vectors", "list");
	vectors.n = json_array_size(list);
	vectors.list = calloc(vectors.n + 1, sizeof(vectors.list[0]));
	if (!vectors.list)
		refuse("list", "out of memory");
	for (size_t i = 0; i < vectors.n; i++)
		read_vector(&vectors.list[i], json_array_get(list, i));
	return vectors;
}

void vectors_free(struct vectors *vectors)
{
	free(vectors->list);
	json_decref(vectors->file);
	*vectors = (struct vectors){0};
}
