/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts' IPv4 addresses: see lab_ipv4.h. */
#include "lab/lab_ipv4.h"

#include "base/assert.h"

#include <stdio.h>

#define NET 10u
/* 0 and 255 are the network's and its broadcast address to many programs. */
#define HOSTS_MAX 254u

bool ml_ipv4_fits(const struct mf_topology *t)
{
	return t->cfg.pods <= 256 && t->cfg.t0s <= 256 && t->cfg.hosts_per_t0 <= HOSTS_MAX;
}

char *ml_ipv4_of_host(const struct mf_topology *t, uint32_t host, char *out)
{
	uint32_t t0 = mf_host_t0(t, host);

	mb_assert(ml_ipv4_fits(t) && host < t->n_hosts);
	snprintf(out, ML_IPV4_TEXT, "%u.%u.%u.%u", NET, mf_t0_pod(t, t0) & 0xff,
		 mf_div_rest(t->by_t0s, t0) & 0xff, (host % t->cfg.hosts_per_t0 + 1) & 0xff);
	return out;
}

char *ml_ipv4_prefix(const struct mf_topology *t, const struct mf_route *r, char *out)
{
	/* The block is the first 8 bits; pod and T0 have 16 bits each, here 8. */
	uint32_t length = r->length < 32u ? 0 : (r->length - 32u) / 16 * 8 + 8;
	uint32_t host;
	char address[ML_IPV4_TEXT];

	if (r->length == 8 * MF_ADDRESS_BYTES && mf_address_host(t, r->prefix, &host)) {
		snprintf(out, ML_IPV4_TEXT + 3, "%s/32", ml_ipv4_of_host(t, host, address));
		return out;
	}
	snprintf(out, ML_IPV4_TEXT + 3, "%u.%u.%u.0/%u", length ? NET : 0, r->prefix[5],
		 r->prefix[7], length & 0x3f);
	return out;
}
