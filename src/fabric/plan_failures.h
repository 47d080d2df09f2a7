/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_failures.h - how often something fails, and how often a job notices.
 *
 * A job notices when a NIC has no port left: nothing carries its traffic then until a repair. With
 * one plane that is any failure of its T0, or of the transceivers between. With several it is what
 * all ports share (the NIC, its only transceiver), and failures that overlap in all planes. What
 * lies above the T0s is never counted, as there is another way: this favours fabrics in which paths
 * are not chosen by the endpoint. REQ(plan.failures)
 *
 * Failures of a kind are independent and come at a constant rate L; with repairs of length R, n
 * alike things are all down at once n * L * (L * R)^(n - 1) times in a time unit, for L * R << 1.
 */
#ifndef SOFTMRC_FABRIC_PLAN_FAILURES_H
#define SOFTMRC_FABRIC_PLAN_FAILURES_H

#include "fabric/plan.h"

struct mf_plan_failures {
	/* Expected a day. */
	double switches[3]; /* index: tier - MF_T0 */
	double nic_modules; /* transceivers of NICs */
	double modules;	    /* all others */
	double nics;
	double all;   /* all above: what needs a repair */
	double flaps; /* of links; they recover by themselves */
	double job_visible;
	/* Days between two failures that a job on all NICs notices; 0 where none is expected. */
	double job_visible_days;
	/* Years in which one NIC is cut off once by them, on average; 0 likewise. */
	double nic_years;
};

/* mf_plan_failures expects failures. */
struct mf_plan_failures mf_plan_failures(const struct mf_topology *t, const struct mf_rates *r);

#endif
