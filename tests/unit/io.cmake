# SPDX-License-Identifier: BSD-2-Clause
foreach(name fake fault hold udp)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS io LABELS unit)
endforeach()
