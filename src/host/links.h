/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * links.h - hears from the kernel that interfaces or addresses changed.
 *
 * A netlink socket only wakes: what is true now is asked anew, so that a message that was lost when
 * many came at once does no harm.
 */
#ifndef SOFTMRC_HOST_LINKS_H
#define SOFTMRC_HOST_LINKS_H

#include <stdbool.h>

/*
 * mh_links_open returns a descriptor that polls readable after a change; -1 and errno: this system
 * has none (a sandbox), or there are no descriptors.
 */
int mh_links_open(void);
/* mh_links_heard takes what waits on the descriptor and says whether there was anything. */
bool mh_links_heard(int fd);

#endif
