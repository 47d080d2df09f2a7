/* SPDX-License-Identifier: BSD-2-Clause */
/* What matters only where EVs are SRv6 paths. */
#include "cli/doctor/doctor.h"

#include <inttypes.h>

/* Carriers of up to six uSIDs have no routing header; those that others send may. */
static void judge_headers(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	for (uint32_t i = 0; i < f->ports; i++) {
		if (f->port[i].seg6_enabled != 0)
			continue;
		finding = doctor_add_finding(out, DOCTOR_NOTE, "SRv6 headers",
					     "%s does not take them", f->port[i].interface);
		doctor_add_reason(finding,
				  "paths of up to six uSIDs have none; peers that send longer "
				  "ones are not heard on this plane");
		doctor_fix(finding,
			   "sysctl -w net.ipv6.conf.all.seg6_enabled=1 "
			   "net.ipv6.conf.%s.seg6_enabled=1",
			   f->port[i].interface);
		return;
	}
	doctor_add_finding(out, DOCTOR_GOOD, "SRv6 headers", "are taken");
}

/* The device reads IPv6 in IPv6 with raw sockets; each of the host is shown each such packet. */
static void judge_readers(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (f->tunnel41) {
		finding = doctor_add_finding(out, DOCTOR_WARN, "protocol 41",
					     "a tunnel takes it too");
		doctor_add_reason(finding,
				  "it unpacks each packet a second time, and takes the fabric's "
				  "trims for damage");
		doctor_fix(finding, "ip -d link show type ip6tnl");
	} else if (f->readers41 > 0) {
		finding = doctor_add_finding(out, DOCTOR_NOTE, "protocol 41",
					     "%" PRId64 " more sockets read it", f->readers41);
		doctor_add_reason(finding, "other processes of MRC do, and each costs a copy of a "
					   "packet's head; no other process should");
		doctor_fix(finding, "ss -awp");
	} else {
		doctor_add_finding(out, DOCTOR_GOOD, "protocol 41", "no other process reads it");
	}
}

void doctor_diagnose_srv6(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (!f->srv6)
		return;
	judge_headers(f, out);
	if (f->ports > 0 && f->port[0].wrapped)
		judge_readers(f, out);
}
