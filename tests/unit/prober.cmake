# SPDX-License-Identifier: BSD-2-Clause
foreach(name probe_book probe_evidence probe_packet probe_spare probe_streams probe_trains probe_turns)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS prober LABELS unit)
endforeach()

softmrc_test(unit_probe_host SOURCES unit_probe_host.c LINKS prober LABELS unit)
softmrc_wrap(unit_probe_host probe_socket_open stray_socket_open probe_socket_send probe_socket_receive)
