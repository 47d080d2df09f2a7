# SPDX-License-Identifier: BSD-2-Clause
softmrc_test(unit_ud_health SOURCES unit_ud_health.c LINKS ud LABELS unit)
# What a NIC makes of it.
foreach(name ud ud_peers)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS host LABELS unit)
endforeach()
