/* SPDX-License-Identifier: BSD-2-Clause */
/* netns.h - a network of a test's own, in which it may do what needs privilege elsewhere. */
#ifndef SUPPORT_NETNS_H
#define SUPPORT_NETNS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * test_netns moves this process into a new network namespace with nothing but a loopback interface
 * that is up, with a user namespace around it unless the process is privileged already. Call it
 * before any thread is started; further calls do nothing. False, and why, where the system does
 * not allow it: the caller skips.
 */
bool test_netns(const char **why);

/*
 * test_netns_hold starts a process that holds another new network namespace until the caller kills
 * it, or ends. Fails the test where the system does not allow it.
 */
pid_t test_netns_hold(void);

/* test_ip runs `ip <arguments>` (iproute2) there and fails the test when that fails. */
void test_ip(const char *arguments);
/* test_sysctl writes to /proc/sys/<name> and fails the test when that fails. */
void test_sysctl(const char *name, const char *value);

#endif
