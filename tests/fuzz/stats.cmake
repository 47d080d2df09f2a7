# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(stats SOURCES fuzz_stats.c LINKS cli CORPUS corpus/stats)
