/* SPDX-License-Identifier: BSD-2-Clause */
/* built_parts.c - see built_parts.h; the build says which parts it has. */
#include "cli/built_parts.h"

const struct cli_built_part cli_built_parts[CLI_BUILT_PARTS] = {
	{
		.name = "switch program",
		.packages = "clang libbpf-dev",
		.without = "switches of mrc lab neither trim nor mark, nor have faults of ports",
		.built = SOFTMRC_HAS_BPF,
	},
	{
		.name = "MPI",
		.packages = "libopenmpi-dev",
		.without = "mrc sim runs in one process; mpirun divides nothing",
		.built = SOFTMRC_HAS_MPI,
	},
	{
		.name = "libcurl",
		.packages = "libcurl4-gnutls-dev",
		.without = "mrc map reads no Prometheus",
		.built = SOFTMRC_HAS_CURL,
	},
};
