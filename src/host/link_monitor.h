/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_monitor.h - hears from the kernel that interfaces or addresses changed.
 *
 * A netlink socket only wakes: what is true now is asked anew, so that a message that was lost when
 * many came at once does no harm.
 */
#ifndef SOFTMRC_HOST_LINK_MONITOR_H
#define SOFTMRC_HOST_LINK_MONITOR_H

#include <stdbool.h>

/*
 * mh_link_monitor_open returns a descriptor that polls readable after a change; -1 and errno: this
 * system has none (a sandbox), or there are no descriptors.
 */
int mh_link_monitor_open(void);
/* mh_link_monitor_drain takes what waits on the descriptor and says whether there was anything. */
bool mh_link_monitor_drain(int fd);

#endif
