/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retry_report.c - the message for a QP that has used up its retries: what each port says.
 *
 * Programs hear "retry exceeded", whatever the reason: a peer that is gone, a cable, a firewall, a
 * route, a NAT. Runs under nic->lock.
 */
#include "host/progress/progress.h"

#include <stdio.h>

/* A job that ends may take thousands of QPs with it. */
#define REPORT_GAP_NS UINT64_C(250000000)
#define LINE_MAX_BYTES 1024u

struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

#define line_add(line, ...)                                                                 \
	do {                                                                                \
		int n_ = snprintf((line)->text + (line)->len, LINE_MAX_BYTES - (line)->len, \
				  __VA_ARGS__);                                             \
		(line)->len += n_ > 0 ? (size_t)n_ : 0;                                     \
		if ((line)->len >= LINE_MAX_BYTES)                                          \
			(line)->len = LINE_MAX_BYTES - 1;                                   \
	} while (0)

/* add_paths says how many paths of a port have been found bad, if any. */
static void add_paths(struct line *line, const struct mh_qp *qp, uint32_t evs, uint32_t port)
{
	uint32_t all = 0, bad = 0;
	struct mt_ev_info info;

	for (uint32_t i = 0; i < evs && mt_qp_ev_info(qp->mt, i, &info); i++) {
		if (info.ev.port != port)
			continue;
		all++;
		bad += info.state == MT_EV_ASSUMED_BAD || info.state == MT_EV_DENIED;
	}
	if (bad > 0)
		line_add(line, ", %u of %u paths bad", bad, all);
}

void mh_report_retries(struct mh_nic *nic, const struct mh_qp *qp, uint64_t now_ns)
{
	char peer[MH_ADDR_TEXT_MAX], ip[MH_ADDR_TEXT_MAX], state[MH_PORT_STATE_MAX];
	struct line line = {.len = 0};
	struct mt_qp_info info;

	if (nic->retries_said_ns != 0 && now_ns < nic->retries_said_ns + REPORT_GAP_NS)
		return;
	nic->retries_said_ns = now_ns;
	mt_qp_info(qp->mt, &info);
	line_add(&line, "QP 0x%06x to %s has used up its retries: no packet from it for %.2f s",
		 qp->number, mh_addr_text(info.dest.b, peer),
		 (double)(now_ns - (info.heard_ns < now_ns ? info.heard_ns : now_ns)) / 1e9);
	for (uint32_t i = 0; i < nic->ports.n; i++) {
		line_add(&line, "; port %u (%s): %s", i, mh_addr_text(nic->ports.map.local[i], ip),
			 mh_ports_state_text(&nic->ports, i, info.heard_ns, state));
		add_paths(&line, qp, info.evs, i);
	}
	mh_log(MRC_LOG_ERROR, "%s", line.text);
}
