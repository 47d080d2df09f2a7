# SPDX-License-Identifier: BSD-2-Clause
softmrc_test(prop_packet SOURCES prop_packet.c ${PROJECT_SOURCE_DIR}/tests/support/packet.c
	${PROJECT_SOURCE_DIR}/tests/support/packet_random.c LINKS wire LABELS property release)
softmrc_test(prop_carrier SOURCES prop_carrier.c LINKS wire LABELS property release)
