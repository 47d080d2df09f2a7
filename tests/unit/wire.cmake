# SPDX-License-Identifier: BSD-2-Clause
foreach(name carrier crc32 datagram dscp ev_fields ev_fmt icrc ip_udp opcode print srv6 text)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS wire LABELS unit)
endforeach()
softmrc_test(unit_packet SOURCES unit_packet.c ${PROJECT_SOURCE_DIR}/tests/support/packet.c
	LINKS wire LABELS unit)
# The fast CRCs are host's, which is not built for other machines; but they need nothing of it.
if(SOFTMRC_PURE_ONLY)
	set(platform ${PROJECT_SOURCE_DIR}/src/host/platform)
	softmrc_test(unit_crc32_cpu SOURCES unit_crc32_cpu.c ${platform}/crc32_cpu.c ${platform}/crc32_x86.c
		${platform}/crc32_arm.c LINKS wire LABELS unit)
endif()
