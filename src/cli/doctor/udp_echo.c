/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real packets: from an EV's source port of each address to the UDP port at which MRC receives
 * there, as large as a path MTU allows, never fragmented. They stay inside this machine and pass
 * its firewall in both directions. The device is closed meanwhile, so that the port is free; where
 * another process has it, the next one is tried, as processes do.
 */
#include "cli/doctor/doctor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SLOTS 1024u
#define PACKETS 8u
#define PACKET_MAX 4200u
/* Loopback needs microseconds; a busy machine some ticks. */
#define WAIT_MS 200

/* A UDP socket on address:port; port 0 lets the kernel choose. -1: *p->echo tells why. */
static int bind_udp(struct doctor_port *p, uint16_t port, struct sockaddr_storage *at)
{
	int fd = socket(p->ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};

	memset(at, 0, sizeof(*at));
	if (p->ipv6) {
		inet_pton(AF_INET6, p->address, &six.sin6_addr);
		memcpy(at, &six, sizeof(six));
	} else {
		inet_pton(AF_INET, p->address, &four.sin_addr);
		memcpy(at, &four, sizeof(four));
	}
	if (fd >= 0 && bind(fd, (struct sockaddr *)at, p->ipv6 ? sizeof(six) : sizeof(four)) == 0)
		return fd;
	p->echo.error = errno;
	snprintf(p->echo.call, sizeof(p->echo.call), "%s", fd < 0 ? "socket" : "bind");
	if (fd >= 0)
		close(fd);
	return -1;
}

static int bind_receiver(struct doctor_port *p, uint16_t udp_first, struct sockaddr_storage *at)
{
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		int fd = bind_udp(p, (uint16_t)(udp_first + slot), at);

		if (fd >= 0) {
			p->echo.error = 0;
			return fd;
		}
		if (p->echo.error != EADDRINUSE)
			break;
	}
	return -1;
}

static void send_packets(struct doctor_port *p, int fd, const struct sockaddr_storage *to)
{
	static const uint8_t packet[PACKET_MAX];
	int discover = IP_PMTUDISC_DO;
	size_t bytes = doctor_path_mtu(p);

	/* An address that no interface has fails above; here it is only about sizes. */
	(void)setsockopt(fd, p->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
			 p->ipv6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER, &discover,
			 sizeof(discover));
	for (uint32_t i = 0; i < PACKETS; i++) {
		if (sendto(fd, packet, bytes, 0, (const struct sockaddr *)to,
			   p->ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)) <
		    0) {
			p->echo.error = errno;
			snprintf(p->echo.call, sizeof(p->echo.call), "send");
			return;
		}
		p->echo.sent++;
	}
}

static void count_packets(struct doctor_port *p, int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	uint8_t packet[PACKET_MAX];

	while (p->echo.received < p->echo.sent && poll(&ready, 1, WAIT_MS) > 0)
		if (recv(fd, packet, sizeof(packet), 0) >= 0)
			p->echo.received++;
}

static void echo_port(struct doctor_port *p, uint16_t udp_first)
{
	struct sockaddr_storage to, from;
	int receiver = bind_receiver(p, udp_first, &to);
	int sender = receiver < 0 ? -1 : bind_udp(p, 0, &from);

	if (sender >= 0) {
		send_packets(p, sender, &to);
		count_packets(p, receiver);
		close(sender);
	}
	if (receiver >= 0)
		close(receiver);
}

void doctor_facts_echo(struct doctor_facts *f)
{
	for (uint32_t i = 0; i < f->ports; i++)
		if (f->port[i].interface[0])
			echo_port(&f->port[i], f->udp_first);
}
