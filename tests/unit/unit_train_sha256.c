/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 with the examples of FIPS 180-4 and NIST's long message. */
#include "train_sha256.h"

#include "support/test.h"

static char hex[SHA256_HEX_BYTES];

static const char *digest(const void *data, size_t len)
{
	struct sha256 s;

	sha256_init(&s);
	sha256_update(&s, data, len);
	sha256_hex(&s, hex);
	return hex;
}

TEST(sha256_hex, empty_message)
{
	assert_string_equal(digest("", 0),
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(sha256_hex, one_block)
{
	assert_string_equal(digest("abc", 3),
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(sha256_hex, two_blocks)
{
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	assert_string_equal(digest(text, sizeof(text) - 1),
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(sha256_hex, a_million_letters)
{
	struct sha256 s;
	char block[1000];

	memset(block, 'a', sizeof(block));
	sha256_init(&s);
	for (int i = 0; i < 1000; i++)
		sha256_update(&s, block, sizeof(block));
	sha256_hex(&s, hex);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(sha256_update, does_not_depend_on_how_a_message_is_cut)
{
	uint8_t message[300];

	test_rand_bytes(message, sizeof(message));
	for (size_t len = 0; len <= sizeof(message); len++) {
		char whole[SHA256_HEX_BYTES];
		struct sha256 s;
		size_t at = 0;

		memcpy(whole, digest(message, len), sizeof(whole));
		sha256_init(&s);
		while (at < len) {
			size_t n = 1 + test_rand_below(70);

			n = n < len - at ? n : len - at;
			sha256_update(&s, message + at, n);
			at += n;
		}
		sha256_hex(&s, hex);
		assert_string_equal(hex, whole);
	}
}
