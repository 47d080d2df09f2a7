/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_qp_attr.h - which attributes a move of a QP wants, and what they are to the NIC. */
#ifndef SOFTMRC_LIBIBVERBS_VERBS_QP_ATTR_H
#define SOFTMRC_LIBIBVERBS_VERBS_QP_ATTR_H

#include "libibverbs/libibverbs.h"

/*
 * mv_qp_check_transition says whether a QP of this type may go from one state to another with these
 * attributes: all that the move requires, none that it does not know. EINVAL otherwise, also when
 * the move does not exist. IBTA's table of QP state transitions.
 */
int mv_qp_check_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			   int attr_mask);

/*
 * mv_qp_attr_to_nic translates what of the attributes concerns the NIC, and adds to *mask. EINVAL
 * names none: a value is outside of its range.
 */
int mv_qp_attr_to_nic(const struct ibv_qp_attr *attr, int attr_mask, struct rd_qp_attr *nic,
		      uint32_t *mask);

/*
 * mv_qp_attr_keep copies those of the attributes that verbs wants to see again and the NIC does not
 * keep.
 */
void mv_qp_attr_keep(struct ibv_qp_attr *kept, const struct ibv_qp_attr *attr, int attr_mask);

#endif
