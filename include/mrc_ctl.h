/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_ctl.h - the MRC controller API, version 1.0.1: names, values and layouts of the Open Compute
 * Project, so that controllers written for it compile and link here unchanged.
 *
 * A controller decides what the QPs of a device use: which EVs (EV profiles), how congestion is
 * handled (CC profiles), which ports. It also asks other endpoints, outside of any QP: EV probes
 * measure a path. All calls take an MRC context (mrc_create_context).
 *
 * A softmrc device lives in each process by itself. Where the host has a store of what its
 * controller has decided (MRC_NODE_DIR, softmrc(7)) these calls change that, and so the device of
 * all processes: through mrcd, whose rules say who may, or, while none lives, if the store's folder
 * is this user's. Without a store they change the device of their own process, which takes no
 * privilege, and all of it ends with the last context of the device.
 *
 * Profile 0 of each kind is the device's own, from its configuration: QPs that name no other use
 * it, and a controller reads it, may deny its EVs and ask for their events. The others are INIT at
 * first; a profile is ONLINE before a QP names it (mrc_modify_qp), and what changes of it then
 * reaches the QPs of this process that use it before the call returns, those of others soon after.
 *
 * What holds for every call: errors as in <mrc.h>, that is 0 or -1 with errno, or NULL with errno,
 * or a negative errno value; each says which. EINVAL for a NULL pointer that may not be NULL goes
 * without saying. Any call may be made from any thread; no call blocks, except where its text says
 * so. Structures passed in are read during the call only.
 *
 * Calls that modify something wait for mrcd where there is a store, for 5 s at most, and return
 * these, too, when nothing has changed:
 * EPERM       this user may not change what all processes share
 * EAGAIN      others change it all the time; try again
 * ETIMEDOUT   mrcd does not answer; see whether it hangs, and what is in force when it goes on,
 *             for it may do then what it was asked for
 * EIO         the store cannot be read or written, or mrcd refuses; the log has the reason
 * EBUSY for QPs that use a profile is about those of this process and, where mrcd lives, of all
 * whose statistics it may read, as they were 50 ms ago, or some times that where a process has
 * thousands of EVs in use; which process it is, and whose, the log has.
 */
#ifndef MRC_CTL_H
#define MRC_CTL_H

#include <stdint.h>

#include <infiniband/verbs.h>

#include <mrc.h>
#include <mrc_ctl_api_ver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the opaque vendor field in profiles. */
#define MRC_CTL_MAX_VENDOR_CFG_SIZE 128

/* Bytes of the widest EV: two IPv6 addresses. */
#define MRC_CTL_EV_MAX_BYTES 32

/* The value of an EV slot that holds none. */
#define MRC_CTL_EV_UNPOPULATED ((struct mrc_ctl_ev){.val = {0}, .port = 0})

/* Versions of the protocol; bits of mrc_ctl_device_attr.mrc_ctl_protocol_version. */
enum mrc_ctl_protocol_version {
	MRC_CTL_PROTOCOL_VERSION_0 = 0, /* unsaid */
	MRC_CTL_PROTOCOL_VERSION_1 = 1 << 0,
};

/* Where a profile of any kind is in its life: INIT, OFFLINE, ONLINE and back, one step a call. */
enum mrc_ctl_profile_state {
	MRC_CTL_PROFILE_INIT,	 /* empty */
	MRC_CTL_PROFILE_OFFLINE, /* configured; no QP may use it */
	MRC_CTL_PROFILE_ONLINE,	 /* QPs may use it */
};

/* ---------------------------------------------------------------- device and versions */

/* What a device can do beyond the base; bits of mrc_ctl_device_attr.opt_attr. */
enum mrc_ctl_attr_opt {
	MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE = 1 << 0, /* EV profiles change while ONLINE */
	MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE = 1 << 1, /* CC profiles change while ONLINE */
	MRC_CTL_OPT_CAP_EV_EVENT = 1 << 2,		   /* reports changes of EV states */
	MRC_CTL_OPT_CAP_EV_EXPLICIT_RANGE = 1 << 3, /* explicit EVs must be consecutive values */
	MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT = 1 << 4, /* counts each EV event it dropped */
	MRC_CTL_OPT_CAP_EP_OP_EV_PROBE = 1 << 5,	    /* sends EV probes */
};

