/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA-256 as FIPS 180-4 describes it. The message is cut into blocks of 64 bytes; each block is
 * spread over 64 words and stirred into eight words of state in 64 rounds. Padding: one bit 1,
 * zeros, and the length in bits as the last eight bytes of a block.
 */
#include "train_sha256.h"

#include <string.h>

static const uint32_t round_constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void spread_block(uint32_t w[64], const uint8_t block[64])
{
	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		uint32_t s0 = rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3;
		uint32_t s1 = rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

static void stir_block(uint32_t state[8], const uint8_t block[64])
{
	uint32_t w[64], v[8];

	spread_block(w, block);
	memcpy(v, state, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
		uint32_t choice = (e & v[5]) ^ (~e & v[6]);
		uint32_t t1 = v[7] + s1 + choice + round_constant[i] + w[i];
		uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
		uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);

		memmove(&v[1], &v[0], 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + s0 + majority;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(s->state, start, sizeof(start));
	s->total_bytes = 0;
}

void sha256_update(struct sha256 *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len > 0) {
		size_t used = (size_t)(s->total_bytes % 64);
		size_t n = len < 64 - used ? len : 64 - used;

		memcpy(s->block + used, p, n);
		s->total_bytes += n;
		p += n;
		len -= n;
		if (used + n == 64)
			stir_block(s->state, s->block);
	}
}

void sha256_final(struct sha256 *s, uint8_t digest[SHA256_BYTES])
{
	static const uint8_t padding[64] = {0x80};
	uint64_t bits = s->total_bytes * 8;
	size_t used = (size_t)(s->total_bytes % 64);
	uint8_t length[8];

	for (unsigned i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_update(s, padding, used < 56 ? 56 - used : 120 - used);
	sha256_update(s, length, sizeof(length));
	for (unsigned i = 0; i < SHA256_BYTES; i++)
		digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(struct sha256 *s, char hex[SHA256_HEX_BYTES])
{
	static const char digit[] = "0123456789abcdef";
	uint8_t digest[SHA256_BYTES];

	sha256_final(s, digest);
	for (unsigned i = 0; i < SHA256_BYTES; i++) {
		hex[2 * i] = digit[digest[i] >> 4];
		hex[2 * i + 1] = digit[digest[i] & 15];
	}
	hex[2 * SHA256_BYTES] = '\0';
}
