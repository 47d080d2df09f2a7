/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel can do for MRC, and what is lost where it cannot. */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void judge_option(bool there, const char *subject, const char *why,
			 struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (there) {
		doctor_add_finding(out, DOCTOR_GOOD, subject, "the kernel has it");
		return;
	}
	finding = doctor_add_finding(out, DOCTOR_NOTE, subject, "the kernel does not have it");
	doctor_add_reason(finding, "%s", why);
}

static void judge_bpf(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (!f->bpf_error) {
		doctor_add_finding(out, DOCTOR_GOOD, "BPF", "may be used");
		return;
	}
	finding = doctor_add_finding(out, DOCTOR_NOTE, "BPF", "may not be used here: %s",
				     strerror(f->bpf_error));
	doctor_add_reason(finding, "only switches made of Linux need it, to cut packets instead of "
				   "dropping them");
	if (f->bpf_error == EPERM)
		doctor_fix(finding, "run that program as root, or with CAP_BPF and CAP_NET_ADMIN");
}

static void judge_hz(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (f->hz == DOCTOR_UNKNOWN || f->hz <= 0)
		return;
	if (f->hz >= 1000) {
		doctor_add_finding(out, DOCTOR_GOOD, "ticks", "%" PRId64 " a second", f->hz);
		return;
	}
	finding = doctor_add_finding(out, DOCTOR_NOTE, "ticks", "%" PRId64 " a second", f->hz);
	doctor_add_reason(finding,
			  "a thread that shares its core waits %" PRId64 " ms or twice that for "
			  "its turn; MRC_RTO_MIN_US must stay well above",
			  1000 / f->hz);
}

void doctor_diagnose_kernel(const struct doctor_facts *f, struct doctor_findings *out)
{
	judge_option(f->rxq_ovfl, "SO_RXQ_OVFL", "packets that a full socket drops are not counted",
		     out);
	judge_option(f->udp_gso, "UDP GSO",
		     "each packet costs a pass through the kernel of its own", out);
	judge_option(f->udp_gro, "UDP GRO",
		     "each packet costs a pass through the kernel of its own", out);
	judge_option(f->seg6, "SRv6", "paths by SRv6 segments need other routers than this kernel",
		     out);
	judge_bpf(f, out);
	judge_hz(f, out);
}
