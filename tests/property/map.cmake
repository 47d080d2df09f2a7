# SPDX-License-Identifier: BSD-2-Clause
foreach(name map map_cables)
	softmrc_test(prop_${name} SOURCES prop_${name}.c map_world.c LINKS map LABELS property release)
endforeach()
softmrc_test(prop_map_policy SOURCES prop_map_policy.c LINKS map LABELS property)

softmrc_test(prop_prober SOURCES prop_prober.c prober_world.c LINKS prober LABELS property release)
softmrc_wrap(prop_prober probe_socket_open stray_socket_open probe_socket_send probe_socket_receive)
