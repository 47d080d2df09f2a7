# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(ip_udp SOURCES fuzz_ip_udp.c LINKS io CORPUS corpus/ip_udp)
