# SPDX-License-Identifier: BSD-2-Clause
foreach(name switchq_port tc_htb switchq_handle)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS switchq wire LABELS unit)
endforeach()
# What a build without clang or libbpf has in place of load.c.
softmrc_test(unit_bpf_load_absent LINKS base LABELS unit
	SOURCES unit_bpf_load_absent.c ${PROJECT_SOURCE_DIR}/src/switchq/bpf_load_absent.c
		${PROJECT_SOURCE_DIR}/src/switchq/switchq_handle.c)
target_include_directories(unit_bpf_load_absent PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(unit_switchq_port PRIVATE ${PROJECT_SOURCE_DIR})
