/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env.c - checks the settings that are not ports, one table row a number.
 *
 * The defaults of the timers are floors for a software NIC: a process that shares its cores is
 * scheduled late by several milliseconds now and then, and a protocol that takes such silence for
 * loss sends again what arrived. On a busy two-core machine 20 ms gave no false timeout.
 */
#include "host/config/env.h"

#include "base/quantity.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/nic.h"
#include "host/platform/platform.h"
#include "store/store.h"

#define NS_PER_US UINT64_C(1000)

/* A setting that is a number in a range; it is stored in units of `scale`. */
struct env_number {
	enum mh_setting id;
	struct mh_settings_range range;
	uint64_t otherwise;
	uint64_t scale;
	size_t offset; /* in struct mh_env */
	bool wide;     /* the field is 64 bits, else 32 */
};

/* The offset and width of a field, so that rows of one table fill fields of two types. */
#define ENV_U32(field) offsetof(struct mh_env, field), false
#define ENV_US(low, high, otherwise, field) \
	{low, high, " (us)"}, otherwise, NS_PER_US, offsetof(struct mh_env, field), true

static const struct env_number env_numbers[] = {
	{MH_SET_DEVICES, {1, MH_DEVICES_MAX, " (devices)"}, 1, 1, ENV_U32(devices)},
	{MH_SET_EVS, {1, MH_EVS_PER_PORT_MAX, " (entropy values per port)"}, 8, 1, ENV_U32(evs)},
	{MH_SET_UDP_PORT,
	 {1024, UINT16_MAX - MH_SLOTS + 1, " (the first of 1024 UDP ports)"},
	 MH_UDP_PORT,
	 1,
	 ENV_U32(udp_port)},
	{MH_SET_EV_BASE, {1024, 65535, " (UDP port)"}, MH_EV_BASE, 1, ENV_U32(ev_base)},
	{MH_SET_RUN, {1, MT_RUN_MAX, " (packets)"}, 8, 1, ENV_U32(run)},
	{MH_SET_RX_BUFFER, {65536, 1u << 30, " (bytes)"}, 16u << 20, 1, ENV_U32(rx_buffer_bytes)},
	{MH_SET_BASE_RTT, ENV_US(1, 1000000, 200, base_rtt_ns)},
	{MH_SET_PROBE, ENV_US(100, 10000000, 20000, probe_ns)},
	{MH_SET_RTO_MIN, ENV_US(100, 10000000, 20000, rto_min_ns)},
	{MH_SET_TAIL_PROBE, ENV_US(10, 10000000, 6000, tail_probe_ns)},
	{MH_SET_REORDER_MIN, ENV_US(1, 10000000, 3000, reorder_min_ns)},
	{MH_SET_REORDER_MAX, ENV_US(1, 10000000, 10000, reorder_max_ns)},
	{MH_SET_MEMORY,
	 {16, 1u << 20, " (MiB)"},
	 4096,
	 1u << 20,
	 offsetof(struct mh_env, memory_bytes),
	 true},
	{MH_SET_SHARDS, {1, MH_SHARDS_MAX, " (engines)"}, 1, 1, ENV_U32(shards)},
	{MH_SET_PRIORITY, {0, MH_PRIORITY_MAX, " (steps of nice)"}, 10, 1, ENV_U32(priority)},
};

static int env_read_number(struct mh_env *env, const struct mh_settings *s,
			   const struct env_number *row, struct mh_env_error *error)
{
	uint64_t number = row->otherwise;
	int err = mh_settings_number(s, row->id, &row->range, &number, error);

	number *= row->scale;
	if (row->wide)
		*(uint64_t *)(void *)((char *)env + row->offset) = number;
	else
		*(uint32_t *)(void *)((char *)env + row->offset) = (uint32_t)number;
	return err;
}

static int env_read_numbers(struct mh_env *env, const struct mh_settings *s,
			    struct mh_env_error *error)
{
	for (size_t i = 0; i < sizeof(env_numbers) / sizeof(env_numbers[0]); i++) {
		int err = env_read_number(env, s, &env_numbers[i], error);

		if (err)
			return err;
	}
	env->ev_base_any = !s->of[MH_SET_EV_BASE].text;
	return 0;
}

/* env_check_numbers: what is wrong although each number is in its range. */
static int env_check_numbers(struct mh_env *env, const struct mh_settings *s,
			     struct mh_env_error *error)
{
	char why[240];

