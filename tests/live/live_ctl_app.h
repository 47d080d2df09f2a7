/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_ctl_app.h - the application beside a controller: a process of another user, where there are
 * such, with a device and two QPs that write to each other. It does one command at a time.
 */
#ifndef LIVE_LIVE_CTL_APP_H
#define LIVE_LIVE_CTL_APP_H

#include "live/ctl_format.h"

enum ctl_app_command {
	CTL_APP_CONNECT,   /* with the profiles of `a` and `b`; answers an errno value */
	CTL_APP_WRITE,	   /* answers the status of the completion */
	CTL_APP_DENIED,	   /* answers how many EVs of profile `a` read DENIED */
	CTL_APP_FIRST_EV,  /* answers the number of the first EV of profile `a` */
	CTL_APP_EV_STATE,  /* answers the state of EV profile `a` */
	CTL_APP_MAX_CWND,  /* answers max_cwnd of CC profile `a` */
	CTL_APP_CC_STATE,  /* answers the state of CC profile `a` */
	CTL_APP_PORT_DOWN, /* answers whether port `a` is down */
	CTL_APP_DISABLE,   /* answers the errno value of disabling port `a` */
	CTL_APP_DENY,	   /* that of denying an EV of `a`, times 100, and how many it did */
};

/*
 * ctl_app_start starts it, as user 65534 if this one is root, with one capability or none (-1).
 * Call it before the controller has a device: threads do not come along.
 */
void ctl_app_start(int capability);
/* ctl_app_stop ends it; false if it did not end well. */
bool ctl_app_stop(void);
uint64_t ctl_app_tell(enum ctl_app_command command, uint64_t a, uint64_t b);
/* ctl_app_expect waits for an answer, for the application follows the store by itself. */
void ctl_app_expect(enum ctl_app_command command, uint64_t a, uint64_t wanted);

/* Both sides make these calls. *n: of entries, and then how many were done. */
int ctl_ev_op(struct fixture *r, uint64_t profile, enum mrc_ctl_ev_op op,
	      struct mrc_ctl_ev_op_entry *entries, int *n);
int ctl_set_port(struct fixture *r, uint8_t port, bool enabled);

#endif
