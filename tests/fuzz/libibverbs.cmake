# SPDX-License-Identifier: BSD-2-Clause
#
# The drop-in is a library with hidden symbols over another: both are compiled in. What vendors'
# libraries look for has versions, which a program cannot have.
file(GLOB verbs ${PROJECT_SOURCE_DIR}/src/libibverbs/*.c)
list(FILTER verbs EXCLUDE REGEX private_symbols)
set(verbs_world verbs_world.c verbs_model.c ../support/virtual_nic.c ${verbs})
softmrc_fuzz(verbs SOURCES fuzz_verbs.c verbs_end.c verbs_ext.c verbs_srq.c verbs_ud.c ${verbs_world}
	LINKS host ${CMAKE_DL_LIBS} TIMEOUT 300 CORPUS corpus/verbs)
softmrc_wrap(fuzz_verbs ${virtual_nic_wraps})
# The calls of mrc.h beside them.
file(GLOB mrc ${PROJECT_SOURCE_DIR}/src/libmrc/*.c)
softmrc_fuzz(mrc SOURCES fuzz_mrc.c mrc_ctl_steps.c mrc_end.c ${mrc} ${verbs_world}
	LINKS host ${CMAKE_DL_LIBS} TIMEOUT 300 CORPUS corpus/mrc)
softmrc_wrap(fuzz_mrc ${virtual_nic_wraps} mh_ep_batch_wait)