/* Limits of a device as a controller sees them. */
struct mrc_ctl_device_attr {
	uint32_t
		mrc_ctl_protocol_version; /* set of enum mrc_ctl_protocol_version bits; 0: unsaid */
	struct {
		uint32_t ev_max_fmt_profiles;  /* EV format profiles that can exist */
		uint32_t ev_max_profiles;      /* EV profiles that can exist */
		uint32_t ev_max_count;	       /* EVs in all profiles together */
		uint32_t ev_free_count;	       /* of these, not yet used */
		uint32_t ev_max_count_profile; /* EVs in one profile */
		uint32_t ev_count_align;       /* explicit arrays hold a multiple of this */
		uint32_t ev_max_width;	       /* bits of a profile's EV that count */
		uint32_t ev_fmt_mode_mask;     /* set of enum mrc_ctl_ev_fmt_mode bits */
		uint32_t ev_mode_mask;	       /* set of enum mrc_ctl_ev_mode bits */
		uint32_t ev_op_max_entries;    /* entries of one EV operation; 0: any number */
	} ev;
	struct {
		uint32_t cc_max_profiles; /* CC profiles that can exist */
		/*
		 * Names of congestion control algorithms, NULL behind the last; the array and the
		 * strings are the library's, constant, and never freed. "uet-1.0-nscc" is NSCC.
		 */
		const char **algorithms;
	} cc;
	uint32_t phy_port_mask; /* bit N stands for port N; ports count from 1, so bit 0 is clear */
	uint32_t opt_attr;	/* set of enum mrc_ctl_attr_opt bits */
};

#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
/*
 * mrc_ctl_query_device_ex tells whether a verbs device has an MRC controller interface, and its
 * limits.
 *
 * context    the verbs device, of any provider
 * mcontext   an MRC context on that device, or NULL
 * ctl_attr   out: limits; all zero when *supported is 0
 * supported  out: 1, or 0 for a device that is not softmrc's
 *
 * Returns 0, or -1 with errno:
 * EINVAL   mcontext belongs to another device; pass the one made on this device
 */
int mrc_ctl_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			    struct mrc_ctl_device_attr *ctl_attr, int *supported);
#endif

/*
 * mrc_ctl_query_device is mrc_ctl_query_device_ex in the form of API version 1.0.0, which could
 * not say that a device is foreign other than by an error.
 *
 * Returns 0, or -1 with errno:
 * EOPNOTSUPP   the device is not softmrc's
 */
int mrc_ctl_query_device(struct ibv_context *context, struct mrc_ctl_device_attr *ctl_attr);

/*
 * mrc_ctl_query_version tells which versions of the controller API the library at hand supports,
 * as MRC_CTL_API_VER packs them. Each pointer may be NULL. Needs no device and cannot fail.
 */
void mrc_ctl_query_version(uint32_t *current_version, uint32_t *last_supported_version,
			   uint32_t *vendor_version, uint32_t *last_supported_vendor_version);

/* ---------------------------------------------------------------- ports */

/* Whether a port may carry traffic at all. A disabled one shows as IBV_PORT_DOWN. */
enum mrc_ctl_port_admin_state {
	MRC_CTL_PORT_ADMIN_DISABLED = 0,
	MRC_CTL_PORT_ADMIN_ENABLED = 1,
};

/* Which fields of mrc_ctl_port_attr a call is about. */
enum mrc_ctl_port_attr_mask {
	MRC_CTL_PORT_ADMIN_STATE = 1 << 0,
};

struct mrc_ctl_port_attr {
	enum mrc_ctl_port_admin_state port_admin_state;
};

/*
 * mrc_ctl_query_port reads the attributes of a port that attr_mask names; the other fields of attr
 * stay as they are. Ports count from 1, as ibv_query_port counts them, but that port 1 is the whole
 * device there: it is down when all are.
 *
 * Returns 0, or -1 with errno:
 * EINVAL   no such port, or an unknown bit in attr_mask
 */
