# SPDX-License-Identifier: BSD-2-Clause
#
# The software NIC in two processes over four loopback planes.
foreach(name crew drivers fork memory order serve shards shards_alone srv6 hostile_packets threads write)
	softmrc_test(live_${name} SOURCES live_${name}.c live.c LINKS host LABELS live TIMEOUT 180)
endforeach()
softmrc_test(live_machines SOURCES live_machines.c machines.c live.c LINKS host LABELS live TIMEOUT 180)
softmrc_test(live_links SOURCES live_links.c machines.c live.c LINKS host LABELS live TIMEOUT 180)
softmrc_test(live_flags SOURCES live_flags.c live.c LINKS host LABELS live release TIMEOUT 3600)
softmrc_test(live_attacker SOURCES live_attacker.c live.c LINKS host m LABELS live TIMEOUT 300)
softmrc_test(live_slot SOURCES live_slot.c LINKS host LABELS live TIMEOUT 60
	ARGS -- ${PROJECT_SOURCE_DIR}/SECURITY.md)
# It is copied and given rights, with which the loader looks for libraries in no folder of the build.
softmrc_test(live_privileged SOURCES live_privileged.c ${PROJECT_SOURCE_DIR}/src/libibverbs/real_trust.c
	LINKS host LABELS live release TIMEOUT 60)
