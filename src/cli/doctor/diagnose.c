/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings in general: see doctor.h. */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ui/text.h"
#include "wire/packet.h"

const char *doctor_severity_name(enum doctor_severity severity)
{
	static const char *const name[] = {"good", "note", "warning", "failure"};

	return name[severity];
}

void doctor_find(struct doctor_findings *out, enum doctor_severity severity, const char *subject,
		 const char *text, ...)
{
	struct doctor_finding *finding;
	va_list args;

	if (out->n < DOCTOR_FINDINGS_MAX)
		out->n++;
	finding = &out->finding[out->n - 1];
	*finding = (struct doctor_finding){.severity = severity};
	snprintf(finding->subject, sizeof(finding->subject), "%s", subject);
	va_start(args, text);
	vsnprintf(finding->text, sizeof(finding->text), text, args);
	va_end(args);
}

void doctor_explain(struct doctor_findings *out, const char *text, ...)
{
	struct doctor_finding *finding = &out->finding[out->n - 1];
	va_list args;

	va_start(args, text);
	vsnprintf(finding->why, sizeof(finding->why), text, args);
	va_end(args);
}

void doctor_fix(struct doctor_findings *out, const char *text, ...)
{
	struct doctor_finding *finding = &out->finding[out->n - 1];
	va_list args;

	va_start(args, text);
	vsnprintf(finding->fix, sizeof(finding->fix), text, args);
	va_end(args);
}

enum doctor_severity doctor_worst(const struct doctor_findings *all)
{
	enum doctor_severity worst = DOCTOR_GOOD;

	for (size_t i = 0; i < all->n; i++)
		if (all->finding[i].severity > worst)
			worst = all->finding[i].severity;
	return worst;
}

/* ---- The device and its ports: can they be had, do packets pass, how large may these be. ---- */

/* The headers between IP and payload at most, and what follows the payload. */
#define UDP_BYTES 8
#define ICRC_BYTES 4
#define HEADERS_BYTES ((int64_t)(UDP_BYTES + MW_HEADERS_MAX + ICRC_BYTES))
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define MTU_LARGEST 4096u
#define MTU_SMALLEST 256u

/* Processes beyond the first ones are rare; a firewall opened for these serves most hosts. */
#define UDP_PROCESSES 32u

/* The bytes of a port's packets that are not payload. */
static int64_t header_bytes(const struct doctor_port *p)
{
	return HEADERS_BYTES + (p->ipv6 ? IPV6_BYTES : IPV4_BYTES) + (p->wrapped ? IPV6_BYTES : 0);
}

uint32_t doctor_path_mtu(const struct doctor_port *p)
{
	int64_t room = p->mtu - header_bytes(p);

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
	if (!p->interface[0]) {
		doctor_find(out, DOCTOR_FAIL, subject, "no interface has address %s", p->address);
		doctor_explain(out, "packets cannot leave or arrive on this plane");
		doctor_fix(out, "ip address add %s/24 dev INTERFACE", p->address);
	} else if (!p->up) {
		doctor_find(out, DOCTOR_FAIL, subject, "%s: the interface is down", p->address);
		doctor_explain(out, "the plane carries nothing; the other planes take its traffic");
		doctor_fix(out, "ip link set dev %s up", p->interface);
	} else if (p->loopback) {
		doctor_find(out, DOCTOR_NOTE, subject,
			    "%s is an address of this machine "
			    "only",
			    p->address);
		doctor_explain(out,
			       "for local testing only; no other machine can be reached by it");
		doctor_fix(out, "export MRC_PORTS=INTERFACE");
	} else {
		doctor_find(out, DOCTOR_GOOD, subject, "%s is up", p->address);
	}
}

