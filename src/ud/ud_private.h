/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_private.h - the UD engine inside: QPs, and the destinations that datagrams went to lately.
 *
 * A destination is a host and one of the engines at its address. Only sending makes one known, and
 * what is kept has a fixed size: when there is no place, a destination that was not used for long
 * gives way, and where none can all paths are taken to be good. Probes are endpoint requests, which
 * every engine answers without keeping anything; at most MU_ROUND_PROBES of them leave in
 * MU_PEERS_ROUND_NS, whatever the number of destinations.
 */
#ifndef SOFTMRC_UD_UD_PRIVATE_H
#define SOFTMRC_UD_UD_PRIVATE_H

#include "base/list.h"
#include "base/prng.h"
#include "core/ev/ev_set.h"
#include "ud/ud.h"

/* Probes of a round: one on the EV that was answered last, some on doubtful ones, some on the good
 * ones one after the other. */
#define MU_ROUND_PROBES 5u
#define MU_ROUND_DOUBTFUL 2u
#define MU_TRIES 3u
/* From one round to the next, at least; a round without any answer doubles it, six times. */
#define MU_ROUND_NS UINT64_C(20000000)
#define MU_ROUND_SHIFTS 6u
/* A bad EV is asked again after MU_ROUND_NS, doubling with each failure up to this. */
#define MU_BAD_MAX_NS (MU_ROUND_NS << 4)

/* One probe of the round that is under way. */
struct mu_probe {
	uint16_t ev;
	bool answered;
};

/* The EVs of a destination, and the rounds of probes that judge them. */
struct mu_health {
	struct mt_ev_set *set;
	uint64_t next_ns;	   /* the next round */
	uint16_t next_good;	   /* the good EV to be asked next */
	uint16_t next_doubtful;	   /* where the search for doubtful ones goes on */
	uint16_t answered;	   /* the EV that was answered last, or MT_EV_NONE */
	uint8_t rounds_unanswered; /* rounds in a row without an answer */
	bool doubtful;		   /* a good EV failed last time it was asked */
	uint8_t n_asked, n_open;
	struct mu_probe asked[MU_ROUND_PROBES];
};

/* mu_health_size returns the bytes of an EV set with all that it needs. */
size_t mu_health_size(uint16_t n_evs, uint32_t n_ports);
/* mu_health_init makes all EVs of cfg good ones; mem is the caller's, aligned to 8. */
void mu_health_init(struct mu_health *h, void *mem, const struct mu_cfg *cfg,
		    const struct rd_gid *dest, uint64_t now_ns);

/* mu_health_is_due says whether a round may begin. */
static inline bool mu_health_is_due(const struct mu_health *h, uint64_t now_ns)
{
	return h->n_open == 0 && now_ns >= h->next_ns;
}

/*
 * mu_health_choose_evs fills in which EVs a round that begins now should ask, and returns how many.
 * mu_health_probe_sent then says that a probe on an EV is on its way, in the same instant; an EV
 * that cannot be asked is left out.
 */
uint32_t mu_health_choose_evs(struct mu_health *h, uint64_t now_ns, uint16_t evs[MU_ROUND_PROBES]);
void mu_health_probe_sent(struct mu_health *h, uint16_t ev);
/* mu_health_probe_timeout returns how long an answer is waited for, in this round. */
uint64_t mu_health_probe_timeout(const struct mu_health *h);
/*
 * mu_health_probe_ended takes the end of a probe of this round; rtt_ns matters if it was answered.
 * The last one is the end of the round; what that changes is added to counts.
 */
void mu_health_probe_ended(struct mu_health *h, uint16_t ev, bool was_answered, uint64_t rtt_ns,
			   uint64_t now_ns, struct mu_counts *counts);

/* Destinations that are kept: sets of a few, found by a hash. */
#define MU_PEER_SETS 64u
#define MU_PEER_WAYS 4u
#define MU_PEERS_ROUND_NS UINT64_C(10000000)

