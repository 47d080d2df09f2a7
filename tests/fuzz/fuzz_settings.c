/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is the environment, lines whose first byte picks a setting and whose rest
 * is its value, and behind an empty line the configuration file. What is refused is refused with an
 * errno value and a line that says why; what is not is a configuration within its bounds, with
 * which addresses and paths can be made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "host/config/env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VALUE_MAX 400u

static const char *const names[MH_SETTINGS_COUNT] = {
#define SETTING_NAME(id, env, key, kinds) env,
	MH_SETTINGS(SETTING_NAME)
#undef SETTING_NAME
};

/* set_line sets one variable; a NUL in it ends it. */
static void set_line(const uint8_t *line, size_t n)
{
	char value[VALUE_MAX + 1];

	if (n < 1 || n > VALUE_MAX)
		return;
	memcpy(value, line + 1, n - 1);
	value[n - 1] = '\0';
	setenv(names[line[0] % MH_SETTINGS_COUNT], value, 1);
}

/* set_environment sets what stands before an empty line and returns where the file begins. */
static size_t set_environment(const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at < size && data[at] != '\n') {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n = end ? (size_t)(end - data) - at : size - at;

		set_line(data + at, n);
		at += n + 1;
	}
	return at + 1 < size ? at + 1 : size;
}

/* set_file makes the file one in memory. */
static void set_file(const uint8_t *text, size_t n)
{
	static int fd = -1;
	char path[40];

	if (fd < 0)
		fd = memfd_create("settings", MFD_CLOEXEC);
	mb_assert(fd >= 0 && ftruncate(fd, 0) == 0);
	mb_assert(pwrite(fd, text, n, 0) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("MRC_CONFIG", path, 1);
}

static bool is_within(uint64_t value, uint64_t least, uint64_t most)
{
	return value >= least && value <= most;
}

/* is_time_within: in microseconds. */
static bool is_time_within(uint64_t ns, uint64_t least, uint64_t most)
{
	return ns % 1000 == 0 && is_within(ns / 1000, least, most);
}

/* The bounds that docs/configuration.md promises, not those that the code has names for. */
static void check_numbers(const struct mh_env *env)
{
	mb_assert(is_within(env->n_ports, 1, 32) && is_within(env->devices, 1, 8));
	mb_assert(env->device < env->devices && env->prefix < 128);
	/* An EV of an SRv6 path is no UDP port, and there may be as many as paths. */
	mb_assert(is_within(env->evs, 1, mh_env_is_srv6(env) ? MT_EVS_MAX : 64));
	mb_assert(is_within(env->ev_base, 1024, 65535));
	mb_assert(mh_env_is_srv6(env) || env->ev_base + env->evs - 1 <= 65535);
	mb_assert(is_within(env->udp_port, 1024, 64512) && is_within(env->run, 1, 64));
	mb_assert(is_within(env->mtu, 256, 4096) && !(env->mtu & (env->mtu - 1)));
	mb_assert(is_within(env->rx_buffer_bytes, 65536, 1u << 30) && env->priority <= 20);
	mb_assert(is_within(env->memory_bytes, UINT64_C(16) << 20, UINT64_C(1) << 40));
	mb_assert(env->pace_bps == 0 || is_within(env->pace_bps, 1000000, 1000000000000));
}

static void check_times(const struct mh_env *env)
{
	mb_assert(is_time_within(env->base_rtt_ns, 1, 1000000));
	mb_assert(is_time_within(env->probe_ns, 100, 10000000));
	mb_assert(is_time_within(env->rto_min_ns, 100, 10000000));
	mb_assert(is_time_within(env->tail_probe_ns, 10, 10000000));
	mb_assert(is_time_within(env->reorder_min_ns, 1, 10000000));
	mb_assert(is_time_within(env->reorder_max_ns, 1, 10000000));
	mb_assert(env->reorder_min_ns <= env->reorder_max_ns);
}

static void check_texts(const struct mh_env *env)
{
	for (uint32_t i = 0; i < env->n_ports; i++)
		mb_assert(memchr(env->port[i].ifname, '\0', sizeof(env->port[i].ifname)));
	mb_assert(memchr(env->capture, '\0', sizeof(env->capture)));
	mb_assert(memchr(env->faults, '\0', sizeof(env->faults)));
	mb_assert(memchr(env->stats_dir, '\0', sizeof(env->stats_dir)));
	mb_assert(memchr(env->real_ibverbs, '\0', sizeof(env->real_ibverbs)));
}

/* Our own address on each plane is ours, and is found again. */
static void check_addresses(struct mh_env *env)
{
	struct mh_addr_map map;
	char text[MH_ADDR_TEXT_MAX];
	uint8_t gid[16];

	mh_addr_map_init(&map, env);
	for (uint32_t i = 0; i < env->n_ports; i++) {
		const uint8_t *from = map.inner ? env->port[0].ip : env->port[i].ip;
		uint32_t ev = mh_env_is_srv6(env) ? mh_srv6_ev(&env->srv6, i, env->evs - 1) : 0;

		mb_assert(mh_addr_gid_of(&map, i, from, gid) || mh_env_is_srv6(env));
		mh_addr_first_hop(&map, i, ev, env->port[0].ip, gid);
		mb_assert(strlen(mh_addr_text(env->port[i].ip, text)) < MH_ADDR_TEXT_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mh_env_error error;
	static struct mh_env env;
	size_t file;
	int err;

	for (uint32_t i = 0; i < MH_SETTINGS_COUNT; i++)
		unsetenv(names[i]);
	file = set_environment(data, size);
	set_file(data + file, size - file);
	memset(&error, 0xFF, sizeof(error));
	err = mh_env_read(&env, getenv("MRC_DEVICES") ? (uint32_t)size % 3 : 0, &error);
	if (err) {
		mb_assert(err > 0 && memchr(error.text, '\0', sizeof(error.text)));
		mb_assert(error.text[0] != '\0');
		return 0;
	}
	check_numbers(&env);
	check_times(&env);
	check_texts(&env);
	check_addresses(&env);
	while (mh_env_next_ev_base(&env))
		check_numbers(&env);
	return 0;
}