static void judge_mtu(const struct doctor_port *p, const char *subject, struct doctor_findings *out)
{
	uint32_t path = p->mtu == DOCTOR_UNKNOWN ? 0 : doctor_path_mtu(p);
	int64_t wanted = MTU_LARGEST + header_bytes(p);
	if (p->mtu == DOCTOR_UNKNOWN)
		return;
	if (path == MTU_LARGEST) {
		doctor_find(out, DOCTOR_GOOD, subject, "MTU %" PRId64 ": %u bytes a packet", p->mtu,
			    path);
		return;
	}
	doctor_find(out, path ? DOCTOR_WARN : DOCTOR_FAIL, subject,
		    "MTU %" PRId64 ": %u bytes a packet at most, of %u", p->mtu, path, MTU_LARGEST);
	doctor_explain(out, "the cost of a packet hardly depends on its size, so bandwidth falls "
			    "with it; switches and peers must have the larger MTU too");
	doctor_fix(out, "ip link set dev %s mtu %" PRId64, p->interface, wanted);
}

/* Strict reverse path filtering drops packets that came in by another port than the return path. */
static void judge_filter(const struct doctor_facts *f, const struct doctor_port *p,
			 const char *subject, struct doctor_findings *out)
{
	if (p->ipv6 || p->loopback || !p->interface[0])
		return;
	if (p->rp_filter == 1 && f->ports > 1) {
		doctor_find(out, DOCTOR_WARN, subject, "rp_filter is strict");
		doctor_explain(out, "with several ports the reverse path may differ, and the "
				    "kernel then drops packets silently");
		doctor_fix(out,
			   "sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.%s.rp_filter=2",
			   p->interface);
	}
}

/* Whether this machine can talk to itself, over loopback and over cables. */
static void judge_self(const struct doctor_facts *f, struct doctor_findings *out)
{
	bool off = false;

	if (!f->loopback_up) {
		doctor_find(out, DOCTOR_WARN, "loopback", "the interface lo is down");
		doctor_explain(out,
			       "processes of this machine do not reach each other; test packets "
			       "were not checked");
		doctor_fix(out, "ip link set dev lo up");
	}
	for (uint32_t i = 0; i < f->ports; i++)
		off |= !f->port[i].ipv6 && !f->port[i].loopback && f->port[i].accept_local == 0;
	if (off && f->ports > 1) {
		doctor_find(out, DOCTOR_NOTE, "accept_local", "is off");
		doctor_explain(out, "packets from another port of this machine that arrive over a "
				    "cable are dropped; matters only when it talks to itself so");
		doctor_fix(out, "sysctl -w net.ipv4.conf.all.accept_local=1");
	}
}

static void judge_echo(const struct doctor_port *p, uint32_t udp_first, const char *subject,
		       struct doctor_findings *out)
{
	uint32_t udp_last = udp_first + UDP_PROCESSES - 1;
	const struct doctor_echo *e = &p->echo;
	if (e->error) {
		doctor_find(out, DOCTOR_FAIL, subject, "test packets: %s: %s", e->call,
			    strerror(e->error));
		doctor_explain(out, "MRC uses the same calls with the same addresses");
		if (e->error == EPERM)
			doctor_fix(out, "iptables -I OUTPUT -p udp --dport %u:%u -j ACCEPT",
				   udp_first, udp_last);
	} else if (e->sent && !e->received) {
		doctor_find(out, DOCTOR_FAIL, subject,
			    "none of %u test packets to UDP port %u and up arrived", e->sent,
			    udp_first);
		doctor_explain(out, "a firewall of this machine takes them, though they never left "
				    "it; remote peers are blocked too");
		doctor_fix(out, "iptables -I INPUT -p udp --dport %u:%u -j ACCEPT", udp_first,
			   udp_last);
	} else if (e->received < e->sent) {
		doctor_find(out, DOCTOR_WARN, subject, "%u of %u test packets arrived", e->received,
			    e->sent);
		doctor_explain(out, "something on this machine loses packets: a rate limit of the "
				    "firewall, or a fault that was injected (tc, netem)");
		doctor_fix(out, "tc qdisc show; iptables -vnL");
	} else if (e->sent) {
		doctor_find(out, DOCTOR_GOOD, subject, "%u of %u test packets arrived", e->received,
			    e->sent);
	}
}

