/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings.h - the names of what can be configured, and where each one's text comes from: an
 * environment variable, else the configuration file, else nowhere. What the texts mean is env.c's.
 *
 * In a program with rights that its user lacks (AT_SECURE: set-user-ID, set-group-ID or file
 * capabilities) the environment is the attacker's: it could have such a program write captures,
 * read files as settings and load libraries. There only /etc/softmrc.toml counts.
 *
 * The file is the one that MRC_CONFIG names, else /etc/softmrc.toml if there is one; see toml.h for
 * its language. docs/configuration.md lists names, ranges and defaults.
 */
#ifndef SOFTMRC_HOST_CONFIG_SETTINGS_H
#define SOFTMRC_HOST_CONFIG_SETTINGS_H

#include "base/config_file.h"
#include "base/toml.h"

#include <stddef.h>
#include <stdint.h>

#define MH_PATH_MAX MB_CONFIG_PATH
#define MH_IGNORED_MAX 512u

/* id, environment variable, key in the file, kinds of value that the file may give */
#define MH_SETTINGS(X)                                                                 \
	X(PORTS, "MRC_PORTS", "ports.list", MB_TOML_ARRAY)                             \
	X(DEVICES, "MRC_DEVICES", "ports.devices", MB_TOML_INTEGER)                    \
	X(DRIVER, "MRC_DRIVER", "ports.driver", MB_TOML_STRING)                        \
	X(UDP_PORT, "MRC_UDP_PORT", "ports.udp_port", MB_TOML_INTEGER)                 \
	X(DSCP, "MRC_DSCP", "ports.dscp", MB_TOML_STRING)                              \
	X(PREFIX, "MRC_PORT_PREFIX", "ports.prefix", MB_TOML_INTEGER)                  \
	X(MTU, "MRC_MTU", "ports.mtu", MB_TOML_INTEGER)                                \
	X(PACE, "MRC_PACE", "ports.pace", MB_TOML_STRING | MB_TOML_INTEGER)            \
	X(RX_BUFFER, "MRC_RX_BUFFER", "ports.rx_buffer", MB_TOML_INTEGER)              \
	X(EVS, "MRC_EVS", "paths.evs", MB_TOML_INTEGER)                                \
	X(EV_BASE, "MRC_EV_BASE", "paths.ev_base", MB_TOML_INTEGER)                    \
	X(RUN, "MRC_RUN", "paths.run", MB_TOML_INTEGER)                                \
	X(EV_FORMAT, "MRC_EV_FORMAT", "paths.ev_format", MB_TOML_STRING)               \
	X(PROBE, "MRC_PROBE_US", "paths.probe_us", MB_TOML_INTEGER)                    \
	X(CC, "MRC_CC", "congestion.control", MB_TOML_STRING)                          \
	X(BASE_RTT, "MRC_BASE_RTT_US", "congestion.base_rtt_us", MB_TOML_INTEGER)      \
	X(RTO_MIN, "MRC_RTO_MIN_US", "timers.rto_min_us", MB_TOML_INTEGER)             \
	X(TAIL_PROBE, "MRC_TAIL_PROBE_US", "timers.tail_probe_us", MB_TOML_INTEGER)    \
	X(REORDER_MIN, "MRC_REORDER_MIN_US", "timers.reorder_min_us", MB_TOML_INTEGER) \
	X(REORDER_MAX, "MRC_REORDER_MAX_US", "timers.reorder_max_us", MB_TOML_INTEGER) \
	X(SVC_TIME, "MRC_SVC_TIME", "timers.svc_time", MB_TOML_BOOLEAN)                \
	X(SHARDS, "MRC_SHARDS", "progress.shards", MB_TOML_INTEGER)                    \
	X(PRIORITY, "MRC_PRIORITY", "progress.priority", MB_TOML_INTEGER)              \
	X(MEMORY, "MRC_MEMORY", "memory.limit", MB_TOML_INTEGER)                       \
	X(ORDER, "MRC_ORDER", "verbs.order", MB_TOML_STRING)                           \
	X(REAL_IBVERBS, "MRC_REAL_IBVERBS", "verbs.real", MB_TOML_STRING)              \
	X(ICRC, "MRC_ICRC", "checks.icrc", MB_TOML_BOOLEAN)                            \
	X(CAPTURE, "MRC_CAPTURE", "capture.file", MB_TOML_STRING)                      \
	X(FAULTS, "MRC_FAULTS", "faults.table", MB_TOML_STRING)                        \
	X(STATS_DIR, "MRC_STATS_DIR", "statistics.dir", MB_TOML_STRING)                \
	X(STATS_KEEP, "MRC_STATS_KEEP", "statistics.keep", MB_TOML_BOOLEAN)            \
	X(STATS_GROUP, "MRC_STATS_GROUP", "statistics.group", MB_TOML_STRING)          \
	X(NODE_DIR, "MRC_NODE_DIR", "node.dir", MB_TOML_STRING)                        \
	X(LOG, "MRC_LOG", "log.level", MB_TOML_STRING)                                 \
	X(LOG_FORMAT, "MRC_LOG_FORMAT", "log.format", MB_TOML_STRING)                  \
	X(SRV6_GID, "MRC_SRV6_GID", "srv6.gid", MB_TOML_STRING)                        \
	X(SRV6_ROWS, "MRC_SRV6_ROWS", "srv6.rows", MB_TOML_ARRAY)                      \
	X(SRV6_UPLINKS, "MRC_SRV6_UPLINKS", "srv6.uplinks", MB_TOML_INTEGER)           \
	X(SRV6_T1_UPLINKS, "MRC_SRV6_T1_UPLINKS", "srv6.t1_uplinks", MB_TOML_INTEGER)

