/* SPDX-License-Identifier: BSD-2-Clause */
/* The device and its ports: can they be had, do packets pass, how large may these be. */
#include "cli/doctor/doctor.h"

#include "wire/packet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What stands between IP and payload at most, and behind it. */
#define UDP_BYTES 8
#define ICRC_BYTES 4
#define HEADERS_BYTES ((int64_t)(UDP_BYTES + MW_HEADERS_MAX + ICRC_BYTES))
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define MTU_LARGEST 4096u
#define MTU_SMALLEST 256u

/* Processes beyond the first ones are rare; a firewall opened for these serves most hosts. */
#define UDP_PROCESSES 32u

int64_t doctor_overhead(const struct doctor_port *p)
{
	return HEADERS_BYTES + (p->ipv6 ? IPV6_BYTES : IPV4_BYTES) + (p->wrapped ? IPV6_BYTES : 0);
}

uint32_t doctor_path_mtu(const struct doctor_port *p)
{
	int64_t room = p->mtu - doctor_overhead(p);

	for (uint32_t mtu = MTU_LARGEST; mtu >= MTU_SMALLEST; mtu /= 2)
		if (mtu <= room)
			return mtu;
	return 0;
}

static void subject_of(const struct doctor_facts *f, uint32_t i, char out[40])
{
	snprintf(out, 40, "port %u", i);
	if (f->port[i].interface[0])
		snprintf(out, 40, "port %u (%s)", i, f->port[i].interface);
}

static void judge_link(const struct doctor_port *p, const char *subject,
		       struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (!p->interface[0]) {
		finding = doctor_add_finding(out, DOCTOR_FAIL, subject,
					     "no interface has address %s", p->address);
		doctor_add_reason(finding, "packets cannot leave or arrive on this plane");
		doctor_fix(finding, "ip address add %s/24 dev INTERFACE", p->address);
	} else if (!p->up) {
		finding = doctor_add_finding(out, DOCTOR_FAIL, subject, "%s: the interface is down",
					     p->address);
		doctor_add_reason(finding,
				  "the plane carries nothing; the other planes take its traffic");
		doctor_fix(finding, "ip link set dev %s up", p->interface);
	} else if (p->loopback) {
		finding = doctor_add_finding(out, DOCTOR_NOTE, subject,
					     "%s is an address of this machine "
					     "only",
					     p->address);
		doctor_add_reason(finding,
				  "for local testing only; no other machine can be reached by it");
		doctor_fix(finding, "export MRC_PORTS=INTERFACE");
	} else {
		doctor_add_finding(out, DOCTOR_GOOD, subject, "%s is up", p->address);
	}
}

static void judge_mtu(const struct doctor_port *p, const char *subject, struct doctor_findings *out)
{
	uint32_t path = p->mtu == DOCTOR_UNKNOWN ? 0 : doctor_path_mtu(p);
	int64_t wanted = MTU_LARGEST + doctor_overhead(p);
	struct doctor_finding *finding;

	if (p->mtu == DOCTOR_UNKNOWN)
		return;
	if (path == MTU_LARGEST) {
		doctor_add_finding(out, DOCTOR_GOOD, subject, "MTU %" PRId64 ": %u bytes a packet",
				   p->mtu, path);
		return;
	}
	finding = doctor_add_finding(out, path ? DOCTOR_WARN : DOCTOR_FAIL, subject,
				     "MTU %" PRId64 ": %u bytes a packet at most, of %u", p->mtu,
				     path, MTU_LARGEST);
	doctor_add_reason(finding,
			  "the cost of a packet hardly depends on its size, so bandwidth falls "
			  "with it; switches and peers must have the larger MTU too");
	doctor_fix(finding, "ip link set dev %s mtu %" PRId64, p->interface, wanted);
}

