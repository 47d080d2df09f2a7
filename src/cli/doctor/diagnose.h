/* SPDX-License-Identifier: BSD-2-Clause */
/* diagnose.h - from facts to findings: what will hurt, why, and the command that fixes it. */
#ifndef SOFTMRC_CLI_DOCTOR_DIAGNOSE_H
#define SOFTMRC_CLI_DOCTOR_DIAGNOSE_H

#include "cli/doctor/doctor_facts.h"

#include <stddef.h>

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
/* The parts of it: ports and the network, the kernel, the process. */
void doctor_diagnose_ports(const struct doctor_facts *f, struct doctor_findings *out);
void doctor_diagnose_buffers(const struct doctor_facts *f, struct doctor_findings *out);
void doctor_diagnose_kernel(const struct doctor_facts *f, struct doctor_findings *out);
void doctor_diagnose_srv6(const struct doctor_facts *f, struct doctor_findings *out);
void doctor_diagnose_process(const struct doctor_facts *f, struct doctor_findings *out);

enum doctor_severity doctor_worst(const struct doctor_findings *all);
/* doctor_severity_name returns "good", "note", "warning" or "failure". */
const char *doctor_severity_name(enum doctor_severity severity);

/* doctor_add_finding begins a finding; text is formatted. Beyond DOCTOR_FINDINGS_MAX the last is
 * replaced. */
__attribute__((format(printf, 4, 5))) struct doctor_finding *
doctor_add_finding(struct doctor_findings *out, enum doctor_severity severity, const char *subject,
		   const char *text, ...);
/* doctor_add_reason and doctor_fix complete it. */
__attribute__((format(printf, 2, 3))) void doctor_add_reason(struct doctor_finding *finding,
							     const char *text, ...);
__attribute__((format(printf, 2, 3))) void doctor_fix(struct doctor_finding *finding,
						      const char *text, ...);

/* doctor_overhead returns the bytes of a port's packets beside payload. */
int64_t doctor_overhead(const struct doctor_port *p);
/* doctor_path_mtu returns the largest path MTU whose packets fit the port's interface; 0: none. */
uint32_t doctor_path_mtu(const struct doctor_port *p);

#endif
