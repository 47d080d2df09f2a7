/* SPDX-License-Identifier: BSD-2-Clause */
/* fork.h - what a fork does to the NICs of the process. */
#ifndef SOFTMRC_HOST_FORK_H
#define SOFTMRC_HOST_FORK_H

/* mh_fork_watch has the NICs prepared for every fork from now on. To be called once. */
void mh_fork_watch(void);

#endif
