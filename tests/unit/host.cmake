# SPDX-License-Identifier: BSD-2-Clause
foreach(name addr cpu_atomic nic_cq crc32_cpu nic_device env event_queue log mem_guard nic_mw nic_node node_store mr_keys numbers
	nic_faults nic_mr settings pace place_payload nic_ports nic_ports_watch nic_post thread_priority nic_qp
	nic_rx stats_segment nic_tx ev_listener)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS host LABELS unit)
endforeach()
softmrc_test(unit_metrics SOURCES unit_metrics.c LINKS host stats LABELS unit)
softmrc_test(unit_qp_sums SOURCES unit_qp_sums.c LINKS host LABELS unit)
# names.c exists in two modules.
softmrc_test(unit_stats_file SOURCES unit_stats_file.c LINKS host LABELS unit)
softmrc_test(unit_ep_probe SOURCES unit_ep_probe.c LINKS host LABELS unit)
softmrc_test(unit_srv6_map SOURCES unit_srv6_map.c LINKS host LABELS unit)
softmrc_test(unit_env_srv6 SOURCES unit_env_srv6.c LINKS host LABELS unit)
# With another process at its addresses a device needs more system calls: this test has namespaces of its own.
softmrc_test(unit_nic_calls SOURCES unit_nic_calls.c LINKS host LABELS unit live)
set(counted_calls sendmmsg recvmmsg sendmsg recvmsg poll ppoll read write)
list(TRANSFORM counted_calls PREPEND LINKER:--wrap=)
target_link_options(unit_nic_calls PRIVATE ${counted_calls})
