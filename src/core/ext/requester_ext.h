/* SPDX-License-Identifier: BSD-2-Clause */
/* requester_ext.h - the steps that only WRs of QPs with extensions take; for core/ only. */
#ifndef SOFTMRC_CORE_EXT_REQUESTER_EXT_H
#define SOFTMRC_CORE_EXT_REQUESTER_EXT_H

#include "core/qp/qp.h"

/* mt_wr_is_supported says whether a WR that is no WRITE is one that the QP has, and well formed. */
bool mt_wr_is_supported(const struct mt_qp *qp, const struct rd_send_wr *wr, uint64_t length);
/* mt_wqe_extend makes what such a WR asks for of a WQE that was filled in as a WRITE. */
void mt_wqe_extend(struct mt_qp *qp, struct mt_wqe *wqe, const struct rd_send_wr *wr);
/*
 * mt_ext_may_begin says whether the next WQE of a QP with extensions may begin; what never may
 * fails in its turn.
 */
MT_COLD bool mt_ext_may_begin(struct mt_qp *qp, const struct mt_wqe *wqe);

#endif
