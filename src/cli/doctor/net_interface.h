/* SPDX-License-Identifier: BSD-2-Clause */
/* net_interface.h - the interface that has an address, and its settings. */
#ifndef SOFTMRC_CLI_DOCTOR_NET_INTERFACE_H
#define SOFTMRC_CLI_DOCTOR_NET_INTERFACE_H

#include "cli/doctor/doctor_facts.h"

/*
 * doctor_interface_describe fills in a port by its GID: name, MTU, whether it is up, filters; of
 * the interface that it is bound to, else (`bound` empty) of the one that has the address. `root`
 * stands before /proc.
 */
void doctor_interface_describe(struct doctor_port *p, const uint8_t gid[16], const char *bound,
			       const char *root);

/* doctor_interface_loopback_up says whether the loopback interface is up. */
bool doctor_interface_loopback_up(void);

#endif
