/* SPDX-License-Identifier: BSD-2-Clause */
/* What matters only where EVs are SRv6 paths. */
#include "cli/doctor/judge.h"

#include <inttypes.h>

/* Carriers of up to six uSIDs have no routing header; those that others send may. */
static void judge_headers(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	for (uint32_t i = 0; i < f->ports; i++) {
		if (f->port[i].seg6_enabled != 0)
			continue;
		finding = doctor_add(out, DOCTOR_NOTE, "SRv6 headers", "%s does not take them",
				     f->port[i].interface);
		doctor_why(finding, "paths of up to six uSIDs have none; peers that send longer "
				    "ones are not heard on this plane");
		doctor_mend(finding,
			    "sysctl -w net.ipv6.conf.all.seg6_enabled=1 "
			    "net.ipv6.conf.%s.seg6_enabled=1",
			    f->port[i].interface);
		return;
	}
	doctor_add(out, DOCTOR_GOOD, "SRv6 headers", "are taken");
}

/* The device reads IPv6 in IPv6 with raw sockets; each of the host is shown each such packet. */
static void judge_readers(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (f->tunnel41) {
		finding = doctor_add(out, DOCTOR_WARN, "protocol 41", "a tunnel takes it too");
		doctor_why(finding, "it unpacks each packet a second time, and takes the fabric's "
				    "trims for damage");
		doctor_mend(finding, "ip -d link show type ip6tnl");
	} else if (f->readers41 > 0) {
		finding = doctor_add(out, DOCTOR_NOTE, "protocol 41",
				     "%" PRId64 " more sockets read it", f->readers41);
		doctor_why(finding, "other processes of MRC do, and each costs a copy of a "
				    "packet's head; nobody else should");
		doctor_mend(finding, "ss -awp");
	} else {
		doctor_add(out, DOCTOR_GOOD, "protocol 41", "nobody else reads it");
	}
}

void doctor_judge_srv6(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (!f->srv6)
		return;
	judge_headers(f, out);
	if (f->ports > 0 && f->port[0].wrapped)
		judge_readers(f, out);
}
