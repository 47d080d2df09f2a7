/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_health.h - which paths lead to one destination of datagrams, found out by probes.
 *
 * Nothing answers a datagram, so nothing says that it was lost. While datagrams go to a destination
 * it is asked in rounds: EV probes leave on a few paths together, and the round ends when each was
 * answered or its time is over. A path that said nothing counts as one that failed only if another
 * of the same round was answered; then the destination was there, and it is the path. So a
 * destination that answers no probes at all (another make of device), or is away or busy for a
 * while, loses no path.
 *
 *	good --- failed in MU_TRIES rounds in a row ---> bad --- answered in as many ---> good
 *
 * The last good path stays. Whoever sends takes good paths only. Pure: told the time, and what came
 * of probes. docs/design/0032-paths-of-datagrams.md.
 */
#ifndef SOFTMRC_UD_UD_HEALTH_H
#define SOFTMRC_UD_UD_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

/* Probes of a round: one on the path that was answered last, some on doubtful ones, some in
 * turn. */
#define MU_ROUND_PROBES 5u
#define MU_ROUND_DOUBTFUL 2u
#define MU_TRIES 3u
/* From one round to the next, at least; a round without any answer doubles it, up to the
 * longest. */
#define MU_ROUND_NS UINT64_C(20000000)
#define MU_ROUND_SHIFTS 6u
/* A bad path is asked again after this, doubling with each failure up to the longest. */
#define MU_BAD_NS UINT64_C(20000000)
#define MU_BAD_SHIFTS 4u
#define MU_NO_PATH UINT16_MAX

struct mu_path_health {
	uint64_t due_ns; /* bad: it is not asked before */
	bool bad;
	uint8_t streak; /* in a row: failures of a good one, answers of a bad one */
	uint8_t shift;	/* bad: of MU_BAD_NS */
};

/* One probe of the round that is under way. */
struct mu_probe {
	uint16_t path;
	bool answered;
};

struct mu_health {
	uint16_t n_paths, n_good;
	uint16_t next_good;	   /* the good path to be asked next */
	uint16_t next_doubtful;	   /* where the search for doubtful ones goes on */
	uint16_t answered;	   /* the path that was answered last, or MU_NO_PATH */
	uint8_t rounds_unanswered; /* rounds in a row without an answer */
	bool doubtful;		   /* a good path failed last time it was asked */
	uint8_t n_asked, n_open;
	struct mu_probe asked[MU_ROUND_PROBES];
	uint64_t next_ns; /* the next round */
	uint64_t rtt_ns;  /* about the longest that answers took lately */
	struct mu_path_health *path;
};

/* What a round changed. */
struct mu_change {
	uint16_t retired, revived;
};

/* mu_health_init makes n_paths good ones, 1 .. MU_NO_PATH - 1; the array is the caller's. */
void mu_health_init(struct mu_health *h, struct mu_path_health *paths, uint16_t n_paths,
		    uint64_t now_ns);

/* mu_health_is_due says whether a round may begin. */
static inline bool mu_health_is_due(const struct mu_health *h, uint64_t now_ns)
{
	return h->n_open == 0 && now_ns >= h->next_ns;
}

/*
 * mu_health_choose_paths fills in which paths a round that begins now should ask, and returns
 * how many. mu_health_probe_sent then says that a probe on a path is on its way, in the same
 * instant; a path that cannot be asked is left out.
 */
uint32_t mu_health_choose_paths(struct mu_health *h, uint64_t now_ns,
				uint16_t paths[MU_ROUND_PROBES]);
void mu_health_probe_sent(struct mu_health *h, uint16_t path);
/* mu_health_probe_timeout returns how long an answer is waited for, in this round. */
uint64_t mu_health_probe_timeout(const struct mu_health *h);
/*
 * mu_health_probe_ended takes the end of a probe of this round: rtt_ns is 0 if it was not
 * answered. The last one is the end of the round, and says what that has changed.
 */
struct mu_change mu_health_probe_ended(struct mu_health *h, uint16_t path, bool answered,
				       uint64_t rtt_ns, uint64_t now_ns);

#endif
