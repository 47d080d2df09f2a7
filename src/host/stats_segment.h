/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_segment.h - the file through which others see what this process does (mrc/stats.h). */
#ifndef SOFTMRC_HOST_STATS_SEGMENT_H
#define SOFTMRC_HOST_STATS_SEGMENT_H

#include "host/nic_context.h"

/*
 * mh_segment_create makes the file of stats_file.h in DIR and shows the NIC's state; error says
 * what failed. With dir NULL the default folder is used, and it is no error when that cannot be.
 */
int mh_segment_create(struct mh_nic *nic, const char *dir, struct mio_error *error);
/*
 * mh_segment_finish stores the last numbers, for who has the file mapped and for files that are
 * kept. Under nic->lock, or when nobody else is left; without a segment nothing happens.
 */
void mh_segment_finish(struct mh_nic *nic);
/* mh_segment_destroy removes the file, if it is not kept, and frees all; NULL is ignored. */
void mh_segment_destroy(struct mh_segment *segment);
/* mh_segment_deadline returns when the next refresh is due, UINT64_MAX without a segment. */
uint64_t mh_segment_deadline(const struct mh_segment *segment);
/* mh_segment_refresh stores new numbers if that is due. Under nic->lock. */
void mh_segment_refresh(struct mh_nic *nic, uint64_t now_ns);
/* mh_segment_event logs an EV or PORT event at once; NULL is ignored. Under nic->lock. */
void mh_segment_event(struct mh_segment *segment, const struct mt_event *event, uint64_t now_ns);

#endif