int mrc_ctl_query_port(struct mrc_context *context, uint8_t port_num,
		       struct mrc_ctl_port_attr *attr, int attr_mask);

/*
 * mrc_ctl_modify_port sets the attributes of a port that attr_mask names. From a port that is
 * disabled nothing is sent, what comes by it is not looked at, and peers are told that it is down;
 * what was on its way is sent again by another one. QPs whose last port it was wait for 10 s before
 * they use up retries.
 *
 * Returns 0, or -1 with errno:
 * EINVAL    no such port, an unknown bit in attr_mask, or a value that is not of its enum
 */
int mrc_ctl_modify_port(struct mrc_context *context, uint8_t port_num,
			struct mrc_ctl_port_attr *attr, int attr_mask);

/* ---------------------------------------------------------------- EV format profiles */

/* Where a packet carries its EV; bits of mrc_ctl_device_attr.ev.ev_fmt_mode_mask. */
enum mrc_ctl_ev_fmt_mode {
	MRC_CTL_EV_FMT_MODE_STEV = 1 << 0, /* IPv6 flow label and UDP source port */
	MRC_CTL_EV_FMT_MODE_SRV6 = 1 << 1, /* an SRv6 uSID address, perhaps with an SRH */
	MRC_CTL_EV_FMT_MODE_UDP = 1 << 2,  /* UDP source port */
};

enum mrc_ctl_ev_fmt_op {
	MRC_CTL_EV_FMT_OP_MODIFY_FIELDS,
	MRC_CTL_EV_FMT_OP_QUERY_FIELDS,
};

/* Which fields of mrc_ctl_ev_fmt_profile_attr a call is about. */
enum mrc_ctl_ev_fmt_profile_attr_mask {
	MRC_CTL_EV_FMT_PROFILE_STATE = 1 << 0,
	MRC_CTL_EV_FMT_PROFILE_CUR_STATE = 1 << 1,
	MRC_CTL_EV_FMT_PROFILE_MODE = 1 << 2,
	MRC_CTL_EV_FMT_PROFILE_OP = 1 << 3,
	MRC_CTL_EV_FMT_VENDOR_CFG = -0x7fffffff - 1, /* bit 31 */
};

struct mrc_ctl_ev_fmt_field {
	uint8_t width; /* bits */
};

/* How the EVs of the profiles that refer to this one are cut into fields. */
struct mrc_ctl_ev_fmt_profile_attr {
	enum mrc_ctl_profile_state profile_state;     /* wanted */
	enum mrc_ctl_profile_state cur_profile_state; /* out: present */
	enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
	struct {
		enum mrc_ctl_ev_fmt_op op;
		struct mrc_ctl_ev_fmt_field *fmt_fields; /* the caller's */
		int fmt_field_count; /* in: entries of fmt_fields; out: entries there are */
	} ev_fmt_op;
	uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/*
 * mrc_ctl_modify_ev_fmt_profile configures an EV format profile or moves it to another state. To
 * leave INIT takes the mode, to become ONLINE the fields; ONLINE, nothing but the state changes.
 *
 * ev_fmt_profile_id  1 .. ev_max_fmt_profiles - 1
 * attr               modes: those of ev_fmt_mode_mask, which has SRV6 on no softmrc device: on
 *                    SRv6 networks EVs are 32 bits of STEV, of which each packet's address is
 *                    made, and addresses as EVs are EINVAL; fields: 1 to 32, of 1 to 32 bits
 *                    each, left to right, together no more than a packet carries: 32 of STEV (the
 *                    first 16 are the source port), 16 of UDP
 *
 * Returns 0, or -1 with errno; nothing has changed then:
 * EINVAL    the id, an unknown bit in attr_mask, a value, or what the present state does not allow
 * E2BIG     more fields or bits than that
 * EBUSY     an EV profile with this format is ONLINE; take it offline first
 */
int mrc_ctl_modify_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				  struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask);
/*
 * mrc_ctl_query_ev_fmt_profile reads one, 0 for the device's own.
 *
 * Returns 0, or -1 with errno:
 * EINVAL    the id, an unknown bit in attr_mask, an operation that changes something
 * E2BIG     fmt_fields has too little room; fmt_field_count says what there is
 */
