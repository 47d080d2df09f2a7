/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/netns.h"

#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

bool test_netns(const char **why)
{
	static bool entered;

	if (entered)
		return true;
	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
		*why = "neither privileged nor allowed to make user namespaces";
		return false;
	}
	if (!loopback_up()) {
		*why = "the loopback interface of a new network namespace does not come up";
		return false;
	}
	entered = true;
	return true;
}
