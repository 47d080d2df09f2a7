/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames_world.h - the world of fuzz_frames.c: one software NIC with its QPs and memory, the hosts
 * around it, and the judge of what it sends.
 */
#ifndef FUZZ_FRAMES_WORLD_H
#define FUZZ_FRAMES_WORLD_H

#include "support/fuzz_input.h"
#include "support/virtual_nic.h"

#define BTH_BYTES 12u
#define PEER_QPN 0x14077u
#define RQ_PSN 1000u
#define SQ_PSN 0xFFFFF0u
#define Q_KEY 0x11111111u

/* ---- memory: regions with a gap before and behind each ---- */

#define GAP 4096u
enum region { OPEN, READ_ONLY, LOCAL, REGIONS };
#define REGION_BYTES 8192u
#define ARENA (GAP + REGIONS * (REGION_BYTES + GAP))

/* ---- hosts ---- */

enum host { PEER, UNKNOWN, OURSELVES, OUTSIDE, OTHER_FAMILY, HOSTS };

enum { RC_EXTENDED, RC_PLAIN, UD, UC, QPS };

struct world {
	struct fuzz_input in;
	struct virtual_nic *v;
	struct mh_nic *nic;
	struct mh_device *dev;
	struct mh_pd *pd;
	struct mh_cq *cq;
	struct mh_mr *mr[REGIONS], *null_mr;
	struct mh_mw *mw;
	struct mh_qp *qp[QPS];
	/* What the peer of a QP sends next, and what it got last. */
	uint32_t next_psn[QPS], last_psn[QPS];
	uint16_t next_msn[QPS], next_rqmsn[QPS], last_probe[QPS];
	uint8_t *arena, *before;
	uint64_t wr_id;
	uint32_t got[HOSTS], sent[HOSTS]; /* frames, by the host that they came from or go to */
};

/* world_address writes the address of a host on a plane. */
void world_address(const struct world *w, enum host host, uint32_t plane, uint8_t ip[16]);
/* world_is_tunnelled says whether the ICRC covers GIDs, and frames come from them. */
bool world_is_tunnelled(const struct world *w);
uint8_t *world_region(const struct world *w, enum region r);
void world_add_region(struct world *w, enum region r);
/* world_connect takes a QP from RESET to RTS; elsewhere it stays as it is. */
void world_connect(struct world *w, uint32_t i);
void world_open(struct world *w, const struct mh_env *env);
/* world_close ends all and checks that what no peer may write is as it was. */
void world_close(struct world *w);

#endif
