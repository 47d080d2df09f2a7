/* SPDX-License-Identifier: BSD-2-Clause */
/* config.h - the settings at the top of a script. */
#ifndef SCRIPT_CONFIG_H
#define SCRIPT_CONFIG_H

#include "core/engine.h"
#include "words.h"

#define CONFIG_EVS_MAX MT_EVS_MAX

struct config {
	struct mt_engine_cfg engine;
	struct mt_ev_profile_cfg ev_profile; /* evs: i has the value i, on plane i % planes */
	struct mt_cc_profile_cfg cc;
	struct mt_qp_cap cap;
	struct rd_qp_attr attr;
	uint32_t paths;	   /* EV i leads over path i % paths; 0: each is a path of its own */
	uint64_t gap_ns;   /* between two data packets of the engine */
	uint64_t mr_bytes; /* of the region that the peer writes to */
	/* How many messages, and of these with immediate, went before: ours, and the peer's. */
	uint64_t msn, rqmsn, peer_msn, peer_rqmsn;
	bool rtr_only; /* the QP stops at RTR */
	bool read_only;
	bool extended; /* the QP has extensions, and up to 4 pieces a receive */
	uint8_t rnr_retry, rnr_timer;
	bool memory_short; /* the engine gets only what it has asked for */
};

void config_default(struct config *c);
/* config_parse reads the "key value" pairs that follow the word config. */
void config_parse(struct words *w, struct config *c);

#endif
