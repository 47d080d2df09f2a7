/* SPDX-License-Identifier: BSD-2-Clause */
/* completions.c - the rules of checker.h for completions of sends and receives. */
#include <inttypes.h>

#include "shared.h"

/* All packets of all messages up to and including m are there, and so are their bytes. */
static bool all_there(const struct sim_flow *f, const struct sim_msg *m)
{
	return f->expected >= m->first_packet + m->n_packets && f->all_placed > m->number &&
	       (!m->answer || m->answer->placed == m->answer->len);
}

static bool reports(const struct sim_flow *f, const struct sim_msg *m)
{
	return f->signal_all || m->flags & RD_SEND_SIGNALED || m->want != RD_WC_SUCCESS;
}

/* REQ(req.complete.order) REQ(req.complete.once) REQ(req.complete.acked) */
void sim_flow_send_event(struct sim_flow *f, const struct mt_event *ev)
{
	const struct sim_msg *m;

	while (f->completed < f->n && !reports(f, f->msgs[f->completed]))
		f->completed++;
	if (f->completed == f->n) {
		sim_fail(f->check, "%s: send completion for wr %" PRIu64 ": none is due", f->name,
			 ev->wr_id);
		return;
	}
	m = f->msgs[f->completed++];
	if (ev->wr_id != m->wr_id || ev->status != m->want ||
	    ev->with_imm != ((m->flags & RD_SEND_IMM) != 0) || ev->opcode != m->opcode)
		sim_fail(f->check,
			 "%s: send completion wr %" PRIu64 " %s imm %d, want wr %" PRIu64 " %s",
			 f->name, ev->wr_id, mt_wc_status_name(ev->status), ev->with_imm, m->wr_id,
			 mt_wc_status_name(m->want));
	else if (m->want == RD_WC_SUCCESS && !all_there(f, m))
		sim_fail(f->check,
			 "%s: message %zu completed, but %" PRIu64
			 " packets have arrived without a gap "
			 "and %zu messages are placed",
			 f->name, m->number, f->expected, f->all_placed);
}

/* The receive that completes is the next one, or one of the SRQ that fits the message. */
static bool is_due(struct sim_flow *f, const struct mt_event *ev)
{
	bool flushed = ev->status != RD_WC_SUCCESS || f->takes_received == f->takes;

	if (f->srq)
		return sim_srq_completed(f->srq, flushed ? NULL : f->takers[f->takes_received], ev);
	if (ev->wr_id == sim_flow_wr_id(f, f->recvs_done++) && f->recvs_done <= f->recvs_posted)
		return true;
	sim_fail(f->check, "%s: receive wr %" PRIu64 " completed, want %" PRIu64, f->name,
		 ev->wr_id, f->recvs_done - 1);
	return false;
}

/* REQ(rsp.complete.in-order) REQ(rsp.wimm.stash) REQ(ext.recv.order) */
void sim_flow_recv_event(struct sim_flow *f, const struct mt_event *ev)
{
	const struct sim_msg *m;

	if (!is_due(f, ev))
		return;
	if (f->wrong_recv && ev->status == f->wrong_recv) {
		f->wrong_recv = RD_WC_SUCCESS;
		f->flushing = true;
		return;
	}
	if (f->flushing && ev->status == RD_WC_WR_FLUSH_ERR) {
		if (ev->imm_valid)
			sim_fail(f->check, "%s: flushed receive has an immediate", f->name);
		return;
	}
	m = f->takes_received < f->takes ? f->takers[f->takes_received] : NULL;
	if (!m || ev->status != RD_WC_SUCCESS || ev->opcode != m->opcode ||
	    ev->imm_valid != ((m->flags & RD_SEND_IMM) != 0)) {
		sim_fail(f->check, "%s: receive completed with %s, imm_valid %d, due %d", f->name,
			 mt_wc_status_name(ev->status), ev->imm_valid, m != NULL);
		return;
	}
	f->takes_received++;
	if ((ev->imm_valid && ev->imm != m->imm) || ev->byte_len != m->len ||
	    ev->solicited != ((m->flags & RD_SEND_SOLICITED) != 0))
		sim_fail(f->check, "%s: receive of message %zu: imm %x len %u se %d", f->name,
			 m->number, ev->imm, ev->byte_len, ev->solicited);
	else if (!all_there(f, m))
		sim_fail(f->check, "%s: immediate of message %zu before all bytes up to it",
			 f->name, m->number);
}

bool sim_flow_done(const struct sim_flow *f)
{
	for (size_t i = f->completed; i < f->n && !f->answers; i++)
		if (reports(f, f->msgs[i]))
			return false;
	return f->all_placed == f->n && f->takes_received == f->takes &&
	       f->expected == f->n_packets;
}
