# SPDX-License-Identifier: BSD-2-Clause
#
# The software NIC in two processes over four loopback planes.
softmrc_test(live_write SOURCES live_write.c live.c LINKS host LABELS live TIMEOUT 180)
