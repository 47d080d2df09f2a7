/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor.h - the facts that mrc doctor gathers, what it makes of them, and how it says so. */
#ifndef SOFTMRC_CLI_DOCTOR_DOCTOR_H
#define SOFTMRC_CLI_DOCTOR_DOCTOR_H

#include "ui/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What `mrc doctor` knows of a machine. gather_facts.c, doctor_device.c and udp_echo.c fill it in
 * on the real one; tests fill in any other. Nothing here is judged: doctor_diagnose does.
 */

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

/* By which state of controllers the device goes. */
struct doctor_node {
	char store[288];   /* empty: the settings want none */
	char refused[200]; /* or empty */
	char writer[40];
	uint64_t generation; /* 0: nothing is decided */
	uint32_t writer_pid, writer_uid;
	bool mrcd;	    /* it answers beside the store */
	bool hints_refused; /* what lies there of other processes cannot be read */
	uint32_t hints;	    /* EVs that other processes of this user found bad */
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
	int64_t readers41; /* sockets of this network that read protocol 41, without the device's */
	bool tunnel41;	   /* a tunnel device takes it */
	int bpf_error;	   /* of making a small BPF map: 0, EPERM, ENOSYS */
	int64_t cores;	   /* that this process may use */
	int64_t hz;	   /* ticks of the kernel */
	int64_t timer_slack_ns;
	int64_t memlock, open_files; /* limits; INT64_MAX: none */
	uint32_t evs;		     /* entropy values of a port */
	struct doctor_node node;
};

/*
 * doctor_facts_gather reads what the system says; `root` is put before /proc, empty on a real one.
 * doctor_facts_device opens the device and notes its ports, doctor_facts_echo sends packets to
 * each. doctor_facts_hints notes what lies beside the store that is named.
 */
void doctor_facts_gather(struct doctor_facts *f, const char *root);
void doctor_facts_device(struct doctor_facts *f, const char *root);
void doctor_facts_hints(struct doctor_node *node);
void doctor_facts_echo(struct doctor_facts *f);

/* From facts to findings: what will hurt, why, and the command that fixes it. */

enum doctor_severity {
	DOCTOR_GOOD,
	DOCTOR_NOTE, /* good to know; nothing to do for most */
	DOCTOR_WARN, /* works, but slower or less sure */
	DOCTOR_FAIL, /* does not work */
};

struct doctor_finding {
	enum doctor_severity severity;
	char subject[40];
	char text[160]; /* what was found */
	char why[240];	/* why it matters; empty when good */
	char fix[200];	/* a command; empty when there is none */
};

#define DOCTOR_FINDINGS_MAX 192u

struct doctor_findings {
	size_t n;
	struct doctor_finding finding[DOCTOR_FINDINGS_MAX];
};

/* doctor_diagnose finds everything there is to say, in a fixed order. */
void doctor_diagnose(const struct doctor_facts *f, struct doctor_findings *out);

enum doctor_severity doctor_worst(const struct doctor_findings *all);
/* doctor_severity_name returns "good", "note", "warning" or "failure". */
const char *doctor_severity_name(enum doctor_severity severity);

/*
 * doctor_find begins a finding; beyond DOCTOR_FINDINGS_MAX it replaces the last one. doctor_explain
 * adds why it matters, doctor_fix the command that helps. Texts are formatted.
 */
__attribute__((format(printf, 4, 5))) void doctor_find(struct doctor_findings *out,
						       enum doctor_severity severity,
						       const char *subject, const char *text, ...);
__attribute__((format(printf, 2, 3))) void doctor_explain(struct doctor_findings *out,
							  const char *text, ...);
__attribute__((format(printf, 2, 3))) void doctor_fix(struct doctor_findings *out, const char *text,
						      ...);

/* doctor_path_mtu returns the largest path MTU whose packets fit the port's interface; 0: none. */
uint32_t doctor_path_mtu(const struct doctor_port *p);

/* The interface that has an address, and its settings. */

/*
 * doctor_interface_describe fills in a port by its GID: name, MTU, whether it is up, filters; of
 * the interface that it is bound to, else (`bound` empty) of the one that has the address. `root`
 * is put before /proc.
 */
void doctor_interface_describe(struct doctor_port *p, const uint8_t gid[16], const char *bound,
			       const char *root);

/* doctor_interface_loopback_up says whether the loopback interface is up. */
bool doctor_interface_loopback_up(void);

/* Findings as text and as JSON. */

/* doctor_show writes the findings, the worst last; with `all` the good ones too. */
void doctor_show(const struct doctor_findings *all, bool good_too, bool colour,
		 struct ui_text *out);
/* doctor_json returns a new object with all of them. */
json_t *doctor_json(const struct doctor_findings *all);

#endif
