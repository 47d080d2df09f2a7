/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the environment: see ring_env.h. */
#include "ring_env.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_MAX_BPS UINT64_C(1000000000000)
#define PATHS_DEFAULT 8u
#define PATHS_MAX 64u

static int parse_address(union ring_address *a, const char *text)
{
	*a = (union ring_address){.in = {.sin_family = AF_INET}};
	if (inet_pton(AF_INET, text, &a->in.sin_addr) == 1)
		return 0;
	*a = (union ring_address){.in6 = {.sin6_family = AF_INET6}};
	return inet_pton(AF_INET6, text, &a->in6.sin6_addr) == 1 ? 0 : -1;
}

int ring_env_parse_ports(struct ring_env *env, const char *text)
{
	env->planes = 0;
	while (*text) {
		size_t len = strcspn(text, ",");
		char one[INET6_ADDRSTRLEN];

		if (env->planes == RING_PLANES_MAX || len >= sizeof(one))
			return -1;
		memcpy(one, text, len);
		one[len] = '\0';
		if (parse_address(&env->port[env->planes], one))
			return -1;
		env->planes++;
		text += len;
		if (*text == ',' && !*++text)
			return -1;
	}
	return env->planes ? 0 : -1;
}

static uint64_t unit_of(const char *suffix)
{
	static const struct {
		const char *text;
		uint64_t factor;
	} unit[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}};

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (strcmp(suffix, unit[i].text) == 0)
			return unit[i].factor;
	return 0;
}

int ring_env_parse_rate(uint64_t *bps, const char *text)
{
	char *end;
	unsigned long long n;
	uint64_t unit;

	if (*text < '0' || *text > '9')
		return -1;
	n = strtoull(text, &end, 10);
	unit = unit_of(end);
	if (!unit || n > RATE_MAX_BPS / unit)
		return -1;
	*bps = n * unit;
	return 0;
}

int ring_env_parse_paths(unsigned *paths, const char *text)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return -1;
	n = strtoul(text, &end, 10);
	if (*end || n < 1 || n > PATHS_MAX)
		return -1;
	*paths = (unsigned)n;
	return 0;
}

int ring_env_read(struct ring_env *env)
{
	const char *ports = getenv("MRC_PORTS");
	const char *pace = getenv("MRC_PACE");
	const char *paths = getenv("MRC_EVS");

	*env = (struct ring_env){.paths = PATHS_DEFAULT};
	if (paths && *paths && ring_env_parse_paths(&env->paths, paths)) {
		fprintf(stderr, "ring: MRC_EVS=%s: want a number from 1 to %u\n", paths, PATHS_MAX);
		return -1;
	}
	if (ring_env_parse_ports(env, ports && *ports ? ports : "127.0.0.1")) {
		fprintf(stderr, "ring: MRC_PORTS=%s: want 1 to %u addresses with commas between\n",
			ports, RING_PLANES_MAX);
		return -1;
	}
	if (pace && *pace && ring_env_parse_rate(&env->pace_bps, pace)) {
		fprintf(stderr,
			"ring: MRC_PACE=%s: want bits per second, a number with or without k, M or "
			"G, at most 1000G\n",
			pace);
		return -1;
	}
	return 0;
}
