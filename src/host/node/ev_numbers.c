/* SPDX-License-Identifier: BSD-2-Clause */
/* ev_numbers.c - EVs of profiles, which are the host's, as those of this process. */
#include "host/node/node.h"

#define SPORT_SHIFT 16u

/*
 * Bases are multiples of the stride unless one is configured, so that what two processes list as
 * their i-th EV leaves by the i-th socket of every process.
 */
static uint32_t own_source_port(const struct mh_env *env, uint32_t sport)
{
	if (sport - env->ev_base < env->evs)
		return sport;
	return env->ev_base + sport % MH_EV_BASE_STRIDE % env->evs;
}

uint32_t mh_ev_number_sent(const struct mh_env *env, uint32_t port, uint32_t number)
{
	if (env->driver != MH_DRIVER_UDP)
		return number;
	if (mh_env_is_srv6(env))
		return (env->ev_base + port) << SPORT_SHIFT | (number & UINT16_MAX);
	if (env->ev_format == MW_EV_UDP)
		return own_source_port(env, number & UINT16_MAX);
	return own_source_port(env, number >> SPORT_SHIFT) << SPORT_SHIFT | (number & UINT16_MAX);
}
