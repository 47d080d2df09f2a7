/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc.h - the MRC application API, version 1.0.1: names, values and layouts of the Open Compute
 * Project, so that programs written for it compile and link here unchanged.
 *
 * MRC is a reliable connection whose packets take many paths at once and are placed in any order.
 * It carries two operations: RDMA WRITE and RDMA WRITE with immediate. Device, protection domain
 * and memory region are those of libibverbs; queue pair, completion queue, completion channel and
 * hint are MRC's own, made under one MRC context:
 *
 *	ibv_open_device, ibv_alloc_pd, ibv_reg_mr
 *	  mrc_create_context
 *	    mrc_create_comp_channel, mrc_create_cq, mrc_create_qp_hint, mrc_create_qp
 *	      mrc_modify_qp to INIT, RTR (wants the peer's GID, QPN and PSN), RTS
 *	        mrc_post_recv, mrc_post_send, mrc_poll_cq
 *
 * Peers exchange QPN, first PSN, GID, address and rkey by a way of their own, or by mrc/meet.h.
 * mrc/endpoint.h has all up to mrc_create_qp in one call; examples/hello.c is the shortest whole
 * program.
 *
 * What holds for every call:
 *
 * Errors. Some calls return 0 or an errno value, some 0 (or a count) or -1 with errno set, some a
 * pointer or NULL with errno set; each says which. Those that return an errno value set errno to
 * it as well. A call that reports an error has changed nothing, unless its text says otherwise.
 * EINVAL for a NULL pointer that may not be NULL goes without saying.
 *
 * Threads. Any call may be made from any thread at any time, with one exception: an object must
 * not be destroyed while another call on it is under way. No call blocks, except where its text
 * says so.
 *
 * Processes. What was opened belongs to the process that opened it. In a child made by fork()
 * afterwards every call on it fails with ENODEV, whatever other threads were doing at the fork, and
 * one line on stderr says why; the parent notices nothing. But mrc_query_qp says there that a QP is
 * in ERR, mrc_get_qpn its number, acknowledgements do nothing, and calls that take the parent's
 * verbs context or PD say of it that it is not softmrc's. The child may open the device again, as a
 * process of its own. After exec() nothing is left open. A signal handler must not call fork(),
 * which waits for calls that are under way. Signals: a NIC that is open handles SIGSEGV and SIGBUS
 * where registered memory went away, and hands on all others to the handlers that were there
 * before.
 *
 * Ownership. Structures passed in are read during the call and may be reused after it. Buffers
 * named by a posted WR belong to the device until the WR is complete.
 *
 * Destroy order. An object is destroyed after all that was made from it: QPs before their CQs and
 * hints, CQs before their channel, everything before the context. Calls that come too early return
 * EBUSY and leave the object usable.
 */
#ifndef MRC_H
#define MRC_H

#include <stdint.h>

#include <infiniband/verbs.h>

#include <mrc_api_ver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the opaque vendor field in attributes. softmrc keeps and returns it; it has no
 * effect. */
#define MRC_MAX_VENDOR_CFG_SIZE 128

/* Opaque objects of the library. */
struct mrc_context;
struct mrc_qp_hint;
struct mrc_qp;
struct mrc_cq;
struct mrc_comp_channel;

/* ---------------------------------------------------------------- device and versions */

/*
 * Versions of the protocol on the wire. A device reports the set that it speaks, a QP asks for one
 * of them or, with 0, for the device's default. REQ(api.protocol-version)
 */
enum mrc_protocol_version {
	MRC_PROTOCOL_VERSION_0 = 0, /* whatever the device prefers */
	MRC_PROTOCOL_VERSION_1 = 1 << 0,
};

/* What a device can do beyond the base protocol; bits of mrc_device_attr.cap. */
enum mrc_device_cap {
	MRC_DEVICE_CAP_TRIM_NACK = 1 << 0,   /* answers a trimmed packet with a NACK */
	MRC_DEVICE_CAP_DYNAMIC_MPR = 1 << 1, /* a responder may change MPR while the QP runs */
	MRC_DEVICE_CAP_SVC_TIME = 1 << 2,    /* tells how long a probe waited for its answer */
};

/* Limits of a device. REQ(api.query-device) */
struct mrc_device_attr {
	uint32_t mrc_protocol_version; /* set of enum mrc_protocol_version bits; 0: unsaid */
	struct {
		uint16_t max_wimm;	/* largest mrc_qp_attr.wimm.max_wimm */
		uint16_t max_wimm_dest; /* largest mrc_qp_attr.wimm.max_wimm_dest */
	} wimm_attr;
	struct {
		uint8_t max_mpr;	/* largest MPR of either role, in units of 128 PSNs */
		uint8_t mpr_resolution; /* MPRs are rounded up to a multiple of this, same unit */
	} mpr_attr;
	struct {
		uint32_t max_qp_hint; /* QP hints that can exist in a context */
	} qp_attr;
	uint32_t cap; /* set of enum mrc_device_cap bits */
};

#if MRC_API_VER_USED >= MRC_API_VER(1, 0, 1)
/*
 * mrc_query_device_ex tells whether a verbs device speaks MRC, and its limits.
 *
 * context    the verbs device, of any provider
 * mcontext   an MRC context on that device, so that attr has the form of the API version that the
 *            context asked for; NULL: the newest form
 * attr       out: limits; all zero when *supported is 0
 * supported  out: 1, or 0 for a device that is not softmrc's
 *
 * Returns 0, or -1 with errno:
 * EINVAL   mcontext belongs to another device; pass the one made on this device
 */
int mrc_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			struct mrc_device_attr *attr, int *supported);
#endif

