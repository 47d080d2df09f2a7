/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_at_hand.h - the description of the fabric that this machine is a part of, for verbs that
 * call EVs and cables by name (fabric/ev_links.h).
 *
 * It is what a flag --fabric names, or else the variable MRC_FABRIC, which the shell of a lab's
 * host has: a preset or a topology file. Without either verbs show numbers alone.
 */
#ifndef SOFTMRC_CLI_FABRIC_AT_HAND_H
#define SOFTMRC_CLI_FABRIC_AT_HAND_H

#include "fabric/ev_links.h"
#include "ui/verb.h"

#define CLI_FABRIC_VARIABLE "MRC_FABRIC"
/* The flag of every verb that shows EVs; `member` is a const char *. */
#define CLI_FABRIC_FLAG(type, member)                 \
	UI_TEXT("--fabric", type, member, "TOPOLOGY", \
		"the fabric by which EVs get names, a preset or a file ($MRC_FABRIC)")

struct cli_fabric {
	bool known;
	struct mf_topology t;
};

/*
 * cli_fabric_find fills *f from a flag's value, NULL for what MRC_FABRIC names. 0; -1 after a
 * message that names the file, its line and what is allowed there. What the variable names and is
 * not there or wrong is a warning: EVs have no names then.
 */
int cli_fabric_find(const struct ui_verb *verb, const char *flag, struct cli_fabric *f);

/* Room for what cli_fabric_ev writes. */
#define CLI_EV_NAME_BYTES MF_EV_CABLE_BYTES

/*
 * cli_fabric_ev names the cables that an EV of a device chooses: the device has the GID src,
 * packets go to dst (NULL: to hosts of other T0s), port is the plane from 0. NULL: no fabric is
 * known, the GID is none of its hosts', or the EV is no path (mf_ev_find). Else
 * out[CLI_EV_NAME_BYTES].
 */
const char *cli_fabric_ev(const struct cli_fabric *f, const uint8_t src[16], const uint8_t *dst,
			  uint32_t port, uint32_t number, char *out);

/* cli_fabric_here finds the address of the host of the fabric that this machine is: one of its
 * own. False: no fabric is known, or it is none of its hosts. */
bool cli_fabric_here(const struct cli_fabric *f, uint8_t own[16]);

#endif
