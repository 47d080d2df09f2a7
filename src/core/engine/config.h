/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.h - what an adapter chooses when it makes an engine, a profile or a QP, and the ranges.
 *
 * Times are ns of the adapter's clock. The defaults are for a real NIC in a data centre; a
 * software NIC on a busy machine raises the floors (its driver says to what, and why).
 */
#ifndef SOFTMRC_CORE_ENGINE_CONFIG_H
#define SOFTMRC_CORE_ENGINE_CONFIG_H

#include "core/engine/types.h"

/* Loss detection and acknowledgement, for all QPs of an engine. */
struct mt_timing {
	/*
	 * A PSN reported missing is lost once the report was triggered by a packet sent one reorder
	 * window later. The window follows the measured RTT spread between these two bounds.
	 */
	uint64_t reorder_min_ns;
	uint64_t reorder_max_ns;
	/* Added to that spread: for how long a port of the fabric may hold a packet before it trims
	 * or drops, which nothing measured so far needs to have seen. */
	uint64_t port_hold_ns;
	/* Silence after which a reliability probe asks for a SACK: 2 RTT, but at least this. */
	uint64_t tail_probe_min_ns;
	/* The ACK timeout is 1.024 us * 2^timeout of the QP (0: 1.024 us), but at least this. */
	uint64_t rto_min_ns;
	/*
	 * For how long SACKs ask senders for less after received packets were lost for want of
	 * buffers: about an RTT under load. See pressure.h.
	 */
	uint64_t backpressure_ns;
	/*
	 * After this long without use, or up to twice as long, a QP's windows go back to the pool.
	 * 0: they are kept until RESET.
	 */
	uint64_t idle_ns;
	/* Bytes after which a SACK is due (spec 7.5.2, trigger 1). */
	uint32_t sack_bytes;
	/* How long after a link has failed the adapter, or the peer, may say so. */
	uint64_t port_notice_ns;
	/* How long after a request was answered or given up a late answer may still arrive. */
	uint64_t ep_quarantine_ns;
};

struct mt_engine_cfg {
	uint32_t n_ports;      /* 1 .. MT_PORTS_MAX */
	uint32_t max_qps;      /* power of two, 1 .. 2^20; QPNs must differ modulo it */
	uint32_t max_mrs;      /* 1 .. 2^24 - 1 */
	uint32_t max_profiles; /* EV profiles and CC profiles, 1 .. 1024 of each */
	uint32_t control_ring; /* NACKs, probe answers and ECN echoes waiting; power of two, 1 ..
				  2^16 */
	uint32_t event_ring;   /* EV and QP events waiting to be polled; power of two, 1 .. 2^16 */
	uint32_t ep_requests;  /* endpoint requests under way or resting; power of two, 1 .. 2^16 */
	uint32_t endpoint;     /* number of this engine among those behind its address, 0 ..
				  MT_ENDPOINTS_MAX - 1; a peer's is what is left of its QPN ... */
	uint32_t qpn_index_bits; /* ... above this many bits, 14 .. 24; 24: each address has one */
	uint32_t ts_shift;	 /* log2 of the timestamp unit in ns; 7 (128 ns) on the wire */
	bool dynamic_mpr; /* for all QPs, as if each had agreed to it; peers that did not take
			     no notice of what SACKs offer */
	bool svc_time;	  /* stamps come back later by the time that the answer took, ours to
			     peers and theirs to our endpoint requests */
	uint32_t max_run; /* new data packets of a QP in a row on one EV, 1 .. MT_RUN_MAX */
	uint64_t seed;	  /* of the engine's PRNG */
	struct mt_timing timing;
};

/*
 * What EVs do not react to. None of it is MRC, which reacts to all: it is there so that simulations
 * can say what each part is worth.
 */
enum mt_ev_ignores {
	MT_EV_IGNORES_MARKS = 1u << 0, /* ECN echoes: congestion control alone hears them */
	MT_EV_IGNORES_TRIMS = 1u << 1, /* trimmed packets, likewise */
	MT_EV_IGNORES_LOSS = 1u << 2,  /* no EV is ever ASSUMED_BAD */
	MT_EV_NO_PROBES = 1u << 3,     /* an EV that is stays so */
	MT_EV_IGNORES_END = 1u << 4,
};