/*
 * mrc_query_device is mrc_query_device_ex in the form of API version 1.0.0, for programs that ask
 * before they make an MRC context. Same results, same errors.
 */
int mrc_query_device(struct ibv_context *context, struct mrc_device_attr *attr, int *supported);

/*
 * mrc_query_version tells which API versions the library at hand supports, as MRC_API_VER packs
 * them. It needs no device, so a program can check before it does anything else: its own version
 * must lie between last_supported_version and current_version.
 *
 * current_version, last_supported_version                newest and oldest version of this API
 * vendor_version, last_supported_vendor_version          the same for the provider's additions
 *
 * Each pointer may be NULL. Cannot fail.
 */
void mrc_query_version(uint32_t *current_version, uint32_t *last_supported_version,
		       uint32_t *vendor_version, uint32_t *last_supported_vendor_version);

/* ---------------------------------------------------------------- context */

/* The API versions a program was built with; 0 takes the newest. REQ(api.version) */
struct mrc_context_attr {
	uint32_t mrc_api_version_used;
	uint32_t mrc_vendor_api_version_used;
};

/*
 * mrc_create_context makes the MRC context under which all other MRC objects live. A process may
 * make several on one device; they share the device and nothing else.
 *
 * vcontext      an open verbs device of softmrc; it must stay open as long as the context
 * context_attr  versions wanted; NULL: the newest
 *
 * Returns the context, which the caller destroys, or NULL with errno:
 * EINVAL      a version newer than MRC_API_CURRENT_VERSION or its vendor counterpart; ask
 *             mrc_query_version what there is
 * EOPNOTSUPP  the device is not softmrc's; ask mrc_query_device before
 * ENOMEM      no memory
 */
struct mrc_context *mrc_create_context(struct ibv_context *vcontext,
				       struct mrc_context_attr *context_attr);

/*
 * mrc_destroy_context destroys a context that has no objects left.
 *
 * Returns 0, or -1 with errno:
 * EBUSY    a QP, CQ, hint or channel of the context still exists; destroy it first
 */
int mrc_destroy_context(struct mrc_context *mrc_ctx);

/* ---------------------------------------------------------------- completion channel */

/*
 * mrc_create_comp_channel makes a channel through which CQs wake a sleeping program.
 *
 * channel  out: the channel, which the caller destroys
 *
 * Returns 0 or an errno value:
 * EMFILE, ENFILE   no file descriptor left
 * ENOMEM           no memory
 */
int mrc_create_comp_channel(struct mrc_context *mrc_ctx, struct mrc_comp_channel **channel);