int mrc_ctl_query_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				 struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask);

/* ---------------------------------------------------------------- EVs and their profiles */

/*
 * The value of an EV. STEV and UDP: a uint32_t in host order in the first 4 bytes, of which UDP
 * uses the low 16 bits. SRv6: the address in the first 16 bytes, that of the SRH's segment in the
 * last 16. Bytes behind these are 0.
 */
typedef uint8_t mrc_ctl_ev_t[MRC_CTL_EV_MAX_BYTES];

/* A path: the port a packet leaves by and the EV that it carries. */
struct mrc_ctl_ev {
	mrc_ctl_ev_t val;
	uint8_t port; /* from 1 */
};

/* Bits, so that they make event masks. */
enum mrc_ctl_ev_state {
	MRC_CTL_EV_GOOD = 1 << 0,
	MRC_CTL_EV_ASSUMED_BAD = 1 << 1,
	MRC_CTL_EV_DENIED = 1 << 2,
	MRC_CTL_EV_UNKNOWN = -0x7fffffff - 1, /* bit 31 */
};

/* Who makes the EVs of a profile; bits of mrc_ctl_device_attr.ev.ev_mode_mask. */
enum mrc_ctl_ev_mode {
	MRC_CTL_EV_MODE_AUTO = 1 << 0, /* the device, in a way of its own */
	MRC_CTL_EV_MODE_EXP = 1 << 1,  /* the controller, one by one */
	MRC_CTL_EV_MODE_GEN = 1 << 2,  /* the device, from the controller's fields */
};

enum mrc_ctl_ev_op {
	MRC_CTL_EV_OP_REPLACE_EV,
	MRC_CTL_EV_OP_MODIFY_EV_STATE,
	MRC_CTL_EV_OP_QUERY_EV_STATE,
	MRC_CTL_EV_OP_QUERY_EV_ARRAY,
};

enum mrc_ctl_ev_fields_op {
	MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS,
	MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS,
};

/* Which fields of mrc_ctl_ev_profile_attr a call is about. */
enum mrc_ctl_ev_profile_attr_mask {
	MRC_CTL_EV_PROFILE_STATE = 1 << 0,
	MRC_CTL_EV_PROFILE_CUR_STATE = 1 << 1,
	MRC_CTL_EV_PROFILE_MODE = 1 << 2,
	MRC_CTL_EV_PROFILE_FMT_ID = 1 << 3,
	MRC_CTL_EV_PROFILE_COUNT = 1 << 4,
	MRC_CTL_EV_PROFILE_MIN_ACTIVE = 1 << 5,
	MRC_CTL_EV_PROFILE_EVENT_MASK = 1 << 6,
	MRC_CTL_EV_PROFILE_EV_OP = 1 << 7, /* not together with EV_FIELDS_OP */
	MRC_CTL_EV_PROFILE_EV_FIELDS_OP = 1 << 8,
	MRC_CTL_EV_PROFILE_VENDOR_CFG = -0x7fffffff - 1, /* bit 31 */
};

/* One field of a generated EV: fixed bits, and those under mask that take the EV's bits. */
struct mrc_ctl_ev_field {
	uint32_t width;	   /* bits */
	uint32_t init_val; /* fixed bits; at most width wide */
	uint32_t min_val;  /* of the bits under mask */
	uint32_t max_val;
	uint32_t mask; /* within width; most significant bit of the EV first */
};

/* Bits of mrc_ctl_ev_op_entry.flags. */
enum mrc_ctl_ev_op_flags {
	MRC_CTL_EV_OP_F_ALL_COPIES = 1 << 0, /* REPLACE_EV: wherever it occurs, not once */
};

/*
 * One EV of an operation. REPLACE_EV reads ev, ev_new, state and flags; MODIFY_EV_STATE ev, state
 * and flags; QUERY_EV_STATE reads ev and writes state; QUERY_EV_ARRAY writes ev and state.
 */
