/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_ifaces.h - what the host's interfaces are: their addresses, their MTUs, and which one leads
 * out.
 *
 * Addresses are 16 bytes in network order, IPv4 mapped (::ffff:a.b.c.d).
 */
#ifndef SOFTMRC_HOST_HOST_IFACES_H
#define SOFTMRC_HOST_HOST_IFACES_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/* mh_iface_exists says whether there is an interface of this name. */
bool mh_iface_exists(const char *name);
/* mh_iface_index returns its number, another whenever it is made anew; 0: there is none. */
uint32_t mh_iface_index(const char *name);
/* mh_iface_is_up says whether it is up and has carrier; true where that cannot be known. */
bool mh_iface_is_up(const char *name);
/*
 * mh_iface_address returns the interface's address in ip: its first IPv4 one, else its first IPv6
 * one that means something beyond the link. false: it has none.
 */
bool mh_iface_address(const char *name, uint8_t ip[16]);
/* mh_iface_with_address returns the interface that has this address; false: none. */
bool mh_iface_with_address(const uint8_t ip[16], char name[IF_NAMESIZE]);
/*
 * mh_iface_why_down returns why a port with this address, on the interface `wanted` or with "" on
 * whichever has it, cannot work now; NULL: it can. name is that of its interface, "?" for none.
 */
const char *mh_iface_why_down(const uint8_t ip[16], const char *wanted, char name[IF_NAMESIZE]);
/* mh_iface_mtu returns the largest IP packet that the interface sends; 0: cannot be known. */
uint32_t mh_iface_mtu(const char *name);
/* mh_iface_default returns the interface of the default route, IPv4 before IPv6; false: none. */
bool mh_iface_default(char name[IF_NAMESIZE]);

#endif
