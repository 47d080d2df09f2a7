/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env.c - reads and checks the environment, one table row a number.
 *
 * The defaults of the timers are floors for a software NIC: a process that shares its cores is
 * scheduled late by several milliseconds now and then, and a protocol that takes such silence for
 * loss sends again what arrived. On a busy two-core machine 20 ms gave no false timeout.
 */
#include "host/env.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US UINT64_C(1000)
#define ENV_LIST_MAX 1024u

static int env_refuse(struct mh_env_error *error, const char *name, const char *value,
		      const char *allowed)
{
	snprintf(error->text, sizeof(error->text), "%s=%.100s: %s", name, value, allowed);
	return EINVAL;
}

static const char *env_get(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* env_digits reads a decimal number without sign or blanks; NULL: none, or above 2^63. */
static const char *env_digits(const char *s, uint64_t *number)
{
	uint64_t n = 0;

	if (*s < '0' || *s > '9')
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (n > (UINT64_C(1) << 63) / 10 - 1)
			return NULL;
		n = n * 10 + (uint64_t)(*s - '0');
	}
	*number = n;
	return s;
}

/* A variable that is a number in a range; it is stored in units of `scale`. */
struct env_number {
	const char *name;
	uint64_t low, high, otherwise;
	const char *unit;
	uint64_t scale;
	size_t offset; /* in struct mh_env */
	bool wide;     /* the field is 64 bits, else 32 */
};

#define ENV_U32(field) offsetof(struct mh_env, field), false
#define ENV_U64(field) offsetof(struct mh_env, field), true

static const struct env_number env_numbers[] = {
	{"MRC_PORT_PREFIX", 0, 31, 24, "bits", 1, ENV_U32(prefix)},
	{"MRC_EVS", 1, MH_EVS_PER_PORT_MAX, 8, "entropy values per port", 1, ENV_U32(evs)},
	{"MRC_EV_BASE", 1024, 65535, 49152, "UDP port", 1, ENV_U32(ev_base)},
	{"MRC_MTU", 256, 4096, 4096, "bytes", 1, ENV_U32(mtu)},
	{"MRC_BASE_RTT_US", 1, 1000000, 200, "us", NS_PER_US, ENV_U64(base_rtt_ns)},
	{"MRC_PROBE_US", 100, 10000000, 20000, "us", NS_PER_US, ENV_U64(probe_ns)},
	{"MRC_RTO_MIN_US", 100, 10000000, 20000, "us", NS_PER_US, ENV_U64(rto_min_ns)},
	{"MRC_TAIL_PROBE_US", 10, 10000000, 6000, "us", NS_PER_US, ENV_U64(tail_probe_ns)},
	{"MRC_REORDER_MIN_US", 1, 10000000, 3000, "us", NS_PER_US, ENV_U64(reorder_min_ns)},
	{"MRC_REORDER_MAX_US", 1, 10000000, 10000, "us", NS_PER_US, ENV_U64(reorder_max_ns)},
};

static int env_read_number(struct mh_env *env, const struct env_number *row,
			   struct mh_env_error *error)
{
	const char *value = env_get(row->name);
	uint64_t number = row->otherwise;
	char allowed[100];

	if (value) {
		const char *end = env_digits(value, &number);

		if (!end || *end || number < row->low || number > row->high) {
			snprintf(allowed, sizeof(allowed), "must be a number, %llu to %llu (%s)",
				 (unsigned long long)row->low, (unsigned long long)row->high,
				 row->unit);
			return env_refuse(error, row->name, value, allowed);
		}
	}
	number *= row->scale;
	if (row->wide)
		*(uint64_t *)(void *)((char *)env + row->offset) = number;
	else
		*(uint32_t *)(void *)((char *)env + row->offset) = (uint32_t)number;
	return 0;
}

static int env_read_numbers(struct mh_env *env, struct mh_env_error *error)
{
	for (size_t i = 0; i < sizeof(env_numbers) / sizeof(env_numbers[0]); i++) {
		int err = env_read_number(env, &env_numbers[i], error);

		if (err)
			return err;
	}
	return 0;
}

/* env_parse_port reads ADDR or ADDR%IFNAME and says what is wrong with it, NULL: nothing. */
static const char *env_parse_port(char *item, struct mh_env_port *port)
{
	char *ifname = strchr(item, '%');
	struct in_addr addr;

	if (ifname) {
		*ifname++ = '\0';
		if (*ifname == '\0' || strlen(ifname) >= MH_IFNAME_MAX)
			return "an interface name has 1 to 15 characters";
		strcpy(port->ifname, ifname);
	}
	if (inet_pton(AF_INET, item, &addr) != 1)
		return "must be IPv4 addresses separated by commas, each ADDR or ADDR%INTERFACE";
	port->ip = ntohl(addr.s_addr);
	/* 0.0.0.0/8 means "this host", 224.0.0.0 and up are groups, reserved and broadcast. */
	if (port->ip >> 24 == 0 || port->ip >> 28 >= 0xE)
		return "holds an address that no single interface can have";
	return NULL;
}

static int env_read_ports(struct mh_env *env, struct mh_env_error *error)
{
	const char *value = env_get("MRC_PORTS");
	const char *all = value ? value : "127.0.0.1";
	char list[ENV_LIST_MAX];
	char *rest = list;
	char *item;

	if (strlen(all) >= sizeof(list))
		return env_refuse(error, "MRC_PORTS", all, "is longer than 1023 characters");
	strcpy(list, all);
	while ((item = strsep(&rest, ",")) != NULL) {
		const char *wrong;

		if (env->n_ports == MT_PORTS_MAX)
			return env_refuse(error, "MRC_PORTS", all, "lists more than 32 ports");
		wrong = env_parse_port(item, &env->port[env->n_ports]);
		if (wrong)
			return env_refuse(error, "MRC_PORTS", all, wrong);
		env->n_ports++;
	}
	return 0;
}

