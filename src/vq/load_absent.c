/* SPDX-License-Identifier: BSD-2-Clause */
/* load_absent.c - takes the place of load.c in builds that cannot make or load the program. */
#include <errno.h>

#include "vq/handle.h"

int mvq_load_fds(struct mvq *vq, uint32_t max_ports, struct mvq_error *error)
{
	(void)vq;
	(void)max_ports;
	return mvq_fail(error, ENOTSUP,
			"this build has no switch program, so no trimming, ECN marks and port "
			"faults: clang and libbpf-dev were missing when it was made");
}
