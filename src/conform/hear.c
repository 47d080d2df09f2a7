/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hear.c - what comes from the target: each packet is held to the rules that hold for all, answered
 * if any peer would, and kept for the lines of the case. Nothing of a packet is trusted: what does
 * not decode is counted, and what is too much ends the case.
 */
#include "conform/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct cf_watch_rule cf_watch_rule[CF_WATCHES] = {
	[CF_WATCH_LAYOUT] = {"all-layouts",
			     "Every packet has the headers of its opcode, and no more.",
			     {"wire.bth.layout", "wire.opcode.values", "wire.opcode.prefix",
			      "wire.opcode.headers", "wire.bth.tver", "wire.bth.pad",
			      "wire.tseth.position", "wire.decode.round-trip"},
			     false,
			     NULL,
			     NULL},
	[CF_WATCH_ICRC] = {"all-icrcs",
			   "Every packet ends with the right ICRC.",
			   {"wire.icrc.polynomial", "wire.icrc.ipv6", "wire.icrc.ipv4",
			    "wire.icrc.udp-bth", "wire.icrc.ipv4-socket"},
			   false,
			   NULL,
			   NULL},
	[CF_WATCH_QP] = {"all-for-us",
			 "Every packet goes to the peer's QP number.",
			 {"wire.bth.control-use", "wire.bth.endpoint-dqp"},
			 false,
			 NULL,
			 NULL},
	[CF_WATCH_PKEY] = {"all-p-keys",
			   "Every packet has the P_Key 0xFFFF.",
			   {"wire.bth.pkey"},
			   false,
			   NULL,
			   NULL},
	[CF_WATCH_CLASS] = {"all-classes",
			    "SACKs, NACKs and ACKs travel in the control class.",
			    {"wire.dscp.control-class", "wire.dscp.classes"},
			    false,
			    NULL,
			    NULL},
	[CF_WATCH_TRUTH] = {"all-true",
			    "No SACK reports a PSN that was not sent.",
			    {"wire.seth.bitmap-order", "wire.seth.cack"},
			    false,
			    NULL,
			    NULL},
	[CF_WATCH_IDS] = {"all-context-ids",
			  "What are spdcid and dpdcid of SACKs, NACKs and probes?",
			  {"wire.seth.context-ids"},
			  true,
			  "this endpoint sends the low 16 bits of the QPNs",
			  "this endpoint sends something else"},
	[CF_WATCH_RESERVED] = {"all-reserved",
			       "Are reserved bits sent as 0?",
			       {"wire.decode.round-trip"},
			       true,
			       "this endpoint sends them as 0",
			       "this endpoint sends some of them as 1"},
};

static void watch(struct cf_run *r, enum cf_watch rule, bool good, const char *what)
{
	r->watched[rule]++;
	if (good)
		return;
	if (r->broken[rule]++ == 0)
		snprintf(r->first_broken[rule], sizeof(r->first_broken[rule]), "%s, first in %.48s",
			 what, r->c ? r->c->name : "the search for the target");
}

/* REQ(wire.seth.cack): the highest PSN of ours that a SACK may name. */
static bool is_true(const struct cf_run *r, const struct cf_packet *p)
{
	int64_t cack = cf_relative(p->f[CF_F_CACK], r->psn), most = -1;
	int64_t base = cack + (int16_t)p->f[CF_F_SACK_OFFSET];

	for (size_t i = 0; i < r->n_sent; i++) {
		int64_t psn = cf_relative(r->sent[i].p.f[CF_F_PSN], r->psn);

		if (cf_kind_is_data(r->sent[i].p.kind) && psn > most)
			most = psn;
	}
	for (int64_t i = 63; i >= 0; i--)
		if (p->f[CF_F_MAP] >> i & 1)
			return base + i <= most && cack <= most;
	return cack <= most;
}

