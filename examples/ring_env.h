/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_env.h - the settings of the software NIC's environment that the TCP ring shares, so that
 * both transports use the same addresses at the same pace.
 */
#ifndef EXAMPLES_RING_ENV_H
#define EXAMPLES_RING_ENV_H

#include <netinet/in.h>
#include <stdint.h>

#define RING_PLANES_MAX 32u

struct ring_env {
	unsigned planes;
	struct in_addr port[RING_PLANES_MAX]; /* local address on each plane */
	uint64_t pace_bps;		      /* of each plane; 0: none */
	unsigned paths;			      /* of each plane */
};

/*
 * ring_env_read reads MRC_PORTS (unset: 127.0.0.1), MRC_PACE and MRC_EVS (8). 0, or -1 after a
 * message that names the variable, its value and what is allowed.
 */
int ring_env_read(struct ring_env *env);

/* The parts of it, for tests: 0, or -1 when text is not a list of addresses, a rate, a number. */
int ring_env_parse_ports(struct ring_env *env, const char *text);
int ring_env_parse_rate(uint64_t *bps, const char *text);
int ring_env_parse_paths(unsigned *paths, const char *text);

#endif
