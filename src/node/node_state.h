/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_state.h - what a controller has decided about a device: ports, EV formats, EV profiles with
 * the EVs that are denied, CC profiles.
 *
 * A state is one block of plain numbers without pointers, so that it is copied and compared whole.
 * A change is checked against a state and the device, and then made; nothing is made of one that is
 * refused. What a change means for traffic the host knows, not this.
 *
 * Functions return 0 or a positive errno value and have changed nothing then. Pure: no system call,
 * no allocation; any thread, one at a time for each state.
 */
#ifndef SOFTMRC_NODE_NODE_STATE_H
#define SOFTMRC_NODE_NODE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/ev_fields.h"

#define MN_PORTS_MAX 32u
#define MN_FMT_PROFILES 16u
#define MN_EV_PROFILES 16u
#define MN_CC_PROFILES 16u
#define MN_FIELDS_MAX 32u
/* EVs of all profiles together, and of one, which is what the engine takes. */
#define MN_EVS_MAX 4096u
#define MN_EVS_PROFILE_MAX 1024u
#define MN_VENDOR_BYTES 128u
/* Profile 0 of each kind is the device's own, from its configuration. */
#define MN_OWN_PROFILE 0u

/* REQ(ctl.profile-states) */
enum mn_profile_state {
	MN_INIT,
	MN_OFFLINE,
	MN_ONLINE,
};

/* What a controller has decided about a port; what its link does is another matter. */
enum mn_port_admin {
	MN_PORT_ENABLED,
	MN_PORT_SUSPENDED, /* nothing is sent by it, and peers are told; what comes is taken */
	MN_PORT_DOWN,	   /* what comes is not looked at, either */
	MN_PORT_ADMINS,
};

/* Bits, as the controller API has them. */
enum mn_ev_format {
	MN_FORMAT_STEV = 1u << 0,
	MN_FORMAT_SRV6 = 1u << 1,
	MN_FORMAT_UDP = 1u << 2,
};

enum mn_ev_mode {
	MN_MODE_AUTO = 1u << 0,
	MN_MODE_EXPLICIT = 1u << 1,
	MN_MODE_GENERATED = 1u << 2,
};

/* Of event masks. */
#define MN_EVENT_GOOD 1u
#define MN_EVENT_BAD 2u

struct mn_fmt_profile {
	uint8_t state;	  /* enum mn_profile_state */
	uint8_t format;	  /* one of enum mn_ev_format */
	uint8_t n_fields; /* 0: not set */
	uint8_t width[MN_FIELDS_MAX];
	uint8_t vendor[MN_VENDOR_BYTES];
};

struct mn_ev_field {
	uint32_t width, init, min, max, mask; /* as in struct mw_ev_field */
};

/* What an EV is denied for, which says who may take that back by himself. */
enum mn_denier {
	MN_DENIED_BY_USER,  /* somebody decided so */
	MN_DENIED_BY_MAP,   /* mrcd, as long as a part of the fabric is sick */
	MN_DENIED_BY_DRAIN, /* mrc lab drain, as long as a part is out of use */
	MN_DENIERS,
};

/* An EV and the port it leaves by; a port of 0 says that the place holds none yet. */
struct mn_ev {
	uint8_t val[MW_EV_BYTES];
	uint8_t port; /* from 1 */
	uint8_t denied;
	uint8_t denier; /* enum mn_denier, while it is */
	uint8_t zero;
	uint32_t denied_by; /* the user, while it is */
};

/*
 * The EVs of a profile stand together in the state. Those of an AUTO profile are what the device
 * chooses, which may differ from process to process; here are only those of them that are denied.
 */
struct mn_ev_profile {
	uint8_t state; /* enum mn_profile_state */
	uint8_t mode;  /* one of enum mn_ev_mode */
	uint8_t event_mask;
	uint8_t n_fields; /* 0: an EV is what travels */
	uint32_t fmt;	  /* its format profile */
	uint32_t count;	  /* as asked for; AUTO: 0 for all that the device has */
	uint32_t min_active;
	uint32_t first, n_evs; /* in the state's evs */
	struct mn_ev_field field[MN_FIELDS_MAX];
	uint8_t vendor[MN_VENDOR_BYTES];
};

