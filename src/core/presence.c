/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/presence.h"

#include "base/assert.h"

/* A silence so soon after another, in patiences, is not waited for again. */
#define REPEATED 8u

void mt_presence_init(struct mt_presence *p)
{
	*p = (struct mt_presence){.limit_ns = UINT64_MAX / 4};
}

void mt_presence_wait(struct mt_presence *p, uint64_t now_ns, bool waits)
{
	mb_assert(waits || p->waiting > 0);
	if (p->waiting == 0)
		p->since_ns = now_ns;
	if (waits)
		p->waiting++;
	else
		p->waiting--;
}

void mt_presence_wake(struct mt_presence *p, uint64_t now_ns, uint32_t planes)
{
	bool repeated =
		p->woke_ns && !p->stopped && now_ns - p->woke_ns < REPEATED * p->patience_ns;

	p->patience_ns = 2 * p->limit_ns;
	if (!repeated)
		p->settled_ns = now_ns + p->patience_ns;
	p->woke_ns = now_ns;
	p->round_ns = now_ns;
	p->unproven = p->planes = planes;
	p->spent = 0;
	p->stopped = false;
}

/* A round is over in which each plane answered; one that took long left queues that are long. */
static void end_round(struct mt_presence *p, uint64_t now_ns)
{
	p->settled_ns = now_ns;
	if (now_ns - p->round_ns <= p->patience_ns)
		return;
	p->round_ns = now_ns;
	p->unproven = p->planes;
	p->settled_ns += p->patience_ns;
}

void mt_presence_report(struct mt_presence *p, uint64_t now_ns, uint8_t plane, uint64_t sent_ns)
{
	if (p->unproven == 0)
		return;
	if (now_ns - sent_ns > p->patience_ns / 2) {
		p->stopped = p->stopped || sent_ns < p->woke_ns;
		p->settled_ns = now_ns + p->patience_ns;
	} else if (now_ns >= p->settled_ns) {
		p->unproven = 0;
		return;
	}
	if (sent_ns < p->round_ns)
		return;
	p->unproven &= ~(UINT32_C(1) << plane);
	if (p->unproven == 0)
		end_round(p, now_ns);
}

uint64_t mt_presence_rtt(const struct mt_presence *p, uint64_t sent_ns, uint64_t rtt_ns)
{
	return sent_ns < p->woke_ns && rtt_ns > p->patience_ns ? p->patience_ns : rtt_ns;
}

enum mt_verdict mt_presence_judge(const struct mt_presence *p, uint64_t sent_ns, uint8_t plane,
				  uint64_t trigger_sent_ns, uint8_t trigger_plane)
{
	if (plane != trigger_plane && sent_ns < p->settled_ns && trigger_sent_ns < p->settled_ns)
		return MT_VERDICT_OPEN;
	if (sent_ns >= p->woke_ns)
		return MT_VERDICT_GUILTY;
	return p->stopped || p->spent >> plane & 1 ? MT_VERDICT_BLAMELESS : MT_VERDICT_GUILTY;
}

void mt_presence_spend(struct mt_presence *p, uint64_t sent_ns, uint8_t plane)
{
	if (sent_ns < p->woke_ns)
		p->spent |= UINT32_C(1) << plane;
}