	if (env->ev_base + env->evs - 1 > UINT16_MAX) {
		snprintf(why, sizeof(why), "must be at most %u, for there are %u entropy values",
			 UINT16_MAX + 1 - env->evs, env->evs);
		return mh_settings_error(s, MH_SET_EV_BASE, why, error);
	}
	if (env->reorder_min_ns > env->reorder_max_ns) {
		snprintf(why, sizeof(why),
			 "the least (MRC_REORDER_MIN_US, timers.reorder_min_us) is %llu, and must "
			 "be at most the largest (MRC_REORDER_MAX_US, timers.reorder_max_us), %llu",
			 (unsigned long long)(env->reorder_min_ns / NS_PER_US),
			 (unsigned long long)(env->reorder_max_ns / NS_PER_US));
		return mh_settings_error(
			s, s->of[MH_SET_REORDER_MIN].text ? MH_SET_REORDER_MIN : MH_SET_REORDER_MAX,
			why, error);
	}
	return 0;
}

#define ENV_PACE_MIN UINT64_C(1000000)
#define ENV_PACE_MAX UINT64_C(1000000000000)

/* 0 turns pacing off; anything else below a megabit is a mistake in the unit. */
static int env_read_pace(struct mh_env *env, const struct mh_settings *s,
			 struct mh_env_error *error)
{
	const char *value = s->of[MH_SET_PACE].text;

	if (!value || mb_quantity_read_rate(value, 0, 0, &env->pace_bps) ||
	    mb_quantity_read_rate(value, ENV_PACE_MIN, ENV_PACE_MAX, &env->pace_bps))
		return 0;
	return mh_settings_error(s, MH_SET_PACE,
				 "must be bits per second with an optional k, M, G or T, 1M "
				 "to 1T, or 0 for no pacing",
				 error);
}

/*
 * env_read_choice reads a setting whose text is one of a few, which end with NULL, and returns its
 * index in *choice; 0 when it is not given.
 */
static int env_read_choice(const struct mh_settings *s, enum mh_setting id,
			   const char *const texts[], const char *allowed, uint32_t *choice,
			   struct mh_env_error *error)
{
	const char *value = s->of[id].text;

	for (*choice = 0; value && texts[*choice]; (*choice)++)
		if (strcmp(value, texts[*choice]) == 0)
			return 0;
	return value ? mh_settings_error(s, id, allowed, error) : 0;
}

static const char *const env_drivers[] = {
	[MH_DRIVER_UDP] = "udp",
	[MH_DRIVER_AF_PACKET] = "af_packet",
	[MH_DRIVER_RAW41] = "raw41",
	NULL,
};

static int env_read_driver(struct mh_env *env, const struct mh_settings *s,
			   struct mh_env_error *error)
{
	uint32_t driver;
	int err = env_read_choice(s, MH_SET_DRIVER, env_drivers, "must be udp, af_packet or raw41",
				  &driver, error);

	env->driver = (enum mh_driver)driver;
	return err;
}

/*
 * The congestion control that each driver wants by default.
 *
 * Ordinary networks neither mark nor trim, and the RTT of packets that sockets carry is mostly when
 * a process was scheduled: NSCC would shrink the window for nothing, so UDP and AF_PACKET go
 * without. SRv6 carriers are for fabrics that do both, and there NSCC is what the specification
 * means; it needs to know the rate of a port, so without a pace there is none either.
 */
static int env_read_cc(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error)
{
	static const char *const texts[] = {"none", "nscc", NULL};
	uint32_t choice;
	int err = env_read_choice(s, MH_SET_CC, texts, "must be none or nscc", &choice, error);

	if (!s->of[MH_SET_CC].text && env->pace_bps)
		choice = mh_env_is_srv6(env) || env->driver == MH_DRIVER_RAW41;
	env->cc = choice ? MT_CC_NSCC : MT_CC_NONE;
	if (!err && choice && !env->pace_bps)
		err = mh_settings_error(
			s, MH_SET_CC, "needs MRC_PACE (ports.pace), which says how fast a port is",
			error);
	return err;
}

/* The first of all: what else is wrong with the settings is said as they ask for. */
static int env_read_log(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error)
{
	static const char *const levels[] = {"warning", "off", "error", "info", "debug", NULL};
	static const enum mrc_log_level level[] = {MRC_LOG_WARNING, MRC_LOG_OFF, MRC_LOG_ERROR,
						   MRC_LOG_INFO, MRC_LOG_DEBUG};
	static const char *const formats[] = {"plain", "time", "journald", NULL};
	uint32_t choice;
	int err = env_read_choice(s, MH_SET_LOG, levels,
				  "must be off, error, warning, info or debug", &choice, error);

	env->log_level = err ? MRC_LOG_WARNING : level[choice];
	if (err)
		return err;
	err = env_read_choice(s, MH_SET_LOG_FORMAT, formats, "must be plain, time or journald",
			      &choice, error);
	env->log_format = err ? MH_LOG_PLAIN : (enum mh_log_format)choice;
	return err;
}

