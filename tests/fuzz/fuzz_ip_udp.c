/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what a raw socket hands over, an IP packet that anybody may have sent:
 * whole, cut by a switch, or noise. Where headers are found in it they lie within it, and headers
 * written from what was found are read back as the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "wire/ip_udp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct mw_ip_udp *h)
{
	uint8_t bytes[MW_IP_UDP_MAX];
	struct mw_ip_udp again;
	size_t n, headers;

	if (mw_is_ipv4(h->src) != mw_is_ipv4(h->dst))
		return; /* an IPv6 packet to an address that stands for an IPv4 one */
	n = mw_ip_udp_write(h, bytes);
	mb_assert(mw_ip_udp_read(bytes, n, &again, &headers) && headers == n && again.len == 0);
	mb_assert(memcmp(again.src, h->src, 16) == 0 && memcmp(again.dst, h->dst, 16) == 0);
	mb_assert(again.sport == h->sport && again.dport == h->dport && again.tos == h->tos);
	mb_assert(again.flow_label == (mw_is_ipv4(h->dst) ? 0 : h->flow_label));
}

static void check_ecn(uint8_t outer, uint8_t inner)
{
	uint8_t tos = mw_ecn_combine(outer, inner);

	mb_assert(tos >> 2 == outer >> 2);
	mb_assert(((tos & 3) != 0) == ((inner & 3) != 0));
	mb_assert((tos & 3) == (inner & 3) || ((tos & 3) == 3 && (outer & 3) == 3));
}

/* In memory of exactly this size, so that a read past its end is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = calloc(1, size ? size : 1);
	struct mw_ip_udp h;
	size_t headers;

	mb_assert(copy);
	if (size > 0)
		memcpy(copy, data, size);
	if (mw_ip_udp_read(copy, size, &h, &headers)) {
		mb_assert(headers >= MW_IPV4_BYTES + MW_UDP_BYTES && headers <= size);
		mb_assert(headers + h.len <= size && h.flow_label <= 0xFFFFF);
		check_again(&h);
	}
	if (size >= 2)
		check_ecn(copy[0], copy[1]);
	free(copy);
	return 0;
}
