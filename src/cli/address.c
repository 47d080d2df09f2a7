/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses for people: see address.h. */
#include "cli/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

char *cli_address_write(char out[CLI_ADDRESS_MAX], const uint8_t address[16])
{
	/* The sizes fit: these cannot fail. */
	if (memcmp(address, mapped, sizeof(mapped)) == 0)
		inet_ntop(AF_INET, address + sizeof(mapped), out, CLI_ADDRESS_MAX);
	else
		inet_ntop(AF_INET6, address, out, CLI_ADDRESS_MAX);
	return out;
}

int cli_address_find(const char *host, uint8_t address[16], char *error, size_t size)
{
	const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
	struct addrinfo *list;
	struct sockaddr_in sin;
	int rc = getaddrinfo(host, NULL, &hints, &list);

	if (rc) {
		snprintf(error, size, "%s", gai_strerror(rc));
		return -1;
	}
	memcpy(&sin, list->ai_addr, sizeof(sin));
	freeaddrinfo(list);
	memcpy(address, mapped, sizeof(mapped));
	memcpy(address + sizeof(mapped), &sin.sin_addr, 4);
	return 0;
}
