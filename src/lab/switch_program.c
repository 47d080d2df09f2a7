/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues of ports: see lab_state.h. A switch's port has the program's virtual queue, which
 * trims and marks, and HTB below it, which delays. A host's own port has HTB alone: what waits
 * there waits in the host. On it the program only does faults and counts.
 */
#include "lab/ip_batch.h"
#include "lab/lab_state.h"

#include <errno.h>
#include <stdio.h>

#define NS_PER_S UINT64_C(1000000000)
/* Round trip of such a lab, mostly waiting for a processor; what queues are sized by. */
#define RTT_NS UINT64_C(1000000)
/* A host's own queue; sockets are held back long before. */
#define HOST_QUEUE_BYTES (4u << 20)

static bool from_host(const struct ml_lab *lab, uint32_t link)
{
	return mf_node_at(&lab->t, mf_link_from(&lab->t, link).node).tier == MF_HOST;
}

static void port_of(const struct ml_lab *lab, uint32_t link, struct mswq_port *port)
{
	bool last_hop = mf_node_at(&lab->t, mf_link_to(&lab->t, link).node).tier == MF_HOST;

	mswq_port_default(port, &lab->t.cfg.dscp, ml_link_rate(lab, link), RTT_NS, last_hop);
	port->seed = link + 1;
	/* Ports on UDP sockets would not see trims otherwise; IPv6 in IPv6 stays as it is. */
	port->repair_udp = true;
}

uint64_t ml_program_queue_ns(const struct ml_lab *lab)
{
	uint64_t most = 0;

	for (uint32_t link = 0; lab->pace_bps && link < lab->t.n_links; link++) {
		struct mswq_port port;
		uint64_t ns;

		if (from_host(lab, link))
			continue;
		port_of(lab, link, &port);
		ns = UINT64_C(8) * port.limit_bytes * NS_PER_S / port.rate_bits;
		most = ns > most ? ns : most;
	}
	return most;
}

void ml_program_load(struct ml_lab *lab)
{
	struct mswq_error why;

	if (mswq_load(lab->t.n_links, &lab->swq, &why)) {
		snprintf(lab->no_program, sizeof(lab->no_program), "%s", why.text);
		lab->swq = NULL;
		lab->program = 0;
		return;
	}
	lab->program = mswq_id(lab->swq);
	lab->no_program[0] = '\0';
}

int ml_program_open(struct ml_lab *lab, struct ml_error *e)
{
	struct mswq_error why;

	if (!lab->program || lab->swq || mswq_reopen(lab->program, &lab->swq, &why) == 0)
		return 0;
	lab->swq = NULL;
	return ml_error_set(e, "lab %s: its switch program: %s", lab->name, why.text);
}

int ml_program_port(struct ml_lab *lab, uint32_t link, int netns, struct ml_error *e)
{
	char name[MF_LINK_NAME_BYTES];
	struct mswq_error why;
	uint32_t ifindex = ml_ifindex(link);
	struct mswq_faults faults = lab->port[link].faults;
	struct mswq_port port;
	int err = 0;

	if (netns >= 0) {
		port_of(lab, link, &port);
		if (from_host(lab, link))
			port.rate_bits = 0;
		err = mswq_port_set(lab->swq, ifindex, &port, &why);
		if (!err)
			err = mswq_attach(lab->swq, netns, ifindex, &why);
	}
	/* A host's slow port is HTB's business: a NIC does not trim its own packets. */
	if (from_host(lab, link))
		faults.slow_bits = 0;
	if (!err)
		err = mswq_fault_set(lab->swq, ifindex, &faults, &why);
	if (!err)
		return 0;
	return ml_error_set(e, "%s: %s", mf_cable_name(&lab->t, link, name), why.text);
}

void ml_program_htb(const struct ml_lab *lab, uint32_t link, const char *port, bool build,
		    char *text, size_t size)
{
	const struct mswq_faults *faults = &lab->port[link].faults;
	struct mswq_port queue;

	text[0] = '\0';
	port_of(lab, link, &queue);
	if (from_host(lab, link))
		queue.limit_bytes = HOST_QUEUE_BYTES;
	if (!lab->pace_bps)
		return;
	if (build)
		mswq_htb_lines(text, size, port, lab->t.cfg.mtu, &queue, faults);
	else
		mswq_htb_change_lines(text, size, port, lab->t.cfg.mtu, &queue, faults);
}