/* REQ(wire.ev.udp) REQ(wire.ev.stev) */
static int env_read_ev_format(struct mh_env *env, const struct mh_settings *s,
			      struct mh_env_error *error)
{
	static const char *const texts[] = {"udp", "stev", NULL};
	uint32_t choice;
	int err =
		env_read_choice(s, MH_SET_EV_FORMAT, texts, "must be udp or stev", &choice, error);

	env->ev_format = choice ? MW_EV_STEV : MW_EV_UDP;
	if (!err && choice && mh_env_is_ipv4(env))
		err = mh_settings_error(s, MH_SET_EV_FORMAT,
					"needs ports with IPv6 addresses: half of an EV is in the "
					"flow label",
					error);
	return err;
}

/* REQ(wire.dscp.values) REQ(wire.dscp.distinct) */
static int env_read_dscp(struct mh_env *env, const struct mh_settings *s,
			 struct mh_env_error *error)
{
	const char *text = s->of[MH_SET_DSCP].text;
	char why[MW_DSCP_ERROR_BYTES];

	env->dscp = mw_dscp_map_default();
	return !text || mw_dscp_map_read(text, &env->dscp, why)
		       ? 0
		       : mh_settings_error(s, MH_SET_DSCP, why, error);
}

static int env_read_bool(bool *value, bool otherwise, const struct mh_settings *s,
			 enum mh_setting id, struct mh_env_error *error)
{
	/* A file has TOML's words; in the environment people write on and off. */
	static const char *const of_env[] = {"off", "on", NULL}, *const of_file[] = {"false",
										     "true", NULL};
	uint32_t choice;
	int err = env_read_choice(s, id, s->of[id].line > 0 ? of_file : of_env, "must be on or off",
				  &choice, error);

	*value = s->of[id].text ? choice : otherwise;
	return err;
}

static int env_read_bools(struct mh_env *env, const struct mh_settings *s,
			  struct mh_env_error *error)
{
	int err = env_read_bool(&env->icrc, true, s, MH_SET_ICRC, error);

	if (!err)
		err = env_read_bool(&env->svc_time, false, s, MH_SET_SVC_TIME, error);
	return err ? err : env_read_bool(&env->stats_keep, false, s, MH_SET_STATS_KEEP, error);
}

/* env_read_path copies the name of a file or folder, which may not be longer than they are here. */
static int env_read_path(char path[MH_PATH_MAX], const struct mh_settings *s, enum mh_setting id,
			 struct mh_env_error *error)
{
	const char *value = s->of[id].text;

	if (value && strlen(value) >= MH_PATH_MAX)
		return mh_settings_error(s, id, "must be a path of at most 255 bytes", error);
	strcpy(path, value ? value : "");
	return 0;
}

/* What is appended to the names of captures; these are the longest. */
#define CAPTURE_OF_DEVICE ".mrc%u"
#define CAPTURE_OF_SHARD ".%u"
#define CAPTURE_SHARD_BYTES (sizeof(".7") - 1)

/* env_name_capture: devices of one process cannot write one file, nor can shards. */
static int env_name_capture(struct mh_env *env, const struct mh_settings *s,
			    struct mh_env_error *error)
{
	size_t len = strlen(env->capture);
	char own[16] = "";

	if (len == 0)
		return 0;
	if (env->device > 0)
		snprintf(own, sizeof(own), CAPTURE_OF_DEVICE, env->device);
	if (len + strlen(own) + (env->shards > 1 ? CAPTURE_SHARD_BYTES : 0) >= sizeof(env->capture))
		return mh_settings_error(s, MH_SET_CAPTURE,
					 "is too long: names of further devices and shards are "
					 "appended",
					 error);
	strcpy(env->capture + len, own);
	return 0;
}

void mh_env_of_shard(const struct mh_env *env, uint32_t shard, struct mh_env *own)
{
	size_t len = strlen(env->capture);

	*own = *env;
	own->shard = shard;
	if (shard > 0 && len > 0)
		snprintf(own->capture + len, sizeof(own->capture) - len, CAPTURE_OF_SHARD, shard);
}

/* Strict is the default: programs that watch memory rely on the end of a message coming last. */
static int env_read_order(struct mh_env *env, const struct mh_settings *s,
			  struct mh_env_error *error)
{
	static const char *const texts[] = {"strict", "relaxed", NULL};
	uint32_t choice;
	int err = env_read_choice(s, MH_SET_ORDER, texts, "must be strict or relaxed", &choice,
				  error);

	env->relaxed = choice;
	return err;
}

/* Where real devices of the host are looked for; what is at the path, the drop-in sees. */
static int env_read_real(struct mh_env *env, const struct mh_settings *s,
			 struct mh_env_error *error)
{
	const char *value = s->of[MH_SET_REAL_IBVERBS].text;