/* Strict reverse path filtering drops packets that came in by another port than the return path. */
static void judge_filter(const struct doctor_facts *f, const struct doctor_port *p,
			 const char *subject, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (p->ipv6 || p->loopback || !p->interface[0])
		return;
	if (p->rp_filter == 1 && f->ports > 1) {
		finding = doctor_add_finding(out, DOCTOR_WARN, subject, "rp_filter is strict");
		doctor_add_reason(finding,
				  "with several ports the reverse path may differ, and the "
				  "kernel then drops packets silently");
		doctor_fix(finding,
			   "sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.%s.rp_filter=2",
			   p->interface);
	}
}

/* Whether this machine can talk to itself, over loopback and over cables. */
static void judge_self(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;
	bool off = false;

	if (!f->loopback_up) {
		finding = doctor_add_finding(out, DOCTOR_WARN, "loopback",
					     "the interface lo is down");
		doctor_add_reason(finding,
				  "processes of this machine do not reach each other; test packets "
				  "were not checked");
		doctor_fix(finding, "ip link set dev lo up");
	}
	for (uint32_t i = 0; i < f->ports; i++)
		off |= !f->port[i].ipv6 && !f->port[i].loopback && f->port[i].accept_local == 0;
	if (off && f->ports > 1) {
		finding = doctor_add_finding(out, DOCTOR_NOTE, "accept_local", "is off");
		doctor_add_reason(finding,
				  "packets from another port of this machine that arrive over a "
				  "cable are dropped; matters only when it talks to itself so");
		doctor_fix(finding, "sysctl -w net.ipv4.conf.all.accept_local=1");
	}
}

static void judge_echo(const struct doctor_port *p, uint32_t udp_first, const char *subject,
		       struct doctor_findings *out)
{
	uint32_t udp_last = udp_first + UDP_PROCESSES - 1;
	const struct doctor_echo *e = &p->echo;
	struct doctor_finding *finding;

	if (e->error) {
		finding = doctor_add_finding(out, DOCTOR_FAIL, subject, "test packets: %s: %s",
					     e->call, strerror(e->error));
		doctor_add_reason(finding, "MRC uses the same calls with the same addresses");
		if (e->error == EPERM)
			doctor_fix(finding, "iptables -I OUTPUT -p udp --dport %u:%u -j ACCEPT",
				   udp_first, udp_last);
	} else if (e->sent && !e->received) {
		finding =
			doctor_add_finding(out, DOCTOR_FAIL, subject,
					   "none of %u test packets to UDP port %u and up arrived",
					   e->sent, udp_first);
		doctor_add_reason(finding,
				  "a firewall of this machine takes them, though they never left "
				  "it; remote peers are blocked too");
		doctor_fix(finding, "iptables -I INPUT -p udp --dport %u:%u -j ACCEPT", udp_first,
			   udp_last);
	} else if (e->received < e->sent) {
		finding = doctor_add_finding(out, DOCTOR_WARN, subject,
					     "%u of %u test packets arrived", e->received, e->sent);
		doctor_add_reason(finding,
				  "something on this machine loses packets: a rate limit of the "
				  "firewall, or a fault that was injected (tc, netem)");
		doctor_fix(finding, "tc qdisc show; iptables -vnL");
	} else if (e->sent) {
		doctor_add_finding(out, DOCTOR_GOOD, subject, "%u of %u test packets arrived",
				   e->received, e->sent);
	}
}

void doctor_diagnose_ports(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;
	char subject[40];

	if (f->device_error[0]) {
		finding = doctor_add_finding(out, DOCTOR_FAIL, "device", "%s", f->device_error);
		doctor_add_reason(finding, "no program can use MRC with this configuration");
		doctor_fix(finding, "env | grep ^MRC_; cat /etc/softmrc.toml");
		return;
	}
	doctor_add_finding(out, DOCTOR_GOOD, "device", "mrc0 opens, with %u port%s", f->ports,
			   f->ports == 1 ? "" : "s");
	for (uint32_t i = 0; i < f->ports; i++) {
		const struct doctor_port *p = &f->port[i];

		subject_of(f, i, subject);
		judge_link(p, subject, out);
		if (p->interface[0])
			judge_mtu(p, subject, out);
		judge_filter(f, p, subject, out);
		if (f->loopback_up)
			judge_echo(p, f->udp_first, subject, out);
	}
	judge_self(f, out);
}
