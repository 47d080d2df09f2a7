# SPDX-License-Identifier: BSD-2-Clause
#
# libmrc and the verbs device over real sockets on loopback.
foreach(name ctl objects qp post events verbs)
	softmrc_test(live_${name} SOURCES live_${name}.c live_rig.c LINKS verbs api Threads::Threads
		LABELS live release TIMEOUT 180)
endforeach()
softmrc_test(live_examples SOURCES live_examples.c LABELS live release TIMEOUT 180
	ARGS -- $<TARGET_FILE_DIR:softmrc-example-hello>)
add_dependencies(live_examples softmrc-example-hello softmrc-example-write_bw
	softmrc-example-allreduce)
