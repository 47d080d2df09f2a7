# SPDX-License-Identifier: BSD-2-Clause
foreach(name ud_health ud_qp ud_tx)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS ud core LABELS unit)
endforeach()
softmrc_wrap(unit_ud_qp calloc)
# What a NIC makes of it.
foreach(name uc ud ud_peers)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS host LABELS unit)
endforeach()
