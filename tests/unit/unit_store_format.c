/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_store_format.c - which bytes are a store: src/store/store_format.c. */
#include "store/store_format.h"

#include "unit/store_fixture.h"
#include "wire/icrc.h"

#include <errno.h>

/* A file as a reader sees it. */
static struct {
	struct store_header h;
	struct mn_state s;
} file;
static uint64_t file_bytes;
static const char *why;

static int make(void **state)
{
	const struct store_info info = {.generation = 7, .written_ns = 8, .pid = 9, .by = BY};

	(void)state;
	memset(&file, 0, sizeof(file));
	denying(&file.s, 3);
	store_header_make(&file.h, &file.s, &info);
	file_bytes = sizeof(file.h) + mn_state_bytes(&file.s);
	return 0;
}

#define FORMAT_TEST(function, name) TEST_WITH(make, NULL, function, name)

static int check(void)
{
	int err = store_header_check(&file.h, file_bytes, &why);

	return err ? err : store_state_check(&file.h, &file.s, &why);
}

FORMAT_TEST(store_header_make, is_taken)
{
	assert_i_eq(check(), 0);
	assert_u_eq(file.h.info.generation, 7);
	assert_u_eq(file.h.state_bytes, mn_state_bytes(&file.s));
}

/* All, one after the other, and one bit of each. */
FORMAT_TEST(store_state_check, any_byte_that_is_damaged)
{
	uint8_t *bytes = (uint8_t *)&file;

	for (uint64_t i = 0; i < file_bytes; i++) {
		uint8_t bit = (uint8_t)(1u << i % 8);

		bytes[i] ^= bit;
		why = NULL;
		if (check() == 0 || !why)
			fail_msg("byte %llu may be damaged", (unsigned long long)i);
		bytes[i] ^= bit;
	}
	assert_i_eq(check(), 0);
}

FORMAT_TEST(store_header_check, any_other_length)
{
	uint64_t bytes = file_bytes;

	for (file_bytes = 0; file_bytes < bytes; file_bytes++) {
		assert_i_eq(check(), EBADMSG);
		assert_string_equal(why, file_bytes < sizeof(file.h) ? "is no store of a device"
								     : "is cut off or too long");
	}
	file_bytes = bytes + 1;
	assert_i_eq(check(), EBADMSG);
	file_bytes = UINT64_MAX;
	assert_i_eq(check(), EBADMSG);
}

static void seal(void)
{
	const struct store_header was = file.h;

	store_header_make(&file.h, &file.s, &was.info);
}

FORMAT_TEST(store_header_check, another_version)
{
	file.h.version++;
	assert_i_eq(check(), EPROTONOSUPPORT);
	file.h.version -= 2;
	assert_i_eq(check(), EPROTONOSUPPORT);
	make(NULL);
	file.h.layout += 8;
	assert_i_eq(check(), EPROTONOSUPPORT);
}

FORMAT_TEST(store_header_check, sizes_of_no_state)
{
	static const uint32_t sizes[] = {0, 1, offsetof(struct mn_state, evs) - 1,
					 sizeof(struct mn_state) + 1, UINT32_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		file.h.state_bytes = sizes[i];
		file_bytes = sizeof(file.h) + sizes[i];
		assert_i_eq(store_header_check(&file.h, file_bytes, &why), EBADMSG);
	}
}

FORMAT_TEST(store_header_check, a_name_that_terminals_would_obey)
{
	memcpy(file.h.info.by, "mrcd\033[2J", 9);
	seal();
	assert_i_eq(check(), EBADMSG);
	memset(file.h.info.by, 'x', sizeof(file.h.info.by));
	seal();
	assert_i_eq(check(), EBADMSG);
	file.h.info.by[sizeof(file.h.info.by) - 1] = '\0';
	seal();
	assert_i_eq(check(), 0);
}

FORMAT_TEST(store_state_check, all_evs_there_can_be)
{
	fill(&file.s);
	assert_u_eq(file.s.n_evs, MN_EVS_MAX);
	seal();
	file_bytes = sizeof(file.h) + sizeof(file.s);
	assert_i_eq(check(), 0);
	assert_u_eq(file.h.state_bytes, sizeof(file.s));
}

/* What is whole and was made so: a writer's mistake, or a forgery. */
FORMAT_TEST(store_state_check, states_that_are_not_sound)
{
	file.s.port_admin[0] = MN_PORT_ADMINS;
	seal();
	assert_i_eq(check(), EBADMSG);
	make(NULL);
	file.s.ev[1].first = 0;
	seal();
	assert_i_eq(check(), EBADMSG);
	make(NULL);
	file.s.evs[2].denied = 2;
	seal();
	assert_i_eq(check(), EBADMSG);
}

/* The number of EVs says how much is looked at: it cannot lead behind the end. */
FORMAT_TEST(store_state_check, more_evs_than_bytes)
{
	static const uint32_t counts[] = {2, 4, MN_EVS_MAX, MN_EVS_MAX + 1, UINT32_MAX};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		file.s.n_evs = 3;
		seal();
		file.s.n_evs = counts[i];
		file.h.crc =
			mw_crc32_update(UINT32_MAX, &file.h, offsetof(struct store_header, crc));
		file.h.crc = mw_crc32_update(file.h.crc, &file.s, file.h.state_bytes);
		assert_i_eq(check(), EBADMSG);
	}
}
