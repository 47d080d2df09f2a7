/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Randomness of the tests: splitmix64 from one seed. It is not the generator of the code under
 * test, so a fault in that one cannot hide here.
 */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#define DEFAULT_SEED 0x6d72635f7365656dULL

static uint64_t seed;
static bool seeded;
static uint64_t rand_state;

static uint64_t env_number(const char *name, const char *text, uint64_t min)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < min) {
		fprintf(stderr, "%s=%s: want a number of at least %" PRIu64 "\n", name, text, min);
		exit(2);
	}
	return value;
}

static uint64_t fresh_seed(void)
{
	uint64_t value;

	if (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value)) {
		perror("getrandom");
		exit(2);
	}
	return value;
}

uint64_t test_seed(void)
{
	const char *text = getenv("MRC_SEED");

	if (seeded)
		return seed;
	if (!text || !*text)
		seed = DEFAULT_SEED;
	else if (strcmp(text, "random") == 0)
		seed = fresh_seed();
	else
		seed = env_number("MRC_SEED", text, 0);
	seeded = true;
	printf("# MRC_SEED=0x%016" PRIx64 "\n", seed);
	return seed;
}

void test_rand_restart(void)
{
	rand_state = 0;
}

uint64_t test_rand(void)
{
	uint64_t z;

	/* The state is a distance from the seed, so that a case that draws nothing prints
	 * nothing. */
	rand_state += 0x9e3779b97f4a7c15ULL;
	z = test_seed() + rand_state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t test_rand_below(uint64_t bound)
{
	if (bound == 0) {
		fprintf(stderr, "test_rand_below: bound is 0\n");
		abort();
	}
	return test_rand() % bound;
}

bool test_rand_chance(uint64_t num, uint64_t den)
{
	return test_rand_below(den) < num;
}

void test_rand_bytes(void *out, size_t len)
{
	uint8_t *p = out;

	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)test_rand();
}

size_t test_rounds(size_t n)
{
	const char *text = getenv("MRC_ROUNDS");

	return text && *text ? n * (size_t)env_number("MRC_ROUNDS", text, 1) : n;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

bool test_takes_sample(void)
{
	const char *text = getenv("MRC_ROUNDS");

	return SANITIZED && (!text || !*text);
}

size_t test_long_rounds(size_t n)
{
	return test_takes_sample() ? (n + 4) / 5 : test_rounds(n);
}