/*
 * mrc_get_comp_channel_fd gives the descriptor of a channel. It becomes readable when an event
 * waits, so it fits poll(2) and epoll(7), and may be set to O_NONBLOCK. Only mrc_get_cq_event may
 * read from it; it is closed with the channel.
 *
 * Returns 0, or -1 with errno EINVAL, or ENODEV in a child of fork: events there are the parent's.
 */
int mrc_get_comp_channel_fd(struct mrc_comp_channel *channel, int *fd);

/*
 * mrc_destroy_comp_channel destroys a channel that no CQ uses.
 *
 * Returns 0 or an errno value:
 * EBUSY    a CQ still uses the channel; destroy it first
 */
int mrc_destroy_comp_channel(struct mrc_comp_channel *channel);

/* ---------------------------------------------------------------- completion queue */

/*
 * mrc_create_cq makes a completion queue.
 *
 * cqe          completions it holds at least, 1 .. ibv_device_attr.max_cqe. A CQ that overflows is
 *              lost: it reports IBV_EVENT_CQ_ERR and its QPs go to ERR. So count: send and receive
 *              queues of all its QPs together
 * cq_context   the caller's own pointer; mrc_get_cq_event returns it
 * channel      where events go, of the same MRC context; NULL: no events, only polling
 * comp_vector  0 .. ibv_context.num_comp_vectors - 1
 *
 * Returns the CQ, which the caller destroys, or NULL with errno:
 * EINVAL   cqe or comp_vector out of range, or the channel belongs to another context
 * ENOMEM   no memory
 */
struct mrc_cq *mrc_create_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
			     struct mrc_comp_channel *channel, int comp_vector);

/*
 * mrc_poll_cq takes completions out of a CQ, oldest first. Where nothing waits it lets the device
 * look at the network once, so a program that polls needs no other progress. REQ(api.cq.poll)
 *
 * num_entries  room in wc, 0 or more
 * wc           out: as ibv_poll_cq. opcode, byte_len, imm_data and wc_flags are valid only with
 *              status IBV_WC_SUCCESS. Opcodes: IBV_WC_RDMA_WRITE for both kinds of send,
 *              IBV_WC_RECV_RDMA_WITH_IMM for a receive, with IBV_WC_WITH_IMM in wc_flags, imm_data
 *              in network byte order and byte_len the length of the WRITE
 *
 * Returns how many it took; fewer than num_entries: the CQ is empty. -1 with errno:
 * EINVAL     num_entries is negative
 * EOVERFLOW  the CQ has overrun and all that it held is taken; destroy its QPs and it
 */
int mrc_poll_cq(struct mrc_cq *cq, int num_entries, struct ibv_wc *wc);

/*
 * mrc_req_notify_cq asks for one event on the channel at the next completion that is added. A
 * completion that came in before the request causes no event: request, then poll until empty, then
 * wait. REQ(api.cq.notify)
 *
 * solicited_only  not 0: only a receive that the sender marked IBV_SEND_SOLICITED, or a completion
 *                 with an error, counts. A request for any completion outlives one for solicited
 *                 ones
 *
 * Without a channel the request has no effect. Returns 0 or an errno value:
 * EINVAL   cq is NULL
 */
int mrc_req_notify_cq(struct mrc_cq *cq, int solicited_only);

/*
 * mrc_get_cq_event takes the next event out of a channel. It BLOCKS until there is one, unless the
 * descriptor is O_NONBLOCK. The event does not renew the request for notification. While it blocks,
 * handlers of signals may run 10 ms late, and it is a cancellation point, as late.
 *
 * cq          out: the CQ that has completions
 * cq_context  out: what mrc_create_cq was given
 *
 * Each event must be acknowledged by mrc_ack_cq_events. Returns 0, or -1 with errno:
 * EAGAIN   O_NONBLOCK and no event; poll(2) the descriptor
 * EINTR    a signal handler ran that was installed without SA_RESTART; call again
 */
int mrc_get_cq_event(struct mrc_comp_channel *channel, struct mrc_cq **cq, void **cq_context);

