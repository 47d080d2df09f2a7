# SPDX-License-Identifier: BSD-2-Clause
#
# The programs to read first. They see nothing but <mrc.h>, headers beside it, and <infiniband/verbs.h>.
softmrc_example(hello SOURCES hello.c LINKS libibverbs libmrc)
softmrc_example(write_bw SOURCES write_bw.c common/example_flags.c common/tcp_exchange.c common/connection.c
	LINKS libibverbs libmrc)
softmrc_example(allreduce SOURCES allreduce.c common/example_flags.c
		ring.c ring_env.c ring_rendezvous.c ring_mrc.c ring_tcp.c ring_tcp_fault.c
	LINKS libibverbs libmrc)
foreach(example IN ITEMS write_bw allreduce)
	target_include_directories(softmrc-example-${example} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()
