# SPDX-License-Identifier: BSD-2-Clause
foreach(name addr host_ifaces cpu_atomic crc32_cpu env log mem_check mem_guard mr_keys numbers nic_faults settings pace place_payload
	nic_ports nic_ports_said nic_ports_watch thread_priority nic_tx cc_profiles ev_numbers ev_hints)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS host LABELS unit)
endforeach()
# What locks: a lock that is not taken or not released ends these.
foreach(name cq_ring event_queue nic_cq nic_device nic_mr nic_mw nic_node nic_post nic_qp nic_rx node_store shards ep_batch
	ev_listener fork nic_open process ep_probe ep_probe_engine nic_cq_poll nic_node_change nic_srq)
	softmrc_test(unit_${name} SOURCES unit_${name}.c ../support/held_mutexes.c LINKS host LABELS unit)
endforeach()
softmrc_wrap(unit_ep_batch clock_gettime pthread_cond_timedwait pthread_cond_signal)
softmrc_wrap(unit_ep_probe_engine mt_engine_ep_request mh_progress_flush mh_progress_end_backoff)
softmrc_wrap(unit_nic_qp mh_ev_hints_load mh_ev_hints_take)
softmrc_wrap(unit_nic_srq malloc calloc aligned_alloc mt_qp_init mt_qp_fini mt_srq_fini mh_progress_flush mh_engine_events_drain)
softmrc_wrap(unit_nic_node_change mh_node_share_read mh_node_share_send mh_node_store_own mh_node_check mh_loop_report_ports
	mh_progress_flush mt_ev_profile_states mh_node_ev_denied)
softmrc_wrap(unit_nic_cq_poll calloc mh_progress_poll mh_progress_end_backoff mh_progress_forget_channel mh_progress_serve
	mh_event_open mh_ev_listener_start)
softmrc_wrap(unit_nic_open calloc mh_event_open mh_entropy mh_ports_open mh_tx_create mh_engine_create mh_nic_create_ud
	mh_node_create mh_segment_create mh_segment_finish mh_progress_start mh_env_read pthread_mutexattr_init pthread_mutex_init)
softmrc_wrap(unit_fork mh_segment_finish pthread_mutex_timedlock)
softmrc_test(unit_nic_fork SOURCES unit_nic_fork.c LINKS host LABELS unit)
softmrc_wrap(unit_nic_fork malloc calloc free fclose)
softmrc_test(unit_nic_ports_drivers SOURCES unit_nic_ports_drivers.c LINKS host LABELS unit)
softmrc_wrap(unit_nic_ports_drivers mio_udp_claim mio_fault_open mio_fault_unmap mio_capture_open mio_capture_close
	mio_pcap_open mio_af_packet_open mio_raw41_open mh_iface_with_address)
softmrc_test(unit_ev_listener_thread SOURCES unit_ev_listener_thread.c LINKS host LABELS unit)
softmrc_wrap(unit_ev_listener_thread mh_node_dial recv poll eventfd pthread_create calloc mh_cq_drop_ev_events)
softmrc_test(unit_ev_profiles SOURCES unit_ev_profiles.c LINKS host LABELS unit)
softmrc_wrap(unit_ev_profiles mt_ev_profile_set mt_ev_profile_clear mt_ev_profile_deny mt_ev_profile_replace mu_path_deny
	mh_engine_grow)
softmrc_test(unit_node SOURCES unit_node.c ../support/held_mutexes.c LINKS host LABELS unit)
softmrc_wrap(unit_node mh_ports_update_links mh_engine_report_ports mh_nic_kick mh_ev_profile_apply mt_cc_profile_set
	mt_cc_profile_clear mh_cq_add_ev_event)
softmrc_test(unit_node_share SOURCES unit_node_share.c LINKS host LABELS unit)
softmrc_wrap(unit_node_share store_read store_offer_make store_writer_open store_writer_commit store_writer_close socket
	setsockopt connect sendmsg recv nanosleep mh_log)
softmrc_wrap(unit_node_store mh_node_store_due setsockopt)
softmrc_test(unit_node_store_look SOURCES unit_node_store_look.c ../support/held_mutexes.c LINKS host LABELS unit)
softmrc_wrap(unit_node_store_look store_watch_open store_watch_look store_watch_hears store_watch_close mh_node_apply
	mh_engine_report_ports mh_segment_node mh_log)
softmrc_wrap(unit_mem_check madvise fopen)
softmrc_wrap(unit_place_payload memcpy)
softmrc_test(unit_thread_priority_limits SOURCES unit_thread_priority_limits.c LINKS host LABELS unit)
softmrc_wrap(unit_thread_priority_limits getpriority setpriority getrlimit syscall)
softmrc_test(unit_link_monitor SOURCES unit_link_monitor.c LINKS host LABELS unit)
softmrc_wrap(unit_link_monitor socket bind recv)
softmrc_test(unit_engine_host SOURCES unit_engine_host.c LINKS host LABELS unit)
softmrc_wrap(unit_engine_host malloc aligned_alloc mt_engine_size mt_engine_init mt_engine_memory_wanted mt_engine_add_memory
	mt_ev_profile_set mt_cc_profile_set mt_engine_rx_capacity mt_engine_port_set)