static void watch_fields(struct cf_run *r, const struct cf_packet *p)
{
	char what[CF_SAY_MAX];

	cf_describe(r, p, what, sizeof(what));
	watch(r, CF_WATCH_ICRC, p->icrc_ok, what);
	watch(r, CF_WATCH_PKEY, p->f[CF_F_PKEY] == 0xFFFF, what);
	watch(r, CF_WATCH_RESERVED, !p->reserved_set, what);
	if (p->kind == CF_SACK || p->kind == CF_NACK || p->kind == CF_ACK)
		watch(r, CF_WATCH_CLASS, p->f[CF_F_DSCP] == r->dscp[5], what);
	if (p->kind == CF_SACK)
		watch(r, CF_WATCH_TRUTH, is_true(r, p), what);
	if (cf_kind_has(p->kind, CF_F_SPDCID))
		watch(r, CF_WATCH_IDS,
		      p->f[CF_F_SPDCID] == (r->qp.qpn & 0xFFFF) &&
			      p->f[CF_F_DPDCID] == (r->qpn & 0xFFFF),
		      what);
}

static void keep(struct cf_run *r, uint64_t came_ns, const struct cf_packet *p)
{
	r->they_sent = r->they_sent || cf_kind_is_data(p->kind);
	if (r->n_got == CF_GOT_MAX)
		return;
	r->got[r->n_got] = (struct cf_got){.at_ns = came_ns, .p = *p};
	r->got[r->n_got++].p.payload = NULL;
}

/* Old QPs of the kit have the numbers before this one; late packets for them are no fault. */
static bool is_late(const struct cf_run *r, uint64_t dqp)
{
	return dqp >= r->link->first_qpn && dqp < r->qpn;
}

/* Returns whether the packet is kept. */
static bool take(struct cf_run *r, uint64_t came_ns)
{
	struct cf_packet p;
	const char *fault = cf_packet_decode(&r->frame, &p);
	bool for_us, endpoint;

	if (fault && memcmp(p.src, r->link->theirs, 16) != 0) {
		r->unknown++;
		return false;
	}
	watch(r, CF_WATCH_LAYOUT, !fault, fault ? fault : "");
	if (fault || memcmp(p.src, r->link->theirs, 16) != 0) {
		r->unknown++;
		return false;
	}
	endpoint = p.kind == CF_EP_REQUEST || p.kind == CF_EP_RESPONSE;
	if (!endpoint && is_late(r, p.f[CF_F_DQP]))
		return false;
	for_us = p.f[CF_F_DQP] == (endpoint ? CF_ENDPOINT_QPN : r->qpn);
	watch(r, CF_WATCH_QP, for_us, "a packet for another QP number");
	if (!for_us)
		return false;
	watch_fields(r, &p);
	keep(r, came_ns, &p);
	cf_answer_by_itself(r, &p);
	return true;
}

bool cf_hear(struct cf_run *r, uint64_t until_ns)
{
	const struct cf_link *l = r->link;
	uint64_t now_ns, came_ns;
	int n;

	do {
		r->frame.came_ns = 0;
		n = l->receive(l->context, until_ns, &r->frame);
		if (n < 0 && errno == ECONNREFUSED)
			cf_fail(r, "the target's host says that nobody listens at its UDP port");
		else if (n < 0)
			cf_fail(r, "packets cannot be received: %s", strerror(errno));
		if (n <= 0)
			return false;
		now_ns = l->now_ns(l->context);
		came_ns = r->frame.came_ns ? r->frame.came_ns : now_ns;
		if (r->tap)
			r->tap(r->tap_context, came_ns, false, &r->frame);
		if (r->result)
			r->result->got++;
		if (++r->heard > CF_FLOOD) {
			cf_fail(r, "the target floods: more than %u packets in one case", CF_FLOOD);
			return false;
		}
		if (take(r, came_ns))
			return true;
	} while (now_ns < until_ns && !cf_failed(r));
	return false;
}

void cf_run_watch(const struct cf_run *r, enum cf_watch which, struct cf_result *result)
{
	const struct cf_watch_rule *rule = &cf_watch_rule[which];

	*result = (struct cf_result){.verdict = CF_PASS};
	if (r->watched[which] == 0) {
		result->verdict = CF_NOT_RUN;
		snprintf(result->why, sizeof(result->why), "no packet came that could be judged");
	} else if (rule->is_question) {
		result->verdict = CF_ANSWERED;
		snprintf(result->why, sizeof(result->why), "%s",
			 r->broken[which] ? rule->no : rule->yes);
	} else if (r->broken[which]) {
		result->verdict = CF_FAIL;
		snprintf(result->why, sizeof(result->why), "%" PRIu64 " of %" PRIu64 " packets: %s",
			 r->broken[which], r->watched[which], r->first_broken[which]);
	}
}