/*
 * mrc_ack_cq_events acknowledges events, many at once if so wished; mrc_destroy_cq waits for it.
 *
 * nevents  how many of those got and not yet acknowledged; a surplus is ignored
 */
void mrc_ack_cq_events(struct mrc_cq *cq, unsigned int nevents);

/*
 * mrc_destroy_cq destroys a CQ that no QP uses. It BLOCKS until all events that mrc_get_cq_event
 * returned for it, and asynchronous events, are acknowledged. Events still in the channel vanish.
 *
 * Returns 0 or an errno value:
 * EBUSY    a QP still uses the CQ; destroy it first
 */
int mrc_destroy_cq(struct mrc_cq *cq);

/* ---------------------------------------------------------------- QP hint */

/*
 * What a program expects of the traffic of the QPs that share a hint. Numbers are 0 (not known) or
 * more. The API says what a hint tells a provider, and nothing of what follows from it: softmrc
 * keeps hints for mrc_query_qp_hint and does nothing else with them, for its QPs share no resource
 * that would be dealt out by fan-out.
 */
struct mrc_qp_hint_attr {
	int num_qps_per_peer;	   /* QPs that send to the same destination address at once */
	int num_send_peers;	   /* destination addresses sent to at once */
	int num_remote_recv_peers; /* remote QPs that send to this QP's destination meanwhile */
	uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

/* Which fields of mrc_qp_hint_attr count. The last is bit 31, spelt so that it is a valid int. */
enum mrc_qp_hint_attr_mask {
	MRC_QP_HINT_NUM_QPS_PER_PEER = 1 << 0,
	MRC_QP_HINT_NUM_SEND_PEERS = 1 << 1,
	MRC_QP_HINT_NUM_REMOTE_RECV_PEERS = 1 << 2,
	MRC_QP_HINT_VENDOR_CFG = -0x7fffffff - 1
};

struct mrc_qp_hint_init_attr {
	struct mrc_qp_hint_attr attr;
};

/*
 * mrc_create_qp_hint makes a hint, for use with MRC_QP_HINT in mrc_modify_qp. REQ(api.hint)
 *
 * Returns the hint, which the caller destroys, or NULL with errno:
 * EINVAL   a number is negative
 * ENOSPC   mrc_device_attr.qp_attr.max_qp_hint hints exist in the context; share one
 * ENOMEM   no memory
 */
struct mrc_qp_hint *mrc_create_qp_hint(struct mrc_context *mrc_ctx,
				       struct mrc_qp_hint_init_attr *init_attr);

/*
 * mrc_destroy_qp_hint destroys a hint that no QP uses.
 *
 * Returns 0, or -1 with errno:
 * EBUSY    a QP uses the hint; destroy it, or give it another hint or none
 */
int mrc_destroy_qp_hint(struct mrc_qp_hint *qp_hint);

/*
 * mrc_query_qp_hint reads the attributes of a hint.
 *
 * qp_hint_attr       out: the fields that the mask names; others are left as they are
 * qp_hint_attr_mask  set of enum mrc_qp_hint_attr_mask bits
 *
 * Returns 0, or -1 with errno:
 * EINVAL   a mask bit that is not defined
 */
int mrc_query_qp_hint(struct mrc_qp_hint *qp_hint, struct mrc_qp_hint_attr *qp_hint_attr,
		      int qp_hint_attr_mask);

/*
 * mrc_modify_qp_hint changes the attributes that the mask names.
 *
 * Returns 0, or -1 with errno:
 * EINVAL   a number is negative, or a mask bit is not defined
 */
int mrc_modify_qp_hint(struct mrc_qp_hint *qp_hint, struct mrc_qp_hint_attr *qp_hint_attr,
		       int qp_hint_attr_mask);

/* ---------------------------------------------------------------- queue pair */

/* How a QP is made. REQ(api.qp.create) */
struct mrc_qp_init_attr {
	void *qp_context;	/* the caller's own pointer; mrc_query_qp returns it */
	struct mrc_cq *send_cq; /* of the same MRC context; both CQs may be the same */
	struct mrc_cq *recv_cq;
	/*
	 * max_send_wr and max_send_sge 1 or more, the others 0 or more; at most max_qp_wr and
	 * max_sge of ibv_device_attr. max_inline_data has a limit that only the attempt tells.
	 */
	struct ibv_qp_cap cap;
	int sq_sig_all;		 /* not 0: every send WR completes, as if IBV_SEND_SIGNALED */
	struct ibv_pd *pd;	 /* of the same device; names the MRs that the QP may touch */
	uint64_t send_ops_flags; /* IBV_QP_EX_WITH_RDMA_WRITE[_WITH_IMM]; 0: both */
	enum mrc_protocol_version protocol_version; /* one bit that the device has; 0: default */
};

/*
 * mrc_create_qp makes a QP in state RESET.
 *
 * mrc_qp_attr  read; cap is overwritten with what was granted, never less than asked for
 *
 * Returns the QP, which the caller destroys, or NULL with errno:
 * EINVAL   a capability over its limit, CQs of another context, a PD of another device, an
 *          operation other than the two, or a protocol version that the device does not have
 * ENOMEM   no memory, or all QP numbers of the process are in use
 */
struct mrc_qp *mrc_create_qp(struct mrc_context *mrc_ctx, struct mrc_qp_init_attr *mrc_qp_attr);

/*
 * mrc_destroy_qp destroys a QP in any state. Its WRs are dropped, its completions leave its CQs,
 * packets for it are refused from now on. It BLOCKS until asynchronous events that name the QP
 * are acknowledged.
 *
 * Returns 0 or an errno value:
 * EINVAL   qp is NULL
 */
int mrc_destroy_qp(struct mrc_qp *qp);

/*
 * Which fields of mrc_qp_attr count. By convention hint and profiles are set on the way to INIT,
 * the limits as responder (max_wimm_dest, mpr_dest) and MRC_QP_CAP on the way to RTR, the limits
 * as requester (max_wimm, mpr) with timeout and retry counts on the way to RTS. softmrc has a
 * default for each and takes each on any of these moves; only hint and vendor_cfg are taken from
 * RTS on, too. The last is bit 31, spelt so that it is a valid int.
 */
enum mrc_qp_attr_mask {
	MRC_QP_MAX_WIMM = 1 << 0,
	MRC_QP_MAX_WIMM_DEST = 1 << 1,
	MRC_QP_MPR = 1 << 2,
	MRC_QP_MPR_DEST = 1 << 3,
	MRC_QP_TIMEOUT = 1 << 4,
	MRC_QP_EV_PROFILE_ID = 1 << 5,
	MRC_QP_CC_PROFILE_ID = 1 << 6,
	MRC_QP_HINT = 1 << 7,
	MRC_QP_RETRY_CNT = 1 << 8,
	MRC_QP_CAP = 1 << 9,
	MRC_QP_VENDOR_CFG = -0x7fffffff - 1
};

/* What a QP agrees with its peer to do or not to do; bits of mrc_qp_attr.cap. */
enum mrc_qp_cap {
	MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED = 1 << 0, /* no NACKs for trimmed packets */
	MRC_QP_CAP_DYNAMIC_MPR = 1 << 1,		/* takes effect if both peers set it */
	MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED = 1 << 2,	/* the peer does not tell service times */
};

/* The attributes of a QP that MRC adds to those of verbs. */
struct mrc_qp_attr {
	struct {
		uint8_t mpr;	  /* PSNs in flight as requester; units of 128, 1 .. max_mpr */
		uint8_t mpr_dest; /* PSNs accepted as responder; units of 128, 1 .. max_mpr */
	} mpr;
	struct {
		uint16_t max_wimm;	/* WRITEs with immediate in flight as requester, >= 1 */
		uint16_t max_wimm_dest; /* the same as responder; set the peer's max_wimm, >= 1 */
	} wimm;
	/*
	 * Of an acknowledgement: 1.024 us * 2^timeout, 0 .. 24 (17.2 s). 0 is 1.024 us and not "for
	 * ever", as it would be in verbs; what is below the device's floor (MRC_RTO_MIN_US) is that
	 * floor. Never giving up is retry.exp_cnt 25.
	 */
	uint8_t timeout;
	/* Profiles that a controller made; 0 is the device's own. */
	struct {
		uint64_t ev_profile_id;
		uint64_t cc_profile_id;
	} profile;
	/* Timeouts in a row before the QP fails with IBV_WC_RETRY_EXC_ERR. */
	struct {
		uint8_t linear_cnt; /* first these, timeout apart, 0 .. 7 */
		uint8_t exp_cnt;    /* then these, doubling, 0 .. 25; 25: never give up */
	} retry;
	struct mrc_qp_hint *qp_hint; /* of the same MRC context; NULL: none */
	uint32_t cap;		     /* set of enum mrc_qp_cap bits */
	uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

/*
 * mrc_query_qp reads what a QP is set to, in any state. REQ(api.qp.query)
 *
 * vattr, vattr_mask        out: verbs attributes, at least those the mask names; fields that an
 *                          MRC QP does not have are 0. NULL with mask 0: not wanted
 * mrc_attr, mrc_attr_mask  the same for MRC's
 * init_attr                out: how the QP was made, cap as granted; NULL: not wanted
 *
 * Returns 0 or an errno value:
 * EINVAL   a mask bit that is not defined, or a mask without its structure
 */
int mrc_query_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		 struct mrc_qp_attr *mrc_attr, int mrc_attr_mask,
		 struct mrc_qp_init_attr *init_attr);

/*
 * mrc_modify_qp sets attributes of a QP and, with IBV_QP_STATE, moves it to another state. All is
 * checked first; on an error nothing has changed. REQ(api.qp.modify.order)
 *
 * Moves: RESET to INIT, INIT to RTR, RTR to RTS, RTS to SQD and back; any state to ERR, which
 * flushes its WRs with IBV_WC_WR_FLUSH_ERR, and to RESET, which drops them and all attributes. In
 * SQD the WRs of which something was sent are finished; others may be posted and begin back in
 * RTS.
 *
 * vattr, vattr_mask: verbs attributes that count
 *
 *	IBV_QP_STATE          the state to move to
 *	IBV_QP_CUR_STATE      the state the caller believes it is in
 *	IBV_QP_PKEY_INDEX     0
 *	IBV_QP_ACCESS_FLAGS   IBV_ACCESS_REMOTE_WRITE lets the peer write; it is the default, since
 *	                      nothing else can be done to an MRC QP. The MR must allow it as well
 *	IBV_QP_AV             is_global 1, grh.dgid the peer's GID, grh.sgid_index 0; the rest of it
 *	                      does not apply. By RTR, together with IBV_QP_DEST_QPN
 *	IBV_QP_DEST_QPN       24 bits. By RTR, together with IBV_QP_AV
 *	IBV_QP_RQ_PSN         first PSN of the peer, 24 bits
 *	IBV_QP_SQ_PSN         first PSN of its own, 24 bits
 *	IBV_QP_PATH_MTU       at most the port's active_mtu
 *	IBV_QP_EN_SQD_ASYNC_NOTIFY  with a move to SQD: en_sqd_async_notify not 0 asks for
 *	                      IBV_EVENT_SQ_DRAINED when all that had begun is complete
 *
 * These do not apply to MRC, which has its own or none; they are accepted so that common code can
 * set them, and have no effect: IBV_QP_PORT (a QP uses every port), IBV_QP_TIMEOUT (see
 * MRC_QP_TIMEOUT), IBV_QP_RETRY_CNT (see MRC_QP_RETRY_CNT), IBV_QP_RNR_RETRY,
 * IBV_QP_MIN_RNR_TIMER, IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_ALT_PATH,
 * IBV_QP_PATH_MIG_STATE. One line on stderr names each the first time. All others are refused.
 *
 * mrc_attr, mrc_attr_mask: see mrc_qp_attr; ranges are there. REQ(api.qp.ranges)
 *
 * A structure may be NULL when its mask is 0. Returns 0 or an errno value:
 * EINVAL   a move that does not exist, IBV_QP_CUR_STATE is wrong, an attribute missing for the
 *          move or outside its range, a mask bit that is not defined, an address that names no
 *          peer, a profile that does not exist
 * ENOMEM   no memory for windows or paths
 */
int mrc_modify_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		  struct mrc_qp_attr *mrc_attr, int mrc_attr_mask);

