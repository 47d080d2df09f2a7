/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node.h - what controllers have decided about the device, and how the engine and the ports come to
 * do it. All under nic->lock, of the first of several shards: what it decides the others follow.
 *
 * The NIC keeps the state that its engine goes by. The state that a call of this process makes, or
 * that is in the device's store, is compared with it, and what differs is done: profiles are
 * defined or taken away, EVs denied or given other values, ports suspended. The engine is between
 * two calls meanwhile, so that no packet sees half of a change.
 */
#ifndef SOFTMRC_HOST_NODE_NODE_H
#define SOFTMRC_HOST_NODE_NODE_H

#include "host/datapath/datapath.h"
#include "node/node_state.h"
#include "store/store.h"

/* Of the progress thread. */
struct mh_node_store {
	bool used; /* else the settings want none */
	struct store_watch watch;
	struct store_info
		info; /* of the state that the NIC goes by; under nic->lock, as `refused` */
	struct store_error refused; /* of the watch, as far as it was shown */
	uint64_t own; /* generation of a change of this process that is in force; else 0 */
	struct store_info read_info; /* of what is to be taken */
	uint64_t looked_ns;
	bool followed;	      /* QPs go by what it says, as far as the progress thread knows */
	struct mn_state read; /* that is to be taken */
};

struct mh_node {
	struct mn_state now;  /* what engine and ports go by */
	struct mn_state next; /* being made; holds nothing between two changes */
	struct mh_node_store store;
};

/* mh_node_create gives a NIC with an engine a state in which nothing is decided; ENOMEM. */
int mh_node_create(struct mh_nic *nic);
void mh_node_destroy(struct mh_nic *nic);
/* mh_node_device fills in what changes of the state are checked against. */
void mh_node_device(struct mh_nic *nic, struct mn_device *d);
/*
 * mh_node_check says whether the engine can do what is new in node->next; EINVAL: a CC profile that
 * is ONLINE has parameters that fit no NIC of this rate.
 */
int mh_node_check(struct mh_nic *nic);
/*
 * mh_node_apply makes engine and ports of all shards go by node->next, which is sound, and copies
 * it to node->now. *ports_changed: some of the first are up or down now, which others are to be
 * told. ENOMEM: some of it is without effect, for want of memory.
 */
int mh_node_apply(struct mh_nic *first, uint64_t now_ns, bool *ports_changed);
/* mh_node_report_ev gives an EV event of the engine to the CQs that take such. */
void mh_node_report_ev(struct mh_nic *nic, const struct mt_event *event);

/* An EV that became GOOD or ASSUMED_BAD, in this process or another one. */
struct mh_ev_heard {
	uint32_t profile; /* below MN_EV_PROFILES */
	uint32_t index;	  /* its place there */
	uint32_t number;  /* of an AUTO profile's: what that process names it */
	uint8_t port;	  /* from 1 */
	bool good;
};

/*
 * mh_node_wants_ev says whether the event mask of the profile asks for it, and makes the event.
 */
bool mh_node_wants_ev(const struct mh_nic *nic, const struct mh_ev_heard *ev,
		      struct mh_ev_event *out);
/*
 * mh_node_ev_denied writes which EVs of an AUTO profile of the state are denied, in their order,
 * and returns how many EVs it has, MT_EVS_MAX at most.
 */
uint32_t mh_node_ev_denied(const struct mh_nic *nic, uint32_t profile, bool denied[MT_EVS_MAX]);

/* ---- the state that processes of the host share: node_store.c ---- */

/*
 * mh_node_store_open takes the state of the device's store, if there is one, before there are QPs
 * and a progress thread; from then on it is that thread's. What is refused is said, counted and
 * left: the NIC goes by what it has.
 */
