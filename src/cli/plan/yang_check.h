/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * yang_check.h - holds the configuration of a SONiC switch against SONiC's own YANG modules, with
 * yanglint. The modules are what SONiC installs as /usr/local/yang-models.
 */
#ifndef SOFTMRC_CLI_PLAN_YANG_CHECK_H
#define SOFTMRC_CLI_PLAN_YANG_CHECK_H

#include "fabric/emit.h"

/* plan_yang_is_available says whether yanglint and the modules are there: 0, or -1 after a
 * message. */
int plan_yang_is_available(const char *folder);

/* plan_yang_check checks one switch: 0 it is valid, or -1 after a message. */
int plan_yang_check(const char *folder, const struct mf_topology *t, uint32_t node,
		    const struct mf_emit_options *o);

#endif
