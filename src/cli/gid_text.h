/* SPDX-License-Identifier: BSD-2-Clause */
/* gid_text.h - the 16 bytes of a GID as people write them. */
#ifndef SOFTMRC_CLI_GID_TEXT_H
#define SOFTMRC_CLI_GID_TEXT_H

#include <ifaddrs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_ADDRESS_MAX 46u
#define CLI_PORT_MAX (CLI_ADDRESS_MAX + 17u)

/* cli_address_write writes "10.0.0.1" for an IPv4-mapped address, IPv6 otherwise; returns out. */
char *cli_address_write(char out[CLI_ADDRESS_MAX], const uint8_t address[16]);
/* cli_address_port writes a port's address, and %INTERFACE if it is bound to one; returns out. */
char *cli_address_port(char out[CLI_PORT_MAX], const uint8_t address[16], const char *interface);

/*
 * cli_address_find turns a host's name or number into the bytes of its GID, an IPv6 address or an
 * IPv4-mapped one. Returns 0, or -1 with what is wrong in `error`.
 */
int cli_address_find(const char *host, bool ipv6, uint8_t address[16], char *error, size_t size);
/* cli_address_is_of says whether an entry of getifaddrs has an address. */
bool cli_address_is_of(const struct ifaddrs *interface, const uint8_t address[16]);
/* cli_address_is_ipv4 says whether an address is an IPv4-mapped one. */
bool cli_address_is_ipv4(const uint8_t address[16]);
/* cli_address_is_loopback says whether it is one of 127.0.0.0/8, or ::1. */
bool cli_address_is_loopback(const uint8_t address[16]);

#endif
