# SPDX-License-Identifier: BSD-2-Clause
foreach(name address check divide emit emit_config emit_graphs emit_text ev link names node path plan plan_failures plan_loss plan_rates preset route_groups
	routes topology topology_toml usid)
	softmrc_test(unit_fabric_${name} SOURCES unit_fabric_${name}.c LINKS fabric LABELS unit)
endforeach()
softmrc_test(unit_host_config SOURCES unit_host_config.c LINKS fabric host LABELS unit)
softmrc_test(unit_fabric_emit_sonic SOURCES unit_fabric_emit_sonic.c LINKS fabric softmrc_jansson LABELS unit)
