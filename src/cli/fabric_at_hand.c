/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_at_hand.c - which fabric this machine is a part of: see fabric_at_hand.h. */
#include "cli/fabric_at_hand.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology_toml.h"
#include "fabric/usid.h"

int cli_fabric_find(const struct ui_verb *verb, const char *flag, struct cli_fabric *f)
{
	const char *what = flag ? flag : getenv(CLI_FABRIC_VARIABLE);
	char error[MF_TOML_ERROR_BYTES];

	f->known = what && *what;
	if (!f->known || mf_topology_open(what, &f->t, error))
		return 0;
	f->known = false;
	if (flag) {
		fprintf(stderr, "%s: --fabric: %s\n", verb->name, error);
		return -1;
	}
	/* Nobody asked for names here; what the environment leads to may be gone. */
	fprintf(stderr, "%s: warning: %s: %s; EVs have no names\n", verb->name, CLI_FABRIC_VARIABLE,
		error);
	return 0;
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

static bool take_address(const struct cli_fabric *f, const struct ifaddrs *at, uint8_t own[16])
{
	struct sockaddr_in6 address;
	uint32_t host;

	if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET6)
		return false;
	memcpy(&address, at->ifa_addr, sizeof(address));
	memcpy(own, &address.sin6_addr, sizeof(address.sin6_addr));
	return mf_address_host(&f->t, own, &host);
}

bool cli_fabric_here(const struct cli_fabric *f, uint8_t own[16])
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (!f->known || getifaddrs(&all))
		return false;
	for (const struct ifaddrs *at = all; at && !found; at = at->ifa_next)
		found = take_address(f, at, own);
	freeifaddrs(all);
	return found;
}
