/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * senders.h - how many QPs send to an engine, counted while a last hop trims.
 *
 * Packets trimmed at the last hop mean that too many send at once. Each QP counts once in a period
 * in which data of its own came, whole or trimmed; the number is that of the last period, or of
 * this one once it is larger. REQ(rsp.senders)
 */
#ifndef SOFTMRC_CORE_STATE_SENDERS_H
#define SOFTMRC_CORE_STATE_SENDERS_H

#include <stdint.h>

struct mt_senders {
	uint64_t end_ns; /* of this period */
	uint32_t period; /* its number */
	uint32_t heard;	 /* QPs in it */
	uint32_t before; /* QPs in the last one */
};

/* mt_senders_note counts the QP of a data packet; *period is what it keeps for that. */
static inline void mt_senders_note(struct mt_senders *s, uint32_t *period)
{
	if (*period == s->period)
		return;
	*period = s->period;
	s->heard++;
}

/*
 * mt_senders_trimmed takes that the last hop trimmed a packet. Packets arrive packet_ns apart at
 * best: a period is long enough for each sender to send two, and no shorter than min_ns.
 */
void mt_senders_trimmed(struct mt_senders *s, uint64_t now_ns, uint64_t packet_ns, uint64_t min_ns);
/* mt_senders_count returns how many there are. */
static inline uint32_t mt_senders_count(const struct mt_senders *s)
{
	return s->heard > s->before ? s->heard : s->before;
}

#endif
