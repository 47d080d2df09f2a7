/* SPDX-License-Identifier: BSD-2-Clause */
/* lost_log.c - a table in which each PSN of a QP has one place. See the header. */
#include "core/window/lost_log.h"

#include <stddef.h>

/* Losses of a QP that lie close together have places of their own. */
static struct mt_lost *place_of(struct mt_lost_log *log, uint32_t qpn, uint64_t psn)
{
	return &log->lost[(psn + qpn) % MT_LOST_LOG_SIZE];
}

void mt_lost_log_add(struct mt_lost_log *log, const struct mt_lost *lost)
{
	struct mt_lost *place = place_of(log, lost->qpn, lost->psn);

	*place = *lost;
	place->is_there = true;
}

struct mt_lost *mt_lost_log_find(struct mt_lost_log *log, uint32_t qpn, uint64_t psn)
{
	struct mt_lost *lost = place_of(log, qpn, psn);

	return lost->is_there && lost->qpn == qpn && lost->psn == psn ? lost : NULL;
}

void mt_lost_log_remove(struct mt_lost *lost)
{
	lost->is_there = false;
}
