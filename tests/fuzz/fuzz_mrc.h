/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_mrc.h - what the files of fuzz_mrc share: the MRC objects of each of two devices. */
#ifndef FUZZ_MRC_H
#define FUZZ_MRC_H

#include <mrc.h>

#include "verbs_world.h"

#define PAIRS 2u
#define HINTS 2u
#define CQE 32

struct mrc_end {
	struct mrc_qp *qp;
	struct mrc_cq *cq;
	struct model_end model;
	struct mrc_qp_hint *hint;  /* that the QP has */
	bool solicited[STEPS_MAX]; /* which sends are */
	/* An event was asked for: by any completion, or only by one that is solicited or failed. */
	enum { ASKED_NOT, ASKED_SOLICITED, ASKED_ANY } asked;
};

struct mrc_side {
	struct mrc_context *context;
	struct mrc_comp_channel *channel;
	struct mrc_qp_hint *hint[HINTS];
	struct mrc_qp_hint_attr hint_attr[HINTS];
	struct mrc_end end[PAIRS];
};

struct mrc {
	struct world w;
	struct mrc_side of[SIDES];
};

/* ---- QPs, their states and attributes: mrc_end.c ---- */

/* mrc_end_open makes a QP that is not there; ENOMEM: numbers of QPs are used up. */
void mrc_end_open(struct mrc *m, uint32_t side, uint32_t p);
void mrc_end_destroy(struct mrc_end *e);
/* mrc_end_move moves a QP that is there to a state, with no attribute but that. */
void mrc_end_move(struct mrc_end *e, enum ibv_qp_state to);
/* mrc_end_connect makes what is not there, resets and connects both QPs of a pair. */
void mrc_end_connect(struct mrc *m, uint32_t p, uint8_t how);
/* mrc_end_modify sets attributes that the input chooses: all of them, or none. */
void mrc_end_modify(struct mrc *m, uint32_t side, uint32_t p);
/* mrc_end_state returns the state of a QP; it is what all ways to ask say. */
enum ibv_qp_state mrc_end_state(const struct mrc_end *e);

/* ---- the controller's calls: mrc_ctl_steps.c ---- */

void mrc_ctl_step(struct mrc *m, uint32_t side);

#endif
