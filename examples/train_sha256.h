/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * train_sha256.h - SHA-256 (FIPS 180-4), for the digest by which two training runs are compared.
 *
 *	struct sha256 s;
 *	char hex[SHA256_HEX_BYTES];
 *
 *	sha256_init(&s);
 *	sha256_update(&s, data, len);
 *	sha256_hex(&s, hex);
 */
#ifndef EXAMPLES_TRAIN_SHA256_H
#define EXAMPLES_TRAIN_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX_BYTES 65 /* terminator included */

struct sha256 {
	uint32_t state[8];
	uint64_t total_bytes;
	uint8_t block[64];
};

void sha256_init(struct sha256 *s);
/* sha256_update adds len bytes; any number of calls. */
void sha256_update(struct sha256 *s, const void *data, size_t len);
/* sha256_final writes the digest; s must be initialised again before another use. */
void sha256_final(struct sha256 *s, uint8_t digest[SHA256_BYTES]);
/* sha256_hex is sha256_final with the digest as lower-case hexadecimal digits. */
void sha256_hex(struct sha256 *s, char hex[SHA256_HEX_BYTES]);

#endif
