/* SPDX-License-Identifier: BSD-2-Clause */
/* address.h - the 16 bytes of a GID as people write them. */
#ifndef SOFTMRC_CLI_ADDRESS_H
#define SOFTMRC_CLI_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#define CLI_ADDRESS_MAX 46u

/* cli_address_write writes "10.0.0.1" for an IPv4-mapped address, IPv6 otherwise; returns out. */
char *cli_address_write(char out[CLI_ADDRESS_MAX], const uint8_t address[16]);

/*
 * cli_address_find turns a host's name or number into the bytes of its IPv4-mapped GID. Returns 0,
 * or -1 with what is wrong in `error`.
 */
int cli_address_find(const char *host, uint8_t address[16], char *error, size_t size);

#endif