	if (!value)
		value = "auto";
	if ((*value != '/' && strcmp(value, "auto") != 0 && strcmp(value, "off") != 0) ||
	    strlen(value) >= sizeof(env->real_ibverbs))
		return mh_settings_error(s, MH_SET_REAL_IBVERBS,
					 "must be auto, off, or the path from / of the system's "
					 "libibverbs.so.1, at most 255 bytes",
					 error);
	strcpy(env->real_ibverbs, value);
	return 0;
}

#define GROUP_BYTES 16384u /* of a row of the group file, its members named */

/* A name, or a number, which need not be one of /etc/group: containers have few names. */
static int env_read_stats_group(struct mh_env *env, const struct mh_settings *s,
				struct mh_env_error *error)
{
	const char *value = s->of[MH_SET_STATS_GROUP].text, *end;
	struct group row, *found = NULL;
	uint64_t number;
	char *bytes;

	env->stats_group = MH_NO_GROUP;
	if (!value)
		return 0;
	end = mh_settings_digits(value, &number);
	if (end && !*end && number < MH_NO_GROUP) {
		env->stats_group = (gid_t)number;
		return 0;
	}
	bytes = malloc(GROUP_BYTES);
	if (bytes && getgrnam_r(value, &row, bytes, GROUP_BYTES, &found) == 0 && found)
		env->stats_group = row.gr_gid;
	free(bytes);
	return found ? 0
		     : mh_settings_error(s, MH_SET_STATS_GROUP,
					 "must be the name of a group of this host, or a number",
					 error);
}

/* Relative to what, a program that changes its folder could not say. */
static int env_read_node_dir(struct mh_env *env, const struct mh_settings *s,
			     struct mh_env_error *error)
{
	const char *value = s->of[MH_SET_NODE_DIR].text;

	if (!value)
		value = STORE_DIR_DEFAULT;
	if ((*value != '/' && strcmp(value, "off") != 0) || strlen(value) >= sizeof(env->node_dir))
		return mh_settings_error(s, MH_SET_NODE_DIR,
					 "must be off, or the path from / of a folder, at most 255 "
					 "bytes",
					 error);
	strcpy(env->node_dir, *value == '/' ? value : "");
	return 0;
}

static int env_read_paths(struct mh_env *env, const struct mh_settings *s,
			  struct mh_env_error *error)
{
	int err = env_read_path(env->capture, s, MH_SET_CAPTURE, error);

	if (!err)
		err = env_name_capture(env, s, error);
	if (!err)
		err = env_read_path(env->faults, s, MH_SET_FAULTS, error);
	if (!err)
		err = env_read_stats_group(env, s, error);
	if (!err)
		err = env_read_node_dir(env, s, error);
	return err ? err : env_read_path(env->stats_dir, s, MH_SET_STATS_DIR, error);
}

/* In this order: what a reader checks depends on what those above it have read. */
static int (*const env_readers[])(struct mh_env *env, const struct mh_settings *s,
				  struct mh_env_error *error) = {
	env_read_log,	    env_read_numbers,  env_check_numbers,    env_read_driver,
	mh_env_read_srv6,   mh_env_read_ports, env_read_pace,	     env_read_cc,
	env_read_ev_format, env_read_dscp,     mh_env_read_srv6_evs, env_read_order,
	env_read_real,	    env_read_bools,    env_read_paths,
};

/*
 * Only a base that was not asked for is moved: one that was may be part of a firewall's rules. The
 * free bits of SRv6 EVs are made of the base, so they follow it.
 */
bool mh_env_next_ev_base(struct mh_env *env)
{
	uint32_t next =
		env->ev_base == MH_EV_BASE ? MH_EV_BASE_MORE : env->ev_base + MH_EV_BASE_STRIDE;

	if (!env->ev_base_any || next == MH_EV_BASE_MORE + MH_EV_BASES_MORE * MH_EV_BASE_STRIDE)
		return false;
	env->ev_base = next;
	env->srv6.free = next / MH_SRV6_PLANES_MAX;
	return true;
}

int mh_env_read(struct mh_env *env, uint32_t device, struct mh_env_error *error)
{
	/*
	 * It holds the whole file, too much for the stack of a program's thread.
	 */
	struct mh_settings *s = malloc(sizeof(*s));
	int err;

	memset(env, 0, sizeof(*env));
	env->device = device;
	env->log_level = MRC_LOG_WARNING;
	if (!s) {
		strcpy(error->text, "no memory to read the configuration");
		return ENOMEM;
	}
	err = mh_settings_read(s, error);
	memcpy(env->ignored, s->ignored, sizeof(env->ignored));
	for (size_t i = 0; !err && i < sizeof(env_readers) / sizeof(env_readers[0]); i++)
		err = env_readers[i](env, s, error);
	free(s);
	return err;
}
