/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor_facts.h - what `mrc doctor` knows of a machine. gather_facts.c, doctor_device.c and
 * udp_echo.c fill it in on the real one; tests fill in any other. Nothing here is judged: that is
 * diagnose.h.
 */
#ifndef SOFTMRC_CLI_DOCTOR_DOCTOR_FACTS_H
#define SOFTMRC_CLI_DOCTOR_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#define DOCTOR_PORTS_MAX 32u
/* A number that could not be read. */
#define DOCTOR_UNKNOWN INT64_MIN

/* What came of sending real packets to a port, from an EV's source port to its receiving one. */
struct doctor_echo {
	uint32_t sent, received;
	int error; /* errno of the first call that failed, 0 */
	char call[24];
};

struct doctor_port {
	char address[46];
	char interface[16]; /* empty: no interface has this address */
	bool ipv6, loopback, up;
	bool wrapped;	      /* its packets travel in another IPv6 header */
	int64_t seg6_enabled; /* whether it takes packets with a routing header of SRv6 */
	int64_t mtu;
	int64_t rp_filter;    /* the stricter of all and this interface: 0 off, 1 strict, 2 loose */
	int64_t accept_local; /* 0 or 1, of all or this interface */
	struct doctor_echo echo;
};

struct doctor_facts {
	char device_error[240]; /* empty: the device could be opened */
	bool statistics;	/* its statistics can be published */
	bool loopback_up;	/* packets of this machine to itself take the interface lo */
	uint32_t ports;
	uint16_t udp_first; /* where the first process of a host receives */
	struct doctor_port port[DOCTOR_PORTS_MAX];
	int64_t rmem_max, wmem_max; /* net.core.*, bytes */
	int64_t receive_granted; /* bytes of buffer that a socket got that asked for all it may */
	int64_t receive_wanted;	 /* what the device asks for */
	bool net_raw, net_admin; /* effective rights */
	bool rxq_ovfl, udp_gso, udp_gro; /* socket options that the kernel knows */
	bool seg6;			 /* the kernel has SRv6 */
	bool srv6;			 /* the device's EVs are SRv6 paths */
	int64_t readers41; /* sockets of this network that read protocol 41, beside the device's */
	bool tunnel41;	   /* a tunnel device takes it */
	int bpf_error;	   /* of making a small BPF map: 0, EPERM, ENOSYS */
	int64_t cores;	   /* that this process may use */
	int64_t hz;	   /* ticks of the kernel */
	int64_t timer_slack_ns;
	int64_t memlock, open_files; /* limits; INT64_MAX: none */
	uint32_t evs;		     /* entropy values of a port */
};

/*
 * doctor_facts_gather reads what the system says; `root` stands before /proc, empty on a real one.
 * doctor_facts_device opens the device and notes its ports, doctor_facts_echo sends packets to
 * each.
 */
void doctor_facts_gather(struct doctor_facts *f, const char *root);
void doctor_facts_device(struct doctor_facts *f, const char *root);
void doctor_facts_echo(struct doctor_facts *f);

#endif
