# SPDX-License-Identifier: BSD-2-Clause
foreach(name lab_fault lab_ip_batch lab_processes lab_run_tool lab_scenario lab_thread_pool)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS lab LABELS unit)
endforeach()
