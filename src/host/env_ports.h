/* SPDX-License-Identifier: BSD-2-Clause */
/* env_ports.h - the settings of ports: their list, the planes' subnets, the path MTU. */
#ifndef SOFTMRC_HOST_ENV_PORTS_H
#define SOFTMRC_HOST_ENV_PORTS_H

#include "host/env.h"

/* mh_env_is_ipv4 says which family the ports are of. */
bool mh_env_is_ipv4(const struct mh_env *env);

/*
 * mh_env_read_ports fills in port, n_ports, prefix and mtu. It asks the host for the addresses of
 * interfaces that are named, for the one of the default route when nothing is, and for MTUs.
 * Errors as mh_env_read.
 */
int mh_env_read_ports(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error);

#endif
