/* SPDX-License-Identifier: BSD-2-Clause */
/* conform_link.c - see conform_link.h. */
#include "support/conform_link.h"

#include <string.h>

/* A packet that comes takes so long. */
#define FLIGHT_NS 1000u
#define POSITIVE 0x1Fu

static int send_frame(void *context, const struct cf_frame *f)
{
	struct conform_link *l = context;

	l->n_sent++;
	if (cf_packet_decode(f, &l->sent) == NULL)
		l->sent.payload = NULL;
	return l->send_error;
}

static int receive_frame(void *context, uint64_t until_ns, struct cf_frame *f)
{
	struct conform_link *l = context;
	int n = l->next ? l->next(l, until_ns, f) : 0;

	l->now_ns += FLIGHT_NS;
	if (n == 0 && l->now_ns < until_ns)
		l->now_ns = until_ns;
	return n;
}

static uint64_t now_ns(void *context)
{
	return ((struct conform_link *)context)->now_ns;
}

void conform_link_init(struct conform_link *l)
{
	*l = (struct conform_link){.link = {.context = l,
					    .ours = {0xFD, [15] = 2},
					    .theirs = {0xFD, [15] = 1},
					    .our_port = CF_UDP_PORT,
					    .their_port = CF_UDP_PORT,
					    .first_qpn = 0x1000,
					    .send = send_frame,
					    .receive = receive_frame,
					    .now_ns = now_ns}};
	for (unsigned i = 0; i < CF_EVS; i++)
		l->link.ev[i] = (uint16_t)(40000 + i);
}

void conform_link_packet(const struct conform_link *l, enum cf_kind kind, uint32_t qpn,
			 struct cf_packet *p)
{
	bool endpoint = kind == CF_EP_REQUEST || kind == CF_EP_RESPONSE;

	cf_packet_init(p, kind);
	memcpy(p->src, l->link.theirs, 16);
	memcpy(p->dst, l->link.ours, 16);
	p->f[CF_F_OVER] = CF_UDP_PORT;
	p->f[CF_F_DSCP] = cf_kind_is_data(kind) ? 4 : 46;
	p->f[CF_F_DQP] = endpoint ? CF_ENDPOINT_QPN : qpn;
}

void conform_link_answer(const struct conform_link *l, const struct cf_run *r, bool ack,
			 struct cf_packet *p)
{
	const struct cf_packet *to = &l->sent;
	bool data = cf_kind_is_data(to->kind);
	enum cf_kind kind = to->kind == CF_EP_REQUEST ? CF_EP_RESPONSE
			    : data && ack	      ? CF_ACK
						      : CF_SACK;

	conform_link_packet(l, kind, r->qpn, p);
	p->f[CF_F_TS] = to->f[CF_F_TS];
	p->f[CF_F_OP] = to->f[CF_F_OP];
	p->f[CF_F_SYNDROME] = POSITIVE;
	p->f[CF_F_MSN] = to->f[CF_F_MSN] + 1;
	p->f[CF_F_PSN] = data || kind == CF_EP_RESPONSE ? to->f[CF_F_PSN] : r->psn;
	p->f[CF_F_CACK] = p->f[CF_F_PSN];
	p->f[CF_F_SPDCID] = r->qp.qpn & 0xFFFF;
	p->f[CF_F_DPDCID] = r->qpn & 0xFFFF;
	p->f[CF_F_SACK_OFFSET] = 1;
	p->f[CF_F_PR] = to->kind == CF_PROBE;
	p->f[CF_F_PROBE_ID] = to->f[CF_F_PROBE_ID];
	p->f[CF_F_ENTROPY] = to->f[CF_F_OVER];
	p->f[CF_F_RTX] = data && to->f[CF_F_RTX];
}
