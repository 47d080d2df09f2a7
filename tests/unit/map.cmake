# SPDX-License-Identifier: BSD-2-Clause
foreach(name map_doubt map_evidence map_fit map_judge map_policy map_route_text map_text probe_plan)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS map LABELS unit)
endforeach()
