/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.h - the whole boundary of the protocol core.
 *
 * An engine is one MRC endpoint: ports, memory regions, QPs, timers. It is a pure machine: the
 * adapter gives it the time and packets, and asks it for packets, events and its next deadline. It
 * never asks for anything, never blocks, allocates nothing and keeps no global state. Calls on one
 * engine must not overlap; different engines are independent.
 *
 * The adapter's loop, in a host, a simulator or a test alike:
 *
 *	mt_engine_rx()    for each packet that arrived
 *	mt_engine_tick()  when now >= mt_engine_deadline()
 *	mt_engine_tx()    until it returns fewer than asked for
 *	mt_engine_poll()  until it returns fewer than asked for
 */
#ifndef SOFTMRC_CORE_ENGINE_H
#define SOFTMRC_CORE_ENGINE_H

#include "core/config.h"
#include "core/stats.h"
#include "core/types.h"

/* An atomic operation on 8 bytes of an MR, as a number in the machine's own byte order. */
struct mt_atomic {
	bool swaps;  /* if what is there equals `compare`, swap_add is stored; else it is added */
	bool stores; /* swap_add is stored, whatever is there */
	uint64_t swap_add;
	uint64_t compare;
};

/* What the adapter does for the core. The calls return at once and call nothing of the core. */
struct mt_env {
	void *ctx;
	/*
	 * place stores len bytes of a received payload at `offset` in the MR whose cookie is
	 * mr_user. Bounds and rights were checked. src is NULL where packets carry no payload (a
	 * simulator). false: the memory is gone; the message is refused.
	 */
	bool (*place)(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len);
	/*
	 * atomic carries *op out at `offset` of that MR, atomically towards all others that do, and
	 * returns what was there in *original. false: the memory is gone, or not aligned. NULL: QPs
	 * have neither MW_EXT_ATOMIC nor MW_EXT_ATOMIC_WRITE.
	 */
	bool (*atomic)(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
		       uint64_t *original);
};

/* ---- life ---- */

/* mt_engine_size returns the bytes that an engine of this configuration needs; 0: cfg is
 * invalid. */
size_t mt_engine_size(const struct mt_engine_cfg *cfg);
/*
 * mt_engine_init builds an engine in mem (mt_engine_size bytes, 64-byte aligned, owned by the
 * caller until the engine is no longer used) and returns it. cfg and env are copied.
 */
struct mt_engine *mt_engine_init(void *mem, const struct mt_engine_cfg *cfg,
				 const struct mt_env *env, uint64_t now_ns);
/*
 * mt_engine_add_memory gives the engine a chunk for windows and EV sets: 64-byte aligned, owned
 * by the caller, to be kept as long as the engine. mt_engine_memory_wanted returns what was missed
 * last since then, 0 for nothing. After MT_ERR_MEMORY add a chunk of at least that size and call
 * again; a call that needs several blocks may want more than once. Look after mt_engine_rx, too:
 * a packet whose window could not be had was answered with a NACK, and its sender comes back.
 * mt_engine_memory_used returns the bytes of blocks that are in use now.
 */
void mt_engine_add_memory(struct mt_engine *e, void *chunk, size_t size);
size_t mt_engine_memory_wanted(const struct mt_engine *e);
size_t mt_engine_memory_used(const struct mt_engine *e);

/* ---- the five verbs ---- */

/*
 * mt_engine_rx takes one decoded packet. payload points to pkt->payload_len bytes, or is NULL where
 * only lengths travel. Whatever the packet holds, the worst outcome is a counter.
 */
void mt_engine_rx(struct mt_engine *e, uint64_t now_ns, const struct mt_rx_meta *meta,
		  const struct mw_packet *pkt, const void *payload);
/* mt_engine_rx_bytes decodes what follows the UDP header (ICRC not included), then mt_engine_rx. */
void mt_engine_rx_bytes(struct mt_engine *e, uint64_t now_ns, const struct mt_rx_meta *meta,
			const void *bytes, size_t len);
/*
 * mt_engine_rx_expected says whether it pays to compute the ICRC of a packet: of `len` bytes, ICRC
 * not included, with this opcode for this QPN. If not, it is dropped and counted by the reason.
 */
bool mt_engine_rx_expected(struct mt_engine *e, const struct mt_rx_meta *meta, uint32_t qpn,
			   uint8_t opcode, size_t len);
/*
 * mt_engine_prefetch_qp says that a packet with this opcode for this QPN is about to be given, some
 * eight packets ahead: a hint that hides the time its QP takes to come from memory. Some four
 * packets ahead mt_engine_prefetch_qp_parts does so for what the QP points to. Nothing comes of a
 * wrong one.
 */
