# SPDX-License-Identifier: BSD-2-Clause
#
# A training job whose gradients travel over MRC or TCP; `mrc demo` runs many of it.
softmrc_example(train SOURCES train.c train_args.c train_model.c train_report.c train_sha256.c
		train_text.c
		ring.c ring_env.c ring_rendezvous.c ring_mrc.c ring_tcp.c ring_tcp_fault.c
	LINKS libibverbs libmrc Threads::Threads m)
# sqrtf then needs no errno and can be vectorised; the arithmetic stays exact.
set(options -fno-math-errno)
if(SOFTMRC_SANITIZE MATCHES "address")
	# It is most of what tests of jobs compute; unit_train_model runs it with sanitizers.
	list(APPEND options -O3 -fno-sanitize=all)
endif()
set_source_files_properties(train_model.c PROPERTIES COMPILE_OPTIONS "${options}")