struct mu_peer {
	struct rd_gid dest;
	uint32_t endpoint;
	uint32_t number; /* its place in the table */
	uint64_t used_ns;
	struct mu_health health;
	uint64_t mem[]; /* of health.set */
};

struct mu_engine {
	struct mu_env env;
	struct mu_cfg cfg;
	struct mu_counts counts;
	struct mb_prng prng;
	struct mb_link senders; /* struct mu_qp.sender: QPs in RTS with datagrams to send */
	uint64_t next_round_ns;
	bool has_probes; /* probes wait in the MRC engine to be sent */
	uint16_t n_denied;
	uint32_t allowed_ports;		   /* from which a path leaves that is not denied */
	uint64_t denied[MT_EVS_MAX / 64u]; /* paths that a controller has taken away */
	struct mu_peer *peer[MU_PEER_SETS * MU_PEER_WAYS];
	struct mt_ev evs[]; /* of every destination; an index is a path */
};

struct mu_send {
	uint64_t wr_id;
	struct rd_gid dest;
	uint32_t qpn, q_key;
	uint32_t imm;
	uint32_t bytes;
	uint32_t flags; /* enum rd_send_flags */
	uint32_t n_sge;
	uint8_t traffic_class;
};

/* The path that datagrams take for a moment, see ud_tx.c. */
struct mu_path {
	uint32_t next;	   /* of all paths, which one is taken next */
	uint32_t number;   /* of this one */
	uint64_t until_ns; /* it is left then in any case, */
	uint64_t used_ns;  /* and when nothing was sent on it for a while */
};

struct mu_qp {
	struct mu_engine *e;
	void *user;
	struct mb_link sender;	/* in e->senders while WRs wait to be sent */
	struct rd_qp_attr attr; /* sq_psn: of the next datagram */
	uint32_t number;
	bool is_uc;	      /* attr.dest and attr.dest_qpn are its peer */
	uint32_t pd, recv_pd; /* MRs of sends and receives belong to these */
	struct mu_path path;
	struct mu_peer *peer; /* to which the last datagram went, or NULL */
	/* Send WRs and their SGEs, by number modulo depth. */
	struct mu_send *send;
	struct rd_sge *sge; /* max_sge for each */
	uint32_t depth, max_sge;
	uint64_t posted, done; /* send WRs below these numbers are posted, or complete */
	struct mt_srq *recvs;  /* the QP's SRQ, or one of its own in */
	void *own_recvs;       /* this memory */
	uint64_t recvs_done;   /* receives of its own that are complete */
};

/* mu_complete_send completes the oldest send WR, mu_complete_recv the oldest receive. */
void mu_complete_send(struct mu_qp *qp, enum rd_wc_status status);
void mu_complete_recv(struct mu_qp *qp, struct mu_completion *c);
/*
 * mu_find_mr tells where the bytes of an SGE are, if they are of an MR of this PD that grants these
 * rights; false: they are not, or of a null MR.
 */
bool mu_find_mr(const struct mu_engine *e, uint32_t pd, uint32_t access, const struct rd_sge *sge,
		struct mt_mr_part *part);

/* mu_is_path_denied says whether a path is not to be taken, whatever is known of it. */
static inline bool mu_is_path_denied(const struct mu_engine *e, uint32_t path)
{
	return e->denied[path / 64] >> path % 64 & 1;
}

/*
 * mu_peers_find returns the destination of datagrams to a QP, and asks it for paths when that is
 * due; `last` is what it returned last, for a quick look, or NULL. NULL: nothing is known of it.
 */
struct mu_peer *mu_peers_find(struct mu_engine *e, struct mu_peer *last, const struct rd_gid *dest,
			      uint32_t qpn, uint64_t now_ns);
/* mu_peer_is_path_bad says whether a path does not lead there. */
static inline bool mu_peer_is_path_bad(const struct mu_peer *peer, uint32_t path)
{
	return peer && !mt_ev_is_usable(peer->health.set, (uint16_t)path);
}
/* mu_peers_flush sends the probes that mu_peers_find made. */
void mu_peers_flush(struct mu_engine *e, uint64_t now_ns);

#endif
