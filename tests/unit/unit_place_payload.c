/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_place_payload.c - copies are whole, stay within their bounds, and end last. */
#include "support/test.h"

#include <pthread.h>

#include "host/platform/platform.h"

static size_t copied; /* by the last call of memcpy */

void *__real_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len)
{
	copied = len;
	return __real_memcpy(to, from, len);
}

/* How much is copied in an order that nobody knows; 0: all goes word by word. */
static size_t out_of_order(uint8_t *to, uint32_t len)
{
	static uint8_t from[1024];

	copied = 0;
	mh_place_payload(to, from, len);
	return copied;
}

/* The end comes last: a word where it is aligned like one, else a byte. */
TEST(mh_place_payload, what_is_watched_comes_in_order)
{
	_Alignas(8) uint8_t to[1024];

	/* Clang copies by a function of its own where AddressSanitizer looks on. */
	if (out_of_order(to, 1000) == 0)
		test_skip("memcpy has another name in this build");
	assert_u_eq(out_of_order(to, 1000), 992);
	assert_u_eq(out_of_order(to, 999), 998);
	assert_u_eq(out_of_order(to, 520), 512);
	assert_u_eq(out_of_order(to, 512), 0);
	assert_u_eq(out_of_order(to, 8), 0);
	assert_u_eq(out_of_order(to, 13), 4);
	assert_u_eq(out_of_order(to + 1, 512), 511);
	assert_u_eq(out_of_order(to + 1, 511), 503);
	assert_u_eq(out_of_order(to + 7, 9), 1);
}

TEST(mh_place_payload, every_length_and_alignment)
{
	uint8_t from[300], to[320];

	test_rand_bytes(from, sizeof(from));
	for (uint32_t len = 0; len <= 200; len++) {
		uint32_t a = (uint32_t)test_rand_below(16), b = 1 + (uint32_t)test_rand_below(16);

		memset(to, 0x55, sizeof(to));
		mh_place_payload(to + b, from + a, len);
		assert_bytes_eq(to + b, from + a, len);
		assert_u_eq(to[b - 1], 0x55);
		assert_u_eq(to[b + len], 0x55);
	}
}

/*
 * The watcher races with memcpy on purpose: that is what programs do that wait for the end of a
 * buffer, and what a thread sanitizer must report.
 */
#if !defined(__SANITIZE_THREAD__)

struct place_watch {
	uint64_t words[512];
	uint32_t rounds;
	uint32_t torn;
};

/* Whoever sees the new last word sees the new first word, too. */
static void *place_watcher(void *arg)
{
	struct place_watch *w = arg;

	for (uint32_t round = 1; round <= w->rounds; round++) {
		while (__atomic_load_n(&w->words[511], __ATOMIC_ACQUIRE) < round)
			;
		w->torn += __atomic_load_n(&w->words[0], __ATOMIC_RELAXED) < round;
	}
	return NULL;
}

TEST(mh_place_payload, last_word_is_written_last)
{
	struct place_watch watch = {.rounds = 2000};
	uint64_t from[512];
	pthread_t thread;

	assert_i_eq(pthread_create(&thread, NULL, place_watcher, &watch), 0);
	for (uint64_t round = 1; round <= watch.rounds; round++) {
		for (int i = 0; i < 512; i++)
			from[i] = round;
		mh_place_payload(watch.words, from, sizeof(from));
	}
	pthread_join(thread, NULL);
	assert_u_eq(watch.torn, 0);
}

/* Of a short record whoever sees a word in its midst sees what lies before it. */
static void *record_watcher(void *arg)
{
	struct place_watch *w = arg;

	for (uint32_t round = 1; round <= w->rounds; round++) {
		while (__atomic_load_n(&w->words[5], __ATOMIC_ACQUIRE) < round)
			;
		for (int i = 0; i < 5; i++)
			w->torn += __atomic_load_n(&w->words[i], __ATOMIC_RELAXED) < round;
	}
	return NULL;
}

TEST(mh_place_payload, words_of_a_short_record_come_in_order)
{
	struct place_watch watch = {.rounds = 20000};
	uint64_t from[8];
	pthread_t thread;

	assert_i_eq(pthread_create(&thread, NULL, record_watcher, &watch), 0);
	for (uint64_t round = 1; round <= watch.rounds; round++) {
		for (int i = 0; i < 8; i++)
			from[i] = round;
		mh_place_payload(watch.words, from, sizeof(from));
	}
	pthread_join(thread, NULL);
	assert_u_eq(watch.torn, 0);
}

#endif
