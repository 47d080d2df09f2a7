/* SPDX-License-Identifier: BSD-2-Clause */
/* topology_check.h - can a fabric be built of these numbers? Private to this module. */
#ifndef SOFTMRC_FABRIC_TOPOLOGY_CHECK_H
#define SOFTMRC_FABRIC_TOPOLOGY_CHECK_H

#include "fabric/topology.h"

/* mf_cfg_check is the first half of mf_topology_init. REQ(topo.refuse) */
bool mf_cfg_check(const struct mf_topology_cfg *cfg, struct mf_error *error);

/*
 * mf_error_set fills *error and returns false. The value is a number; `what` a printf format for
 * what is wrong and what is allowed.
 */
bool mf_error_set(struct mf_error *error, const char *field, uint64_t value, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

#endif