/*
 * An EV profile: which EVs the QPs that name it may use. Read when the first QP to a destination
 * is connected; the arrays are copied, unless they stay where they are for as long as the engine:
 * many engines may share them.
 */
struct mt_ev_profile_cfg {
	const struct mt_ev *evs;
	bool is_static; /* evs and group_ids do */
	uint16_t n_evs; /* 1 .. MT_EVS_MAX; the same on every port, if planes are to be equal */
	/*
	 * NULL: each EV is a path of its own. Else n_evs numbers, each below n_evs: EVs of a port
	 * with the same number lead over the same links, to every destination.
	 */
	const uint16_t *group_ids;
	uint16_t n_active;     /* of these, in the rotation, at most one EV a path; the others are
				  backups. 1 .. n_evs */
	uint16_t min_active;   /* ASSUMED_BAD never leaves fewer than this usable. 1 .. n_active */
	uint8_t revive_probes; /* probes in a row that must be answered, 1 .. 16 */
	uint8_t ignores;       /* enum mt_ev_ignores; 0: MRC */
	uint64_t probe_interval_ns;	/* between probes of a bad EV */
	uint64_t probe_interval_max_ns; /* doubling after each failure stops here */
};

enum mt_cc_kind {
	MT_CC_NONE, /* the window is MPR alone */
	MT_CC_NSCC, /* UET's network-signal congestion control, "uet-1.0-nscc" */
};

/*
 * A CC profile. NSCC takes link rate and base RTT and derives the rest as UEC does; of every other
 * field zero stands for the derived value. Fractions are in 1/65536. The controller API's names are
 * in brackets where they differ. mt_cc_profile_check knows the ranges.
 */
struct mt_cc_profile_cfg {
	uint8_t kind;		  /* enum mt_cc_kind */
	bool trimming;		  /* the fabric trims: smaller target delay */
	bool disable_quick_adapt; /* [disable_qa] */
	uint8_t qa_gate;      /* quick adapt acts below max_cwnd / 2^qa_gate, 1 .. 31; derived: 3 */
	uint64_t link_bps;    /* rate of all ports together, 10^6 .. 8 x 10^12 */
	uint64_t base_rtt_ns; /* of the empty network, 100 .. 5 x 10^8 */
	/*
	 * The base RTT follows smaller samples, but never below this; up to base_rtt_ns, which
	 * keeps it where it is. Where an RTT is mostly scheduling, as between processes, one sample
	 * without any must not shrink the largest window to nothing. Derived: no floor.
	 */
	uint64_t base_rtt_min_ns;
	uint64_t target_qdelay_ns; /* [target_delay] 0.75 base RTT with trimming, else 1 */
	uint64_t max_cwnd_bytes;   /* [max_cwnd] 1.5 bandwidth-delay products */
	uint64_t qa_threshold_ns;  /* delay as bad as a loss, without trimming: 4 targets */
	uint64_t adjust_period_ns; /* [adjust_period_threshold] base_rtt_ns */
	uint64_t adjust_bytes;	   /* [adjust_bytes_threshold] 8 packets */
	uint64_t eta_bytes;	   /* [eta] added each period; 0.15 packets, scaled */
	uint64_t fair_bytes;	   /* [fi] for each byte received; 5 packets, scaled */
	uint32_t fast_q16;	   /* [fi_scale] 0.25, scaled */
	uint32_t gamma_q16;	   /* [gamma] 0.8 */
	uint32_t max_md_jump_q16;  /* [max_md_jump] the largest cut, 1 .. 65536: 0.5 */
};

/* Sizes fixed when a QP is made. */
struct mt_qp_cap {
	uint32_t sq_depth; /* WQEs, 1 .. 32768 */
	uint32_t rq_depth; /* 0 .. 32768 */
	uint32_t max_sge;  /* per send WR, 1 .. MT_SGE_MAX */
	bool signal_all;
	uint8_t extensions;   /* enum mw_ext: what to use where the peer knows it, too; 0: MRC */
	bool in_order;	      /* with extensions: see in_order.h */
	uint8_t max_recv_sge; /* per receive WR, 0 .. MT_SGE_MAX; with extensions only */
	uint32_t pd;	      /* protection domain; MRs of other PDs are refused */
	/*
	 * Where receives come from, or NULL; with extensions only, and max_recv_sge is the SRQ's.
	 * Then rq_depth bounds how many the QP may have taken.
	 */
	struct mt_srq *srq;
};