void mt_engine_prefetch_qp(const struct mt_engine *e, uint32_t qpn, uint8_t opcode);
void mt_engine_prefetch_qp_parts(const struct mt_engine *e, uint32_t qpn, uint8_t opcode);
/*
 * mt_qp_memory writes where the memory lies that packets of a connected QP touch besides its
 * engine: at most MT_QP_PIECES pieces, and returns how many. For adapters with so many engines that
 * each is found in no cache, which ask for it ahead of time. Good until the QP is modified.
 */
struct mt_piece {
	const void *at;
	size_t size;
};
#define MT_QP_PIECES 2u
uint32_t mt_qp_memory(const struct mt_qp *qp, struct mt_piece pieces[MT_QP_PIECES]);
/*
 * mt_engine_rx_overflow says that the adapter received `packets` packets and had to throw them
 * away (a socket's receive buffer was full). Peers are asked to send less for a while.
 */
void mt_engine_rx_overflow(struct mt_engine *e, uint64_t now_ns, uint64_t packets);
/*
 * mt_engine_rx_capacity says how many packets the adapter's receive buffers really hold; 0: not
 * known, as at the start. The MPR that QPs with dynamic MPR are offered follows; and what is in
 * flight to any one destination is bounded by it, since a peer's buffers are taken to be alike.
 */
void mt_engine_rx_capacity(struct mt_engine *e, uint32_t packets);
/*
 * mt_engine_tx fills at most n descriptors with packets to send now and returns how many. Bit p of
 * free_ports says that port p has room for n more data packets; control packets do not wait for
 * room. Fewer than n: nothing more may be sent until something is posted or comes, a port that had
 * no room has some, or mt_engine_deadline is due: a QP that skips an EV leaves the turn to the next
 * port, and one without room has it for the time of a packet. With room on all ports that are up,
 * what may be sent is sent. What a descriptor names is counted as sent.
 */
uint32_t mt_engine_tx(struct mt_engine *e, uint64_t now_ns, uint32_t free_ports,
		      struct mt_tx_desc *descs, uint32_t n);
/* mt_engine_tx_is_blocked says whether data could be sent if a port had room. */
bool mt_engine_tx_is_blocked(const struct mt_engine *e);
/* mt_engine_deadline returns when mt_engine_tick must be called, UINT64_MAX for never. */
uint64_t mt_engine_deadline(const struct mt_engine *e);
/* mt_engine_tick runs the timers that are due. Packets that result come out of mt_engine_tx. */
void mt_engine_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_engine_poll takes at most n events and returns how many it took, in order for each QP. */
uint32_t mt_engine_poll(struct mt_engine *e, struct mt_event *events, uint32_t n);

/* ---- ports ---- */

/*
 * mt_engine_port_set says whether a local port (0 .. n_ports-1) can send and receive; all are up at
 * first. The EVs of a port that is down are not used by anything, from the next packet on, and none
 * of them is held to be bad for what was lost with it; a port that comes back is used at once.
 * Peers get a port status. With all ports down nothing is sent; timers go on. Call mt_engine_tx
 * afterwards. MT_ERR_INVALID: no such port. REQ(ep.port.local-down) REQ(ep.port.return)
 */
int mt_engine_port_set(struct mt_engine *e, uint64_t now_ns, uint32_t port, bool up);
/* mt_engine_ports_up returns the ports that are up, bit p for port p. */
uint32_t mt_engine_ports_up(const struct mt_engine *e);

/* ---- endpoint requests ---- */

/*
 * mt_engine_ep_request sends one request to an endpoint and reports its end as an event; *id (may
 * be NULL) is the number it goes by. MT_ERR_INVALID: op, port, class, endpoint or timeout out of
 * range. MT_ERR_STATE: the port is down. MT_ERR_EXISTS: the given id is in use, or was so lately
 * that a late answer could be taken for the new one's. MT_ERR_FULL: too many are outstanding,
 * quarantined or unpolled; try again later. REQ(ep.probe.id-reuse)
 */
int mt_engine_ep_request(struct mt_engine *e, uint64_t now_ns, const struct mt_ep_request *req,
			 uint16_t *id);

/* ---- memory regions ---- */

/*
 * mt_mr_add registers [start, start + length) under a key, which is both lkey and rkey. Of its bits
 * from 8 on, as many as max_mrs has are an index (1 .. max_mrs), by which it is found; the others
 * are free, and are to be as hard to guess as those. mr_user comes back in env->place.
 * MT_ERR_EXISTS: the index is taken. MT_ERR_INVALID: index or wrap-around of the range.
 */