/*
 * mrc_get_qpn gives the number of a QP, which the peer needs for IBV_QP_DEST_QPN.
 *
 * Returns 0, or -1 with errno EINVAL.
 */
int mrc_get_qpn(struct mrc_qp *qp, uint32_t *qpn);

/*
 * mrc_post_recv queues receives, one for each WRITE with immediate to come. The data goes where
 * the sender says, so a receive needs no buffer: sg_list is ignored. There is no retry for a
 * receiver that is late: the receive must be posted before the peer sends. REQ(svc.no-rnr)
 *
 * wr      a chain; in any state but RESET
 * bad_wr  out, on an error: the first WR that was not queued; those before it are
 *
 * Returns 0, or -1 with errno:
 * EINVAL   the QP is in RESET; or num_sge is negative or over max_recv_sge
 * ENOMEM   max_recv_wr receives are queued; wait for a completion
 */
int mrc_post_recv(struct mrc_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/*
 * mrc_post_send queues WRITEs. They complete in the order in which they were posted, when the peer
 * has placed all their bytes; the bytes of one or several WRITEs may be placed in any order. What
 * the peer may rely on is the completion of a WRITE with immediate: then its bytes and those of all
 * WRITEs before it are in place. REQ(api.post-send.ops)
 *
 * wr      a chain. opcode IBV_WR_RDMA_WRITE or IBV_WR_RDMA_WRITE_WITH_IMM; at most max_send_sge
 *         elements, together 0 .. max_msg_sz bytes of ibv_port_attr; imm_data in network byte
 *         order; send_flags of IBV_SEND_SIGNALED, IBV_SEND_SOLICITED (with immediate),
 *         IBV_SEND_INLINE (the bytes are copied now, lkey is not looked at, max_inline_data is the
 *         limit) and IBV_SEND_FENCE (nothing to wait for, no effect)
 * bad_wr  out, on an error: the first WR that was not queued; those before it are
 *
 * Returns 0 or an errno value:
 * EINVAL   the QP is not in RTS, SQD or ERR; opcode, flags, length or number of elements; an
 *          operation that send_ops_flags left out
 * EFAULT   an element is not inside an MR of the QP's PD that its lkey names
 * ENOMEM   max_send_wr places are taken: poll, then post. A WR keeps its place until its completion
 *          or that of a later one is polled, so at least one in max_send_wr must be signaled
 */
int mrc_post_send(struct mrc_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/* ---------------------------------------------------------------- asynchronous events */

/* Something that happened to an object outside any call. */
struct mrc_async_event {
	union {
		struct mrc_cq *cq; /* IBV_EVENT_CQ_ERR */
		struct mrc_qp
			*qp;  /* IBV_EVENT_QP_FATAL, _QP_REQ_ERR, _QP_ACCESS_ERR, _SQ_DRAINED */
		int port_num; /* IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR */
	} element;
	enum ibv_event_type event_type;
};

/*
 * mrc_get_async_event takes the next event of a context's objects. It BLOCKS until there is one.
 * IBV_EVENT_QP_ACCESS_ERR: the peer wrote where it may not; IBV_EVENT_QP_REQ_ERR: it sent what
 * the protocol does not allow; IBV_EVENT_QP_FATAL: anything else that failed the QP as responder.
 * The QP is in ERR. What fails it as requester is told by a completion alone.
 * IBV_EVENT_SQ_DRAINED: see IBV_QP_EN_SQD_ASYNC_NOTIFY of mrc_modify_qp. REQ(api.async)
 *
 * Each event must be acknowledged by mrc_ack_async_event. Returns 0, or -1 with errno:
 * EINTR    a signal handler ran; call again
 */
int mrc_get_async_event(struct mrc_context *mrc_ctx, struct mrc_async_event *event);

/* mrc_ack_async_event acknowledges an event; destroying its CQ or QP waits for that. */
void mrc_ack_async_event(struct mrc_async_event *event);

#ifdef __cplusplus
}
#endif

#endif
