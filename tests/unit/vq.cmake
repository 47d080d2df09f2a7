# SPDX-License-Identifier: BSD-2-Clause
foreach(name vq_port vq_htb vq_handle)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS vq wire LABELS unit)
endforeach()
# What a build without clang or libbpf has in place of load.c.
softmrc_test(unit_vq_load_absent LINKS base LABELS unit
	SOURCES unit_vq_load_absent.c ${PROJECT_SOURCE_DIR}/src/vq/load_absent.c
		${PROJECT_SOURCE_DIR}/src/vq/handle.c ${PROJECT_SOURCE_DIR}/src/vq/sys.c)
target_include_directories(unit_vq_load_absent PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(unit_vq_port PRIVATE ${PROJECT_SOURCE_DIR})
