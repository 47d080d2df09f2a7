# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(prober SOURCES fuzz_prober.c LINKS prober CORPUS corpus/prober)
# What a network brings is up to the input.
softmrc_wrap(fuzz_prober getrandom probe_socket_open stray_socket_open probe_socket_send probe_socket_receive
	stray_socket_receive)
