# SPDX-License-Identifier: BSD-2-Clause
#
# The drop-in is a library with hidden symbols; what of it can stand alone is compiled in.
softmrc_test(unit_verbs_qp_attr SOURCES unit_verbs_qp_attr.c ${PROJECT_SOURCE_DIR}/src/libibverbs/verbs_qp_attr.c
	LINKS base LABELS unit)
