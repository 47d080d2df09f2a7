/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel_probe.h - what this kernel and this user's rights allow, found out by trying. */
#ifndef SOFTMRC_LAB_KERNEL_PROBE_H
#define SOFTMRC_LAB_KERNEL_PROBE_H

#include "lab/lab_error.h"

#include <stdbool.h>

enum ml_feature {
	ML_FEATURE_NETNS,      /* network namespaces, as we are */
	ML_FEATURE_SID_DEVICE, /* a device that SID routes can hang on */
	ML_FEATURE_USID,       /* seg6local End with NEXT-C-SID */
	ML_FEATURE_HTB,	       /* shaping */
	ML_FEATURE_FILTER,     /* clsact with classic BPF: blackholes and loss */
	ML_FEATURE_BPF,	       /* loading programs: trimming, marking, the finer faults */
	ML_FEATURES
};

struct ml_probe {
	bool ok[ML_FEATURES];
	struct ml_error why[ML_FEATURES]; /* of those that are not */
	const char *sid_device;		  /* kind of link: "dummy", "ifb" or "veth" */
};

/*
 * ml_probe_run tries each in a namespace that is gone afterwards; takes about 30 ms. May be called
 * as root, and inside ml_rootless_enter.
 */
void ml_probe_run(struct ml_probe *p);

/* ml_probe_name says what the feature is; ml_probe_loss what does not work without it. */
const char *ml_probe_name(enum ml_feature feature);
const char *ml_probe_loss(enum ml_feature feature);

#endif
