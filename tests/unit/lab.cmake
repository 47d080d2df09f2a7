# SPDX-License-Identifier: BSD-2-Clause
foreach(name lab_fault lab_ip_batch)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS lab LABELS unit)
endforeach()