struct mrc_ctl_ev_op_entry {
	struct mrc_ctl_ev ev;
	struct mrc_ctl_ev ev_new;
	enum mrc_ctl_ev_state state;
	uint32_t flags; /* set of enum mrc_ctl_ev_op_flags bits */
};

/* The set of paths that QPs with this profile spray over. */
struct mrc_ctl_ev_profile_attr {
	enum mrc_ctl_profile_state profile_state;     /* wanted */
	enum mrc_ctl_profile_state cur_profile_state; /* out: present */
	enum mrc_ctl_ev_mode ev_mode;
	uint64_t ev_fmt_profile_id; /* of all modes but AUTO */
	uint32_t ev_count;	    /* EVs of the profile; out: as aligned by the device */
	uint32_t ev_min_active;	    /* EVs that are never assumed bad together, <= ev_count */
	int ev_event_mask;	    /* MRC_CTL_EV_GOOD, MRC_CTL_EV_ASSUMED_BAD, or both */
	struct {
		enum mrc_ctl_ev_op op;
		struct mrc_ctl_ev_op_entry *entries; /* the caller's */
		int entry_count;		     /* in: of entries; out: there are */
	} ev_op;
	struct {
		enum mrc_ctl_ev_fields_op op;
		struct mrc_ctl_ev_field *fields; /* the caller's */
		int field_count;		 /* in: of fields; out: there are */
	} ev_fields_op;
	uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/*
 * mrc_ctl_modify_ev_profile configures an EV profile, moves it to another state, or changes its
 * EVs. To leave INIT takes the mode and, of all but AUTO, a format that is not INIT and a count. To
 * become ONLINE, EXP takes an EV in each place, GEN its fields, both an ONLINE format. ONLINE, the
 * state, the event mask, fields of the same number of EVs, and EVs by operations change.
 *
 * AUTO: the device's own EVs, ev_count of them or all for 0; its list of EVs shows them. GEN: as
 * many as ev_count says, consecutive ones by different ports, every port with the same values; a
 * range from 0 to 0 under a mask is all that the mask has bits for. Fields take bits of an EV from
 * its first byte on, most significant first; an EV without fields is a number, see mrc_ctl_ev_t.
 * A plain socket (driver udp) has few source ports: there one of its own, always the same, stands
 * for a port that it has not, so that several EVs may be one path.
 *
 * Operations go entry by entry up to the first that fails, and what was done before stays;
 * ev_op.entry_count says how many were done. REPLACE_EV gives the first place that holds ev, or
 * with ALL_COPIES every one, ev_new; the places that hold none yet hold MRC_CTL_EV_UNPOPULATED.
 * MODIFY_EV_STATE is of all places that hold ev. States are GOOD, which 0 is too, and DENIED, which
 * only a controller takes back: a denied EV carries nothing of any QP, to any destination.
 *
 * ev_profile_id  1 .. ev_max_profiles - 1; 0 for MODIFY_EV_STATE and the event mask only
 *
 * Returns 0, or -1 with errno; but for operations, nothing has changed then:
 * EINVAL    the id, an unknown bit in attr_mask, a value, something that is missing or that the
 *           present state does not allow, another port while ONLINE, both kinds of operations
 * E2BIG     more EVs than ev_max_count_profile or ev_free_count, or than the fields can make; more
 *           fields than the format has
 * ENOENT    an EV that is not of the profile
 * EBUSY     QPs use the profile that is to go OFFLINE; or fewer EVs that are not denied would be
 *           left than ev_min_active, or none
 * ENOMEM    no memory for it
 */
int mrc_ctl_modify_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			      struct mrc_ctl_ev_profile_attr *attr, int attr_mask);
/*
 * mrc_ctl_query_ev_profile reads an EV profile. Profile 0 is the device's own: ONLINE, AUTO, all
 * EVs of all ports. An EV is DENIED, ASSUMED_BAD when it is for one destination of this process at
 * least, GOOD when it is for all, UNKNOWN when no QP of this process uses it.
 *
 * attr       in: operation, array and its length; out: the fields that attr_mask names
 * attr_mask  set of enum mrc_ctl_ev_profile_attr_mask bits
 *
 * Returns 0, or -1 with errno:
 * EINVAL    the id, an unknown bit in attr_mask, an operation that changes something, an EV
 *           operation and a field operation at once
 * E2BIG     an array has too little room; its count says what there is
 * ENOENT    an EV that is not of the profile; entry_count says how many before it were found
 * ENOMEM    no memory for a copy
 */