int mt_mr_add(struct mt_engine *e, uint32_t key, uint32_t pd, uint64_t start, uint64_t length,
	      uint32_t access, void *mr_user);
/*
 * mt_mr_remove makes the key of index invalid at once; MT_ERR_INVALID: no such MR; MT_ERR_STATE:
 * windows are bound to it.
 */
int mt_mr_remove(struct mt_engine *e, uint32_t index);

/* Where bytes of an MR are. */
struct mt_mr_part {
	void *mr_user;
	uint64_t offset; /* from the beginning of the MR */
	uint32_t pd;
	uint32_t access; /* enum rd_access */
};

/*
 * mt_mr_find fills in *part for [addr, addr + len) of the MR that lkey names. false: no MR has this
 * key, or some of the bytes are outside of it. For SGEs of descriptors, whose MR may be gone.
 */
bool mt_mr_find(const struct mt_engine *e, uint32_t lkey, uint64_t addr, uint64_t len,
		struct mt_mr_part *part);
/*
 * mt_mw_add enters a memory window, bound to nothing, under a key whose index no MR has, until a WR
 * binds it under another, which differs in the low 8 bits only. Errors as mt_mr_add, and
 * MT_ERR_INVALID: type. mt_mw_remove takes it out, bound or not; its key is invalid at once.
 * MT_ERR_INVALID: no such window.
 */
int mt_mw_add(struct mt_engine *e, uint32_t key, uint32_t pd, enum rd_mw_type type);
int mt_mw_remove(struct mt_engine *e, uint32_t index);

/* ---- profiles ---- */

/*
 * mt_ev_profile_set defines profile `id` (0 .. max_profiles-1) for QPs connected from now on.
 * MT_ERR_INVALID names a bad count, port or interval; MT_ERR_MEMORY as above.
 */
int mt_ev_profile_set(struct mt_engine *e, uint32_t id, const struct mt_ev_profile_cfg *cfg);
/*
 * mt_ev_profile_clear takes a profile away that no QP is to name any more; those that use it keep
 * its EVs.
 */
void mt_ev_profile_clear(struct mt_engine *e, uint32_t id);
/*
 * mt_ev_profile_deny sets EV i of a profile DENIED, or GOOD again, for all its destinations, those
 * too that QPs connect to from now on; a controller's decision, which no packet overrules. Packets
 * that were handed out are sent. MT_ERR_INVALID: no such profile or EV. MT_ERR_STATE: it is the
 * last EV of the profile that is not denied. MT_ERR_MEMORY: as above; call again.
 * REQ(ctl.ev-denied)
 */
int mt_ev_profile_deny(struct mt_engine *e, uint32_t id, uint32_t i, bool deny);
/*
 * mt_ev_profile_replace gives EV i of a profile another value, from the next packet on and for all
 * its destinations; it leaves by the port it had, and is GOOD unless it is denied. MT_ERR_INVALID:
 * no such profile or EV, or its EVs are static.
 */
int mt_ev_profile_replace(struct mt_engine *e, uint32_t id, uint32_t i, uint32_t value);
/*
 * mt_ev_profile_states writes, of each EV of a profile, whether it is DENIED, ASSUMED_BAD for one
 * of the destinations at least, or GOOD; MT_EV_STATES: no QP uses it. Returns how many EVs there
 * are; 0: no such profile. `states` has room for MT_EVS_MAX.
 */
uint32_t mt_ev_profile_states(const struct mt_engine *e, uint32_t id, uint8_t *states);
/*
 * mt_cc_profile_check says whether every field is in its range; if not, *error names the first that
 * is not. 0 is allowed besides the range. For adapters that take profiles from people.
 */
bool mt_cc_profile_check(const struct mt_cc_profile_cfg *cfg, struct mt_range_error *error);
/*
 * mt_cc_profile_set defines CC profile `id` (0 .. max_profiles-1). QPs that use it already keep
 * their algorithm and their window, and go by the new constants from their next SACK on.
 * MT_ERR_INVALID: id, or what mt_cc_profile_check finds.
 */
int mt_cc_profile_set(struct mt_engine *e, uint32_t id, const struct mt_cc_profile_cfg *cfg);
/* mt_cc_profile_clear: no QP may name the profile from now on; those that do keep it as it is. */
void mt_cc_profile_clear(struct mt_engine *e, uint32_t id);

/* ---- queue pairs ---- */

/*
 * mt_qp_cap_check says whether a QP can be made with these capabilities; if not, *error names the
 * first field that is out of its range. The range of max_recv_sge begins at the max_sge of the SRQ.
 */
