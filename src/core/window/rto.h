/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rto.h - what to do about silence.
 *
 * Loss is normally found by SACKs (tx_window.h). Two timers work when none come while something is
 * unfinished. After about two RTTs in which nothing was sent or heard a reliability probe asks the
 * responder what it has; up to three times, each after twice the wait, and again from the start
 * when an answer was heard; each time on more paths at once. The ACK timeout comes last: 1.024 us *
 * 2^timeout, `linear` times at that interval, then doubling `exp` times; each sends the oldest
 * packet again. When they are used up the QP fails. Progress starts all of it again.
 * REQ(req.retry.linear-exp)
 */
#ifndef SOFTMRC_CORE_WINDOW_RTO_H
#define SOFTMRC_CORE_WINDOW_RTO_H

#include <stdbool.h>
#include <stdint.h>

/* In place of the time after which to probe, while more is about to be sent. */
#define MT_RTO_NO_PROBE UINT64_MAX

struct mt_rto_limits {
	uint64_t rto_ns; /* the first timeout */
	uint8_t linear;
	uint8_t exp; /* RD_RETRY_EXP_FOREVER: no end */
};

struct mt_rto {
	uint64_t step_ns; /* of the last timeout or progress, or of the first packet after idling */
	uint64_t probe_ns; /* from when the waits for probes count: step_ns, or an answer since */
	uint32_t timeouts; /* since progress */
	uint8_t probes;	   /* since probe_ns */
	uint8_t probe_rounds; /* of probes since progress, stops at 255 */
	bool armed;	      /* something is unfinished */
};

enum mt_rto_action {
	MT_RTO_WAIT,
	MT_RTO_PROBE,
	MT_RTO_RESEND,
	MT_RTO_GIVE_UP,
};

/*
 * mt_rto_start notes a data packet: silence, as probes understand it, begins after the last one.
 * Says whether the watch begins with it, and with that a deadline.
 */
bool mt_rto_start(struct mt_rto *r, uint64_t now_ns);
/* mt_rto_restart restarts the watch; with nothing unfinished it ends. */
void mt_rto_restart(struct mt_rto *r, uint64_t now_ns, bool unfinished);
/* mt_rto_exclude says that for so long nothing could be expected: that time does not count. */
void mt_rto_exclude(struct mt_rto *r, uint64_t ns);
/* mt_rto_probe_answered notes the answer to a probe: the peer is there, and more probes are worth
 * it. */
void mt_rto_probe_answered(struct mt_rto *r, uint64_t now_ns);
/* mt_rto_probe_fanout returns on how many paths the probe that is due now goes: 1, 2, 4 .. 16. */
uint32_t mt_rto_probe_fanout(const struct mt_rto *r);
/* mt_rto_deadline returns when mt_rto_expire must be asked, UINT64_MAX when nothing is watched. */
uint64_t mt_rto_deadline(const struct mt_rto *r, const struct mt_rto_limits *l, uint64_t probe_ns);
/*
 * mt_rto_expire takes at most one step at now, however late it is asked, and says which.
 */
enum mt_rto_action mt_rto_expire(struct mt_rto *r, const struct mt_rto_limits *l, uint64_t probe_ns,
				 uint64_t now_ns);

#endif
