/* SPDX-License-Identifier: BSD-2-Clause */
/* env_srv6.h - the settings of EVs that are SRv6 paths, see srv6_map.h. */
#ifndef SOFTMRC_HOST_ENV_SRV6_H
#define SOFTMRC_HOST_ENV_SRV6_H

#include "host/env.h"

/*
 * mh_env_read_srv6 fills in srv6 but for the number of EVs, which mh_env_read_srv6_evs does when
 * the ports are known. Without rows both leave it off. Errors as mh_env_read.
 */
int mh_env_read_srv6(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error);
int mh_env_read_srv6_evs(struct mh_env *env, const struct mh_settings *s,
			 struct mh_env_error *error);

#endif
