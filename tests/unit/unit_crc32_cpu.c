/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_crc32_cpu.c - each fast CRC-32 that this CPU has equals the portable one. */
#include "support/test.h"

#include <stdio.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "host/platform/platform.h"

static uint8_t crc_bytes[5000];

static void crc_compare(uint32_t start, size_t offset, size_t len)
{
	uint32_t want = mw_crc32_update(start, crc_bytes + offset, len);
	mw_crc32_fn fn[MH_CRC32_MAX];
	uint32_t n = mh_crc32_all(fn);

	for (uint32_t i = 1; i < n; i++) {
		uint32_t got = fn[i](start, crc_bytes + offset, len);

		if (got != want)
			fail_msg("routine %u, start %08x, offset %zu, %zu bytes: %08x, not %08x", i,
				 start, offset, len, got, want);
	}
}

TEST(mh_crc32_all, the_portable_one_first)
{
	mw_crc32_fn fn[MH_CRC32_MAX];
	uint32_t n = mh_crc32_all(fn);

	assert_in_range(n, 1, MH_CRC32_MAX);
	assert_true(fn[0] == mw_crc32_update);
	assert_true(fn[n - 1] == mh_crc32_best());
}

#if defined(__x86_64__)

/* Whether the kernel names this feature of the first processor. */
static bool cpu_has(const char *feature)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[8192] = "", *word;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) && strncmp(line, "flags", 5) != 0)
		;
	fclose(file);
	word = strtok(line, " \t\n");
	while (word && strcmp(word, feature) != 0)
		word = strtok(NULL, " \t\n");
	return word;
}

TEST(mh_crc32_all, as_many_as_the_kernel_says)
{
	bool fast = cpu_has("pclmulqdq") && cpu_has("sse4_1");
	bool wide = fast && cpu_has("avx512f") && cpu_has("vpclmulqdq");
	mw_crc32_fn fn[MH_CRC32_MAX];

	assert_u_eq(mh_crc32_all(fn), 1 + (uint32_t)fast + (uint32_t)wide);
}

#elif defined(__aarch64__) && !defined(__AARCH64EB__) && !defined(__clang__)

TEST(mh_crc32_all, as_many_as_the_kernel_says)
{
	mw_crc32_fn fn[MH_CRC32_MAX];

	assert_u_eq(mh_crc32_all(fn), getauxval(AT_HWCAP) & HWCAP_PMULL ? 2 : 1);
}

#endif

TEST(mh_crc32_best, check_value)
{
	assert_u_eq(~mh_crc32_best()(0xFFFFFFFF, "123456789", 9), 0xCBF43926);
}

TEST(mh_crc32_all, every_length_to_600)
{
	test_rand_bytes(crc_bytes, sizeof(crc_bytes));
	for (size_t len = 0; len <= 600; len++)
		crc_compare((uint32_t)test_rand(), test_rand_below(16), len);
}

TEST(mh_crc32_all, random_lengths)
{
	test_rand_bytes(crc_bytes, sizeof(crc_bytes));
	for (size_t i = 0; i < test_rounds(2000); i++) {
		size_t offset = test_rand_below(64);

		crc_compare((uint32_t)test_rand(), offset,
			    test_rand_below(sizeof(crc_bytes) - offset + 1));
	}
}

TEST(mh_crc32_best, continues_where_it_stopped)
{
	mw_crc32_fn crc = mh_crc32_best();

	test_rand_bytes(crc_bytes, sizeof(crc_bytes));
	for (size_t i = 0; i < 200; i++) {
		size_t cut = test_rand_below(sizeof(crc_bytes));
		uint32_t part = crc(7, crc_bytes, cut);

		assert_u_eq(crc(part, crc_bytes + cut, sizeof(crc_bytes) - cut),
			    mw_crc32_update(7, crc_bytes, sizeof(crc_bytes)));
	}
}