static void diagnose_ports(const struct doctor_facts *f, struct doctor_findings *out)
{
	char subject[40];

	if (f->device_error[0]) {
		doctor_find(out, DOCTOR_FAIL, "device", "%s", f->device_error);
		doctor_explain(out, "no program can use MRC with this configuration");
		doctor_fix(out, "env | grep ^MRC_; cat /etc/softmrc.toml");
		return;
	}
	doctor_find(out, DOCTOR_GOOD, "device", "mrc0 opens, with %u port%s", f->ports,
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

/* ---- Buffers of sockets: where packets wait while their process does not run. ---- */

/* What a 10 Gb/s link brings while a process waits two ticks of 4 ms, about. */
#define RECEIVE_GOOD (INT64_C(4) << 20)
#define RECEIVE_POOR (INT64_C(1) << 20)
#define SEND_GOOD (INT64_C(1) << 20)

static void diagnose_buffers(const struct doctor_facts *f, struct doctor_findings *out)
{
	int64_t wanted = f->receive_wanted > 0 ? f->receive_wanted : RECEIVE_GOOD;
	char granted[UI_UNITS_MAX], want[UI_UNITS_MAX];
	if (f->receive_granted != DOCTOR_UNKNOWN && f->receive_granted >= wanted) {
		doctor_find(out, DOCTOR_GOOD, "receive buffer", "%s%s",
			    ui_units_bytes(granted, (uint64_t)f->receive_granted),
			    f->rmem_max < wanted && f->net_admin ? ", by CAP_NET_ADMIN" : "");
	} else if (f->receive_granted != DOCTOR_UNKNOWN) {
		doctor_find(out, f->receive_granted < RECEIVE_POOR ? DOCTOR_WARN : DOCTOR_NOTE,
			    "receive buffer", "%s, of %s wanted",
			    ui_units_bytes(granted, (uint64_t)f->receive_granted),
			    ui_units_bytes(want, (uint64_t)wanted));
		doctor_explain(out,
			       "the kernel drops what does not fit while the process waits for "
			       "its core; every drop is retransmitted");
		doctor_fix(out, "sysctl -w net.core.rmem_max=%" PRId64, wanted);
	}
	if (f->wmem_max == DOCTOR_UNKNOWN || f->wmem_max >= SEND_GOOD || f->net_admin)
		return;
	doctor_find(out, DOCTOR_NOTE, "send buffer", "net.core.wmem_max is %s",
		    ui_units_bytes(granted, (uint64_t)f->wmem_max));
	doctor_explain(out, "runs of packets are cut when the socket holds no more, and sending "
			    "costs more calls");
	doctor_fix(out, "sysctl -w net.core.wmem_max=%" PRId64, SEND_GOOD);
}

/* ---- What the kernel can do for MRC, and what is lost where it cannot. ---- */

static void judge_option(bool there, const char *subject, const char *why,
			 struct doctor_findings *out)
{
	if (there) {
		doctor_find(out, DOCTOR_GOOD, subject, "the kernel has it");
		return;
	}
	doctor_find(out, DOCTOR_NOTE, subject, "the kernel does not have it");
	doctor_explain(out, "%s", why);
}

static void judge_bpf(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (!f->bpf_error) {
		doctor_find(out, DOCTOR_GOOD, "BPF", "may be used");
		return;
	}
	doctor_find(out, DOCTOR_NOTE, "BPF", "may not be used here: %s", strerror(f->bpf_error));
	doctor_explain(out, "only switches made of Linux need it, to cut packets instead of "
			    "dropping them");
	if (f->bpf_error == EPERM)
		doctor_fix(out, "run that program as root, or with CAP_BPF and CAP_NET_ADMIN");
}

static void judge_hz(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (f->hz == DOCTOR_UNKNOWN || f->hz <= 0)
		return;
	if (f->hz >= 1000) {
		doctor_find(out, DOCTOR_GOOD, "ticks", "%" PRId64 " a second", f->hz);
		return;
	}
	doctor_find(out, DOCTOR_NOTE, "ticks", "%" PRId64 " a second", f->hz);
	doctor_explain(out,
		       "a thread that shares its core waits %" PRId64 " ms or twice that for "
		       "its turn; MRC_RTO_MIN_US must stay well above",
		       1000 / f->hz);
}

static void diagnose_kernel(const struct doctor_facts *f, struct doctor_findings *out)
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

/* ---- What matters only where EVs are SRv6 paths. ---- */

/* Carriers of up to six uSIDs have no routing header; those that others send may. */
static void judge_headers(const struct doctor_facts *f, struct doctor_findings *out)
{
	for (uint32_t i = 0; i < f->ports; i++) {
		if (f->port[i].seg6_enabled != 0)
			continue;
		doctor_find(out, DOCTOR_NOTE, "SRv6 headers", "%s does not take them",
			    f->port[i].interface);
		doctor_explain(out, "paths of up to six uSIDs have none; peers that send longer "
				    "ones are not heard on this plane");
		doctor_fix(out,
			   "sysctl -w net.ipv6.conf.all.seg6_enabled=1 "
			   "net.ipv6.conf.%s.seg6_enabled=1",
			   f->port[i].interface);
		return;
	}
	doctor_find(out, DOCTOR_GOOD, "SRv6 headers", "are taken");
}

/* The device reads IPv6 in IPv6 with raw sockets; each of the host is shown each such packet. */
static void judge_readers(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (f->tunnel41) {
		doctor_find(out, DOCTOR_WARN, "protocol 41", "a tunnel takes it too");
		doctor_explain(out, "it unpacks each packet a second time, and takes the fabric's "
				    "trims for damage");
		doctor_fix(out, "ip -d link show type ip6tnl");
	} else if (f->readers41 > 0) {
		doctor_find(out, DOCTOR_NOTE, "protocol 41", "%" PRId64 " more sockets read it",
			    f->readers41);
		doctor_explain(out, "other processes of MRC do, and each costs a copy of a "
				    "packet's head; no other process should");
		doctor_fix(out, "ss -awp");
	} else {
		doctor_find(out, DOCTOR_GOOD, "protocol 41", "no other process reads it");
	}
}

static void diagnose_srv6(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (!f->srv6)
		return;
	judge_headers(f, out);
	if (f->ports > 0 && f->port[0].wrapped)
		judge_readers(f, out);
}

/* ---- Rights, limits and cores of a process. ---- */

#define SLACK_DEFAULT_NS 50000
/* A QP's queues and buffers of packets, not registered memory, which is not locked. */
#define MEMLOCK_GOOD (INT64_C(64) << 20)
/* Besides sockets: files of the program itself. */
#define FILES_SPARE 32

static void judge_right(bool there, const char *subject, const char *lost,
			struct doctor_findings *out)
{
	if (there) {
		doctor_find(out, DOCTOR_GOOD, subject, "this process has it");
		return;
	}
	doctor_find(out, DOCTOR_NOTE, subject, "this process does not have it");
	doctor_explain(out, "%s", lost);
}

static void judge_cores(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (f->cores >= 4) {
		doctor_find(out, DOCTOR_GOOD, "cores", "%" PRId64, f->cores);
		return;
	}
	doctor_find(out, f->cores < 2 ? DOCTOR_WARN : DOCTOR_NOTE, "cores", "%" PRId64, f->cores);
	doctor_explain(out,
		       "a program and its progress thread share them with the kernel's network "
		       "work; when all are busy answers come late by ticks, which looks like "
		       "loss");
}

static void judge_files(const struct doctor_facts *f, struct doctor_findings *out)
{
	int64_t wanted = (int64_t)f->ports * ((int64_t)f->evs + 1) + FILES_SPARE;
	if (f->open_files == DOCTOR_UNKNOWN)
		return;
	if (f->open_files >= wanted) {
		doctor_find(out, DOCTOR_GOOD, "open files", "enough for a socket an EV");
		return;
	}
	doctor_find(out, DOCTOR_FAIL, "open files", "%" PRId64 " at most, %" PRId64 " wanted",
		    f->open_files, wanted);
	doctor_explain(out, "the device has a socket for each EV of each port");
	doctor_fix(out, "ulimit -n %" PRId64, 2 * wanted);
}

static void judge_memlock(const struct doctor_facts *f, struct doctor_findings *out)
{
	char text[UI_UNITS_MAX];

	if (f->memlock == DOCTOR_UNKNOWN || f->memlock >= MEMLOCK_GOOD) {
		doctor_find(out, DOCTOR_GOOD, "locked memory", "enough");
		return;
	}
	doctor_find(out, DOCTOR_NOTE, "locked memory", "%s at most",
		    ui_units_bytes(text, (uint64_t)f->memlock));
	doctor_explain(out, "registered memory is not locked, so nothing here needs more; programs "
			    "that lock buffers themselves may");
	doctor_fix(out, "ulimit -l unlimited");
}

static void judge_slack(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (f->timer_slack_ns == DOCTOR_UNKNOWN || f->timer_slack_ns <= SLACK_DEFAULT_NS)
		return;
	doctor_find(out, DOCTOR_NOTE, "timer slack", "%" PRId64 " ns", f->timer_slack_ns);
	doctor_explain(out, "threads of the program wake later by that; the device's own thread "
			    "sets it to 1 ns for itself");
}

static void judge_statistics(const struct doctor_facts *f, struct doctor_findings *out)
{
	if (f->device_error[0])
		return;
	if (f->statistics) {
		doctor_find(out, DOCTOR_GOOD, "statistics", "mrc top can see processes");
		return;
	}
	doctor_find(out, DOCTOR_NOTE, "statistics", "cannot be published");
	doctor_explain(out, "mrc top sees nothing, mrc perf cannot tell losses");
	doctor_fix(out, "export MRC_STATS_DIR=/tmp");
}

/* What a new program of this user goes by. */
static void judge_node(const struct doctor_facts *f, struct doctor_findings *out)
{
	const struct doctor_node *n = &f->node;

	if (!f->statistics)
		return;
	if (n->refused[0]) {
		doctor_find(out, DOCTOR_WARN, "node state", "%.140s", n->refused);
		doctor_explain(out,
			       "what the controller of this host has decided, denied EVs too, does "
			       "not hold for this user's programs");
		doctor_fix(out, "systemctl restart mrcd");
	} else if (!n->store[0]) {
		doctor_find(out, DOCTOR_GOOD, "node state", "off: nobody decides (MRC_NODE_DIR)");
	} else if (n->generation == 0) {
		doctor_find(out, DOCTOR_GOOD, "node state",
			    "nothing is decided: there is no %.100s", n->store);
	} else {
		doctor_find(out, DOCTOR_GOOD, "node state",
			    "%.60s, generation %" PRIu64 ", by %s (process %u of user %u)",
			    n->store, n->generation, n->writer, n->writer_pid, n->writer_uid);
	}
}

/* Without them each process loses a packet on each dead EV to know it. */
static void judge_hints(const struct doctor_facts *f, struct doctor_findings *out)
{
	const struct doctor_node *n = &f->node;

	if (!f->statistics || !n->store[0])
		return;
	if (n->hints_refused) {
		doctor_find(out, DOCTOR_WARN, "EV hints",
			    "what lies in hints beside %.100s is damaged or not for this user",
			    n->store);
		doctor_explain(out, "each process loses a packet on each dead EV to know of it");
		doctor_fix(out, "systemctl restart mrcd");
	} else if (n->hints) {
		doctor_find(out, DOCTOR_GOOD, "EV hints",
			    "%u EVs that other processes of this user found bad are probed first",
			    n->hints);
	} else {
		doctor_find(
			out, DOCTOR_GOOD, "EV hints",
			n->mrcd ? "none: no process of this user found an EV bad lately"
				: "off: without mrcd each process learns of dead EVs by losses");
	}
}

static void diagnose_process(const struct doctor_facts *f, struct doctor_findings *out)
{
	judge_right(f->net_admin, "CAP_NET_ADMIN",
		    "receive buffers end at net.core.rmem_max; ports and routes cannot be changed",
		    out);
	judge_right(f->net_raw, "CAP_NET_RAW",
		    "drivers on raw and packet sockets are not to be had; UDP ports need no rights",
		    out);
	judge_cores(f, out);
	judge_files(f, out);
	judge_memlock(f, out);
	judge_slack(f, out);
	judge_statistics(f, out);
	judge_node(f, out);
	judge_hints(f, out);
}

void doctor_diagnose(const struct doctor_facts *f, struct doctor_findings *out)
{
	out->n = 0;
	diagnose_ports(f, out);
	diagnose_buffers(f, out);
	diagnose_kernel(f, out);
	diagnose_srv6(f, out);
	diagnose_process(f, out);
}
