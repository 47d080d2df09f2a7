# SPDX-License-Identifier: BSD-2-Clause
#
# The queue of a switch port with HTB below it, between two namespaces.
softmrc_test(live_vq SOURCES live_vq.c ../bpf/frame.c LINKS vq wire LABELS live TIMEOUT 60)
softmrc_test(live_vq_srv6 SOURCES live_vq_srv6.c ../bpf/frame.c LINKS vq wire LABELS live TIMEOUT 60)
