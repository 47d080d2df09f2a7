/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors.h - the wire vectors of mrc-wire.json in memory. */
#ifndef CONFORMANCE_VECTORS_H
#define CONFORMANCE_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Longer than any packet in the file. */
#define VECTOR_BYTES_MAX 512u

struct vector_bytes {
	uint8_t at[VECTOR_BYTES_MAX];
	size_t len;
};

struct vector {
	const char *name;
	const json_t *headers;	  /* name of header: {name of field: value} */
	struct vector_bytes head; /* the same as bytes */

	/* The head in a whole IP packet. */
	uint32_t ip_version;
	uint32_t dscp;
	uint32_t ecn;
	uint32_t udp_sport;
	uint32_t flow_label; /* 0 with IPv4 */
	struct vector_bytes payload;
	struct vector_bytes icrc;
	struct vector_bytes packet;
};

struct vectors {
	json_t *file;
	struct vector *list;
	size_t n;
};

/* vectors_load reads a file. One that is not as expected ends the process with a message. */
struct vectors vectors_load(const char *path);

/* vectors_free gives the memory back; every pointer into the vectors is dead then. */
void vectors_free(struct vectors *vectors);

#endif