softmrc_test(unit_nic_ud SOURCES unit_nic_ud.c LINKS host LABELS unit)
softmrc_wrap(unit_nic_ud mu_create mh_completion_push mh_tx_run mh_event_raise)
softmrc_wrap(unit_ev_hints store_hints_load mt_qp_query mt_qp_ev_info mt_qp_ev_suspect mh_log)
# Its NIC has the time of the test: see tests/support/virtual_nic.h.
softmrc_test(unit_nic_rx_poll SOURCES unit_nic_rx_poll.c ../support/virtual_nic.c LINKS host LABELS unit)
set(virtual_nic_wraps clock_gettime mh_entropy ppoll aligned_alloc free)
softmrc_wrap(unit_nic_rx_poll ${virtual_nic_wraps})
softmrc_test(unit_nic_tx_run SOURCES unit_nic_tx_run.c ../support/virtual_nic.c ../support/held_mutexes.c LINKS host LABELS unit)
softmrc_wrap(unit_nic_tx_run ${virtual_nic_wraps} mt_engine_tx mt_engine_tx_is_blocked)
# What serves runs a loop of the test's, in its time.
softmrc_test(unit_serve SOURCES unit_serve.c ../support/held_mutexes.c LINKS host LABELS unit)
softmrc_wrap(unit_serve clock_gettime ppoll mh_loop_run mh_loop_deadline mh_loop_rung_due mh_tx_deadline
	mh_progress_kick_if_late mh_progress_take_over mh_progress_collect_fds mh_event_is_waiting)
softmrc_test(unit_engine_events SOURCES unit_engine_events.c LINKS host LABELS unit)
softmrc_wrap(unit_engine_events mt_engine_poll mt_qp_query mt_qp_modify mt_qp_info mt_qp_ev_info mu_qp_to_err mh_completion_push
	mh_event_raise mh_node_report_ev mh_segment_event mh_event_log mh_report_retries mh_ports_state_text mh_log mu_deliver_probe
	mh_ep_batch_deliver)
softmrc_test(unit_poll_loop SOURCES unit_poll_loop.c LINKS host LABELS unit)
softmrc_wrap(unit_poll_loop clock_gettime mh_tx_run mu_run mh_engine_fail_marked_qps mh_ports_check_errors
	mh_engine_report_ports mh_engine_events_drain mh_rx_poll mh_tx_deadline mt_engine_deadline mt_engine_tick
	mt_engine_memory_wanted mh_engine_grow mh_event_raise)
set(around_progress clock_gettime ppoll sched_yield nanosleep prctl eventfd pthread_create pthread_join mh_link_monitor_open
	mh_link_monitor_drain mh_priority_init mh_priority_raise mh_loop_run mh_loop_tx mh_loop_posted mh_loop_gather
	mh_loop_rung_due mh_loop_deadline mh_loop_thread_deadline mh_loop_report_ports mh_nic_kick mh_shards_have_qps
	mh_segment_deadline mh_segment_refresh mh_ports_update_links mh_node_store_fd mh_node_store_due mh_node_store_look
	mh_node_store_take)
foreach(name progress progress_thread)
	softmrc_test(unit_${name} SOURCES unit_${name}.c progress_fixture.c ../support/held_mutexes.c LINKS host LABELS unit)
	softmrc_wrap(unit_${name} ${around_progress})
endforeach()
softmrc_wrap(unit_host_ifaces if_nametoindex if_indextoname)
softmrc_test(unit_env_ports SOURCES unit_env_ports.c LINKS host LABELS unit)
softmrc_wrap(unit_env_ports mh_iface_index mh_iface_address mh_iface_default mh_iface_with_address mh_iface_mtu secure_getenv
	malloc)
softmrc_test(unit_metrics SOURCES unit_metrics.c LINKS host stats LABELS unit)
softmrc_test(unit_qp_sums SOURCES unit_qp_sums.c LINKS host LABELS unit)
softmrc_wrap(unit_qp_sums mt_qp_info)
softmrc_test(unit_stats_segment SOURCES unit_stats_segment.c ../support/held_mutexes.c LINKS host LABELS unit)
softmrc_wrap(unit_stats_segment calloc stats_dir_default)
# names.c exists in two modules.
softmrc_test(unit_stats_file SOURCES unit_stats_file.c LINKS host LABELS unit)
softmrc_wrap(unit_stats_file fdopendir munmap)
softmrc_test(unit_srv6_map SOURCES unit_srv6_map.c LINKS host LABELS unit)
softmrc_test(unit_env_srv6 SOURCES unit_env_srv6.c LINKS host LABELS unit)
softmrc_test(unit_core_instructions SOURCES unit_core_instructions.c ../../bench/engine_pair.c ../support/engine_net.c
	../support/engine_node.c LINKS core LABELS unit release)
target_include_directories(unit_core_instructions PRIVATE ${PROJECT_SOURCE_DIR}/bench)
target_compile_definitions(unit_core_instructions PRIVATE $<$<CONFIG:Release>:INSTRUCTIONS_COUNT>)
# With another process at its addresses a device needs more system calls: this test has namespaces of its own.
softmrc_test(unit_nic_calls SOURCES unit_nic_calls.c LINKS host LABELS unit live)
softmrc_wrap(unit_nic_calls sendmmsg recvmmsg sendmsg recvmsg poll ppoll read write clock_gettime mh_entropy)
