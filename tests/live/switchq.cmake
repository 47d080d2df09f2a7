# SPDX-License-Identifier: BSD-2-Clause
#
# The queue of a switch port with HTB below it, between two namespaces.
softmrc_test(live_switchq SOURCES live_switchq.c ../bpf/frame.c LINKS switchq wire LABELS live TIMEOUT 60)
softmrc_test(live_switchq_srv6 SOURCES live_switchq_srv6.c ../bpf/frame.c LINKS switchq wire LABELS live TIMEOUT 60)
