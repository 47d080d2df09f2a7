# SPDX-License-Identifier: BSD-2-Clause
foreach(name frame workload)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS sim LABELS unit)
endforeach()
