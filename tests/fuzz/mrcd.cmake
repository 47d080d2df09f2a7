# SPDX-License-Identifier: BSD-2-Clause
if(mrcd IN_LIST SOFTMRC_MODULES_BUILT)
	softmrc_fuzz(mrcd SOURCES fuzz_mrcd.c LINKS mrcd CORPUS corpus/mrcd)
endif()
