# SPDX-License-Identifier: BSD-2-Clause
foreach(name lab_fault lab_ip_batch lab_processes lab_run_tool lab_scenario)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS lab LABELS unit)
endforeach()
# What locks: a lock that is not taken or not released ends it.
softmrc_test(unit_lab_thread_pool SOURCES unit_lab_thread_pool.c ../support/held_mutexes.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_thread_pool pthread_create sysconf)
softmrc_wrap(unit_lab_run_tool open_memstream)
softmrc_wrap(unit_lab_processes setenv fork calloc readlink execv getppid setpgid waitpid clock_gettime ml_lab_netns setns
	ml_host_environment ml_lab_folder)
softmrc_test(unit_lab_state SOURCES unit_lab_state.c LINKS lab LABELS unit)
softmrc_test(unit_lab_state_file SOURCES unit_lab_state_file.c LINKS lab softmrc_jansson LABELS unit)
softmrc_wrap(unit_lab_state_file fdopendir)
softmrc_wrap(unit_lab_state fopen calloc strdup lstat flock mswq_close)
softmrc_test(unit_lab_fault_change SOURCES unit_lab_fault_change.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_fault_change ml_state_lock ml_state_reload ml_state_write ml_apply ml_delete_cables ml_proc_run calloc
	malloc)
softmrc_test(unit_lab_watchdog SOURCES unit_lab_watchdog.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_watchdog fork waitpid read send _exit ml_down_if_same)
softmrc_test(unit_lab_probe SOURCES unit_lab_probe.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_probe ml_proc_batch unshare syscall ml_threads_call)
softmrc_test(unit_lab_host_env SOURCES unit_lab_host_env.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_host_env setenv mkdir fwrite mf_host_config_write)
softmrc_test(unit_lab_counters SOURCES unit_lab_counters.c LINKS lab softmrc_mnl LABELS unit)
softmrc_wrap(unit_lab_counters ml_threads_run ml_netns_enter mnl_socket_open2 mnl_socket_close mnl_socket_sendto
	mnl_socket_recvfrom mswq_read mswq_close)
softmrc_test(unit_lab_apply SOURCES unit_lab_apply.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_apply ml_proc_batch ml_netns_enter ml_netns_sysctl ml_netns_plain_port ml_threads_run ml_program_htb
	ml_lab_netns ml_program_port mswq_close ml_counters_kernel poll calloc)
softmrc_test(unit_lab_switch_program SOURCES unit_lab_switch_program.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_switch_program mswq_load mswq_id mswq_reopen mswq_close mswq_port_set mswq_attach mswq_fault_set)
softmrc_test(unit_lab_up SOURCES unit_lab_up.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_up ml_state_lock ml_netns_list ml_netns_clear ml_state_remove ml_state_read ml_state_write
	ml_process_since ml_probe_run ml_program_load ml_program_open ml_watchdog_start ml_watchdog_stop ml_apply getrandom
	ml_clock_ns calloc ml_netns_open close)
softmrc_test(unit_lab_netns SOURCES unit_lab_netns.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_netns kill poll calloc stat umount2 write socket ioctl)
softmrc_test(unit_lab_scenario_run SOURCES unit_lab_scenario_run.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_scenario_run ml_clock_ns poll calloc ml_needs_ns_holder ml_rootless_enter ml_lab_up ml_lab_close
	ml_lab_programs ml_processes_open ml_processes_start ml_processes_poll ml_processes_stop ml_processes_output
	ml_lab_add_fault ml_lab_clear_fault ml_lab_counters)
softmrc_test(unit_lab_rootless SOURCES unit_lab_rootless.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_rootless geteuid getegid unshare mount mkdir open write access fork pipe2 read waitpid kill _exit
	ml_lab_up)
softmrc_test(unit_lab_holders SOURCES unit_lab_holders.c LINKS lab LABELS unit)
softmrc_wrap(unit_lab_holders geteuid mkdir open setns readlink fork pipe2 waitpid _exit ml_lab_down)