/* NSCC's parameters as the controller API has them; 0 stands for what NSCC derives. */
struct mn_nscc {
	uint8_t disable_qa;
	uint8_t qa_gate;
	uint16_t zero;
	uint32_t adjust_bytes_threshold;
	uint32_t adjust_period_threshold_ns;
	uint32_t base_rtt_ns;
	uint32_t max_cwnd_bytes;
	uint32_t qa_threshold_ns;
	uint32_t target_delay_ns;
	float eta, fi; /* packets, on the reference network of NSCC */
	float fi_scale, gamma, max_md_jump;
};

enum mn_cc_algorithm {
	MN_CC_NONE,
	MN_CC_NSCC,
	MN_CC_ALGORITHMS,
};

struct mn_cc_profile {
	uint8_t state;	   /* enum mn_profile_state */
	uint8_t algorithm; /* enum mn_cc_algorithm */
	uint8_t has_config;
	uint8_t zero;
	struct mn_nscc nscc;
	uint8_t vendor[MN_VENDOR_BYTES];
};

struct mn_state {
	uint8_t port_admin[MN_PORTS_MAX]; /* enum mn_port_admin, by port number less 1 */
	struct mn_fmt_profile fmt[MN_FMT_PROFILES];
	struct mn_ev_profile ev[MN_EV_PROFILES];
	struct mn_cc_profile cc[MN_CC_PROFILES];
	uint32_t n_evs;
	struct mn_ev evs[MN_EVS_MAX];
};

/* What a change is checked against besides the state. */
struct mn_device {
	uint32_t n_ports;
	uint32_t formats;   /* set of enum mn_ev_format */
	uint32_t n_evs;	    /* of its own profile */
	uint32_t ev_in_use; /* bit p: QPs use EV profile p */
	uint32_t cc_in_use;
	uint32_t user; /* who makes the change */
};

/* mn_state_init makes the state of a device about which nothing was decided. */
void mn_state_init(struct mn_state *s);
/* mn_state_bytes returns how much of a state is in use: from its beginning to its last EV. */
static inline size_t mn_state_bytes(const struct mn_state *s)
{
	return offsetof(struct mn_state, evs) + s->n_evs * sizeof(s->evs[0]);
}

/* mn_state_copy copies what is in use of a sound state. */
void mn_state_copy(struct mn_state *to, const struct mn_state *from);
/*
 * mn_state_check says whether a state, from wherever, is one that changes could have led to as far
 * as anything depends on it; if not, *why says what is wrong.
 */
bool mn_state_check(const struct mn_state *s, const char **why);

/*
 * mn_state_is_of says whether a sound state is one of this device: no port, format or EV that it
 * has not, and no profile that is ONLINE with fewer EVs that are not denied than it must have. If
 * not, *why says what is wrong. For a state that another process has made its changes of.
 * REQ(ctl.ev-denied)
 */
bool mn_state_is_of(const struct mn_state *s, const struct mn_device *d, const char **why);

/* ---- changes; `mask` says which fields of one count ---- */

/*
 * mn_port_modify sets what is decided about a port, from 1. EINVAL: no such port or value.
 */
int mn_port_modify(struct mn_state *s, const struct mn_device *d, uint32_t port,
		   enum mn_port_admin admin);

enum mn_fmt_mask {
	MN_FMT_STATE = 1u << 0,
	MN_FMT_FORMAT = 1u << 1,
	MN_FMT_FIELDS = 1u << 2,
	MN_FMT_VENDOR = 1u << 3,
};

struct mn_fmt_change {
	uint32_t mask;
	uint32_t state;
	uint32_t format;
	const uint8_t *width; /* n_fields of them */
	uint32_t n_fields;
	const uint8_t *vendor; /* MN_VENDOR_BYTES */
};