void mh_node_store_open(struct mh_nic *nic, uint64_t now_ns);
/* mh_node_store_show has the statistics say by which state the NIC goes. */
void mh_node_store_show(struct mh_nic *nic);
/* mh_node_store_close closes descriptors, which in a forked child are copies. */
void mh_node_store_close(struct mh_nic *nic);
/* mh_node_store_fd returns the descriptor that tells of a change; -1: there is none. */
int mh_node_store_fd(const struct mh_nic *nic);
/* mh_node_store_due returns when to look whatever the descriptor says. UINT64_MAX: never. */
uint64_t mh_node_store_due(const struct mh_nic *nic);
/*
 * mh_node_store_look reads a state that has changed; true: it is to be taken. Only the progress
 * thread, without lock.
 */
bool mh_node_store_look(struct mh_nic *nic, uint64_t now_ns);
/*
 * mh_node_store_take makes engine and ports go by it, under nic->lock. *ports_changed as
 * mh_node_apply.
 */
void mh_node_store_take(struct mh_nic *nic, uint64_t now_ns, bool *ports_changed);

/*
 * mh_node_store_own makes engine and ports go by node->next, a state that this process has put into
 * the store, unless the NIC goes by that one already or by a later one; under nic->lock.
 * *ports_changed and result as mh_node_apply.
 */
int mh_node_store_own(struct mh_nic *nic, const struct store_info *info, uint64_t now_ns,
		      bool *ports_changed);

/* ---- changes for all processes of the host: node_share.c; without nic->lock ---- */

/*
 * mh_node_share_read copies the state that is in force for the host. ENOENT: there is none, and
 * changes are this process's own. EIO: there is one that cannot be read, which is logged.
 */
int mh_node_share_read(struct mh_nic *nic, struct mn_state *s, struct store_info *info);
/*
 * mh_node_share_send puts a sound state, made of the one that *info is of, in the place of that;
 * its generation is in *info then. Waits for mrcd, 5 s at most. EAGAIN: another one is in force by
 * now, to be read. EBUSY: QPs of other processes use a profile that goes offline. EPERM: this user
 * may not. ETIMEDOUT: mrcd does not answer. EIO: it cannot be stored, or mrcd, which knows another
 * device, does not take it. What mrcd refuses is logged.
 */
int mh_node_share_send(struct mh_nic *nic, const struct mn_state *s, struct store_info *info);

/* mh_node_dial connects to mrcd; the descriptor, or -1 and errno: it is not there. */
int mh_node_dial(const struct mh_nic *nic);

/* ---- EV events of other processes: ev_listener.c ---- */

struct mh_ev_listener;
/*
 * mh_ev_listener_start begins to put into a CQ what mrcd tells; *listener is NULL where processes
 * share no state. ENOMEM: neither memory nor a descriptor nor a thread are to be had.
 */
int mh_ev_listener_start(struct mh_nic *nic, struct mh_cq *cq, struct mh_ev_listener **listener);
/*
 * mh_ev_listener_stop waits for its end, without nic->lock; the CQ gets no more events. NULL: none.
 */
void mh_ev_listener_stop(struct mh_ev_listener *listener);
/* mh_ev_listener_close_inherited closes the copies that a forked child has of its descriptors. */
void mh_ev_listener_close_inherited(struct mh_ev_listener *listener);

/* ---- what other processes found out about EVs: ev_hints.c ---- */

struct mh_ev_hints;
/* mh_ev_hints_load reads what there is for this user, without nic->lock; NULL: none. free() it. */
struct mh_ev_hints *mh_ev_hints_load(const struct mh_nic *nic);
/*
 * mh_ev_hints_take has those EVs of a QP that is connected now, and of which nothing is known yet,
 * probed before they are used.
 */
void mh_ev_hints_take(struct mh_nic *nic, struct mt_qp *qp, uint64_t now_ns,
		      const struct mh_ev_hints *hints);

/* ---- EVs as this process sends them: ev_numbers.c ---- */

/*
 * mh_ev_number_sent returns the number by which the engine names an EV, of STEV or UDP, that leaves
 * by a port. A plain socket has a few source ports of its own, different ones in each process of a
 * host: there one of them, always the same, stands for a port that it has not.
 */
uint32_t mh_ev_number_sent(const struct mh_env *env, uint32_t port, uint32_t number);

#endif
