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

/* A socket address of either family. */
union ring_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static inline socklen_t ring_address_size(const union ring_address *a)
{
	return a->any.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

/* The port number, host order. */
static inline uint16_t ring_address_port(const union ring_address *a)
{
	return ntohs(a->any.sa_family == AF_INET ? a->in.sin_port : a->in6.sin6_port);
}

struct ring_env {
	unsigned planes;
	union ring_address port[RING_PLANES_MAX]; /* local address on each plane, port 0 */
	uint64_t pace_bps;			  /* of each plane; 0: none */
	unsigned paths;				  /* of each plane */
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
