/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holder.h - labs of users without rights. Such a lab lives in a user namespace (rootless.h) that
 * is there as long as a process is in it: the namespace holder, which does nothing but stay. A file
 * named after the lab, in $XDG_RUNTIME_DIR/softmrc-lab or /tmp/softmrc-lab-UID, says which process
 * that is; when the namespace holder is gone, however that came, so is the whole lab.
 */
#ifndef SOFTMRC_LAB_NS_HOLDER_H
#define SOFTMRC_LAB_NS_HOLDER_H

#include "lab/lab.h"

/* ml_needs_ns_holder says whether this process cannot make network namespaces as it is. */
bool ml_needs_ns_holder(void);

/*
 * ml_ns_holder_start starts a holder, which makes the lab (the progress callback is called there).
 * 0 when it is up; join to use it. goes_with_process is not for these.
 */
int ml_ns_holder_start(const struct ml_options *options, struct ml_error *e);

/*
 * ml_ns_holder_join moves this process, of one thread, to where the lab is. 1; 0: no holder has a
 * lab of this name; -1.
 */
int ml_ns_holder_join(const char *lab, struct ml_error *e);

/* ml_ns_holder_stop is ml_lab_down for such a lab, from outside. 1; 0: no such namespace holder;
 * -1. */
int ml_ns_holder_stop(const char *lab, struct ml_down *down, struct ml_error *e);

/* ml_ns_holder_list calls fn with the name of each lab that this user's namespace holders keep. */
void ml_ns_holder_list(void (*fn)(void *context, const char *name), void *context);

#endif
