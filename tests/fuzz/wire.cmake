# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(decode SOURCES fuzz_decode.c ${PROJECT_SOURCE_DIR}/tests/support/packet.c
	LINKS wire CORPUS corpus/decode)
softmrc_fuzz(datagram SOURCES fuzz_datagram.c LINKS wire CORPUS corpus/datagram)
softmrc_fuzz(srv6 SOURCES fuzz_srv6.c LINKS wire CORPUS corpus/srv6)
softmrc_fuzz(ip_udp SOURCES fuzz_ip_udp.c LINKS wire CORPUS corpus/ip_udp)
