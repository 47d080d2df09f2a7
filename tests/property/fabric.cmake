# SPDX-License-Identifier: BSD-2-Clause
foreach(name plain walk)
	softmrc_test(prop_fabric_${name} SOURCES prop_fabric_${name}.c LINKS fabric LABELS property release)
endforeach()
