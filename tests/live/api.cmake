# SPDX-License-Identifier: BSD-2-Clause
#
# libmrc and the verbs device over real sockets on loopback.
foreach(name ctl objects qp post events verbs verbs_qp)
	softmrc_test(live_${name} SOURCES live_${name}.c live_rig.c LINKS verbs api Threads::Threads
		LABELS live release TIMEOUT 180)
endforeach()
softmrc_test(live_examples SOURCES live_examples.c LABELS live release TIMEOUT 180
	ARGS -- $<TARGET_FILE_DIR:softmrc-example-hello>)
add_dependencies(live_examples softmrc-example-hello softmrc-example-write_bw
	softmrc-example-allreduce)
# Programs that were built without sanitizers cannot load a library that was built with.
if(NOT SOFTMRC_SANITIZE)
	softmrc_test(live_programs SOURCES live_programs.c LABELS live release TIMEOUT 300
		ARGS -- $<TARGET_FILE_DIR:softmrc-verbs>)
	add_dependencies(live_programs softmrc-verbs)
endif()
