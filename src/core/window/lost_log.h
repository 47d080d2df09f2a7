/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lost_log.h - first transmissions that were found lost lately, of all QPs of an engine.
 *
 * The record of a PSN forgets its first transmission when it is sent again. If that was only late,
 * a SACK names it, some time later, as its trigger: then what is kept here says on which EV
 * it was sent and when. A later loss may take the place of an earlier one; only a measurement is
 * missed then.
 */
#ifndef SOFTMRC_CORE_WINDOW_LOST_LOG_H
#define SOFTMRC_CORE_WINDOW_LOST_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* As many as one plane may have lost within a reorder window of a slow fabric. */
#define MT_LOST_LOG_SIZE 32u

struct mt_lost {
	uint64_t psn;
	uint64_t sent_ns;
	uint32_t qpn;  /* and which half of it, see mt_qp_lost_key */
	uint16_t ev;   /* index in the EV set */
	bool is_there; /* the log sets it */
};

struct mt_lost_log {
	struct mt_lost lost[MT_LOST_LOG_SIZE];
};

/* mt_lost_log_add keeps a loss; a PSN that is there already is replaced. */
void mt_lost_log_add(struct mt_lost_log *log, const struct mt_lost *lost);
/* mt_lost_log_find returns what is kept of a PSN, until the next change; NULL: nothing. */
struct mt_lost *mt_lost_log_find(struct mt_lost_log *log, uint32_t qpn, uint64_t psn);
/* mt_lost_log_remove removes what mt_lost_log_find returned. */
void mt_lost_log_remove(struct mt_lost *lost);

#endif
