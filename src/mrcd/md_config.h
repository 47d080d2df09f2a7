/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_config.h - mrcd's configuration file: who may do what, where the daemon listens, what the
 * device has, and what the state of the device shall be. docs/operation.md lists its keys.
 */
#ifndef SOFTMRC_MRCD_MD_CONFIG_H
#define SOFTMRC_MRCD_MD_CONFIG_H

#include <sys/types.h>

#include "mrcd/md_args.h"

#define MD_CONFIG_FILE "/etc/mrcd.toml"
#define MD_CONFIG_BYTES 65536u
#define MD_PATH_MAX 200u
/* The path of a socket in it is to fit a sockaddr_un. */
#define MD_DIR_MAX 90u
#define MD_ROWS_MAX 64u

/* A table of the file that is about the state: a [[port]], [[format]], [[ev]] or [[cc]]. */
enum md_row_kind {
	MD_ROW_FORMAT, /* in the order in which they are made: what refers comes after */
	MD_ROW_EV,
	MD_ROW_CC,
	MD_ROW_PORT,
	MD_ROW_KINDS,
};

struct md_row {
	enum md_row_kind kind;
	uint32_t element; /* of its kind */
	uint32_t line;	  /* of [[...]] */
	json_t *args;	  /* as a request would have it */
	json_t *lines;	  /* of its keys */
};

/* What is done about what is sick; md_policy.h. */
enum md_map_policy {
	MD_MAP_OFF,
	MD_MAP_ADVISE,
	MD_MAP_ACT,
};

/* What this host probes; md_map.h. */
struct md_config_map {
	char fabric[MD_PATH_MAX]; /* a preset or a file; empty: nothing is probed */
	uint32_t host;
	uint32_t share; /* hosts that probe each link */
	uint32_t port;
	uint64_t rate_bit_s;
	uint32_t interfaces;
	char interface[16][16]; /* of each plane */
	uint32_t policy;	/* enum md_map_policy */
	uint64_t deny_after_ns, return_after_ns;
	uint32_t deny_share; /* percent */
};

struct md_config {
	char dir[MD_PATH_MAX]; /* of the store and the socket */
	char device[16];
	char group[32];	    /* that may connect; empty: everyone */
	bool lab;	    /* everyone who may connect may change, too */
	char listen[64];    /* for Prometheus; empty: not at all */
	uint32_t processes; /* with series of their own */
	uint32_t level;	    /* of the log: enum md_level */
	uint32_t ports;	    /* 0: not given */
	uint32_t formats;   /* MN_FORMAT_STEV or MN_FORMAT_UDP */
	uint32_t evs;	    /* of a port */
	json_t *lines;	    /* of the keys above, by name, as far as the file has them */
	struct md_config_map map;
	uint32_t n_rows;
	struct md_row row[MD_ROWS_MAX];
};

struct md_config_error {
	char text[MD_PATH_MAX + 320]; /* begins with file and line */
};

/*
 * md_config_parse reads a text; `path` is for messages. 0, or EINVAL with the error; then there is
 * nothing to free.
 */
int md_config_parse(struct md_config *c, const char *path, const char *text,
		    struct md_config_error *error);
/* md_config_load reads a file. Also errno values of open(2), and EFBIG. */
int md_config_load(struct md_config *c, const char *path, struct md_config_error *error);
void md_config_free(struct md_config *c);
/*
 * md_config_wrong says what came of a key when it was used, with its place in the file, and returns
 * code.
 */
__attribute__((format(printf, 6, 7))) int md_config_wrong(const struct md_config *c,
							  const char *path, const char *key,
							  int code, struct md_config_error *error,
							  const char *format, ...);
/* md_config_is_of says whether the device is the one of this number, as statistics count them. */
bool md_config_is_of(const struct md_config *c, uint32_t device);
/* md_config_device fills in what changes are checked against. */
void md_config_device(const struct md_config *c, uint32_t user, struct mn_device *d);

/*
 * md_config_apply makes the state what the file's rows say, or, after an error, leaves it as it
 * was: profiles that are not ONLINE are made; one that is ONLINE must be as the file has it, but
 * for CC parameters, which change. What no row names stays. EINVAL and others, and the error.
 */
int md_config_apply(const struct md_config *c, const char *path, const struct mn_device *d,
		    struct mn_state *s, struct md_config_error *error);
/*
 * md_config_row_wrong says what is wrong with a row, the last one of a profile, with its place in
 * the file, and returns e->code.
 */
int md_config_row_wrong(const struct md_config *c, const char *path, enum md_row_kind kind,
			uint32_t profile, const struct md_error *e, struct md_config_error *error);

#endif
