/* SPDX-License-Identifier: BSD-2-Clause */
/* host_env.h - what a program on a host of a lab has to know. */
#ifndef SOFTMRC_LAB_HOST_ENV_H
#define SOFTMRC_LAB_HOST_ENV_H

#include "fabric/host_config.h"
#include "lab/lab.h"

#define ML_HOST_PATH_MAX 96u

/*
 * ml_host_environment sets environment variables of the calling process, for programs that it will
 * run on the node: MRC_LAB and MRC_LAB_NODE; on a host also MRC_LAB_HOST, MRC_LAB_ADDRESS (its own
 * address), MRC_LAB_IPV4 (lab_ipv4.h) and, unless it is set already, MRC_CONFIG: a file, written
 * here, that makes the host an SRv6 endpoint of this form. 0, or -1.
 */
int ml_host_environment(const struct ml_lab *lab, uint32_t node, enum mf_host_form form,
			struct ml_error *e);

/*
 * ml_host_config writes the configuration file of a host (docs/configuration.md) and its path into
 * out[ML_HOST_PATH_MAX]. It goes with the lab. 0, or -1.
 */
int ml_host_config(const struct ml_lab *lab, uint32_t host, enum mf_host_form form, char *out,
		   struct ml_error *e);

/* ml_lab_folder makes the folder of a lab's own files, which go with it; out[ML_HOST_PATH_MAX]. */
char *ml_lab_folder(const struct ml_lab *lab, char *out);

/* ml_host_address writes the address of a host, the same on all planes; out[INET6_ADDRSTRLEN]. */
char *ml_host_address(const struct ml_lab *lab, uint32_t host, char *out);

#endif