enum mh_setting {
#define MH_SETTINGS_ID(id, env, key, kinds) MH_SET_##id,
	MH_SETTINGS(MH_SETTINGS_ID)
#undef MH_SETTINGS_ID
		MH_SETTINGS_COUNT,
};

struct mh_env_error {
	char text[MH_PATH_MAX + 512];
};

struct mh_setting_text {
	const char *text; /* NULL: not given */
	uint32_t line;	  /* of the file; 0: from the environment */
};

/* Not to be copied: the texts point into it, and into the environment. */
struct mh_settings {
	char path[MH_PATH_MAX];	      /* of the file, empty: there is none */
	char ignored[MH_IGNORED_MAX]; /* what to say of variables that do not count, or empty */
	struct mh_setting_text of[MH_SETTINGS_COUNT];
	char file[MB_CONFIG_BYTES];
	char texts[MB_CONFIG_BYTES];
	size_t used;
};

/*
 * mh_settings_read reads the file and the environment. 0, or an errno value: EINVAL for what is
 * wrong in the file, which error names with file and line, others for a file that cannot be read.
 */
int mh_settings_read(struct mh_settings *s, struct mh_env_error *error);
/* mh_settings_error says where a setting's text stands and why it is wrong; returns EINVAL. */
int mh_settings_error(const struct mh_settings *s, enum mh_setting id, const char *why,
		      struct mh_env_error *error);
/*
 * mh_settings_digits reads a decimal number without sign or blanks and returns what follows it;
 * NULL: none, or above 2^63.
 */
const char *mh_settings_digits(const char *s, uint64_t *number);

struct mh_settings_range {
	uint64_t low, high;
	const char *unit; /* "" or as in " (us)" */
};

/*
 * mh_settings_number reads a setting whose text is a number within a range; *number stays as it is
 * when the setting is not given. EINVAL: error says what is allowed.
 */
int mh_settings_number(const struct mh_settings *s, enum mh_setting id,
		       const struct mh_settings_range *range, uint64_t *number,
		       struct mh_env_error *error);

/* ---- parts of mh_env_read ---- */

struct mh_env;

/*
 * mh_env_read_ports fills in port, n_ports, prefix and mtu. It asks the host for the addresses of
 * interfaces that are named, for the one of the default route when nothing is, and for MTUs.
 * Errors as mh_env_read.
 */
int mh_env_read_ports(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error);

/*
 * mh_env_read_srv6 fills in srv6 but for the number of EVs, which mh_env_read_srv6_evs does when
 * the ports are known. Without rows both leave it off. Errors as mh_env_read.
 */
int mh_env_read_srv6(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error);
int mh_env_read_srv6_evs(struct mh_env *env, const struct mh_settings *s,
			 struct mh_env_error *error);

#endif