bool mt_qp_cap_check(const struct mt_qp_cap *cap, struct mt_range_error *error);
/* mt_qp_size returns the bytes that a QP needs; 0: mt_qp_cap_check refuses cap. */
size_t mt_qp_size(const struct mt_qp_cap *cap);
/*
 * mt_qp_init builds a QP in RESET in mem (64-byte aligned, owned by the caller until mt_qp_fini)
 * under the number qpn (24 bits, not 0..2). MT_ERR_EXISTS: another QP has qpn modulo max_qps.
 * MT_ERR_INVALID: qpn, what mt_qp_cap_check finds, or atomics where the adapter has none.
 */
int mt_qp_init(struct mt_engine *e, void *mem, const struct mt_qp_cap *cap, uint32_t qpn,
	       void *qp_user, struct mt_qp **qp);
/* mt_qp_fini takes the QP out of its engine; unpolled completions are lost with it. */
void mt_qp_fini(struct mt_qp *qp);
/*
 * mt_qp_modify sets the attributes in mask and then, with RD_QP_STATE, the state. All is checked
 * first: on an error nothing has changed. RTR wants RD_QP_DEST now or before. ERR flushes what is
 * queued; RESET drops it. SQD finishes the send WRs of which a packet was sent and begins no other
 * before RTS; MT_EVENT_SQ_DRAINED, once for each move to SQD, says that it has. now_ns as in the
 * verbs.
 */
int mt_qp_modify(struct mt_qp *qp, uint64_t now_ns, const struct rd_qp_attr *attr, uint32_t mask);
void mt_qp_query(const struct mt_qp *qp, struct rd_qp_attr *attr);
/* mt_qp_can_move says whether IBTA has this move of a QP; RTR to RTR is none, for instance. */
bool mt_qp_can_move(enum rd_qp_state from, enum rd_qp_state to);
/*
 * mt_qp_post_send queues a send WR. What the peer does not have fails when the WR is the oldest, as
 * RD_WC_REM_OP_ERR. MT_ERR_STATE: not RTS, SQD or ERR (in ERR it is flushed). MT_ERR_FULL: sq_depth
 * WRs are unpolled. MT_ERR_INVALID: SGE count, 2^32 bytes and more, an operation that the QP's
 * extensions have not, or one without packets, a READ or atomic with an immediate or while
 * max_rd_atomic is 0, an atomic whose SGE is not one of 8 bytes. MT_ERR_ACCESS: an SGE; a QP with
 * extensions fails when the WR is the oldest instead. MT_ERR_MEMORY: as above.
 */
int mt_qp_post_send(struct mt_qp *qp, uint64_t now_ns, const struct rd_send_wr *wr);
/*
 * mt_qp_post_local queues a send WR that needs no packet, on a QP with extensions. It is carried
 * out when all send WRs before it have been sent in full, before any behind it begins, with a fence
 * not before all READs and atomics; it completes in order with them. What it may not do ends the QP
 * when all before it is complete: RD_WC_MW_BIND_ERR, RD_WC_LOC_QP_OP_ERR. sq_depth of them may be
 * unpolled, besides the others. MT_ERR_STATE, MT_ERR_FULL, MT_ERR_MEMORY: as mt_qp_post_send.
 * MT_ERR_INVALID: no extensions, opcode, flags.
 */
int mt_qp_post_local(struct mt_qp *qp, const struct mt_local_wr *wr);
/* mt_qp_post_recv queues a receive for one WRITE_WITH_IMM. MT_ERR_STATE: in RESET. MT_ERR_FULL. */
int mt_qp_post_recv(struct mt_qp *qp, uint64_t wr_id);
/*
 * mt_qp_post_recv_sges queues a receive with room for a SEND. What its SGEs name is looked at when
 * a message comes. MT_ERR_INVALID: SGE count. Else as mt_qp_post_recv.
 */
int mt_qp_post_recv_sges(struct mt_qp *qp, const struct rd_recv_wr *wr);

/* ---- shared receive queues ---- */

/* mt_srq_size returns the bytes that an SRQ needs; 0: cap is invalid. */
size_t mt_srq_size(const struct mt_srq_cap *cap);
/*
 * mt_srq_init builds an SRQ in mem (aligned to 8, owned by the caller until mt_srq_fini). `user`
 * comes back in MT_EVENT_SRQ_LIMIT. MT_ERR_INVALID: cap.
 */
int mt_srq_init(struct mt_engine *e, void *mem, const struct mt_srq_cap *cap, void *user,
		struct mt_srq **srq);
