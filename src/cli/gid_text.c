/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses for people: see gid_text.h. */
#include "cli/gid_text.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

bool cli_address_is_ipv4(const uint8_t address[16])
{
	return memcmp(address, mapped, sizeof(mapped)) == 0;
}

bool cli_address_is_loopback(const uint8_t address[16])
{
	static const uint8_t one[16] = {[15] = 1};

	return cli_address_is_ipv4(address) ? address[sizeof(mapped)] == 127
					    : memcmp(address, one, sizeof(one)) == 0;
}

char *cli_address_write(char out[CLI_ADDRESS_MAX], const uint8_t address[16])
{
	/* The sizes fit: these cannot fail. */
	if (cli_address_is_ipv4(address))
		inet_ntop(AF_INET, address + sizeof(mapped), out, CLI_ADDRESS_MAX);
	else
		inet_ntop(AF_INET6, address, out, CLI_ADDRESS_MAX);
	return out;
}

char *cli_address_port(char out[CLI_PORT_MAX], const uint8_t address[16], const char *interface)
{
	char text[CLI_ADDRESS_MAX];

	snprintf(out, CLI_PORT_MAX, "%s%s%.15s", cli_address_write(text, address),
		 interface[0] ? "%" : "", interface);
	return out;
}

/* Takes the bytes out of a socket address; false: it is neither IPv4 nor IPv6. */
static bool read_sockaddr(const struct sockaddr *from, uint8_t address[16])
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (from->sa_family == AF_INET6) {
		memcpy(&six, from, sizeof(six));
		memcpy(address, &six.sin6_addr, 16);
	} else if (from->sa_family == AF_INET) {
		memcpy(&four, from, sizeof(four));
		memcpy(address, mapped, sizeof(mapped));
		memcpy(address + sizeof(mapped), &four.sin_addr, 4);
	}
	return from->sa_family == AF_INET6 || from->sa_family == AF_INET;
}

bool cli_address_is_of(const struct ifaddrs *interface, const uint8_t address[16])
{
	uint8_t own[16];

	return interface->ifa_addr && read_sockaddr(interface->ifa_addr, own) &&
	       memcmp(own, address, sizeof(own)) == 0;
}

int cli_address_find(const char *host, bool ipv6, uint8_t address[16], char *error, size_t size)
{
	const struct addrinfo hints = {.ai_family = ipv6 ? AF_INET6 : AF_INET,
				       .ai_socktype = SOCK_DGRAM};
	struct addrinfo *list;
	int rc = getaddrinfo(host, NULL, &hints, &list);

	if (rc) {
		snprintf(error, size, "%s", gai_strerror(rc));
		return -1;
	}
	read_sockaddr(list->ai_addr, address);
	freeaddrinfo(list);
	return 0;
}