/*
 * env_check_ports: one GID names an endpoint on all planes, so the bits behind the subnet must be
 * the same on all ports; and no two ports may be one and the same.
 */
static int env_check_ports(const struct mh_env *env, struct mh_env_error *error)
{
	const char *all = env_get("MRC_PORTS");
	uint32_t host_mask = UINT32_MAX >> env->prefix;
	char why[160];

	for (uint32_t i = 1; i < env->n_ports; i++) {
		if ((env->port[i].ip ^ env->port[0].ip) & host_mask) {
			snprintf(why, sizeof(why),
				 "the last %u bits must be the same on all ports, for peers know "
				 "this host by them (MRC_PORT_PREFIX=%u)",
				 32 - env->prefix, env->prefix);
			return env_refuse(error, "MRC_PORTS", all, why);
		}
		for (uint32_t k = 0; k < i; k++)
			if (env->port[i].ip == env->port[k].ip &&
			    strcmp(env->port[i].ifname, env->port[k].ifname) == 0)
				return env_refuse(error, "MRC_PORTS", all, "lists a port twice");
	}
	return 0;
}

/* env_rate_scale returns what a rate's suffix stands for, 0: not a suffix. */
static uint64_t env_rate_scale(const char *suffix)
{
	if (*suffix == '\0')
		return 1;
	if (suffix[1] != '\0')
		return 0;
	switch (*suffix) {
	case 'k':
		return 1000;
	case 'M':
		return 1000000;
	case 'G':
		return 1000000000;
	default:
		return 0;
	}
}

#define ENV_PACE_MIN UINT64_C(1000000)
#define ENV_PACE_MAX UINT64_C(1000000000000)

static int env_read_pace(struct mh_env *env, struct mh_env_error *error)
{
	const char *value = env_get("MRC_PACE");
	uint64_t number;
	uint64_t scale;
	const char *end;

	if (!value)
		return 0;
	end = env_digits(value, &number);
	scale = end ? env_rate_scale(end) : 0;
	if (scale > 0 && number <= ENV_PACE_MAX / scale)
		env->pace_bps = number * scale;
	if (scale > 0 && (number == 0 || env->pace_bps >= ENV_PACE_MIN))
		return 0;
	return env_refuse(error, "MRC_PACE", value,
			  "must be bits per second with an optional k, M or G, 1M to 1000G, "
			  "or 0 for no pacing");
}

/*
 * Without congestion control unless asked for: sockets show neither trims nor marks, and their RTT
 * is mostly when a process was scheduled, so NSCC would shrink the window for nothing.
 */
static int env_read_cc(struct mh_env *env, struct mh_env_error *error)
{
	const char *value = env_get("MRC_CC");

	env->cc = MT_CC_NONE;
	if (!value)
		return 0;
	if (strcmp(value, "none") == 0) {
		env->cc = MT_CC_NONE;
		return 0;
	}
	if (strcmp(value, "nscc") != 0)
		return env_refuse(error, "MRC_CC", value, "must be none or nscc");
	if (!env->pace_bps)
		return env_refuse(error, "MRC_CC", value,
				  "needs MRC_PACE, which says how fast a port is");
	env->cc = MT_CC_NSCC;
	return 0;
}

static int env_read_icrc(struct mh_env *env, struct mh_env_error *error)
{
	const char *value = env_get("MRC_ICRC");

	env->icrc = true;
	if (!value || strcmp(value, "on") == 0)
		return 0;
	if (strcmp(value, "off") != 0)
		return env_refuse(error, "MRC_ICRC", value, "must be on or off");
	env->icrc = false;
	return 0;
}

/* env_check_numbers: what is wrong although each number is in its range. */
static int env_check_numbers(const struct mh_env *env, struct mh_env_error *error)
{
	char value[24];
	char why[100];

	if (env->mtu & (env->mtu - 1))
		return env_refuse(error, "MRC_MTU", env_get("MRC_MTU"),
				  "must be 256, 512, 1024, 2048 or 4096 (bytes)");
	if (env->ev_base + env->evs - 1 > UINT16_MAX) {
		snprintf(value, sizeof(value), "%u", env->ev_base);
		snprintf(why, sizeof(why), "must be at most %u, for there are %u entropy values",
			 UINT16_MAX + 1 - env->evs, env->evs);
		return env_refuse(error, "MRC_EV_BASE", value, why);
	}
	if (env->reorder_min_ns > env->reorder_max_ns) {
		snprintf(value, sizeof(value), "%llu",
			 (unsigned long long)(env->reorder_min_ns / NS_PER_US));
		snprintf(why, sizeof(why), "must be at most MRC_REORDER_MAX_US, which is %llu",
			 (unsigned long long)(env->reorder_max_ns / NS_PER_US));
		return env_refuse(error, "MRC_REORDER_MIN_US", value, why);
	}
	return 0;
}

int mh_env_read(struct mh_env *env, struct mh_env_error *error)
{
	int err;

	memset(env, 0, sizeof(*env));
	err = env_read_numbers(env, error);
	if (!err)
		err = env_check_numbers(env, error);
	if (!err)
		err = env_read_ports(env, error);
	if (!err)
		err = env_check_ports(env, error);
	if (!err)
		err = env_read_pace(env, error);
	if (!err)
		err = env_read_cc(env, error);
	if (!err)
		err = env_read_icrc(env, error);
	env->faults = env_get("MRC_FAULTS");
	env->stats_dir = env_get("MRC_STATS_DIR");
	return err;
}
