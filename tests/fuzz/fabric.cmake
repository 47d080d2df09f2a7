# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(topology SOURCES fuzz_topology.c LINKS fabric CORPUS corpus/topology)
