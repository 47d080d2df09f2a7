/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_load_absent.c - takes the place of bpf_load.c in builds that cannot make or load the
 * program. */
#include <errno.h>

#include "switchq/switchq_handle.h"

int mswq_load_fds(struct mswq *swq, uint32_t max_ports, struct mswq_error *error)
{
	(void)swq;
	(void)max_ports;
	return mswq_fail(error, ENOTSUP,
			 "this build has no switch program, so no trimming, ECN marks and port "
			 "faults: clang and libbpf-dev were missing when it was made");
}
