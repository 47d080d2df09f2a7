# SPDX-License-Identifier: BSD-2-Clause
softmrc_test(unit_stats_reader SOURCES unit_stats_reader.c LINKS stats LABELS unit)
