# SPDX-License-Identifier: BSD-2-Clause
foreach(name addr host_ifaces cpu_atomic nic_cq crc32_cpu nic_device env event_queue log mem_guard nic_mw nic_node node_store mr_keys numbers
	nic_faults nic_mr settings pace place_payload nic_ports nic_ports_said nic_ports_watch nic_post thread_priority nic_qp
	nic_tx ev_listener)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS host LABELS unit)
endforeach()
softmrc_test(unit_nic_rx SOURCES unit_nic_rx.c ../support/held_mutexes.c LINKS host LABELS unit)
softmrc_test(unit_nic_fork SOURCES unit_nic_fork.c LINKS host LABELS unit)
target_link_options(unit_nic_fork PRIVATE LINKER:--wrap=malloc,--wrap=calloc,--wrap=free,--wrap=fclose)
softmrc_test(unit_nic_ports_drivers SOURCES unit_nic_ports_drivers.c LINKS host LABELS unit)
set(driver_calls mio_udp_claim mio_fault_open mio_fault_unmap mio_capture_open mio_capture_close mio_pcap_open
	mio_af_packet_open mio_raw41_open mh_iface_with_address)
list(TRANSFORM driver_calls PREPEND LINKER:--wrap=)
target_link_options(unit_nic_ports_drivers PRIVATE ${driver_calls})
# Its NIC has the time of the test: see tests/support/virtual_nic.h.
softmrc_test(unit_nic_rx_poll SOURCES unit_nic_rx_poll.c ../support/virtual_nic.c LINKS host LABELS unit)
set(virtual_nic_wraps clock_gettime mh_entropy ppoll aligned_alloc free)
list(TRANSFORM virtual_nic_wraps PREPEND LINKER:--wrap=)
target_link_options(unit_nic_rx_poll PRIVATE ${virtual_nic_wraps})
softmrc_test(unit_metrics SOURCES unit_metrics.c LINKS host stats LABELS unit)
softmrc_test(unit_qp_sums SOURCES unit_qp_sums.c LINKS host LABELS unit)
target_link_options(unit_qp_sums PRIVATE LINKER:--wrap=mt_qp_info)
softmrc_test(unit_stats_segment SOURCES unit_stats_segment.c ../support/held_mutexes.c LINKS host LABELS unit)
target_link_options(unit_stats_segment PRIVATE LINKER:--wrap=calloc LINKER:--wrap=stats_dir_default)
# names.c exists in two modules.
softmrc_test(unit_stats_file SOURCES unit_stats_file.c LINKS host LABELS unit)
target_link_options(unit_stats_file PRIVATE LINKER:--wrap=fdopendir LINKER:--wrap=munmap)
softmrc_test(unit_ep_probe SOURCES unit_ep_probe.c LINKS host LABELS unit)
softmrc_test(unit_srv6_map SOURCES unit_srv6_map.c LINKS host LABELS unit)
softmrc_test(unit_env_srv6 SOURCES unit_env_srv6.c LINKS host LABELS unit)
softmrc_test(unit_core_instructions SOURCES unit_core_instructions.c ../../bench/engine_pair.c ../support/engine_net.c
	../support/engine_node.c LINKS core LABELS unit release)
target_include_directories(unit_core_instructions PRIVATE ${PROJECT_SOURCE_DIR}/bench)
target_compile_definitions(unit_core_instructions PRIVATE $<$<CONFIG:Release>:INSTRUCTIONS_COUNT>)
# With another process at its addresses a device needs more system calls: this test has namespaces of its own.
softmrc_test(unit_nic_calls SOURCES unit_nic_calls.c LINKS host LABELS unit live)
set(counted_calls sendmmsg recvmmsg sendmsg recvmsg poll ppoll read write)
list(TRANSFORM counted_calls PREPEND LINKER:--wrap=)
target_link_options(unit_nic_calls PRIVATE ${counted_calls})
