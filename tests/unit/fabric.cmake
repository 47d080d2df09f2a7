# SPDX-License-Identifier: BSD-2-Clause
foreach(name fabric_address fabric_topology_check fabric_fast_div fabric_emit fabric_emit_config
	fabric_emit_graphs fabric_emit_text fabric_ev_links fabric_ev_routing fabric_link fabric_node_names fabric_node
	fabric_fault fabric_fault_target fabric_path fabric_plan fabric_plan_failures fabric_plan_loss fabric_plan_rates
	fabric_topology_preset fabric_route_groups fabric_routes fabric_topology fabric_topology_toml
	fabric_usid)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS fabric LABELS unit)
endforeach()
softmrc_test(unit_host_config SOURCES unit_host_config.c LINKS fabric host LABELS unit)
softmrc_test(unit_fabric_emit_sonic SOURCES unit_fabric_emit_sonic.c LINKS fabric softmrc_jansson LABELS unit)
