# SPDX-License-Identifier: BSD-2-Clause
foreach(name lab_fault lab_ip_batch lab_processes lab_run_tool lab_scenario)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS lab LABELS unit)
endforeach()
# What locks: a lock that is not taken or not released ends it.
softmrc_test(unit_lab_thread_pool SOURCES unit_lab_thread_pool.c ../support/held_mutexes.c LINKS lab LABELS unit)
target_link_options(unit_lab_thread_pool PRIVATE LINKER:--wrap=pthread_create LINKER:--wrap=sysconf)
target_link_options(unit_lab_run_tool PRIVATE LINKER:--wrap=open_memstream)
set(parts_of_a_program setenv fork calloc readlink execl getppid setpgid waitpid clock_gettime ml_lab_netns setns ml_host_environment
	ml_lab_folder)
list(TRANSFORM parts_of_a_program PREPEND LINKER:--wrap=)
target_link_options(unit_lab_processes PRIVATE ${parts_of_a_program})
