# SPDX-License-Identifier: BSD-2-Clause
#
# The programs to read first. They see nothing but <mrc.h> and <infiniband/verbs.h>.
softmrc_example(hello SOURCES hello.c LINKS verbs api)
softmrc_example(write_bw SOURCES write_bw.c common/flags.c common/meet.c common/rig.c
	LINKS verbs api)
softmrc_example(allreduce SOURCES allreduce.c common/flags.c
		ring.c ring_env.c ring_meet.c ring_mrc.c ring_tcp.c ring_tcp_fault.c
	LINKS verbs api)
foreach(example IN ITEMS write_bw allreduce)
	target_include_directories(softmrc-example-${example} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()
