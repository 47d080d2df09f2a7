/* SPDX-License-Identifier: BSD-2-Clause */
/* ip_routes.h - the routes of a node as ip(8) shows them, now or saved. */
#ifndef SOFTMRC_CLI_PLAN_IP_ROUTES_H
#define SOFTMRC_CLI_PLAN_IP_ROUTES_H

#include "lab/lab.h"

/*
 * plan_ip_routes_run runs `ip -j -6 route show table all` in the namespace of a lab's node. The
 * caller frees what it returns; NULL: error (size bytes) says why.
 */
char *plan_ip_routes_run(const struct ml_lab *lab, uint32_t node, char *error, size_t size);

/* plan_ip_routes_read reads dir/path.routes.json; else the same. */
char *plan_ip_routes_read(const char *dir, const char *path, char *error, size_t size);

#endif
