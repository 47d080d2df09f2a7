/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of `train` and its bigram entropy. */
#include "train_text.h"

#include "support/test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/unit-train-text-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return 0;
}

static void path_of(char *path, const char *name)
{
	snprintf(path, 128, "%s/%s", dir, name);
}

static int remove_dir(void **state)
{
	static const char *const names[] = {"a", "b", "link", "sub"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		path_of(path, names[i]);
		remove(path);
	}
	rmdir(dir);
	return 0;
}

static void write_file(const char *name, char letter, size_t n)
{
	char path[128];
	FILE *f;

	path_of(path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fputc(letter, f);
	fclose(f);
}

#define TEXT_TEST(name) TEST_WITH(make_dir, remove_dir, train_text_load, name)

TEXT_TEST(joins_regular_files_in_the_order_of_names)
{
	struct train_text text;
	char path[128];

	write_file("b", 'b', 3000);
	write_file("a", 'a', 2000);
	path_of(path, "link");
	assert_int_equal(symlink("a", path), 0);
	path_of(path, "sub");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(train_text_load(&text, dir), 0);
	assert_u_eq(text.files, 2);
	assert_u_eq(text.len, 5000);
	assert_int_equal(text.bytes[1999], 'a');
	assert_int_equal(text.bytes[2000], 'b');
	train_text_fini(&text);
	assert_null(text.bytes);
}

TEXT_TEST(takes_one_file)
{
	struct train_text text;
	char path[128];

	write_file("a", 'x', 4096);
	path_of(path, "a");
	assert_int_equal(train_text_load(&text, path), 0);
	assert_u_eq(text.len, 4096);
	train_text_fini(&text);
}

TEXT_TEST(refuses_what_is_too_short_or_not_there)
{
	struct train_text text;

	write_file("a", 'x', 4095);
	assert_int_equal(train_text_load(&text, dir), -1);
	assert_null(text.bytes);
	assert_int_equal(train_text_load(&text, "/no/such/text"), -1);
	assert_int_equal(train_text_load(&text, "/dev/null"), -1);
}

/* The entropy of len bytes at `bytes`, times a million. */
static uint64_t entropy_ppm(uint8_t *bytes, size_t len)
{
	struct train_text text = {.bytes = bytes, .len = len};

	return (uint64_t)(train_text_bigram_bits(&text) * 1e6 + 0.5);
}

TEST(train_text_bigram_bits, is_zero_when_the_next_byte_is_certain)
{
	uint8_t same[100], turns[100];

	memset(same, 7, sizeof(same));
	for (size_t i = 0; i < sizeof(turns); i++)
		turns[i] = (uint8_t)(i % 5);
	assert_u_eq(entropy_ppm(same, sizeof(same)), 0);
	assert_u_eq(entropy_ppm(turns, sizeof(turns)), 0);
}

TEST(train_text_bigram_bits, is_known_for_a_small_text)
{
	/* Pairs aa ab ba ab: after a comes a once, b twice; after b always a. */
	uint8_t text[] = {'a', 'a', 'b', 'a', 'b'};

	/* 3/4 x H(1/3) = 3/4 x 0.918296 */
	assert_u_eq(entropy_ppm(text, sizeof(text)), 688722);
}

TEST(train_text_bigram_bits, is_eight_at_most)
{
	static uint8_t noise[1 << 20];

	test_rand_bytes(noise, sizeof(noise));
	assert_u_between(entropy_ppm(noise, sizeof(noise)), 7900000, 8000000);
}
