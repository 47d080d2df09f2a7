/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mw.h - memory windows: keys for a part of an MR that are given and taken back by work requests,
 * in their turn, without registering anything.
 *
 * A window of type 1 may be bound again while it is bound, and to nothing; any QP of its PD's peers
 * uses it. One of type 2 belongs to the QP that bound it, and must be invalidated before it is
 * bound again: by that QP itself, or by its peer with a SEND. A bound window keeps its MR where it
 * is. REQ(ext.mw.bind) REQ(ext.mw.invalidate)
 */
#ifndef SOFTMRC_CORE_EXT_MW_H
#define SOFTMRC_CORE_EXT_MW_H

#include "core/engine/types.h"

struct mt_qp;

/*
 * mt_mw_bind makes a window what a WR of the QP asks for; false: it may not, and nothing has
 * changed.
 */
bool mt_mw_bind(struct mt_qp *qp, const struct mt_local_wr *wr);
/*
 * mt_mw_invalidate takes back the key of a window of type 2 that is bound on this QP; false: it
 * names none.
 */
bool mt_mw_invalidate(struct mt_qp *qp, uint32_t rkey);
/* mt_mw_unbind_qp unbinds all windows that are bound on this QP. */
void mt_mw_unbind_qp(struct mt_qp *qp);

#endif
