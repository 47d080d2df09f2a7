# SPDX-License-Identifier: BSD-2-Clause
foreach(name addr atomic cq crc32_x86 device env event guard host_mw mem mr settings pace place ports ports_watch post priority qp rx stats_segment tx ud ud_health ud_peers)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS host LABELS unit)
endforeach()
# names.c exists in two rooms.
softmrc_test(unit_host_names SOURCES unit_host_names.c LINKS host LABELS unit)
softmrc_test(unit_stats_file SOURCES unit_stats_file.c LINKS host LABELS unit)
softmrc_test(unit_host_endpoint SOURCES unit_host_endpoint.c LINKS host LABELS unit)
softmrc_test(unit_host_srv6 SOURCES unit_host_srv6.c LINKS host LABELS unit)
softmrc_test(unit_env_srv6 SOURCES unit_env_srv6.c LINKS host LABELS unit)
