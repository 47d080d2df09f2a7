/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rto.c - the two timers of a requester: tail probes and the retransmission timeout. See the
 * header.
 */
#include "core/window/window.h"

#include "base/assert.h"
#include "core/types.h"

#define PROBES_MAX 3u
/* While the timeout is put off: the last wait is 2^9 probe times, and the sum can be shifted. */
#define PATIENT_PROBES_MAX 10u
/* Answers in vain make waits longer, up to 2^4 times. */
#define IN_VAIN_SHIFT_MAX 4u
/* 1.024 us * 2^24, the longest timeout that the API can name; doubling stops there. */
#define RTO_MAX_NS (UINT64_C(1024) << RD_TIMEOUT_MAX)

static void begin_probe_waits(struct mt_rto *r, uint64_t now_ns)
{
	r->probe_ns = now_ns;
	r->probes = 0;
}

bool mt_rto_start(struct mt_rto *r, uint64_t now_ns)
{
	if (r->armed) {
		begin_probe_waits(r, now_ns);
		return false;
	}
	mt_rto_restart(r, now_ns, true);
	return true;
}

/* REQ(req.retry.progress) */
void mt_rto_restart(struct mt_rto *r, uint64_t now_ns, bool unfinished)
{
	*r = (struct mt_rto){
		.step_ns = now_ns,
		.probe_ns = now_ns,
		.armed = unfinished,
	};
}

/* REQ(ext.rnr.wait) */
void mt_rto_exclude(struct mt_rto *r, uint64_t ns)
{
	r->step_ns += ns;
	r->probe_ns += ns;
}

/* A round is answered once, however many of its probes are. */
void mt_rto_probe_answered(struct mt_rto *r, uint64_t now_ns)
{
	if (r->probes > 0 && r->answers < UINT8_MAX)
		r->answers++;
	begin_probe_waits(r, now_ns);
}

uint32_t mt_rto_probe_fanout(const struct mt_rto *r)
{
	uint32_t n = 1;

	for (uint32_t i = 1; i < r->probe_rounds && n < MT_RTO_PROBES_MAX; i++)
		n *= 2;
	return n;
}

/* REQ(req.retry.slow-peer) */
static bool is_patient(const struct mt_rto_limits *l)
{
	return l->patience_ns > l->rto_ns;
}

static uint32_t most_probes(const struct mt_rto_limits *l)
{
	return is_patient(l) ? PATIENT_PROBES_MAX : PROBES_MAX;
}

static uint64_t current_rto(const struct mt_rto *r, const struct mt_rto_limits *l)
{
	uint64_t rto = is_patient(l) ? l->patience_ns : l->rto_ns;
	uint64_t longest = rto < RTO_MAX_NS ? RTO_MAX_NS : rto;

	for (uint32_t n = l->linear; n < r->timeouts && rto < longest; n++)
		rto *= 2;
	return rto < longest ? rto : longest;
}

/* REQ(req.probe.in-vain) */
static uint32_t in_vain_shift(const struct mt_rto *r)
{
	uint32_t often = r->answers > MT_RTO_IN_VAIN ? r->answers - MT_RTO_IN_VAIN : 0;

	return often < IN_VAIN_SHIFT_MAX ? often : IN_VAIN_SHIFT_MAX;
}

static uint64_t next_probe_ns(const struct mt_rto *r, const struct mt_rto_limits *l,
			      uint64_t probe_ns)
{
	if (r->probes >= most_probes(l) || probe_ns == MT_RTO_NO_PROBE)
		return UINT64_MAX;
	/* Waits of 1, 2, 4 .. probe times. */
	return r->probe_ns + (probe_ns << in_vain_shift(r)) * ((UINT64_C(2) << r->probes) - 1);
}

uint64_t mt_rto_deadline(const struct mt_rto *r, const struct mt_rto_limits *l, uint64_t probe_ns)
{
	uint64_t rto, probe;

	if (!r->armed)
		return UINT64_MAX;
	rto = r->step_ns + current_rto(r, l);
	probe = next_probe_ns(r, l, probe_ns);
	return probe < rto ? probe : rto;
}

/* REQ(req.retry.exhausted) REQ(req.retry.forever) */
enum mt_rto_action mt_rto_expire(struct mt_rto *r, const struct mt_rto_limits *l, uint64_t probe_ns,
				 uint64_t now_ns)
{
	if (!r->armed || now_ns < mt_rto_deadline(r, l, probe_ns))
		return MT_RTO_WAIT;
	mb_assert(l->rto_ns > 0 && r->probes <= PATIENT_PROBES_MAX);
	if (now_ns < r->step_ns + current_rto(r, l)) {
		mb_assert(r->probes < most_probes(l));
		/* A tick that comes late puts off the next probe: one step a tick. */
		r->probe_ns += now_ns - next_probe_ns(r, l, probe_ns);
		r->probes++;
		if (r->probe_rounds < UINT8_MAX)
			r->probe_rounds++;
		return MT_RTO_PROBE;
	}
	if (l->exp != RD_RETRY_EXP_FOREVER && r->timeouts >= (uint32_t)l->linear + l->exp)
		return MT_RTO_GIVE_UP;
	r->timeouts++;
	r->step_ns = r->probe_ns = now_ns;
	r->probes = 0;
	return MT_RTO_RESEND;
}