int mrc_ctl_query_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			     struct mrc_ctl_ev_profile_attr *attr, int attr_mask);

/* ---------------------------------------------------------------- CC profiles */

/* Which fields of mrc_ctl_cc_profile_attr a call is about. */
enum mrc_ctl_cc_profile_attr_mask {
	MRC_CTL_CC_PROFILE_STATE = 1 << 0,
	MRC_CTL_CC_PROFILE_CUR_STATE = 1 << 1,
	MRC_CTL_CC_PROFILE_ALGORITHM = 1 << 2,
	MRC_CTL_CC_PROFILE_CONFIG = 1 << 3,
	MRC_CTL_CC_PROFILE_VENDOR_CFG = -0x7fffffff - 1, /* bit 31 */
};

struct mrc_ctl_cc_profile_attr {
	enum mrc_ctl_profile_state profile_state;     /* wanted */
	enum mrc_ctl_profile_state cur_profile_state; /* out: present */
	const char *algorithm; /* one of mrc_ctl_device_attr.cc.algorithms; NULL: none */
	const void *cc_config; /* the algorithm's structure, such as mrc_ctl_cc_nscc_cfg */
	uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/*
 * Parameters of NSCC; names as its specification has them. Times in nanoseconds. 0 stands for what
 * NSCC derives from the rate of the ports and the base RTT; a base RTT of 0 for the device's own.
 * eta and fi are packets of the largest MTU on NSCC's reference network, which scale with the
 * bandwidth-delay product as its constants do; gamma and max_md_jump are 0 to 1.
 */
struct mrc_ctl_cc_nscc_cfg {
	uint8_t disable_qa;		  /* not 0: no quick adaptation */
	uint32_t adjust_bytes_threshold;  /* bytes */
	uint32_t adjust_period_threshold; /* ns */
	uint32_t base_rtt;		  /* ns */
	float eta;
	float fi;
	float fi_scale; /* 0 to 256 */
	float gamma;
	float max_md_jump;
	uint32_t max_cwnd;     /* bytes */
	uint8_t qa_gate;       /* 0 to 31 */
	uint32_t qa_threshold; /* ns */
	uint32_t target_delay; /* ns */
};

/*
 * mrc_ctl_modify_cc_profile configures a CC profile or moves it to another state. To leave INIT
 * takes the algorithm; to become ONLINE, NSCC takes its parameters, which may change while it is:
 * QPs go by the new ones from their next SACK on.
 *
 * cc_profile_id  1 .. cc_max_profiles - 1
 *
 * Returns 0, or -1 with errno; nothing has changed then:
 * EINVAL    the id, an unknown bit in attr_mask, no such algorithm, a parameter out of its range,
 *           or what the present state does not allow
 * EBUSY     QPs use the profile that is to go OFFLINE
 */
int mrc_ctl_modify_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			      struct mrc_ctl_cc_profile_attr *attr, int attr_mask);
/*
 * mrc_ctl_query_cc_profile reads one, 0 for the device's own, whose parameters are all 0. With
 * CC_PROFILE_CONFIG attr->cc_config points to a structure of the caller's, which is written.
 *
 * Returns 0, or -1 with errno:
 * EINVAL    the id, an unknown bit in attr_mask, no structure to write to
 */
int mrc_ctl_query_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			     struct mrc_ctl_cc_profile_attr *attr, int attr_mask);

/* ---------------------------------------------------------------- EV events */

/* A change of an EV's state that the event mask of its profile asked for. */
struct mrc_ctl_ev_event {
	uint64_t profile_id;
	struct mrc_ctl_ev ev;
	/* Events dropped before this one: how many, or just 1 without PRECISE_DROP_CNT. */
	uint32_t drop_count;
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
	enum mrc_ctl_ev_state state; /* the new one */
#endif
};

