# SPDX-License-Identifier: BSD-2-Clause
foreach(name fault ipv4 lines names)
	softmrc_test(unit_lab_${name} SOURCES unit_lab_${name}.c LINKS lab LABELS unit)
endforeach()