/*
 * mn_fmt_modify changes a format profile. EINVAL: the id, a value, or something that the present
 * state does not allow. E2BIG: more fields, or wider together, than the format has room for. EBUSY:
 * an EV profile that is ONLINE has this format.
 */
int mn_fmt_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
		  const struct mn_fmt_change *c);

enum mn_ev_mask {
	MN_EV_STATE = 1u << 0,
	MN_EV_MODE = 1u << 1,
	MN_EV_FMT = 1u << 2,
	MN_EV_COUNT = 1u << 3,
	MN_EV_MIN_ACTIVE = 1u << 4,
	MN_EV_EVENT_MASK = 1u << 5,
	MN_EV_FIELDS = 1u << 6,
	MN_EV_VENDOR = 1u << 7,
};

struct mn_ev_change {
	uint32_t mask;
	uint32_t state;
	uint32_t mode;
	uint64_t fmt;
	uint32_t count, min_active;
	uint32_t event_mask;
	const struct mn_ev_field *field; /* n_fields of them */
	uint32_t n_fields;
	const uint8_t *vendor; /* MN_VENDOR_BYTES */
};

/*
 * mn_ev_profile_modify changes an EV profile, all that the call names or nothing. EINVAL: the id, a
 * value, something that is missing, or that the present state does not allow. E2BIG: more EVs than
 * the device has room for, or than the fields can make, or more fields than the format has. EBUSY:
 * QPs use it.
 */
int mn_ev_profile_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
			 const struct mn_ev_change *c);

/* What is done to one EV of a profile. */
struct mn_ev_op {
	struct mn_ev ev;
	bool replaces;	   /* `ev` by `with`, and its denial by `denied`; else the denial alone */
	bool all;	   /* all places that hold `ev`; a denial is always of all */
	struct mn_ev with; /* val and port count */
	bool denied;
	/*
	 * A user's denial takes the place of another one; that of map or drain changes nothing of
	 * an EV that is denied. What is allowed again by these is what they denied themselves.
	 */
	enum mn_denier denier;
};

/*
 * mn_ev_modify makes one change to the EVs of a profile. Which EVs an AUTO profile has is not known
 * here, so that any may be denied. EINVAL: the id or a value; the profile is INIT, or it is ONLINE
 * and the port would change. ENOENT: no place holds ev. EBUSY: fewer EVs that are not denied would
 * be left than the profile's least number of active ones, or none. E2BIG: no room for another
 * denial.
 * REQ(ctl.ev-denied)
 */
int mn_ev_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
		 const struct mn_ev_op *op);

/*
 * mn_ev_wire writes what an EV of a profile stands for on the wire, left-aligned; for STEV and UDP
 * that are the bits of flow label and source port, see mn_ev_number.
 */
void mn_ev_wire(const struct mn_state *s, const struct mn_ev_profile *p, const struct mn_ev *ev,
		uint8_t wire[MW_EV_BYTES]);
/* mn_ev_number returns the number that an EV of STEV or UDP is in the end. */
uint32_t mn_ev_number(const struct mn_state *s, const struct mn_ev_profile *p,
		      const struct mn_ev *ev);

enum mn_cc_mask {
	MN_CC_STATE = 1u << 0,
	MN_CC_ALGORITHM = 1u << 1,
	MN_CC_CONFIG = 1u << 2,
	MN_CC_VENDOR = 1u << 3,
};

struct mn_cc_change {
	uint32_t mask;
	uint32_t state;
	uint32_t algorithm;
	const struct mn_nscc *nscc;
	const uint8_t *vendor; /* MN_VENDOR_BYTES */
};

/*
 * mn_cc_modify changes a CC profile. EINVAL: the id, a value, something that is missing, or that
 * the present state does not allow. EBUSY: QPs use it. REQ(ctl.cc-profile)
 */
int mn_cc_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
		 const struct mn_cc_change *c);

#endif