/*
 * mrc_ctl_create_ev_event_cq makes a CQ that takes the EV events of the device, each that the event
 * mask of its profile asks for, and drops them, instead of failing, when it is full. Those of this
 * process come at once; where the host has a store and mrcd, those of the processes that mrcd lets
 * this user see within a few tenths of a second, from when mrcd is connected, which a thread sees
 * to. EVs of AUTO profiles are called as the process whose event it is calls them. An EV has a
 * state towards each destination, and in each engine of the device (MRC_SHARDS), so that what
 * happens to it may be told several times.
 * cqe: events it holds at least; channel may be NULL, comp_vector is 0. mrc_req_notify_cq and
 * mrc_destroy_cq are as for other CQs; no QP can have it.
 *
 * Returns the CQ, or NULL with errno:
 * EINVAL    cqe, comp_vector, or a channel of another context
 * ENOMEM    no memory
 */
struct mrc_cq *mrc_ctl_create_ev_event_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
					  struct mrc_comp_channel *channel, int comp_vector);

/*
 * mrc_ctl_poll_ev_event takes at most num_entries events, oldest first. A program whose context
 * says that it is of version 1.0.0 gets events without state.
 *
 * Returns how many, or a negative errno value:
 * -EINVAL    num_entries is negative, or the CQ takes no EV events
 */
int mrc_ctl_poll_ev_event(struct mrc_cq *ev_cq, int num_entries, struct mrc_ctl_ev_event *ev_event);

/* ---------------------------------------------------------------- endpoint requests */

/* What an endpoint is asked for. */
enum mrc_ctl_ep_op_type {
	MRC_CTL_EP_OP_EV_PROBE,		  /* to answer, so that the path is known and measured */
	MRC_CTL_EP_OP_PORT_STATUS_UPDATE, /* to take note of which of our ports are up */
};

struct mrc_ctl_ep_req {
	uint16_t req_id;    /* the caller's; no two requests under way may have the same */
	union ibv_gid sgid; /* ours */
	union ibv_gid dgid; /* of the endpoint */
	enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
	struct mrc_ctl_ev req_ev; /* the path there */
	union {
		struct {
			uint32_t port_status; /* bit N: port N is up; ports count from 1 */
		} port_status_update;
	} op;
};

struct mrc_ctl_ep_rsp {
	uint16_t req_id;
	uint8_t port;	      /* that the answer came in by, from 1; it need not be the request's */
	unsigned int rtt;     /* ns */
	uint8_t adj_svc_time; /* not 0: rtt is without the time that the endpoint took */
};

/*
 * mrc_ctl_ep_batch_send_wait sends requests and collects the answers. It blocks until all have
 * come or the time is over; answers that come later are dropped.
 *
 * req_tc       DSCP of the requests, one of those that the device uses for data or control; 0: the
 *              device's own choice, control
 * op_type      what all requests of the batch ask for
 * req          num_req of them
 * num_req      1 .. 65535
 * rsp_timeout  longest wait, ns
 * rsp          out: room for num_req answers, in order of arrival
 * num_rsp      out: how many there are, also when the call fails with ETIMEDOUT
 *
 * Returns 0, or -1 with errno:
 * EINVAL      num_req, req_tc or op_type out of range, an id that occurs twice, a port that the
 *             device does not have, an EV of too many bits, a sgid that is not the device's, a
 *             dgid that cannot be reached
 * ENOTSUP     an EV format that the device's packets do not have
 * EAGAIN      the device has 1024 requests under way or lately ended, and the time was over before
 *             they made room for the last of the batch; those before were sent, rsp has answers
 * ENOMEM      no memory for the batch
 * ETIMEDOUT   some endpoint has not answered; rsp says which have
 */
int mrc_ctl_ep_batch_send_wait(struct mrc_context *mrc_ctx, uint8_t req_tc,
			       enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req *req,
			       int num_req, uint32_t rsp_timeout, struct mrc_ctl_ep_rsp *rsp,
			       int *num_rsp);

#ifdef __cplusplus
}
#endif

#endif