/* Sizes fixed when an SRQ is made. */
struct mt_srq_cap {
	uint32_t depth;	  /* receives, 1 .. 32768 */
	uint32_t max_sge; /* of each, 0 .. MT_SGE_MAX */
	uint32_t pd;	  /* of the memory of receives, whatever that of the QPs is */
};

enum mt_qp_attr_mask {
	MT_QP_STATE = 1u << 0,
	MT_QP_DEST = 1u << 1, /* dest and dest_qpn */
	MT_QP_RQ_PSN = 1u << 2,
	MT_QP_SQ_PSN = 1u << 3,
	MT_QP_PATH_MTU = 1u << 4,
	MT_QP_ACCESS = 1u << 5,
	MT_QP_MPR = 1u << 6,
	MT_QP_MPR_DEST = 1u << 7,
	MT_QP_MAX_WIMM = 1u << 8,
	MT_QP_MAX_WIMM_DEST = 1u << 9,
	MT_QP_TIMEOUT = 1u << 10,
	MT_QP_RETRY = 1u << 11,
	MT_QP_EV_PROFILE = 1u << 12,
	MT_QP_CC_PROFILE = 1u << 13,
	MT_QP_P_KEY = 1u << 14,
	MT_QP_TRIM_NACK = 1u << 15,
	MT_QP_DYNAMIC_MPR = 1u << 16,
	MT_QP_SVC_TIME_DEST = 1u << 17,
	MT_QP_RNR_RETRY = 1u << 18,
	MT_QP_MIN_RNR_TIMER = 1u << 19,
	/* 1u << 20 is the adapter's. */
	MT_QP_MAX_RD_ATOMIC = 1u << 21,
	MT_QP_MAX_DEST_RD_ATOMIC = 1u << 22,
};

/* What mt_qp_modify sets and mt_qp_query returns. */
struct mt_qp_attr {
	enum mt_qp_state state;
	struct mt_addr dest;
	uint32_t dest_qpn;	/* 24 bits */
	uint32_t rq_psn;	/* first PSN expected, 24 bits */
	uint32_t sq_psn;	/* first PSN sent, 24 bits */
	uint32_t path_mtu;	/* payload bytes: 256, 512, 1024, 2048 or 4096 */
	uint32_t access;	/* enum mt_access: what peers may do through this QP */
	uint8_t mpr;		/* PSNs in flight as requester, units of 128, 1 .. 255 */
	uint8_t mpr_dest;	/* window as responder, units of 128, 1 .. 255 */
	uint16_t max_wimm;	/* WRITE_WITH_IMM in flight as requester, >= 1 */
	uint16_t max_wimm_dest; /* stashed as responder, 1 .. 1024 */
	uint8_t timeout;	/* 1.024 us * 2^timeout, 0 .. 24 */
	uint8_t retry_linear;	/* 0 .. 7 */
	uint8_t retry_exp;	/* 0 .. 25, 25 = for ever */
	/* Retries after RNR NAKs; 7 = for ever. */
	uint8_t rnr_retry : 3;
	uint8_t min_rnr_timer : 5; /* how long a peer is asked to wait; code of mt_rnr_wait_ns */
	uint16_t p_key;
	uint8_t max_rd_atomic;	    /* READs and atomics outstanding, 0 .. MT_RD_ATOMIC_MAX */
	uint8_t max_dest_rd_atomic; /* the same as responder */
	uint32_t ev_profile;
	uint32_t cc_profile;
	bool trim_nack;	    /* answer trimmed packets with a NACK */
	bool svc_time_dest; /* the peer's stamps are later by the time it took: its cfg.svc_time */
	bool dynamic_mpr;   /* both ends agreed: windows follow the MPR field of SACKs */
	bool draining; /* mt_qp_query only: in SQD, and a send WR that has begun is not complete */
};

/* mt_engine_cfg_default fills in a configuration for n_ports ports of a hardware-like NIC. */
void mt_engine_cfg_default(struct mt_engine_cfg *cfg, uint32_t n_ports);
/* mt_qp_attr_default fills in what a QP has after RESET. */
void mt_qp_attr_default(struct mt_qp_attr *attr);

#endif
