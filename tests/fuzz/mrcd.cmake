# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(mrcd SOURCES fuzz_mrcd.c LINKS mrcd CORPUS corpus/mrcd)
