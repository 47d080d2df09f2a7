# SPDX-License-Identifier: BSD-2-Clause
foreach(name af_packet backlog fake fault hold ip_udp nexthop pcap raw41 udp)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS io LABELS unit)
endforeach()
# The test decides when the system has room for a frame.
target_link_options(unit_udp PRIVATE LINKER:--wrap=sendmmsg)
