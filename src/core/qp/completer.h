/* SPDX-License-Identifier: BSD-2-Clause */
/* completer.h - what the parts of the completer share. */
#ifndef SOFTMRC_CORE_QP_COMPLETER_H
#define SOFTMRC_CORE_QP_COMPLETER_H

#include "core/qp/qp.h"

/* mt_completer_received_below marks all below `expected` received; true in *progress: it was
 * news. */
void mt_completer_received_below(struct mt_qp *qp, uint64_t expected, bool *progress);
/* mt_completer_update follows whatever was learnt: timers, byte counts, and sending goes on. */
void mt_completer_update(struct mt_qp *qp, uint64_t now_ns, bool progress);

#endif