/*
 * mt_srq_resize moves what an SRQ holds to `mem`, of mt_srq_size bytes for its other capabilities
 * with the new depth, which it uses from then on besides its first memory; what it used before is
 * the caller's again, the first memory when it ends. MT_ERR_INVALID: depth, or more receives are
 * posted, taken and not polled, or its limit is higher.
 */
int mt_srq_resize(struct mt_srq *srq, void *mem, uint32_t depth);
/* mt_srq_fini ends an SRQ that no QP has; its receives vanish. */
void mt_srq_fini(struct mt_srq *srq);
/*
 * mt_srq_post queues a receive. What its SGEs name is looked at when a message comes. MT_ERR_FULL:
 * so many are posted, or taken and not polled. MT_ERR_INVALID: SGE count.
 */
int mt_srq_post(struct mt_srq *srq, const struct rd_recv_wr *wr);
/*
 * mt_srq_pop takes the oldest receive for a message that is not of a QP of this engine; false:
 * there is none. wr->sge is good until the next mt_srq_post. mt_srq_polled, with its completion
 * taken, frees its place.
 */
bool mt_srq_pop(struct mt_srq *srq, struct rd_recv_wr *wr);
/* mt_srq_peek is mt_srq_pop without taking it. */
bool mt_srq_peek(const struct mt_srq *srq, struct rd_recv_wr *wr);
void mt_srq_polled(struct mt_srq *srq);
/*
 * mt_srq_arm asks for one MT_EVENT_SRQ_LIMIT when fewer than `limit` receives are posted, at once
 * if they are; 0: for none. MT_ERR_INVALID: above the depth.
 */
int mt_srq_arm(struct mt_srq *srq, uint32_t limit);
/* mt_srq_limit returns the limit that is armed, 0 when none is or it was reached. */
uint32_t mt_srq_limit(const struct mt_srq *srq);

/* ---- looking in ---- */

/* How a QP is doing; for metrics and displays. */
struct mt_qp_info {
	enum rd_qp_state state;
	uint32_t qpn, dest_qpn;
	struct rd_gid dest;
	uint64_t psn_next, psn_una; /* next to send; oldest not acknowledged */
	uint64_t psn_expected;	    /* responder: lowest not received */
	uint64_t cwnd_bytes;	    /* UINT64_MAX without congestion control */
	int64_t inflight_bytes;
	uint64_t srtt_ns, rtt_min_ns, reorder_window_ns;
	uint32_t lost_pending; /* known lost, not yet sent again */
	uint32_t responses;    /* to READs and atomics, of which the peer has not confirmed all */
	uint32_t evs, evs_good, evs_bad;
	uint64_t heard_ns; /* the peer's last packet, or when a QP began to wait; 0: neither */
};

/* One EV of the set that a QP sends on. */
struct mt_ev_info {
	struct mt_ev ev;
	enum mt_ev_state state;
	uint32_t retired, revived; /* times since it was last well for long */
};

void mt_qp_info(const struct mt_qp *qp, struct mt_qp_info *info);
/* mt_qp_ev_info fills in EV i (0 .. evs-1) and returns false when there is none. */
bool mt_qp_ev_info(const struct mt_qp *qp, uint32_t i, struct mt_ev_info *info);
/*
 * mt_qp_ev_deny sets an EV DENIED, or GOOD again, for the QP's destination; an operator's
 * decision, which no packet overrules. MT_ERR_INVALID: no EV i; MT_ERR_STATE: not connected;
 * MT_ERR_MEMORY: none for the places of backups.
 */
int mt_qp_ev_deny(struct mt_qp *qp, uint64_t now_ns, uint32_t i, bool deny);
/*
 * mt_qp_ev_suspect takes a hint from outside that EV i does not lead to the QP's destination. Where
 * nothing is known of it yet it is ASSUMED_BAD, is probed at once and not used before enough probes
 * are answered; says whether it is. What was sent there already knows better, and the last
 * min_active EVs stay in use whatever is said. Any thread that may call the engine, when the QP has
 * been connected. REQ(req.ev.hint)
 */
bool mt_qp_ev_suspect(struct mt_qp *qp, uint64_t now_ns, uint32_t i);
void mt_engine_stats(const struct mt_engine *e, struct mt_stats *stats);

/* Constant names for displays and traces. */
const char *mt_qp_state_name(enum rd_qp_state s);
const char *mt_ev_state_name(enum mt_ev_state s);
const char *mt_ev_cause_name(enum mt_ev_cause c);
const char *mt_wc_status_name(enum rd_wc_status s);

#endif
