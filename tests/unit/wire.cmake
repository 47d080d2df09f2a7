# SPDX-License-Identifier: BSD-2-Clause
foreach(name carrier crc32 datagram dscp ev_fields ev_fmt icrc ip_udp opcode print srv6 text)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS wire LABELS unit)
endforeach()
softmrc_test(unit_packet SOURCES unit_packet.c ${PROJECT_SOURCE_DIR}/tests/support/packet.c
	LINKS wire LABELS unit)
