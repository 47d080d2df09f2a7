# SPDX-License-Identifier: BSD-2-Clause
foreach(name node_state node_fmt_profile node_ev_profile node_ev_change node_cc_profile)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS node LABELS unit)
endforeach()
