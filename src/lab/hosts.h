/* SPDX-License-Identifier: BSD-2-Clause */
/* hosts.h - what a program on a host of a lab has to know. */
#ifndef SOFTMRC_LAB_HOSTS_H
#define SOFTMRC_LAB_HOSTS_H

#include "lab/lab.h"

/*
 * ml_host_environment sets environment variables of the calling process, for programs that it will
 * run on the node: MRC_LAB and MRC_LAB_NODE; on a host also MRC_LAB_HOST, MRC_LAB_ADDRESS (its own
 * address), MRC_PORTS, MRC_MTU and, where the lab is shaped, MRC_PACE, unless they are set already.
 * 0, or -1.
 */
int ml_host_environment(const struct ml_lab *lab, uint32_t node, struct ml_error *e);

/* ml_host_address writes the address of a host, the same on all planes; out[INET6_ADDRSTRLEN]. */
char *ml_host_address(const struct ml_lab *lab, uint32_t host, char *out);

#endif
