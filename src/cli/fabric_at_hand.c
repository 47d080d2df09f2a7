/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_at_hand.c - which fabric this machine is a part of: see fabric_at_hand.h. */
#include "cli/fabric_at_hand.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/topology_toml.h"
#include "fabric/usid.h"

int cli_fabric_find(const struct ui_verb *verb, const char *flag, struct cli_fabric *f)
{
	const char *what = flag ? flag : getenv(CLI_FABRIC_VARIABLE);
	char error[MF_TOML_ERROR_BYTES];

	f->known = what && *what;
	if (!f->known || mf_topology_open(what, &f->t, error))
		return 0;
	fprintf(stderr, "%s: %s: %s\n", verb->name, flag ? "--fabric" : CLI_FABRIC_VARIABLE, error);
	f->known = false;
	return -1;
}

const char *cli_fabric_ev(const struct cli_fabric *f, const uint8_t src[16], const uint8_t *dst,
			  uint32_t port, uint32_t number, char *out)
{
	uint32_t from, to = MF_HOST_NONE, ev;

	if (!f->known || !mf_address_host(&f->t, src, &from) ||
	    !mf_ev_find(&f->t, port, number, &ev))
		return NULL;
	if (dst && !mf_address_host(&f->t, dst, &to))
		return NULL;
	return mf_ev_cable(&f->t, from, to, ev, out);
}
