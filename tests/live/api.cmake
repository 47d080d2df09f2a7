# SPDX-License-Identifier: BSD-2-Clause
#
# libmrc and the verbs device over real sockets on loopback.
foreach(name objects qp post events verbs)
	softmrc_test(live_${name} SOURCES live_${name}.c live_rig.c LINKS verbs api Threads::Threads
		LABELS live release TIMEOUT 180)
endforeach()
