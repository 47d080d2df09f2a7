/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.h - what an adapter chooses when it makes an engine, a profile or a QP, and the ranges.
 *
 * Times are ns of the adapter's clock. The defaults are for a real NIC in a data centre; a
 * software NIC on a busy machine raises the floors (its driver says to what, and why).
 */
#ifndef SOFTMRC_CORE_CONFIG_H
#define SOFTMRC_CORE_CONFIG_H

#include "core/types.h"

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
	 * buffers: about an RTT under load. See core/state/engine_state.h.
	 */
	uint64_t backpressure_ns;
	/*
	 * After this long without use, or up to twice as long, a QP's windows go back to the pool.
	 * 0: they are kept until RESET.
	 */
	uint64_t idle_ns;
	/* Bytes after which a SACK is due (spec 7.5.2, trigger 1). */
	uint32_t sack_bytes;
	/*
	 * Bad EVs are probed, for all destinations together, no more often than once in this time
	 * in the long run; see core/endpoint/ev_probes.c.
	 */
	uint32_t revival_gap_ns;
	/*
	 * How long after a link has failed the adapter, or the peer, may say so; and how long after
	 * the only one is back the other end may not have it yet.
	 */
	uint64_t port_notice_ns;
	/* How long after a request was answered or given up a late answer may still arrive. */
	uint64_t ep_quarantine_ns;
	/* While no port is up retries are not used up, for so long at most. 0: they go on. */
	uint64_t no_port_ns;
	/*
	 * In place of sack_bytes while nothing is missing, for a peer that asks for SACKs by
	 * itself. A requester then asks where it needs to, and not at the end of each message;
	 * peers are taken to have our thresholds. Not more than sack_bytes: every message asks,
	 * and gets a SACK.
	 */
	uint32_t sack_in_order_bytes;
};

struct mt_engine_cfg {
	uint32_t n_ports;      /* 1 .. MT_PORTS_MAX */
	uint32_t max_qps;      /* power of two, 1 .. 2^20; QPNs must differ modulo it */
	uint32_t max_mrs;      /* 1 .. 2^24 - 1 */
	uint32_t max_profiles; /* EV profiles and CC profiles, 1 .. 1024 of each */
	uint32_t control_ring; /* NACKs, probe answers and ECN echoes waiting, of all QPs; power of
				  two, 1 .. 2^16 */
	uint32_t event_ring;   /* EV and QP events waiting to be polled; power of two, 1 .. 2^16 */
	uint32_t ep_requests; /* endpoint requests, quarantined ones too; power of two, 1 .. 2^16 */
	uint32_t endpoint;    /* number of this engine among those behind its address, 0 ..
				  MT_ENDPOINTS_MAX - 1; a peer's is what is left of its QPN ... */
	uint32_t qpn_index_bits; /* ... above this many bits, 14 .. 24; 24: each address has one */
	uint32_t ts_shift;	 /* log2 of the timestamp unit in ns; 7 (128 ns) on the wire */
	bool dynamic_mpr; /* for all QPs, as if each had agreed to it; peers that did not take
			     no notice of what SACKs offer */
	bool svc_time;	  /* stamps come back later by the time that the answer took, ours to
			     peers and theirs to our endpoint requests */
	/* Packets that may wait for others before them, of all QPs, 1 .. 2^20. */
	uint32_t max_buffered;
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
	 * NULL: each EV is a group of its own. Else n_evs numbers, each below n_evs: EVs of a port
	 * with the same number lead over the same links, to every destination.
	 */
	const uint16_t *group_ids;
	uint16_t n_active;     /* of these, in the rotation, at most one EV a group; the others are
				  backups. 1 .. n_evs */
	uint16_t min_active;   /* ASSUMED_BAD never leaves fewer than this usable. 1 .. n_active */
	uint8_t revive_probes; /* probes in a row that must be answered, 1 .. 16 */
	uint8_t ignores;       /* enum mt_ev_ignores; 0: MRC */
	/*
	 * Rounds take the EVs of a port in this order: set by a controller that gives each host an
	 * order of its own, so that hosts which begin together load different links. false: each
	 * round has a random order.
	 */
	bool ordered;
	uint64_t probe_interval_ns;	/* between probes of a bad EV */
	uint64_t probe_interval_max_ns; /* doubling stops here, see mt_ev_count_failure */
};

/* A field that is out of its range, for a message: its name, its value and what is allowed. */
struct mt_range_error {
	const char *field;
	uint64_t value, low, high;
};

/* mt_in_range says whether a field is in its range; if not, *error is set. */
static inline bool mt_in_range(struct mt_range_error *error, const char *field, uint64_t value,
			       uint64_t low, uint64_t high)
{
	*error = (struct mt_range_error){field, value, low, high};
	return value >= low && value <= high;
}

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
	uint32_t max_sge;  /* per send WR, 1 .. RD_SGE_MAX */
	bool signal_all;
	uint8_t extensions;   /* enum mw_ext: what to use where the peer knows it, too; 0: MRC */
	bool in_order;	      /* with extensions: see window.h */
	uint8_t max_recv_sge; /* per receive WR, 0 .. RD_SGE_MAX; with extensions only */
	uint32_t pd;	      /* protection domain; MRs of other PDs are refused */
	/*
	 * Where receives come from, or NULL; with extensions only, and max_recv_sge is at least the
	 * max_sge of the SRQ. Then rq_depth bounds how many the QP may have taken.
	 */
	struct mt_srq *srq;
};

/* Sizes fixed when an SRQ is made. */
struct mt_srq_cap {
	uint32_t depth;	  /* receives, 1 .. 32768 */
	uint32_t max_sge; /* of each, 0 .. RD_SGE_MAX */
	uint32_t pd;	  /* of the memory of receives, whatever that of the QPs is */
};

/* mt_engine_cfg_default fills in a configuration for n_ports ports of a hardware-like NIC. */
void mt_engine_cfg_default(struct mt_engine_cfg *cfg, uint32_t n_ports);
/* mt_qp_attr_default fills in what a QP has after RESET. */
void mt_qp_attr_default(struct rd_qp_attr *attr);

#endif
